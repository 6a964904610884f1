"""Ctrl-C, SIGTERM and SIGHUP: the one policy of every command and of the console.

The first signal stops the work gracefully. Plain code receives `Interrupted`, a `KeyboardInterrupt`. A run with a
partial result (the checks, a recording, the console) registers a callback with `graceful_stop(end)`, and continues with
its report.
A second signal ends the process at once with exit code 130, even during a write to a disk that does not answer.
A signal that is ignored when racwire starts stays ignored: SIGHUP under nohup, and SIGINT where a script started
racwire with `&`, since Ctrl-C is then meant for another process. SIGTERM still works there.
"""

from __future__ import annotations

import atexit
import math
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from checks.model.exit_codes import Interrupted

if TYPE_CHECKING:
    from pathlib import Path

_T = TypeVar("_T")
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_SAME_SIGNAL_S = 0.3
"""Seconds within which two signals count as one: some programs signal a process and its group, so it arrives twice."""
_WAKE_S = 1.0
_INTERRUPTED = 130
_REMOVAL_S = 0.5
_CLEAR = "\r\x1b[K"
STOPPING = "stopping; a second signal (Ctrl-C) stops racwire at once."


class _SignalState:
    """The signals that arrived, and the callbacks that stop the work."""

    def __init__(self) -> None:
        self.received_at: float | None = None
        self._first = [True]
        """The first signal empties this list: `pop` is atomic, so a second signal cannot interrupt it."""
        self.ends: list[Callable[[], None] | None] = []
        self.before: dict[signal.Signals, Any] = {}
        self.last_acts: list[Callable[[], None]] = []
        """What must be done even where a second signal ends the process at once."""

    def install(self) -> None:
        """Handle the signals that are not ignored."""
        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                self.before[number] = signal.signal(number, self.receive)

    def receive(self, *_: object) -> None:
        """Handle a signal. The first one calls the innermost callback, or raises Interrupted without one; a
        later one ends the process."""
        try:
            self._first.pop()
        except IndexError:
            if self.received_at is not None and time.monotonic() - self.received_at > _SAME_SIGNAL_S:
                for act in self.last_acts:
                    act()
                os._exit(_INTERRUPTED)
            return
        self.received_at = time.monotonic()
        end = self.ends[-1] if self.ends else None
        if end is None:
            raise Interrupted
        end()

    def restore(self) -> None:
        """Restore the signal handlers. After a signal, ignore further ones at exit: its duplicate must not end the last
        message."""
        if self.received_at is None:
            for number, handler in self.before.items():
                signal.signal(number, handler)
        else:
            atexit.register(_ignore, list(self.before))


_state: _SignalState | None = None


@contextmanager
def graceful_stop(end: Callable[[], None] | None = None) -> Iterator[None]:
    """Call `end` at the first signal; without `end`, the first signal raises `Interrupted`.

    `end` runs in the main thread, between two instructions of the running code. The innermost `with` decides. A signal
    that arrived before the `with` is not repeated.
    """
    global _state
    state = _state
    is_outermost = state is None
    if state is None:
        state = _state = _SignalState()
        state.install()
    state.ends.append(end)
    try:
        yield
    finally:
        state.ends.pop()
        if is_outermost:
            state.restore()
            _state = None


@contextmanager
def graceful_loop_stop(end: Callable[[], None]) -> Iterator[None]:
    """Call `end` in the running event loop at the first signal, and print on stderr that racwire stops."""
    import asyncio

    loop = asyncio.get_running_loop()

    def wake() -> None:
        _announce_stop()
        with suppress(RuntimeError):  # the loop is closed already
            loop.call_soon_threadsafe(end)

    with graceful_stop(wake):
        yield


@contextmanager
def before_abrupt_end(act: Callable[[], None]) -> Iterator[None]:
    """Do `act` before a second signal ends the process at once: it must not wait, nor raise.

    Needs a `graceful_stop` around it, which receives that signal.
    """
    state = _state
    assert state is not None, "no graceful_stop is around it"
    state.last_acts.append(act)
    try:
        yield
    finally:
        state.last_acts.remove(act)


@contextmanager
def removed_at_abrupt_end(directory: Path | None) -> Iterator[None]:
    """Remove a temporary directory also where a second signal ends the process at once; None: there is nothing to
    remove. A disk that does not answer delays that end by half a second."""

    import shutil

    def remove() -> None:
        removal = threading.Thread(target=shutil.rmtree, args=(directory, True), daemon=True)
        removal.start()
        removal.join(_REMOVAL_S)

    if directory is None or _state is None:
        yield
        return
    with before_abrupt_end(remove):
        yield


def write_interruptibly(write: Callable[[], _T], most_s: float = math.inf) -> _T:
    """Run `write` in a thread of its own and return its result. Raises the exception that `write` raises.

    A dead disk blocks that thread only, so a second signal still ends the process. After the first signal the write
    continues, since an incomplete file is of no use. Raises TimeoutError after `most_s` seconds, and leaves the thread.
    """
    results: list[_T] = []
    errors: list[BaseException] = []
    done = threading.Event()

    def work() -> None:
        try:
            results.append(write())
        except BaseException as error:
            errors.append(error)
        finally:
            done.set()

    with graceful_stop(_announce_stop):
        threading.Thread(target=work, name="racwire-write", daemon=True).start()
        until = time.monotonic() + most_s
        while not done.wait(_WAKE_S):  # a signal that arrives just before a wait without an end would not be handled
            if time.monotonic() > until:
                raise TimeoutError
    if errors:
        raise errors[0]
    return results[0]


def _announce_stop() -> None:
    with suppress(OSError, ValueError):
        if not sys.stderr.isatty():
            sys.stderr.write(f"racwire: {STOPPING}\n")
        elif select.select([], [sys.stderr], [], 0)[1]:  # a stopped terminal (Ctrl-S) must not delay the end
            sys.stderr.write(f"{_CLEAR}racwire: {STOPPING}\n")
        sys.stderr.flush()


def _ignore(numbers: list[signal.Signals]) -> None:
    """Ignore the signals at exit: there Python restores their default, which would end the process without its exit
    code."""
    for number in numbers:
        signal.signal(number, signal.SIG_IGN)
