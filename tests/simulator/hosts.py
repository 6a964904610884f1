"""The nodes of a simulated cluster as racwire's own probes see them: pings, shells, and a clock that needs no time.

The real code of `checks.sources.probes` sends, judges, searches the path MTU and counts arrivals; only what a kernel
does is simulated.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, TypeVar

from msgspec.structs import replace

from checks.model.facts import Cluster, HaipPaths, Node, NodeRoutes, PathProbe, PingSeries
from checks.model.journal import Journal
from checks.model.packet_sizes import packet_of
from checks.model.settings import Settings
from checks.sources.entries import Program
from checks.sources.kernel_files import (
    ARRIVALS,
    LINK,
    NEIGHBOUR,
    ROUTE_MARK,
    ROUTES_IN_USE,
    RULES_MARK,
    UDP_ENDS,
    UNBOUND_MARK,
)
from checks.sources.nodes.read_only.allow_list import SENDER_TEXT
from checks.sources.nodes.route_get import queries, read_routes_in_use
from checks.sources.probes import haip_pings, udp_flows
from checks.sources.probes.limits import PathLimits
from checks.sources.probes.path import Path
from checks.sources.probes.paths import PathRun
from checks.sources.probes.pinger import Request
from tests.simulator import sender
from tests.simulator.faults import NETWORKS
from tests.simulator.node_facts import gateway, own_ip
from tests.simulator.world import World

_SMALL_MS, _LARGE_MS = 0.08, 0.21
_TABLE = 100
"""The routing table of a NIC with rules of its own, less the number of its network."""
_REFUSALS = 3
"""Refusals of its own kernel after which a ping ends."""
_Result = TypeVar("_Result")


class _NoWait(selectors.DefaultSelector):
    """A selector that never waits."""

    waited_s = 0.0

    def select(self, timeout: float | None = None) -> Any:
        self.waited_s += max(0.0, timeout or 0.0)
        return super().select(0)


class InstantLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock moves to the next timer at once."""

    def __init__(self) -> None:
        self._no_wait = _NoWait()
        super().__init__(self._no_wait)

    def time(self) -> float:
        return self._no_wait.waited_s


def instantly(work: Coroutine[Any, Any, _Result]) -> _Result:
    """Run to the end, without waiting for any timer."""
    loop = InstantLoop()
    try:
        return loop.run_until_complete(work)
    finally:
        loop.close()


def network_of(nic: str) -> int:
    """Return the number of the network of `eth2`."""
    return int(nic.removeprefix("eth"))


def address_kind(ip: str) -> str:
    """Return the kind of an address."""
    return "haip" if ip.startswith("169.254.") else "private"


class SimulatedPinger:
    """Pings of one path."""

    sent_by = "ping"

    def __init__(self, world: World, path: Path, limits: PathLimits) -> None:
        self._world = world
        self._path = path
        self._limits = limits

    async def ping(self, requests: Sequence[Request], *, timeout_s: float, hurry: bool = False) -> list[PingSeries]:
        """Send the requests; see Pinger."""
        self._limits.demand(sum(request.count for request in requests))
        return [self._series(request) for request in requests]

    def _series(self, request: Request) -> PingSeries:
        path, size = self._path, packet_of(request.payload, self._path.version)
        here, there = path.source.node, path.destination.node
        network = network_of(path.source.interface)
        address = address_kind(path.source.ip)
        is_unreachable = self._world.is_unreachable(here, there, network, address)
        is_local = self._world.is_local(here, there, network, address)
        results = [self._world.ping(network, here, there, address, size) for _ in range(request.count)]
        if results[0] is None:
            results = results[:_REFUSALS]
        refused, answered = results.count(None), results.count(True)
        back = self._world.way(there, here, self._world.out(there, network, address))
        if here == self._world.names[0] and back.arrives != network and not is_local:
            answered = 0  # racwire's own socket is bound to the NIC by which it sends
        self._limits.spend(len(results), size)
        rtt = (_SMALL_MS if size < 1000 else _LARGE_MS) if answered else None
        return PingSeries(
            request.payload, len(results), answered,
            refused_locally=refused,
            local_mtu=self._world.mtu_to(here, network, address) if refused else None,
            unreachable_from=path.source.ip if is_unreachable and not is_local and not refused else "",
            rtt_ms_min=rtt, rtt_ms_median=rtt, rtt_ms_max=rtt, ttl=64 if answered else None,
        )  # fmt: skip


@dataclass
class SimulatedShell:
    """The programs that probes run on a node."""

    world: World
    node: str
    cluster: Cluster

    async def run(self, program: Program, *arguments: str) -> Any:
        """Return what the program prints."""
        texts: dict[str, Callable[..., str]] = {
            LINK.name: self._link, NEIGHBOUR.name: self._neighbour, ROUTES_IN_USE.name: self._routes,
        }  # fmt: skip
        if program.name == ARRIVALS.name:
            text = f"Icmp: InMsgs InEchos\nIcmp: 0 {self.world.in_echos[self.node]}\n"
        elif program.name == UDP_ENDS.name:
            text = self._udp_ends()
        else:
            text = texts[program.name](*arguments)
        return SimpleNamespace(text=text)

    async def start(self, command: Sequence[str]) -> Any:
        """Run the sender of datagrams."""
        words = command[list(command).index(SENDER_TEXT) + 1 :]
        return SimpleNamespace(text=sender.run(self.world, self.node, self.cluster, words))

    def _facts(self) -> Node:
        found = self.cluster.node(self.node)
        assert found is not None
        return found

    def _link(self, nic: str) -> str:
        found = self._facts().interface(nic)
        return found.operational_state if found else ""

    def _neighbour(self, ip: str, nic: str) -> str:
        entry = next((n for n in self._facts().neighbours if (n.ip, n.interface) == (ip, nic)), None)
        if entry is None and self.world.has("arp-off", self.node, network_of(nic)):
            return ""
        if entry is None or not entry.mac_address:
            return f"{ip} used 0/0/0 probes 6 FAILED"
        age_s = 0 if entry.state == "reachable" else entry.confirmed_s or 0
        return f"{ip} lladdr {entry.mac_address} used 0/{age_s}/0 probes 1 {entry.state.upper()}"

    def _routes(self, source: str, *peers: str) -> str:
        nic = next(i.name for i in self._facts().interfaces if any(a.ip == source for a in i.addresses))
        network, address = network_of(nic), address_kind(source)
        mtu = self.world.route_mtu(self.node, network, address)
        cache = f"\n    cache mtu {mtu}" if mtu else "\n    cache"
        is_ruled = self.world.has_gateway(self.node, network, address)
        via = f" via {gateway(network)}" if is_ruled else ""
        table = f" table {_TABLE + network}" if is_ruled else ""
        out = f"eth{self.world.out(self.node, network, address)}"
        routes = "".join(
            f"{ROUTE_MARK}{ip}\n{ip} from {source}{via} dev {out}{table} uid 0{cache}\n"
            f"{UNBOUND_MARK}\n{ip} dev {out} src {source}\n"
            for ip in peers
        )
        return f"{routes}{RULES_MARK}\n{''.join(self._rules())}"

    def _rules(self) -> Iterator[str]:
        """The rules of each Linux, and that of a cloud's script: a table of its own for the address of a NIC."""
        yield "0:\tfrom all lookup local\n"
        for network in NETWORKS:
            if self.world.has_gateway(self.node, network, "private"):
                own = own_ip(self.world, self.node, network)
                yield f"{32_700 + network}:\tfrom {own} lookup {_TABLE + network}\n"
        yield "32766:\tfrom all lookup main\n32767:\tfrom all lookup default\n"

    def _udp_ends(self) -> str:
        memory = self._facts().sysctls.get("net.ipv4.ipfrag_high_thresh", "67108864")
        return (
            "/usr/bin/python3\nrange: 9000 65500\ntable:   sl  local_address\nUdp: InDatagrams NoPorts\n"
            f"Udp: 0 {self.world.no_ports[self.node]}\nFRAG: inuse 0 memory 0\nmost: {memory}\n"
        )


@dataclass
class Hosts:
    """The nodes as senders of pings, and the session of a run; see ProbeHosts and ProbeSession."""

    world: World
    cluster: Cluster
    local_node: str = "rac1"
    settings: Settings = field(default_factory=Settings)
    journal: Journal = field(default_factory=Journal)

    def facts(self, node: str) -> Node | None:
        """Return the facts of a node."""
        return self.cluster.node(node)

    async def shell(self, node: str) -> Any:
        """Return the shell of a node."""
        return SimulatedShell(self.world, node, self.cluster)

    async def pinger(self, path: Path, limits: PathLimits) -> SimulatedPinger:
        """Return the sender of a path."""
        return SimulatedPinger(self.world, path, limits)

    async def close(self) -> None:
        """Nothing is open."""

    def progress(self, group: str, text: str, done: int, total: int) -> None:
        """Nobody watches."""


class _Paths(PathRun):
    """The probing of all paths, without the lock of other racwires."""

    def __init__(self, hosts: Hosts) -> None:
        assert isinstance(hosts.cluster.networks, tuple)
        assert isinstance(hosts.cluster.nodes, tuple)
        super().__init__(hosts.cluster.networks, hosts.cluster.nodes, hosts)
        self._nodes = hosts  # type: ignore[assignment]

    async def run(self) -> tuple[PathProbe, ...]:
        await self._probe()
        if self._report_due is not None:
            self._report_due.cancel()
        return self.results()


async def probe(world: World, cluster: Cluster) -> dict[str, object]:
    """Return the groups of probes and of routes of a cluster whose nodes and database are known."""
    hosts = Hosts(world, cluster)
    assert isinstance(cluster.networks, tuple)
    assert isinstance(cluster.nodes, tuple)
    # The times are those of this machine.
    paths = tuple([replace(p, elapsed_ms=0.0) for p in await _Paths(hosts).run()])

    async def known() -> tuple[PathProbe, ...]:
        return paths

    # No node is the local one: each sends through its shell.
    remote = Hosts(world, cluster, local_node="", journal=hosts.journal)
    flows = await udp_flows.send_flows(cluster.networks, cluster.nodes, known, remote, interval_s=30.0)
    return {
        "paths": paths,
        "flows": flows,
        "haip_paths": await _haip_paths(hosts),
        "effective_routes": await _routes(hosts),
    }


async def _routes(hosts: Hosts) -> tuple[NodeRoutes, ...]:
    names = [node.name for node in hosts.cluster.read_nodes()]
    asked = {name: queries(hosts.cluster, name) for name in names}
    return tuple([await read_routes_in_use(await hosts.shell(n), hosts.journal, asked[n], n) for n in names])


async def _haip_paths(hosts: Hosts) -> HaipPaths:
    ports = haip_pings.haip_ports(hosts.cluster)
    assert isinstance(hosts.cluster.networks, tuple)
    turns = haip_pings._Turns()
    found = [
        await haip_pings._ping(network, a, b, hosts, hosts, turns)  # type: ignore[arg-type]
        for network in hosts.cluster.networks
        for a in ports.get(network.name, ())
        for b in ports.get(network.name, ())
        if a.node != b.node and isinstance(network.mtu, int)
    ]
    return HaipPaths(tuple(found)) if found else HaipPaths(reason="No two instances use HAIP addresses.")
