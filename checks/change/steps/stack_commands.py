"""Databases and Clusterware, down and up: srvctl by the database's owner, crsctl by root on each node."""

from __future__ import annotations

import shlex

from checks.change.change_plan import Commands, PlannedDatabase


def stop_database(database: PlannedDatabase, node: str, home: str) -> Commands:
    """All instances of one database, once in the cluster."""
    return _by_owner(
        database,
        node,
        home,
        ("stop", "database", "-d", database.name, "-o", "immediate"),
        f"Note first what runs: srvctl status database -d {shlex.quote(database.name)} -v, and the open PDBs.",
    )


def start_database(database: PlannedDatabase, node: str, home: str) -> Commands:
    """All instances of one database, once in the cluster."""
    name = shlex.quote(database.name)
    return _by_owner(
        database,
        node,
        home,
        ("start", "database", "-d", database.name),
        "It starts every instance that is enabled, and opens or mounts as srvctl config database -d "
        f"{name} says (see that for a standby). Services by hand, and PDBs without a saved state, stay down: compare "
        "with what you noted.",
    )


def disable(node: str, home: str) -> Commands:
    """Clusterware does not start when the node boots."""
    return Commands(root(node), (_crsctl(home, "disable", "crs"),), node)


def enable(node: str, home: str) -> Commands:
    """Clusterware starts when the node boots."""
    return Commands(root(node), (_crsctl(home, "enable", "crs"),), node)


def stop(node: str, home: str) -> Commands:
    """The whole stack of one node, OHASD included."""
    return Commands(
        root(node),
        (_crsctl(home, "stop", "crs"),),
        node,
        "If a resource hangs, see which one: crsctl stat res -t -init (an ACFS file system that is in use holds it, "
        "too); the same with -f forces it.",
    )


def start(node: str, home: str) -> Commands:
    """The whole stack of one node."""
    return Commands(root(node), (_crsctl(home, "start", "crs"), _crsctl(home, "check", "crs")), node)


def root(node: str) -> str:
    """Who and where, for a node's root shell."""
    return f"As root on {node}:"


def _by_owner(database: PlannedDatabase, node: str, home: str, words: tuple[str, ...], note: str) -> Commands:
    # The srvctl of the database's own home, which is on its owner's PATH: another release's is refused (PRCD-1229).
    line = f"PATH=$PATH:{shlex.quote(f'{home}/bin')} {shlex.join(('srvctl', *words))}"
    return Commands(f"As the owner of database {database.name} on {node}:", (line,), node, note)


def _crsctl(home: str, *words: str) -> str:
    return shlex.join((f"{home}/bin/crsctl", *words))
