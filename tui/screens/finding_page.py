"""A cause or a finding at full width, with links to what belongs to it, and what racwire read and sent for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from checks.model.finding import Finding
from checks.model.wording import listed
from checks.report.standing_text import Clock
from tui.console.actions import READER, Action
from tui.console.check_list import CheckList
from tui.console.finding_rows import FindingRow, RowMark, cause_rows
from tui.screens.reader import ReaderScreen
from tui.text.evidence_lines import evidence_lines
from tui.text.finding_lines import links_of
from tui.text.line import LINK, Line, sanitize_line
from tui.widgets.bars import rule_line
from tui.widgets.run_text import whole_findings, whole_lines

_KEYS = (
    Action("enter", "follow", "Enter", "Follow the selected link; without one, go on to the evidence.", "follow"),
    Action("tab", "evidence", "Tab", "Go on to what racwire read and sent.", "evidence"),
    Action("backspace", "return", "Backspace", "Return to where the link was.", "return"),
)


class _Place(NamedTuple):
    """A page in the trail of links that were followed."""

    row: FindingRow
    top: int
    link: int


class FindingScreen(ReaderScreen):
    """A cause or a finding, and what racwire read and sent for it. Up and down go from link to link, and scroll where
    no link is in sight."""

    NAME = "Finding"
    ACTIONS = (*READER, *_KEYS)

    def __init__(self, row: FindingRow, listed: CheckList | None, clock: Clock, *, at_evidence: bool = False) -> None:
        """`listed` has the rows that links lead to, and `clock` formats the times at which they were read."""
        super().__init__(_heading(row), self._lines)
        self._row = row
        self._listed = listed
        self._clock = clock
        self._trail: list[_Place] = []
        self._evidence_at = 0
        self._links: Sequence[int] = ()
        """The line of each link."""
        self._link = -1
        """The number of the selected link; -1 where none is selected."""
        self._at_evidence = at_evidence

    def on_mount(self) -> None:
        """Go on to the evidence, where that is wanted."""
        if self._at_evidence:
            self.call_after_refresh(self.action_evidence)

    def _lines(self, width: int) -> list[Line]:
        lines = whole_lines(self._row, width, self._clock)
        self._links = [number for number, line in enumerate(lines) if any(role == LINK for _, role in line)]
        self._evidence_at = len(lines) + 1
        return [*lines, [], rule_line(width, "Evidence"), *evidence_lines(self._row.evidence(), width)]

    # --- links --------------------------------------------------------------------------------------------------------

    def action_scroll(self, lines: int) -> None:
        """Select the next link in that direction where it is in sight; otherwise scroll."""
        if (near := self._next_in_sight(lines)) < 0:
            self._page.scroll_by(lines)
            near = self._next_in_sight(lines)
        if near >= 0:
            self._select(near)
        elif self._link >= 0 and not self._is_in_sight(self._links[self._link]):
            self._select(-1)

    def _next_in_sight(self, direction: int) -> int:
        """Return the number of the next link in that direction; -1 where it is not in sight."""
        selected = self._links[self._link] if self._link >= 0 else None
        numbers = range(len(self._links)) if direction > 0 else range(len(self._links) - 1, -1, -1)
        for number in numbers:
            line = self._links[number]
            beyond = selected is None or (line > selected if direction > 0 else line < selected)
            if beyond and self._is_in_sight(line):
                return number
        return -1

    def _is_in_sight(self, line: int) -> bool:
        return self._page.above <= line < self._page.above + self._page.size.height

    def _select(self, link: int) -> None:
        self._link = link
        self._page.mark(self._links[link] if link >= 0 else -1)

    def action_follow(self) -> None:
        """Show what the selected link leads to; without one, the evidence."""
        if self._link < 0:
            self.action_evidence()
            return
        targets = [target for finding in whole_findings(self._row) for target in self._targets(finding)]
        if self._link < len(targets):
            self._trail.append(_Place(self._row, self._page.above, self._link))
            self._open(targets[self._link], 0, -1)

    def _targets(self, finding: Finding | None) -> list[FindingRow]:
        """Return what the links of a finding of the page lead to, in their order; with None, those of its cause."""
        report, entry = self._row.report, self._row.entry
        if finding is None:
            return [self._row_of(other) for part in (entry.explained if entry else ()) for other in part.findings]
        found = links_of(finding, report)
        listed = self._listed.causes() if self._listed else ()
        causes = {id(each.entry.causes[0]): each for each in (*cause_rows(report, None), *listed) if each.entry}
        return [*(causes[id(one.causes[0])] for one in found.causes), *map(self._row_of, found.joined)]

    def _row_of(self, finding: Finding) -> FindingRow:
        row = self._listed.of_finding(finding) if self._listed else None
        return row or FindingRow(self._row.key, finding, RowMark.NONE, self._row.report)

    def action_return(self) -> None:
        """Show the page of the link again; from the first page, go back to the previous screen."""
        if self._trail:
            self._open(*self._trail.pop())
        else:
            self.action_back()

    def _open(self, row: FindingRow, top: int, link: int) -> None:
        self._row = row
        self.entitle(_heading(row))
        self.show_text(self._lines, top)
        self._select(link)
        self.show_lines_below()

    def action_evidence(self) -> None:
        """Scroll to what racwire read and sent."""
        self._select(-1)
        self._page.scroll_by(self._evidence_at - self._page.above)


def _heading(row: FindingRow) -> str:
    """Return what the page is about; the codes come last, since a title without enough room is cut at its end."""
    if row.entry is None:
        return sanitize_line(f"Finding: {row.finding.subject or row.finding.title} ({row.finding.code})")
    names = listed(dict.fromkeys(cause.name for cause in row.entry.causes), "or")
    codes = listed(dict.fromkeys(cause.cause for cause in row.entry.causes), "or")
    return sanitize_line(f"Cause, {row.entry.causes[0].standing}: {names} ({codes})")
