"""Ping between HAIP addresses with Don't Fragment: those that the instances use and that a private NIC of the node has.

A change, which starts Clusterware before the instances, pings those that the private NICs have. No other address of
169.254.0.0/16 is pinged: it may belong to a management controller.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager

from checks.model.facts import (
    Cluster,
    Database,
    HaipPath,
    HaipPaths,
    Interface,
    Node,
    NotAsked,
    Port,
    PrivateNetwork,
    Unknown,
    UnreadNode,
)
from checks.model.known_instances import node_of
from checks.model.packet_sizes import SMALL_PAYLOAD
from checks.sources.nodes.shell import ShellError
from checks.sources.probes.limits import BudgetSpentError, PathLimits
from checks.sources.probes.path import Path
from checks.sources.probes.paths import read_neighbour
from checks.sources.probes.pinger import CannotPingError, Request
from checks.sources.probes.probe_hosts import ProbeHosts, ProbeSession
from checks.sources.registry import HAIP_PINGS

SMALL, FULL = 1, 2
"""Pings of each size on a path, while all paths are pinged at once."""
SMALL_AGAIN, FULL_AGAIN = 3, 5
"""Pings of each size where one of them got no answer: only these decide."""
HURRY_S = 1.5
"""Seconds for an answer at the second try: the first may have waited for ARP."""
AGAIN_AT_ONCE = 8
"""Paths that are pinged again at a time, so that the pings of a large cluster do not displace each other."""
AGAIN_WITHIN_S = 30.0
"""Seconds after which no further path is pinged again: the rest are not judged."""


def haip_ports(cluster: Cluster) -> dict[str, list[Port]]:
    """Return the HAIP addresses by private network: each is in GV$CLUSTER_INTERCONNECTS and on its node's NIC."""
    database = cluster.database
    if not isinstance(database, Database) or isinstance(database.interconnects, Unknown):
        return {}
    found: dict[str, dict[str, Port]] = {}
    networks = () if isinstance(cluster.networks, Unknown) else cluster.networks
    for row in database.interconnects:
        name = node_of(cluster, row.instance)
        for network in networks:
            port = network.port(name)
            interface = cluster.interface(port) if port else None
            if port and interface and row.ip in _link_local(interface):
                found.setdefault(network.name, {})[row.ip] = Port(name, port.interface, row.ip)
    return {network: list(ports.values()) for network, ports in found.items()}


def _link_local(interface: Interface) -> set[str]:
    return {address.ip for address in interface.addresses if address.is_link_local}


async def ping_haip(cluster: Cluster, session: ProbeSession) -> HaipPaths:
    """Ping between the HAIP addresses of each private network that the instances use, every ordered pair of nodes."""
    if isinstance(cluster.database, NotAsked):
        return HaipPaths(reason="No database was queried, so the HAIP addresses in use are not known.")
    if isinstance(cluster.database, Unknown) or isinstance(cluster.database.interconnects, Unknown):
        return HaipPaths(reason="The interconnects of the instances could not be read.")
    found = await ping_between(haip_ports(cluster), cluster, session)
    return found or HaipPaths(reason="No two instances use HAIP addresses that private NICs of two nodes have.")


async def ping_between(
    ports: Mapping[str, Sequence[Port]], cluster: Cluster, session: ProbeSession
) -> HaipPaths | None:
    """Ping between these addresses by private network, every ordered pair of nodes; None where there is no pair."""
    paths = [
        (network, a, b)
        for network in (() if isinstance(cluster.networks, Unknown) else cluster.networks)
        for a, b in itertools.permutations(ports.get(network.name, ()), 2)
        if a.node != b.node and isinstance(network.mtu, int)
    ]
    if not paths:
        return None
    nodes: Sequence[Node | UnreadNode] = () if isinstance(cluster.nodes, Unknown) else cluster.nodes
    turns = _Turns()
    with ExitStack() as sockets:
        hosts = ProbeHosts(nodes, session, sockets)
        try:
            found = await asyncio.gather(*(_ping(network, a, b, hosts, session, turns) for network, a, b in paths))
        finally:
            await hosts.close()
    return HaipPaths(tuple(found))


class _Turns:
    """The paths that may be pinged again now."""

    def __init__(self) -> None:
        self._places = asyncio.Semaphore(AGAIN_AT_ONCE)
        self._until_s = asyncio.get_running_loop().time() + AGAIN_WITHIN_S

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[bool]:
        """Wait for a place; False where the time is over."""
        async with self._places:
            yield asyncio.get_running_loop().time() < self._until_s


async def _ping(
    network: PrivateNetwork, a: Port, b: Port, hosts: ProbeHosts, session: ProbeSession, turns: _Turns
) -> HaipPath:
    assert isinstance(network.mtu, int)
    path = Path(network, a, b, network.mtu)
    sent: dict[str, int] = {}
    reason, mac = "", None
    with session.journal.entry(a.node, f"haip {a.ip} {b.ip}", HAIP_PINGS.reads[0].how) as entry:
        try:
            pinger = await hosts.pinger(path, PathLimits(session.settings.probe))
            requests = [Request(SMALL_PAYLOAD, SMALL), Request(path.full_payload, FULL)]
            timeout_s = session.settings.probe.timeout_ms / 1000
            small, full = await pinger.ping(requests, timeout_s=timeout_s)
            if small.received < SMALL or full.received < FULL:
                async with turns.turn() as is_in_time:
                    if is_in_time:
                        requests = [Request(SMALL_PAYLOAD, SMALL_AGAIN), Request(path.full_payload, FULL_AGAIN)]
                        small, full = await pinger.ping(requests, timeout_s=max(timeout_s, HURRY_S))
                    else:
                        reason = f"racwire pinged no path again after {AGAIN_WITHIN_S:g} s"
            sent = {
                "small_sent": small.sent, "small_answered": small.received,
                "full_sent": full.sent, "full_answered": full.received, "full_refused": full.refused_locally,
            }  # fmt: skip
            entry.text = ", ".join(f"{name} {count}" for name, count in sent.items())
            if not small.received and not full.received:
                mac = await read_neighbour(path, await hosts.shell(a.node))
        except (CannotPingError, ShellError, BudgetSpentError, OSError) as error:
            reason = str(error)
            entry.outcome = reason
    return HaipPath(
        network.name, a.node, b.node, a.ip, b.ip, network.mtu, reason=reason, neighbour_mac=mac, **sent
    )  # fmt: skip
