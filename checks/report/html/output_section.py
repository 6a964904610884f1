"""Where in the page each output of the journal stands: once, below the first problem that points at it, else in the
journal itself; and how much of it there is room for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import escape

from checks.model.finding import PROBLEMS
from checks.model.journal import Entry
from checks.model.report import Report
from checks.model.sanitize import shown

MOST_OF_ONE = 12_000
"""Characters of one output."""
MOST_IN_ALL, _LEAST_IN_ALL, _OF_A_PROBLEM = 400_000, 100_000, 600
"""Characters of all outputs, as they are written in the page; each problem takes some of that room for its own text, so
that the page stays one that can be mailed."""


@dataclass(frozen=True)
class ShownOutput:
    """What was read or sent, where it is shown."""

    anchor: str
    entry: Entry
    text: str = ""
    """The output as markup, with what could do harm written out; empty where there is none or it stands elsewhere."""
    cut: str = ""
    """What is not shown of it, in a sentence."""
    is_elsewhere: bool = False
    """It is shown at `anchor`, and here only named."""


class Outputs:
    """Hands out the outputs of a report."""

    def __init__(self, report: Report) -> None:
        self._anchors = {id(entry): f"o{number}" for number, entry in enumerate(report.journal, 1)}
        self._shown: set[str] = set()
        told = sum(finding.status in PROBLEMS for finding in report.findings)
        self._room = max(MOST_IN_ALL - _OF_A_PROBLEM * told, _LEAST_IN_ALL)

    def take(self, entries: Iterable[Entry]) -> tuple[ShownOutput, ...]:
        """The outputs of these entries: those that are shown already are only named."""
        return tuple(self._take(entry) for entry in entries)

    def _take(self, entry: Entry) -> ShownOutput:
        anchor = self._anchors[id(entry)]
        if anchor in self._shown:
            return ShownOutput(anchor, entry, is_elsewhere=True)
        self._shown.add(anchor)
        text = escape(shown(entry.text[:MOST_OF_ONE], keep_lines=True))
        if len(text) > self._room:
            return ShownOutput(anchor, entry, cut=f"No room here for {len(entry.text):,} characters{_WHERE}")
        self._room -= len(text)
        rest = len(entry.text) - MOST_OF_ONE
        return ShownOutput(anchor, entry, text, f"Cut here: {rest:,} characters more{_WHERE}" if rest > 0 else "")


_WHERE = "; the report as JSON and the saved file have them."
