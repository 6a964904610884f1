"""Gates: does Clusterware run on the right nodes only, and does it start at boot as the plan requires?"""

from __future__ import annotations

from collections.abc import Iterator

from checks.change.gates.gate import GatePlace, node_gate
from checks.change.plan.change_plan import PlannedDatabase
from checks.change.plan.running_instances import count_of
from checks.model.check import Kind
from checks.model.facts import NodeSetup, Unknown, part_of
from checks.model.finding import Finding, NextStep
from checks.model.own_command import VERIFY
from checks.model.shell_command import shell
from checks.model.wording import counted, listed

_FLAT = (
    "The MTU of a private network can only be changed while nothing uses the network. While nodes have different MTUs, "
    "large packets pass in one direction and are lost in the other."
)
_ORDER = ("MOS 283684.1",)

IS_DOWN = Kind("CH-STACK-001", "Nothing of Clusterware and no instance runs on a node", sources=_ORDER)
RUNS = Kind("CH-STACK-002", "Clusterware or an instance still runs on a node", _FLAT, _ORDER)
DOWN_NOT_KNOWN = Kind("CH-STACK-003", "What runs on a node is not known", _FLAT)
IS_UP = Kind("CH-STACK-004", "Clusterware is fully up on a node")
NOT_UP = Kind(
    "CH-STACK-005",
    "Clusterware is not fully up on a node",
    "A node that cannot exchange large packets with the others often hangs while it joins the cluster.",
    ("Clusterware Administration Guide, crsctl check crs",),
)
UP_NOT_KNOWN = Kind("CH-STACK-006", "Whether Clusterware is up on a node is not known")
OFF = Kind("CH-STACK-007", "The autostart of Clusterware is disabled on a node, as planned")
STARTS = Kind(
    "CH-STACK-008",
    "The autostart of Clusterware is still enabled on a node",
    "A node that reboots in the middle of the change would join the cluster, even with a wrong MTU.",
    ("Clusterware Administration Guide, crsctl disable crs",),
)
ON = Kind("CH-STACK-009", "The autostart of Clusterware is enabled again on a node")
STAYS_OFF = Kind(
    "CH-STACK-010",
    "The autostart of Clusterware is still disabled on a node",
    "The autostart was disabled for the change. If it stays disabled, the node does not join the cluster after its "
    "next reboot.",
    ("Clusterware Administration Guide, crsctl enable crs",),
)
AUTOSTART_NOT_KNOWN = Kind("CH-STACK-011", "Whether the autostart of Clusterware is enabled on a node is not known")
INSTANCES_RUN = Kind("CH-STACK-012", "The instances that ran on a node before the change run again")
INSTANCE_MISSING = Kind("CH-STACK-013", "An instance that ran on a node before the change does not run")
INSTANCES_NOT_KNOWN = Kind("CH-STACK-014", "Which instances run on a node is not known")

_SERVICES = ("CRS-4638", "CRS-4537", "CRS-4529", "CRS-4533")
"""Messages of `crsctl check crs` with all services online: High Availability Services, CRS, CSS, Event Manager."""
_WAIT = NextStep("The start of Clusterware takes some minutes. Wait, then verify again.", own=(VERIFY,))
_NAMED = 4


@node_gate(
    "stack-down",
    question="Are Clusterware and all instances down?",
    needs=("setups",),
    kinds=(IS_DOWN, RUNS, DOWN_NOT_KNOWN),
    read=GatePlace.setup,
    unread=(DOWN_NOT_KNOWN, "What runs on {} is not known"),
)
def stack_down(at: GatePlace, setup: NodeSetup) -> Finding | Unknown:
    """Searches every node for processes of Clusterware (`ohasd.bin`, `ocssd.bin`, `crsd.bin`, ...) and of instances
    (PMON). There must be none: an instance that was started by hand also uses the private network.
    """
    if running := running_on(setup):
        run = "runs" if len(running) == 1 else "run"
        text = f"{running[0]} {f'and {len(running) - 1} more ' if running[1:] else ''}{run}"
        return at.fails(RUNS, text, f"{_named(running)} {run} on {at.node}.", *_stop(at, setup))
    for unknown in (setup.daemons, setup.instances):
        if isinstance(unknown, Unknown):
            return unknown
    return at.holds(IS_DOWN, "down", f"Clusterware and all instances are down on {at.node}.")


def running_on(setup: NodeSetup) -> tuple[str, ...]:
    """Return the instances and Clusterware processes that are known to run on a node, instances first."""
    return tuple(name for names in (setup.instances, setup.daemons) if not isinstance(names, Unknown) for name in names)


def _named(names: tuple[str, ...]) -> str:
    more = [f"{len(names) - _NAMED} more"] if len(names) > _NAMED else []
    return listed([*names[:_NAMED], *more])


def _stop(at: GatePlace, setup: NodeSetup) -> Iterator[NextStep]:
    instances = () if isinstance(setup.instances, Unknown) else setup.instances
    for database in at.plan.databases:
        own = database.instances.get(at.plan.node)
        if own in instances:
            values = {"name": database.name, "instance": own}
            line = shell("srvctl stop instance -d {name} -i {instance} -o immediate -f", **values)
            yield NextStep(f"Stop the instance {own}.", (line,), "its owner, on any node", is_change=True)
        elif not set(database.instances.values()).isdisjoint(instances):
            yield _by_owner(
                f"Stop the database {database.name}.", "srvctl stop database -d {name} -o immediate", database
            )
    if setup.daemons:
        yield at.as_root(f"Stop Clusterware on {at.node}.", at.tool("crsctl stop crs"))
    elif instances:
        text = f"Stop by hand: {listed(instances)}. Clusterware does not manage it, or is already down."
        yield NextStep(text, where=f"its owner on {at.node}")


def _by_owner(text: str, script: str, database: PlannedDatabase) -> NextStep:
    return NextStep(text, (shell(script, name=database.name),), "its owner, on any node", is_change=True)


@node_gate(
    "stack-up",
    question="Is Clusterware fully up?",
    needs=("setups",),
    kinds=(IS_UP, NOT_UP, UP_NOT_KNOWN),
    read=GatePlace.setup,
    unread=(UP_NOT_KNOWN, "Whether Clusterware is up on {} is not known"),
)
def stack_up(at: GatePlace, setup: NodeSetup) -> Finding:
    """Runs `crsctl check crs` on every node: all four services must be online."""
    services = setup.services
    if isinstance(services, Unknown) and setup.daemons != ():
        return at.not_known(UP_NOT_KNOWN, f"Whether Clusterware is up on {at.node} is not known", services, _WAIT)
    answers = () if isinstance(services, Unknown) else services
    missing = [line for line in answers if not line.rstrip(". ").endswith("is online")]
    if not missing and {line.partition(":")[0] for line in answers}.issuperset(_SERVICES):
        return at.holds(IS_UP, "up", f"Clusterware is up on {at.node}: all services are online.")
    reported = [line.partition(": ")[2].rstrip(". ") or line for line in missing]
    start = at.as_root(f"Clusterware is down: start it on {at.node}.", at.tool("crsctl start crs"))
    return at.fails(
        NOT_UP,
        "not up",
        f"Clusterware is not fully up on {at.node}{f': {listed(reported)}' if reported else ''}.",
        *([start] if setup.daemons == () else []),
        _WAIT,
        NextStep(
            "If Clusterware is still not up, find the resource that it waits for.",
            (at.tool("crsctl stat res -t -init"),),
            f"any user on {at.node}",
        ),
    )


def _autostart(at: GatePlace) -> bool | Unknown:
    return part_of(at.setup(), lambda setup: setup.autostart)


_AUTOSTART_UNREAD = (AUTOSTART_NOT_KNOWN, "Whether the autostart of Clusterware is enabled on {} is not known")


@node_gate(
    "autostart-off",
    question="Is the autostart of Clusterware disabled?",
    needs=("setups",),
    kinds=(OFF, STARTS, AUTOSTART_NOT_KNOWN),
    read=_autostart,
    unread=_AUTOSTART_UNREAD,
)
def autostart_off(at: GatePlace, is_enabled: bool) -> Finding:
    """Runs `crsctl config crs` on every node, or reads its configuration file if crsctl does not answer. The autostart
    must be disabled until every path is proved.
    """
    if not is_enabled:
        return at.holds(OFF, "no autostart", f"Clusterware stays down when {at.node} boots: autostart disabled.")
    disable = at.as_root(f"Disable the autostart on {at.node}.", at.tool("crsctl disable crs"))
    sentence = f"Clusterware would start when {at.node} boots: its autostart is enabled."
    return at.fails(STARTS, "starts at boot", sentence, disable)


@node_gate(
    "autostart-on",
    question="Is the autostart of Clusterware enabled again?",
    needs=("setups",),
    kinds=(ON, STAYS_OFF, AUTOSTART_NOT_KNOWN),
    read=_autostart,
    unread=_AUTOSTART_UNREAD,
)
def autostart_on(at: GatePlace, is_enabled: bool) -> Finding:
    """Runs `crsctl config crs` on the nodes: an autostart that was disabled for the change must be enabled again."""
    if is_enabled:
        return at.holds(ON, "autostart", f"Clusterware starts when {at.node} boots: autostart enabled.")
    enable = at.as_root(f"Enable the autostart on {at.node}.", at.tool("crsctl enable crs"))
    sentence = f"Clusterware would not start when {at.node} boots: its autostart is disabled."
    return at.fails(STAYS_OFF, "no autostart", sentence, enable)


@node_gate(
    "instances-up",
    question="Do the instances run that ran before the change?",
    needs=("setups",),
    kinds=(INSTANCES_RUN, INSTANCE_MISSING, INSTANCES_NOT_KNOWN),
    read=lambda at: part_of(at.setup(), lambda setup: setup.instances),
    unread=(INSTANCES_NOT_KNOWN, "Which instances run on {} is not known"),
)
def instances_up(at: GatePlace, instances: tuple[str, ...]) -> Finding:
    """Checks that each database has as many running instances as when the plan was made.

    Their names and nodes may differ: Clusterware may place the instances of RAC One Node and of policy-managed
    databases on other nodes.
    """
    planned = [database for database in at.plan.databases if at.node in database.instances]
    missing = [one for one in planned if _lacks_instances(at, one) and {*one.instances.values()}.isdisjoint(instances)]
    if not missing:
        text = counted(len(planned), "instance") if planned else "none planned"
        return at.holds(INSTANCES_RUN, text, f"The instances of {at.node} run as before the change.")
    return at.fails(
        INSTANCE_MISSING,
        f"{missing[0].instances[at.node]} missing",
        f"No instance of {listed(database.name for database in missing)} runs on {at.node}.",
        *(
            _by_owner(
                f"Start the database {database.name}, or its instance on {at.node}.",
                "srvctl start database -d {name}",
                database,
            )
            for database in missing
        ),
    )


def _lacks_instances(at: GatePlace, database: PlannedDatabase) -> bool:
    """Whether fewer instances of the database run than when the plan was made, on the nodes that could be read."""
    setups = (at.cluster.setup(node) for node in at.plan.nodes)
    running = [
        name for setup in setups if setup and not isinstance(setup.instances, Unknown) for name in setup.instances
    ]
    return count_of(database, at.plan.databases, running) < len(database.instances)
