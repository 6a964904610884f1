"""The pings of a recording by network: their round trips from the node that recorded, and how many were lost.

Each figure is that of the worst path of the network, so that one slow path among many is visible.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from checks.model.packet_sizes import SMALL_PAYLOAD
from checks.traffic.samples import Gap, LatencySample, Link
from checks.traffic.source_id import SourceKind
from tui.screens.traffic.metrics import Group, RowMetric
from tui.screens.traffic.rate_history import RateWindow, Series, series
from tui.widgets import units as units


@dataclass(frozen=True)
class LatencyPoint:
    """The worst figures of all paths of a network; None where no ping of that size was answered."""

    small_p50_ms: float | None
    small_longest_ms: float | None
    block_p50_ms: float | None
    block_longest_ms: float | None
    lost_percent: float | None
    """Percent of all pings, both sizes together."""


PINGS: Group[LatencyPoint] = Group(
    first=(
        RowMetric("56 B p50", lambda p: p.small_p50_ms, units.milliseconds),
        RowMetric("max", lambda p: p.small_longest_ms, units.milliseconds),
        RowMetric("block p50", lambda p: p.block_p50_ms, units.milliseconds),
    ),
    second=(
        RowMetric("block max", lambda p: p.block_longest_ms, units.milliseconds),
        RowMetric("lost", lambda p: p.lost_percent, units.share, role="fail"),
    ),
)


def latency_series(window: RateWindow, links: Iterable[Link]) -> Iterator[tuple[str, Series[LatencyPoint]]]:
    """Yield the title and the pings of each network that was pinged."""
    names = {link.network: link.name for link in links if link.network}
    by_network: dict[str, list[Series[LatencySample]]] = {}
    for source, events in window.events.items():
        known = [event for event in (*events, window.next.get(source)) if isinstance(event, LatencySample)]
        if known:
            found = series(window, source, events, LatencySample, window.next.get(source))
            by_network.setdefault(known[0].network, []).append(found)
    for network, paths in by_network.items():
        slots = [_merged_point(samples) for samples in zip(*(path.slots for path in paths), strict=True)]
        now = [path.newest for path in paths if path.newest is not None]
        trouble = "" if now else _why_not(window, network) or paths[0].trouble
        yield (
            f"ping {names.get(network, network)}",
            Series(slots, _point(now) if now else None, trouble, (SourceKind.LATENCY, network), window.memo),
        )


def _merged_point(paths: Sequence[Sequence[LatencySample]]) -> tuple[LatencyPoint, ...]:
    samples = [sample for path in paths for sample in path]
    return (_point(samples),) if samples else ()


def _point(samples: Sequence[LatencySample]) -> LatencyPoint:
    small = [sample for sample in samples if sample.payload <= SMALL_PAYLOAD]
    block = [sample for sample in samples if sample.payload > SMALL_PAYLOAD]
    sent = sum(sample.sent for sample in samples)
    received = sum(sample.received for sample in samples)
    return LatencyPoint(
        small_p50_ms=_worst_ms(small, lambda s: s.p50_us),
        small_longest_ms=_worst_ms(small, lambda s: s.max_us),
        block_p50_ms=_worst_ms(block, lambda s: s.p50_us),
        block_longest_ms=_worst_ms(block, lambda s: s.max_us),
        lost_percent=100 * (1 - received / sent) if 0 <= received <= sent and sent else None,
    )


def _worst_ms(samples: Iterable[LatencySample], read: Callable[[LatencySample], float | None]) -> float | None:
    return max((us / 1000 for us in map(read, samples) if us is not None), default=None)


def _why_not(window: RateWindow, network: str) -> str:
    """Return why no ping was sent on a network, if the recording has the reason."""
    for source, events in window.events.items():
        if (
            events
            and isinstance(events[-1], Gap)
            and source.kind is SourceKind.LATENCY
            and source.network in ("", network)
        ):
            return events[-1].reason
    return ""
