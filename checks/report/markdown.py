"""The report as Markdown, to be pasted into a ticket: GitHub, GitLab, Jira, ServiceNow.

A ticket holds some ten thousand characters. Problems are written in full, worst first, while there is room; the others
have one line each. The evidence is named but not included: the other formats of the report include it. Text of unknown
origin is escaped by `inline` and `fence`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice

import msgspec

from checks.model.facts import PathProbe
from checks.model.finding import Finding, NextStep, Status, Table
from checks.model.report import Report
from checks.model.sanitize import sanitize
from checks.model.sound_measurement import sound
from checks.model.wording import counted, few, listed
from checks.report.actions import one_line
from checks.report.causes import ReportEntry, cause_entries, causes_of
from checks.report.folding import Alike, grouped_by_reason, grouped_skipped
from checks.report.frame_section import TITLE as FRAMES
from checks.report.frame_section import frame_section
from checks.report.how_found import TITLE as HOW_FOUND
from checks.report.how_found import HowFound, sessions_of
from checks.report.load_section import TITLE, load_section
from checks.report.measured.fit import not_shown
from checks.report.measured.result_parts import state_of
from checks.report.measurement_headline import brief
from checks.report.other_causes import other_causes, short_codes
from checks.report.situation_words import (
    as_of_span,
    entry_stands,
    event_table,
    incident_line,
    standing_sections,
    stands,
)
from checks.report.summary import counts, facts, headline, headline_stands, problems, sentences, waived

_CODE_WORD = re.compile(
    r"@|://|^\W*www\.|\b(?:mailto|xmpp):|(?<!\w)[#!&~$%]\d|\w#\d|(?<!\w)GH-\d", re.IGNORECASE | re.ASCII
)
_OBEYED = re.compile(
    r"[\\`*\[\]~$]"
    r"|<(?=[A-Za-z/!?])"
    r"|(?<![^\W_])_|_(?![^\W_])"  # within a word an underscore is a letter
    r"|&(?=#|\w)"
    r"|(?<!\S)#"  # a heading, or the end of one
)
_BEGINS_A_BLOCK = re.compile(r"[-+=>]|\d{1,9}(?=[.)](?:\s|$))")


def inline(text: str, most: int | None = None, *, in_cell: bool = False) -> str:
    """Return text on one line, escaped for any place in Markdown. Text longer than `most` is cut, with a note.

    `in_cell`: escape pipes too, since a pipe would end the cell of a table.
    """
    plain = sanitize(re.sub(r"[ \t\n]+", " ", text)).strip(" ")
    if most is not None and len(plain) > most:
        plain = f"{plain[:most].rstrip()}… ({len(plain) - most:,} characters more)"
    written = " ".join(
        _code(word) if _CODE_WORD.search(word) else _OBEYED.sub(r"\\\g<0>", word) for word in plain.split(" ")
    )
    if in_cell:
        written = written.replace("|", r"\|")  # in code, too
    begin = _BEGINS_A_BLOCK.match(written)
    if begin is None:
        return written
    at = begin.end() if begin[0].isdigit() else 0
    return f"{written[:at]}\\{written[at:]}"


def fence(text: str, indent: int = 0) -> Iterator[str]:
    """Yield the lines of a code block, unchanged, between two rows of backticks longer than any row in the text."""
    lines = sanitize(text, keep_lines=True).split("\n")
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    row = "`" * max(3, longest + 1)
    yield from (f"{' ' * indent}{line}".rstrip() for line in (row, *lines, row))


def table(of: Table, most: int) -> Iterator[str]:
    """Yield the lines of a table with at most `most` characters in a cell; nothing where it has no columns."""
    width = max(map(len, (of.columns, *of.rows)))
    if not width:
        return
    yield _row(of.columns, width, most)
    yield f"|{' --- |' * width}"
    yield from (_row(row, width, most) for row in of.rows)


def _row(cells: Sequence[str], width: int, most: int) -> str:
    padded = (*cells, *("",) * (width - len(cells)))
    return f"| {' | '.join(inline(cell, most, in_cell=True) for cell in padded)} |"


def _code(word: str) -> str:
    row = "`" * (1 + max((len(run) for run in re.findall(r"`+", word)), default=0))
    space = " " if word.startswith("`") or word.endswith("`") else ""
    return f"{row}{space}{word}{space}{row}"


_FULL = 18_000
"""Most characters for causes and problems in full. With the rest the report stays below 32,767, the size of a field in
Jira, which is the smallest limit of these ticket systems."""
_LINES = 4_000
"""Most characters for entries of one line: once for problems, once for everything else."""
_MEASURED, _FRAMES = 1_500, 1_500
"""Most characters for results of measurements, and for the frames by size."""
_STANDING, _EVENTS, _EVENT_CELL = 2_500, 12, 90
"""Most characters for what is not known any longer, planned or over; most events, and most characters of a cell."""
_TITLE, _VALUE, _TEXT, _CELL, _COMMANDS = 300, 200, 800, 60, 3_000
_ROWS = 40
_CAUSES = 3
"""The most causes in full."""
_NAMED, _ACTION = 5, 240


def to_markdown(report: Report) -> bytes:
    """Return the whole report in UTF-8, with a final newline."""
    incident = incident_line(report)
    lines = [f"**{inline(incident, _TEXT)}**", ""] if incident else []
    lines += [f"# {inline(headline(report), _TITLE)}", ""]
    if (how := headline_stands(report)) and not cause_entries(report):
        lines += [inline(f"{how[:1].upper()}{how[1:]}.", _TEXT), ""]
    causes = cause_entries(report)
    for number, cause in enumerate(causes[:_CAUSES]):
        lines += _cause(cause, report, has_headline=number > 0)
    if more := causes[_CAUSES:]:
        lines += _Room(_LINES).section("More causes", (_in_line(c.status, c.headline, c, report) for c in more))
        lines.append("")
    used = sum(map(len, lines))
    if summary := sentences(report):
        lines += [inline(" ".join(summary), _TEXT), ""]
    lines += [f"- {name}: {inline(value, _VALUE)}" for name, value in facts(report)]
    lines += ["", f"**{_counted(report)}**"]
    if others := list(other_causes(report)):
        lines += ["", *(f"- {label}: {inline(sentence, _TEXT)}" for label, sentence in others)]
    lines += _problems(report, _FULL - used)
    lines += _standing(report)
    room = _Room(_LINES)
    lines += room.section("Waived", _waived(report))
    for title, status in (("For information", Status.INFO), ("Passed", Status.PASS)):
        found = report.holding(status)
        when = as_of_span(report, found)
        lines += room.section(f"{title}, {when}" if when else title, map(_named, found))
    skipped = grouped_skipped(report.findings)
    lines += room.section("Skipped", (inline(f"{f.title} Skipped: {listed(ids)}.", _TITLE) for f, ids in skipped))
    lines += _load(report)
    if frames := frame_section(report.cluster):
        lines += _Room(_FRAMES).section(FRAMES, (inline(text, _TEXT) for text in frames.notes))
    lines += _Room(_MEASURED).section("Measured", _measured(report))
    for session in sessions_of(report):
        lines += _Room(_MEASURED).section(HOW_FOUND, _session(session))
    unread = [part.reason for node in report.cluster.read_nodes() for part in node.unread]
    lines += room.section("Not read", (inline(reason, _TITLE) for reason in unread))
    lines += ["", "## How this was found", "", *_made(report)]
    return ("\n".join(lines) + "\n").encode()


def _load(report: Report) -> Iterator[str]:
    """Yield what the load asks of the interconnect, without the tables, which the other formats have."""
    section = load_section(report.cluster)
    if section is not None and section.is_known:
        yield from ("", f"## {TITLE}", "")
        yield from (f"- {inline(text, _TEXT)}" for text in (section.headline, section.kind, *section.notes) if text)


def _measured(report: Report) -> Iterator[str]:
    """Yield each result of a measurement, with what makes it doubtful; the HTML and JSON reports have its figures."""
    for one in sound(report.measurements):
        if older := not_shown(one, report.cluster):
            yield inline(older, _TITLE)
            continue
        doubts = " ".join(part.text for part in state_of(one) if part.look in ("warn", "fail", "unknown"))
        yield inline(" ".join(filter(None, (f"{brief(one, report.started_at)}.", doubts))), _TITLE)


def _session(found: HowFound) -> Iterator[str]:
    """Yield the ends of a session of guided troubleshooting, then its steps, without pasted outputs."""
    yield inline(found.about, _TITLE)
    yield from (inline(f"{end.text} {end.then}", _TITLE) for end in found.ends)
    for step in found.steps:
        excluded = f" Excludes {step.excluded}." if step.excluded else ""
        yield inline(f"{step.number}. {step.at} {step.title}: {step.outcome}{excluded}", _TITLE)
    yield from (inline(f"{finding.status} {finding.title}", _TITLE) for finding in found.read)


def _in_line(status: Status, text: str, entry: ReportEntry, report: Report) -> str:
    how = entry_stands(entry, report)
    return f"{status} {inline(f'{text} ({how})' if how else text, _TITLE)}"


def _cause(entry: ReportEntry, report: Report, *, has_headline: bool) -> Iterator[str]:
    """Yield a cause: what it is, because of what, what it explains, and the next steps."""
    if has_headline:
        yield from (f"## {inline(entry.headline, _TITLE)}", "")
    how = entry_stands(entry, report)
    yield (
        f"**{entry.status}**, {inline(entry.standing, _TEXT)}{f', {inline(how, _TEXT)}' if how else ''}. "
        f"Found by {inline(entry.codes, _TEXT)}."
    )
    yield from _paragraph("To tell them apart", entry.tells_apart)
    yield from _list("Because", entry.because)
    yield from _list("Against it", entry.against)
    for part in entry.explained:
        yield from _list(part.label, [f"{f.status}: {f.title}" for f in part.findings])
    yield from _paragraph("Not examined behind it", short_codes(entry.hides) if entry.hides else "")
    yield from _next(entry.next)
    yield ""


class _Room:
    """The characters left for lines. Entries that do not fit are counted."""

    def __init__(self, characters: int) -> None:
        self._left = characters

    def section(self, title: str, entries: Iterable[str]) -> Iterator[str]:
        """Yield a list under a heading; nothing where the list is empty."""
        every = list(entries)
        if every:
            yield from ("", f"## {title}", "")
        for number, entry in enumerate(every):
            self._left -= len(entry)
            if self._left < 0:
                yield f"- and {len(every) - number} more"
                return
            yield f"- {entry}"


def _counted(report: Report) -> str:
    known = [f"{number} {status}" for status, number in counts(report)]
    known += [f"{len(report.not_known)} not known any longer"] if report.not_known else []
    known += [f"{len(waived(report))} waived"] if waived(report) else []
    return ", ".join(known) or "no check ran"


def _problems(report: Report, room: int) -> Iterator[str]:
    found = list(grouped_by_reason(problems(report)))
    said = {id(f): one for f, one in report.stated()}
    how = [stands(one.finding, said[id(one.finding)], report) for one in found]
    if found:
        yield from ("", "## Problems")
    for number, alike in enumerate(found):
        whole = list(_in_full(report, alike, how[number]))
        room -= sum(map(len, whole)) + len(whole)
        if room < 0:
            rest = (
                f"{one.finding.status} {_named(one.finding, one.title)}{f' ({inline(text, _TITLE)})' if text else ''}"
                for one, text in zip(found[number:], how[number:], strict=True)
            )
            yield from _Room(_LINES).section("More problems", rest)
            return
        yield from whole


def _named(finding: Finding, title: str = "") -> str:
    return f"{inline(finding.code, _CELL)}: {inline(title or finding.title, _TITLE)}"


def _standing(report: Report) -> Iterator[str]:
    """Yield what is not known any longer, planned or over, and the events, the newest first where not all fit."""
    room = _Room(_STANDING)
    for section in standing_sections(report):
        each = (f"{one.finding.status} {_named(one.finding)} ({inline(one.how, _TITLE)})" for one in section.lines)
        yield from room.section(section.title, each)
    if events := event_table(report):
        newest = msgspec.structs.replace(events, rows=events.rows[-_EVENTS:])
        yield from ("", "## Events", "", *table(newest, _EVENT_CELL))
        if left := len(events.rows) - len(newest.rows):
            yield from ("", f"and {counted(left, 'earlier event')}")


def _in_full(report: Report, alike: Alike, how: str) -> Iterator[str]:
    finding = alike.finding
    yield from ("", f"### {finding.status}: {inline(alike.title, _TITLE)}", "")
    about = f" ({inline(finding.subject, _CELL)})" if finding.subject else ""
    when = f", {inline(how, _TITLE)}" if how else ""
    yield f"{inline(finding.code, _CELL)}, found by {inline(', '.join(alike.found_by), _TITLE)}{about}{when}"
    yield from _list("Seen", finding.seen)
    if finding.table is not None:
        yield from _table(finding)
    yield from _list("Expected", finding.expected)
    yield from _next(alike.next)
    yield from _paragraph("Why it matters", finding.why)
    likewise = [f"{other.check} ({other.code})" for other in alike.likewise]
    yield from _paragraph("Not known for the same reason", few(likewise, _NAMED))
    joined = [f"{f.check} ({f.code})" for f in report.joined_with(finding) if f.code != finding.code]
    yield from _paragraph("Likely same cause", few(joined, _NAMED))
    actions = (f"{entry.node}: {one_line(entry.action, _ACTION)}" for entry in report.evidence(finding))
    yield from _evidence(dict.fromkeys(actions))
    yield from _paragraph("Cause", "; ".join(causes_of(finding, report)))
    yield from _paragraph("Sources", "; ".join(finding.sources))


def _list(label: str, entries: Sequence[str]) -> Iterator[str]:
    if entries:
        yield from ("", f"**{label}**", "")
        yield from (f"- {inline(entry, _TEXT)}" for entry in entries[:_ROWS])
    if len(entries) > _ROWS:
        yield f"- and {len(entries) - _ROWS} more"


def _paragraph(label: str, text: str) -> Iterator[str]:
    if text:
        yield from ("", f"**{label}:** {inline(text, _TEXT)}")


def _table(finding: Finding) -> Iterator[str]:
    of = finding.table
    assert of is not None
    lines = list(table(of, _CELL))
    yield from ("", *lines[: _ROWS + 2])
    if len(lines) > _ROWS + 2:
        yield from ("", f"and {counted(len(lines) - _ROWS - 2, 'row')} more")
    if of.legend:
        yield from ("", inline(of.legend, _TEXT))


def _next(steps: Sequence[NextStep]) -> Iterator[str]:
    if steps:
        yield from ("", "**Next**", "")
    for number, step in enumerate(steps, 1):
        change = "**CHANGE** " if step.is_change else ""
        where = f" ({inline(step.where, _TITLE)})" if step.where else ""
        yield f"{number}. {change}{inline(step.advice, _TEXT)}{where}"
        if step.commands:
            commands = "\n".join(step.commands)
            cut = "" if len(commands) <= _COMMANDS else f"\n# {len(commands) - _COMMANDS:,} characters more"
            yield from ("", *fence(commands[:_COMMANDS] + cut, indent=len(f"{number}. ")))


def _evidence(actions: Collection[str]) -> Iterator[str]:
    """Yield the first actions that a finding is based on, each with its node."""
    if not actions:
        return
    more = [f"and {len(actions) - _NAMED} more"] if len(actions) > _NAMED else []
    yield from ("", "**Evidence**", "", *fence("\n".join([*islice(actions, _NAMED), *more])))


def _waived(report: Report) -> Iterator[str]:
    """Yield every waiver, including the waivers that are not in force."""
    for finding in waived(report):
        of = finding.waived
        assert of is not None
        until = f"Waived until {of.expires} by {of.by}: {of.reason}"
        yield f"{finding.status} {_named(finding)} {inline(until, _TITLE)}"
    for waiver in report.waivers:
        if waiver.standing != "in force":
            about = f" ({waiver.subject})" if waiver.subject else ""
            why = f" {waiver.why}" if waiver.why else ""
            standing = (
                f"The waiver of {waiver.code}{about} by {waiver.by}, until {waiver.expires}, is {waiver.standing}.{why}"
            )
            yield inline(standing, _TITLE)


def _made(report: Report) -> Iterator[str]:
    nodes = len({entry.node for entry in report.journal})
    paths = report.cluster.paths
    sent = sum(probe.packets_sent for probe in paths if isinstance(probe, PathProbe)) if isinstance(paths, tuple) else 0
    pings = f" It sent {counted(sent, 'ping packet')} over the private networks." if sent else ""
    yield (
        f"racwire made {counted(len(report.journal), 'read-only action')} on {counted(nodes, 'node')} (files, "
        f"commands, database queries, pings) and changed nothing.{pings}"
    )
    yield ""
    yield (
        "This text does not contain the outputs. The HTML report, the JSON report and the saved file contain them; "
        "a saved file opens on any machine (`racwire save`, `racwire open`)."
    )
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items() if version != "not installed")
    yield from ("", inline(f"Made with {versions}.", _TEXT)) if versions else ()
