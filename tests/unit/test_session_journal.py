"""The record of a session on disk: whole after each answer, private, resumed after kill -9, and open in one racwire."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from checks.model.hypothesis import Place
from checks.model.investigation import By, Price, Risk, SessionRecord, SessionStep, StepAnswer, StepSaid
from checks.run.session_journal import (
    SessionJournal,
    SessionJournalError,
    kept_sessions,
    sessions_directory,
    to_json,
)

STEP = SessionStep(key="s", declared="s", by=By.ITSELF, place=Place(), price=Price(risk=Risk.PROBE, packets=40))
RECORD = SessionRecord(started_at=1_790_000_000.0, cluster="prod rac", run_at=1_789_999_990.0)
LONGER = replace(RECORD, answers=(StepAnswer(step=STEP, said=StepSaid.DONE, at=1.0, packets=40, seconds=0.5),))


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


def test_a_session_is_kept_whole_and_private_and_goes_on_where_it_was() -> None:
    with SessionJournal.begin(RECORD) as journal:
        journal.keep(LONGER)
        path = journal.path
        assert path.parent.parent == sessions_directory()
        assert path.stat().st_mode & 0o777 == 0o600
        assert path.parent.stat().st_mode & 0o077 == 0
    resumed, record = SessionJournal.resume(path)
    with resumed:
        assert record == LONGER
    assert os.listdir(path.parent) == [path.name], "no lock is left"


def test_a_second_racwire_on_the_same_session_is_refused_in_one_sentence() -> None:
    with (
        SessionJournal.begin(RECORD) as journal,
        pytest.raises(SessionJournalError, match=r"^Another racwire has the session \S+ open: close it there first\.$"),
    ):
        SessionJournal.resume(journal.path)
    SessionJournal.resume(journal.path)[0].close()


def test_two_sessions_that_begin_in_one_second_have_files_of_their_own() -> None:
    with SessionJournal.begin(RECORD) as one, SessionJournal.begin(RECORD) as other:
        assert one.path != other.path
    assert {kept.path for kept in kept_sessions("prod rac")} == {one.path, other.path}


def test_a_killed_racwire_leaves_the_last_answer_and_no_lock(state: Path) -> None:
    """Killed with SIGKILL, it lets nothing go by itself: the kernel ends its lock."""
    program = (
        "import os, signal, tests.unit.test_session_journal as t; j = t.SessionJournal.begin(t.RECORD); "
        "j.keep(t.LONGER); print(j.path, flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60,
        env={**os.environ, "XDG_STATE_HOME": str(state)},
    )  # fmt: skip
    assert done.returncode == -9, done.stderr
    journal, record = SessionJournal.resume(Path(done.stdout.strip()))
    journal.close()
    assert record == LONGER


def test_what_cannot_be_written_leaves_the_answers_before(monkeypatch: pytest.MonkeyPatch) -> None:
    with SessionJournal.begin(RECORD) as journal:

        def full(*of: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(SessionJournalError, match=r"was not kept: .*No space left on device"):
            journal.keep(LONGER)
        assert [kept.record for kept in kept_sessions()] == [RECORD]


def test_old_sessions_are_listed_the_newest_first_and_unreadable_ones_with_the_reason() -> None:
    for second in range(3):
        SessionJournal.begin(replace(RECORD, started_at=RECORD.started_at + second, is_ended=second == 2)).close()
    found = kept_sessions("prod rac")
    assert [kept.record.started_at - RECORD.started_at for kept in found if kept.record] == [2, 1, 0]
    assert kept_sessions("other") == []
    for content, problem in (
        (to_json(RECORD)[:-20], "is damaged"),
        (to_json(RECORD).replace(b'"run_at"', b'"walk_at"'), "is no session that this racwire can read"),
        (b'{"format": 99}', "has the format 99 of a session, and this racwire reads 1"),
    ):
        found[0].path.write_bytes(content)
        (broken,) = (kept for kept in kept_sessions() if kept.record is None)
        assert problem in broken.problem
        with pytest.raises(SessionJournalError, match=problem):
            SessionJournal.resume(broken.path)
