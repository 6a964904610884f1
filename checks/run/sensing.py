"""Makes the steps of an investigation that read what no run reads: why a kernel drops packets, transceivers, pauses.

The only place that watches a kernel: an import contract holds that. The operator has consented to the step.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from msgspec.structs import replace

from checks.investigate.sensed import Signs, drop_signs, optic_signs, pause_signs
from checks.investigate.steps.senses import WATCH_S
from checks.model.facts import Cluster, KernelDrops, NodeOptics, Port, UnreadNode
from checks.model.investigation import SensedFact, SessionStep
from checks.model.networks import nics_of, private_layers
from checks.model.packet_sizes import payload_for
from checks.model.sense_steps import DROPS_STEP, OPTICS_STEP
from checks.sources.kernel_trace.tracing import trace_drops
from checks.sources.nic_drivers import LEAST_APART_S
from checks.sources.nodes.counter_change import read_counter_changes
from checks.sources.nodes.session import Session
from checks.sources.nodes.shell import Shell, ShellError
from checks.sources.nodes.transceiver_text import read_optics
from checks.sources.probes.counted_rows import Row
from checks.sources.probes.investigated_ways import NoWayError, way_of

Send = Callable[[Row], Awaitable[object]]
"""Sends the datagrams of a row within the budget."""
_BEFORE_S = 0.5
"""Seconds for which a kernel is watched before the first datagram."""


class Sensed(NamedTuple):
    """What a step shows."""

    signs: Signs
    facts: tuple[SensedFact, ...] = ()
    reason: str = ""
    """Why it shows nothing; a clause, empty where it does."""


class Senses:
    """Makes these steps, one after the other, with the shells of a session."""

    def __init__(self, cluster: Cluster, session: Session) -> None:
        self._cluster, self._session = cluster, session
        self._optics: dict[str, tuple[float, tuple[NodeOptics | UnreadNode, ...]]] = {}
        """The transceivers of a network, and when they were read, by the monotonic clock."""

    async def make(self, step: SessionStep, send: Send) -> Sensed:
        """Make a step of `SENSES`. Raises NoWayError where its place is not known, ShellError for a silent node."""
        if step.declared == DROPS_STEP:
            return await self._watch(step, send)
        if step.declared == OPTICS_STEP:
            return await self._look_at_optics(step)
        return await self._pauses(step)

    async def _watch(self, step: SessionStep, send: Send) -> Sensed:
        """Watch the kernel of a receiver while it gets datagrams of a size of their own."""
        path, is_cut, size = way_of(self._cluster, step.reads[0].packets)
        node = path.destination.node
        nics = tuple(dict.fromkeys((path.destination.interface, *nics_of(self._cluster, path.destination))))
        row = Row(path, payload_for(size, path.version), step.price.packets, is_cut=is_cut)

        async def during() -> None:
            await asyncio.sleep(_BEFORE_S)
            await send(row)

        shell = await self._own_shell(node)
        found = await trace_drops(shell, self._session.journal, nics, WATCH_S, size=size, during=during)
        if isinstance(found, UnreadNode):
            return Sensed(((), ()), (found,), found.reason)
        return Sensed(drop_signs(step, found), (found,), _why_not_shown(found))

    async def _own_shell(self, node: str) -> Shell:
        """Open a shell that nothing else uses: the trace replaces it."""
        if node == self._session.local_node:
            return await Shell.open_local(node)
        return await Shell.open_ssh(node, self._session.settings.ssh, quick=True)

    async def _look_at_optics(self, step: SessionStep) -> Sensed:
        """Read the transceivers of the network at all its nodes: they are compared with each other.

        Those that were read less than 30 s ago are not read again.
        """
        name = step.reads[0].network
        at, facts = self._optics.get(name, (0.0, ()))
        if not facts or time.monotonic() - at >= LEAST_APART_S:
            facts = await self._read_optics(name)
        own = next((fact for fact in facts if fact.name == step.reads[0].node), None)
        signs = optic_signs(step, replace(self._cluster, optics=facts))
        why = own.reason if isinstance(own, UnreadNode) else "its module measures no light"
        return Sensed(signs, facts, "" if signs[1] else why)

    async def _read_optics(self, name: str) -> tuple[NodeOptics | UnreadNode, ...]:
        network = self._cluster.network(name)
        if network is None:
            raise NoWayError(f"{name} is not known")
        limit_s = self._session.settings.ssh.read_timeout_s

        async def read(port: Port) -> NodeOptics | UnreadNode:
            nics = tuple(nics_of(self._cluster, port))
            try:
                shell = await self._session.shell(port.node)
                return await read_optics(shell, self._session.journal, port.node, nics, limit_s)
            except ShellError as error:  # a silent node must not lose the others
                return UnreadNode(port.node, str(error), error.right)

        found = tuple(await asyncio.gather(*(read(port) for port in network.ports if self._cluster.node(port.node))))
        self._optics[name] = time.monotonic(), found
        return found

    async def _pauses(self, step: SessionStep) -> Sensed:
        """Read the counters of a driver at both ends of the least interval."""
        at = step.reads[0]
        nodes = [node for node in self._cluster.read_nodes() if node.name == at.node]
        nics = private_layers(self._cluster.read_networks(), nodes)
        changes = await read_counter_changes(self._session, nodes, LEAST_APART_S, nics)
        signs = pause_signs(step, replace(self._cluster, counters=changes))
        return Sensed(signs, (), "" if signs[1] else f"the driver of its NIC on {at.node} counts no pause frames")


def _why_not_shown(drops: KernelDrops) -> str:
    if not drops.has_reasons:
        return f"the kernel of {drops.name} does not say why it drops packets"
    if not drops.followed:
        return f"none of the datagrams was seen at the NIC of {drops.name}: they did not arrive there"
    return ""
