"""One Report: everything a run knows and concluded. Each format is a view of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from checks.model.exit_codes import ExitCode
from checks.model.facts import Cluster, Unknown
from checks.model.finding import FAULTS, Finding, Status, worst_first
from checks.model.journal import Entry, Journal

SCHEMA = "racwire-report/1"


class Rerun(msgspec.Struct, frozen=True, kw_only=True):
    """A check that was run once more alone, after the run that the report is of."""

    check: str
    started_at: str
    duration_s: float
    entries: int
    """How many entries of the journal are of it. Those of all reruns stand at its end, in the order of the reruns."""


class WaiverStanding(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a waiver in a run."""

    code: str
    subject: str
    reason: str
    by: str
    expires: str
    standing: str
    """`in force`, `expired`, `lifted` (the finding is worse than what was waived), `not needed` (nothing like it was
    found), `not checked` (nobody could look)."""
    why: str = ""
    """Of one that is not in force, why: a sentence; of a lifted one, in what the finding is worse."""
    check: str = ""
    """The check that can find this code; empty where none of the run can, or any."""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What a run knows and concluded."""

    schema: str = SCHEMA
    racwire_version: str
    started_at: str
    duration_s: float
    interrupted: bool = False
    """Ended by the operator before every check had concluded; what had is here."""
    cluster: Cluster
    findings: tuple[Finding, ...]
    """Worst first."""
    journal: tuple[Entry, ...]
    reruns: tuple[Rerun, ...] = ()
    """What is later than `started_at`: the findings of these checks, and the facts that they need."""
    settings: dict[str, Any] = msgspec.field(default_factory=dict)
    """Those in use, by section; they never hold a password."""
    versions: dict[str, str] = msgspec.field(default_factory=dict)
    """What it was made with and on: `racwire`, `python`, `oracledb`, `kernel`, ..."""
    waivers: tuple[WaiverStanding, ...] = ()
    """What became of each waiver of the settings."""
    saved_at: str = ""
    """Where it was opened from a saved file: when that was written. Empty where it is live."""
    is_redacted: bool = False
    """Names and addresses in it are pseudonyms."""

    def count(self, status: Status) -> int:
        """How many findings ended so; a waived one does not count."""
        return sum(f.status is status and not f.waived for f in self.findings)

    @property
    def waived(self) -> tuple[Finding, ...]:
        """The findings that are waived."""
        return tuple(f for f in self.findings if f.waived)

    def evidence(self, finding: Finding) -> list[Entry]:
        """What the finding points at, as it was read in the run that found it."""
        return Journal(self.entries_of(finding.check)).matching(finding.evidence)

    def found_at(self, check: str) -> str:
        """When the latest run of a check began."""
        return next((again.started_at for again in self.reruns if again.check == check), self.started_at)

    def entries_of(self, check: str) -> tuple[Entry, ...]:
        """The entries of the journal that were made in the latest run of a check."""
        end = len(self.journal)
        for again in reversed(self.reruns):
            begin = end - again.entries
            if again.check == check:
                return self.journal[begin:end]
            end = begin
        return self.journal[:end]

    def joined_with(self, finding: Finding) -> tuple[Finding, ...]:
        """Other problems on the same private network, or where one of the two names none, on the same nodes: likely
        one cause. Whatever a finding is joined with is joined with it."""
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
        """The nodes it is about; a finding that names a network and no node is about all nodes on it."""
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
) -> Report:
    """Put a report together, its findings worst first."""
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
    )


def exit_code(report: Report) -> ExitCode:
    """What the command's exit status says: failures before not knowing before warnings; an interrupted run says so.

    What is waived does not count.
    """
    if report.interrupted:
        return ExitCode.INTERRUPTED
    if report.count(Status.FAIL):
        return ExitCode.FAILURES
    if report.count(Status.UNKNOWN):
        return ExitCode.COULD_NOT_TELL
    return ExitCode.WARNINGS if report.count(Status.WARN) else ExitCode.PASS
