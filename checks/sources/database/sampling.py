"""Sample the counters of the instances: the statements of a sample, rows as counters, two samples in a row."""

from __future__ import annotations

import asyncio
import math
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from msgspec.structs import replace

from checks.model.facts import Activity, Database, QuietLosses, Unknown
from checks.model.journal import now
from checks.rules.cache_fusion import BLOCKS_LOST
from checks.sources.database.connection import Rows
from checks.sources.database.connections import Connections
from checks.sources.database.deltas import Counters, Key, Sample, Start, ViewReading, activity_between
from checks.sources.database.errors import DatabaseError
from checks.sources.database.instance_views import InstanceViews, is_fatal
from checks.sources.database.release_columns import statement_for
from checks.sources.database.statements import SqlStatement
from checks.sources.progress import Progress

Row = Mapping[str, Any]

_FLUSH_COLUMN = re.compile(r"flush(\d+|under|over)")
"""FLUSH1 to FLUSH10000; FLUSH0 from 12.2 on; FLUSHUNDER and FLUSHOVER from 23ai on."""


@dataclass(frozen=True)
class _Source:
    statements: tuple[str, ...]
    """The first that suits the version is sent."""
    counted: Callable[[Row], Iterator[tuple[Key, Any]]]


def _named(row: Row) -> Iterator[tuple[Key, Any]]:
    yield (row["name"],), row["value"]


def _waits(row: Row) -> Iterator[tuple[Key, Any]]:
    yield (row["event"], "waits"), row["total_waits"]
    yield (row["event"], "time_us"), row["time_waited_micro"]


def _bucket(row: Row) -> Iterator[tuple[Key, Any]]:
    if row["up_to_us"] is not None:
        yield (row["event"], int(row["up_to_us"])), row["wait_count"]


def _cr_flushes(row: Row) -> Iterator[tuple[Key, Any]]:
    yield ("flushes",), row["flushes"]


def _current_flushes(row: Row) -> Iterator[tuple[Key, Any]]:
    steps = [value for column, value in row.items() if _FLUSH_COLUMN.fullmatch(column) and value is not None]
    yield ("flushes",), sum(steps) if steps else None


def _by_other(column: str) -> Callable[[Row], Iterator[tuple[Key, Any]]]:
    """Counters about another instance, whose number is in the column."""

    def counted(row: Row) -> Iterator[tuple[Key, Any]]:
        for name, value in row.items():
            if name not in ("inst_id", column):
                yield (int(row[column]), name), value

    return counted


def _of_service(row: Row) -> Iterator[tuple[Key, Any]]:
    yield (row["service_name"], row["stat_name"]), row["value"]


def _of_client(row: Row) -> Iterator[tuple[Key, Any]]:
    yield (row["name"], "bytes_sent"), row["bytes_sent"]
    yield (row["name"], "bytes_received"), row["bytes_received"]


_SOURCES = {
    "sysstat": _Source(("sysstat",), _named),
    "system_event": _Source(("system_event",), _waits),
    "event_histogram": _Source(("event_histogram_micro", "event_histogram"), _bucket),
    "dlm_misc": _Source(("dlm_misc",), _named),
    "cr_block_server": _Source(("cr_block_server",), _cr_flushes),
    "current_block_server": _Source(("current_block_server",), _current_flushes),
    "cache_transfer": _Source(("cache_transfer",), _by_other("sender")),
    "service_stats": _Source(("service_stats",), _of_service),
    "ic_clients": _Source(("ic_clients",), _of_client),
    "instance_ping": _Source(("instance_ping",), _by_other("target")),
}
"""The statistics are first: the interval is measured from one answer with statistics to the next."""


async def take_sample(views: InstanceViews, version: str) -> Sample:
    """Read all counters once. A view that cannot be read has a ViewReading with the reason.

    Raises DatabaseError where the connection or the instance fails, or where the list of instances cannot be read.
    """
    queried_all = not views.only_here
    sample = await _read(views, version)
    if queried_all and views.only_here:
        # A GV$ view failed meanwhile: half a sample of all instances and half of one would not fit together.
        sample = await _read(views, version)
    return sample


async def _read(views: InstanceViews, version: str) -> Sample:
    instances = await views.rows(instances_statement(version))
    readings: dict[str, ViewReading] = {}
    clock_s, at = 0.0, ""
    for name, source in _SOURCES.items():
        query = statement_for(version, source.statements)
        readings[name] = await _reading(views, query, name)
        if not at:
            clock_s, at = time.monotonic(), now()
    starts = {int(r["inst_id"]): Start(r["instance_name"], iso_time(r["startup_time"])) for r in instances.dicts()}
    return Sample(at, clock_s, starts, readings, views.only_here)


async def _reading(views: InstanceViews, query: SqlStatement, name: str) -> ViewReading:
    (view,) = query.reads
    try:
        return ViewReading(view, counters_in(await views.rows(query), name))
    except DatabaseError as error:
        if is_fatal(error):
            raise
        return ViewReading(view, unread=error.unknown)


def counters_in(rows: Rows, name: str) -> Counters:
    """The counters in the rows of a statement, named without its version.

    Rows with the same counter are added up; values that the database leaves empty are left out.
    """
    counters: dict[int, dict[Key, int]] = {}
    for row in rows.dicts():
        own = counters.setdefault(int(row["inst_id"]), {})
        for key, value in _SOURCES[name].counted(row):
            if value is not None:
                own[key] = own.get(key, 0) + int(value)
    return counters


def instances_statement(version: str) -> SqlStatement:
    """The statement that lists the instances."""
    return statement_for(version, ("instances", "instances_before_18c"))


def iso_time(value: datetime | None) -> str:
    """A DATE as ISO 8601, without a zone, because the views do not have one; empty for None."""
    return "" if value is None else value.replace(tzinfo=None).isoformat(timespec="seconds")


async def read_activity(
    databases: Connections,
    database: Database,
    interval_s: float,
    progress: Progress,
    probing: Probing | None = None,
) -> Activity | Unknown:
    """Read two samples of the V$ views, which need no licence, and return their difference.

    Each statement queries all instances (GV$). Where GV$ does not answer, now or when the database was identified,
    racwire queries only the connected instance, and each other instance is an ActivityGap with the reason. The interval
    is measured with this node's monotonic clock, which no time synchronisation sets, from one answer of GV$SYSSTAT to
    the other. Unknown where the database fails. Where the run probes, the statistics are read once more when its probes
    end, and again where they go on before the end of the interval: what was lost otherwise may be their doing.
    """
    seconds = math.ceil(interval_s)
    progress("activity", "sampling the instances", 0, seconds)
    try:
        views = InstanceViews(await databases.get(), database.why_alone)
        before = await take_sample(views, database.version)
        end_s = before.clock_s + interval_s
        waiting = asyncio.create_task(_wait_until(end_s, seconds, progress))
        try:
            began = until = None
            if probing is not None and (is_quiet := await probing.quiet_begins(end_s, interval_s)) is not None:
                began = await _read_statistics(views, database.version) if is_quiet else _NEVER_QUIET
                if is_quiet and (until_s := probing.quiet_until_s) is not None and until_s < end_s:
                    await asyncio.sleep(max(0.0, until_s - time.monotonic()))
                    until = await _read_statistics(views, database.version)
            await waiting
        finally:
            waiting.cancel()
        after = await take_sample(views, database.version)
    except DatabaseError as error:
        return error.unknown
    ended = until or _Statistics(after.clock_s, after.readings["sysstat"])
    quiet = _lost_between(began, ended) if isinstance(began, _Statistics) else began
    return replace(activity_between(before, after, database), quiet=quiet)


class Probing(Protocol):
    """The part of a session that says when the run sends nothing."""

    quiet_until_s: float | None

    async def quiet_begins(self, end_s: float, interval_s: float) -> bool | None:
        """As `Session.quiet_begins`."""
        ...


@dataclass(frozen=True)
class _Statistics:
    clock_s: float
    reading: ViewReading


_NEVER_QUIET = Unknown("The probes of this run lasted until the end of the interval.")


async def _read_statistics(views: InstanceViews, version: str) -> _Statistics:
    reading = await _reading(views, statement_for(version, _SOURCES["sysstat"].statements), "sysstat")
    return _Statistics(time.monotonic(), reading)


def _lost_between(began: _Statistics, ended: _Statistics) -> QuietLosses | Unknown:
    if why := began.reading.unread or ended.reading.unread:
        return why
    lost = {}
    for number, later in ended.reading.counters.items():
        earlier, key = began.reading.counters.get(number, {}), (BLOCKS_LOST,)
        if key in earlier and later.get(key, -1) >= earlier[key]:
            lost[number] = later[key] - earlier[key]
    return QuietLosses(round(ended.clock_s - began.clock_s, 3), lost)


async def _wait_until(end_s: float, seconds: int, progress: Progress) -> None:
    """Wait, and report each elapsed second."""
    while (left_s := end_s - time.monotonic()) > 0:
        progress("activity", "sampling the instances", max(0, seconds - math.ceil(left_s)), seconds)
        await asyncio.sleep(left_s % 1 or 1)
    progress("activity", "sampling the instances", seconds, seconds)
