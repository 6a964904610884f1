"""Does each node send the packets for a peer to the peer's own NIC?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.check import Kind, check
from checks.model.effect import Effect
from checks.model.facts import Cluster, Interface, PrivateNetwork, Unknown
from checks.model.finding import Finding, Remedy, Status
from checks.model.observation import Fate, Observation
from checks.model.traffic import Address, Traffic, among
from checks.model.wording import hub, listed
from checks.plugins.shared.grouping import alike, briefly, named, some
from checks.rules.neighbour_entries import NeighbourEntry, Whose, neighbour_entries
from checks.rules.observed.states import read_at, read_on, state, to_peer
from checks.rules.swapped_ports import swapped_ports

_RFC = "RFC 5227"
RIGHT = Kind("IC-NEIGH-001", "Each node sends the packets for a peer to the peer's own NIC")
OTHER_NIC = Kind(
    "IC-NEIGH-002",
    "A private NIC of a node answers on the network of another one",
    "Crossed cables or a common VLAN connect the two networks, and a kernel answers for an address on any NIC "
    "(arp_ignore 0). Packets arrive on the wrong NIC: rp_filter may drop them, and the loss of one link cuts both "
    "networks of the node.",
    ("Linux kernel documentation, ip-sysctl, arp_ignore",),
)
STRANGER = Kind(
    "IC-NEIGH-003",
    "Another host answers for the private address of a node",
    "The packets for the address go to a NIC that is not the peer's. The peer does not receive them.",
    (_RFC,),
)
TWO_OWNERS = Kind(
    "IC-NEIGH-004",
    "Two nodes have the same private address",
    "Each peer reaches one of the two nodes, and which one changes with every ARP answer.",
    (_RFC,),
)
SAME_MAC = Kind(
    "IC-NEIGH-005",
    "Two nodes have the same MAC address on a private network",
    "The switch sends the packets for both nodes to the port that sent last: packets of each are lost in turn.",
    ("IEEE 802.1Q, learning of addresses",),
)
BY_HAND = Kind(
    "IC-NEIGH-006",
    "A neighbour entry that was set by hand has a wrong MAC address",
    "The node sends the packets for the address to a NIC that the peer does not have, and the entry never expires.",
    ("ip-neighbour(8), nud permanent",),
)
NONE = Kind("IC-NEIGH-007", "No two nodes have the same private address, and no node has an entry to compare")


@check(
    "neighbours",
    question="Does each node send the packets for a peer to the peer's own NIC?",
    needs=("nodes", "networks"),
    uses=("paths",),
    kinds=(RIGHT, OTHER_NIC, STRANGER, TWO_OWNERS, SAME_MAC, BY_HAND, NONE),
)
def neighbours(cluster: Cluster) -> Iterator[Finding]:
    """Compares the neighbour entries of each node with the MAC addresses of the NICs that have these addresses.

    Entries are read with the nodes, and again after the pings for nodes between which pings got no answer. The check
    also searches for a private address or a MAC address that two nodes have. A second owner outside the cluster shows
    where a node has its entry; the check address-owners probes for it. An entry that is stale is a warning, since it
    may be of a NIC that was replaced.
    """
    if isinstance(cluster.networks, Unknown):
        return
    entries = neighbour_entries(cluster)
    swapped = {swap.node for swap in swapped_ports(cluster)}
    # The check `interfaces` names the node whose addresses are swapped.
    wrong = [e for e in entries if e.whose is not Whose.OWN]
    told = [e for e in wrong if e.whose is Whose.OTHER_NIC and swapped.intersection((e.node, e.peer))]
    found = [f for network in cluster.networks for f in (*_owners(cluster, network), *_same_macs(cluster, network))]
    for whose in (Whose.SET, Whose.STRANGER):
        for same in alike([e for e in wrong if e.whose is whose], lambda e: (e.peer, e.ip)):
            found.append(_wrong(same))
    if others := [e for e in wrong if e.whose is Whose.OTHER_NIC and e not in told]:
        found.append(_crossed(others))
    yield from found
    if told:
        yield _fits(told, sorted(swapped))
    if not found and not told:
        yield _right(cluster, entries)


def _right(cluster: Cluster, entries: Sequence[NeighbourEntry]) -> Finding:
    if not entries:
        return NONE.finding(
            Status.PASS,
            "No two nodes have the same private address; no node has a neighbour entry for a peer to compare.",
            subject="no entries",
            evidence=[(node.name, "neighbours") for node in cluster.read_nodes()],
            observed=read_on(NONE.code, [node.name for node in cluster.read_nodes()]),
        )
    nodes = list(dict.fromkeys(e.node for e in entries))
    verb = "has" if len(nodes) == 1 else "have"
    where = "its neighbour entry" if len(entries) == 1 else f"all {len(entries)} neighbour entries"
    return RIGHT.finding(
        Status.PASS,
        f"{named(nodes, 'node')} {verb} the MAC address of the peer's own NIC in {where}.",
        subject=f"{len(entries)} right",
        seen=some([e.line for e in entries]),
        evidence=[(node, "neighbours") for node in nodes],
        observed=read_at(RIGHT.code, [(e.node, e.network) for e in entries]),
    )


def _wrong(same: Sequence[NeighbourEntry]) -> Finding:
    first, nodes = same[0], list(dict.fromkeys(e.node for e in same))
    macs = list(dict.fromkeys(e.mac for e in same))
    verb = "sends" if len(nodes) == 1 else "send"
    ask = Remedy(f"Ask the network team for the switch port that learned {listed(macs)}.")
    if first.whose is Whose.SET:
        kind, who = BY_HAND, "an entry that was set by hand"
        title = f"{named(nodes, 'node')} {verb} packets for {first.ip} of {first.peer} to {listed(macs)}: {who}."
        steps = (
            Remedy("Display the entry.", (f"ip neigh show to {first.ip} dev {first.interface}",), "any user"),
            Remedy(
                "Find what sets it (a boot script, a file of ethers), remove it there, and delete the entry.",
                ("grep -rs 'ip neigh\\|arp -s' /etc", f"ip neigh del {first.ip} dev {first.interface}"),
                f"root on {listed(nodes)}",
                is_change=True,
            ),
        )
    else:
        kind = STRANGER
        title = (
            f"{named(nodes, 'node')} {verb} packets for {first.ip} of {first.peer} to {listed(macs)}, a NIC that is "
            f"not {first.peer}'s."
        )
        steps = (
            Remedy(
                "Find out who answers for the address; two MAC addresses in the answers are two hosts.",
                (f"ip neigh show to {first.ip}", f"arping -c 3 -I {first.interface} {first.ip}"),
                f"root on {listed(nodes)}",
            ),
            ask,
        )
    return kind.finding(
        Status.FAIL if any(e.is_in_use for e in same) else Status.WARN,
        title,
        subject=f"{first.ip}: {listed(macs)}",
        data={"address": first.ip, "mac": first.mac, "expected_mac": first.peer_mac},
        seen=some([e.line for e in same]),
        expected=(f"{first.ip} has {first.peer_mac}",),
        next=steps,
        evidence=[*((node, "neighbours") for node in nodes), (first.peer, "interfaces")],
        network=first.network,
        # The entry is on the nodes that have it; the second owner of an address is at the address.
        nodes=nodes if first.whose is Whose.SET else list(dict.fromkeys([*nodes, first.peer])),
        extent=(len(same), "entries"),
        observed=[_observed(kind, e) for e in same],
    )


def _observed(kind: Kind, entry: NeighbourEntry) -> Observation:
    to = to_peer(entry.node, entry.peer, entry.network, entry.ip)
    return state(kind.code, entry.node, entry.network, entry.interface, entry.peer, to)


def _fits(entries: Sequence[NeighbourEntry], swapped: Sequence[str]) -> Finding:
    return OTHER_NIC.finding(
        Status.INFO,
        f"The neighbour entries for the NICs of {listed(swapped)} fit its exchanged addresses.",
        subject=f"{listed(swapped)}: exchanged",
        data={"address": entries[0].ip, "mac": entries[0].mac, "expected_mac": entries[0].peer_mac},
        seen=some([e.line for e in entries]),
        next=[Remedy("Fix the finding of the check interfaces about the exchanged addresses.")],
        evidence=[(node, "neighbours") for node in dict.fromkeys(e.node for e in entries)],
        nodes=swapped,
        observed=[_observed(OTHER_NIC, e) for e in entries],
    )


def _crossed(wrong: Sequence[NeighbourEntry]) -> Finding:
    pairs = {(e.node, e.peer) for e in wrong}
    nodes = list(dict.fromkeys(node for e in wrong for node in (e.peer, e.node)))
    culprit = hub(pairs, nodes) if len(nodes) > 2 else ""
    # The addresses of the plan of the network are easier to recognise than those that Clusterware chose.
    by_clarity = sorted(wrong, key=lambda e: (e.peer != culprit, e.ip.startswith("169.254.")))
    first = by_clarity[0]
    networks = list(dict.fromkeys(e.network for e in wrong))
    if culprit:
        own = sorted({n for e in wrong for n in ((e.peer_nic, e.other_nic) if e.peer == culprit else (e.interface,))})
        title = f"The cables or VLANs of {listed(own)} of {culprit} are crossed: "
    else:
        title = f"The cables or VLANs of two private NICs of {listed(sorted(nodes))} are crossed: "
    title += f"{first.other_nic} of {first.peer} answers {first.node} for {first.ip}, the address of {first.peer_nic}."
    nics = sorted({nic for e in wrong for nic in (e.peer_nic, e.other_nic)})
    return OTHER_NIC.finding(
        Status.FAIL if any(e.is_in_use for e in wrong) else Status.WARN,
        title,
        subject=f"{culprit or briefly(sorted(nodes), 'node')}: crossed",
        data={"address": first.ip, "mac": first.mac, "expected_mac": first.peer_mac},
        seen=some([e.line for e in wrong]),
        expected=("Each NIC answers for its own address",),
        next=[
            Remedy(
                "Compare the neighbour entries with the NICs.",
                ("ip neigh show", *(f"ip link show {nic}" for nic in nics)),
                f"any user on {listed(sorted(nodes))}",
            ),
            Remedy(
                f"Ask the network team which ports and VLANs {listed(nics)} of {culprit or listed(sorted(nodes))} are "
                "plugged into, and compare with the other nodes.",
            ),
        ],
        evidence=[(node, "neighbours") for node in nodes],
        network=networks[0] if len(networks) == 1 else "",
        nodes=[culprit] if culprit else sorted(nodes),
        extent=(len(wrong), "entries"),
        observed=[_observed(OTHER_NIC, e) for e in wrong],
    )


def _ports(cluster: Cluster, network: PrivateNetwork) -> Iterator[tuple[str, Interface]]:
    for port in network.ports:
        if interface := cluster.interface(port):
            yield port.node, interface


def _owners(cluster: Cluster, network: PrivateNetwork) -> Iterator[Finding]:
    ports = list(_ports(cluster, network))
    private = {a.ip for _, nic in ports for a in nic.addresses if not a.is_link_local}
    # A second owner may have the address on any of its NICs, that of HAIP on a private one: `interfaces` judges others.
    owned = [
        *(
            (node.name, nic, address.ip)
            for node in cluster.read_nodes()
            for nic in node.interfaces
            for address in nic.addresses
            if address.ip in private
        ),
        *((node, nic, a.ip) for node, nic in ports for a in nic.addresses if a.is_link_local),
    ]
    for same in alike(owned, lambda o: o[2]):
        nodes = list(dict.fromkeys(node for node, *_ in same))
        if len(nodes) > 1:
            ip = same[0][2]
            # On a private NIC it is that of a HAIP.
            is_haip = ip not in private
            yield TWO_OWNERS.finding(
                Status.FAIL,
                f"{named(nodes, 'node')} have the same {'HAIP' if is_haip else 'private'} address {ip}.",
                subject=f"{ip}: {briefly(nodes, 'node')}",
                data={"address": ip},
                seen=some([f"{n}: {nic.name} has {ip}, MAC {nic.mac_address or 'not known'}" for n, nic, _ in same]),
                expected=("An address of its own for each node",),
                next=_remove_address(ip, nodes)
                if is_haip
                else [
                    Remedy("Compare the addresses with the plan of the network.", ("ip -brief address",), "any user"),
                    Remedy(
                        "Correct the address in the boot configuration of the wrong node.",
                        where=f"root on {listed(nodes, 'or')}",
                        is_change=True,
                        effect=Effect.NODE_OUT_FIRST,
                    ),
                ],
                evidence=[(node, "interfaces") for node in nodes],
                network=network.name,
                nodes=nodes,
                observed=[_owned_twice(TWO_OWNERS, network, nodes, ip, "haip" if is_haip else "private")],
            )


def _owned_twice(
    kind: Kind, network: PrivateNetwork, nodes: Sequence[str], value: str, address: Address | None = None
) -> Observation:
    """Return what the packets to all its owners suffer."""
    to = Traffic(networks=(network.name,), receivers=among(nodes), addresses=(address,) if address else None)
    return Observation(
        fate=Fate.STATE, what=kind.code, legs=(to,), nodes=among(nodes), network=network.name, value=value
    )


def _remove_address(ip: str, nodes: Sequence[str]) -> list[Remedy]:
    return [
        Remedy(
            "Find out which instance uses the address: Clusterware set it on the node of that instance, another "
            "service on the other node.",
            ("SELECT INST_ID, NAME, IP_ADDRESS FROM GV$CLUSTER_INTERCONNECTS;", f"ip -brief address | grep -F {ip}"),
            "any instance, and each node",
        ),
        Remedy(
            "Remove the address from the NIC of the other node, and from the service that set it.",
            where=f"root on {listed(nodes, 'or')}",
            is_change=True,
            effect=Effect.STOPS,
        ),
    ]


def _same_macs(cluster: Cluster, network: PrivateNetwork) -> Iterator[Finding]:
    ports = [(node, nic.name, nic.mac_address.casefold()) for node, nic in _ports(cluster, network)]
    for same in alike([p for p in ports if p[2].strip("0:")], lambda port: port[2]):
        nodes = list(dict.fromkeys(node for node, *_ in same))
        if len(nodes) > 1:
            yield SAME_MAC.finding(
                Status.FAIL,
                f"{named(nodes, 'node')} have the same MAC address {same[0][2]} on {network.name}.",
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
                network=network.name,
                nodes=nodes,
                observed=[_owned_twice(SAME_MAC, network, nodes, same[0][2])],
            )
