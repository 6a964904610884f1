"""The text of the Events screen: a line for each event, and the selected event in full."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from checks.model.cluster_event import ClusterEvent
from checks.model.wording import counted, lasting, listed
from checks.report.event_text import outcome, peak, sentence, what, where
from checks.run.check_discovery import discover
from checks.situation.examining import checks_about
from checks.traffic.source_id import SourceId, SourceKind
from tui.text.finding_lines import role_of
from tui.text.line import Line, cell_len, fitted, hanging, sanitize_line, wrapped
from tui.widgets.units import clock

_CLOCK, _DATED = 8, 14
"""Columns of a time without and with its date."""
_GAPS = 1 + 5 * 2 + 1
"""Columns before the first column, between the columns, and of the letter at the end."""
_LEAST_WORDS = 5


@dataclass(frozen=True)
class ListColumns:
    """The columns of the list: how wide those of words and of the peak are, and whether times have a date."""

    where: int
    what: int
    peak: int
    is_dated: bool
    zone: tzinfo | None
    is_of_recording: bool = False
    """Whether what lasts does so until the end of a recording, and not until now."""

    def time(self, at: float) -> str:
        """Return a time as the list has it."""
        text = clock(at, self.zone, date=self.is_dated, has_zone=False)
        return text[5:] if self.is_dated else text

    @property
    def time_width(self) -> int:
        """The columns of a time."""
        return _DATED if self.is_dated else _CLOCK


def columns_for(
    events: Sequence[ClusterEvent], width: int, zone: tzinfo | None, now: float, *, is_of_recording: bool = False
) -> ListColumns:
    """Return the columns for a list: times and peaks are whole, and words get the rest of the width."""
    times = [now, *(event.start for event in events)]
    is_dated = len({datetime.fromtimestamp(at, zone).date() for at in times}) > 1
    peaks = max((cell_len(peak(event, now)) for event in events), default=0)
    of_peak = max(peaks, len("peak"))
    rest = max(width - 2 * (_DATED if is_dated else _CLOCK) - of_peak - _GAPS, 2 * _LEAST_WORDS)
    places = max((cell_len(where(event)) for event in events), default=0)
    things = max((cell_len(what(event)) for event in events), default=0)
    of_things = max(min(things, rest - max(min(places, rest // 2), _LEAST_WORDS)), _LEAST_WORDS)
    return ListColumns(
        max(min(places, rest - of_things), _LEAST_WORDS), of_things, of_peak, is_dated, zone, is_of_recording
    )


def heading_line(columns: ListColumns, width: int) -> Line:
    """Return the names of the columns."""
    time = columns.time_width
    text = f" {'since':<{time}}  {'until':<{time}}  {'where':<{columns.where}}  {'what':<{columns.what}}"
    text += f"  {'peak':>{columns.peak}}"
    return [(fitted(text, width), "faint")]


def event_row(event: ClusterEvent, columns: ListColumns, width: int, now: float, *, is_examined: bool) -> Line:
    """Return the line of an event. An event that no check has examined is bold."""
    until = ("end" if columns.is_of_recording else "now") if event.end is None else columns.time(event.end)
    text = (
        f" {columns.time(event.start)}  {until:<{columns.time_width}}  "
        f"{fitted(sanitize_line(where(event)), columns.where)}  {fitted(sanitize_line(what(event)), columns.what)}  "
        f"{peak(event, now):>{columns.peak}}  "
    )
    role = "" if is_examined else "title"
    return [(text, role), (event.status.letter, role_of(event.status))]


def event_lines(event: ClusterEvent, width: int, now: float, *, is_examined: bool | None, waits: str) -> list[Line]:
    """Return the selected event in full: a sentence, its extent, the checks for it, and whether they have run since; in
    a recording, where `is_examined` is None, none can have."""
    lines: list[Line] = [[(part, "")] for part in wrapped(sanitize_line(sentence(event)), width)]
    if outcome(event, now):
        took = lasting(event.duration_s(now))
        so_far = f"It has lasted {took} so far."
        if is_examined is None:
            so_far = f"It lasted {took}, until the end of the recording."
        lines.append([(f"It lasted {took}." if event.is_over else so_far, "")])
    checks = listed(checks_about(event.kind, discover()))
    if checks:
        lines += hanging([("Checks  ", "label")], checks, width, indent=8)
    if checks and is_examined:
        lines.append([("They have run since it started.", "")])
    elif checks and is_examined is not None:
        lines += [[(part, "unknown")] for part in wrapped(waits or "They have not run since it started.", width)]
    return lines


def nothing_lines(
    sampled: Sequence[SourceId], never_seen: Mapping[SourceId, str], width: int, *, held_by: str, state: str
) -> Iterator[Line]:
    """Yield why there is no event: what is watched, and what is not. `state` is a sentence where nothing is known
    yet."""
    if state:
        yield from ([(part, "faint")] for part in wrapped(state, width))
        return
    since = "in the time of the recording" if held_by else "since racwire started to sample"
    of_nodes = sum(source.kind is SourceKind.NODE for source in sampled)
    of_instances = sum(source.kind is SourceKind.INSTANCE for source in sampled)
    nodes = f"{counted(of_nodes, 'node')} (drops, reassembly, receive buffers, links, MTU, clock)"
    instances = f"{counted(of_instances, 'instance')} (lost blocks)"
    both = f"{nodes} and {instances}" if of_instances else f"{nodes}, and no instance: lost blocks are not known"
    yield from ([(part, "pass")] for part in wrapped(f"No event {since}.", width))
    yield from ([(part, "faint")] for part in wrapped(f"Sampled: {both}.", width))
    for source, reason in never_seen.items():
        text = f"Not sampled: {source.short}. {reason}"
        yield from ([(part, "unknown")] for part in wrapped(sanitize_line(text), width))
