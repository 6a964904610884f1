"""The findings as the page has them: each problem a part of its own, with what it is joined with and what was read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from checks.model.finding import Finding, Status
from checks.model.report import Report
from checks.model.wording import counted
from checks.report.folding import told_together
from checks.report.html.output_section import Outputs, ShownOutput
from checks.report.summary import problems, waived

MOST_JOINED = 4


@dataclass(frozen=True)
class Joined:
    """Another problem that is likely of the same cause."""

    anchor: str
    finding: Finding


@dataclass(frozen=True)
class Problem:
    """A part of the page."""

    anchor: str
    finding: Finding
    likewise: tuple[Finding, ...]
    """Others that could not tell for the very same reason."""
    joined: tuple[Joined, ...]
    joined_more: int
    """How many more it is joined with."""
    outputs: tuple[ShownOutput, ...]


def problem_parts(report: Report, outputs: Outputs) -> tuple[tuple[Problem, ...], tuple[Problem, ...]]:
    """The problems worst first, and those that the operator lives with."""
    told = [list(told_together(found)) for found in (problems(report), waived(report))]
    anchors: dict[int, str] = {}
    for number, (first, likewise) in enumerate((one for group in told for one in group), 1):
        for finding in (first, *likewise):
            anchors[id(finding)] = f"p{number}"
    open_, lived_with = ([_problem(report, *one, anchors, outputs) for one in group] for group in told)
    return tuple(open_), tuple(lived_with)


def together(parts: Sequence[Problem], report: Report) -> str:
    """Why there are fewer entries than findings, in a sentence; empty where there are not."""
    findings = len(problems(report)) + len(waived(report))
    if findings == len(parts):
        return ""
    entries = "1 entry" if len(parts) == 1 else f"{len(parts)} entries"
    return f"{entries} for {findings} findings: those that could not tell for the same reason share one."


def _problem(
    report: Report, finding: Finding, likewise: tuple[Finding, ...], anchors: dict[int, str], outputs: Outputs
) -> Problem:
    joined = _joined(report.joined_with(finding), finding, anchors)
    return Problem(
        anchor=anchors[id(finding)],
        finding=finding,
        likewise=likewise,
        joined=tuple(joined[:MOST_JOINED]),
        joined_more=max(len(joined) - MOST_JOINED, 0),
        outputs=outputs.take(report.evidence(finding)),
    )


def _joined(others: Iterable[Finding], finding: Finding, anchors: dict[int, str]) -> list[Joined]:
    """One of each code, and none of its own."""
    by_code = {other.code: Joined(anchors[id(other)], other) for other in reversed(list(others))}
    return [joined for code, joined in reversed(by_code.items()) if code != finding.code]


def calm(report: Report) -> Sequence[Finding]:
    """What is well, and what is only worth knowing."""
    return [f for f in report.findings if f.status in (Status.INFO, Status.PASS)]


@dataclass(frozen=True)
class NodeJournal:
    """All that was done on one node."""

    node: str
    sentence: str
    outputs: tuple[ShownOutput, ...]


def journals(report: Report, outputs: Outputs) -> tuple[NodeJournal, ...]:
    """Each node, in the order in which they were first asked."""
    by_node: dict[str, list[ShownOutput]] = {}
    for output in outputs.take(report.journal):
        by_node.setdefault(output.entry.node, []).append(output)
    return tuple(NodeJournal(node, _sentence(done), tuple(done)) for node, done in by_node.items())


def _sentence(done: list[ShownOutput]) -> str:
    failed = sum(output.entry.outcome != "ok" for output in done)
    return f"{counted(len(done), 'action')}{f', {failed} of them without success' if failed else ''}."
