"""The faults of a link aggregation between the switches of one private network.

It distributes flows of UDP over its links by addresses and ports. The bad link is the second one, which a person can
disable (`racwire lab hand member-down 2`): then nothing is lost. Without the first link all takes the bad one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from racwire_lab.cluster.drop_rules import DropRule, named
from racwire_lab.cluster.fault_kind import ActiveFault, Fault
from racwire_lab.cluster.hands import MEMBERS, Cabling
from racwire_lab.cluster.port_faults import share_of
from racwire_lab.cluster.topology import STANDARD_MTU, Shape

_SHARE_PERCENT = 30.0
_GOOD, BAD = MEMBERS
_FLOW = "jhash ip saddr . ip daddr . udp sport . udp dport"
"""The hash of a link aggregation by layer 3 and 4, of UDP packets: its remainder is the member that carries a flow."""
_BY_ADDRESSES = "jhash ip saddr . ip daddr"
_SECOND = "mod 2 seed 0x5ac 0"
_WHOLE, _CUT = "ip frag-off & 0x3fff == 0", "ip frag-off & 0x3fff != 0"
SHARE, DEAD, SMALL, SMALL_OF_4 = "lag-share", "lag-member-loss", "lag-member-mtu", "lag-member-mtu-of-4"


def _network(name: str, summary: str, effect: str, *, jumbo: bool = False, share: float | None = None) -> Fault:
    return Fault(
        name, summary, effect, "network", default_node=None, needs_nft=True, needs_jumbo=jumbo, share=share
    )  # fmt: skip


LAG_FAULTS = (
    _network(
        SMALL,
        "One of two parallel links between switches carries no jumbo frames.",
        "Distributes UDP flows over two links by addresses and ports, as a link aggregation does, and drops packets "
        "above 1500 bytes on one link: about half of the flows lose every block. All pings take the other link.",
        jumbo=True,
    ),
    _network(
        SMALL_OF_4,
        "One of four parallel links between switches carries no jumbo frames.",
        "As lag-member-mtu, with four links: about a quarter of the flows lose every block.",
        jumbo=True,
    ),
    _network(
        DEAD,
        "One of two parallel links between switches loses every packet.",
        "Distributes UDP flows over two links by addresses and ports, and drops all packets of one link, as a member "
        "without LACP whose other end is dead: about half of the flows pass nothing. All pings take the other link.",
    ),
    _network(
        SHARE,
        "One of two parallel links between switches damages packets.",
        "Distributes UDP flows over two links by addresses and ports, and all else by addresses, and drops that share "
        "of what one link carries, which counts CRC errors: about half of the flows lose nothing.",
        share=_SHARE_PERCENT,
    ),
)
"""The faults of aggregations, for the catalogue."""

_LARGE = f"ip length > {STANDARD_MTU}"
_MATCHES: Mapping[str, tuple[tuple[str, ...], str]] = {
    SMALL: ((f"ip protocol udp {_LARGE} {_FLOW} {_SECOND}",), _LARGE),
    SMALL_OF_4: ((f"ip protocol udp {_LARGE} {_FLOW} mod 4 seed 0x5ac 0",), _LARGE),
    DEAD: ((f"ip protocol udp {_FLOW} {_SECOND}",), ""),
    # A fragment has no ports.
    SHARE: (
        (
            f"ip protocol udp {_WHOLE} {_FLOW} {_SECOND}",
            f"ip protocol udp {_CUT} {_BY_ADDRESSES} {_SECOND}",
            f"ip protocol != udp {_BY_ADDRESSES} {_SECOND}",
        ),
        "",
    ),
}
"""What the bad link carries of all that the nodes send: with the other link, and alone."""


def lag_rules(shape: Shape, cabling: Cabling, broken: frozenset[ActiveFault]) -> Iterator[DropRule]:
    """Yield the rules of these faults in the switch."""
    active = {(fault.fault, fault.network): fault for fault in broken}
    for network in shape.private_networks:
        up = cabling.members_up(network.number)
        if BAD not in up:
            continue
        # Match the nodes' own ports: each packet enters one of them once, however many switches and routers follow.
        ports = ", ".join(f'"{port.name}"' for port in shape.ports if port.network == network.number)
        for name, (beside, alone) in _MATCHES.items():
            if fault := active.get((name, network.number)):
                share = share_of(fault) if fault.share else ""
                for match in beside if _GOOD in up else (alone,):
                    yield DropRule(
                        named(name, network.nic), "prerouting", f"iifname {{ {ports} }} {match} {share}".rstrip()
                    )


def has_aggregation(network: int, cabling: Cabling, broken: frozenset[ActiveFault]) -> bool:
    """Whether the switches of a network are linked by an aggregation."""
    names = {fault.fault for fault in broken if fault.network == network}
    return not names.isdisjoint(_MATCHES) or len(cabling.members_up(network)) < len(MEMBERS)
