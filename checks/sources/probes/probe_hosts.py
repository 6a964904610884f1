"""Choose the sender of pings for each node: an ICMP socket on this node, the system's ping in a shell on a peer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Protocol

from checks.model.facts import Node, UnreadNode
from checks.model.journal import Journal
from checks.model.settings import Settings
from checks.sources.nodes.shell import Shell, ShellError
from checks.sources.probes.icmp_pinger import IcmpPinger
from checks.sources.probes.limits import PacketPace, PathLimits
from checks.sources.probes.path import Path
from checks.sources.probes.ping_command import CommandPinger, PingTool, Slots, detect_ping
from checks.sources.probes.pinger import CannotPingError, Pinger


class ProbeSession(Protocol):
    """The part of a session that probing uses."""

    settings: Settings
    journal: Journal
    local_node: str

    async def shell(self, node: str) -> Shell:
        """The shell of a node. Raises ShellError where it cannot be opened."""
        ...

    def progress(self, group: str, text: str, done: int, total: int) -> None:
        """Report the progress of probing."""
        ...


class ProbeHosts:
    """The nodes of the cluster as senders of pings. Closing `sockets` closes their ICMP sockets."""

    def __init__(self, nodes: Sequence[Node | UnreadNode], session: ProbeSession, sockets: ExitStack) -> None:
        self._session = session
        self._sockets = sockets
        self._unread = {n.name: n.reason for n in nodes if isinstance(n, UnreadNode)}
        self._read = {n.name: n for n in nodes if isinstance(n, Node)}
        self._paces: dict[str, PacketPace] = {}
        self._slots: dict[str, Slots] = {}
        self._tools: dict[str, asyncio.Task[PingTool]] = {}

    def facts(self, node: str) -> Node | None:
        """The facts of the node; None where it was not read."""
        return self._read.get(node)

    async def shell(self, node: str) -> Shell | None:
        """The node's shell; None where it cannot be opened."""
        if node in self._unread:
            return None
        try:
            return await self._session.shell(node)
        except ShellError:
            return None

    async def pinger(self, path: Path, limits: PathLimits) -> Pinger:
        """The sender of pings for this path. Raises CannotPingError or ShellError where the node cannot ping."""
        node = path.source.node
        if node in self._unread:
            raise CannotPingError(f"{node} could not be read: {self._unread[node]}")
        pace = self._paces.setdefault(node, PacketPace(self._session.settings.probe.max_packets_per_second))
        if node != self._session.local_node:
            return await self._by_command(path, limits, pace)
        try:
            straggler_s = self._session.settings.probe.timeout_ms / 1000
            return self._sockets.enter_context(IcmpPinger(path, limits, pace, straggler_s=straggler_s))
        except CannotPingError:
            return await self._by_command(path, limits, pace)

    async def _by_command(self, path: Path, limits: PathLimits, pace: PacketPace) -> CommandPinger:
        node = path.source.node
        shell = await self._session.shell(node)
        if node not in self._tools:
            self._tools[node] = asyncio.create_task(detect_ping(shell))
        # Shielded: the time-out of one path must not cancel the detection for the node's other paths.
        tool = await asyncio.shield(self._tools[node])
        slots = self._slots.setdefault(node, Slots())
        return CommandPinger(path, limits, pace, shell=shell, tool=tool, slots=slots)

    async def close(self) -> None:
        """Cancel the detections that still run."""
        for task in self._tools.values():
            task.cancel()
        await asyncio.gather(*self._tools.values(), return_exceptions=True)
