"""The gates: read-only checks that verify the result of a step, built for one change.

The ordinary engine runs them: the same code gathers facts, reports progress and handles cancellation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from checks.change.gates.backup_gates import backups_made
from checks.change.gates.boot_gates import kept_mtu, rebooted
from checks.change.gates.built_in_checks import CHECKS, as_gate
from checks.change.gates.configuration_gates import oifcfg_unchanged, switch_frames
from checks.change.gates.gate import GateCheck, GateContext
from checks.change.gates.load_database_gates import recovery_area, restore_point, restore_point_dropped, test_database
from checks.change.gates.members_gate import members_unchanged
from checks.change.gates.mtu_gates import mtu_untouched, running_mtu
from checks.change.gates.network_gates import haip_planned, network_gone, network_in_place
from checks.change.gates.other_users_gate import other_users
from checks.change.gates.path_gates import one_byte_more, quiet_counters
from checks.change.gates.reach_gates import only_journal, ssh_apart
from checks.change.gates.recording_gates import after_recording, baseline_recording, comparison
from checks.change.gates.registry_gates import asm_listeners, oifcfg_planned
from checks.change.gates.run_gates import (
    experiment_result,
    mtu_changed,
    run_a_recording,
    run_again_recording,
    run_b_recording,
)
from checks.change.gates.service_gates import pdbs_open, services_up
from checks.change.gates.settings_gates import kept_settings, running_settings, settings_saved
from checks.change.gates.socket_gate import socket_buffers
from checks.change.gates.stack_gates import autostart_off, autostart_on, instances_up, stack_down, stack_up
from checks.change.plan.change_plan import Gate, Step
from checks.change.progress.state import Change
from checks.model.check import Check

__all__ = ["GATES", "GateContext", "documented", "gate_checks", "looked_at", "watched"]

GATES: tuple[GateCheck, ...] = (
    baseline_recording,
    backups_made,
    ssh_apart,
    switch_frames,
    network_in_place,
    oifcfg_planned,
    asm_listeners,
    stack_down,
    autostart_off,
    mtu_untouched,
    other_users,
    network_gone,
    running_mtu,
    kept_mtu,
    rebooted,
    one_byte_more,
    quiet_counters,
    stack_up,
    autostart_on,
    haip_planned,
    instances_up,
    services_up,
    pdbs_open,
    oifcfg_unchanged,
    members_unchanged,
    after_recording,
    comparison,
    only_journal,
    settings_saved,
    running_settings,
    kept_settings,
    socket_buffers,
    test_database,
    recovery_area,
    restore_point,
    run_a_recording,
    run_again_recording,
    mtu_changed,
    run_b_recording,
    experiment_result,
    restore_point_dropped,
)
"""The gates that exist only for changes, in the order of the steps."""
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
