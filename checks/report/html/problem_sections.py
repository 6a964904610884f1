"""The findings of the HTML page: each problem is a section with its evidence and the problems of the same cause."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from checks.model.finding import Finding
from checks.model.report import Report
from checks.model.wording import counted
from checks.report.folding import Alike, grouped_by_reason
from checks.report.html.output_section import OutputEntry, OutputPlacer
from checks.report.situation_words import stands
from checks.report.summary import problems, waived

MOST_RELATED = 4


@dataclass(frozen=True)
class RelatedProblem:
    """Another problem that probably has the same cause."""

    anchor: str
    finding: Finding


@dataclass(frozen=True)
class ProblemSection:
    """One problem of the page."""

    anchor: str
    alike: Alike
    """The finding, and the others that are UNKNOWN for exactly the same reason."""
    related: tuple[RelatedProblem, ...]
    more_related: int
    """The number of related problems that `related` leaves out."""
    outputs: tuple[OutputEntry, ...]
    how: str = ""
    """The words of the statement about it: `since 20:17:58, as of 20:18:04`."""

    @property
    def finding(self) -> Finding:
        """The finding."""
        return self.alike.finding


def problem_sections(
    report: Report, outputs: OutputPlacer
) -> tuple[tuple[ProblemSection, ...], tuple[ProblemSection, ...]]:
    """Return the open problems and the waived problems, each worst first."""
    grouped = [list(grouped_by_reason(found)) for found in (problems(report), waived(report))]
    anchors: dict[int, str] = {}
    for number, alike in enumerate((one for group in grouped for one in group), 1):
        for finding in (alike.finding, *alike.others):
            anchors[id(finding)] = f"p{number}"
    said = {id(f): one for f, one in report.stated()}

    def how(alike: Alike) -> str:
        return stands(alike.finding, said[id(alike.finding)], report)

    open_, accepted = ([_problem(report, one, anchors, outputs, how(one)) for one in group] for group in grouped)
    return tuple(open_), tuple(accepted)


def anchors_of(parts: Sequence[ProblemSection]) -> dict[int, str]:
    """Return the anchor of the section of each finding, by its identity."""
    return {id(f): part.anchor for part in parts for f in (part.finding, *part.alike.others)}


def grouping_note(parts: Sequence[ProblemSection], report: Report) -> str:
    """Return the sentence that says why there are fewer entries than findings; empty where the numbers are equal."""
    findings = len(problems(report)) + len(waived(report))
    if findings == len(parts):
        return ""
    entries = "1 entry" if len(parts) == 1 else f"{len(parts)} entries"
    return f"{entries} for {findings} findings: findings that are unknown for the same reason share one entry."


def _problem(report: Report, alike: Alike, anchors: dict[int, str], outputs: OutputPlacer, how: str) -> ProblemSection:
    finding = alike.finding
    related = _related(report.joined_with(finding), finding, anchors)
    return ProblemSection(
        anchor=anchors[id(finding)],
        alike=alike,
        related=tuple(related[:MOST_RELATED]),
        more_related=max(len(related) - MOST_RELATED, 0),
        outputs=outputs.place(report.evidence(finding)),
        how=how,
    )


def _related(others: Iterable[Finding], finding: Finding, anchors: dict[int, str]) -> list[RelatedProblem]:
    """Return one related problem for each code, except the code of the finding itself."""
    by_code = {other.code: RelatedProblem(anchors[id(other)], other) for other in reversed(list(others))}
    return [related for code, related in reversed(by_code.items()) if code != finding.code]


@dataclass(frozen=True)
class NodeJournal:
    """All journal entries of one node."""

    node: str
    sentence: str
    outputs: tuple[OutputEntry, ...]


def node_journals(report: Report, outputs: OutputPlacer) -> tuple[NodeJournal, ...]:
    """Return the journal of each node, in the order of the nodes' first entries."""
    by_node: dict[str, list[OutputEntry]] = {}
    for output in outputs.place(report.journal):
        by_node.setdefault(output.entry.node, []).append(output)
    return tuple(NodeJournal(node, _sentence(done), tuple(done)) for node, done in by_node.items())


def _sentence(done: list[OutputEntry]) -> str:
    failed = sum(output.entry.outcome != "ok" for output in done)
    return f"{counted(len(done), 'action')}{f', {failed} of these failed' if failed else ''}."
