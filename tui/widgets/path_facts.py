"""Which run a screen tells of: while a group of facts is being gathered anew, what the run before knew stays."""

from __future__ import annotations

from checks.facts import Cluster, Unknown
from checks.result import Report
from tui.board import Board

_NOT_YET = Unknown("not asked for")
"""What a group is until it has been gathered (`checks.facts.Cluster`)."""


def report_with(board: Board, group: str) -> Report | None:
    """The newest run that knows that group of facts, or why it is not known; None where none does yet."""
    for report in (board.report, board.before):
        if report is not None and not (_lacks(report.cluster, group) and _may_come(board, report)):
            return report
    return None


def _lacks(cluster: Cluster, group: str) -> bool:
    return bool(getattr(cluster, group) == _NOT_YET)


def _may_come(board: Board, report: Report) -> bool:
    """Whether a group that is not there was not left out, but is still to be gathered, or never was."""
    return report is board.report and (board.running or bool(board.trouble))
