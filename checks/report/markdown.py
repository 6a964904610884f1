"""The report as Markdown, to be pasted into a ticket: GitHub, GitLab, Jira, ServiceNow.

A ticket holds some ten thousand characters: problems are told in full, worst first, while there is room, and the others
in a line each. What they rest on is named, not shown: the other forms of the report have it. `markdown_text` says how
text of unknown origin is written.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice

from checks.model.facts import PathProbe
from checks.model.finding import Finding, Remedy, Status, Table
from checks.model.report import Report
from checks.model.sanitize import shown
from checks.model.wording import counted, few, listed
from checks.report.actions import brief
from checks.report.folding import left_out_together, told_together
from checks.report.summary import counts, facts, headline, problems, sentences, waived

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
    """The text on one line, for wherever a text can stand; of a longer one than `most`, its beginning, and that it is.

    `in_cell`: within a cell of a table, which a pipe would end.
    """
    plain = shown(re.sub(r"[ \t\n]+", " ", text)).strip(" ")
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
    """The lines of a block of code, as they are, between two rows of backticks that none of them can end."""
    lines = shown(text, keep_lines=True).split("\n")
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    row = "`" * max(3, longest + 1)
    yield from (f"{' ' * indent}{line}".rstrip() for line in (row, *lines, row))


def table(of: Table, most: int) -> Iterator[str]:
    """The lines of a table, each cell of at most that many characters; nothing where it has no columns."""
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
"""Characters for problems in full. With all else a report stays below 32,767: what a field of Jira takes, the least of
them."""
_LINES = 4_000
"""For what is told in a line each: once for problems, once for all else."""
_TITLE, _VALUE, _TEXT, _CELL, _COMMANDS = 300, 200, 800, 60, 3_000
_ROWS = 40
_NAMED, _ACTION = 5, 240


def to_markdown(report: Report) -> bytes:
    """The whole report, in UTF-8, with a final newline."""
    lines = [f"# {inline(headline(report), _TITLE)}", ""]
    if told := sentences(report):
        lines += [inline(" ".join(told), _TEXT), ""]
    lines += [f"- {name}: {inline(value, _VALUE)}" for name, value in facts(report)]
    lines += ["", f"**{_counted(report)}**"]
    lines += _problems(report)
    room = _Room(_LINES)
    lines += room.section("Waived", _waived(report))
    for title, status in (("Worth knowing", Status.INFO), ("In order", Status.PASS)):
        lines += room.section(title, (_named(f) for f in report.findings if f.status is status))
    skipped = left_out_together(report.findings)
    lines += room.section("Left out", (inline(f"{f.title} Left out: {listed(ids)}.", _TITLE) for f, ids in skipped))
    limits = [limit for node in report.cluster.read_nodes() for limit in node.limits]
    lines += room.section("Not read", (inline(limit, _TITLE) for limit in limits))
    lines += ["", "## How this was found", "", *_made(report)]
    return ("\n".join(lines) + "\n").encode()


class _Room:
    """Room for lines: what does not fit is counted."""

    def __init__(self, characters: int) -> None:
        self._left = characters

    def section(self, title: str, entries: Iterable[str]) -> Iterator[str]:
        """A list under a heading; nothing where it is empty."""
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
    known += [f"{len(waived(report))} waived"] if waived(report) else []
    return ", ".join(known) or "nothing judged"


def _problems(report: Report) -> Iterator[str]:
    found = list(told_together(problems(report)))
    if found:
        yield from ("", "## Problems")
    room = _FULL
    for number, (finding, alike) in enumerate(found):
        whole = list(_in_full(report, finding, alike))
        room -= sum(map(len, whole)) + len(whole)
        if room < 0:
            rest = (f"{f.status} {_named(f)}" for f, _ in found[number:])
            yield from _Room(_LINES).section("More problems, in short", rest)
            return
        yield from whole


def _named(finding: Finding) -> str:
    return f"{inline(finding.code, _CELL)}: {inline(finding.title, _TITLE)}"


def _in_full(report: Report, finding: Finding, alike: Sequence[Finding]) -> Iterator[str]:
    yield from ("", f"### {finding.status}: {inline(finding.title, _TITLE)}", "")
    about = f" ({inline(finding.subject, _CELL)})" if finding.subject else ""
    yield f"{inline(finding.code, _CELL)}, found by {inline(finding.check, _TITLE)}{about}"
    yield from _list("Seen", finding.seen)
    if finding.table is not None:
        yield from _table(finding)
    yield from _list("Expected", finding.expected)
    yield from _paragraph("Why it matters", finding.why)
    yield from _next(finding.next)
    likewise = [f"{other.check} ({other.code})" for other in alike]
    yield from _paragraph("Likewise not known", few(likewise, _NAMED))
    joined = [f"{f.check} ({f.code})" for f in report.joined_with(finding) if f.code != finding.code]
    yield from _paragraph("Likely one cause with", few(joined, _NAMED))
    actions = (f"{entry.node}: {brief(entry.action, _ACTION)}" for entry in report.evidence(finding))
    yield from _rests_on(dict.fromkeys(actions))
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


def _next(steps: Sequence[Remedy]) -> Iterator[str]:
    if steps:
        yield from ("", "**Next**", "")
    for number, step in enumerate(steps, 1):
        change = "**CHANGE** " if step.is_change else ""
        where = f" ({inline(step.where, _TITLE)})" if step.where else ""
        yield f"{number}. {change}{inline(step.text, _TEXT)}{where}"
        if step.commands:
            commands = "\n".join(step.commands)
            cut = "" if len(commands) <= _COMMANDS else f"\n# {len(commands) - _COMMANDS:,} characters more"
            yield from ("", *fence(commands[:_COMMANDS] + cut, indent=len(f"{number}. ")))


def _rests_on(actions: Collection[str]) -> Iterator[str]:
    """What was read or asked for it, on which node."""
    if not actions:
        return
    more = [f"and {len(actions) - _NAMED} more"] if len(actions) > _NAMED else []
    yield from ("", "**Rests on**", "", *fence("\n".join([*islice(actions, _NAMED), *more])))


def _waived(report: Report) -> Iterator[str]:
    """Every waiver, also those that are not in force."""
    for finding in waived(report):
        of = finding.waived
        assert of is not None
        until = f"Waived until {of.expires} by {of.by}: {of.reason}"
        yield f"{finding.status} {_named(finding)} {inline(until, _TITLE)}"
    for waiver in report.waivers:
        if waiver.standing != "in force":
            about = f" ({waiver.subject})" if waiver.subject else ""
            why = f" {waiver.why}" if waiver.why else ""
            told = (
                f"The waiver of {waiver.code}{about} by {waiver.by}, until {waiver.expires}, is {waiver.standing}.{why}"
            )
            yield inline(told, _TITLE)


def _made(report: Report) -> Iterator[str]:
    nodes = len({entry.node for entry in report.journal})
    paths = report.cluster.paths
    sent = sum(probe.packets_sent for probe in paths if isinstance(probe, PathProbe)) if isinstance(paths, tuple) else 0
    pings = f" {counted(sent, 'packet')} of pings went over the private networks." if sent else ""
    yield (
        f"racwire read {counted(len(report.journal), 'thing')} on {counted(nodes, 'node')} (files, answers of commands "
        f"and of the database, pings) and changed none.{pings}"
    )
    yield ""
    yield (
        "What was read is not in here: the report as HTML or JSON has it, and so has the saved file, which opens "
        "anywhere (`racwire save`, `racwire open`)."
    )
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items() if version != "not installed")
    yield from ("", inline(f"Made with {versions}.", _TEXT)) if versions else ()
