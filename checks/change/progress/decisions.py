"""The decisions of people: each function returns an event, or raises ChangeError with the reason. No I/O."""

from __future__ import annotations

from checks.change.plan.change_plan import Plan, Step
from checks.change.plan.step_stops import stops_of
from checks.change.progress.change_events import (
    Attested,
    Begun,
    ChangeOutcome,
    Closed,
    Noted,
    ObservedState,
    Overridden,
    RolledBack,
)
from checks.change.progress.state import Change, ChangeError, StepStatus
from checks.change.progress.wanted import NODE_UP, REGISTER, STOPPED
from checks.model.own_command import VERIFY, OwnCommand
from checks.model.wording import listed

FIRST_ACTIONS = (STOPPED, REGISTER, "set-first", "restore-point", "services-elsewhere")
"""The steps that stop or change something first; a plan has one or two of them."""
_FEW_CHARACTERS = 10
"""The minimum length of a reason: people read it months later."""


def begin(change: Change, step_id: str, look: ObservedState) -> Begun:
    """Return the start of the current step, which stops or changes something; `look` is what was read right before.

    Raises ChangeError if the step is not the current one, or stops nothing.
    """
    step = _current(change, step_id)
    if not stops_of(change.plan, step):
        raise ChangeError(
            f"Step {step.id} stops nothing: there is nothing to start. ", OwnCommand("next"), " shows it."
        )
    return Begun(step.id, look)


def attest(change: Change, step_id: str, by: str, note: str = "", host: str = "") -> Attested:
    """Return the attestation of the current step, signed by `by`, for a fact that racwire cannot verify.

    `host` names the host, for a step that is attested for each host. Raises ChangeError if the step has nothing to
    attest or is not current, if `by` is empty, if the host is missing, not known or attested already, if the note is
    missing that the step asks for, or if it is the last step and its gate has not passed: a signature needs a last
    verification.
    """
    step = _current(change, step_id)
    if not step.attest:
        raise ChangeError(f"Step {step.id} has nothing to attest: ", VERIFY, " verifies its gate.")
    if step is change.plan.steps[-1] and step.gates and not change.is_proved(step):
        raise ChangeError(f"Step {step.id} can be attested only after its gate has passed: ", VERIFY, ".")
    _host(change, step, host)
    name = _name(by, "attests")
    if step.attest_asks and not note.strip():
        raise ChangeError(f"The attestation of {step.id} needs a note (--note TEXT): {step.attest_asks}.")
    return Attested(step.id, name, note.strip(), host)


def override(change: Change, step_id: str, by: str, reason: str) -> Overridden:
    """Return the override of a gate that does not pass.

    Raises ChangeError if the step has no gate or is not current, if its gate was not verified or has passed, or if the
    reason or `by` is missing.
    """
    step = _current(change, step_id)
    if not step.gates:
        raise ChangeError(f"Step {step.id} has no gate to override.")
    mark = change.mark(step)
    if mark.verified is None:
        since = "since a step was reopened" if change.was_verified(step) else "yet"
        raise ChangeError(f"The gate of {step.id} was not verified {since}. Run ", VERIFY, " before you override it.")
    if mark.passed:
        raise ChangeError(f"The gate of {step.id} has passed; there is nothing to override.")
    if len(reason.strip()) < _FEW_CHARACTERS:
        raise ChangeError(
            f"An override needs a reason of at least {_FEW_CHARACTERS} characters: the report has it under its own "
            "heading."
        )
    not_held = tuple(result for result in mark.results if not result.holds)
    return Overridden(step.id, _name(by, "overrides"), reason.strip(), not_held, mark.verified.at)


def note(change: Change, text: str) -> Noted:
    """Return a note on the current step, or on the last step when all are done.

    Raises ChangeError if the text is empty or the change is closed.
    """
    _open(change)
    if not text.strip():
        raise ChangeError("A note needs a text.")
    step = change.current or change.plan.steps[-1]
    return Noted(step.id, text.strip())


def refuse_rollback(change: Change) -> None:
    """Raise ChangeError if there is no rollback: the one node of the plan runs with the MTU of the others again."""
    node = change.plan.node
    if node and change.reached >= change.plan.position(NODE_UP) and change.look.running.get(node):
        raise ChangeError(
            f"There is no rollback: Clusterware runs on {node} again, with the MTU of the others. If it did not come "
            f"up there, stop it (crsctl stop crs on {node}) and verify: then there is one. For another MTU of {node}, "
            "finish this change and open one of its own."
        )


def roll_back(change: Change, plan: Plan, by: str, reason: str) -> RolledBack:
    """Return the start of the rollback with this plan.

    Raises ChangeError if the change is closed or rolling back already, if there is no rollback any more, or if the
    reason or `by` is missing.
    """
    _open(change)
    if change.is_way_back:
        raise ChangeError("The rollback has started already. ", OwnCommand("next"), " shows its next step.")
    refuse_rollback(change)
    if len(reason.strip()) < _FEW_CHARACTERS:
        raise ChangeError(
            f"A rollback needs a reason of at least {_FEW_CHARACTERS} characters: the next operator reads it."
        )
    return RolledBack(plan, _name(by, "decides"), reason.strip())


def close(change: Change, by: str) -> Closed:
    """Return the end of a change whose steps are all done. Raises ChangeError if a step is not done."""
    _open(change)
    if (step := change.current) is not None:
        raise ChangeError(f"Step {change.plan.position(step.id) + 1}, {step.title}, is not done yet.")
    return Closed(ChangeOutcome.ROLLED_BACK if change.is_way_back else ChangeOutcome.SIGNED_OFF, by)


def abandon(change: Change, by: str, reason: str) -> Closed:
    """Return the end of a change that has not stopped or changed anything yet.

    Raises ChangeError after the start of the first step that stops or changes something, when only a rollback is
    possible, and if the reason or `by` is missing.
    """
    _open(change)
    begins = min(map(change.plan.position, FIRST_ACTIONS))
    if change.is_way_back or any(
        change.standing(step).is_behind or change.was_verified(step) or change.starts(step)
        for step in change.plan.steps[begins:]
    ):
        raise ChangeError(
            "A node may have been stopped or changed already. Roll back with ",
            OwnCommand("rollback"),
            ": it verifies that the old state is restored.",
        )
    if len(reason.strip()) < _FEW_CHARACTERS:
        raise ChangeError(
            f"To abandon the {change.opened.noun}, type a reason of at least {_FEW_CHARACTERS} characters."
        )
    return Closed(ChangeOutcome.ABANDONED, _name(by, "decides"), reason.strip())


def _current(change: Change, step_id: str) -> Step:
    _open(change)
    try:
        step = change.plan.step(step_id)
    except KeyError:
        known = ", ".join(step.id for step in change.plan.steps)
        raise ChangeError(f"There is no step {step_id!r}. The steps are {known}.") from None
    standing = change.standing(step)
    if standing is StepStatus.CURRENT:
        return step
    if standing.is_behind:
        raise ChangeError(f"Step {step.id} is done.")
    current = change.current
    first = f"step {change.plan.position(current.id) + 1}, {current.id}, comes first" if current else "all are done"
    raise ChangeError(f"The {change.opened.noun} has not reached step {step.id} yet: {first}.")


def _host(change: Change, step: Step, host: str) -> None:
    """Raise ChangeError if the step cannot be attested for this host; for no host, if it is empty."""
    waiting = change.mark(step).unattested(step)
    if host and host not in step.attest_for:
        known = f"its hosts are {listed(step.attest_for)}" if step.attest_for else "it is attested once"
        raise ChangeError(f"Step {step.id} is not attested for {host!r}: {known}.")
    if host and host not in waiting:
        raise ChangeError(f"Step {step.id} is attested for {host} already; it waits for {listed(waiting)}.")
    if not host and waiting:
        raise ChangeError(f"Step {step.id} is attested for each host: name one of {listed(waiting)} with --host.")


def _open(change: Change) -> None:
    if not change.is_open:
        raise ChangeError(f"The {change.opened.noun} {change.opened.id} is closed: {change.outcome}.")


def _name(by: str, does: str) -> str:
    if not by.strip():
        raise ChangeError(f"Enter the name of the person who {does}.")
    return by.strip()
