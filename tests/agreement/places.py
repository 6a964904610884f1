"""The texts of the six places of the console at a moment, by the functions that make them for the screens."""

from __future__ import annotations

import io
from datetime import UTC

from msgspec.structs import replace

from checks.model.situation import Situation
from checks.report.standing_text import clock_in
from checks.rules.path_matrix import path_matrices
from checks.situation.foremost import foremost
from checks.situation.run_history import RunHistory
from tui.cli.text_report import text_report
from tui.console.check_list import CheckList
from tui.console.export_state import ReportState
from tui.screens.checks.finding_list import _row_lines
from tui.screens.events.lines import columns_for, event_lines, event_row
from tui.screens.paths.lines import page_of
from tui.screens.report.lines import Room, says_lines
from tui.text.line import plain
from tui.widgets.event_line import event_line
from tui.widgets.header_text import header_line
from tui.widgets.run_text import counts_line, note_on, row_lines

WIDTH = 200


def texts(history: RunHistory, situation: Situation) -> dict[str, str]:
    """Return the text of each place."""
    report = history.report
    assert report is not None
    now = replace(report, situation=situation)
    clock = clock_in(UTC, situation.at)
    listed = CheckList(report, situation, history.before, history.is_compared, tuple(o.report for o in history.gone))
    return {
        "first line": plain([header_line(report, WIDTH, situation=situation)]),
        "event line": _event_line(situation),
        "checks": _checks(listed, clock),
        "paths": _paths(report, situation),
        "report": plain(
            list(says_lines(ReportState(now, True, (), "Every check has concluded."), "None.", WIDTH, Room.MUCH))
        ),
        "export": text_report(now, io.StringIO(), full=True),
        "!": _events(situation, clock),
    }


def _event_line(situation):
    episode = foremost(situation, lambda event: True)
    return event_line(episode, "", UTC, situation.at, WIDTH)[0] if episode else ""


def _checks(listed, clock):
    rows = listed.rows()
    rows = listed.rows(unfolded=[row.key for row in rows])
    lines = [counts_line(listed, (), WIDTH)]
    for row in rows:
        lines += [
            [(f"== {row.section.name} {row.key[1]} ", "")],
            *_row_lines(row, 20, WIDTH),
            *row_lines(row, WIDTH, (note_on(row, clock),)),
        ]
    return plain(lines)


def _paths(report, situation):
    grids = path_matrices(report.cluster)
    return plain(page_of(grids, "", None, WIDTH, 100).lines)


def _events(situation, clock):
    columns = columns_for([e.event for e in situation.episodes], WIDTH, UTC, situation.at)
    lines = []
    for one in reversed(situation.episodes):
        lines += [event_row(one, columns, situation.at, WIDTH), *event_lines(one, clock, WIDTH, situation.at, waits="")]
    return plain(lines)
