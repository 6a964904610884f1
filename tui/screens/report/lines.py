"""The text of the Report screen: a summary of the report, how complete it is, and the written files."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import tzinfo
from enum import IntEnum
from math import inf
from pathlib import Path

from checks.model.report import Report
from checks.model.wording import counted
from checks.report.situation_words import incident_line, new_events, stands
from checks.report.standings import Standings
from checks.report.summary import facts, headline, headline_stands, problems, sentences
from checks.traffic.samples import Gap
from checks.traffic.source_id import SourceId, SourceKind
from checks.traffic.timeline import Track
from tui.cli.durations import size_of
from tui.console.app_state import FeedState
from tui.console.export_state import ExportState, NotWritten, ReportState, Written
from tui.text.finding_lines import role_of
from tui.text.home_path import short
from tui.text.line import Line, fitted, hanging, sanitize_line
from tui.widgets.units import clock

_NAME, _ENDING, _LABEL = 12, 9, 9
_WIDEST = 90
"""The most columns of a format, so that its ending is near its name."""
_MOST_NAMED = 8
_SHOWN = ("Cluster", "Nodes", "Private networks", "Clusterware", "Database")
"""The facts in the summary; the rule above has the time."""


class Room(IntEnum):
    """How much room the summary has."""

    LITTLE = 0
    SOME = 1
    """Enough to separate its parts."""
    MUCH = 2
    """Enough to name the problems, and the checked nodes and networks."""


def says_lines(standing: ReportState, samples: str, width: int, room: Room = Room.LITTLE) -> Iterator[Line]:
    """Yield the summary of the report, how complete it is, and its samples."""
    report = standing.report
    if report is None:
        yield from hanging([(" ", "")], standing.completeness, width, "faint")
        return
    if incident := incident_line(report):
        yield from hanging([(" ", "")], incident, width, "fail")
    calm = "" if standing.is_whole or problems(report) or new_events(report) else "No problem has been found so far."
    yield from hanging([(" ", "")], calm or headline(report), width, "title")
    if how := headline_stands(report):
        yield from hanging([(" ", "")], f"{how[:1].upper()}{how[1:]}.", width, "faint")
    for sentence in sentences(report, for_file=False):
        yield from hanging([(" ", "")], sentence, width)
    if room is Room.MUCH:
        yield from _problems(report, width)
    if room is not Room.LITTLE:
        yield []
    known = [fact for fact in facts(report) if fact[0] in _SHOWN] if room is Room.MUCH else []
    label = max((len(name) for name, _ in known), default=_LABEL - 2) + 2
    for name, value in known:
        yield from hanging([(f" {name:<{label}}", "label")], value, width)
    role = "" if standing.is_whole else "warn"
    yield from hanging([(f" {'Checks':<{label}}", "label")], standing.completeness, width, role)
    yield from hanging([(f" {'Samples':<{label}}", "label")], samples, width)


def _problems(report: Report, width: int) -> Iterator[Line]:
    found, standings = problems(report), Standings(report, report.situation)
    if len(found) < 2:  # the headline names the problem
        return
    yield []
    for finding in found[:_MOST_NAMED]:
        how = stands(finding, standings.of(finding), report)
        text = f"{finding.title} ({how})" if how else finding.title
        yield from hanging([(f" {finding.status.letter} ", role_of(finding.status))], text, width)
    if len(found) > _MOST_NAMED:
        yield [(f"   and {len(found) - _MOST_NAMED} more", "faint")]


def samples_text(track: Track | None, feed: FeedState, zone: tzinfo | None = None) -> str:
    """Return which samples belong to the report, and since when; for live samples only what does not change with each
    one.

    Times are in `zone`, which the rule above names. Raises RecordingError where a recording cannot be read."""
    span = track.span() if track is not None else None
    if track is None or span is None:
        if feed.is_saved:
            return "None were saved."
        if feed.replayed:
            return "There are none in this recording."
        return "None yet: sampling starts when you open Traffic (3)."
    of = [text for kind in (SourceKind.NODE, SourceKind.INSTANCE) if (text := _sampled(track, kind))]
    until = f" to {clock(span[1], zone, has_zone=False)}" if feed.replayed else ""
    return f"Of {' and '.join(of) or 'no node'}, from {clock(span[0], zone, has_zone=False)}{until or ' on'}."


def _sampled(track: Track, kind: SourceKind) -> str:
    """Return `3 nodes`; `1 of 3 instances` where the others have no sample; empty where none is known."""
    sources = [source for source in track.sources() if source.kind is kind]
    sampled = sum(_has_samples(track, source) for source in sources)
    whole = counted(len(sources), kind.value)
    return f"{sampled} of {whole}" if sampled < len(sources) else whole if sources else ""


def _has_samples(track: Track, source: SourceId) -> bool:
    newest = track.newest(source)
    if isinstance(newest, Gap):
        return any(not isinstance(event, Gap) for event in track.window(source, -inf, inf))
    return newest is not None


def form_line(name: str, purpose: str, ending: str, width: int) -> Line:
    """Return the line of a format: its name, its purpose, and the ending of its files."""
    room = max(min(width, _WIDEST) - _NAME - _ENDING - 3, 0)
    if room < len(purpose) and width < 80:
        return [(f" {fitted(name, _NAME)} ", "title"), (fitted(purpose, max(width - _NAME - 2, 0)), "")]
    return [(f" {fitted(name, _NAME)} ", "title"), (fitted(purpose, room), ""), (f" {ending}", "faint")]


def done_lines(outbox: ExportState, names: str, width: int) -> Iterator[Line]:
    """Yield how names are written, and the files written since racwire was started, the newest first."""
    yield from hanging([(" Names    ", "label")], names, width)
    for number, done in enumerate(outbox.done):
        label = (" Written  " if number == 0 else " " * 10, "label")
        yield from _done(label, done, width)


def _done(label: tuple[str, str], done: Written | NotWritten, width: int) -> Iterator[Line]:
    at = (f"{done.at:%H:%M:%S}  ", "faint")
    if isinstance(done, Written):
        names = ", with pseudonyms" if done.is_redacted else ""
        yield from hanging([label, at], f"{_place(done.path)}, {size_of(done.size_bytes)}{names}", width)
    else:
        yield from hanging([label, at], done.reason, width, "warn")


def _place(path: Path) -> str:
    return sanitize_line(short(path))


def names_text(standing: ReportState, outbox: ExportState, *, is_redacted: bool) -> str:
    """Return how names are written."""
    if standing.report is not None and standing.report.is_redacted:
        return "pseudonyms, as in the saved file"
    if not is_redacted:
        return "real names; d writes pseudonyms"
    mapping = f"; {_place(outbox.mapping)} lists them" if outbox.mapping else ""
    return f"pseudonyms{mapping}. Read the file before you hand it on."
