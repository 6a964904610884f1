"""What became of the packets of a probe, from the counts of its source ports. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

from checks.investigate.placing import USUAL
from checks.model.investigation import Fared

_CHANCE = 1e-3
"""The chance below which losses are not those that every path may have."""
_BY_PORT = 0.01
"""The chance below which ports without a loss beside others with some are not chance."""
SURE_OF_ALL = 30
"""Datagrams that must all be lost before it counts as a total loss: a share can lose ten of ten."""
_DEAD = 3
"""Datagrams of a port that must all be lost before it counts as dead."""

Count = tuple[int, int]
"""Lost, sent."""


def fared(ports: Sequence[Count]) -> Fared:
    """Return what became of the packets, from lost and sent by source port."""
    lost, sent = together(ports)
    if not is_loss(lost, sent):
        return Fared.NONE_LOST
    if lost == sent:
        return Fared.ALL_LOST
    clean = [one for one in ports if not one[0]]
    dead = [one for one in ports if one[0] == one[1] >= _DEAD]
    if not clean or len(ports) == 1:
        return Fared.SOME_LOST
    if len(clean) + len(dead) == len(ports):
        return Fared.PORTS_LOST
    is_chance = _clean_by_chance(len(clean), ports, lost / sent) >= _BY_PORT
    return Fared.SOME_LOST if dead or is_chance else Fared.PORTS_SHARE


def is_doubtful(lost: int, sent: int) -> bool:
    """Return whether as many more datagrams should be sent before the losses are judged."""
    return lost > 0 and (not is_loss(lost, sent) or (lost == sent and sent < SURE_OF_ALL))


def is_loss(lost: int, sent: int) -> bool:
    """Return whether more were lost than every path may lose."""
    if not lost:
        return False
    fewer = sum(comb(sent, k) * USUAL**k * (1 - USUAL) ** (sent - k) for k in range(lost))
    return 1 - fewer < _CHANCE


def together(ports: Sequence[Count]) -> Count:
    """Return lost and sent of all ports."""
    return sum(lost for lost, _ in ports), sum(sent for _, sent in ports)


def _clean_by_chance(clean: int, ports: Sequence[Count], share: float) -> float:
    """Return the chance that so many ports or more lose nothing where all lose the same share."""
    one = (1 - share) ** (sum(sent for _, sent in ports) / len(ports))
    many = len(ports)
    chance: float = sum(comb(many, k) * one**k * (1 - one) ** (many - k) for k in range(clean, many + 1))
    return chance
