"""Make the plan of a change's rollback, from any step."""

from __future__ import annotations

import msgspec

from checks.change.change_plan import ChangeKind, Plan, Step
from checks.change.remarks import remarks_back
from checks.change.state import Change
from checks.change.steps import back, expected_minutes
from checks.change.steps.draft import Draft


def make_way_back(change: Change, *, made_by: str, made_at: str) -> Plan:
    """Return the rollback plan: from the present step to the state recorded when the change was opened.

    Its layers go from the MTU that they may have (`mtu_before`) to their old MTU (`mtu_after`). `kept_before` is still
    the MTU in their files when the change was opened, which the rollback restores.
    """
    opened = change.opened
    draft = Draft(
        id=opened.id,
        kind=ChangeKind.ROLLBACK,
        nodes=opened.nodes,
        first=_first_node(opened),
        made_by=made_by,
        networks=tuple(
            msgspec.structs.replace(n, mtu_before=n.mtu_after, mtu_after=n.mtu_before) for n in opened.networks
        ),
        layers=tuple(
            msgspec.structs.replace(one, mtu_before=one.mtu_after, mtu_after=one.mtu_before) for one in opened.layers
        ),
        grid_homes=opened.grid_homes,
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
    steps = tuple(
        msgspec.structs.replace(expected_minutes.estimated(step, draft), if_rolled_back="")
        for step in _steps_back(change, draft)
    )
    return msgspec.structs.replace(
        opened,
        kind=ChangeKind.ROLLBACK,
        made_at=made_at,
        made_by=made_by,
        networks=draft.networks,
        layers=draft.layers,
        remarks=(
            *expected_minutes.outage_remarks(steps),
            *remarks_back(draft.networks, draft.layers, draft.databases, opened.switches),
        ),
        steps=steps,
    )


def _steps_back(change: Change, draft: Draft) -> tuple[Step, ...]:
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


def _first_node(plan: Plan) -> str:
    """Return the node that the opened plan starts first."""
    gates = (gate for step in plan.steps if step.id == "first-node" for gate in step.gates)
    return next((node for gate in gates if gate.check == "stack-up" for node in gate.nodes), plan.nodes[0])


def _not_starting(plan: Plan) -> frozenset[str]:
    """Return the nodes where no gate of the opened plan requires Clusterware to start at boot."""
    gates = [gate for step in plan.steps for gate in step.gates if gate.check == "autostart-on"]
    required = {node for gate in gates for node in gate.nodes or plan.nodes}
    return frozenset(node for node in plan.nodes if node not in required)
