"""Gate: do the services run that ran before the change?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.change.change_plan import PlannedDatabase
from checks.change.gates.gate import GateContext, gate, whole
from checks.model.check import Kind
from checks.model.facts import Cluster, Managed, Unknown
from checks.model.finding import Finding, Remedy, Status
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
    evidence = [(cluster.local_node, "srvctl status database")]
    if not any(database.services for database in context.plan.databases):
        yield SERVICES_RUN.finding(
            Status.SKIPPED, "The plan holds no services of a database.", subject="none planned", evidence=evidence
        )
    for database in (one for one in context.plan.databases if one.services):
        now = _running(cluster, database.name)
        if isinstance(now, Unknown):
            yield SERVICES_NOT_KNOWN.finding(
                Status.UNKNOWN,
                f"Which services of {database.name} run is not known: {whole(now.reason)}",
                subject=f"{database.name}: services not known",
                next=[_look(database)],
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
            Status.FAIL,
            f"{database.name} does not offer every service as before: "
            f"{listed(_difference(n, nodes[n]) for n in missing)}.",
            subject=f"{database.name}: {missing[0]}{f' and {len(missing) - 1} more' if missing[1:] else ''} missing",
            next=[
                *(
                    Remedy(
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
            Status.INFO,
            f"{database.name} offers services on other nodes than before: "
            f"{listed(_difference(n, nodes[n]) for n in moved)}.",
            subject=f"{database.name}: {moved[0]}{f' and {len(moved) - 1} more' if moved[1:] else ''} moved",
            next=[_look(database)],
            evidence=evidence,
        )
    if not missing and not moved:
        yield SERVICES_RUN.finding(
            Status.PASS,
            f"{database.name} offers {listed(names)} on the same nodes as before.",
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


def _look(database: PlannedDatabase) -> Remedy:
    return Remedy(
        "List the services.",
        (f"srvctl status service -d {database.name}",),
        f"the owner of {database.name}, on any node",
    )
