"""Looks at each node five times a second while a drill runs, and notes what changes, by this node's clock."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Self

from checks.measure.drill.cluster_events import alert_events
from checks.measure.drill.node_changes import (
    NodeState,
    Watched,
    carried_links,
    changes,
    parse_state,
    parse_timers,
)
from checks.model.drill_result import DrillEvent, InterfaceTimers
from checks.model.facts import Cluster, NodeLogs, Unknown
from checks.model.journal import Journal
from checks.model.measurement import MeasuredPath
from checks.model.settings import SshSettings
from checks.model.wording import continued
from checks.rules.drill_causes import TimelineKind
from checks.sources.drill_state import DRILL_LOGS, DRILL_STATE, DRILL_TIMERS, EVERY_S
from checks.sources.nodes.alert_log_text import parse_logs
from checks.sources.nodes.sections import sections
from checks.sources.nodes.shell import ShellError
from checks.sources.nodes.shells import Shells

_AGAIN_S = 2.0
"""Seconds until a lost node is tried again."""


class NodeWatch:
    """The timeline of all nodes. Open it with `watching`."""

    def __init__(self, cluster: Cluster, paths: Sequence[MeasuredPath], ssh: SshSettings, wall_s: float) -> None:
        """`wall_s`: what to add to `time.monotonic` for the seconds since 1970 that the timeline has."""
        self.events: list[DrillEvent] = []
        self.timers: list[InterfaceTimers] = []
        self.clocks_s: dict[str, float] = {}
        """How many seconds the clock of each node is ahead of this node's."""
        self.unread: dict[str, str] = {}
        """Why something of a node could not be read, by node."""
        self._wall_s = wall_s
        self._shells = Shells(ssh, Journal(keep=20))
        self._shells.local_node = cluster.local_node
        self._carried = carried_links(cluster)
        addresses = {ip for path in paths for ip in (path.source, path.target)} | _private_addresses(cluster)
        self._watched = [
            Watched(node.name, {*own, *(link for below in own.values() for link in below)}, addresses)
            for node in cluster.read_nodes()
            if (own := self._carried.get(node.name, {}))
        ]
        self._first = {one.node: asyncio.Event() for one in self._watched}
        """Set once a node has been read, or could not be reached."""

    async def ready(self, limit_s: float) -> None:
        """Wait until every node was read once: what happens from now on is on the timeline."""
        with suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                await asyncio.gather(*(event.wait() for event in self._first.values()))
        for node, event in self._first.items():
            if not event.is_set():
                self.unread[node] = (
                    f"Its first reading took over {limit_s:.0f} s, so that the timeline may lack events."
                )

    @classmethod
    @asynccontextmanager
    async def watching(
        cls, cluster: Cluster, ssh: SshSettings, paths: Sequence[MeasuredPath], wall_s: float
    ) -> AsyncIterator[Self]:
        """Watch until the end of the `async with`."""
        watch = cls(cluster, paths, ssh, wall_s)
        tasks = [asyncio.create_task(watch._follow(one)) for one in watch._watched]
        try:
            yield watch
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, watch._shells.close(), return_exceptions=True)

    async def logs(self, limit_s: float) -> dict[str, NodeLogs]:
        """Return the alert logs of the nodes that answer in time."""
        found: dict[str, NodeLogs] = {}

        async def read(node: str) -> None:
            try:
                async with asyncio.timeout(limit_s):
                    logs = await self._alert_logs(node)
            except (ShellError, TimeoutError) as error:
                self.unread[node] = f"Its alert logs could not be read: {continued(str(error) or 'no answer in time.')}"
                return
            if isinstance(logs, Unknown):
                self.unread[node] = f"Its alert logs could not be read: {logs.reason}."
            else:
                found[node] = logs

        await asyncio.gather(*(read(one.node) for one in self._watched))
        return found

    async def is_reconfigured(self, since: float) -> bool:
        """Return whether CSS has reconfigured the cluster since then, by the alert log of this node."""
        node = self._shells.local_node
        try:
            logs = await self._alert_logs(node)
        except ShellError:
            return False
        if isinstance(logs, Unknown):
            return False
        found = alert_events(node, logs, self.clocks_s.get(node, 0.0), since, time.time())
        return any(event.kind == TimelineKind.RECONFIGURED for event in found)

    async def _alert_logs(self, node: str) -> NodeLogs | Unknown:
        """Read the alert logs of a node. Raises ShellError."""
        shell = await self._shells.shell(node)
        return parse_logs(sections((await shell.run(DRILL_LOGS)).text).get("alert logs"))

    async def _follow(self, watched: Watched) -> None:
        node = watched.node
        state: NodeState | None = None
        read_s, is_lost = 0.0, False
        while True:
            try:
                shell = await self._shells.shell(node)
                if node not in self.clocks_s:
                    await self._read_timers(node)
                while True:
                    began_s = time.monotonic()
                    found = parse_state((await shell.run(DRILL_STATE)).text)
                    if found is not None:
                        at_s = time.monotonic()
                        if is_lost:
                            is_lost = False
                            self._note(node, TimelineKind.NODE_SEEN, "answers over ssh again")
                        if state is not None:
                            self.events += changes(watched, state, found, read_s + self._wall_s, at_s + self._wall_s)
                        state, read_s = found, began_s
                        self._first[node].set()
                    await asyncio.sleep(max(0.0, began_s + EVERY_S - time.monotonic()))
            except ShellError as error:
                if not is_lost:
                    is_lost = True
                    self._note(node, TimelineKind.NODE_UNSEEN, f"no longer answers over ssh ({continued(str(error))})")
                state = None
                self._first[node].set()
            await self._shells.forget(node)
            await asyncio.sleep(_AGAIN_S)

    async def _read_timers(self, node: str) -> None:
        """Read the timers and the clock of a node. Raises ShellError."""
        shell = await self._shells.shell(node)
        asked_s = time.monotonic()
        answer = await shell.run(DRILL_TIMERS)
        middle_s = (asked_s + time.monotonic()) / 2 + self._wall_s
        timers, clock = parse_timers(node, answer.text, self._carried.get(node, {}))
        self.timers += timers
        self.clocks_s[node] = 0.0
        with suppress(ValueError):
            self.clocks_s[node] = float(clock.removesuffix("N").rstrip("%.")) - middle_s

    def _note(self, node: str, kind: TimelineKind, what: str) -> None:
        self.events.append(DrillEvent(time.monotonic() + self._wall_s, node, what, kind))


def _private_addresses(cluster: Cluster) -> set[str]:
    """Return the private addresses and the HAIPs of all nodes."""
    networks = cluster.read_networks()
    ports = {(port.node, port.interface) for network in networks for port in network.ports}
    haips = {
        address.ip
        for node in cluster.read_nodes()
        for interface in node.interfaces
        if (node.name, interface.name) in ports
        for address in interface.addresses
        if address.is_link_local
    }
    return {port.ip for network in networks for port in network.ports} | haips
