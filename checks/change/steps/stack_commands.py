"""Commands that stop and start databases (srvctl, as the database's owner) and Clusterware (crsctl, as root)."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence

from checks.change.plan.change_plan import PlannedDatabase
from checks.change.plan.command_block import Commands, Who
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
    return Commands(Who.ROOT, (_crsctl(home, "disable", "crs"),), node)


def enable(node: str, home: str) -> Commands:
    """Return the command after which Clusterware starts when the node boots."""
    return Commands(Who.ROOT, (_crsctl(home, "enable", "crs"),), node)


_STOPPED_FIRST = "Stop the databases first: these instances run on this node."
_PMON = "ora_pmon_"
_MANAGEMENT = "-MGMTDB"
"""The instance of the management repository (GIMR), which Clusterware itself stops."""
_SPECIAL = frozenset(".[]\\*^$+?(){}|")
"""The characters with a meaning in an extended regular expression."""


def stop(node: str, home: str, databases: Sequence[PlannedDatabase] = ()) -> Commands:
    """Return the command that stops the whole stack of one node, OHASD included.

    It refuses while an instance of one of these databases runs on the node (its PMON, `ora_pmon_SID`): the commands of
    one node, piped into its shell, then never stop Clusterware before the databases. Other instances are listed and do
    not prevent the stop: Clusterware does not stop a database that it does not manage.
    """
    line = _crsctl(home, "stop", "crs")
    others = ""
    if databases:
        planned = f"ps -eo args= | grep -E {shlex.quote(_pattern(databases))}"
        rest = f"ps -eo args= | grep '^{_PMON}' | grep -v '^{_PMON}{_MANAGEMENT}' | sed 's/^/Not in the plan: /' >&2"
        line = f"if {planned}; then echo '{_STOPPED_FIRST}' >&2; false; else {rest}; {line}; fi"
        others = (
            " An instance that is not in the plan is listed and not stopped: if its database uses ASM of this node, "
            "stop it first."
        )
    return Commands(
        Who.ROOT,
        (line,),
        node,
        "If the stop hangs, find the resource: crsctl stat res -t -init. An ACFS file system in use also blocks the "
        f"stop. The same command with -f forces the stop.{others}",
    )


def _pattern(databases: Sequence[PlannedDatabase]) -> str:
    """Return the extended regular expression of the PMON processes of these databases.

    Clusterware may number the instances of RAC One Node and of policy-managed databases again: a name with the same
    stem is one of them. Without the instances of a database, every instance may be one, except that of the management
    repository.
    """
    names = [name for database in databases for name in database.instances.values()]
    if not all(database.instances for database in databases):
        return f"^{_PMON}[^-]"
    forms = dict.fromkeys(_form(name) for name in names)
    return f"^{_PMON}({'|'.join(forms)})[[:space:]]*$"


def _form(name: str) -> str:
    stem = re.sub(r"_?[0-9]+$", "", name)
    literal = "".join(f"\\{each}" if each in _SPECIAL else each for each in stem)
    return literal if stem == name else f"{literal}_?[0-9]+"


def start(node: str, home: str) -> Commands:
    """Return the commands that start the whole stack of one node and show its state."""
    return Commands(Who.ROOT, (_crsctl(home, "start", "crs"), _crsctl(home, "check", "crs")), node)


def _by_owner(database: PlannedDatabase, node: str, home: str, arguments: tuple[str, ...], note: str) -> Commands:
    # The owner's PATH has the srvctl of the database's own home: srvctl of another release refuses (PRCD-1229).
    line = f"PATH=$PATH:{shlex.quote(f'{home}/bin')} {shlex.join(('srvctl', *arguments))}"
    return Commands(Who.DATABASE_OWNER, (line,), node, note, database.name)


def _crsctl(home: str, *arguments: str) -> str:
    return shlex.join((f"{home}/bin/crsctl", *arguments))
