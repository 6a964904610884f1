"""The texts of the six places of the console at a moment, by the functions that make them for the screens.

A place is a list of blocks: a row with what the pane says of it, an event, a line."""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import UTC

from msgspec.structs import replace

from checks.model.report import Report
from checks.model.situation import Situation
from checks.report.matrices_now import matrices_now
from checks.report.standing_text import Clock, clock_in
from checks.situation.foremost import foremost
from checks.situation.run_history import RunHistory
from tui.cli.text_report import text_report
from tui.console.check_list import CheckList
from tui.console.export_state import ReportState
from tui.screens.checks.list_rows import rows_of_list
from tui.screens.events.lines import columns_for, event_lines, event_row
from tui.screens.paths.lines import foot_lines, page_of
from tui.screens.report.lines import Room, says_lines
from tui.text.line import plain
from tui.widgets.event_line import event_line, hint_for
from tui.widgets.header_text import header_line
from tui.widgets.run_text import counts_line, row_lines

WIDTH = 200
PLACES = ("first line", "event line", "checks", "paths", "report", "export", "events")

Texts = dict[str, list[str]]


def texts(history: RunHistory, situation: Situation) -> Texts:
    """Return the blocks of each place. The history has a report."""
    report = history.report
    assert report is not None
    now = replace(report, situation=situation)
    clock = clock_in(UTC, situation.at)
    listed = CheckList(report, situation, history.before, history.is_compared, tuple(o.report for o in history.gone))
    summary = says_lines(ReportState(now, True, (), ""), "", WIDTH, Room.MUCH)
    return {
        "first line": [plain([header_line(report, WIDTH, situation=situation)])],
        "event line": list(_event_line(situation)),
        "checks": list(_checks(listed, clock)),
        "paths": list(_paths(report, situation, clock)),
        "report": [plain(list(summary))],
        "export": [text_report(now, io.StringIO(), full=True)],
        "events": list(_events(situation, clock)),
    }


def _event_line(situation: Situation) -> Iterator[str]:
    episode = foremost(situation, lambda event: True)
    if episode is not None:
        hint = hint_for(episode, is_past=False, is_running=False, on_checks=False, can_run=True)
        yield event_line(episode, hint, UTC, situation.at, WIDTH)[0]


def _checks(listed: CheckList, clock: Clock) -> Iterator[str]:
    yield plain([counts_line(listed, (), WIDTH)])
    folded = listed.rows()
    for row in listed.rows(unfolded=[row.key for row in folded]):
        yield plain([*rows_of_list(row, 20, WIDTH, clock), *row_lines(row, WIDTH, clock)])


def _paths(report: Report, situation: Situation, clock: Clock) -> Iterator[str]:
    for grid in matrices_now(report.cluster, situation, clock):
        yield plain(page_of([grid], grid.network.name, None, WIDTH, 100).lines)
        for cell in grid.ways:
            yield f"{grid.network.name} {cell.letter} {plain(foot_lines([grid], cell, WIDTH - 60, 5))}"


def _events(situation: Situation, clock: Clock) -> Iterator[str]:
    columns = columns_for([one.event for one in situation.episodes], WIDTH, UTC, situation.at)
    for one in reversed(situation.episodes):
        lines = event_lines(one, clock, WIDTH, situation.at, waits="")
        yield plain([event_row(one, columns, situation.at, WIDTH), *lines])
