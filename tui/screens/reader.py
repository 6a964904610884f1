"""Screens that show a text to read: evidence, help, and a finding where there is no room beside the list."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen

from tui.actions import HELP, READER, bindings
from tui.board import Row
from tui.widgets.bars import keys_line, rule_line
from tui.widgets.evidence_text import evidence_lines
from tui.widgets.finding_text import finding_lines
from tui.widgets.help_text import help_lines
from tui.widgets.line import clean
from tui.widgets.lines import Build, Lines


class ReaderScreen(Screen[None]):
    """A title, the text, and where in it one is."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings(READER)]
    AUTO_FOCUS = ""

    def __init__(self, title: str, build: Build) -> None:
        super().__init__()
        self._heading = title
        self._page = Lines(build, id="page")
        self._rule = Lines(lambda width: [rule_line(width)])
        self._rule.add_class("bar")

    def compose(self) -> ComposeResult:
        """Title, text, rule, keys."""
        for bar in (
            Lines(lambda width: [[(f" {self._heading}", "title")]]),
            Lines(lambda width: [rule_line(width)]),
        ):
            bar.add_class("bar")
            yield bar
        yield self._page
        yield self._rule
        keys = Lines(lambda width: [keys_line(READER, width)])
        keys.add_class("bar")
        yield keys

    @on(Lines.Scrolled, "#page")
    def say_where(self) -> None:
        """Say how much there is to come."""
        left = f"PgDn: {self._page.below} more lines" if self._page.below else ""
        self._rule.show(lambda width: [rule_line(width, right=left)])

    def action_scroll(self, lines: int) -> None:
        """Scroll by lines."""
        self._page.scroll_by(lines)

    def action_page(self, pages: int) -> None:
        """Scroll by screenfuls."""
        self._page.scroll_pages(pages)

    def action_edge(self, end: bool) -> None:
        """To the beginning or the end."""
        self._page.scroll_by(1_000_000 if end else -1_000_000)

    def action_back(self) -> None:
        """Back to the screen before."""
        self.dismiss()


class HelpScreen(ReaderScreen):
    """The keys and the signs."""

    def __init__(self) -> None:
        super().__init__("Help", lambda width: list(help_lines(width)))


class EvidenceScreen(ReaderScreen):
    """What was read and sent for a finding."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings([HELP])]

    def __init__(self, row: Row) -> None:
        entries = row.evidence()
        super().__init__(
            f"Evidence  {clean(row.finding.code)}  {clean(row.finding.subject)}",
            lambda width: list(evidence_lines(entries, width)),
        )


class FindingScreen(ReaderScreen):
    """A finding on a narrow terminal; Enter shows its evidence."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings([HELP]), ("enter", "evidence", "Evidence")]

    def __init__(self, row: Row) -> None:
        super().__init__("Finding", lambda width: list(finding_lines(row.finding, row.report, width)))
        self._row = row

    def action_evidence(self) -> None:
        """What was read and sent for it."""
        self.app.push_screen(EvidenceScreen(self._row))
