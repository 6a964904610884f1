"""The instances of the database: their counters, asked over one connection, all instances with each statement."""

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
"""The connection's own: what the checks ask meanwhile is not held up by it, nor it by them."""

_CONNECTED, _STATISTICS, _MESSAGES = "connected", "sysstat", "dlm_misc"
_TRANSFERS, _PINGS = _PAIRS = ("cache_transfer", "instance_ping")
"""The statements on pairs."""

Tell = Callable[[Event], None]


@dataclass(frozen=True)
class Answer:
    """All counters of the instances that answered, at one moment."""

    clock_s: float
    """When the statistics came, by a clock that only ever goes forward."""
    statistics: Counters
    messages: Counters = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    """The views that could not be read, though GV$SYSSTAT could."""


@dataclass
class Named:
    """An instance's name and node."""

    name: str
    host: str


class Names:
    """The instances that are known, by number; they outlive a connection."""

    def __init__(self, database: Database) -> None:
        self.version = database.version
        self.by_number = {i.number: Named(i.name, i.host) for i in database.instances}
        for unasked in database.unasked:
            self.by_number.setdefault(unasked.number, Named(unasked.name, ""))

    def take(self, rows: Iterable[dict[str, object]]) -> None:
        """Take over rows of GV$INSTANCE."""
        for row in rows:
            host = str(row["host_name"] or "").partition(".")[0]
            self.by_number[int(str(row["inst_id"]))] = Named(str(row["instance_name"]), host)

    def of(self, number: int) -> Named:
        """The instance of that number, under a name made of it where no other is known."""
        return self.by_number.setdefault(number, Named(f"instance {number}", ""))


async def sample_instances(
    database: Database, databases: Connections, settings: TrafficSettings, pace: Pace, tell: Tell
) -> None:
    """Tell a sample of each instance at each tick, and of their pairs at their own pace, until cancelled.

    A database that is lost or does not answer is told as a gap, and tried again after 2 s, then ever later, up to a
    minute; where an instance hangs, the connected one goes on, and whether all answer again is asked beside it. A
    database that refuses the login is not tried again: each attempt with a wrong password brings the account nearer
    to being locked. Then this ends.
    """
    names, backoff = Names(database), Backoff()
    everyone = AllInstances(databases, (_STATISTICS, _MESSAGES, *_PAIRS), settings.database_timeout_s)
    why_alone = database.why_alone
    try:
        while True:
            sampler = None
            try:
                connection = await databases.get(PURPOSE)
                sampler = InstanceSampler(connection, names, settings, tell, everyone, why_alone)
                await sampler.sample(pace, backoff.succeeded)
            except DatabaseError as error:
                hung = sampler.here if sampler and error.kind is ErrorKind.TIMED_OUT else None
                _tell_lost(error, hung, names, tell)
                await databases.forget(PURPOSE)
                if is_refused(error):
                    return
                # GV$ that was given up is not waited for once more by the next connection.
                why_alone = _why_hung(hung, names) or (sampler.only_here if sampler else why_alone)
            await asyncio.sleep(backoff.next_s())
    finally:
        await everyone.end()


def _why_hung(hung: int | None, names: Names) -> str:
    """Why not all are asked, once it is known which instance hangs; empty where it is not."""
    if hung is None:
        return ""
    return f"{names.of(hung).name} did not answer in time, not even for itself alone, and GV$ waits for every instance."


def _tell_lost(error: DatabaseError, hung: int | None, names: Names, tell: Tell) -> None:
    """Gaps of the database, and so of all that is known of it; `hung` was connected to, and did not answer."""
    at, reason = time.time(), str(error)
    if is_refused(error):
        reason += " " + NOT_AGAIN
    others = reason
    if hung is not None:
        name = names.of(hung).name
        reason = f"{name}, to which racwire was connected, did not answer in time: it hangs, or is overloaded."
        reason += " racwire connects anew."
        others = f"racwire was connected to {name}, which did not answer in time. It connects anew."
    tell(Gap("database", at, reason))
    for number, named in sorted(names.by_number.items()):
        tell(Gap(f"instance {named.name}", at, reason if number == hung else others))
    tell(Gap("pairs", at, reason))


class InstanceSampler:
    """One connection's samples. DatabaseError ends them: whoever goes on does so with a new one."""

    def __init__(
        self,
        connection: Connection,
        names: Names,
        settings: TrafficSettings,
        tell: Tell,
        everyone: AllInstances,
        why_alone: str = "",
    ) -> None:
        self._connection = connection
        self._names = names
        self._timeout_s = settings.database_timeout_s
        self._tell = tell
        self._everyone = everyone
        self._views = InstanceViews(connection, why_alone, timeout_s=self._timeout_s)
        self.here: int | None = None
        """The number of the instance that is connected to, once it is known."""
        self._listed_s = time.monotonic()
        self._before: Answer | None = None
        self._messages_refused_s = float("-inf")
        self.pairs = PairsSampler(settings.pairs_interval_s, tell)

    @property
    def only_here(self) -> str:
        """Why only the connected instance is asked; empty while all are."""
        return self._views.only_here

    async def sample(self, pace: Pace, succeeded: Callable[[], None]) -> None:
        """Samples without end. Raises DatabaseError where nothing more can be asked."""
        (row,) = (await self._views.rows(statement(_CONNECTED))).dicts()
        self.here = int(row["instance_number"])
        await self.take()
        async for _ in pace.ticks():
            await self.take()
            succeeded()
            if self.pairs.is_due(pace.interval_s):
                await self.pairs.take(self._views)

    async def take(self) -> None:
        """Ask once, and tell what was counted since the last time. Raises DatabaseError."""
        if self._views.only_here and self._everyone.answer():
            self._views = InstanceViews(self._connection, timeout_s=self._timeout_s)
        answer = await self._ask()
        if self._views.only_here:
            self.here = next(iter(answer.statistics), self.here)  # a connection made anew can be to another one
        unknown = answer.statistics.keys() - self._names.by_number.keys()
        if unknown or time.monotonic() - self._listed_s >= INVENTORY_S:
            await self._list()
        before, self._before = self._before, answer
        for number in sorted(self._names.by_number.keys() | answer.statistics.keys()):
            event = self._event(number, before, answer)
            if event is not None:
                self._tell(event)

    async def _list(self) -> None:
        """Read who the instances are. That all are slow to tell that is no reason to give up what they count."""
        views = InstanceViews(self._connection, self._views.only_here, timeout_s=self._timeout_s)
        self._names.take((await views.rows(instances_statement(self._names.version))).dicts())
        self._listed_s = time.monotonic()

    async def _ask(self) -> Answer:
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
        """What is told of an instance now; None where this was the first that was heard of it."""
        named, at = self._names.of(number), time.time()
        source = f"instance {named.name}"
        if number not in after.statistics:
            alone = self._views.only_here
            reason = (
                f"{named.name} could not be asked: {alone} {self._everyone.when}"
                if alone
                else f"{named.name} did not answer GV$SYSSTAT: it is down, or hangs."
            )
            return Gap(source, at, reason)
        if before is None or number not in before.statistics:
            return None
        if reset_statistic(before.statistics[number], after.statistics[number]):
            return Gap(source, at, f"{named.name} was restarted, or its counters began anew: what it counts fell.")
        return instance_sample(named, number, before, after, at)


def instance_sample(named: Named, number: int, before: Answer, after: Answer, at: float) -> InstanceSample:
    """What an instance that is in both answers counted between them."""
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
    """What the instances count of each other, at a slower pace: bigger queries, and few changes."""

    def __init__(self, interval_s: float, tell: Tell) -> None:
        self._interval_s = interval_s
        self._tell = tell
        self._before: tuple[float, dict[str, Counters]] | None = None
        self._asked_s = float("-inf")

    def is_due(self, tick_s: float) -> bool:
        """Whether they are asked at this tick: the one nearest to their own interval."""
        return time.monotonic() - self._asked_s >= self._interval_s - tick_s / 2

    async def take(self, views: InstanceViews) -> None:
        """Ask once, and tell what was counted since the last time. Raises DatabaseError where nothing more can be
        asked."""
        self._asked_s = time.monotonic()
        counts: dict[str, Counters] = {}
        unread: dict[str, str] = {}
        for name in _PAIRS:
            asked = statement(name)
            try:
                counts[name] = counters_in(await views.rows(asked), name)
            except DatabaseError as error:
                if is_fatal(error):
                    raise
                unread[asked.reads[0]] = str(error)
        clock_s, at = time.monotonic(), time.time()
        before, self._before = self._before, (clock_s, counts)
        if not counts:
            self._tell(Gap("pairs", at, " ".join(dict.fromkeys(unread.values()))))
        elif before is not None:
            then_s, earlier = before
            self._tell(
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
    """What each pair counted in the view of that statement. A pair that is in the second answer only began at 0 where
    the instance that counts is in both: its view lists what has happened."""
    earlier, counts = before.get(name, {}), after.get(name, {})
    return tuple(
        pair
        for number in sorted(earlier.keys() & counts.keys())
        for pair in pairs_of(kind, number, difference(earlier[number], counts[number], absent_is_zero=True).grown)
    )
