"""The stops that a change plans: since when, on which nodes, and until when."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from checks.change.plan.change_plan import ChangeKind, Gate, Minutes, Plan, Step
from checks.change.plan.command_block import Commands, Who
from checks.change.plan.step_stops import StopKind, stops_of
from checks.change.progress import decisions
from checks.change.progress.change_events import (
    AnyEvent,
    Attested,
    Begun,
    Closed,
    Noted,
    ObservedState,
    Opened,
    Overridden,
    Reopened,
    RolledBack,
    Verified,
)
from checks.change.progress.change_text import place_of, sentence_of
from checks.change.progress.planned_stops import PlannedStop, planned_stops
from checks.change.progress.state import Change, ChangeError, fold
from checks.change.record.change_journal import ChangeJournal
from checks.model.effect import Effect
from tests.fixtures.change_plans import PROD, apart, node_plan_for
from tests.fixtures.clusters import node, with_interface
from tests.unit.change_support import AGREED, NODES, STEPS, change, lines, passed, plan

ALL = frozenset(NODES)
RUNNING = ObservedState(running=dict.fromkeys(NODES, True), instances={"rac1": ("prod1",), "rac2": ("prod2",)})
ROOT = tuple(Commands(Who.ROOT, ("reboot",), node) for node in ("rac2",))


def timed(*steps: Step) -> Plan:
    """The plan of the tests, where each step takes at most 10 minutes, and survives-boot boots rac2."""
    own = [
        replace(one, minutes=Minutes(1, 10, "the nodes"), commands=ROOT if one.id == "survives-boot" else ())
        for one in steps or STEPS
    ]
    return plan(steps=tuple(own))


PLAN = timed()
OF_ONE_NODE = node_plan_for(apart([node(1), with_interface(node(2), "eth2", mtu=1500), node(3)], databases=(PROD,)))
STOPPING = (AGREED, passed("baseline"), Begun("stack-down", RUNNING))


def stops(*events: AnyEvent, of: Plan = PLAN) -> list[PlannedStop]:
    return list(planned_stops(change(*events, opened=of)))


def shape(stop: PlannedStop) -> tuple[str, str, str, int]:
    """Kinds, nodes, the minute of the end, and the minutes that it may last."""
    kinds = " ".join(sorted(stop.kinds))
    return kinds, " ".join(sorted(stop.nodes)), stop.over[11:16], stop.most_s // 60


def overs(*events: AnyEvent, of: Plan = PLAN) -> dict[str, str]:
    return {" ".join(shape(stop)[:2]): stop.over[11:16] for stop in stops(*events, of=of)}


# --- where stops end --------------------------------------------------------------------------------------------------


def test_the_stack_of_each_node_and_the_instances_end_with_the_gates_that_show_them_up():
    assert [shape(stop) for stop in stops(*STOPPING)] == [
        ("stack", "rac1", "", 50),  # stack-down to first-node
        ("stack", "rac2 rac3", "", 60),  # to other-nodes
        ("instance", "rac1 rac2 rac3", "", 60),
    ]
    assert all(stop.began[11:16] == "18:04" and stop.was == RUNNING for stop in stops(*STOPPING))
    until_first = (*STOPPING, *map(passed, ("stack-down", "set-mtu", "survives-boot", "prove-paths", "first-node")))
    ended = {"stack rac1": "18:09", "stack rac2 rac3": "", "instance rac1 rac2 rac3": ""}
    assert overs(*until_first) == ended
    assert set(overs(*until_first, passed("other-nodes")).values()) == {"18:09", "18:10"}


def doing(of: Plan, first: str, last: str) -> list[AnyEvent]:
    """The events of the steps of a plan from one to another, the last one left out."""
    steps = of.steps[of.position(first) : of.position(last)]
    return [
        event
        for step in steps
        for event in (*((passed(step.id),) if step.gates else ()), *((Attested(step.id, "A"),) if step.attest else ()))
    ]


def test_one_node_ends_with_the_steps_that_start_it():
    started = [*doing(OF_ONE_NODE, "agree", "stack-down"), Begun("stack-down", RUNNING)]
    assert overs(*started, of=OF_ONE_NODE) == {"stack rac2": "", "instance rac2": ""}
    assert not any(stop.stops_database for stop in stops(*started, of=OF_ONE_NODE))
    is_up = overs(*started, *doing(OF_ONE_NODE, "stack-down", "instances"), of=OF_ONE_NODE)
    assert [bool(is_up[name]) for name in ("stack rac2", "instance rac2")] == [True, False]
    serves = overs(*started, *doing(OF_ONE_NODE, "stack-down", "interconnect"), of=OF_ONE_NODE)
    assert all(serves.values())


def test_only_a_gate_that_passes_or_is_overridden_ends_a_stop():
    tried = (*STOPPING, passed("stack-down"), Begun("set-mtu", ObservedState()), Verified("set-mtu", False, ()))
    assert overs(*tried)["link mtu rac1 rac2 rac3"] == ""
    assert overs(*tried, Overridden("set-mtu", "A. Lee", "The file comes later."))["link mtu rac1 rac2 rac3"] == "18:08"


def test_an_mtu_is_planned_until_the_gate_that_reads_it_and_not_until_the_paths_are_proved():
    events = (*STOPPING, passed("stack-down"), Begun("set-mtu", ObservedState()), passed("set-mtu"))
    (mtu,) = (stop for stop in stops(*events) if StopKind.MTU in stop.kinds)
    assert shape(mtu) == ("link mtu", "rac1 rac2 rac3", "18:07", 10)


def test_a_boot_is_of_the_nodes_with_the_command():
    events = (*STOPPING, passed("stack-down"), passed("set-mtu"), Begun("survives-boot", ObservedState()))
    assert overs(*events)["link node rac2"] == ""
    assert overs(*events, passed("survives-boot"))["link node rac2"] == "18:08"


def test_a_step_without_a_gate_ends_a_stop_when_it_is_attested():
    switch = Step(id="switch", title="switch", what="Raise it.", why="", attest="It is raised.")
    after = timed(*STEPS[:3], switch, *STEPS[3:])
    events = (*STOPPING, passed("stack-down"), Begun("switch", ObservedState()))
    assert overs(*events, of=after)["link rac1 rac2 rac3"] == ""
    assert overs(*events, Attested("switch", "Bob"), of=after)["link rac1 rac2 rac3"] == "18:07"
    assert stops_of(timed(switch, *STEPS), switch) == ()  # while the cluster runs, no link may drop


def test_the_close_of_the_change_ends_every_stop():
    closed = overs(*STOPPING, Closed("abandoned", "A. Lee", "The window is over."))
    assert set(closed.values()) == {"18:05"}


# --- starts -----------------------------------------------------------------------------------------------------------


def test_the_first_reading_counts_while_its_stop_is_planned():
    assert stops(*STOPPING, Begun("stack-down", ObservedState())) == stops(*STOPPING)


def test_a_start_after_the_time_of_the_first_one_stops_again():
    early = lines(*(one for one in (change_opened(), *STOPPING)))
    late = Begun("stack-down", ObservedState())
    again = replace(lines(change_opened(), *STOPPING, late)[-1], at="2026-11-20T19:30:00.000+01:00")
    assert [stop.began[11:16] for stop in planned_stops(fold((*early, again)))] == ["18:04"] * 3 + ["19:30"] * 3


def change_opened() -> AnyEvent:
    return change(opened=PLAN).lines[0].event


def test_a_reopened_step_stops_again_what_was_started_meanwhile_and_the_first_stop_goes_on():
    again = ObservedState(running={"rac2": True})
    events = (*STOPPING, passed("stack-down"), Reopened("stack-down", "rac2 was started."), Begun("stack-down", again))
    found = stops(*events)
    assert [stop.was for stop in found] == [RUNNING] * 3 + [again] * 3
    assert {stop.over for stop in found} == {""}


def test_a_step_that_stops_nothing_or_is_not_the_current_one_cannot_be_started():
    running = change(AGREED, passed("baseline"), opened=PLAN)
    assert decisions.begin(running, "stack-down", RUNNING) == Begun("stack-down", RUNNING)
    for of, step, why in (
        (change(opened=PLAN), "agree", "stops nothing"),
        (running, "set-mtu", "has not come to|has not reached"),
        (running, "baseline", "is done"),
        (change(AGREED, Closed("abandoned", "A. Lee", "No window.")), "agree", "is closed"),
    ):
        with pytest.raises(ChangeError, match=why):
            decisions.begin(of, step, RUNNING)
    with pytest.raises(ChangeError, match="another step"):
        change(AGREED, Begun("stack-down", RUNNING), opened=PLAN)


def test_a_change_that_has_started_to_stop_cannot_be_abandoned():
    with pytest.raises(ChangeError, match="Roll back"):
        decisions.abandon(change(*STOPPING, opened=PLAN), "A. Lee", "No window this month.")


# --- rollback ---------------------------------------------------------------------------------------------------------


BACK = plan(
    kind=ChangeKind.ROLLBACK,
    steps=tuple(one for one in PLAN.steps if one.id in ("stack-down", "set-mtu", "first-node", "other-nodes")),
)


def test_what_is_down_stays_planned_in_the_rollback_until_it_is_up_again():
    rolled_back = (*STOPPING, passed("stack-down"), RolledBack(BACK, "A. Lee", "The window is over."))
    assert [shape(stop) for stop in stops(*rolled_back)] == [
        ("stack", "rac1", "", 2 + 30),  # the time until the rollback, then its own steps
        ("stack", "rac2 rac3", "", 2 + 40),
        ("instance", "rac1 rac2 rac3", "", 2 + 40),
    ]
    assert overs(*rolled_back, *map(passed, ("stack-down", "set-mtu", "first-node")))["stack rac1"] == "18:09"
    started = stops(*rolled_back, Begun("stack-down", ObservedState()))
    assert [stop.began[11:16] for stop in started] == ["18:04"] * 3 + ["18:07"] * 3


def test_a_rollback_that_brings_nothing_back_ends_the_stops():
    untouched = plan(kind=ChangeKind.ROLLBACK, steps=(STEPS[-1],))
    assert set(overs(*STOPPING, RolledBack(untouched, "A. Lee", "The window is over.")).values()) == {"18:05"}


# --- time -------------------------------------------------------------------------------------------------------------


def test_after_its_minutes_a_stop_is_not_planned_any_more():
    first, *_ = stops(*STOPPING)
    for at, is_planned in (("18:03", False), ("18:04", True), ("18:54", True), ("18:55", False)):
        assert first.is_planned_at(datetime.fromisoformat(f"2026-11-20T{at}:00.000+01:00")) is is_planned
    over = PlannedStop(**{**vars(first), "over": "2026-11-20T18:10:00.000+01:00"})
    assert not over.is_planned_at(datetime.fromisoformat("2026-11-20T18:10:00.000+01:00"))


def test_the_database_is_silent_with_all_nodes_that_have_its_instances():
    assert [stop.stops_database for stop in stops(*STOPPING)] == [False, False, True]
    one = Step(id="restart-rac1", title="restart rac1", what="", why="", gates=(Gate("instances-up"),),
               commands=(Commands(Who.DATABASE_OWNER, ("srvctl stop",), "rac1"),))  # fmt: skip
    alone = plan(steps=(one, STEPS[-1]))
    assert [stop.stops_database for stop in stops(Begun("restart-rac1", RUNNING), of=alone)] == [False]


# --- the table, and where the event is shown --------------------------------------------------------------------------


NOT_OF_NODES = {"services-elsewhere", "instances", "deregister", "untouched"}
"""Steps whose commands stop or move a service or a listener only, or are typed only if a gate names the node."""


JOURNALS = sorted((Path(__file__).parents[1] / "golden" / "v0_2_0").rglob("*.change"))


def plans_of(path: Path) -> Iterator[Plan]:
    """The plans in a journal: of each kind of change, and of a rollback."""
    for line in ChangeJournal.read(path).change.lines:
        if isinstance(line.event, Opened | RolledBack):
            yield line.event.plan


PLANS = [*(one for path in JOURNALS for one in plans_of(path)), OF_ONE_NODE]


@pytest.mark.parametrize("of", PLANS, ids=lambda of: of.kind)
def test_each_step_whose_commands_stop_something_is_in_the_table(of: Plan):
    worst = {Effect.STOPS, Effect.NODE_OUT_FIRST, Effect.CLUSTER_DOWN_FIRST}
    stopping = {
        step.id for step in of.steps if any(b.effect in worst for b in step.commands if b.node and not b.optional)
    }
    assert stopping - NOT_OF_NODES <= {step.id for step in of.steps if stops_of(of, step)}


def test_the_place_of_a_change_never_passes_its_last_step():
    assert place_of(change(opened=PLAN)) == "change 1/9"
    done = change(AGREED, *map(passed, [step.id for step in STEPS[1:-1]]), Attested("sign-off", "A. Lee"), opened=PLAN)
    assert (done.current, place_of(done)) == (None, "change 9/9")
    assert place_of(change(*STOPPING, RolledBack(BACK, "A. Lee", "why"), opened=PLAN)) == "rollback 1/4"
    assert place_of(change(AGREED, Closed("abandoned", "A. Lee", "No window."), opened=PLAN)) == ""


def test_a_start_is_a_sentence_with_the_nodes_that_were_read(tmp_path: Path):
    assert sentence_of(Begun("stack-down", RUNNING)) == "stack-down started; read right before: rac1, rac2 and rac3."
    assert sentence_of(Begun("stack-down")) == "stack-down started; read right before: no node could be read."
    journal = ChangeJournal.open_new(tmp_path, PLAN, ObservedState(), who="oracle@rac1", version="1")
    for event in (*STOPPING, Noted("stack-down", "It takes long.")):
        journal.append(event, who="oracle@rac1", version="1")
    read: Change = ChangeJournal.read(journal.path).change
    assert [line.event for line in read.starts(read.plan.step("stack-down"))] == [Begun("stack-down", RUNNING)]
