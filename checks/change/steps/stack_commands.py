"""Commands that stop and start databases (srvctl, as the database's owner) and Clusterware (crsctl, as root)."""

from __future__ import annotations

import shlex

from checks.change.change_plan import Commands, PlannedDatabase


def stop_database(database: PlannedDatabase, node: str, home: str) -> Commands:
    """Return the command that stops all instances of one database, once for the cluster."""
    return _by_owner(
        database,
        node,
        home,
        ("stop", "database", "-d", database.name, "-o", "immediate"),
        _recorded(database),
    )


def _recorded(database: PlannedDatabase) -> str:
    """Return the services in the plan, and what is to be written down before the database is stopped."""
    pdbs = "the PDBs that are open on each instance"
    if database.services is None:
        look = f"srvctl status database -d {shlex.quote(database.name)} -v"
        return f"First write down the running instances and services ({look}) and {pdbs}."
    names = dict.fromkeys(service for service, _ in database.services)
    nodes = {name: [node for service, node in database.services if service == name and node] for name in names}
    parts = [f"{name} ({', '.join(on)})" if on else name for name, on in nodes.items()]
    services = f"The plan holds the services that ran: {', '.join(parts)}. " if parts else ""
    return f"{services}First write down {pdbs}."


def start_database(database: PlannedDatabase, node: str, home: str) -> Commands:
    """Return the command that starts all instances of one database, once for the cluster."""
    name = shlex.quote(database.name)
    return _by_owner(
        database,
        node,
        home,
        ("start", "database", "-d", database.name),
        "srvctl starts every enabled instance, and opens or mounts it as srvctl config database -d "
        f"{name} shows (check this for a standby). Services with the policy MANUAL, and PDBs without a saved state, "
        "stay down: "
        + (
            "the gate services-up names each missing service. Compare the PDBs with your notes from the step "
            "stack-down."
            if database.services
            else "compare with your notes from the step stack-down."
        ),
    )


def disable(node: str, home: str) -> Commands:
    """Return the command after which Clusterware does not start when the node boots."""
    return Commands(root(node), (_crsctl(home, "disable", "crs"),), node)


def enable(node: str, home: str) -> Commands:
    """Return the command after which Clusterware starts when the node boots."""
    return Commands(root(node), (_crsctl(home, "enable", "crs"),), node)


def stop(node: str, home: str) -> Commands:
    """Return the command that stops the whole stack of one node, OHASD included."""
    return Commands(
        root(node),
        (_crsctl(home, "stop", "crs"),),
        node,
        "If the stop hangs, find the resource: crsctl stat res -t -init. An ACFS file system in use also blocks the "
        "stop. The same command with -f forces the stop.",
    )


def start(node: str, home: str) -> Commands:
    """Return the commands that start the whole stack of one node and show its state."""
    return Commands(root(node), (_crsctl(home, "start", "crs"), _crsctl(home, "check", "crs")), node)


def root(node: str) -> str:
    """Return the heading of commands for a root shell on a node."""
    return f"As root on {node}:"


def _by_owner(database: PlannedDatabase, node: str, home: str, arguments: tuple[str, ...], note: str) -> Commands:
    # The owner's PATH has the srvctl of the database's own home: srvctl of another release refuses (PRCD-1229).
    line = f"PATH=$PATH:{shlex.quote(f'{home}/bin')} {shlex.join(('srvctl', *arguments))}"
    return Commands(f"As the owner of database {database.name} on {node}:", (line,), node, note)


def _crsctl(home: str, *arguments: str) -> str:
    return shlex.join((f"{home}/bin/crsctl", *arguments))
