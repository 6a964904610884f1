"""From which node pings can be sent, and with what: an ICMP socket here, the system's ping by a shell elsewhere."""

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
from checks.sources.probes.ping_command import CommandPinger, PingTool, Slots, ask_ping
from checks.sources.probes.pinger import CannotPingError, Pinger


class ProbeSession(Protocol):
    """What probing needs of a session."""

    settings: Settings
    journal: Journal
    local_node: str

    async def shell(self, node: str) -> Shell:
        """The shell of a node. Raises ShellError."""
        ...

    def progress(self, group: str, text: str, done: int, total: int) -> None:
        """Say how far things are."""
        ...


class ProbeHosts:
    """The nodes of the cluster as places to ping from. Sockets that were opened are closed with `sockets`."""

    def __init__(self, nodes: Sequence[Node | UnreadNode], session: ProbeSession, sockets: ExitStack) -> None:
        self._session = session
        self._sockets = sockets
        self._unread = {n.name: n.reason for n in nodes if isinstance(n, UnreadNode)}
        self._read = {n.name: n for n in nodes if isinstance(n, Node)}
        self._paces: dict[str, PacketPace] = {}
        self._slots: dict[str, Slots] = {}
        self._tools: dict[str, asyncio.Task[PingTool]] = {}

    def facts(self, node: str) -> Node | None:
        """What was read of the node."""
        return self._read.get(node)

    async def shell(self, node: str) -> Shell | None:
        """The node's shell, or None where it is not to be had."""
        if node in self._unread:
            return None
        try:
            return await self._session.shell(node)
        except ShellError:
            return None

    async def pinger(self, path: Path, limits: PathLimits) -> Pinger:
        """What sends on this path. Raises CannotPingError or ShellError where nothing can."""
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
            self._tools[node] = asyncio.create_task(ask_ping(shell))
        # Shielded: a path that runs out of time must not take the answer away from the node's other paths.
        tool = await asyncio.shield(self._tools[node])
        slots = self._slots.setdefault(node, Slots())
        return CommandPinger(path, limits, pace, shell=shell, tool=tool, slots=slots)

    async def close(self) -> None:
        """End what is still being asked."""
        for task in self._tools.values():
            task.cancel()
        await asyncio.gather(*self._tools.values(), return_exceptions=True)
