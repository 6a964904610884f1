"""Signs at a node in what was pasted: its NICs, its queues, the rules of its packet filter, its neighbours."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable, Iterator

from checks.investigate.outputs.paste_difference import PasteDifference, RuleChange
from checks.investigate.port_places import NodePlace
from checks.investigate.sign_looks import PastePlaces, SignLook, as_sign, has_moved, is_light_out, packets_of
from checks.model.pasted import CapturedFrame, Counter, DeviceSystem, FilterRule, Note, Pasted
from checks.model.signs import Sign, SignAt
from checks.model.traffic import Traffic

_IN = ("prerouting", "input", "ingress")
_OUT = ("output", "postrouting", "egress")


def signs_of_nics(change: PasteDifference | None, after: Pasted, places: PastePlaces) -> Iterator[SignLook]:
    """What the NICs of a node show, and its queues."""
    for port in after.ports:
        for place in _places_of_nic(port.device, port.name, after, places):
            at = SignAt(sign=Sign.NIC_CRC, network=place.network, node=place.node)
            if (is_out := is_light_out(port)) is not None:
                yield SignLook(as_sign(at, Sign.OPTICS), is_out)
            change_of = change.of(port) if change else None
            if change_of is None or change_of.is_cleared:
                continue
            yield SignLook(as_sign(at, Sign.NIC_CRC), has_moved(change_of.counters, Counter.CRC))
            yield SignLook(as_sign(at, Sign.NIC_MISSED), has_moved(change_of.counters, Counter.NO_BUFFER))
            yield SignLook(as_sign(at, Sign.PAUSED), has_moved(change_of.counters, Counter.PAUSE_IN, Counter.PAUSE_OUT))
            for drops, is_policer in ((change_of.queue_drops, False), (change_of.policer_drops, True)):
                ways = [name for name in drops if name.startswith("ingress")]
                for names, packets in (
                    (ways, Traffic(receivers=(place.node,))),
                    ([name for name in drops if name not in ways], Traffic(senders=(place.node,))),
                ):
                    if names:
                        looked = Traffic() if is_policer else packets
                        yield SignLook(as_sign(at, Sign.NODE_QDISC, looked), any(drops[name] for name in names))


def _places_of_nic(device: str, nic: str, after: Pasted, places: PastePlaces) -> Iterator[NodePlace]:
    """The places whose NIC it is: by the host in the prompt, else by the node of the command."""
    if after.platform not in (DeviceSystem.LINUX, DeviceSystem.UNKNOWN):
        return
    host = (device or places.node).partition(".")[0].casefold()
    for place in places.nodes:
        if host == place.node.partition(".")[0].casefold() and nic in place.nics:
            yield place


def signs_of_rules(change: PasteDifference | None, after: Pasted, places: PastePlaces) -> Iterator[SignLook]:
    """Rules that drop what arrives at or leaves a private NIC, and whose counter moved."""
    if change is None or not after.rules or Note.CUT_SHORT in after.notes:
        return
    host = next((rule.device for rule in after.rules if rule.device), places.node).partition(".")[0].casefold()
    for place in places.nodes:
        if host != place.node.partition(".")[0].casefold():
            continue
        at = SignAt(sign=Sign.NODE_RULE, network=place.network, node=place.node)
        yield SignLook(at, False)
        for one in change.rules:
            if one.rule.drops and _can_match(one.rule, place):
                yield SignLook(
                    as_sign(
                        at,
                        Sign.NODE_RULE,
                        packets_of(
                            one.rule,
                            receivers=(place.node,) if one.rule.hook in _IN else (),
                            senders=(place.node,) if one.rule.hook in _OUT else (),
                        ),
                    ),
                    _acts(one, place),
                )


_UNREACHED = ("failed", "incomplete")


def signs_of_neighbours(before: Pasted | None, after: Pasted, places: PastePlaces) -> Iterator[SignLook]:
    """Return whether entries of private addresses in the ARP table of a node fail, in one of two readings."""
    entries = [*(before.neighbours if before else ()), *after.neighbours]
    if before is None or not after.neighbours:
        return
    host = next((one.device for one in after.neighbours if one.device), places.node).partition(".")[0].casefold()
    for place in places.nodes:
        if host == place.node.partition(".")[0].casefold():
            others = {
                ip
                for one in places.nodes
                if one.network == place.network and one.node != place.node
                for ip in one.addresses
            }
            states = [one.state for one in entries if one.ip in others and one.nic in place.nics]
            if states:
                at = SignAt(sign=Sign.NEIGHBOURS_FAIL, network=place.network, node=place.node)
                yield SignLook(at, any(state in _UNREACHED for state in states))


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
