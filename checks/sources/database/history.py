"""What AWR or Statspack kept of a database's past, summed up by the database itself: a year comes as its result.

AWR needs the Diagnostics Pack (Oracle's licensing manual: all DBA_HIST views but six, whichever way they are read). It
is read only where the operator says that they have it (`diagnostics_pack`), and control_management_pack_access forbids
it on no instance: that parameter alone proves no licence, since it allows AWR by default. Otherwise Statspack is read,
which is free, where PERFSTAT's tables are there; no other view of AWR is touched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import msgspec

from checks.model.facts import Database, History, NotAsked, Unknown
from checks.sources.database.connection import Connection
from checks.sources.database.connections import Connections
from checks.sources.database.errors import DatabaseError, ErrorKind
from checks.sources.database.history_range import Row, SnapshotRange, awr_range, statspack_range, trend
from checks.sources.database.history_rows import (
    clients,
    devices,
    event_sums,
    instances,
    iso,
    losses,
    named_sums,
    periods,
    pings,
    transfers,
)
from checks.sources.database.statements import statement
from checks.sources.progress import Progress

_T = TypeVar("_T")

_OVER = (ErrorKind.CANNOT_CONNECT, ErrorKind.LOGIN, ErrorKind.LOST)
"""After such an error nothing more is asked."""

_BIND = re.compile(r":(\w+)")

_OPT_IN = "racwire check --awr"


async def read_history(databases: Connections, database: Database, progress: Progress) -> History | Unknown | NotAsked:
    """The past of the last `history_days`, on a connection of its own. Never raises DatabaseError.

    NotAsked where the operator has not opted in and there is no Statspack; Unknown where AWR was wanted and may not or
    could not be read. Of a history, what the interconnect's own views tell (transfers, pings, devices, clients) is
    Unknown by itself where it could not be read; messages and events are then left empty.
    """
    settings = databases.settings
    opted_in = settings.diagnostics_pack
    elsewhere = _told_elsewhere(database)
    if elsewhere:
        return Unknown(elsewhere) if opted_in else NotAsked(elsewhere)
    forbidden = _forbidden(database) if opted_in else ""
    try:
        connection = await databases.get("history")
        source = _AWR if opted_in and not forbidden else _STATSPACK
        asking = _Asking(connection, settings.history_timeout_s, progress, source)
        try:
            return await _read(asking, source, database, settings.history_days)
        except DatabaseError as error:
            if source is _AWR or error.kind is not ErrorKind.MISSING_GRANT:
                raise
    except DatabaseError as error:
        return Unknown(str(error), error.grants)
    no_statspack = "no Statspack can be read (PERFSTAT's tables are not there, or not granted)"
    if forbidden:
        return Unknown(f"{forbidden} Of the free alternative, {no_statspack}.")
    return NotAsked(
        "What happened before is known to AWR, which needs the Diagnostics Pack and was not opted in to; "
        f"{no_statspack}.",
        (_OPT_IN,),
    )


def _told_elsewhere(database: Database) -> str:
    """Why this database's AWR and Statspack tell of something else; empty where they do not."""
    if "STANDBY" in database.role.upper():
        return (
            f"{database.name} is a {database.role.lower()}: the snapshots in it are its primary's and say nothing of "
            "this cluster's interconnect. Connect to the primary for its own."
        )
    if database.in_pluggable:
        return (
            f"{database.container} is a pluggable database, whose snapshots tell less than the whole traffic of an "
            "instance over the interconnect: connect to CDB$ROOT for the history."
        )
    return ""


def _forbidden(database: Database) -> str:
    """Why AWR may not be read although the operator has opted in; empty where it may."""
    name = "control_management_pack_access"
    if isinstance(database.parameters, Unknown):
        return f"AWR was not read: whether {name} allows it is not known ({database.parameters.reason})"
    for instance in database.instances:
        value = database.parameter(instance.number, name)
        if value is None:
            return f"AWR was not read: whether {name} allows it on {instance.name} is not known."
        if value.strip().upper() == "NONE":
            return (
                f"AWR was not read: {name} is NONE on {instance.name}, which forbids it. With the Diagnostics Pack, "
                "set it to DIAGNOSTIC or DIAGNOSTIC+TUNING."
            )
    return ""


@dataclass(frozen=True)
class _Source:
    """Where a history comes from. Its statements are named `prefix_...`."""

    name: Literal["AWR", "Statspack"]
    prefix: str
    find_range: Callable[[Sequence[Row]], SnapshotRange | None]
    steps: int
    """How many statements are asked."""


_AWR = _Source("AWR", "awr", awr_range, steps=11)
_STATSPACK = _Source("Statspack", "statspack", statspack_range, steps=8)


class _Asking:
    """Asks the statements of one source, one after another, and tells how far it is."""

    def __init__(self, connection: Connection, timeout_s: float, progress: Progress, source: _Source) -> None:
        self._connection = connection
        self._timeout_s = timeout_s
        self._progress = progress
        self._source = source
        self._done = 0
        self._over: DatabaseError | None = None
        self.binds: dict[str, Any] = {}
        """What the statements may name; each is given what it does name."""

    async def rows(self, name: str, what: str) -> list[dict[str, Any]]:
        """The rows of a statement. Raises DatabaseError."""
        if self._over is not None:
            raise self._over
        asked = statement(f"{self._source.prefix}_{name}")
        self._progress("history", f"{self._source.name}: {what}", self._done, self._source.steps)
        named = set(_BIND.findall(asked.text))
        binds = {bind: value for bind, value in self.binds.items() if bind in named}
        try:
            found = await self._connection.rows(asked, binds, timeout_s=self._timeout_s)
        except DatabaseError as error:
            if error.kind in _OVER:
                self._over = error
            raise
        finally:
            self._done += 1
            self._progress("history", f"{self._source.name}: {what}", self._done, self._source.steps)
        return list(found.dicts())

    async def part(self, name: str, what: str, make: Callable[[list[dict[str, Any]]], _T]) -> _T | Unknown:
        """What is made of a statement's rows; Unknown where it failed: the rest goes on."""
        try:
            return make(await self.rows(name, what))
        except DatabaseError as error:
            return Unknown(str(error), error.grants)


async def _read(asking: _Asking, source: _Source, database: Database, days: float) -> History | Unknown:
    """Everything that a source has. Raises DatabaseError where what the rest stands on could not be read."""
    asking.binds |= {"dbid": database.dbid, "days": days}
    found = source.find_range(await asking.rows("range", "which snapshots there are"))
    if found is None:
        return Unknown(
            f"{source.name} holds no two snapshots of {database.name} (DBID {database.dbid}): look at how often it "
            "takes them, and how long it keeps them."
        )
    asking.binds |= found.binds
    covered = await asking.rows("instances", "what they cover")
    scale = trend(covered)
    if scale is None:
        return Unknown(
            f"{source.name} holds no two snapshots between which an instance of {database.name} was not restarted, "
            f"within {days:g} days."
        )
    asking.binds |= {"origin": scale.origin, "part_s": scale.part_s}
    statistics = named_sums(await asking.rows("sysstat", "blocks"))
    over_time = periods(await asking.rows("periods", "blocks over time"), scale)
    lost = losses(await asking.rows("losses", "when blocks were lost"))
    messages = await asking.part("dlm_misc", "messages", named_sums)
    events = await asking.part("system_event", "waits", event_sums)
    history = History(
        source=source.name,
        dbid=database.dbid,
        first_snapshot=found.first,
        last_snapshot=found.last,
        begin=iso(scale.begin),
        end=iso(scale.end),
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
    history = msgspec.structs.replace(history, pings=await asking.part("instance_ping", "pings", pings))
    if source is _STATSPACK:
        # STATS$INSTANCE_CACHE_TRANSFER has no LOST (spctab.sql): a 0 there would say that nothing was lost.
        return msgspec.structs.replace(
            history, transfers=Unknown("Statspack does not keep which instance a lost block was sent by.")
        )
    return msgspec.structs.replace(
        history,
        transfers=await asking.part("cache_transfer", "who had blocks from whom", transfers),
        devices=await asking.part("devices", "NICs", devices),
        clients=await asking.part("clients", "traffic by its user", clients),
    )
