# ruff: noqa: S608  (names of our own, put into SQL that only this process runs)
"""Two snapshots of each running instance after the generated ones: at its start, with zero counters, and at the current
time."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from racwire_lab.history.history_plan import HistoryPlan
from racwire_lab.history.recipes import STATISTIC_IDS
from racwire_lab.history.snapshot_tables import STATSPACK_CACHE, HistoryTables, ping_columns, stand_in_id

if TYPE_CHECKING:
    from collections.abc import Collection

    import duckdb

    from racwire_lab.database.live import InstanceState

_DEVICE_COLUMNS = (
    "if_name",
    "ip_addr",
    "net_mask",
    "mtu",
    "bytes_received",
    "packets_received",
    "receive_errors",
    "receive_dropped",
    "receive_buf_or",
    "receive_frame_err",
    "bytes_sent",
    "packets_sent",
    "send_errors",
    "sends_dropped",
    "send_buf_or",
    "send_carrier_lost",
)
_NOT_COUNTED = ("if_name", "ip_addr", "net_mask", "mtu")


def add_living(
    connection: duckdb.DuckDBPyConnection,
    plan: HistoryPlan,
    states: tuple[InstanceState, ...],
    tables: Collection[str],
) -> None:
    """Add the snapshots to these tables, which hold generated rows only.

    The second snapshot has the time of the state.
    """
    rows = _Rows(connection, tables)
    last = plan.first_snap_id + plan.snapshots - 1
    before = plan.planned_ends()[-1] + timedelta(milliseconds=plan.jitter_ms)
    # Above all snapshot numbers that the generated instances took from the sequence.
    spent = (plan.snapshots // STATSPACK_CACHE + 1) * len(plan.numbers) * STATSPACK_CACHE
    for state in sorted(states, key=lambda s: s.instance):
        # The generated history ends before the running instances start, whatever the clocks show.
        first = started = max(datetime.fromtimestamp(state.startup_time), before + timedelta(seconds=1))
        now = max(datetime.fromtimestamp(state.taken_at), first + timedelta(seconds=1))
        for step, (begin, end) in enumerate(((started, first), (first, now))):
            key = {"dbid": plan.dbid, "con_dbid": plan.dbid, "con_id": 0, "instance_number": state.instance}
            time = {
                "startup_time": started,
                "begin_interval_time": begin,
                "end_interval_time": end,
                "begin_interval_time_tz": begin,
                "end_interval_time_tz": end,
                "snap_time": end.replace(microsecond=0),
                "snap_level": 1,
                "error_count": 0,
                "snap_flag": 0,
                "session_id": 1,
            }
            _put(rows, "dba_hist_", {**key, "snap_id": last + 1 + step}, time, state, bool(step))
            key_statspack = {**key, "snap_id": spent + 1 + 2 * state.instance + step}
            seconds = {**time, "startup_time": started.replace(microsecond=0)}
            _put(rows, "stats$", key_statspack, seconds, state, bool(step))
    rows.insert()


def _put(
    rows: _Rows, prefix: str, key: dict[str, Any], time: dict[str, Any], state: InstanceState, counted: bool
) -> None:
    """Add one snapshot of one instance; with zero counters when `counted` is False."""

    def total(value: int) -> int:
        return value if counted else 0

    rows.add(f"{prefix}snapshot", {**key, **time})
    if not counted:
        named = {"instance_name": state.name, "host_name": state.host, "parallel": "YES", "version": state.version[:17]}
        rows.add(f"{prefix}database_instance", {**key, **named, "startup_time": time["startup_time"]})
    for table, values in (("sysstat", state.statistics), ("dlm_misc", state.messages)):
        for place, (name, value) in enumerate(sorted(values.items())):
            ids = {"stat_id": STATISTIC_IDS.get(name, stand_in_id(name)), "statistic#": place}
            rows.add(prefix + table, {**key, **ids, "stat_name": name, "name": name, "value": total(value)})
    for name, waits in state.events.items():
        if counted and waits.waits:
            event = {"event": name, "event_name": name, "event_id": stand_in_id(name), "wait_class": waits.wait_class}
            count = {"total_waits": waits.waits, "total_timeouts": 0, "time_waited_micro": waits.time_us}
            foreground = {f"{column}_fg": value for column, value in count.items()}
            rows.add(f"{prefix}system_event", {**key, **event, **count, **foreground})
    transfers = f"{prefix}{'inst' if prefix == 'dba_hist_' else 'instance'}_cache_transfer"
    for sender, transfer in state.transfers.items():
        zero = dict.fromkeys(
            (c for c in rows.tables.columns.get(transfers, ()) if c.startswith(("cr_", "current_"))), 0
        )
        values = {
            "lost": transfer.lost,
            "lost_time": transfer.lost_time,
            "cr_block": transfer.cr_block,
            "cr_block_time": transfer.cr_block_time,
            "current_block": transfer.current_block,
            "current_block_time": transfer.current_block_time,
        }
        values = {column: total(value) for column, value in values.items()}
        rows.add(transfers, {**key, "instance": int(sender), "class": "data block", **zero, **values})
    for target, ping in state.pings.items():
        values = {
            "cnt_500b": ping.count_500b,
            "wait_500b": ping.wait_time_500b,
            "cnt_8k": ping.count_8k,
            "wait_8k": ping.wait_time_8k,
        }
        values = {column: total(value) for column, value in values.items()}
        rows.add(f"{prefix}interconnect_pings", {**key, "target_instance": int(target), **ping_columns(values)})
    for client, (sent, received) in state.clients.items():
        values = {"bytes_sent": total(sent), "bytes_received": total(received)}
        rows.add(f"{prefix}ic_client_stats", {**key, "name": client, **values})
    for device in state.devices:
        values = {c: getattr(device, c) for c in _DEVICE_COLUMNS}
        if not counted:
            values = {c: value if c in _NOT_COUNTED else 0 for c, value in values.items()}
        rows.add(f"{prefix}ic_device_stats", {**key, **values})


class _Rows:
    """Rows by table. They are inserted at once, into the existing columns of the tables."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, tables: Collection[str]) -> None:
        self.tables = HistoryTables(connection)
        self._rows: dict[str, list[dict[str, Any]]] = {table: [] for table in tables}

    def add(self, table: str, row: dict[str, Any]) -> None:
        """Add a row for `insert` if its table is needed."""
        if table in self._rows:
            self._rows[table].append(row)

    def insert(self) -> None:
        """Insert the added rows."""
        for table, rows in self._rows.items():
            there = self.tables.columns.get(table, ())
            columns = [column for column in rows[0] if column in there] if rows else []
            if not columns:
                continue
            names = ", ".join(f'"{column}"' for column in columns)
            one = f"({', '.join('?' * len(columns))})"
            values = [row[column] for row in rows for column in columns]
            self.tables.connection.execute(
                f'INSERT INTO "{table}" ({names}) VALUES {", ".join([one] * len(rows))}', values
            )
