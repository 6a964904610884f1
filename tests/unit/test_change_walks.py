"""Walks over a change as people and nodes take it: no gate passes falsely, every DANGER can be obeyed, nothing is lost.

hypothesis chooses the walks, and shortens one that fails.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from copy import copy
from functools import cache
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from checks.change.gates import gate_checks
from checks.change.plan.planning import look_of
from checks.change.plan.way_back import make_way_back
from checks.change.progress import decisions
from checks.change.progress.change_events import (
    AnyEvent,
    Begun,
    JournalLine,
    Overridden,
    RolledBack,
    Surprised,
    Verified,
)
from checks.change.progress.concluding import conclude
from checks.change.progress.planned_stops import planned_stops
from checks.change.progress.standing_alarms import standing_alarms
from checks.change.progress.state import Change, ChangeError, StepStatus, advance, fold
from checks.change.record.change_journal import ChangeJournal
from checks.change.session import change_session
from checks.change.session.change_session import ChangeSession
from checks.change.session.verifying import Concluded
from checks.model.report import Report, make_report
from checks.model.settings import Settings
from checks.run.check_discovery import discover
from tests.unit.change_truth import (
    Seen,
    asked_for,
    assert_nothing_lost,
    assert_true,
    is_dangerous,
    obeyed,
    verified_of,
)
from tests.unit.change_world import JUMBO, NODES, SHAPES, SMALL, SWITCH, Silence, World, modelled, plan_of
from tui.cli.change.change_json import status_document

WHO = {"who": "oracle@rac1", "version": "1"}
BY, WHY = "A. Lee", "a good reason"
AT = "2026-11-20T19:00:00.000+01:00"
_MEMORY = Path("/dev/shm")
"""A directory whose files are fast to write and to synchronise."""
_checks = cache(discover)
_BEGUN: dict[tuple[str, int], tuple[ChangeJournal, World, Seen, bytes]] = {}
"""The changes that walks begin with, by shape and number of steps."""
nodes = st.sampled_from(NODES)
sizes = st.sampled_from((SMALL, JUMBO))


def report_of(of: Change, world: World) -> Report:
    """Return the report of a verification of the current step."""
    now = world.facts()
    found = tuple(finding for check in gate_checks(of, None, _checks).values() for finding in check.run(now))
    return make_report(version="1", started_at=AT, duration_s=1.0, cluster=now, findings=found, journal=())


def concluded(of: Change, world: World) -> tuple[AnyEvent, ...]:
    """Return the events of a verification of the current step."""
    assert of.current is not None
    return conclude(of, of.current, report_of(of, world))


async def _at_once(function: Callable[..., object], *arguments: object) -> object:
    """Call without a thread: threads and event loops would take most of the time of a walk."""
    return function(*arguments)


class Walk(RuleBasedStateMachine):
    """A change whose nodes, operators and journal do what they can do."""

    def __init__(self) -> None:
        super().__init__()
        self.directory = Path(tempfile.mkdtemp(dir=_MEMORY if _MEMORY.is_dir() else None))

    def teardown(self) -> None:
        shutil.rmtree(self.directory)

    @initialize(shape=st.sampled_from(sorted(SHAPES)), steps=st.integers(0, 8))
    def begin(self, shape: str, steps: int) -> None:
        """Open a change, and follow its first steps without a disturbance."""
        if (shape, steps) not in _BEGUN:
            self.world = World(SHAPES[shape])
            plan = plan_of(shape)
            self.journal = ChangeJournal.open_new(self.directory, plan, look_of(self.world.facts(), plan), **WHO)
            self.seen, self.boots = Seen.of(self.world), dict(self.world.boots)
            for _ in range(steps):
                self.do_the_step()
            _BEGUN[shape, steps] = copy(self.journal), self.world.copy(), self.seen, self.journal.path.read_bytes()
        begun, world, self.seen, written = _BEGUN[shape, steps]
        self.journal, self.world, self.boots = copy(begun), world.copy(), dict.fromkeys(NODES, 0)
        self.journal.path = self.directory / begun.path.name
        self.journal.path.write_bytes(written)

    @property
    def of(self) -> Change:
        return self.journal.change

    def is_on(self) -> bool:
        return self.of.current is not None

    # --- what happens to the nodes ------------------------------------------------------------------------------------

    @rule(node=nodes, nic=st.integers(0, 1), mtu=sizes)
    def set_an_mtu(self, node: str, nic: int, mtu: int) -> None:
        self.world.set(node, self.world.shape.nics[nic], mtu)

    @rule(node=nodes, nic=st.integers(0, 1), mtu=st.sampled_from((SMALL, JUMBO, None)))
    def set_a_file(self, node: str, nic: int, mtu: int | None) -> None:
        self.world.kept[node, self.world.shape.nics[nic]] = mtu

    @rule(node=nodes)
    def reboot(self, node: str) -> None:
        self.world.boot(node)

    @rule(node=nodes, runs=st.booleans())
    def start_or_stop(self, node: str, runs: bool) -> None:
        self.world.runs[node] = runs

    @rule(node=nodes, starts=st.booleans())
    def set_the_autostart(self, node: str, starts: bool) -> None:
        self.world.starts[node] = starts

    @rule(node=nodes, silence=st.sampled_from(Silence))
    def hide(self, node: str, silence: Silence) -> None:
        self.world.silent[node] = silence

    @rule()
    def answer_again(self) -> None:
        self.world.silent = dict.fromkeys(NODES, Silence.NOTHING)

    @rule(node=nodes, mtu=st.sampled_from((SMALL, SWITCH)))
    def set_a_switch_port(self, node: str, mtu: int) -> None:
        self.world.switch[node] = mtu

    # --- what people do -----------------------------------------------------------------------------------------------

    @precondition(is_on)
    @rule(at=st.sets(nodes, min_size=1))
    def follow(self, at: set[str]) -> None:
        """Do what the current step asks for, perhaps not on every node."""
        assert self.of.current is not None
        for node in sorted(at):
            self.world.follow(self.of.plan, self.of.current.id, node)

    @precondition(is_on)
    @rule()
    def do_the_step(self) -> None:
        """Do the current step as it is printed, verify it and attest it."""
        if self.of.current is not None:
            self.follow({*NODES})
            self.verify()
            self.attest()

    @precondition(is_on)
    @rule()
    def attest(self) -> None:
        self.decide(lambda of, step: decisions.attest(of, step, BY, "filed with CHG42"))

    @precondition(is_on)
    @rule()
    def note(self) -> None:
        self.decide(lambda of, _: decisions.note(of, "rac3 is slow"))

    @precondition(is_on)
    @rule()
    def start(self) -> None:
        """Start the step, if it stops something."""
        self.decide(lambda of, step: decisions.begin(of, step, look_of(self.world.facts(), of.plan)))

    @precondition(is_on)
    @rule()
    def override(self) -> None:
        self.decide(lambda of, step: decisions.override(of, step, BY, WHY))

    @precondition(is_on)
    @rule()
    def roll_back(self) -> None:
        def back(of: Change, _: str) -> AnyEvent:
            return decisions.roll_back(of, modelled(make_way_back(of, made_by=BY, made_at=AT)), BY, WHY)

        self.decide(back)

    def decide(self, event: Callable[[Change, str], AnyEvent]) -> None:
        """Write a decision, unless racwire refuses it."""
        if self.of.current is None:
            return
        try:
            decided = event(self.of, self.of.current.id)
        except ChangeError:
            return
        if isinstance(decided, Overridden):
            assert decided.not_held
        self.journal.append(decided, **WHO)
        if isinstance(decided, RolledBack):
            self.boots = dict(self.world.boots)

    # --- verifications ------------------------------------------------------------------------------------------------

    @precondition(is_on)
    @rule()
    def verify(self) -> None:
        before, events = self.of, self.verification()
        self.journal.extend(events, **WHO)
        self.seen = Seen.of(self.world, self.seen)
        self.judge_dangers(before, events)

    def verification(self) -> tuple[AnyEvent, ...]:
        """Return the events of a verification, of which every word is true."""
        events = concluded(self.of, self.world)
        assert_true(events, self.world, self.of, self.boots)
        assert_nothing_lost(events, self.world, self.seen, self.of)
        return events

    def judge_dangers(self, before: Change, events: tuple[AnyEvent, ...]) -> None:
        """Assert that DANGERs are so, do not contradict one another, and end when they are obeyed."""
        of, world = self.of, self.world
        for node in NODES if of.plan.node else ("",):
            assert len(asked_for(events, node)) < 2, events
        is_all_read = all(silence is Silence.NOTHING for silence in world.silent.values())
        standing = [alarm for alarm in standing_alarms(of) if alarm.dangerous]
        if not is_all_read or of.current is None:
            return
        if standing:
            assert is_dangerous(world, of), standing
        is_overridden = any(before.mark(step).overridden for step in before.plan.steps)
        if is_dangerous(world, of) and is_dangerous(world, before) and not is_overridden:
            assert not verified_of(events).passed, events
        if standing or asked_for(events):
            again = obeyed(events, standing, world)
            later = concluded(of, again)
            after = with_more(of, later)
            alarms = [event for event in later if isinstance(event, Surprised) and event.dangerous]
            alarms += [alarm for alarm in standing_alarms(after) if alarm.dangerous]
            if is_overridden and of.plan.node:  # the DANGER of another node was overridden, and is told again
                told = {alarm.node for alarm in standing} | {node for node in NODES if asked_for(events, node)}
                assert not [alarm for alarm in alarms if alarm.node in told], (standing, later)
                assert not [node for node in told if asked_for(later, node)], later
                return
            assert not alarms, (standing, later)
            assert not asked_for(later), later

    @precondition(is_on)
    @rule(lines=st.integers(0, 3), torn=st.integers(0, 60))
    def verify_and_lose_power(self, lines: int, torn: int) -> None:
        """The power fails while the events are written: the first lines are there, and a part of the next one."""
        events = self.verification()
        size = self.journal.path.stat().st_size
        self.journal.extend(events, **WHO)
        data = self.journal.path.read_bytes()
        written = data[size:].splitlines(keepends=True)
        kept = written[: min(lines, len(written) - 1)]
        left = b"".join(kept) + written[len(kept)][:torn]
        self.journal.path.write_bytes(data[:size] + left)
        self.journal = ChangeJournal.read(self.journal.path)
        if any(isinstance(event, Verified) for event in events[: len(kept)]):
            self.seen = Seen.of(self.world, self.seen)

    @precondition(is_on)
    @rule(node=nodes, nic=st.integers(0, 1), mtu=st.one_of(st.none(), sizes))
    def two_verify_at_once(self, node: str, nic: int, mtu: int | None) -> None:
        """While one process verifies, an MTU may change, and another process verifies: what it saw is not replaced."""

        def meanwhile() -> None:
            if mtu is not None:
                self.set_an_mtu(node, nic, mtu)
            self.verify()

        with pytest.raises(ChangeError, match="racwire change verify"):
            self.verify_while(meanwhile)

    @precondition(is_on)
    @rule()
    def verify_while_another_process_writes_a_note(self) -> None:
        """The result is written after the note, with the same events."""
        events, lines = self.verification(), len(self.of.lines)
        self.verify_while(self.note)
        self.journal = ChangeJournal.read(self.journal.path)
        assert tuple(line.event for line in self.of.lines[lines + 1 :]) == events
        self.seen = Seen.of(self.world, self.seen)

    def verify_while(self, meanwhile: Callable[[], None]) -> None:
        """Verify in another process, which reads the nodes before `meanwhile` happens and writes after it."""
        mine, report = copy(self.journal), report_of(self.of, self.world)

        class Looks:
            def __init__(own, change: Change, *_: object, **__: object) -> None:
                own.change, own.step = change, change.current  # type: ignore[attr-defined]

            async def events(own) -> AsyncIterator[Concluded]:
                meanwhile()
                yield Concluded(conclude(own.change, own.step, report), report)  # type: ignore[attr-defined]

        async def verify() -> None:
            async with aclosing(ChangeSession(mine, Settings(), node="rac1").verify()) as events:
                async for _ in events:
                    pass

        with (
            patch.object(change_session, "Verification", Looks),
            patch.object(change_session.asyncio, "to_thread", _at_once),
            patch.object(change_session, "run_to_completion", _at_once),
        ):
            next(verify().__await__(), None)

    # --- what is always so --------------------------------------------------------------------------------------------

    @rule()
    def read_the_journal_again(self) -> None:
        """Every event is on the disk, and the state that follows from them is the one in memory."""
        read = ChangeJournal.read(self.journal.path)
        assert read.change == self.of == fold(self.of.lines)
        assert read.seal.lines == len(self.of.lines)
        for step in status_document(read.change, "c")["steps"]:
            mark = read.change.mark(read.change.plan.step(step["id"]))
            if mark.reopened is not None:
                assert not step["passed"]
                assert (step["verified_at"] == "") == (mark.verified is None)
        assert_planned(self.of)

    @invariant()
    def a_reopened_step_has_no_gate_that_passed(self) -> None:
        of = self.of
        for step in of.plan.steps:
            mark = of.mark(step)
            if mark.reopened is not None:
                assert not mark.passed
                assert not (step.gates and of.standing(step) in (StepStatus.DONE, StepStatus.OVERRIDDEN))
                if mark.verified is not None:
                    assert mark.verified.number > mark.reopened.number


def assert_planned(of: Change) -> None:
    """Each stop is of a start and of nodes of the plan; one that lasts waits for a step that is not done."""
    started = {line.at for line in of.lines if isinstance(line.event, Begun)}
    for stop in planned_stops(of):
        assert stop.began in started
        assert {*stop.nodes} <= {*of.opened.nodes}
        assert stop.over >= stop.began or not stop.over
        if not stop.over and stop.began != of.lines[-1].at:
            assert of.is_open
            assert [step for step in of.plan.steps if step.title == stop.until and not of.standing(step).is_behind]


def with_more(change: Change, events: tuple[AnyEvent, ...]) -> Change:
    """Return the change after further events, which are not written."""
    for event in events:
        number = len(change.lines) + 1
        change = advance(change, JournalLine(number=number, at=AT, who="", racwire="1", after="", event=event))
    return change


@pytest.mark.parametrize(
    "walks",
    [
        pytest.param(15, id="some"),
        pytest.param(10_000, id="many", marks=pytest.mark.beyond_sample),
    ],
)
def test_on_any_walk_gates_pass_truly_dangers_end_when_obeyed_and_nothing_is_lost(walks: int) -> None:
    run_state_machine_as_test(
        Walk,
        settings=settings(
            max_examples=walks,
            stateful_step_count=28,
            deadline=None,
            database=None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
            print_blob=True,
            report_multiple_bugs=False,
            derandomize=walks < 100,
        ),
    )
