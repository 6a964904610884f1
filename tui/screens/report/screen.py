"""Report: what there is to hand on, in which form, for whom; and where it went."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType

from checks.report.age import time_text
from tui.cli.report_formats import FORMATS
from tui.console.actions import Action, bindings, in_footer
from tui.console.app_state import AppState, News
from tui.console.export_state import (
    SAVED,
    SAVED_ENDING,
    ExportState,
    LookWhere,
    ReportState,
    WriteReport,
    report_state,
    stem_of,
)
from tui.console.messages import ExportWanted
from tui.console.takeaway import short
from tui.screens.base import ConsoleScreen
from tui.screens.report.lines import Room, done_lines, form_line, names_told, samples_told, says_lines
from tui.text.line import Line, sanitize_line
from tui.widgets.bars import keys_line, rule_line
from tui.widgets.choice_list import ChoiceList
from tui.widgets.lines import Lines
from tui.widgets.run_text import state_of

REPORT = (
    Action("up,k", "move(-1)", "↑ k", "The form above."),
    Action("down,j", "move(1)", "↓ j", "The form below."),
    Action("home,g", "move(-100)", "g Home", "The first form."),
    Action("end,G", "move(100)", "G End", "The last one: everything in one file, for `racwire open`."),
    Action("enter", "write", "Enter", "Write the report in that form to a new file; so does a second click.", "write"),
    Action("d", "redact", "d", "Write pseudonyms for names and addresses, for others to read; again: not.", "redact"),
    Action("pagedown,space", "page(1)", "PgDn Space", "Read on in what the report says."),
    Action("pageup,b", "page(-1)", "PgUp b", "Read back in it."),
)

_BARS = 6
"""Lines of the screen that are not those of what it says, of the forms, and of what was written."""
_LEAST_SAID, _LEAST_DONE, _AIR = 2, 2, 3


@dataclass(frozen=True)
class ReportForm:
    """A form that the report can be written in."""

    name: str
    what: str
    ending: str


FORMS = (
    *(ReportForm(form.name, form.what, form.ending) for form in FORMATS.values()),
    ReportForm(SAVED, "everything, with the samples so far: for racwire open", SAVED_ENDING),
)


class ReportScreen(ConsoleScreen):
    """What the report says, the forms, and what was written. It asks the app for files."""

    NAME = "report"
    ACTIONS: ClassVar[tuple[Action, ...]] = REPORT
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(REPORT)]

    def __init__(self, state: AppState) -> None:
        super().__init__(state)
        self._is_redacted = False
        self._standing = ReportState(None, False, (), "")
        self._samples = ""
        self._room = Room.LITTLE
        self._named = FORMS[0]
        """The form whose file is named on the screen."""

    def compose_body(self) -> ComposeResult:
        """What it says; below a rule with the name of the file, the forms; what was written."""
        yield Lines(id="report-says")
        yield Lines(self._file_rule, id="report-file", classes="bar")
        yield ChoiceList(id="report-forms")
        yield Lines(id="report-done")

    def on_mount(self) -> None:
        """The forms stay the same."""
        forms = self.query_one(ChoiceList)
        forms.show_choices([partial(form_line, form.name, form.what, form.ending) for form in FORMS])

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """It is shown: find out where files go."""
        super().on_screen_resume(event)
        if self.is_current:
            self.post_message(ExportWanted(LookWhere()))

    # --- drawing ------------------------------------------------------------------------------------------------------

    @property
    def _outbox(self) -> ExportState:
        return self.state.exports

    @property
    def _form(self) -> ReportForm:
        return FORMS[self.query_one(ChoiceList).chosen]

    def draw(self, news: News | None = None) -> None:
        """Draw what the newest report says. Samples tell something here only when the first of them come."""
        if news is News.PROGRESS:
            self.draw_lower_rule()
            return
        samples = self._outbox.recorded or "They are being looked at."
        if not self.state.feed.replayed:
            samples = samples_told(self.state.timeline, self.state.feed, self.state.zone)
        if news is News.SAMPLES and samples == self._samples:
            return
        self._samples, self._standing = samples, report_state(self.state.run)
        self._offer()
        self._lay_out()

    def _offer(self) -> None:
        """Of a report that has pseudonyms already, no others are offered."""
        now = tuple(a for a in self.ACTIONS if a.name != "redact" or not self._has_pseudonyms)
        if now != self.ACTIONS:
            self.ACTIONS = now  # type: ignore[misc]
            self.query_one("#keys", Lines).show(lambda width: [keys_line(in_footer(self.ACTIONS), width)])

    @property
    def _has_pseudonyms(self) -> bool:
        return self._standing.report is not None and self._standing.report.is_redacted

    def _lay_out(self) -> None:
        """What it says has the room that it takes; the forms have all of theirs, and what was written the rest."""
        height = self.size.height - _BARS
        says, done = self.query_one("#report-says", Lines), self.query_one("#report-done", Lines)
        least = len(FORMS) + min(_LEAST_DONE, 1 + len(self._outbox.done))
        said = {room: len(self._said(self.size.width, room)) for room in Room}
        self._room = max((room for room in Room if said[room] <= height - least - _AIR), default=Room.LITTLE)
        for_said = max(min(said[self._room], height - least), _LEAST_SAID)
        self.query_one(ChoiceList).styles.height = max(min(len(FORMS), height - for_said - 1), 1)
        says.styles.height = for_said
        says.show(lambda width: self._said(width, self._room), top=says.above)
        done.show(self._done_lines)
        self.query_one("#report-file", Lines).show(self._file_rule)
        self.query_one("#upper-rule", Lines).show(self.upper_rule)
        self.call_after_refresh(self.draw_lower_rule)  # how much is below shows when the heights are there

    def _said(self, width: int, room: Room) -> list[Line]:
        return list(says_lines(self._standing, self._samples, width, room))

    def _done_lines(self, width: int) -> list[Line]:
        names = names_told(self._standing, self._outbox, is_redacted=self._is_redacted)
        return [*([[]] if self._room else []), *done_lines(self._outbox, names, width)]

    def _file_rule(self, width: int) -> list[Line]:
        """What the file will be called, and where it will be."""
        report, directory = self._standing.report, self._outbox.directory
        if report is None:
            return [rule_line(width, "write it")]
        name = stem_of(report, self._is_redacted) + self._form.ending
        path = directory / name if directory is not None else None
        where = short(self._outbox.free(path)) if path is not None else name
        return [rule_line(width, f"write it to {sanitize_line(where)}")]

    def upper_rule(self, width: int) -> list[Line]:
        """Of when the report is."""
        report = self._standing.report
        return [rule_line(width, f"report of {sanitize_line(time_text(report.started_at))}" if report else "")]

    def lower_rule(self, width: int) -> list[Line]:
        """How far what is being written is, or the run of the checks."""
        below = self.query_one("#report-says", Lines).below
        told = sanitize_line(self._outbox.progress) or (state_of(self.state.run) if self.state.run.running else "")
        return [rule_line(width, told, f"PgDn: {below} more lines" if below else "")]

    @on(Lines.Scrolled, "#report-says")
    def say_how_much_is_below(self) -> None:
        """Keep the count of lines below right."""
        self.draw_lower_rule()

    def on_resize(self, event: events.Resize) -> None:
        """Other widths take other heights."""
        self.call_after_refresh(self._lay_out)

    # --- keys ---------------------------------------------------------------------------------------------------------

    def action_move(self, by: int) -> None:
        """Choose another form."""
        self.query_one(ChoiceList).move(by)
        self._named = self._form
        self.query_one("#report-file", Lines).show(self._file_rule)

    @on(ChoiceList.Taken)
    def take_clicked(self) -> None:
        """Choose what was clicked; what was chosen already is written."""
        if self._form is self._named:
            self.action_write()
        self.action_move(0)

    def action_write(self) -> None:
        """Ask for the file."""
        self.post_message(ExportWanted(WriteReport(self._form.name, self._is_redacted)))

    def action_redact(self) -> None:
        """Write pseudonyms, or no longer."""
        self._is_redacted = not self._is_redacted and not self._has_pseudonyms
        self._lay_out()

    def action_page(self, pages: int) -> None:
        """Read on."""
        self.query_one("#report-says", Lines).scroll_pages(pages)
