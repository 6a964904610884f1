"""Gates: do the services run, and are the pluggable databases open, as before the change?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from checks.change.gates.gate import GateContext, gate, whole
from checks.change.plan.change_plan import PlannedDatabase, PlannedPluggable
from checks.change.steps.stack_commands import OPEN_PDBS
from checks.model.check import Kind
from checks.model.facts import Cluster, Database, Managed, OpenPluggable, Unknown
from checks.model.finding import Finding, NextStep, Status
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

PDBS_OPEN = Kind("CH-SERVICE-005", "The pluggable databases are open as before the change")
PDB_NOT_OPEN = Kind(
    "CH-SERVICE-006",
    "A pluggable database is not open as before the change",
    "An instance opens a pluggable database at its start where a state was saved (ALTER PLUGGABLE DATABASE ... SAVE "
    "STATE), or where one of its services is started. Others can stay MOUNTED.",
    ("Multitenant Administrator's Guide, preserving or discarding the open mode of PDBs",),
)
_PLAIN = re.compile(r"[A-Z][A-Z0-9_$#]*", re.ASCII)
PDBS_NOT_KNOWN = Kind("CH-SERVICE-007", "Which pluggable databases are open is not known")


@gate(
    "services-up",
    question="Do the services run that ran before the change?",
    needs=("managed",),
    kinds=(SERVICES_RUN, SERVICE_MOVED, SERVICE_MISSING, SERVICES_NOT_KNOWN),
)
def services_up(context: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Runs `srvctl status database -d NAME -v`, and compares the services with those that ran when the plan was made.

    Each service must run on as many nodes as then; the nodes may differ, since Clusterware may place it elsewhere. A
    database without services in Clusterware is not compared.
    """
    if not any(database.services for database in context.plan.databases):
        yield SERVICES_RUN.finding(
            "The plan holds no services of a database.", status=Status.SKIPPED, subject="none planned"
        )
    for database in (one for one in context.plan.databases if one.services):
        evidence = [(cluster.local_node, f"srvctl status database {database.name}")]
        now = _running(cluster, database.name)
        if isinstance(now, Unknown):
            yield SERVICES_NOT_KNOWN.finding(
                f"Which services of {database.name} run is not known: {whole(now.reason)}",
                status=Status.UNKNOWN,
                subject=f"{database.name}: services not known",
                next=[_look(database)],
                lacks=[now],
                evidence=evidence,
            )
            continue
        yield from _compared(database, database.services or (), now, evidence)


def _running(cluster: Cluster, name: str) -> tuple[tuple[str, str], ...] | Unknown:
    managed = cluster.managed
    databases = managed.databases if isinstance(managed, Managed) else managed
    if isinstance(databases, Unknown):
        return databases
    found = next((database for database in databases if database.name == name), None)
    if found is None:
        return Unknown(f"Clusterware does not list the database {name}.")
    return found.instances if isinstance(found.instances, Unknown) else found.services


def _compared(
    database: PlannedDatabase,
    before: Sequence[tuple[str, str]],
    now: Sequence[tuple[str, str]],
    evidence: list[tuple[str, str]],
) -> Iterator[Finding]:
    names = tuple(dict.fromkeys(service for service, _ in before))
    nodes = {name: (_nodes(before, name), _nodes(now, name)) for name in names}
    missing = [name for name, (then, found) in nodes.items() if len(found) < len(then)]
    moved = [name for name, (then, found) in nodes.items() if name not in missing and not {*then} <= {*found}]
    if missing:
        yield SERVICE_MISSING.finding(
            f"{database.name} does not offer every service as before: "
            f"{listed(_difference(n, nodes[n]) for n in missing)}.",
            status=Status.FAIL,
            subject=f"{database.name}: {missing[0]}{f' and {len(missing) - 1} more' if missing[1:] else ''} missing",
            next=[
                *(
                    NextStep(
                        f"Start the service {name}.",
                        (f"srvctl start service -d {database.name} -s {name}",),
                        f"the owner of {database.name}, on any node",
                        is_change=True,
                    )
                    for name in missing
                ),
                _look(database),
            ],
            evidence=evidence,
        )
    if moved:
        yield SERVICE_MOVED.finding(
            f"{database.name} offers services on other nodes than before: "
            f"{listed(_difference(n, nodes[n]) for n in moved)}.",
            status=Status.INFO,
            subject=f"{database.name}: {moved[0]}{f' and {len(moved) - 1} more' if moved[1:] else ''} moved",
            next=[_look(database)],
            evidence=evidence,
        )
    if not missing and not moved:
        yield SERVICES_RUN.finding(
            f"{database.name} offers {listed(names)} on the same nodes as before.",
            status=Status.PASS,
            subject=f"{database.name}: {counted(len(names), 'service')}",
            evidence=evidence,
        )


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
        (f"srvctl status service -d {database.name}",),
        f"the owner of {database.name}, on any node",
    )


@gate(
    "pdbs-open",
    question="Are the pluggable databases open as before the change?",
    needs=("changing", "database"),
    kinds=(PDBS_OPEN, PDB_NOT_OPEN, PDBS_NOT_KNOWN),
)
def pdbs_open(context: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Reads GV$PDBS of the connected database, and compares it with the PDBs that were open when the plan was made.

    Each PDB must be open in the same mode on as many instances as then; instances may be renumbered.
    """
    evidence = [(cluster.local_node, "sql pluggables")]
    planned = [database for database in context.plan.databases if database.pluggables]
    if not planned:
        yield PDBS_OPEN.finding(
            "The plan holds no open PDB.", status=Status.SKIPPED, subject="none planned", evidence=evidence
        )
    for database in planned:
        now = _open(cluster, database.name)
        if isinstance(now, Unknown):
            yield PDBS_NOT_KNOWN.finding(
                f"Which PDBs of {database.name} are open is not known: {whole(now.reason)}",
                status=Status.UNKNOWN,
                subject=f"{database.name}: PDBs not known",
                next=[_look_at_pdbs(database)],
                lacks=[now],
                evidence=evidence,
            )
            continue
        closed = [one for one in database.pluggables or () if not _is_open(one, database.pluggables or (), now)]
        names = tuple(dict.fromkeys(one.name for one in database.pluggables or ()))
        if not closed:
            yield PDBS_OPEN.finding(
                f"{counted(len(names), 'PDB')} of {database.name} {'is' if len(names) == 1 else 'are'} open as before: "
                f"{listed(names)}.",
                status=Status.PASS,
                subject=f"{database.name}: {counted(len(names), 'PDB')}",
                evidence=evidence,
            )
            continue
        yield PDB_NOT_OPEN.finding(
            f"PDBs of {database.name} are not open as before: "
            f"{listed(f'{one.name} was {one.mode} on {one.instance}' for one in closed)}.",
            status=Status.FAIL,
            subject=f"{database.name}: {closed[0].name} {f'and {len(closed) - 1} more ' if closed[1:] else ''}not open",
            next=[
                NextStep(
                    f"Open {'them' if closed[1:] else 'it'}. A PDB that is open in another mode is closed there first.",
                    tuple(map(_open_command, closed)),
                    f"SYSDBA of {database.name}, in CDB$ROOT",
                    is_change=True,
                ),
                _look_at_pdbs(database),
            ],
            evidence=evidence,
        )


def _open(cluster: Cluster, name: str) -> tuple[OpenPluggable, ...] | Unknown:
    database = cluster.database
    if not isinstance(database, Database):
        return Unknown(database.reason, database.right if isinstance(database, Unknown) else None)
    if database.name.casefold() != name.casefold():
        return Unknown(f"the connected database is {database.name}.")
    return cluster.changing if isinstance(cluster.changing, Unknown) else cluster.changing.pluggables


def _is_open(wanted: PlannedPluggable, before: Sequence[PlannedPluggable], now: Sequence[OpenPluggable]) -> bool:
    """Whether a PDB is open on that instance as before, or on as many instances as before."""
    found = [pdb.instance for pdb in now if pdb.name == wanted.name and pdb.mode == wanted.mode]
    then = [one.instance for one in before if one.name == wanted.name and one.mode == wanted.mode]
    return wanted.instance in found or len(found) >= len(then)


def _open_command(pdb: PlannedPluggable) -> str:
    mode, _, restricted = pdb.mode.partition(", ")
    mode = "UPGRADE" if mode == "MIGRATE" else mode
    return (
        f"ALTER PLUGGABLE DATABASE {_identifier(pdb.name)} OPEN {mode}{' RESTRICTED' if restricted else ''} "
        f"INSTANCES = ('{pdb.instance}');"
    )


def _identifier(name: str) -> str:
    """Return a name as SQL has it: in quotes where it is no plain identifier (SQL Language Reference, object names)."""
    return name if _PLAIN.fullmatch(name) else f'"{name}"'


def _look_at_pdbs(database: PlannedDatabase) -> NextStep:
    return NextStep("Look at the PDBs.", (f"{OPEN_PDBS};",), f"SYSDBA of {database.name}, in CDB$ROOT")
