"""Faults of one bond: members without a link, members in no aggregation or in several, members of different speed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.check import FailKind, Kind, WarnKind
from checks.model.condition import ConditionKind
from checks.model.facts import BondMember
from checks.model.finding import Finding, NextStep
from checks.model.shell_command import for_each
from checks.model.wording import listed
from checks.plugins.bonding.bond_places import CAUSE_11, DRIVER, BondPlace, driver_file, finding_of, speed_text
from checks.plugins.shared.grouping import briefly
from checks.rules.bond_states import NO_PARTNER, LacpState, lacp_state, members_status
from checks.rules.observed.states import state

MEMBER_DOWN = Kind(
    "IC-BOND-002",
    "A member of a bond is down",
    "The bond works with the other members. When the last one fails, the private network of the node is gone. A member "
    "that goes up and down loses the packets of each moment.",
    (CAUSE_11, DRIVER),
)
AGGREGATORS = FailKind(
    "IC-BOND-003",
    "The members of a bond are in different aggregations",
    "The bond uses the members of one aggregation. The switch did not put the ports into one aggregation: LACP is off "
    "there, or the cables end in two switches that are no pair. Packets that the switch sends to the other ports are "
    "lost.",
    (CAUSE_11, f"{DRIVER}, 802.3ad"),
)
SPEEDS = WarnKind(
    "IC-BOND-005",
    "The members of a bond have different speeds",
    "The slower member delays or drops what the faster one would carry, and with 802.3ad the switch leaves it out of "
    "the aggregation.",
    (CAUSE_11, f"{DRIVER}, 802.3ad"),
)
NO_AGGREGATION = FailKind(
    "IC-BOND-013",
    "A bond of 802.3ad has no aggregation in use",
    "With 802.3ad the members of the aggregation in use carry the packets. Without one, the private network of the "
    "node is gone, though the links of its members are up.",
    (CAUSE_11, f"{DRIVER}, 802.3ad", "Linux drivers/net/bonding/bond_procfs.c"),
)
UNSETTLED = WarnKind(
    "IC-BOND-014",
    "LACP does not settle between a bond and the switch",
    "A switch that does not answer LACP, or answers it on some ports, may send packets to a member that the bond "
    "does not use, or the reverse: these are lost. Without an answer the bond uses one member.",
    (CAUSE_11, "IEEE 802.1AX, churn detection", "Linux drivers/net/bonding/bond_3ad.c"),
)
SILENT = FailKind(
    "IC-BOND-017",
    "The switch sends no LACP to a bond of 802.3ad",
    "The switch does not speak LACP, or not on these ports: the partner is 00:00:00:00:00:00. Then each member is an "
    "aggregation of its own, and the bond sends and receives through one of them. The kernel drops what arrives at the "
    "others, as it does where the switch has a static port channel; single ports work until the member in use fails.",
    (CAUSE_11, f"{DRIVER}, 802.3ad", "Linux drivers/net/bonding/bond_3ad.c"),
)
KINDS = (MEMBER_DOWN, AGGREGATORS, SPEEDS, NO_AGGREGATION, UNSETTLED, SILENT)


def faults_of_bond(place: BondPlace) -> Iterator[Finding]:
    """Yield the faults of one bond, ARP monitoring left out."""
    bond = place.bond
    by_arp = place.unanswered
    down = [m for m in bond.members if m.is_down and m not in by_arp]
    up = [m for m in bond.members if not m.is_down]
    if down:
        yield _down(place, down, up)
    ids = {m.aggregator_id for m in up if m.aggregator_id is not None}
    found = lacp_state(bond)
    if bond.is_lacp and len(ids) > 1 and found is not LacpState.NO_PARTNER:
        yield _aggregators(place, up)
    if found is not LacpState.SETTLED:
        yield _lacp(place, found, up)
    speeds = {m.speed_mbps for m in up if m.speed_mbps}
    if len(speeds) > 1:
        yield finding_of(
            SPEEDS,
            place,
            f"The members of {place.name} have different speeds: {listed(_at_speed(m) for m in up)}.",
            "speeds differ",
            (
                NextStep(
                    "Display what each member negotiated.",
                    for_each("ethtool {nic}", nic=(m.name for m in up)),
                    f"any user on {place.node}",
                ),
            ),
        )


def _down(place: BondPlace, down: Sequence[BondMember], up: Sequence[BondMember]) -> Finding:
    verb = "is" if len(down) == 1 else "are"
    rest = f"; {up[0].name} is the last member that is up" if len(up) == 1 else "" if up else "; no member is up"
    return finding_of(
        MEMBER_DOWN,
        place,
        f"{listed(m.name for m in down)} of {place.name} {verb} down{rest}.",
        f"{briefly((m.name for m in down), 'member')} down",
        (
            NextStep(
                "Check the cable, the transceiver and the switch port of the member.",
                (*for_each("ethtool {nic}", nic=(m.name for m in down)), driver_file(place)),
                f"any user on {place.node}",
            ),
        ),
        expected="All members up",
        amount=len(down),
        status=members_status(place.bond),
        observed=[
            state(MEMBER_DOWN.code, place.node, place.network, m.name, m.mii_status, condition=ConditionKind.LINK)
            for m in down
        ],
    )


def _aggregators(place: BondPlace, up: Sequence[BondMember]) -> Finding:
    ids = ", ".join(f"{m.name} {m.aggregator_id}" for m in up if m.aggregator_id is not None)
    without = [m.name for m in up if m.partner_mac == NO_PARTNER]
    silent = f" The switch sends no LACP to {listed(without)}." if without else ""
    return finding_of(
        AGGREGATORS,
        place,
        f"The members of {place.name} are in different aggregations: {ids}.{silent}",
        "aggregations differ",
        (
            NextStep(
                "Compare the partner of each member: the system MAC address and the key must be equal.",
                (driver_file(place),),
                f"any user on {place.node}",
            ),
            _port_channel(place, up),
        ),
        expected="One Aggregator ID for all members",
    )


def _port_channel(place: BondPlace, members: Sequence[BondMember]) -> NextStep:
    return NextStep(
        f"Ask the network team to put the switch ports of {listed(m.name for m in members)} of {place.node} into "
        "one LACP port channel; on two switches these must be a vPC, MLAG or stack."
    )


def _lacp(place: BondPlace, found: LacpState, up: Sequence[BondMember]) -> Finding:
    churned = [m for m in up if m.is_churned or m.is_in_no_aggregator]
    return finding_of(
        _KINDS[found],
        place,
        _title(place, found, up),
        _SUBJECTS.get(found, "no aggregation"),
        (
            NextStep(
                "Read the aggregation in use and the partner of each member; root sees more.",
                (driver_file(place),),
                f"any user on {place.node}",
            ),
            _port_channel(place, churned or up),
        ),
        expected="One aggregation in use, with its members and a partner",
        amount=len(churned or up),
    )


_KINDS = {
    LacpState.NOTHING: NO_AGGREGATION,
    LacpState.TOO_FEW: NO_AGGREGATION,
    LacpState.DOWN: NO_AGGREGATION,
    LacpState.IDLE: NO_AGGREGATION,
    LacpState.NO_PARTNER: SILENT,
    LacpState.UNSETTLED: UNSETTLED,
}
_SUBJECTS = {LacpState.NO_PARTNER: "no LACP from the switch", LacpState.UNSETTLED: "LACP not settled"}


def _title(place: BondPlace, found: LacpState, up: Sequence[BondMember]) -> str:
    bond, names, verb = place.bond, listed(m.name for m in up), "is" if len(up) == 1 else "are"
    match found:
        case LacpState.NOTHING:
            return f"{place.name} has no active aggregator and carries no packet, though {names} {verb} up."
        case LacpState.TOO_FEW:
            return (
                f"{place.name} is down: {names} {verb} up, and min_links asks for {bond.min_links} members in the "
                "aggregation."
            )
        case LacpState.DOWN:
            return f"{place.name} is down and carries no packet, though {names} {verb} up."
        case LacpState.IDLE:
            return f"{place.name} carries no packet: LACP does not settle, and {names} neither receive nor send."
        case LacpState.NO_PARTNER:
            used = [m.name for m in up if m.aggregator_id is not None and m.aggregator_id == bond.aggregator_id]
            one = used[0] if len(used) == 1 else "one"
            return f"The switch sends no LACP to {place.name}: of {names} the bond uses {one}."
    if bond.partner_mac == NO_PARTNER:
        return f"The switch sends no LACP to {place.name}: no aggregation is agreed."
    if without := [m.name for m in up if m.is_in_no_aggregator]:
        return f"{listed(without)} of {place.name} {'is' if len(without) == 1 else 'are'} up and in no aggregation."
    churned = [m.name for m in up if m.is_churned]
    return f"LACP does not settle on {listed(churned)} of {place.name}: the ports are not in sync."


def _at_speed(member: BondMember) -> str:
    return f"{member.name} at {speed_text(member)}"
