"""Findings of `interfaces` about addresses and routes in the range of HAIP that are not on a private network.

Clusterware picks HAIP addresses from 169.254.0.0/16. Management controllers behind a USB network interface (iDRAC,
IMM), zeroconf and the metadata services of clouds use the same range. The kernel sends a packet by the most specific
route, so such an address or route can take the packets for a HAIP address of another node.
"""

from __future__ import annotations

import ipaddress
from collections import defaultdict
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import NamedTuple

from checks.model.check import FailKind, Kind, WarnKind
from checks.model.effect import Effect
from checks.model.facts import Address, Cluster, Clusterware, Interface, Node, Route, Unknown
from checks.model.finding import Finding, NextStep
from checks.model.shell_command import shell
from checks.model.wording import listed
from checks.rules.network_setup import haip_status
from checks.rules.observed.states import network_at, state

_RANGE = ipaddress.IPv4Network("169.254.0.0/16")

HAIP_TAKEN = FailKind(
    "IC-IFACE-016",
    "A node does not send the packets for a HAIP address through a private network",
    "The packets do not use the private networks. They are lost, so that instances time out, are evicted or cannot "
    "start; or they travel over a network with another MTU that clients use too. Pings between the private networks' "
    "own addresses do not show this.",
    ("MOS 1161144.1", "MOS 1210883.1"),
)
RANGE_SHARED = WarnKind(
    "IC-IFACE-017",
    "An address that is no HAIP address is in the range of HAIP",
    "Clusterware picks HAIP addresses from the same range when it starts, and removes the routes of other interfaces "
    "in the range (CRS-5018). After the next start the interface can take the packets for a HAIP address.",
    ("MOS 1629814.1", "MOS 1210883.1"),
)


NETWORK_IN_RANGE = Kind(
    "IC-IFACE-040",
    "A private network is in the range of HAIP",
    "Clusterware takes HAIP addresses from 169.254.0.0/16 and sets routes in that range on the private NICs: a HAIP "
    "address can be the private address of another node, and a route of HAIP can take the packets of this network.",
    ("MOS 1210883.1", "RFC 3927"),
)
KINDS = (HAIP_TAKEN, RANGE_SHARED, NETWORK_IN_RANGE)


class _Haip(NamedTuple):
    node: str
    interface: str
    address: Address


def link_local_findings(cluster: Cluster) -> Iterator[Finding]:
    """Yield findings for addresses and routes in the range of HAIP that are not on a private network.

    Yields nothing where HAIP is not in use (no node has a HAIP address, and the HAIP resource does not have the target
    ONLINE), and where the operator named the private networks, since those may not be all.
    """
    if isinstance(cluster.networks, Unknown) or any(n.named_by != "oifcfg" for n in cluster.networks):
        return
    haips = [
        _Haip(node.name, interface.name, address)
        for node in cluster.read_nodes()
        for interface in node.interfaces
        if _has_haip(cluster, node, interface)
        for address in interface.addresses
        if _may_be_haip(address)
    ]
    if not haips and not _has_target_online(cluster):
        return
    for node in cluster.read_nodes():
        taken: dict[str, list[tuple[_Haip, str]]] = defaultdict(list)
        for haip in haips:
            if haip.node != node.name and (way := _way_to(cluster, node, haip.address.ip)) is not None:
                taken[way[0]].append((haip, way[1]))
        for name, lost in taken.items():
            yield _haip_taken(cluster, node, name, lost)
        for interface in node.interfaces:
            if interface.name not in taken and interface.administratively_up:
                yield from _range_shared(cluster, node, interface)


def networks_in_range(cluster: Cluster) -> Iterator[Finding]:
    """Yield a finding for each private network inside 169.254.0.0/16: a failure where HAIP is in use."""
    networks = cluster.read_networks()
    for network in networks:
        if not network.subnet.startswith("169.254."):
            continue
        others = sorted({p.node for n in networks for p in n.ports} - {p.node for p in network.ports})
        yield NETWORK_IN_RANGE.finding(
            f"The private network {network.subnet} of {network.interface} is in 169.254.0.0/16, from which Clusterware "
            "takes HAIP addresses.",
            status=haip_status(_has_target_online(cluster)),
            subject=f"{network.subnet} in the range of HAIP",
            data={"subnet": network.subnet, "interface": network.interface},
            seen=(
                f"{network.named_by}: {network.interface} {network.subnet}",
                *(f"{port.node}: {port.interface} {port.ip}" for port in network.ports),
                *(f"{name}: no address there" for name in others),
            ),
            expected=("A private network outside 169.254.0.0/16: 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16",),
            next=[
                NextStep("Display the networks.", ("oifcfg getif", "oifcfg iflist -p -n"), "the Grid owner"),
                NextStep(
                    "Plan other addresses for this network, with Clusterware down on all nodes.",
                    is_change=True,
                    effect=Effect.CLUSTER_DOWN_FIRST,
                ),
            ],
            evidence=[(cluster.local_node, "oifcfg getif"), *((p.node, "interfaces") for p in network.ports)],
            network=network.name,
            observed=[
                state(NETWORK_IN_RANGE.code, name, network.name, network.interface, network.subnet)
                for name in [port.node for port in network.ports] or [cluster.local_node]
            ],
        )


def _has_target_online(cluster: Cluster) -> bool:
    facts = cluster.clusterware
    if not isinstance(facts, Clusterware) or isinstance(facts.haip, Unknown):
        return False
    return facts.haip.present and facts.haip.target.startswith("ONLINE")


def _has_haip(cluster: Cluster, node: Node, interface: Interface) -> bool:
    """Whether HAIP addresses belong on the interface: it is private, or was when Clusterware started."""
    if any(address.is_link_local and _alias(address).isdigit() for address in interface.addresses):
        return True
    networks = cluster.read_networks()
    ports = {port.interface for network in networks if (port := network.port(node.name))}
    elsewhere = (network for network in networks if network.port(node.name) is None)
    return interface.name in ports or any(fnmatchcase(interface.name, network.interface) for network in elsewhere)


def _may_be_haip(address: Address) -> bool:
    """Whether Clusterware may have set the address: its label is `eth1:1`, that of another program `eth1:avahi`."""
    return address.is_link_local and (not _alias(address) or _alias(address).isdigit())


def _alias(address: Address) -> str:
    return address.label.partition(":")[2]


def _way_to(cluster: Cluster, node: Node, ip: str) -> tuple[str, str] | None:
    """Return the interface that is not private and takes the packets for a HAIP address, and what is configured there;
    None where no interface does."""
    others = {i.name: i for i in node.interfaces if not _has_haip(cluster, node, i)}
    for interface in others.values():
        for address in interface.addresses:
            if address.ip == ip:
                return interface.name, f"{node.name}: {interface.name} has {ip}/{address.prefix_length} too"
    route = _route_to(node, ip)
    if route is None or route.interface not in others:
        return None
    return route.interface, f"{node.name}: route {route.destination} dev {route.interface}"


def _route_to(node: Node, ip: str) -> Route | None:
    """Return the route in the range of HAIP that the kernel uses: the most specific one, then the lowest metric, then
    the first one."""
    host, found = ipaddress.ip_address(ip), []
    for route in node.routes:
        if route.destination == "default":
            continue
        network = ipaddress.ip_network(route.destination)
        if isinstance(network, ipaddress.IPv4Network) and network.subnet_of(_RANGE) and host in network:
            found.append((-network.prefixlen, route.metric, route))
    return min(found, key=lambda one: one[:2])[2] if found else None


def _haip_taken(cluster: Cluster, node: Node, interface: str, lost: list[tuple[_Haip, str]]) -> Finding:
    haip = lost[0][0]
    others = sorted({one.node for one, _ in lost})
    what = (
        f"the HAIP address {haip.address.ip} of {haip.node}"
        if len(lost) == 1
        else f"{len(lost)} HAIP addresses of {listed(others)}"
    )
    own = node.interface(interface)
    is_own = own is not None and any(haip.address.ip == address.ip for address in own.addresses)
    title = (
        f"{node.name} has {what} itself: packets for it do not leave {node.name}."
        if is_own
        else f"{node.name} sends packets for {what} through {interface}, which is on no private network."
    )
    return HAIP_TAKEN.finding(
        title,
        subject=f"{node.name} {interface} takes HAIP",
        data={"interface": interface, "haip_addresses": ", ".join(one.address.ip for one, _ in lost)},
        seen=(
            *dict.fromkeys(reason for _, reason in lost),
            *(f"{one.node}: {one.interface} has the HAIP address {one.address.ip}" for one, _ in lost),
        ),
        expected=("A route to each HAIP address through a private network",),
        next=[
            NextStep(
                "Display the interface that the node uses.",
                (shell("ip route get {to}", to=haip.address.ip), shell("ip address show {nic}", nic=interface)),
                f"any user on {node.name}",
            ),
            _free_the_range(node, interface),
        ],
        evidence=[(node.name, "routes"), (node.name, "interfaces"), *((other, "interfaces") for other in others)],
        nodes=[node.name, *others],
        observed=[
            state(HAIP_TAKEN.code, node.name, network_at(cluster, one.node, one.interface), interface, one.node)
            for one, _ in lost
        ],
    )


def _range_shared(cluster: Cluster, node: Node, interface: Interface) -> Iterator[Finding]:
    has_haip = _has_haip(cluster, node, interface)
    for address in interface.addresses:
        if not address.is_link_local or (has_haip and _may_be_haip(address)):
            continue
        yield RANGE_SHARED.finding(
            f"{interface.name} of {node.name} has the address {address.ip}/{address.prefix_length}, in the range from "
            "which Clusterware picks HAIP addresses.",
            subject=f"{node.name} {interface.name} {address.ip}",
            data={"interface": interface.name, "address": address.ip, "prefix_length": address.prefix_length},
            seen=(f"{node.name}: {interface.name} {address.ip}/{address.prefix_length} {address.label}".rstrip(),),
            expected=("No address in 169.254.0.0/16 but those of HAIP",),
            next=[
                NextStep(
                    "Find out which program set the address.",
                    (shell("ip address show {nic}", nic=interface.name), "ip route show root 169.254.0.0/16"),
                    f"any user on {node.name}",
                ),
                _free_the_range(node, interface.name),
            ],
            evidence=[(node.name, "interfaces"), (node.name, "routes")],
            nodes=[node.name],
            observed=[state(RANGE_SHARED.code, node.name, nic=interface.name, value=address.ip)],
        )


def _free_the_range(node: Node, name: str) -> NextStep:
    """Return the step that removes the address, or the route where the interface has no address in the range."""
    interface = node.interface(name)
    found = [a.ip for a in interface.addresses if a.is_link_local and not _alias(a).isdigit()] if interface else []
    what = f"the address {listed(found)} from {name}" if found else f"the route through {name}"
    return NextStep(
        f"Remove {what}, and keep the program that set it from setting it again: for zeroconf with NOZEROCONF=yes in "
        "/etc/sysconfig/network, for a management controller (iDRAC, IMM) with another address of its USB interface.",
        where=f"root on {node.name}",
        is_change=True,
        effect=Effect.LOSES_PACKETS,
    )
