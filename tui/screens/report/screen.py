"""The Report screen: a summary of the report, the formats to write it in, and the written files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult

from checks.report.age import time_text
from tui.cli.report_formats import FORMATS
from tui.console.actions import Action, zoom_action
from tui.console.app_state import AppState, News
from tui.console.export_state import (
    SAVED,
    SAVED_ENDING,
    ExportState,
    FindDirectory,
    ReportState,
    WriteReport,
    report_state,
    stem_of,
)
from tui.console.messages import ExportWanted
from tui.screens.report.lines import Room, done_lines, form_line, names_text, samples_text, says_lines
from tui.screens.zoom import ZoomScreen
from tui.text.home_path import short
from tui.text.line import Line, sanitize_line
from tui.widgets.bars import lines_below, rule_line
from tui.widgets.choice_list import ChoiceList
from tui.widgets.lines import Lines
from tui.widgets.run_text import state_of

REPORT = (
    Action("up,k", "move(-1)", "↑ k", "Select the format above."),
    Action("down,j", "move(1)", "↓ j", "Select the format below."),
    Action("home,g", "move(-100)", "g Home", "Select the first format."),
    Action("end,G", "move(100)", "G End", "Select the last format: everything in one file, for `racwire open`."),
    Action(
        "enter",
        "write",
        "Enter",
        "Write the report in the selected format to a new file; so does a second click.",
        "write",
    ),
    Action("r", "app.rerun", "r", "Run all checks again."),
    Action(
        "d", "redact", "d", "Write pseudonyms instead of names and addresses; again: write the real ones.", "redact"
    ),
    Action("pagedown,space", "page(1)", "PgDn Space", "Scroll the summary down."),
    Action("pageup,b", "page(-1)", "PgUp b", "Scroll the summary up."),
    zoom_action("the summary, with the report as text,"),
)

_BARS = 6
"""Lines of the screen outside the summary, the formats, and the written files."""
_LEAST_SAID, _LEAST_DONE, _AIR = 2, 2, 3
_LEAST_TEXT, _WIDTH_OF_TEXT, _WIDEST_TEXT = 5, 100, 140
"""Fewest lines and columns for the start of the report as text, and its most columns."""


@dataclass(frozen=True)
class ReportForm:
    """A format that the report can be written in."""

    name: str
    purpose: str
    ending: str


FORMS = (
    *(ReportForm(form.name, form.what, form.ending) for form in FORMATS.values()),
    ReportForm(SAVED, "everything, with the samples so far: for racwire open", SAVED_ENDING),
)


class ReportScreen(ZoomScreen):
    """The summary of the report, the formats, and the written files. It requests files from the app."""

    NAME = "report"
    ACTIONS: ClassVar[tuple[Action, ...]] = REPORT

    def __init__(self, state: AppState) -> None:
        super().__init__(state)
        self._is_redacted = False
        self._standing = ReportState(None, False, (), "")
        self._samples = ""
        self._room = Room.LITTLE
        self._named = FORMS[0]
        """The format whose file is named on the screen."""

    def compose_body(self) -> ComposeResult:
        """Yield the summary; below a rule with the file name, the formats; the written files."""
        yield Lines(id="report-says")
        yield Lines(self._file_rule, id="report-file", classes="bar")
        yield ChoiceList(id="report-forms")
        yield Lines(id="report-done")

    def on_mount(self) -> None:
        """Show the formats, which never change."""
        forms = self.query_one(ChoiceList)
        forms.show_choices([partial(form_line, form.name, form.purpose, form.ending) for form in FORMS])

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """Find out where files can be written, when the screen opens."""
        super().on_screen_resume(event)
        if self.is_current:
            self.post_message(ExportWanted(FindDirectory()))

    # --- drawing ------------------------------------------------------------------------------------------------------

    @property
    def _exports(self) -> ExportState:
        return self.state.exports

    @property
    def _form(self) -> ReportForm:
        return FORMS[self.query_one(ChoiceList).chosen]

    def draw(self, news: News | None = None) -> None:
        """Draw the newest report, as of now. Of the samples only the first ones change the screen."""
        if news is News.PROGRESS:
            self.draw_lower_rule()
            return
        samples = self._exports.recorded or "Reading the samples."
        if not self.state.feed.replayed:
            samples = samples_text(self.state.timeline, self.state.feed, self.state.zone)
        if news is News.SAMPLES and samples == self._samples:
            return
        self._samples, self._standing = samples, report_state(self.state.run, self.state.situation)
        self._offer()
        self._lay_out()

    def _offer(self) -> None:
        """Offer pseudonyms only for a report that has none yet."""
        self.offer(tuple(a for a in self.ACTIONS if a.name != "redact" or not self._has_pseudonyms))

    @property
    def _has_pseudonyms(self) -> bool:
        return self._standing.report is not None and self._standing.report.is_redacted

    def _lay_out(self) -> None:
        """Divide the height: the summary takes what it needs, the formats all they need, the written files the rest."""
        height = self.size.height - _BARS
        says, done = self.query_one("#report-says", Lines), self.query_one("#report-done", Lines)
        least = len(FORMS) + min(_LEAST_DONE, 1 + len(self._exports.done))
        said = {room: len(self._said(self.size.width, room)) for room in Room}
        self._room = max((room for room in Room if said[room] <= height - least - _AIR), default=Room.LITTLE)
        for_said = max(min(said[self._room], height - least), _LEAST_SAID)
        self.query_one(ChoiceList).styles.height = max(min(len(FORMS), height - for_said - 1), 1)
        says.styles.height = "1fr" if self.is_zoomed else for_said
        for other in ("#report-file", "#report-forms", "#report-done"):
            self.query_one(other).display = not self.is_zoomed
        says.show(self._alone if self.is_zoomed else lambda width: self._said(width, self._room), top=says.above)
        done.show(self._done_lines)
        self.query_one("#report-file", Lines).show(self._file_rule)
        self.query_one("#upper-rule", Lines).show(self.upper_rule)
        self.call_after_refresh(self.draw_lower_rule)  # how much is below shows when the heights are there

    def _said(self, width: int, room: Room) -> list[Line]:
        return list(says_lines(self._standing, self._samples, width, room))

    def _alone(self, width: int) -> list[Line]:
        """Return the summary at its longest, and the report as text."""
        return [*self._said(width, max(Room)), *self._text_lines(width)]

    def _done_lines(self, width: int) -> list[Line]:
        names = names_text(self._standing, self._exports, is_redacted=self._is_redacted)
        lines = [*([[]] if self._room else []), *done_lines(self._exports, names, width)]
        room = self.query_one("#report-done", Lines).size.height - len(lines) - 3
        has_room = room >= _LEAST_TEXT and width >= _WIDTH_OF_TEXT
        return [*lines, *(self._text_lines(width, room) if has_room else ())]

    def _text_lines(self, width: int, room: int | None = None) -> list[Line]:
        """Return the report as text: its first lines, or all."""
        report = self._standing.report
        if report is None:
            return []
        from tui.cli.text_report import report_lines

        text = list(islice(report_lines(report, min(width - 4, _WIDEST_TEXT)), room))
        return [[], [(" The report as text", "title")], [], *([("   ", ""), *line] for line in text)]

    def _file_rule(self, width: int) -> list[Line]:
        """Return the rule with the path of the file to write."""
        report, directory = self._standing.report, self._exports.directory
        if report is None:
            return [rule_line(width, "write the report")]
        name = stem_of(report, self._is_redacted) + self._form.ending
        path = directory / name if directory is not None else None
        where = short(self._exports.free(path)) if path is not None else name
        return [rule_line(width, f"write to {sanitize_line(where)}")]

    def upper_texts(self) -> Sequence[tuple[str, str]]:
        """Return the time of the report."""
        if (report := self._standing.report) is None:
            return super().upper_texts()
        return [(f"report of {sanitize_line(time_text(report.started_at))}", ""), ("report", "")]

    def lower_texts(self) -> tuple[str, str]:
        """Return the progress of the file, or of the run of the checks, and how many lines lie below."""
        below = self.query_one("#report-says", Lines).below
        progress = sanitize_line(self._exports.progress) or (state_of(self.state.run) if self.state.run.running else "")
        return progress, lines_below(below)

    def on_resize(self, event: events.Resize) -> None:
        """Divide the height again for the new width."""
        self.call_after_refresh(self._lay_out)

    # --- keys ---------------------------------------------------------------------------------------------------------

    def action_move(self, by: int) -> None:
        """Select another format."""
        self.query_one(ChoiceList).move(by)
        self._named = self._form
        self.query_one("#report-file", Lines).show(self._file_rule)

    @on(ChoiceList.Taken)
    def take_clicked(self) -> None:
        """Select the clicked format; write it if it is selected already."""
        if self._form is self._named:
            self.action_write()
        self.action_move(0)

    def action_write(self) -> None:
        """Request the file."""
        self.post_message(ExportWanted(WriteReport(self._form.name, self._is_redacted)))

    def action_redact(self) -> None:
        """Switch between pseudonyms and real names."""
        self._is_redacted = not self._is_redacted and not self._has_pseudonyms
        self._lay_out()

    def action_page(self, pages: int) -> None:
        """Scroll the summary by screens."""
        self.query_one("#report-says", Lines).scroll_pages(pages)
