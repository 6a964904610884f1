"""Read signs that the nodes' own counters show: what grew over some seconds, or around datagrams that are sent."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

from checks.model.facts import Cluster, CounterChanges
from checks.model.networks import private_layers
from checks.model.signs import Sign, SignAt
from checks.sources.nodes.counter_change import read_counter_changes
from checks.sources.nodes.session import Session

READABLE = {
    Sign.NIC_CRC: ("rx_crc_errors", "rx_frame_errors"),
    Sign.NODE_QDISC: ("qdisc_drops",),
}
"""The signs, and the counters of a private NIC that show them when they grow."""
_LEAST_S = 1.0


async def signs_seen(
    cluster: Cluster, session: Session, wanted: Sequence[SignAt], seconds: float, sending: asyncio.Task[None] | None
) -> tuple[tuple[SignAt, ...], tuple[SignAt, ...]]:
    """Return the signs that were seen, and those that would show.

    The counters are read twice, `seconds` apart; longer where `sending` has not ended by then.
    """
    names = {sign.node for sign in wanted}
    nodes = [node for node in cluster.read_nodes() if node.name in names]
    nics = private_layers(cluster.read_networks(), nodes)
    seen: set[SignAt] = set()
    looked: set[SignAt] = set()
    while True:
        changes = await read_counter_changes(session, nodes, max(_LEAST_S, seconds), nics)
        if isinstance(changes, CounterChanges):
            for sign, grew in _grown(cluster, changes, wanted):
                looked.add(sign)
                if grew:
                    seen.add(sign)
        if sending is None or sending.done():
            return tuple(s for s in wanted if s in seen), tuple(s for s in wanted if s in looked)
        seconds = _LEAST_S


def _grown(cluster: Cluster, changes: CounterChanges, wanted: Sequence[SignAt]) -> Iterator[tuple[SignAt, bool]]:
    """Yield each sign whose counters are known, and whether one grew."""
    for sign in wanted:
        change = changes.of(sign.node)
        network = next((one for one in cluster.read_networks() if one.name == sign.network), None)
        port = network.port(sign.node) if network else None
        if change is None or port is None:
            continue
        node = cluster.node(sign.node)
        names = private_layers([network], [node]).get(sign.node, ()) if network and node else (port.interface,)
        groups = [group for name in names if (group := change.machine.nic(name))]
        counters = [group.counts[name] for group in groups for name in READABLE[sign.sign] if name in group.counts]
        if counters:
            yield sign, any(counters)
