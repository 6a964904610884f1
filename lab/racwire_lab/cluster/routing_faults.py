"""The faults in where a node sends: rules and tables of clouds, HAIP's route, and a bridge with a peer's address."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from racwire_lab.cluster.fault_kind import ActiveFault, of_nic
from racwire_lab.cluster.networks import Network
from racwire_lab.cluster.nics import Nic
from racwire_lab.cluster.topology import PortId, Shape, number_before

HAIP_ROUTE_MTU = 1400
_GATEWAY = 254
"""The last number of the gateway's address, which no host has unless the fault `routed` adds it."""
_TABLE, _RIGHT_TABLE = 99, 109
"""What is added to the number of the network for the table of a rule, and for that of a rule that is right."""


ROUTING_FAULTS = (
    of_nic(
        "policy-gateway",
        "A policy rule of one node sends its private packets to a gateway that no host is.",
        "Adds a rule for packets from the NIC's address, and a table with a default route only, as a script of a cloud "
        f"for a second NIC does: the node asks by ARP for .{_GATEWAY} instead of its peers. Packets from its HAIP "
        "pass.",
    ),
    of_nic(
        "policy-right",
        "A policy rule of one node leads to a table that also has the route of the private subnet.",
        "Adds a rule for packets from the NIC's address, and a table with the route of the subnet and a default route, "
        "as a cloud's script for a second NIC should. No packet is lost.",
    ),
    of_nic(
        "haip-wrong-route",
        "The route of one node for the HAIP addresses of one private network leads over its other private NIC.",
        "Replaces the kernel's route for the addresses of HAIP by one over the other private NIC, with the HAIP there "
        "as the source: what the node sends to these HAIPs goes over the other network. Peers accept it unless "
        "their rp_filter is strict; a ping that is bound to the NIC gets no answer.",
    ),
    of_nic(
        "local-bridge",
        "A bridge on one node has the private address of another node.",
        "Adds a bridge without ports, as one of a container network, with the address of the node before it (rac1 for "
        "rac2): the node delivers packets for this address to itself, and answers ARP requests for it.",
    ),
)


def routing_steps(
    shape: Shape, node: str, nics: Mapping[PortId, Nic], broken: frozenset[ActiveFault]
) -> Iterator[tuple[str, str]]:
    """Yield the `ip` commands that make these faults on a node, each with the one that ends it."""
    for network in shape.private_networks:
        nic = nics[PortId(node, network.number)]
        source = nic.address.partition("/")[0]

        def has(fault: str, network: Network = network) -> bool:
            return ActiveFault(fault, node, network.number) in broken

        default = f"default via {source.rpartition('.')[0]}.{_GATEWAY} dev {nic.name} onlink"
        if has("policy-gateway"):
            yield from _rule(source, _TABLE + network.number, [default])
        if has("policy-right"):
            subnet = f"{network.cidr} dev {nic.name} scope link src {source}"
            yield from _rule(source, _RIGHT_TABLE + network.number, [subnet, default])
        if has("local-bridge"):
            bridge, peer = f"br-5f{network.number}", network.address(number_before(node))
            yield f"link add {bridge} type bridge", f"link delete {bridge}"
            yield f"address add {peer}/{network.prefix_length} dev {bridge}", ""
            yield f"link set {bridge} up", ""


def _rule(source: str, table: int, routes: list[str]) -> Iterator[tuple[str, str]]:
    for route in routes:
        yield f"route add {route} table {table}", f"route del {route} table {table}"
    yield f"rule add from {source} lookup {table}", f"rule del from {source} lookup {table}"


def haip_route_steps(
    shape: Shape, node: str, nics: Mapping[PortId, Nic], broken: frozenset[ActiveFault]
) -> Iterator[tuple[str, str]]:
    """Yield the same for the routes of HAIP addresses: one step a network, whatever its faults."""
    networks = shape.private_networks
    for place, network in enumerate(networks):
        own, other = (nics[PortId(node, n.number)] for n in (network, networks[(place + 1) % len(networks)]))
        is_elsewhere = ActiveFault("haip-wrong-route", node, network.number) in broken
        has_mtu = ActiveFault("haip-route-mtu", node, network.number) in broken
        if own.haip and other.haip and (is_elsewhere or has_mtu):
            usual = f"{network.haip_subnet}/17 dev {own.name} proto kernel scope link src {_bare(own.haip)}"
            wrong = f"{network.haip_subnet}/17 dev {other.name} scope link src {_bare(other.haip)}"
            route = f"{wrong if is_elsewhere else usual}{f' mtu {HAIP_ROUTE_MTU}' if has_mtu else ''}"
            # A NIC that lost and regained its addresses has the kernel's own route, too.
            end = f"route flush exact {network.haip_subnet}/17"
            yield f"{end}\nroute add {route}", f"{end}\nroute add {usual}"


def _bare(address: str) -> str:
    return address.partition("/")[0]
