"""Rules for bonds: what LACP or the targets of ARP monitoring make of members whose links are up."""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Collection, Iterable
from enum import Enum

from checks.model.facts import Address, Bond, BondMember, Interface, IPAddress, Node
from checks.model.finding import Status

_MANY_FAILURES = 10
"""Failures of each member from which on ARP monitoring is named. Ours: a restart of a target costs one or two."""
_ALIKE = 2
"""How many times more often one member failed than another, at most, where the target and no cable is the reason."""
NO_PARTNER = "00:00:00:00:00:00"


class LacpState(Enum):
    """What LACP makes of the members of a bond whose links are up."""

    SETTLED = "settled"
    NOTHING = "no aggregation is in use"
    TOO_FEW = "fewer members in an aggregation than min_links"
    DOWN = "the bond is down for another reason"
    IDLE = "no member carries packets"
    NO_PARTNER = "the switch sends no LACP, and the bond uses one of its members"
    UNSETTLED = "not settled with the switch"


def lacp_state(bond: Bond) -> LacpState:
    """Judge a bond of 802.3ad, whatever its members' links are: without a member that is up, the links decide.

    Without a partner Linux makes each member an aggregation of its own and uses one (bond_3ad.c). Members in different
    aggregations are not judged here: all but one of them wait, as `churned`. Drivers may show that after LACP settled.
    """
    up = [member for member in bond.members if not member.is_down]
    if not bond.is_lacp or not up:
        return LacpState.SETTLED
    ids = Counter(member.aggregator_id for member in up)
    if bond.has_active_aggregator is False or all(member.is_in_no_aggregator for member in up):
        return LacpState.NOTHING
    if bond.mii_status == "down":
        return LacpState.TOO_FEW if (bond.min_links or 0) > max(ids.values()) else LacpState.DOWN
    if bond.partner_mac == NO_PARTNER:
        return LacpState.NO_PARTNER if len(up) > 1 else LacpState.UNSETTLED
    if all(member.is_churned and member.is_idle for member in up):
        return LacpState.IDLE
    churned = len(ids) == 1 and any(member.is_churned for member in up)
    return LacpState.UNSETTLED if churned or any(m.is_in_no_aggregator for m in up) else LacpState.SETTLED


def unanswered(bond: Bond, with_links: Collection[str]) -> list[BondMember]:
    """Return the members that ARP monitoring alone took out of use: their links, by the kernel, are up."""
    if not bond.is_watched_by_arp:
        return []
    return [member for member in bond.members if member.is_down and member.name in with_links]


def members_status(bond: Bond) -> Status:
    """Return the status of a bond with members that are down: a failure where no member is left."""
    return Status.FAIL if all(member.is_down for member in bond.members) else Status.WARN


def failed_together(bond: Bond) -> bool:
    """Return whether members that ARP monitoring judges failed often, and equally often: no cable does that."""
    failures = [member.link_failures or 0 for member in bond.members]
    return (
        bond.is_watched_by_arp
        and len(failures) > 1
        and min(failures) >= _MANY_FAILURES
        and max(failures) <= _ALIKE * min(failures)
    )


def out_of_reach(targets: Iterable[str], above: Iterable[Interface]) -> tuple[str, ...]:
    """Return the targets that no host on the bond's own subnets can answer: `above` are the bond and the interfaces on
    it. The kernel asks by ARP for the target itself, not for a gateway, and never for an address of its own."""
    own = [address for interface in above for address in interface.addresses]
    return tuple(target for target in targets if (ip := _ip(target)) is not None and _is_out(ip, own))


def _is_out(target: IPAddress, own: Iterable[Address]) -> bool:
    """Return whether a target is in no subnet of its family, or is an address of the node itself."""
    known = [a for a in own if a.network.version == target.version]
    return bool(known) and (any(a.ip == str(target) for a in known) or not any(target in a.network for a in known))


def _ip(text: str) -> IPAddress | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def on_bond(node: Node, bond: str) -> tuple[Interface, ...]:
    """Return the bond and the interfaces above it: VLANs and bridges, which may have the addresses."""
    above = {bond}
    for _ in node.interfaces:
        more = {i.name for i in node.interfaces if i.parent in above}
        more |= {i.master for i in node.interfaces if i.name in above and i.master}
        if more <= above:
            break
        above |= more
    return tuple(interface for interface in node.interfaces if interface.name in above)
