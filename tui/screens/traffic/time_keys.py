"""The time of the Traffic screen: the keys that go to other moments of the samples, and that play a recording."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from textual.containers import Horizontal
from textual.timer import Timer
from textual.widget import Widget

from checks.traffic.recording import RecordingError
from checks.traffic.timeline import Track
from tui.console.app_state import AppState
from tui.console.messages import IntervalWanted, PlayheadMoved
from tui.screens.base import ConsoleScreen
from tui.screens.traffic.seek import SeekInput
from tui.screens.traffic.time_axis import event_marks, with_gaps
from tui.screens.traffic.time_cursor import TimeCursor

PLAY_EVERY_S = 1.0
"""Seconds between two drawings of a recording that is played."""


class TimeKeysScreen(ConsoleScreen):
    """A screen that draws a track at the moment of its cursor."""

    def __init__(self, state: AppState, track: Track | None = None) -> None:
        super().__init__(state)
        self._cursor = TimeCursor(state, track)
        self._seek = SeekInput(self._go_to)
        self._ticks: Timer | None = None
        """Plays a recording, once it has been played."""
        self._reading = False
        """Whether a recording is being read."""

    def seek_line(self) -> Iterator[Widget]:
        """Yield the place of the line in which a time is typed."""
        line = Horizontal(id="seek-line", classes="field")
        line.display = False
        yield line

    @property
    def _graph_points(self) -> int:
        """The points of a graph. Raises NotImplementedError: the screen defines it."""
        raise NotImplementedError

    def _draw(self) -> None:
        """Draw the moment of the cursor. Raises NotImplementedError: the screen defines it."""
        raise NotImplementedError

    def moment_text(self) -> str:
        """Return nothing: the rule has the moment of the cursor."""
        return ""

    def on_screen_suspend(self) -> None:
        """Follow new samples again after the moment of an event; a page over the screen leaves it."""
        if self.app.current_mode != self.NAME:
            self._cursor.end_visit()

    def _share_moment(self) -> None:
        """Have all screens show the moment of a recording that is displayed here; a saved state has one of its own."""
        at, past = self._cursor.moment, self.state.feed.past
        if past is not None and not past.is_saved and at != self.state.moment.playhead:
            self.post_message(PlayheadMoved(at))

    def action_pause(self) -> None:
        """Pause or resume the display; play or stop a recording."""
        if self._cursor.is_live:
            self._cursor.pause()
        else:
            self._play(not self._cursor.is_playing)
        self._draw()

    def action_speed(self, by: int) -> None:
        """Play a recording faster or more slowly."""
        if self._cursor.is_live:
            self.notice("Live samples have one speed; + and - change the interval.")
        else:
            self._cursor.faster(by)
            self._draw()

    def _play(self, play: bool) -> None:
        if play != self._cursor.is_playing:
            self._cursor.play()
        if self._cursor.is_playing and self._ticks is None:
            self._ticks = self.set_interval(PLAY_EVERY_S, self._play_on)
        elif self._ticks is not None:
            (self._ticks.resume if self._cursor.is_playing else self._ticks.pause)()

    def _play_on(self) -> None:
        """Move on by a step of playing, unless the one before is still being read or another screen is open."""
        if self.is_current and not self._reading:
            self._cursor.advance(PLAY_EVERY_S)
            if not self._cursor.is_playing:
                self._play(False)
                self.notice("The recording ends here.")
            self._draw()

    async def action_seek(self) -> None:
        """Ask for a time; the line is created at first use."""
        line = self.query_one("#seek-line")
        if not self._seek.is_mounted:
            await line.mount(self._seek)
        self._seek.value = ""
        line.display = True
        self.set_focus(self._seek)

    def _go_to(self, text: str) -> None:
        self._leave_seek()
        if text.strip():
            self._play(False)
            trouble = self._cursor.seek(text)
            self._draw()
            if trouble:
                self.notice(trouble)

    def _leave_seek(self) -> bool:
        """Close the line of the time. Return whether it was open."""
        line = self.query_one("#seek-line")
        was_open, line.display = bool(line.display), False
        self.set_focus(None)
        return was_open

    async def action_mark(self, by: int) -> None:
        """Go to the next mark on the time axis, or to the one before."""
        try:
            marks = self._cursor.marks() if self._cursor.is_live else await asyncio.to_thread(self._cursor.marks)
        except RecordingError as error:
            self.notice(str(error))
            return
        self._play(False)
        text = self._cursor.seek_mark(
            with_gaps(event_marks(self.state.events.marked, self._cursor.interval_s), marks), by
        )
        self._draw()
        self.notice(text)

    def action_step(self, by: int) -> None:
        """Move by points of the graph, later or earlier."""
        self._play(False)
        self._cursor.step(by)
        self._draw()

    def action_leap(self, by: int) -> None:
        """Move by graph widths, later or earlier."""
        self.action_step(by * max(self._graph_points, 1))

    def action_edge(self, end: bool) -> None:
        """Go to the first sample, or to the newest and follow new ones."""
        self._play(False)
        (self._cursor.follow if end else self._cursor.go_to_start)()
        self._draw()

    def action_interval(self, by: int) -> None:
        """Sample less or more often; in a recording, show more or less time."""
        if (chosen := self._cursor.stride(by)) is None:
            return
        if self._cursor.is_live:
            self.post_message(IntervalWanted(chosen))
        else:
            self._draw()
