# ruff: noqa: S608  (numbers and names of our own, put into SQL that only this process runs)
"""Fill the tables of AWR and Statspack from running totals (`counts.py`) by recipe (`recipes.py`)."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

from racwire_lab.history.history_plan import HistoryPlan
from racwire_lab.history.recipes import (
    CLIENTS,
    DEVICE,
    EVENTS,
    MESSAGES,
    PINGS,
    STATISTIC_IDS,
    STATISTICS,
    TRANSFERS,
    Recipe,
    expression,
)

if TYPE_CHECKING:
    import duckdb

T = TypeVar("T")

STATSPACK_CACHE = 10
"""Snapshot numbers of Statspack come from a sequence; each instance caches so many numbers at a time."""


class HistoryTables:
    """The tables of AWR and Statspack that a connection has, and their columns."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection
        self.columns: dict[str, dict[str, str]] = {}
        """The types of columns by table and column name, all in lower case."""
        found = connection.execute("SELECT lower(table_name), lower(column_name), data_type FROM duckdb_columns()")
        for table, column, type_ in found.fetchall():
            if table.startswith(("dba_hist_", "stats$")):
                self.columns.setdefault(table, {})[column] = type_

    def insert(self, table: str, columns: Mapping[str, str], rest: str) -> None:
        """Insert `SELECT columns rest`. `columns` is SQL by column name; columns that the table lacks are left out."""
        wanted = {name: sql for name, sql in columns.items() if name in self.columns.get(table, ())}
        if wanted:
            names = ", ".join(f'"{name}"' for name in wanted)
            self.connection.execute(f'INSERT INTO "{table}" ({names}) SELECT {", ".join(wanted.values())} {rest}')


def fill_tables(connection: duckdb.DuckDBPyConnection, plan: HistoryPlan) -> None:
    """Fill all tables. The tables of `make_counts` must exist."""
    tables = HistoryTables(connection)
    _snapshots(tables, plan)
    for prefix, keys in (("dba_hist_", _awr_keys(plan)), ("stats$", _statspack_keys(plan))):
        _named(tables, f"{prefix}sysstat", keys, STATISTICS)
        _named(tables, f"{prefix}dlm_misc", keys, MESSAGES)
        _events(tables, f"{prefix}system_event", keys)
        transfers = f"{prefix}{'inst' if prefix == 'dba_hist_' else 'instance'}_cache_transfer"
        for block_class, recipes in TRANSFERS.items():
            columns = {**keys, "instance": "c.other", "class": _text(block_class), **_expressions(recipes)}
            tables.insert(transfers, columns, _PAIRS)
        pings = {
            "target_instance": "c.other",
            **_expressions(ping_columns(PINGS)),
            "waitsq_500b": "0",
            "waitsq_8k": "0",
        }
        tables.insert(f"{prefix}interconnect_pings", {**keys, **pings}, _PAIRS)
    keys = _awr_keys(plan)
    for name, recipes in CLIENTS.items():
        tables.insert("dba_hist_ic_client_stats", {**keys, "name": _text(name), **_expressions(recipes)}, _ONES)
    _devices(tables, plan)
    for dbid in plan.foreign_dbids:
        _foreign(tables, plan.dbid, dbid)


def ping_columns(by_column: Mapping[str, T]) -> dict[str, T]:
    """Return the columns of AWR, and two of them a second time under Statspack's names."""
    return {**by_column, "iter_500b": by_column["cnt_500b"], "iter_8k": by_column["cnt_8k"]}


_ONES = "FROM h_one c JOIN h_here h USING (instance, k) WHERE h.taken"
_PAIRS = "FROM h_pair c JOIN h_here h USING (instance, k) WHERE h.taken"
_NODES = "FROM h_node c JOIN h_here h USING (instance, k) WHERE h.taken"


def _named(tables: HistoryTables, table: str, keys: Mapping[str, str], recipes: Mapping[str, Recipe]) -> None:
    for place, (name, recipe) in enumerate(recipes.items()):
        columns = {
            **keys,
            "name": _text(name),
            "stat_name": _text(name),
            "stat_id": str(STATISTIC_IDS.get(name, stand_in_id(name))),
            "statistic#": str(place),
            "value": expression(recipe),
        }
        tables.insert(table, columns, _ONES)


def _events(tables: HistoryTables, table: str, keys: Mapping[str, str]) -> None:
    for event in EVENTS:
        waits, time_us = expression(event.waits), expression(event.time_us)
        columns = {
            **keys,
            "event_name": _text(event.name),
            "event": _text(event.name),
            "event_id": str(stand_in_id(event.name)),
            "wait_class": _text(event.wait_class),
            "total_waits": waits,
            "total_timeouts": "0",
            "time_waited_micro": time_us,
            "total_waits_fg": waits,
            "total_timeouts_fg": "0",
            "time_waited_micro_fg": time_us,
        }
        tables.insert(table, columns, f"{_ONES} AND {waits} > 0")


def _expressions(recipes: Mapping[str, Recipe]) -> dict[str, str]:
    return {column: expression(recipe) for column, recipe in recipes.items()}


def _awr_keys(plan: HistoryPlan) -> dict[str, str]:
    return {
        "snap_id": "h.snap_id",
        "dbid": str(plan.dbid),
        "instance_number": "h.instance",
        "con_dbid": str(plan.dbid),
        "con_id": "0",
    }


def _statspack_keys(plan: HistoryPlan) -> dict[str, str]:
    place = f"list_position([{', '.join(str(number) for number in plan.numbers)}], h.instance) - 1"
    number = (
        f"(h.k // {STATSPACK_CACHE} * {len(plan.numbers)} + {place}) * {STATSPACK_CACHE} + h.k % {STATSPACK_CACHE} + 1"
    )
    return {"snap_id": number, "dbid": str(plan.dbid), "instance_number": "h.instance"}


def _started(plan: HistoryPlan) -> str:
    """Start of an instance's current run: in the middle of the interval, or long before the first snapshot."""
    return "s.planned - to_seconds(CASE WHEN h.started = 0 THEN 40 * 86400 ELSE s.seconds // 2 END)"


def _snapshots(tables: HistoryTables, plan: HistoryPlan) -> None:
    from_start = "FROM h_here h JOIN h_step s ON s.k = h.started"
    started = _started(plan)
    start = f"""CASE WHEN h.started = h.k AND h.k > 0 THEN {started}
                     ELSE COALESCE(LAG(h.end_time) OVER (PARTITION BY h.instance ORDER BY h.k), {started}) END"""
    tables.insert(
        "dba_hist_snapshot",
        {
            **_awr_keys(plan),
            "startup_time": started,
            "begin_interval_time": start,
            "end_interval_time": "h.end_time",
            "begin_interval_time_tz": start,
            "end_interval_time_tz": "h.end_time",
            "snap_level": "1",
            "error_count": "0",
            "snap_flag": "0",
        },
        f"{from_start} WHERE h.taken",
    )
    tables.insert(
        "stats$snapshot",
        {
            **_statspack_keys(plan),
            "snap_time": "date_trunc('second', h.end_time)",
            "startup_time": f"date_trunc('second', {started})",
            "session_id": "1",
            "snap_level": "5",
        },
        f"{from_start} WHERE h.taken",
    )
    names = ", ".join(f"({number}, {_text(name)}, {_text(host)})" for number, name, host in plan.instances)
    for table, keys in (
        ("dba_hist_database_instance", _awr_keys(plan)),
        ("stats$database_instance", _statspack_keys(plan)),
    ):
        is_awr = table.startswith("dba")
        tables.insert(
            table,
            {
                **keys,
                "startup_time": started if is_awr else f"date_trunc('second', {started})",
                "parallel": "'YES'",
                "version": "'19.0.0.0.0'",
                "db_name": _text(plan.db_name),
                "instance_name": "n.name",
                "host_name": "n.host",
                "last_ash_sample_id": "0",
                "platform_name": "'Linux x86 64-bit'",
            },
            f"{from_start} JOIN (VALUES {names}) n(instance, name, host)"
            " ON n.instance = h.instance WHERE h.k = h.started",
        )


def _devices(tables: HistoryTables, plan: HistoryPlan) -> None:
    changes = sorted(plan.mtu_changes, key=lambda change: change.snapshot, reverse=True)
    mtu = "".join(f"WHEN h.instance = {c.instance} AND h.k >= {c.snapshot} THEN {c.mtu} " for c in changes)
    for place, device in enumerate(plan.devices):
        network, _, first = device.first.rpartition(".")
        columns = {
            **_awr_keys(plan),
            "if_name": _text(device.name),
            "ip_addr": f"{_text(f'{network}.')} || ({first} + {device.step} * (h.instance - 1))",
            "net_mask": _text(device.netmask),
            "flags": "'UP BROADCAST RUNNING MULTICAST'",
            "mtu": f"CASE {mtu}ELSE {plan.mtu} END" if changes else str(plan.mtu),
            **_expressions(DEVICE),
        }
        if place == 0:
            columns["receive_dropped"] = "c.dropped"
        tables.insert("dba_hist_ic_device_stats", columns, _NODES)


_NOT_COUNTED = frozenset(
    ("snap_id", "dbid", "con_dbid", "con_id", "instance_number", "instance", "target_instance", "mtu", "stat_id")
)


def _foreign(tables: HistoryTables, own: int, dbid: int) -> None:
    """Copy all rows as another database's, with every count multiplied by three plus 7."""
    for table, columns in tables.columns.items():
        counts = [
            name for name, type_ in columns.items() if type_ in ("BIGINT", "HUGEINT") and name not in _NOT_COUNTED
        ]
        changed = ", ".join([f"{dbid} AS dbid", *(f'"{count}" * 3 + 7 AS "{count}"' for count in counts)])
        tables.connection.execute(
            f'INSERT INTO "{table}" SELECT * REPLACE ({changed}) FROM "{table}" WHERE dbid = {own}'
        )


def stand_in_id(name: str) -> int:
    """Return a number for a statistic or an event without a documented one, always the same for a name."""
    return zlib.crc32(name.encode())


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
