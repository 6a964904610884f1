"""Paths that lose datagrams by chance, and the placing of a loss on them, without a network."""

from __future__ import annotations

import random
from collections.abc import Collection
from math import ceil, log

from checks.investigate.placing import NextBatch, WayKey, next_batch
from checks.model.investigation import Placing


def paths(nodes: int = 3, networks: int = 2) -> list[WayKey]:
    """Return every directed path between so many nodes."""
    names = [f"rac{n}" for n in range(1, nodes + 1)]
    return [(f"net{k}", a, b) for k in range(networks) for a in names for b in names if a != b]


class LossyPath:
    """A path that loses a share of datagrams by chance."""

    def __init__(self, share: float, chance: random.Random) -> None:
        self._share, self._chance = share, chance
        self._next = self._gap()

    def lost(self, sent: int) -> int:
        """Send so many, and return how many are lost."""
        lost = 0
        while self._next <= sent:
            lost, self._next = lost + 1, self._next + self._gap()
        self._next -= sent
        return lost

    def _gap(self) -> int:
        return ceil(log(self._chance.random()) / log(1 - self._share)) if self._share else 1 << 60


def placed(
    ways: Collection[WayKey],
    bad: Collection[WayKey],
    share: float,
    background: float,
    seed: int,
    *,
    named: Collection[WayKey] = (),
    budget: int = 20_000,
) -> Placing:
    """Place a loss: paths lose `background`, those in `bad` also `share`."""
    chance = random.Random(f"{len(ways)} {share} {background} {seed}")
    simulated = {way: LossyPath(1 - (1 - background) * (1 - (share if way in bad else 0.0)), chance) for way in ways}
    counts = dict.fromkeys(ways, (0, 0))
    left = budget
    while isinstance(turn := next_batch(counts, named, left), NextBatch):
        assert 0 < turn.datagrams <= left
        lost, sent = counts[turn.way]
        counts[turn.way] = lost + simulated[turn.way].lost(turn.datagrams), sent + turn.datagrams
        left -= turn.datagrams
    assert turn.sent == budget - left == sum(sent for _, sent in counts.values())
    return turn
