"""The bench itself: its table, and its terminal, which counts and answers as a real one."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from bench.__main__ import main
from bench.programs.stops import MadeSign
from bench.rows import Row, figure, not_measured, table
from bench.terminal import Terminal, TerminalError
from bench.usage import rss_mb

ENVIRONMENT = {"PATH": os.environ["PATH"], "TERM": "xterm-256color"}


@pytest.mark.parametrize(
    ("measured", "budget", "verdict"),
    [(1.4, 1.5, "met"), (1.5, 1.5, "met"), (1.6, 1.5, "not met"), (0, 0, "met")],
)
def test_a_figure_is_compared_with_its_budget(measured: float, budget: float, verdict: str) -> None:
    assert Row("CPU", "%", measured, budget).verdict == verdict


def test_a_least_figure_is_met_from_its_limit_upwards() -> None:
    assert [Row("rate", "x", found, 0.85, is_least=True).verdict for found in (0.84, 0.85, 1.2)] == [
        "not met",
        "met",
        "met",
    ]


def test_a_limit_that_is_not_met_on_a_noisy_machine_shows_nothing() -> None:
    noisy = [Row("p50", "%", found, 25, doubt="sockperf itself differed by 30 %").verdict for found in (20, 40)]
    assert noisy == ["met", "could not tell: sockperf itself differed by 30 %"]


def test_a_single_byte_is_over_a_budget_of_zero() -> None:
    row = Row("nothing changing", "B/s", 0.1, 0)
    assert (row.verdict, row.ratio) == ("not met", None)


def test_a_missing_measurement_is_neither_within_nor_over_its_budget() -> None:
    row = not_measured("bytes, against btop", "btop is not installed here")
    assert row.verdict == "not measured: btop is not installed here"
    assert row.measured is None


def test_a_figure_without_a_budget_is_for_comparison() -> None:
    assert Row("CPU, btop", "%", 0.4).verdict == "for comparison"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.0412, "0.041"), (1.234, "1.23"), (45.67, "45.7"), (1234.5, "1,234"), (-3.21, "-3.21")],
)
def test_figures_have_three_digits(value: float, text: str) -> None:
    assert figure(value) == text


def test_the_table_has_each_row_on_a_line_with_its_notes_below() -> None:
    rows = [Row("first paint", "x", 1.5, 1.25, notes=("medians of 7",)), not_measured("keys", "no cluster")]
    head, rule, *lines = table(rows).splitlines()
    assert head.split() == ["measurement", "limit", "measured", "ratio", "verdict"]
    assert set(rule) == {"─", " "}
    assert lines[0].split() == ["first", "paint", "≤", "1.25", "x", "1.50", "x", "1.20", "not", "met"]
    assert lines[1] == "    medians of 7"
    assert lines[2].split(maxsplit=1) == ["keys", "not measured: no cluster"]


def python(code: str) -> Terminal:
    """A terminal in which Python runs this program."""
    return Terminal([sys.executable, "-I", "-S", "-c", code], ENVIRONMENT)


def test_the_terminal_counts_the_bytes_that_it_receives() -> None:
    with python("input(); print('x' * 1000, end='', flush=True); input()") as terminal:
        terminal.read_for(0.3)
        terminal.send("\n")
        assert terminal.read_for(0.5) == len("\r\n") + 1000  # the terminal echoes the key


def test_the_terminal_answers_a_query_that_arrives_in_two_parts() -> None:
    code = (
        "import os, sys, time, tty; tty.setraw(0)\n"
        "for part in ('\\x1b[?20', '26$p'): os.write(1, part.encode()); time.sleep(0.1)\n"
        "os.write(1, ascii(os.read(0, 100)).encode()); time.sleep(30)"
    )
    with python(code) as terminal:
        assert terminal.read_until(r"b'\x1b[?2026;2$y'") > terminal.started_at


def test_the_terminal_finds_text_across_escape_sequences() -> None:
    with python(r"print('\x1b[1m1 \x1b[0mChecks'); input()") as terminal:
        terminal.read_until("1 Checks")


def test_a_missing_text_is_reported_with_the_actual_output() -> None:
    with python("print('out of order'); input()") as terminal, pytest.raises(TerminalError, match="out of order"):
        terminal.read_until("1 Checks", within_s=0.3)


def test_a_program_that_has_ended_is_an_error_and_not_a_measurement_of_0() -> None:
    with python("print('the last words')") as terminal:
        terminal.read_for(0.3)
        with pytest.raises(TerminalError, match="the last words"):
            rss_mb(terminal)


def test_a_program_that_ignores_the_signal_is_killed() -> None:
    code = "import os, signal, time; signal.signal(15, signal.SIG_IGN); print(f'pid {os.getpid()}.'); time.sleep(60)"
    terminal = python(code)
    terminal.read_until("pid ")
    terminal.read_for(0.2)
    terminal.end_timeout_s = 0.2
    terminal.close()
    pid = terminal.text.partition("pid ")[2].partition(".")[0]
    assert not Path(f"/proc/{pid}").exists()


def test_an_unknown_measurement_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--only", "speed"])
    assert ended.value.code == 2
    assert "first-paint" in capsys.readouterr().err


def test_the_made_sign_stands_in_for_the_signs_of_a_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MadeSign, "read_at", 0.0)
    signs = MadeSign({("rac1", "eth1")}, 80.0, is_drill=False)
    assert signs.see(None) == ""
    signs._due_s = 1.0
    assert signs.see(None) == signs.see(None) != ""
    assert MadeSign.read_at > 1.0
