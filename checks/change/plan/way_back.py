"""Make the plan of a change's rollback, from any step, for every kind of change."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from checks.change.plan.change_plan import OF_NETWORKS, ChangeKind, Plan, Step
from checks.change.plan.remarks import remarks_back
from checks.change.progress.state import Change
from checks.change.steps import (
    back,
    expected_minutes,
    experiment_steps,
    network_steps_back,
    node_steps_back,
    setting_steps,
)
from checks.change.steps.draft import Draft
from checks.change.steps.restarts import RESTART


def make_way_back(change: Change, *, made_by: str, made_at: str) -> Plan:
    """Return the rollback plan: from the present step to the state recorded when the change was opened.

    Its layers go from the MTU that they may have (`mtu_before`) to their old MTU (`mtu_after`), and its values
    likewise. `kept_before` is still what the files held when the change was opened, which the rollback restores.
    """
    opened = change.opened
    draft = Draft(
        id=opened.id,
        kind=ChangeKind.ROLLBACK,
        nodes=opened.nodes,
        node=opened.node,
        first=_first_node(opened),
        made_by=made_by,
        networks=tuple(
            msgspec.structs.replace(n, mtu_before=n.mtu_after, mtu_after=n.mtu_before) for n in opened.networks
        ),
        layers=tuple(
            msgspec.structs.replace(one, mtu_before=one.mtu_after, mtu_after=one.mtu_before) for one in opened.layers
        ),
        grid_homes=opened.grid_homes,
        values=tuple(msgspec.structs.replace(value, before=value.after, after=value.before) for value in opened.values),
        databases=opened.databases,
        uses=opened.uses,
        not_starting=_not_starting(opened),
        down=frozenset(node for node in opened.nodes if change.look.running.get(node) is False),
        has_database=any(g.check == "interconnect-in-use" for step in opened.steps for g in step.gates),
        has_haip=any(g.check == "haip-path" for step in opened.steps for g in step.gates),
        record_s=opened.record_s,
        baseline_file=opened.baseline_file,
        after_file=opened.after_file,
    )
    if opened.kind in _DRAFT_BACK:
        draft = _DRAFT_BACK[opened.kind](change, draft)
    steps = tuple(
        msgspec.structs.replace(expected_minutes.estimated(step, draft), if_rolled_back="")
        for step in _STEPS_BACK[opened.kind](change, draft)
    )
    return msgspec.structs.replace(
        opened,
        kind=ChangeKind.ROLLBACK,
        made_at=made_at,
        made_by=made_by,
        networks=draft.networks,
        layers=draft.layers,
        values=draft.values,
        goal=f"back from {opened.goal}" if opened.goal else "",
        remarks=(
            *expected_minutes.outage_remarks(steps),
            *_remarks(opened, draft),
        ),
        steps=steps,
    )


def _settings_back(change: Change, draft: Draft) -> tuple[Step, ...]:
    seen = change.look.values
    differs = any(seen.get(one.node, {}).get(one.key, one.before) != one.before for one in change.opened.values)
    is_reached = change.reached >= change.opened.position(setting_steps.SET_FIRST)
    proofs = ("instances-up",) if any(step.id.startswith(RESTART) for step in change.opened.steps) else ()
    return (
        setting_steps.set_back(draft) if is_reached or differs else setting_steps.untouched(draft),
        setting_steps.sign_off(draft, proofs),
    )


def _remarks(opened: Plan, draft: Draft) -> Iterable[str]:
    if opened.kind in OF_NETWORKS:
        return network_steps_back.remarks_back(opened)
    if opened.values or opened.experiment:
        return ()
    return remarks_back(draft.networks, draft.layers, draft.databases)


def _mtu_back(change: Change, draft: Draft) -> tuple[Step, ...]:
    plan = change.plan
    reached = change.reached
    stopped = any(running is False for running in change.look.running.values())
    if reached < plan.position("stack-down") and not stopped:
        return back.untouched(draft)
    differs = any(
        change.look.mtus.get(one.node, {}).get(one.interface, one.mtu_before) != one.mtu_before
        for one in change.opened.layers
    )
    if reached < plan.position("set-mtu") and not differs:
        return back.stopped_only(draft)
    return back.changed(draft, persisted=reached > plan.position("set-mtu"))


def _experiment_back(change: Change, draft: Draft) -> tuple[Step, ...]:
    planned = change.opened.experiment
    assert planned is not None
    is_written = change.reached > change.opened.position(experiment_steps.RESTORE_POINT)
    return experiment_steps.steps_back(draft, planned, is_written=is_written)


_STEPS_BACK: dict[ChangeKind, Callable[[Change, Draft], tuple[Step, ...]]] = {
    ChangeKind.RAISE: _mtu_back,
    ChangeKind.LOWER: _mtu_back,
    ChangeKind.NODE_MTU: node_steps_back.steps_back,
    ChangeKind.RECEIVE_BUFFERS: _settings_back,
    ChangeKind.RP_FILTER: _settings_back,
    ChangeKind.ADD_NETWORK: network_steps_back.steps_back,
    ChangeKind.MOVE_NETWORK: network_steps_back.steps_back,
    ChangeKind.EXPERIMENT: _experiment_back,
}
_DRAFT_BACK: dict[ChangeKind, Callable[[Change, Draft], Draft]] = {
    ChangeKind.ADD_NETWORK: network_steps_back.draft_back,
    ChangeKind.MOVE_NETWORK: network_steps_back.draft_back,
}
"""What a kind of change has otherwise in the draft of its rollback."""


def _first_node(plan: Plan) -> str:
    """Return the node that the opened plan starts first."""
    gates = (gate for step in plan.steps if step.id in ("first-node", setting_steps.SET_FIRST) for gate in step.gates)
    proved = ("stack-up", "running-settings")
    others = [node for node in plan.nodes if node != plan.node]
    return next((node for gate in gates if gate.check in proved for node in gate.nodes), others[0])


def _not_starting(plan: Plan) -> frozenset[str]:
    """Return the nodes where no gate of the opened plan requires Clusterware to start at boot."""
    gates = [gate for step in plan.steps for gate in step.gates if gate.check == "autostart-on"]
    required = {node for gate in gates for node in gate.nodes or plan.nodes}
    return frozenset(node for node in plan.nodes if node not in required)
