"""Hold the silences that `racwire drill link` tells against 20 cuts of known length, with fping beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bench.instruments import NoInstrument, demand
from bench.pace import Pace
from bench.practice import practice_cluster
from bench.programs.drill_cuts import INTERVAL_S, LENGTHS_S, MORE_S, CutFigure, cuts
from bench.rows import Row

_SHORT_S = LENGTHS_S[::4]


def measure(pace: Pace) -> Iterator[Row]:
    """Yield a row for pings and one for UDP, and that of fping for comparison. Raises NoInstrument."""
    demand("nft")
    lengths = LENGTHS_S if pace.finds > 1 else _SHORT_S
    with practice_cluster(2, database=False, haip_after_s=900.0):
        try:
            figures = list(cuts(lengths))
        except RuntimeError as reason:
            raise NoInstrument(f"racwire drill: {reason}") from reason
    yield from rows_of(figures)


def rows_of(figures: Sequence[CutFigure]) -> Iterator[Row]:
    """Yield the rows from the figures of the cuts."""
    for name in ("pings", "udp"):
        told = [(one, getattr(one, f"{name}_s")) for one in figures]
        right = sum(one.is_exact(seconds) for one, seconds in told)
        wrong = [
            f"a cut of {one.least_s * 1000:.0f} to {one.most_s * 1000:.0f} ms: "
            + ("nothing" if seconds is None else f"{seconds * 1000:.0f} ms")
            for one, seconds in told
            if not one.is_exact(seconds)
        ]
        note = f"right to {INTERVAL_S * 1000:.0f} ms, and {MORE_S * 1000:.0f} ms more at the end"
        yield Row(
            f"drill link, {name}: silences right", "cuts", right, len(figures), is_least=True, notes=(note, *wrong)
        )
    by_fping = [one for one in figures if one.fping_s is not None]
    if by_fping:
        right = sum(one.is_exact(one.fping_s) for one in by_fping)
        note = f"of {len(by_fping)}, beside racwire, by the same rule"
        yield Row("drill link, fping -o: outages right", "cuts", right, notes=(note,))
