"""Samples the counters of the database instances over one connection. Each statement queries all instances."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace

from checks.model.facts import Database, Unknown
from checks.model.settings import TrafficSettings
from checks.rules.cache_fusion import lost, user_counter
from checks.rules.lost_blocks import counts_falsely
from checks.rules.sampling_pace import SampledRound
from checks.sources.database.connection import Connection
from checks.sources.database.connections import Connections
from checks.sources.database.deltas import Counters, Key, difference, reset_statistic, shortage
from checks.sources.database.errors import DatabaseError, ErrorKind
from checks.sources.database.instance_views import InstanceViews, has_own_rows_only, is_fatal
from checks.sources.database.sampling import counters_in, instances_statement
from checks.sources.database.statements import statement
from checks.sources.registry import INVENTORY_S
from checks.traffic.all_instances import NOT_AGAIN, AllInstances, is_refused
from checks.traffic.instances_pacer import InstancesPacer
from checks.traffic.listed_instances import Named, Names, UpInstances
from checks.traffic.pace import Backoff
from checks.traffic.pairs_sampler import PAIR_STATEMENTS, PairsSampler
from checks.traffic.samples import Event, Gap, GapCause, InstanceSample
from checks.traffic.source_id import DATABASE, PAIRS

PURPOSE = "traffic"
"""The name of the sampler's own connection: the sampler and the checks do not delay each other."""

_CONNECTED, _STATISTICS, _MESSAGES = "connected", "sysstat", "dlm_misc"
_USERS = "ic_clients"
_DLM_MISC = "GV$DLM_MISC"

Emit = Callable[[Event], None]
Explain = Callable[[Unknown, int | None], Awaitable[Unknown]]
"""Returns the failure of a login with that ORA- code, with further facts about the cause."""


@dataclass(frozen=True)
class Answer:
    """The counters of all instances that answered, at one moment."""

    clock_s: float
    """When the instances read their statistics, by the monotonic clock: the middle of the statement."""
    statistics: Counters
    messages: Counters = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    """The views that were not read although GV$SYSSTAT was."""


async def sample_instances(
    database: Database,
    databases: Connections,
    settings: TrafficSettings,
    pacer: InstancesPacer,
    emit: Emit,
    explain: Explain,
) -> None:
    """Emit a sample of each instance at each tick, and samples of their pairs at a slower interval, until cancelled.
    Each sample decides when the next one is due.

    A database that is lost or does not answer is a gap. racwire tries it again after 2 s, then after growing waits of
    up to a minute. Where an instance hangs, racwire samples only the connected one, and a second connection checks
    whether all instances answer again. After a refused login racwire does not try again, since each attempt with a
    wrong password brings the account nearer to being locked: then this function returns. `explain` adds to the failure
    of a login what the checks add to it.
    """
    names, backoff = Names(database), Backoff()
    culprit: int | None = None
    """The instance that hung when only one instance was queried for that reason."""
    everyone = AllInstances(databases, (_STATISTICS, _MESSAGES, *PAIR_STATEMENTS), settings.database_timeout_s)
    why_alone = database.why_alone
    explained: dict[str, str] = {}
    is_again = False
    pacer.expect(len(names.by_number))
    try:
        while True:
            sampler = None
            try:
                connection = await databases.get(PURPOSE)
                sampler = InstanceSampler(
                    connection, names, settings, emit, everyone, why_alone, culprit, is_again=is_again
                )
                is_again = True
                await sampler.sample(pacer, backoff.succeeded)
            except DatabaseError as error:
                hung = sampler.here if sampler and error.kind is ErrorKind.TIMED_OUT else None
                failure = str(error)
                if failure not in explained:  # a listener is queried once for each failure
                    explained = {failure: (await explain(Unknown(failure), error.code)).reason}
                _emit_gaps(error, explained[failure], hung, names, emit)
                await databases.forget(PURPOSE)
                if is_refused(error):
                    return
                # The next connection does not wait for GV$ again, where the last one stopped querying it.
                if hung is not None:
                    why_alone, culprit = _why_hung(hung, names), hung
                elif sampler:
                    why_alone, culprit = sampler.only_here, sampler.culprit
            await asyncio.sleep(backoff.next_s())
    finally:
        await everyone.end()


def _why_hung(hung: int, names: Names) -> str:
    """Return the reason why only one instance is queried, once the hanging instance is known."""
    name = names.of(hung).name
    return f"{name} did not answer in time, not even a query about itself only, and GV$ waits for every instance."


def _emit_gaps(error: DatabaseError, reason: str, hung: int | None, names: Names, emit: Emit) -> None:
    """Emit gaps for the database, its known instances and their pairs. `hung`: the connected instance, if it hangs."""
    at = time.time()
    if is_refused(error):
        reason += " " + NOT_AGAIN
    others = reason
    if hung is not None:
        name = names.of(hung).name
        reason = f"{name}, to which racwire was connected, did not answer in time: it hangs, or is overloaded."
        reason += " racwire connects again."
        others = f"racwire was connected to {name}, which did not answer in time. racwire connects again."
    emit(Gap(DATABASE, at, reason))
    for number in sorted(names.by_number):
        is_cause = number == hung
        emit(Gap(names.source(number), at, reason if is_cause else others, None if is_cause else names.source(hung)))
    emit(Gap(PAIRS, at, reason))


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
        culprit: int | None = None,
        *,
        is_again: bool = False,
    ) -> None:
        """`is_again`: whether an earlier connection was lost."""
        self._connection = connection
        self._culprit = culprit
        self._is_again = is_again
        self._names = names
        self._timeout_s = settings.database_timeout_s
        self._emit = emit
        self._everyone = everyone
        self._views = InstanceViews(connection, why_alone, timeout_s=self._timeout_s)
        self.here: int | None = None
        """The number of the connected instance, once it is known."""
        self._listed_s = time.monotonic()
        self._up = UpInstances()
        self._before: Answer | None = None
        self._messages = MessagesTurn()
        self._has_users = True
        self.pairs = PairsSampler(emit)

    @property
    def only_here(self) -> str:
        """The reason why only the connected instance is queried; empty while all instances are."""
        return self._views.only_here

    @property
    def culprit(self) -> int | None:
        """The number of the instance that hangs, where that is why only one is queried; None where it is not known."""
        return self._culprit if self.only_here else None

    async def sample(self, pacer: InstancesPacer, succeeded: Callable[[], None]) -> None:
        """Emit samples without end. Raises DatabaseError where the connection answers no more queries."""
        (row,) = (await self._views.rows(statement(_CONNECTED))).dicts()
        self.here = int(row["instance_number"])
        if self.here != self._names.database.connected_instance and self._other_had_own_rows_only():
            self._views, self._culprit = InstanceViews(self._connection, timeout_s=self._timeout_s), None
        await self.take()  # the first statements of a session take longer: the pace does not depend on them
        async for _ in pacer.ticks():
            self._views.slowest_s = 0.0
            found = await self.take(pacer.pairs_interval_s)
            succeeded()
            if self.pairs.is_due(pacer.pairs_interval_s, pacer.interval_s):
                await self.pairs.take(self._views, self._names_and_statistics())
            pacer.take(replace(found, statement_s=self._views.slowest_s, is_alone=bool(self._views.only_here)))

    async def take(self, messages_every_s: float = 0.0) -> SampledRound:
        """Query once, and emit the counts since the last query; those of messages at least `messages_every_s` seconds
        apart. Raises DatabaseError where no more queries work."""
        if self._views.only_here and self._everyone.answer():
            self._views, self._culprit = InstanceViews(self._connection, timeout_s=self._timeout_s), None
        answer = await self._query(messages_every_s)
        if self._views.only_here:
            self.here = next(iter(answer.statistics), self.here)  # a new connection can be to another one
        before, self._before = self._before, answer
        if self._must_list(before, answer):
            await self._list()
        if not self._views.only_here:
            await self._up.read(self._views, self._names.by_number.keys() - answer.statistics.keys())
        lost_blocks = 0
        for number in sorted(self._names.by_number.keys() | answer.statistics.keys()):
            event = self._event(number, before, answer)
            if event is not None:
                self._emit(event)
            if isinstance(event, InstanceSample) and not counts_falsely(self._names.database, number):
                lost_blocks += lost(event.statistics) or 0
        stopped = before.statistics.keys() - answer.statistics.keys() if before and not self._views.only_here else ()
        return SampledRound(len(answer.statistics), self._views.slowest_s, lost_blocks, bool(stopped))

    def _must_list(self, before: Answer | None, answer: Answer) -> bool:
        """Whether the names and start times are to be read: where an instance is unknown or came back, where the
        counters of one fell, after a lost connection, and while one lacks its node from time to time."""
        if answer.statistics.keys() - self._names.by_number.keys():
            return True
        if before is None:
            return self._is_again
        if answer.statistics.keys() - before.statistics.keys() or _fallen(before, answer):
            return not self._views.only_here
        is_late = time.monotonic() - self._listed_s >= INVENTORY_S
        return is_late and not self._names.are_complete(answer.statistics)

    async def _list(self) -> None:
        """Read the names of the instances. A slow answer here must not stop the queries for their counters."""
        views = InstanceViews(self._connection, self._views.only_here, timeout_s=self._timeout_s)
        self._names.take((await views.rows(instances_statement(self._names.version))).dicts())
        self._listed_s = time.monotonic()

    async def _query(self, messages_every_s: float) -> Answer:
        statistics = counters_in(await self._views.rows(statement(_STATISTICS)), _STATISTICS)
        clock_s = self._views.answered_s
        unread: tuple[str, ...] = (_DLM_MISC,)
        messages: Counters = {}
        if self._messages.is_due(messages_every_s):
            try:
                messages = counters_in(await self._views.rows(statement(_MESSAGES)), _MESSAGES)
                messages = await self._with_users(messages)
                unread = ()
                self._messages.taken()
            except DatabaseError as error:
                if is_fatal(error):
                    raise
                self._messages.refused()
        return Answer(clock_s, statistics, messages, unread)

    async def _with_users(self, messages: Counters) -> Counters:
        """Return the messages with the bytes of each user of the interconnect; unchanged where the optional view is not
        there. Raises DatabaseError where no more queries work."""
        if not self._has_users:
            return messages
        try:
            users = counters_in(await self._views.rows(statement(_USERS)), _USERS)
        except DatabaseError as error:
            if is_fatal(error):
                raise
            self._has_users = False
            return messages
        named = {
            number: {(user_counter(user, column),): value for (user, column), value in counters.items()}
            for number, counters in users.items()
        }
        return {number: {**counters, **named.get(number, {})} for number, counters in messages.items()}

    def _event(self, number: int, before: Answer | None, after: Answer) -> InstanceSample | Gap | None:
        """The event for an instance at this tick; None for the first answer of an instance that was not restarted."""
        named, source, at = self._names.of(number), self._names.source(number), time.time()
        if number not in after.statistics:
            if alone := self._views.only_here:
                reason = f"{named.name} could not be queried: {alone} {self._everyone.when}"
                return Gap(source, at, reason, None if number == self.culprit else self._names.source(self.culprit))
            reason, cause = self._up.why_missing(number, named.name)
            return Gap(source, at, reason, cause=cause)
        if since := self._names.restart(number):
            reason = f"It has another STARTUP_TIME: {since.replace('T', ' ')}."
            return Gap(source, at, reason, cause=GapCause.RESTARTED)
        if before is None or number not in before.statistics:
            return None
        if reset_statistic(before.statistics[number], after.statistics[number]):
            return Gap(source, at, f"{named.name} was restarted, or its counters were reset: they fell.")
        return instance_sample(named, number, before, after, at)

    def _other_had_own_rows_only(self) -> bool:
        """Whether only one instance was queried because of a parameter of the instance to which racwire was connected
        then."""
        database = self._names.database
        is_from_then = self._views.only_here == database.why_alone
        return is_from_then and has_own_rows_only(database.parameters, database.connected_instance)

    def _names_and_statistics(self) -> dict[int, tuple[str, Mapping[Key, int]]]:
        statistics = self._before.statistics if self._before else {}
        return {number: (self._names.of(number).name, counters) for number, counters in statistics.items()}


def _fallen(before: Answer, after: Answer) -> bool:
    """Whether the counters of an instance fell: it was restarted, or they were reset."""
    both = before.statistics.keys() & after.statistics.keys()
    return any(reset_statistic(before.statistics[number], after.statistics[number]) for number in both)


class MessagesTurn:
    """Decides which samples have the counters of messages: pairs of neighbouring ones, so that each count covers the
    same time as the other counts of its sample."""

    def __init__(self) -> None:
        self._is_open = False
        """Whether the previous sample read the counters, and the next one must read them too."""
        self._last_s = float("-inf")
        self._refused_s = float("-inf")

    def is_due(self, every_s: float) -> bool:
        """Whether to read the counters now, for a count of messages every `every_s` seconds."""
        now_s = time.monotonic()
        if now_s - self._refused_s < INVENTORY_S:
            return False
        return self._is_open or every_s <= 0 or now_s - self._last_s >= every_s

    def taken(self) -> None:
        """Note that the counters were read."""
        self._is_open, self._last_s = not self._is_open, time.monotonic()

    def refused(self) -> None:
        """Note that racwire may not read the view."""
        self._is_open, self._refused_s = False, time.monotonic()


def instance_sample(named: Named, number: int, before: Answer, after: Answer, at: float) -> InstanceSample:
    """Return the sample of an instance between two answers; the instance must be in both."""
    statistics = difference(before.statistics[number], after.statistics[number], absent_is_zero=False)
    messages = difference(before.messages.get(number, {}), after.messages.get(number, {}), absent_is_zero=False)
    received = after.statistics[number]
    lacks_messages = shortage(named.name, _DLM_MISC, number, before.messages, after.messages, received)
    unread = dict.fromkeys((*before.unread, *after.unread, *([_DLM_MISC] if lacks_messages else ())))
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
