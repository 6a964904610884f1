"""Makes the steps of an investigation that read what no run reads: why a kernel drops packets, transceivers, pauses.

The only place that watches a kernel: an import contract holds that. The operator has consented to the step.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from msgspec.structs import replace

from checks.investigate.sensed import Signs, drop_signs, optic_signs, pause_signs
from checks.investigate.steps.senses import PAUSES_S, WATCH_S
from checks.model.facts import Cluster, KernelDrops, NodeOptics, Port, UnreadNode
from checks.model.investigation import SensedFact, Step
from checks.model.networks import nics_of, private_layers
from checks.model.packet_sizes import payload_for
from checks.model.senses import DROPS_STEP, OPTICS_STEP
from checks.sources.kernel_trace.tracing import trace_drops
from checks.sources.nodes.counter_change import read_counter_changes
from checks.sources.nodes.optics import read_optics
from checks.sources.nodes.session import Session
from checks.sources.nodes.shell import Shell
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


async def sense(cluster: Cluster, session: Session, step: Step, send: Send) -> Sensed:
    """Make a step of `SENSES`. Raises NoWayError where its place is not known, ShellError where a node is silent."""
    if step.declared == DROPS_STEP:
        return await _watch(cluster, session, step, send)
    if step.declared == OPTICS_STEP:
        return await _optics(cluster, session, step)
    return await _pauses(cluster, session, step)


async def _watch(cluster: Cluster, session: Session, step: Step, send: Send) -> Sensed:
    """Watch the kernel of a receiver while it gets datagrams of a size of their own."""
    leg = step.reads[0].packets
    path, is_cut, size = way_of(cluster, leg)
    node = path.destination.node
    nics = tuple(dict.fromkeys((path.destination.interface, *nics_of(cluster, path.destination))))
    row = Row(path, payload_for(size, path.version), step.price.packets, is_cut=is_cut)

    async def during() -> None:
        await asyncio.sleep(_BEFORE_S)
        await send(row)

    shell = await _own_shell(session, node)
    found = await trace_drops(shell, session.journal, nics, WATCH_S, size=size, during=during)
    if isinstance(found, UnreadNode):
        return Sensed(((), ()), (found,), found.reason)
    return Sensed(drop_signs(step, found), (found,), _why_not_shown(found))


def _why_not_shown(drops: KernelDrops) -> str:
    if not drops.has_reasons:
        return f"the kernel of {drops.name} does not say why it drops packets"
    if not drops.followed:
        return f"none of the datagrams was seen at the NIC of {drops.name}: they did not arrive there"
    return ""


async def _own_shell(session: Session, node: str) -> Shell:
    """Open a shell that nothing else uses: the trace replaces it."""
    if node == session.local_node:
        return await Shell.open_local(node)
    return await Shell.open_ssh(node, session.settings.ssh, quick=True)


async def _optics(cluster: Cluster, session: Session, step: Step) -> Sensed:
    """Read the transceivers of the network at all its nodes: they are compared with each other."""
    name = step.reads[0].network
    network = cluster.network(name)
    if network is None:
        raise NoWayError(f"{name} is not known")
    limit_s = session.settings.ssh.read_timeout_s

    async def read(port: Port) -> NodeOptics | UnreadNode:
        shell = await session.shell(port.node)
        return await read_optics(shell, session.journal, port.node, tuple(nics_of(cluster, port)), limit_s)

    facts = await asyncio.gather(*(read(port) for port in network.ports if cluster.node(port.node)))
    own = next((fact for fact in facts if fact.name == step.reads[0].node), None)
    seen, looked = optic_signs(step, replace(cluster, optics=tuple(facts)))
    why = own.reason if isinstance(own, UnreadNode) else ""
    return Sensed((seen, looked), tuple(facts), why or ("" if looked else "its module measures no light"))


async def _pauses(cluster: Cluster, session: Session, step: Step) -> Sensed:
    """Read the counters of a driver at both ends of the least interval."""
    at = step.reads[0]
    nodes = [node for node in cluster.read_nodes() if node.name == at.node]
    nics = private_layers(cluster.read_networks(), nodes)
    changes = await read_counter_changes(session, nodes, PAUSES_S, nics)
    signs = pause_signs(step, replace(cluster, counters=changes))
    return Sensed(signs, (), "" if signs[1] else f"the driver of its NIC on {at.node} counts no pause frames")
