"""The steps of the restart: Clusterware on one node, then on the rest, its autostart, the databases."""

from __future__ import annotations

from checks.change.change_plan import ChangeKind, Gate, Step
from checks.change.steps import stack_commands
from checks.change.steps.draft import Draft, briefly


def first_node(draft: Draft) -> Step:
    """Return the step that starts Clusterware on one node only."""
    return Step(
        id="first-node",
        title="first node",
        what=f"Start Clusterware on {draft.first} only. Wait until Clusterware is fully up: the start continues for "
        "some minutes after the prompt returns. Leave the autostart of Clusterware disabled.",
        why="One node without peers shows whether Clusterware, HAIP and ASM start on the interfaces with their MTU of "
        "this moment. Other nodes cannot disturb this test.",
        commands=(stack_commands.start(draft.first, draft.home(draft.first)),),
        expected=f"`crsctl check crs` on {draft.first} prints online four times. Clusterware is down on the other "
        "nodes.",
        gates=(
            Gate("stack-up", nodes=(draft.first,)),
            *((Gate("stack-down", nodes=draft.others),) if draft.others else ()),
            Gate("autostart-off"),
        ),
        if_rolled_back="Clusterware is stopped again on this node. All nodes get the old MTU back and are started.",
    )


def other_nodes(draft: Draft) -> Step:
    """Return the step that starts all other nodes, enables the autostart, and starts the databases."""
    databases = tuple(
        stack_commands.start_database(database, draft.first, draft.home(draft.first)) for database in draft.databases
    )
    return Step(
        id="other-nodes",
        title="other nodes",
        what=f"Start Clusterware on {briefly(draft.others)}"
        f"{', one node after the other: wait until each is up' if draft.others[1:] else ''}. When every node is up, "
        f"{_then(draft)}."
        if draft.others
        else f"Then {_then(draft)}.",
        why="A node that cannot exchange full-size packets with the running nodes hangs in ora.cssd STARTING and does "
        "not join (MOS 563566.1). Starting one node at a time shows which node hangs.",
        commands=(
            *(stack_commands.start(node, draft.home(node)) for node in draft.others),
            *(stack_commands.enable(node, draft.home(node)) for node in draft.starting),
            *databases,
        ),
        expected=f"Clusterware is up on every node, {_enabled(draft)}and every instance that ran before runs again.",
        gates=_all_up(draft),
        if_rolled_back="All nodes are stopped again, get the old MTU back, and are started: another full outage."
        if draft.kind is not ChangeKind.ROLLBACK
        else "",
    )


def all_nodes(draft: Draft) -> Step:
    """Return the step of a rollback without a changed MTU: start all stopped nodes, in any order."""
    return Step(
        id="other-nodes",
        title="all nodes",
        what=f"Start Clusterware on every node where it is down; then {_then(draft)}. The MTU was not changed, so the "
        "order of the nodes does not matter.",
        why="Only Clusterware and the databases were stopped.",
        commands=(
            *(stack_commands.start(node, draft.home(node)) for node in draft.nodes),
            *(stack_commands.enable(node, draft.home(node)) for node in draft.starting),
            *(
                stack_commands.start_database(database, draft.first, draft.home(draft.first))
                for database in draft.databases
            ),
        ),
        expected=f"Clusterware is up on every node, {_enabled(draft)}and every instance that ran before runs again. "
        "If this is already the case, there is nothing to do.",
        gates=_all_up(draft),
    )


def _all_up(draft: Draft) -> tuple[Gate, ...]:
    instances = (Gate("instances-up"),) if draft.databases else ()
    return (Gate("stack-up", until="end"), *autostart_on(draft, until="end"), *instances)


def autostart_on(draft: Draft, until: str = "") -> tuple[Gate, ...]:
    """Return the gate for the nodes where Clusterware started at boot before; nothing if there is no such node."""
    if not draft.starting:
        return ()
    return (Gate("autostart-on", nodes=() if draft.starting == draft.nodes else draft.starting, until=until),)


def _then(draft: Draft) -> str:
    if not draft.starting:
        return "start the databases"
    where = "all nodes" if draft.starting == draft.nodes else f"{briefly(draft.starting)}, where it was enabled before"
    return f"enable the autostart of Clusterware again on {where}, and start the databases"


def _enabled(draft: Draft) -> str:
    if not draft.starting:
        return ""
    where = "every node" if draft.starting == draft.nodes else briefly(draft.starting)
    return f"`crsctl config crs` prints enabled on {where}, "
