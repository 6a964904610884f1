"""A password: held so that nothing shows it by accident, and where it may come from besides a prompt."""

from __future__ import annotations

import codecs
import contextlib
import os
import stat
import unicodedata
from collections.abc import Callable, MutableMapping
from pathlib import Path
from typing import NoReturn

PASSWORD_VARIABLE = "RACWIRE_DB_PASSWORD"  # noqa: S105 - the name of a variable
_LONGEST = 1024
"""Bytes of a password file that are looked at; a password of the database has 1,024 at most (23ai), 30 before."""
HIDDEN = "[password]"


class Secret:
    """A password. It is shown by nothing, written by nothing, compared with nothing; only `reveal` gives it."""

    __slots__ = ("_reveal",)

    def __init__(self, text: str) -> None:
        self._reveal: Callable[[], str] = lambda: text

    def reveal(self) -> str:
        """The password itself: for the driver's call alone, never to be bound to a name."""
        return self._reveal()

    def is_in(self, text: str) -> bool:
        """Whether the text holds the password: such a text is not kept. Cutting the password out would show it too."""
        return self._reveal() in text

    def __repr__(self) -> str:
        return HIDDEN

    def __format__(self, spec: str) -> str:
        return HIDDEN

    def __reduce__(self) -> NoReturn:
        raise TypeError("A password is not written anywhere.")

    def __copy__(self) -> Secret:
        return self

    def __deepcopy__(self, memo: object) -> Secret:
        return self


class SecretError(Exception):
    """The password cannot be had as the operator said: one sentence with where and what to do."""


def take_from_environment(environ: MutableMapping[str, str] = os.environ) -> Secret | None:
    """The password of $RACWIRE_DB_PASSWORD, which is removed from there: no child of this process inherits it, and
    what the kernel shows of this process's first environment (/proc/PID/environ) has it no more. Raises SecretError."""
    if PASSWORD_VARIABLE in environ:
        _blank(PASSWORD_VARIABLE)
    text = environ.pop(PASSWORD_VARIABLE, "")
    if fault := _fault_of_text(text):
        raise SecretError(f"${PASSWORD_VARIABLE} {fault}")
    return Secret(text) if text else None


def _blank(variable: str) -> None:
    """Overwrite a variable's value where it lies; the C library is asked for the place."""
    import ctypes

    with contextlib.suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        library.getenv.restype = ctypes.c_void_p
        library.strlen.argtypes = [ctypes.c_void_p]
        library.strlen.restype = ctypes.c_size_t
        if place := library.getenv(variable.encode()):
            ctypes.memset(place, ord("*"), library.strlen(place))


def read_password_file(named: str) -> Secret:
    """The first line of a file that only its owner can read, without the mark that some editors begin it with. Raises
    SecretError."""
    path = Path(named).expanduser() if named.startswith("~/") else Path(named)
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "that is no file name"
        raise SecretError(f"The password file {path} could not be read: {why}.") from None
    try:
        if fault := _fault(os.fstat(handle)):
            raise SecretError(f"The password file {path} {fault}")
        content = os.read(handle, _LONGEST + 1)
    except OSError as error:
        raise SecretError(f"The password file {path} could not be read: {error.strerror}.") from None
    finally:
        os.close(handle)
    line = content.removeprefix(codecs.BOM_UTF8).partition(b"\n")[0].removesuffix(b"\r")
    if not line:
        raise SecretError(f"The password file {path} has nothing on its first line; write the password there.")
    if len(line) > _LONGEST:
        raise SecretError(f"The password file {path} is none: its first line is longer than {_LONGEST:,} bytes.")
    text = line.decode("utf-8", errors="surrogateescape")
    if fault := _fault_of_text(text):
        raise SecretError(f"The password file {path} {fault}")
    return Secret(text)


def _fault_of_text(text: str) -> str:
    """Why a text can be no password; nothing when it can. Nothing of the text is repeated."""
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        return "is not UTF-8 text."
    if any(unicodedata.category(letter) == "Cc" for letter in text):
        return "has control characters in it; write nothing but the password there."
    return ""


def _fault(file: os.stat_result) -> str:
    """Why a file is not fit to hold a password; nothing when it is."""
    if not stat.S_ISREG(file.st_mode):
        return "is no regular file; name one that is."
    if file.st_uid not in (0, os.geteuid()):
        return "belongs to another user; it must be yours or root's."
    if file.st_mode & 0o177:
        return f"has mode {stat.S_IMODE(file.st_mode):04o}, so others may come by it; `chmod 0600` it first."
    return ""
