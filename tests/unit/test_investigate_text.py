"""The questions of `racwire investigate` as plain text, answered through a pipe."""

from __future__ import annotations

import asyncio
import io
import os
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from checks.model.investigation import StepSaid
from checks.model.signs import Sign
from tests.tui.investigate_driving import PaperMaker, PaperSessions
from tui.cli.investigating import Dialogue
from tui.cli.line_reader import LineReader
from tui.cli.status_line import StatusLine
from tui.text.line import Line, plain

SMALL_MTU = f"switch# show interface\n{Sign.PORT_MTU.value}\n.\n"
NOTHING = "switch# show interface\n.\n"


def asked(typed: str, sessions: PaperSessions, *, width: int = 80) -> tuple[str, bool]:
    """Return what is printed where these lines arrive at stdin, and whether the session ended."""
    out = io.StringIO()

    def write(lines: Callable[[int], Iterable[Line]]) -> None:
        out.write(plain(lines(width)) + "\n")

    async def run() -> bool:
        reading, writing = os.pipe()
        os.write(writing, typed.encode())
        os.close(writing)
        guided = sessions.begin(None)  # type: ignore[arg-type]
        try:
            dialogue = Dialogue(
                guided,
                write=write,
                status=StatusLine(quiet=True),
                stop=asyncio.Event(),
                consent=("racwire sends at most 20,000 datagrams.",),
                reader=LineReader(reading),
            )
            return await dialogue.run()
        finally:
            os.close(reading)

    ended = asyncio.run(run())
    return out.getvalue(), ended


def test_a_question_names_what_is_left_the_best_step_and_why_and_the_end_of_stdin_leaves_it_resumable() -> None:
    sessions = PaperSessions(PaperMaker())
    text, ended = asked("", sessions)
    assert not ended
    assert "Question 1: what loses packets on 192.168.11.0/24?" in text
    assert "at rac1: a small MTU of the switch port" in text
    assert "Shows whether it is a small MTU of the switch port at rac1." in " ".join(text.split())
    assert "show interface PORT" in text
    assert sessions.kept[-1].answers == ()
    assert all(len(line) <= 80 for line in text.splitlines())


def test_outputs_around_datagrams_of_racwire_end_the_session() -> None:
    maker = PaperMaker()
    sessions = PaperSessions(maker)
    text, _ = asked(f"\ny\n{NOTHING}{SMALL_MTU}{'1' + chr(10)}{'n' + chr(10)}", sessions)
    answer = sessions.kept[-1].answers[0]
    assert answer.said is StepSaid.DONE
    assert answer.seen == (answer.step.reads[2],)
    assert len(maker.made) >= 1
    assert "racwire sends at most 20,000 datagrams." in text
    assert "Excluded" in text


def test_without_consent_nothing_is_sent_and_the_question_is_asked_again() -> None:
    maker = PaperMaker()
    text, _ = asked("\nn\nq\n", PaperSessions(maker))
    assert maker.made == []
    assert text.count("Send? y or n") == 1


def test_skip_not_possible_and_undo_are_kept_in_order() -> None:
    sessions = PaperSessions()
    asked("s\nn\nu\nq\n", sessions)
    assert [[a.said for a in record.answers] for record in sessions.kept] == [
        [],
        [StepSaid.SKIPPED],
        [StepSaid.SKIPPED, StepSaid.NOT_POSSIBLE],
        [StepSaid.SKIPPED],
    ]


def test_an_output_is_read_from_a_file_and_what_is_not_understood_is_kept_as_a_note(tmp_path: Path) -> None:
    (tmp_path / "out.txt").write_text("hello\n")
    sessions = PaperSessions()
    text, _ = asked(f"\n< {tmp_path}/none\n< {tmp_path}/out.txt\n\n< {tmp_path}/out.txt\nq\n", sessions)
    assert "could not be read (No such file or directory)" in " ".join(text.split())
    assert sessions.kept[-1].answers[0].said is StepSaid.NOT_UNDERSTOOD
    assert sessions.kept[-1].answers[0].pasted == ("hello\n", "hello\n")
    assert "Not understood; the output is kept as a note." in text


@pytest.mark.parametrize("typed", ["what\nq\n", "99\nq\n", "u\nq\n"])
def test_an_answer_that_is_none_is_refused_in_one_sentence(typed: str) -> None:
    sessions = PaperSessions()
    text, _ = asked(typed, sessions)
    assert "There is no answer" in text
    assert sessions.kept[-1].answers == ()
