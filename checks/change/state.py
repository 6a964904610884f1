"""Where a change stands: folded from what happened. A state machine without I/O: events in, the next step out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum

import msgspec

from checks.change.change_events import (
    Attested,
    Closed,
    GateResult,
    JournalLine,
    Noted,
    ObservedState,
    Opened,
    Overridden,
    Reopened,
    RolledBack,
    Surprised,
    Verified,
)
from checks.change.change_plan import ChangeKind, Gate, Plan, Step


class ChangeError(Exception):
    """What was asked for does not fit where the change stands: one sentence with what to do."""


class StepStatus(StrEnum):
    """How a step stands."""

    AHEAD = "ahead"
    CURRENT = "current"
    DONE = "done"
    OVERRIDDEN = "overridden"
    """Gone past for a typed reason: not proved."""

    @property
    def is_behind(self) -> bool:
        """Whether the way leads on from it."""
        return self in (StepStatus.DONE, StepStatus.OVERRIDDEN)


@dataclass(frozen=True)
class StepRecord:
    """What is known of one step."""

    verified: JournalLine | None = None
    """The last time that its gates were looked at, whatever came of it."""
    passed: bool = False
    attested: JournalLine | None = None
    overridden: JournalLine | None = None
    reopened: JournalLine | None = None
    """Why it is to be done again; None once it is done."""

    @property
    def results(self) -> tuple[GateResult, ...]:
        """What its gates said last."""
        return self.verified.event.results if self.verified and isinstance(self.verified.event, Verified) else ()

    def proves(self, step: Step) -> bool:
        """Whether the step that is marked so waits for no gate: it has none, or it passed, or was gone past."""
        return not step.gates or self.passed or self.overridden is not None

    def does(self, step: Step) -> bool:
        """Whether the step that is marked so is done: proved, and attested where it is to be."""
        return self.proves(step) and (not step.attest or self.attested is not None)


@dataclass(frozen=True)
class Change:
    """A change as it stands after some lines of its journal."""

    opened: Plan
    """The plan that it began with."""
    plan: Plan
    """The plan that is followed: the same, or the way back."""
    lines: tuple[JournalLine, ...]
    look: ObservedState = field(default_factory=ObservedState)
    """How the nodes were when they were last looked at."""
    marks: dict[str, StepRecord] = field(default_factory=dict)
    behind: tuple[tuple[Plan, dict[str, StepRecord]], ...] = ()
    """Plans that were left for the way back, with how their steps stood."""
    outcome: str = ""
    """`signed off`, `rolled back`, `abandoned`; empty while it goes on."""

    @property
    def is_open(self) -> bool:
        """Whether it goes on."""
        return not self.outcome

    @property
    def is_way_back(self) -> bool:
        """Whether the plan that is followed is the way back."""
        return self.plan.kind is ChangeKind.ROLLBACK

    def mark(self, step: Step) -> StepRecord:
        """What is known of a step of the plan that is followed."""
        return self.marks.get(step.id, StepRecord())

    def standing(self, step: Step) -> StepStatus:
        """How a step stands."""
        if self._is_done(step):
            return StepStatus.OVERRIDDEN if self.mark(step).overridden else StepStatus.DONE
        current = self.current
        return StepStatus.CURRENT if current is not None and current.id == step.id else StepStatus.AHEAD

    @property
    def current(self) -> Step | None:
        """The first step that is not done; None when all are."""
        return next((step for step in self.plan.steps if not self._is_done(step)), None)

    def is_proved(self, step: Step) -> bool:
        """Whether a step waits for no gate: it has none, or it passed, or was gone past."""
        return self.mark(step).proves(step)

    def _is_done(self, step: Step) -> bool:
        return self.mark(step).does(step)

    def held(self, step: Step) -> tuple[tuple[Step, Gate], ...]:
        """The gates of earlier steps that must still hold at this one.

        An override goes past what did not hold: what did hold then has to go on holding. And once the step is done
        that a gate must hold until, it need not hold again, whatever is reopened.
        """
        position = self.plan.position(step.id)
        return tuple(
            (earlier, gate)
            for earlier in self.plan.steps[:position]
            for proved in earlier.gates
            if proved.until and position < self.plan.position(proved.until) and not self._is_behind(proved.until)
            if (gate := self._still_proved(earlier, proved)) is not None
        )

    def _is_behind(self, step_id: str) -> bool:
        """Whether a step of that id is done; never for `end`, which is none."""
        return any(step.id == step_id and self._is_done(step) for step in self.plan.steps)

    def _still_proved(self, step: Step, gate: Gate) -> Gate | None:
        """The gate as far as it was passed: of an overridden step on the nodes where it held; None for nowhere."""
        mark = self.mark(step)
        if mark.passed:
            return gate
        if mark.overridden is None:
            return None
        own = [r for r in mark.results if r.check == gate.check and (not gate.nodes or r.node in gate.nodes)]
        failed = {r.node for r in own if not r.holds}
        nodes = tuple(dict.fromkeys(r.node for r in own if r.node and r.node not in failed))
        return msgspec.structs.replace(gate, nodes=nodes) if nodes else None

    @property
    def surprises(self) -> tuple[JournalLine, ...]:
        """Where the cluster changed under it."""
        return tuple(line for line in self.lines if isinstance(line.event, Surprised))

    def notes(self, step: Step) -> tuple[JournalLine, ...]:
        """The remarks on a step."""
        return tuple(line for line in self.lines if isinstance(line.event, Noted) and line.event.step == step.id)


def fold(lines: Iterable[JournalLine]) -> Change:
    """The change after these lines. Raises ChangeError where they make no sense together."""
    all_lines = tuple(lines)
    if not all_lines:
        raise ChangeError("The journal is empty.")
    first, *others = all_lines
    if not isinstance(first.event, Opened):
        raise ChangeError("The journal does not begin with the plan of a change.")
    plan = _followable(first.event.plan)
    change = Change(plan, plan, (first,), first.event.look)
    for line in others:
        change = _after(change, line)
    return replace(change, lines=all_lines)


def advance(change: Change, line: JournalLine) -> Change:
    """The change after one more line. Raises ChangeError where it does not fit."""
    return replace(_after(change, line), lines=(*change.lines, line))


def _after(change: Change, line: JournalLine) -> Change:
    """What becomes of it; the line itself is added by whoever has all of them."""
    if not change.is_open:
        raise ChangeError(f"The change {change.opened.id} is over ({change.outcome}); nothing can follow.")
    match line.event:
        case Opened():
            raise ChangeError("The journal holds two plans; it was put together of two changes.")
        case Verified(step=id, passed=passed, look=look):
            mark = _mark(change, id)
            marked = replace(mark, verified=line, passed=passed, reopened=None if passed else mark.reopened)
            return replace(_with(change, id, marked), look=look)
        case Attested(step=id):
            return _with(change, id, replace(_mark(change, id), attested=line))
        case Overridden(step=id):
            return _with(change, id, replace(_mark(change, id), overridden=line, reopened=None))
        case Reopened(step=id):
            # What somebody attested stays so; what was seen, or gone past, has to be seen again.
            mark = replace(_mark(change, id), passed=False, overridden=None, reopened=line)
            return _with(change, id, mark)
        case RolledBack(plan=plan):
            behind = (*change.behind, (change.plan, change.marks))
            return replace(change, plan=_followable(plan), marks={}, behind=behind)
        case Closed(outcome=outcome):
            return replace(change, outcome=outcome)
        case Noted(step=id):
            _mark(change, id)
    return change


def _followable(plan: Plan) -> Plan:
    """Raises ChangeError for a plan that nobody can follow."""
    ids = [step.id for step in plan.steps]
    if not ids or len({*ids}) != len(ids) or not plan.nodes or not plan.networks:
        raise ChangeError("Its plan has no steps, no nodes or no networks, or two steps of one name.")
    return plan


def _mark(change: Change, step: str) -> StepRecord:
    try:
        return change.mark(change.plan.step(step))
    except KeyError:
        raise ChangeError(f"The journal speaks of a step {step!r} that its plan does not have.") from None


def _with(change: Change, step: str, mark: StepRecord) -> Change:
    return replace(change, marks={**change.marks, step: mark})
