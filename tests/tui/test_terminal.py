"""The console as a process: without a terminal, in a terminal, and when the terminal is taken from it."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

RACWIRE = [sys.executable, "-m", "tui"]
LEAVE_ALTERNATE_SCREEN = b"\x1b[?1049l"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A user with nothing configured."""
    kept = {k: v for k, v in os.environ.items() if k in ("PATH", "PYTHONPATH")}
    return {**kept, "HOME": str(tmp_path), "TERM": "xterm-256color", "LANG": "C.UTF-8"}


class Terminal:
    """A console in a pseudo-terminal of 80x24."""

    def __init__(self, environment: dict[str, str], command: list[str] = RACWIRE) -> None:
        self.master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (24, 80))
        self.before = termios.tcgetattr(slave)
        self.seen = b""
        self.process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, env=environment, start_new_session=True
        )
        os.close(slave)

    def read_until(self, wanted: bytes, within_s: float = 15) -> None:
        end = time.monotonic() + within_s
        while wanted not in self.seen:
            assert time.monotonic() < end, self.seen[-2000:]
            if select.select([self.master], [], [], 0.1)[0]:
                try:
                    self.seen += os.read(self.master, 65536)
                except OSError:
                    break

    def read_until_quiet(self, for_s: float = 0.7) -> bytes:
        """What it sends until it has sent nothing for so long."""
        sent = b""
        while select.select([self.master], [], [], for_s)[0]:
            sent += os.read(self.master, 65536)
        return sent

    def ended_within(self, seconds: float) -> int:
        """Its exit code; keeps reading so that it can write."""
        end = time.monotonic() + seconds
        while self.process.poll() is None:
            assert time.monotonic() < end, "still running"
            with contextlib.suppress(OSError):
                if select.select([self.master], [], [], 0.05)[0]:
                    self.seen += os.read(self.master, 65536)
        with contextlib.suppress(OSError):
            while select.select([self.master], [], [], 0.05)[0]:
                self.seen += os.read(self.master, 65536)
        return self.process.returncode

    def close(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self.master)
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


@pytest.fixture
def console(environment: dict[str, str]) -> Iterator[Terminal]:
    terminal = Terminal(environment)
    terminal.read_until(b"1 Checks")
    yield terminal
    terminal.close()


def test_without_a_terminal_the_checks_run_as_text(environment: dict[str, str]) -> None:
    done = subprocess.run(
        RACWIRE, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stderr.startswith("racwire: no terminal here, so the checks run as text.\n")
    assert "\x1b" not in done.stdout
    assert "UNKNOWN" in done.stdout
    assert done.returncode == 3


@pytest.mark.parametrize("term", ["dumb", ""])
def test_on_a_dumb_terminal_too(environment: dict[str, str], term: str) -> None:
    terminal = Terminal({**environment, "TERM": term})
    try:
        assert terminal.ended_within(60) == 3
        assert b"so the checks run as text." in terminal.seen
        assert b"\x1b[?1049h" not in terminal.seen
    finally:
        terminal.close()


def test_q_leaves_at_once_with_the_terminal_as_it_was(console: Terminal) -> None:
    os.write(console.master, b"q")
    code = console.ended_within(3)
    assert code in (3, 130)
    assert LEAVE_ALTERNATE_SCREEN in console.seen
    assert b"Traceback" not in console.seen
    assert termios.tcgetattr(console.master) == console.before


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_the_terminal_as_it_was(console: Terminal, number: signal.Signals) -> None:
    console.process.send_signal(number)
    console.ended_within(3)
    assert LEAVE_ALTERNATE_SCREEN in console.seen
    assert b"Traceback" not in console.seen
    assert termios.tcgetattr(console.master) == console.before


def test_a_lost_terminal_ends_it(console: Terminal) -> None:
    """Not the leader of the terminal's session, so that the kernel sends it no SIGHUP, as after some `sudo su`."""
    os.close(console.master)
    console.process.wait(4)


def test_it_leaves_no_files_behind_when_all_goes_well(console: Terminal, tmp_path: Path) -> None:
    os.write(console.master, b"q")
    console.ended_within(3)
    assert not list(tmp_path.rglob("*.log"))


def test_a_terminal_that_is_not_unicode_gets_plain_signs(environment: dict[str, str]) -> None:
    terminal = Terminal({**environment, "LANG": "", "PYTHONIOENCODING": "iso8859-1", "PYTHONUTF8": "0"})
    try:
        terminal.read_until(b"q\x1b")
        assert b"\\u2" not in terminal.seen
        assert b"----------" in terminal.seen
        assert "─".encode() not in terminal.seen
    finally:
        terminal.close()


@pytest.mark.parametrize("look", [{"TERM": "xterm"}, {"NO_COLOR": "1"}, {"STY": "1.x", "COLORTERM": "truecolor"}])
def test_no_more_colours_than_the_terminal_has(environment: dict[str, str], look: dict[str, str]) -> None:
    terminal = Terminal({**environment, **look})
    try:
        terminal.read_until(b"UNKNOWN")
        assert b"38;2;" not in terminal.seen
        assert b"48;2;" not in terminal.seen
        assert "STY" in look or b"38;5;" not in terminal.seen
        assert "NO_COLOR" not in look or not re.search(rb"\x1b\[(?:\d+;)*3[1-7]m", terminal.seen)
    finally:
        terminal.close()


def test_when_nothing_changes_nothing_is_sent(console: Terminal) -> None:
    """Over two looks at whether the terminal is still there, once the counters have been watched, second by second."""
    console.read_until_quiet(2)
    assert not select.select([console.master], [], [], 4.5)[0]


def test_a_fault_of_the_console_itself_goes_to_the_log(environment: dict[str, str], tmp_path: Path) -> None:
    program = (
        "import sys\nfrom tui.screens.checks import ChecksScreen\n"
        "def action_copy(self): raise RuntimeError('wheels')\nChecksScreen.action_copy = action_copy\n"
        "from tui.cli import main\nsys.exit(main([]))\n"
    )
    terminal = Terminal(environment, [sys.executable, "-c", program])
    try:
        terminal.read_until(b"q\x1b")
        os.write(terminal.master, b"c")
        terminal.ended_within(5)
        log = tmp_path / ".local" / "state" / "racwire" / "racwire.log"
        said = terminal.seen.split(LEAVE_ALTERNATE_SCREEN)[-1]
        assert b"racwire: the console broke down; the details are in" in said
        assert b"Traceback" not in said
        assert "wheels" in log.read_text()
        assert log.stat().st_mode & 0o777 == 0o600
    finally:
        terminal.close()


def test_a_thread_that_hangs_does_not_hold_the_console(environment: dict[str, str]) -> None:
    """Such as a name lookup or a read from a dead file server: neither can be cancelled."""
    program = (
        "import asyncio, sys, time\nimport checks.engine\n"
        "class Hanging(checks.engine.Engine):\n"
        "    async def events(self):\n"
        "        await asyncio.to_thread(time.sleep, 30)\n"
        "        yield\n"
        "checks.engine.Engine = Hanging\n"
        "from tui.cli import main\nsys.exit(main([]))\n"
    )
    terminal = Terminal(environment, [sys.executable, "-c", program])
    try:
        terminal.read_until(b"1 Checks")
        time.sleep(0.3)
        os.write(terminal.master, b"q")
        assert terminal.ended_within(3) == 130
        assert LEAVE_ALTERNATE_SCREEN in terminal.seen
        assert termios.tcgetattr(terminal.master) == terminal.before
    finally:
        terminal.close()


def test_moving_the_cursor_costs_few_bytes(environment: dict[str, str]) -> None:
    """Less than a whole screen each: the two rows, the finding, and nothing else."""
    program = (
        "import asyncio, sys\nfrom pathlib import Path\n"
        "from tests.tui.clusters import UNCHANGING, black_hole, engine\nfrom tui.app import ConsoleApp\n"
        "app = ConsoleApp(lambda: engine(black_hole(), UNCHANGING), state_directory=Path('.'))\n"
        "app.run(mouse=False)\n"
    )
    terminal = Terminal({**environment, "COLORTERM": "truecolor"}, [sys.executable, "-c", program])
    try:
        terminal.read_until(b"more lines")
        terminal.read_until_quiet()
        os.write(terminal.master, b"j")
        sent = terminal.read_until_quiet()
        assert b"could not be read" in sent
        assert len(sent) < 4000
    finally:
        terminal.close()
