"""What racwire did: every file, command, query and probe, by node, in the order in which they began."""

from __future__ import annotations

from dataclasses import dataclass

from checks.model.report import Report
from checks.model.wording import counted
from checks.report.html.output_section import Output, Outputs


@dataclass(frozen=True)
class NodeJournal:
    """All that was done on one node."""

    node: str
    sentence: str
    outputs: tuple[Output, ...]


def journals(report: Report, outputs: Outputs) -> tuple[NodeJournal, ...]:
    """Each node, in the order in which they were first asked."""
    by_node: dict[str, list[Output]] = {}
    for output in outputs.take(report.journal):
        by_node.setdefault(output.entry.node, []).append(output)
    return tuple(NodeJournal(node, _sentence(done), tuple(done)) for node, done in by_node.items())


def _sentence(done: list[Output]) -> str:
    failed = sum(output.entry.outcome != "ok" for output in done)
    return f"{counted(len(done), 'action')}{f', {failed} of them without success' if failed else ''}."
