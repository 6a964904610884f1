"""The report as text: worst first, each finding with what was seen and expected, why it matters, what to do next."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from datetime import datetime
from typing import TextIO

from rich.text import Text

from checks.model.facts import Database, Unknown
from checks.model.finding import PROBLEMS, Finding, Remedy, Status, Table
from checks.model.report import Report
from checks.report.age import at, saved_state
from checks.report.folding import left_out_together, told_together
from checks.report.summary import cluster_name, counts
from checks.rules.waivers import NOT_CHECKED, ended, ended_text, lifted_for, sentence, waived_text
from tui.cli.output import columns_of, render
from tui.cli.sanitize import sanitize
from tui.widgets.line import clean, wrapped

STYLES = {
    Status.PASS: "green",
    Status.INFO: "cyan",
    Status.WARN: "yellow",
    Status.FAIL: "bold red",
    Status.UNKNOWN: "magenta",
    Status.SKIPPED: "dim",
}
"""Colour only repeats what the word already says."""

_LABEL = 10


def text_report(report: Report, stream: TextIO, now: datetime | None = None) -> str:
    """The whole report for that stream: coloured for a terminal (unless NO_COLOR), plain for a pipe or a file.

    `now`, a time with its zone, tells how old a saved state is; without it, the clock is asked.
    """
    state = saved_state(report, now, kept=not stream.isatty())
    return render(_lines(report, columns_of(stream), state), stream)


def summary(report: Report) -> Text:
    """How many findings of each status, worst first, and how many are waived."""
    text = Text()
    for status, count in counts(report):
        text.append(f"{count} {status}", STYLES[status]).append("  ")
    if report.waived:
        text.append(f"{len(report.waived)} waived", "bold")
    text.rstrip()
    return text


def header(report: Report) -> str:
    """One line: which cluster, which nodes, when, how long it took."""
    cluster = report.cluster
    name = cluster_name(report)
    known = () if isinstance(cluster.nodes, Unknown) else cluster.nodes
    nodes = " ".join(n.name + ("*" if n.name == cluster.local_node else "") for n in known) or f"{cluster.local_node}*"
    parts = [f"racwire {report.racwire_version}", *([name] if name else []), nodes]
    parts += [at(report.started_at), f"{report.duration_s:.1f} s"]
    return "  ".join(map(clean, parts))


def database_header(database: Database, width: int) -> Iterator[str]:
    """Which database, what it is, as whom it was asked and how, and how many of its instances told: on one line, or
    broken between these."""
    known, missing = len(database.instances), len(database.unasked)
    count = f"{known} of {known + missing}" if missing else f"{known}"
    parts = [
        f"database {database.name} {database.version}",
        database.role,
        database.open_mode if database.open_mode != "READ WRITE" else "",
        database.container if database.is_multitenant else "",
        f"as {database.user}",
        database.driver,
        f"{count} {'instance' if known + missing == 1 else 'instances'}",
    ]
    whole = "  ".join(clean(part).replace(" ", "\N{NO-BREAK SPACE}") for part in parts if part)
    for line in textwrap.wrap(whole, width, subsequent_indent="  ", break_on_hyphens=False):
        yield line.replace("\N{NO-BREAK SPACE}", " ")


def _lines(report: Report, width: int, state: str) -> Iterator[Text]:
    yield Text(header(report), "bold")
    yield from _notices(report, width, state)
    if isinstance(report.cluster.database, Database):
        yield from map(Text, database_header(report.cluster.database, width))
    yield summary(report)
    problems = [f for f in report.findings if f.status in PROBLEMS and not f.waived]
    for finding, others in told_together(problems):
        yield Text()
        yield from finding_lines(report, finding, width)
        yield from _likewise(others, width)
    yield from _waived(report, width)
    yield from _calm(report, width)
    limits = [limit for node in report.cluster.read_nodes() for limit in node.limits]
    if limits:
        yield Text()
    for limit in limits:
        yield from _hanging(Text("Not read  ", "dim"), limit, width)
    if report.interrupted:
        yield Text()
        yield Text("Interrupted: what had been found by then stands above.", "yellow")


def _notices(report: Report, width: int, state: str) -> Iterator[Text]:
    """What is to be known before anything else is read: that it is not the cluster as it is now, or not its names."""
    if state:
        yield from _hanging(Text("SAVED STATE  ", "bold yellow"), f"{state}. The cluster was not asked.", width)
    if report.is_redacted:
        yield from _hanging(Text("REDACTED     ", "bold yellow"), "Names and addresses are pseudonyms.", width)


def _calm(report: Report, width: int) -> Iterator[Text]:
    """What is well or worth knowing, a line each; checks that were left out for one reason on one line together."""
    calm = [f for f in report.findings if f.status not in PROBLEMS]
    if calm:
        yield Text()
    for finding in calm:
        if finding.status is not Status.SKIPPED:
            head = Text(f"{finding.status:<8}", STYLES[finding.status]).append(f"{clean(finding.code):<15}", "dim")
            yield from _hanging(head, finding.title, width)
    for finding, checks in left_out_together(calm):
        head = Text(f"{Status.SKIPPED:<8}", STYLES[Status.SKIPPED]).append(f"{clean(finding.code):<15}", "dim")
        yield from _hanging(head, f"{finding.title} Left out: {', '.join(checks)}.", width)
        for number, remedy in enumerate(finding.next, 1):
            yield from _remedy("", number, remedy, width)


def _waived(report: Report, width: int) -> Iterator[Text]:
    """The findings that are waived, briefly, and the waivers that do not hold."""
    for finding in report.waived:
        yield Text()
        head = Text(f"{finding.status:<8}", STYLES[finding.status])
        yield head.append(f"{clean(finding.code)}  {clean(finding.check)}  ", "bold").append("WAIVED", "bold")
        yield from _hanging(Text("  "), finding.title, width)
        if finding.waived:
            yield from _part("Waived", (waived_text(finding.waived),), width)
    over = ended(report.waivers)
    unseen = [f"{s.code} ({s.subject})" for s in report.waivers if s.standing == NOT_CHECKED]
    if over or unseen:
        yield Text()
    for standing in over:
        yield from _hanging(Text("Waiver    ", "dim"), sentence(standing), width)
    if unseen:
        told = f"not looked at in this run, or not everywhere: {', '.join(unseen)}"
        yield from _hanging(Text("Waivers   ", "dim"), told, width)


def _likewise(others: tuple[Finding, ...], width: int) -> Iterator[Text]:
    """Those that could not tell for the same reason."""
    names = ", ".join(f"{other.check} ({other.code})" for other in others)
    yield from _part("Likewise", (f"not known to {names}",) if others else (), width)


def finding_lines(report: Report, finding: Finding, width: int) -> Iterator[Text]:
    """One finding in full."""
    head = Text(f"{finding.status:<8}", STYLES[finding.status])
    yield head.append(f"{clean(finding.code)}  {clean(finding.check)}", "bold")
    yield from _hanging(Text("  "), finding.title, width, "bold")
    if lost := lifted_for(finding, report.waivers):
        yield from _part("Waiver", (ended_text(lost),), width, "yellow")
    yield from _part("Seen", finding.seen, width)
    if finding.table:
        yield from _table(finding.table)
        yield from _part("", (finding.table.legend,), width, "dim")
    yield from _part("Expected", finding.expected, width)
    yield from _part("Why", (finding.why,), width)
    for number, remedy in enumerate(finding.next, 1):
        yield from _remedy("Next" if number == 1 else "", number, remedy, width)
    joined = dict.fromkeys(f"{f.check} ({f.code})" for f in report.joined_with(finding) if f.code != finding.code)
    yield from _part("Joined", (f"with {', '.join(joined)}",) if joined else (), width)
    yield from _part("Sources", ("; ".join(finding.sources),), width, "dim")


def _table(table: Table) -> Iterator[Text]:
    columns = max(map(len, (table.columns, *table.rows)))
    if not columns:
        return
    grid = [[*map(clean, row), *("",) * (columns - len(row))] for row in (table.columns, *table.rows)]
    name, *wide = [max(len(row[column]) for row in grid) for column in range(columns)]
    for row in grid:
        cells = "".join(f"{cell:>{max(width + 2, 9)}}" for cell, width in zip(row[1:], wide, strict=True))
        yield Text(f"  {'':{_LABEL}}{row[0]:<{max(name, 10)}}{cells}")


def _remedy(label: str, number: int, remedy: Remedy, width: int) -> Iterator[Text]:
    where = f" ({remedy.where})" if remedy.where else ""
    start = Text(f"  {label:<{_LABEL}}", "dim").append(f"{number}. ")
    if remedy.is_change:
        start.append("CHANGE ", "bold yellow")
    yield from _hanging(start, f"{remedy.text}{where}", width, indent=2 + _LABEL + 3)
    for line in (line for command in remedy.commands for line in command.split("\n")):
        yield Text(f"{'':{2 + _LABEL + 5}}{sanitize(line)}", "cyan")


def _part(label: str, paragraphs: tuple[str, ...], width: int, style: str = "") -> Iterator[Text]:
    for paragraph in filter(None, paragraphs):
        yield from _hanging(Text(f"  {label:<{_LABEL}}", "dim"), paragraph, width, style)
        label = ""


def _hanging(start: Text, paragraph: str, width: int, style: str = "", indent: int | None = None) -> Iterator[Text]:
    """A paragraph after a label, its further lines indented to the same column."""
    indent = start.cell_len if indent is None else indent
    room = max(width - max(indent, start.cell_len), 20)
    first, *rest = wrapped(paragraph, room)
    yield start.append(first, style)
    for line in rest:
        yield Text(" " * indent).append(line, style)
