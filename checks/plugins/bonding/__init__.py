"""Do the bonds of the private networks have all members, in one aggregation, in a mode that keeps packets in order?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from checks.model.check import InfoKind, Kind, PassKind, UnknownKind, WarnKind, check
from checks.model.condition import ConditionKind
from checks.model.effect import Effect
from checks.model.facts import Bond, Cluster, Unknown, Unread
from checks.model.finding import Finding, NextStep
from checks.model.networks import layers_of
from checks.model.shell_command import shell
from checks.model.wording import counted, listed
from checks.plugins.bonding import arp_targets, bond_faults
from checks.plugins.bonding.arp_targets import arp_findings
from checks.plugins.bonding.bond_faults import faults_of_bond
from checks.plugins.bonding.bond_places import CAUSE_11, DRIVER, BondPlace, evidence_of, observed_at
from checks.plugins.shared.grouping import alike, briefly, named, some
from checks.plugins.shared.host_facts import hosts_of, not_known_findings, parts_of, skipped, skipped_without_hosts
from checks.rules.observed.states import read_at

SOUND = PassKind("IC-BOND-001", "The bonds of the private networks have all members up, in one aggregation")
ROUND_ROBIN = WarnKind(
    "IC-BOND-004",
    "A bond spreads the packets of one connection over its members",
    "Packets and fragments of one block arrive out of order (mode balance-rr). The kernel drops fragments that are too "
    "far out of order, and blocks are lost.",
    (CAUSE_11, f"{DRIVER}, balance-rr", "Linux net/ipv4/ip_fragment.c"),
)
ALONE = WarnKind("IC-BOND-006", "A bond has a single member", "The failure of this NIC or its cable ends the bond.")
UNWATCHED = WarnKind(
    "IC-BOND-007",
    "A bond does not watch the links of its members",
    "miimon is 0 and ARP monitoring is off: after the failure of a cable the bond continues to use the dead member.",
    (f"{DRIVER}, miimon",),
)
NOT_KNOWN = UnknownKind("IC-BOND-008", "The state of a bond is not known")
DIFFERENT = InfoKind(
    "IC-BOND-009",
    "The nodes set up the bonds of one private network differently",
    "Each node works with its own mode. Compare first where two nodes behave differently after the failure of a link.",
    (DRIVER,),
)
ACTIVE_DIFFERS = InfoKind(
    "IC-BOND-010",
    "The nodes use different members of the bonds of one private network",
    "Where the members of each node lead to two switches, the packets between these nodes cross the link between the "
    "switches.",
    (DRIVER,),
)
ONE_HASH = InfoKind(
    "IC-BOND-011",
    "A bond sends the packets for one node through one member",
    "The hash policy layer2 uses the MAC addresses: two nodes have the speed of one member between each other.",
    (f"{DRIVER}, xmit_hash_policy",),
)


@check(
    "bonding",
    question="Do the bonds of the private networks have all members, in one aggregation?",
    needs=("nodes", "networks", "setups"),
    shows=(ConditionKind.LINK,),
    about=(ConditionKind.SPEED,),
    kinds=(
        *(SOUND, ROUND_ROBIN, ALONE, UNWATCHED, NOT_KNOWN, DIFFERENT, ACTIVE_DIFFERS, ONE_HASH),
        *bond_faults.KINDS,
        *arp_targets.KINDS,
    ),
)
def bonding(cluster: Cluster) -> Iterator[Finding]:
    """Judges the bonds below the private networks as the bonding driver reports them in /proc/net/bonding.

    Members in different aggregations of 802.3ad are a failure. A member that is down, a single member, members of
    different speed, the mode balance-rr, and links that the driver does not watch are warnings. With 802.3ad, a bond
    without an active aggregator is a failure, and so is one that gets no LACP from the switch on several members; LACP
    that does not settle is a warning. With ARP monitoring, members that are down though their links are up are the ARP
    target's: a failure where no member is left. Failure counts are since the bond was made and are not judged, except
    members with ARP monitoring that failed often and together; nic-counters judges links that change now. Modes, hash
    policies and active members that differ between nodes are reported for information, and so is the hash policy
    layer2.
    """
    _, unknown = parts_of(cluster, lambda host: host.bonds)
    places, missing = _places(cluster)
    for kind, judged in _BY_CONFIGURATION.items():
        for same in alike([p for p in places if judged(p.bond)], lambda p: (p.network, p.bond.name)):
            yield _configured(kind, same)
    for place in places:
        yield from faults_of_bond(place)
    by_arp = list(arp_findings(cluster, places))
    yield from by_arp
    for on_network in alike(places, lambda p: p.network):
        yield from _compared(on_network)
    ill = {(f.network, node) for f in by_arp for node in f.nodes}
    sound = [
        p
        for p in places
        if not any(faults_of_bond(p))
        and (p.network, p.node) not in ill
        and not any(is_so(p.bond) for is_so in _BY_CONFIGURATION.values())
    ]
    if sound:
        yield SOUND.finding(
            f"{named((p.name for p in sound), 'bond')} {'has' if len(sound) == 1 else 'have'} all members up.",
            subject=f"{counted(len(sound), 'bond')}, all members up",
            seen=some([line for place in sound for line in place.lines]),
            evidence=evidence_of(sound),
            observed=read_at(SOUND.code, [(place.node, place.network) for place in sound]),
        )
    yield from not_known_findings(NOT_KNOWN, "The state of the bonds of {} is", {**unknown, **missing}, "bonding")
    if not places and not unknown and not missing:
        reason = "No private network of the nodes that were read is on a bond."
        yield skipped(SOUND, reason, "no bond", cluster) if hosts_of(cluster) else skipped_without_hosts(SOUND)


def _places(cluster: Cluster) -> tuple[list[BondPlace], dict[str, Unread]]:
    known, _ = parts_of(cluster, lambda host: host.bonds)
    found: dict[tuple[str, str], BondPlace] = {}
    missing: dict[str, Unread] = {}
    for network in cluster.read_networks():
        for port in network.ports:
            node, top = cluster.node(port.node), cluster.interface(port)
            if node is None or top is None or port.node not in known:
                continue
            bonds = {bond.name: bond for bond in known[port.node]}
            for interface in layers_of(node, top):
                if bond := bonds.get(interface.name):
                    found.setdefault((port.node, bond.name), BondPlace(node, network.name, bond))
                elif interface.kind == "bond":
                    missing[port.node] = Unknown(f"/proc/net/bonding does not show {interface.name}")
    return list(found.values()), missing


_BY_CONFIGURATION: dict[Kind, Callable[[Bond], bool]] = {
    ROUND_ROBIN: lambda bond: bond.is_round_robin and len(bond.members) > 1,
    ALONE: lambda bond: len(bond.members) == 1,
    UNWATCHED: lambda bond: not bond.is_watched,
}
"""Faults of the configuration, which is usually the same on several nodes."""
_CLAUSES: dict[Kind, tuple[str, str]] = {
    ROUND_ROBIN: ("has the mode balance-rr, which delivers packets out of order", "balance-rr"),
    ALONE: ("has a single member", "single member"),
    UNWATCHED: ("does not watch the links of its members: its MII polling interval is 0", "links not watched"),
}
_EXPECTED: dict[Kind, str] = {
    ROUND_ROBIN: "active-backup, or 802.3ad with an aggregation on the switch",
    ALONE: "Two members on two switches",
    UNWATCHED: "An MII polling interval of 100 ms",
}


def _configured(kind: Kind, same: Sequence[BondPlace]) -> Finding:
    bond, nodes = same[0].bond.name, [place.node for place in same]
    clause, subject = _CLAUSES[kind]
    return kind.finding(
        f"{bond} of {named(nodes, 'node')} {clause}.",
        subject=f"{briefly(nodes, 'node')} {bond}: {subject}",
        data={"bond": bond, "nodes": len(nodes)},
        seen=some([line for place in same for line in place.lines]),
        expected=(_EXPECTED[kind],),
        next=[
            NextStep(
                "Display the bond and its counters.",
                (shell("cat /proc/net/bonding/{bond}", bond=bond), "nstat -az IpReasmFails IpReasmTimeout"),
                f"any user on {named(nodes, 'node')}",
            ),
            NextStep(
                f"Plan {_EXPECTED[kind]}, in a maintenance window.",
                where=f"root on {named(nodes, 'node')}",
                is_change=True,
                effect=Effect.NODE_OUT_FIRST,
            ),
        ],
        evidence=evidence_of(same),
        network=same[0].network,
        nodes=nodes,
        extent=(len(nodes), "bonds"),
        observed=observed_at(kind, same),
    )


def _compared(places: Sequence[BondPlace]) -> Iterator[Finding]:
    """Yield what differs between the bonds of one network, and the hash policy that leaves one member for each peer."""
    setups = alike(places, lambda p: (p.bond.mode, p.bond.hash_policy))
    if len(setups) > 1:
        words = "; ".join(f"{listed(_names(same))} {_setup(same[0].bond)}" for same in setups)
        yield _information(DIFFERENT, places, f"The bonds of {places[0].network} are set up differently: {words}.")
    active = alike(
        [p for p in places if p.bond.has_one_active and p.bond.active_member], lambda p: p.bond.active_member
    )
    if len(active) > 1:
        words = ", ".join(f"{same[0].bond.active_member} on {listed(p.node for p in same)}" for same in active)
        yield _information(ACTIVE_DIFFERS, places, f"The active members on {places[0].network} differ: {words}.")
    hashed = [p for p in places if p.bond.hash_policy == "layer2" and p.bond.spreads and len(p.bond.members) > 1]
    if hashed:
        verb = "sends" if len(hashed) == 1 else "send"
        title = f"{listed(_names(hashed))} {verb} the packets for one peer through one member (layer2)."
        yield _information(ONE_HASH, hashed, title)


def _names(places: Sequence[BondPlace]) -> list[str]:
    return [place.name for place in places]


def _setup(bond: Bond) -> str:
    return f"{bond.mode}{f', {bond.hash_policy}' if bond.hash_policy else ''}"


def _information(kind: Kind, places: Sequence[BondPlace], title: str) -> Finding:
    nodes = list(dict.fromkeys(place.node for place in places))
    return kind.finding(
        title,
        subject=f"{briefly(nodes, 'node')} {places[0].bond.name}",
        data={"bond": places[0].bond.name, "nodes": len(nodes)},
        seen=some([f"{p.node}: {p.bond.name} {_setup(p.bond)}{_active(p.bond)}" for p in places]),
        evidence=evidence_of(places),
        network=places[0].network,
        nodes=nodes,
        observed=observed_at(kind, places),
    )


def _active(bond: Bond) -> str:
    return f", {bond.active_member} active" if bond.active_member else ""
