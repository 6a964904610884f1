"""A pseudo-terminal for a program: it counts the received bytes and answers the queries for a terminal."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import select
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

import psutil

SMALL, LARGE, HUGE = (80, 24), (120, 40), (200, 50)
"""The measured sizes, as columns and rows."""

_ANSWERS = {
    b"\x1b[?2026$p": b"\x1b[?2026;2$y",  # synchronised output: supported
    b"\x1b[?2048$p": b"\x1b[?2048;0$y",  # in-band resize reports: unknown
    b"\x1b[c": b"\x1b[?62;22c",
}
"""The queries of a program at its start, and the answers of xterm."""
_ESCAPES = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]")


class TerminalError(Exception):
    """The program did not draw the expected text."""


class Terminal:
    """A program in a pseudo-terminal of its own. Always close it: that ends the program."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], size: tuple[int, int] = SMALL) -> None:
        self._master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (size[1], size[0]))
        self._since = b""
        self.end_timeout_s = 5.0
        """Seconds for the program to end by itself."""
        self.started_at = time.perf_counter()
        try:
            self._process = subprocess.Popen(
                command, stdin=slave, stdout=slave, stderr=slave, env=dict(environment), start_new_session=True
            )
        except BaseException:
            os.close(self._master)
            raise
        finally:
            os.close(slave)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def text(self) -> str:
        """The output since the last key, without escape sequences."""
        return _ESCAPES.sub(b"", self._since).decode(errors="replace")

    @property
    def raw(self) -> bytes:
        """The output since the last key, as received."""
        return self._since

    def forget(self) -> None:
        """Discard the output so far."""
        self._since = b""

    def send(self, keys: str) -> float:
        """Press keys. Return the time of the key press."""
        self.forget()
        os.write(self._master, keys.encode())
        return time.perf_counter()

    def read_for(self, seconds: float) -> int:
        """Read the output for so many seconds. Return the number of bytes."""
        end = time.perf_counter() + seconds
        count = 0
        while (left := end - time.perf_counter()) > 0:
            count += len(self._read(left))
        return count

    def read_until(self, text_drawn: str, within_s: float = 20) -> float:
        """Wait until this text was drawn since the last key. Return the time. Raises TerminalError."""
        end = time.perf_counter() + within_s
        while text_drawn not in self.text:
            if self._read(max(0.0, end - time.perf_counter())):
                at = time.perf_counter()
                continue
            raise TerminalError(
                f"'{text_drawn}' was not drawn within {within_s:g} s; the output ends with: {self._tail}"
            )
        return at

    def read_any(self, within_s: float) -> float | None:
        """Return the time of the next bytes; None when there are none within the time."""
        return time.perf_counter() if self._read(within_s) else None

    def read_until_quiet(self, for_s: float, within_s: float) -> None:
        """Wait until there was no output for so many seconds. Raises TerminalError."""
        end = time.perf_counter() + within_s
        while self._read(for_s):
            if time.perf_counter() > end:
                raise TerminalError(f"the screen still changed after {within_s:g} s")

    def processes(self) -> tuple[psutil.Process, list[psutil.Process]]:
        """Return the program and its descendants. Raises TerminalError when the program has ended."""
        try:
            program = psutil.Process(self._process.pid)
            # What enters a practice node waits outside for the program, which it started there.
            while _waits_outside(program):
                program = program.children()[0]
            return program, program.children(recursive=True)
        except (psutil.NoSuchProcess, IndexError) as error:
            raise TerminalError(f"the program has ended; its last output: {self._tail}") from error

    def close(self) -> None:
        """End the program, by force when it does not end by itself."""
        self._process.terminate()
        end = time.perf_counter() + self.end_timeout_s
        # Read its last output: otherwise the program would wait for this process, and this process for the program.
        while self._process.poll() is None and time.perf_counter() < end:
            self._read(0.05)
        self._process.kill()
        self._process.wait()
        os.close(self._master)

    @property
    def _tail(self) -> str:
        return repr(" ".join(self.text.split())[-200:])

    def _read(self, within_s: float) -> bytes:
        """The next bytes; empty when there are none in time, or the program has closed its side."""
        if not select.select([self._master], [], [], within_s)[0]:
            return b""
        try:
            data = os.read(self._master, 65536)
        except OSError:
            time.sleep(min(within_s, 0.01))
            return b""
        before = self._since[-16:]
        for question, answer in _ANSWERS.items():
            if (before + data).count(question) > before.count(question):
                with contextlib.suppress(OSError):
                    os.write(self._master, answer)
        self._since = (self._since + data)[-200_000:]
        return data


def _waits_outside(program: psutil.Process) -> bool:
    words = program.cmdline()
    if any(word.endswith("enter.py") for word in words):
        return True
    return "--lab" in words and any(child.cmdline() == words for child in program.children())
