"""The views of the catalogue: a session's own data, and the existing tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from racwire_lab.database.backend import Caller
from racwire_lab.database.live import InstanceState
from racwire_lab.oracle_sql.dictionary import View
from racwire_lab.oracle_sql.errors import oracle_error
from racwire_lab.oracle_sql.identity import DatabaseIdentity

Row = dict[str, Any]


def rows(view: View, caller: Caller, visible: list[View]) -> list[Row]:
    """Return the rows of DUAL or of a view of the catalogue; `visible` are the views that the session may read."""
    return list(_VIEWS[view.name](caller, visible))


def userenv(
    attribute: str, caller: Caller, database: DatabaseIdentity, instance: int, state: InstanceState | None
) -> str | None:
    """Return SYS_CONTEXT('USERENV', attribute). Raises ORA-02003 for an attribute that this version lacks."""
    if attribute.startswith(("CON_", "CDB_")) and database.release < (12, 1):
        raise oracle_error(2003)
    user = "SYS" if caller.is_sysdba else caller.user.upper()
    values: dict[str, str | None] = {
        "CDB_NAME": database.name if database.has_containers else None,
        "CON_ID": str(database.container_id) if database.has_containers else "0",
        "CON_NAME": database.container if database.has_containers else database.name,
        "CURRENT_SCHEMA": user,
        "CURRENT_USER": user,
        "DATABASE_ROLE": database.role,
        "DB_DOMAIN": database.domain,
        "DB_NAME": database.name,
        "DB_UNIQUE_NAME": database.unique_name,
        "INSTANCE": str(instance),
        "INSTANCE_NAME": state.name if state else None,
        "ISDBA": "TRUE" if caller.is_sysdba else "FALSE",
        "MODULE": caller.module,
        "ACTION": caller.action,
        "CLIENT_INFO": caller.client_info,
        "SERVER_HOST": state.host if state else None,
        "SESSION_USER": user,
        "SESSIONID": str(caller.session_id),
        "SID": str(caller.session_id),
    }
    if attribute not in values:
        raise oracle_error(2003)
    return values[attribute] or None


def _dual(caller: Caller, visible: list[View]) -> Iterator[Row]:
    yield {"DUMMY": "X"}


def _of_tables(visible: Iterable[View], user: str | None = None) -> Iterator[View]:
    """The views of the dictionary that are tables in Oracle: Statspack's."""
    return (view for view in visible if view.owner == "PERFSTAT" and user in (None, view.owner))


def _of_views(visible: Iterable[View], user: str | None = None) -> Iterator[View]:
    """The views of the dictionary that are views in Oracle.

    GV$ and V$ are synonyms; their views are called GV_$ and V_$.
    """
    return (view for view in visible if view.owner == "SYS" and view.name != "DUAL" and user in (None, view.owner))


def _object_name(view: View) -> str:
    return view.name.replace("V$", "V_$", 1) if view.is_live else view.name


def _tables(visible: list[View], user: str | None = None) -> Iterator[Row]:
    for view in _of_tables(visible, user):
        yield {"OWNER": view.owner, "TABLE_NAME": view.name, "TABLESPACE_NAME": "PERFSTAT", "STATUS": "VALID"}


def _views(visible: list[View], user: str | None = None) -> Iterator[Row]:
    for view in _of_views(visible, user):
        yield {"OWNER": view.owner, "VIEW_NAME": _object_name(view)}


def _objects(visible: list[View], user: str | None = None) -> Iterator[Row]:
    named = [(view, "VIEW") for view in _of_views(visible, user)] + [
        (view, "TABLE") for view in _of_tables(visible, user)
    ]
    for number, (view, kind) in enumerate(named, 100):
        yield {
            "OWNER": view.owner,
            "OBJECT_NAME": _object_name(view),
            "OBJECT_ID": number,
            "OBJECT_TYPE": kind,
            "STATUS": "VALID",
        }


def _columns(caller: Caller, visible: list[View]) -> Iterator[Row]:
    for view in visible:
        for number, column in enumerate(view.columns, 1):
            yield {
                "OWNER": view.owner,
                "TABLE_NAME": _object_name(view),
                "COLUMN_NAME": column.name,
                "COLUMN_ID": number,
            }


def _privileges(caller: Caller, visible: list[View]) -> Iterator[Row]:
    for view in visible:
        if view.grant and not caller.is_sysdba:
            yield {
                "GRANTEE": caller.user.upper(),
                "OWNER": view.owner,
                "TABLE_NAME": _object_name(view),
                "GRANTOR": view.owner,
                "PRIVILEGE": "SELECT",
                "GRANTABLE": "NO",
            }


def _session_privileges(caller: Caller, visible: list[View]) -> Iterator[Row]:
    yield {"PRIVILEGE": "CREATE SESSION"}
    if caller.is_sysdba:
        yield {"PRIVILEGE": "SYSDBA"}


def _user(caller: Caller, visible: list[View]) -> Iterator[Row]:
    yield {"USERNAME": _name(caller), "USER_ID": 100, "ACCOUNT_STATUS": "OPEN"}


def _name(caller: Caller) -> str:
    return "SYS" if caller.is_sysdba else caller.user.upper()


_VIEWS: dict[str, Callable[[Caller, list[View]], Iterable[Row]]] = {
    "DUAL": _dual,
    "ALL_TABLES": lambda caller, visible: _tables(visible),
    "ALL_VIEWS": lambda caller, visible: _views(visible),
    "ALL_OBJECTS": lambda caller, visible: _objects(visible),
    "ALL_TAB_COLUMNS": _columns,
    "USER_TABLES": lambda caller, visible: _tables(visible, _name(caller)),
    "USER_VIEWS": lambda caller, visible: _views(visible, _name(caller)),
    "USER_OBJECTS": lambda caller, visible: _objects(visible, _name(caller)),
    "USER_TAB_PRIVS": _privileges,
    "SESSION_PRIVS": _session_privileges,
    "SESSION_ROLES": lambda caller, visible: (),
    "USER_USERS": _user,
}
