"""The samples of the console, as a part of the app: what the live feed reports, and the events that it shows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import App

from checks.model.facts import Cluster
from checks.model.settings import Settings
from tui.console.app_state import AppState, News
from tui.console.event_follower import EventFollower
from tui.console.live import LiveFeed
from tui.console.messages import (
    EventsFound,
    EventWanted,
    FeedFailed,
    IntervalWanted,
    PaceReported,
    PlayheadMoved,
    RecordingEnded,
    RecordWanted,
    RunsJudged,
    SamplesReported,
)
from tui.terminal.bell import ring

if TYPE_CHECKING:
    from tui.console.finding_rows import FindingRow


class SamplingMixin(App[None]):
    """An app that samples a cluster and follows its events. The app itself defines the methods that raise here."""

    state: AppState
    _live: LiveFeed
    _events: EventFollower
    _settings: Settings
    _state_directory: Path

    @property
    def can_start(self) -> bool:
        """Whether checks may start now: neither other checks nor a measurement send packets. Raises
        NotImplementedError."""
        raise NotImplementedError

    def notice(self, text: str) -> None:
        """Display a notice on the current main screen. Raises NotImplementedError."""
        raise NotImplementedError

    async def action_show(self, mode: str) -> None:
        """Change to a main screen. Raises NotImplementedError."""
        raise NotImplementedError

    def _show_news(self, news: News | None = None) -> None:
        raise NotImplementedError

    def _start(self, checks: Sequence[str] = (), verified: FindingRow | None = None) -> None:
        raise NotImplementedError

    def _follow(self, cluster: Cluster) -> None:
        """Sample the nodes and instances of these facts, and judge what they count by them."""
        self._live.follow(cluster)
        self.state.events.follow(cluster)

    def on_samples_reported(self, message: SamplesReported) -> None:
        """Add samples to the timeline."""
        self.state.timeline.add(message.events)
        self._show_news(News.SAMPLES)
        if self._events.see(message.events):
            self._show_events()

    def _show_events(self) -> None:
        """Show the events, and ring the bell at a new alarm."""
        if self._events.has_new_alarm() and self._settings.console.bell:
            ring(self)
        self._show_news(News.EVENTS)

    def _sample_always(self) -> None:
        """Start to sample for the events, whichever screen is open."""
        if self._events.samples_always and self._live.start(self.state):
            self._show_news()

    def _look_for_events(self) -> None:
        """Notice what delivers no samples, and run the checks that are due for an event."""
        if self._live.is_running and self._events.pass_time():
            self._show_events()
        if self.can_start and (checks := self._events.due()):
            self._start(checks)

    def on_events_found(self, message: EventsFound) -> None:
        """Apply the events of a recording."""
        self.state.events.load(message.watch, message.end, message.trouble)
        self.state.go_to(self.state.moment.playhead)
        self._show_news()

    def on_runs_judged(self, message: RunsJudged) -> None:
        """Apply the runs of a recording that were read, or that have been judged since. Without any, the checks judge
        the facts of its start; those of a saved state judge its report."""
        past, run = self.state.feed.past, self.state.run
        self.state.take_runs(message.moments)
        if message.trouble:
            run.fail(message.trouble)
        elif message.is_done and (not message.moments.records or (past is not None and past.is_saved)):
            self._start()
        self._show_news()

    def on_playhead_moved(self, message: PlayheadMoved) -> None:
        """Go to the moment of a recording that the Traffic screen shows."""
        self.state.go_to(message.at)
        self._show_news(News.MOMENT)

    async def action_newest(self) -> None:
        """Select the newest alarm in the list of events."""
        from checks.situation.foremost import newest_alarm
        from tui.screens.events.screen import EventsScreen

        episode = newest_alarm(self.state.situation, self.state.events.is_listed)
        if episode is None:
            self.notice("There is no alarm.")
            return
        await self.action_show("events")
        if isinstance(self.screen, EventsScreen):
            self.screen.choose(episode)

    async def on_event_wanted(self, message: EventWanted) -> None:
        """Show the moment of an event on the Traffic screen."""
        from tui.screens.traffic.screen import TrafficScreen

        await self.action_show("traffic")
        if isinstance(self.screen, TrafficScreen):
            self.screen.show_event(message.event)

    def on_pace_reported(self, message: PaceReported) -> None:
        """Apply that the pace of the instances' samples changed."""
        self.state.feed.instances_pace = message.pace
        self._show_news(News.SAMPLES)

    def on_feed_failed(self, message: FeedFailed) -> None:
        """Apply that the live feed failed."""
        self.state.feed.is_running, self.state.feed.trouble = False, message.reason
        self._show_news()

    def on_recording_ended(self, message: RecordingEnded) -> None:
        """Apply that the recording ended by itself."""
        self.state.feed.recording = None
        self._show_news()
        self.notice(message.reason)

    def on_interval_wanted(self, message: IntervalWanted) -> None:
        """Change the sampling interval."""
        self.state.feed.interval_s = message.seconds
        self._live.set_interval(message.seconds)
        self._show_news()

    async def on_record_wanted(self, message: RecordWanted) -> None:
        """Start or stop the recording of the samples."""
        notice = await self._live.toggle_recording(self.state, self._settings, self._state_directory, self.state.ran())
        self._show_news()
        self.notice(notice)
