"""Signs of the switch of a network in what was pasted: links between switches, access lists, drops inside, its MTU."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from checks.investigate.outputs.paste_difference import PasteDifference, RuleChange
from checks.investigate.port_places import NodePlace
from checks.investigate.sign_looks import PastePlaces, SignLook, as_sign, carried_by, has_moved, packets_of, reading_of
from checks.model.pasted import AclPlace, Counter, MemberState, Pasted, PastedOutput, PortReading
from checks.model.signs import Sign, SignAt
from checks.model.traffic import Traffic

_ALL_VLANS = re.compile(r"1-40[0-9]{2}|all", re.IGNORECASE)
_OF_A_VLAN = re.compile(r"vlan[0-9]{1,4}")
_Keys = set[tuple[str, str]]


def signs_of_switch(change: PasteDifference | None, after: Pasted, places: PastePlaces) -> Iterator[SignLook]:
    """Return what is of the switch of a network, and of no node."""
    network = places.network
    if not network:
        return
    at = SignAt(sign=Sign.TRUNK_DOWN, network=network)
    need = max((place.mtu for place in places.nodes if place.network == network and place.mtu), default=None)
    yield from _trunks_down(at, after, places)
    trunks = _trunks(after, places)
    for port in (port for key in sorted(trunks) if (port := reading_of(after, key))):
        carries = carried_by(port, after.platform)
        if need is not None and carries is not None and port.is_up is not False:
            yield SignLook(as_sign(at, Sign.TRUNK_MTU), carries < need)
    bundled = _members(after, trunks | _only_channel(after, places))
    yield from membership(at, bundled, after)
    for port in (port for key in sorted(bundled) if (port := reading_of(after, key))):
        growth = change.of(port) if change else None
        if growth and not growth.is_cleared:
            yield SignLook(as_sign(at, Sign.MEMBER_CRC), has_moved(growth.counters, Counter.CRC))
        if need is not None and (carries := carried_by(port, after.platform)) is not None:
            yield SignLook(as_sign(at, Sign.MEMBER_MTU), carries < need)
    yield from _switch_mtu(at, need, after)
    if change and change.inside:
        yield SignLook(as_sign(at, Sign.FABRIC), any(change.inside.values()))
    for growth in change.ports if change else ():
        if _OF_A_VLAN.fullmatch(growth.name.casefold()) and not growth.is_cleared:
            dropped = {**growth.policer_drops, **{f"bytes {n}": b for n, b in growth.policer_drop_bytes.items()}}
            if dropped:
                yield SignLook(as_sign(at, Sign.PORT_POLICED), any(dropped.values()))


def membership(at: SignAt, keys: _Keys, after: Pasted) -> Iterator[SignLook]:
    """Return whether one of these members of port-channels carries nothing."""
    states = [m.state for m in after.members if (m.device, m.port.casefold()) in keys]
    if states:
        idle = [state for state in states if state not in (MemberState.BUNDLED, MemberState.STANDBY)]
        yield SignLook(as_sign(at, Sign.MEMBER_DOWN), bool(idle))


def _leading(places: PastePlaces) -> _Keys:
    return {lead.key for leads in places.ports.values() for lead in leads}


def _trunks(after: Pasted, places: PastePlaces) -> _Keys:
    """The ports between switches: those that a person named, the link of a pair, and trunks that carry the VLAN of the
    nodes and lead to none of them."""
    vlans, own = _vlans(after, places), _leading(places)
    return {
        *((device, port.casefold()) for device, port in places.trunks),
        *((pair.device, pair.link_port.casefold()) for pair in after.pairs if pair.link_port),
        *(
            port.key
            for port in after.ports
            if port.vlan == "trunk" and port.key not in own and _carries_one(port.forwarding_vlans, vlans)
        ),
    }


def _trunks_down(at: SignAt, after: Pasted, places: PastePlaces) -> Iterator[SignLook]:
    """Whether no link between switches is up: of those that are named, of a pair, or set up for the VLAN of the
    nodes. A trunk for all VLANs can be any port that is not in use."""
    named = {(device, port.casefold()) for device, port in places.trunks}
    vlans, own = _vlans(after, places), _leading(places)
    up = [pair.is_link_up for pair in after.pairs if pair.is_link_up is not None]
    up += [
        port.is_up
        for port in after.ports
        if port.is_up is not None
        and (
            port.key in named
            or (
                port.vlan == "trunk"
                and port.key not in own
                and not _ALL_VLANS.search(port.allowed_vlans)
                and _carries_one(port.allowed_vlans, vlans)
            )
        )
    ]
    if up:
        yield SignLook(as_sign(at, Sign.TRUNK_DOWN), not any(up))


def _vlans(after: Pasted, places: PastePlaces) -> set[int]:
    """The VLANs of the nodes of the network, as the switch has them at their ports, or announces them."""
    found = {
        lead.vlan for (network, _), leads in places.ports.items() if network == places.network for lead in leads
    } | {
        port.vlan
        for (network, _), leads in places.ports.items()
        if network == places.network
        for lead in leads
        if (port := reading_of(after, lead.key))
    }
    announced = {
        one.untagged_vlan
        for place in places.nodes
        if place.network == places.network
        for one in place.neighbours
        if one.untagged_vlan
    }
    return {int(vlan) for vlan in found if vlan.isdigit()} | announced


def _carries_one(text: str, vlans: Iterable[int]) -> bool:
    """Whether one of the VLANs is in a list such as `1,811-812`."""
    for part in text.split(","):
        first, _, last = part.partition("-")
        if first.isdigit() and any(int(first) <= vlan <= int(last if last.isdigit() else first) for vlan in vlans):
            return True
    return False


def _members(after: Pasted, channels: _Keys) -> _Keys:
    return {(m.device, m.port.casefold()) for m in after.members if (m.device, m.channel.casefold()) in channels}


def _only_channel(after: Pasted, places: PastePlaces) -> _Keys:
    """The port-channel of a switch that has no other, and leads to no node: it leads to another switch."""
    channels = {(m.device, m.channel.casefold()) for m in after.members}
    return channels - _leading(places) if len(channels) == 1 else set()


def _switch_mtu(at: SignAt, need: int | None, after: Pasted) -> Iterator[SignLook]:
    if need is None:
        return
    if after.system_mtu is not None:
        yield SignLook(as_sign(at, Sign.SWITCH_MTU), after.system_mtu < need)
    # The class without a rule of its own is group 0; others carry what a person has put there.
    defaults = [port.class_mtus["qos group 0"] for port in after.ports if "qos group 0" in port.class_mtus]
    if defaults:
        yield SignLook(as_sign(at, Sign.SWITCH_MTU), min(defaults) < need)


def port_vlan(
    at: SignAt, place: NodePlace, port: PortReading, places: PastePlaces, after: Pasted
) -> Iterator[SignLook]:
    """Return whether the port of a node is in another VLAN than those of two others, which agree."""
    if not port.vlan.isdigit():
        return
    others = {
        other.node: vlans
        for other in places.nodes
        if other.network == place.network and other.node != place.node
        if (vlans := _vlans_of(other, places, after))
    }
    common = set.intersection(*others.values()) if others else set()
    if int(port.vlan) in common:
        yield SignLook(as_sign(at, Sign.PORT_VLAN), False)
    elif common and len(others) > 1:
        yield SignLook(as_sign(at, Sign.PORT_VLAN), True)


def _vlans_of(place: NodePlace, places: PastePlaces, after: Pasted) -> set[int]:
    leads = places.ports.get((place.network, place.node), ())
    texts = [lead.vlan for lead in leads] + [p.vlan for lead in leads if (p := reading_of(after, lead.key))]
    return {int(text) for text in texts if text.isdigit()} | {
        one.untagged_vlan for one in place.neighbours if one.untagged_vlan
    }


def signs_of_access_lists(change: PasteDifference | None, after: Pasted, places: PastePlaces) -> Iterator[SignLook]:
    """Return which lines of access lists dropped packets, at the port or in the VLAN to which they are applied."""
    if change is None or PastedOutput.ACCESS_LISTS not in after.outputs or not places.network:
        return
    whole = SignAt(sign=Sign.PORT_ACL, network=places.network)
    at = {
        lead.key: SignAt(sign=Sign.PORT_ACL, network=network, node=node)
        for (network, node), leads in places.ports.items()
        for lead in leads
    }
    yield from (SignLook(one, False) for one in (whole, *at.values()))
    applied: dict[tuple[str, str], list[AclPlace]] = {}
    for one in after.acl_places:
        applied.setdefault((one.device, one.name), []).append(one)
    for moved in change.access_lists:
        if not moved.rule.drops:
            continue
        where = applied.get((moved.rule.device, moved.rule.chain), [])
        if not where and moved.packets:
            # Not known where: it can be at any of these places.
            yield from (SignLook(one, None) for one in (whole, *at.values()))
        for one in where:
            found = at.get((one.device, one.port.casefold())) if one.port else whole
            if found:
                packets = _acl_packets(moved, one, found, places)
                yield SignLook(
                    as_sign(found, Sign.PORT_ACL, packets), None if moved.packets is None else moved.packets > 0
                )


def _acl_packets(moved: RuleChange, place: AclPlace, at: SignAt, places: PastePlaces) -> Traffic:
    """The packets that a line drops; out of a port is to its node."""
    node = (at.node,) if at.node else ()
    private = {address for one in places.nodes if one.network == at.network for address in one.addresses}
    return packets_of(
        moved.rule,
        receivers=node if place.is_egress else (),
        senders=() if place.is_egress else node,
        private=frozenset(address for address in private if not address.startswith("169.254.")),
    )
