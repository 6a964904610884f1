"""Does each node send the packets for a peer to the peer's own NIC?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from checks.model.check import Kind, check
from checks.model.facts import Cluster, Unknown
from checks.model.finding import Finding, Remedy, Status
from checks.model.wording import listed
from checks.plugins.shared.grouping import alike, briefly, named, some

_RFC = "RFC 5227"
RIGHT = Kind("IC-NEIGH-001", "Each node sends the packets for a peer to the peer's own NIC")
OTHER_NIC = Kind(
    "IC-NEIGH-002",
    "A node sends packets for a private address to another NIC of the same peer",
    "Two networks of the peer are connected, by crossed cables or a common VLAN, and its kernel answers for an address "
    "on any NIC (arp_ignore 0). Packets arrive on the wrong NIC: rp_filter may drop them, and one link carries both.",
    ("Linux kernel documentation, ip-sysctl, arp_ignore",),
)
STRANGER = Kind(
    "IC-NEIGH-003",
    "A node sends packets for a private address to a NIC that is not the peer's",
    "Another host answers for the address, or an entry was set by hand. The packets do not reach the peer.",
    (_RFC,),
)
TWO_OWNERS = Kind(
    "IC-NEIGH-004",
    "Two nodes have the same private address",
    "Each peer reaches only one of the two nodes, and which one changes with every ARP answer.",
    (_RFC,),
)
SAME_MAC = Kind(
    "IC-NEIGH-005",
    "Two nodes have the same MAC address on a private network",
    "The switch sends the packets for both nodes to the port that sent last: packets of each are lost in turn.",
    ("IEEE 802.1Q, learning of addresses",),
)

_CERTAIN = ("reachable", "permanent", "delay", "probe")
"""States of an entry that is in use; a stale entry may be of a NIC that was replaced."""


@dataclass(frozen=True)
class _Entry:
    """A neighbour entry for a private address of a peer."""

    node: str
    interface: str
    ip: str
    mac: str
    state: str
    peer: str
    peer_nic: str
    peer_mac: str

    @property
    def line(self) -> str:
        return (
            f"{self.node}: {self.ip} has {self.mac} ({self.state}) on {self.interface}; {self.peer_nic} of {self.peer} "
            f"has {self.peer_mac}"
        )


@check(
    "neighbours",
    question="Does each node send the packets for a peer to the peer's own NIC?",
    needs=("nodes", "networks"),
    kinds=(RIGHT, OTHER_NIC, STRANGER, TWO_OWNERS, SAME_MAC),
)
def neighbours(cluster: Cluster) -> Iterator[Finding]:
    """Compares the neighbour entries of each node with the MAC addresses of the NICs that have these addresses.

    The check also searches for a private address or a MAC address that two nodes have. A second owner outside the
    cluster shows here where a node has its entry; the check address-owners looks for it with ARP probes. An entry that
    is stale is a warning, since it may be of a NIC that was replaced.
    """
    if isinstance(cluster.networks, Unknown):
        return
    entries = list(_entries(cluster))
    wrong = [e for e in entries if e.mac != e.peer_mac]
    doubles = [*_owners(cluster), *_same_macs(cluster)]
    yield from doubles
    nics = [(node.name, nic.mac_address.casefold()) for node in cluster.read_nodes() for nic in node.interfaces]
    for other in (True, False):
        chosen = [e for e in wrong if ((e.peer, e.mac) in nics) is other]
        for same in alike(chosen, lambda e: (e.peer, e.ip)):
            yield _wrong(same, is_other_nic=other)
    if not wrong and not doubles:
        yield _right(cluster, entries)


def _right(cluster: Cluster, entries: Sequence[_Entry]) -> Finding:
    nodes = list(dict.fromkeys(e.node for e in entries))
    number = len({(e.node, e.ip) for e in entries})
    verb = "has" if len(nodes) == 1 else "have"
    where = "its neighbour entry" if number == 1 else f"all {number} neighbour entries"
    return RIGHT.finding(
        Status.PASS,
        f"{named(nodes, 'node')} {verb} the MAC address of the peer's own NIC in {where}."
        if entries
        else "No two nodes have the same private address; no node has a neighbour entry for a peer to compare.",
        subject=f"{number} right" if entries else "no entries",
        seen=some([e.line for e in entries]),
        evidence=[(node, "neighbours") for node in nodes or [n.name for n in cluster.read_nodes()]],
    )


def _entries(cluster: Cluster) -> Iterator[_Entry]:
    owners = {
        address.ip: (port.node, interface)
        for network in ([] if isinstance(cluster.networks, Unknown) else cluster.networks)
        for port in network.ports
        if (interface := cluster.interface(port)) and interface.mac_address
        for address in interface.addresses
    }
    for node in cluster.read_nodes():
        for entry in node.neighbours:
            peer, interface = owners.get(entry.ip, ("", None))
            if interface and peer != node.name and entry.mac_address and entry.state not in ("failed", "incomplete"):
                yield _Entry(
                    node.name, entry.interface, entry.ip, entry.mac_address.casefold(), entry.state, peer,
                    interface.name, interface.mac_address.casefold(),
                )  # fmt: skip


def _wrong(same: Sequence[_Entry], *, is_other_nic: bool) -> Finding:
    first, nodes = same[0], list(dict.fromkeys(e.node for e in same))
    certain = any(e.state in _CERTAIN for e in same)
    macs = listed(dict.fromkeys(e.mac for e in same))
    if is_other_nic:
        whose, kind = f"another NIC of {first.peer}", OTHER_NIC
    else:
        whose, kind = f"a NIC that is not {first.peer}'s", STRANGER
    severe = Status.FAIL if certain and not is_other_nic else Status.WARN
    verb = "sends" if len(nodes) == 1 else "send"
    return kind.finding(
        severe,
        f"{named(nodes, 'node')} {verb} packets for {first.ip} of {first.peer} to {macs}, {whose}.",
        subject=f"{first.ip}: {macs}",
        data={"address": first.ip, "mac": first.mac, "expected_mac": first.peer_mac},
        seen=some([e.line for e in same]),
        expected=(f"{first.ip} has {first.peer_mac}",),
        next=[
            Remedy(
                "Find out who answers for the address.",
                (f"ip neigh show to {first.ip}", f"arping -c 3 -I {first.interface} {first.ip}"),
                f"root on {listed(nodes)}",
            ),
            Remedy(f"Ask the network team for the switch port that learned {first.mac}."),
        ],
        evidence=[*((node, "neighbours") for node in nodes), (first.peer, "interfaces")],
        nodes=list(dict.fromkeys([*nodes, first.peer])),
        extent=(len(same), "entries"),
    )


def _private(cluster: Cluster) -> Iterator[tuple[str, str, str, str]]:
    """Yield (node, NIC, address, MAC address) for each private port."""
    for network in [] if isinstance(cluster.networks, Unknown) else cluster.networks:
        for port in network.ports:
            interface = cluster.interface(port)
            if interface is None:
                continue
            for address in interface.addresses:
                if not address.is_link_local:
                    yield port.node, port.interface, address.ip, interface.mac_address.casefold()


def _owners(cluster: Cluster) -> Iterator[Finding]:
    ports = sorted(set(_private(cluster)))
    for same in alike(ports, lambda port: port[2]):
        nodes = list(dict.fromkeys(node for node, *_ in same))
        if len(nodes) > 1:
            yield TWO_OWNERS.finding(
                Status.FAIL,
                f"{named(nodes, 'node')} have the same private address {same[0][2]}.",
                subject=f"{same[0][2]}: {briefly(nodes, 'node')}",
                data={"address": same[0][2]},
                seen=some([f"{node}: {nic} has {ip}, MAC {mac or 'not known'}" for node, nic, ip, mac in same]),
                expected=("An address of its own for each node",),
                next=[
                    Remedy("Compare the addresses with the plan of the network.", ("ip -brief address",), "any user")
                ],
                evidence=[(node, "interfaces") for node in nodes],
                nodes=nodes,
            )


def _same_macs(cluster: Cluster) -> Iterator[Finding]:
    ports = sorted({(node, nic, mac) for node, nic, _, mac in _private(cluster) if mac.strip("0:")})
    for same in alike(ports, lambda port: port[2]):
        nodes = list(dict.fromkeys(node for node, *_ in same))
        if len(nodes) > 1:
            yield SAME_MAC.finding(
                Status.FAIL,
                f"{named(nodes, 'node')} have the same MAC address {same[0][2]} on a private NIC.",
                subject=f"{same[0][2]}: {briefly(nodes, 'node')}",
                data={"mac": same[0][2]},
                seen=some([f"{node}: {nic} has {mac}" for node, nic, mac in same]),
                expected=("A MAC address of its own for each NIC",),
                next=[
                    Remedy(
                        "Compare the MAC address in use with that of the hardware; cloned virtual machines share one.",
                        tuple(dict.fromkeys(f"ethtool -P {nic}" for _, nic, _ in same)),
                        f"root on {listed(nodes)}",
                    )
                ],
                evidence=[(node, "interfaces") for node in nodes],
                nodes=nodes,
            )
