"""The history of one cluster from its saved files: how it is, since when, what changed, and what is not known any more.

Pure functions: the moment from which ages count is given.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from checks.fleet.file_summary import FileSummary, Problem
from checks.model.facts import Cluster, Node
from checks.model.facts.node import UnreadNode
from checks.model.finding import FAULTS, Finding, Status
from checks.model.report import Report
from checks.report.coverage import Coverage
from checks.report.diff import verdict
from checks.report.diff_findings import finding_changes
from checks.report.diff_kind import DiffKind

MOST_LINES = 60
"""Most files of a history, the newest ones."""
DAYS = 14
_MOST_LOST = 20
_UNCHANGED = (DiffKind.SAME, DiffKind.NO_PROBLEM)


class SavedFile(NamedTuple):
    """A saved file, and what it says."""

    path: str
    summary: FileSummary


class HistoryLine(msgspec.Struct, frozen=True, kw_only=True):
    """A file of a history."""

    moment: str
    path: str
    status: Status
    headline: str
    causes: str
    changed: str
    """What changed since the file before, in a sentence; empty where nothing did, and for the first."""
    racwire_version: str
    interrupted: bool


class LostProblem(msgspec.Struct, frozen=True, kw_only=True):
    """A fault of an earlier file, whose place no later one examined again."""

    title: str
    code: str
    check: str
    status: Status
    moment: str
    """The moment of the newest file that has it."""


class Since(msgspec.Struct, frozen=True, kw_only=True):
    """The first of the consecutive files that have the first problem; without a problem, that have none."""

    moment: str
    is_oldest: bool
    """Whether no older file is there: it can have been so before."""
    not_known: int
    """The files since then that could not tell."""


class Day(msgspec.Struct, frozen=True):
    """The worst status in the files of a day, by the calendar of the cluster."""

    day: str
    status: Status


class ClusterHistory(msgspec.Struct, frozen=True, kw_only=True):
    """One cluster of a fleet."""

    name: str
    names_before: tuple[str, ...]
    """The other names that it had, the newest first."""
    nodes: tuple[str, ...]
    is_redacted: bool
    status: Status
    """How it is, as far as known; UNKNOWN where it may have changed since."""
    was: Status | None
    """Where the status is UNKNOWN, the worst that was so when it was known; None where it was not known."""
    is_old: bool
    """Whether the newest file is older than it should be."""
    moment: str
    """The moment of the newest file."""
    age_s: float
    """Below 0 where the newest file is from the future of this clock."""
    has_zone: bool
    path: str
    headline: str
    causes: str
    stands: str
    problems: tuple[Problem, ...]
    more_problems: int
    counts: dict[str, int]
    not_known: int
    waived: int
    unread: tuple[str, ...]
    since: Since
    changed: str
    lost: tuple[LostProblem, ...]
    interrupted: bool
    racwire_version: str
    is_verified: bool
    versions: dict[str, int]
    """The number of files by the version of racwire that judged them."""
    files: int
    left_out: int
    """The files that are older than all of these, which were not considered."""
    history: tuple[HistoryLine, ...]
    """The newest first."""
    days: tuple[Day, ...]
    """The newest last."""

    @property
    def gravity(self) -> tuple[int, int]:
        """The rank for sorting the worst first: what is not known counts as what it was when that was worse."""
        known = self.was or self.status
        return min(known.gravity, self.status.gravity), self.status.gravity


def history_of(files: Sequence[SavedFile], now: float, old_s: float | None, left_out: int = 0) -> ClusterHistory:
    """Return the history of the files of one cluster, at least one, in any order. `old_s` is the age from which the
    newest file says nothing of the present; None for no such age. `left_out` is the number of older files."""
    ordered = sorted(files, key=lambda file: (file.summary.at, file.path))
    newest = ordered[-1]
    told = newest.summary
    looks = [_Look(file.summary) for file in ordered]
    lost = _lost(looks)
    age_s = now - told.at
    is_old = old_s is not None and age_s > old_s
    status = min(Status.UNKNOWN, told.status, key=_gravity) if lost else told.status
    was: Status | None = None
    if is_old or status is Status.UNKNOWN:
        faults = [fault.status for fault in lost] + [p.status for p in told.problems if p.status in FAULTS]
        was = min([*faults, *([told.status] if told.status is not Status.UNKNOWN else [])], key=_gravity, default=None)
        status = Status.UNKNOWN
    return ClusterHistory(
        name=told.name,
        names_before=tuple(dict.fromkeys(f.summary.name for f in reversed(ordered) if f.summary.name != told.name)),
        nodes=told.nodes,
        is_redacted=told.is_redacted,
        status=status,
        was=was,
        is_old=is_old,
        moment=told.moment,
        age_s=round(age_s, 3),
        has_zone=told.has_zone,
        path=newest.path,
        headline=told.headline,
        causes=told.problems[0].causes if told.problems else "",
        stands=told.stands,
        problems=told.problems,
        more_problems=told.more_problems,
        counts=told.counts,
        not_known=told.not_known,
        waived=told.waived,
        unread=told.unread,
        since=_since(looks),
        changed=_changed(looks[-2:]),
        lost=tuple(lost),
        interrupted=told.interrupted,
        racwire_version=told.racwire_version,
        is_verified=told.is_verified,
        versions=_numbers(file.summary.racwire_version for file in ordered),
        files=len(ordered),
        left_out=left_out,
        history=tuple(_lines(ordered, looks)),
        days=tuple(_days(ordered)),
    )


def _gravity(status: Status) -> int:
    return status.gravity


class _Look:
    """What a file says, and what its run examined."""

    def __init__(self, told: FileSummary) -> None:
        self.told = told
        ran = (Finding(code="", check=check, status=Status.PASS, title="") for check in told.ran)
        nodes: tuple[Node | UnreadNode, ...] = tuple(
            UnreadNode(name=name, reason="") if name in told.unread else Node(name=name, read_by="")
            for name in told.nodes
        )
        cluster = Cluster(local_node="", taken_at="", nodes=nodes)
        of = Report(racwire_version="", started_at="", duration_s=0.0, cluster=cluster, findings=(), journal=())
        self.coverage = Coverage([*told.findings, *ran], of)
        self.problems = [f for f in told.findings if f.status is not Status.SKIPPED]

    def knows(self, finding: Finding, made_by: _Look) -> bool:
        """Whether its run examined the place of a finding of another file."""
        return self.coverage.ran(finding.check) and self.coverage.sees(finding, made_by.coverage)

    def has(self, problem: Problem) -> bool:
        """Whether it has a problem: a cause of the same kind at the same place, or at a part of that place."""
        if problem.causes:
            return any(
                one.is_known and one.causes == problem.causes and _meets(one.shown_by, problem.shown_by)
                for one in self.told.problems
            )
        return self.has_finding(problem.shown_by)

    def has_finding(self, finding: Finding) -> bool:
        """Whether it has a finding of that kind at the same place, or at a part of that place."""
        return any(
            (f.check, f.code) == (finding.check, finding.code)
            and (f.status is Status.UNKNOWN) is (finding.status is Status.UNKNOWN)
            and _meets(f, finding)
            for f in self.problems
        )


def _meets(one: Finding, other: Finding) -> bool:
    shares_nodes = not one.nodes or not other.nodes or bool({*one.nodes} & {*other.nodes})
    return one.network == other.network and shares_nodes


def _since(looks: Sequence[_Look]) -> Since:
    newest, unknown, first = looks[-1], 0, len(looks) - 1
    problem = next((p for p in newest.told.problems if p.is_known), None)
    gap = 0
    for number in range(len(looks) - 2, -1, -1):
        look = looks[number]
        if look.has(problem) if problem else look.told.status is newest.told.status:
            first, unknown, gap = number, unknown + gap, 0
        elif problem.shown_by.status in FAULTS and not look.knows(problem.shown_by, newest) if problem else False:
            gap += 1
        else:
            break
    return Since(moment=looks[first].told.moment, is_oldest=first == 0, not_known=unknown)


def _changed(two: Sequence[_Look]) -> str:
    if len(two) < 2:
        return ""
    before, after = two
    changes = finding_changes(before.problems, after.problems, coverage=(before.coverage, after.coverage))
    return "" if all(change.change in _UNCHANGED for change in changes) else verdict(changes)


def _lost(looks: Sequence[_Look]) -> list[LostProblem]:
    """The faults that a file has and no later file examined again, worst first."""
    left: list[tuple[Finding, _Look]] = []
    for number, look in enumerate(looks):
        left = [(finding, by) for finding, by in left if not look.has_finding(finding) and not look.knows(finding, by)]
        if number < len(looks) - 1:
            left += [(finding, look) for finding in look.problems if finding.status in FAULTS and not finding.waived]
    left.sort(key=lambda one: (one[0].status.gravity, -one[1].told.at))
    return [
        LostProblem(title=f.title, code=f.code, check=f.check, status=f.status, moment=by.told.moment)
        for f, by in left[:_MOST_LOST]
    ]


def _lines(ordered: Sequence[SavedFile], looks: Sequence[_Look]) -> Iterator[HistoryLine]:
    for number in range(len(ordered) - 1, max(-1, len(ordered) - 1 - MOST_LINES), -1):
        file = ordered[number]
        yield HistoryLine(
            moment=file.summary.moment,
            path=file.path,
            status=file.summary.status,
            headline=file.summary.headline,
            causes=file.summary.problems[0].causes if file.summary.problems else "",
            changed=_changed(looks[number - 1 : number + 1]) if number else "",
            racwire_version=file.summary.racwire_version,
            interrupted=file.summary.interrupted,
        )


def _days(ordered: Sequence[SavedFile]) -> Iterator[Day]:
    worst: dict[str, Status] = {}
    for file in ordered:
        day = file.summary.moment[:10]
        worst[day] = min(worst.get(day, file.summary.status), file.summary.status, key=_gravity)
    yield from (Day(day, worst[day]) for day in sorted(worst)[-DAYS:])


def _numbers(names: Iterable[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for name in names:
        found[name] = found.get(name, 0) + 1
    return dict(sorted(found.items()))
