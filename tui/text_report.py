"""The report as text: worst first, each finding with what was seen and expected, why it matters, what to do next."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TextIO

import msgspec
from rich.text import Text

from checks.engine import NOT_GATHERED
from checks.facts import Clusterware, Database, Unknown
from checks.finding import Finding, Remedy, Status, Table
from checks.result import Report
from tui.paper import columns_of, printed
from tui.printable import printable
from tui.widgets.line import wrapped

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


def text_report(report: Report, stream: TextIO) -> str:
    """The whole report for that stream: coloured for a terminal (unless NO_COLOR), plain for a pipe or a file."""
    return printed(_lines(report, columns_of(stream)), stream)


def summary(report: Report) -> Text:
    """How many findings of each status, worst first."""
    text = Text()
    for status in sorted(Status, key=lambda s: s.gravity):
        if count := report.count(status):
            text.append(f"{count} {status}", STYLES[status]).append("  ")
    text.rstrip()
    return text


def header(report: Report) -> str:
    """One line: which cluster, which nodes, when, how long it took."""
    cluster = report.cluster
    facts = cluster.clusterware
    name = facts.cluster_name if isinstance(facts, Clusterware) and isinstance(facts.cluster_name, str) else ""
    known = () if isinstance(cluster.nodes, Unknown) else cluster.nodes
    nodes = " ".join(n.name + ("*" if n.name == cluster.local_node else "") for n in known) or f"{cluster.local_node}*"
    parts = [f"racwire {report.racwire_version}", *([name] if name else []), nodes]
    parts += [report.started_at[:19].replace("T", " "), f"{report.duration_s:.1f} s"]
    return printable("  ".join(parts))


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
    whole = "  ".join(printable(part).replace(" ", "\N{NO-BREAK SPACE}") for part in parts if part)
    for line in textwrap.wrap(whole, width, subsequent_indent="  ", break_on_hyphens=False):
        yield line.replace("\N{NO-BREAK SPACE}", " ")


def _lines(report: Report, width: int) -> Iterator[Text]:
    yield Text(header(report), "bold")
    if isinstance(report.cluster.database, Database):
        yield from map(Text, database_header(report.cluster.database, width))
    yield summary(report)
    problems = [f for f in report.findings if f.status not in (Status.PASS, Status.INFO, Status.SKIPPED)]
    calm = [f for f in report.findings if f not in problems]
    for finding, others in _told_together(problems):
        yield Text()
        yield from finding_lines(report, finding, width)
        likewise = ", ".join(f"{other.check} ({other.code})" for other in others)
        yield from _part("Likewise", (f"not known to {likewise}",) if others else (), width)
    if calm:
        yield Text()
    left_out = [f for f in calm if f.status is Status.SKIPPED]
    for finding in calm:
        if finding in left_out:
            continue
        head = Text(f"{finding.status:<8}", STYLES[finding.status]).append(f"{finding.code:<15}", "dim")
        yield from _hanging(head, finding.title, width)
    yield from _left_out(left_out, width)
    limits = [limit for node in report.cluster.read_nodes() for limit in node.limits]
    if limits:
        yield Text()
    for limit in limits:
        yield from _hanging(Text("Not read  ", "dim"), limit, width)
    if report.interrupted:
        yield Text()
        yield Text("Interrupted: what had been found by then stands above.", "yellow")


def _told_together(problems: list[Finding]) -> Iterator[tuple[Finding, tuple[Finding, ...]]]:
    """Each finding, with those that could not tell for the very same reason: what they lack is told once."""
    alike: dict[object, list[Finding]] = {}
    for finding in problems:
        key: object = id(finding)
        if finding.code == NOT_GATHERED.code:
            key = finding.title.removeprefix(finding.check), finding.seen
        elif finding.status is Status.UNKNOWN and finding.seen and finding.table is None:
            key = finding.seen, finding.nodes, finding.next
        alike.setdefault(key, []).append(finding)
    for first, *others in alike.values():
        if others and first.code == NOT_GATHERED.code:
            names = ", ".join(dict.fromkeys(finding.check for finding in (first, *others)))
            title = f"{1 + len(others)} checks{first.title.removeprefix(first.check)}"
            yield msgspec.structs.replace(first, check=names, title=title), ()
        else:
            yield first, tuple(others)


def _left_out(findings: list[Finding], width: int) -> Iterator[Text]:
    """Checks that were left out, those for the same reason on one line, and how to have them."""
    alike: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        alike.setdefault((finding.code, finding.title), []).append(finding)
    for (code, title), same in alike.items():
        head = Text(f"{Status.SKIPPED:<8}", STYLES[Status.SKIPPED]).append(f"{code:<15}", "dim")
        names = ", ".join(dict.fromkeys(finding.check for finding in same))
        yield from _hanging(head, f"{title} Left out: {names}.", width)
        for number, remedy in enumerate(same[0].next, 1):
            yield from _remedy("", number, remedy, width)


def finding_lines(report: Report, finding: Finding, width: int) -> Iterator[Text]:
    """One finding in full."""
    head = Text(f"{finding.status:<8}", STYLES[finding.status])
    yield head.append(f"{finding.code}  {finding.check}", "bold")
    yield from _hanging(Text("  "), finding.title, width, "bold")
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
    grid = [[printable(cell) for cell in row] for row in (table.columns, *table.rows)]
    name, *wide = [max(len(row[column]) for row in grid) for column in range(len(table.columns))]
    for row in grid:
        cells = "".join(f"{cell:>{max(width + 2, 9)}}" for cell, width in zip(row[1:], wide, strict=True))
        yield Text(f"  {'':{_LABEL}}{row[0]:<{max(name, 10)}}{cells}")


def _remedy(label: str, number: int, remedy: Remedy, width: int) -> Iterator[Text]:
    where = f" ({remedy.where})" if remedy.where else ""
    start = Text(f"  {label:<{_LABEL}}", "dim").append(f"{number}. ")
    if remedy.is_change:
        start.append("CHANGE ", "bold yellow")
    yield from _hanging(start, f"{remedy.text}{where}", width, indent=2 + _LABEL + 3)
    for command in remedy.commands:
        yield Text(f"{'':{2 + _LABEL + 5}}{printable(command)}", "cyan")


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
