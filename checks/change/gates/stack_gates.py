"""Gates: does Clusterware run on the right nodes only, and does it start at boot as the plan requires?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from checks.change.gates.gate import GateContext, as_root, gate, not_known, of_node, setups
from checks.change.plan.change_plan import PlannedDatabase
from checks.change.plan.running_instances import count_of
from checks.model.check import Kind
from checks.model.facts import Cluster, NodeSetup, Unknown
from checks.model.finding import Finding, NextStep, Status
from checks.model.own_command import VERIFY
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


@gate(
    "stack-down",
    question="Are Clusterware and all instances down?",
    needs=("setups",),
    kinds=(IS_DOWN, RUNS, DOWN_NOT_KNOWN),
)
def stack_down(context: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Searches every node for processes of Clusterware (`ohasd.bin`, `ocssd.bin`, `crsd.bin`, ...) and of instances
    (PMON). There must be none: an instance that was started by hand also uses the private network.
    """
    for node, setup in setups(context, cluster):
        if isinstance(setup, Unknown):
            yield not_known(DOWN_NOT_KNOWN, node, f"What runs on {node} is not known", setup.reason)
            continue
        running = running_on(setup)
        if running:
            yield of_node(
                RUNS,
                Status.FAIL,
                node,
                _briefly(running),
                f"{_named(running)} {'runs' if len(running) == 1 else 'run'} on {node}.",
                then=_stop(context, node, setup),
            )
        elif setup.is_down is None:
            why = next(f.reason for f in (setup.daemons, setup.instances) if isinstance(f, Unknown))
            yield not_known(DOWN_NOT_KNOWN, node, f"What runs on {node} is not known", why)
        else:
            yield of_node(IS_DOWN, Status.PASS, node, "down", f"Clusterware and all instances are down on {node}.")


def running_on(setup: NodeSetup) -> tuple[str, ...]:
    """Return the instances and Clusterware processes that are known to run on a node, instances first."""
    return tuple(name for names in (setup.instances, setup.daemons) if not isinstance(names, Unknown) for name in names)


def _named(names: tuple[str, ...]) -> str:
    more = [f"{len(names) - _NAMED} more"] if len(names) > _NAMED else []
    return listed([*names[:_NAMED], *more])


def _briefly(names: tuple[str, ...]) -> str:
    if len(names) == 1:
        return f"{names[0]} runs"
    return f"{names[0]} and {len(names) - 1} more run"


def _stop(context: GateContext, node: str, setup: NodeSetup) -> Iterator[NextStep]:
    instances = () if isinstance(setup.instances, Unknown) else setup.instances
    for database in context.plan.databases:
        if not set(database.instances.values()).isdisjoint(instances):
            yield NextStep(
                f"Stop the database {database.name}.",
                (f"srvctl stop database -d {database.name} -o immediate",),
                "its owner, on any node",
                is_change=True,
            )
    if setup.daemons:
        yield as_root(f"Stop Clusterware on {node}.", node, context.tool(node, "crsctl stop crs"))
    elif instances:
        yield NextStep(
            f"Stop by hand: {listed(instances)}. Clusterware does not manage it, or is already down.",
            where=f"its owner on {node}",
        )


@gate(
    "stack-up",
    question="Is Clusterware fully up?",
    needs=("setups",),
    kinds=(IS_UP, NOT_UP, UP_NOT_KNOWN),
)
def stack_up(context: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Runs `crsctl check crs` on every node: all four services must be online."""
    for node, setup in setups(context, cluster):
        services = setup if isinstance(setup, Unknown) else setup.services
        if not isinstance(services, Unknown):
            missing = [line for line in services if not line.rstrip(". ").endswith("is online")]
            codes = {line.partition(":")[0] for line in services}
            if not missing and codes.issuperset(_SERVICES):
                yield of_node(IS_UP, Status.PASS, node, "up", f"Clusterware is up on {node}: all services are online.")
            else:
                yield _not_up(context, node, missing, is_down=isinstance(setup, NodeSetup) and setup.daemons == ())
        elif not isinstance(setup, Unknown) and not isinstance(setup.daemons, Unknown) and not setup.daemons:
            yield _not_up(context, node, [], is_down=True)
        else:
            then = () if isinstance(setup, Unknown) else (_WAIT,)
            what = f"Whether Clusterware is up on {node} is not known"
            yield not_known(UP_NOT_KNOWN, node, what, services.reason, then=then)


def _not_up(context: GateContext, node: str, missing: list[str], *, is_down: bool) -> Finding:
    reported = [line.partition(": ")[2].rstrip(". ") or line for line in missing]
    start = context.tool(node, "crsctl start crs")
    return of_node(
        NOT_UP,
        Status.FAIL,
        node,
        "not up",
        f"Clusterware is not fully up on {node}{f': {listed(reported)}' if reported else ''}.",
        then=[
            *([as_root(f"Clusterware is down: start it on {node}.", node, start)] if is_down else []),
            _WAIT,
            NextStep(
                "If Clusterware is still not up, find the resource that it waits for.",
                (context.tool(node, "crsctl stat res -t -init"),),
                f"root on {node}",
            ),
        ],
    )


@gate(
    "autostart-off",
    question="Is the autostart of Clusterware disabled?",
    needs=("setups",),
    kinds=(OFF, STARTS, AUTOSTART_NOT_KNOWN),
)
def autostart_off(context: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Runs `crsctl config crs` on every node, or reads its configuration file if crsctl does not answer. The autostart
    must be disabled until every path is proved.
    """
    for node, setup in setups(context, cluster):
        found = setup if isinstance(setup, Unknown) else setup.autostart
        if isinstance(found, Unknown):
            yield not_known(
                AUTOSTART_NOT_KNOWN,
                node,
                f"Whether the autostart of Clusterware is enabled on {node} is not known",
                found.reason,
            )
        elif found:
            yield of_node(
                STARTS,
                Status.FAIL,
                node,
                "starts at boot",
                f"Clusterware would start when {node} boots: its autostart is enabled.",
                then=[as_root(f"Disable the autostart on {node}.", node, context.tool(node, "crsctl disable crs"))],
            )
        else:
            yield of_node(
                OFF, Status.PASS, node, "no autostart", f"Clusterware stays down when {node} boots: autostart disabled."
            )


@gate(
    "autostart-on",
    question="Is the autostart of Clusterware enabled again?",
    needs=("setups",),
    kinds=(ON, STAYS_OFF, AUTOSTART_NOT_KNOWN),
)
def autostart_on(context: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Runs `crsctl config crs` on the nodes: an autostart that was disabled for the change must be enabled again."""
    for node, setup in setups(context, cluster):
        found = setup if isinstance(setup, Unknown) else setup.autostart
        if isinstance(found, Unknown):
            yield not_known(
                AUTOSTART_NOT_KNOWN,
                node,
                f"Whether the autostart of Clusterware is enabled on {node} is not known",
                found.reason,
            )
        elif found:
            yield of_node(
                ON, Status.PASS, node, "autostart", f"Clusterware starts when {node} boots: autostart enabled."
            )
        else:
            yield of_node(
                STAYS_OFF,
                Status.FAIL,
                node,
                "no autostart",
                f"Clusterware would not start when {node} boots: its autostart is disabled.",
                then=[as_root(f"Enable the autostart on {node}.", node, context.tool(node, "crsctl enable crs"))],
            )


@gate(
    "instances-up",
    question="Do the instances run that ran before the change?",
    needs=("setups",),
    kinds=(INSTANCES_RUN, INSTANCE_MISSING, INSTANCES_NOT_KNOWN),
)
def instances_up(context: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Checks that each database has as many running instances as when the plan was made.

    Their names and nodes may differ: Clusterware may place the instances of RAC One Node and of policy-managed
    databases on other nodes.
    """
    read = dict(setups(context, cluster))
    whole = {d.name for d in context.plan.databases if _instances_of(context, d, read.values()) >= len(d.instances)}
    for node, setup in read.items():
        found = setup if isinstance(setup, Unknown) else setup.instances
        if isinstance(found, Unknown):
            yield not_known(INSTANCES_NOT_KNOWN, node, f"Which instances run on {node} is not known", found.reason)
            continue
        planned = [database for database in context.plan.databases if node in database.instances]
        missing = [one for one in planned if one.name not in whole and set(one.instances.values()).isdisjoint(found)]
        if missing:
            yield of_node(
                INSTANCE_MISSING,
                Status.FAIL,
                node,
                f"{missing[0].instances[node]} missing",
                f"No instance of {listed(database.name for database in missing)} runs on {node}.",
                then=[
                    NextStep(
                        f"Start the database {database.name}, or its instance on {node}.",
                        (f"srvctl start database -d {database.name}",),
                        "its owner, on any node",
                        is_change=True,
                    )
                    for database in missing
                ],
            )
        else:
            text = counted(len(planned), "instance") if planned else "none planned"
            yield of_node(INSTANCES_RUN, Status.PASS, node, text, f"The instances of {node} run as before the change.")


def _instances_of(context: GateContext, database: PlannedDatabase, read: Iterable[NodeSetup | Unknown]) -> int:
    """Return the number of running instances of the database, on the nodes that could be read."""
    running = [
        name
        for setup in read
        if isinstance(setup, NodeSetup) and not isinstance(setup.instances, Unknown)
        for name in setup.instances
    ]
    return count_of(database, context.plan.databases, running)
