"""The kinds of faults that the simulator knows, their causes, and the places where each can be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

NETWORKS = (1, 2)
"""The numbers of the private networks; network 1 is on eth1."""
STANDARD_MTU = 1500


class Scope(Enum):
    """Where a fault is."""

    NIC = "nic"
    """One node on one network."""
    PAIR = "pair"
    """The way from one node to another on one network."""
    NETWORK = "network"
    NODE = "node"
    CLUSTER = "cluster"
    """All private networks together."""


class Needs(Enum):
    """The networks on which a fault can touch a packet."""

    ANY = "any MTU"
    JUMBO = "an MTU of 9000"
    FRAGMENTS = "an MTU of 1500, at which blocks are cut"


@dataclass(frozen=True)
class Kind:
    """A kind of fault. Names are those of `racwire lab break`, where the practice cluster has the fault."""

    name: str
    scope: Scope
    causes: frozenset[str]
    """The codes of the catalogue, any of which is right; empty where no cause of the catalogue is the fault."""
    findings: tuple[str, ...]
    """Codes of findings, one of which the fault alone must bring; empty where it alone brings none."""
    needs: Needs = Needs.ANY
    is_silent: bool = False
    """Whether it touches no packet by itself and its finding is a hint: to report its cause as possible is enough."""
    is_of_flows: bool = False
    """Whether some flows alone meet it: no evidence shows at which end of their links it is."""
    shows_network: bool = True
    """Whether evidence tells the network: counters of reassembly are those of a node, for all of its networks."""


def _causes(*numbers: int) -> frozenset[str]:
    return frozenset(f"CAUSE-{number:02}" for number in numbers)


_ANY_LOSS = _causes(1, 8, 18, 20, 21)
"""A share of all packets at a port: nothing that racwire can read tells these causes apart."""
_LOSS_FINDINGS = ("IC-PATH-005", "IC-PATH-012", "IC-LOST-002")

KINDS = {
    kind.name: kind
    for kind in (
        Kind("node-mtu", Scope.NIC, _causes(5), ("IC-MTU-002", "IC-MTU-003", "IC-MTU-004"), Needs.JUMBO),
        Kind("policy-mtu", Scope.NIC, _causes(5), ("IC-PATH-002",), Needs.JUMBO),
        Kind("haip-route-mtu", Scope.NIC, _causes(50), ("IC-ROUTE-003",)),
        Kind("switch-mtu", Scope.NETWORK, _causes(12), ("IC-PATH-003",), Needs.JUMBO),
        Kind("port-mtu", Scope.NIC, _causes(12), ("IC-PATH-003",), Needs.JUMBO),
        Kind("one-way-mtu", Scope.PAIR, _causes(12), ("IC-PATH-003",), Needs.JUMBO),
        Kind("split-switch", Scope.NETWORK, _causes(84, 85), ("IC-PATH-031", "IC-PATH-006")),
        Kind("split-switch-mtu", Scope.NETWORK, _causes(12), ("IC-PATH-003",), Needs.JUMBO),
        Kind("link-down", Scope.NIC, _causes(37), ("IC-IFACE-004",)),
        Kind("port-dead", Scope.NIC, _causes(85, 84), ("IC-PATH-006",)),
        Kind("loss", Scope.NIC, _ANY_LOSS, ("IC-PATH-005",)),
        # So few pings are lost that datagrams alone can show it: then a limit of UDP looks the same.
        Kind("small-loss", Scope.NIC, _ANY_LOSS | _causes(73), _LOSS_FINDINGS),
        Kind("udp-filtered", Scope.NIC, _causes(8), ("IC-FLOW-004",)),
        Kind("icmp-filtered", Scope.NODE, _causes(75, 8), ("IC-FLOW-010",)),
        Kind("icmp-size-filtered", Scope.NETWORK, _causes(75), ("IC-FLOW-010",), Needs.JUMBO),
        Kind("drop-fragments", Scope.NETWORK, _causes(72, 3), ("IC-REASM-002",), Needs.FRAGMENTS, shows_network=False),
        Kind("fragments-filtered", Scope.NETWORK, _causes(72), ("IC-FRAG-002",), Needs.FRAGMENTS),
        Kind("fragments-filtered-to", Scope.NIC, _causes(72), ("IC-FRAG-002",), Needs.FRAGMENTS),
        Kind("udp-policed", Scope.NETWORK, _causes(73), ("IC-FLOW-005", "IC-FLOW-008")),
        Kind("icmp-policed", Scope.NETWORK, _causes(75), ("IC-FLOW-011",)),
        Kind("lag-member-mtu", Scope.NETWORK, _causes(70), ("IC-FLOW-002",), Needs.JUMBO),
        Kind("lag-member-loss", Scope.NETWORK, _causes(71), ("IC-FLOW-003",)),
        Kind("wrong-neighbour", Scope.PAIR, _causes(81), ("IC-NEIGH-006",)),
        Kind("duplicate-address", Scope.NIC, _causes(39), ("IC-NEIGH-004",)),
        Kind("duplicate-mac", Scope.NIC, _causes(80), ("IC-NEIGH-005",)),
        Kind("crossed-cables", Scope.NODE, _causes(82), ("IC-NEIGH-002",)),
        Kind("strict-rp-filter", Scope.NODE, _causes(15), ("IC-RPF-004",), is_silent=True),
        Kind("small-receive-buffer", Scope.NODE, _causes(2), ("IC-UDP-002",)),
        Kind("small-reassembly-memory", Scope.NODE, _causes(3), ("IC-REASM-003",), Needs.FRAGMENTS),
        Kind("sender-queue", Scope.NIC, _causes(17), ("IC-NIC-005",)),
        Kind("nic-errors", Scope.NIC, _causes(1), ("IC-NIC-002",)),
        Kind("cluster-interconnects-set", Scope.NODE, _causes(36), ("IC-USE-004",)),
        Kind("route-over-private", Scope.NIC, _causes(6), ("IC-ROUTE-002",), is_silent=True),
        Kind("stranger-traffic", Scope.PAIR, _causes(6), ("IC-SHARE-002",)),
        Kind("foreign-host", Scope.NETWORK, _causes(6), ("IC-TOPO-002",)),
        Kind("hung-instance", Scope.NODE, _causes(63), ("IC-PING-008",)),
        Kind("node-down", Scope.NODE, _causes(62), ("IC-IFACE-033",)),
        Kind("arp-off", Scope.NIC, _causes(64), ("IC-NEIGH-009",)),
        Kind("policy-gateway", Scope.NIC, _causes(51), ("IC-EROUTE-009",)),
        Kind("haip-wrong-route", Scope.NIC, _causes(51), ("IC-EROUTE-010",)),
        Kind("joined-networks", Scope.CLUSTER, _causes(65), ("IC-OWNER-005",)),
        Kind("spoof-check", Scope.NIC, _causes(67, 8, 85), ("IC-PATH-006",)),
        Kind(
            "flow-share-loss",
            Scope.NIC,
            _causes(71, 1, 20, 21),
            ("IC-FLOW-015", "IC-PATH-005", "IC-LOST-002"),
            is_of_flows=True,
        ),
        Kind("security-list-fragments", Scope.NIC, _causes(72, 67), ("IC-FRAG-002",), Needs.FRAGMENTS),
        Kind("one-protocol", Scope.NIC, _causes(8, 67), ("IC-FLOW-004",)),
        Kind("haip-filtered", Scope.NETWORK, _causes(69), ("IC-HAIP-010",)),
        Kind("haip-stranger", Scope.NIC, _causes(39), ("IC-NEIGH-003", "IC-NEIGH-014")),
        Kind("tunnel-mtu", Scope.NIC, _causes(68), ("IC-PATH-033",), Needs.FRAGMENTS),
        Kind("other-network-address", Scope.NIC, _causes(51, 37), ("IC-IFACE-034",), is_silent=True),
        Kind("local-bridge", Scope.PAIR, _causes(39), ("IC-NEIGH-016",)),
        Kind("port-flaps", Scope.NIC, _causes(40), ("IC-NIC-006",)),
        Kind("conntrack-full", Scope.NODE, _causes(77), ("IC-FILTER-007",)),
    )
}
NEWER = frozenset(
    (
        *("arp-off", "policy-gateway", "haip-wrong-route", "joined-networks", "spoof-check", "flow-share-loss"),
        *("security-list-fragments", "one-protocol", "haip-filtered", "haip-stranger", "tunnel-mtu"),
        *("other-network-address", "local-bridge", "port-flaps", "conntrack-full"),
    )
)
"""The kinds that only draws which ask for them have, so that a seed keeps its draws."""

ALIKE = {
    kind.name: kind
    for kind in (
        Kind("cable-bad", Scope.NIC, _causes(1), _LOSS_FINDINGS),
        Kind("port-bad", Scope.NIC, _causes(1), _LOSS_FINDINGS),
        Kind("nic-bad", Scope.NIC, _causes(1), _LOSS_FINDINGS),
        Kind("strand-in-bad", Scope.NIC, _causes(1), _LOSS_FINDINGS),
        Kind("strand-out-bad", Scope.NIC, _causes(1), _LOSS_FINDINGS),
        Kind("strand-in-weak", Scope.NIC, _causes(1), ()),
        Kind("queue-full", Scope.NIC, _causes(20), _LOSS_FINDINGS),
        Kind("port-policed", Scope.NIC, _causes(21), _LOSS_FINDINGS),
        Kind("udp-filtered-at-port", Scope.NIC, _causes(8), ()),
        Kind("udp-limited-at-node", Scope.NIC, _causes(73), ()),
        Kind("icmp-filtered-at-port", Scope.NIC, _causes(75), ()),
        Kind("private-filtered-at-port", Scope.NIC, _causes(8), ()),
        Kind("haip-filtered-at-port", Scope.NIC, _causes(69), ()),
        Kind("second-host", Scope.NIC, _causes(39), ()),
        Kind("port-blocked", Scope.NIC, _causes(85), ()),
        Kind("port-of-another-vlan", Scope.NIC, _causes(85), ()),
        Kind("lag-member-share", Scope.NETWORK, _causes(71), ()),
        Kind("switch-loss", Scope.NETWORK, _causes(20), _LOSS_FINDINGS),
    )
}
"""The kinds that a first report cannot tell apart, or tell from those above: an investigation can. No report of these
is compared with facts of the practice cluster, and no draw of pairs has them."""

BELOW_NICS = frozenset({"spoof-check", "security-list-fragments", "one-protocol", "tunnel-mtu"})
"""The kinds in a hypervisor or cloud: the nodes are its virtual machines."""


@dataclass(frozen=True, order=True)
class Fault:
    """A fault at its place."""

    kind: str
    network: int = 0
    """0 for a node, or the cluster, on all networks."""
    node: str = ""
    peer: str = ""

    @property
    def of(self) -> Kind:
        """The kind."""
        return KINDS.get(self.kind) or ALIKE[self.kind]

    def __str__(self) -> str:
        network = f"net{self.network}" if self.network else ""
        node = f"{self.node}>{self.peer}" if self.peer else self.node
        return f"{self.kind}@{':'.join(filter(None, (network, node)))}"


def node_names(nodes: int) -> tuple[str, ...]:
    """Return rac1 to racN."""
    return tuple(f"rac{number}" for number in range(1, nodes + 1))


def faults(kinds: Sequence[str], nodes: int, mtu: int) -> tuple[Fault, ...]:
    """Return every fault of these kinds at every place of a cluster where it can touch anything."""
    unfit = Needs.FRAGMENTS if mtu > STANDARD_MTU else Needs.JUMBO
    every = {**KINDS, **ALIKE}
    return tuple(
        fault for name in kinds if every[name].needs is not unfit for fault in _places(every[name], node_names(nodes))
    )


def _places(kind: Kind, names: Sequence[str]) -> Iterator[Fault]:
    for network in NETWORKS if kind.scope not in (Scope.NODE, Scope.CLUSTER) else (0,):
        if kind.scope in (Scope.NETWORK, Scope.CLUSTER):
            yield Fault(kind.name, network)
            continue
        # racwire runs on the first node: when that is down, nobody looks.
        for node in names[1:] if kind.name == "node-down" else names:
            peers = [p for p in names if p != node] if kind.scope is Scope.PAIR else [""]
            yield from (Fault(kind.name, network, node, peer) for peer in peers)


def misled(node: str, names: Sequence[str]) -> str:
    """Return the node that takes a strange host for the owner of the HAIP of this one."""
    return next(name for name in names if name != node)


def before(node: str, names: Sequence[str]) -> str:
    """Return the node before this one, and the second for the first: whose address or MAC address a duplicate has."""
    return names[names.index(node) - 1] if names.index(node) else names[1]
