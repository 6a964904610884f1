"""Rules for datagrams that were counted by source port: whether some ports lose a share of them and others do not.

A link aggregation sends each source port over one of its links (IEEE 802.1AX, 6.2.4), so a bad link loses packets of
some ports. A limit of the rate, a full buffer and a bad port lose those of all ports alike.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import comb

from checks.model.facts import FlowPort, FlowProbe, PortTurn

SUSPECTS = 2
"""The source ports of a path that are counted because they lost a datagram before."""
MOST_PATHS = 2
"""The paths of a run on which datagrams are counted by source port."""
_BY_CHANCE = 0.001
"""The probability with which chance alone may show such ports in a run: on all of its paths together."""
_SELDOM = 0.05
"""The probability with which each turn by itself may: what comes and goes spoils the ports of one turn only."""


def lost_by_port(turns: Iterable[PortTurn]) -> dict[int, tuple[int, int]]:
    """Return by source port the datagrams that the target did not count, and those sent; empty where a row counts more
    than was sent: then others sent as well."""
    found: dict[int, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for one in turns:
        if one.counted > one.sent:
            return {}
        lost, sent = found[one.source_port]
        found[one.source_port] = lost + one.sent - one.counted, sent + one.sent
    return dict(found)


def lossy_ports(probe: FlowProbe) -> tuple[FlowPort, ...]:
    """Return the source ports of a path that lose datagrams where the others lose far fewer; none where chance explains
    the difference, or only one turn shows it.

    Of all divisions of the ports into two groups by their losses, the least likely one counts, times the number of
    divisions (hypergeometric distribution, bound of Bonferroni).
    """
    lost = lost_by_port(probe.turns)
    order = sorted(lost, key=lambda port: (-lost[port][0] / max(1, lost[port][1]), port))
    chances = [
        (_chance(order[:number], lost) * comb(len(order), number) * (len(order) - 1), number)
        for number in range(1, len(order))
    ]
    chance, number = min(chances, default=(1.0, 0))
    if chance >= _BY_CHANCE / MOST_PATHS:
        return ()
    worst = order[:number]
    for turn in {one.turn for one in probe.turns}:
        if _chance(worst, lost_by_port(one for one in probe.turns if one.turn == turn)) >= _SELDOM:
            return ()
    known = {port.source_port: port for port in probe.ports}
    return tuple(known.get(port, FlowPort(port, 0, sent=0)) for port in sorted(worst))


def _chance(ports: Sequence[int], lost: dict[int, tuple[int, int]]) -> float:
    """Return how likely it is that so many of all losses, or more, are of these ports."""
    losses, total = (sum(column) for column in zip(*lost.values(), strict=True))
    theirs, sent = (sum(lost[port][place] for port in ports if port in lost) for place in (0, 1))
    least, most = max(theirs, losses - (total - sent)), min(sent, losses)
    chance = term = comb(sent, least) * comb(total - sent, losses - least) / comb(total, losses)
    for k in range(least, most):
        term *= (sent - k) * (losses - k) / ((k + 1) * (total - sent - losses + k + 1))
        chance += term
    return chance
