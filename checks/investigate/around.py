"""The datagrams between two readings: those that make a counter move, if it counts what is lost."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from msgspec.structs import replace

from checks.model.facts import Cluster, PrivateNetwork
from checks.model.investigation import By, Probe, SessionStep
from checks.model.traffic import Traffic
from checks.rules.observed.packets import legs, route_mtu

_PEERS = 2
"""The other nodes that exchange datagrams with a node."""
_LEAST = 20


def around(step: SessionStep, cluster: Cluster) -> SessionStep:
    """Return what racwire sends between the two readings of a step, as a step: full-size datagrams to and from its
    node, or between the first nodes of its network."""
    ways = [way for name in step.place.networks for way in _ways(step, cluster, name)]
    each = max(_LEAST, step.price.packets // max(len(ways), 1))
    return replace(step, by=By.ITSELF, probes=tuple(Probe(legs=way, sent=each) for way in ways), reads=())


def _ways(step: SessionStep, cluster: Cluster, name: str) -> Iterator[tuple[Traffic, ...]]:
    network = cluster.network(name)
    if network is None:
        return
    nodes = [port.node for port in network.ports]
    named = [node for node in (*step.place.nodes, *step.place.to) if node in nodes] or nodes[:1]
    peers = [node for node in nodes if node not in named][:_PEERS] or nodes[1:2]
    for sender, receiver in permutations(dict.fromkeys((*named, *peers)), 2):
        if {sender, receiver} & {*named}:
            size = route_mtu(cluster, sender, receiver, name) or _mtu(network)
            yield legs(
                cluster, sender, receiver, name, size, df=True, addresses=("private",), protocols=("udp",),
                ends=("kernel",),
            )  # fmt: skip


def _mtu(network: PrivateNetwork) -> int:
    return network.mtu if isinstance(network.mtu, int) else 1500
