"""Databases and Clusterware, down and up: srvctl by the database's owner, crsctl by root on each node."""

from __future__ import annotations

import shlex

from checks.change.plan import Commands, PlannedDatabase


def stop_database(database: PlannedDatabase, node: str, home: str) -> Commands:
    """All instances of one database, once in the cluster."""
    return _by_owner(database, node, home, "stop", "-o", "immediate")


def start_database(database: PlannedDatabase, node: str, home: str) -> Commands:
    """All instances of one database, once in the cluster."""
    return _by_owner(database, node, home, "start")


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
        "If a resource hangs, see which one: crsctl stat res -t -init; the same with -f forces it.",
    )


def start(node: str, home: str) -> Commands:
    """The whole stack of one node."""
    return Commands(root(node), (_crsctl(home, "start", "crs"), _crsctl(home, "check", "crs")), node)


def root(node: str) -> str:
    """Who and where, for a node's root shell."""
    return f"As root on {node}:"


def _by_owner(database: PlannedDatabase, node: str, home: str, verb: str, *options: str) -> Commands:
    # The srvctl of the database's own home, which is on its owner's PATH: another release's is refused (PRCD-1229).
    line = shlex.join(("srvctl", verb, "database", "-d", database.name, *options))
    line = f"PATH=$PATH:{shlex.quote(f'{home}/bin')} {line}"
    return Commands(f"As the owner of database {database.name} on {node}:", (line,), node)


def _crsctl(home: str, *words: str) -> str:
    return shlex.join((f"{home}/bin/crsctl", *words))
