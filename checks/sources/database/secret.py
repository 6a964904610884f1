"""A password that nothing prints by accident, and its sources other than a prompt."""

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
"""Bytes of a password file that are read; a password of the database has at most 1,024 (23ai), 30 before."""
HIDDEN = "[password]"


class Secret:
    """A password. It cannot be printed, written or compared; only `reveal` returns it."""

    __slots__ = ("_reveal",)

    def __init__(self, text: str) -> None:
        self._reveal: Callable[[], str] = lambda: text

    def reveal(self) -> str:
        """The password itself, only for the call of the driver. Never bind it to a name."""
        return self._reveal()

    def is_in(self, text: str) -> bool:
        """Whether the text contains the password. Drop such a text: with the password cut out, it would reveal it."""
        return self._reveal() in text

    def __repr__(self) -> str:
        return HIDDEN

    def __format__(self, spec: str) -> str:
        return HIDDEN

    def __reduce__(self) -> NoReturn:
        raise TypeError("racwire never writes a password.")

    def __copy__(self) -> Secret:
        return self

    def __deepcopy__(self, memo: object) -> Secret:
        return self


class SecretError(Exception):
    """The password's source, named by the operator, cannot be used: the text says where and what to do."""


def take_from_environment(environ: MutableMapping[str, str] = os.environ) -> Secret | None:
    """Take the password out of $RACWIRE_DB_PASSWORD; None where the variable is not set or empty.

    No child of this process inherits the variable, and /proc/PID/environ does not show its value. Raises SecretError
    where the value cannot be a password.
    """
    if PASSWORD_VARIABLE in environ:
        _blank(PASSWORD_VARIABLE)
    text = environ.pop(PASSWORD_VARIABLE, "")
    if fault := _fault_of_text(text):
        raise SecretError(f"${PASSWORD_VARIABLE} {fault}")
    return Secret(text) if text else None


def _blank(variable: str) -> None:
    """Overwrite a variable's value in memory, at the address that the C library returns."""
    import ctypes

    with contextlib.suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        library.getenv.restype = ctypes.c_void_p
        library.strlen.argtypes = [ctypes.c_void_p]
        library.strlen.restype = ctypes.c_size_t
        if place := library.getenv(variable.encode()):
            ctypes.memset(place, ord("*"), library.strlen(place))


def read_password_file(named: str) -> Secret:
    """The first line of a file that only its owner can read, without a byte order mark.

    Raises SecretError where the file cannot be read, where others may read it, or where its line is no password.
    """
    path = Path(named).expanduser() if named.startswith("~/") else Path(named)
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "this is no file name"
        raise SecretError(f"racwire could not read the password file {path}: {why}.") from None
    try:
        if fault := _fault(os.fstat(handle)):
            raise SecretError(f"The password file {path} {fault}")
        content = os.read(handle, _LONGEST + 1)
    except OSError as error:
        raise SecretError(f"racwire could not read the password file {path}: {error.strerror}.") from None
    finally:
        os.close(handle)
    line = content.removeprefix(codecs.BOM_UTF8).partition(b"\n")[0].removesuffix(b"\r")
    if not line:
        raise SecretError(f"The first line of the password file {path} is empty: write the password there.")
    if len(line) > _LONGEST:
        raise SecretError(
            f"The first line of {path} is longer than {_LONGEST:,} bytes, so it is no password: name another file."
        )
    text = line.decode("utf-8", errors="surrogateescape")
    if fault := _fault_of_text(text):
        raise SecretError(f"The password file {path} {fault}")
    return Secret(text)


def _fault_of_text(text: str) -> str:
    """Why a text cannot be a password; empty where it can. The reason repeats nothing of the text."""
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        return "is not UTF-8 text: write the password as UTF-8."
    if any(unicodedata.category(letter) == "Cc" for letter in text):
        return "contains control characters: write only the password there."
    return ""


def _fault(file: os.stat_result) -> str:
    """Why a file must not hold a password; empty where it may."""
    if not stat.S_ISREG(file.st_mode):
        return "is not a regular file: name a regular file."
    if file.st_uid not in (0, os.geteuid()):
        return "belongs to another user: it must belong to you or to root."
    if file.st_mode & 0o177:
        return f"has mode {stat.S_IMODE(file.st_mode):04o}, so other users may access it: run `chmod 0600` on it."
    return ""
