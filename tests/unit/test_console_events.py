"""What the console keeps of events, and which checks it runs for them by itself."""

from __future__ import annotations

import msgspec

from checks.model.cluster_event import ClusterEvent, EventKind
from checks.model.facts import UnreadNode
from checks.model.finding import Finding, Status
from checks.model.report import Report
from checks.model.settings import ConsoleSettings
from checks.model.situation import Situation
from checks.run.check_discovery import discover
from checks.situation.events.watching import EventWatch
from checks.situation.examining import checks_about
from checks.situation.foremost import foremost, newest_alarm
from checks.situation.marks import node_marks
from checks.traffic.samples import Event, Gap, InstanceSample, NodeSample
from checks.traffic.source_id import SourceId
from tests.fixtures.clusters import cluster
from tests.fixtures.reports import report_of
from tests.unit.events_support import BEGIN, facts, links, loses, node_sample, run
from tui.console.change_state import ChangeState
from tui.console.event_response import EventResponse, probes_sent
from tui.console.event_state import EventState
from tui.console.run_state import RunState
from tui.console.situation_state import SituationState


def losing(begin: int, end: int) -> list[Event]:
    """Samples of two minutes in which prod2 loses blocks in some seconds."""

    def broken(at: float, item: Event) -> Event:
        is_bad = begin < at - BEGIN <= end
        return loses(item, 20) if is_bad and isinstance(item, InstanceSample) and item.number == 2 else item

    return [*run(120, lambda at, item: broken(item.at, item))]


def silent(begin: int, end: int) -> list[Event]:
    """Samples of two minutes in which rac3 delivers nothing in some seconds."""

    def broken(_: float, item: Event) -> Event | None:
        is_gone = isinstance(item, NodeSample) and item.node == "rac3" and begin < item.at - BEGIN <= end
        return None if is_gone else item

    return [*run(120, broken)]


def following(items: list[Event]) -> EventState:
    state = EventState()
    state.follow(facts())
    for item in items:
        state.see([item])
    return state


def watched(items: list[Event]) -> EventWatch:
    watch = EventWatch(facts())
    for item in items:
        watch.see(item)
    return watch


def finding(check: str, status: Status, *nodes: str) -> Finding:
    return Finding(code="IC-X-001", check=check, status=status, title="Something.", nodes=nodes)


def report(*findings: Finding, unread: str = "") -> Report:
    built = cluster(3)
    if unread:
        nodes = [UnreadNode(n.name, "ssh asked for a password.") if n.name == unread else n for n in built.read_nodes()]
        built = msgspec.structs.replace(built, nodes=tuple(nodes))
    return msgspec.structs.replace(report_of(built), findings=findings)


# --- the state --------------------------------------------------------------------------------------------------------


def moment_of(events: EventState, at: float) -> SituationState:
    """The situation of these events at that second, without a run."""
    moment = SituationState(RunState(), events, ChangeState())
    moment.playhead = BEGIN + at
    return moment


def test_an_event_marks_its_nodes_until_it_is_over():
    state = following(losing(60, 121))
    assert {name: mark.sign for name, mark in node_marks(None, moment_of(state, 100).current).items()} == {"rac2": "!"}
    assert node_marks(None, moment_of(following(losing(30, 60)), 120).current) == {}


def test_at_an_earlier_moment_only_what_was_noticed_by_then_is_known():
    state = following(losing(60, 90))
    assert [len(moment_of(state, at).current.episodes) for at in (59, 70)] == [0, 1]
    lasting, over = (moment_of(state, at).current.episodes[0] for at in (100, 121))
    assert (lasting.until, over.until is not None) == (None, True), "a loss pauses for 30 s before it is over"


def test_the_situation_is_made_once_until_an_event_changes():
    state = following([*losing(60, 121)][:600])
    moment = moment_of(state, 70)
    assert moment.current is moment.current
    before = moment.current
    state.dismiss(state.known_at(BEGIN + 70)[0])
    assert moment.current is not before


def test_what_is_dismissed_leaves_the_count_and_the_line():
    state = following(losing(60, 121))
    known = moment_of(state, 100).current
    first = foremost(known, state.is_listed)
    assert first is not None
    assert (len(state.marked), newest_alarm(known, state.is_listed)) == (1, first)
    state.dismiss(first.event)
    assert (len(state.marked), foremost(known, state.is_listed), newest_alarm(known, state.is_listed)) == (
        0,
        None,
        None,
    )


def test_a_silent_node_is_newer_than_the_loss_that_no_run_has_examined():
    items = sorted([*losing(40, 121), *silent(80, 121)], key=lambda item: item.at)
    seen = {id(item) for item in items if getattr(item, "node", "") == "rac3" and item.at > BEGIN + 80}
    state = following([item for item in items if id(item) not in seen])
    newest = newest_alarm(moment_of(state, 115).current, state.is_listed)
    assert newest is not None
    assert newest.event.kind is EventKind.NODE_SILENT


def test_a_recording_has_its_own_facts_and_the_events_at_its_end():
    state = EventState()
    state.follow(facts())  # as the run of the checks on a recording does
    state.load(watched(losing(30, 60)), BEGIN + 120, "")
    state.follow(facts())
    assert [event.nodes for event in state.known_at(state.end)] == [("rac2",)]
    assert SourceId.node("rac2") in state.sampled
    assert SituationState(RunState(), state, ChangeState()).now == BEGIN + 120


# --- what runs by itself ----------------------------------------------------------------------------------------------

CHECKING = ConsoleSettings(on_event="check")
SENDS = {c.id for c in discover() if {"paths", "flows", "haip_paths", "owners"} & {*c.needs, *c.uses}}


def at_once() -> float:
    return 0.0


ABOUT_LOSS = checks_about(EventKind.LOST_BLOCKS, discover().checks)


def lost_blocks() -> list[ClusterEvent]:
    return [*following(losing(60, 121)).marked]


def due(response: EventResponse, known: Report | None, now_s: float) -> tuple[str, ...]:
    """The checks that are due where nothing but the report is known."""
    return response.due(known, lambda: Situation(at=0.0), now_s)


def test_by_default_no_check_runs_by_itself():
    response = EventResponse(ConsoleSettings(), at_once)
    assert response.see_changes(lost_blocks(), (), 0) == ""
    assert due(response, report(), 0) == ()


def test_checks_of_an_event_run_once_and_again_after_five_minutes():
    response = EventResponse(CHECKING, at_once)
    response.see_changes(lost_blocks(), (), 0)
    assert due(response, None, 0) == (), "a run of all checks comes first"
    assert due(response, report(), 0) == ABOUT_LOSS
    assert due(response, report(), 1) == ()
    response.see_changes(lost_blocks(), (), 10)
    assert due(response, report(), 299) == ()
    assert "5 minutes" in response.waits
    assert due(response, report(), 301) == ABOUT_LOSS
    assert response.waits == ""


def test_a_check_for_an_event_waits_a_random_time_since_all_consoles_see_the_event_at_once():
    response = EventResponse(CHECKING, lambda: 3.0)
    response.see_changes(lost_blocks(), (), 0)
    assert due(response, report(), 10) == ()
    assert due(response, report(), 12.9) == ()
    assert due(response, report(), 13) == ABOUT_LOSS
    assert len({EventResponse(CHECKING)._jitter() for _ in range(9)}) > 1


def test_beyond_the_budget_only_checks_run_that_send_nothing():
    built = cluster(3)
    assert isinstance(built.paths, tuple)
    built = msgspec.structs.replace(
        built, paths=tuple(msgspec.structs.replace(one, packets_sent=42) for one in built.paths)
    )
    sent = probes_sent(built)
    assert sent == 42 * len(built.paths) > 0
    response = EventResponse(ConsoleSettings(on_event="check", probes_per_hour=2 * sent), at_once)
    response.ran(built, 0)
    response.ran(built, 60)
    response.see_changes(lost_blocks(), (), 100)
    names = due(response, report(), 100)
    assert names
    assert not {*names} & SENDS
    assert f"{2 * sent:,}" in response.waits
    response.see_changes(lost_blocks(), (), 3700)
    assert {*due(response, report(), 3700)} & SENDS, "an hour later"


def test_a_node_that_comes_back_is_announced_and_read_again_with_what_was_unknown():
    response = EventResponse(ConsoleSettings(), at_once)
    unknown = report(finding("df-ping", Status.UNKNOWN, "rac3"), finding("boot-mtu", Status.UNKNOWN, "rac2"))
    assert response.see_changes(following(silent(30, 121)).marked, (), 0) == "", "it is still away"
    back = following(silent(30, 60)).marked
    announced = response.see_changes(back, (), 0)
    assert announced == "rac3 answers again: racwire runs the checks again that concern it."
    assert response.see_changes(back, (), 0) == "", "it was announced"
    assert due(response, unknown, 0) == ("df-ping",), "boot-mtu is about another node"
    again = [msgspec.structs.replace(event, number=2) for event in back]
    assert response.see_changes(again, (), 60) == "rac3 answers again.", "the checks run once in five minutes"
    assert due(response, unknown, 60) == ()


def test_a_database_whose_hanging_instance_is_known_does_not_answer_again():
    hung = Gap(SourceId.instance("prod2"), BEGIN + 75, "prod2 did not answer in time.")
    others = [Gap(SourceId.instance(f"prod{n}"), BEGIN + 75, hung.reason, hung.source) for n in (1, 3)]
    items = [i for i in run(74) if not (isinstance(i, InstanceSample) and i.at > BEGIN + 60)]
    state, response, said = EventState(), EventResponse(ConsoleSettings(), at_once), []
    state.follow(facts())
    for item in (*items, others[0], hung, others[1]):
        said.append(response.see_changes(state.see([item]), state.lasting, 0))
    database, instance = state.marked
    assert (database.kind, database.is_over) == (EventKind.DATABASE_SILENT, True)
    assert (instance.kind, instance.is_over) == (EventKind.INSTANCE_SILENT, False)
    assert not any(said)


def test_a_node_that_the_run_could_not_read_is_read_once_it_answers():
    response = EventResponse(ConsoleSettings(), at_once)
    known = report(finding("interfaces", Status.UNKNOWN, "rac3"), unread="rac3")
    others = [node_sample("rac1", BEGIN), node_sample("rac2", BEGIN)]
    assert response.see_samples(others, known, 0) == ""
    assert response.see_samples([*others, node_sample("rac3", BEGIN)], known, 0).startswith("rac3 answers now")
    assert due(response, known, 0) == ("interfaces",)
    assert response.see_samples([node_sample("rac3", BEGIN)], known, 5) == ""
    assert response.see_samples([node_sample("rac3", BEGIN)], known, 900) == "", "the run could not read it either"
    back = [Gap(SourceId.node("rac3"), BEGIN, "ssh was refused."), node_sample("rac3", BEGIN)]
    assert response.see_samples(back, known, 950).startswith("rac3 answers now")


def flapping(response: EventResponse, items: list[Event], known: Report) -> list[tuple[int, tuple[str, ...]]]:
    """Follow ten minutes of samples. Return the second and the checks of each run that starts by itself."""
    state, runs = EventState(), []
    state.follow(facts())
    for second in range(600):
        while items and items[0].at < BEGIN + second + 1:
            response.see_changes(state.see([items.pop(0)]), state.lasting, second)
        response.see_changes(state.pass_time(BEGIN + second + 1), state.lasting, second)
        if names := due(response, known, second):
            runs.append((second, names))
    return runs


def test_a_cable_that_flaps_60_times_in_10_minutes_starts_checks_once_in_5_minutes_and_by_default_none():
    plugged = [links("rac2", BEGIN + 5 * n, eth2={"is_up": n % 2 == 1}) for n in range(2, 120)]
    items = sorted([*run(600), *plugged], key=lambda item: item.at)
    known = report(finding("interfaces", Status.FAIL, "rac2"), finding("df-ping", Status.UNKNOWN, "rac2"))
    runs = flapping(EventResponse(CHECKING, at_once), [*items], known)
    assert [second // 300 for second, _ in runs] == [0, 1]
    assert flapping(EventResponse(ConsoleSettings(), at_once), items, known) == []


def test_a_node_that_flaps_is_read_again_once_in_5_minutes():
    items = [i for i in run(600) if not (isinstance(i, NodeSample) and i.node == "rac3" and (i.at - BEGIN) % 10 < 5)]
    known = report(finding("df-ping", Status.UNKNOWN, "rac3"))
    runs = flapping(EventResponse(ConsoleSettings(), at_once), items, known)
    assert [(second // 300, names) for second, names in runs] == [(0, ("df-ping",)), (1, ("df-ping",))]
