"""The Events screen: what happened since racwire started to sample, or in a recording."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial

from textual import events, on
from textual.app import ComposeResult

from checks.model.situation import Episode
from checks.report.event_text import sentence
from checks.report.standing_text import episode_text
from tui.console.actions import Action, relabelled, zoom_action
from tui.console.app_state import AppState, News
from tui.console.export_state import WriteEvents
from tui.console.eye import Eye
from tui.console.messages import CopyWanted, EventWanted, ExportWanted
from tui.screens.events.lines import columns_for, event_lines, event_row, heading_line, nothing_lines
from tui.screens.zoom import ZoomScreen
from tui.text.line import Line, sanitize_line
from tui.widgets.bars import rule_line
from tui.widgets.choice_list import ChoiceList
from tui.widgets.help_text import STATUSES, Legend
from tui.widgets.lines import Lines
from tui.widgets.run_text import state_of
from tui.widgets.units import clock

_KEYS = (
    Action("up,k", "move(-1)", "↑ k", "Select the event above."),
    Action("down,j", "move(1)", "↓ j", "Select the event below."),
    Action("backspace", "back", "Backspace", "Select again what was selected before a new alarm was."),
    Action("home,g", "move(-100000)", "g Home", "Select the newest event."),
    Action("end,G", "move(100000)", "G End", "Select the oldest event."),
    Action("pagedown,space", "page(1)", "PgDn Space", "Go one screen down."),
    Action("pageup,b", "page(-1)", "PgUp b", "Go one screen up."),
    Action("enter", "open", "Enter", "Show the moment of the event on the Traffic screen.", "in Traffic"),
    Action("r", "app.rerun", "r", "Run all checks: they look for the cause.", "look for the cause"),
    Action("i", "app.investigate", "i", "Investigate: separate the causes that are left, step by step.", "investigate"),
    Action("d", "forget", "d", "Dismiss: remove the event from the list.", "dismiss"),
    Action("D", "forget_over", "D", "Dismiss all events that are over."),
    Action("c", "copy", "c", "Copy all events as lines of text to the clipboard and to a file.", "copy"),
    Action("e", "export", "e", "Write all events as lines of text to a new file.", "export"),
    zoom_action("the selected event"),
    Action("escape", "leave", "Esc", "Return to the screen before.", "back"),
)
_FOOT = 6
_LEAST_LIST = 4


class EventsScreen(ZoomScreen):
    """The list of events, and the selected one in full."""

    NAME = "events"
    ACTIONS = _KEYS

    def __init__(self, state: AppState) -> None:
        super().__init__(state)
        self._listed: Sequence[Episode] = ()
        self._chosen = 0
        """The number of the selected event."""
        self._eye: Eye[int] = Eye()
        self._way_back = 0
        """The number of the event that was selected before a new alarm was; 0 where there is no way back."""
        self._drawn_at = 0
        self._has_keys = False
        """Whether the last line has the keys for an event."""

    def compose_body(self) -> ComposeResult:
        """Yield the heading, the list, and the selected event."""
        yield Lines(self._heading, id="events-heading", classes="bar")
        yield ChoiceList(id="events-list")
        yield Lines(lambda width: [rule_line(width)], id="events-rule", classes="bar")
        yield Lines(self._foot, id="events-foot")

    def signs(self) -> Sequence[Legend]:
        """Return the legend of the letters."""
        return [STATUSES]

    # --- drawing ------------------------------------------------------------------------------------------------------

    def draw(self, news: News | None = None) -> None:
        """Draw the events; samples change only those that last and what is sampled, once a second."""
        if news is News.SAMPLES and self._listed:
            second = int(time.time())
            if second == self._drawn_at or all(one.until is not None for one in self._listed):
                return
            self._drawn_at = second
        if news is News.PROGRESS:
            self.draw_lower_rule()
            return
        episodes = self.state.situation.episodes
        self._listed = [one for one in reversed(episodes) if self.state.events.is_listed(one.event)]
        alarms = {one.event.number for one in self.state.situation.lasting}
        if new := self._eye.new_of([one.event.number for one in self._listed if one.event.number in alarms]):
            self._way_back = self._chosen if self._chosen != new[0] else 0
            self._chosen = new[0]
            self.draw_keys()
        self._draw_list()

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """Select the alarm of the line above the keys, unless the operator comes back from the moment of an event."""
        alarm = self._foremost
        if self.is_current and alarm is not None and self.state.before_events != "traffic":
            self._chosen = alarm.event.number
        super().on_screen_resume(event)

    def choose(self, episode: Episode) -> None:
        """Select an event."""
        self._chosen = episode.event.number
        self._draw_list()

    def _draw_list(self) -> None:
        listed = self.query_one(ChoiceList)
        numbers = [one.event.number for one in self._listed]
        place = numbers.index(self._chosen) if self._chosen in numbers else min(listed.chosen, len(numbers) - 1)
        now = self.state.situation.at
        columns = columns_for([one.event for one in self._listed], self.size.width, self.state.zone, now)

        has_events = bool(self._listed)
        has_list = has_events and not self.is_zoomed
        self.query_one("#events-heading").display = has_list
        listed.display = has_list
        self.query_one("#events-rule").display = has_list
        foot = self.query_one("#events-foot", Lines)
        foot.styles.height = min(_FOOT, max(self.size.height - 5 - 2 - _LEAST_LIST, 1)) if has_list else "1fr"
        if has_events:
            self.query_one("#events-heading", Lines).show(lambda width: [heading_line(columns, width)])
            listed.show_choices([partial(event_row, one, columns, now) for one in self._listed], max(place, 0))
            self._chosen = self._listed[listed.chosen].event.number
        foot.show(self._foot)
        self.query_one("#upper-rule", Lines).show(self.upper_rule)
        self.draw_lower_rule()
        if has_events is not self._has_keys:
            self._has_keys = has_events
            self.draw_keys()

    def _heading(self, width: int) -> list[Line]:
        return [heading_line(columns_for((), width, None, 0.0), width)]

    @property
    def _episode(self) -> Episode | None:
        """The selected event."""
        return next((one for one in self._listed if one.event.number == self._chosen), None)

    def _foot(self, width: int) -> list[Line]:
        events, episode = self.state.events, self._episode
        if episode is not None:
            waits = "" if self.state.feed.replayed else events.waits
            lines = event_lines(episode, self.state.clock, width - 2, self.state.situation.at, waits=waits)
        else:
            lines = [
                *nothing_lines(
                    events.sampled,
                    events.never_seen,
                    width - 2,
                    held_by=self.state.feed.held_by,
                    state=self._state(),
                )
            ]
        return [[(" ", ""), *line] for line in lines]

    def _state(self) -> str:
        """Return why nothing is known of events yet; empty where events are known."""
        feed, events = self.state.feed, self.state.events
        if events.trouble or feed.trouble:
            return events.trouble or feed.trouble
        if feed.replayed:
            if feed.past is not None and feed.past.recording is None:
                return "No samples were saved, so no event is known."
            return "" if events.is_of_recording else "Looking for events in the recording."
        if not feed.is_running:
            return "Nothing is sampled yet: racwire starts to sample after the first run of the checks."
        return "" if self.state.timeline.sources() else "Waiting for the first samples."

    def upper_texts(self) -> Sequence[tuple[str, str]]:
        """Return the time from which on events are known."""
        feed, since = self.state.feed, self.state.events.since
        if feed.replayed:
            return [("Events in the saved state" if feed.is_saved else "Events in the recording", "")]
        return [(f"Events since {clock(since, self.state.zone, has_zone=False)}" if since else "Events", "")]

    def footer(self) -> Sequence[Action]:
        """Return the commands for the last line: without an event, nothing can be done with one."""
        actions = super().footer()
        if self._way_back:
            return relabelled(actions, {"back": "back", "copy": ""})
        return actions if self._listed else [a for a in actions if a.name not in ("open", "forget", "copy", "export")]

    def lower_texts(self) -> tuple[str, str]:
        """Return the progress of the run of the checks."""
        return state_of(self.state.run) if self.state.run.running else "", ""

    # --- keys ---------------------------------------------------------------------------------------------------------

    def action_move(self, by: int) -> None:
        """Select another event."""
        if self._listed:
            self._eye.moved()
            place = [one.event.number for one in self._listed].index(self._chosen) + by
            self._chosen = self._listed[min(max(place, 0), len(self._listed) - 1)].event.number
            self._draw_list()

    def action_back(self) -> None:
        """Select what was selected before a new alarm was."""
        places = [one.event.number for one in self._listed]
        if self._way_back in places:
            self._chosen, self._way_back = self._way_back, 0
            self._eye.moved()
            self._draw_list()
            self.draw_keys()
        else:
            self.notice("Backspace returns to what was selected before a new alarm; there is nothing.")

    def action_page(self, pages: int) -> None:
        """Select the event one screen away."""
        self.action_move(pages * max(self.query_one(ChoiceList).size.height - 1, 1))

    @on(ChoiceList.Taken)
    def choose_clicked(self) -> None:
        """Select the clicked event; open it if it is selected already."""
        self._eye.moved()
        number = self._listed[self.query_one(ChoiceList).chosen].event.number
        if number == self._chosen:
            self.action_open()
        self._chosen = number
        self._draw_list()

    def action_open(self) -> None:
        """Show the moment of the event on the Traffic screen."""
        if self._episode is not None:
            self.post_message(EventWanted(self._episode.event))

    def action_forget(self) -> None:
        """Remove the selected event from the list."""
        if self._episode is not None:
            self._dismiss([self._episode])

    def action_forget_over(self) -> None:
        """Remove all events that are over from the list."""
        self._dismiss([one for one in self._listed if one.until is not None])

    def _dismiss(self, episodes: Sequence[Episode]) -> None:
        for one in episodes:
            self.state.events.dismiss(one.event)
        self.refresh_state(News.EVENTS)

    def action_copy(self) -> None:
        """Copy all events as lines of text."""
        if self._listed:
            self.post_message(CopyWanted(self._as_text()))

    def action_export(self) -> None:
        """Write all events to a file."""
        if self._listed:
            self.post_message(ExportWanted(WriteEvents(f"{self._as_text()}\n")))

    def _as_text(self) -> str:
        zone, now = self.state.zone, self.state.situation.at
        rows = [
            f"{clock(one.event.start, zone, date=True)}  {one.event.status.letter}  "
            f"{sanitize_line(sentence(one.event))} {episode_text(one, self.state.clock, now)}."
            for one in reversed(self._listed)
        ]
        return "\n".join(rows)

    async def action_leave(self) -> None:
        """Return to the screen before."""
        await self.run_action(f"app.show('{self.state.before_events or 'checks'}')")
