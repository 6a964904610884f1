"""`racwire experiment` on a directory of journals: its texts name experiments, and the change between its runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.change.plan.planning import look_of
from checks.change.progress.journal_names import EXPERIMENTS
from checks.change.record.change_journal import ChangeJournal
from tests.fixtures.change_plans import to_change
from tests.unit.change_support import plan as change_plan
from tests.unit.test_change_experiment import made
from tui.cli.main import main

NEW = ("new", "--load", "own", "--users", "12", "--think-time", "0ms")


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Return the command on a directory: it returns its exit code, stdout and stderr."""

    def command(*words: str) -> tuple[int, str, str]:
        code = main(["experiment", *words, "--directory", str(tmp_path)])
        captured = capsys.readouterr()
        return code, " ".join(captured.out.split()), " ".join(captured.err.split())

    return command


@pytest.fixture
def opened(tmp_path: Path) -> ChangeJournal:
    plan = made()
    look = look_of(to_change(), plan)
    return ChangeJournal.open_new(tmp_path / EXPERIMENTS, plan, look, who="oracle@rac1", version="0.2.0")


def test_without_an_experiment_it_says_how_to_open_one(run):
    code, _, err = run("status")
    assert code == 64
    assert "No experiment is open in" in err
    assert "`racwire experiment new --directory" in err
    code, _, err = run("list")
    assert (code, "there is no experiment in this directory" in err) == (0, True)


def test_an_open_change_is_no_experiment(run, tmp_path):
    plan = change_plan()
    ChangeJournal.open_new(tmp_path, plan, look_of(to_change(), plan), who="oracle@rac1", version="0.2.0")
    assert run("status")[0] == 64


@pytest.mark.usefixtures("opened")
def test_the_status_and_the_next_step_name_the_commands_of_the_experiment(run, tmp_path):
    code, out, err = run("status")
    assert code == 0
    assert out.startswith("Experiment 2026-11-20-a of")
    assert f"`racwire experiment next --directory {tmp_path}`" in err
    code, out, err = run("next", "--all")
    assert code == 0
    assert "racwire change new --to 9000" in out  # the change between the runs
    assert "racwire change verify" not in out
    assert "racwire experiment report" in out


@pytest.mark.usefixtures("opened")
def test_people_decide_as_in_a_change(run):
    assert run("note", "the owner was called")[0] == 0
    code, _, err = run("override", "--by", "Ann Lee", "--reason", "it is known to us")
    assert code == 64
    assert "Run `racwire experiment verify" in err
    code, _, err = run("abandon", "--by", "Ann Lee", "--reason", "no time this week")
    assert code == 0
    assert "the experiment 2026-11-20-a has ended: abandoned by Ann Lee." in err
    code, out, err = run("report")
    assert code == 0
    assert "# Experiment 2026-11-20-a" in out
    assert "the owner was called" in out
    assert "no experiment is open; this is the latest one." in err


def test_the_name_of_the_database_is_needed(run):
    code, _, err = run(*NEW)
    assert code == 64
    assert "--database NAME" in err


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("--users", "0"), "--users: 0"),
        (("--think-time", " "), "--think-time is empty"),
        (("--for", "soon"), "--for: 'soon'"),
    ],
)
def test_a_wrong_option_is_named(run, words, part):
    code, _, err = run(*NEW, "--database", "prod", *words)
    assert code == 64
    assert part in err
