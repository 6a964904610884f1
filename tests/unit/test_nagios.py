"""The line of a monitoring plugin, read as the Monitoring Plugins Development Guidelines say."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.report.nagios import plugin_code, plugin_line
from tui.cli.main import main

GOLDEN = Path(__file__).parents[1] / "golden" / "v0_2_0"
FIGURE = re.compile(
    r"(?P<label>[^ '=]+|'[^'=]+')=(?P<value>-?[\d.]+(?:e-?\d+)?)(?P<unit>us|ms|s|%|B|KB|MB|TB|c)?"
    r"(?:;(?P<warn>[-\d.:@~]*)(?:;(?P<crit>[-\d.:@~]*)(?:;(?P<min>[-\d.]*)(?:;(?P<max>[-\d.]*))?)?)?)?"
)


@dataclass(frozen=True)
class Read:
    state: str
    text: str
    figures: dict[str, float]


def read(output: str) -> Read:
    """Read an output as Nagios does: the first line, figures after the first `|`, separated by spaces."""
    assert output.count("\n") == 1
    assert output.endswith("\n")
    text, _, figures = output.strip().partition("|")
    found = {}
    for one in figures.split():
        match = FIGURE.fullmatch(one)
        assert match, one
        found[match["label"]] = float(match["value"])
    state, _, rest = text.strip().partition(" - ")
    return Read(state, rest, found)


def test_a_cause_is_in_words_with_its_code_and_how_often_it_loses(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["check", "-q", "--format", "nagios", "--from", str(GOLDEN / "faults.racwire")])
    found = read(capsys.readouterr().out)
    assert (code, found.state) == (2, "CRITICAL")
    assert re.search(r"^\d.* are lost on 192\.168\.11\.0/24 .*\(CAUSE-01 or .*\)", found.text)
    assert "saved 20" in found.text, "a saved state has its time"
    assert found.figures["fail"] == 5
    assert found.figures["blocks_lost_per_s"] > 20


def test_without_a_problem_the_state_is_ok_and_quiet_prints_no_text_elsewhere(
    capsys: pytest.CaptureFixture[str],
) -> None:
    saved = str(GOLDEN / "healthy.racwire")
    assert main(["check", "-q", "--format=nagios", "--from", saved]) == 0
    found = read(capsys.readouterr().out)
    assert (found.state, found.figures["fail"]) == ("OK", 0)
    assert main(["check", "-q", "--from", saved]) == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    "arguments",
    [["--from", "/none/such"], ["--no-such-option"], ["no-such-check"],
     ["--from", str(GOLDEN / "healthy.racwire"), "--max-age", "2h"]],
)  # fmt: skip
def test_what_could_not_be_run_is_unknown_with_the_reason(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "--format", "nagios", *arguments]) == 3
    found = read(capsys.readouterr().out)
    assert found.state == "UNKNOWN"
    assert arguments[-1] in found.text


@given(st.integers(-300, 300), st.text())
def test_any_code_and_any_text_make_one_line(code: int, text: str) -> None:
    line = plugin_line(code, text, "a=1;;;0")
    assert plugin_code(code) in (0, 1, 2, 3)
    assert len(line.splitlines()) == 1
    assert line.count("|") == 1
    assert ";" not in line.partition("|")[0]
    assert len(line) < 500
