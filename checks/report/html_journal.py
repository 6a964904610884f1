"""What racwire did: every file, command, query and probe, by node, in the order in which they began."""

from __future__ import annotations

from dataclasses import dataclass

from checks.report.html_outputs import Output, Outputs
from checks.report.quantities import seconds
from checks.result import Report
from checks.wording import counted


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


def brief(action: str, most: int = 110) -> str:
    """An action on one line: a query or a program of many lines is told by its beginning."""
    line = " ".join(action.split())
    return line if len(line) <= most else f"{line[: most - 2].rpartition(' ')[0] or line[: most - 2]} …"


def is_brief(action: str) -> bool:
    """Whether that line is all of it."""
    return brief(action) == action


def took(duration_ms: float) -> str:
    """`0.7 ms`, `1.3 s`."""
    if not 0 <= duration_ms < 1e15:
        return "?"
    return seconds(duration_ms / 1000) if duration_ms >= 1000 else f"{duration_ms:.3g} ms"


def clock(time: str) -> str:
    """The time of day of an entry, to the millisecond; the day and the zone stand at the top of the page."""
    day, _, rest = time.partition("T")
    return rest[:12] if len(day) == 10 and rest else time
