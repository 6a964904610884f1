"""Hold `racwire measure sizes` against sockperf's ping-pong: full round trips, blocking sockets, in turns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from statistics import median
from typing import Any

from bench.instruments import FAR, TARGET, demand, halves_differ, near, running, set_apart
from bench.pace import Pace
from bench.practice import practice_cluster
from bench.rows import Row

EACH_PERCENT, MEDIAN_PERCENT = 25, 15
P99_PERCENT, P99_US = 50, 30
"""The 99th percentile may differ by the larger of these."""
_MTU = 1500


def measure(pace: Pace) -> Iterator[Row]:
    """Yield the rows of the medians, and of the 99th percentiles. Raises NoInstrument without sockperf."""
    demand("sockperf")
    with practice_cluster(2, database=False, mtu=_MTU) as lab:
        place = set_apart(lab)
        with running(lab, FAR, ("sockperf", "server", "-i", TARGET), "block on socket"):
            found = near(lab, "turns", kind="sizes", rounds=pace.turns, trains=(), seed=1, far_end="perl")
    yield from rows_of(found, place)


def rows_of(found: dict[str, Any], place: str = "") -> Iterator[Row]:
    """Yield the rows from what both instruments found."""
    turns: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for one in found["turns"]:
        turns[one["size"]].append(one)
    lines, off, noise, tails = [], {}, {}, {}
    for size, own in sorted(turns.items()):
        ours, theirs = (median(one[name] for one in own) for name in ("p50_us", "sockperf_p50_us"))
        # Each turn is compared with the one beside it, so that a disturbance of some seconds falls on both.
        ratio = median(one["p50_us"] / one["sockperf_p50_us"] for one in own)
        off[size], noise[size] = abs(ratio - 1) * 100, halves_differ([one["sockperf_p50_us"] for one in own]) * 100
        ours99, theirs99 = (median(one[name] for one in own) for name in ("p99_us", "sockperf_p99_us"))
        tails[size] = abs(ours99 - theirs99) / max(theirs99 * P99_PERCENT / 100, P99_US)
        lines.append(
            f"{size:6,} B: p50 {ours:.0f} us, sockperf {theirs:.0f} us, {ratio:.2f}; p99 {ours99:.0f} and "
            f"{theirs99:.0f} us"
        )
    worst, tail = max(off, key=off.__getitem__), max(tails, key=tails.__getitem__)
    repeats = f"{min(map(len, turns.values()))} turns of each size at MTU {_MTU}, ratios of neighbouring turns"
    doubt = f"sockperf itself differed by {noise[worst]:.0f} % at {worst:,} B" if noise[worst] > 10 else ""
    notes = (f"{repeats}{f'; {place}' if place else ''}", *lines)
    yield Row(
        "measure sizes, p50 against sockperf, worst size", "%", off[worst], EACH_PERCENT, notes=notes, doubt=doubt
    )
    middle = median(median(one["p50_us"] / one["sockperf_p50_us"] for one in own) for own in turns.values())
    several = f"sockperf itself differed by {median(noise.values()):.0f} %" if median(noise.values()) > 10 else ""
    yield Row(
        "measure sizes, p50 against sockperf, median of sizes", "%", abs(middle - 1) * 100, MEDIAN_PERCENT,
        notes=(f"the median of the ratios is {middle:.2f}",), doubt=several,
    )  # fmt: skip
    disturbed = found["measurement"]["disturbed"]
    yield Row(
        "measure sizes, p99 against sockperf, worst size", "x", tails[tail], 1,
        notes=(f"of {P99_PERCENT} % or {P99_US} us, whichever is more; worst at {tail:,} B",),
        doubt="racwire calls it disturbed itself" if disturbed else "",
    )  # fmt: skip
