"""Pages of the report, parsed by an independent strict parser; and large generated evidence."""

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
    """A parsed page."""

    def __init__(self, report: Report, track: Track | None = None) -> None:
        self.source = to_html(Evidence(report, track)).decode()
        self.root = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(self.source)

    def all(self, *tags: str) -> list[Any]:
        """Return the elements of these names, including those of SVG; all elements by default."""
        return [e for e in self.root.iter() if not tags or name_of(e) in tags]

    def by_id(self, anchor: str) -> Any:
        """Return the only element with that id."""
        (found,) = [e for e in self.all() if e.get("id") == anchor]
        return found

    def text(self, anchor: str = "") -> str:
        """Return the text of the page or of one element, with single blanks."""
        return words(self.by_id(anchor) if anchor else self.root)


def name_of(element: Any) -> str:
    """Return the local name, such as `svg`, in any namespace."""
    return str(element.tag).rpartition("}")[2]


def words(element: Any) -> str:
    """Return the readable text of an element."""
    return " ".join(" ".join(element.itertext()).split())


def cells(table: Any) -> list[list[str]]:
    """Return a table as rows of texts."""
    return [[words(c) for c in row if name_of(c) in ("td", "th")] for row in table.iter() if name_of(row) == "tr"]


def losing_report() -> Report:
    """Return the report of three nodes with a black hole, and with lost blocks now and earlier."""
    past = history(
        3,
        [past_loss(2)],
        periods=tuple(period(n, day, 37 if (n, day) == (2, 17) else 0) for n in (1, 2, 3) for day in (14, 15, 17, 18)),
        transfers=transfers(3, {(2, 1): 1_204}),
    )
    return report_of(asked(black_hole(3), activity=losing(2, 37, {1: 37}, 3), history=past))


def busy_track(seconds: int) -> Timeline:
    """Return samples of two busy nodes with their instances."""
    track = Timeline()
    for events in busy(seconds):
        track.add(events)
    return track
