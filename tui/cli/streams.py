"""The three streams that racwire was started with: closed, full or broken ones are no reason to break down."""

from __future__ import annotations

import os
import select
import sys
import threading
from contextlib import suppress

from checks.model.sanitize import shown

_LAST_WAIT_S = 0.1


def open_closed_streams() -> None:
    """Lead a stream that the caller closed nowhere: else the next file or connection would take its number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere == number:
                os.set_inheritable(nowhere, True)
            else:
                os.dup2(nowhere, number)
                os.close(nowhere)
        if getattr(sys, name) is None:
            stream = os.fdopen(number, "w" if number else "r", encoding="utf-8", closefd=False)
            setattr(sys, name, stream)


def print_message(sentence: str) -> None:
    """A sentence on stderr, on one line whatever names stand in it, and whether or not stderr can still be written."""
    with suppress(OSError, ValueError):
        print(f"racwire: {shown(sentence)}", file=sys.stderr, flush=True)


def print_message_unless_blocked(sentence: str) -> None:
    """As `tell`, but write nothing to a terminal that takes nothing (Ctrl-S, a dead line): the end must not wait."""
    with suppress(OSError, ValueError):
        if not sys.stderr.isatty() or select.select([], [sys.stderr], [], 0)[1]:
            print_message(sentence)


def give_up_stdout() -> None:
    """Write nothing more to stdout: its reader has seen enough, or it is full."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def exit_past_hung_threads(code: int) -> int:
    """Return the code, unless a thread hangs in the kernel (a dead file server): Python would wait for its end."""
    others = waited_for()
    for thread in others:
        thread.join(_LAST_WAIT_S)
    if any(thread.is_alive() for thread in others):
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)
    return code


def waited_for() -> list[threading.Thread]:
    """The threads whose end Python would wait for."""
    return [t for t in threading.enumerate() if t is not threading.main_thread() and not t.daemon]
