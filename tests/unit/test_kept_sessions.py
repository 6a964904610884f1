"""Sessions of guided troubleshooting on disk: resumed with the same question, refused to a second racwire, listed."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

import pytest

from checks.model.investigation import By, StepSaid
from checks.model.settings import Settings
from checks.run.session_journal import SessionJournalError
from checks.saved.session_run import newest_session, session_named
from tests.fixtures.reports import black_hole, report_of
from tui.cli.change.new import reason_of
from tui.cli.errors import UsageError
from tui.cli.main import main
from tui.console.sessions import KeptSessions


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def test_a_session_is_resumed_with_its_answers_and_the_same_question() -> None:
    first = KeptSessions(Settings(), is_live=False)
    guided = first.begin(report_of(black_hole()))
    question = guided.question
    assert question is not None
    assert question.best.step.by is not By.ITSELF
    guided.skip(question.best.step)
    next_ = guided.question
    kept = session_named("")
    with pytest.raises(SessionJournalError, match="open"):
        KeptSessions(Settings(), is_live=True, resumed=kept.path).begin(report_of(black_hole()))
    asyncio.run(first.close())

    again = KeptSessions(Settings(), is_live=True, resumed=kept.path).begin(report_of(black_hole()))
    assert again.record == guided.record
    assert [a.said for a in again.record.answers] == [StepSaid.SKIPPED]
    assert again.question is not None
    assert next_ is not None
    assert again.question.best.step == next_.best.step
    assert again.maker is None, "what began with a saved file never sends on the cluster of this machine"
    assert newest_session(guided.record.cluster) == (guided.record,)


def test_the_list_names_sessions_with_an_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["investigate", "--list"]) == 0
    assert capsys.readouterr().out == "No session is kept.\n"
    sessions = KeptSessions(Settings(), is_live=False)
    guided = sessions.begin(report_of(black_hole()))
    assert guided.question is not None
    guided.skip(guided.question.best.step)
    asyncio.run(sessions.close())
    assert main(["investigate", "--list"]) == 0
    shown = capsys.readouterr().out
    assert sessions.id in shown
    assert "The session has not ended." in " ".join(shown.split())


def test_a_session_that_does_not_exist_is_refused_in_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["investigate", "--resume", "20260101-000000"]) == 64
    assert "There is no session '20260101-000000'" in capsys.readouterr().err


def test_the_end_of_a_session_is_the_reason_of_a_change() -> None:
    sessions = KeptSessions(Settings(), is_live=False)
    guided = sessions.begin(report_of(black_hole()))
    asked = argparse.Namespace(reason="CHG42", investigation="")
    with pytest.raises(UsageError, match="no session that has ended"):
        reason_of(asked)
    while (question := guided.question) is not None:
        guided.rule_out(question.best.step)
    asyncio.run(sessions.close())
    assert "No step from here can tell these apart: at rac1" in reason_of(asked)
    assert reason_of(asked).startswith("CHG42: Session of ")
    assert reason_of(argparse.Namespace(reason="CHG42", investigation=None)) == "CHG42"
