"""On which way full-size packets vanish: the way there, or the way back.

An echo reply is as large as its request, so a failing ping does not say which of the two got lost. The target does: it
counts the echo requests that reached it (`Icmp: InEchos` in /proc/net/snmp). Sans-I/O: counts in, legs out.
"""

from __future__ import annotations

from collections.abc import Mapping

from checks.model.facts import Leg

PINGS = 10
"""Full-size pings for each sender and count."""

STRANGERS = 2
"""Echo requests of others (monitoring pings once a second) and lost ones of ours that a count may be off by."""


def in_echos(snmp: str) -> int | None:
    """`InEchos` of the Icmp group and `InEchos` of ICMPv6 added up, from /proc/net/snmp and snmp6; None without either.

    The first names its columns in one line and gives the values in the next; the second has a line for each.
    """
    total: int | None = None
    names: list[str] = []
    for line in snmp.splitlines():
        words = line.split()
        if not words:
            continue
        if words[0] == "Icmp6InEchos" and len(words) == 2 and words[1].isdecimal():
            total = (total or 0) + int(words[1])
        elif words[0] == "Icmp:" and "InEchos" in words:
            names = words
        elif words[0] == "Icmp:" and len(words) == len(names):
            value = words[names.index("InEchos")]
            if value.isdecimal():
                total = (total or 0) + int(value)
    return total


def leg_of_all(arrived: int, sent: int) -> Leg:
    """Which leg lost the pings of all senders together; UNKNOWN where the count does not settle it for everyone."""
    if arrived <= STRANGERS:
        return Leg.REQUEST
    if arrived >= sent - STRANGERS:
        return Leg.REPLY
    return Leg.UNKNOWN


def combine(legs: Mapping[tuple[str, str], Leg]) -> dict[tuple[str, str], Leg]:
    """The legs of the paths of one network, by sender and target, with what each tells of its opposite.

    A ping from A to B whose request is lost says nothing of the way from B to A. But where a request from B to A is
    lost too, an answer would have been lost as well: both legs lose.
    """
    return {
        (sender, target): Leg.BOTH if leg is Leg.REQUEST and legs.get((target, sender)) is Leg.REQUEST else leg
        for (sender, target), leg in legs.items()
    }
