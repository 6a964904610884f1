"""stdin, stdout and stderr: racwire also works where one of them is closed, full or broken."""

from __future__ import annotations

import os
import re
import select
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path

from checks.model.sanitize import sanitize
from tui.text.sanitize import PLAIN_SIGNS

_LAST_WAIT_S = 0.1

_NOT_UNICODE = re.compile(r"(vt\d|linux|ansi|cons25|pcansi|scoansi|sun|wy\d|tvi|ibm3)", re.IGNORECASE)
"""Prefixes of the terminal types (TERM) without Unicode. The console of Linux has a font of at most 512 characters: it
has the lines, but of the eight blocks of a graph only two, and no check mark."""


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


def follow_locale() -> None:
    """Let stdout and stderr write only ASCII where the locale or the terminal is not Unicode.

    Under LANG=C Python writes UTF-8 (PEP 538 and 540), whatever the terminal displays. PYTHONIOENCODING overrides this.
    """
    _forget_coercion()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and not is_unicode(os.environ, on_terminal=stream.isatty()):
            stream.reconfigure(encoding="ascii", errors=PLAIN_SIGNS)


def is_unicode(environment: Mapping[str, str], *, on_terminal: bool) -> bool:
    """Return whether the locale is one of Unicode, and the terminal, where the text goes to one. The name of the locale
    decides: a server often lacks the locale of the ssh client, whose terminal is what counts."""
    if environment.get("PYTHONIOENCODING"):
        return True  # the stream has the encoding already
    if on_terminal and _NOT_UNICODE.match(environment.get("TERM", "")):
        return False
    named = next(filter(None, map(environment.get, ("LC_ALL", "LC_CTYPE", "LANG"))), "C")
    return "UTF8" in named.upper().replace("-", "")


def _forget_coercion() -> None:
    """Remove LC_CTYPE=C.UTF-8 from the environment where Python, and not the operator, has set it (PEP 538)."""
    with suppress(OSError):
        if "LC_CTYPE" in os.environ and b"\0LC_CTYPE=" not in b"\0" + Path("/proc/self/environ").read_bytes():
            del os.environ["LC_CTYPE"]


_messages: list[str] = []
"""The last sentence."""


def last_message() -> str:
    """Return the last sentence that was printed on stderr; empty where there was none."""
    return "".join(_messages)


def print_message(sentence: str) -> None:
    """Print a sentence on stderr, sanitized and on one line. Do nothing where stderr cannot be written."""
    _messages[:] = [sentence]
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
