"""Traffic: is it busy, is it losing. One node, one part of it alone, or all nodes; now, or as it was."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.timer import Timer

from checks.facts import Cluster
from checks.traffic.recording import Header, Recording, RecordingError
from checks.traffic.timeline import Track
from tui.actions import Action, bindings
from tui.known import Change, Known
from tui.messages import IntervalWanted, RecordWanted
from tui.playhead import Playhead, Shown
from tui.screens.base import ConsoleScreen
from tui.widgets.bars import rule_line
from tui.widgets.cells import CellCompositor
from tui.widgets.graph import points
from tui.widgets.help_text import Sign, Signs
from tui.widgets.line import Line, clean
from tui.widgets.lines import Lines
from tui.widgets.traffic_lines import Look
from tui.widgets.traffic_node import Places
from tui.widgets.traffic_page import Page, View, page_of
from tui.widgets.traffic_peaks import Peaks, Scales
from tui.widgets.traffic_units import clock, duration

TRAFFIC = (
    Action("up,k", "move(-1)", "↑ k", "The interface, group or node above."),
    Action("down,j", "move(1)", "↓ j", "The interface, group or node below."),
    Action(
        "enter", "open", "Enter", "It alone, with everything that it counts; of all nodes, the chosen one.", "alone"
    ),
    Action("escape", "back", "Esc", "Back from there."),
    Action("n", "node(1)", "n", "The next node.", "node"),
    Action("N", "node(-1)", "N", "The node before."),
    Action("a", "all", "a", "All nodes at a glance; again: one node.", "all nodes"),
    Action("o", "others", "o", "Interfaces that are no port of a private network too, or no longer."),
    Action("space", "pause", "Space", "Stay at this moment while sampling goes on; again: go on.", "pause"),
    Action("left", "step(-1)", "←", "Back in time by one point of the graphs."),
    Action("right", "step(1)", "→", "On in time."),
    Action("pageup,b", "leap(-1)", "PgUp b", "Back in time by a graph."),
    Action("pagedown,f", "leap(1)", "PgDn f", "On in time by a graph."),
    Action("home,g", "edge(False)", "g Home", "To the first sample that there is."),
    Action("end,G", "edge(True)", "G End", "To the newest sample, and on with it."),
    Action(
        "plus,equals_sign",
        "interval(1)",
        "+",
        "Seldomer, down to once a minute; of a recording, more time at once.",
    ),
    Action("minus,underscore", "interval(-1)", "-", "More often, up to once a second; of a recording, less time."),
    Action("x", "reset", "x", "Begin anew with the peaks."),
    Action("w", "record", "w", "Write the samples to a new file too; again: end that.", "record"),
)

INTERVALS = (1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0)
STEPS = (*INTERVALS, 120.0, 300.0, 600.0)
"""Seconds from one point of a graph to the next, of a recording."""

DRAW_AFTER_S = 0.1
"""How long after a sample is drawn: those of the other sources come with it, and are drawn at once."""
DRAW_EVERY_S = 0.2
PEAKS_EVERY_S = 60.0
"""How often peaks are looked for while another screen is shown; the timeline remembers longer."""
_FEW_NODES = 6
"""So many are all read, to be shown below one of them where there is room."""


class TrafficScreen(ConsoleScreen):
    """Draws a track: the live timeline, or a recording."""

    NAME = "traffic"
    ACTIONS = TRAFFIC
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(TRAFFIC)]

    def __init__(self, known: Known, track: Track | None = None) -> None:
        super().__init__(known)
        self._compositor = CellCompositor()
        self._playhead = Playhead(known.timeline if track is None else track)
        self._header_of: Header | None = track.header if isinstance(track, Recording) else None
        self._zoom = self._header_of.interval_s if self._header_of else 0.0
        self._places = Places()
        self._view = View()
        self._peaks = Peaks()
        self._scales = Scales()
        self._shown: Shown | None = None
        self._page = Page()
        self._paused_at: float | None = None
        self._trouble = ""
        self._soon: Timer | None = None
        self._drawn_at = 0.0
        self._reading = False
        self._read_again = False

    def compose_body(self) -> ComposeResult:
        """One list of lines."""
        yield Lines(id="traffic")

    def on_mount(self) -> None:
        """Also while another screen is shown no peak is missed, and how long a pause lasts is said."""
        self.set_interval(PEAKS_EVERY_S, self._every_minute)

    def signs(self) -> Sequence[Signs]:
        """What the signs mean."""
        return [
            Signs(
                "Figures and graphs",
                [
                    Sign("?", "not known now; a gap in a graph: not known then"),
                    Sign("-", "nothing to tell: the mean size of no packets"),
                    Sign("▁", "0; what is more than 0 stands higher"),
                    Sign("link", "the share of the link's speed; of a node, that of its busiest private interface"),
                    Sign("drop+err", "packets dropped and in error; Enter tells them apart"),
                    Sign("FAILED", "packets a second that could not be put together from their fragments"),
                    Sign("squeezed", "times a second that the kernel put off the rest of the packets to later"),
                ],
            )
        ]

    # --- reading ------------------------------------------------------------------------------------------------------

    @property
    def _is_live(self) -> bool:
        return self._playhead.is_live

    @property
    def _cluster(self) -> Cluster | None:
        return self._header_of.cluster if self._header_of else self.known.cluster

    @property
    def _interval_s(self) -> float:
        return self._header_of.interval_s if self._header_of else self.known.feed.interval_s

    @property
    def _step_s(self) -> float:
        return self._zoom or self._interval_s

    @property
    def _points(self) -> int:
        return points(max(self.size.width - 45, 16), self.known.graphs)

    def _read(self) -> Shown | None:
        nodes = self._places.nodes
        everything = self._view.kind == "nodes" or len(nodes) <= _FEW_NODES
        wanted = [] if everything or not self._view.node else [self._view.node]
        return self._playhead.read(self._places, self._cluster, wanted, self._step_s, self._points, self._interval_s)

    async def _read_recording(self) -> None:
        """A file is read in a thread; keys that came meanwhile are read for once more, together."""
        try:
            while self._read_again:
                self._read_again = False
                try:
                    self._shown = await asyncio.to_thread(self._read)
                    self._trouble = ""
                except RecordingError as error:
                    self._trouble = str(error)
                self._put()
        finally:
            self._reading = False

    # --- drawing ------------------------------------------------------------------------------------------------------

    def draw(self, change: Change | None = None) -> None:
        """Draw what there is by now; samples a little later, with those that come at the same time."""
        if change is Change.SAMPLES:
            if self._is_live and self._playhead.follows and self._soon is None:
                since = time.monotonic() - self._drawn_at
                self._soon = self.set_timer(max(DRAW_AFTER_S, DRAW_EVERY_S - since), self._draw)
        else:
            self._draw()

    def _draw(self) -> None:
        if self._soon is not None:
            self._soon.stop()
            self._soon = None
        if not self.is_current:
            return
        self._drawn_at = time.monotonic()
        if self._is_live:
            self._peaks.take(self.known.timeline)
            self._shown = self._read()
            self._put()
            return
        self._read_again = True
        if not self._reading:
            self._reading = True
            self.run_worker(self._read_recording(), group="recording", exit_on_error=False)

    def _put(self) -> None:
        self._view.settle(self._places.nodes)
        body = self.query_one("#traffic", Lines)
        body.show(self._lines, top=body.above)
        first, last = self._page.chosen_lines
        if first < body.above:
            body.scroll_by(first - body.above)
        elif last >= body.above + body.size.height:
            body.scroll_by(last + 1 - body.size.height - body.above)
        self.query_one("#upper-rule", Lines).show(self.upper_rule)
        self.draw_lower_rule()

    def _lines(self, width: int) -> Sequence[Line]:
        look = Look(
            width,
            self.known.graphs,
            self._scales,
            self._peaks if self._is_live and self._playhead.follows else None,
        )
        trouble = self._trouble or (self.known.feed.trouble if self._is_live else "")
        height = self.query_one("#traffic").size.height
        self._page = page_of(
            self._shown.window if self._shown else None, self._places, self._view, look, height, trouble
        )
        return self._page.lines

    def upper_rule(self, width: int) -> list[Line]:
        """What is shown, and of when."""
        end = self._shown.window.stretch.end if self._shown else None
        words = [self._view.about(len(self._places.nodes))]
        if self._header_of is not None:
            words.insert(0, " ".join(["recording", clean(self._header_of.label)]).strip())
            words.append(f"a point is {duration(self._step_s)}")
        elif self._paused_at is not None:
            words.append(f"paused at {clock(self._paused_at)}{self._pause_length()}")
        elif self._playhead.follows:
            words.append(f"every {duration(self._interval_s)}")
        else:
            words.append("as it was")
        follows = self._is_live and self._playhead.follows
        since = f"peaks since {clock(self._peaks.since)[:5]}  " if follows and self._peaks.since else ""
        time_shown = clock(end, date=self._header_of is not None) if end is not None else ""
        return [rule_line(width, "  ".join(words), since + time_shown)]

    def lower_rule(self, width: int) -> list[Line]:
        """What is being recorded, and how much lies below."""
        recording = self.known.feed.recording if self._is_live else None
        body = self.query_one("#traffic", Lines) if self.is_mounted else None
        more = f"↓ {body.below} more lines" if body is not None and body.below else ""
        return [rule_line(width, f"recording to {clean(recording.name)}" if recording else "", more)]

    def _pause_length(self) -> str:
        """How long it has been paused, by the minute: while nothing else moves, neither does this."""
        minutes = int(time.time() - (self._paused_at or 0.0)) // 60
        return f", {minutes} min ago" if minutes else ""

    def _every_minute(self) -> None:
        if self._is_live:
            self._peaks.take(self.known.timeline)
            if self.is_current and self._paused_at is not None:
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
        if not self._is_live:
            self.notice("A recording stands still; the arrows move in it.")
        elif self._playhead.follows and self._shown is not None:
            self._paused_at = self._shown.window.stretch.end
            self._playhead.hold(self._paused_at)
            self._draw()
        else:
            self.action_edge(end=True)

    def action_step(self, by: int) -> None:
        """Move in time by points of the graph."""
        if self._shown is None:
            return
        to = self._shown.window.stretch.end + by * self._step_s
        if self._is_live and (to > self._shown.span[1] or (by > 0 and self._playhead.follows)):
            self.action_edge(end=True)
            return
        self._paused_at = None
        self._move(to)

    def action_leap(self, by: int) -> None:
        """Move in time by graphs."""
        self.action_step(by * max(self._page.graph_points, 1))

    def action_edge(self, end: bool) -> None:
        """To the first moment that there is, or on with the newest."""
        self._paused_at = None
        if end:
            self._playhead.follow()
            self._draw()
        elif self._shown is not None:
            self._move(self._shown.span[0])

    def _move(self, to: float) -> None:
        """Go to another moment; the first one is that by which every source has been sampled once."""
        if self._shown is not None:
            first, last = self._shown.span
            self._playhead.hold(min(max(to, first + self._interval_s), last))
            self._draw()

    def action_interval(self, by: int) -> None:
        """Sample more seldom or more often; of a recording, show more or less time."""
        steps = INTERVALS if self._is_live else [self._interval_s, *(s for s in STEPS if s > self._interval_s)]
        nearest = min(range(len(steps)), key=lambda i: abs(steps[i] - self._step_s))
        chosen = steps[min(max(nearest + by, 0), len(steps) - 1)]
        if not self._is_live:
            self._zoom = chosen
            self._draw()
        elif chosen != self._interval_s:
            self.post_message(IntervalWanted(chosen))

    def action_reset(self) -> None:
        """Begin anew with the peaks."""
        if self._is_live:
            self._peaks.take(self.known.timeline)
            self._peaks.reset(time.time())
            self._draw()

    def action_record(self) -> None:
        """Ask for a recording, or for its end."""
        if self._is_live:
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
