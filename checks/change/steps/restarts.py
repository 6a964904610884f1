"""The steps that restart the instances of one node after the other, or leave that to a later maintenance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from checks.change.plan.change_plan import Gate, Minutes, PlannedDatabase, Step
from checks.change.plan.command_block import Commands, Who
from checks.change.steps.draft import Draft, briefly
from checks.change.steps.stack_commands import literal
from checks.model.own_command import VERIFY
from checks.model.shell_command import Value, shell
from checks.model.wording import listed

RESTART = "restart-"
"""The beginning of the ids of these steps, before the name of the node."""
LATER = "restart-later"
_USED_AFTER = (
    "The new sizes apply to sockets that are opened later (socket(7)); open sockets keep their buffers. An instance "
    "opens the sockets of the interconnect when it starts."
)
_BACK = (
    "The old values and files are set back, one node after the other. An instance that was restarted keeps its larger "
    "buffers until its next restart, which does no harm."
)


def databases_on(draft: Draft, node: str) -> tuple[PlannedDatabase, ...]:
    """Return the databases with an instance on a node."""
    return tuple(database for database in draft.databases if node in database.instances)


def without_other_instances(draft: Draft) -> tuple[str, ...]:
    """Return the databases with a single instance: its restart is an outage of the database."""
    return tuple(database.name for database in draft.databases if len(database.instances) == 1)


def restarts(draft: Draft, nodes: Sequence[str], *, reads_sockets: bool) -> Iterator[Step]:
    """Yield a step for each of these nodes with instances. Without readable sockets, people attest the restart."""
    wanted = [node for node in nodes if databases_on(draft, node)]
    for node in wanted:
        databases = databases_on(draft, node)
        instances = [database.instances[node] for database in databases]
        one = len(instances) == 1
        yield Step(
            id=f"{RESTART}{node}",
            title=f"restart {node}",
            what=(
                "Run ",
                VERIFY,
                " first: it must find the instances of the other nodes up. Then restart "
                f"{listed(instances)} on {node}, while the other instances keep running.",
            ),
            why=f"{_USED_AFTER} One node at a time keeps the databases available.",
            commands=tuple(_restart(draft, database, node) for database in databases),
            expected=f"{listed(instances)} {'runs' if one else 'run'} again on {node}, with "
            f"{'its' if one else 'their'} services; the instances of all other nodes run, too.",
            gates=(
                Gate("socket-buffers", nodes=(node,)),
                Gate("instances-up"),
                *((Gate("services-up"),) if any(d.services for d in draft.databases) else ()),
                *((Gate("pdbs-open"),) if any(d.pluggables for d in draft.databases) else ()),
                Gate("stack-up"),
            ),
            attest=""
            if reads_sockets
            else f"{listed(instances)} on {node} {'was' if one else 'were'} restarted after the values were set.",
            if_rolled_back=_BACK,
            minutes=Minutes(3, 15, "open transactions, the drain of the services, and recovery at the start"),
            no_return="None: the old values can be set back without another restart.",
        )


# The owner's PATH has the srvctl of the database's own home: srvctl of another release refuses (PRCD-1229).
_STOP = "PATH=$PATH:{home}/bin; srvctl stop instance -d {name} -i {instance} -o immediate -f"
_STOP_IF_OTHERS = (
    'PATH=$PATH:{home}/bin; if [ "$(srvctl status database -d {name} | grep -c -E {running})" -ge {number} ]; then '
    "srvctl stop instance -d {name} -i {instance} -o immediate -f; else echo {refusal} >&2; false; fi"
)
_START = "PATH=$PATH:{home}/bin; srvctl start instance -d {name} -i {instance}"


def _restart(draft: Draft, database: PlannedDatabase, node: str) -> Commands:
    stop, start = stop_instance(draft, database, node), start_instance(draft, database, node)
    return msgspec.structs.replace(stop, lines=(*stop.lines, *start.lines))


def stop_instance(draft: Draft, database: PlannedDatabase, node: str) -> Commands:
    """Return the command that stops the instance of a node; it refuses while another instance is down."""
    others = [literal(other) for place, other in sorted(database.instances.items()) if place != node]
    values: dict[str, Value] = {
        **_values(draft, database, node),
        "running": f"Instance ({'|'.join(others)}) is running",
        "number": len(others),
        "refusal": f"Another instance of {database.name} is down: start it first.",
    }
    return Commands(
        Who.DATABASE_OWNER,
        (shell(_STOP_IF_OTHERS if others else _STOP, **values),),
        node,
        _note(database, node, bool(others)),
        database.name,
    )


def start_instance(draft: Draft, database: PlannedDatabase, node: str) -> Commands:
    """Return the command that starts the instance of a node."""
    line = shell(_START, **_values(draft, database, node))
    return Commands(Who.DATABASE_OWNER, (line,), node, name=database.name)


def _values(draft: Draft, database: PlannedDatabase, node: str) -> dict[str, Value]:
    return {"home": draft.home(node), "name": database.name, "instance": database.instances[node]}


def _note(database: PlannedDatabase, node: str, has_others: bool) -> str:
    own = [service for service, place in database.services or () if place == node]
    moved = f"{listed(own)} of this instance: " if own else ""
    sentences = [
        f"{moved}-f lets services fail over to another instance, as they are configured. From 12.2 on, -drain_timeout "
        "gives sessions time to leave."
        if has_others
        else f"{database.name} has no other instance: its users are disconnected.",
        "Services that do not come back: srvctl relocate service, srvctl start service. RAC One Node: srvctl relocate "
        "database instead.",
    ]
    return " ".join(sentences)


def later(draft: Draft, nodes: Sequence[str]) -> Iterator[Step]:
    """Yield the step that leaves the restart to a later maintenance; nothing where no instance runs."""
    instances = [database.instances[node] for node in nodes for database in databases_on(draft, node)]
    if not instances:
        return
    yield Step(
        id=LATER,
        title="restart later",
        what=f"Plan the restart of {briefly(instances)}, one after the other, for the next maintenance.",
        why=_USED_AFTER,
        expected="The date of the restart is in the calendar of the DBAs.",
        attest=f"The larger buffers are in effect only after the restart of {listed(instances)}, which is planned.",
        attest_asks="who restarts the instances, and in which maintenance",
        if_rolled_back=_BACK,
        no_return="None: the old values can be set back at any time.",
    )
