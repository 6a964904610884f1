"""Up again: Clusterware on one node, then on the rest, its autostart, the databases."""

from __future__ import annotations

from checks.change.change_plan import ChangeKind, Gate, Step
from checks.change.steps import stack_commands
from checks.change.steps.draft import Draft, briefly


def first_node(draft: Draft) -> Step:
    """Clusterware is up on one node, and on no other."""
    return Step(
        id="first-node",
        title="first node",
        what=f"Start Clusterware on {draft.first} alone, and wait until it is wholly up: the start goes on for some "
        "minutes after the prompt is back. Its autostart stays off.",
        why="One node alone shows whether Clusterware, its HAIP and ASM come up on the interfaces as they are now, "
        "while there is nobody yet to quarrel with.",
        commands=(stack_commands.start(draft.first, draft.home(draft.first)),),
        expected=f"`crsctl check crs` on {draft.first} says online four times; nothing runs on the other nodes.",
        gates=(
            Gate("stack-up", nodes=(draft.first,)),
            *((Gate("stack-down", nodes=draft.others),) if draft.others else ()),
            Gate("autostart-off"),
        ),
        if_rolled_back="Clusterware is stopped again on this node, the MTU set back on all nodes, and all is started.",
    )


def other_nodes(draft: Draft) -> Step:
    """All nodes are up, will be after a boot, and the databases are open."""
    databases = tuple(
        stack_commands.start_database(database, draft.first, draft.home(draft.first)) for database in draft.databases
    )
    return Step(
        id="other-nodes",
        title="other nodes",
        what=f"Start Clusterware on {briefly(draft.others)}"
        f"{', each when the one before it is up' if draft.others[1:] else ''}. When every node is up, {_then(draft)}."
        if draft.others
        else f"Then {_then(draft)}.",
        why="A node that cannot exchange full-size packets with those that are up hangs in ora.cssd STARTING and does "
        "not join (MOS 563566.1): one at a time, it is seen which.",
        commands=(
            *(stack_commands.start(node, draft.home(node)) for node in draft.others),
            *(stack_commands.enable(node, draft.home(node)) for node in draft.starting),
            *databases,
        ),
        expected=f"Clusterware is up on every node, {_enabled(draft)}and every instance that ran before runs again.",
        gates=_all_up(draft),
        if_rolled_back="Clusterware is stopped on all nodes, the MTU set back, and all is started again: another full "
        "outage."
        if draft.kind is not ChangeKind.ROLLBACK
        else "",
    )


def all_nodes(draft: Draft) -> Step:
    """The way back where no MTU was changed: whatever was stopped is started, in any order."""
    return Step(
        id="other-nodes",
        title="all nodes",
        what=f"Start Clusterware wherever it was stopped; then {_then(draft)}. The MTU is as it was, so the order of "
        "the nodes does not matter.",
        why="Nothing but the stack was touched.",
        commands=(
            *(stack_commands.start(node, draft.home(node)) for node in draft.nodes),
            *(stack_commands.enable(node, draft.home(node)) for node in draft.starting),
            *(
                stack_commands.start_database(database, draft.first, draft.home(draft.first))
                for database in draft.databases
            ),
        ),
        expected=f"Clusterware is up on every node, {_enabled(draft)}and every instance that ran before runs again. "
        "Where it is so already, there is nothing to do.",
        gates=_all_up(draft),
    )


def _all_up(draft: Draft) -> tuple[Gate, ...]:
    instances = (Gate("instances-up"),) if draft.databases else ()
    return (Gate("stack-up", until="end"), *autostart_on(draft, until="end"), *instances)


def autostart_on(draft: Draft, until: str = "") -> tuple[Gate, ...]:
    """The gate for the nodes on which Clusterware started by itself before; none where it did so on none."""
    if not draft.starting:
        return ()
    return (Gate("autostart-on", nodes=() if draft.starting == draft.nodes else draft.starting, until=until),)


def _then(draft: Draft) -> str:
    if not draft.starting:
        return "start the databases"
    where = "all nodes" if draft.starting == draft.nodes else f"{briefly(draft.starting)}, where it was on"
    return f"switch the autostart on again on {where}, and start the databases"


def _enabled(draft: Draft) -> str:
    if not draft.starting:
        return ""
    where = "every node" if draft.starting == draft.nodes else briefly(draft.starting)
    return f"`crsctl config crs` says enabled on {where}, "
