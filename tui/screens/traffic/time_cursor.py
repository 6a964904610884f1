"""Which moment of a track is shown: now, going on with it, or one of the past, which stays until it is left."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from checks.model.facts import Cluster
from checks.traffic.timeline import Timeline, Track
from tui.screens.traffic.node_lines import Places
from tui.screens.traffic.rate_history import Memo, Stretch, Window, frozen, read


@dataclass(frozen=True)
class Shown:
    """What was read of a track for the moment that is shown."""

    span: tuple[float, float]
    """The first and the last moment that there is."""
    window: Window


class Playhead:
    """A place in a track. What is looked at of a track in memory is kept, whatever comes and goes meanwhile."""

    def __init__(self, track: Track) -> None:
        self._track = track
        self._held: Timeline | None = None
        self._memo = Memo()
        self.moment: float | None = None
        """The time that is shown; None: the newest."""

    @property
    def is_live(self) -> bool:
        """Whether samples are being added to it here."""
        return isinstance(self._track, Timeline)

    @property
    def follows(self) -> bool:
        """Whether what is shown goes on."""
        return self.moment is None

    @property
    def track(self) -> Track:
        """What the shown moment is part of."""
        return self._held or self._track

    def hold(self, at: float) -> None:
        """Stay at that moment."""
        if self._held is None and self.is_live:
            self._held = frozen(self._track)
        self.moment = at

    def follow(self) -> None:
        """Go on with the newest."""
        self.moment, self._held = None, None

    def read(
        self,
        places: Places,
        cluster: Cluster | None,
        nodes: Sequence[str],
        step_s: float,
        count: int,
        interval_s: float,
    ) -> Shown | None:
        """What there is of these nodes at that moment, or of all where none is named; None while there is nothing.
        Reads a file where the track is one."""
        span = self.track.span()
        places.learn(self.track, cluster)
        if span is None:
            return None
        end = span[1] if self.moment is None else self.moment
        window = read(self.track, Stretch(end, step_s, count, interval_s), _sources(places, nodes), self._memo)
        places.see(window)
        return Shown(span, window)


def _sources(places: Places, nodes: Sequence[str]) -> Iterable[str]:
    return places.sources([node for node in nodes if node in places.nodes] or places.nodes)
