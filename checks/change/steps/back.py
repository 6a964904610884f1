"""The steps of a rollback from any step of a change: they undo only what may have been done."""

from __future__ import annotations

import msgspec

from checks.change.plan.change_plan import Gate, Step
from checks.change.steps import after, outage, people, starting
from checks.change.steps.draft import Draft
from checks.model.own_command import VERIFY, Text

_ONLY_IF = "Run this only if the gate names this node. While Clusterware runs on any node, do only what the gate says."

NO_MTU: Text = (
    "So far, no step of the plan changes an MTU. Run ",
    VERIFY,
    " to confirm that no MTU was changed. No command needs to be typed on the nodes.",
)
"""What is to be done where nodes may have been stopped and no MTU was changed."""


def untouched(draft: Draft) -> tuple[Step, ...]:
    """Return the steps for a change that stopped and changed nothing yet: they verify exactly that."""
    step = Step(
        id="untouched",
        title="untouched",
        what=(
            "So far, no step of the plan stops or changes anything. Run ",
            VERIFY,
            " to confirm that nothing was stopped or changed. No command needs to be typed on the nodes.",
        ),
        why="Another person may have started without the plan.",
        expected=f"Every layer has MTU {draft.after}, as before, now and for the next boot. Clusterware is up and "
        "starts at boot.",
        gates=(
            *(Gate(check, until="end") for check in ("running-mtu", "kept-mtu", "stack-up")),
            *starting.autostart_on(draft, until="end"),
        ),
    )
    return (step, people.sign_off(draft))


def stopped_only(draft: Draft) -> tuple[Step, ...]:
    """Return the steps for a change that may have stopped nodes but changed no MTU: verify the MTUs, then start."""
    step = Step(
        id="untouched",
        title="MTU untouched",
        what=NO_MTU,
        why="If an MTU was changed all the same, it must be set back on every node, with Clusterware down on every "
        "node, before anything is started.",
        commands=tuple(msgspec.structs.replace(block, note=_ONLY_IF) for block in outage.set_mtu(draft).commands),
        expected=f"Every layer has MTU {draft.after}, as before, now and for the next boot.",
        gates=(Gate("running-mtu", until="end"), Gate("kept-mtu", until="end")),
    )
    return (step, *starting.all_nodes(draft), after.interconnect(draft), people.sign_off(draft))


def changed(draft: Draft, *, persisted: bool) -> tuple[Step, ...]:
    """Return the steps for a change that may have changed the MTU: stop all nodes, set it back, verify, start.

    `persisted` says whether the change may have reached the boot configuration: then a reboot is part of the rollback.
    """
    return (
        outage.stack_down(draft),
        outage.set_mtu(draft),
        *((outage.survives_boot(draft),) if persisted else ()),
        outage.prove_paths(draft),
        starting.first_node(draft),
        starting.other_nodes(draft),
        *starting.databases(draft),
        after.interconnect(draft),
        people.sign_off(draft),
    )
