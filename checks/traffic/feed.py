"""Takes samples of every source at a common interval, and yields them as they arrive.

The feed reads this node from /proc and netlink, each peer through one open ssh stream, and the instances through one
connection and GV$. A source that hangs or fails yields a `Gap` with the reason and is tried again after growing waits;
the other sources continue.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from types import TracebackType
from typing import Self

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
from checks.traffic.pace import Backoff, Pace
from checks.traffic.peer_stream import sample_peer
from checks.traffic.samples import Event, FeedEvent, Gap, InstanceSample, InstancesPace, Links
from checks.traffic.this_node import sample_this_node, watch_links

log = logging.getLogger(__name__)

_JOURNAL_ENTRIES = 50
"""Entries of the journal: sampling runs for hours, so the journal holds only the newest reads and queries."""
_WAITING_EVENTS = 20_000
"""Most events that wait for the reader of `events()`: some minutes of a big cluster. The oldest ones are dropped, since
a reader that takes none has stopped."""

Source = Callable[[], Awaitable[None]]


class Feed:
    """An endless stream of samples. Iterate `events()`, and always `close()` the feed; closing takes under a second."""

    def __init__(self, settings: Settings, *, password: Secret | None = None) -> None:
        self._settings = settings
        self._session = Session(settings, Journal(keep=_JOURNAL_ENTRIES), password=password)
        self._pace = Pace(settings.traffic.interval_s)
        self._pacer = InstancesPacer(settings.traffic, self._put)
        self._book = LinkBook(self._emit)
        self._waiting: deque[FeedEvent] = deque(maxlen=_WAITING_EVENTS)
        self._arrived = asyncio.Event()
        self._gaps: dict[str, str] = {}
        self._sources: dict[str, Source] = {
            "this node": lambda: sample_this_node(self._name, self._pace, self._emit),
            "this node's interfaces": lambda: watch_links(self._name, self._book),
        }
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._is_running = False
        self._is_closed = False

    @property
    def interval_s(self) -> float:
        """Seconds between two samples of a node; of instances, as many or more. A new value takes effect at once."""
        return self._pace.interval_s

    @interval_s.setter
    def interval_s(self, seconds: float) -> None:
        self._pace.interval_s = seconds
        self._pacer.change_base(seconds)

    def follow(self, cluster: Cluster) -> None:
        """Sample the known nodes, pending ones too, and the known instances of the database. Call it again when more
        are known: running sources continue undisturbed. Before the first call the feed samples only this node."""
        if cluster.local_node != self._name():
            self._book.rename(self._name(), cluster.local_node)
            self._session.local_node = cluster.local_node
        self._book.follow(cluster)
        for node in () if isinstance(cluster.nodes, Unknown) else cluster.nodes:
            if node.name != self._name():
                source = f"node {node.name}"
                if isinstance(node, UnreadNode) and not node.is_pending and source not in self._sources:
                    self._emit(Gap(source, time.time(), node.reason))
                self._add(source, self._peer(node.name))
        database = cluster.database
        if isinstance(database, Database):
            self._add("database", self._instances(database))
        elif "database" not in self._sources and self._wants(database):
            self._emit(Gap("database", time.time(), database.reason))

    def probe(self, cluster: Cluster) -> None:
        """Send pings at a fixed rate on every private path from this node, and emit them as `LatencySample`s."""
        from checks.traffic.latency import latency_paths, run_latency  # needed only by feeds that probe

        paths, settings = latency_paths(cluster), self._settings
        per_second = settings.traffic.probes_per_second
        self._add(
            "latency",
            lambda: run_latency(paths, per_second, lambda: self.interval_s, self._emit, probe=settings.probe),
        )

    async def events(self) -> AsyncGenerator[FeedEvent, None]:
        """Yield samples, gaps, links and paces until the feed is closed. Sampling starts with the first iteration."""
        self._is_running = not self._is_closed
        for name in self._sources:
            self._start(name)
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
        return lambda: sample_peer(node, self._session, self._book, self._pace, self._emit)

    def _instances(self, database: Database) -> Source:
        async def explain(failure: Unknown, code: int | None) -> Unknown:
            return await why_no_database(self._session, failure, code)

        return lambda: sample_instances(
            database, self._session.databases, self._settings.traffic, self._pacer, self._emit, explain
        )

    def _add(self, name: str, source: Source) -> None:
        """Add a source; a source of the same name that runs already continues unchanged."""
        if name not in self._sources and not self._is_closed:
            self._sources[name] = source
            if self._is_running:
                self._start(name)

    def _start(self, name: str) -> None:
        if not self._is_closed and name not in self._tasks:
            self._tasks[name] = asyncio.create_task(self._keep_up(name, self._sources[name]), name=f"racwire {name}")

    async def _keep_up(self, name: str, source: Source) -> None:
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

    def _source(self, name: str) -> str:
        return f"node {self._name()}" if name.startswith("this node") else name

    def _emit(self, event: Event) -> None:
        """Queue an event for the reader of `events()`. A gap that continues for the same reason is queued once."""
        if isinstance(event, Gap):
            if self._gaps.get(event.source) == event.reason:
                return
            self._gaps[event.source] = event.reason
        elif not isinstance(event, Links):
            self._gaps.pop(event.source, None)
            if isinstance(event, InstanceSample):
                self._gaps.pop("database", None)
        self._put(event)

    def _put(self, event: Event | InstancesPace) -> None:
        self._waiting.append(event)
        self._arrived.set()
