"""From what was pasted to signs at places: what is seen there, and what was examined and is not there.

A counter is a sign only where it grew between two pastes, around datagrams of our own; a state is one as it is read.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from checks.investigate.outputs.paste_difference import PasteDifference, PortChange, RuleChange, difference
from checks.investigate.outputs.port_names import port_name
from checks.investigate.port_places import LeadingPort, NodePlace
from checks.model.pasted import (
    CapturedFrame,
    Counter,
    DeviceSystem,
    FilterRule,
    MemberState,
    Note,
    Pasted,
    PastedOutput,
    PortReading,
    TreeState,
)
from checks.model.signs import Sign, SignAt
from checks.model.traffic import MOST, Protocol, Traffic
from checks.rules.optical_power import DARK_DBM

_ETHERNET_HEADER = 14
"""Junos counts it in the MTU of a port."""
_IN = ("prerouting", "input", "ingress")
_OUT = ("output", "postrouting", "egress")
_PROTOCOLS: Mapping[str, Protocol] = {"udp": "udp", "icmp": "icmp", "tcp": "tcp", "arp": "arp"}


class PastePlaces(msgspec.Struct, frozen=True, kw_only=True):
    """Where a paste was made, and what its ports are."""

    nodes: tuple[NodePlace, ...]
    """All nodes on all private networks."""
    ports: dict[tuple[str, str], tuple[LeadingPort, ...]] = msgspec.field(default_factory=dict)
    """By network and node: the ports that lead there (`port_of_node`)."""
    trunks: tuple[tuple[str, str], ...] = ()
    """By device and name: ports between switches, as a person named them."""
    network: str = ""
    """The private network whose switch printed the paste; empty: several, or not known."""
    node: str = ""
    """The node on which the command ran, where the paste has no prompt."""


class _Look(NamedTuple):
    """One sign that was examined; `is_there` is None where what was read does not decide."""

    sign: SignAt
    is_there: bool | None


def signs(before: Pasted | None, after: Pasted, places: PastePlaces) -> tuple[frozenset[SignAt], frozenset[SignAt]]:
    """Return the signs that are seen, and those that were examined and are not there.

    `before`: the same commands, before datagrams were sent; None: pasted once, and no counter shows anything.
    """
    change = difference(before, after) if before is not None else None
    looks = [
        *_of_ports(change, after, places),
        *_of_switch(change, after, places),
        *_of_nics(change, after, places),
        *_of_rules(change, after, places),
        *_of_access_lists(change, after, places),
    ]
    seen = frozenset(look.sign for look in looks if look.is_there)
    places_seen = {(one.sign, one.place) for one in seen}
    absent = frozenset(
        look.sign for look in looks if look.is_there is False and (look.sign.sign, look.sign.place) not in places_seen
    )
    undecided = {(look.sign.sign, look.sign.place) for look in looks if look.is_there is None}
    return seen, frozenset(one for one in absent if (one.sign, one.place) not in undecided)


def _of_ports(change: PasteDifference | None, after: Pasted, places: PastePlaces) -> Iterator[_Look]:
    for place in places.nodes:
        at = SignAt(sign=Sign.PORT_CRC, network=place.network, node=place.node)
        leading = places.ports.get((place.network, place.node), ())
        members = {(member.device, member.port.casefold()) for member in after.members}
        for lead in leading:
            if port := _reading(after, lead.key):
                is_member = bool(port.channel) or port.key in members
                yield from _counted(at, change.of(port) if change else None, is_member=is_member)
                yield from _state(at, port, place, after, is_member=is_member)
        if leading:
            yield from _tree(at, leading, after)
            yield from _membership(at, {lead.key for lead in leading}, after)
        yield from _second_macs(at, place, after)


def _reading(pasted: Pasted, key: tuple[str, str]) -> PortReading | None:
    return next((port for port in pasted.ports if port.key == key), None)


def _as(at: SignAt, sign: Sign, packets: Traffic | None = None) -> SignAt:
    return SignAt(sign=sign, network=at.network, node=at.node, packets=packets or Traffic())


def _moved(counts: Mapping[Counter, int], *counters: Counter) -> bool | None:
    """Whether one of the counters grew; None where none of them was read twice."""
    read = [counts[counter] for counter in counters if counter in counts]
    return any(read) if read else None


def _counted(at: SignAt, moved: PortChange | None, *, is_member: bool) -> Iterator[_Look]:
    """What the counters of a switch port show. Out of the port is to the node, into it from the node."""
    if moved is None or moved.is_cleared:
        return
    counts = moved.counters
    crc = _moved(counts, Counter.CRC)
    if crc and counts[Counter.CRC] <= counts.get(Counter.STOMPED_CRC, 0):
        crc = None  # marked by another switch: damaged before this port
    yield _Look(_as(at, Sign.PORT_CRC), crc)
    if is_member:
        yield _Look(_as(at, Sign.MEMBER_CRC), crc)
    to_node, from_node = Traffic(receivers=(at.node,)), Traffic(senders=(at.node,))
    queues = {**moved.queue_drops, **{f"bytes {name}": number for name, number in moved.queue_drop_bytes.items()}}
    out = [number for name, number in queues.items() if not name.endswith(", in")]
    into = [number for name, number in queues.items() if name.endswith(", in")]
    outward = [*out, *([counts[Counter.OUTPUT_DISCARDS]] if Counter.OUTPUT_DISCARDS in counts else [])]
    yield _Look(_as(at, Sign.PORT_DISCARDS, to_node), any(outward) if outward else None)
    if into:
        yield _Look(_as(at, Sign.PORT_DISCARDS, from_node), any(into))
    policed = {**moved.policer_drops, **{f"{name} bytes": n for name, n in moved.policer_drop_bytes.items()}}
    if policed:
        yield _Look(_as(at, Sign.PORT_POLICED), any(policed.values()))
    yield _Look(_as(at, Sign.PAUSED), _moved(counts, Counter.PAUSE_IN, Counter.PAUSE_OUT))


def _state(at: SignAt, port: PortReading, place: NodePlace, after: Pasted, *, is_member: bool) -> Iterator[_Look]:
    """What the state of a switch port shows, as it is."""
    if port.is_off_for_errors:
        yield _Look(_as(at, Sign.PORT_BLOCKED), True)
    elif port.is_up is not None:
        yield _Look(_as(at, Sign.MEMBER_DOWN if is_member else Sign.PORT_DOWN), not port.is_up)
    carries = _carries(port, after.platform)
    if carries is not None and place.mtu is not None:
        yield _Look(_as(at, Sign.PORT_MTU), carries < place.mtu)
        if is_member:
            yield _Look(_as(at, Sign.MEMBER_MTU), carries < place.mtu)
    if (is_out := _is_light_out(port)) is not None:
        yield _Look(_as(at, Sign.OPTICS), is_out)


def _carries(port: PortReading, platform: DeviceSystem) -> int | None:
    """The largest IP packet that a port carries by its MTU; None where that is not known."""
    if port.mtu is None or port.is_mtu_by_class:
        return None
    return port.mtu - _ETHERNET_HEADER if platform is DeviceSystem.JUNOS else port.mtu


def _is_light_out(port: PortReading) -> bool | None:
    """Whether the light of a transceiver is outside its alarm thresholds; None without either.

    Lanes of a divided port that is not in use are dark, and some modules have thresholds of no light at all.
    """
    limits = port.limits
    lit = [lane for lane in port.optics if any(p is not None and p > DARK_DBM for p in (lane.rx_dbm, lane.tx_dbm))]
    out = [
        power < least or power > most
        for lane in lit or port.optics
        for power, least, most in (
            (lane.rx_dbm, limits.rx_least_dbm, limits.rx_most_dbm),
            (lane.tx_dbm, limits.tx_least_dbm, limits.tx_most_dbm),
        )
        if power is not None and least is not None and most is not None and least < most
    ]
    return any(out) if out else None


def _tree(at: SignAt, leading: Sequence[LeadingPort], after: Pasted) -> Iterator[_Look]:
    """Whether spanning tree lets the port forward, in the VLAN of the node where the MAC table has it; else in all."""
    keys = {lead.key for lead in leading}
    vlans = {lead.vlan for lead in leading if lead.vlan.isdigit()}
    found = [tree for tree in after.trees if (tree.device, tree.port.casefold()) in keys]
    of_vlan = [tree for tree in found if tree.tree.casefold().removeprefix("vlan").lstrip("0") in vlans]
    states = {tree.state for tree in of_vlan or found}
    if states:
        yield _Look(_as(at, Sign.PORT_BLOCKED), None if len(states) > 1 else states != {TreeState.FORWARDING})


def _membership(at: SignAt, keys: set[tuple[str, str]], after: Pasted) -> Iterator[_Look]:
    states = [m.state for m in after.members if (m.device, m.port.casefold()) in keys]
    if states:
        idle = [state for state in states if state not in (MemberState.BUNDLED, MemberState.STANDBY)]
        yield _Look(_as(at, Sign.MEMBER_DOWN), bool(idle))


def _second_macs(at: SignAt, place: NodePlace, after: Pasted) -> Iterator[_Look]:
    """Whether a second host that answered for an address of the node, or the node itself twice, is in the table."""
    if not after.has(PastedOutput.MACS):
        return
    learned = {(e.device, e.vlan, e.mac): set[str]() for e in after.macs if e.is_learned}
    for entry in after.macs:
        if entry.is_learned:
            learned[entry.device, entry.vlan, entry.mac].add(entry.port)
    strange = any(mac in place.strange_macs for _, _, mac in learned)
    twice = any(mac in place.macs and len(ports) > 1 for (_, _, mac), ports in learned.items())
    known = any(mac in place.macs for _, _, mac in learned)
    if strange or twice or (known and place.strange_macs):
        yield _Look(_as(at, Sign.SECOND_MAC), strange or twice)


def _of_switch(change: PasteDifference | None, after: Pasted, places: PastePlaces) -> Iterator[_Look]:
    """What is of the switch of a network, and of no node: links between switches, drops inside, its MTU."""
    network = places.network
    if not network:
        return
    at = SignAt(sign=Sign.TRUNK_DOWN, network=network)
    need = max((place.mtu for place in places.nodes if place.network == network and place.mtu), default=None)
    trunks = {*((device, port.casefold()) for device, port in places.trunks)}
    for pair in after.pairs:
        if pair.is_link_up is not None:
            yield _Look(_as(at, Sign.TRUNK_DOWN), not pair.is_link_up)
        if pair.link_port:
            trunks.add((pair.device, pair.link_port.casefold()))
    # A port-channel that leads to no node links switches.
    to_nodes = {lead.key for leading in places.ports.values() for lead in leading}
    of_nodes = {(m.device, m.channel.casefold()) for m in after.members if (m.device, m.port.casefold()) in to_nodes}
    trunks |= {(m.device, m.channel.casefold()) for m in after.members} - of_nodes - to_nodes
    trunks |= {(m.device, m.port.casefold()) for m in after.members if (m.device, m.channel.casefold()) in trunks}
    for key in sorted(trunks):
        if (port := _reading(after, key)) is None:
            continue
        if port.is_up is not None:
            yield _Look(_as(at, Sign.TRUNK_DOWN), not port.is_up)
        carries = _carries(port, after.platform)
        if need is not None and carries is not None:
            yield _Look(_as(at, Sign.TRUNK_MTU), carries < need)
        moved = change.of(port) if change else None
        if moved and not moved.is_cleared and Counter.CRC in moved.counters:
            yield _Look(_as(at, Sign.MEMBER_CRC), _moved(moved.counters, Counter.CRC))
    yield from _membership(at, trunks, after)
    yield from _switch_mtu(at, need, after)
    if change and change.inside:
        yield _Look(_as(at, Sign.FABRIC), any(change.inside.values()))


def _switch_mtu(at: SignAt, need: int | None, after: Pasted) -> Iterator[_Look]:
    if need is None:
        return
    if after.system_mtu is not None:
        yield _Look(_as(at, Sign.SWITCH_MTU), after.system_mtu < need)
    # The class without a rule of its own is group 0; others carry what a person has put there.
    defaults = [port.class_mtus["qos group 0"] for port in after.ports if "qos group 0" in port.class_mtus]
    if defaults:
        yield _Look(_as(at, Sign.SWITCH_MTU), min(defaults) < need)


def _of_nics(change: PasteDifference | None, after: Pasted, places: PastePlaces) -> Iterator[_Look]:
    """What the NICs of a node show, and its queues."""
    for port in after.ports:
        for place in _places_of_nic(port.device, port.name, after, places):
            at = SignAt(sign=Sign.NIC_CRC, network=place.network, node=place.node)
            if (is_out := _is_light_out(port)) is not None:
                yield _Look(_as(at, Sign.OPTICS), is_out)
            moved = change.of(port) if change else None
            if moved is None or moved.is_cleared:
                continue
            yield _Look(_as(at, Sign.NIC_CRC), _moved(moved.counters, Counter.CRC))
            yield _Look(_as(at, Sign.PAUSED), _moved(moved.counters, Counter.PAUSE_IN, Counter.PAUSE_OUT))
            for drops, is_policer in ((moved.queue_drops, False), (moved.policer_drops, True)):
                ways = [name for name in drops if name.startswith("ingress")]
                for names, packets in (
                    (ways, Traffic(receivers=(place.node,))),
                    ([name for name in drops if name not in ways], Traffic(senders=(place.node,))),
                ):
                    if names:
                        looked = Traffic() if is_policer else packets
                        yield _Look(_as(at, Sign.NODE_QDISC, looked), any(drops[name] for name in names))


def _places_of_nic(device: str, nic: str, after: Pasted, places: PastePlaces) -> Iterator[NodePlace]:
    """The places whose NIC it is: by the host in the prompt, else by the node of the command."""
    if after.platform not in (DeviceSystem.LINUX, DeviceSystem.UNKNOWN):
        return
    host = (device or places.node).partition(".")[0].casefold()
    for place in places.nodes:
        if host == place.node.partition(".")[0].casefold() and nic in place.nics:
            yield place


def _of_rules(change: PasteDifference | None, after: Pasted, places: PastePlaces) -> Iterator[_Look]:
    """Rules that drop what arrives at or leaves a private NIC, and whose counter moved."""
    if change is None or not after.rules or Note.CUT_SHORT in after.notes:
        return
    moved = change.rules
    host = next((rule.device for rule in after.rules if rule.device), places.node).partition(".")[0].casefold()
    for place in places.nodes:
        if host != place.node.partition(".")[0].casefold():
            continue
        at = SignAt(sign=Sign.NODE_RULE, network=place.network, node=place.node)
        yield _Look(at, False)
        for one in moved:
            if one.rule.drops and _can_match(one.rule, place):
                yield _Look(_as(at, Sign.NODE_RULE, _packets(one.rule, place)), _acts(one, place))


def _of_access_lists(change: PasteDifference | None, after: Pasted, places: PastePlaces) -> Iterator[_Look]:
    """Lines of access lists of a switch that drop, and whose matches grew, by the port or the VLAN of the list."""
    if change is None or not after.applied:
        return
    at_ports = {
        lead.port.casefold(): place
        for place in places.nodes
        for lead in places.ports.get((place.network, place.node), ())
        if not places.network or place.network == places.network
    }
    looked = [*at_ports.values(), *([None] if places.network else [])]
    for place in looked:
        yield _Look(_acl_at(place, places), False)
    for one in change.rules:
        for where in after.applied.get(one.rule.chain, ()):
            is_vlan = where.casefold().startswith("vlan")
            place = None if is_vlan else at_ports.get(port_name(where).casefold())
            if one.rule.drops and (place or (is_vlan and places.network)):
                ends = [place] if place else [p for p in places.nodes if p.network == places.network]
                at = _acl_at(place, places, _packets(one.rule, ends[0], own=frozenset().union(*_privates(ends))))
                yield _Look(at, None if one.packets is None else one.packets > 0)


def _acl_at(place: NodePlace | None, places: PastePlaces, packets: Traffic | None = None) -> SignAt:
    network, node = (place.network, place.node) if place else (places.network, "")
    return SignAt(sign=Sign.PORT_ACL, network=network, node=node, packets=packets or Traffic())


def _privates(places: Iterable[NodePlace]) -> Iterator[frozenset[str]]:
    for place in places:
        yield frozenset(address for address in place.addresses if not address.startswith("169.254."))


def _acts(one: RuleChange, place: NodePlace) -> bool | None:
    """None: the rule has no counter, or what it counted can be of another network."""
    if one.packets is None:
        return None
    is_private = bool(set(place.nics) & {*one.rule.nics_in, *one.rule.nics_out}) or bool(
        one.rule.sources or one.rule.destinations
    )
    if one.packets and not is_private and (one.rule.is_partial or one.rule.is_policy):
        return None
    return one.packets > 0


def _can_match(rule: FilterRule, place: NodePlace) -> bool:
    nics = rule.nics_in or rule.nics_out
    if nics and not any(_is_nic(pattern, nic) for pattern in nics for nic in place.nics):
        return False
    own = rule.destinations if rule.hook in _IN else rule.sources if rule.hook in _OUT else ()
    return not own or any(_holds(network, address) for network in own for address in place.addresses)


def _is_nic(pattern: str, nic: str) -> bool:
    """Whether a NIC is meant: `eth1`, `eth+` of iptables, `eth*` of nftables."""
    return nic.startswith(pattern[:-1]) if pattern.endswith(("+", "*")) else pattern == nic


def _holds(network: str, address: str) -> bool:
    first, _, last = network.partition("-")
    try:
        one = ipaddress.ip_address(address)
        if last:
            low, high = ipaddress.ip_address(first), ipaddress.ip_address(last)
            return one.version == low.version == high.version and int(low) <= int(one) <= int(high)
        return one in ipaddress.ip_network(network, strict=False)
    except ValueError:
        return False


def _packets(rule: FilterRule, place: NodePlace, own: frozenset[str] = frozenset()) -> Traffic:
    """The packets that a rule drops, as far as its fields show them."""
    protocols = tuple(sorted({known for name in rule.protocols if (known := _PROTOCOLS.get(name.removesuffix("v6")))}))
    is_haip = bool(rule.sources or rule.destinations) and all(
        text.startswith("169.254.") for text in (*rule.sources, *rule.destinations)
    )
    is_private = not is_haip and any(_holds(network, ip) for network in rule.destinations for ip in own)
    into, out = rule.hook in _IN, rule.hook in _OUT
    return Traffic(
        receivers=(place.node,) if into else None,
        senders=(place.node,) if out else None,
        addresses=("haip",) if is_haip else ("private",) if is_private else None,
        protocols=protocols or None,
        forms=("fragment",) if rule.is_of_fragments else None,
        sizes=rule.lengths or (0, MOST),
    )


def arrived(
    pasted: Pasted, *, sources: Iterable[str], destinations: Iterable[str], is_ours: Callable[[CapturedFrame], bool]
) -> int | None:
    """Return how many packets a capture shows between these addresses that are ours; None where it does not show that:
    it was cut, the kernel dropped packets for want of room, or packets were not understood.

    A capture that ended by its count (`-c`) shows nothing of later packets: the caller knows the count.
    """
    captured = sum(one.captured for one in pasted.captures)
    if not captured or captured > len(pasted.frames) or any(one.dropped for one in pasted.captures):
        return None if captured or not pasted.captures or any(one.dropped for one in pasted.captures) else 0
    ends = frozenset(sources), frozenset(destinations)
    return sum(frame.source in ends[0] and frame.destination in ends[1] and is_ours(frame) for frame in pasted.frames)
