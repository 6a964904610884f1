"""The journals of runs as one list: each command, file, query and probe in a line, the newest first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from checks.model.journal import Entry
from checks.model.report import Report
from checks.report.actions import duration_text, time_of_day
from tui.text.evidence_lines import evidence_lines
from tui.text.line import Line, cell_len, fitted, hanging, sanitize_line, wrapped

_TIME, _DURATION, _MOST_OF_NODE = 12, 8, 16


def ran_in(reports: Iterable[Report | None]) -> list[Entry]:
    """Return the journal entries of these reports, the newest first. A report that a rerun was added to has the entries
    of the run before it too; each entry is listed once."""
    entries = [entry for report in reports if report is not None for entry in report.journal]
    once = {(entry.started_at, entry.node, entry.topic, entry.action): entry for entry in entries}
    return sorted(once.values(), key=_started, reverse=True)


def ran_lines(entries: Sequence[Entry], width: int) -> tuple[list[Line], list[int]]:
    """Return the list, with the day above its first entry and an outcome that is not `ok` below its entry; and the line
    of each entry."""
    if not entries:
        return [[(line, "")] for line in wrapped("racwire has run nothing in this console yet.", width)], []
    node = min(max(cell_len(sanitize_line(entry.node)) for entry in entries), _MOST_OF_NODE)
    lines: list[Line] = []
    places: list[int] = []
    day = ""
    for entry in entries:
        if (other := entry.started_at[:10]) != day:
            day = other
            lines.append([(sanitize_line(day), "title")])
        places.append(len(lines))
        lines += _entry_lines(entry, node, width)
    return lines, places


def _entry_lines(entry: Entry, node: int, width: int) -> Iterator[Line]:
    when = fitted(sanitize_line(time_of_day(entry.started_at)), _TIME)
    start = f"{when}  {fitted(sanitize_line(entry.node), node)} {duration_text(entry.duration_ms):>{_DURATION}}  "
    topic = sanitize_line(entry.topic)
    room = max(width - cell_len(start) - cell_len(topic) - 2, 0)
    yield [(start, "faint"), (f"{topic}  ", ""), (fitted(sanitize_line(entry.action), room).rstrip(), "faint")]
    if entry.outcome != "ok":
        yield from hanging([(" " * (_TIME + 2), "")], entry.outcome, width, "warn")


def output_lines(entry: Entry, width: int) -> list[Line]:
    """Return an entry with its whole action and what it returned."""
    lines = list(evidence_lines([entry], width))
    return lines if entry.text else [*lines, [], [("    It returned no text.", "faint")]]


def _started(entry: Entry) -> float:
    """Return when an entry started, as a time of the epoch; 0 where a file that was edited has no such time."""
    try:
        return datetime.fromisoformat(entry.started_at).timestamp()
    except ValueError:
        return 0.0
