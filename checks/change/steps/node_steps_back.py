"""The rollback of a change of one node's MTU, from any step before Clusterware runs on the node again."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from checks.change.plan.change_plan import Gate, Step
from checks.change.progress.decisions import refuse_rollback
from checks.change.progress.state import Change
from checks.change.progress.wanted import STOPPED
from checks.change.steps import back, node_steps
from checks.change.steps.draft import Draft
from checks.change.steps.restarts import databases_on

_SET = "set-mtu"


def steps_back(change: Change, draft: Draft) -> tuple[Step, ...]:
    """Return the steps of the rollback: the node gets its old MTU back while Clusterware is down there.

    They undo only what may have been done. Raises ChangeError once Clusterware runs on the node with the new MTU.
    """
    refuse_rollback(change)
    seen, plan = change.look.mtus.get(draft.node, {}), change.plan
    differs = any(seen.get(one.interface, one.mtu_after) != one.mtu_after for one in draft.layers_of(draft.node))
    end = node_steps.sign_off(draft)
    if change.reached >= plan.position(_SET) or differs:
        stopped = (node_steps.stack_down(draft), node_steps.set_mtu(draft), node_steps.node_up(draft))
        return (*stopped, *node_steps.instances(draft), end)
    if change.reached >= plan.position(STOPPED) or change.look.running.get(draft.node) is False:
        return (_untouched(draft, ()), node_steps.node_up(draft), *node_steps.instances(draft), end)
    may_be_moved = change.reached >= plan.position(node_steps.SERVICES)
    return (_untouched(draft, _up(draft)), *(_services_back(draft) if may_be_moved else ()), end)


def _up(draft: Draft) -> tuple[Gate, ...]:
    autostart = (Gate("autostart-on", nodes=(draft.node,), until="end"),) if draft.node in draft.starting else ()
    return (Gate("stack-up", until="end"), *autostart)


def _untouched(draft: Draft, running: tuple[Gate, ...]) -> Step:
    """Return the step that verifies that no MTU was changed, with the gates of what still runs."""
    (step, _) = back.untouched(draft)
    return msgspec.structs.replace(
        step,
        title="untouched" if running else "MTU untouched",
        what=step.what if running else back.NO_MTU,
        expected=f"Every node has the MTU of before; that of {draft.node} is also the one of its next boot."
        + (" Clusterware is up on every node." if running else ""),
        gates=(*node_steps.mtus(draft), *running),
    )


def _services_back(draft: Draft) -> Iterator[Step]:
    """Yield the step that moves the services back to the node, which was not stopped."""
    if not any(database.services for database in databases_on(draft, draft.node)):
        return
    yield Step(
        id="instances",
        title="services back",
        what=f"Move the services of {draft.node} back. On other nodes they serve, too: the gate only reports them.",
        why="The step services-elsewhere may have moved them.",
        commands=tuple(node_steps.relocate(draft, back=True)),
        expected=f"Every service that ran on {draft.node} before runs there again.",
        gates=(Gate("services-up"),),
    )
