"""The situation of the console: made from what the runs, the events and the open change have, at one moment."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from checks.model.situation import Situation

if TYPE_CHECKING:
    from checks.change.progress.state import Change
    from checks.model.explained_stop import ExplainedStop, Look
    from checks.situation.run_history import RunHistory
    from tui.console.change_state import ChangeState
    from tui.console.event_state import EventState
    from tui.console.past import Past
    from tui.console.past_moments import PastMoments
    from tui.console.run_state import RunState

REFRESH_S = 5.0
"""The seconds after which a situation is made again where nothing happened: samples renew its "as of"."""


class SituationState:
    """Makes the situation when it is asked for, and keeps it until something happens."""

    def __init__(self, run: RunState, events: EventState, changes: ChangeState, past: Past | None = None) -> None:
        self._run = run
        self._past = past
        self._events = events
        self._changes = changes
        self._made: Situation | None = None
        self._made_of: tuple[object, ...] = ()
        self._stops: tuple[object, tuple[ExplainedStop, ...], tuple[Look, ...]] | None = None
        self.playhead: float | None = None
        """The moment that the console shows of a recording, in seconds since 1970; None for its end."""
        self.recorded: PastMoments | None = None
        """The runs and the journal of a recording, once they are read."""

    @property
    def now(self) -> float:
        """The moment of the situation."""
        if self.playhead is not None:
            return self.playhead
        if self._past is not None and self._past.at is not None:
            return self._past.at
        if not self._events.is_of_recording:
            return time.time()
        return max(self._events.end, self.recorded.end if self.recorded else 0.0)

    @property
    def current(self) -> Situation:
        """The situation of this moment."""
        history, change = self._run.history, self._changes.open_change
        if history is not None and self._past is not None and self._past.situation is not None:
            return self._past.situation
        now = self.now
        known = (id(history), self._events.version, id(change), self.playhead)
        is_fresh = self._made is not None and 0 <= now - self._made.at < REFRESH_S
        if self._made is None or known != self._made_of or not is_fresh:
            self._made, self._made_of = self._make(history, change, now), known
        return self._made

    def _make(self, history: RunHistory | None, change: Change | None, now: float) -> Situation:
        if history is None and self._events.is_empty:
            return Situation(at=now, change=self._changes.place)
        # The modules would delay the first screen.
        from checks.run.check_discovery import discover
        from checks.situation.at_moment import Inputs, situation
        from checks.situation.run_history import RunHistory

        stops, looks = self._of_change(change)
        return situation(
            Inputs(
                now=now,
                checks={check.id: check for check in discover().every},
                history=history or RunHistory(),
                events=self._events.known_at(now),
                sampled=self._events.readings_at(now),
                looks=looks,
                stops=stops,
                change=self._changes.place,
                clock_s=self._events.clock_at(now),
                are_runs_recorded=self._past is None or self._past.are_runs_recorded,
            )
        )

    def _of_change(self, change: Change | None) -> tuple[Sequence[ExplainedStop], Sequence[Look]]:
        if change is None or not change.is_open:
            return (), ()
        from checks.change.progress.change_readings import explained_stops, looks_of

        if self._stops is None or self._stops[0] is not change:
            self._stops = (change, explained_stops(change), looks_of(change))
        return self._stops[1:]
