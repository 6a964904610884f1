"""The gates: read-only checks that verify the result of a step, built for one change.

The ordinary engine runs them: the same code gathers facts, reports progress and handles cancellation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from checks.change.gates import (
    backup_gates,
    boot_gates,
    configuration_gates,
    load_database_gates,
    members_gate,
    mtu_gates,
    network_gates,
    other_users_gate,
    path_gates,
    reach_gates,
    recording_gates,
    registry_gates,
    run_gates,
    service_gates,
    settings_gates,
    socket_gate,
    stack_gates,
)
from checks.change.gates.built_in_checks import CHECKS, as_gate
from checks.change.gates.gate import GateCheck, GateContext
from checks.change.gates.members_gate import members_unchanged
from checks.change.gates.mtu_gates import mtu_untouched
from checks.change.gates.reach_gates import only_journal
from checks.change.plan.change_plan import Gate, Step
from checks.change.progress.state import Change
from checks.model.check import Check

__all__ = ["GATES", "GateContext", "documented", "gate_checks", "looked_at", "watched"]

_IN_THE_ORDER_OF_THE_STEPS = (
    *(recording_gates, backup_gates, reach_gates, configuration_gates, network_gates, registry_gates, stack_gates),
    *(mtu_gates, other_users_gate, boot_gates, path_gates, service_gates, members_gate, settings_gates, socket_gate),
    *(load_database_gates, run_gates),
)
GATES: tuple[GateCheck, ...] = tuple(
    declared
    for module in _IN_THE_ORDER_OF_THE_STEPS
    for declared in vars(module).values()
    if isinstance(declared, GateCheck)
)
"""The gates that exist only for changes: all that these modules declare."""
_UNTIL_STOPPED = "stack-down"


def documented() -> tuple[Check, ...]:
    """Return every gate of `GATES` as a check for `racwire explain`; no change is needed."""
    return tuple(gate.described() for gate in GATES)


def gate_checks(change: Change, step: Step | None, built_in: Callable[[], Iterable[Check]]) -> dict[str, Check]:
    """Return the checks for the gates of `step`, or of the current step if it is None, by id.

    The result has gates of `GATES` and built-in checks. It leaves out a gate that this version does not know.
    """
    context = GateContext(change, step or change.current or change.plan.steps[-1])
    wanted = {gate.check for gate in (*looked_at(change, context.step), *watched(change, context.step))}
    own = {gate.id: gate.made_for(context) for gate in GATES if gate.id in wanted}
    found = built_in() if wanted - own.keys() else ()
    others = {check.id: as_gate(check) for check in found if check.id in CHECKS and check.id in wanted}
    return {**own, **{id_: check for id_, check in others.items() if id_ not in own}}


def looked_at(change: Change, step: Step) -> tuple[Gate, ...]:
    """Return the gates of a step and the gates of earlier steps that must still hold."""
    return tuple(dict.fromkeys((*step.gates, *(gate for _, gate in change.held(step)))))


def watched(change: Change, step: Step) -> tuple[Gate, ...]:
    """Return the gates that are verified with every step and reported only if they fail.

    They find another journal of this cluster that continued. Until Clusterware was stopped on every node, and in each
    step of a plan that stops nothing, they also find an MTU changed while Clusterware runs, and a node added to the
    cluster.
    """
    return tuple(_watched(change, step))


def _watched(change: Change, step: Step) -> Iterator[Gate]:
    yield Gate(only_journal.id)
    plan = change.plan
    before_stop = plan.position(step.id) <= plan.position(_UNTIL_STOPPED)
    if before_stop and not change.is_way_back and all(gate.check != mtu_untouched.id for gate in step.gates):
        yield Gate(mtu_untouched.id)
        yield Gate(members_unchanged.id)
