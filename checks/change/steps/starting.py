"""The steps of the restart: Clusterware on one node, then on the rest, its autostart, the databases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from checks.change.plan.change_plan import ChangeKind, Gate, Step
from checks.change.plan.command_block import Commands
from checks.change.steps import stack_commands
from checks.change.steps.draft import Draft, briefly
from checks.model.own_command import VERIFY
from checks.model.wording import listed

_PATHS = (Gate("df-ping"), Gate("one-byte-more"))
"""The gates of full-size packets: a port or a NIC may have been lowered since the last proof."""


def first_node(draft: Draft) -> Step:
    """Return the step that starts Clusterware on one node only."""
    return Step(
        id="first-node",
        title="first node",
        what=(
            f"Start Clusterware on {draft.first} only. Wait until Clusterware is fully up: the start continues for "
            "some minutes after the prompt returns. Leave the autostart of Clusterware disabled. Then ",
            VERIFY,
            " sends full-size packets on every path again, before another node starts.",
        ),
        why="One node without peers shows whether Clusterware, HAIP and ASM start on the interfaces with their MTU of "
        "this moment. Other nodes cannot disturb this test.",
        commands=(stack_commands.start(draft.first, draft.home(draft.first)),),
        expected=f"`crsctl check crs` on {draft.first} prints online four times. Clusterware is down on the other "
        f"nodes. Every packet of {draft.after} bytes arrives.",
        gates=(
            Gate("stack-up", nodes=(draft.first,)),
            *((Gate("stack-down", nodes=draft.others),) if draft.others else ()),
            Gate("autostart-off"),
            *_PATHS,
        ),
        if_rolled_back="Clusterware is stopped again on this node. All nodes get the old MTU back and are started.",
    )


def other_nodes(draft: Draft) -> Step:
    """Return the step that starts all other nodes, and proves every path before a database is opened."""
    start = (
        f"Start Clusterware on {briefly(draft.others)}"
        f"{', one node after the other: wait until each is up' if draft.others[1:] else ''}. "
        if draft.others
        else ""
    )
    haip = ", between the HAIP addresses too" if draft.has_haip else ""
    return Step(
        id="other-nodes",
        title="other nodes",
        what=(
            f"{start}Start no database yet; Clusterware itself starts those with AUTO_START=always, and those that "
            "srvctl did not stop. When every node is up, run ",
            VERIFY,
            f": it sends full-size packets on every path again{haip}.",
        ),
        why="A node that cannot exchange full-size packets with the running nodes hangs in ora.cssd STARTING and does "
        "not join (MOS 563566.1). Starting one node at a time shows which node hangs. A switch port that was lowered "
        "in the meantime must be found before a database sends blocks through it.",
        commands=tuple(stack_commands.start(node, draft.home(node)) for node in draft.others),
        expected=f"Clusterware is up on every node. Every packet of {draft.after} bytes arrives{haip}.",
        gates=(Gate("stack-up", until="end"), *_PATHS, *((Gate("haip-path"),) if draft.has_haip else ())),
        if_rolled_back=_same_outage(draft),
    )


def databases(draft: Draft) -> Iterator[Step]:
    """Yield the step that enables the autostart and starts the databases, where there is either."""
    if not draft.starting and not draft.databases:
        return
    what = _then(draft)
    yield Step(
        id="databases",
        title="databases",
        what=f"{what[:1].upper()}{what[1:]}.",
        why="Every path is proved with Clusterware up on every node: now the instances may send blocks.",
        commands=(*_enable(draft), *_start(draft)),
        expected=f"{_enabled(draft)}{'and every' if draft.starting else 'Every'} instance that ran before runs again"
        f"{_with(draft)}.",
        gates=(*autostart_on(draft, until="end"), *_instances(draft)),
        if_rolled_back=_another_outage(draft),
    )


def _same_outage(draft: Draft) -> str:
    """What a rollback from a step costs while the databases are still down."""
    if draft.kind is ChangeKind.ROLLBACK:
        return ""
    databases = (
        " The databases are still down, so this prolongs the outage and needs no second one, except where Clusterware "
        "has started a database itself."
        if draft.databases
        else ""
    )
    return f"All nodes are stopped again, get the old MTU back, and are started.{databases}"


def _another_outage(draft: Draft) -> str:
    if draft.kind is ChangeKind.ROLLBACK:
        return ""
    return (
        "All nodes are stopped again, get the old MTU back, and are started: another full outage, once a database was "
        "started."
        if draft.databases
        else "All nodes are stopped again, get the old MTU back, and are started."
    )


def all_nodes(draft: Draft) -> tuple[Step, ...]:
    """Return the steps of a rollback without a changed MTU: start all stopped nodes, in any order, then the databases.

    The databases have a step of their own: the gate before it proves that srvctl can reach Clusterware.
    """
    down = [node for node in draft.nodes if node in draft.down]
    start = Step(
        id="other-nodes",
        title="all nodes",
        what=f"Start Clusterware on every node where it is down{_seen_down(down)}. The MTU was not changed, so the "
        "order of the nodes does not matter.",
        why="Only Clusterware and the databases were stopped.",
        commands=tuple(stack_commands.start(node, draft.home(node)) for node in down),
        expected="Clusterware is up on every node. If this is already the case, there is nothing to do.",
        gates=(Gate("stack-up", until="end"),),
    )
    why = "Clusterware is up on every node: srvctl and crsctl can reach it."
    return (start, *(msgspec.structs.replace(step, why=why) for step in databases(draft)))


def _seen_down(down: Sequence[str]) -> str:
    found = briefly(down) if down else "no node"
    return f" (the last verification found {found} down; if another was stopped since, the gate names the command)"


def _instances(draft: Draft) -> tuple[Gate, ...]:
    if not draft.databases:
        return ()
    services = (Gate("services-up"),) if any(database.services for database in draft.databases) else ()
    pluggables = (Gate("pdbs-open"),) if any(database.pluggables for database in draft.databases) else ()
    return (Gate("instances-up"), *services, *pluggables)


def _with(draft: Draft) -> str:
    """What runs again with each instance, as far as the plan holds it."""
    parts = ["services"] if any(database.services for database in draft.databases) else []
    parts += ["PDBs"] if any(database.pluggables for database in draft.databases) else []
    return f", with its {listed(parts)}" if parts else ""


def _enable(draft: Draft) -> Iterator[Commands]:
    yield from (stack_commands.enable(node, draft.home(node)) for node in draft.starting)


def _start(draft: Draft) -> Iterator[Commands]:
    home = draft.home(draft.first)
    yield from (stack_commands.start_database(database, draft.first, home) for database in draft.databases)


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
