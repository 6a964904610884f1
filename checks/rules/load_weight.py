"""How heavy the load of a private link is: the share of the link, and whether pings wait longer when it is busy.

An answer to "how full is heavy?" in Kundersma's comments: a link that is 66 % full is busy two of three times, and
there is no golden number. So the share is one sign, an average that hides bursts; the other is what pings took in the
busiest third of the time against the quietest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

from checks.model.facts import Unknown
from checks.model.interconnect_load import LoadWeight, Queueing, Weight
from checks.model.percentiles import least_values
from checks.model.wording import continued, span

HEAVY_PERCENT, MODERATE_PERCENT = 200 / 3, 100 / 3
"""Shares from which a packet finds the link busy two of three times, and one of three times."""
HEAVY_TIMES, MODERATE_TIMES = 3.0, 1.5
"""How many times longer pings take in busy seconds: less than 1.5 differs from sample to sample by itself. Ours."""
_LEAST_SAMPLES = 10
"""Samples in each third, below which its median is that of a few."""
_LEAST_APART_PERCENT = 5.0
"""How many points fuller the link must be in the busiest third."""
_NO_PINGS = Unknown("There are no pings of busy and quiet times; `racwire record --probe` makes them.")
_ORDER = (Weight.NOT_KNOWN, Weight.LIGHT, Weight.MODERATE, Weight.HEAVY)


@dataclass(frozen=True)
class UsedLink:
    """The busiest private link of an interval."""

    place: str
    received_percent: float
    sent_percent: float
    as_of: str
    """The time of day at its end."""
    seconds: float


@dataclass(frozen=True)
class PingedSample:
    """The pings of one size on one path in one sample, and how full the busiest link of its network was meanwhile."""

    share_percent: float
    payload: int
    answered: int
    p50_ms: float
    longest_ms: float


def weigh(link: UsedLink | None, pinged: Sequence[PingedSample]) -> LoadWeight:
    """Return how heavy the load is: the heavier of what the share and what the pings show. `link` is None where the
    speed or the traffic of every private link is not known."""
    queueing = _queueing(pinged)
    if link is None:
        return LoadWeight(weight=Weight.NOT_KNOWN, by_share=Weight.NOT_KNOWN, queueing=queueing)
    by_share = _by(max(link.received_percent, link.sent_percent), MODERATE_PERCENT, HEAVY_PERCENT)
    by_pings = Weight.NOT_KNOWN
    if isinstance(queueing, Queueing):
        by_pings = _by(_times(queueing.quiet_ms, queueing.busy_ms), MODERATE_TIMES, HEAVY_TIMES)
        if queueing.quiet_p99_ms and queueing.busy_p99_ms and by_pings is Weight.LIGHT:
            is_late = _times(queueing.quiet_p99_ms, queueing.busy_p99_ms) >= HEAVY_TIMES
            by_pings = Weight.MODERATE if is_late else by_pings
    return LoadWeight(
        weight=max((by_share, by_pings), key=_ORDER.index),
        by_share=by_share,
        place=link.place,
        received_percent=link.received_percent,
        sent_percent=link.sent_percent,
        as_of=link.as_of,
        seconds=link.seconds,
        queueing=queueing,
    )


def heaviest(found: Sequence[LoadWeight]) -> LoadWeight:
    """Return the heaviest of several links; of those that are alike, the fullest."""
    return max(
        found,
        key=lambda one: (_ORDER.index(one.weight), max(one.received_percent, one.sent_percent)),
        default=weigh(None, ()),
    )


def _by(value: float, moderate: float, heavy: float) -> Weight:
    return Weight.HEAVY if value >= heavy else Weight.MODERATE if value >= moderate else Weight.LIGHT


def _times(quiet: float, busy: float) -> float:
    return busy / quiet if quiet > 0 else 1.0


def _queueing(pinged: Sequence[PingedSample]) -> Queueing | Unknown:
    """Compare the thirds. Of several sizes the largest counts: it waits like a block."""
    largest = max((one.payload for one in pinged), default=0)
    known = sorted((one for one in pinged if one.payload == largest), key=lambda one: one.share_percent)
    if not known:
        return _NO_PINGS
    each = len(known) // 3
    if each < _LEAST_SAMPLES:
        return Unknown(
            f"{len(known)} samples of pings are too few to compare busy with quiet ones: {3 * _LEAST_SAMPLES}."
        )
    quiet, busy = known[:each], known[-each:]
    shares = [fmean(one.share_percent for one in part) for part in (quiet, busy)]
    if shares[1] - shares[0] < _LEAST_APART_PERCENT:
        return Unknown(
            f"The link was about equally full throughout, {shares[0]:.0f} % in the quietest third and "
            f"{shares[1]:.0f} % in the busiest."
        )
    return Queueing(
        payload=largest,
        samples=each,
        quiet_percent=shares[0],
        busy_percent=shares[1],
        quiet_ms=median(one.p50_ms for one in quiet),
        busy_ms=median(one.p50_ms for one in busy),
        quiet_p99_ms=_least_p99(quiet),
        busy_p99_ms=_least_p99(busy),
    )


def _least_p99(part: Sequence[PingedSample]) -> float | None:
    """Return a lower limit of the 99th percentile: where as many samples as 1 % of all pings have a ping that took so
    long, 1 % of the pings did. None of few pings, or of too many for that."""
    number = sum(one.answered for one in part)
    late = number // 100 + 1
    return (
        sorted((one.longest_ms for one in part), reverse=True)[late - 1]
        if least_values(0.99) <= number < 100 * len(part)
        else None
    )


def load_weight_text(found: LoadWeight) -> str:
    """Return the weight with its reason, the figures and their time."""
    queueing = _queueing_text(found.queueing)
    if not found.place:
        return f"Cannot tell how heavy the load is: how full the private links are is not known. {queueing}"
    share = (
        f"{found.place} receives {found.received_percent:.2g} % and sends {found.sent_percent:.2g} % of its link, on "
        f"average over {span(found.seconds)} (as of {found.as_of})"
    )
    if found.weight is not found.by_share:
        return (
            f"The load is {found.weight} for the private network: pings take longer at busy times. {share}. {queueing}"
        )
    most = max(found.received_percent, found.sent_percent)
    busy = f": it is busy {_of_ten(most)}" if found.by_share is not Weight.LIGHT else ""
    return f"The load is {found.weight} for the private network: {share}{busy}. {queueing}"


def _of_ten(percent: float) -> str:
    return f"{min(round(percent / 10), 10)} of 10 times"


def _queueing_text(found: Queueing | Unknown) -> str:
    if isinstance(found, Unknown):
        return f"Whether packets queue is not known: {continued(found.reason)}"
    p99 = ""
    if found.busy_p99_ms is not None and found.quiet_p99_ms is not None:
        p99 = f"; one of 100 at least {found.busy_p99_ms:.2g} ms, and {found.quiet_p99_ms:.2g} ms"
    return (
        f"Pings of {found.payload:,} B took {found.busy_ms:.2g} ms in the busiest third of the time "
        f"({found.busy_percent:.0f} % full) and {found.quiet_ms:.2g} ms in the quietest ({found.quiet_percent:.0f} %)"
        f"{p99}."
    )
