"""Long text on a terminal, through the pager of the user: $RACWIRE_PAGER, else $PAGER, else less."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import termios
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from tui.cli.streams import print_message
from tui.text.sanitize import for_encoding

_VARIABLES = ("RACWIRE_PAGER", "PAGER")
_NO_PAGER: tuple[list[str], ...] = ([], ["cat"])
_OF_LESS = "FRX"
"""Quit where one screen suffices, keep colours, leave the text on the screen."""
_SECURE = "LESSSECURE"
"""Lets less start no shell and no editor: after `sudo racwire plan` they would be those of root."""
_is_wanted = [True]


def without_pager() -> None:
    """Use no pager in this process."""
    _is_wanted[0] = False


def print_paged(text: str) -> None:
    """Print a text on stdout; on a terminal that it does not fit on, through the pager. Raises OSError."""
    shown = for_encoding(text, getattr(sys.stdout, "encoding", None))
    command = pager(os.environ) if _is_wanted[0] and _is_too_long(shown) else []
    if not command or not _ran(command, shown):
        sys.stdout.write(shown)


def pager(environ: Mapping[str, str]) -> list[str]:
    """Return the command of the pager; empty where none is wanted, or none is there."""
    if environ.get("TERM", "") in ("", "dumb", "unknown"):
        return []
    for variable in _VARIABLES:
        if variable in environ:
            try:
                words = shlex.split(environ[variable])
            except ValueError as error:
                print_message(f"{variable} is no command: {error}.")
                return []
            return [] if words in _NO_PAGER else words
    return ["less"] if shutil.which("less") else []


def _is_too_long(text: str) -> bool:
    try:
        columns, rows = os.get_terminal_size(sys.stdout.fileno())
    except (OSError, ValueError):
        return False
    return sum(max(1, -(-len(line) // max(columns, 1))) for line in text.splitlines()) >= rows > 0


def _ran(command: list[str], text: str) -> bool:
    """Show the text in the pager until it ends. Return False where it could not be started."""
    sys.stdout.flush()
    environment = {"LESS": _OF_LESS, **({_SECURE: "1"} if "SUDO_UID" in os.environ else {}), **os.environ}
    own = [signal.SIGINT]  # what the pager handles, and racwire must survive
    if environment.get(_SECURE) == "1" and Path(command[0]).name == "less":
        own.append(signal.SIGTSTP)  # this less ignores Ctrl-Z, and would stay without racwire
    try:
        # An argument list: a pager with the syntax of a shell needs a script.
        process = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment)
    except OSError as error:
        print_message(f"the pager {command[0]} could not be started: {error.strerror}.")
        return False
    with _terminal_kept(process, own):
        assert process.stdin is not None
        with suppress(BrokenPipeError):  # the reader has read enough
            process.stdin.write(text.encode(sys.stdout.encoding or "utf-8", errors="replace"))
        with suppress(BrokenPipeError):
            process.stdin.close()
        process.wait()
    return True


@contextmanager
def _terminal_kept(process: subprocess.Popen[bytes], own: Iterable[signal.Signals]) -> Iterator[None]:
    """Leave these signals to the pager in the body of a `with`, end it with racwire, and restore a terminal that it
    leaves."""
    terminal = sys.stdout.fileno()
    mode = None
    with suppress(termios.error):
        mode = termios.tcgetattr(terminal)
    before = {number: signal.signal(number, lambda *_: None) for number in own}
    try:
        yield
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()
        for number, handler in before.items():
            signal.signal(number, handler)
        if process.returncode and mode is not None:
            with suppress(termios.error):
                termios.tcsetattr(terminal, termios.TCSADRAIN, mode)
