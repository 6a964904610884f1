"""The text of the Events screen: a line for each event, and the selected event in full."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from checks.model.cluster_event import ClusterEvent
from checks.model.situation import Episode
from checks.model.wording import counted, lasting, listed
from checks.report.event_text import outcome, pauses, peak, sentence, what, where
from checks.report.standing_text import Clock, episode_text
from checks.run.check_discovery import discover
from checks.situation.examining import checks_about
from checks.situation.foremost import needs_run
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

    def time(self, at: float) -> str:
        """Return a time as the list has it."""
        text = clock(at, self.zone, date=self.is_dated, has_zone=False)
        return text[5:] if self.is_dated else text

    @property
    def time_width(self) -> int:
        """The columns of a time."""
        return _DATED if self.is_dated else _CLOCK


def columns_for(events: Sequence[ClusterEvent], width: int, zone: tzinfo | None, now: float) -> ListColumns:
    """Return the columns for a list: times and peaks are whole, and words get the rest of the width."""
    times = [now, *(event.start for event in events)]
    is_dated = len({datetime.fromtimestamp(at, zone).date() for at in times}) > 1
    peaks = max((cell_len(peak(event, now)) for event in events), default=0)
    of_peak = max(peaks, len("peak"))
    rest = max(width - 2 * (_DATED if is_dated else _CLOCK) - of_peak - _GAPS, 2 * _LEAST_WORDS)
    places = max((cell_len(where(event)) for event in events), default=0)
    things = max((cell_len(what(event)) for event in events), default=0)
    of_things = max(min(things, rest - max(min(places, rest // 2), _LEAST_WORDS)), _LEAST_WORDS)
    return ListColumns(max(min(places, rest - of_things), _LEAST_WORDS), of_things, of_peak, is_dated, zone)


def heading_line(columns: ListColumns, width: int) -> Line:
    """Return the names of the columns."""
    time = columns.time_width
    text = f" {'since':<{time}}  {'until':<{time}}  {'where':<{columns.where}}  {'what':<{columns.what}}"
    text += f"  {'peak':>{columns.peak}}"
    return [(fitted(text, width), "faint")]


def event_row(episode: Episode, columns: ListColumns, now: float, width: int) -> Line:
    """Return the line of an event. An event that no run has examined is bold."""
    event = episode.event
    end = "pauses" if pauses(event, now) else "now"
    if not episode.lasts:
        end = "?" if episode.until is None else columns.time(episode.until)
    text = (
        f" {columns.time(event.start)}  {end:<{columns.time_width}}  "
        f"{fitted(sanitize_line(where(event)), columns.where)}  {fitted(sanitize_line(what(event)), columns.what)}  "
        f"{peak(event, now):>{columns.peak}}  "
    )
    return [(text, "title" if needs_run(episode) else ""), (event.status.letter, role_of(event.status))]


def event_lines(episode: Episode, time: Clock, width: int, now: float, *, waits: str) -> list[Line]:
    """Return the selected event in full: a sentence, its extent, how it stands, and the checks that examine it."""
    event = episode.event
    lines: list[Line] = [[(part, "")] for part in wrapped(sanitize_line(sentence(event)), width)]
    standing = episode_text(episode, time, now)
    if outcome(event, now):
        standing = f"{lasting(event.duration_s(now))}, {standing}"
    lines.append([(f"{standing[:1].upper()}{standing[1:]}.", "")])
    if needs_run(episode):
        since = "No finding is about it yet." if episode.until is None else "No run has looked since it ended."
        lines += [[(part, "unknown")] for part in wrapped(waits or since, width)]
    checks = listed(checks_about(event.kind, discover().checks))
    if checks:
        lines += hanging([("Checks  ", "label")], checks, width, indent=8)
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
    nodes = f"{counted(of_nodes, 'node')} (drops, reassembly, receive buffers, links, MTU, restarts, clock)"
    instances = f"{counted(of_instances, 'instance')} (lost blocks, restarts)"
    both = f"{nodes} and {instances}" if of_instances else f"{nodes}, and no instance: lost blocks are not known"
    yield from ([(part, "pass")] for part in wrapped(f"No event {since}.", width))
    yield from ([(part, "faint")] for part in wrapped(f"Sampled: {both}.", width))
    for source, reason in never_seen.items():
        text = f"Not sampled: {source.short}. {reason}"
        yield from ([(part, "unknown")] for part in wrapped(sanitize_line(text), width))
