"""Where the password for the database comes from: the file that is set, the environment, else a prompt."""

from __future__ import annotations

import getpass
import os
from collections.abc import Callable, Iterable

from checks.model.check import Check
from checks.model.settings import DatabaseSettings
from checks.sources.database.secret import Secret, SecretError, read_password_file, take_from_environment
from tui.cli.errors import UsageError
from tui.cli.interrupts import graceful_stop
from tui.text.sanitize import sanitize_lines

__all__ = ["Secret", "password_for", "password_of"]


def password_for(database: DatabaseSettings, checks: Iterable[Check]) -> Secret | None:
    """The password, where these checks ask a database and its user needs one; None where none can be had: the login
    says so then. Raises UsageError for a password that cannot be used."""

    def is_asked() -> bool:
        from checks.run.engine import needed_groups  # late: the console's first screen does not wait for the engine

        return "database" in needed_groups(checks)

    return _password(database, is_asked)


def password_of(database: DatabaseSettings) -> Secret | None:
    """The same where the database is asked in any case, as it is for samples. Raises UsageError."""
    return _password(database, lambda: True)


def _password(database: DatabaseSettings, is_asked: Callable[[], bool]) -> Secret | None:
    try:
        given = take_from_environment()  # in any case: no child of this process is to inherit it
    except SecretError as error:
        raise UsageError(str(error)) from None
    if not database.is_set or database.os_authentication or not database.user or not is_asked():
        return None
    if database.password_file:
        try:
            return read_password_file(database.password_file)
        except SecretError as error:
            raise UsageError(str(error)) from None
    if given is not None:
        return given
    return _prompted(f"Password of {sanitize_lines(database.user)} at {sanitize_lines(database.connect)}: ")


def _prompted(prompt: str) -> Secret | None:
    """Ask on the terminal; None where there is none, where somebody else has it, or where nothing is answered."""
    if not _has_terminal():
        return None
    try:
        # A request to end, as a closed window is, takes the way of Ctrl-C: the terminal shows again what is typed.
        with graceful_stop():
            answer = getpass.getpass(prompt)
    except EOFError:
        return None
    except UnicodeError:
        raise UsageError("The password that was typed is not text in the terminal's encoding.") from None
    return Secret(answer) if answer else None


def _has_terminal() -> bool:
    """Whether this process may read from the terminal; one in the background would be stopped for trying."""
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)
