"""The console as a process: without a terminal, in a terminal, and when the terminal is taken from it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tui.terminal import LEAVE_ALTERNATE_SCREEN, MADE_UP, PATIENCE_S, RACWIRE, Terminal, other_user


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A user without any settings."""
    return other_user(tmp_path)


@pytest.fixture
def console(environment: dict[str, str]) -> Iterator[Terminal]:
    terminal = Terminal(environment)
    terminal.read_until(b"1 Checks")
    yield terminal
    terminal.close()


@pytest.fixture
def hurried(environment: dict[str, str], tmp_path: Path) -> dict[str, str]:
    """A user with the shortest interval for the kernel's counters."""
    settings = tmp_path / "settings.toml"
    settings.write_text("[sampling]\ninterval_without_database_s = 1\n")
    return {**environment, "RACWIRE_SETTINGS": str(settings)}


def test_without_a_terminal_the_checks_run_as_text(hurried: dict[str, str]) -> None:
    done = subprocess.run(
        RACWIRE, env=hurried, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stderr.startswith("racwire: there is no terminal, so the checks run as text.\n")
    assert "\x1b" not in done.stdout
    assert "UNKNOWN" in done.stdout
    assert done.returncode == 3


def test_on_a_dumb_terminal_the_checks_run_as_text_too(hurried: dict[str, str]) -> None:
    terminals = [Terminal({**hurried, "TERM": term}) for term in ("dumb", "")]
    try:
        for terminal in terminals:
            assert terminal.ended() == 3
            assert b"so the checks run as text." in terminal.seen
            assert b"\x1b[?1049h" not in terminal.seen
    finally:
        for terminal in terminals:
            terminal.close()


def test_q_quits_at_once_and_restores_the_terminal(console: Terminal) -> None:
    os.write(console.master, b"q")
    code = console.ended()
    assert code in (3, 130)
    assert LEAVE_ALTERNATE_SCREEN in console.seen
    assert b"Traceback" not in console.seen
    assert termios.tcgetattr(console.master) == console.before


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_console_and_restores_the_terminal(console: Terminal, number: signal.Signals) -> None:
    console.process.send_signal(number)
    console.ended()
    assert LEAVE_ALTERNATE_SCREEN in console.seen
    assert b"Traceback" not in console.seen
    assert termios.tcgetattr(console.master) == console.before


def test_a_lost_terminal_ends_the_console(console: Terminal) -> None:
    """The console does not lead the terminal's session, so the kernel sends it no SIGHUP, as after some `sudo su`."""
    os.close(console.master)
    console.process.wait(PATIENCE_S)


def test_a_lost_terminal_ends_the_console_during_sampling_with_hangups_ignored(environment: dict[str, str]) -> None:
    """As under nohup: the signal is ignored, so only a read or a check of the terminal shows its end."""
    terminal = Terminal(environment, ["sh", "-c", "trap '' HUP; exec " + " ".join(RACWIRE)])
    try:
        terminal.read_until(b"1 Checks")
        terminal.send(b"3")
        terminal.read_until(b"peaks since")
        os.close(terminal.master)
        terminal.process.wait(PATIENCE_S)
    finally:
        terminal.close()


def test_the_console_leaves_no_files_after_a_normal_end(console: Terminal, tmp_path: Path) -> None:
    os.write(console.master, b"q")
    console.ended()
    assert not list(tmp_path.rglob("*.log"))


def test_keys_typed_while_python_starts_count(hurried: dict[str, str]) -> None:
    with contextlib.closing(Terminal(hurried)) as console:
        console.send(b"/zzz\r4")  # Python reads them from the terminal once the console is there
        console.read_until(b"[4 Database]")


def test_without_changes_nothing_is_sent(hurried: dict[str, str]) -> None:
    """During many checks whether the terminal still exists, after the checks have run."""
    program = (
        "import sys\nfrom tui.console import hangup\nhangup.CHECK_EVERY_S = 0.05\n"
        "from tui.cli.main import main\nsys.exit(main([]))\n"
    )
    terminal = Terminal(hurried, [sys.executable, "-c", program])
    try:
        terminal.read_until(b"1 Checks")
        terminal.read_until_quiet(2)
        assert terminal.process.poll() is None
    finally:
        terminal.close()


def test_an_error_of_the_console_is_logged_and_the_console_continues(
    environment: dict[str, str], tmp_path: Path
) -> None:
    program = (
        "import sys\nfrom tui.screens.checks.screen import ChecksScreen\n"
        "def action_copy(self): raise RuntimeError('wheels')\nChecksScreen.action_copy = action_copy\n"
        "from tui.cli.main import main\nsys.exit(main([]))\n"
    )
    terminal = Terminal(environment, [sys.executable, "-c", program])
    try:
        terminal.read_until(b"UNKNOWN")
        terminal.send(b"c")
        terminal.read_until(b"Internal error in racwire")
        terminal.send(b"q")
        assert terminal.ended() in (3, 130)
        log = tmp_path / ".local" / "state" / "racwire" / "racwire.log"
        output = terminal.seen.split(LEAVE_ALTERNATE_SCREEN)[-1]
        assert b"racwire: an internal error occurred while the console ran; the details are in" in output
        assert b"Traceback" not in output
        assert "wheels" in log.read_text()
        assert log.stat().st_mode & 0o777 == 0o600
    finally:
        terminal.close()


def test_a_console_that_cannot_start_says_so_in_a_sentence(environment: dict[str, str], tmp_path: Path) -> None:
    program = (
        "import sys\nfrom tui.console.app import ConsoleApp\n"
        "async def on_mount(self): raise RuntimeError('wheels')\nConsoleApp.on_mount = on_mount\n"
        "from tui.cli.main import main\nsys.exit(main([]))\n"
    )
    terminal = Terminal(environment, [sys.executable, "-c", program])
    try:
        terminal.ended()
        output = terminal.seen.split(LEAVE_ALTERNATE_SCREEN)[-1]
        assert b"racwire: the console failed; the details are in" in output
        assert b"Traceback" not in output
        assert "wheels" in (tmp_path / ".local" / "state" / "racwire" / "racwire.log").read_text()
    finally:
        terminal.close()


@pytest.mark.beyond_sample
def test_a_hanging_thread_does_not_block_the_end_of_the_console(environment: dict[str, str], tmp_path: Path) -> None:
    """For example a name lookup or a read from a dead file server: neither can be cancelled."""
    started = tmp_path / "started"
    program = (
        "import asyncio, pathlib, sys, threading\nimport checks.run.engine\n"
        "def hang():\n"
        f"    pathlib.Path({str(started)!r}).touch()\n"
        "    threading.Event().wait()\n"
        "class Hanging(checks.run.engine.Engine):\n"
        "    async def events(self):\n"
        "        await asyncio.to_thread(hang)\n"
        "        yield\n"
        "checks.run.engine.Engine = Hanging\n"
        "from tui.cli.main import main\nsys.exit(main([]))\n"
    )
    terminal = Terminal(environment, [sys.executable, "-c", program])
    try:
        terminal.read_until(b"1 Checks")
        while not started.exists():
            terminal.read_until_quiet(0.05)
        os.write(terminal.master, b"q")
        assert terminal.ended() == 130
        assert LEAVE_ALTERNATE_SCREEN in terminal.seen
        assert termios.tcgetattr(terminal.master) == terminal.before
    finally:
        terminal.close()


def test_moving_the_cursor_costs_few_bytes(environment: dict[str, str]) -> None:
    """Less than a whole screen each: only the two rows and the finding."""
    terminal = Terminal({**environment, "COLORTERM": "truecolor"}, [sys.executable, "-c", MADE_UP])
    try:
        terminal.read_until(b"more lines")
        terminal.read_until_quiet()
        os.write(terminal.master, b"j")
        sent = terminal.read_until_quiet()
        assert b"could not be read" in sent
        assert len(sent) < 4000
    finally:
        terminal.close()


@pytest.mark.beyond_sample
def test_an_error_at_the_start_of_the_console_gives_the_terminal_back(environment: dict[str, str]) -> None:
    program = (
        "import sys\nfrom textual.drivers.linux_driver import LinuxDriver\n"
        "def fail(*_): raise RuntimeError('wheels')\nLinuxDriver._query_in_band_window_resize = fail\n"
        "from tui.cli.main import main\nsys.exit(main([]))\n"
    )
    with contextlib.closing(Terminal(environment, [sys.executable, "-c", program])) as console:
        assert console.ended() == 3
        output = console.seen.partition(LEAVE_ALTERNATE_SCREEN)[2]
        assert b"racwire: the console failed; the details are in" in output
        assert termios.tcgetattr(console.master) == console.before
