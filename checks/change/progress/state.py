"""The state of a change, folded from its events. A state machine without I/O: events in, the next step out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Literal

import msgspec

from checks.change.plan.change_plan import ChangeKind, Gate, Plan, Step
from checks.change.progress.change_events import (
    Attested,
    Begun,
    ChangeOutcome,
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
from checks.model.own_command import OwnCommand, written


class ChangeError(Exception):
    """A request that does not fit the state of the change: one sentence with the remedy, in parts."""

    def __init__(self, *text: str | OwnCommand) -> None:
        super().__init__(written(text))
        self.text = text


class StepNeed(StrEnum):
    """What a step waits for."""

    GATE = "its gate"
    ATTESTATION = "an attestation"


class StepStatus(StrEnum):
    """The status of a step."""

    AHEAD = "ahead"
    CURRENT = "current"
    DONE = "done"
    OVERRIDDEN = "overridden"
    """Overridden with a typed reason: the gate did not pass."""

    @property
    def is_behind(self) -> bool:
        """Whether the step is done or overridden."""
        return self in (StepStatus.DONE, StepStatus.OVERRIDDEN)


@dataclass(frozen=True)
class StepRecord:
    """The record of one step."""

    verified: JournalLine | None = None
    """The last verification of its gates, passed or not; None once its result is out of date: the step was reopened, or
    the gate did not pass and an earlier step was reopened since."""
    passed: bool = False
    attested: JournalLine | None = None
    """The last attestation."""
    attested_for: dict[str, JournalLine] = field(default_factory=dict)
    """The attestations of a step that is attested for each host, by host."""
    overridden: JournalLine | None = None
    reopened: JournalLine | None = None
    """Why the step must be done again; None once it is done."""

    @property
    def results(self) -> tuple[GateResult, ...]:
        """The results of its gates in the last verification."""
        return self.verified.event.results if self.verified and isinstance(self.verified.event, Verified) else ()

    def proves(self, step: Step) -> bool:
        """Whether a step with this record waits for no gate: it has none, its gates passed, or were overridden."""
        return not step.gates or self.passed or self.overridden is not None

    def does(self, step: Step) -> bool:
        """Whether a step with this record is done: it waits for no gate, and is attested if required."""
        return self.proves(step) and self.attests(step)

    def attests(self, step: Step) -> bool:
        """Whether a step with this record waits for no attestation."""
        return not step.attest or (self.attested is not None and not self.unattested(step))

    def unattested(self, step: Step) -> tuple[str, ...]:
        """Return the hosts that a step with this record is still to be attested for."""
        return tuple(host for host in step.attest_for if host not in self.attested_for)

    def waits_for(self, step: Step) -> tuple[StepNeed, ...]:
        """Return what a step with this record waits for."""
        gate = () if self.proves(step) else (StepNeed.GATE,)
        return gate if self.attests(step) else (*gate, StepNeed.ATTESTATION)

    def next_host(self, step: Step) -> str:
        """Return the first host that the step is still to be attested for; empty if there is none."""
        return next(iter(self.unattested(step)), "")


@dataclass(frozen=True)
class Change:
    """The state of a change after some lines of its journal."""

    opened: Plan
    """The plan that the change was opened with."""
    plan: Plan
    """The current plan: the opened one, or that of the rollback."""
    lines: tuple[JournalLine, ...]
    look: ObservedState = field(default_factory=ObservedState)
    """The state of the nodes at the last verification."""
    marks: dict[str, StepRecord] = field(default_factory=dict)
    """The records of the current plan's steps, by id."""
    reached: int = 0
    """The furthest position among the plan's steps that was ever current; a reopened step does not lower it."""
    behind: tuple[tuple[Plan, dict[str, StepRecord]], ...] = ()
    """The plans before the rollback, with the records of their steps."""
    outcome: ChangeOutcome | Literal[""] = ""
    """Empty while the change is open."""

    @property
    def is_open(self) -> bool:
        """Whether the change is open."""
        return not self.outcome

    @property
    def is_way_back(self) -> bool:
        """Whether the current plan is a rollback."""
        return self.plan.kind is ChangeKind.ROLLBACK

    def mark(self, step: Step) -> StepRecord:
        """Return the record of a step of the current plan."""
        return self.marks.get(step.id, StepRecord())

    def standing(self, step: Step) -> StepStatus:
        """Return the status of a step of the current plan."""
        if self._is_done(step):
            return StepStatus.OVERRIDDEN if self.mark(step).overridden else StepStatus.DONE
        current = self.current
        return StepStatus.CURRENT if current is not None and current.id == step.id else StepStatus.AHEAD

    @cached_property
    def current(self) -> Step | None:
        """The first step that is not done; None when all are done."""
        return next((step for step in self.plan.steps if not self._is_done(step)), None)

    def was_verified(self, step: Step) -> bool:
        """Whether the gates of a step of the current plan were ever verified, passed or not."""
        return any(isinstance(line.event, Verified) for line in self._of_current_plan(step))

    def starts(self, step: Step) -> tuple[JournalLine, ...]:
        """Return the lines by which an operator started a step of the current plan, oldest first."""
        return tuple(line for line in self._of_current_plan(step) if isinstance(line.event, Begun))[::-1]

    def _of_current_plan(self, step: Step) -> Iterator[JournalLine]:
        """Yield the verifications and the starts of a step since its plan is the current one, the newest first."""
        for line in reversed(self.lines):
            if isinstance(line.event, RolledBack):
                return
            if isinstance(line.event, Begun | Verified) and line.event.step == step.id:
                yield line

    def is_proved(self, step: Step) -> bool:
        """Whether a step waits for no gate: it has none, its gates passed, or were overridden."""
        return self.mark(step).proves(step)

    def _is_done(self, step: Step) -> bool:
        return self.mark(step).does(step)

    def held(self, step: Step) -> tuple[tuple[Step, Gate], ...]:
        """Return the gates of earlier steps that must still hold at this step.

        An override covers only the results that did not pass: the nodes that passed must still pass. Once the change
        has come to the `until` step of a gate, the gate need not hold again, even if a step is reopened; while the
        `until` step is not done, its own gates of the same kind must hold instead.
        """
        position = self.plan.position(step.id)
        return tuple(
            (earlier, gate)
            for earlier in self.plan.steps[:position]
            for proved in earlier.gates
            if proved.until and position < self.plan.position(proved.until)
            for wanted in self._wanted_still(proved)
            if (gate := self._still_proved(earlier, wanted)) is not None
        )

    def _wanted_still(self, gate: Gate) -> tuple[Gate, ...]:
        """Return the gate until the change comes to its `until` step; from then on that step's own gates of its kind.

        Nothing once that step is done.
        """
        until = self.plan.position(gate.until)
        if until == len(self.plan.steps) or self.reached < until:
            return (gate,)
        last = self.plan.steps[until]
        if self._is_done(last) or self.reached > until:
            return ()
        return tuple(msgspec.structs.replace(own, until=gate.until) for own in last.gates if own.check == gate.check)

    def _still_proved(self, step: Step, gate: Gate) -> Gate | None:
        """Return the gate for the nodes where it passed: all, or some of an overridden step; None for no node."""
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
        """The journal lines of unexpected changes of the cluster."""
        return tuple(line for line in self.lines if isinstance(line.event, Surprised))

    def notes(self, step: Step) -> tuple[JournalLine, ...]:
        """Return the notes on a step."""
        return tuple(line for line in self.lines if isinstance(line.event, Noted) and line.event.step == step.id)


def fold(lines: Iterable[JournalLine]) -> Change:
    """Return the change after these journal lines. Raises ChangeError if they do not fit together."""
    all_lines = tuple(lines)
    if not all_lines:
        raise ChangeError("The journal is empty.")
    first, *others = all_lines
    if not isinstance(first.event, Opened):
        raise ChangeError("The first line of the journal is not the plan of a change.")
    plan = _followable(first.event.plan)
    change = Change(plan, plan, (first,), first.event.look)
    for line in others:
        change = _after(change, line)
    return replace(change, lines=all_lines)


def advance(change: Change, line: JournalLine) -> Change:
    """Return the change after one more line. Raises ChangeError if the line does not fit."""
    return replace(_after(change, line), lines=(*change.lines, line))


def _after(change: Change, line: JournalLine) -> Change:
    """Return the state after the event of a line; the caller adds the line itself."""
    after = _folded(change, line)
    here = after.plan.position(after.current.id) if after.current else len(after.plan.steps)
    return replace(after, reached=max(after.reached, here))


def _folded(change: Change, line: JournalLine) -> Change:
    if not change.is_open:
        raise ChangeError(f"The change {change.opened.id} is closed ({change.outcome}); no event can follow.")
    match line.event:
        case Opened():
            raise ChangeError("The journal holds the plans of two changes: two journals were merged.")
        case Begun(step=id):
            if change.current is None or change.current.id != id:
                raise ChangeError(f"The journal starts step {id!r} while another step is the current one.")
        case Verified(step=id, passed=passed, look=look):
            mark = _mark(change, id)
            marked = replace(mark, verified=line, passed=passed, reopened=None if passed else mark.reopened)
            return replace(_with(change, id, marked), look=look)
        case Attested(step=id, host=host):
            mark = _mark(change, id)
            attested_for = {**mark.attested_for, host: line} if host else mark.attested_for
            return _with(change, id, replace(mark, attested=line, attested_for=attested_for))
        case Overridden(step=id):
            return _with(change, id, replace(_mark(change, id), overridden=line, reopened=None))
        case Reopened(step=id):
            # An attestation stays valid; a verification or an override must be repeated.
            again = replace(_mark(change, id), verified=None, passed=False, overridden=None, reopened=line)
            return replace(change, marks={**_without_old_failures(change, id), id: again})
        case RolledBack(plan=plan):
            behind = (*change.behind, (change.plan, change.marks))
            return replace(change, plan=_followable(plan), marks={}, reached=0, behind=behind)
        case Closed(outcome=outcome):
            return replace(change, outcome=outcome)
        case Noted(step=id):
            _mark(change, id)
    return change


def _followable(plan: Plan) -> Plan:
    """Return the plan. Raises ChangeError if it has no steps, nodes or networks, or two steps with the same id."""
    ids = [step.id for step in plan.steps]
    if not ids or len({*ids}) != len(ids) or not plan.nodes or not plan.networks:
        raise ChangeError("Its plan has no steps, no nodes or no networks, or two steps with the same id.")
    return plan


def _mark(change: Change, step: str) -> StepRecord:
    try:
        return change.mark(change.plan.step(step))
    except KeyError:
        raise ChangeError(f"The journal names a step {step!r} that its plan does not have.") from None


def _without_old_failures(change: Change, reopened: str) -> dict[str, StepRecord]:
    """Return the records, without verifications that did not pass of steps after the reopened one.

    What did not pass there may be the reason for the reopening, which is fixed before they are verified again.
    """
    later = {step.id for step in change.plan.steps[change.plan.position(reopened) :]}
    return {
        step: replace(mark, verified=None) if step in later and not mark.passed and mark.overridden is None else mark
        for step, mark in change.marks.items()
    }


def _with(change: Change, step: str, mark: StepRecord) -> Change:
    return replace(change, marks={**change.marks, step: mark})
