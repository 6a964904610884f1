"""Read the history of a database from AWR or Statspack. The database sums it up, so a year arrives as a few rows.

AWR needs the Diagnostics Pack (Oracle's licensing manual: all DBA_HIST views but six, whichever way they are read).
racwire reads AWR only where the operator states that the pack is licensed (`diagnostics_pack`) and where
control_management_pack_access forbids it on no instance. The parameter does not prove a licence: it allows AWR by
default. Otherwise racwire reads Statspack, which is free, where PERFSTAT's tables exist, and no other view of AWR.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import msgspec

from checks.model.facts import Database, History, MissingRight, NotAsked, NotGathered, Unknown
from checks.sources.database.connection import Connection
from checks.sources.database.connections import Connections
from checks.sources.database.errors import DatabaseError, ErrorKind
from checks.sources.database.history_range import Row, SnapshotRange, awr_range, statspack_range, trend
from checks.sources.database.history_rows import (
    clients,
    devices,
    event_sums,
    instances,
    losses,
    named_sums,
    periods,
    pings,
    transfers,
)
from checks.sources.database.sampling import iso_time
from checks.sources.database.statements import statement
from checks.sources.progress import Progress

_T = TypeVar("_T")

_OVER = (ErrorKind.CANNOT_CONNECT, ErrorKind.LOGIN, ErrorKind.LOST)
"""Errors after which racwire sends no more statements."""

_BIND = re.compile(r":(\w+)")

_OPT_IN = "racwire check --awr"


async def read_history(databases: Connections, database: Database, progress: Progress) -> History | Unknown | NotAsked:
    """Read the last `history_days`, on a connection of its own. Never raises DatabaseError.

    NotAsked where the operator has not opted in and Statspack cannot be read; Unknown where the operator has opted in
    to AWR and it may not or could not be read. In a History, `transfers`, `pings`, `devices` and `clients` are each
    Unknown where they could not be read; messages and events are then empty.
    """
    return await _from_source(databases, database, progress, _read)


async def find_history(
    databases: Connections, database: Database, progress: Progress
) -> NotGathered | Unknown | NotAsked:
    """Return why `read_history` could read no history, after one statement; NotGathered where it could."""
    return await _from_source(databases, database, progress, _find)


_Reading = Callable[["_SourceReader", "_Source", Database, float], Awaitable[_T]]


async def _from_source(
    databases: Connections, database: Database, progress: Progress, read: _Reading[_T]
) -> _T | Unknown | NotAsked:
    """Return what `read` returns for AWR or else for Statspack, or why neither may or can be read."""
    settings = databases.settings
    opted_in = settings.diagnostics_pack
    unusable = _why_unusable(database)
    if unusable:
        right = _ROOT_LOGIN if database.in_pluggable else None
        return Unknown(unusable, right) if opted_in else NotAsked(unusable)
    forbidden = _forbidden(database) if opted_in else ""
    try:
        connection = await databases.get("history")
        source = _AWR if opted_in and not forbidden else _STATSPACK
        reader = _SourceReader(connection, settings.history_timeout_s, progress, source)
        try:
            return await read(reader, source, database, settings.history_days)
        except DatabaseError as error:
            if source is _AWR or error.kind is not ErrorKind.MISSING_GRANT:
                raise
    except DatabaseError as error:
        return error.unknown
    no_statspack = "Statspack cannot be read (PERFSTAT's tables do not exist, or are not granted)"
    if forbidden:
        return Unknown(f"{forbidden} The free alternative {no_statspack}.")
    return NotAsked(
        "No history was read: AWR needs the Diagnostics Pack, and --awr, which states that it is licensed, is not set; "
        f"{no_statspack}.",
        (_OPT_IN,),
    )


_ROOT_LOGIN = MissingRight(
    "log in to CDB$ROOT as a common user",
    ("racwire grants --user C##RACWIRE   # the script for that user, to run in CDB$ROOT",),
    "a DBA, AS SYSDBA, runs the script",
)


def _why_unusable(database: Database) -> str:
    """Why the AWR and Statspack of this database do not describe this interconnect; empty where they do."""
    if "STANDBY" in database.role.upper():
        return (
            f"{database.name} is a {database.role.lower()}: its snapshots are from its primary, and do not describe "
            "this cluster's interconnect. For the primary's history, connect to the primary."
        )
    if database.in_pluggable:
        return (
            f"{database.container} is a pluggable database: its snapshots have only a part of an instance's traffic "
            "over the interconnect. Connect to CDB$ROOT for the history."
        )
    return ""


def _forbidden(database: Database) -> str:
    """Why AWR may not be read although the operator has opted in; empty where it may be read."""
    name = "control_management_pack_access"
    if isinstance(database.parameters, Unknown):
        return f"AWR was not read: the value of {name} is not known ({database.parameters.reason})"
    for instance in database.instances:
        value = database.parameter(instance.number, name)
        if value is None:
            return f"AWR was not read: the value of {name} on {instance.name} is not known."
        if value.strip().upper() == "NONE":
            return (
                f"AWR was not read: {name} is NONE on {instance.name}, which forbids AWR. If the Diagnostics Pack is "
                f"licensed, set {name} to DIAGNOSTIC or DIAGNOSTIC+TUNING."
            )
    return ""


@dataclass(frozen=True)
class _Source:
    """A source of history, AWR or Statspack. Its statements are named `prefix_...`."""

    name: Literal["AWR", "Statspack"]
    prefix: str
    find_range: Callable[[Sequence[Row]], SnapshotRange | None]
    steps: int
    """How many statements are sent."""


_AWR = _Source("AWR", "awr", awr_range, steps=11)
_STATSPACK = _Source("Statspack", "statspack", statspack_range, steps=8)


class _SourceReader:
    """Send the statements of one source one after another, and report the progress."""

    def __init__(self, connection: Connection, timeout_s: float, progress: Progress, source: _Source) -> None:
        self._connection = connection
        self._timeout_s = timeout_s
        self._progress = progress
        self._source = source
        self._done = 0
        self._over: DatabaseError | None = None
        self.binds: dict[str, Any] = {}
        """The values of bind variables; each statement is sent those that it names."""

    async def rows(self, name: str, what: str) -> list[dict[str, Any]]:
        """The rows of a statement. Raises DatabaseError where it fails, or an earlier one lost the connection."""
        if self._over is not None:
            raise self._over
        query = statement(f"{self._source.prefix}_{name}")
        self._progress("history", f"{self._source.name}: {what}", self._done, self._source.steps)
        named = set(_BIND.findall(query.text))
        binds = {bind: value for bind, value in self.binds.items() if bind in named}
        try:
            found = await self._connection.rows(query, binds, timeout_s=self._timeout_s)
        except DatabaseError as error:
            if error.kind in _OVER:
                self._over = error
            raise
        finally:
            self._done += 1
            self._progress("history", f"{self._source.name}: {what}", self._done, self._source.steps)
        return list(found.dicts())

    async def part(self, name: str, what: str, make: Callable[[list[dict[str, Any]]], _T]) -> _T | Unknown:
        """`make` of the rows of a statement; Unknown where the statement failed, and reading continues."""
        try:
            return make(await self.rows(name, what))
        except DatabaseError as error:
            return error.unknown


async def _range(reader: _SourceReader, source: _Source, database: Database, days: float) -> SnapshotRange | Unknown:
    """Return the range of snapshots. Raises DatabaseError where it could not be read."""
    reader.binds |= {"dbid": database.dbid, "days": days}
    return source.find_range(await reader.rows("range", "available snapshots")) or Unknown(
        f"{source.name} has fewer than two snapshots of {database.name} (DBID {database.dbid}): check the interval "
        f"and the retention of {source.name}."
    )


async def _find(reader: _SourceReader, source: _Source, database: Database, days: float) -> NotGathered | Unknown:
    found = await _range(reader, source, database, days)
    return found if isinstance(found, Unknown) else NotGathered()


async def _read(reader: _SourceReader, source: _Source, database: Database, days: float) -> History | Unknown:
    """Read the whole history of a source. Raises DatabaseError where its range or block counts could not be read."""
    found = await _range(reader, source, database, days)
    if isinstance(found, Unknown):
        return found
    reader.binds |= found.binds
    covered = await reader.rows("instances", "time range of each instance")
    scale = trend(covered)
    if scale is None:
        return Unknown(
            f"{source.name} has no two snapshots of one run of an instance of {database.name} in the last {days:g} "
            "days: check its interval and retention, and restarts of the instances."
        )
    reader.binds |= {"origin": scale.origin, "part_s": scale.part_s}
    statistics = named_sums(await reader.rows("sysstat", "blocks"))
    over_time = periods(await reader.rows("periods", "blocks over time"), scale)
    lost = losses(await reader.rows("losses", "times of block loss"))
    messages = await reader.part("dlm_misc", "messages", named_sums)
    events = await reader.part("system_event", "waits", event_sums)
    history = History(
        source=source.name,
        dbid=database.dbid,
        first_snapshot=found.first,
        last_snapshot=found.last,
        begin=iso_time(scale.begin),
        end=iso_time(scale.end),
        instances=instances(
            covered,
            database,
            statistics,
            {} if isinstance(messages, Unknown) else messages,
            {} if isinstance(events, Unknown) else events,
        ),
        periods=over_time,
        losses=lost,
    )
    history = msgspec.structs.replace(history, pings=await reader.part("instance_ping", "pings", pings))
    if source is _STATSPACK:
        # STATS$INSTANCE_CACHE_TRANSFER has no LOST (spctab.sql): a 0 there would say that nothing was lost.
        return msgspec.structs.replace(
            history, transfers=Unknown("Statspack does not store which instance sent a lost block.")
        )
    return msgspec.structs.replace(
        history,
        transfers=await reader.part("cache_transfer", "blocks by sender and receiver", transfers),
        devices=await reader.part("devices", "NICs", devices),
        clients=await reader.part("clients", "traffic by client", clients),
    )
