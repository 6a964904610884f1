"""The console as a job of a shell: Ctrl-Z, `fg`, `bg`, a shell of its own, and its end meanwhile."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import signal
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tui.terminal import LEAVE_ALTERNATE_SCREEN, PATIENCE_S, RACWIRE, other_user

GOLDEN = Path(__file__).parents[1] / "golden" / "v0_2_0" / "faults.racwire"
CONSOLE = " ".join([*RACWIRE, "open", str(GOLDEN)])
ENTER_ALTERNATE_SCREEN, MOUSE_OFF, SHOW_CURSOR = b"\x1b[?1049h", b"\x1b[?1000l", b"\x1b[?25h"


class Shell:
    """An interactive shell that leads the session of a terminal of 80x24."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.execvpe("bash", ["bash", "--norc", "--noprofile", "-i"], environment)
        termios.tcsetwinsize(self.master, (24, 80))
        self.seen = b""

    def type(self, text: str) -> None:
        self.seen = b""
        os.write(self.master, text.encode())

    def read_until(self, *wanted: bytes) -> None:
        end = time.monotonic() + PATIENCE_S
        while not all(part in self.seen for part in wanted):
            assert time.monotonic() < end, (wanted, self.seen)
            if select.select([self.master], [], [], 0.1)[0]:
                self.seen += os.read(self.master, 65536)

    def mode(self) -> list[object]:
        """Return the mode of the terminal, when the shell runs a command: its own line editor has another one."""
        self.type("stty -a | cksum; echo do''ne\r")
        self.read_until(b"done\r\n")
        return [line for line in self.seen.splitlines() if line.split()[-1:] and line.split()[0].isdigit()]

    def close(self) -> None:
        os.close(self.master)
        with contextlib.suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    shell = Shell({**other_user(tmp_path), "SHELL": "/bin/sh"})
    shell.type("PS1='ready''> '\r")
    shell.read_until(b"ready> ")
    yield shell
    shell.close()


def test_ctrl_z_gives_the_terminal_back_and_fg_draws_the_whole_screen_in_its_new_size(shell: Shell) -> None:
    before = shell.mode()
    shell.type(f"{CONSOLE}\r")
    shell.read_until(b"1 Checks", b"quit")
    shell.type("\x1a")
    shell.read_until(LEAVE_ALTERNATE_SCREEN, MOUSE_OFF, SHOW_CURSOR, b"Stopped")
    assert shell.mode() == before
    termios.tcsetwinsize(shell.master, (30, 100))
    shell.type("bg; jobs; echo in background\r")
    shell.read_until(b"Running", b"in background")
    shell.type("fg\r")
    shell.read_until(ENTER_ALTERNATE_SCREEN, b"1 Checks", b"quit", b"\x1b[30;")
    shell.type("q")
    shell.read_until(b"ready> ")
    assert b"Traceback" not in shell.seen
    termios.tcsetwinsize(shell.master, (24, 80))
    assert shell.mode() == before


def test_a_stopped_console_ends_at_a_signal(shell: Shell) -> None:
    shell.type(f"{CONSOLE}\r")
    shell.read_until(b"1 Checks", b"quit")
    shell.type("\x1a")
    shell.read_until(b"Stopped")
    shell.type("kill %1; while kill -0 %1; do sleep 0.1; done; echo all''gone\r")
    shell.read_until(b"allgone")
    assert b"Traceback" not in shell.seen


@pytest.mark.beyond_sample
def test_a_console_that_bg_continues_leaves_the_terminal_and_ends_at_a_signal(shell: Shell) -> None:
    """SIGSTOP cannot be handled: the shell takes a terminal that racwire has not given back."""
    before = shell.mode()
    shell.type(f"{CONSOLE}\r")
    shell.read_until(b"1 Checks", b"quit")
    os.kill(os.tcgetpgrp(shell.master), signal.SIGSTOP)
    shell.read_until(b"Stopped")
    shell.type("bg\r")
    shell.read_until(LEAVE_ALTERNATE_SCREEN, MOUSE_OFF, SHOW_CURSOR)
    shell.type("kill %1; while kill -0 %1; do sleep 0.1; done; echo all''gone\r")
    shell.read_until(b"allgone")
    assert b"Traceback" not in shell.seen
    assert shell.mode() == before


def test_in_the_background_the_report_is_text_and_nothing_stops(shell: Shell) -> None:
    """In a script `timeout` makes a process group of its own, which nothing brings to the foreground."""
    shell.type(f"sh -c 'timeout 60 {CONSOLE}; echo ended $?'\r")
    shell.read_until(b"ended 2\r")
    assert ENTER_ALTERNATE_SCREEN not in shell.seen


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_shell_has_the_terminal_for_itself_and_ends_with_the_console(shell: Shell, number: signal.Signals) -> None:
    before = shell.mode()
    shell.type(f"{CONSOLE}\r")
    shell.read_until(b"1 Checks", b"quit")
    shell.type("$")
    shell.read_until(LEAVE_ALTERNATE_SCREEN, MOUSE_OFF, SHOW_CURSOR, b"racwire keeps running")
    shell.type("stty -echo raw; kill -STOP $$; exit\n")  # a shell that leaves a mess
    shell.read_until(ENTER_ALTERNATE_SCREEN, b"1 Checks", b"quit")
    shell.type("$")
    shell.read_until(b"racwire keeps running")
    shell.type("echo $((PPID)) is; sleep 30\r")
    shell.read_until(b" is\r\n")
    os.kill(int(shell.seen.rpartition(b" is\r\n")[0].split()[-1]), number)
    shell.read_until(b"ready> ")
    assert shell.mode() == before
    assert b"Traceback" not in shell.seen


def test_without_a_shell_ctrl_z_says_so(shell: Shell) -> None:
    """As after `ssh -t NODE racwire`."""
    shell.type(f"exec {CONSOLE}\r")
    shell.read_until(b"1 Checks", b"quit")
    shell.type("\x1a")
    shell.read_until(ENTER_ALTERNATE_SCREEN, b"No shell is there that could continue")
    shell.type("3")
    shell.read_until(b"3 Traffic]")
