"""Takes samples of every source at a common pace, and tells them as they come.

This node is read from /proc and netlink; each peer through one held ssh stream; the instances through one connection
and GV$. A source that hangs or fails is a `Gap` with its reason and is tried again, later and later; the others go on.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from types import TracebackType
from typing import Self

from checks.database.secret import Secret
from checks.facts import Cluster
from checks.settings import Settings
from checks.traffic.samples import Event


class Feed:
    """Samples without end. Iterate `events()`; `close()` it, whatever happened: that takes well under a second."""

    def __init__(self, settings: Settings, *, password: Secret | None = None) -> None:
        self.interval_s: float = settings.traffic.interval_s
        """Seconds between two samples of a source; can be set at any time, and holds from the next sample on."""

    def follow(self, cluster: Cluster) -> None:
        """Sample the nodes, and the instances of the database, that are known now. Can be called again when more is
        known; what is sampled already goes on undisturbed. Until it is called, this node alone is sampled."""
        raise NotImplementedError

    def probe(self, cluster: Cluster) -> None:
        """Send pings at a fixed rate on every private path from this node, and tell `LatencySample`s of them."""
        raise NotImplementedError

    async def events(self) -> AsyncGenerator[Event, None]:
        """What is sampled, until the feed is closed."""
        raise NotImplementedError
        yield

    async def close(self) -> None:
        """End every connection; nothing that hangs is waited for."""
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


async def find_cluster(
    settings: Settings, *, password: Secret | None = None, progress: Callable[[str], None] | None = None
) -> Cluster:
    """What a feed follows: Clusterware, nodes, networks and database as facts, without any check.

    Every group that could not be had is Unknown with its reason; nothing is raised but cancellation.
    """
    raise NotImplementedError
