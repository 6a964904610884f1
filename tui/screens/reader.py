"""Screens with a text to read: evidence, help, and a finding on a terminal too narrow for it next to the list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType

from tui.console.actions import HELP, READER, Action, bindings
from tui.console.run_state import FindingRow
from tui.screens.styled import StyledScreen
from tui.text.evidence_lines import evidence_lines
from tui.text.line import sanitize_line
from tui.widgets.bars import keys_line, lines_below, rule_line
from tui.widgets.help_text import Legend, help_lines
from tui.widgets.lines import Build, Lines
from tui.widgets.run_text import row_lines

_EVIDENCE = Action("enter", "evidence", "Enter", "Show what racwire read and sent for this finding.", "evidence")


class ReaderScreen(StyledScreen[None]):
    """A title, a text, and how many lines lie below."""

    NAME = "Reading"
    ACTIONS: ClassVar[tuple[Action, ...]] = READER
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(READER)]

    def __init__(self, title: str, build: Build) -> None:
        super().__init__()
        self._heading = title
        self._page = Lines(build, id="page")
        self._rule = Lines(lambda width: [rule_line(width)], classes="bar")

    def compose(self) -> ComposeResult:
        """Yield the title, the text, a rule, and the keys."""
        yield Lines(lambda width: [[(f" {self._heading}", "title")]], classes="bar")
        yield Lines(lambda width: [rule_line(width)], classes="bar")
        yield self._page
        yield self._rule
        yield Lines(lambda width: [keys_line((*self.ACTIONS, HELP), width)], classes="bar")

    @on(Lines.Scrolled, "#page")
    def show_lines_below(self) -> None:
        """Display how many lines lie below."""
        left = lines_below(self._page.below)
        self._rule.show(lambda width: [rule_line(width, right=left)])

    def action_scroll(self, lines: int) -> None:
        """Scroll by lines."""
        self._page.scroll_by(lines)

    def action_page(self, pages: int) -> None:
        """Scroll by screenfuls."""
        self._page.scroll_pages(pages)

    def action_edge(self, end: bool) -> None:
        """Go to the start or the end."""
        self._page.scroll_by(1_000_000 if end else -1_000_000)

    def action_back(self) -> None:
        """Go back to the previous screen."""
        self.dismiss()


class HelpScreen(ReaderScreen):
    """The keys of a screen, those that work everywhere, and the signs."""

    def __init__(self, name: str, actions: Sequence[Action], signs: Iterable[Legend]) -> None:
        super().__init__("Help", lambda width: list(help_lines(name, actions, signs, width)))


class EvidenceScreen(ReaderScreen):
    """What racwire read and sent for a finding."""

    def __init__(self, row: FindingRow) -> None:
        entries = row.evidence()
        super().__init__(
            f"Evidence  {sanitize_line(row.finding.code)}  {sanitize_line(row.finding.subject)}",
            lambda width: list(evidence_lines(entries, width)),
        )


class FindingScreen(ReaderScreen):
    """A finding on a narrow terminal; Enter shows its evidence."""

    ACTIONS = (*READER, _EVIDENCE)
    BINDINGS: ClassVar[list[BindingType]] = [*bindings([_EVIDENCE])]

    def __init__(self, row: FindingRow) -> None:
        super().__init__("Finding", lambda width: row_lines(row, width))
        self._row = row

    def action_evidence(self) -> None:
        """Show what racwire read and sent for the finding."""
        self.app.push_screen(EvidenceScreen(self._row))
