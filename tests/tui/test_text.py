"""The texts of the screens, at every width."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.segment import Segment
from textual.color import Color

from checks.model.finding import Finding, NextStep, Status, Table
from checks.model.journal import Entry
from checks.model.report import Report
from checks.model.situation import Situation
from checks.report.folding import alone
from checks.run.check_discovery import discover
from checks.situation.run_alone import with_situation
from tests.tui.clusters import black_hole, engine, node_unread
from tui.cli.log_file import LogFile
from tui.console.actions import CHECKS, READER, TABS, in_footer
from tui.console.start import colours_in_doubt, no_console, prepare
from tui.console.theme import PlainSigns
from tui.text.evidence_lines import evidence_lines
from tui.text.finding_lines import finding_lines
from tui.text.line import command_lines, fitted, plain, width_of, wrapped
from tui.widgets.bars import keys_line, rule_line, tab_at, tabs_line
from tui.widgets.header_text import header_line
from tui.widgets.help_text import MARKS, PATHS, STATUSES, help_lines

WIDTHS = [28, 38, 62, 118]


async def report_of(facts: object) -> Report:
    return await engine(facts).run()  # type: ignore[arg-type]


@pytest.mark.parametrize("width", WIDTHS)
async def test_every_line_of_a_finding_fits(width: int) -> None:
    report = await report_of(black_hole())
    for finding in report.findings:
        for line in finding_lines(alone(finding), report, width):
            assert width_of(line) <= width, plain([line])


@pytest.mark.parametrize("width", WIDTHS)
def test_help_fits(width: int) -> None:
    assert all(width_of(line) <= width for line in help_lines("Checks", CHECKS, (STATUSES, MARKS, PATHS), width))


@pytest.mark.parametrize("width", [20, 50, 60, 80, 120])
def test_bars_fit(width: int) -> None:
    assert width_of(rule_line(width, "probing eth2 " * 4, "PgDn: 12 more lines", joints=(40,), sign="┴")) == width
    assert width_of(keys_line(in_footer(CHECKS), width)) <= width
    assert width_of(keys_line(READER, width)) <= width


def test_the_footer_at_80_columns_names_everything() -> None:
    assert plain([keys_line(in_footer(CHECKS), 80)]) == (
        " Enter open  → unfold  v verify  i investigate  / filter  c copy  ? help  q quit"
    )


async def test_a_narrow_header_keeps_the_nodes_with_problems() -> None:
    report = with_situation(await report_of(black_hole()), discover(), 0.0)
    line = plain([header_line(report, 50, situation=report.situation)])
    assert line.split()[2:7] == ["rac1*", "rac3!", "of", "3", "nodes"]


@pytest.mark.parametrize("width", range(24, 121, 8))
async def test_the_open_change_stays_in_the_header_as_long_as_the_name_of_the_cluster(width: int) -> None:
    """It is dropped after the version, the networks and the database; the name of the cluster goes at the same time."""
    report = await report_of(black_hole())
    with_change = plain([header_line(report, width, situation=Situation(at=0.0, change="change 6/15"))])
    assert "change 6/15" in with_change
    assert len(with_change) <= width
    assert "change" not in plain([header_line(report, width)])


def test_the_mark_of_a_node_has_the_colour_of_its_worst_finding_and_past_losses_mark_none() -> None:
    def found(code: str, status: Status, node: str) -> Finding:
        return Finding(code=code, check="x", status=status, title="All.", nodes=(node,))

    findings = (
        found("X-001", Status.FAIL, "rac1"),
        found("X-002", Status.WARN, "rac1"),
        found("X-002", Status.WARN, "rac2"),
        found("IC-LOST-009", Status.WARN, "rac3"),
    )
    report = Report(
        racwire_version="1", started_at="", duration_s=0, cluster=black_hole(), findings=findings, journal=()
    )
    line = header_line(report, 120, situation=Situation(at=0.0))
    assert [role for text, role in line if text == "rac1*!"] == ["fail"]
    assert [role for text, role in line if text == "rac2!"] == ["warn"]
    assert [role for text, role in line if text == "rac3"] == [""]


async def test_a_node_that_could_not_be_read_is_marked() -> None:
    report = await report_of(node_unread())
    assert "rac3?" in plain([header_line(report, 80)])


def test_a_wide_table_continues_below_itself() -> None:
    nodes = tuple(f"rac{n}" for n in range(1, 9))
    table = Table(("from", *nodes), tuple((node, *("9000 P",) * 8) for node in nodes), "P passes")
    finding = Finding(code="X-1", check="x", status=Status.PASS, title="All.", table=table)
    report = Report(
        racwire_version="1", started_at="", duration_s=0, cluster=black_hole(), findings=(finding,), journal=()
    )
    lines = [plain([line]) for line in finding_lines(alone(finding), report, 38, is_whole=True)]
    assert all(len(line) <= 38 for line in lines)
    assert sum(line.startswith("rac8") for line in lines) == 2


def test_a_command_that_is_too_long_can_be_copied_from_the_screen_unchanged() -> None:
    command = "ping -c 3 -M do -I 192.168.11.1 -s 8972 192.168.11.3"
    lines = plain(command_lines(command, 3, 38)).splitlines()
    assert all(len(line) <= 38 for line in lines)
    assert " ".join(line.strip().removesuffix(" \\") for line in lines) == command
    assert all(line.endswith(" \\") for line in lines[:-1])


def test_a_change_is_marked() -> None:
    finding = Finding(
        code="X-1", check="x", status=Status.FAIL, title="Bad.", next=(NextStep("Mend it.", ("mend",), is_change=True),)
    )
    report = Report(racwire_version="1", started_at="", duration_s=0, cluster=black_hole(), findings=(), journal=())
    assert "1. CHANGE" in plain(finding_lines(alone(finding), report, 38))


def test_evidence_has_the_node_the_time_the_duration_and_the_exit_status() -> None:
    entry = Entry("rac2", "ssh", "ssh rac2 sh", "2026-11-20T14:02:29.120+01:00", 5003.2, "timed out after 5 s", "[b]x")
    text = plain(evidence_lines([entry], 78))
    assert text.splitlines()[0] == "rac2  14:02:29.120  5 s  timed out after 5 s"
    assert "[b]x" in text


def test_missing_evidence_is_reported() -> None:
    assert "racwire read and sent nothing" in plain(evidence_lines([], 78))


@pytest.mark.parametrize(("text", "width"), [("漢字" * 20, 11), ("word " * 9, 10), ("", 5), ("a" * 50, 12)])
def test_wrapping_counts_columns_and_loses_no_text(text: str, width: int) -> None:
    lines = wrapped(text, width)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(width_of([(line, "")]) <= width for line in lines)


def test_fitting_counts_columns() -> None:
    assert fitted("漢字漢字", 5) == "漢字…"
    assert fitted("ab", 4) == "ab  "
    assert fitted("ab", 0) == ""


def test_plain_characters_are_as_wide_as_those_that_they_replace() -> None:
    text = "─┬│ · rac1→rac2 … 漢é"
    (segment,) = PlainSigns("iso8859-1").apply([Segment(text)], Color(0, 0, 0))
    assert segment.text == "-+| . rac1>rac2 ~ ??é"
    assert segment.cell_length == Segment(text).cell_length


def test_gnu_screen_gets_256_colours_but_not_inside_tmux() -> None:
    inside, both = {"STY": "1.pts"}, {"STY": "1.pts", "TMUX": "x"}
    prepare(inside)
    prepare(both)
    assert inside["TEXTUAL_COLOR_SYSTEM"] == "256"
    assert "TEXTUAL_COLOR_SYSTEM" not in both


@pytest.mark.parametrize(
    ("environment", "doubt"),
    [
        ({"TERM": "xterm"}, True),
        ({"TERM": "xterm", "COLORTERM": "truecolor"}, False),
        ({"TERM": "xterm-256color"}, False),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, True),
        ({"TERM": "linux"}, True),
    ],
)
def test_colours_are_uncertain_if_the_terminal_is_unknown(environment: dict[str, str], doubt: bool) -> None:
    assert colours_in_doubt(environment) is doubt


def test_without_streams_there_is_no_console() -> None:
    assert no_console({"TERM": "xterm"}, None, None) == "there is no terminal"


def test_a_log_that_cannot_be_written_is_reported_and_harmless(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    log = LogFile(tmp_path / "file" / "racwire.log")
    assert log.write("text") == 4
    assert "could not be written" in log.location


def test_graphs_keep_their_shape_in_ascii() -> None:
    (segment,) = PlainSigns("ascii").apply([Segment("▁▂▃▄▅▆▇█ ⠀⡀⡄⡆⡇⣿ ±5 µs ✓✗")], Color(0, 0, 0))
    assert segment.text == "_.-=+*%#  .-=## ~5 us vx"


@pytest.mark.parametrize("encoding", ["ascii", "iso8859-1", "iso8859-15", "cp437", "koi8-r"])
def test_every_character_that_racwire_draws_has_a_plain_one_of_the_same_width(encoding: str) -> None:
    root = Path(__file__).parents[2]
    sources = [path for part in ("tui", "checks") for path in (root / part).rglob("*.py")]
    signs = "".join(sorted({sign for path in sources for sign in path.read_text() if not sign.isascii()}))
    assert "─" in signs
    (segment,) = PlainSigns(encoding).apply([Segment(signs)], Color(0, 0, 0))
    assert segment.cell_length == Segment(signs).cell_length
    assert "?" not in segment.text
    assert segment.text.encode(encoding).decode(encoding) == segment.text


@pytest.mark.parametrize("current", ["checks", "measure"])
def test_tabs_without_room_are_their_keys(current: str) -> None:
    for width in range(40, 90):
        shown = plain([tabs_line(TABS, current, width)])
        assert len(shown) <= width
        assert f"[{TABS[current]}]" in shown
        for mode, tab in TABS.items():
            assert tab_at(TABS, current, width, shown.index(tab[0])) == mode
