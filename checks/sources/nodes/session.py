"""The session of one run: settings, journal, a shell on each node, and the connections to the database."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable

from checks.model.facts import Cluster, Node, PathProbe, UnreadNode
from checks.model.journal import Journal
from checks.model.settings import Settings
from checks.sources.database.connections import Connections
from checks.sources.database.secret import Secret
from checks.sources.nodes.shells import Shells
from checks.sources.progress import Progress

_NOTICED_WITHIN_S = 1.0
"""Seconds after which a block that did not arrive is counted as lost. Ours."""

ReportNodes = Callable[[tuple[Node | UnreadNode, ...]], None]
"""Receives all nodes of the cluster while some of them are pending; called again after each answer."""

ClusterWith = Callable[[str], Awaitable[Cluster]]
"""Returns the cluster once a group of its facts has been gathered."""


class Session(Shells):
    """The shells and connections of one run. Always call `close`: it takes under a second."""

    def __init__(
        self,
        settings: Settings,
        journal: Journal,
        progress: Progress | None = None,
        *,
        password: Secret | None = None,
        nodes_so_far: ReportNodes | None = None,
        paths_so_far: Callable[[tuple[PathProbe, ...]], None] = lambda probes: None,
        cluster_with: ClusterWith | None = None,
        probes: Callable[[], Awaitable[bool]] | None = None,
    ) -> None:
        super().__init__(settings.ssh, journal)
        self.settings = settings
        self.databases = Connections(settings.database, password, journal, lambda: self.local_node)
        self._progress = progress
        self._nodes_so_far = nodes_so_far
        self.paths_so_far = paths_so_far
        """Reports the paths that have been probed while others are pending."""
        self._cluster_with = cluster_with
        self._probes = probes
        self.quiet_until_s: float | None = None
        """When datagrams are about to go on, by the monotonic clock; None where nothing more is planned."""
        self.pausing = asyncio.Event()
        """Set when the datagrams pause, or are over."""

    def progress(self, group: str, text: str, done: int, total: int) -> None:
        """Report the progress of gathering a group of facts."""
        if self._progress is not None:
            self._progress(group, text, done, total)

    def nodes_so_far(self, nodes: tuple[Node | UnreadNode, ...]) -> None:
        """Report the nodes while some of them are pending."""
        if self._nodes_so_far is not None:
            self._nodes_so_far(nodes)

    async def cluster_with(self, group: str) -> Cluster:
        """Wait for a group of facts that the run gathers at the same time, and return the cluster with it.

        Raises LookupError outside a run.
        """
        if self._cluster_with is None:
            raise LookupError(f"no run gathers {group}")
        return await self._cluster_with(group)

    async def quiet_begins(self, end_s: float, interval_s: float) -> bool | None:
        """Wait until shortly after the last probe, or the last before `keep_quiet`: a loss is noticed a moment later.

        It waits at most until `end_s` of the monotonic clock, the end of an interval of that length. Return whether it
        is quiet now; None, at once, where the run sends no probe.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(end_s - time.monotonic()):
                if self._probes is None or not await self._probes():
                    return None
                await asyncio.sleep(min(_NOTICED_WITHIN_S, interval_s / 10))
                return True
        return False

    async def keep_quiet(self, interval_s: float) -> None:
        """Send no datagram for a third of an interval of that length, so that samples see a quiet time."""
        self.quiet_until_s = time.monotonic() + interval_s / 3 - min(_NOTICED_WITHIN_S, interval_s / 10)
        self.pausing.set()
        await asyncio.sleep(interval_s / 3)

    async def close(self) -> None:
        """End all connections and shells, including those that are being opened, at the same time."""
        await asyncio.gather(self.databases.close(), super().close(), return_exceptions=True)
