"""What a run examined: the places of another run's findings that it knows about."""

from __future__ import annotations

from collections.abc import Iterable

from checks.model.facts import PrivateNetwork
from checks.model.finding import EvidenceRef, Finding, Status, could_not_look
from checks.model.report import Report
from checks.model.wording import few


class Coverage:
    """The checks that the run of a report finished, and the places that it examined.

    A check that ran does not cover a node or a network that is not in its report, a place that it skipped, or
    evidence of which it read no part, such as AWR.
    """

    def __init__(self, findings: Iterable[Finding], report: Report | None = None) -> None:
        """Take the findings of a run, and its report; without a report, every place counts as examined."""
        self._report = report
        self._ran: set[str] = set()
        self._unknown: dict[str, list[Finding]] = {}
        self._skipped: dict[str, list[Finding]] = {}
        for finding in findings:
            if finding.status is Status.SKIPPED:
                self._skipped.setdefault(finding.check, []).append(finding)
            else:
                self._ran.add(finding.check)
            if finding.status is Status.UNKNOWN:
                self._unknown.setdefault(finding.check, []).append(finding)

    def ran(self, check: str) -> bool:
        """Whether the run included this check."""
        return check in self._ran

    def sees(self, finding: Finding, made_by: Coverage, *, every_node: bool = True) -> bool:
        """Whether the run examined the place of a finding that another run made: each of its nodes, or one of them."""
        nodes = [self.sees_node(node) for node in finding.nodes] or [True]
        return not (
            could_not_look(self._unknown.get(finding.check, ()), finding)
            or any(_is_there(skipped, finding) for skipped in self._skipped.get(finding.check, ()))
            or not (all(nodes) if every_node else any(nodes))
            or not self._sees_network(finding.network)
            or not self._read(finding, made_by)
        )

    def sees_node(self, node: str) -> bool:
        """Whether the run read this node; True where its nodes are not known."""
        if self._report is None or not isinstance(self._report.cluster.nodes, tuple) or not self._report.cluster.nodes:
            return True
        return any(read.name == node for read in self._report.cluster.read_nodes())

    def _sees_network(self, network: str) -> bool:
        networks = self._report.cluster.networks if self._report else ()
        if not network or not isinstance(networks, tuple) or not networks:
            return True
        return any(isinstance(one, PrivateNetwork) and one.name == network for one in networks)

    def _read(self, finding: Finding, made_by: Coverage) -> bool:
        """Whether the run read a part of the evidence that the other run has for a finding."""
        had = made_by._known(finding.check, finding.evidence)
        if not had or self._report is None or made_by._report is None:
            return True
        here, there = self._report.cluster.local_node, made_by._report.cluster.local_node
        # A tool for the whole cluster runs on the local node, which may be another one.
        as_here = [
            EvidenceRef(here, ref.topic) if ref.node == there and not finding.nodes else ref for ref in finding.evidence
        ]
        return bool(self._known(finding.check, as_here))

    def _known(self, check: str, references: Iterable[EvidenceRef]) -> bool:
        entries = self._report.entries_for(check, references) if self._report else ()
        return any(entry.outcome == "ok" for entry in entries)


def covers_alike(one: Finding, other: Finding) -> bool:
    """Return whether the extents of two findings compare: both are of the same instances or nodes. Findings of racwire
    0.2.0 do not name theirs, and count as alike."""
    return not (one.covers and other.covers) or {*one.covers} == {*other.covers}


def coverage_text(before: Finding, after: Finding) -> str:
    """Return what only one of two runs read, where their extents do not compare: `prac2 not read`; else nothing."""
    if covers_alike(before, after):
        return ""
    missing = [name for name in before.covers if name not in after.covers]
    more = [name for name in after.covers if name not in before.covers]
    texts = [f"{few(missing)} not read"] if missing else []
    texts += [f"{few(more)} not read before"] if more else []
    return "; ".join(texts)


def _is_there(skipped: Finding, finding: Finding) -> bool:
    """Whether a check skipped the place of a finding: its network, and one of its nodes where it names nodes."""
    if skipped.network != finding.network:
        return False
    shared = {*skipped.nodes} & {*finding.nodes}
    return bool(shared) or bool(skipped.network and not skipped.nodes)
