"""What each fault does to a packet: the truth that a diagnosis is compared with.

The effects are those of `racwire lab break` (lab/racwire_lab/cluster), where the practice cluster has the fault. What
depends on load there, such as a policer or a queue, is a fixed share here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.simulator.faults import STANDARD_MTU, Fault, before, misled
from tests.simulator.packets import Packet, number

LARGE = 1000
"""Bytes above which queues and policers drop: a small packet finds room."""
MEMBERS = 2
TUNNEL_MTU = 1450
"""What a VXLAN tunnel leaves of 1500 bytes (RFC 7348: 50 bytes of headers)."""
_SHARES = 4
"""One flow of so many loses a share of its packets."""


@dataclass(frozen=True, slots=True)
class Way:
    """The way of a packet: the switch that it crosses, and the NIC at which it arrives, by the numbers of networks."""

    switch: int
    arrives: int


@dataclass(frozen=True, slots=True)
class Effect:
    """What a fault does to a packet."""

    share: float
    """The probability that the packet is lost."""
    counter: str = ""
    """What counts it: `Udp.RcvbufErrors` of the receiver's kernel, `tx.qdisc_drops` or `rx.rx_crc_errors` of the
    sender's or the receiver's NIC."""
    arrived: bool = False
    """Whether the receiver's kernel got it and dropped it."""
    is_of_datagram: bool = False
    """Whether it drops datagrams, after their reassembly."""


Rule = Callable[[Fault, Packet, Way, Sequence[str]], Effect | None]


def effect(fault: Fault, packet: Packet, way: Way, names: Sequence[str]) -> Effect | None:
    """Return what the fault does to a packet; None where it does not touch it."""
    rule = _RULES.get(fault.kind)
    return rule(fault, packet, way, names) if rule else None


def _at_port(f: Fault, p: Packet, way: Way) -> bool:
    """Return whether the packet crosses the cable of the NIC of the fault."""
    return (p.sender, p.network) == (f.node, f.network) or _to_port(f, p, way)


def _to_port(f: Fault, p: Packet, way: Way) -> bool:
    return (p.receiver, way.arrives) == (f.node, f.network)


def _from_port(f: Fault, p: Packet, way: Way) -> bool:
    return (p.sender, p.network) == (f.node, f.network)


def _on_network(f: Fault, p: Packet, way: Way) -> bool:
    return way.switch == f.network


def _when(
    meets: Callable[[Fault, Packet, Way], bool],
    matches: Callable[[Packet], bool] = lambda p: True,
    of: Effect = Effect(1.0),
) -> Rule:
    def rule(f: Fault, p: Packet, way: Way, names: Sequence[str]) -> Effect | None:
        return of if meets(f, p, way) and matches(p) else None

    return rule


def second_half(names: Sequence[str]) -> frozenset[str]:
    """Return the nodes on the second switch of a network in two halves, as in the practice cluster."""
    return frozenset(names[len(names) // 2 :])


def _split(matches: Callable[[Packet], bool]) -> Rule:
    def rule(f: Fault, p: Packet, way: Way, names: Sequence[str]) -> Effect | None:
        far = second_half(names)
        is_across = _on_network(f, p, way) and (p.sender in far) != (p.receiver in far)
        return Effect(1.0) if is_across and matches(p) else None

    return rule


def member(p: Packet) -> int | None:
    """Return the link of an aggregation that carries a packet: by addresses and ports, and by addresses for fragments.

    None for pings, which take a good link, as in the practice cluster.
    """
    if p.protocol != "udp":
        return None
    hashed = (p.sender, p.receiver, p.address, p.port if p.form == "whole" else 0)
    return number(*hashed) % MEMBERS


def _bad_flow(f: Fault, p: Packet, way: Way, names: Sequence[str]) -> Effect | None:
    """The ports decide for datagrams, and the addresses for fragments and pings."""
    if p.protocol == "arp" or not _at_port(f, p, way):
        return None
    port = p.port if p.protocol == "udp" and p.form == "whole" else 0
    return Effect(0.2) if number(p.sender, p.receiver, p.address, p.protocol, port) % _SHARES == 0 else None


def _strange_haip(f: Fault, p: Packet, way: Way, names: Sequence[str]) -> Effect | None:
    is_there = (p.network, p.receiver, p.address) == (f.network, f.node, "haip") and p.protocol != "arp"
    return Effect(1.0) if is_there and p.sender == misled(f.node, names) else None


def _full_table(f: Fault, p: Packet, way: Way, names: Sequence[str]) -> Effect | None:
    """Only new flows need room in the table of connections: those of instances are mostly known."""
    if f.node not in (p.sender, p.receiver) or p.protocol == "arp":
        return None
    return Effect(0.05 if p.end == "instance" else 0.4, arrived=p.receiver == f.node)


def _flapping(f: Fault, p: Packet, way: Way, names: Sequence[str]) -> Effect | None:
    """What the node itself sends meanwhile, its own kernel drops."""
    if _from_port(f, p, way):
        return Effect(0.2, "tx.qdisc_drops")
    return Effect(0.2) if _to_port(f, p, way) else None


def _pair(f: Fault, p: Packet, way: Way) -> bool:
    return (p.network, p.sender, p.receiver) == (f.network, f.node, f.peer)


def _same_mac(f: Fault, p: Packet, way: Way, names: Sequence[str]) -> Effect | None:
    """The two reach each other by no packet; the switch sends those of others to the port that sent last."""
    same = (f.node, before(f.node, names))
    if way.switch != f.network or p.receiver not in same:
        return None
    return Effect(1.0) if p.sender in same else Effect(0.4) if p.protocol != "arp" else None


def _same_address(f: Fault, p: Packet, way: Way, names: Sequence[str]) -> Effect | None:
    """The peers reach the owner by plan, and the two owners reach no other node by that address."""
    is_own = p.sender in (f.node, before(f.node, names)) and p.receiver in (f.node, before(f.node, names))
    is_there = p.network == f.network and p.address == "private" and p.protocol != "arp"
    return Effect(1.0) if is_there and (is_own or p.receiver == f.node) else None


def _strict(f: Fault, p: Packet, way: Way, names: Sequence[str]) -> Effect | None:
    if p.receiver != f.node or way.arrives == p.network or p.protocol == "arp":
        return None
    return Effect(1.0, "TcpExt.IPReversePathFilter", arrived=True)


def _policed(where: Callable[[Fault, Packet, Way], bool], arrived: bool = False) -> Rule:
    """Single datagrams pass; blocks and datagrams in a row are lost in part."""

    def rule(f: Fault, p: Packet, way: Way, names: Sequence[str]) -> Effect | None:
        if p.protocol != "udp" or not where(f, p, way) or not (p.end == "instance" or p.in_a_row):
            return None
        return Effect(0.2 if p.end == "instance" else 0.6, arrived=arrived)

    return rule


def _jumbo(p: Packet) -> bool:
    return p.size > STANDARD_MTU


def _fragment(p: Packet) -> bool:
    return p.form == "fragment"


def _to_node(f: Fault, p: Packet, way: Way) -> bool:
    return p.receiver == f.node


_RULES: dict[str, Rule] = {
    "switch-mtu": _when(_on_network, _jumbo),
    "port-mtu": _when(_at_port, _jumbo),
    "one-way-mtu": _when(_pair, _jumbo),
    "split-switch": _split(lambda p: True),
    "split-switch-mtu": _split(_jumbo),
    "link-down": _when(_at_port),
    "port-dead": _when(_at_port),
    "loss": _when(_at_port, of=Effect(0.3)),
    "small-loss": _when(_at_port, of=Effect(0.03)),
    "udp-filtered": _when(_to_port, lambda p: p.protocol == "udp", Effect(1.0, arrived=True)),
    "icmp-filtered": _when(_to_node, lambda p: p.protocol == "icmp" and not p.is_error, Effect(1.0, arrived=True)),
    "icmp-size-filtered": _when(_on_network, lambda p: p.protocol == "icmp" and _jumbo(p)),
    "drop-fragments": _when(_on_network, _fragment, Effect(0.02)),
    "fragments-filtered": _when(_on_network, _fragment),
    "fragments-filtered-to": _when(_to_port, _fragment),
    "udp-policed": _policed(_on_network),
    "udp-limited-at-node": _policed(_to_port, arrived=True),
    "icmp-policed": _when(_on_network, lambda p: p.protocol == "icmp", Effect(0.4)),
    "lag-member-mtu": _when(_on_network, lambda p: _jumbo(p) and member(p) == 0),
    "lag-member-loss": _when(_on_network, lambda p: member(p) == 0),
    "wrong-neighbour": _when(_pair, lambda p: p.address == "private" and p.protocol != "arp"),
    "duplicate-address": _same_address,
    "duplicate-mac": _same_mac,
    "strict-rp-filter": _strict,
    "small-receive-buffer": _when(
        _to_node, lambda p: p.end == "instance", Effect(0.3, "Udp.RcvbufErrors", arrived=True, is_of_datagram=True)
    ),
    "small-reassembly-memory": _when(_to_node, _fragment, Effect(1.0, "Ip.ReasmFails", arrived=True)),
    "sender-queue": _when(_from_port, lambda p: p.size > LARGE, Effect(0.05, "tx.qdisc_drops")),
    "arp-off": _when(_at_port),
    "policy-gateway": _when(_from_port, lambda p: p.address == "private" and p.protocol != "arp"),
    "spoof-check": _when(_from_port),
    "flow-share-loss": _bad_flow,
    "security-list-fragments": _when(_at_port, _fragment),
    "one-protocol": _when(_at_port, lambda p: p.protocol == "udp"),
    "haip-filtered": _when(_on_network, lambda p: p.address == "haip" and p.protocol != "arp"),
    "haip-stranger": _strange_haip,
    "tunnel-mtu": _when(_at_port, lambda p: p.size > TUNNEL_MTU),
    "local-bridge": _when(
        lambda f, p, way: (p.network, p.sender, p.receiver) == (f.network, f.peer, f.node),
        lambda p: p.address == "private" and p.protocol != "arp",
        Effect(1.0, arrived=True),
    ),
    "port-flaps": _flapping,
    "conntrack-full": _full_table,
    **dict.fromkeys(("cable-bad", "port-bad", "nic-bad"), _when(_at_port, of=Effect(0.3))),
    "strand-in-bad": _when(_to_port, of=Effect(0.3)),
    "strand-out-bad": _when(_from_port, of=Effect(0.3)),
    "strand-in-weak": _when(_to_port, of=Effect(0.005)),
    **dict.fromkeys(("queue-full", "port-policed"), _when(_to_port, lambda p: p.size > LARGE, Effect(0.3))),
    "udp-filtered-at-port": _when(_to_port, lambda p: p.protocol == "udp"),
    "icmp-filtered-at-port": _when(_to_port, lambda p: p.protocol == "icmp" and not p.is_error),
    **dict.fromkeys(
        ("private-filtered-at-port", "second-host"),
        _when(_to_port, lambda p: p.address == "private" and p.protocol != "arp"),
    ),
    "haip-filtered-at-port": _when(_to_port, lambda p: p.address == "haip" and p.protocol != "arp"),
    **dict.fromkeys(("port-blocked", "port-of-another-vlan"), _when(_at_port)),
    "lag-member-share": _when(_on_network, lambda p: member(p) == 1, Effect(0.3)),
    "switch-loss": _when(_on_network, of=Effect(0.3)),
    "nic-errors": _when(_to_port, of=Effect(0.03, "rx.rx_crc_errors")),
}
"""What is not here touches no packet, or changes the MTU or the NIC with which a node sends: see `World`."""
