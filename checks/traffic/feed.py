"""Takes samples of every source at a common interval, and yields them as they arrive.

The feed reads this node from /proc and netlink, each peer through one open ssh stream, and the instances through one
connection and GV$. A source that hangs or fails yields a `Gap` with the reason and is tried again after growing waits;
the other sources continue.

A feed that shares its samples follows another racwire of the same user that samples the same, and where there is none
samples for all of them. A feed that samples never follows again.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from types import TracebackType
from typing import Self

from msgspec.structs import replace

from checks.model.broken_dependency import error_text
from checks.model.facts import Cluster, Database, NotAsked, NotGathered, Unknown, UnreadNode
from checks.model.journal import Journal
from checks.model.settings import Settings
from checks.run.gathering import why_no_database
from checks.sources.database.secret import Secret
from checks.sources.nodes.session import Session
from checks.traffic.instances import sample_instances
from checks.traffic.instances_pacer import InstancesPacer
from checks.traffic.links import LinkBook
from checks.traffic.one_sampler import BEAT_S, Followed, Left, Publisher, Sampler, SamplerCount, socket_names
from checks.traffic.pace import Backoff, Pace, phase_of
from checks.traffic.peer_stream import sample_peer
from checks.traffic.samples import FeedEvent, Gap, InstanceSample, InstancesPace, Links
from checks.traffic.source_id import ALL_PINGS, BY_RACWIRE, DATABASE, SourceId, SourceKind
from checks.traffic.this_node import sample_this_node, watch_links

log = logging.getLogger(__name__)

_JOURNAL_ENTRIES = 50
"""Entries of the journal: sampling runs for hours, so the journal holds only the newest reads and queries."""
_WAITING_EVENTS = 20_000
"""Most events that wait for the reader of `events()`: some minutes of a big cluster. The oldest ones are dropped, since
a reader that takes none has stopped."""
_LACKS_S = 15.0
"""Seconds for which a followed racwire may lack a source: it may still be looking for the cluster."""
_TRIES, _RETRY_S = 10, 0.05
"""Attempts with one name, and the wait between two: another racwire can be taking it, or giving it up."""
_THIS_NODE, _ITS_INTERFACES = "this node", "this node's interfaces"

Source = Callable[[], Awaitable[None]]


class Feed:
    """An endless stream of samples. Iterate `events()`, and always `close()` the feed; closing takes under a second."""

    def __init__(
        self, settings: Settings, *, password: Secret | None = None, share: Callable[[int], None] | None = None
    ) -> None:
        """`share`: share the samples with other racwires of this user on this node. It is called with the number of the
        process that takes them, and with 0 where this one does. Without it the feed samples whatever others do."""
        self._settings = settings
        self._session = Session(settings, Journal(keep=_JOURNAL_ENTRIES), password=password)
        phase_s = phase_of(self._session.local_node, os.getpid())
        self._pace = Pace(settings.traffic.interval_s, phase_s=phase_s)
        count = SamplerCount(is_listed=share is not None)
        self._pacer = InstancesPacer(settings.traffic, self._emit, phase_s=phase_s, samplers=count)
        self._book = LinkBook(self._emit)
        self._waiting: deque[FeedEvent] = deque(maxlen=_WAITING_EVENTS)
        self._arrived = asyncio.Event()
        self._lasting: dict[SourceId | str, FeedEvent] = {}
        """What holds until another event: the gap of a source, the interfaces of a node, the pace of the instances."""
        self._sources: dict[SourceId | str, Source] = {
            _THIS_NODE: lambda: sample_this_node(self._name, self._pace, self._emit),
            _ITS_INTERFACES: lambda: watch_links(self._name, self._book),
        }
        """What is sampled. This node, whose name is not known at first, has names of its own."""
        self._tasks: dict[SourceId | str, asyncio.Task[None]] = {}
        self._share = share
        self._sharing: asyncio.Task[None] | None = None
        self._is_sampling = share is None
        self._publisher: Publisher | None = None
        self._cluster: Cluster | None = None
        self._lacks_since = time.time()
        """When the feed was made, or stopped to follow a racwire: a sample that started earlier is not whole."""
        self._has_followed = False
        self._is_running = False
        self._is_closed = False

    @property
    def interval_s(self) -> float:
        """Seconds between two samples of a node; of instances, as many or more. A new value takes effect at once."""
        return self._pace.interval_s

    @interval_s.setter
    def interval_s(self, seconds: float) -> None:
        is_other = seconds != self._pace.interval_s
        self._pace.interval_s = seconds
        self._pacer.change_base(seconds)
        if is_other and self._sharing is not None:  # those who follow want the interval that was
            self._sharing.cancel()
            self._begin_to_share()

    def follow(self, cluster: Cluster) -> None:
        """Sample the known nodes, pending ones too, and the known instances of the database. Call it again when more
        are known: running sources continue undisturbed. Before the first call the feed samples only this node."""
        if cluster.local_node != self._name():
            self._book.rename(self._name(), cluster.local_node)
            self._session.local_node = cluster.local_node
        self._cluster = cluster
        if self._is_sampling:
            self._book.follow(cluster)
        self._add_sources(cluster)

    def _add_sources(self, cluster: Cluster) -> None:
        for node in () if isinstance(cluster.nodes, Unknown) else cluster.nodes:
            if node.name != self._name():
                source = SourceId.node(node.name)
                if isinstance(node, UnreadNode) and not node.is_pending and source not in self._sources:
                    self._emit_own(Gap(source, time.time(), node.reason))
                self._add(source, self._peer(node.name))
        database = cluster.database
        if isinstance(database, Database):
            self._add(DATABASE, self._instances(database))
        elif DATABASE not in self._sources and self._wants(database):
            self._emit_own(Gap(DATABASE, time.time(), database.reason))

    def probe(self, cluster: Cluster) -> None:
        """Send pings at a fixed rate on every private path from this node, and emit them as `LatencySample`s."""
        from checks.traffic.latency import latency_paths, run_latency  # needed only by feeds that probe

        paths, settings = latency_paths(cluster), self._settings
        per_second = settings.traffic.probes_per_second
        self._add(
            ALL_PINGS,
            lambda: run_latency(paths, per_second, lambda: self.interval_s, self._emit, probe=settings.probe),
        )

    async def events(self) -> AsyncGenerator[FeedEvent, None]:
        """Yield samples, gaps, links and paces until the feed is closed. Sampling starts with the first iteration."""
        self._is_running = not self._is_closed
        for name in self._sources:
            self._start(name)
        if self._share is not None and self._is_running:
            self._begin_to_share()
        while not self._is_closed or self._waiting:
            while self._waiting:
                yield self._waiting.popleft()
            self._arrived.clear()
            if not self._is_closed:
                await self._arrived.wait()

    async def close(self) -> None:
        """Close every connection, without waiting for a source that hangs."""
        self._is_closed, self._is_running = True, False
        self._arrived.set()
        tasks, self._tasks = list(self._tasks.values()), {}
        if self._sharing is not None:
            tasks.append(self._sharing)
        for task in tasks:
            task.cancel()
        await asyncio.gather(self._session.close(), *tasks, return_exceptions=True)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _name(self) -> str:
        return self._session.local_node

    def _wants(self, database: Unknown | NotAsked) -> bool:
        """Whether a missing database is a gap: not where none was requested, and not before racwire has tried."""
        return self._settings.database.is_set and not isinstance(database, NotAsked | NotGathered)

    def _peer(self, node: str) -> Source:
        async def sample() -> None:
            # A peer of which another racwire had samples is no gap while the login takes its time.
            silence_s = self._settings.ssh.connect_timeout_s if self._has_followed else 0.0
            await sample_peer(node, self._session, self._book, self._pace, self._emit, silence_s)

        return sample

    def _instances(self, database: Database) -> Source:
        async def explain(failure: Unknown, code: int | None) -> Unknown:
            return await why_no_database(self._session, failure, code)

        return lambda: sample_instances(
            database, self._session.databases, self._settings.traffic, self._pacer, self._emit, explain
        )

    def _add(self, name: SourceId, source: Source) -> None:
        """Add a source; a source of the same name that runs already continues unchanged."""
        if name not in self._sources and not self._is_closed:
            self._sources[name] = source
            if self._is_running:
                self._start(name)

    def _start(self, name: SourceId | str) -> None:
        if not self._is_closed and name not in self._tasks and (self._is_sampling or name == ALL_PINGS):
            self._tasks[name] = asyncio.create_task(self._keep_up(name, self._sources[name]), name=f"racwire {name}")

    async def _keep_up(self, name: SourceId | str, source: Source) -> None:
        """Run a source. After an error in racwire itself, emit a gap and start the source again."""
        backoff = Backoff()
        while True:
            try:
                await source()
                return
            except Exception as error:
                log.exception("the source %s of the live feed broke down", name)
                reason = f"Sampling failed and starts again: {error_text(error)}."
                self._emit(Gap(self._source(name), time.time(), reason))
            await asyncio.sleep(backoff.next_s())

    def _source(self, name: SourceId | str) -> SourceId:
        return name if isinstance(name, SourceId) else SourceId.node(self._name())

    def _emit_own(self, gap: Gap) -> None:
        """Queue a gap, unless another racwire samples: its gaps come instead."""
        if self._is_sampling:
            self._emit(gap)

    def _emit(self, event: FeedEvent) -> None:
        """Queue an event for the reader of `events()`, and for the racwires that follow this one. A gap that continues
        for the same reason is queued once."""
        match event:
            case Gap():
                before = self._lasting.get(event.source)
                if isinstance(before, Gap) and before.reason == event.reason:
                    return
                self._lasting[event.source] = event
            case Links():
                self._lasting[f"links of {event.node}"] = event
            case InstancesPace():
                self._lasting["pace"] = event
            case _:
                self._lasting.pop(event.source, None)
                if isinstance(event, InstanceSample):
                    self._lasting.pop(DATABASE, None)
        self._waiting.append(event)
        self._arrived.set()
        if self._publisher is not None and not _is_latency(event):
            self._publisher.publish(event)

    # --- one racwire of a node samples for all ------------------------------------------------------------------------

    def _begin_to_share(self) -> None:
        self._sharing = asyncio.create_task(self._keep_sharing(), name="racwire sharing")

    async def _keep_sharing(self) -> None:
        """Follow others while there are any, then sample, and publish the samples."""
        publisher = Publisher(self._for_newcomers, self._sampled)
        try:
            try:
                await self._follow_others(publisher)
            except Exception:
                log.exception("sharing the samples failed")
            self._publisher = publisher
            self._begin_to_sample()
            while True:
                publisher.beat()
                await asyncio.sleep(BEAT_S)
        finally:
            if self._publisher is publisher:
                self._publisher = None
            publisher.close()

    async def _follow_others(self, publisher: Publisher) -> None:
        """Follow racwires that sample the same, one after the other. Return when this one has taken a free name, or
        when none is free."""
        names = tuple(socket_names(self._settings, self.interval_s))
        place = tries = 0
        while place < len(names):
            try:
                followed = await Followed.join(names[place])
            except ConnectionRefusedError:
                with suppress(OSError):
                    if await publisher.open(names[place]):
                        return
                tries += 1  # another racwire is taking the name
            except OSError:
                tries = _TRIES
            else:
                is_over = await self._follow(followed)
                place, tries = (0, tries + 1) if is_over else (place, _TRIES)
            if tries >= _TRIES:
                place, tries = place + 1, 0
            else:
                await asyncio.sleep(_RETRY_S)

    async def _follow(self, followed: Followed) -> bool:
        """Take the events of another racwire. Return True when it has ended, and False where it is of no use: it hangs,
        or lacks what this feed wants, or this feed samples already."""
        if self._is_sampling:
            followed.close()
            return False
        begun: set[SourceId] = set()
        self._has_followed = True
        self._shared_by(followed.pid)
        lacks_since: float | None = None
        try:
            while True:
                event = await followed.next()
                if isinstance(event, Sampler):
                    lacks = {str(name) for name in self._sources if name != ALL_PINGS} - set(event.sources)
                    lacks_since = (lacks_since or time.monotonic()) if lacks else None
                    if lacks_since and time.monotonic() - lacks_since > _LACKS_S:
                        return False
                elif isinstance(event, Links | Gap | InstancesPace):
                    self._emit(event)
                else:
                    is_whole = event.source in begun or event.at - event.seconds >= self._lacks_since
                    begun.add(event.source)
                    if is_whole:
                        self._emit(event)
        except Left as left:
            return left.is_gone
        finally:
            followed.close()
            self._lacks_since = time.time()
            reason = f"Process {followed.pid}, another racwire, took the samples until now; racwire goes on without it."
            for source in () if self._is_closed else sorted(begun - self._lasting.keys()):
                self._emit(Gap(source, self._lacks_since, reason, BY_RACWIRE))

    def _begin_to_sample(self) -> None:
        self._shared_by(0)
        if not self._is_sampling:
            self._is_sampling = True
            if (cluster := self._cluster) is not None:
                # The racwire that was followed knew newer interfaces than those of the cluster.
                self._book.follow(replace(cluster, nodes=()) if self._has_followed else cluster)
                self._add_sources(cluster)
            for name in self._sources:
                self._start(name)

    def _shared_by(self, pid: int) -> None:
        if self._share is not None:
            self._share(pid)

    def _sampled(self) -> list[str]:
        """The sources of this feed that others can follow. A refused login is not tried again: they may be luckier."""
        names = {name: task for name, task in self._tasks.items() if name != ALL_PINGS}
        return [str(name) for name, task in names.items() if name != DATABASE or not task.done()]

    def _for_newcomers(self) -> list[FeedEvent]:
        """What lasts, as if it started now."""
        return [replace(event, at=time.time()) for event in self._lasting.values() if not _is_latency(event)]


def _is_latency(event: FeedEvent) -> bool:
    return not isinstance(event, InstancesPace) and event.source.kind is SourceKind.LATENCY
