"""The terminal of a command that sends: what stops it, and that the terminal is as before in every way of ending."""

from __future__ import annotations

import fcntl
import os
import pty
import resource
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PATIENCE_S = 30
"""Seconds to wait for an event; no test measures this time."""
SENDS = """
import asyncio, os, sys
from tui.cli.interrupts import graceful_loop_stop
from tui.cli.own_loop import run_in_own_loop
from tui.cli.terminal_stop import stop_with_terminal

async def work():
    stop = asyncio.Event()
    with graceful_loop_stop(stop.set), stop_with_terminal(stop.set):
        os.write(LOG, b"sends ")
        await stop.wait()
        os.write(LOG, b"stops ")
        if "hangs" in sys.argv:
            await asyncio.Event().wait()
    os.write(LOG, b"ended ")

LOG = int(sys.argv[1])
run_in_own_loop(work())
"""


def own_terminal(terminal: int) -> None:
    """Make it the terminal of this session, whose processes leave no core file behind."""
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Sender:
    """A command that sends until it is stopped, in a terminal of its own; what it does goes through a pipe."""

    def __init__(self, *words: str, **streams: int) -> None:
        self.terminal, theirs = pty.openpty()
        self.theirs = os.open(os.ttyname(theirs), os.O_RDWR | os.O_NOCTTY)
        self.before = termios.tcgetattr(theirs)
        self._log, log = os.pipe()
        self.done = ""
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", SENDS, str(log), *words],
            stdin=streams.get("stdin", theirs), stdout=streams.get("stdout", theirs),
            stderr=streams.get("stderr", theirs), pass_fds=(log,), cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)}, start_new_session=True,
            preexec_fn=lambda: own_terminal(theirs),
        )  # fmt: skip
        os.close(theirs)
        os.close(log)

    def until(self, what: str) -> None:
        while what not in self.done:
            assert select.select([self._log], [], [], PATIENCE_S)[0], self.done
            read = os.read(self._log, 100).decode()
            assert read, self.done
            self.done += read

    def until_it(self, is_so: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE_S
        while not is_so():
            assert time.monotonic() < end
            time.sleep(0.01)

    def reads_keys(self) -> bool:
        return not termios.tcgetattr(self.theirs)[3] & (termios.ICANON | termios.ECHO)

    def is_as_before(self) -> bool:
        return termios.tcgetattr(self.theirs) == self.before

    def type(self, keys: bytes) -> None:
        os.write(self.terminal, keys)

    def hang_up(self) -> None:
        """Close the terminal, as a lost ssh connection does."""
        os.close(self.theirs)
        os.close(self.terminal)
        self.terminal = -1

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._log)
        if self.terminal >= 0:
            os.close(self.theirs)
            os.close(self.terminal)


@pytest.fixture
def start() -> Iterator[Callable[..., Sender]]:
    started: list[Sender] = []

    def one(*words: str, **streams: int) -> Sender:
        sender = Sender(*words, **streams)
        started.append(sender)
        sender.until("sends")
        return sender

    yield one
    for sender in started:
        sender.close()


@pytest.mark.parametrize("streams", [{}, {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}])
@pytest.mark.parametrize("keys", [b"s", b"xyzS"])
def test_the_key_s_stops_it_wherever_its_output_goes(
    start: Callable[..., Sender], streams: dict[str, int], keys: bytes
) -> None:
    sender = start(**streams)
    assert sender.reads_keys()
    sender.type(b"xyz\n")
    sender.type(keys)
    sender.until("stops ended")
    assert sender.process.wait(PATIENCE_S) == 0
    assert sender.is_as_before()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, b"\x03"])
def test_signals_stop_it_and_the_terminal_is_as_before(start: Callable[..., Sender], how: bytes | int) -> None:
    sender = start()
    sender.type(how) if isinstance(how, bytes) else sender.process.send_signal(how)
    sender.until("stops ended")
    assert sender.process.wait(PATIENCE_S) == 0
    assert sender.is_as_before()


def test_a_terminal_that_is_lost_stops_it_even_where_hang_ups_are_ignored(start: Callable[..., Sender]) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # the child inherits it, as under nohup
    try:
        sender = start()
    finally:
        signal.signal(signal.SIGHUP, before)
    sender.hang_up()
    sender.until("stops ended")
    assert sender.process.wait(PATIENCE_S) == 0


def test_the_loss_of_the_terminal_of_stderr_alone_stops_it(start: Callable[..., Sender]) -> None:
    sender = start(stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    assert sender.is_as_before()
    sender.hang_up()
    sender.until("stops ended")


def test_a_second_signal_restores_the_terminal_too(start: Callable[..., Sender]) -> None:
    sender = start("hangs")
    sender.process.send_signal(signal.SIGINT)
    sender.until("stops")
    end = time.monotonic() + PATIENCE_S
    while sender.process.poll() is None:  # one signal may come too early, right after the first
        assert time.monotonic() < end
        sender.process.send_signal(signal.SIGINT)
        time.sleep(0.05)
    assert sender.process.returncode == 130
    assert sender.is_as_before()


def test_ctrl_z_and_ctrl_backslash_find_the_terminal_as_before(start: Callable[..., Sender]) -> None:
    sender = start()
    sender.process.send_signal(signal.SIGTSTP)  # its group is an orphan, so it goes on at once
    sender.until_it(sender.reads_keys)
    sender.process.send_signal(signal.SIGQUIT)
    assert sender.process.wait(PATIENCE_S) == -signal.SIGQUIT
    assert sender.is_as_before()
