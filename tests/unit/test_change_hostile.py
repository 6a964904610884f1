"""Hostile input of a change: names with control characters, bytes that are not text, a file system that hangs, a
process that stopped in the middle of a write."""

import asyncio
import fcntl
import json
import os
import threading
from pathlib import Path

import msgspec
import pytest

from checks.change.plan.command_block import Commands, Who
from checks.change.progress.change_events import GateResult, Noted, ObservedState, Surprise, Surprised, Verified
from checks.change.progress.state import ChangeError
from checks.change.record import change_journal as journal_module
from checks.change.record.change_journal import ChangeJournal, ChangeJournalError
from checks.change.record.journal_files import directory_of
from checks.change.session.worker_threads import run_to_completion
from checks.model.finding import NextStep, Status
from checks.model.settings import ChangeSettings, Settings
from tests.unit.change_journals import STEPS, WHO, journal, plan
from tests.unit.test_change_command import AGREED, SWITCHED
from tui.cli.main import main

OBEYED = "\x1b]0;mine\x07\x1b[31m\x9b2J\u202e\u061c\ufeff"
FILE = os.fsdecode(b"n\xe4chtlich")


@pytest.fixture
def racwire(tmp_path, capfdbinary):
    """Run the command on that directory. Return its exit code, stdout and stderr as bytes."""

    def run(*words: str) -> tuple[int, bytes, bytes]:
        code = main(["change", "--directory", str(tmp_path), *words])
        return code, *capfdbinary.readouterr()

    return run


@pytest.fixture
def hostile(tmp_path) -> Path:
    """A change in which every external text contains control characters."""
    block = Commands(Who.ROOT, (f"true '{OBEYED}'",), "rac1", purpose=f"{OBEYED}\nreboot")
    own = msgspec.structs.replace(STEPS[2], title=f"set {OBEYED}", what=OBEYED, commands=(block,))
    result = GateResult(
        check=f"kept{OBEYED}",
        status=Status.FAIL,
        text=OBEYED,
        node=f"rac2{OBEYED}",
        sentence=OBEYED,
        next=(NextStep(OBEYED, (OBEYED,)),),
    )
    held = msgspec.structs.replace(result, status=Status.PASS)
    texts = (
        Surprised(Surprise.OTHER, f"rac2{OBEYED}", OBEYED),
        Verified("set-mtu", False, (result, held), ObservedState(), {OBEYED: OBEYED}),
        Noted("set-mtu", OBEYED),
    )
    of = msgspec.structs.replace(plan(cluster=f"prod{OBEYED}"), steps=(*STEPS[:2], own, STEPS[3]))
    return journal(tmp_path, AGREED, SWITCHED, *texts, of=of).path


@pytest.mark.parametrize("words", [("status",), ("next",), ("report",), ("list",), ("rollback",)], ids=" ".join)
def test_no_control_character_reaches_a_terminal(racwire, hostile, words):
    code, out, err = racwire(*words)
    assert code == 0
    assert not any(sign in (out + err).decode() for sign in "\x1b\x07\x9b\u202e\u061c\ufeff")


@pytest.mark.parametrize("word", ["status", "next", "report", "list"])
def test_json_has_every_name_unchanged_but_escaped(racwire, hostile, word):
    code, out, _ = racwire(word, "--format", "json")
    assert code == 0
    assert not any(sign in out.decode() for sign in "\x1b\x07\x9b\u202e\u061c\ufeff")
    document = json.loads(out)
    assert (document["changes"][0] if word == "list" else document)["cluster"] == f"prod{OBEYED}"


def test_lines_for_a_shell_are_piped_as_they_are_and_their_heading_stays_a_comment(racwire, hostile):
    code, out, _ = racwire("next", "--commands", "--node", "rac1")
    heading, line = out.decode().splitlines()
    assert code == 0
    assert heading.startswith("# As root on rac1, ")
    assert heading.endswith("reboot:")
    assert "\x1b" not in heading
    assert line == f"true '{OBEYED}'"
    code, out, err = racwire("next", "--commands", "--node", "rac1", "--format", "json")
    assert (code, out) == (64, b"")
    assert b"leave --format json out" in err


def test_text_that_the_locale_cannot_decode_is_stored_with_replacement_characters(racwire, tmp_path):
    path = journal(tmp_path).path
    assert racwire("note", FILE)[0] == 0
    assert racwire("attest", "--by", FILE)[0] == 0
    noted, attested = (line.event for line in ChangeJournal.read(path).change.lines[1:])
    assert (noted.text, attested.by) == ("n\ufffdchtlich", "n\ufffdchtlich")


def test_an_undecodable_directory_name_is_refused_before_anything_is_written(tmp_path, racwire):
    directory = tmp_path / FILE
    with pytest.raises(ChangeError, match="not UTF-8"):
        journal(directory, of=msgspec.structs.replace(plan(), baseline_file=str(directory / "before.rec")))
    assert not list(directory.glob("*.change"))
    path = journal(directory).path
    code, out, _ = racwire("status", "--file", str(path), "--format", "json")
    assert code == 0
    assert json.loads(out)["journal"].endswith(r"n\udce4chtlich/prodrac-2026-11-20-a.change")


def test_an_unknown_home_directory_is_reported(racwire):
    settings = msgspec.structs.replace(Settings(), change=ChangeSettings(directory="~nobody-has-it/changes"))
    with pytest.raises(ChangeJournalError, match="~nobody-has-it/changes names an unknown home directory"):
        directory_of(settings)
    assert racwire("--directory", "~nobody-has-it/changes", "status")[0] == 3


def test_the_report_never_overwrites_the_journal(racwire, tmp_path):
    path = journal(tmp_path, AGREED).path
    before = path.read_bytes()
    code, _, err = racwire("report", "-o", str(path), "--force")
    assert (code, path.read_bytes()) == (64, before)
    assert b"is the journal of the change" in err


def test_a_link_to_a_journal_is_not_written_through_and_is_reported(tmp_path):
    path = journal(tmp_path).path
    link = tmp_path / f"link{path.suffix}"
    link.symlink_to(path)
    with pytest.raises(ChangeJournalError, match="it is a symbolic link: specify the file itself"):
        ChangeJournal.read(link).append(AGREED, who=WHO, version="1")


def test_a_stopped_writer_does_not_block_other_writers_forever(tmp_path, monkeypatch):
    monkeypatch.setattr(journal_module, "_LOCK_LIMIT_S", 0.1)
    mine = journal(tmp_path)
    with mine.path.open() as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(ChangeJournalError, match=r"keeps .* locked\. Find the process"):
            mine.append(AGREED, who=WHO, version="1")
    assert len(ChangeJournal.read(mine.path).change.lines) == 1
    mine.append(AGREED, who=WHO, version="1")


async def test_a_started_write_is_finished_after_cancellation_without_blocking_the_loop():
    loop, started, may_end = asyncio.get_running_loop(), asyncio.Event(), threading.Event()

    def write() -> str:
        loop.call_soon_threadsafe(started.set)
        assert may_end.wait(5)
        return "written"

    task = asyncio.create_task(run_to_completion(write))
    await started.wait()
    task.cancel()
    await asyncio.sleep(0)
    assert not task.done()
    may_end.set()
    assert await task == "written"


def test_the_console_exits_with_a_command_that_opens_the_same_journal(racwire, tmp_path, monkeypatch):
    output: list[str] = []
    monkeypatch.setattr("tui.console.start.no_console", lambda *_: "")
    monkeypatch.setattr("tui.console.start.run_console", lambda _, *, first, again: output.append(again) or 0)
    racwire()
    assert output == [f"racwire change --directory {tmp_path}"]
