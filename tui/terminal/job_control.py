"""The terminal in other hands for a while: of the shell that racwire was started from, or of one that racwire starts.

A program that is not in the foreground of its terminal must neither write to it nor change its mode: the kernel would
stop the program, or it would garble what the other one displays.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

_STOPPED_WITHIN_S = 0.1
"""Seconds after which a process that was not stopped knows that the kernel ignored the signal."""
_TRIES = 5
_ENTERED = "\r\nracwire keeps running. `exit` or Ctrl-D returns to it.\r\n"


def is_in_foreground(terminal: int) -> bool:
    """Return whether the terminal is that of this process group; False where it is lost.

    Always True in a practice node, where the kernel does not name groups of the machine around it."""
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False


def is_in_background(terminal: int) -> bool:
    """Return whether another process group has the terminal; False where it is not the one that controls racwire, or
    is lost: the kernel then stops no process."""
    with suppress(OSError):
        return os.tcgetpgrp(terminal) != os.getpgrp()
    return False


def stop_process(was_continued: Callable[[], bool]) -> None:
    """Stop this process and what the shell started with it (`sudo`, `time`), until a shell continues them.

    Returns at once where no shell could: the kernel then ignores the signal. `was_continued` says whether a SIGCONT has
    arrived since the call.
    """
    before = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    try:
        os.kill(0, signal.SIGTSTP)
        until = time.monotonic() + _STOPPED_WITHIN_S
        while not was_continued() and time.monotonic() < until:
            time.sleep(0.005)  # another thread can take the signal, and this one runs on for a moment
    finally:
        signal.signal(signal.SIGTSTP, before)


class Subshell:
    """An interactive shell on the terminal. The caller has to restore the terminal before, and to take it afterwards.

    The event loop of racwire goes on meanwhile.
    """

    def __init__(self, terminal: int) -> None:
        self._terminal = terminal
        self._mode: list[Any] | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = asyncio.Event()
        self.is_stopped = False
        """Whether racwire ended the shell, and does not need the terminal any more."""

    async def run(self) -> str:
        """Run the shell of the user to its end; return why it could not run, in a sentence, else nothing."""
        if problem := self._start():
            return problem
        try:
            await self._ended.wait()
        finally:
            self._take_back()
        code = self._process.returncode if self._process else 0
        return f"The shell {_shell()} could not be used: it ended with exit code {code}." if code in (126, 127) else ""

    def _start(self) -> str:
        with suppress(termios.error):
            self._mode = termios.tcgetattr(self._terminal)
        screen = sys.__stderr__.fileno() if sys.__stderr__ else 2
        with suppress(OSError):
            os.write(screen, _ENTERED.encode())
        try:
            self._process = subprocess.Popen(
                [_shell()], stdin=self._terminal, stdout=screen, stderr=screen, process_group=0
            )
        except OSError as error:
            return f"The shell {_shell()} could not be started: {error.strerror}."
        self._make_foreground(self._process.pid)
        loop = asyncio.get_running_loop()
        # A daemon thread: a shell that ignores hang-ups must not delay the end of racwire.
        threading.Thread(target=self._wait, args=(self._process, loop), name="racwire-shell", daemon=True).start()
        return ""

    async def stop(self, within_s: float) -> None:
        """End the shell as a lost terminal would, and wait for that; what ignores it goes on without racwire."""
        self.is_stopped = True
        if self._process is None or self._ended.is_set():
            return
        for number in (signal.SIGHUP, signal.SIGCONT):
            with suppress(OSError):
                os.killpg(self._process.pid, number)
        with suppress(TimeoutError):
            await asyncio.wait_for(self._ended.wait(), within_s)

    def _take_back(self) -> None:
        """Make this process group the foreground of the terminal again, with the mode from before the shell."""
        if own := os.getpgrp():
            self._make_foreground(own)
            with suppress(termios.error), without_stop():
                self._restore_mode()
            return
        # In a practice node that racwire entered from outside, the kernel does not name the group of racwire. It stops
        # racwire for this, and the process that waits outside makes the group the foreground.
        for _ in range(_TRIES):
            with suppress(termios.error):  # interrupted by that
                self._restore_mode()
                return

    def _restore_mode(self) -> None:
        if self._mode is not None:
            termios.tcsetattr(self._terminal, termios.TCSANOW, self._mode)

    def _make_foreground(self, group: int) -> None:
        with suppress(OSError), without_stop():
            os.tcsetpgrp(self._terminal, group)

    def _wait(self, process: subprocess.Popen[bytes], loop: asyncio.AbstractEventLoop) -> None:
        """Wait in a thread. A shell that stops itself (`suspend`, or because it was not in the foreground yet) goes on:
        nothing else could continue it."""
        with suppress(OSError):
            while True:
                _, status = os.waitpid(process.pid, os.WUNTRACED)
                if not os.WIFSTOPPED(status):
                    process.returncode = os.waitstatus_to_exitcode(status)
                    break
                self._make_foreground(process.pid)
                os.kill(process.pid, signal.SIGCONT)
        with suppress(RuntimeError):  # the loop is closed: racwire has ended
            loop.call_soon_threadsafe(self._ended.set)


def _shell() -> str:
    return os.environ.get("SHELL") or "/bin/sh"


@contextmanager
def without_stop() -> Iterator[None]:
    """Within it the kernel does not stop this thread for a change of the terminal from the background."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def when_in_foreground(terminal: int, do: Callable[[], None], every_s: float, is_over: Callable[[], bool]) -> None:
    """Call `do` in the running loop as soon as this process is in the foreground; never where `is_over` before that.

    Not every shell sends a signal when it brings a running job to the foreground."""
    if is_over():
        return
    if is_in_foreground(terminal):
        do()
    else:
        asyncio.get_running_loop().call_later(every_s, when_in_foreground, terminal, do, every_s, is_over)
