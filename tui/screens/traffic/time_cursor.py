"""Which moment of a track is shown: now, going on with it, or one of the past, which stays until it is left."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from checks.model.facts import Cluster
from checks.report.age import zone_of
from checks.traffic.recording import Header, Recording
from checks.traffic.timeline import Timeline, Track
from tui.console.app_state import AppState
from tui.screens.traffic.node_lines import KnownNodes
from tui.screens.traffic.rate_history import GraphSpan, Memo, RateWindow, frozen, read
from tui.widgets.units import clock, duration


@dataclass(frozen=True)
class Shown:
    """What was read of a track for the moment that is shown."""

    span: tuple[float, float]
    """The first and the last moment that there is."""
    window: RateWindow


class TrackCursor:
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
        places: KnownNodes,
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
        window = read(self.track, GraphSpan(end, step_s, count, interval_s), _sources(places, nodes), self._memo)
        places.see(window)
        return Shown(span, window)


def _sources(places: KnownNodes, nodes: Sequence[str]) -> Iterable[str]:
    return places.sources([node for node in nodes if node in places.nodes] or places.nodes)


INTERVALS = (1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0)
STEPS = (*INTERVALS, 120.0, 300.0, 600.0)
"""Seconds from one point of a graph to the next, of a recording."""


class TimeCursor:
    """A place in the live samples, or in a recording."""

    def __init__(self, state: AppState, track: Track | None = None) -> None:
        """Without a `track` it is the live one."""
        self.shown: Shown | None = None
        """What was read last."""
        self._state = state
        self._track_cursor = TrackCursor(state.timeline if track is None else track)
        self._header: Header | None = track.header if isinstance(track, Recording) else None
        self._zone = zone_of(self._header.started_at) if self._header else None
        self._zoom = self._header.interval_s if self._header else 0.0
        self._paused_at: float | None = None
        self._wanted_s: float | None = None
        """The interval that was asked for last; the feed may not have heard of it yet."""

    @property
    def is_live(self) -> bool:
        """Whether samples are being added here."""
        return self._track_cursor.is_live

    @property
    def goes_on(self) -> bool:
        """Whether what is shown is the newest of what is being sampled, and goes on."""
        return self.is_live and self._track_cursor.follows

    @property
    def is_paused(self) -> bool:
        """Whether the operator stopped it at a moment."""
        return self._paused_at is not None

    @property
    def waiting(self) -> str:
        """What is said while there is nothing to show."""
        if self.is_live:
            return "Waiting for the first samples."
        return "No samples were saved." if self._state.feed.is_saved else "There are no samples in this recording."

    @property
    def cluster(self) -> Cluster | None:
        """What the samples are of."""
        return self._header.cluster if self._header else self._state.cluster

    @property
    def interval_s(self) -> float:
        """How often a source is sampled."""
        return self._header.interval_s if self._header else self._state.feed.interval_s

    @property
    def step_s(self) -> float:
        """From one point of a graph to the next."""
        return self._zoom or self.interval_s

    def read(self, places: KnownNodes, nodes: Sequence[str], points: int) -> Shown | None:
        """What there is of these nodes now, or of all where none is named. Reads a file where the track is one. Raises
        RecordingError."""
        return self._track_cursor.read(places, self.cluster, nodes, self.step_s, points, self.interval_s)

    # --- keys ---------------------------------------------------------------------------------------------------------

    def pause(self) -> None:
        """Stay at this moment, or go on from there."""
        if self.goes_on and self.shown is not None:
            self._paused_at = self.shown.window.stretch.end
            self._track_cursor.hold(self._paused_at)
        else:
            self.go_on()

    def go_on(self) -> None:
        """To the newest, and on with it."""
        self._paused_at = None
        self._track_cursor.follow()

    def step(self, points: int) -> None:
        """Move by points of the graph; beyond the newest of what is being sampled it goes on."""
        if self.shown is None:
            return
        to = self.shown.window.stretch.end + points * self.step_s
        if self.is_live and (to > self.shown.span[1] or (points > 0 and self.goes_on)):
            self.go_on()
        else:
            self._go_to(to)

    def begin(self) -> None:
        """To the first moment that there is."""
        if self.shown is not None:
            self._go_to(self.shown.span[0])

    def stride(self, by: int) -> float | None:
        """The next longer or shorter time between two points; None where there is none. Of a recording it is shown so
        from now on; of what is being sampled it is for the feed to do, and presses that come together add up."""
        steps = INTERVALS if self._header is None else [self.interval_s, *(s for s in STEPS if s > self.interval_s)]
        before = self.step_s if self._wanted_s is None else self._wanted_s
        nearest = min(range(len(steps)), key=lambda i: abs(steps[i] - before))
        chosen = steps[min(max(nearest + by, 0), len(steps) - 1)]
        if chosen == before:
            return None
        if self._header is not None:
            self._zoom = chosen
        else:
            self._wanted_s = chosen
        return chosen

    def _go_to(self, moment: float) -> None:
        """The first one is that by which every source has been sampled once."""
        if self.shown is not None:
            self._paused_at = None
            first, last = self.shown.span
            self._track_cursor.hold(min(max(moment, first + self.interval_s), last))

    # --- words --------------------------------------------------------------------------------------------------------

    def about(self, what: str) -> str:
        """What is shown, and of when: `what` is its own name."""
        if self._header is not None:
            return f"recording  {what}  {duration(self.step_s)} per point"
        if self._paused_at is not None:
            return f"{what}  paused at {clock(self._paused_at)}{self._pause_length(self._paused_at)}"
        return f"{what}  every {duration(self.interval_s)}" if self.goes_on else f"{what}  earlier"

    @property
    def moment(self) -> str:
        """The time that is shown: of a recording in the zone in which it was made, which is told."""
        if self.shown is None:
            return ""
        return clock(self.shown.window.stretch.end, self._zone, date=self._header is not None)

    def _pause_length(self, since: float) -> str:
        """How long it has been paused, by the minute: while nothing else moves, neither does this."""
        minutes = int(time.time() - since) // 60
        return f", {minutes} min ago" if minutes else ""
