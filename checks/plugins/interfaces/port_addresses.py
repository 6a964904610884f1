"""Findings about the addresses of single nodes: a netmask of its own, two interfaces with each other's address."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from checks.model.check import Kind
from checks.model.facts import Cluster, PrivateNetwork, Unknown, Verdict
from checks.model.finding import Finding, Remedy, Status
from checks.rules.neighbour_entries import Whose, neighbour_entries
from checks.rules.swapped_ports import SwappedPorts, swapped_ports

_RULES = "Grid Infrastructure Installation Guide, private IP interface requirements"

NETMASK = Kind(
    "IC-IFACE-015",
    "A node has a different netmask on a private network than the other nodes",
    "The node treats some of the other nodes as hosts behind a router, or hosts behind a router as neighbours. "
    "Clusterware, which stores the subnet, does not find the interface after a restart.",
    (_RULES,),
)
SWAPPED = Kind(
    "IC-IFACE-031",
    "The addresses of two private interfaces of a node are exchanged",
    "oifcfg names one interface for each private network. On this node each of the two has the address of the other "
    "network: packets leave on the wrong one, and Clusterware does not find its networks after a restart.",
    ("Clusterware Administration Guide, private networks and network interfaces",),
)


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
                Status.FAIL,
                f"{port.interface} of {port.node} has the netmask /{prefix} on {network.name}; the others have "
                f"/{usual[0][0]}.",
                subject=f"{port.node} {port.interface} /{prefix}",
                data={"interface": port.interface, "prefix_length": prefix, "expected_prefix_length": usual[0][0]},
                seen=tuple(f"{p.node}: {p.interface} {p.ip}/{length}" for p, length in prefixes.items()),
                expected=(f"/{usual[0][0]} on every node",),
                next=[
                    Remedy("Display the address.", (f"ip address show {port.interface}",), f"any user on {port.node}"),
                    Remedy(
                        "Correct the netmask in the boot configuration of the node, with Clusterware down on the node.",
                        where=f"root on {port.node}",
                        is_change=True,
                    ),
                ],
                evidence=[(p.node, "interfaces") for p in network.ports],
                network=network.name,
                nodes=[port.node],
            )


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
    paths = [
        p
        for p in (() if isinstance(cluster.paths, Unknown) else cluster.paths)
        if p.network in networks and node in (p.from_node, p.to_node)
    ]
    named = f"{one.interface} for {one.subnet} and {other.interface} for {other.subnet}"
    if paths and not entries and all(p.verdict is Verdict.PASSES for p in paths):
        # The addresses are on the right cables, so the names are wrong.
        change = Remedy(
            f"Exchange the names of {one.interface} and {other.interface} in the boot configuration of {node}, with "
            "Clusterware down on that node: each address answers on its own network.",
            where=f"root on {node}",
            is_change=True,
        )
    else:
        change = Remedy(
            f"Exchange the addresses of {one.interface} and {other.interface} in the boot configuration of {node}, "
            "with Clusterware down on that node. If the cables are exchanged too, exchange the names instead.",
            where=f"root on {node}",
            is_change=True,
        )
    return SWAPPED.finding(
        Status.FAIL,
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
            Remedy("Display the addresses.", ("ip -brief address", "oifcfg getif"), f"any user on {node}"),
            Remedy(
                "Find out which switch port each of the two NICs is plugged into, and compare with another node.",
                (f"ethtool -P {one.interface}", f"ethtool -P {other.interface}"),
                f"root on {node}",
            ),
            change,
        ],
        evidence=[(cluster.local_node, "oifcfg getif"), *((p.node, "interfaces") for p in one.ports)],
        nodes=[node],
    )
