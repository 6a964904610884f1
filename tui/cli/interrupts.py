"""Ctrl-C, TERM and HUP, while a loop runs: the first is told, so that what is under way ends in order."""

from __future__ import annotations

import asyncio
import atexit
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from checks.model.report import ExitCode

_ONE_AND_THE_SAME_S = 0.3
"""Some send a signal to a process and to its group, so that it comes twice."""


@contextmanager
def interrupts(interrupt: Callable[[], None]) -> Iterator[None]:
    """Call back at the first Ctrl-C, TERM or HUP; a later one ends the process at once. A signal that is ignored, as
    HUP is under nohup, stays ignored: there one wants it to go on."""
    loop = asyncio.get_running_loop()
    heard_at: float | None = None

    def hear(*_: object) -> None:
        nonlocal heard_at
        if heard_at is None:
            heard_at = time.monotonic()
            interrupt()
        elif time.monotonic() - heard_at > _ONE_AND_THE_SAME_S:
            os._exit(ExitCode.INTERRUPTED)

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    minded = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
    for number in minded:
        loop.add_signal_handler(number, hear)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, minded)
        for number in minded:
            loop.remove_signal_handler(number)
            if heard_at is not None:  # the second of the two must not end it while it says what it has recorded
                signal.signal(number, hear)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, minded)
        if heard_at is not None:
            atexit.register(_ignore, minded)


def _ignore(numbers: list[signal.Signals]) -> None:
    """At the very end Python gives signals back their deadly meaning, while its exit code is as good as told."""
    for number in numbers:
        signal.signal(number, signal.SIG_IGN)
