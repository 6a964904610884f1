"""Traffic: is it busy, is it losing. One node, one part of it alone, or all nodes; now, or as it was."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType

from checks.model.wording import counted
from checks.traffic.recording import RecordingError
from checks.traffic.timeline import Track
from tui.console.actions import bindings
from tui.console.app_state import AppState, News
from tui.console.messages import IntervalWanted, RecordWanted
from tui.screens.base import ConsoleScreen
from tui.screens.traffic.keys import SIGNS, TRAFFIC
from tui.screens.traffic.lines import TrafficPage, TrafficView, page_of
from tui.screens.traffic.node_lines import KnownNodes
from tui.screens.traffic.peaks import Peaks, Scales
from tui.screens.traffic.rows import DrawingStyle
from tui.screens.traffic.time_cursor import Shown, TimeCursor
from tui.text.line import Line, sanitize_line
from tui.widgets.bars import rule_line
from tui.widgets.graph import points
from tui.widgets.help_text import Legend
from tui.widgets.lines import Lines
from tui.widgets.units import clock

DRAW_AFTER_S = 0.1
"""How long after a sample is drawn: those of the other sources come with it, and are drawn at once."""
DRAW_EVERY_S = 0.2
PEAKS_EVERY_S = 60.0
"""How often peaks are looked for while another screen is shown; the timeline remembers longer."""


class TrafficScreen(ConsoleScreen):
    """Draws a track: the live timeline, or a recording."""

    NAME = "traffic"
    ACTIONS = TRAFFIC
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(TRAFFIC)]

    def __init__(self, state: AppState, track: Track | None = None) -> None:
        super().__init__(state)
        self._body = Lines(id="traffic")
        self._cursor = TimeCursor(state, track)
        if not self._cursor.is_live:
            self.offer_only_replay()
        self._places = KnownNodes()
        self._view = TrafficView()
        self._peaks = Peaks()
        self._scales = Scales()
        self._page = TrafficPage()
        self._trouble = ""
        self._soon: asyncio.TimerHandle | None = None
        self._drawn_at = 0.0
        self._reading = False
        self._read_again = False

    def compose_body(self) -> ComposeResult:
        """One list of lines."""
        yield self._body

    def on_mount(self) -> None:
        """Also while another screen is shown no peak is missed, and how long a pause lasts is said."""
        self.set_interval(PEAKS_EVERY_S, self._every_minute)

    def signs(self) -> Sequence[Legend]:
        """What the signs mean."""
        return [SIGNS]

    def _read(self) -> Shown | None:
        wanted = self._view.wanted(self._places.nodes)
        return self._cursor.read(self._places, wanted, points(max(self.size.width - 45, 16), self.state.graphs))

    async def _read_recording(self) -> None:
        """A file is read in a thread; keys that came meanwhile are read for once more, together."""
        try:
            while self._read_again:
                self._read_again = False
                try:
                    self._cursor.shown = await asyncio.to_thread(self._read)
                    self._trouble = ""
                except RecordingError as error:
                    self._trouble = str(error)
                self._put()
        finally:
            self._reading = False

    # --- drawing ------------------------------------------------------------------------------------------------------

    def draw(self, news: News | None = None) -> None:
        """Draw what there is by now; samples a little later, with those that come at the same time."""
        if news is News.SAMPLES:
            if self._cursor.goes_on and self._soon is None:
                since = time.monotonic() - self._drawn_at
                later = asyncio.get_running_loop().call_later
                self._soon = later(max(DRAW_AFTER_S, DRAW_EVERY_S - since), self.call_later, self._draw)
        else:
            self._draw()

    def _draw(self) -> None:
        if self._soon is not None:
            self._soon.cancel()
            self._soon = None
        if not self.is_current:
            return
        self._drawn_at = time.monotonic()
        if self._cursor.is_live:
            self._peaks.take(self.state.timeline)
            self._cursor.shown = self._read()
            self._put()
            return
        self._read_again = True
        if not self._reading:
            self._reading = True
            self.run_worker(self._read_recording(), group="recording", exit_on_error=False)

    def _put(self) -> None:
        self._view.settle(self._places.nodes)
        self._body.show(self._lines, top=self._body.above)
        self._body.bring_into_sight(*self._page.chosen_lines)
        self.query_one("#upper-rule", Lines).show(self.upper_rule)
        self.draw_lower_rule()

    def _lines(self, width: int) -> Sequence[Line]:
        shown, peaks = self._cursor.shown, self._peaks if self._cursor.goes_on else None
        look = DrawingStyle(width, self.state.graphs, self._scales, peaks)
        trouble = self._trouble or (self.state.feed.trouble if self._cursor.is_live else "")
        window, height, waiting = shown.window if shown else None, self._body.size.height, self._cursor.waiting
        self._page = page_of(window, self._places, self._view, look, height, trouble, waiting)
        return self._page.lines

    def upper_rule(self, width: int) -> list[Line]:
        """What is shown, and of when."""
        since = f"peaks since {clock(self._peaks.since)[:5]}  " if self._cursor.goes_on and self._peaks.since else ""
        about = self._cursor.about(self._view.about(len(self._places.nodes)))
        return [rule_line(width, about, since + self._cursor.moment)]

    def lower_rule(self, width: int) -> list[Line]:
        """What is being recorded, and how much lies below."""
        recording = self.state.feed.recording if self._cursor.is_live else None
        more = f"↓ {counted(self._body.below, 'more line')}" if self.is_mounted and self._body.below else ""
        return [rule_line(width, f"recording to {sanitize_line(recording.name)}" if recording else "", more)]

    def _every_minute(self) -> None:
        if self._cursor.is_live:
            self._peaks.take(self.state.timeline)
            if self.is_current and self._cursor.is_paused:
                self.query_one("#upper-rule", Lines).show(self.upper_rule)

    def on_resize(self, event: events.Resize) -> None:
        """More or less time has room in the graphs."""
        self.call_after_refresh(self._draw)

    # --- keys ---------------------------------------------------------------------------------------------------------

    def action_move(self, by: int) -> None:
        """Choose what is above or below."""
        self._view.move(self._page.keys, by)
        self._put()

    def action_open(self) -> None:
        """Show the chosen one alone."""
        self._view.open()
        self._draw()

    def action_back(self) -> None:
        """Back from what is alone to its node."""
        self._view.back()
        self._draw()

    def action_node(self, by: int) -> None:
        """Another node."""
        if len(self._places.nodes) < 2:
            self.notice("There is no other node.")
            return
        self._view.next_node(self._places.nodes, by)
        self._draw()

    def action_all(self) -> None:
        """All nodes, or one again."""
        self._view.toggle_all()
        self._draw()

    def action_others(self) -> None:
        """Show the other interfaces too, or no longer."""
        self._view.others = not self._view.others
        self._draw()
        self.notice("All interfaces are shown." if self._view.others else "Only private interfaces are shown.")

    def action_pause(self) -> None:
        """Stay at this moment, or go on."""
        if self._cursor.is_live:
            self._cursor.pause()
            self._draw()
        else:
            self.notice("A recording cannot be paused; the arrow keys move in it.")

    def action_step(self, by: int) -> None:
        """Move in time by points of the graph."""
        self._cursor.step(by)
        self._draw()

    def action_leap(self, by: int) -> None:
        """Move in time by graphs."""
        self.action_step(by * max(self._page.graph_points, 1))

    def action_edge(self, end: bool) -> None:
        """To the first moment that there is, or on with the newest."""
        (self._cursor.go_on if end else self._cursor.begin)()
        self._draw()

    def action_interval(self, by: int) -> None:
        """Sample less often or more often; of a recording, show more or less time."""
        if (chosen := self._cursor.stride(by)) is None:
            return
        if self._cursor.is_live:
            self.post_message(IntervalWanted(chosen))
        else:
            self._draw()

    def action_reset(self) -> None:
        """Begin anew with the peaks."""
        if self._cursor.is_live:
            self._peaks.take(self.state.timeline)
            self._peaks.reset(time.time())
            self._draw()

    def action_record(self) -> None:
        """Ask for a recording, or for its end."""
        if self._cursor.is_live:
            self.post_message(RecordWanted())
        else:
            self.notice("This is a recording already.")

    @on(Lines.Clicked, "#traffic")
    def choose(self, message: Lines.Clicked) -> None:
        """Choose what was clicked; what is chosen already is opened."""
        key = self._page.key_at(message.line)
        if key and key == self._view.chosen:
            self.action_open()
        elif key:
            self._view.choose(key)
            self._put()
