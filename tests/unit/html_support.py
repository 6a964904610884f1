"""Pages of the report, parsed by an independent parser that accepts no fault; and large evidence, made up."""

from __future__ import annotations

from typing import Any

import html5lib

from checks.model.report import Report
from checks.report.html.html_page import to_html
from checks.report.report_evidence import Evidence
from checks.traffic.timeline import Timeline, Track
from tests.fixtures.databases import asked, history, losing, past_loss, period, transfers
from tests.fixtures.reports import black_hole, report_of
from tests.unit.recording_support import busy


class Page:
    """A page, parsed."""

    def __init__(self, report: Report, track: Track | None = None) -> None:
        self.source = to_html(Evidence(report, track)).decode()
        self.root = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(self.source)

    def all(self, *tags: str) -> list[Any]:
        """The elements of these names, those of SVG included; all where none is named."""
        return [e for e in self.root.iter() if not tags or name_of(e) in tags]

    def by_id(self, anchor: str) -> Any:
        """The one element of that id."""
        (found,) = [e for e in self.all() if e.get("id") == anchor]
        return found

    def text(self, anchor: str = "") -> str:
        """All words of the page, or of a part of it, with single blanks."""
        return words(self.by_id(anchor) if anchor else self.root)


def name_of(element: Any) -> str:
    """`svg`, whatever namespace it is in."""
    return str(element.tag).rpartition("}")[2]


def words(element: Any) -> str:
    """What can be read in it."""
    return " ".join(" ".join(element.itertext()).split())


def cells(table: Any) -> list[list[str]]:
    """A table as rows of words."""
    return [[words(c) for c in row if name_of(c) in ("td", "th")] for row in table.iter() if name_of(row) == "tr"]


def losing_report() -> Report:
    """Three nodes, a black hole, blocks lost now and in the past."""
    past = history(
        3,
        [past_loss(2)],
        periods=tuple(period(n, day, 37 if (n, day) == (2, 17) else 0) for n in (1, 2, 3) for day in (14, 15, 17, 18)),
        transfers=transfers(3, {(2, 1): 1_204}),
    )
    return report_of(asked(black_hole(3), activity=losing(2, 37, {1: 37}, 3), history=past))


def busy_track(seconds: int) -> Timeline:
    """Two busy nodes with their instances."""
    track = Timeline()
    for events in busy(seconds):
        track.add(events)
    return track
