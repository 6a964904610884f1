"""Do the bonds of the private networks have all members, in one aggregation, in a mode that keeps packets in order?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from checks.model.check import Kind, check
from checks.model.effect import Effect
from checks.model.facts import Bond, BondMember, Cluster, Unknown, Unread
from checks.model.finding import Finding, Remedy, Status
from checks.model.networks import layers_below
from checks.model.observation import Observation
from checks.model.wording import counted, listed
from checks.plugins.shared.grouping import alike, briefly, named, some
from checks.plugins.shared.host_facts import (
    HOST_TOPIC,
    hosts_of,
    not_known_findings,
    parts_of,
    skipped,
    skipped_without_hosts,
)
from checks.rules.observed.states import read_at, state

_CAUSE_11 = "MOS 563566.1, cause 11"
_DRIVER = "Linux kernel documentation, bonding"
_NO_PARTNER = ("", "00:00:00:00:00:00")

SOUND = Kind("IC-BOND-001", "The bonds of the private networks have all members up, in one aggregation")
MEMBER_DOWN = Kind(
    "IC-BOND-002",
    "A member of a bond is down",
    "The bond works with the other members. When the last one fails, the private network of the node is gone. A member "
    "that goes up and down loses the packets of each moment.",
    (_CAUSE_11, _DRIVER),
)
AGGREGATORS = Kind(
    "IC-BOND-003",
    "The members of a bond are in different aggregations",
    "The bond uses the members of one aggregation. The switch did not put the ports into one aggregation: LACP is off "
    "there, or the cables end in two switches that are no pair. Packets that the switch sends to the other ports are "
    "lost.",
    (_CAUSE_11, f"{_DRIVER}, 802.3ad"),
)
ROUND_ROBIN = Kind(
    "IC-BOND-004",
    "A bond spreads the packets of one connection over its members",
    "Packets and fragments of one block arrive out of order (mode balance-rr). The kernel drops fragments that are too "
    "far out of order, and blocks are lost.",
    (_CAUSE_11, f"{_DRIVER}, balance-rr", "Linux net/ipv4/ip_fragment.c"),
)
SPEEDS = Kind(
    "IC-BOND-005",
    "The members of a bond have different speeds",
    "The slower member delays or drops what the faster one would carry, and with 802.3ad the switch leaves it out of "
    "the aggregation.",
    (_CAUSE_11, f"{_DRIVER}, 802.3ad"),
)
ALONE = Kind("IC-BOND-006", "A bond has a single member", "The failure of this NIC or its cable ends the bond.")
UNWATCHED = Kind(
    "IC-BOND-007",
    "A bond does not watch the links of its members",
    "miimon is 0 and ARP monitoring is off: after the failure of a cable the bond continues to use the dead member.",
    (f"{_DRIVER}, miimon",),
)
NOT_KNOWN = Kind("IC-BOND-008", "The state of a bond is not known")
DIFFERENT = Kind(
    "IC-BOND-009",
    "The nodes set up the bonds of one private network differently",
    "Each node works with its own mode. Compare first where two nodes behave differently after the failure of a link.",
    (_DRIVER,),
)
ACTIVE_DIFFERS = Kind(
    "IC-BOND-010",
    "The nodes use different members of the bonds of one private network",
    "Where the members of each node lead to two switches, the packets between these nodes cross the link between the "
    "switches.",
    (_DRIVER,),
)
ONE_HASH = Kind(
    "IC-BOND-011",
    "A bond sends the packets for one node through one member",
    "The hash policy layer2 uses the MAC addresses: two nodes have the speed of one member between each other.",
    (f"{_DRIVER}, xmit_hash_policy",),
)


@dataclass(frozen=True)
class _Place:
    """A bond that carries a private network on a node."""

    node: str
    network: str
    bond: Bond

    @property
    def name(self) -> str:
        return f"{self.bond.name} of {self.node}"

    @property
    def lines(self) -> tuple[str, ...]:
        return (f"{self.node}: {self.bond.name} {self.bond.mode}", *(_line(self.node, m) for m in self.bond.members))


@check(
    "bonding",
    question="Do the bonds of the private networks have all members, in one aggregation?",
    needs=("nodes", "networks", "setups"),
    kinds=(
        SOUND,
        MEMBER_DOWN,
        AGGREGATORS,
        ROUND_ROBIN,
        SPEEDS,
        ALONE,
        UNWATCHED,
        NOT_KNOWN,
        DIFFERENT,
        ACTIVE_DIFFERS,
        ONE_HASH,
    ),
)
def bonding(cluster: Cluster) -> Iterator[Finding]:
    """Judges the bonds below the private networks as the bonding driver reports them in /proc/net/bonding.

    Members in different aggregations of 802.3ad are a failure. A member that is down, a single member, members of
    different speed, the mode balance-rr, and links that the driver does not watch are warnings. Failure counts are
    since the bond was made and are shown, not judged: nic-counters judges links that change now. Modes, hash policies
    and active members that differ between nodes are reported for information, and so is the hash policy layer2.
    """
    _, unknown = parts_of(cluster, lambda host: host.bonds)
    places, missing = _places(cluster)
    for kind, judged in _BY_CONFIGURATION.items():
        for same in alike([p for p in places if judged(p.bond)], lambda p: (p.network, p.bond.name)):
            yield _configured(kind, same)
    for place in places:
        yield from _judged(place)
    for on_network in alike(places, lambda p: p.network):
        yield from _compared(on_network)
    sound = [
        p for p in places if not any(_judged(p)) and not any(is_so(p.bond) for is_so in _BY_CONFIGURATION.values())
    ]
    if sound:
        yield SOUND.finding(
            Status.PASS,
            f"{named((p.name for p in sound), 'bond')} {'has' if len(sound) == 1 else 'have'} all members up.",
            subject=f"{counted(len(sound), 'bond')}, all members up",
            seen=some([line for place in sound for line in place.lines]),
            evidence=_evidence(sound),
            observed=read_at(SOUND.code, [(place.node, place.network) for place in sound]),
        )
    yield from not_known_findings(NOT_KNOWN, "The state of the bonds of {} is", {**unknown, **missing}, "bonding")
    if not places and not unknown and not missing:
        reason = "No private network of the nodes that were read is on a bond."
        yield skipped(SOUND, reason, "no bond", cluster) if hosts_of(cluster) else skipped_without_hosts(SOUND)


def _places(cluster: Cluster) -> tuple[list[_Place], dict[str, Unread]]:
    known, _ = parts_of(cluster, lambda host: host.bonds)
    found: dict[tuple[str, str], _Place] = {}
    missing: dict[str, Unread] = {}
    for network in () if isinstance(cluster.networks, Unknown) else cluster.networks:
        for port in network.ports:
            node, top = cluster.node(port.node), cluster.interface(port)
            if node is None or top is None or port.node not in known:
                continue
            bonds = {bond.name: bond for bond in known[port.node]}
            for interface in (top, *(lower for _, lower, _ in layers_below(node, top))):
                if bond := bonds.get(interface.name):
                    found.setdefault((port.node, bond.name), _Place(port.node, network.name, bond))
                elif interface.kind == "bond":
                    missing[port.node] = Unknown(f"/proc/net/bonding does not show {interface.name}")
    return list(found.values()), missing


def _judged(place: _Place) -> Iterator[Finding]:
    bond = place.bond
    down = [m for m in bond.members if m.mii_status and m.mii_status != "up"]
    up = [m for m in bond.members if m not in down]
    if down:
        yield _down(place, down, up)
    ids = {m.aggregator_id for m in up if m.aggregator_id is not None}
    if bond.is_lacp and len(ids) > 1:
        yield _aggregators(place, up)
    speeds = {m.speed_mbps for m in up if m.speed_mbps}
    if len(speeds) > 1:
        yield _of(
            SPEEDS,
            place,
            Status.WARN,
            f"The members of {place.name} have different speeds: {listed(_at_speed(m) for m in up)}.",
            "speeds differ",
            (
                Remedy(
                    "Display what each member negotiated.",
                    tuple(f"ethtool {m.name}" for m in up),
                    f"root on {place.node}",
                ),
            ),
        )


def _down(place: _Place, down: Sequence[BondMember], up: Sequence[BondMember]) -> Finding:
    verb = "is" if len(down) == 1 else "are"
    rest = f"; {up[0].name} is the last member that is up" if len(up) == 1 else "" if up else "; no member is up"
    return _of(
        MEMBER_DOWN,
        place,
        Status.WARN if up else Status.FAIL,
        f"{listed(m.name for m in down)} of {place.name} {verb} down{rest}.",
        f"{briefly((m.name for m in down), 'member')} down",
        (
            Remedy(
                "Check the cable, the transceiver and the switch port of the member.",
                (*(f"ethtool {m.name}" for m in down), f"cat /proc/net/bonding/{place.bond.name}"),
                f"root on {place.node}",
            ),
        ),
        expected="All members up",
        amount=len(down),
    )


def _aggregators(place: _Place, up: Sequence[BondMember]) -> Finding:
    ids = ", ".join(f"{m.name} {m.aggregator_id}" for m in up)
    silent = " The switch sends no LACP." if place.bond.partner_mac in _NO_PARTNER[1:] else ""
    return _of(
        AGGREGATORS,
        place,
        Status.FAIL,
        f"The members of {place.name} are in different aggregations: {ids}.{silent}",
        "aggregations differ",
        (
            Remedy(
                "Compare the partner of each member: the system MAC address and the key must be equal.",
                (f"cat /proc/net/bonding/{place.bond.name}",),
                f"root on {place.node}",
            ),
            Remedy(
                f"Ask the network team to put the switch ports of {listed(m.name for m in up)} of {place.node} into "
                "one LACP port channel; on two switches these must be a vPC, MLAG or stack."
            ),
        ),
        expected="One Aggregator ID for all members",
    )


_BY_CONFIGURATION: dict[Kind, Callable[[Bond], bool]] = {
    ROUND_ROBIN: lambda bond: bond.is_round_robin and len(bond.members) > 1,
    ALONE: lambda bond: len(bond.members) == 1,
    UNWATCHED: lambda bond: not bond.is_watched,
}
"""Faults of the configuration, which is usually the same on several nodes."""
_CLAUSES = {
    ROUND_ROBIN: ("has the mode balance-rr, which delivers packets out of order", "balance-rr"),
    ALONE: ("has a single member", "single member"),
    UNWATCHED: ("does not watch the links of its members: its MII polling interval is 0", "links not watched"),
}
_EXPECTED = {
    ROUND_ROBIN: "active-backup, or 802.3ad with an aggregation on the switch",
    ALONE: "Two members on two switches",
    UNWATCHED: "An MII polling interval of 100 ms",
}


def _configured(kind: Kind, same: Sequence[_Place]) -> Finding:
    bond, nodes = same[0].bond.name, [place.node for place in same]
    clause, subject = _CLAUSES[kind]
    where = f"root on {named(nodes, 'node')}"
    return kind.finding(
        Status.WARN,
        f"{bond} of {named(nodes, 'node')} {clause}.",
        subject=f"{briefly(nodes, 'node')} {bond}: {subject}",
        data={"bond": bond, "nodes": len(nodes)},
        seen=some([line for place in same for line in place.lines]),
        expected=(_EXPECTED[kind],),
        next=[
            Remedy(
                "Display the bond and its counters.",
                (f"cat /proc/net/bonding/{bond}", "nstat -az IpReasmFails IpReasmTimeout"),
                where,
            ),
            Remedy(
                f"Plan {_EXPECTED[kind]}, in a maintenance window.",
                where=where,
                is_change=True,
                effect=Effect.NODE_OUT_FIRST,
            ),
        ],
        evidence=_evidence(same),
        network=same[0].network,
        nodes=nodes,
        extent=(len(nodes), "bonds"),
        observed=_observed(kind, same),
    )


def _compared(places: Sequence[_Place]) -> Iterator[Finding]:
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


def _names(places: Sequence[_Place]) -> list[str]:
    return [place.name for place in places]


def _setup(bond: Bond) -> str:
    return f"{bond.mode}{f', {bond.hash_policy}' if bond.hash_policy else ''}"


def _information(kind: Kind, places: Sequence[_Place], title: str) -> Finding:
    nodes = list(dict.fromkeys(place.node for place in places))
    return kind.finding(
        Status.INFO,
        title,
        subject=f"{briefly(nodes, 'node')} {places[0].bond.name}",
        data={"bond": places[0].bond.name, "nodes": len(nodes)},
        seen=some([f"{p.node}: {p.bond.name} {_setup(p.bond)}{_active(p.bond)}" for p in places]),
        evidence=_evidence(places),
        network=places[0].network,
        nodes=nodes,
        observed=_observed(kind, places),
    )


def _active(bond: Bond) -> str:
    return f", {bond.active_member} active" if bond.active_member else ""


def _of(
    kind: Kind,
    place: _Place,
    status: Status,
    title: str,
    subject: str,
    steps: Sequence[Remedy],
    *,
    expected: str = "",
    amount: int = 1,
) -> Finding:
    return kind.finding(
        status,
        title,
        subject=f"{place.node} {place.bond.name}: {subject}",
        data={"bond": place.bond.name, "members": len(place.bond.members)},
        seen=place.lines,
        expected=(expected,) if expected else (),
        next=steps,
        evidence=_evidence([place]),
        network=place.network,
        nodes=[place.node],
        extent=(amount, "members"),
        observed=_observed(kind, [place]),
    )


def _observed(kind: Kind, places: Sequence[_Place]) -> list[Observation]:
    return [state(kind.code, place.node, place.network, place.bond.name, place.bond.mode) for place in places]


def _line(node: str, member: BondMember) -> str:
    parts = [
        f"link {member.mii_status or 'not known'}",
        *([_speed(member)] if member.speed_mbps else []),
        *([f"aggregator {member.aggregator_id}"] if member.aggregator_id is not None else []),
        *([counted(member.link_failures, "failure") + " since it joined"] if member.link_failures else []),
    ]
    return f"{node}: {member.name} {', '.join(parts)}"


def _speed(member: BondMember) -> str:
    return f"{member.speed_mbps:,} Mbit/s" if member.speed_mbps else "no speed"


def _evidence(places: Sequence[_Place]) -> list[tuple[str, str]]:
    return [(node, HOST_TOPIC) for node in dict.fromkeys(place.node for place in places)]


def _at_speed(member: BondMember) -> str:
    return f"{member.name} at {_speed(member)}"
