"""The journal of a change: an append-only file that survives every failure, and reports damage."""

import fcntl
import os
import re
import resource
import signal
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checks.change.progress.change_events import Closed, JournalLine, Noted, ObservedState, Opened, Reopened
from checks.change.progress.journal_names import SUFFIX, name_of
from checks.change.progress.state import ChangeError
from checks.change.record.change_journal import (
    ChangeJournal,
    ChangeJournalError,
    MovedOnError,
    digest,
    find,
    login,
)
from tests.unit.change_support import AGREED, plan

NOTE = Noted("baseline", "waiting for the load")
WHO = {"who": "oracle@rac1", "version": "1"}


@pytest.fixture
def journal(tmp_path: Path) -> ChangeJournal:
    return opened(tmp_path)


def opened(directory: Path, **more: object) -> ChangeJournal:
    return ChangeJournal.open_new(directory, plan(**more), ObservedState(), **WHO)


def notes(path: Path) -> list[str]:
    events = [line.event for line in ChangeJournal.read(path).change.lines]
    return [event.text for event in events if isinstance(event, Noted)]


# --- written and read -------------------------------------------------------------------------------------------------


def test_written_events_can_be_read_again_by_another_process(journal):
    journal.append(AGREED, **WHO)
    line = journal.append(NOTE, **WHO)
    assert (line.number, line.who, line.racwire) == (3, "oracle@rac1", "1")
    again = ChangeJournal.read(journal.path)
    assert again.change == journal.change
    again.append(Reopened("agree", "The window was moved."), **WHO)
    assert len(ChangeJournal.read(journal.path).change.lines) == 4


def test_a_journal_has_one_json_line_per_event_and_is_private_to_its_owner(journal):
    journal.extend((AGREED, NOTE), **WHO)
    raw = journal.path.read_bytes().splitlines()
    assert [msgspec.json.decode(line)["event"]["event"] for line in raw] == ["opened", "attested", "noted"]
    assert [msgspec.json.decode(line)["after"] for line in raw] == ["", digest(raw[0]), digest(raw[1])]
    assert journal.path.stat().st_mode & 0o777 == 0o600
    assert journal.path.name == "prodrac-2026-11-20-a.change"


def test_several_events_are_written_together_or_not_at_all(journal):
    before = journal.path.read_bytes()
    with pytest.raises(ChangeError, match="dance"):
        journal.extend((AGREED, Noted("dance", "no such step")), **WHO)
    assert journal.path.read_bytes() == before
    assert len(journal.change.lines) == 1


def test_an_event_that_does_not_fit_is_not_written(journal):
    journal.append(Closed("abandoned", "A. Lee"), **WHO)
    with pytest.raises(ChangeError, match="is closed"):
        journal.append(NOTE, **WHO)
    assert len(ChangeJournal.read(journal.path).change.lines) == 2


def test_a_write_of_another_process_is_detected_without_reading_the_journal(journal):
    other = ChangeJournal.read(journal.path)
    assert not other.is_stale()
    journal.append(AGREED, **WHO)
    assert other.is_stale()
    assert not journal.is_stale()
    journal.path.unlink()
    assert journal.is_stale()


def test_ten_thousand_lines_can_be_read_and_continued(journal):
    raw = [journal.path.read_bytes().rstrip(b"\n")]
    for number in range(2, 10_001):
        line = JournalLine(number=number, at="", who="", racwire="1", after=digest(raw[-1]), event=NOTE)
        raw.append(msgspec.json.encode(line))
    journal.path.write_bytes(b"\n".join(raw) + b"\n")
    read = ChangeJournal.read(journal.path)
    assert read.append(NOTE, **WHO).number == 10_001
    assert len(read.change.notes(read.change.plan.step("baseline"))) == 10_000


# --- one change at a time ---------------------------------------------------------------------------------------------


def test_a_second_change_of_a_cluster_is_refused_while_the_first_is_open(tmp_path):
    first = opened(tmp_path)
    sentence = r"2026-11-20-a of prodrac is still open .* finish it, roll it back, or abandon it first"
    with pytest.raises(ChangeJournalError, match=sentence):
        opened(tmp_path, id="2026-11-20-b")
    assert opened(tmp_path, cluster="testrac").change.is_open
    first.append(Closed("abandoned", "A. Lee"), **WHO)
    assert opened(tmp_path, id="2026-11-20-b").change.is_open


def test_of_many_changes_opened_at_once_only_one_succeeds(tmp_path):
    def begin(letter: str) -> bool:
        try:
            opened(tmp_path, id=f"2026-11-20-{letter}")
        except ChangeJournalError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(begin, "abcdefgh")) == 1
    assert len(find(tmp_path)) == 1


def test_a_cluster_name_that_is_not_a_file_name_is_converted_to_one(tmp_path):
    hostile = opened(tmp_path / "new" / "directory", cluster="../../etc/x y\n")
    assert hostile.path.parent == tmp_path / "new" / "directory"
    assert hostile.path.name == ".._.._etc_x_y_-2026-11-20-a.change"
    assert name_of("") == "_"


def test_a_directory_that_cannot_be_created_is_reported_with_the_reason(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ChangeJournalError, match=r"racwire cannot create a journal in .*file/changes: Not a directory"):
        opened(tmp_path / "file" / "changes")


# --- concurrent writers -----------------------------------------------------------------------------------------------


def test_a_write_after_another_process_wrote_is_refused(journal):
    other = ChangeJournal.read(journal.path)
    journal.append(AGREED, **WHO)
    with pytest.raises(MovedOnError, match="Another process wrote to"):
        other.append(NOTE, **WHO)
    ChangeJournal.read(journal.path).append(NOTE, **WHO)
    assert len(ChangeJournal.read(journal.path).change.lines) == 3


def test_many_concurrent_writers_lose_and_damage_nothing(journal):
    def write(writer: int) -> None:
        for number in range(10):
            while True:
                try:
                    ChangeJournal.read(journal.path).append(Noted("agree", f"{writer}.{number}"), **WHO)
                    break
                except MovedOnError:
                    continue

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    assert sorted(notes(journal.path)) == sorted(f"{w}.{n}" for w in range(4) for n in range(10))


def test_a_copy_put_in_place_of_the_journal_is_not_overwritten(journal, tmp_path):
    """The other copy grew by the same number of bytes: only its content differs."""
    journal.append(Noted("agree", "this one"), **WHO)
    copy = opened(tmp_path / "other")
    copy.append(Noted("agree", "that one"), **WHO)
    journal.path.write_bytes(copy.path.read_bytes().replace(b"that", b"THAT"))
    with pytest.raises(MovedOnError, match="replaced by another"):
        journal.append(NOTE, **WHO)


def test_a_journal_that_became_shorter_is_not_appended_to(journal):
    journal.append(AGREED, **WHO)
    whole = journal.path.read_bytes()
    journal.path.write_bytes(whole[: whole.index(b"\n") + 1])
    with pytest.raises(ChangeJournalError, match="is shorter than before"):
        journal.append(NOTE, **WHO)


# --- after a crash ----------------------------------------------------------------------------------------------------


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(1, 400))
def test_a_line_cut_off_by_a_crash_is_ignored(tmp_path_factory, cut):
    journal = opened(tmp_path_factory.mktemp("torn"))
    journal.append(AGREED, **WHO)
    whole = journal.path.read_bytes()
    journal.append(Noted("agree", "x" * 300), **WHO)
    torn = journal.path.read_bytes()[: len(whole) + cut]
    journal.path.write_bytes(torn)
    again = ChangeJournal.read(journal.path)
    assert len(again.change.lines) == 2
    assert not again.is_stale()
    again.append(NOTE, **WHO)
    assert notes(journal.path) == [NOTE.text]


WRITER = """
    import sys
    from pathlib import Path
    from checks.change.progress.change_events import Noted
    from checks.change.record.change_journal import ChangeJournal
    path = Path(sys.argv[1])
    number = len(ChangeJournal.read(path).change.lines) - 1
    while True:
        ChangeJournal.read(path).append(Noted("agree", str(number) + "." * 2000), who="oracle@rac1", version="1")
        print(number, flush=True)
        number += 1
"""


def test_kill_minus_nine_at_any_moment_loses_no_acknowledged_event(journal):
    command = [sys.executable, "-c", textwrap.dedent(WRITER), str(journal.path)]
    for lines in (1, 7):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout
            output = [writer.stdout.readline() for _ in range(lines)]
            writer.kill()
            output += writer.stdout.readlines()
        acknowledged = [int(line) for line in output if line.endswith("\n")]
        present = [int(note.partition(".")[0]) for note in notes(journal.path)]
        assert present == list(range(len(present)))
        assert acknowledged[-1] <= present[-1]
    lock = os.open(journal.path, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # a lock dies with who held it
    os.close(lock)


def test_a_full_disk_is_reported_and_keeps_the_earlier_contents(journal):
    journal.append(AGREED, **WHO)
    whole = journal.path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(whole) + 100, hard))
        with pytest.raises(ChangeJournalError, match=r"could not be written .* the last event was not saved"):
            journal.append(Noted("agree", "x" * 300), **WHO)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
    assert journal.path.read_bytes() == whole
    assert len(journal.change.lines) == 2
    journal.append(NOTE, **WHO)
    assert notes(journal.path) == [NOTE.text]


# --- manual edits -----------------------------------------------------------------------------------------------------


def spoilt(journal: ChangeJournal, change) -> str:
    journal.append(AGREED, **WHO)
    journal.append(NOTE, **WHO)
    journal.path.write_bytes(change(journal.path.read_bytes()))
    with pytest.raises(ChangeJournalError) as caught:
        ChangeJournal.read(journal.path)
    return str(caught.value)


def without_line(number: int):
    return lambda data: b"".join(line for n, line in enumerate(data.splitlines(keepends=True), 1) if n != number)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data.replace(b"A. Lee", b"B. Lee"), "Line 3 .* does not follow"),
        (without_line(2), "Line 2 .* does not follow"),
        (lambda data: data + data, "Line 4 .* does not follow"),
        (without_line(1), "Line 1 .* does not follow"),
        (
            lambda data: data.replace(b'"event":"attested"', b'"event":"danced"'),
            r"Line 2 .* newer racwire\. .*`head -n 1`",
        ),
        (lambda data: data.replace(b"racwire-change/2", b"racwire-change/9"), "reads racwire-change/2"),
        (lambda data: b"\n" + data, "Line 1 .* damaged"),
        (lambda data: b"\xff\xfe" + data, r"Line 1 .* damaged, or written by a newer racwire\.$"),
        (lambda data: b"[" * 100_000 + b"\n", "Line 1 .* damaged"),
        (lambda data: b"", "holds no change"),
        (lambda data: b"no line at all", "holds no change"),
    ],
)
def test_a_manual_edit_is_detected_and_reported(journal, change, message):
    assert re.search(message, spoilt(journal, change))


def test_two_copies_that_diverged_cannot_be_merged(journal, tmp_path):
    fork = tmp_path / "fork"
    fork.write_bytes(journal.path.read_bytes())
    journal.append(AGREED, **WHO)
    ChangeJournal.read(fork).append(NOTE, **WHO)
    last = fork.read_bytes().splitlines(keepends=True)[-1]
    with journal.path.open("ab") as file:
        file.write(last)
    with pytest.raises(ChangeJournalError, match="two copies were merged"):
        ChangeJournal.read(journal.path)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=200))
def test_any_bytes_are_a_journal_or_an_error_of_one_sentence(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / f"any{SUFFIX}"
    path.write_bytes(data)
    with pytest.raises(ChangeJournalError):
        ChangeJournal.read(path)


# --- files in the directory -------------------------------------------------------------------------------------------


def test_hostile_files_in_the_directory_are_listed_with_their_error_and_do_not_block(tmp_path):
    good = opened(tmp_path)
    (tmp_path / f"directory{SUFFIX}").mkdir()
    os.mkfifo(tmp_path / f"pipe{SUFFIX}")
    (tmp_path / f"loop{SUFFIX}").symlink_to(tmp_path / f"loop{SUFFIX}")
    (tmp_path / f"empty{SUFFIX}").write_bytes(b"")
    with (tmp_path / f"huge{SUFFIX}").open("wb") as file:
        file.truncate(70_000_000)
    (tmp_path / "before.rec").write_bytes(b"no journal, and not looked at")
    found = {one.path.name: one.problem for one in find(tmp_path)}
    assert found.pop(good.path.name) == ""
    assert sorted(found) == sorted(f"{name}{SUFFIX}" for name in ("directory", "pipe", "loop", "empty", "huge"))
    assert all(problem.endswith(".") for problem in found.values())


def test_a_missing_directory_has_no_journals_and_a_file_in_its_place_is_an_error(tmp_path):
    assert find(tmp_path / "none") == ()
    (tmp_path / "file").write_text("")
    with pytest.raises(ChangeJournalError, match="cannot be read: Not a directory"):
        find(tmp_path / "file")


def test_a_missing_journal_is_reported(tmp_path):
    with pytest.raises(ChangeJournalError, match="There is no journal"):
        ChangeJournal.read(tmp_path / "none")


def test_a_link_is_read_and_never_written_through(journal, tmp_path):
    """A user who can put a link there must not choose which file is written."""
    link = tmp_path / f"link{SUFFIX}"
    link.symlink_to(journal.path)
    linked = ChangeJournal.read(link)
    with pytest.raises(ChangeJournalError, match="could not be written"):
        linked.append(NOTE, **WHO)


def test_the_login_comes_from_the_operating_system(monkeypatch):
    monkeypatch.setattr("getpass.getuser", lambda: "oracle")
    assert login("rac1") == "oracle@rac1"

    def unknown_user() -> str:
        raise OSError

    monkeypatch.setattr("getpass.getuser", unknown_user)
    assert login("rac1") == f"uid {os.getuid()}@rac1"


def test_a_line_has_the_time_and_the_version(journal):
    line = msgspec.json.decode(journal.path.read_bytes().splitlines()[0], type=JournalLine)
    assert isinstance(line.event, Opened)
    assert line.at[:4].isdigit()
    assert line.racwire == "1"
