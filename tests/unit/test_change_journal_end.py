"""The end of a journal: events written at the same time, incomplete lines, a missing end, and clocks that jump."""

import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from checks.change.board.change_report import ReportedFile, report_of
from checks.change.board.journal_remarks import journal_remarks
from checks.change.progress.change_events import JournalLine, JournalSeal, Noted
from checks.change.progress.journal_names import hash_path, parse_stored, store_commands
from checks.change.progress.state import fold
from checks.change.record import change_journal
from checks.change.record.change_journal import ChangeJournal, ChangeJournalError, MovedOnError, digest
from checks.change.record.copies import stored_hashes
from checks.change.session import change_session
from checks.change.session.change_session import ChangeSession
from checks.model.facts import Changing, StoredHash
from checks.model.journal import Journal
from checks.model.settings import Settings
from checks.sources.nodes.shell import Shell
from tests.unit.change_gate_support import found
from tests.unit.change_support import AGREED, cluster, lines, plan, until
from tests.unit.test_change_journal import NOTE, WHO, notes, opened

# --- at the same time -------------------------------------------------------------------------------------------------


def test_notes_of_twelve_operators_at_once_are_all_kept(tmp_path):
    path = opened(tmp_path).path
    sessions = [ChangeSession(ChangeJournal.read(path), Settings(), node="rac1") for _ in range(12)]
    with ThreadPoolExecutor(12) as pool:
        list(pool.map(lambda number: sessions[number].note(f"note {number}"), range(12)))
    assert sorted(notes(path)) == sorted(f"note {number}" for number in range(12))


def test_a_journal_that_never_rests_is_given_up_without_a_write(tmp_path, monkeypatch):
    session = ChangeSession(opened(tmp_path), Settings(), node="rac1")

    def moved(*_: object, **__: object) -> None:
        raise MovedOnError("Another process wrote.")

    monkeypatch.setattr(change_session, "_MOST_TRIES", 3)
    monkeypatch.setattr(ChangeJournal, "extend", moved)
    with pytest.raises(ChangeJournalError, match="keep writing to"):
        session.note("a note")


# --- an incomplete last line ------------------------------------------------------------------------------------------


def test_an_incomplete_last_line_is_reported_before_and_after_it_was_removed(tmp_path):
    journal = opened(tmp_path)
    with journal.path.open("ab") as file:
        file.write(b'{"number":2,"at":"2026')
    torn = ChangeJournal.read(journal.path)
    assert torn.seal == JournalSeal(lines=1, sha256=journal.seal.sha256, incomplete_bytes=22)
    before = report_of(torn.change, ReportedFile(torn.path, torn.seal, ()))
    assert before.journal_remarks == (
        "After its last line the journal has 22 bytes of an incomplete line: a process or its node went down while it "
        "wrote an event, which was not reported as written.",
    )
    torn.extend((AGREED, NOTE), **WHO)
    again = ChangeJournal.read(torn.path)
    assert [line.cut for line in again.change.lines] == [0, 22, 0]
    assert again.seal == torn.seal
    (remark,) = report_of(again.change).journal_remarks
    assert remark.startswith("Before line 2 racwire removed 22 bytes of an incomplete line")


# --- the hash of the last line ----------------------------------------------------------------------------------------


def test_the_report_has_the_hash_of_the_last_line_and_the_commands_that_store_it(tmp_path):
    journal = opened(tmp_path / "it's here")
    journal.append(AGREED, **WHO)
    report = report_of(journal.change, ReportedFile(journal.path, journal.seal, ("rac2", "rac3")))
    last = journal.path.read_bytes().splitlines()[-1]
    assert report.journal == JournalSeal(lines=2, sha256=digest(last))
    assert [command.split()[:2] for command in report.store_hash] == [["ssh", "rac2"], ["ssh", "rac3"]]


def run_here(command: str) -> None:
    """Run a command for rac2 in a shell of this node."""
    subprocess.run(command.replace("ssh rac2", "sh -c", 1), shell=True, check=True)


async def test_a_hash_that_was_stored_by_the_printed_command_is_read_again(tmp_path):
    journal = opened(tmp_path / "it's here")
    for event in (AGREED, NOTE, NOTE, NOTE):
        journal.append(event, **WHO)
        (command,) = store_commands(journal.path.parent, plan(), journal.seal, ["rac2"])
        run_here(command)
    shell = await Shell.open_local("rac2")
    try:
        stored = await stored_hashes(shell, Journal(), journal.path.parent, plan(), 5)
        none = await stored_hashes(shell, Journal(), tmp_path, plan(), 5)
    finally:
        await shell.close()
    assert none == ()
    assert {(one.line, one.sha256) for one in stored} >= {(5, journal.seal.sha256)}
    assert {one.path for one in stored} == {str(hash_path(journal.path.parent, plan()))}


def test_lines_that_are_no_hash_are_left_out():
    good = f"7 {'a' * 64}"
    assert parse_stored(f"{good}\nx\n8 {'a' * 63}\n{good}\n") == ((7, "a" * 64),)


@pytest.mark.parametrize(
    ("stored", "sentence"),
    [
        (StoredHash("/x", 9, "a" * 64), "ends with line 3: its end is missing"),
        (StoredHash("/x", 2, "a" * 64), "that line of this journal has another hash"),
        (StoredHash("/x", 2, "hash of 2"), ""),
        (StoredHash("/x", 3, "a" * 64), ""),
    ],
)
def test_a_missing_or_changed_end_fails_the_gate_of_every_step(stored, sentence):
    of = until("set-mtu")
    of = fold(msgspec.structs.replace(line, after=f"hash of {line.number - 1}") for line in of.lines[:3])
    (finding,) = found(
        "only-journal", msgspec.structs.replace(cluster(), changing=Changing(hashes={"rac2": (stored,)})), of
    )
    assert sentence in finding.title
    assert (finding.status == "FAIL") is bool(sentence)


# --- clocks -----------------------------------------------------------------------------------------------------------


def noted(at: str, who: str = "oracle@rac1", boot: str = "b1", up_s: int = 0) -> JournalLine:
    return JournalLine(number=1, at=at, who=who, racwire="1", after="", event=NOTE, boot=boot, up_s=up_s)


T = "2026-11-20T18:00:00+01:00"


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (noted(T), noted("2026-11-20T19:00:00+01:00", up_s=3600), ""),
        (noted(T), noted("2026-11-20T18:00:00+00:00", up_s=3600), ""),
        (noted(T), noted("2031-11-20T18:00:05+01:00", up_s=5), "The clock of rac1 was set forward by 1826 d 00:00:00"),
        (noted(T), noted("2020-11-20T18:00:05+01:00", up_s=5), "The clock of rac1 was set back by 2191 d 00:00:00"),
        (noted(T), noted("2026-11-20T18:00:00+01:00", up_s=3600), "The clock of rac1 was set back by 01:00:00"),
        (noted(T, up_s=9000), noted("2026-11-20T19:00:00+01:00", boot="b2", up_s=60), ""),
        (noted(T, boot=""), noted("2026-11-20T17:00:00+01:00", boot=""), "The clock of rac1 went back by 01:00:00"),
        (
            noted(T),
            noted("2026-11-20T17:00:00+01:00", "root@rac2", "b9"),
            "The clock of rac2 is behind that of rac1 by",
        ),
        (noted(T), noted("yesterday"), ""),
        (noted(T), noted("2026-11-20T18:00:00"), ""),
    ],
)
def test_a_clock_that_jumped_between_two_lines_is_remarked_on(one, other, expected):
    said = list(journal_remarks([one, msgspec.structs.replace(other, number=2)]))
    assert bool(said) is bool(expected)
    assert " ".join(said).startswith(expected)


def test_a_written_line_has_the_boot_and_the_time_since(tmp_path, monkeypatch):
    line = opened(tmp_path).append(Noted("agree", "a note"), **WHO)
    assert line.boot == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert line.up_s > 0
    monkeypatch.setattr(change_journal, "_BOOT_ID", tmp_path / "none")
    assert opened(tmp_path, cluster="testrac").change.lines[0].boot == ""


def test_lines_of_0_1_0_have_neither_and_are_read():
    (line, _) = lines(AGREED, AGREED)
    raw = msgspec.json.encode(line)
    assert {b"boot", b"up_s", b"cut"}.isdisjoint(raw.replace(b'"', b" ").split())
    assert list(journal_remarks([line, line])) == []
