"""The state of the Checks screen: the current or last run, and the previous one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import groupby

import msgspec

from checks.model.facts import Cluster, PathProbe
from checks.model.finding import PROBLEMS, Finding, Key, Status, could_not_look, keyed
from checks.model.journal import Entry
from checks.model.measurement import Measurement
from checks.model.report import Report, WaiverStanding
from checks.report.causes import ReportEntry, cause_entries
from checks.report.folding import grouped_by_reason, groups_by_reason
from checks.rules.waivers import ended
from checks.run.events import CheckConcluded, Event, Gathered, GatherProgress, PathsSoFar, RunFinished, RunStarted

_CALM_GRAVITY = Status.INFO.gravity
_CALM_GROUPS = {Status.INFO: "Worth knowing", Status.PASS: "Passed", Status.SKIPPED: "Skipped"}


class RowMark(Enum):
    """How a finding compares with the previous run."""

    NONE = ""
    NEW = "new"
    """The previous run did not have the finding."""
    GONE = "gone"
    """Only the previous run had the finding; this run checked the same and did not find it."""
    UNSEEN = "unseen"
    """Only the previous run had the finding; this run could not check it, so it may still exist."""
    BEFORE = "before"
    """The finding is from the previous run: its check has not concluded again yet."""

    @property
    def sign(self) -> str:
        """The sign in front of a finding in the list."""
        return {RowMark.NEW: "+", RowMark.GONE: "-", RowMark.UNSEEN: "~"}.get(self, " ")


@dataclass(frozen=True)
class FindingRow:
    """A finding in the list."""

    key: Key
    finding: Finding
    mark: RowMark
    report: Report
    """The report of the run that found it."""
    likewise: tuple[Finding, ...] = ()
    """The other findings that are UNKNOWN for the same reason, which the row stands for."""
    keys: frozenset[Key] = frozenset()
    """The keys of all findings of the row; empty for a single finding."""
    entry: ReportEntry | None = None
    """The cause that the row stands for; `finding` is then the strongest finding that shows it."""
    is_open: bool = False
    """Whether the rows of the cause's findings follow."""
    cause: Key | None = None
    """The key of the row of the cause that the finding belongs to."""

    def has(self, key: Key) -> bool:
        """Return whether the row stands for the finding with that key."""
        return key == self.key or key in self.keys

    @property
    def checks(self) -> tuple[str, ...]:
        """The checks of all findings of the row."""
        return tuple(dict.fromkeys(name for f in (self.finding, *self.likewise) for name in f.check.split(", ")))

    @property
    def rank(self) -> float:
        """The sort key of the list: problems, worst first, then waived findings, gone findings, and the rest."""
        if self.mark is RowMark.GONE:
            return _CALM_GRAVITY - 0.25
        return _CALM_GRAVITY - 0.5 if self.finding.waived else self.finding.status.gravity

    @property
    def group(self) -> str:
        """The heading above the finding; the order of the ranks keeps each group together."""
        if self.entry or self.cause:
            return "Causes"
        if self.mark is RowMark.GONE:
            return "Gone"
        if self.finding.waived:
            return "Waived"
        return "Problems" if self.finding.status in PROBLEMS else _CALM_GROUPS[self.finding.status]

    def matches(self, query: str) -> bool:
        """Return whether every word of the query occurs in the codes, names and title of the finding."""
        finding = self.finding
        text = f"{finding.status} {finding.code} {finding.check} {finding.subject} {finding.title} {self.mark.value}"
        text = f"{text} {finding.network} {' '.join(finding.nodes)} {'waived' if finding.waived else ''}".casefold()
        return all(word in text for word in query.casefold().split())

    def evidence(self) -> list[Entry]:
        """Return the journal entries behind the finding, and behind those that the row stands for."""
        findings = self.entry.all_findings if self.entry else (self.finding, *self.likewise)
        found = [entry for f in findings for entry in self.report.evidence(f)]
        return list({id(entry): entry for entry in found}.values())


class RunState:
    """The current and the previous run, updated event by event."""

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
        """The check that runs alone; empty where all checks run."""
        self._whole: Report | None = None
        """The full report that a check that runs alone adds to."""
        self.paths_so_far: tuple[PathProbe, ...] = ()
        """The paths that this run has probed while others are pending."""
        self._gathered: list[str] = []
        self._before_of: dict[str, Report] = {}
        """By check that ran alone since the last full run: the report before that."""

    def start(self, check: str = "") -> None:
        """Note the start of a run, of all checks or of one check of the last finished run, whose findings are kept for
        comparison. Raises ValueError where one check is to run again and there is no finished run."""
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
        self.paths_so_far = ()
        self.running = True
        self.progress = "starting"
        self.trouble = ""
        self._checks = ()
        self._concluded = set()

    def apply(self, event: Event, report: Report) -> None:
        """Apply an event and the report of the run at that moment."""
        match event:
            case RunStarted(checks=checks):
                self._checks = checks
            case GatherProgress():
                self.progress = f"{event.text}  {event.measure}".rstrip()
                return
            case PathsSoFar(probes=probes):
                self.paths_so_far = probes
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
        if self._whole:
            # Before the first screen, what a merge needs would delay it.
            from checks.run.rerun import merged

            report = merged(self._whole, report, self._again, self._gathered)
        self.report = report

    def fail(self, reason: str) -> None:
        """Note that the run failed. Where it was a run of one check, the report before it stays."""
        self.running = False
        self.trouble = reason
        if self._whole:
            self.report, self._finished = self._whole, True

    def add_measurement(self, measurement: Measurement) -> None:
        """Add the result of a measurement to the report, in place of an older one of its kind."""
        if self.report is not None:
            others = (one for one in self.report.measurements if one.kind != measurement.kind)
            self.report = msgspec.structs.replace(self.report, measurements=(*others, measurement))

    @property
    def is_whole(self) -> bool:
        """Whether there is a report of all checks, to which a single check can add."""
        return self._finished or self._whole is not None

    @property
    def compares(self) -> bool:
        """Whether there is a previous run to compare with."""
        return self.before is not None or bool(self._before_of)

    @property
    def in_header(self) -> Report | None:
        """The report for the header: during a run, that of the previous run, which has all problems."""
        return self._whole or self.before or self.report if self.running else self.report

    @property
    def pending(self) -> tuple[str, ...]:
        """The checks that have not concluded yet."""
        checks = self._checks or ((self._again,) if self._again else ())
        return tuple(c for c in checks if c not in self._concluded) if self.running else ()

    def rows(self, query: str = "", *, problems_only: bool = False, unfolded: Collection[Key] = ()) -> list[FindingRow]:
        """Return the causes, then the findings, worst first. Those that are UNKNOWN for one reason are one row, as in
        reports. A finding of a cause follows its cause, where that is one of `unfolded`, and is left out elsewhere.
        With a query: only findings, those that match it."""
        rows = [
            row
            for row in self._all_rows()
            if row.matches(query) and not (problems_only and row.finding.status not in PROBLEMS)
        ]
        rows = folded_rows(sorted(rows, key=lambda row: row.rank))
        return rows if query else list(self._by_cause(rows, unfolded))

    def causes(self) -> tuple[ReportEntry, ...]:
        """Return the causes that were found; during a run, those of the previous run."""
        return cause_entries(self.in_header) if self.in_header else ()

    def _by_cause(self, rows: Sequence[FindingRow], unfolded: Collection[Key]) -> Iterator[FindingRow]:
        """Yield the causes, then the rows that belong to none. A cause whose findings are all gone is left out."""
        report = self.in_header
        taken: set[Key] = set()
        for row in _cause_rows(report, is_old=report is not self.report) if report else ():
            below = [other for other in rows if other.key in row.keys and other.mark is not RowMark.GONE]
            if not below:
                continue
            taken |= row.keys
            is_open = row.key in unfolded
            is_new = all(other.mark is RowMark.NEW for other in below)
            yield replace(row, is_open=is_open, mark=RowMark.NEW if is_new else row.mark)
            yield from (replace(other, cause=row.key) for other in below if is_open)
        yield from (row for row in rows if row.key not in taken or row.mark is RowMark.GONE)

    def counts(self) -> list[tuple[Status, int]]:
        """Return the number of findings of each status, worst first, without waived ones. A finding that is being
        checked again counts with its last status."""
        shown = [row for row in self._all_rows() if row.mark is not RowMark.GONE and not row.finding.waived]
        count = Counter(row.finding.status for row in shown)
        return [(status, count[status]) for status in sorted(count, key=lambda s: s.gravity)]

    @property
    def waived(self) -> int:
        """The number of waived findings."""
        return sum(bool(row.finding.waived) for row in self._all_rows() if row.mark is not RowMark.GONE)

    @property
    def ended_waivers(self) -> tuple[WaiverStanding, ...]:
        """The waivers that have ended, or cover less than before; during a run, those of the previous run."""
        return ended(self.in_header.waivers) if self.in_header else ()

    def changes(self) -> tuple[int, int]:
        """Return how many problems are new, and how many are gone."""
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
            is_pending = finding.check in self.pending or (self.running and not self._checks and not self._again)
            if is_pending:
                yield FindingRow(key, finding, RowMark.BEFORE, report)
            elif key not in now and finding.status in PROBLEMS and not self.trouble:
                unseen = could_not_look(self.report.findings if self.report else (), finding)
                yield FindingRow(key, finding, RowMark.UNSEEN if unseen else RowMark.GONE, report)

    @property
    def _being_rechecked(self) -> tuple[str, ...]:
        """The check that runs alone, until it has concluded: its previous findings count until then."""
        return self.pending if self._again else ()

    def _found_before(self) -> Iterator[tuple[Key, tuple[Finding, Report]]]:
        """Yield the previous findings of each check, from the run before its last one."""
        if self.before:
            for key, finding in keyed(self.before.findings):
                if finding.check not in self._before_of:
                    yield key, (finding, self.before)
        for check, report in self._before_of.items():
            for key, finding in keyed(f for f in report.findings if f.check == check):
                yield key, (finding, report)


def _cause_rows(report: Report, *, is_old: bool) -> Iterator[FindingRow]:
    """Yield a row for each cause of a report; its keys are those of its findings."""
    key_of = {id(finding): key for key, finding in keyed(report.findings)}
    for number, entry in enumerate(cause_entries(report)):
        first = entry.causes[0]
        places = (*first.networks, *first.places)
        keys = frozenset(key_of[id(f)] for f in entry.all_findings)
        finding = msgspec.structs.replace(entry.findings[0], next=entry.next)
        mark = RowMark.BEFORE if is_old else RowMark.NONE
        key = ("", first.cause, " ".join(places), first.nodes, 0 if places or first.nodes else number)
        yield FindingRow(key, finding, mark, report, keys=keys, entry=entry)


def folded_rows(rows: Sequence[FindingRow]) -> list[FindingRow]:
    """Return the rows with one row in place of all that are UNKNOWN for the same reason: the first of them."""
    found: dict[Key, FindingRow] = {}
    for _, alike in groupby(rows, key=lambda row: (row.mark.value, id(row.report), row.group)):
        by_id = {id(row.finding): row for row in alike}
        findings = [row.finding for row in by_id.values()]
        groups = groups_by_reason(findings)
        for (finding, likewise), group in zip(grouped_by_reason(findings), groups, strict=True):
            own = by_id[id(group[0])]
            keys = frozenset(by_id[id(one)].key for one in group) if len(group) > 1 else frozenset()
            found[own.key] = replace(own, finding=finding, likewise=likewise, keys=keys) if keys else own
    return [found[row.key] for row in rows if row.key in found]


def report_with(board: RunState, group: str) -> Report | None:
    """Return the report of the newest run that has gathered that group of facts, or has a reason why not. While the
    group is being gathered again, the previous run counts. None where no run has the group yet."""
    for report in (board.report, board.before):
        if report is not None and not (_lacks(report.cluster, group) and _may_come(board, report)):
            return report
    return None


def _lacks(cluster: Cluster, group: str) -> bool:
    return not cluster.is_gathered(group)


def _may_come(board: RunState, report: Report) -> bool:
    """Whether a missing group was not left out on purpose: it is still to be gathered, or the run failed before."""
    return report is board.report and (board.running or bool(board.trouble))
