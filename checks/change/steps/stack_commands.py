"""Commands that stop and start databases (srvctl, as the database's owner) and Clusterware (crsctl, as root)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from checks.change.plan.change_plan import PlannedDatabase
from checks.change.plan.command_block import Commands, Who
from checks.model.sanitize import sanitize
from checks.model.shell_command import shell
from checks.model.wording import listed

OPEN_PDBS = "SELECT inst_id, name, open_mode, restricted FROM gv$pdbs;"
"""The statement by which people see the open PDBs, in CDB$ROOT AS SYSDBA."""
_SERVICES, _PDBS = "the running services", "the open PDBs"


def stop_database(database: PlannedDatabase, node: str, home: str) -> Commands:
    """Return the command that stops all instances of one database, once for the cluster."""
    return _by_owner(
        database,
        node,
        home,
        "PATH=$PATH:{home}/bin srvctl stop database -d {name} -o immediate",
        recorded(database),
    )


def recorded(database: PlannedDatabase) -> str:
    """Return the services and PDBs in the plan, and what is to be written down before the database is stopped."""
    services = _by_name((service, node) for service, node in database.services or ())
    pluggables = _by_name((pdb.name, f"{pdb.instance} {pdb.mode}") for pdb in database.pluggables or ())
    sentences = [f"The plan holds the services that ran: {services}."] if services else []
    sentences += [f"The plan holds the PDBs that were open: {pluggables}."] if pluggables else []
    how = {
        _SERVICES: shell("srvctl status database -d {name} -v", name=database.name),
        _PDBS: OPEN_PDBS.removesuffix(";"),
    }
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
    how = shell("srvctl config database -d {name}", name=database.name)
    return _by_owner(
        database,
        node,
        home,
        "PATH=$PATH:{home}/bin srvctl start database -d {name}",
        f"srvctl starts every enabled instance, and opens or mounts it as {how} shows (check this for a standby). "
        f"Services with the policy MANUAL, and PDBs without a saved state, stay down: {_compare(database)}",
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
    return Commands(Who.ROOT, (shell("{home}/bin/crsctl disable crs", home=home),), node)


def enable(node: str, home: str) -> Commands:
    """Return the command after which Clusterware starts when the node boots."""
    return Commands(Who.ROOT, (shell("{home}/bin/crsctl enable crs", home=home),), node)


_STOP = "{home}/bin/crsctl stop crs"
_STOP_UNLESS_UP = (
    "if ps -eo args= | grep -E {pattern}; then echo 'Stop the databases first: these instances run on this node.' >&2; "
    "false; else ps -eo args= | grep '^ora_pmon_' | grep -v '^ora_pmon_-MGMTDB' | sed 's/^/Not in the plan: /' >&2; "
    f"{_STOP}; fi"
)
"""It does not list -MGMTDB, the instance of the management repository (GIMR), which Clusterware itself stops."""
_PMON = "ora_pmon_"
_SPECIAL = frozenset(".[]\\*^$+?(){}|")
"""The characters with a meaning in an extended regular expression."""


def stop(node: str, home: str, databases: Sequence[PlannedDatabase] = ()) -> Commands:
    """Return the command that stops the whole stack of one node, OHASD included.

    It refuses while an instance of one of these databases runs on the node (its PMON, `ora_pmon_SID`): the commands of
    one node, piped into its shell, then never stop Clusterware before the databases. Other instances are listed and do
    not prevent the stop: Clusterware does not stop a database that it does not manage.
    """
    line = shell(_STOP, home=home)
    others = ""
    if databases:
        line = shell(_STOP_UNLESS_UP, home=home, pattern=_pattern(databases))
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
    stem is one of them. Without the instances of a database, or with a name that no command can have, every instance
    may be one, except that of the management repository.
    """
    names = [name for database in databases for name in database.instances.values()]
    if not all(database.instances for database in databases) or any(name != sanitize(name) for name in names):
        return f"^{_PMON}[^-]"
    forms = dict.fromkeys(_form(name) for name in names)
    return f"^{_PMON}({'|'.join(forms)})[[:space:]]*$"


def _form(name: str) -> str:
    stem = re.sub(r"_?[0-9]+$", "", name)
    return literal(stem) if stem == name else f"{literal(stem)}_?[0-9]+"


def literal(name: str) -> str:
    """Return the extended regular expression that matches a name."""
    return "".join(f"\\{each}" if each in _SPECIAL else each for each in name)


def start(node: str, home: str) -> Commands:
    """Return the commands that start the whole stack of one node and show its state."""
    return Commands(
        Who.ROOT,
        (shell("{home}/bin/crsctl start crs", home=home), shell("{home}/bin/crsctl check crs", home=home)),
        node,
    )


def _by_owner(database: PlannedDatabase, node: str, home: str, script: str, note: str) -> Commands:
    # The owner's PATH has the srvctl of the database's own home: srvctl of another release refuses (PRCD-1229).
    return Commands(Who.DATABASE_OWNER, (shell(script, home=home, name=database.name),), node, note, database.name)
