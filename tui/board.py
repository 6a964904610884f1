"""What the Checks screen shows, as plain state: the run that is going on or done, and the one before it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from checks.events import CheckConcluded, Event, Gathered, GatherProgress, RunFinished, RunStarted
from checks.finding import Finding, Status
from checks.journal import Entry, Journal
from checks.result import Report

PROBLEMS = frozenset({Status.FAIL, Status.UNKNOWN, Status.WARN})
_CALM_GRAVITY = Status.INFO.gravity

Key = tuple[str, str, str, tuple[str, ...], int]
"""What makes a finding the same one in the next run: its kind and what it is about, not what was measured."""


class Mark(Enum):
    """How a finding stands to the run before."""

    NONE = ""
    NEW = "new"
    """The run before did not have it."""
    GONE = "gone"
    """Only the run before had it, and this one looked there again."""
    UNSEEN = "unseen"
    """Only the run before had it, and this one could not look there: it may well be so still."""
    BEFORE = "before"
    """From the run before: its check has not concluded again yet."""

    @property
    def sign(self) -> str:
        """The sign before a finding in the list."""
        return {Mark.NEW: "+", Mark.GONE: "-", Mark.UNSEEN: "~"}.get(self, " ")


@dataclass(frozen=True)
class Row:
    """A finding in the list."""

    key: Key
    finding: Finding
    mark: Mark
    report: Report
    """The run it comes from."""

    @property
    def rank(self) -> float:
        """Worst first; what is gone stands after what is wrong and before what is well."""
        return _CALM_GRAVITY - 0.5 if self.mark is Mark.GONE else self.finding.status.gravity

    def matches(self, words: str) -> bool:
        """Whether every word occurs in what the finding is and is about."""
        finding = self.finding
        text = f"{finding.status} {finding.code} {finding.check} {finding.subject} {finding.title} {self.mark.value}"
        text = f"{text} {finding.network} {' '.join(finding.nodes)}".casefold()
        return all(word in text for word in words.casefold().split())

    def evidence(self) -> list[Entry]:
        """The journal entries that the finding points at."""
        return Journal(self.report.journal).matching(self.finding.evidence)


class Board:
    """The runs, told event by event."""

    def __init__(self) -> None:
        self.report: Report | None = None
        self.before: Report | None = None
        self.running = False
        self.progress = ""
        self.trouble = ""
        self._finished = False
        self._checks: tuple[str, ...] = ()
        self._concluded: set[str] = set()

    def begin(self) -> None:
        """A run begins; what the last finished one found is kept to compare with."""
        if self._finished:
            self.before = self.report
        self.report = None
        self._finished = False
        self.running = True
        self.progress = "starting"
        self.trouble = ""
        self._concluded = set()

    def tell(self, event: Event, report: Report) -> None:
        """Take over an event and what is known by now."""
        self.report = report
        match event:
            case RunStarted(checks=checks):
                self._checks = checks
            case GatherProgress():
                self.progress = f"{event.text}  {event.measure}".rstrip()
            case Gathered(group=group, problem=problem):
                self.progress = f"{group} not known" if problem else f"{group} known"
            case CheckConcluded(check=check):
                self._concluded.add(check)
            case RunFinished(report=final):
                self.report = final
                self.running = False
                self._finished = True

    def fail(self, reason: str) -> None:
        """The run broke down."""
        self.running = False
        self.trouble = reason

    @property
    def in_header(self) -> Report | None:
        """The run that the header tells of: while one goes on, the one before, which knows of all problems."""
        return self.before if self.running and self.before else self.report

    @property
    def pending(self) -> tuple[str, ...]:
        """The checks that have yet to conclude."""
        return tuple(c for c in self._checks if c not in self._concluded) if self.running else ()

    def rows(self, words: str = "", *, problems_only: bool = False) -> list[Row]:
        """The findings to show, worst first."""
        rows = [
            row
            for row in self._all_rows()
            if row.matches(words) and not (problems_only and row.finding.status not in PROBLEMS)
        ]
        return sorted(rows, key=lambda row: row.rank)

    def counts(self) -> list[tuple[Status, int]]:
        """How many findings ended how, worst first; what is being checked again counts as it last was."""
        count = Counter(row.finding.status for row in self._all_rows() if row.mark is not Mark.GONE)
        return [(status, count[status]) for status in sorted(count, key=lambda s: s.gravity)]

    def changes(self) -> tuple[int, int]:
        """How many problems are new, and how many are gone."""
        marks = Counter(row.mark for row in self._all_rows())
        return marks[Mark.NEW], marks[Mark.GONE]

    def _all_rows(self) -> Iterator[Row]:
        before = dict(_keyed(self.before.findings)) if self.before else {}
        now = dict(_keyed(self.report.findings)) if self.report else {}
        for key, finding in now.items():
            same = before.get(key)
            changed = same is None or same.status is not finding.status
            new = self.before is not None and changed and finding.status in PROBLEMS
            if self.report:
                yield Row(key, finding, Mark.NEW if new else Mark.NONE, self.report)
        for key, finding in before.items():
            if self.before is None or key in now:
                continue
            if finding.check in self.pending or (self.running and not self._checks):
                yield Row(key, finding, Mark.BEFORE, self.before)
            elif finding.status in PROBLEMS and not self.trouble:
                yield Row(key, finding, Mark.UNSEEN if self._could_not_look(finding) else Mark.GONE, self.before)

    def _could_not_look(self, finding: Finding) -> bool:
        """Whether this run does not know about what the finding is about."""
        return any(
            other.status is Status.UNKNOWN
            and other.check == finding.check
            and (not (other.network or other.nodes) or _same_place(other, finding))
            for other in (self.report.findings if self.report else ())
        )


def _same_place(one: Finding, other: Finding) -> bool:
    return (bool(one.network) and one.network == other.network) or bool(set(one.nodes) & set(other.nodes))


def _keyed(findings: Iterable[Finding]) -> Iterator[tuple[Key, Finding]]:
    """Each finding with its key; further ones of the same kind about the same thing are numbered."""
    seen: Counter[tuple[str, str, str, tuple[str, ...]]] = Counter()
    for finding in findings:
        what = (finding.check, finding.code, finding.network, finding.nodes)
        yield (*what, seen[what]), finding
        seen[what] += 1
