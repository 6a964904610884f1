"""Finds the cluster that a feed samples, and yields each state of the search: a peer or a database that hangs delays
only itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from msgspec.structs import replace

from checks.model.broken_dependency import error_text
from checks.model.facts import Cluster, Node, Unknown, UnreadNode
from checks.model.journal import Journal, now
from checks.model.settings import Settings
from checks.run.events import FACTS_OF
from checks.run.gathering import GATHERERS, Gatherer, with_nodes
from checks.sources.database.secret import Secret
from checks.sources.nodes.session import Session

_GROUPS = ("clusterware", "nodes", "networks", "database")
_GROWTH_S = 0.3
"""Seconds between two states of a growing cluster: most nodes answer at nearly the same time. Ours."""


async def find_cluster(settings: Settings, *, password: Secret | None = None) -> Cluster:
    """Return the complete cluster that a feed samples."""
    *_, found = [found async for found in growing_cluster(settings, password=password)]
    return found


async def growing_cluster(settings: Settings, *, password: Secret | None = None) -> AsyncGenerator[Cluster, None]:
    """Yield Clusterware, nodes, networks and database as facts, without any check, each time more of them are known.

    All nodes are in the cluster from the moment on when their names are known; a node is pending until it has answered
    or was not reached. The last cluster is complete: a group that could not be gathered is Unknown with its reason.
    Raises nothing except on cancellation. Close the iteration: that takes under a second.
    """
    discovery = _Discovery(settings, password)
    gathering = asyncio.create_task(discovery.gather())
    gathering.add_done_callback(lambda _: discovery.news.set())
    try:
        while not gathering.done():
            await discovery.news.wait()
            discovery.news.clear()
            if not gathering.done():
                yield discovery.known
                await asyncio.wait((gathering,), timeout=_GROWTH_S)
        yield await gathering
    finally:
        gathering.cancel()
        await asyncio.gather(gathering, discovery.session.close(), return_exceptions=True)


class _Discovery:
    """Gathers each group as soon as the groups that it needs are complete; independent groups at the same time."""

    def __init__(self, settings: Settings, password: Secret | None) -> None:
        self.session = Session(settings, Journal(), password=password, nodes_so_far=self._nodes_so_far)
        self._cluster = self.known = Cluster(
            local_node=self.session.local_node,
            taken_at=now(),
            named_networks=settings.cluster.networks,
            thresholds=settings.thresholds.as_facts(),
        )
        """`known` also has pending nodes, and the networks of the other nodes."""
        self.news = asyncio.Event()

    async def gather(self) -> Cluster:
        """Gather all groups, and return the cluster."""
        gatherers = [gatherer for gatherer in GATHERERS if gatherer.group in _GROUPS]
        complete = {gatherer.group: asyncio.Event() for gatherer in gatherers}

        async def gather(gatherer: Gatherer) -> None:
            for need in gatherer.needs:
                await complete[need].wait()
            self._add(gatherer.group, await self._found(gatherer))
            complete[gatherer.group].set()

        async with asyncio.TaskGroup() as gathering:
            for gatherer in gatherers:
                gathering.create_task(gather(gatherer))
        return self._cluster

    async def _found(self, gatherer: Gatherer) -> object:
        try:
            async with asyncio.timeout(gatherer.limit_s):
                return await gatherer.gather(self.session, self._cluster)
        except TimeoutError:
            return Unknown(f"Reading {FACTS_OF[gatherer.group]} took over {gatherer.limit_s:.0f} s and was stopped.")
        except Exception as error:  # a source may fail in any way: its facts are unknown, the other sources continue
            return Unknown(f"Reading {FACTS_OF[gatherer.group]} failed: {error_text(error)}")

    def _add(self, group: str, found: object) -> None:
        local_node = self.session.local_node
        self._cluster = replace(self._cluster, **{group: found}, local_node=local_node)
        self.known = replace(self.known, **{group: found}, local_node=local_node)
        if group == "nodes" and isinstance(found, tuple):  # the networks so far are those of the nodes so far
            self.known = with_nodes(self.known, found, local_node)
        self.news.set()

    def _nodes_so_far(self, nodes: tuple[Node | UnreadNode, ...]) -> None:
        self.known = with_nodes(self.known, nodes, self.session.local_node)
        self.news.set()
