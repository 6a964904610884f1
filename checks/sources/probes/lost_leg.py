"""Which way loses full-size packets: send pings behind a black hole and let the target count those that arrive.

For each target first all its failing senders together: nothing or everything arriving settles it for everyone. Only
otherwise one after the other. Targets do not disturb each other, since each counts only requests sent to itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence

from checks.model.facts import Leg
from checks.sources.kernel_files import ARRIVALS
from checks.sources.nodes.shell import Shell, ShellError
from checks.sources.probes.limits import BudgetSpentError
from checks.sources.probes.path_work import PathWork
from checks.sources.probes.pinger import CannotPingError
from checks.sources.probes.probe_hosts import ProbeHosts

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


async def find_legs(works: Sequence[PathWork], nodes: ProbeHosts) -> None:
    """Find the lost leg of each path, which must all lie behind black holes."""
    by_target: dict[str, list[PathWork]] = {}
    for work in works:
        by_target.setdefault(work.path.destination.node, []).append(work)
    await asyncio.gather(*(_one_target(target, senders, nodes) for target, senders in by_target.items()))
    _combine(works)


async def _one_target(target: str, senders: Sequence[PathWork], nodes: ProbeHosts) -> None:
    shell = await nodes.shell(target)
    if shell is None:
        _note(senders, Leg.UNKNOWN, f"{target} has no shell to count in, so the lost way is unknown")
        return
    leg = await _count(senders, shell)
    if leg is not Leg.UNKNOWN or len(senders) == 1:
        return
    for sender in senders:
        await _count([sender], shell)


async def _count(senders: Sequence[PathWork], shell: Shell) -> Leg:
    """One count with these senders; notes what it says on each of them."""
    try:
        before = await _arrived(shell)
        sent = sum(await asyncio.gather(*(w.send_to_be_counted() for w in senders)))
        after = await _arrived(shell)
    except (ShellError, CannotPingError, BudgetSpentError) as error:
        _note(senders, Leg.UNKNOWN, f"not found: {error}")
        return Leg.UNKNOWN
    if before is None or after is None or not sent:
        _note(senders, Leg.UNKNOWN, f"{shell.node} does not tell how many echo requests reached it")
        return Leg.UNKNOWN
    arrived = after - before
    leg = leg_of_all(arrived, sent)
    meaning = {
        Leg.REQUEST: "they are lost on the way there",
        Leg.REPLY: "they arrive, and the answers are lost on the way back",
    }.get(leg, "that does not settle it")
    who = " ".join(w.path.source.node for w in senders)
    _note(senders, leg, f"{sent} full-size pings from {who}, {shell.node} counted {arrived} echo requests: {meaning}")
    return leg


async def _arrived(shell: Shell) -> int | None:
    return in_echos((await shell.run(ARRIVALS)).text)


def _note(works: Iterable[PathWork], leg: Leg, how: str) -> None:
    for work in works:
        work.note_leg(leg, how)


def _combine(works: Sequence[PathWork]) -> None:
    """Let each path know what its opposite says."""
    for network in {w.path.network.name for w in works}:
        mine = {(w.path.source.node, w.path.destination.node): w for w in works if w.path.network.name == network}
        for pair, leg in combine({pair: w.lost_leg for pair, w in mine.items()}).items():
            if leg is not mine[pair].lost_leg:
                mine[pair].note_leg(leg, "the other way loses full-size packets too: both ways are broken")
