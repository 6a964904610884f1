"""From what was pasted to signs at places: what is seen there, and what was examined and is not there.

A counter is a sign only where it grew between two pastes, around datagrams of our own; a state is one as it is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.investigate.node_signs import arrived, signs_of_neighbours, signs_of_nics, signs_of_rules
from checks.investigate.outputs.paste_difference import PasteDifference, PortChange, difference
from checks.investigate.port_places import LeadingPort, NodePlace
from checks.investigate.sign_looks import (
    PastePlaces,
    SignLook,
    as_sign,
    carried_by,
    has_moved,
    is_light_out,
    reading_of,
)
from checks.investigate.switch_signs import membership, port_vlan, signs_of_access_lists, signs_of_switch
from checks.model.pasted import Counter, Pasted, PastedOutput, PortReading, TreeState
from checks.model.signs import Sign, SignAt
from checks.model.traffic import Traffic

__all__ = ["PastePlaces", "arrived", "signs"]


def signs(before: Pasted | None, after: Pasted, places: PastePlaces) -> tuple[frozenset[SignAt], frozenset[SignAt]]:
    """Return the signs that are seen, and those that were examined and are not there.

    `before`: the same commands, before datagrams were sent; None: pasted once, and no counter shows anything.
    """
    change = difference(before, after) if before is not None else None
    looks = [
        *_of_ports(change, after, places),
        *signs_of_switch(change, after, places),
        *signs_of_access_lists(change, after, places),
        *signs_of_nics(change, after, places),
        *signs_of_rules(change, after, places),
        *signs_of_neighbours(before, after, places),
    ]
    seen = frozenset(look.sign for look in looks if look.is_there)
    places_seen = {(one.sign, one.place) for one in seen}
    absent = frozenset(
        look.sign for look in looks if look.is_there is False and (look.sign.sign, look.sign.place) not in places_seen
    )
    undecided = {(look.sign.sign, look.sign.place) for look in looks if look.is_there is None}
    return seen, frozenset(one for one in absent if (one.sign, one.place) not in undecided)


def _of_ports(change: PasteDifference | None, after: Pasted, places: PastePlaces) -> Iterator[SignLook]:
    for place in places.nodes:
        at = SignAt(sign=Sign.PORT_CRC, network=place.network, node=place.node)
        leading = places.ports.get((place.network, place.node), ())
        members = {(member.device, member.port.casefold()) for member in after.members}
        for lead in leading:
            if port := reading_of(after, lead.key):
                is_member = bool(port.channel) or port.key in members
                yield from _counted(at, change.of(port) if change else None, is_member=is_member)
                yield from _state(at, port, place, after, is_member=is_member)
                yield from port_vlan(at, place, port, places, after)
        if leading:
            yield from _tree(at, leading, after)
            yield from membership(at, {lead.key for lead in leading}, after)
        yield from _second_macs(at, place, after)


def _counted(at: SignAt, moved: PortChange | None, *, is_member: bool) -> Iterator[SignLook]:
    """What the counters of a switch port show. Out of the port is to the node, into it from the node."""
    if moved is None or moved.is_cleared:
        return
    counts = moved.counters
    crc = has_moved(counts, Counter.CRC)
    if crc and counts[Counter.CRC] <= counts.get(Counter.STOMPED_CRC, 0):
        crc = None  # marked by another switch: damaged before this port
    yield SignLook(as_sign(at, Sign.PORT_CRC), crc)
    if is_member:
        yield SignLook(as_sign(at, Sign.MEMBER_CRC), crc)
    to_node, from_node = Traffic(receivers=(at.node,)), Traffic(senders=(at.node,))
    queues = {**moved.queue_drops, **{f"bytes {name}": number for name, number in moved.queue_drop_bytes.items()}}
    out = [number for name, number in queues.items() if not name.endswith(", in")]
    into = [number for name, number in queues.items() if name.endswith(", in")]
    outward = [*out, *([counts[Counter.OUTPUT_DISCARDS]] if Counter.OUTPUT_DISCARDS in counts else [])]
    yield SignLook(as_sign(at, Sign.PORT_DISCARDS, to_node), any(outward) if outward else None)
    if into:
        yield SignLook(as_sign(at, Sign.PORT_DISCARDS, from_node), any(into))
    policed = {**moved.policer_drops, **{f"{name} bytes": n for name, n in moved.policer_drop_bytes.items()}}
    # The policies of the port were printed, and none of them polices.
    has_policies = any(name.startswith(("output ", "input ")) for name in moved.queue_drops)
    if policed or has_policies:
        yield SignLook(as_sign(at, Sign.PORT_POLICED), any(policed.values()))
    yield SignLook(as_sign(at, Sign.PAUSED), has_moved(counts, Counter.PAUSE_IN, Counter.PAUSE_OUT))


def _state(at: SignAt, port: PortReading, place: NodePlace, after: Pasted, *, is_member: bool) -> Iterator[SignLook]:
    """What the state of a switch port shows, as it is."""
    if port.is_off_for_errors:
        yield SignLook(as_sign(at, Sign.PORT_BLOCKED), True)
    elif port.is_up is not None:
        yield SignLook(as_sign(at, Sign.MEMBER_DOWN if is_member else Sign.PORT_DOWN), not port.is_up)
    carries = carried_by(port, after.platform)
    if carries is not None and place.mtu is not None:
        yield SignLook(as_sign(at, Sign.PORT_MTU), carries < place.mtu)
        if is_member:
            yield SignLook(as_sign(at, Sign.MEMBER_MTU), carries < place.mtu)
    if (is_out := is_light_out(port)) is not None:
        yield SignLook(as_sign(at, Sign.OPTICS), is_out)


def _tree(at: SignAt, leading: Sequence[LeadingPort], after: Pasted) -> Iterator[SignLook]:
    """Whether spanning tree lets the port forward, in the VLAN of the node where the MAC table has it; else in all."""
    keys = {lead.key for lead in leading}
    vlans = {lead.vlan for lead in leading if lead.vlan.isdigit()}
    found = [tree for tree in after.trees if (tree.device, tree.port.casefold()) in keys]
    of_vlan = [tree for tree in found if tree.tree.casefold().removeprefix("vlan").lstrip("0") in vlans]
    states = {tree.state for tree in of_vlan or found}
    if states:
        yield SignLook(as_sign(at, Sign.PORT_BLOCKED), None if len(states) > 1 else states != {TreeState.FORWARDING})


def _second_macs(at: SignAt, place: NodePlace, after: Pasted) -> Iterator[SignLook]:
    """Whether a second host that answered for an address of the node, or the node itself twice, is in the table."""
    if PastedOutput.MACS not in after.outputs:
        return
    learned = {(e.device, e.vlan, e.mac): set[str]() for e in after.macs if e.is_learned}
    for entry in after.macs:
        if entry.is_learned:
            learned[entry.device, entry.vlan, entry.mac].add(entry.port)
    strange = any(mac in place.strange_macs for _, _, mac in learned)
    twice = any(mac in place.macs and len(ports) > 1 for (_, _, mac), ports in learned.items())
    known = any(mac in place.macs for _, _, mac in learned)
    if strange or twice or (known and place.strange_macs):
        yield SignLook(as_sign(at, Sign.SECOND_MAC), strange or twice)
