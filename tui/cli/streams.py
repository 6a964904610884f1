"""stdin, stdout and stderr: racwire also works where one of them is closed, full or broken."""

from __future__ import annotations

import os
import select
import sys
import threading
from contextlib import suppress

from checks.model.sanitize import sanitize

_LAST_WAIT_S = 0.1


def open_closed_streams() -> None:
    """Open /dev/null for each closed stream: else the next file or connection would get its file descriptor."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            null = os.open(os.devnull, os.O_RDWR)
            if null == number:
                os.set_inheritable(null, True)
            else:
                os.dup2(null, number)
                os.close(null)
        if getattr(sys, name) is None:
            stream = os.fdopen(number, "w" if number else "r", encoding="utf-8", closefd=False)
            setattr(sys, name, stream)


def print_message(sentence: str) -> None:
    """Print a sentence on stderr, sanitized and on one line. Do nothing where stderr cannot be written."""
    with suppress(OSError, ValueError):
        print(f"racwire: {sanitize(sentence)}", file=sys.stderr, flush=True)


def print_message_unless_blocked(sentence: str) -> None:
    """Print a sentence on stderr, but not on a terminal that would block (Ctrl-S, a dead line)."""
    with suppress(OSError, ValueError):
        if not sys.stderr.isatty() or select.select([], [sys.stderr], [], 0)[1]:
            print_message(sentence)


def give_up_stdout() -> None:
    """Redirect stdout to /dev/null: its reader has closed the pipe, or the disk is full."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def exit_past_hung_threads(code: int) -> int:
    """Return the code. Exit at once if a thread hangs in the kernel (a dead file server): Python would wait for it."""
    others = joined_threads()
    for thread in others:
        thread.join(_LAST_WAIT_S)
    if any(thread.is_alive() for thread in others):
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)
    return code


def joined_threads() -> list[threading.Thread]:
    """The threads that Python joins at exit: all but the main thread and daemon threads."""
    return [t for t in threading.enumerate() if t is not threading.main_thread() and not t.daemon]
