"""The session of one run: settings, journal, a shell on each node, and the connections to the database.

Each shell and connection is opened once, and stays open until the end of the run.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Awaitable, Callable

from checks.model.facts import Cluster, Node, PathProbe, UnreadNode
from checks.model.journal import Journal
from checks.model.settings import Settings
from checks.sources.database.connections import Connections
from checks.sources.database.secret import Secret
from checks.sources.nodes.shell import Shell, ShellError
from checks.sources.progress import Progress
from checks.sources.registry import SSH

_NOTICED_WITHIN_S = 1.0
"""Seconds after which a block that did not arrive is counted as lost. Ours."""

ReportNodes = Callable[[tuple[Node | UnreadNode, ...]], None]
"""Receives all nodes of the cluster while some of them are pending; called again after each answer."""

ClusterWith = Callable[[str], Awaitable[Cluster]]
"""Returns the cluster once a group of its facts has been gathered."""


class Session:
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
        self.settings = settings
        self.journal = journal
        self.local_node = os.uname().nodename.split(".")[0]
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
        self._shells: dict[str, asyncio.Task[Shell]] = {}

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

    async def shell(self, node: str) -> Shell:
        """The shell on a node, opened at the first call.

        Raises ShellError where it cannot be opened. The same error is raised each time: a run tries a peer that refused
        or hung only once, unless `forget` was called for it.
        """
        if node not in self._shells:
            self._shells[node] = asyncio.create_task(self._open(node))
        return await asyncio.shield(self._shells[node])

    async def forget(self, node: str) -> None:
        """End the shell on a node, or the attempt to open it; the next `shell` opens another."""
        if task := self._shells.pop(node, None):
            await _end(task)

    async def _open(self, node: str) -> Shell:
        if node == self.local_node:
            return await Shell.open_local(node)
        with self.journal.entry(node, SSH.topics[0], f"ssh {node} sh") as entry:
            try:
                return await Shell.open_ssh(node, self.settings.ssh)
            except ShellError as error:
                entry.text = error.detail
                raise

    async def close(self) -> None:
        """End all connections and shells, including those that are being opened.

        All end at the same time, so that many that hang take no longer than one.
        """
        shells, self._shells = list(self._shells.values()), {}
        await asyncio.gather(self.databases.close(), *map(_end, shells), return_exceptions=True)


async def _end(opening: asyncio.Task[Shell]) -> None:
    """End a shell that is open or is being opened. A shell that failed to open needs no end."""
    if not opening.done():
        opening.cancel()
    (outcome,) = await asyncio.gather(opening, return_exceptions=True)
    if isinstance(outcome, Shell):
        with contextlib.suppress(ShellError, OSError):
            await outcome.close()
