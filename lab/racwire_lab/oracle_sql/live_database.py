"""The rows of the V$ views that tell about the database and its instances rather than what they did."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any

from racwire_lab.database.live import InstanceState
from racwire_lab.oracle_sql.dictionary import parse_version
from racwire_lab.oracle_sql.identity import DatabaseIdentity

Row = dict[str, Any]


def _instance(state: InstanceState, database: DatabaseIdentity) -> Iterator[Row]:
    major, _ = parse_version(state.version)
    # From 18c on VERSION keeps the release's first number; VERSION_FULL tells the release update.
    base = f"{major}.0.0.0.0" if major >= 18 else state.version
    is_primary = database.role == "PRIMARY"
    yield {
        "INSTANCE_NUMBER": state.instance,
        "INSTANCE_NAME": state.name,
        "HOST_NAME": state.host,
        "VERSION": base,
        "VERSION_LEGACY": base,
        "VERSION_FULL": state.version,
        "STARTUP_TIME": datetime.fromtimestamp(state.startup_time).replace(microsecond=0),
        "STATUS": state.status,
        "PARALLEL": "YES",
        "THREAD#": state.instance,
        "ARCHIVER": "STARTED",
        "LOGINS": "ALLOWED",
        "SHUTDOWN_PENDING": "NO",
        "DATABASE_STATUS": "ACTIVE",
        "INSTANCE_ROLE": "PRIMARY_INSTANCE" if is_primary else "SECONDARY_INSTANCE",
        "ACTIVE_STATE": "NORMAL",
        "BLOCKED": "NO",
        "INSTANCE_MODE": "REGULAR",
        "EDITION": "EE",
        "DATABASE_TYPE": "RAC",
    }


def _database(state: InstanceState, database: DatabaseIdentity) -> Iterator[Row]:
    yield {
        "DBID": database.dbid,
        "NAME": database.name.upper(),
        "LOG_MODE": "ARCHIVELOG",
        "OPEN_MODE": database.open_mode,
        "PROTECTION_MODE": "MAXIMUM PERFORMANCE",
        "DATABASE_ROLE": database.role,
        "FORCE_LOGGING": "NO",
        "PLATFORM_ID": 13,
        "PLATFORM_NAME": "Linux x86 64-bit",
        "FLASHBACK_ON": "NO",
        "DB_UNIQUE_NAME": database.unique_name,
        "CDB": "YES" if database.has_containers else "NO",
        "CON_DBID": database.dbid,
    }


def _version(state: InstanceState, database: DatabaseIdentity) -> Iterator[Row]:
    major, _ = parse_version(state.version)
    letter = {11: "11g", 12: "12c", 18: "18c", 19: "19c", 21: "21c", 23: "23ai"}.get(major, str(major))
    full = f"Oracle Database {letter} Enterprise Edition Release {state.version} - Production"
    short = f"Oracle Database {letter} Enterprise Edition Release {major}.0.0.0.0 - Production"
    banner = short if major >= 18 else full
    yield {"BANNER": banner, "BANNER_FULL": full, "BANNER_LEGACY": banner}


def _active(state: InstanceState, database: DatabaseIdentity) -> Iterator[Row]:
    for number in sorted({state.instance, *state.peers}):
        base = state.name.removesuffix(str(state.instance))
        yield {"INST_NUMBER": number, "INST_NAME": f"{state.host}:{base}{number}"}


def _containers(state: InstanceState, database: DatabaseIdentity) -> Iterator[Row]:
    if not database.has_containers:
        yield {"CON_ID": 0, "DBID": database.dbid, "NAME": database.name.upper(), "OPEN_MODE": database.open_mode}
        return
    root = {"CON_ID": 1, "DBID": database.dbid, "NAME": "CDB$ROOT", "OPEN_MODE": database.open_mode}
    if database.container == "CDB$ROOT":
        yield root
    yield from _pluggable(state, database)


def _pluggable(state: InstanceState, database: DatabaseIdentity) -> Iterator[Row]:
    if database.has_containers and database.container != "CDB$ROOT":
        dbid = database.dbid ^ database.container_id
        yield {
            "CON_ID": database.container_id,
            "DBID": dbid,
            "NAME": database.container,
            "OPEN_MODE": database.open_mode,
        }


def _sessions(state: InstanceState, database: DatabaseIdentity) -> Iterator[Row]:
    yield from ()


VIEWS: dict[str, Callable[[InstanceState, DatabaseIdentity], Iterable[Row]]] = {
    "V$INSTANCE": _instance,
    "V$DATABASE": _database,
    "V$VERSION": _version,
    "V$ACTIVE_INSTANCES": _active,
    "V$CONTAINERS": _containers,
    "V$PDBS": _pluggable,
    "V$SESSION": _sessions,
}
