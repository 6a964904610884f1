"""Do the kernels send the packets for each private address over its own NIC, with the whole MTU?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from checks.model.check import Kind, check
from checks.model.facts import (
    Cluster,
    Interface,
    Node,
    NotGathered,
    PrivateNetwork,
    RouteInUse,
    Unknown,
    Unread,
    Verdict,
)
from checks.model.finding import PROBLEMS, Finding, Remedy, Status
from checks.model.observation import Observation
from checks.model.wording import counted, few
from checks.plugins.shared.grouping import alike, briefly, named, some
from checks.rules.observed.states import read_at, state, to_peer
from checks.rules.table_routes import route_to

_MANUAL = "ip-route(8)"
_TOPIC = "routes in use"
_TCP_HEADERS = {4: 40, 6: 60}
"""The bytes of an IP and a TCP header without options."""

WHOLE = Kind(
    "IC-EROUTE-001", "The kernels send packets between private addresses over their own NICs, with the whole MTU"
)
LEARNED = Kind(
    "IC-EROUTE-002",
    "A kernel has learned a smaller path MTU for a private address",
    "A router reported that a packet was too large, or another host sent such a report. Until the entry expires the "
    "kernel cuts larger packets for this address into fragments, or refuses those that must not be cut.",
    ("RFC 1191", _MANUAL),
)
OTHER_NIC = Kind(
    "IC-EROUTE-003",
    "A kernel sends the packets for a private address through another NIC, by a rule or another table",
    "The main table has the right route. A policy rule selects another table for these addresses: packets leave "
    "through another NIC, and rp_filter of the peer can drop them.",
    ("ip-rule(8)", "MOS 1286796.1"),
)
SMALLER = Kind(
    "IC-EROUTE-004",
    "A kernel uses a route with a smaller MTU for a private address, by a rule or another table",
    "The kernel cuts larger packets for this address into fragments, although the NIC could send them whole.",
    (_MANUAL,),
)
SOURCE = Kind(
    "IC-EROUTE-005",
    "A kernel sends from an address of another network to a private address",
    "Programs that do not choose their own address, such as ssh and rsync, send from this one: answers take another "
    "way, and rp_filter can drop them. Instances choose their own address.",
    (f"{_MANUAL}, src",),
)
REFUSED = Kind(
    "IC-EROUTE-006",
    "A kernel refuses packets from a private address to a peer",
    "The main table has a route. A rule, another table, or a route of the type unreachable, prohibit or blackhole "
    "comes before it.",
    (_MANUAL,),
)
SEGMENT = Kind(
    "IC-EROUTE-007",
    "A route limits TCP segments below the MTU of the private NIC",
    "advmss of the route makes the peers send smaller TCP segments. Blocks travel by UDP and are not affected.",
    (f"{_MANUAL}, advmss",),
)
NOT_KNOWN = Kind("IC-EROUTE-008", "The routes in use between private addresses are not known")


@dataclass(frozen=True)
class _Way:
    """The route in use on a node for one address, with the NIC that it should use."""

    node: Node
    network: PrivateNetwork
    nic: Interface
    route: RouteInUse

    @property
    def words(self) -> str:
        r = self.route
        parts = [
            f"dev {r.interface}" if r.interface else r.refusal,
            *([f"via {r.gateway}"] if r.gateway else []),
            *([f"mtu {'lock ' if r.mtu_locked else ''}{r.mtu}"] if r.mtu is not None else []),
            *([f"advmss {r.advmss}"] if r.advmss is not None else []),
            *([f"expires in {r.expires_s} s"] if r.expires_s is not None else []),
            *([f"src {r.unbound_source}"] if r.unbound_source not in ("", r.source_ip) else []),
        ]
        return " ".join(parts)

    @property
    def line(self) -> str:
        return f"{self.node.name}: {self.route.destination_ip} from {self.route.source_ip}: {self.words}"

    @property
    def table_agrees(self) -> bool:
        """Whether the main table sends these packets over the right NIC: where not, private-routes has the finding."""
        route = route_to(self.node, self.route.destination_ip)
        return route is not None and route.interface == self.nic.name


@check(
    "effective-route",
    question="Do the kernels send the packets for each private address over its own NIC, with the whole MTU?",
    needs=("nodes", "networks"),
    uses=("effective_routes", "paths"),
    kinds=(WHOLE, LEARNED, OTHER_NIC, SMALLER, SOURCE, REFUSED, SEGMENT, NOT_KNOWN),
)
def effective_route(cluster: Cluster) -> Iterator[Finding]:
    """Compares the answers of `ip route get`, for each private address and those of its peers, with the NICs.

    The answers include policy rules, other tables, exceptions and learned path MTUs, which the main table does not
    show. Faults of the main table itself are findings of private-routes and mtu-consistency, and are left out here. A
    learned path MTU on a path where df-ping found a fault is reported for information.
    """
    if isinstance(cluster.networks, Unknown):
        return
    if isinstance(cluster.effective_routes, NotGathered):
        yield WHOLE.finding(Status.SKIPPED, "These facts have no routes in use.", subject="not in the file")
        return
    ways, unknown = _ways(cluster)
    bad: list[_Way] = []
    for judge in _JUDGES:
        for same in alike([w for w in ways if judge.applies(w)], lambda w: (w.node.name, w.network.name)):
            yield _found(cluster, judge, same)
            bad += same
    # The main table has a finding of its own for these.
    fine = [w for w in ways if w not in bad and w.route.interface == w.nic.name]
    if fine:
        nodes = list(dict.fromkeys(way.node.name for way in fine))
        yield WHOLE.finding(
            Status.PASS,
            f"The kernels of {named(nodes, 'node')} use the right NIC for {counted(len(fine), 'pair')} of private "
            "addresses.",
            subject=f"{briefly(nodes, 'node')}: {counted(len(fine), 'pair')}",
            seen=some([w.line for w in fine]),
            evidence=[(node, _TOPIC) for node in nodes],
            observed=read_at(WHOLE.code, [(way.node.name, way.network.name) for way in fine]),
        )
    for nodes in alike(sorted(unknown), lambda node: unknown[node].reason):
        yield _not_known(nodes, unknown[nodes[0]])
    if not fine and not bad and not unknown:
        yield WHOLE.finding(
            Status.SKIPPED,
            "No two nodes that were read have addresses on one private network, with a route to judge here.",
            subject="no pairs",
        )


def _ways(cluster: Cluster) -> tuple[list[_Way], dict[str, Unread]]:
    """Return the routes in use, and the nodes that were read and did not answer.

    Left out are networks that share a subnet, where one route serves both (interfaces), and NICs that are down.
    """
    networks = cluster.networks if isinstance(cluster.networks, tuple) else ()
    subnets = [network.subnet for network in networks]
    by_name = {network.name: network for network in networks if subnets.count(network.subnet) == 1}
    if isinstance(cluster.effective_routes, Unknown):
        return [], {node.name: cluster.effective_routes for node in cluster.read_nodes()}
    ways: list[_Way] = []
    unknown: dict[str, Unread] = {}
    for found in cluster.effective_routes:
        node = cluster.node(found.node)
        if node is None:
            continue
        if isinstance(found.routes, Unknown):
            unknown[found.node] = found.routes
            continue
        for route in found.routes:
            network = by_name.get(route.network)
            port = network.port(node.name) if network else None
            nic = node.interface(port.interface) if port else None
            if network is not None and nic is not None and nic.is_up:
                ways.append(_Way(node, network, nic, route))
    return ways, unknown


@dataclass(frozen=True)
class _Judge:
    """One fault of a route in use: where it applies, and its words."""

    kind: Kind
    status: Status
    applies: Callable[[_Way], bool]
    clause: Callable[[_Way], str]
    """What follows `rac1 ... for 192.168.10.2`."""
    expected: str


def _learned(way: _Way) -> bool:
    route = way.route
    return route.expires_s is not None and route.mtu is not None and route.mtu < way.nic.mtu


def _smaller(way: _Way) -> bool:
    """Return whether the route's own MTU is smaller than the NIC's, and is not that of a route of the main table."""
    mtu = way.route.mtu
    is_own = way.route.expires_s is None and mtu is not None and mtu < way.nic.mtu and _is_right(way)
    return is_own and not any(r.mtu == mtu and r.interface == way.nic.name for r in way.node.routes)


def _is_right(way: _Way) -> bool:
    return way.route.interface == way.nic.name


def _segment(way: _Way) -> bool:
    headers = _TCP_HEADERS[6 if ":" in way.route.destination_ip else 4]
    largest = min(way.nic.mtu, way.route.mtu or way.nic.mtu) - headers
    return way.route.advmss is not None and way.route.advmss < largest and _is_right(way)


def _other_source(way: _Way) -> bool:
    source = way.route.unbound_source
    return bool(source) and source not in {a.ip for a in way.nic.addresses} and _is_right(way)


_JUDGES = (
    _Judge(
        REFUSED,
        Status.FAIL,
        lambda w: bool(w.route.refusal) and w.table_agrees,
        lambda w: f"refuses packets: {w.route.refusal}",
        "A route over the private NIC",
    ),
    _Judge(
        OTHER_NIC,
        Status.FAIL,
        lambda w: bool(w.route.interface) and not _is_right(w) and w.table_agrees,
        lambda w: f"sends packets through {w.route.interface}, not through {w.nic.name}",
        "The private NIC, as in the main table",
    ),
    _Judge(
        LEARNED,
        Status.WARN,
        _learned,
        lambda w: f"has learned the path MTU {w.route.mtu}, and its NIC {w.nic.name} has MTU {w.nic.mtu}",
        "No learned path MTU on one layer 2 network",
    ),
    _Judge(
        SMALLER,
        Status.WARN,
        _smaller,
        lambda w: f"uses a route with MTU {w.route.mtu}, and its NIC {w.nic.name} has MTU {w.nic.mtu}",
        "The MTU of the NIC",
    ),
    _Judge(
        SOURCE,
        Status.WARN,
        _other_source,
        lambda w: f"sends from {w.route.unbound_source}, which is not an address of {w.nic.name}",
        "An address of the private NIC",
    ),
    _Judge(
        SEGMENT,
        Status.INFO,
        _segment,
        lambda w: f"announces TCP segments of {w.route.advmss} bytes at most",
        "The MTU of the NIC without headers",
    ),
)


def _found(cluster: Cluster, judge: _Judge, same: Sequence[_Way]) -> Finding:
    first, name = same[0], same[0].node.name
    status = judge.status
    if judge.kind is LEARNED and all(_path_has_fault(cluster, way) for way in same):
        status = Status.INFO
    ips = [way.route.destination_ip for way in same]
    return judge.kind.finding(
        status,
        f"The kernel of {name} {judge.clause(first)}, for {few(ips, 3)}.",
        subject=f"{name} {first.nic.name}: {counted(len(ips), 'route')}",
        data={"interface": first.nic.name, "routes": len(ips)},
        seen=some([way.line for way in same]),
        expected=(judge.expected,),
        next=[
            Remedy(
                "Display the route in use, the rules, and the tables.",
                (
                    f"ip route get {ips[0]} from {first.route.source_ip}",
                    "ip rule show",
                    "ip route show table all",
                ),
                f"any user on {name}",
            )
        ]
        if status in PROBLEMS
        else [],
        evidence=[(name, _TOPIC), (name, "routes"), (name, "interfaces")],
        network=first.network.name,
        nodes=[name],
        extent=(len(ips), "routes") if status in PROBLEMS else None,
        observed=[_observed(judge, way) for way in same],
    )


def _observed(judge: _Judge, way: _Way) -> Observation:
    route = way.route
    is_mtu = judge.kind in (LEARNED, SMALLER)
    return state(
        "mtu" if is_mtu else judge.kind.code,
        way.node.name,
        way.network.name,
        route.interface or way.nic.name,
        route.mtu if is_mtu else route.to_node,
        to_peer(way.node.name, route.to_node, way.network.name, route.destination_ip),
    )


def _path_has_fault(cluster: Cluster, way: _Way) -> bool:
    """Return whether df-ping measured this path, or another to the same peer there, and it does not pass."""
    paths = () if isinstance(cluster.paths, Unknown) else cluster.paths
    ends = (way.node.name, way.route.to_node)
    return any(
        (p.from_node, p.to_node) == ends and p.network == way.network.name and p.verdict is not Verdict.PASSES
        for p in paths
    )


def _not_known(nodes: Sequence[str], fact: Unread) -> Finding:
    return NOT_KNOWN.finding(
        Status.UNKNOWN,
        f"The routes in use on {named(nodes, 'node')} are not known.",
        subject=f"{briefly(nodes, 'node')}: not known",
        seen=(fact.reason,),
        next=[Remedy("Fix the cause named above, then run this check again.", ("racwire check effective-route",))],
        evidence=[(node, _TOPIC) for node in nodes],
        nodes=nodes,
        lacks=[fact],
    )
