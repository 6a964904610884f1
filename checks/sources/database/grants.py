"""Write the SQL*Plus script that creates a least-privilege user, from the headers of the statements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from checks.sources.database.statements import SqlStatement, statements

DEFAULT_USER = "RACWIRE"
STATSPACK_OWNER = "PERFSTAT"


IC_CLIENTS_VIEW = "SYS.RACWIRE_IC_CLIENTS"
_CREATE_IC_CLIENTS = (
    f"CREATE VIEW {IC_CLIENTS_VIEW} AS",
    "  SELECT inst_id, name, bytes_sent, bytes_rcv AS bytes_received FROM sys.x$ksxpclient;",
)
CONTAINER_DATA = (
    "ALTER USER {user} SET CONTAINER_DATA = ALL FOR SYS.GV_$PDBS CONTAINER = CURRENT;",
    "ALTER USER {user} SET CONTAINER_DATA = ALL FOR SYS.V_$PDBS CONTAINER = CURRENT;",
)
"""The statements by which a common user sees all PDBs: without them GV$PDBS has rows of its own container.

Source: SQL Language Reference, ALTER USER, container_data_clause.
"""


def grants_script(user: str, *, awr: bool, statspack: bool, ic_clients: bool = False) -> str:
    """Return the script. `user` is an unquoted name in upper case; `awr` and `statspack` include their grants.

    `ic_clients` includes the view over X$KSXPCLIENT, the users of the interconnect: SYS alone can grant it.
    """
    return "\n".join(_lines(user, awr=awr, statspack=statspack, ic_clients=ic_clients)) + "\n"


def needed_grants(
    known: Iterable[SqlStatement], *, awr: bool, statspack: bool, ic_clients: bool = False
) -> dict[str, list[str]]:
    """The objects to grant by group (`live`, `clients`, `AWR`, `Statspack`). Each object is in its first group only."""
    found: dict[str, list[str]] = {"live": [], "clients": [], "AWR": [], "Statspack": []}
    wanted = {"live": True, "clients": ic_clients, "AWR": awr, "Statspack": statspack}
    named: set[str] = set()
    ordered = sorted(known, key=lambda statement: list(found).index(group_of(statement)))
    for statement in ordered:
        group = group_of(statement)
        if not wanted[group]:
            continue
        for name in sorted(set(statement.grants) - named):
            named.add(name)
            found[group].append(name)
    return {group: sorted(names) for group, names in found.items() if names}


def group_of(statement: SqlStatement) -> str:
    """The group of objects that the grants of a statement belong to: `live`, `clients`, `AWR`, `Statspack`."""
    if IC_CLIENTS_VIEW in statement.grants:
        return "clients"
    if any(name.startswith(f"{STATSPACK_OWNER}.") for name in statement.grants):
        return "Statspack"
    return "AWR" if statement.needs_licence or statement.name.startswith("awr_") else "live"


def _lines(user: str, *, awr: bool, statspack: bool, ic_clients: bool) -> Iterator[str]:
    yield from (
        f"-- {user}: a user that can read the views that racwire queries, and nothing else.",
        "-- Run this file AS SYSDBA (sqlplus / as sysdba @FILE), not through a pipe: it prompts for a password.",
        "-- If this release lacks a view, only the grant on that view fails; the script continues.",
    )
    if user.startswith("C##"):
        yield "-- A common user: run this script in CDB$ROOT, and connect racwire to a service of the root."
    else:
        yield "-- In a container database use `racwire grants --user C##RACWIRE`, in CDB$ROOT: a PDB sees less."
    yield from (
        "",
        "SET DEFINE ON VERIFY OFF",
        f"ACCEPT racwire_password CHAR PROMPT 'Password for {user}: ' HIDE",
        f'CREATE USER {user} IDENTIFIED BY "&racwire_password";',
        "UNDEFINE racwire_password",
        f"GRANT CREATE SESSION TO {user};",
    )
    titles = {
        "live": "Current counters of the instances (no licence needed)",
        "clients": "Users of the interconnect: a view, because SYS alone reads X$KSXPCLIENT",
        "AWR": "AWR (needs the Diagnostics Pack)",
        "Statspack": f"Statspack ({STATSPACK_OWNER} must be installed)",
    }
    needed = needed_grants(statements().values(), awr=awr, statspack=statspack, ic_clients=ic_clients)
    for group, names in needed.items():
        yield from ("", f"-- {titles[group]}")
        if group == "clients":
            yield from _CREATE_IC_CLIENTS
        yield from (f"GRANT SELECT ON {name} TO {user};" for name in names)
        if group == "live" and user.startswith("C##"):
            yield from (statement.format(user=user) for statement in CONTAINER_DATA)
    yield from ("", "-- To remove the user and its grants:", f"-- DROP USER {user};")
    if ic_clients:
        yield f"-- DROP VIEW {IC_CLIENTS_VIEW};"
