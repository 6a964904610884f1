"""The rows of the V$ and GV$ views, made from the instances' states."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta

from racwire_lab.cluster.topology import PLUGGABLE
from racwire_lab.database.live import InstanceState
from racwire_lab.oracle_sql import interconnect_views, storage_views
from racwire_lab.oracle_sql.dictionary import IC_CLIENTS, View, parse_version
from racwire_lab.oracle_sql.identity import DatabaseIdentity
from racwire_lab.oracle_sql.interconnect_views import Row
from racwire_lab.oracle_sql.kinds import WHOLE
from racwire_lab.oracle_sql.restore_points import LIMIT_BYTES


def rows(view: View, states: Iterable[InstanceState], database: DatabaseIdentity) -> list[Row]:
    """Return the rows of a V$ or GV$ view, with INST_ID and CON_ID."""
    name = view.name.removeprefix("G")
    make = _VIEWS[name]
    start: Row = {"CON_ID": 0}
    if name in _COUNTERS:
        start |= {column.name: 0 for column in view.columns if column.kind == WHOLE}
    return [start | {"INST_ID": state.instance} | row for state in states for row in make(state, database)]


_COUNTERS = frozenset({"V$CR_BLOCK_SERVER", "V$CURRENT_BLOCK_SERVER", "V$INSTANCE_CACHE_TRANSFER", "V$INSTANCE_PING"})
"""Views of counters: counters that the daemons lack are zero."""


def moment(epoch_s: float) -> datetime:
    """Return a moment in the local time of the instance's host."""
    return datetime.fromtimestamp(epoch_s)


def identifier(name: str) -> int:
    """Return a number for a name, always the same, as STAT_ID and EVENT_ID."""
    return KNOWN_IDENTIFIERS.get(name) or zlib.crc32(name.encode())


KNOWN_IDENTIFIERS = {
    "gc blocks lost": 500461751,
    "gc claim blocks lost": 1966230523,
    "gc blocks corrupt": 2288508531,
    "gc cr blocks received": 2877738702,
    "gc cr block receive time": 1759426133,
    "gc current blocks received": 326482564,
    "gc current block receive time": 1388758753,
    "gc cr blocks served": 1075941831,
    "gc cr block build time": 467525985,
    "gc cr block flush time": 552470873,
    "gc cr block send time": 2395315974,
    "gc current blocks served": 42062110,
    "gc current block pin time": 324533635,
    "gc current block flush time": 4091964965,
    "gc current block send time": 2750158241,
    "gc local grants": 3656029643,
    "gc remote grants": 1406613639,
}
"""STAT_ID of V$STATNAME; other names get a generated number."""


def _instance(state: InstanceState, database: DatabaseIdentity) -> Iterator[Row]:
    major, _ = parse_version(state.version)
    # From 18c on VERSION has the release's first number, and VERSION_FULL the release update.
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
        "FLASHBACK_ON": "RESTORE POINT ONLY" if _has_guaranteed(database) else "NO",
        "DB_UNIQUE_NAME": database.unique_name,
        "CDB": "YES" if database.has_containers else "NO",
        "CON_DBID": database.dbid,
    }


def _has_guaranteed(database: DatabaseIdentity) -> bool:
    points = database.restore_points
    return points is not None and any(row["GUARANTEE_FLASHBACK_DATABASE"] == "YES" for row in points.rows())


def _restore_points(state: InstanceState, database: DatabaseIdentity) -> Iterator[Row]:
    if database.restore_points is not None:
        yield from database.restore_points.rows()


def _recovery_area(state: InstanceState, database: DatabaseIdentity) -> Iterator[Row]:
    points = database.restore_points
    yield {
        "NAME": "+DATA" if points else "",
        "SPACE_LIMIT": LIMIT_BYTES if points else 0,
        "SPACE_USED": points.used_bytes() if points else 0,
        "SPACE_RECLAIMABLE": 0,
        "NUMBER_OF_FILES": 0,
    }


def _version(state: InstanceState, database: DatabaseIdentity) -> Iterator[Row]:
    major, _ = parse_version(state.version)
    letter = {11: "11g", 12: "12c", 18: "18c", 19: "19c", 21: "21c", 23: "23ai"}.get(major, str(major))
    full = f"Oracle Database {letter} Enterprise Edition Release {state.version} - Production"
    short = f"Oracle Database {letter} Enterprise Edition Release {major}.0.0.0.0 - Production"
    banner = short if major >= 18 else full
    yield {"BANNER": banner, "BANNER_FULL": full, "BANNER_LEGACY": banner}


def _active(state: InstanceState, database: DatabaseIdentity) -> Iterator[Row]:
    if state.parameters.get("cluster_database") == "FALSE":
        return
    for number in sorted({state.instance, *state.peers}):
        base = state.name.removesuffix(str(state.instance))
        host = state.host.replace(str(state.instance), str(number), 1)
        yield {"INST_NUMBER": number, "INST_NAME": f"{host}:{base}{number}"}


def _containers(state: InstanceState, database: DatabaseIdentity) -> Iterator[Row]:
    if not database.has_containers:
        yield {"CON_ID": 0, "DBID": database.dbid, "NAME": database.name.upper(), "OPEN_MODE": database.open_mode}
        return
    root = {"CON_ID": 1, "DBID": database.dbid, "NAME": "CDB$ROOT", "OPEN_MODE": database.open_mode}
    if database.container == "CDB$ROOT":
        yield root
    yield from _pluggable(state, database)


def _pluggable(state: InstanceState, database: DatabaseIdentity) -> Iterator[Row]:
    if database.has_containers and database.container == "CDB$ROOT":
        seed = database.open_mode if database.open_mode == "MOUNTED" else "READ ONLY"
        for number, name, mode in ((2, "PDB$SEED", seed), (3, PLUGGABLE.upper(), database.open_mode)):
            yield {"CON_ID": number, "DBID": database.dbid ^ number, "NAME": name, "OPEN_MODE": mode} | {
                "RESTRICTED": "NO"
            }
    elif database.has_containers:
        dbid = database.dbid ^ database.container_id
        yield {
            "CON_ID": database.container_id,
            "DBID": dbid,
            "NAME": database.container,
            "OPEN_MODE": database.open_mode,
            "RESTRICTED": "NO",
        }


def _sessions(state: InstanceState, database: DatabaseIdentity) -> Iterator[Row]:
    yield from ()


def _statistics(state: InstanceState, database: DatabaseIdentity) -> Iterator[Row]:
    for number, (name, value) in enumerate(state.statistics.items()):
        kind = 40 if name.startswith(("gc ", "gcs ", "ges ", "global enqueue")) else 8
        yield {"STATISTIC#": number, "NAME": name, "CLASS": kind, "VALUE": value, "STAT_ID": identifier(name)} | {
            "DISPLAY_NAME": name
        }


def _events(state: InstanceState, database: DatabaseIdentity) -> Iterator[Row]:
    for name, waits in state.events.items():
        centiseconds = waits.time_us // 10_000
        average = round(waits.time_us / 10_000 / waits.waits, 2) if waits.waits else 0
        counts = {
            "TOTAL_WAITS": waits.waits,
            "TOTAL_TIMEOUTS": 0,
            "TIME_WAITED": centiseconds,
            "AVERAGE_WAIT": average,
            "TIME_WAITED_MICRO": waits.time_us,
        }
        yield {
            "EVENT": name,
            **counts,
            **{_foreground(column): value for column, value in counts.items()},
            "EVENT_ID": identifier(name),
            "WAIT_CLASS_ID": identifier(waits.wait_class),
            "WAIT_CLASS#": 11 if waits.wait_class == "Cluster" else 0,
            "WAIT_CLASS": waits.wait_class,
        }


def _foreground(column: str) -> str:
    return f"{column}_FG"


def _histogram_micro(state: InstanceState, database: DatabaseIdentity) -> Iterator[Row]:
    for number, (name, waits) in enumerate(state.events.items()):
        for limit, count in sorted((int(limit), count) for limit, count in waits.histogram.items()):
            yield {
                "EVENT#": number,
                "EVENT": name,
                "WAIT_TIME_MICRO": limit,
                "WAIT_COUNT": count,
                "LAST_UPDATE_TIME": moment(state.taken_at).isoformat(sep=" "),
                "WAIT_TIME_FORMAT": _time_format(limit),
            }


def _time_format(microseconds: int) -> str:
    if microseconds < 1000:
        return f"{microseconds} microsecond{'' if microseconds == 1 else 's'}"
    if microseconds < 1_000_000:
        return f"{microseconds / 1000:.3f} milliseconds"
    return f"{microseconds / 1_000_000:.6f} seconds"


def _histogram_milli(state: InstanceState, database: DatabaseIdentity) -> Iterator[Row]:
    for number, (name, waits) in enumerate(state.events.items()):
        buckets: dict[int, int] = {}
        for limit, count in waits.histogram.items():
            # The first bucket has all waits below a millisecond; the others are powers of two.
            milli = 1
            while milli * 1000 < int(limit) and milli * 1024 < int(limit):
                milli *= 2
            buckets[milli] = buckets.get(milli, 0) + count
        for milli, count in sorted(buckets.items()):
            yield {
                "EVENT#": number,
                "EVENT": name,
                "WAIT_TIME_MILLI": milli,
                "WAIT_COUNT": count,
                "LAST_UPDATE_TIME": moment(state.taken_at).isoformat(sep=" "),
            }


def _messages(state: InstanceState, database: DatabaseIdentity) -> Iterator[Row]:
    for number, (name, value) in enumerate(state.messages.items()):
        yield {"STATISTIC#": number, "NAME": name, "VALUE": value}


def _parameters(state: InstanceState, database: DatabaseIdentity) -> Iterator[Row]:
    for number, (name, value) in enumerate(sorted(state.parameters.items())):
        kind = 1 if value in ("TRUE", "FALSE") else 3 if value.isdigit() else 2
        yield {"NUM": number, "NAME": name, "TYPE": kind, "VALUE": value, "DISPLAY_VALUE": value} | {
            "ISDEFAULT": "FALSE",
            "ISMODIFIED": "FALSE",
            "ISADJUSTED": "FALSE",
            "HASH": identifier(name),
        }


def _services(state: InstanceState, database: DatabaseIdentity) -> Iterator[Row]:
    for service, times in state.services.items():
        for name, value in times.items():
            yield {
                "SERVICE_NAME_HASH": identifier(service),
                "SERVICE_NAME": service,
                "STAT_ID": identifier(name),
                "STAT_NAME": name,
                "VALUE": value,
            }


def _clients(state: InstanceState, database: DatabaseIdentity) -> Iterator[Row]:
    for client, (sent, received) in state.clients.items():
        yield {"NAME": client, "BYTES_SENT": sent, "BYTES_RECEIVED": received}


def _load(state: InstanceState, database: DatabaseIdentity) -> Iterator[Row]:
    up = timedelta(seconds=state.taken_at - state.startup_time)
    yield {"STAT_NAME": "NUM_CPUS", "VALUE": 2, "OSSTAT_ID": 0, "CUMULATIVE": "NO"}
    yield {"STAT_NAME": "BUSY_TIME", "VALUE": up // timedelta(milliseconds=10), "OSSTAT_ID": 1, "CUMULATIVE": "YES"}


_VIEWS: dict[str, Callable[[InstanceState, DatabaseIdentity], Iterable[Row]]] = {
    "V$INSTANCE": _instance,
    "V$DATABASE": _database,
    "V$RESTORE_POINT": _restore_points,
    "V$RECOVERY_FILE_DEST": _recovery_area,
    "V$VERSION": _version,
    "V$ACTIVE_INSTANCES": _active,
    "V$CONTAINERS": _containers,
    "V$PDBS": _pluggable,
    "V$SESSION": _sessions,
    "V$SYSSTAT": _statistics,
    "V$STATNAME": _statistics,
    "V$SYSTEM_EVENT": _events,
    "V$EVENT_HISTOGRAM": _histogram_milli,
    "V$EVENT_HISTOGRAM_MICRO": _histogram_micro,
    "V$DLM_MISC": _messages,
    "V$INSTANCE_CACHE_TRANSFER": interconnect_views.transfers,
    "V$INSTANCE_PING": interconnect_views.pings,
    "V$CR_BLOCK_SERVER": interconnect_views.cr_server,
    "V$CURRENT_BLOCK_SERVER": interconnect_views.current_server,
    "V$CLUSTER_INTERCONNECTS": interconnect_views.interconnects,
    "V$CONFIGURED_INTERCONNECTS": interconnect_views.interconnects,
    "V$PARAMETER": _parameters,
    "V$SYSTEM_PARAMETER": _parameters,
    "V$SERVICE_STATS": _services,
    "V$DNFS_SERVERS": lambda state, _: storage_views.dnfs_servers(state),
    "V$ASM_CLIENT": lambda state, database: storage_views.asm_clients(state, database.unique_name),
    "V$OSSTAT": _load,
    IC_CLIENTS: _clients,
}
