"""Samples the counters of the database instances over one connection. Each statement queries all instances."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from checks.model.facts import BlockTransfer, Database, InstancePing
from checks.model.settings import TrafficSettings
from checks.sources.database.connection import Connection
from checks.sources.database.connections import Connections
from checks.sources.database.deltas import Counters, Pair, difference, pairs_of, reset_statistic
from checks.sources.database.errors import DatabaseError, ErrorKind
from checks.sources.database.instance_views import InstanceViews, is_fatal
from checks.sources.database.sampling import counters_in, instances_statement
from checks.sources.database.statements import statement
from checks.sources.registry import INVENTORY_S
from checks.traffic.all_instances import NOT_AGAIN, AllInstances, is_refused
from checks.traffic.pace import Backoff, Pace
from checks.traffic.samples import Event, Gap, InstanceSample, PairsSample

PURPOSE = "traffic"
"""The name of the sampler's own connection: the sampler and the checks do not delay each other."""

_CONNECTED, _STATISTICS, _MESSAGES = "connected", "sysstat", "dlm_misc"
_TRANSFERS, _PINGS = _PAIRS = ("cache_transfer", "instance_ping")
"""The statements about pairs of instances."""

Emit = Callable[[Event], None]


@dataclass(frozen=True)
class Answer:
    """The counters of all instances that answered, at one moment."""

    clock_s: float
    """When the statistics arrived, by the monotonic clock."""
    statistics: Counters
    messages: Counters = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    """The views that could not be read although GV$SYSSTAT could."""


@dataclass
class Named:
    """The name and the node of an instance."""

    name: str
    host: str


class Names:
    """The known instances by number. They stay known when a connection is lost."""

    def __init__(self, database: Database) -> None:
        self.version = database.version
        self.by_number = {i.number: Named(i.name, i.host) for i in database.instances}
        for unasked in database.unasked:
            self.by_number.setdefault(unasked.number, Named(unasked.name, ""))

    def take(self, rows: Iterable[dict[str, object]]) -> None:
        """Add rows of GV$INSTANCE."""
        for row in rows:
            host = str(row["host_name"] or "").partition(".")[0]
            self.by_number[int(str(row["inst_id"]))] = Named(str(row["instance_name"]), host)

    def of(self, number: int) -> Named:
        """Return the instance with this number. An unknown instance gets the name `instance NUMBER`."""
        return self.by_number.setdefault(number, Named(f"instance {number}", ""))


async def sample_instances(
    database: Database, databases: Connections, settings: TrafficSettings, pace: Pace, emit: Emit
) -> None:
    """Emit a sample of each instance at each tick, and samples of their pairs at a slower interval, until cancelled.

    A database that is lost or does not answer is a gap. racwire tries it again after 2 s, then after growing waits of
    up to a minute. Where an instance hangs, racwire samples only the connected one, and a second connection checks
    whether all instances answer again. After a refused login racwire does not try again, since each attempt with a
    wrong password brings the account nearer to being locked: then this function returns.
    """
    names, backoff = Names(database), Backoff()
    everyone = AllInstances(databases, (_STATISTICS, _MESSAGES, *_PAIRS), settings.database_timeout_s)
    why_alone = database.why_alone
    try:
        while True:
            sampler = None
            try:
                connection = await databases.get(PURPOSE)
                sampler = InstanceSampler(connection, names, settings, emit, everyone, why_alone)
                await sampler.sample(pace, backoff.succeeded)
            except DatabaseError as error:
                hung = sampler.here if sampler and error.kind is ErrorKind.TIMED_OUT else None
                _emit_gaps(error, hung, names, emit)
                await databases.forget(PURPOSE)
                if is_refused(error):
                    return
                # The next connection does not wait for GV$ again, where the last one stopped querying it.
                why_alone = _why_hung(hung, names) or (sampler.only_here if sampler else why_alone)
            await asyncio.sleep(backoff.next_s())
    finally:
        await everyone.end()


def _why_hung(hung: int | None, names: Names) -> str:
    """The reason why only one instance is queried, once the hanging instance is known; empty where it is not known."""
    if hung is None:
        return ""
    name = names.of(hung).name
    return f"{name} did not answer in time, not even a query about itself only, and GV$ waits for every instance."


def _emit_gaps(error: DatabaseError, hung: int | None, names: Names, emit: Emit) -> None:
    """Emit gaps for the database, its known instances and their pairs. `hung`: the connected instance, if it hangs."""
    at, reason = time.time(), str(error)
    if is_refused(error):
        reason += " " + NOT_AGAIN
    others = reason
    if hung is not None:
        name = names.of(hung).name
        reason = f"{name}, to which racwire was connected, did not answer in time: it hangs, or is overloaded."
        reason += " racwire connects again."
        others = f"racwire was connected to {name}, which did not answer in time. racwire connects again."
    emit(Gap("database", at, reason))
    for number, named in sorted(names.by_number.items()):
        emit(Gap(f"instance {named.name}", at, reason if number == hung else others))
    emit(Gap("pairs", at, reason))


class InstanceSampler:
    """Samples over one connection. After a DatabaseError the caller needs a new sampler with a new connection."""

    def __init__(
        self,
        connection: Connection,
        names: Names,
        settings: TrafficSettings,
        emit: Emit,
        everyone: AllInstances,
        why_alone: str = "",
    ) -> None:
        self._connection = connection
        self._names = names
        self._timeout_s = settings.database_timeout_s
        self._emit = emit
        self._everyone = everyone
        self._views = InstanceViews(connection, why_alone, timeout_s=self._timeout_s)
        self.here: int | None = None
        """The number of the connected instance, once it is known."""
        self._listed_s = time.monotonic()
        self._before: Answer | None = None
        self._messages_refused_s = float("-inf")
        self.pairs = PairsSampler(settings.pairs_interval_s, emit)

    @property
    def only_here(self) -> str:
        """The reason why only the connected instance is queried; empty while all instances are."""
        return self._views.only_here

    async def sample(self, pace: Pace, succeeded: Callable[[], None]) -> None:
        """Emit samples without end. Raises DatabaseError where the connection answers no more queries."""
        (row,) = (await self._views.rows(statement(_CONNECTED))).dicts()
        self.here = int(row["instance_number"])
        await self.take()
        async for _ in pace.ticks():
            await self.take()
            succeeded()
            if self.pairs.is_due(pace.interval_s):
                await self.pairs.take(self._views)

    async def take(self) -> None:
        """Query once, and emit the counts since the last query. Raises DatabaseError where no more queries work."""
        if self._views.only_here and self._everyone.answer():
            self._views = InstanceViews(self._connection, timeout_s=self._timeout_s)
        answer = await self._query()
        if self._views.only_here:
            self.here = next(iter(answer.statistics), self.here)  # a new connection can be to another one
        unknown = answer.statistics.keys() - self._names.by_number.keys()
        if unknown or time.monotonic() - self._listed_s >= INVENTORY_S:
            await self._list()
        before, self._before = self._before, answer
        for number in sorted(self._names.by_number.keys() | answer.statistics.keys()):
            event = self._event(number, before, answer)
            if event is not None:
                self._emit(event)

    async def _list(self) -> None:
        """Read the names of the instances. A slow answer here must not stop the queries for their counters."""
        views = InstanceViews(self._connection, self._views.only_here, timeout_s=self._timeout_s)
        self._names.take((await views.rows(instances_statement(self._names.version))).dicts())
        self._listed_s = time.monotonic()

    async def _query(self) -> Answer:
        statistics = counters_in(await self._views.rows(statement(_STATISTICS)), _STATISTICS)
        clock_s = time.monotonic()
        unread: tuple[str, ...] = ("GV$DLM_MISC",)
        messages: Counters = {}
        if time.monotonic() - self._messages_refused_s >= INVENTORY_S:
            try:
                messages = counters_in(await self._views.rows(statement(_MESSAGES)), _MESSAGES)
                unread = ()
            except DatabaseError as error:
                if is_fatal(error):
                    raise
                self._messages_refused_s = time.monotonic()
        return Answer(clock_s, statistics, messages, unread)

    def _event(self, number: int, before: Answer | None, after: Answer) -> InstanceSample | Gap | None:
        """The event for an instance at this tick; None for the first answer of the instance."""
        named, at = self._names.of(number), time.time()
        source = f"instance {named.name}"
        if number not in after.statistics:
            alone = self._views.only_here
            reason = (
                f"{named.name} could not be queried: {alone} {self._everyone.when}"
                if alone
                else f"{named.name} did not answer GV$SYSSTAT: it is down, or hangs."
            )
            return Gap(source, at, reason)
        if before is None or number not in before.statistics:
            return None
        if reset_statistic(before.statistics[number], after.statistics[number]):
            return Gap(source, at, f"{named.name} was restarted, or its counters were reset: they fell.")
        return instance_sample(named, number, before, after, at)


def instance_sample(named: Named, number: int, before: Answer, after: Answer, at: float) -> InstanceSample:
    """Return the sample of an instance between two answers; the instance must be in both."""
    statistics = difference(before.statistics[number], after.statistics[number], absent_is_zero=False)
    messages = difference(before.messages.get(number, {}), after.messages.get(number, {}), absent_is_zero=False)
    unread = dict.fromkeys((*before.unread, *after.unread))
    return InstanceSample(
        instance=named.name,
        number=number,
        host=named.host,
        at=at,
        seconds=after.clock_s - before.clock_s,
        statistics={name: value for (name,), value in statistics.grown.items()},
        messages={} if unread else {name: value for (name,), value in messages.grown.items()},
        left_out=(
            *(name for (name,) in statistics.fallen),
            *(name for (name,) in messages.fallen if not unread),
            *unread,
        ),
    )


class PairsSampler:
    """Samples of pairs of instances, at a slower interval: these queries are bigger, and their results change less."""

    def __init__(self, interval_s: float, emit: Emit) -> None:
        self._interval_s = interval_s
        self._emit = emit
        self._before: tuple[float, dict[str, Counters]] | None = None
        self._queried_s = float("-inf")

    def is_due(self, tick_s: float) -> bool:
        """Whether the pairs are queried at this tick, the nearest one to their own interval."""
        return time.monotonic() - self._queried_s >= self._interval_s - tick_s / 2

    async def take(self, views: InstanceViews) -> None:
        """Query once, and emit the counts since the last query. Raises DatabaseError where no more queries work."""
        self._queried_s = time.monotonic()
        counts: dict[str, Counters] = {}
        unread: dict[str, str] = {}
        for name in _PAIRS:
            query = statement(name)
            try:
                counts[name] = counters_in(await views.rows(query), name)
            except DatabaseError as error:
                if is_fatal(error):
                    raise
                unread[query.reads[0]] = str(error)
        clock_s, at = time.monotonic(), time.time()
        before, self._before = self._before, (clock_s, counts)
        if not counts:
            self._emit(Gap("pairs", at, " ".join(dict.fromkeys(unread.values()))))
        elif before is not None:
            then_s, earlier = before
            self._emit(
                PairsSample(
                    at=at,
                    seconds=clock_s - then_s,
                    transfers=pairs_between(earlier, counts, _TRANSFERS, BlockTransfer),
                    pings=pairs_between(earlier, counts, _PINGS, InstancePing),
                    unread=unread,
                )
            )


def pairs_between(
    before: Mapping[str, Counters], after: Mapping[str, Counters], name: str, kind: type[Pair]
) -> tuple[Pair, ...]:
    """Return the counts of each pair between two answers to the statement `name`. A pair that is only in the second
    answer started at 0 if its counting instance is in both: the view lists only pairs with counts."""
    earlier, counts = before.get(name, {}), after.get(name, {})
    return tuple(
        pair
        for number in sorted(earlier.keys() & counts.keys())
        for pair in pairs_of(kind, number, difference(earlier[number], counts[number], absent_is_zero=True).grown)
    )
