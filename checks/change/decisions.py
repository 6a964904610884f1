"""What people decide: each becomes an event, or is refused with the reason. No I/O."""

from __future__ import annotations

from checks.change.change_events import Attested, Closed, Noted, Overridden, RolledBack
from checks.change.change_plan import Plan, Step
from checks.change.state import Change, ChangeError, StepStatus

_FEW_CHARACTERS = 10
"""A reason shorter than this is no reason: it is to be read months later."""


def attest(change: Change, step_id: str, by: str, note: str = "") -> Attested:
    """Say by name that what racwire cannot see of the current step is so. Raises ChangeError.

    The last step is attested last: nobody signs off what was not looked at once more.
    """
    step = _current(change, step_id)
    if not step.attest:
        raise ChangeError(f"Step {step.id} has nothing to attest: its gate is looked at by `racwire change verify`.")
    if step is change.plan.steps[-1] and step.gates and not change.is_proved(step):
        raise ChangeError(f"Look first (`racwire change verify`): {step.id} is attested once its gate has passed.")
    return Attested(step.id, _name(by, "attests"), note.strip())


def override(change: Change, step_id: str, by: str, reason: str) -> Overridden:
    """Go past a gate that does not pass. Raises ChangeError: without a reason, and before the gate was looked at."""
    step = _current(change, step_id)
    if not step.gates:
        raise ChangeError(f"Step {step.id} has no gate to override.")
    mark = change.mark(step)
    if mark.verified is None:
        raise ChangeError(f"Look at the gate of {step.id} first (`racwire change verify`): you cannot weigh it unseen.")
    if mark.passed:
        raise ChangeError(f"The gate of {step.id} has passed; there is nothing to override.")
    if len(reason.strip()) < _FEW_CHARACTERS:
        raise ChangeError("An override needs a reason in words: it stands in the report under its own heading.")
    return Overridden(step.id, _name(by, "overrides"), reason.strip())


def note(change: Change, text: str) -> Noted:
    """A remark on the current step; on the last one when all are done. Raises ChangeError for an empty one."""
    _open(change)
    if not text.strip():
        raise ChangeError("A note needs a text.")
    step = change.current or change.plan.steps[-1]
    return Noted(step.id, text.strip())


def roll_back(change: Change, plan: Plan, by: str, reason: str) -> RolledBack:
    """Begin the way back with this plan. Raises ChangeError where it is being followed already."""
    _open(change)
    if change.is_way_back:
        raise ChangeError("The way back is being followed already. Its next step: `racwire change next`.")
    if len(reason.strip()) < _FEW_CHARACTERS:
        raise ChangeError("Going back needs a reason in words: who comes next will want to know it.")
    return RolledBack(plan, _name(by, "decides"), reason.strip())


def close(change: Change, by: str) -> Closed:
    """The last step is done: the change is over. Raises ChangeError while a step is not."""
    _open(change)
    if (step := change.current) is not None:
        raise ChangeError(f"Step {change.plan.position(step.id) + 1}, {step.title}, is not done yet.")
    return Closed("rolled back" if change.is_way_back else "signed off", by)


def abandon(change: Change, by: str, reason: str) -> Closed:
    """Give the change up where nothing was changed yet. Raises ChangeError: later only the way back leads out."""
    _open(change)
    stopping = change.plan.position("stack-down")
    if change.is_way_back or any(
        change.standing(step).is_behind or change.mark(step).verified for step in change.plan.steps[stopping:]
    ):
        raise ChangeError(
            "Something may have been stopped or changed already: go back with `racwire change rollback`, which proves "
            "that all is as it was."
        )
    if len(reason.strip()) < _FEW_CHARACTERS:
        raise ChangeError("Giving up needs a reason in words.")
    return Closed("abandoned", _name(by, "decides"), reason.strip())


def _current(change: Change, step_id: str) -> Step:
    _open(change)
    try:
        step = change.plan.step(step_id)
    except KeyError:
        known = ", ".join(step.id for step in change.plan.steps)
        raise ChangeError(f"There is no step {step_id!r}; there are {known}.") from None
    standing = change.standing(step)
    if standing is StepStatus.CURRENT:
        return step
    if standing.is_behind:
        raise ChangeError(f"Step {step.id} is done.")
    current = change.current
    first = f"step {change.plan.position(current.id) + 1}, {current.id}, comes first" if current else "all is done"
    raise ChangeError(f"Step {step.id} is not reached: {first}.")


def _open(change: Change) -> None:
    if not change.is_open:
        raise ChangeError(f"The change {change.opened.id} is over: {change.outcome}.")


def _name(by: str, does: str) -> str:
    if not by.strip():
        raise ChangeError(f"Say who {does} it, by name.")
    return by.strip()
