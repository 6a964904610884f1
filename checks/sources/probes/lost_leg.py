"""Find the direction that loses full-size packets: send pings into a black hole, and let the target count arrivals.

For each target, all failing senders send first together: if no request or every request arrives, the direction is
known for all. Otherwise they send one after the other. Targets do not affect each other: each counts its own requests.

A racwire on another node may ping the target at the same time. Its requests only add to the count, so they cannot hide
one that arrives; where more arrive than were sent, or any arrive while none is sent, the count is taken once more.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable, Mapping, Sequence

from checks.model.facts import Leg
from checks.sources.kernel_files import ARRIVALS
from checks.sources.nodes.proc import snmp_total
from checks.sources.nodes.shell import Shell, ShellError
from checks.sources.probes.limits import BudgetSpentError
from checks.sources.probes.path_work import PathWork
from checks.sources.probes.pinger import CannotPingError
from checks.sources.probes.probe_hosts import ProbeHosts

STRANGERS = 2
"""Tolerance of a count: echo requests of other programs (monitoring pings once a second) and lost own requests."""

QUIET_S = 0.3
"""Seconds without own pings in which the target counts those of others."""
JITTER_S = 0.5, 2.0
"""Seconds until the one repetition: a racwire on another node that waits equally long would meet this one again."""


def leg_of_all(arrived: int, sent: int) -> Leg:
    """The leg that lost the pings of all senders; UNKNOWN where the count does not decide it for all of them."""
    if arrived <= STRANGERS:
        return Leg.REQUEST
    if arrived >= sent - STRANGERS:
        return Leg.REPLY
    return Leg.UNKNOWN


def combine(legs: Mapping[tuple[str, str], Leg]) -> dict[tuple[str, str], Leg]:
    """The legs of the paths of one network, by sender and target, combined with the opposite paths.

    If the request of a ping from A to B is lost, the direction from B to A is not known. But if a request from B to A
    is lost too, an answer from B would also be lost: both legs lose packets.
    """
    return {
        (sender, target): Leg.BOTH if leg is Leg.REQUEST and legs.get((target, sender)) is Leg.REQUEST else leg
        for (sender, target), leg in legs.items()
    }


async def find_legs(works: Sequence[PathWork], nodes: ProbeHosts) -> None:
    """Find the lost leg of each path; all paths must have black holes."""
    by_target: dict[str, list[PathWork]] = {}
    for work in works:
        by_target.setdefault(work.path.destination.node, []).append(work)
    await asyncio.gather(*(_one_target(target, senders, nodes) for target, senders in by_target.items()))
    _combine(works)


async def _one_target(target: str, senders: Sequence[PathWork], nodes: ProbeHosts) -> None:
    shell = await nodes.shell(target)
    if shell is None:
        _note(senders, Leg.UNKNOWN, f"racwire has no shell on {target} to count arrivals, so the direction is unknown")
        return
    leg = await _count_undisturbed(senders, shell)
    if leg is not Leg.UNKNOWN or len(senders) == 1:
        return
    for sender in senders:
        await _count_undisturbed([sender], shell)


async def _count_undisturbed(senders: Sequence[PathWork], shell: Shell) -> Leg:
    """Count, and once more where the pings of others were counted."""
    leg = await _count(senders, shell)
    if leg is not None:
        return leg
    await asyncio.sleep(random.uniform(*JITTER_S))  # noqa: S311 - no secret
    if (leg := await _count(senders, shell)) is not None:
        return leg
    why = f"{shell.node} also counts pings of others, which may be those of a racwire on another node"
    _note(senders, Leg.UNKNOWN, f"the direction is not clear: {why}")
    return Leg.UNKNOWN


async def _count(senders: Sequence[PathWork], shell: Shell) -> Leg | None:
    """Count the arrivals from these senders once, and record the result for each sender; None where others were
    counted too."""
    try:
        before = await _arrived(shell)
        sent = sum(await asyncio.gather(*(w.send_to_be_counted() for w in senders)))
        after = await _arrived(shell)
    except (ShellError, CannotPingError, BudgetSpentError) as error:
        _note(senders, Leg.UNKNOWN, f"not found: {error}")
        return Leg.UNKNOWN
    if before is None or after is None or not sent:
        _note(senders, Leg.UNKNOWN, f"{shell.node} does not report how many echo requests it received")
        return Leg.UNKNOWN
    arrived = after - before
    leg = leg_of_all(arrived, sent)
    if arrived > sent + STRANGERS or (leg is Leg.REPLY and not await _is_quiet(shell, after)):
        return None
    meaning = {
        Leg.REQUEST: f"requests are lost on the way to {shell.node}",
        Leg.REPLY: f"requests arrive, and answers from {shell.node} are lost",
    }.get(leg, "the direction is not clear")
    who = " ".join(w.path.source.node for w in senders)
    _note(senders, leg, f"{sent} full-size pings from {who}, {shell.node} counted {arrived} echo requests: {meaning}")
    return leg


async def _is_quiet(shell: Shell, before: int) -> bool:
    """Return whether hardly any request reaches the target while racwire sends none."""
    await asyncio.sleep(QUIET_S)
    try:
        after = await _arrived(shell)
    except ShellError:
        return False
    return after is not None and after - before <= STRANGERS


async def _arrived(shell: Shell) -> int | None:
    return snmp_total((await shell.run(ARRIVALS)).text, "Icmp", "InEchos")


def _note(works: Iterable[PathWork], leg: Leg, how: str) -> None:
    for work in works:
        work.note_leg(leg, how)


def _combine(works: Sequence[PathWork]) -> None:
    """Combine the leg of each path with the leg of its opposite path."""
    for network in {w.path.network.name for w in works}:
        mine = {(w.path.source.node, w.path.destination.node): w for w in works if w.path.network.name == network}
        for pair, leg in combine({pair: w.lost_leg for pair, w in mine.items()}).items():
            if leg is not mine[pair].lost_leg:
                mine[pair].note_leg(leg, "the opposite direction loses full-size packets too")
