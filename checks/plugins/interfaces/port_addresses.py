"""Findings about the addresses of single nodes: another netmask, exchanged addresses, two interfaces."""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Iterator, Sequence

from checks.model.check import FailKind, WarnKind
from checks.model.effect import Effect
from checks.model.facts import Cluster, Interface, Node, Port, PrivateNetwork, Verdict
from checks.model.finding import Finding, NextStep
from checks.model.observation import Observation
from checks.model.shell_command import for_each, shell
from checks.model.wording import listed
from checks.rules.engineered import is_engineered
from checks.rules.neighbour_entries import Whose, neighbour_entries
from checks.rules.observed.states import state, to_peer
from checks.rules.swapped_ports import SwappedPorts, swapped_ports

_RULES = "Grid Infrastructure Installation Guide, private IP interface requirements"

NETMASK = FailKind(
    "IC-IFACE-015",
    "A node has a different netmask on a private network than the other nodes",
    "The node treats some of the other nodes as hosts behind a router, or hosts behind a router as neighbours. "
    "Clusterware, which stores the subnet, does not find the interface after a restart.",
    (_RULES,),
)
SWAPPED = FailKind(
    "IC-IFACE-031",
    "The addresses of two private interfaces of a node are exchanged",
    "oifcfg names one interface for each private network. On this node each of the two has the address of the other "
    "network: packets leave on the wrong one, and Clusterware does not find its networks after a restart.",
    ("Clusterware Administration Guide, private networks and network interfaces",),
)
SECOND_INTERFACE = WarnKind(
    "IC-IFACE-032",
    "Another interface of a node has an address in the subnet of a private network",
    "The kernel sends the packets for the subnet out of one of the two interfaces, and answers ARP requests for the "
    "addresses of both on both: peers learn the wrong MAC address, rp_filter can drop packets, and when the used "
    "interface fails, the other one is not used. Oracle supports several private interfaces each in a subnet of its "
    "own, or as members of one bond.",
    (_RULES, "MOS 1481481.1", "Linux kernel documentation, ip-sysctl, arp_ignore and arp_filter"),
)

OF_ANOTHER = WarnKind(
    "IC-IFACE-034",
    "A NIC of one private network has an address of another one",
    "The kernel has two routes to the subnet and uses one of them, and answers ARP requests for both addresses on both "
    "NICs: packets for one network can take the other, and Clusterware can choose the wrong interface at its start.",
    (_RULES, "Linux kernel documentation, ip-sysctl, arp_ignore and arp_filter"),
)
KINDS = (NETMASK, SWAPPED, SECOND_INTERFACE, OF_ANOTHER)


def netmask_findings(cluster: Cluster, network: PrivateNetwork) -> Iterator[Finding]:
    """Yield a finding for each port with another netmask than most ports of the network."""
    prefixes = {
        port: address.prefix_length
        for port in network.ports
        if (interface := cluster.interface(port))
        for address in interface.addresses
        if address.ip == port.ip
    }
    usual = Counter(prefixes.values()).most_common(1)
    for port, prefix in prefixes.items():
        if prefix != usual[0][0]:
            yield NETMASK.finding(
                f"{port.interface} of {port.node} has the netmask /{prefix} on {network.name}; the others have "
                f"/{usual[0][0]}.",
                subject=f"{port.node} {port.interface} /{prefix}",
                data={"interface": port.interface, "prefix_length": prefix, "expected_prefix_length": usual[0][0]},
                seen=tuple(f"{p.node}: {p.interface} {p.ip}/{length}" for p, length in prefixes.items()),
                expected=(f"/{usual[0][0]} on every node",),
                next=[
                    NextStep(
                        "Display the address.",
                        (shell("ip address show {nic}", nic=port.interface),),
                        f"any user on {port.node}",
                    ),
                    NextStep(
                        "Correct the netmask in the boot configuration of the node.",
                        where=f"root on {port.node}",
                        is_change=True,
                        effect=Effect.NODE_OUT_FIRST,
                    ),
                ],
                evidence=[(p.node, "interfaces") for p in network.ports],
                network=network.name,
                nodes=[port.node],
                observed=_cut_off(network, port, prefix),
            )


def _cut_off(network: PrivateNetwork, port: Port, prefix: int) -> list[Observation]:
    """Return the netmask for each peer outside the subnet that the node takes for its own; else once."""
    own = ipaddress.ip_network(f"{port.ip}/{prefix}", strict=False)
    outside = [p for p in network.ports if p.node != port.node and ipaddress.ip_address(p.ip) not in own]
    place = NETMASK.code, port.node, network.name, port.interface, prefix
    return [state(*place, to_peer(port.node, p.node, network.name, p.ip)) for p in outside] or [state(*place)]


def swapped_findings(cluster: Cluster) -> Iterator[Finding]:
    """Yield a finding for each node whose two interfaces have each other's address, or each other's name."""
    for swap in swapped_ports(cluster):
        yield _swapped(cluster, swap)


def _swapped(cluster: Cluster, swap: SwappedPorts) -> Finding:
    (one, other), node = swap.networks, swap.node
    first, second = swap.first, swap.second
    networks = (one.name, other.name)
    entries = [
        e
        for e in neighbour_entries(cluster)
        if e.whose is Whose.OTHER_NIC and e.network in networks and node in (e.node, e.peer)
    ]
    paths = [p for p in cluster.read_paths() if p.network in networks and node in (p.from_node, p.to_node)]
    named = f"{one.interface} for {one.subnet} and {other.interface} for {other.subnet}"
    if paths and not entries and all(p.verdict is Verdict.PASSES for p in paths):
        # The addresses are on the right cables, so the names are wrong.
        text = (
            f"Exchange the names of {one.interface} and {other.interface} in the boot configuration of {node}: "
            "each address answers on its own network."
        )
    else:
        text = (
            f"Exchange the addresses of {one.interface} and {other.interface} in the boot configuration of {node}. "
            "If the cables are exchanged too, exchange the names instead."
        )
    return SWAPPED.finding(
        f"{second.interface} and {first.interface} of {node} have each other's address: {second.interface} has "
        f"{second.ip}, {first.interface} has {first.ip}.",
        subject=f"{node} {one.interface}, {other.interface} exchanged",
        data={"interfaces": f"{second.interface}, {first.interface}"},
        seen=(
            f"{node}: {second.interface} {second.ip}, {first.interface} {first.ip}",
            *[f"{p.node}: {p.interface} {p.ip}" for n in swap.networks for p in n.ports if p.node != node][:4],
            *[e.line for e in entries][:3],
        ),
        expected=(f"{named} on every node",),
        next=[
            NextStep("Display the addresses.", ("ip -brief address", "oifcfg getif"), f"any user on {node}"),
            NextStep(
                "Find out which switch port each of the two NICs is plugged into, and compare with another node.",
                for_each("ethtool -P {nic}", nic=(one.interface, other.interface)),
                f"any user on {node}",
            ),
            NextStep(text, where=f"root on {node}", is_change=True, effect=Effect.NODE_OUT_FIRST),
        ],
        evidence=[(cluster.local_node, "oifcfg getif"), *((p.node, "interfaces") for p in one.ports)],
        nodes=[node],
        observed=[
            state(SWAPPED.code, node, network.name, port.interface, port.ip)
            for network, port in zip(swap.networks, (first, second), strict=True)
        ],
    )


def second_interface_findings(cluster: Cluster) -> Iterator[Finding]:
    """Yield a finding for each node with an interface in a private subnet that is not the one of that network.

    Left out are further addresses of the same interface, such as HAIP, VIPs and aliases; HAIP on other interfaces;
    members of a bond; loopback and dummy interfaces; host addresses, which make no route to the subnet; an address
    that another node has too, which neighbours finds; and engineered systems, whose vendor uses two interfaces in one
    subnet. Two networks of oifcfg in one subnet have a finding of their own.
    """
    networks = cluster.read_networks()
    known = {(port.node, port.interface) for network in networks for port in network.ports}
    for network in networks:
        for port in network.ports:
            node, own = cluster.node(port.node), cluster.interface(port)
            if node is None or own is None or is_engineered(cluster, own.name):
                continue
            found = [
                (interface, text)
                for interface in node.interfaces
                if (node.name, interface.name) not in known and _can_answer(interface)
                for text in _in_subnet_of(cluster, node, interface, own, port.ip)
            ]
            if found:
                yield _second_interface(network, node, own, port.ip, found)
            others = [n.port(node.name) for n in networks if n is not network and n.subnet != network.subnet]
            for name in dict.fromkeys(p.interface for p in others if p and p.interface != own.name):
                nic = node.interface(name)
                texts = list(_in_subnet_of(cluster, node, nic, own, port.ip)) if nic else []
                texts = [text for text in texts if _is_astray(text, network, networks, node.name)]
                if nic and texts:
                    yield _of_another(network, node, own, nic, texts)
            if found_on := [n.name for n in networks if n is not network and _is_shared(n, network, node.name)]:
                yield _on_one_nic(network, node, own, found_on)


def _can_answer(interface: Interface) -> bool:
    """Return whether the kernel routes by the addresses of an interface, and answers ARP requests there."""
    return interface.administratively_up and not interface.master and interface.kind not in ("loopback", "dummy")


def _in_subnet_of(cluster: Cluster, node: Node, interface: Interface, own: Interface, ip: str) -> Iterator[str]:
    """Yield the addresses of an interface in the subnet of another one, with their prefix lengths."""
    subnet = next((a.network for a in own.addresses if a.ip == ip), None)
    elsewhere = {
        a.ip for other in cluster.read_nodes() if other.name != node.name for i in other.interfaces for a in i.addresses
    }
    for address in interface.addresses:
        host = ipaddress.ip_address(address.ip)
        is_host_route = address.prefix_length == host.max_prefixlen
        if subnet and host in subnet and not (address.is_link_local or is_host_route or address.ip in elsewhere):
            yield f"{address.ip}/{address.prefix_length}"


def _is_astray(text: str, network: PrivateNetwork, networks: Sequence[PrivateNetwork], node: str) -> bool:
    """Return whether an address is in the usual subnet of a network, and not the address of the node on another one."""
    own = {port.ip for n in networks if n is not network and (port := n.port(node))}
    ip = text.partition("/")[0]
    return ip not in own and ipaddress.ip_address(ip) in ipaddress.ip_network(network.subnet, strict=False)


def _is_shared(one: PrivateNetwork, other: PrivateNetwork, node: str) -> bool:
    """Return whether a node has both networks on one NIC, and most others have a NIC for each. The first of the two
    networks, by name, counts."""
    shared = {a.node: a.interface == b.interface for a in one.ports for b in other.ports if a.node == b.node}
    return other.name < one.name and shared.get(node, False) and sum(shared.values()) * 2 < len(shared)


def _on_one_nic(network: PrivateNetwork, node: Node, own: Interface, others: list[str]) -> Finding:
    networks = [network.name, *others]
    return OF_ANOTHER.finding(
        f"{own.name} of {node.name} has the addresses of {listed(networks)}, which are on a NIC each on other nodes.",
        subject=f"{node.name} {own.name}: {len(networks)} networks",
        data={"interface": own.name, "networks": ", ".join(networks)},
        seen=(f"{node.name}: {own.name} has {listed(f'{a.ip}/{a.prefix_length}' for a in own.addresses)}",),
        expected=("A NIC of its own for each private network",),
        next=_move_address(node.name, own.name, network.subnet),
        evidence=[(node.name, "interfaces")],
        nodes=[node.name],
        observed=[state(OF_ANOTHER.code, node.name, name, own.name) for name in networks],
    )


def _of_another(network: PrivateNetwork, node: Node, own: Interface, nic: Interface, texts: list[str]) -> Finding:
    return OF_ANOTHER.finding(
        f"{nic.name} of {node.name} also has {listed(texts)}, of the private network {network.name}, which is on "
        f"{own.name}.",
        subject=f"{node.name} {nic.name}: {listed(texts)}",
        data={"interface": nic.name, "addresses": ", ".join(texts)},
        seen=(f"{node.name}: {nic.name} has {listed(f'{a.ip}/{a.prefix_length}' for a in nic.addresses)}",),
        expected=(f"Addresses of {network.subnet} on {own.name} alone",),
        next=_move_address(node.name, nic.name, network.subnet),
        evidence=[(node.name, "interfaces"), (node.name, "routes")],
        network=network.name,
        nodes=[node.name],
        extent=(len(texts), "addresses"),
        observed=[state(OF_ANOTHER.code, node.name, network.name, nic.name, text) for text in texts],
    )


def _move_address(node: str, nic: str, subnet: str) -> list[NextStep]:
    return [
        NextStep(
            "Display the addresses of the NIC, and the route to the subnet that the kernel uses.",
            (shell("ip -details address show {nic}", nic=nic), shell("ip route show {subnet}", subnet=subnet)),
            f"any user on {node}",
        ),
        NextStep(
            "Find out which program or file set the address, and correct it there and in the boot configuration.",
            where=f"root on {node}",
            is_change=True,
            effect=Effect.NODE_OUT_FIRST,
        ),
    ]


def _second_interface(
    network: PrivateNetwork, node: Node, own: Interface, ip: str, found: list[tuple[Interface, str]]
) -> Finding:
    names = list(dict.fromkeys(interface.name for interface, _ in found))
    return SECOND_INTERFACE.finding(
        f"{listed(names)} of {node.name} {'has' if len(names) == 1 else 'have'} {listed(text for _, text in found)}, "
        f"in the subnet of {own.name} on the private network {network.name}.",
        subject=f"{node.name} {listed(names)} next to {own.name}",
        data={"interface": own.name, "others": ", ".join(names)},
        seen=(f"{node.name}: {own.name} has {ip}", *(f"{node.name}: {i.name} has {text}" for i, text in found)),
        expected=(f"One interface in {network.subnet} on each node",),
        next=[
            NextStep(
                "Display the interfaces, and which one the kernel uses.",
                (
                    *for_each("ip -details address show {nic}", nic=names),
                    shell("ip route show {subnet}", subnet=network.subnet),
                ),
                f"any user on {node.name}",
            ),
            NextStep(
                f"Find out which program or file set the address. Plan another subnet for {listed(names)}, or a bond "
                "of both.",
                is_change=True,
                effect=Effect.NODE_OUT_FIRST,
                where=f"root on {node.name}",
            ),
        ],
        evidence=[(node.name, "interfaces"), (node.name, "routes")],
        network=network.name,
        nodes=[node.name],
        extent=(len(found), "addresses"),
        observed=[state(SECOND_INTERFACE.code, node.name, network.name, i.name, text) for i, text in found],
    )
