"""An attestation records what it asks for: who confirmed it, when, and where it is filed."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.change.progress import decisions
from checks.change.progress.state import Change, ChangeError
from checks.model.exit_codes import ExitCode
from tests.fixtures.change_plans import plan_for, to_change
from tests.unit.change_journals import journal
from tests.unit.change_lines_support import words
from tui.cli.main import main
from tui.screens.change.questions import ask_attest
from tui.text.step_lines import step_lines

BY = "Ann Lee"
PLAN = plan_for(to_change())


def opened(tmp_path: Path) -> Change:
    return journal(tmp_path, of=PLAN).change


def test_the_steps_ask_for_names_times_and_places():
    asked = {step.id: step.attest_asks for step in PLAN.steps if step.attest}
    assert asked["agree"] == "who agreed, and the time of the window"
    assert asked["switch"] == "who confirmed it, and when"
    assert asked["sign-off"] == "where the report is filed"


def test_an_attestation_without_what_it_asks_for_is_refused(tmp_path):
    change = opened(tmp_path)
    with pytest.raises(ChangeError, match=r"agree needs a note .*: who agreed, and the time of the window"):
        decisions.attest(change, "agree", BY, " ")
    assert decisions.attest(change, "agree", BY, "all owners, 02:00 to 05:00").note == "all owners, 02:00 to 05:00"


def test_the_command_names_the_note_before_and_after_it_is_missing(tmp_path, capsys):
    path = journal(tmp_path, of=PLAN).path

    def racwire(*arguments: str) -> tuple[int, str]:
        code = main(["change", *arguments, "--file", str(path)])
        return code, capsys.readouterr().err

    assert "attest --by NAME --note TEXT" in racwire("next")[1]
    assert racwire("attest", "--by", BY)[0] == ExitCode.USAGE
    code, said = racwire("attest", "--by", BY, "--note", "all owners, 02:00 to 05:00")
    assert (code, "attested by Ann Lee: The DBAs" in said) == (ExitCode.PASS, True)


def test_the_step_and_its_question_say_what_the_note_must_name(tmp_path):
    change = opened(tmp_path)
    agree, baseline = change.plan.steps[:2]
    assert "Note who agreed, and the time of the window." in words(step_lines(change, agree, 200))
    field = ask_attest(change, agree).fields[1]
    assert (field.hint, field.wrong(""), field.wrong("all")) == (agree.attest_asks, f"Type {agree.attest_asks}.", "")
    assert ask_attest(change, baseline).fields[1].hint == "optional"
