"""The report as text: the causes first, then the problems without a known cause, each with its next steps.

The full text has every finding with its evidence, expected state and reason after them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TextIO

from checks.model.facts import Cluster, Database, Unknown
from checks.model.finding import FAULTS, PROBLEMS, Finding, Status
from checks.model.known_instances import nodes_without_instance
from checks.model.report import Report
from checks.model.situation import Outdated, Standing
from checks.model.sound_measurement import sound
from checks.model.wording import counted, few, listed
from checks.report.age import saved_state, time_text
from checks.report.causes import ReportEntry, cause_entries, further_entries, open_problems, passed_checks
from checks.report.folding import grouped_by_reason, grouped_skipped, skipped_in_short
from checks.report.frame_section import TITLE as FRAMES
from checks.report.frame_section import frame_section
from checks.report.how_found import sessions_of
from checks.report.load_section import TITLE, load_section
from checks.report.measured.fit import not_shown
from checks.report.measurement_headline import brief
from checks.report.other_causes import other_causes
from checks.report.situation_words import (
    StandingLine,
    as_of_span,
    entry_stands,
    event_lines,
    incident_line,
    new_events,
    standing_sections,
    stands,
)
from checks.report.summary import cluster_name, counts, headline
from checks.rules.own_footprint import notices
from checks.rules.waivers import NOT_CHECKED, ended, sentence, waived_text
from tui.cli.output import columns_of, render
from tui.text.abridged import shortened
from tui.text.entry_lines import WHOLE_REPORT, brief_entry_lines
from tui.text.finding_lines import STREAM, finding_head, finding_lines, part_lines, remedy_lines, role_of, status_word
from tui.text.line import Line, Span, hanging, sanitize_line
from tui.text.load_lines import load_lines, titled_tables
from tui.text.measurement_lines import measurement_lines
from tui.text.session_lines import how_found_lines

_NARROWEST = 35
"""Minimum columns of the layout: with fewer, the text next to a label would break after each letter."""
_LABEL = 15
"""Columns of the labels of one line."""
_PASSED_LINES, _SKIPPED_LINES = 3, 3
"""The most lines of the names of checks in the brief text, at any width that holds one name."""
_INFO, _WHOLE_INFO = 6, 2
"""The most lines for findings that are INFO in the brief text, and the most of them that are not shortened."""
_STANDING = 8
"""The most findings that stand alike, and the most events, in the brief text: of the events the newest."""
_MORE = " …"
_UNPARTED = "\N{NO-BREAK SPACE}"


def text_report(report: Report, stream: TextIO, now: datetime | None = None, *, full: bool = False) -> str:
    """The report for that stream: coloured for a terminal (unless NO_COLOR), plain for a pipe or a file.

    `full`: with every finding, whole. `now`, a time with its zone, is the time from which the age of a saved state
    counts (default: the current time).
    """
    state = saved_state(report, now, for_file=not stream.isatty())
    return render(_lines(report, columns_of(stream, narrowest=_NARROWEST), state, full=full), stream)


def report_lines(report: Report, width: int) -> Iterator[Line]:
    """Yield the lines of the report of that width; that of a saved state says nothing about its age."""
    return _lines(report, width, "", full=False)


def _summary(report: Report, causes: int) -> Line:
    """The number of causes, of findings of each status, worst first, and of waived ones."""
    line: list[Span] = [(counted(causes, "cause"), "title"), ("  ", "")] if causes else []
    for status, count in counts(report):
        line += [(f"{count} {status}", role_of(status)), ("  ", "")]
    if report.not_known:
        line += [(f"{len(report.not_known)} not known", "unknown"), ("  ", "")]
    return [*line, (f"{len(report.waived)} waived", "title")] if report.waived else line


def _between_parts(parts: Iterable[str], width: int, role: str = "") -> Iterator[Line]:
    """Yield the parts on one line, or wrapped between them."""
    whole = "  ".join(sanitize_line(part).replace(" ", _UNPARTED) for part in parts if part)
    for text in textwrap.wrap(whole, width, subsequent_indent="  ", break_on_hyphens=False):
        yield [(text.replace(_UNPARTED, " "), role)]


def _header(report: Report, width: int) -> Iterator[Line]:
    """Cluster, nodes, start and duration of the run."""
    cluster = report.cluster
    name = cluster_name(report)
    known = () if isinstance(cluster.nodes, Unknown) else cluster.nodes
    nodes = " ".join(n.name + ("*" if n.name == cluster.local_node else "") for n in known) or f"{cluster.local_node}*"
    parts = [f"racwire {report.racwire_version}", *([name] if name else []), nodes]
    parts += [time_text(report.started_at), f"{report.duration_s:.1f} s"]
    return _between_parts(parts, width, "title")


def _database_header(cluster: Cluster, database: Database, width: int) -> Iterator[Line]:
    """The database, its role, the login, the driver, the number of its instances that answered, and the active nodes
    without one: on one line, or wrapped between these."""
    without = nodes_without_instance(cluster)
    where = f", none on {few(without)}" if without else ""
    known, missing = len(database.instances), len(database.unasked)
    count = f"{known} of {known + missing}" if missing else f"{known}"
    parts = [
        f"database {database.name} {database.version}",
        database.role,
        database.open_mode if database.open_mode != "READ WRITE" else "",
        database.container if database.is_multitenant else "",
        f"as {database.user}",
        database.driver,
        f"{count} {'instance' if known + missing == 1 else 'instances'}{where}",
    ]
    yield from _between_parts(parts, width)
    if database.login_warning:
        warning = sanitize_line(f"The database warned at the login: {database.login_warning}")
        yield from ([(text, "")] for text in textwrap.wrap(warning, width, subsequent_indent="  "))


def _lines(report: Report, width: int, state: str, *, full: bool) -> Iterator[Line]:
    causes = cause_entries(report)
    further = further_entries(report, causes)
    lines = [*_incident(report, width), *_header(report, width), *_notices(report, width, state)]
    if isinstance(report.cluster.database, Database):
        lines += _database_header(report.cluster, report.cluster.database, width)
    lines.append(_summary(report, len(causes)))
    yield from lines
    if new := new_events(report):
        yield []
        yield from hanging([], new, width, "title")
    yield from _entries(causes if full else (*causes, *further), report, width, WHOLE_REPORT - len(lines))
    if not causes and not further and not new:
        yield []
        yield from hanging([], headline(report), width)
    if others := list(other_causes(report)):
        yield []
    for label, text in others:
        yield from hanging([(f"{label:<{_LABEL}}", "label")], text, width)
    yield from _standing(report, width, full=full)
    yield from _in_full(report, width) if full else _rest(report, width)
    unread = [part.reason for node in report.cluster.read_nodes() for part in node.unread]
    if unread:
        yield []
    for reason in unread:
        yield from hanging([("Not read  ", "label")], reason, width)
    if report.interrupted:
        yield []
        yield [("Interrupted: the report contains the findings up to then.", "warn")]


def _incident(report: Report, width: int) -> Iterator[Line]:
    if line := incident_line(report):
        yield from hanging([], line, width, "fail")


def _standing(report: Report, width: int, *, full: bool) -> Iterator[Line]:
    """The findings that are not known any longer, planned or over, and the events; in the brief text the newest events,
    and of what passed before the checks for each reason."""
    most = None if full else _STANDING
    for section in standing_sections(report):
        yield []
        yield [(section.title, "title")]
        is_short = not full and section.lines[0].said.standing is Standing.UNKNOWN
        passed = [line for line in section.lines if is_short and line.finding.status not in FAULTS]
        for alike in _by_reason(passed):
            checks = dict.fromkeys(line.finding.check for line in alike)
            text = f"{counted(len(checks), 'check')}, {alike[0].why}: {few(checks, _STANDING)}."
            yield from hanging([], text, width)
        lines = [line for line in section.lines if line not in passed]
        for line in lines[:most]:
            yield from hanging(_brief_head(line.finding), f"{line.finding.title} ({line.how})", width)
        yield from _more(len(lines), most)
    if events := event_lines(report):
        yield []
        yield [("Events", "title")]
        for event in events[-most if most else 0 :]:
            yield from hanging([(f"{event.start}  ", "label")], event.text, width)
        yield from _more(len(events), most)


def _by_reason(lines: Sequence[StandingLine]) -> Iterable[list[StandingLine]]:
    found: dict[Outdated | None, list[StandingLine]] = {}
    for line in lines:
        found.setdefault(line.said.outdated, []).append(line)
    return found.values()


def _more(number: int, most: int | None) -> Iterator[Line]:
    if most is not None and number > most:
        yield [(f"and {number - most} more", "faint")]


def _entries(entries: Sequence[ReportEntry], report: Report, width: int, room: int) -> Iterator[Line]:
    for number, entry in enumerate(entries):
        yield []
        is_above = any(entry.next == other.next for other in entries[:number] if entry.next)
        own_room, how = room - 1 if number == 0 else 0, entry_stands(entry, report)
        yield from brief_entry_lines(entry, width, own_room, how=how, has_next_above=is_above)


def _in_full(report: Report, width: int) -> Iterator[Line]:
    """Every finding: problems whole, the others in a line."""
    said = {id(f): one for f, one in report.stated()}
    for alike in grouped_by_reason(open_problems(report)):
        yield []
        how = stands(alike.finding, said[id(alike.finding)], report)
        yield from finding_lines(alike, report, width, how, layout=STREAM)
    yield from _waived(report, width)
    yield from _calm(report, width)
    yield from _load(report.cluster, width)
    yield from _frames(report.cluster, width)
    for measurement in sound(report.measurements):
        yield []
        if older := not_shown(measurement, report.cluster):
            yield from hanging([], older, width)
        else:
            yield from measurement_lines(measurement, width)
    for session in sessions_of(report):
        yield []
        yield from how_found_lines(session, width, with_outputs=True)


def _load(cluster: Cluster, width: int) -> Iterator[Line]:
    """What the load asks of the interconnect, with the formulas."""
    if (section := load_section(cluster)) is None:
        return
    yield []
    yield [(TITLE, "title")]
    yield from load_lines(section, width)


def _frames(cluster: Cluster, width: int) -> Iterator[Line]:
    """The frames of the private NICs by size."""
    if section := frame_section(cluster):
        yield []
        yield [(FRAMES, "title")]
        for text in section.notes:
            yield from hanging([], text, width)
        yield from titled_tables(section.tables, width)


def _rest(report: Report, width: int) -> Iterator[Line]:
    """What is neither a cause nor a problem in brief, and how to see all."""
    yield from _waived(report, width)
    yield []
    yield from _brief_info([f for f in report.holding(Status.INFO) if not f.waived], width)
    yield from _brief_skipped(report.findings, width)
    skipped = {f.check for f in report.findings if f.status is Status.SKIPPED}
    if passed := [check for check in passed_checks(report) if check not in skipped]:
        when = as_of_span(report, [f for f in report.holding(Status.PASS) if f.check in passed])
        yield from _names("Passed", dict.fromkeys(passed, 1), width, _PASSED_LINES, when)
    if (section := load_section(report.cluster)) and section.is_known:
        yield from hanging([(f"{'Load':<{_LABEL}}", "label")], section.headline, width)
    for number, measurement in enumerate(sound(report.measurements)):
        text = not_shown(measurement, report.cluster) or brief(measurement, report.started_at)
        yield from hanging([(f"{'' if number else 'Measured':<{_LABEL}}", "label")], text, width)
    for session in sessions_of(report):
        yield from hanging([(f"{'Investigated':<{_LABEL}}", "label")], session.in_short, width)
    yield [(f"{'All findings':<{_LABEL}}", "label"), ("the same command with --full", "")]


def _brief_info(findings: Sequence[Finding], width: int) -> Iterator[Line]:
    """Yield one line for each INFO; whole are failures that other evidence outweighs, and all where they are few."""
    room = width - _LABEL - len(_MORE)
    ordered = sorted(findings, key=lambda f: f.outweighed is None)
    shown = ordered if len(findings) <= _INFO else ordered[: _INFO - 1]
    for number, finding in enumerate(shown):
        text = title = sanitize_line(finding.title)
        if not finding.outweighed and len(findings) > _WHOLE_INFO and len(title) > width - _LABEL:
            text = shortened(title, room).removesuffix(_MORE) + _MORE
        yield from hanging([(f"{'' if number else 'Info':<{_LABEL}}", "label")], text, width)
    if left := len(findings) - len(shown):
        yield [(" " * _LABEL, ""), (f"and {left} more", "faint")]


def _brief_skipped(findings: Sequence[Finding], width: int) -> Iterator[Line]:
    """Yield the checks that were skipped: those that an option includes with that option, the others in few lines."""
    others: list[tuple[Finding, tuple[str, ...]]] = []
    for finding, checks in grouped_skipped(findings):
        if finding.next:
            text = f"{counted(len(checks), 'check')}: {finding.title}"
            yield from hanging([(f"{'Skipped':<{_LABEL}}", "label")], text, width)
            yield from remedy_lines("", finding.next, width, STREAM)
        else:
            others.append((finding, checks))
    if others:
        yield from _names("Skipped", skipped_in_short(others), width, _SKIPPED_LINES)


def _names(label: str, checks: Mapping[str, int], width: int, most: int, when: str = "") -> Iterator[Line]:
    """Yield `29 checks: a, b and 27 more.`, with as many of the texts as that many lines hold, each for some checks.
    `when` says as of when."""
    texts, total = list(checks), sum(checks.values())
    lines: list[Line] = []
    for number in range(len(texts), 0, -1):
        left = total - sum(checks[text] for text in texts[:number])
        names = f"{', '.join(texts[:number])} and {left} more" if left else listed(texts)
        text = f"{counted(total, 'check')}{f', {when}' if when else ''}: {names}."
        lines = list(hanging([(f"{label:<{_LABEL}}", "label")], text, width))
        if len(lines) <= most:
            break
    yield from lines


def _notices(report: Report, width: int, state: str) -> Iterator[Line]:
    """Notices before the findings: that the report is of a saved state, that racwire was not alone, or redacted."""
    if state:
        yield from hanging([("SAVED STATE  ", "change")], f"{state}. racwire did not query the cluster.", width)
    if loads := notices(report.cluster):
        yield from hanging([("NOT ALONE    ", "change")], " ".join(loads), width)
    if report.is_redacted:
        yield from hanging([("REDACTED     ", "change")], "Names and addresses are pseudonyms.", width)


def _calm(report: Report, width: int) -> Iterator[Line]:
    """One line for each finding that is not a problem, and one for all checks that were skipped for the same reason."""
    calm = [f for f in report.holding(*Status) if f.status not in PROBLEMS]
    if calm:
        yield []
    if when := as_of_span(report, [f for f in calm if f.status is not Status.SKIPPED]):
        yield [(f"{when[:1].upper()}{when[1:]}:", "faint")]
    for finding in calm:
        if finding.status is not Status.SKIPPED:
            yield from hanging(_brief_head(finding), finding.title, width)
    for finding, checks in grouped_skipped(calm):
        yield from hanging(_brief_head(finding), f"{finding.title} Left out: {', '.join(checks)}.", width)
        yield from remedy_lines("", finding.next, width, STREAM)


def _brief_head(finding: Finding) -> Line:
    return [status_word(finding.status), (f"{sanitize_line(finding.code):<15}", "label")]


def _waived(report: Report, width: int) -> Iterator[Line]:
    """The waived findings in brief, and the waivers that have ended or were not checked."""
    for finding in report.waived:
        yield []
        yield [*finding_head(finding), ("  WAIVED", "title")]
        yield from hanging([("  ", "")], finding.title, width)
        if finding.waived:
            yield from part_lines("Waived", (waived_text(finding.waived),), width, STREAM)
    over = ended(report.waivers)
    unseen = [f"{s.code} ({s.subject})" for s in report.waivers if s.standing == NOT_CHECKED]
    if over or unseen:
        yield []
    for standing in over:
        yield from hanging([("Waiver    ", "label")], sentence(standing), width)
    if unseen:
        text = f"not checked in this run, or not on all nodes: {', '.join(unseen)}"
        yield from hanging([("Waivers   ", "label")], text, width)
