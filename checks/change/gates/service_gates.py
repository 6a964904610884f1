"""Gates: do the services run, and are the pluggable databases open, as before the change?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from checks.change.gates.gate import GatePlace, gate
from checks.change.plan.change_plan import PlannedDatabase, PlannedPluggable
from checks.change.steps.stack_commands import OPEN_PDBS
from checks.model.check import Kind
from checks.model.facts import Cluster, Database, OpenPluggable, Unknown, part_of
from checks.model.finding import Finding, NextStep
from checks.model.own_command import OwnCommand
from checks.model.shell_command import shell, sql
from checks.model.wording import counted, listed

SERVICES_RUN = Kind("CH-SERVICE-001", "The services of a database run as before the change")
SERVICE_MOVED = Kind(
    "CH-SERVICE-002",
    "A service runs on other nodes than before the change",
    "Clusterware may start a service on any node that its configuration allows. Its users connect there.",
)
SERVICE_MISSING = Kind(
    "CH-SERVICE-003",
    "A service runs on fewer nodes than before the change",
    "Clusterware starts a service with its database where the management policy of the service is AUTOMATIC. Services "
    "with the policy MANUAL stay down, and their applications cannot connect.",
    ("Real Application Clusters Administration and Deployment Guide, srvctl start service",),
)
SERVICES_NOT_KNOWN = Kind("CH-SERVICE-004", "Which services of a database run is not known")

ELSEWHERE = Kind("CH-SERVICE-008", "Other nodes run the databases and services of the node that is stopped")
NOT_ELSEWHERE = Kind(
    "CH-SERVICE-009",
    "No other node runs a database or service of the node that is stopped",
    "It would be down while the node is. A service moves to another instance only where its configuration has that "
    "instance as preferred or available.",
    ("Real Application Clusters Administration and Deployment Guide, srvctl relocate service",),
)

PDBS_OPEN = Kind("CH-SERVICE-005", "The pluggable databases are open as before the change")
PDB_NOT_OPEN = Kind(
    "CH-SERVICE-006",
    "A pluggable database is not open as before the change",
    "An instance opens a pluggable database at its start where a state was saved (ALTER PLUGGABLE DATABASE ... SAVE "
    "STATE), or where one of its services is started. Others can stay MOUNTED.",
    ("Multitenant Administrator's Guide, preserving or discarding the open mode of PDBs",),
)
_MODES = {"READ WRITE": ("READ", "WRITE"), "READ ONLY": ("READ", "ONLY"), "MIGRATE": ("UPGRADE",)}
"""How a PDB is opened in the mode that V$PDBS has."""
_PLAIN = re.compile(r"[A-Z][A-Z0-9_$#]*", re.ASCII)
PDBS_NOT_KNOWN = Kind("CH-SERVICE-007", "Which pluggable databases are open is not known")


@gate(
    "services-up",
    question="Do the services run that ran before the change?",
    needs=("managed",),
    kinds=(SERVICES_RUN, SERVICE_MOVED, SERVICE_MISSING, SERVICES_NOT_KNOWN),
)
def services_up(at: GatePlace) -> Iterator[Finding]:
    """Runs `srvctl status database -d NAME -v`, and compares the services with those that ran when the plan was made.

    Each service must run on as many nodes as then; the nodes may differ, since Clusterware may place it elsewhere. A
    database without services in Clusterware is not compared.
    """
    planned = [database for database in at.plan.databases if database.services]
    if not planned:
        yield at.not_planned(SERVICES_RUN, "The plan holds no services of a database.")
    for database in planned:
        here = replace(at, topic=f"srvctl status database {database.name}")
        now = _running(at.cluster, database.name)
        if isinstance(now, Unknown):
            what = f"Which services of {database.name} run is not known"
            yield here.not_known(SERVICES_NOT_KNOWN, what, now, _look(database), short=f"{database.name}: services")
        else:
            yield from _compared(here, database, database.services or (), now)


@gate(
    "services-elsewhere",
    question="Do other nodes run the databases and services of the node that is stopped?",
    needs=("managed",),
    kinds=(ELSEWHERE, NOT_ELSEWHERE, SERVICES_NOT_KNOWN),
)
def services_elsewhere(at: GatePlace) -> Iterator[Finding]:
    """Runs `srvctl status database -d NAME -v`. Each database of the node must run on another node, and each service
    that ran on the node when the plan was made must run on another one.

    A database without another instance was accepted when the plan was made.
    """
    node = at.plan.node
    planned = [one for one in at.plan.databases if node and (node in one.instances or not one.instances)]
    if not planned:
        yield at.not_planned(ELSEWHERE, "The plan holds no database of a node that is stopped alone.")
    for database in planned:
        here = replace(at, topic=f"srvctl status database {database.name}")
        now = _running(at.cluster, database.name) if database.services is not None else _NOT_IN_PLAN
        instances = _instances(at.cluster, database.name)
        if unknown := [fact for fact in (now, instances) if isinstance(fact, Unknown)]:
            what = f"Whether other nodes run the services of {database.name} is not known"
            yield here.not_known(
                SERVICES_NOT_KNOWN, what, unknown[0], _look(database), short=f"{database.name}: services"
            )
        elif {*database.instances} == {node}:
            sentence = f"{database.name} has no instance on another node, as accepted: it is down while {node} is."
            yield here.remarks(NOT_ELSEWHERE, f"{database.name}: only on {node}", sentence)
        elif not isinstance(now, Unknown) and not isinstance(instances, Unknown):
            yield _elsewhere(here, database, now, instances)


def _elsewhere(
    at: GatePlace,
    database: PlannedDatabase,
    services: Sequence[tuple[str, str]],
    instances: Sequence[tuple[str, str]],
) -> Finding:
    node = at.plan.node
    others = sorted({place for _, place in instances if place != node})
    if not others:
        sentence = f"No other node than {node} runs an instance of {database.name} now."
        return at.fails(NOT_ELSEWHERE, f"{database.name}: no other instance", sentence, _look(database))
    own = dict.fromkeys(service for service, place in database.services or () if place == node)
    missing = [name for name in own if not {*_nodes(services, name)} - {node}]
    if missing:
        return at.fails(
            NOT_ELSEWHERE,
            f"{database.name}: {_first_of(missing)} not elsewhere",
            f"No other node than {node} offers {listed(missing)} of {database.name}.",
            NextStep("Run the commands of this step, or relocate the service by hand.", own=(OwnCommand("next"),)),
            _look(database),
        )
    sentence = f"{listed(others)} {'runs' if len(others) == 1 else 'run'} {database.name}"
    sentence += f", and offer{'s' if len(others) == 1 else ''} {listed(own)}." if own else "."
    return at.holds(ELSEWHERE, f"{database.name}: on {listed(others)}", sentence)


_NOT_IN_PLAN = Unknown("they were not read when the plan was made.")


def _instances(cluster: Cluster, name: str) -> tuple[tuple[str, str], ...] | Unknown:
    databases = part_of(cluster.managed, lambda managed: managed.databases)
    if isinstance(databases, Unknown):
        return databases
    found = next((database for database in databases if database.name == name), None)
    return Unknown(f"Clusterware does not list the database {name}.") if found is None else found.instances


def _running(cluster: Cluster, name: str) -> tuple[tuple[str, str], ...] | Unknown:
    databases = part_of(cluster.managed, lambda managed: managed.databases)
    if isinstance(databases, Unknown):
        return databases
    found = next((database for database in databases if database.name == name), None)
    if found is None:
        return Unknown(f"Clusterware does not list the database {name}.")
    return found.instances if isinstance(found.instances, Unknown) else found.services


def _compared(
    at: GatePlace, database: PlannedDatabase, before: Sequence[tuple[str, str]], now: Sequence[tuple[str, str]]
) -> Iterator[Finding]:
    names = tuple(dict.fromkeys(service for service, _ in before))
    nodes = {name: (_nodes(before, name), _nodes(now, name)) for name in names}
    missing = [name for name, (then, found) in nodes.items() if len(found) < len(then)]
    moved = [name for name, (then, found) in nodes.items() if name not in missing and not {*then} <= {*found}]
    if missing:
        differences = listed(_difference(name, nodes[name]) for name in missing)
        yield at.fails(
            SERVICE_MISSING,
            f"{database.name}: {_first_of(missing)} missing",
            f"{database.name} does not offer every service as before: {differences}.",
            *(
                NextStep(
                    f"Start the service {name}.",
                    (shell("srvctl start service -d {database} -s {name}", database=database.name, name=name),),
                    f"the owner of {database.name}, on any node",
                    is_change=True,
                )
                for name in missing
            ),
            _look(database),
        )
    if moved:
        differences = listed(_difference(name, nodes[name]) for name in moved)
        sentence = f"{database.name} offers services on other nodes than before: {differences}."
        yield at.remarks(SERVICE_MOVED, f"{database.name}: {_first_of(moved)} moved", sentence, _look(database))
    if not missing and not moved:
        sentence = f"{database.name} offers {listed(names)} on the same nodes as before."
        yield at.holds(SERVICES_RUN, f"{database.name}: {counted(len(names), 'service')}", sentence)


def _first_of(names: Sequence[str]) -> str:
    return f"{names[0]} and {len(names) - 1} more" if names[1:] else names[0]


def _nodes(services: Sequence[tuple[str, str]], name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(node for service, node in services if service.casefold() == name.casefold()))


def _difference(name: str, nodes: tuple[tuple[str, ...], tuple[str, ...]]) -> str:
    then, now = (listed(part) if any(part) else "" for part in nodes)
    if not nodes[1]:
        return f"{name} ran on {then} and does not run" if then else f"{name} does not run"
    return f"{name} ran on {then} and runs on {now}"


def _look(database: PlannedDatabase) -> NextStep:
    return NextStep(
        "List the services.",
        (shell("srvctl status service -d {database}", database=database.name),),
        f"the owner of {database.name}, on any node",
    )


@gate(
    "pdbs-open",
    question="Are the pluggable databases open as before the change?",
    needs=("changing", "database"),
    topic="sql pluggables",
    kinds=(PDBS_OPEN, PDB_NOT_OPEN, PDBS_NOT_KNOWN),
)
def pdbs_open(at: GatePlace) -> Iterator[Finding]:
    """Reads GV$PDBS of the connected database, and compares it with the PDBs that were open when the plan was made.

    Each PDB must be open in the same mode on as many instances as then; instances may be renumbered.
    """
    planned = [database for database in at.plan.databases if database.pluggables]
    if not planned:
        yield at.not_planned(PDBS_OPEN, "The plan holds no open PDB.")
    for database in planned:
        look = NextStep("Look at the PDBs.", (OPEN_PDBS,), f"SYSDBA of {database.name}, in CDB$ROOT")
        now = _open(at, database.name)
        if isinstance(now, Unknown):
            what = f"Which PDBs of {database.name} are open is not known"
            yield at.not_known(PDBS_NOT_KNOWN, what, now, look, short=f"{database.name}: PDBs")
        else:
            yield _opened(at, database, now, look)


def _opened(at: GatePlace, database: PlannedDatabase, now: Sequence[OpenPluggable], look: NextStep) -> Finding:
    before = database.pluggables or ()
    closed = [one for one in before if not _is_open(one, before, now)]
    if not closed:
        names = tuple(dict.fromkeys(one.name for one in before))
        number, are = counted(len(names), "PDB"), "is" if len(names) == 1 else "are"
        sentence = f"{number} of {database.name} {are} open as before: {listed(names)}."
        return at.holds(PDBS_OPEN, f"{database.name}: {number}", sentence)
    was = listed(f"{one.name} was {one.mode} on {one.instance}" for one in closed)
    return at.fails(
        PDB_NOT_OPEN,
        f"{database.name}: {_first_of([one.name for one in closed])} not open",
        f"PDBs of {database.name} are not open as before: {was}.",
        NextStep(
            f"Open {'them' if closed[1:] else 'it'}. A PDB that is open in another mode is closed there first.",
            tuple(map(_open_command, closed)),
            look.where,
            is_change=True,
        ),
        look,
    )


def _open(at: GatePlace, name: str) -> tuple[OpenPluggable, ...] | Unknown:
    database = at.cluster.database
    if not isinstance(database, Database):
        return Unknown(database.reason, database.right if isinstance(database, Unknown) else None)
    if database.name.casefold() != name.casefold():
        return Unknown(f"the connected database is {database.name}.")
    return at.changing.pluggables


def _is_open(wanted: PlannedPluggable, before: Sequence[PlannedPluggable], now: Sequence[OpenPluggable]) -> bool:
    """Whether a PDB is open on that instance as before, or on as many instances as before."""
    found = [pdb.instance for pdb in now if pdb.name == wanted.name and pdb.mode == wanted.mode]
    then = [one.instance for one in before if one.name == wanted.name and one.mode == wanted.mode]
    return wanted.instance in found or len(found) >= len(then)


def _open_command(pdb: PlannedPluggable) -> str:
    mode, _, restricted = pdb.mode.partition(", ")
    words = (*_MODES.get(mode, ("MODE",)), *(("RESTRICTED",) if restricted else ()))
    script = "ALTER PLUGGABLE DATABASE {pdb} OPEN {mode} INSTANCES = ('{instance}');"
    return sql(script, pdb=_identifier(pdb.name), mode=words, instance=pdb.instance)


def _identifier(name: str) -> str:
    """Return a name as SQL has it: in quotes where it is no plain identifier (SQL Language Reference, object names)."""
    return name if _PLAIN.fullmatch(name) else f'"{name}"'
