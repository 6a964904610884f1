"""What the Checks screen shows, as plain state: the run that is going on or done, and the one before it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from checks.model.facts import Cluster
from checks.model.finding import PROBLEMS, Finding, Key, Status, could_not_look, keyed
from checks.model.journal import Entry
from checks.model.report import Report, WaiverStanding
from checks.rules.waivers import ended
from checks.run.events import CheckConcluded, Event, Gathered, GatherProgress, RunFinished, RunStarted
from checks.run.rerun import merged

_CALM_GRAVITY = Status.INFO.gravity
_CALM_GROUPS = {Status.INFO: "Worth knowing", Status.PASS: "Passed", Status.SKIPPED: "Skipped"}


class RowMark(Enum):
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
        return {RowMark.NEW: "+", RowMark.GONE: "-", RowMark.UNSEEN: "~"}.get(self, " ")


@dataclass(frozen=True)
class FindingRow:
    """A finding in the list."""

    key: Key
    finding: Finding
    mark: RowMark
    report: Report
    """The run it comes from."""

    @property
    def rank(self) -> float:
        """Worst first; what is waived, and after it what is gone, stands after what is wrong and before what is
        well."""
        if self.mark is RowMark.GONE:
            return _CALM_GRAVITY - 0.25
        return _CALM_GRAVITY - 0.5 if self.finding.waived else self.finding.status.gravity

    @property
    def group(self) -> str:
        """Under which heading it stands; in the order of the ranks each group stands together."""
        if self.mark is RowMark.GONE:
            return "Gone"
        if self.finding.waived:
            return "Waived"
        return "Problems" if self.finding.status in PROBLEMS else _CALM_GROUPS[self.finding.status]

    def matches(self, words: str) -> bool:
        """Whether every word occurs in what the finding is and is about."""
        finding = self.finding
        text = f"{finding.status} {finding.code} {finding.check} {finding.subject} {finding.title} {self.mark.value}"
        text = f"{text} {finding.network} {' '.join(finding.nodes)} {'waived' if finding.waived else ''}".casefold()
        return all(word in text for word in words.casefold().split())

    def evidence(self) -> list[Entry]:
        """The journal entries that the finding points at."""
        return self.report.evidence(self.finding)


class RunState:
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
        self._again = ""
        """The check that is run alone."""
        self._whole: Report | None = None
        """The report that it is run again for."""
        self._gathered: list[str] = []
        self._before_of: dict[str, Report] = {}
        """Checks that were run alone since: what there was before that."""

    def begin(self, check: str = "") -> None:
        """A run begins, of all checks or of one of those that the last finished run had; what that found is kept to
        compare with. Raises ValueError where one check shall be run again and there is no finished run."""
        known = self.report if self._finished else self._whole if self._again else None
        if check:
            if known is None:
                raise ValueError("no finished run to add to")
            self._before_of = {**self._before_of, check: known}
        else:
            self.before, self._before_of = known or self.before, {}
        self.report = known if check else None
        self._again, self._whole, self._gathered = check, known if check else None, []
        self._finished = False
        self.running = True
        self.progress = "starting"
        self.trouble = ""
        self._checks = ()
        self._concluded = set()

    def apply(self, event: Event, report: Report) -> None:
        """Take over an event and what the run knows by now."""
        match event:
            case RunStarted(checks=checks):
                self._checks = checks
            case GatherProgress():
                self.progress = f"{event.text}  {event.measure}".rstrip()
                return
            case Gathered(group=group, problem=problem):
                self._gathered.append(group)
                self.progress = f"{group} not gathered" if problem else f"{group} gathered"
            case CheckConcluded(check=check):
                self._concluded.add(check)
            case RunFinished(report=final):
                report = final
                self.running = False
                self._finished = True
        self.report = merged(self._whole, report, self._again, self._gathered) if self._whole else report

    def fail(self, reason: str) -> None:
        """The run broke down. Where it was of one check, what was known before stays."""
        self.running = False
        self.trouble = reason
        if self._whole:
            self.report, self._finished = self._whole, True

    @property
    def is_whole(self) -> bool:
        """Whether there is a report of all checks, to which one that is run again can be added."""
        return self._finished or self._whole is not None

    @property
    def compares(self) -> bool:
        """Whether there is a run before to compare with."""
        return self.before is not None or bool(self._before_of)

    @property
    def in_header(self) -> Report | None:
        """The run that the header tells of: while one goes on, the one before, which knows of all problems."""
        return self._whole or self.before or self.report if self.running else self.report

    @property
    def pending(self) -> tuple[str, ...]:
        """The checks that have yet to conclude."""
        checks = self._checks or ((self._again,) if self._again else ())
        return tuple(c for c in checks if c not in self._concluded) if self.running else ()

    def rows(self, words: str = "", *, problems_only: bool = False) -> list[FindingRow]:
        """The findings to show, worst first."""
        rows = [
            row
            for row in self._all_rows()
            if row.matches(words) and not (problems_only and row.finding.status not in PROBLEMS)
        ]
        return sorted(rows, key=lambda row: row.rank)

    def counts(self) -> list[tuple[Status, int]]:
        """How many findings that are not waived ended how, worst first; what is being checked again counts as it last
        was."""
        shown = [row for row in self._all_rows() if row.mark is not RowMark.GONE and not row.finding.waived]
        count = Counter(row.finding.status for row in shown)
        return [(status, count[status]) for status in sorted(count, key=lambda s: s.gravity)]

    @property
    def waived(self) -> int:
        """How many findings are waived."""
        return sum(bool(row.finding.waived) for row in self._all_rows() if row.mark is not RowMark.GONE)

    @property
    def ended_waivers(self) -> tuple[WaiverStanding, ...]:
        """The waivers that cover nothing any more, or not all that they covered; while a run goes on, of the one
        before."""
        return ended(self.in_header.waivers) if self.in_header else ()

    def changes(self) -> tuple[int, int]:
        """How many problems are new, and how many are gone."""
        marks = Counter(row.mark for row in self._all_rows())
        return marks[RowMark.NEW], marks[RowMark.GONE]

    def _all_rows(self) -> Iterator[FindingRow]:
        before = dict(self._found_before())
        now = dict(keyed(self.report.findings)) if self.report else {}
        for key, finding in now.items():
            if self.report is None or finding.check in self._being_rechecked:
                continue
            same = before.get(key)
            changed = same is None or same[0].status is not finding.status or bool(same[0].waived)
            compared = self.before is not None or finding.check in self._before_of
            new = compared and changed and finding.status in PROBLEMS and not finding.waived
            yield FindingRow(key, finding, RowMark.NEW if new else RowMark.NONE, self.report)
        for key, (finding, report) in before.items():
            waited_for = finding.check in self.pending or (self.running and not self._checks and not self._again)
            if waited_for:
                yield FindingRow(key, finding, RowMark.BEFORE, report)
            elif key not in now and finding.status in PROBLEMS and not self.trouble:
                unseen = could_not_look(self.report.findings if self.report else (), finding)
                yield FindingRow(key, finding, RowMark.UNSEEN if unseen else RowMark.GONE, report)

    @property
    def _being_rechecked(self) -> tuple[str, ...]:
        """The check that is run alone, until it has concluded: what it found before stands for it."""
        return self.pending if self._again else ()

    def _found_before(self) -> Iterator[tuple[Key, tuple[Finding, Report]]]:
        """What there was before: of each check since it was last run."""
        if self.before:
            for key, finding in keyed(self.before.findings):
                if finding.check not in self._before_of:
                    yield key, (finding, self.before)
        for check, report in self._before_of.items():
            for key, finding in keyed(f for f in report.findings if f.check == check):
                yield key, (finding, report)


def report_with(board: RunState, group: str) -> Report | None:
    """The newest run that knows that group of facts, or why it is not known: while it is being gathered anew, what the
    run before knew stays. None where none knows yet."""
    for report in (board.report, board.before):
        if report is not None and not (_lacks(report.cluster, group) and _may_come(board, report)):
            return report
    return None


def _lacks(cluster: Cluster, group: str) -> bool:
    return not cluster.is_gathered(group)


def _may_come(board: RunState, report: Report) -> bool:
    """Whether a group that is not there was not left out, but is still to be gathered, or never was."""
    return report is board.report and (board.running or bool(board.trouble))
