"""The output to a terminal that reads, that stops reading, and that is gone."""

from __future__ import annotations

import os
import signal
import termios
import threading
import tty
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab.lab_support import until
from tests.tui.terminal import PATIENCE_S, Terminal, other_user
from tui.terminal.terminal_output import MOST_WAITING, TerminalOutput


class Line:
    """A pseudo-terminal that a test can stop; `caught_up` is set when all output is written."""

    def __init__(self) -> None:
        self.master, self.slave = os.openpty()
        tty.setraw(self.slave)
        self.caught_up = threading.Event()
        self.output = TerminalOutput(self.slave, "utf-8", self.caught_up.set)

    def read(self, wanted: bytes) -> bytes:
        """Read the output at the other end up to this text."""
        seen = b""
        while wanted not in seen:
            seen += os.read(self.master, 65536)
        return seen

    def stop(self) -> None:
        """Accept no more output, as a connection that broke silently."""
        termios.tcflow(self.slave, termios.TCOOFF)

    def write_until_it_waits(self) -> None:
        """Write, and return when the thread has taken the text, which the line does not accept."""
        self.output.write("x")
        assert until(lambda: not self.output._waiting)

    def go_on(self) -> None:
        """Accept output again."""
        termios.tcflow(self.slave, termios.TCOON)


@pytest.fixture
def line() -> Iterator[Line]:
    line = Line()
    yield line
    line.go_on()
    line.output.end(5)
    os.close(line.master)
    os.close(line.slave)


def test_everything_arrives_in_order(line: Line) -> None:
    for number in range(1000):
        line.output.write(f"{number},")
    assert line.read(b"999,") == b"".join(b"%d," % number for number in range(1000))
    line.output.write("rac1→rac2 end")
    assert line.read(b"end") == "rac1→rac2 end".encode()
    assert not line.caught_up.is_set()


def test_a_terminal_that_reads_nothing_does_not_block_and_is_redrawn_when_it_continues(line: Line) -> None:
    line.stop()
    line.write_until_it_waits()
    for _ in range(2 * MOST_WAITING // 100 + 2):
        line.output.write("x" * 100)
    assert not line.caught_up.is_set()
    line.go_on()
    reader = threading.Thread(target=line.read, args=(b"again",), daemon=True)
    reader.start()
    assert line.caught_up.wait(10)
    line.output.write("again")
    assert line.output.end(10)
    reader.join(10)  # else it might read on from what by then is another file
    assert not reader.is_alive()


def test_the_sequences_that_restore_the_terminal_are_never_dropped(line: Line) -> None:
    line.stop()
    line.write_until_it_waits()
    line.output.write("x" * MOST_WAITING)
    for _ in range(3):
        line.output.write("x" * MOST_WAITING)
    line.output.start_restoring()
    line.output.write("back")
    assert not line.output.end(0.1)
    line.go_on()
    assert line.read(b"back").endswith(b"back")


def test_writes_to_a_lost_terminal_are_discarded_silently(line: Line) -> None:
    master, slave = os.openpty()
    output = TerminalOutput(slave, "utf-8", lambda: None)
    os.close(master)
    for _ in range(100):
        output.write("x")
    assert output.end(10)
    os.close(slave)


def test_a_console_whose_terminal_reads_nothing_is_ended_by_a_signal(tmp_path: Path) -> None:
    """After more changes than Textual's own writer queues before it stops the app."""
    terminal = Terminal(other_user(tmp_path))
    terminal.read_until(b"1 Checks")
    held = os.open(f"/proc/{terminal.process.pid}/fd/0", os.O_RDWR | os.O_NOCTTY)
    try:
        termios.tcflow(held, termios.TCOOFF)
        for _ in range(60):
            terminal.send(b"?q")
        terminal.process.send_signal(signal.SIGTERM)
        terminal.process.wait(PATIENCE_S)
    finally:
        termios.tcflow(held, termios.TCOON)
        os.close(held)
        terminal.close()
