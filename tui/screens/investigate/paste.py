"""The page on which a person pastes the output of a command, or names a file with it."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import TextArea

from checks.model.investigation import SessionStep
from checks.report.step_words import step_title
from tui.screens.investigate.lines import person_lines
from tui.screens.styled import StyledScreen
from tui.text.line import Line, cut
from tui.text.pasted_output import output_in
from tui.widgets.bars import rule_line
from tui.widgets.lines import Lines

_READINGS = {1: "first reading", 2: "second reading"}


class PasteScreen(StyledScreen[str | None]):
    """A page with the commands of a step above, and a text area below; dismissed with the text, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+c,ctrl+q", "leave", show=False, priority=True),
        Binding("ctrl+d,f2", "done", show=False, priority=True),
    ]
    AUTO_FOCUS = "TextArea"

    def __init__(self, step: SessionStep, reading: int = 0) -> None:
        """`reading` is the number of the reading of a step that is read twice; 0: it is read once."""
        super().__init__()
        self._step = step
        self._reading = _READINGS.get(reading, "")
        self._problem = ""

    def compose(self) -> ComposeResult:
        """Yield the step, the text area, and the keys."""
        yield Lines(self._title, classes="bar")
        yield Lines(lambda width: [rule_line(width)], classes="bar")
        yield Lines(lambda width: list(person_lines(self._step, width)), id="paste-page")
        yield Lines(self._rule, id="paste-rule", classes="bar")
        area = TextArea(id="paste", soft_wrap=False, show_line_numbers=False, tab_behavior="indent")
        area.cursor_blink = False
        yield area
        yield Lines(lambda width: [rule_line(width)], classes="bar")
        yield Lines(self._keys, classes="bar")

    def _title(self, width: int) -> list[Line]:
        reading = f", {self._reading}" if self._reading else ""
        return [[(cut(f" Paste the output{reading}: {step_title(self._step)}", width), "title")]]

    def _rule(self, width: int) -> list[Line]:
        return [rule_line(width, self._problem or "Paste here, or type the name of a file with the output")]

    def _keys(self, width: int) -> list[Line]:
        keys = [("Ctrl-D", "done"), ("Esc", "cancel")]
        return [[span for key, word in keys for span in ((f" {key}", "accent"), (f" {word} ", ""))]]

    async def action_done(self) -> None:
        """Take the text; of one line that names a file, its contents."""
        text = self.query_one("#paste", TextArea).text
        if not text.strip():
            self._show_problem("Nothing is pasted yet.")
            return
        if len(lines := text.strip().splitlines()) == 1 and lines[0].strip().startswith(("/", "~", "./")):
            contents, problem = output_in(Path(lines[0].strip()))
            if problem:
                self._show_problem(problem)
                return
            text = contents
        self.dismiss(text if text.endswith("\n") else f"{text}\n")

    def _show_problem(self, problem: str) -> None:
        self._problem = problem
        self.query_one("#paste-rule", Lines).show(self._rule)

    def action_leave(self) -> None:
        """Cancel without an output."""
        self.dismiss(None)
