"""Ctrl-C, SIGTERM and SIGHUP: the one policy of every command and of the console.

The first ends what is under way in order: `KeyboardInterrupt` unwinds plain code; a run that has something to show for
itself (checks, a recording, the console) asks by `ending_in_order(end)` to be told instead, and goes on to its report.
A second one ends the process at once with exit code 130, wherever it stands, also in a write to a disk that does not
answer. A signal that arrives ignored stays ignored: SIGHUP under nohup, and SIGINT where a script started racwire with
`&` and Ctrl-C is meant for somebody else; SIGTERM ends it there.
"""

from __future__ import annotations

import atexit
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

_T = TypeVar("_T")
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_ONE_AND_THE_SAME_S = 0.3
"""Some send a signal to a process and to its group, so that it comes twice."""
_INTERRUPTED = 130
_CLEAR = "\r\x1b[K"
STOPPING = "ending in order; once more ends it at once."


class _Hearing:
    """What a process heard, and who is to end."""

    def __init__(self) -> None:
        self.heard_at: float | None = None
        self._first = [True]
        """Emptied by the first signal: `pop` is one step, which the next signal cannot come into."""
        self.ends: list[Callable[[], None] | None] = []
        self.before: dict[signal.Signals, Any] = {}

    def begin(self) -> None:
        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                self.before[number] = signal.signal(number, self.hear)

    def hear(self, *_: object) -> None:
        try:
            self._first.pop()
        except IndexError:
            if self.heard_at is not None and time.monotonic() - self.heard_at > _ONE_AND_THE_SAME_S:
                os._exit(_INTERRUPTED)
            return
        self.heard_at = time.monotonic()
        end = self.ends[-1] if self.ends else None
        if end is None:
            raise KeyboardInterrupt
        end()

    def over(self) -> None:
        """Give the signals back; where one was heard, the second of two that are one must not end what is said last."""
        if self.heard_at is None:
            for number, handler in self.before.items():
                signal.signal(number, handler)
        else:
            atexit.register(_ignore, list(self.before))


_hearing: _Hearing | None = None


@contextmanager
def graceful_stop(end: Callable[[], None] | None = None) -> Iterator[None]:
    """Call `end` at the first signal, in the main thread, between two instructions of whatever runs there; without it
    `KeyboardInterrupt` is raised. The innermost `with` decides; what was heard before is not told again."""
    global _hearing
    hearing = _hearing
    is_outermost = hearing is None
    if hearing is None:
        hearing = _hearing = _Hearing()
        hearing.begin()
    hearing.ends.append(end)
    try:
        yield
    finally:
        hearing.ends.pop()
        if is_outermost:
            hearing.over()
            _hearing = None


@contextmanager
def graceful_loop_stop(end: Callable[[], None], *, is_told: bool = True) -> Iterator[None]:
    """Call `end` in the running event loop at the first signal; it is told on stderr unless `is_told` is False."""
    import asyncio

    loop = asyncio.get_running_loop()

    def wake() -> None:
        if is_told:
            _tell_that_it_ends()
        with suppress(RuntimeError):  # the loop is closed: it has ended
            loop.call_soon_threadsafe(end)

    with graceful_stop(wake):
        yield


def write_interruptibly(write: Callable[[], _T]) -> _T:
    """Write a file, in a thread of its own: a dead disk holds up that thread, and a second signal still ends the
    process. The first lets it go on: a file that is written to its end is the order that there is. Raises what `write`
    raises."""
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

    with graceful_stop(_tell_that_it_ends):
        threading.Thread(target=work, name="racwire-write", daemon=True).start()
        done.wait()
    if errors:
        raise errors[0]
    return results[0]


def _tell_that_it_ends() -> None:
    with suppress(OSError, ValueError):
        if not sys.stderr.isatty():
            sys.stderr.write(f"racwire: {STOPPING}\n")
        elif select.select([], [sys.stderr], [], 0)[1]:  # a terminal that is held (Ctrl-S) must not hold up the end
            sys.stderr.write(f"{_CLEAR}racwire: {STOPPING}\n")
        sys.stderr.flush()


def _ignore(numbers: list[signal.Signals]) -> None:
    """Ignore signals at the very end: there Python gives them back their deadly meaning, while the exit code is as good
    as told."""
    for number in numbers:
        signal.signal(number, signal.SIG_IGN)
