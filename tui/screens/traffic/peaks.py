"""The highest figures of all samples since a time, and the scales of the graphs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.traffic.rates import bits_per_second, instance_rates, kernel_rates
from checks.traffic.samples import Event, InstanceSample, NodeSample
from checks.traffic.source_id import SourceId
from checks.traffic.timeline import Track
from tui.screens.traffic.metrics import INSTANCE, KERNEL
from tui.widgets.graph import nice_top

Key = tuple[SourceId | None, str]
"""A source, None for all of them, and a figure: `eth1 in`, `IP`, `lost`."""


class Peaks:
    """The peaks; `take` reads each sample once. A track keeps samples long enough for an occasional call."""

    def __init__(self) -> None:
        self.since: float | None = None
        """The end of the first sample that counts for the peaks; None while there is none."""
        self._highest: dict[Key, float] = {}
        self._seen: dict[SourceId, float] = {}

    def of(self, source: SourceId, what: str) -> float | None:
        """Return the highest value; None while there is none."""
        return self._highest.get((source, what))

    def take(self, track: Track) -> None:
        """Read the samples since the last call."""
        _, end = track.span() or (0.0, 0.0)
        for source in track.sources():
            events = track.window(source, self._seen.get(source, float("-inf")), end)
            for event in events:
                self._take(event)
            if events:
                self._seen[source] = events[-1].at

    def reset(self, now: float) -> None:
        """Reset the peaks: only samples after `now` count."""
        self.since = now
        self._highest.clear()

    def _take(self, event: Event) -> None:
        for what, value in _figures(event):
            key = (event.source, what)
            self._highest[key] = max(self._highest.get(key, value), value)
            self.since = event.at if self.since is None else min(self.since, event.at)


def _figures(event: Event) -> Iterator[tuple[str, float]]:
    if isinstance(event, NodeSample):
        for name, counts in event.interfaces.items():
            for way, bytes_ in (("in", counts.rx_bytes), ("out", counts.tx_bytes)):
                if (bits := bits_per_second(bytes_, event.seconds)) is not None:
                    yield f"{name} {way}", bits
        kernel = kernel_rates(event)
        for title, group in KERNEL.items():
            if (value := group.graphed.read(kernel)) is not None:
                yield title, value
    elif isinstance(event, InstanceSample):
        lost = INSTANCE.graphed.read(instance_rates(event))
        if lost is not None:
            yield event.instance, lost


class Scales:
    """The value at the top of each graph: a round number, kept while it fits, so that graphs are seldom redrawn."""

    def __init__(self) -> None:
        self._tops: dict[Key, float] = {}

    def top(self, source: SourceId | None, what: str, *values: Sequence[float | None]) -> float:
        """Return the top of the scale for values that share one graph scale."""
        before = self._tops.get((source, what))
        self._tops[source, what] = top = nice_top([value for some in values for value in some], before)
        return top
