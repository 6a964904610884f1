"""A fleet as text: a table of the clusters, the worst first; of one cluster, its history."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from checks.fleet.cluster_history import DAYS, ClusterHistory
from checks.fleet.fleet_overview import Fleet
from checks.fleet.fleet_words import age, cause, commands_of, notes, remarks, since, title
from checks.model.finding import Status
from checks.model.wording import few
from checks.report.age import time_text
from tui.cli.output import columns_of, render
from tui.text.finding_lines import role_of, status_word
from tui.text.line import Line, Span, clipped, command_lines, hanging, sanitize_line

_NARROWEST, _WIDEST = 60, 200
_STATUS, _AGE, _SINCE, _FILES = 8, 13, 12, 6
_SHORTEST, _LONGEST = 8, 32
"""Columns of the name of a cluster."""
_SAME_LINE = 60
"""Columns from which the cause is on the line of its cluster, and not below it."""
_NO_FILE = "."
_MOST_UNREAD = 20
"""Most files that could not be read of which the text says why."""


def fleet_text(fleet: Fleet, stream: TextIO) -> str:
    """The table for that stream: coloured for a terminal (unless NO_COLOR), plain for a pipe or a file."""
    return render(_table(fleet, columns_of(stream, narrowest=_NARROWEST, widest=_WIDEST)), stream)


def cluster_text(fleet: Fleet, stream: TextIO) -> str:
    """The history of each cluster of the fleet, for that stream."""
    width = columns_of(stream, narrowest=_NARROWEST, widest=_WIDEST)
    lines = [line for cluster in fleet.clusters for line in _cluster(cluster, fleet, width)]
    return render(lines, stream)


def _table(fleet: Fleet, width: int) -> Iterator[Line]:
    yield from hanging([], title(fleet), width, "title")
    counts: list[Span] = []
    for status in sorted(Status, key=lambda one: one.gravity):
        if number := fleet.count(status):
            counts += [(f"{number:,} {status}", role_of(status)), ("  ", "")]
    if fleet.read.unread:
        counts.append((f"{len(fleet.read.unread):,} not read", "unknown"))
    if counts:
        yield counts
    days = fleet.last_days()
    named = max((len(sanitize_line(cluster.name)) for cluster in fleet.clusters), default=0)
    fixed = _STATUS + _AGE + _SINCE + _FILES + DAYS + 3
    name = min(max(named, _SHORTEST), _LONGEST, max(width - fixed, _SHORTEST)) + 1
    if fleet.clusters:
        yield []
        head = f"{'STATUS':<{_STATUS}}{'CLUSTER':<{name}}{'AGE':<{_AGE}}{'SINCE':<{_SINCE}}{'FILES':>{_FILES - 1}} "
        yield [(f"{head}{DAYS} DAYS TO {days[-1][5:] if days else ''}", "label")]
    for cluster in fleet.clusters:
        yield from _row(cluster, fleet, name, days, width)
    found = [*notes(fleet), *(one.reason for one in fleet.read.unread[:_MOST_UNREAD])]
    if left := len(fleet.read.unread[_MOST_UNREAD:]):
        found.append(f"and {left:,} more that could not be read (--format json)")
    if found:
        yield []
    for note in found:
        yield from hanging([], note, width)


def _row(cluster: ClusterHistory, fleet: Fleet, name: int, days: tuple[str, ...], width: int) -> Iterator[Line]:
    is_well = cluster.status in (Status.PASS, Status.INFO)
    begun = "" if cluster.since.is_oldest else cluster.since.moment[:10]
    row: list[Span] = [
        status_word(cluster.status),
        (clipped(sanitize_line(cluster.name), name - 1) + " ", "title"),
        (f"{age(cluster):<{_AGE}}", "warn" if cluster.is_old else ""),
        (f"{begun:<{_SINCE}}{cluster.files:>{_FILES - 1},} ", ""),
        *_days(cluster, days),
    ]
    said = [] if is_well else [cause(cluster.headline, cluster.causes)]
    used = sum(len(text) for text, _ in row) + 2
    if said and width - used >= _SAME_LINE:
        yield from hanging([*row, ("  ", "")], said.pop(), width)
    else:
        yield row
    indent: Line = [(" " * _STATUS, "")]
    if not is_well and cluster.changed:
        said.append(cluster.changed)
    for text in said:
        yield from hanging(indent, text, width)
    for text in remarks(cluster, fleet):
        yield from hanging(indent, text, width, "faint")


def _days(cluster: ClusterHistory, days: tuple[str, ...]) -> Iterator[Span]:
    """The worst of each day: a letter, or a dot where there is no file."""
    worst = {day.day: day.status for day in cluster.days}
    for day in days:
        yield (worst[day].letter, role_of(worst[day])) if day in worst else (_NO_FILE, "faint")


def _cluster(cluster: ClusterHistory, fleet: Fleet, width: int) -> Iterator[Line]:
    yield [status_word(cluster.status), (sanitize_line(cluster.name), "title"), (f"  {few(cluster.nodes, 8)}", "faint")]
    yield from hanging([("As of   ", "label")], f"{time_text(cluster.moment)} ({age(cluster)})", width)
    yield from hanging([("Since   ", "label")], since(cluster.since), width)
    for number, problem in enumerate(cluster.problems):
        label = "Now     " if number == 0 else " " * _STATUS
        known = "" if problem.is_known else "Not known any longer: "
        yield from hanging(
            [(label, "label"), status_word(problem.status)], known + cause(problem.headline, problem.causes), width
        )
    if not cluster.problems:
        yield from hanging([("Now     ", "label")], cluster.headline, width)
    if cluster.more_problems:
        yield [(" " * _STATUS, ""), (f"and {cluster.more_problems} more", "faint")]
    if cluster.changed:
        yield from hanging([("Changed ", "label")], cluster.changed, width)
    for text in remarks(cluster, fleet):
        yield from hanging([("Note    ", "label")], text, width)
    for command in commands_of(cluster):
        yield from command_lines(command, _STATUS, width)
    yield []
    yield [(f"HISTORY, {cluster.files:,} files", "label")]
    indent: Line = [("  ", "")]
    for line in cluster.history:
        start: Line = [(f"{time_text(line.moment)}  ", ""), status_word(line.status)]
        yield from hanging(start, cause(line.headline, line.causes), width)
        if line.changed:
            yield from hanging(indent, line.changed, width, "faint")
        yield from hanging(indent, line.path, width, "faint")
    if left := cluster.files - len(cluster.history):
        yield [(f"and {left:,} older files", "faint")]
    yield []
