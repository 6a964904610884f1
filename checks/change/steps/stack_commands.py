"""Commands that stop and start databases (srvctl, as the database's owner) and Clusterware (crsctl, as root)."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from checks.change.change_plan import Commands, PlannedDatabase
from checks.model.wording import listed

OPEN_PDBS = "SELECT inst_id, name, open_mode, restricted FROM gv$pdbs"
"""The statement by which people see the open PDBs, in CDB$ROOT AS SYSDBA."""
_SERVICES, _PDBS = "the running services", "the open PDBs"


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
    """Return the services and PDBs in the plan, and what is to be written down before the database is stopped."""
    services = _by_name((service, node) for service, node in database.services or ())
    pluggables = _by_name((pdb.name, f"{pdb.instance} {pdb.mode}") for pdb in database.pluggables or ())
    sentences = [f"The plan holds the services that ran: {services}."] if services else []
    sentences += [f"The plan holds the PDBs that were open: {pluggables}."] if pluggables else []
    how = {_SERVICES: f"srvctl status database -d {shlex.quote(database.name)} -v", _PDBS: OPEN_PDBS}
    by_hand = [f"{what} ({how[what]})" for what in noted(database)]
    sentences += [f"First write down {listed(by_hand)}."] if by_hand else []
    return " ".join(sentences)


def noted(database: PlannedDatabase) -> tuple[str, ...]:
    """Return what people must write down before the database is stopped, since the plan does not hold it."""
    services = (_SERVICES,) if database.services is None else ()
    return (*services, _PDBS) if database.pluggables is None else services


def _by_name(places: Iterable[tuple[str, str]]) -> str:
    """Return the places of each name: `crm (rac1, rac2), web (rac1)`."""
    found: dict[str, list[str]] = {}
    for name, place in places:
        found.setdefault(name, []).append(place)
    return ", ".join(f"{name} ({', '.join(on)})" if any(on) else name for name, on in found.items())


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
        f"stay down: {_compare(database)}",
    )


def _compare(database: PlannedDatabase) -> str:
    """What compares services and PDBs after the start: a gate for those in the plan, the notes for the others."""
    gates = ["services-up"] if database.services else []
    gates += ["pdbs-open"] if database.pluggables else []
    by_hand = noted(database)
    parts = [f"the gates of this step ({', '.join(gates)}) name what is missing."] if gates else []
    parts += [f"compare {listed(by_hand)} with your notes from the step stack-down."] if by_hand else []
    text = " ".join(part[:1].upper() + part[1:] for part in parts) or "None ran when the plan was made."
    return text[:1].lower() + text[1:]


def disable(node: str, home: str) -> Commands:
    """Return the command after which Clusterware does not start when the node boots."""
    return Commands(root(node), (_crsctl(home, "disable", "crs"),), node)


def enable(node: str, home: str) -> Commands:
    """Return the command after which Clusterware starts when the node boots."""
    return Commands(root(node), (_crsctl(home, "enable", "crs"),), node)


_STOPPED_FIRST = "Stop the databases first: instances run on this node."


def stop(node: str, home: str, *, after_databases: bool) -> Commands:
    """Return the command that stops the whole stack of one node, OHASD included.

    `after_databases` makes it refuse while a database instance runs on the node (its PMON, `ora_pmon_SID`): the
    commands of one node, piped into its shell, then never stop Clusterware before the databases.
    """
    line = _crsctl(home, "stop", "crs")
    if after_databases:
        line = f"if ps -eo args= | grep '^ora_pmon_'; then echo '{_STOPPED_FIRST}' >&2; false; else {line}; fi"
    return Commands(
        root(node),
        (line,),
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
