"""The instances of the database: their counters, asked over one connection, all instances with each statement."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from checks.database.connection import Connection
from checks.database.connections import Connections
from checks.database.errors import DatabaseError, ErrorKind
from checks.database.instance_views import InstanceViews, ends_everything
from checks.database.sampling import instances_statement
from checks.database.statements import statement
from checks.facts import BlockTransfer, Database, InstancePing
from checks.settings import TrafficSettings
from checks.traffic.instance_counts import Answer, PairCounts, growth, named_counts, pair_counts, pairs_between
from checks.traffic.pace import Backoff, Pace
from checks.traffic.samples import Event, Gap, InstanceSample, PairsSample

PURPOSE = "traffic"
"""The connection's own: what the checks ask meanwhile is not held up by it, nor it by them."""

_AGAIN_S = 60.0
"""When GV$, given up because an instance hangs, is tried again; how often the list of instances is read anew, and a
view that may not be read asked for."""

_PASSES_BY = (1035, 2391, 28001)
"""Logins refused by no fault of the password: restricted session, too many sessions, a password that has expired."""

Tell = Callable[[Event], None]


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
    minute. One that refuses the login is not: each attempt with a wrong password brings the account nearer to being
    locked. Then this ends.
    """
    names, backoff = Names(database), Backoff()
    why_alone = database.why_alone
    while True:
        try:
            connection = await databases.get(PURPOSE)
            sampler = InstanceSampler(connection, names, settings, tell, why_alone)
            why_alone = ""
            await sampler.sample(pace, backoff.succeeded)
        except DatabaseError as error:
            refused = error.kind is ErrorKind.LOGIN and error.code not in _PASSES_BY
            ending = (
                " racwire does not try again, so that the account is not locked: start it anew once that is mended."
            )
            _tell_gap(f"{error}{ending}" if refused else str(error), names, tell)
            await databases.forget(PURPOSE)
            if refused:
                return
        await asyncio.sleep(backoff.next_s())


def _tell_gap(reason: str, names: Names, tell: Tell) -> None:
    """Of the database, and so of all that is known of it."""
    at = time.time()
    for source in ("database", *(f"instance {named.name}" for named in names.by_number.values()), "pairs"):
        tell(Gap(source, at, reason))


class InstanceSampler:
    """One connection's samples. DatabaseError ends them: whoever goes on does so with a new one."""

    def __init__(
        self, connection: Connection, names: Names, settings: TrafficSettings, tell: Tell, why_alone: str = ""
    ) -> None:
        self._connection = connection
        self._names = names
        self._timeout_s = settings.database_timeout_s
        self._tell = tell
        self._views = InstanceViews(connection, why_alone, timeout_s=self._timeout_s)
        self._all_asked_s = time.monotonic()
        self._listed_s = time.monotonic()
        self._before: Answer | None = None
        self._messages_refused_s = float("-inf")
        self.pairs = PairsSampler(settings.pairs_interval_s, tell)

    async def sample(self, pace: Pace, succeeded: Callable[[], None]) -> None:
        """Samples without end. Raises DatabaseError where nothing more can be asked."""
        await self.take()
        async for _ in pace.ticks():
            await self.take()
            succeeded()
            if self.pairs.is_due(pace.interval_s):
                await self.pairs.take(self._views)

    async def take(self) -> None:
        """Ask once, and tell what was counted since the last time. Raises DatabaseError."""
        self._try_all_again()
        answer = await self._ask()
        unknown = answer.statistics.keys() - self._names.by_number.keys()
        if unknown or time.monotonic() - self._listed_s >= _AGAIN_S:
            self._names.take((await self._views.rows(instances_statement(self._names.version))).dicts())
            self._listed_s = time.monotonic()
        before, self._before = self._before, answer
        for number in sorted(self._names.by_number.keys() | answer.statistics.keys()):
            event = self._event(number, before, answer)
            if event is not None:
                self._tell(event)

    def _try_all_again(self) -> None:
        """Where only the connected instance is asked: after a while, all of them again."""
        now_s = time.monotonic()
        if self._views.only_here and now_s - self._all_asked_s >= _AGAIN_S:
            self._views = InstanceViews(self._connection, timeout_s=self._timeout_s)
        if not self._views.only_here:
            self._all_asked_s = now_s

    async def _ask(self) -> Answer:
        statistics = named_counts((await self._views.rows(statement("sysstat"))).dicts())
        clock_s = time.monotonic()
        unread: tuple[str, ...] = ("GV$DLM_MISC",)
        messages = {}
        if time.monotonic() - self._messages_refused_s >= _AGAIN_S:
            try:
                messages = named_counts((await self._views.rows(statement("dlm_misc"))).dicts())
                unread = ()
            except DatabaseError as error:
                if ends_everything(error):
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
                f"{named.name} could not be asked: {alone}"
                if alone
                else f"{named.name} did not answer GV$SYSSTAT: it is down, or hangs."
            )
            return Gap(source, at, reason)
        if before is None or number not in before.statistics:
            return None
        grown = growth(before, after, number)
        if grown is None:
            return Gap(source, at, f"{named.name} was restarted, or its counters began anew: what it counts fell.")
        return InstanceSample(
            instance=named.name,
            number=number,
            host=named.host,
            at=at,
            seconds=after.clock_s - before.clock_s,
            statistics=grown.statistics,
            messages=grown.messages,
            left_out=grown.left_out,
        )


class PairsSampler:
    """What the instances count of each other, at a slower pace: bigger queries, and few changes."""

    def __init__(self, interval_s: float, tell: Tell) -> None:
        self._interval_s = interval_s
        self._tell = tell
        self._before: tuple[float, dict[str, PairCounts]] | None = None
        self._asked_s = float("-inf")

    def is_due(self, tick_s: float) -> bool:
        """Whether they are asked at this tick: the one nearest to their own interval."""
        return time.monotonic() - self._asked_s >= self._interval_s - tick_s / 2

    async def take(self, views: InstanceViews) -> None:
        """Ask once, and tell what was counted since the last time. Raises DatabaseError where nothing more can be
        asked."""
        self._asked_s = time.monotonic()
        counts: dict[str, PairCounts] = {}
        unread: dict[str, str] = {}
        for name, other in (("cache_transfer", "sender"), ("instance_ping", "target")):
            asked = statement(name)
            try:
                counts[name] = pair_counts((await views.rows(asked)).dicts(), other)
            except DatabaseError as error:
                if ends_everything(error):
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
                    transfers=pairs_between(
                        earlier.get("cache_transfer", {}), counts.get("cache_transfer", {}), BlockTransfer
                    ),
                    pings=pairs_between(
                        earlier.get("instance_ping", {}), counts.get("instance_ping", {}), InstancePing
                    ),
                    unread=unread,
                )
            )
