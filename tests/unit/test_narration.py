"""What racwire runs, on stderr and in a log file: each action once, bounded, in one piece, and never a password."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from checks.model.journal import Journal
from checks.model.settings_reporting import LogSettings
from tui.cli.log_file import LogFile
from tui.cli.main import main
from tui.cli.narration import narrated, off_screen


def test_an_action_has_its_node_its_time_its_size_and_its_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "racwire.log"
    with narrated(LogSettings(verbose=True, file=str(log)), "check"):
        with Journal().entry("rac2", "links", "ip -d addr\n  show \x1b[2J") as entry:
            entry.text = "é" * 700
            entry.outcome = "exit code 1"
        with off_screen(), Journal().entry("rac3", "links", "quiet"):
            pass
        growing = Journal().start("rac1", "path", "x" * 999)
        Journal().tell(growing)
    lines = capsys.readouterr().err.splitlines()
    assert lines[1].startswith("rac2  0.00")
    assert lines[1].endswith(" s  1,400 bytes  ip -d addr show \\x1b[2J  (exit code 1)")
    assert lines[2].endswith("xxx...")
    assert (lines[0].split()[-1], lines[-1]) == ("starts", "racwire check ends")
    assert len(lines) == 4
    written = log.read_text().splitlines()
    assert [line.split("  ", 1)[1].split()[0] for line in written] == ["racwire", "rac2", "rac3", "rac1", "racwire"]
    assert log.stat().st_mode & 0o777 == 0o600
    assert not Journal.followers


def test_the_log_is_bounded_and_its_lines_are_whole_whoever_writes(tmp_path: Path) -> None:
    logs = [LogFile(tmp_path / "racwire.log", limit=1000) for _ in range(3)]
    for number in range(200):
        logs[number % 3].write(f"{number:04} {'x' * 90}\n")
    kept = [path.read_text() for path in (tmp_path / "racwire.log.1", tmp_path / "racwire.log")]
    assert sorted(os.listdir(tmp_path)) == ["racwire.log", "racwire.log.1"]
    numbers = [int(line[:4]) for text in kept for line in text.splitlines()]
    assert numbers == list(range(numbers[0], 200))
    assert all(len(text) <= 1000 for text in kept)


def test_a_log_that_cannot_be_written_costs_one_sentence_and_not_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: write(handle, data[:3]))
    with narrated(LogSettings(file=str(tmp_path / "log")), "check"):
        for _ in range(3):
            with Journal().entry("rac2", "links", "ip addr"):
                pass
    assert capsys.readouterr().err == f"racwire: the log could not be written to {tmp_path}/log: the disk is full.\n"
    assert (tmp_path / "log").read_bytes() == b"", "a line is whole or not there"


@pytest.mark.parametrize("name", ["no/log", "."])
def test_a_log_that_is_no_file_is_refused(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "rp-filter", "--log-file", str(tmp_path / name)]) == 64
    assert capsys.readouterr().err.startswith("racwire: --log-file: ")


def test_what_a_command_tells_has_no_password(tmp_path: Path) -> None:
    login = ("--connect", "127.0.0.1:1/none", "--user", "scott")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "racwire", "check", "gc-blocks-lost", "-v", *login],
        env={
            "PATH": "/usr/bin:/bin",
            "HOME": str(tmp_path),
            "RACWIRE_LOG_FILE": str(tmp_path / "log"),
            "RACWIRE_DB_PASSWORD": "tiger-in-the-tank",
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 3
    for told in (done.stderr, (tmp_path / "log").read_text()):
        assert "connect scott to 127.0.0.1:1/none" in told
        assert "tiger" not in told
