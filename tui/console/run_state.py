"""The state of the runs of the checks: the current or last one, the earlier ones of the session, and what is gone."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterator, Sequence

import msgspec

from checks.model.facts import Cluster, PathProbe
from checks.model.finding import FAULTS, PROBLEMS, Finding, Key, Status, could_not_look, keyed
from checks.model.measurement import Measurement
from checks.model.report import Report, WaiverStanding
from checks.model.run_record import RunRecord
from checks.report.causes import ReportEntry, cause_entries
from checks.rules.waivers import ended
from checks.run.events import CheckConcluded, Event, Gathered, GatherProgress, PathsSoFar, RunFinished, RunStarted
from tui.console.finding_rows import (
    FindingRow,
    RowMark,
    by_cause,
    calm_folded,
    cause_rows,
    folded_rows,
)

KEPT_RUNS = 8
"""The most runs of the session that can be revisited; a report of a large cluster takes megabytes."""


class RunState:
    """The current and the previous run, updated event by event; the earlier runs of the session; what is gone."""

    def __init__(self) -> None:
        self.report: Report | None = None
        self.before: Report | None = None
        self.running = False
        self.progress = ""
        self.trouble = ""
        self.runs: deque[Report] = deque(maxlen=KEPT_RUNS)
        """The reports of the last finished runs of the session, the newest last."""
        self.proofs: dict[Key, str] = {}
        """What became of a cause that was verified, a sentence, by the key of its row; since the last full run."""
        self.verdict = ""
        """What became of what the last run verified, a sentence; empty where it verified nothing."""
        self._finished = False
        self._checks: tuple[str, ...] = ()
        self._concluded: set[str] = set()
        self._again: tuple[str, ...] = ()
        """The checks that run without the others; empty where all checks run."""
        self._whole: Report | None = None
        """The full report that such checks add to."""
        self.paths_so_far: tuple[PathProbe, ...] = ()
        """The paths that this run has probed while others are pending."""
        self._before_of: dict[str, Report] = {}
        """By check that ran without the others since the last full run: the report before that."""
        self._gone: dict[Key, FindingRow] = {}
        """The causes and findings of earlier runs that are gone, until they are dismissed or found again."""
        self._dismissed: set[Key] = set()
        self._verified: FindingRow | None = None
        """The row that the checks in progress verify."""

    def start(self, checks: Sequence[str] = (), verified: FindingRow | None = None) -> None:
        """Note the start of a run, of all checks or of some checks of the last finished run, whose findings are kept
        for comparison; they may verify a row. Raises ValueError where some checks are to run again and there is no
        finished run."""
        known = self.report if self._finished else self._whole if self._again else None
        if checks:
            if known is None:
                raise ValueError("no finished run to add to")
            self._before_of = {**self._before_of, **dict.fromkeys(checks, known)}
        else:
            self.before, self._before_of = known or self.before, {}
            self.proofs = {}
        self.report = known if checks else None
        self._again, self._whole = tuple(checks), known if checks else None
        self._verified, self.verdict = verified, ""
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
                self.progress = f"{group} not gathered" if problem else f"{group} gathered"
            case CheckConcluded(check=check):
                self._concluded.add(check)
            case RunFinished(report=final):
                report = final
                self.running = False
                self._finished = True
        if self._whole:
            # Before the first screen, what judges again would delay it.
            from checks.run.check_discovery import discover
            from checks.run.rerun import judged_again

            part = RunRecord(report=report, ended=0.0, checks=self._again)
            report = judged_again(self._whole, part, {check.id: check for check in discover()})
        self.report = report
        if self._finished:
            self._conclude(report)

    def _conclude(self, report: Report) -> None:
        """Keep the report of a finished run, and what it no longer found; judge what it was to verify."""
        self.runs.append(report)
        rows = list(self._all_rows())
        for row in rows:
            if row.mark is not RowMark.GONE and row.finding.status in PROBLEMS:
                self._dismissed -= {row.key, row.old_key}
                self._gone.pop(row.key, None)
        gone = [row for row in by_cause(rows, (), self._former_causes(), ()) if row.mark is RowMark.GONE]
        self._gone |= {row.key: row for row in (*gone, *rows) if row.mark is RowMark.GONE}
        if self._verified is not None:
            # The modules of the catalogue would delay the first screen.
            from checks.diagnosis.proof import outcome_of

            row, self._verified = self._verified, None
            findings = row.findings
            shown = row.entry.findings if row.entry else findings
            causes = row.entry.causes if row.entry else ()
            self.proofs[row.key] = self.verdict = outcome_of(causes, shown, findings, report, self._again)

    def fail(self, reason: str) -> None:
        """Note that the run failed. Where it was a run of some checks, the report before it stays."""
        self.running = False
        self.trouble = reason
        if self._whole:
            self.report, self._finished = self._whole, True

    def add_measurement(self, measurement: Measurement) -> None:
        """Add the result of a measurement to the report, in place of an older one of its kind."""
        if self.report is not None:
            others = (one for one in self.report.measurements if one.kind != measurement.kind)
            self.report = msgspec.structs.replace(self.report, measurements=(*others, measurement))

    def of_past(self, number: int) -> RunState:
        """Return the state after an earlier run of the session: `runs[number]`, compared with the run before it."""
        past = RunState()
        past.report, past._finished = self.runs[number], True
        past.before = self.runs[number - 1] if number else None
        return past

    def dismiss(self, row: FindingRow) -> bool:
        """Remove from the list what is gone; return False where the row is not gone."""
        if row.mark is not RowMark.GONE:
            return False
        keys = {row.key, *row.keys}
        self._dismissed |= keys
        self._gone = {key: other for key, other in self._gone.items() if key not in keys}
        return True

    @property
    def is_whole(self) -> bool:
        """Whether there is a report of all checks, to which single checks can add."""
        return self._finished or self._whole is not None

    @property
    def checks_alone(self) -> tuple[str, ...]:
        """The checks of the last run, where it ran some without the others; empty where it ran all."""
        return self._again

    @property
    def verifying(self) -> int:
        """The number of checks that verify a cause at present; 0 where none do."""
        return len(self._again) if self._verified is not None and self.running else 0

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
        checks = self._checks or self._again
        return tuple(c for c in checks if c not in self._concluded) if self.running else ()

    def rows(self, query: str = "", *, problems_only: bool = False, unfolded: Collection[Key] = ()) -> list[FindingRow]:
        """Return the causes, then the findings, worst first, then what is gone, and at the end one row for all that
        passed and one for all that was skipped. Those that are UNKNOWN for one reason are one row, as in reports. What
        belongs to a row follows it, where that is one of `unfolded`, and is left out elsewhere. With a query: only
        findings, those that match it."""
        known = self._rows_with_gone()
        rows = [
            row for row in known if row.matches(query) and not (problems_only and row.finding.status not in PROBLEMS)
        ]
        rows = folded_rows(sorted(rows, key=lambda row: row.rank))
        if query:
            return rows
        listed = by_cause(rows, self._cause_rows(), self._former_causes(), unfolded)
        return list(calm_folded(listed, unfolded))

    def causes(self) -> tuple[ReportEntry, ...]:
        """Return the causes that were found; during a run, those of the previous run."""
        return cause_entries(self.in_header) if self.in_header else ()

    def _cause_rows(self) -> list[FindingRow]:
        report = self.in_header
        mark = RowMark.NONE if report is self.report else RowMark.BEFORE
        return list(cause_rows(report, mark)) if report else []

    def _former_causes(self) -> list[FindingRow]:
        """Return the causes of the runs before, those that are gone for longer last."""
        reports = {id(report): report for report in (self.before, *self._before_of.values()) if report}
        found = [row for report in reports.values() for row in cause_rows(report)]
        found += [row for row in self._gone.values() if row.entry]
        return list({row.key: row for row in reversed(found) if row.key not in self._dismissed}.values())[::-1]

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
        """Return how many problems are new, and how many are gone since the previous run."""
        marks = Counter(row.mark for row in self._all_rows())
        return marks[RowMark.NEW], marks[RowMark.GONE]

    def _rows_with_gone(self) -> list[FindingRow]:
        """Return the findings of this run and of the previous one, and what earlier runs had and is gone."""
        rows = [row for row in self._all_rows() if row.mark is not RowMark.GONE or row.key not in self._dismissed]
        present = {key for row in rows for key in (row.key, row.old_key)}
        return [*rows, *(row for row in self._gone.values() if not row.entry and row.key not in present)]

    def _all_rows(self) -> Iterator[FindingRow]:
        before = dict(self._found_before())
        now = dict(keyed(self.report.findings)) if self.report else {}
        again = self._being_rechecked
        now = {key: finding for key, finding in now.items() if finding.check not in again}
        pairs = _pairs({key: finding for key, (finding, _) in before.items()}, now)
        for key, finding in now.items() if self.report else ():
            old_key = pairs.get(key)
            same = before[old_key][0] if old_key in before else None
            compared = self.before is not None or finding.check in self._before_of
            mark = _mark_of(finding, same) if compared else RowMark.NONE
            assert self.report is not None
            yield FindingRow(key, finding, mark, self.report, before=same, old_key=old_key)
        paired = set(pairs.values())
        for key, (finding, report) in before.items():
            is_pending = finding.check in self.pending or (self.running and not self._checks and not self._again)
            if is_pending:
                yield FindingRow(key, finding, RowMark.BEFORE, report)
            elif key not in paired and finding.status in PROBLEMS and not self.trouble:
                unseen = could_not_look(self.report.findings if self.report else (), finding)
                missed_at = self.report.found_at(finding.check) if self.report else ""
                mark = RowMark.UNSEEN if unseen else RowMark.GONE
                yield FindingRow(key, finding, mark, report, missed_at=missed_at)

    @property
    def _being_rechecked(self) -> tuple[str, ...]:
        """The checks that run without the others, until they have concluded: their previous findings count until
        then."""
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


def _pairs(before: dict[Key, Finding], now: dict[Key, Finding]) -> dict[Key, Key]:
    """Return for each present finding the key of the same problem in the previous run: `racwire diff` matches them by
    the same rule."""
    if not before:
        return {}
    # Before the first screen there is no previous run, and the module would delay it.
    from checks.report.diff_findings import same_findings

    key_of = {id(finding): key for findings in (before, now) for key, finding in findings.items()}
    pairs = [(one, other) for one, other in same_findings(before, now) if one is not None and other is not None]
    return {key_of[id(other)]: key_of[id(one)] for one, other in pairs}


def _mark_of(finding: Finding, same: Finding | None) -> RowMark:
    """Return the mark of a present finding, from the same one of the previous run."""
    if finding.status not in PROBLEMS or finding.waived:
        return RowMark.NONE
    if same is None or same.status not in PROBLEMS or same.waived:
        return RowMark.NEW
    from checks.report.diff_findings import change_between
    from checks.report.diff_kind import DiffKind

    change = change_between(same, finding)
    if change is DiffKind.BECAME_KNOWN:
        return RowMark.NEW if finding.status in FAULTS else RowMark.NONE
    if change in (DiffKind.MORE_SEVERE, DiffKind.HIGHER, DiffKind.MORE_NODES):
        return RowMark.WORSE
    return RowMark.BETTER if change in (DiffKind.LESS_SEVERE, DiffKind.LOWER, DiffKind.FEWER_NODES) else RowMark.NONE


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
