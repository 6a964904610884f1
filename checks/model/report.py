"""The report: the facts and findings of a run. Each output format is a view of the report."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

import msgspec

from checks.model.exit_codes import ExitCode
from checks.model.facts import Cluster, Unknown
from checks.model.finding import FAULTS, EvidenceRef, Finding, Key, Status, keyed, worst_first
from checks.model.hypothesis import Diagnosis
from checks.model.investigation import SessionRecord
from checks.model.journal import Entry
from checks.model.measurement import Measurement
from checks.model.situation import Situation, Statement, status_now

SCHEMA = "racwire-report/2"
_NO_DIAGNOSIS = Diagnosis()


class Rerun(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A later run, of one check or a few others, or of the gates of a change: what it read replaces earlier facts."""

    check: str
    """The first of the checks that it ran; empty where it verified the gates of a change."""
    started_at: str
    duration_s: float
    entries: int
    """The number of its entries in the journal, which ends with the entries of all reruns in their order."""
    also: tuple[str, ...] = ()
    """The further checks that ran together with it; the entries are those of all of them."""
    groups: tuple[str, ...] = ()
    """The groups of facts that it gathered; empty where the file was written by racwire 0.2.0."""
    judged: tuple[str, ...] = ()
    """The other checks that were judged again, since they use a group that it gathered."""

    @property
    def checks(self) -> tuple[str, ...]:
        """The checks that ran together."""
        return (self.check, *self.also) if self.check else ()

    def has_judged(self, check: str) -> bool:
        """Whether the findings of a check are from this run, or were judged again on its facts."""
        return check in self.checks or check in self.judged


class WaiverStanding(msgspec.Struct, frozen=True, kw_only=True):
    """The standing of a waiver in a run."""

    code: str
    subject: str
    reason: str
    by: str
    expires: str
    standing: str
    """`in force`, `expired`, `lifted` (the finding is worse than the waived one), `not needed` (no such finding was
    made), `not checked` (no check could make it)."""
    why: str = ""
    """The reason why a waiver is not in force, in a sentence."""
    check: str = ""
    """The check that can find this code; empty where no check of the run can, or every check can."""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The facts and findings of a run."""

    schema: str = SCHEMA
    racwire_version: str
    started_at: str
    duration_s: float
    interrupted: bool = False
    """Whether the operator stopped the run before every check had finished; the report has the finished checks."""
    diagnosis: Diagnosis = _NO_DIAGNOSIS
    """The standing of each cause, those that were found first; empty where the report was written by racwire 0.2.0."""
    cluster: Cluster
    findings: tuple[Finding, ...]
    """Worst first."""
    journal: tuple[Entry, ...]
    reruns: tuple[Rerun, ...] = ()
    """The later runs of some checks, the oldest first: their facts and findings are later than `started_at`."""
    settings: dict[str, Any] = msgspec.field(default_factory=dict)
    """The settings in use, by section; they never contain a password."""
    versions: dict[str, str] = msgspec.field(default_factory=dict)
    """The versions of packages and system: `racwire`, `python`, `oracledb`, `kernel`, ..."""
    waivers: tuple[WaiverStanding, ...] = ()
    """The standing of each waiver in the settings."""
    measurements: tuple[Measurement, ...] = ()
    """The newest kept result of each kind of `racwire measure` and `racwire drill` on this cluster, at the run."""
    sessions: tuple[SessionRecord, ...] = ()
    """The newest session of `racwire investigate` on this cluster, at the run; none where there was none."""
    saved_at: str = ""
    """The time when the saved file was written from which the report was opened; empty for a live report."""
    situation: Situation | None = None
    """What was so when the report was written: what holds, what is over, what is not known, and the events; in a report
    of a run alone, as of when each finding was read. None in files of racwire 0.2.0."""
    is_redacted: bool = False
    """Whether the names and addresses in the report are pseudonyms."""

    def stated(self) -> tuple[tuple[Finding, Statement | None], ...]:
        """Return each finding with the statement about it; None where the report has none."""
        said = self.situation.of_key() if self.situation else {}
        if not said:
            return tuple((finding, None) for finding in self.findings)
        return tuple((finding, said.get(key)) for key, finding in keyed(self.findings))

    def holding(self, *statuses: Status) -> tuple[Finding, ...]:
        """Return the findings with one of these statuses that are so at the moment of the report, in their order."""
        return tuple(f for f, said in self.stated() if f.status in statuses and status_now(f, said) is f.status)

    def count(self, status: Status) -> int:
        """Return the number of findings that have that status at the moment of the report; waived ones do not count."""
        return sum(not finding.waived for finding in self.holding(status))

    @property
    def not_known(self) -> tuple[tuple[Finding, Statement], ...]:
        """The findings that were known, PASS included, and are not any more, each with the statement about it; without
        the waived ones."""
        return tuple(
            (f, said)
            for f, said in self.stated()
            if said and not f.waived and f.status is not Status.UNKNOWN and status_now(f, said) is Status.UNKNOWN
        )

    @property
    def waived(self) -> tuple[Finding, ...]:
        """The findings that are waived."""
        return tuple(f for f in self.findings if f.waived)

    def findings_of(self, keys: Iterable[Key]) -> tuple[Finding, ...]:
        """Return the findings with these keys, in the order of the keys; those that the report lacks are left out."""
        by_key = dict(keyed(self.findings))
        return tuple(by_key[key] for key in keys if key in by_key)

    def evidence(self, finding: Finding) -> list[Entry]:
        """Return the journal entries of a finding, in journal order."""
        return self.entries_for(finding.check, finding.evidence)

    def entries_for(self, check: str, references: Iterable[EvidenceRef]) -> list[Entry]:
        """Return the journal entries behind a finding of a check: of each reference, those of the newest run that has
        any, of the runs on whose facts the check was judged."""
        left = {(one.node, one.topic) for one in references}
        found: list[Entry] = []
        for again in (*reversed(self.reruns[: self.latest_of(check)]), None):
            own = [entry for entry in self.entries_in(again) if (entry.node, entry.topic) in left]
            left -= {(entry.node, entry.topic) for entry in own}
            found[:0] = own
        return found

    def found_at(self, check: str) -> str:
        """Return the start time of the newest run that read a fact on which a check was judged."""
        latest = self.latest_of(check)
        return self.reruns[latest - 1].started_at if latest else self.started_at

    def read_by(self) -> dict[str, int]:
        """Return the newest run that gathered each group of facts: 0 is the run of the report, and n its n-th rerun."""
        return {group: number for number, again in enumerate(self.reruns, 1) for group in again.groups}

    def latest_of(self, check: str) -> int:
        """Return the number of the newest run that judged a check; 0 is the run of the report."""
        return max((number for number, again in enumerate(self.reruns, 1) if again.has_judged(check)), default=0)

    def entries_in(self, rerun: Rerun | None) -> tuple[Entry, ...]:
        """Return the journal entries of one of the reruns; with None, those of the run of the report."""
        end = len(self.journal)
        for again in reversed(self.reruns):
            begin = end - again.entries
            if again is rerun:
                return self.journal[begin:end]
            end = begin
        return self.journal[:end]

    def joined_with(self, finding: Finding) -> tuple[Finding, ...]:
        """Return other problems on the same network, or on the same nodes where one of the two names no network.

        They are likely to have one cause. The relation is symmetric.
        """
        if finding.status not in FAULTS:
            return ()
        return tuple(
            other
            for other in self.findings
            if other is not finding and other.status in FAULTS and self._belong_together(finding, other)
        )

    def _belong_together(self, one: Finding, other: Finding) -> bool:
        if one.network and other.network:
            return one.network == other.network
        return not self._nodes_of(one).isdisjoint(self._nodes_of(other))

    def _nodes_of(self, finding: Finding) -> set[str]:
        """Return the nodes of a finding; a finding that names only a network is about all nodes on it."""
        if finding.nodes or not finding.network or isinstance(self.cluster.networks, Unknown):
            return set(finding.nodes)
        return {p.node for n in self.cluster.networks if n.name == finding.network for p in n.ports}


def make_report(
    *,
    version: str,
    started_at: str,
    duration_s: float,
    cluster: Cluster,
    findings: Iterable[Finding],
    journal: Iterable[Entry],
    interrupted: bool = False,
    settings: dict[str, Any] | None = None,
    versions: dict[str, str] | None = None,
    waivers: Iterable[WaiverStanding] = (),
    diagnosis: Diagnosis = _NO_DIAGNOSIS,
    measurements: Iterable[Measurement] = (),
    sessions: Iterable[SessionRecord] = (),
) -> Report:
    """Return a report with the worst findings first."""
    return Report(
        racwire_version=version,
        started_at=started_at,
        duration_s=round(duration_s, 3),
        interrupted=interrupted,
        cluster=cluster,
        findings=tuple(worst_first(list(findings))),
        journal=tuple(journal),
        settings=settings or {},
        versions=versions or {},
        waivers=tuple(waivers),
        diagnosis=diagnosis,
        measurements=tuple(measurements),
        sessions=tuple(sessions),
    )


def exit_code(report: Report) -> ExitCode:
    """Return the exit code of a report: interrupted, else that of what is so at its moment, with the events that no
    finding is about. What is over or planned does not count. What is not known any more has the code
    of UNKNOWN, also where it passed before, and so has an event of which it is not known whether it lasts."""
    if report.interrupted:
        return ExitCode.INTERRUPTED
    return exit_code_for(statuses_now(report))


def statuses_now(report: Report) -> set[Status | None]:
    """Return the statuses of what is so at the moment of a report, with the events that no finding is about; None for
    what is over or planned. Waived findings do not count."""
    besides = report.situation.statuses_besides() if report.situation else ()
    return {*besides, *_statuses(report.stated())}


def exit_code_of(stated: Iterable[tuple[Finding, Statement | None]]) -> ExitCode:
    """Return the exit code of findings with the statements about them. Waived findings do not count."""
    return exit_code_for({*_statuses(stated)})


def _statuses(stated: Iterable[tuple[Finding, Statement | None]]) -> Iterator[Status | None]:
    yield from (status_now(finding, said) for finding, said in stated if not finding.waived)


def exit_code_for(statuses: Collection[Status | None]) -> ExitCode:
    """Return the exit code for these statuses: failures before UNKNOWN before warnings."""
    if Status.FAIL in statuses:
        return ExitCode.FAILURES
    if Status.UNKNOWN in statuses:
        return ExitCode.COULD_NOT_TELL
    return ExitCode.WARNINGS if Status.WARN in statuses else ExitCode.PASS
