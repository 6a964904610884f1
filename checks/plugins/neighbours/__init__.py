"""Does each node send the packets for a peer to the peer's own NIC?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.check import InfoKind, Kind, PassKind, check
from checks.model.condition import ConditionKind
from checks.model.facts import Cluster, Unknown
from checks.model.finding import Finding, NextStep, Status
from checks.model.observation import Observation
from checks.model.shell_command import for_each, shell
from checks.model.wording import hub, listed
from checks.plugins.neighbours.two_owners import ON_OTHER, SAME_MAC, TWO_OWNERS, owner_findings, same_mac_findings
from checks.plugins.neighbours.unanswered_arp import KINDS, arp_findings
from checks.plugins.shared.grouping import alike, briefly, named, some, topics_of
from checks.rules.arp_places import places
from checks.rules.neighbour_entries import NeighbourEntry, Whose, entries_status, neighbour_entries
from checks.rules.observed.states import read_at, read_on, state, to_peer
from checks.rules.swapped_ports import swapped_ports

_RFC = "RFC 5227"
RIGHT = PassKind("IC-NEIGH-001", "Each node sends the packets for a peer to the peer's own NIC")
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
BY_HAND = Kind(
    "IC-NEIGH-006",
    "A neighbour entry that was set by hand has a wrong MAC address",
    "The node sends the packets for the address to a NIC that the peer does not have, and the entry never expires.",
    ("ip-neighbour(8), nud permanent",),
)
EARLIER = InfoKind(
    "IC-NEIGH-012",
    "A node has a neighbour entry of an earlier MAC address",
    "No host answers with this MAC address now, or the entry was not confirmed lately. Such an entry does not show who "
    "has the address: the NIC may have been replaced.",
    (_RFC,),
)
LIKELY = Kind(
    "IC-NEIGH-014",
    "A node sends packets for a peer to a MAC address that is not the peer's",
    "Another host answered for the address lately, or the MAC address of the NIC was changed within the last minute. "
    "ARP probes show which; they need root.",
    (_RFC,),
)
UNCLEAR = Kind(
    "IC-NEIGH-015",
    "Two private networks are crossed, or are one broadcast domain",
    "Some nodes have the MAC address of a peer's own NIC, and others that of its NIC on the other network. ARP probes "
    "show whether cables are exchanged or the networks are joined; they need root.",
    ("Linux kernel documentation, ip-sysctl, arp_ignore",),
)
NONE = PassKind("IC-NEIGH-007", "No two nodes have the same private address, and no node has an entry to compare")


@check(
    "neighbours",
    question="Does each node send the packets for a peer to the peer's own NIC?",
    needs=("nodes", "networks"),
    uses=("paths", "owners", "effective_routes"),
    about=(ConditionKind.PATH,),
    kinds=(RIGHT, OTHER_NIC, STRANGER, TWO_OWNERS, ON_OTHER, SAME_MAC, BY_HAND, NONE, EARLIER, LIKELY, UNCLEAR, *KINDS),
)
def neighbours(cluster: Cluster) -> Iterator[Finding]:
    """Compares the neighbour entries of each node with the MAC addresses of the NICs that have these addresses.

    Entries are read with the nodes, and again after the pings for nodes between which pings got no answer. The check
    also searches for a private address or a MAC address that two nodes have. A second owner outside the cluster shows
    where a node has its entry; the check address-owners probes for it. An entry that is stale, or with whose MAC
    address no host answers the probes, is a remark, since it may be of a NIC that was replaced. The check also verifies
    that each private NIC answers ARP: the flag NOARP, arp_ignore and arp_filter.
    """
    if isinstance(cluster.networks, Unknown):
        return
    yield from arp_findings(cluster)
    entries = neighbour_entries(cluster)
    swapped = {swap.node for swap in swapped_ports(cluster)}
    # The check `interfaces` names the node whose addresses are swapped.
    wrong = [e for e in entries if e.whose is not Whose.OWN]
    told = [e for e in wrong if e.whose is Whose.OTHER_NIC and swapped.intersection((e.node, e.peer))]
    found = [f for network in cluster.networks for f in owner_findings(cluster, network)]
    found += [f for network in cluster.networks for f in same_mac_findings(cluster, network)]
    old = [e for e in wrong if e.is_history]
    for same in alike([e for e in wrong if e.whose in (Whose.SET, Whose.STRANGER) and e not in old], _sort_of):
        found.append(_wrong(same))
    others = [e for e in wrong if e.whose is Whose.OTHER_NIC and e not in told and e not in old]
    # The check address-owners names the networks that are joined, and the NICs that are on the wrong one.
    known = places(cluster)
    if fitting := [e for e in others if known.explains(e.network, (e.node, e.peer))]:
        others = [e for e in others if e not in fitting]
        found.append(_fit_domains(fitting))
    if others:
        # What nobody was asked about fits what others show now.
        others += [e for e in old if e.whose is Whose.OTHER_NIC and e.answered_now is None and e not in told]
        old = [e for e in old if e not in others]
        found.append(_crossed(others, entries))
    for same in alike([e for e in old if e not in told], lambda e: (e.peer, e.ip, e.mac)):
        found.append(_earlier(same))
    yield from found
    if told:
        yield _fits(told, sorted(swapped))
    if not found and not told:
        yield _right(cluster, entries)


def _sort_of(entry: NeighbourEntry) -> tuple[object, ...]:
    return entry.whose, entry.peer, entry.ip, entry.is_proof


def _right(cluster: Cluster, entries: Sequence[NeighbourEntry]) -> Finding:
    if not entries:
        return NONE.finding(
            "No two nodes have the same private address; no node has a neighbour entry for a peer to compare.",
            subject="no entries",
            evidence=[(node.name, "neighbours") for node in cluster.read_nodes()],
            observed=read_on(NONE.code, [node.name for node in cluster.read_nodes()]),
        )
    nodes = list(dict.fromkeys(e.node for e in entries))
    verb = "has" if len(nodes) == 1 else "have"
    where = "its neighbour entry" if len(entries) == 1 else f"all {len(entries)} neighbour entries"
    return RIGHT.finding(
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
    ask = NextStep(f"Ask the network team for the switch port that learned {listed(macs)}.")
    if first.whose is Whose.SET:
        kind, who = BY_HAND, "an entry that was set by hand"
        title = f"{named(nodes, 'node')} {verb} packets for {first.ip} of {first.peer} to {listed(macs)}: {who}."
        steps = (
            NextStep(
                "Display the entry.",
                (shell("ip neigh show to {ip} dev {nic}", ip=first.ip, nic=first.interface),),
                "any user",
            ),
            NextStep(
                "Find what sets it (a boot script, a file of ethers), remove it there, and delete the entry.",
                (
                    "grep -rs 'ip neigh\\|arp -s' /etc",
                    shell("ip neigh del {ip} dev {nic}", ip=first.ip, nic=first.interface),
                ),
                f"root on {listed(nodes)}",
                is_change=True,
            ),
        )
    else:
        kind = STRANGER if first.is_proof else LIKELY
        title = (
            f"{named(nodes, 'node')} {verb} packets for {first.ip} of {first.peer} to {listed(macs)}, a NIC that is "
            f"not {first.peer}'s."
        )
        steps = (
            NextStep(
                "Find out who answers for the address; two MAC addresses in the answers are two hosts.",
                (
                    shell("ip neigh show to {ip}", ip=first.ip),
                    shell("arping -c 3 -I {nic} {ip}", nic=first.interface, ip=first.ip),
                ),
                f"root on {listed(nodes)}",
            ),
            ask,
        )
    return kind.finding(
        title,
        status=entries_status(same),
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


def _earlier(same: Sequence[NeighbourEntry]) -> Finding:
    first, nodes = same[0], list(dict.fromkeys(e.node for e in same))
    why = "no host answers with it now" if first.answered_now is False else "it was not confirmed lately"
    return EARLIER.finding(
        f"{named(nodes, 'node')} {'has' if len(nodes) == 1 else 'have'} an entry of an earlier MAC address for "
        f"{first.ip} of {first.peer}, {first.mac}: {why}.",
        subject=f"{first.ip}: earlier {first.mac}",
        data={"address": first.ip, "mac": first.mac, "expected_mac": first.peer_mac},
        seen=some([e.line for e in same]),
        evidence=[*((node, "neighbours") for node in nodes), (first.peer, "interfaces")],
        network=first.network,
        nodes=nodes,
        observed=[_observed(EARLIER, e) for e in same],
    )


def _observed(kind: Kind, entry: NeighbourEntry) -> Observation:
    to = to_peer(entry.node, entry.peer, entry.network, entry.ip)
    return state(kind.code, entry.node, entry.network, entry.interface, entry.peer, to)


def _fit_domains(entries: Sequence[NeighbourEntry]) -> Finding:
    nodes = list(dict.fromkeys(e.node for e in entries))
    verb = "has" if len(nodes) == 1 else "have"
    title = (
        f"{named(nodes, 'node')} {verb} the MAC addresses of other NICs of the peers in neighbour entries, which fits "
        "what the ARP probes show."
    )
    step = NextStep("Fix the finding of the check address-owners about these networks.")
    return _explained(entries, nodes, title, "fit the probes", step)


def _fits(entries: Sequence[NeighbourEntry], swapped: Sequence[str]) -> Finding:
    title = f"The neighbour entries for the NICs of {listed(swapped)} fit its exchanged addresses."
    step = NextStep("Fix the finding of the check interfaces about the exchanged addresses.")
    return _explained(entries, swapped, title, f"{listed(swapped)}: exchanged", step)


def _explained(
    entries: Sequence[NeighbourEntry], nodes: Sequence[str], title: str, subject: str, step: NextStep
) -> Finding:
    """Return the remark on entries that follow from a finding of another check."""
    return OTHER_NIC.finding(
        title,
        status=Status.INFO,
        subject=subject,
        data={"address": entries[0].ip, "mac": entries[0].mac, "expected_mac": entries[0].peer_mac},
        seen=some([e.line for e in entries]),
        next=[step],
        evidence=topics_of((e.node for e in entries), "neighbours"),
        nodes=nodes,
        observed=[_observed(OTHER_NIC, e) for e in entries],
    )


def _crossed(wrong: Sequence[NeighbourEntry], entries: Sequence[NeighbourEntry]) -> Finding:
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
    # Of crossed cables each node has the wrong MAC address; on one broadcast domain it is a matter of chance.
    right = {(e.network, *sorted((e.node, e.peer))) for e in entries if e.whose is Whose.OWN and e.is_in_use}
    is_mixed = any((e.network, *sorted((e.node, e.peer))) in right for e in wrong if not e.answered_now)
    kind = UNCLEAR if is_mixed else OTHER_NIC
    if is_mixed:
        title = (
            f"Two private networks of {listed(sorted(nodes))} are crossed, or are one broadcast domain: "
            f"{first.other_nic} of {first.peer} answers {first.node} for {first.ip}, the address of {first.peer_nic}."
        )
    nics = sorted({nic for e in wrong for nic in (e.peer_nic, e.other_nic)})
    return kind.finding(
        title,
        status=entries_status(wrong),
        subject=f"{culprit or briefly(sorted(nodes), 'node')}: crossed",
        data={"address": first.ip, "mac": first.mac, "expected_mac": first.peer_mac},
        seen=some([e.line for e in wrong]),
        expected=("Each NIC answers for its own address",),
        next=[
            NextStep(
                "Compare the neighbour entries with the NICs.",
                ("ip neigh show", *for_each("ip link show {nic}", nic=nics)),
                f"any user on {listed(sorted(nodes))}",
            ),
            NextStep(
                f"Ask the network team which ports and VLANs {listed(nics)} of {culprit or listed(sorted(nodes))} are "
                "plugged into, and compare with the other nodes.",
            ),
        ],
        evidence=[(node, "neighbours") for node in nodes],
        network=networks[0] if len(networks) == 1 else "",
        nodes=[culprit] if culprit else sorted(nodes),
        extent=(len(wrong), "entries"),
        observed=[_observed(kind, e) for e in wrong],
    )
