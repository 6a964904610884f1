"""What the console keeps of events, and which checks it runs for them by itself."""

from __future__ import annotations

import msgspec
import pytest

from checks.model.cluster_event import ClusterEvent, EventKind, checks_for
from checks.model.facts import UnreadNode
from checks.model.finding import Finding, Status
from checks.model.report import Report
from checks.model.settings import ConsoleSettings
from checks.report.causes import ReportEntry
from checks.run.check_discovery import discover
from checks.situation.events.watching import EventWatch
from checks.traffic.samples import Event, Gap, InstanceSample, NodeSample
from checks.traffic.source_id import SourceId
from tests.fixtures.clusters import cluster
from tests.fixtures.reports import report_of
from tests.unit.events_support import BEGIN, facts, loses, node_sample, run
from tui.console.event_response import EventResponse, probes_sent
from tui.console.event_state import EventState


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


def test_an_event_marks_its_nodes_until_it_is_over():
    lasting, over = following(losing(60, 121)), following(losing(30, 60))
    assert lasting.live_marks(report()) == {"rac2": Status.FAIL}
    assert over.live_marks(report()) == {}
    assert [state.newest is not None for state in (lasting, over)] == [True, True], "nothing has examined it"
    assert following([*run(60)]).newest is None


def test_a_run_examines_what_started_before_it_and_only_what_its_checks_concern():
    state = following(losing(30, 60))
    event = state.listed[0]
    state.examined(event.start - 1, ())
    state.examined(event.start + 5, ("link-speed",))
    assert state.needs_run(event)
    assert state.newest == event
    state.examined(event.start + 5, checks_for(EventKind.LOST_BLOCKS))
    assert not state.needs_run(event)
    assert state.newest is None, "over, and examined"
    assert state.listed == [event], "it stays in the list"


def cause_at(check: str, *nodes: str) -> ReportEntry:
    """A cause that the finding of a check shows."""
    return ReportEntry("Something.", Status.FAIL, (finding(check, Status.FAIL, *nodes),))


def test_the_nodes_of_its_cause_replace_the_nodes_that_noticed_it(monkeypatch: pytest.MonkeyPatch):
    state = following(losing(60, 121))
    causes = [cause_at("gc-blocks-lost", "rac2", "rac3")]
    monkeypatch.setattr("tui.console.event_state.cause_entries", lambda _: causes)
    assert state.live_marks(report()) == {"rac2": Status.FAIL}, "no run has examined it"
    state.examined(BEGIN + 200, ())
    assert state.live_marks(report()) == {}
    for other in (cause_at("gc-blocks-lost", "rac3"), cause_at("boot-mtu", "rac2")):
        causes[:] = [other]
        assert state.live_marks(report()) == {"rac2": Status.FAIL}, "a cause of something else"


def test_a_silent_node_stays_marked_whatever_was_examined(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tui.console.event_state.cause_entries", lambda _: [cause_at("clusterware", "rac3")])
    state = following(silent(60, 121))
    state.examined(BEGIN + 200, ())
    assert state.live_marks(report()) == {"rac3": Status.UNKNOWN}


def test_what_is_dismissed_leaves_the_list_the_count_and_the_line():
    state = following(losing(30, 60))
    state.dismiss(state.listed[0])
    assert (state.listed, state.count, state.newest) == ([], 0, None)


def test_a_recording_marks_the_nodes_of_its_problems_also_where_they_are_over():
    state = EventState()
    state.follow(facts())  # as the run of the checks on a recording does
    state.load(watched(losing(30, 60)), BEGIN + 120, "")
    state.follow(facts())
    (event,) = state.listed
    assert state.newest == event
    assert SourceId.node("rac2") in state.sampled
    assert state.live_marks(report()) == {"rac2": Status.FAIL}


# --- what runs by itself ----------------------------------------------------------------------------------------------

CHECKING = ConsoleSettings(on_event="check")
SENDS = {c.id for c in discover() if {"paths", "flows", "haip_paths", "owners"} & {*c.needs, *c.uses}}


def at_once() -> float:
    return 0.0


def lost_blocks() -> list[ClusterEvent]:
    return following(losing(60, 121)).listed


def test_by_default_no_check_runs_by_itself():
    response = EventResponse(ConsoleSettings(), at_once)
    assert response.see_changes(lost_blocks(), (), 0) == ""
    assert response.due(report(), 0) == ()


def test_checks_of_an_event_run_once_and_again_after_five_minutes():
    response = EventResponse(CHECKING, at_once)
    response.see_changes(lost_blocks(), (), 0)
    assert response.due(None, 0) == (), "a run of all checks comes first"
    assert response.due(report(), 0) == checks_for(EventKind.LOST_BLOCKS)
    assert response.due(report(), 1) == ()
    response.see_changes(lost_blocks(), (), 10)
    assert response.due(report(), 299) == ()
    assert "5 minutes" in response.waits
    assert response.due(report(), 301) == checks_for(EventKind.LOST_BLOCKS)
    assert response.waits == ""


def test_a_check_for_an_event_waits_a_random_time_since_all_consoles_see_the_event_at_once():
    response = EventResponse(CHECKING, lambda: 3.0)
    response.see_changes(lost_blocks(), (), 0)
    assert response.due(report(), 10) == ()
    assert response.due(report(), 12.9) == ()
    assert response.due(report(), 13) == checks_for(EventKind.LOST_BLOCKS)
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
    due = response.due(report(), 100)
    assert due
    assert not {*due} & SENDS
    assert f"{2 * sent:,}" in response.waits
    response.see_changes(lost_blocks(), (), 3700)
    assert {*response.due(report(), 3700)} & SENDS, "an hour later"


def test_a_node_that_comes_back_is_announced_and_read_again_with_what_was_unknown():
    response = EventResponse(ConsoleSettings(), at_once)
    unknown = report(finding("df-ping", Status.UNKNOWN, "rac3"), finding("boot-mtu", Status.UNKNOWN, "rac2"))
    assert response.see_changes(following(silent(30, 121)).listed, (), 0) == "", "it is still away"
    back = following(silent(30, 60)).listed
    announced = response.see_changes(back, (), 0)
    assert announced == "rac3 answers again: racwire runs the checks again that concern it."
    assert response.see_changes(back, (), 0) == "", "it was announced"
    due = response.due(unknown, 0)
    assert {*checks_for(EventKind.NODE_SILENT)} <= {*due}
    assert "df-ping" in due
    assert "boot-mtu" not in due
    again = [msgspec.structs.replace(event, number=2) for event in back]
    assert response.see_changes(again, (), 60) == "rac3 answers again.", "the checks run once in five minutes"
    assert response.due(unknown, 60) == ()


def test_a_database_whose_hanging_instance_is_known_does_not_answer_again():
    hung = Gap(SourceId.instance("prod2"), BEGIN + 75, "prod2 did not answer in time.")
    others = [Gap(SourceId.instance(f"prod{n}"), BEGIN + 75, hung.reason, hung.source) for n in (1, 3)]
    items = [i for i in run(74) if not (isinstance(i, InstanceSample) and i.at > BEGIN + 60)]
    state, response, said = EventState(), EventResponse(ConsoleSettings(), at_once), []
    state.follow(facts())
    for item in (*items, others[0], hung, others[1]):
        said.append(response.see_changes(state.see([item]), state.lasting, 0))
    database, instance = reversed(state.listed)
    assert (database.kind, database.is_over) == (EventKind.DATABASE_SILENT, True)
    assert (instance.kind, instance.is_over) == (EventKind.INSTANCE_SILENT, False)
    assert not any(said)


def test_a_node_that_the_run_could_not_read_is_read_once_it_answers():
    response = EventResponse(ConsoleSettings(), at_once)
    known = report(finding("interfaces", Status.UNKNOWN, "rac3"), unread="rac3")
    others = [node_sample("rac1", BEGIN), node_sample("rac2", BEGIN)]
    assert response.see_samples(others, known, 0) == ""
    assert response.see_samples([*others, node_sample("rac3", BEGIN)], known, 0).startswith("rac3 answers now")
    assert response.due(known, 0) == ("interfaces",)
    assert response.see_samples([node_sample("rac3", BEGIN)], known, 5) == ""
    assert response.see_samples([node_sample("rac3", BEGIN)], known, 900) == "", "the run could not read it either"
    back = [Gap(SourceId.node("rac3"), BEGIN, "ssh was refused."), node_sample("rac3", BEGIN)]
    assert response.see_samples(back, known, 950).startswith("rac3 answers now")
