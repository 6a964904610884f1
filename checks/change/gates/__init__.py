"""The gates: read-only checks of what a step must have brought about, made for one change.

They are run by the ordinary engine, so that one thing gathers, tells how far it is, and is given up cleanly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from checks.change.change_plan import Gate, Step
from checks.change.gates.backup_gates import backups_made
from checks.change.gates.boot_gates import kept_mtu, rebooted
from checks.change.gates.built_in_checks import CHECKS, as_gate
from checks.change.gates.configuration_gates import oifcfg_unchanged, switch_frames
from checks.change.gates.gate import GateCheck, GateContext
from checks.change.gates.members_gate import members_unchanged
from checks.change.gates.mtu_gates import mtu_untouched, running_mtu
from checks.change.gates.path_gates import one_byte_more, quiet_counters
from checks.change.gates.reach_gates import only_journal, ssh_apart
from checks.change.gates.recording_gates import after_recording, baseline_recording, comparison
from checks.change.gates.stack_gates import autostart_off, autostart_on, instances_up, stack_down, stack_up
from checks.change.state import Change
from checks.model.check import Check

__all__ = ["GATES", "GateContext", "documented", "gate_checks", "looked_at", "watched"]

GATES: tuple[GateCheck, ...] = (
    baseline_recording,
    backups_made,
    ssh_apart,
    switch_frames,
    stack_down,
    autostart_off,
    mtu_untouched,
    running_mtu,
    kept_mtu,
    rebooted,
    one_byte_more,
    quiet_counters,
    stack_up,
    autostart_on,
    instances_up,
    oifcfg_unchanged,
    members_unchanged,
    after_recording,
    comparison,
    only_journal,
)
"""Those of our own, in the order of the steps that they belong to."""
_UNTIL_STOPPED = "stack-down"


def documented() -> tuple[Check, ...]:
    """Every gate of our own for `racwire explain`, which needs no change for it."""
    return tuple(gate.described() for gate in GATES)


def gate_checks(change: Change, step: Step | None, built_in: Callable[[], Iterable[Check]]) -> dict[str, Check]:
    """The checks that look at the gates of a step (the current one where none is given), by id: our own, and built-in
    ones. A gate that this racwire does not know is left out."""
    scene = GateContext(change, step or change.current or change.plan.steps[-1])
    wanted = {gate.check for gate in (*looked_at(change, scene.step), *watched(change, scene.step))}
    own = {gate.id: gate.made_for(scene) for gate in GATES if gate.id in wanted}
    found = built_in() if wanted - own.keys() else ()
    others = {check.id: as_gate(check) for check in found if check.id in CHECKS and check.id in wanted}
    return {**own, **{id_: check for id_, check in others.items() if id_ not in own}}


def looked_at(change: Change, step: Step) -> tuple[Gate, ...]:
    """The gates of a step, and those of earlier ones that must still hold."""
    return tuple(dict.fromkeys((*step.gates, *(gate for _, gate in change.held(step)))))


def watched(change: Change, step: Step) -> tuple[Gate, ...]:
    """What is looked at with every step and told only where it is bad: another journal that went on; and, until
    Clusterware has been stopped everywhere, an MTU that somebody changes under it, and a node that was added."""
    return tuple(_watched(change, step))


def _watched(change: Change, step: Step) -> Iterator[Gate]:
    yield Gate(only_journal.id)
    plan = change.plan
    before_stop = plan.position(step.id) <= plan.position(_UNTIL_STOPPED) < len(plan.steps)
    if before_stop and not change.is_way_back and all(gate.check != mtu_untouched.id for gate in step.gates):
        yield Gate(mtu_untouched.id)
        yield Gate(members_unchanged.id)
