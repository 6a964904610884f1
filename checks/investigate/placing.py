"""Places a rare loss: which path next gets how many datagrams, and when its loss is named. Pure.

Each path has a likelihood ratio: that it loses one of `SHARES` (their mean) against that it loses what every path may
lose. Whatever is sampled next, the ratio of a healthy path ever exceeds `1 / chance` with that chance at most (Ville's
inequality), so the chances of all paths together are `WRONG`. The next datagrams go to the path of the greatest ratio.
Before it is named, the other paths get as many, and it is also compared with what these lose.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, exp, lgamma, log, log1p

from checks.model.investigation import Placing

WayKey = tuple[str, str, str]
"""The network, the sender and the receiver of a directed path."""
Counts = Mapping[WayKey, tuple[int, int]]
"""By path: lost, sent."""

WRONG = 1e-3
"""The chance that a path is named although no path loses more than `USUAL`, over all paths and datagrams."""
USUAL = 2e-4
"""The share that every path may lose. Where the other paths lose more, theirs counts."""
SHARES = (0.002, 0.005, 0.02, 0.08)
"""The shares that are looked for."""
_LESS = (5e-4, 1e-3)
"""Shares below those, which all paths together can have."""
MISSED = 0.05
"""A path is clear where so few were lost that a share of `SHARES` does so with this chance at most."""
DOUBT = 0.05
"""The chance below which the losses of the other paths are not those of `USUAL`."""
FEWER = 400
"""How many times less evidence against one rate for all paths is enough, where the losses of the others are those of
`USUAL`: with none, a thousandth that all paths lose looks like a path of two thousandths."""
BATCH, MOST_AT_ONCE = 50, 250
"""Datagrams that a path gets at once: at first, and once it had four times as many."""


@dataclass(frozen=True, slots=True)
class NextBatch:
    """The path that gets the next datagrams, and how many."""

    way: WayKey
    datagrams: int


def pairs_of(ways: Iterable[WayKey], pairs: Collection[tuple[str, str]]) -> tuple[WayKey, ...]:
    """Return the paths of pairs of nodes, sender and receiver of lost blocks, on every network."""
    return tuple(way for way in ways if (way[1], way[2]) in pairs)


def next_batch(counts: Counts, first: Collection[WayKey], budget: int) -> NextBatch | Placing:
    """Return what to send next, or where the loss is.

    `counts` has every path that can be sampled. `first` are the paths that the lost blocks name: they are sampled
    before the others, and have half of the chance to be wrong. `budget` are the datagrams that may still be sent.
    """
    bounds = _bounds(counts, first)
    open_ways = [way for way, seen in counts.items() if not is_clear(*seen)]
    named = [way for way in open_ways if way in first]
    over = {way for way, seen in counts.items() if ratio(*seen) > bounds[way]}
    suspect = max(named or open_ways, key=lambda way: (ratio(*counts[way]), -counts[way][1]), default=None)
    many = 0
    if over:
        # One that the lost blocks do not name can only be over its bound as a control of those.
        suspect = max(over, key=lambda way: ratio(*counts[way]) / bounds[way])
        control = _control(suspect, counts, over)
        lost, sent = _together(counts, control)
        enough = max(counts[suspect][1], BATCH * len(control))
        if _all_lose(counts, suspect, lost, sent):
            return _placing(counts, does_all_lose=True)
        if control and sent >= enough and _loses_more(counts[suspect], (lost, sent), bounds[suspect]):
            return _placing(counts, suspect)
        if control and sent < enough:
            suspect, many = min(control, key=lambda way: counts[way][1]), (enough - sent) // len(control)
    if suspect is None or budget <= 0:
        return _placing(counts, would_need=0 if suspect is None else _would_need(counts, bounds))
    many = many or counts[suspect][1] // 4
    return NextBatch(suspect, min(budget, max(BATCH, min(MOST_AT_ONCE, many))))


@lru_cache(maxsize=4096)
def ratio(lost: int, sent: int, usual: float = USUAL) -> float:
    """Return how many times likelier the count is where the path loses one of `SHARES` than where it loses `usual`."""
    return sum(map(exp, _logs(lost, sent, usual, SHARES))) / len(SHARES)


@lru_cache(maxsize=4096)
def is_clear(lost: int, sent: int) -> bool:
    """Return whether the path loses none of `SHARES`, but for a chance of `MISSED`."""
    return max(_logs(lost, sent, USUAL, SHARES)) < log(MISSED)


def _logs(lost: int, sent: int, usual: float, shares: Sequence[float]) -> list[float]:
    above, none = log1p(-usual), (float("-inf"),)
    found = (lost * log(p / usual) + (sent - lost) * (log1p(-p) - above) for p in shares if p > usual)
    return [min(one, 600.0) for one in found] or list(none)


def _bounds(counts: Counts, first: Collection[WayKey]) -> dict[WayKey, float]:
    """Return the ratio above which each path is suspected: the chances to be wrong sum up to `WRONG`."""
    named = sum(way in first for way in counts)
    others = len(counts) - named
    halves = 2 if named and others else 1
    return {way: halves * (named if way in first else others) / WRONG for way in counts}


def _control(suspect: WayKey, counts: Counts, over: Collection[WayKey]) -> list[WayKey]:
    """Return the paths with which a suspect is compared: those that share no port with it in its direction, and are not
    suspected themselves."""
    network, sender, receiver = suspect
    return [
        way
        for way in counts
        if way not in over and not (way[0] == network and (way[1] == sender or way[2] == receiver))
    ]


def _loses_more(suspect: tuple[int, int], others: tuple[int, int], bound: float) -> bool:
    """Return whether a suspect loses more than the others.

    Their rate is an estimate: the suspect is also compared with the rate that fits the datagrams of both best, which
    holds for any rate; with less evidence where theirs may be `USUAL`.
    """
    lost, sent = others
    if ratio(*suspect, max(USUAL, (lost + 1) / sent)) <= bound:
        return False
    is_usual = _chance_of(lost, sent * USUAL) >= DOUBT
    return _apart(suspect, others) > log(bound / FEWER if is_usual else bound)


def _apart(suspect: tuple[int, int], others: tuple[int, int]) -> float:
    """Return the logarithm of the ratio: that suspect and others have rates of their own, against one rate for both."""
    own = _mean(_likelihood(*suspect, share) for share in SHARES)
    theirs = _mean(_likelihood(*others, share) for share in (USUAL, *_LESS, *SHARES))
    lost, sent = suspect[0] + others[0], suspect[1] + others[1]
    return own + theirs - _likelihood(lost, sent, lost / sent)


def _likelihood(lost: int, sent: int, share: float) -> float:
    return (lost * log(share) if lost else 0.0) + ((sent - lost) * log1p(-share) if share < 1 else 0.0)


def _mean(logs: Iterable[float]) -> float:
    """Return the logarithm of the mean, of logarithms."""
    found = list(logs)
    return max(found) + log(sum(exp(one - max(found)) for one in found) / len(found))


def _chance_of(lost: int, expected: float) -> float:
    """Return the chance of so many losses or more, where so many are expected (Poisson)."""
    below = sum(exp(k * log(expected) - expected - lgamma(k + 1)) for k in range(lost))
    return max(0.0, 1 - below)


def _together(counts: Counts, ways: Iterable[WayKey]) -> tuple[int, int]:
    seen = [counts[way] for way in ways]
    return sum(lost for lost, _ in seen), sum(sent for _, sent in seen)


def _all_lose(counts: Counts, suspect: WayKey, lost: int, sent: int) -> bool:
    """Return whether the others lose too much, and most of them: what all lose is at no port."""
    shares = (*_LESS, *SHARES)
    is_more = sum(map(exp, _logs(lost, sent, USUAL, shares))) / len(shares) > 1 / WRONG
    others = [seen for way, seen in counts.items() if way != suspect]
    losing = sum(seen[0] > 0 for seen in others)
    if not others:
        return False
    return losing * 2 > len(others) and (is_more or _is_port_of_none(counts))


def _is_port_of_none(counts: Counts) -> bool:
    """Return whether most paths lose more than usual, each by itself."""
    losing = sum(ratio(*seen) > len(counts) / WRONG for seen in counts.values())
    return losing * 2 > len(counts)


def _would_need(counts: Counts, bounds: Mapping[WayKey, float]) -> int:
    """Estimate the datagrams that would name the path of the greatest ratio, those that were sent included.

    Where none lost, the smallest share is looked for.
    """
    best = max(counts, key=lambda way: (ratio(*counts[way]), -counts[way][1]))
    lost, sent = counts[best]
    share = min(max(lost / sent if sent else 0.0, SHARES[0]), SHARES[-1])
    alone = _to_name(share, round(bounds[best]))
    cleared = sum(max(0, _to_clear() - seen[1]) for way, seen in counts.items() if way != best)
    spent = _together(counts, counts)[1]
    return _rounded(spent + max(0, alone - sent) + max(alone, cleared))


@lru_cache(maxsize=64)
def _to_name(share: float, bound: int) -> int:
    """Return the datagrams after which a path that loses this share is suspected, with some to spare for chance."""
    gain = share * log(share / USUAL) + (1 - share) * (log1p(-share) - log1p(-USUAL))
    return ceil(1.5 * log(bound * len(SHARES)) / gain)


@lru_cache(maxsize=64)
def _to_clear() -> int:
    return ceil(log(MISSED) / (log1p(-SHARES[0]) - log1p(-USUAL)))


def _rounded(datagrams: int) -> int:
    """Round up to two digits: it is an estimate."""
    unit: int = 10 ** max(0, len(str(datagrams)) - 2)
    return ceil(datagrams / unit) * unit


def _placing(
    counts: Counts, path: WayKey | None = None, *, does_all_lose: bool = False, would_need: int = 0
) -> Placing:
    return Placing(
        path=path,
        does_all_lose=does_all_lose,
        would_need=would_need,
        sent=_together(counts, counts)[1],
        counts=tuple((*way, *seen) for way, seen in counts.items() if seen[1]),
    )
