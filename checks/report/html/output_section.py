"""Places each output of the journal in the HTML page once: below the first problem that refers to it, else in the
journal section. Outputs that are too long for the page are cut."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import escape

from checks.model.finding import PROBLEMS
from checks.model.journal import Entry
from checks.model.report import Report
from checks.model.sanitize import sanitize

MOST_OF_ONE = 12_000
"""Most characters of one output."""
MOST_IN_ALL, _LEAST_IN_ALL, _OF_A_PROBLEM = 400_000, 100_000, 600
"""Most characters of all outputs, counted as HTML. Each problem uses some of these for its own text, so that the page
stays small enough for mail."""


@dataclass(frozen=True)
class OutputEntry:
    """A journal entry at one place of the page."""

    anchor: str
    entry: Entry
    text: str = ""
    """The output as sanitized markup; empty where there is no output, or where the page has it at another place."""
    cut: str = ""
    """A sentence about the characters that are left out; empty where the output is complete."""
    is_elsewhere: bool = False
    """Whether the output is at `anchor`, and this place only links to it."""


class OutputPlacer:
    """Decides for each output of a report where the page has it."""

    def __init__(self, report: Report) -> None:
        self._anchors = {id(entry): f"o{number}" for number, entry in enumerate(report.journal, 1)}
        self._placed: set[str] = set()
        problems = sum(finding.status in PROBLEMS for finding in report.findings)
        self._room = max(MOST_IN_ALL - _OF_A_PROBLEM * problems, _LEAST_IN_ALL)

    def place(self, entries: Iterable[Entry]) -> tuple[OutputEntry, ...]:
        """Return the outputs of these entries; an output that the page has already is only a link."""
        return tuple(self._place(entry) for entry in entries)

    def _place(self, entry: Entry) -> OutputEntry:
        anchor = self._anchors[id(entry)]
        if anchor in self._placed:
            return OutputEntry(anchor, entry, is_elsewhere=True)
        self._placed.add(anchor)
        text = escape(sanitize(entry.text[:MOST_OF_ONE], keep_lines=True))
        if len(text) > self._room:
            return OutputEntry(anchor, entry, cut=f"No room for these {len(entry.text):,} characters{_WHERE}")
        self._room -= len(text)
        rest = len(entry.text) - MOST_OF_ONE
        return OutputEntry(anchor, entry, text, f"Cut here: {rest:,} more characters{_WHERE}" if rest > 0 else "")


_WHERE = ". The JSON report and the saved file contain them."
