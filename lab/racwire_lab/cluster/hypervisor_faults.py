"""Faults that no node and no switch shows: filters of a hypervisor, a tunnel, an aggregation, a filter of HAIP."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from racwire_lab.cluster import layer2
from racwire_lab.cluster.drop_rules import DropRule, named
from racwire_lab.cluster.fault_kind import ActiveFault, Fault
from racwire_lab.cluster.nics import Nic
from racwire_lab.cluster.topology import PortId, Shape

TUNNEL_MTU = 1450
"""Bytes of a packet that VXLAN carries over a network with MTU 1500: its headers take 50."""
_LINKS, _SHARE_PERCENT = 4, 20
_LATER_FRAGMENT = "ip frag-off & 0x1fff != 0"
_BY_ADDRESSES = "jhash ip saddr . ip daddr"
_BAD_LINK = f"mod {_LINKS} seed 0x5ac 1 numgen random mod 100 < {_SHARE_PERCENT}"
_LOST_SHARE = (
    f"ip protocol udp ip frag-off & 0x3fff == 0 {_BY_ADDRESSES} . udp sport . udp dport {_BAD_LINK}",
    f"ip protocol udp ip frag-off & 0x3fff != 0 {_BY_ADDRESSES} {_BAD_LINK}",
    f"ip protocol != udp {_BY_ADDRESSES} {_BAD_LINK}",
)
"""What an aggregation by layer 3 and 4 sends over its bad link, less what that carries. A fragment has no ports."""
_TO_HAIP = ("ip daddr 169.254.0.0/16",)
_SWITCH_FILTERS = {"flow-share-loss": _LOST_SHARE, "haip-filtered": _TO_HAIP}


def _of_hypervisor(name: str, summary: str, effect: str, *, fragments: bool = False) -> Fault:
    return Fault(name, summary, effect, "nic", needs_nft=True, needs_fragments=fragments, needs_hypervisor=True)


HYPERVISOR_FAULTS = (
    _of_hypervisor(
        "spoof-check",
        "The hypervisor drops what one node sends, because the NIC has another MAC address than it knows.",
        "Gives the NIC a new MAC address, as in a cloned virtual machine, while the hypervisor lets only frames from "
        "the old one leave the node (spoof check; forged transmits: reject). Frames to the node arrive. The other "
        "nodes keep the old address until their neighbour entries expire.",
    ),
    _of_hypervisor(
        "security-list-fragments",
        "A security list drops the later fragments to one node.",
        "The hypervisor drops each IP fragment to the NIC but the first one, which alone has the ports that the list "
        "allows: no block arrives whole, and the node's reassembly times out. Packets in one piece pass.",
        fragments=True,
    ),
    _of_hypervisor(
        "one-protocol",
        "The hypervisor passes only ICMP and ARP between one node and the others.",
        "Drops every IP packet from and to the NIC that is not ICMP, as a security list with a rule for ping only: "
        "pings of every size pass, and neither UDP nor TCP does.",
    ),
    _of_hypervisor(
        "one-protocol-udp",
        "The hypervisor passes only UDP and ARP between one node and the others.",
        "Drops every IP packet from and to the NIC that is not UDP, as a security list with a rule for the database's "
        "ports only: blocks pass, and no ping does.",
    ),
    Fault(
        "flow-share-loss",
        f"One of {_LINKS} links of an aggregation in front of one node loses {_SHARE_PERCENT} % of its packets.",
        "Distributes UDP flows from and to the node by addresses and ports, and all else, fragments too, by addresses; "
        f"drops {_SHARE_PERCENT} % of what one link carries, as a dirty optic does. Most flows lose nothing, and a "
        "ping that takes the link loses some.",
        "nic",
        needs_nft=True,
    ),
    Fault(
        "haip-filtered",
        "The network drops the packets to HAIP addresses.",
        "The switch drops every IP packet to 169.254.0.0/16, which some devices do not forward; ARP and the private "
        "addresses pass. With --node, only at that node's port.",
        "nic",
        default_node=None,
        needs_nft=True,
    ),
    Fault(
        "tunnel-mtu",
        f"A tunnel below the NICs carries packets of {TUNNEL_MTU} bytes only.",
        f"The network silently drops packets above {TUNNEL_MTU} bytes in both directions, as VXLAN over a network "
        "with MTU 1500 does; `racwire lab switch` sets other sizes. With --node, only at that node's port.",
        "nic",
        default_node=None,
    ),
)
"""The faults of hypervisors, tunnels and aggregations, in the order of `racwire lab faults`."""


def ends(port: PortId) -> tuple[str, str]:
    """Return the names of the hypervisor's port toward a NIC, and of its uplink."""
    return f"vm-eth{port.network}", f"up-eth{port.network}"


def is_behind_tunnel(port: PortId, broken: frozenset[ActiveFault]) -> bool:
    """Whether what a NIC sends and receives passes a tunnel."""
    return not broken.isdisjoint(_at_port_or_network("tunnel-mtu", port))


def newly_unknown(nics: Mapping[PortId, Nic], broken: frozenset[ActiveFault]) -> frozenset[PortId]:
    """Return the ports whose MAC addresses the hypervisors do not know."""
    return frozenset(port for port in nics if ActiveFault("spoof-check", *port) in broken)


def hypervisor_rules(shape: Shape, node: str, broken: frozenset[ActiveFault]) -> tuple[DropRule, ...]:
    """Return the rules of the bridge family in the hypervisor of a node."""
    rules = []
    for port in (port for port in shape.private_ports if port.node == node):
        guest, uplink = ends(port)
        both = f'iifname {{ "{guest}", "{uplink}" }}'
        matches = {
            "spoof-check": f'iifname "{guest}" ether saddr != {layer2.mac(port, frozenset())}',
            "security-list-fragments": f'iifname "{uplink}" {_LATER_FRAGMENT}',
            "one-protocol": f"{both} ip protocol != icmp",
            "one-protocol-udp": f"{both} ip protocol != udp",
        }
        nic = shape.networks[port.network].nic
        rules += [
            DropRule(named(fault, node, nic), "prerouting", match)
            for fault, match in matches.items()
            if ActiveFault(fault, *port) in broken
        ]
    return tuple(rules)


def hidden_rules(shape: Shape, broken: frozenset[ActiveFault]) -> Iterator[DropRule]:
    """Yield the rules of these faults in the switch, by fault and place."""
    for fault, matches in _SWITCH_FILTERS.items():
        for network in shape.private_networks:
            ports = [port for port in shape.private_ports if port.network == network.number]
            if ActiveFault(fault, None, network.number) in broken:
                names = ", ".join(f'"{port.name}"' for port in ports)
                yield from _rules(named(fault, network.nic), "prerouting", f"iifname {{ {names} }}", matches)
                continue
            for port in ports:
                if ActiveFault(fault, *port) in broken:
                    name = named(fault, port.node, network.nic)
                    yield from _rules(name, "prerouting", f'iifname "{port.name}"', matches)
                    yield from _rules(name, "forward", f'oifname "{port.name}"', matches)


def _rules(name: str, hook: str, at: str, matches: tuple[str, ...]) -> Iterator[DropRule]:
    yield from (DropRule(name, hook, f"{at} {match}") for match in matches)


def _at_port_or_network(fault: str, port: PortId) -> frozenset[ActiveFault]:
    return frozenset({ActiveFault(fault, *port), ActiveFault(fault, None, port.network)})
