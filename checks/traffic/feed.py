"""Takes samples of every source at a common pace, and tells them as they come.

This node is read from /proc and netlink; each peer through one held ssh stream; the instances through one connection
and GV$. A source that hangs or fails is a `Gap` with its reason and is tried again, later and later; the others go on.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from types import TracebackType
from typing import Self

import msgspec

from checks.model.broken_dependency import error_text
from checks.model.facts import Cluster, Database, NotAsked, Unknown
from checks.model.journal import Journal, now
from checks.model.settings import Settings
from checks.run.gathering import GATHERERS, Gatherer
from checks.sources.database.secret import Secret
from checks.sources.nodes.session import Session
from checks.traffic.instances import sample_instances
from checks.traffic.links import LinkBook
from checks.traffic.pace import Backoff, Pace
from checks.traffic.peer import sample_peer
from checks.traffic.samples import Event, Gap, InstanceSample, Links
from checks.traffic.this_node import sample_this_node, watch_links

_GROUPS = ("clusterware", "nodes", "networks", "database")


async def find_cluster(
    settings: Settings, *, password: Secret | None = None, progress: Callable[[str], None] | None = None
) -> Cluster:
    """What a feed follows: Clusterware, nodes, networks and database as facts, without any check.

    Every group that could not be had is Unknown with its reason; nothing is raised but cancellation.
    """

    def tell(group: str, text: str, done: int, total: int) -> None:
        if progress is not None:
            progress(text)

    session = Session(settings, Journal(), tell, password=password)
    try:
        return await _gathered(session, tuple(g for g in GATHERERS if g.group in _GROUPS))
    finally:
        await session.close()


async def _gathered(session: Session, gatherers: Iterable[Gatherer]) -> Cluster:
    """Each group as soon as those that it needs are there, the others beside it."""
    cluster = Cluster(
        local_node=session.local_node,
        taken_at=now(),
        named_networks=session.settings.cluster.networks,
        thresholds=session.settings.thresholds.as_facts(),
    )
    there = {gatherer.group: asyncio.Event() for gatherer in gatherers}

    async def gather(gatherer: Gatherer) -> None:
        nonlocal cluster
        for need in gatherer.needs:
            await there[need].wait()
        found = await _found(gatherer, session, cluster)
        cluster = msgspec.structs.replace(cluster, **{gatherer.group: found}, local_node=session.local_node)
        there[gatherer.group].set()

    async with asyncio.TaskGroup() as gathering:
        for gatherer in gatherers:
            gathering.create_task(gather(gatherer))
    return cluster


async def _found(gatherer: Gatherer, session: Session, cluster: Cluster) -> object:
    try:
        async with asyncio.timeout(gatherer.limit_s):
            return await gatherer.gather(session, cluster)
    except TimeoutError:
        return Unknown(f"Gathering the {gatherer.group} took over {gatherer.limit_s:.0f} s and was given up.")
    except Exception as error:  # a source may fail in any way; what it would have told is unknown, the rest goes on
        return Unknown(f"Gathering the {gatherer.group} failed: {error_text(error)}")


log = logging.getLogger(__name__)

_JOURNAL_ENTRIES = 50
"""Sampling goes on for hours: of what was read and asked only the newest is kept."""
_WAITING_EVENTS = 20_000
"""Told and not yet taken: some minutes of a big cluster. Of more than that the oldest go, since whoever does not take
them has stopped looking."""

Source = Callable[[], Awaitable[None]]


class Feed:
    """Samples without end. Iterate `events()`; `close()` it, whatever happened: that takes well under a second."""

    def __init__(self, settings: Settings, *, password: Secret | None = None) -> None:
        self._settings = settings
        self._session = Session(settings, Journal(keep=_JOURNAL_ENTRIES), password=password)
        self._pace = Pace(settings.traffic.interval_s)
        self._book = LinkBook(self._tell)
        self._waiting: deque[Event] = deque(maxlen=_WAITING_EVENTS)
        self._told = asyncio.Event()
        self._gaps: dict[str, str] = {}
        self._sources: dict[str, Source] = {
            "this node": lambda: sample_this_node(self._name, self._pace, self._tell),
            "this node's interfaces": lambda: watch_links(self._name, self._book),
        }
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._is_running = False
        self._is_closed = False

    @property
    def interval_s(self) -> float:
        """Seconds between two samples of a source; can be set at any time, and holds at once."""
        return self._pace.interval_s

    @interval_s.setter
    def interval_s(self, seconds: float) -> None:
        self._pace.interval_s = seconds

    def follow(self, cluster: Cluster) -> None:
        """Sample the nodes, and the instances of the database, that are known now. Can be called again when more is
        known; what is sampled already goes on undisturbed. Until it is called, this node alone is sampled."""
        if cluster.local_node != self._name():
            self._book.rename(self._name(), cluster.local_node)
            self._session.local_node = cluster.local_node
        self._book.follow(cluster)
        for node in () if isinstance(cluster.nodes, Unknown) else cluster.nodes:
            if node.name != self._name():
                self._add(f"node {node.name}", self._peer(node.name))
        database = cluster.database
        if isinstance(database, Database):
            self._add("database", self._instances(database))
        elif not isinstance(database, NotAsked) and "database" not in self._sources and self._asks_database():
            self._tell(Gap("database", time.time(), database.reason))

    def probe(self, cluster: Cluster) -> None:
        """Send pings at a fixed rate on every private path from this node, and tell `LatencySample`s of them."""
        from checks.traffic.latency import latency_paths, run_latency  # pingers, which only those need who probe

        paths, settings = latency_paths(cluster), self._settings
        per_second = settings.traffic.probes_per_second
        self._add(
            "latency",
            lambda: run_latency(paths, per_second, lambda: self.interval_s, self._tell, probe=settings.probe),
        )

    async def events(self) -> AsyncGenerator[Event, None]:
        """What is sampled, until the feed is closed. Sampling begins with the first iteration."""
        self._is_running = not self._is_closed
        for name in self._sources:
            self._start(name)
        while not self._is_closed or self._waiting:
            while self._waiting:
                yield self._waiting.popleft()
            self._told.clear()
            if not self._is_closed:
                await self._told.wait()

    async def close(self) -> None:
        """End every connection; nothing that hangs is waited for."""
        self._is_closed, self._is_running = True, False
        self._told.set()
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

    def _asks_database(self) -> bool:
        return self._settings.database.is_set

    def _peer(self, node: str) -> Source:
        return lambda: sample_peer(node, self._session, self._book, self._pace, self._tell)

    def _instances(self, database: Database) -> Source:
        return lambda: sample_instances(
            database, self._session.databases, self._settings.traffic, self._pace, self._tell
        )

    def _add(self, name: str, source: Source) -> None:
        """A source that is there already goes on as it is."""
        if name not in self._sources and not self._is_closed:
            self._sources[name] = source
            if self._is_running:
                self._start(name)

    def _start(self, name: str) -> None:
        if not self._is_closed and name not in self._tasks:
            self._tasks[name] = asyncio.create_task(self._keep_up(name, self._sources[name]), name=f"racwire {name}")

    async def _keep_up(self, name: str, source: Source) -> None:
        """Run a source; one that breaks down, by a fault of racwire's own, is told and begun again."""
        backoff = Backoff()
        while True:
            try:
                await source()
                return
            except Exception as error:
                log.exception("the source %s of the live feed broke down", name)
                words = error_text(error)
                self._tell(Gap(self._source(name), time.time(), f"Sampling broke down and is begun again: {words}."))
            await asyncio.sleep(backoff.next_s())

    def _source(self, name: str) -> str:
        return f"node {self._name()}" if name.startswith("this node") else name

    def _tell(self, event: Event) -> None:
        """Put an event before whoever takes them. A gap that goes on for the same reason is told once."""
        if isinstance(event, Gap):
            if self._gaps.get(event.source) == event.reason:
                return
            self._gaps[event.source] = event.reason
        elif not isinstance(event, Links):
            self._gaps.pop(event.source, None)
            if isinstance(event, InstanceSample):
                self._gaps.pop("database", None)
        self._waiting.append(event)
        self._told.set()
