"""The Traffic screen: load and losses of one node, of one of its blocks, or of all nodes; now or earlier."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from textual import events, on
from textual.app import ComposeResult

from checks.model.cluster_event import ClusterEvent, EventKind
from checks.model.wording import counted
from checks.traffic.recording import RecordingError
from checks.traffic.timeline import Track
from tui.console.actions import Action
from tui.console.app_state import AppState, News
from tui.console.event_follower import KEPT_AFTER_S
from tui.console.messages import PresetChosen, RecordWanted
from tui.screens.sorted_tables import TableScreen
from tui.screens.traffic.all_nodes_lines import SORTED_BY
from tui.screens.traffic.keys import SIGNS, TRAFFIC, labelled
from tui.screens.traffic.lines import Surroundings, TrafficPage, TrafficView, page_of
from tui.screens.traffic.node_lines import KnownNodes
from tui.screens.traffic.node_page import Layouts
from tui.screens.traffic.peaks import Peaks, Scales
from tui.screens.traffic.rows import DrawingStyle
from tui.screens.traffic.size_lines import KnownSizes
from tui.screens.traffic.time_axis import Mark, episode_marks
from tui.screens.traffic.time_cursor import TrackView
from tui.screens.traffic.time_keys import TimeKeysScreen
from tui.text.line import Line, sanitize_line
from tui.widgets.graph import points
from tui.widgets.help_text import Legend
from tui.widgets.lines import Lines
from tui.widgets.units import clock

DRAW_AFTER_S = 0.1
"""Seconds between a sample and its drawing: the samples of other sources arrive then, and are drawn together."""
DRAW_EVERY_S = 0.2
PEAKS_EVERY_S = 60.0
"""Seconds between two updates of the peaks while another screen is open; the timeline keeps samples longer."""
_BLOCKS = {
    EventKind.REASSEMBLY: "IP",
    EventKind.RECEIVE_BUFFERS: "UDP",
    EventKind.CHECKSUMS: "UDP",
    EventKind.BACKLOG: "CPU",
}
"""The block of a node for events in the counters of its kernel."""
_AFTER_INTERVALS = 3
"""Samples after the start of an event without a peak, such as a silence, that are shown with it."""


class TrafficScreen(TimeKeysScreen, TableScreen):
    """Draws a track: the live timeline, or a recording."""

    NAME = "traffic"
    FILTERED = "node"
    SORTED_BY = SORTED_BY
    ORDER_OF = "nodes"
    ACTIONS = TRAFFIC

    def __init__(self, state: AppState, track: Track | None = None) -> None:
        super().__init__(state, track)
        self._body = Lines(id="traffic")
        if not self._cursor.is_live:
            self.offer_only_replay()
        self._places = KnownNodes()
        chosen = state.presets
        self._view = TrafficView("nodes" if chosen.all_nodes else "node", others=chosen.other_interfaces)
        self._sizes = KnownSizes()
        self._peaks = Peaks()
        self._scales = Scales()
        self._page = TrafficPage()
        self._labelled_for: object = None
        """The state for which the last line is labelled: to make the labels takes a while."""
        self._layouts = Layouts()
        self._trouble = ""
        self._soon: asyncio.TimerHandle | None = None
        self._drawn_at = 0.0
        self._read_again = False

    def compose_body(self) -> ComposeResult:
        """Yield one list of lines, and the place of the line in which a time is typed."""
        yield self._body
        yield from self.seek_line()
        yield self.filter_line

    def on_mount(self) -> None:
        """Start the timer that updates the peaks while another screen is open, and the length of a pause."""
        self.set_interval(PEAKS_EVERY_S, self._every_minute)

    @property
    def _graph_points(self) -> int:
        return self._page.graph_points

    def signs(self) -> Sequence[Legend]:
        """Return the legend of the signs."""
        return [SIGNS]

    def _read(self) -> TrackView | None:
        wanted = self._view.wanted(self._places.nodes, self.size.height)
        return self._cursor.read(self._places, wanted, points(max(self.size.width - 45, 16), self.state.graphs))

    async def _read_recording(self) -> None:
        """Read the file in a thread; keys that arrive meanwhile cause one more read."""
        try:
            while self._read_again:
                self._read_again = False
                try:
                    self._cursor.view = await asyncio.to_thread(self._read)
                    self._trouble = ""
                except RecordingError as error:
                    self._trouble = str(error)
                self._put()
        finally:
            self._reading = False

    # --- drawing ------------------------------------------------------------------------------------------------------

    def draw(self, news: News | None = None) -> None:
        """Draw the present state; samples a little later, together with those that arrive at the same time."""
        if news is News.SAMPLES:
            if self._cursor.is_following and self._soon is None:
                since = time.monotonic() - self._drawn_at
                later = asyncio.get_running_loop().call_later
                self._soon = later(max(DRAW_AFTER_S, DRAW_EVERY_S - since), self.call_later, self._draw)
        elif news is News.MOMENT:
            self._put()
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
            self._cursor.view = self._read()
            self._put()
            return
        self._read_again = True
        if not self._reading:
            self._reading = True
            self.run_worker(self._read_recording(), group="recording", exit_on_error=False)

    def _put(self) -> None:
        self._share_moment()
        self._places.find(self._cursor.view.window if self._cursor.view else None, self.filter_text)
        self.note_remaining(len(self._places.shown), len(self._places.nodes))
        self._view.settle(self._places.shown)
        self._body.show(self._lines, top=self._body.above)
        self._body.bring_into_sight(*self._page.chosen_lines)
        self.query_one("#upper-rule", Lines).show(self.upper_rule)
        self.draw_lower_rule()
        cursor, view = self._cursor, self._view
        state = (view.kind, cursor.is_paused, cursor.is_playing, cursor.is_following)
        if (now := (*state, len(self._places.nodes) > 1, self.state.feed.recording)) != self._labelled_for:
            self._labelled_for = now
            self.draw_keys()

    def footer(self) -> Sequence[Action]:
        """Return the commands for the footer, with the labels of the present state."""
        return labelled(
            super().footer(),
            self._cursor,
            self._view,
            is_filtered=bool(self.filter_text),
            nodes=len(self._places.nodes),
            is_recording=self.state.feed.recording is not None,
        )

    def _lines(self, width: int) -> Sequence[Line]:
        self._view.sorting = self.sorting
        shown, peaks = self._cursor.view, self._peaks if self._cursor.is_following else None
        look = DrawingStyle(width, self.state.graphs, self._scales, peaks)
        trouble = self._trouble or (self.state.feed.trouble if self._cursor.is_live else "")
        around = Surroundings(
            self._body.size.height,
            self._layouts,
            self._cursor.axis(self._marks()),
            trouble,
            self._cursor.waiting,
            self._sizes.block(self.state.cluster, self._view.node),
            cluster.block_size_bytes if (cluster := self.state.cluster) else None,
            self.nothing_matches(),
        )
        self._page = page_of(shown.window if shown else None, self._places, self._view, look, around)
        return self._page.lines

    def _marks(self) -> Sequence[Mark]:
        situation, events = self.state.situation, self.state.events
        listed = [one for one in situation.episodes if events.is_listed(one.event)]
        return episode_marks(listed, self._cursor.interval_s, self.state.zone, situation.at)

    def upper_texts(self) -> Sequence[tuple[str, str]]:
        """Return the name of the view with its state, and the displayed time."""
        start = self._peaks.since if self._cursor.is_following else None
        view = self.filter_note or self._view.about(len(self._places.nodes))
        about, moments = self._cursor.about(view), self._cursor.moments()
        since = [(about, f"peaks since {clock(start)[:5]}  {moments[0]}")] if start else []
        state = "  ".join(about.partition(" for ")[0].split("  ")[:2])
        name = about.partition("  ")[0]
        whole = [(text, moment) for moment in moments for text in (about, state)]
        if self.filter_note:
            return [*since, *whole, *((view, moment) for moment in (*moments, ""))]
        return [*since, *whole, *((text, moments[-1]) for text in (name, name.partition(" of ")[0]))]

    def lower_texts(self) -> tuple[str, str]:
        """Return the pace of the instances where it is not the usual one, with the racwire that samples and the
        recording; and how many lines lie below."""
        feed, texts = self.state.feed, []
        if self._cursor.is_following and feed.pace_text:
            texts.append(f"instances {feed.pace_text}")
        if self._cursor.is_live and feed.recording:
            texts.append(f"recording to {sanitize_line(feed.recording.name)}")
        if self._cursor.is_live and feed.sampler:
            texts.append(f"samples of pid {feed.sampler}")
        more = f"↓ {counted(self._body.below, 'more line')}" if self.is_mounted and self._body.below else ""
        return "  ".join(texts), more

    def _every_minute(self) -> None:
        if self._cursor.is_live:
            self._peaks.take(self.state.timeline)
            if self.is_current and self._cursor.is_paused:
                self.query_one("#upper-rule", Lines).show(self.upper_rule)

    def on_resize(self, event: events.Resize) -> None:
        """Redraw: the graphs have room for more or less time."""
        self.call_after_refresh(self._draw)

    # --- keys ---------------------------------------------------------------------------------------------------------

    def action_move(self, by: int) -> None:
        """Select the interface, group or node above or below."""
        self._view.move(self._page.keys, by)
        self._put()

    def action_open(self) -> None:
        """Show the selected one alone."""
        self._view.open()
        self._draw()

    def action_back(self) -> None:
        """Go back to the whole node."""
        if not self._leave_seek() and not self.filter_line.clear():
            self._view.back()
            self._draw()

    async def action_filter(self) -> None:
        """Show all nodes, and open the line of their filter."""
        if self._view.kind != "nodes":
            self._view.toggle_all()
        await super().action_filter()

    def action_node(self, by: int) -> None:
        """Show another node."""
        if len(self._places.shown) < 2:
            self.notice("There is no other node." if len(self._places.nodes) < 2 else "No other node matches.")
            return
        self._view.next_node(self._places.shown, by)
        self._draw()

    def action_all(self) -> None:
        """Switch between all nodes and one node."""
        self._view.toggle_all()
        self.post_message(PresetChosen(all_nodes=self._view.kind == "nodes"))
        self._draw()

    def action_others(self) -> None:
        """Show or hide the other interfaces."""
        self._view.others = not self._view.others
        self.post_message(PresetChosen(other_interfaces=self._view.others))
        self._draw()
        self.notice("All interfaces are shown." if self._view.others else "Only private interfaces are shown.")

    def why_not_sorted(self) -> str:
        """Return why there is nothing to sort."""
        return "" if self._view.kind == "nodes" else "s sorts all nodes: a shows them."

    def show_event(self, event: ClusterEvent) -> None:
        """Show the node of an event at the moment of its peak, or soon after its start."""
        self._play(False)
        soon = event.start + _AFTER_INTERVALS * self._cursor.interval_s
        at = event.peak_at if event.count and event.peak_at - event.start < KEPT_AFTER_S else soon
        place = next((p for p in event.places if p.node in event.open_nodes), event.places[0])
        self._view.show_block(place.node, place.interface or place.instance or _BLOCKS.get(event.kind, ""))
        trouble = self._cursor.show_moment(at)
        self._draw()
        if trouble:
            self.notice(trouble)

    def action_reset(self) -> None:
        """Reset the peaks."""
        if self._cursor.is_live:
            self._peaks.take(self.state.timeline)
            self._peaks.reset(time.time())
            self._draw()

    def action_record(self) -> None:
        """Request the start or the end of a recording."""
        if self._cursor.is_live:
            self.post_message(RecordWanted())
        else:
            self.notice("This is a recording already.")

    @on(Lines.Clicked, "#traffic")
    def choose(self, message: Lines.Clicked) -> None:
        """Select the clicked line; open it if it is selected already."""
        key = self._page.key_at(message.line)
        if node := self._page.nodes.get(message.line):
            self._view.show(node)
            self._draw()
        elif key and key == self._view.chosen:
            self.action_open()
        elif key:
            self._view.choose(key)
            self._put()
