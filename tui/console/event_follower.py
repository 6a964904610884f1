"""Keeps the state of the events up to date: from samples, from the passing of time, and from runs of the checks."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from checks.model.report import Report
from checks.model.settings import ConsoleSettings
from tui.console.app_state import AppState
from tui.console.event_response import EventResponse

if TYPE_CHECKING:
    from checks.model.cluster_event import ClusterEvent
    from checks.traffic.samples import FeedEvent

LOOK_EVERY_S = 0.5
"""Seconds between two looks for sources that deliver nothing, and for checks that are due."""
KEPT_BEFORE_S, KEPT_AFTER_S = 20.0, 40.0
"""The seconds around the start of an event whose samples stay in memory."""


class EventFollower:
    """Follows the events for the app, which has to draw them when something returns True."""

    def __init__(self, state: AppState, settings: ConsoleSettings, notice: Callable[[str], None]) -> None:
        """Create the follower; `notice` displays a sentence for the operator."""
        self._state = state
        self._response = EventResponse(settings)
        self._notice = notice
        self._kept: set[int] = set()
        """The events whose samples are kept."""
        self._alarms: set[int] = set()
        """The events that were alarms so far."""
        self._standing: tuple[object, ...] = ()
        """How the events that last stood at the last look."""
        self.samples_always = settings.on_event != "off"
        """Whether the console samples from the end of the first run on, whichever screen is open."""

    def see(self, items: Sequence[FeedEvent]) -> bool:
        """Take items of the live feed. Return whether an event changed."""
        now_s = time.monotonic()
        if text := self._response.see_samples(items, self._state.report, now_s):
            self._notice(text)
        return self._take(self._state.events.see(items), now_s)

    def pass_time(self) -> bool:
        """Notice what delivers nothing. Return whether an event changed, or stands otherwise than at the last look."""
        return self._take(self._state.events.pass_time(time.time()), time.monotonic()) or self._stands_otherwise()

    def _stands_otherwise(self) -> bool:
        """Whether an event has started to pause, or the time of the step that explains it is over."""
        if not self._state.events.lasting:
            return False
        from checks.report.event_text import pauses

        known = self._state.situation
        before, self._standing = (
            self._standing,
            tuple(
                (e.event.number, e.step, e.is_open, pauses(e.event, known.at)) for e in known.episodes if not e.until
            ),
        )
        return before != self._standing

    def has_new_alarm(self) -> bool:
        """Return whether there is an alarm that was none at the last call."""
        alarms = {episode.event.number for episode in self._state.situation.lasting}
        before, self._alarms = self._alarms, self._alarms | alarms
        return not alarms <= before

    def _take(self, changed: Sequence[ClusterEvent], now_s: float) -> bool:
        for event in changed:
            if event.number not in self._kept:
                self._kept.add(event.number)
                self._state.timeline.keep(event.start - KEPT_BEFORE_S, event.start + KEPT_AFTER_S)
        if changed and (text := self._response.see_changes(changed, self._state.events.lasting, now_s)):
            self._notice(text)
        return bool(changed)

    def run_finished(self, own: Report) -> None:
        """Note a finished run; `own` is the report of this run alone."""
        self._response.ran(own.cluster, time.monotonic())

    def due(self) -> tuple[str, ...]:
        """Return the checks to run now by themselves, while no run is in progress; the caller runs them."""
        run = self._state.run
        report = run.report if run.is_whole else None
        due = self._response.due(report, lambda: self._state.situation, time.monotonic())
        self._state.events.waits = self._response.waits
        return due
