"""What a prediction comes to, in sentences: packets and CPU time saved, and the first limit of a growing load."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.wording import listed
from checks.predict.fragment_cost import is_measured
from checks.predict.prediction import Estimate

BURST = "packets of a multiblock read"
SOFTIRQ = "CPU in soft interrupts"
LIMITS = {
    "times the load until the links are full": "the private links",
    "times the load until soft interrupts fill one CPU": "the soft interrupts of one CPU",
}
"""The figures of the limits, and what each limits."""
_SAME = 0.02
"""The share of the packets below which a prediction is no change."""


def conclusions(estimates: Sequence[Estimate], mtu: int) -> Iterator[str]:
    """Yield what the estimates come to; nothing where no packets were predicted."""
    yield from _packets(estimates, mtu)
    yield from _softirq(estimates)
    yield from _first_limits(estimates, mtu)


def _packets(estimates: Sequence[Estimate], mtu: int) -> Iterator[str]:
    both = [one for one in estimates if one.name in ("packets in", "packets out")]
    nodes = list(dict.fromkeys(one.subject for one in both))
    now, after = sum(one.now for one in both), sum(one.after for one in both)
    if not now or not after:
        return
    where = f"{listed(nodes)} send and receive" if len(nodes) > 1 else f"{nodes[0]} sends and receives"
    figures = f"{where} {now:,.0f} packets per second now, and {after:,.0f} at MTU {mtu}"
    if abs(after - now) < _SAME * now:
        yield f"{figures}: the same number. This load hardly has packets that the MTU changes."
        return
    a_day = 86_400 * abs(now - after) / len(_DIRECTIONS)
    less = "less" if after < now else "more"
    yield (
        f"{figures}: {100 * abs(now - after) / now:.0f} % {less}. In a day that is about {_short(a_day)} packets "
        f"{less}, each counted where it is sent."
    )


_DIRECTIONS = ("in", "out")


def _softirq(estimates: Sequence[Estimate]) -> Iterator[str]:
    own = [one for one in estimates if one.name == SOFTIRQ]
    if not own:
        return
    most = max(own, key=lambda one: abs(one.now - one.after))
    change = most.now - most.after
    if not change:
        return
    verb = "saves" if change > 0 else "costs"
    if not is_measured(most.inputs):
        yield (
            f"It {verb} at most {abs(change):.2g} % of one CPU on a node ({most.subject}): soft interrupts take "
            f"{most.now:.2g} % there now."
        )
        return
    least, largest = sorted((abs(most.now - most.low), abs(most.now - most.high)))
    yield (
        f"By the measured CPU time of a packet, it {verb} {abs(change):.2g} % of one CPU on {most.subject} (between "
        f"{least:.2g} and {largest:.2g} %): soft interrupts take {most.now:.2g} % there now."
    )


def _first_limits(estimates: Sequence[Estimate], mtu: int) -> Iterator[str]:
    """Yield the limit that a growing load reaches first, on the node that reaches it first."""
    known = [one for one in estimates if one.name in LIMITS]
    if not known:
        return
    first, then = min(known, key=lambda one: one.now), min(known, key=lambda one: one.low)
    limit, now = f"{LIMITS[first.name]} on {first.subject}", f"at {_times(first.now)} this load"
    if (then.name, then.subject) == (first.name, first.subject):
        low = _times(then.low)
        after = low if then.low == then.high else f"{low.removesuffix(' times')} to {_times(then.high)}"
        yield f"As the load grows, the first known limit is {limit}: {now}, and at MTU {mtu} at {after}."
    else:
        yield (
            f"As the load grows, the first known limit is {limit}, {now}. At MTU {mtu} it is {LIMITS[then.name]} on "
            f"{then.subject}, at {_times(then.low)} or more."
        )


def _times(value: float) -> str:
    return f"{value:,.0f} times" if value >= 10 else f"{value:.1f} times"


def _short(number: float) -> str:
    for size, name in ((1e9, "billion"), (1e6, "million")):
        if number >= size:
            return f"{number / size:.3g} {name}"
    return f"{number:,.0f}"
