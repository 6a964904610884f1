"""Build the facts of a history from the rows of the statements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from checks.model.facts import (
    BlockTransfer,
    ClientTraffic,
    Database,
    DeviceHistory,
    HistoryPeriod,
    InstanceHistory,
    InstancePing,
    LossHistory,
)
from checks.sources.database.history_range import Row, Trend
from checks.sources.database.sampling import iso_time

_Counts = TypeVar("_Counts", BlockTransfer, ClientTraffic, HistoryPeriod, InstancePing, LossHistory)


def named_sums(rows: Iterable[Row]) -> dict[int, dict[str, int]]:
    """Sums by instance and name, for SYSSTAT and DLM_MISC."""
    found: dict[int, dict[str, int]] = {}
    for row in rows:
        found.setdefault(int(row["instance_number"]), {})[row["name"]] = int(row["difference"])
    return found


def event_sums(rows: Iterable[Row]) -> dict[int, dict[str, tuple[int, int]]]:
    """(waits, microseconds) by instance and event."""
    found: dict[int, dict[str, tuple[int, int]]] = {}
    for row in rows:
        found.setdefault(int(row["instance_number"]), {})[row["event"]] = int(row["waits"]), int(row["time_us"])
    return found


def instances(
    rows: Iterable[Row],
    database: Database,
    statistics: Mapping[int, dict[str, int]],
    messages: Mapping[int, dict[str, int]],
    events: Mapping[int, dict[str, tuple[int, int]]],
) -> tuple[InstanceHistory, ...]:
    """Each instance over the whole range. Its name comes from the snapshots, else from the database's current list."""
    found = []
    for row in rows:
        number = int(row["instance_number"])
        now = database.instance(number)
        found.append(
            InstanceHistory(
                instance=number,
                name=row["instance_name"] or database.instance_name(number),
                host=(row["host_name"] or (now.host if now else "")).split(".")[0],
                seconds=float(row["seconds"]),
                intervals=int(row["intervals"]),
                restarts=int(row["restarts"]),
                missing_snapshots=int(row["missing_snapshots"]),
                statistics=statistics.get(number, {}),
                messages=messages.get(number, {}),
                events=events.get(number, {}),
            )
        )
    return tuple(found)


def periods(rows: Iterable[Row], scale: Trend) -> tuple[HistoryPeriod, ...]:
    """The parts of the trend, in the order of the rows: by instance and time."""
    found = []
    for row in rows:
        begin, end = map(iso_time, scale.part(int(row["part"])))
        found.append(_counted(HistoryPeriod, row, begin=begin, end=end, seconds=float(row["seconds"])))
    return tuple(found)


def losses(rows: Iterable[Row]) -> tuple[LossHistory, ...]:
    """The times at which each instance lost blocks."""
    moments = ("first_begin", "first_end", "last_end", "since_begin", "worst_begin", "worst_end")
    return tuple(_counted(LossHistory, row, **{name: iso_time(row[name]) for name in moments}) for row in rows)


def transfers(rows: Iterable[Row]) -> tuple[BlockTransfer, ...]:
    """Blocks by receiver and sender."""
    return tuple(_counted(BlockTransfer, row, receiver=int(row["instance_number"])) for row in rows)


def pings(rows: Iterable[Row]) -> tuple[InstancePing, ...]:
    """Pings by instance and target."""
    return tuple(_counted(InstancePing, row) for row in rows)


def clients(rows: Iterable[Row]) -> tuple[ClientTraffic, ...]:
    """Traffic by instance and client."""
    return tuple(_counted(ClientTraffic, row, client=row["name"]) for row in rows)


def _counted(kind: type[_Counts], row: Row, **own: Any) -> _Counts:
    """A fact whose other fields are whole numbers in columns of the same names."""
    numbered = {**row, "instance": row["instance_number"]}
    counts: dict[str, Any] = {name: int(numbered[name]) for name in kind.__struct_fields__ if name not in own}
    return kind(**own, **counts)


_COUNTERS = {
    "receive_errors": "receive_errors",
    "receive_dropped": "receive_dropped",
    "receive_overruns": "receive_buf_or",
    "receive_frame_errors": "receive_frame_err",
    "send_errors": "send_errors",
    "sends_dropped": "sends_dropped",
    "send_overruns": "send_buf_or",
    "send_carrier_lost": "send_carrier_lost",
    "packets_received": "packets_received",
    "packets_sent": "packets_sent",
}
"""Fields of DeviceHistory, and the view's column of each."""


def devices(rows: Iterable[Row]) -> tuple[DeviceHistory, ...]:
    """The NICs of the interconnect, from rows with one MTU each: a NIC has a row for each MTU that it had."""
    by_device: dict[tuple[int, str, str], list[Row]] = {}
    for row in rows:
        key = int(row["instance_number"]), row["if_name"], row["ip_addr"] or ""
        by_device.setdefault(key, []).append(row)
    return tuple(_device(*key, had) for key, had in sorted(by_device.items()))


def _device(instance: int, name: str, ip: str, had: Sequence[Row]) -> DeviceHistory:
    latest_first = sorted(had, key=lambda row: row["last_seen"], reverse=True)
    known = [int(row["mtu"]) for row in latest_first if row["mtu"] is not None]
    return DeviceHistory(
        instance=instance,
        name=name,
        ip=ip,
        mtu=known[0] if known else 0,
        last_seen=iso_time(latest_first[0]["last_seen"]),
        earlier_mtus=tuple(known[1:]),
        **{field: sum(int(row[column]) for row in had) for field, column in _COUNTERS.items()},
    )
