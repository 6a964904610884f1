"""The password for the database: from the configured file, the environment, or a prompt."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from checks.model.settings import DatabaseSettings
from checks.sources.database.secret import Secret, SecretError, read_password_file, take_from_environment
from tui.cli.errors import UsageError
from tui.cli.interrupts import graceful_stop
from tui.text.sanitize import sanitize_lines

if TYPE_CHECKING:
    from checks.model.check import Check

__all__ = ["Secret", "password_for", "password_of"]


def password_for(database: DatabaseSettings, checks: Iterable[Check]) -> Secret | None:
    """The password, where these checks query a database and its user needs one.

    Returns None where no password is available: the login then reports the reason. Raises UsageError for a password
    that cannot be used.
    """

    def is_queried() -> bool:
        from checks.run.engine import needed_groups  # late: the first screen of the console does not need the engine

        return "database" in needed_groups(checks)

    return _password(database, is_queried)


def password_of(database: DatabaseSettings) -> Secret | None:
    """The password, for commands that query the database in any case, as samples do.

    Raises UsageError for a password that cannot be used.
    """
    return _password(database, lambda: True)


def _password(database: DatabaseSettings, is_queried: Callable[[], bool]) -> Secret | None:
    try:
        in_environment = take_from_environment()  # in any case: no child of this process must inherit it
    except SecretError as error:
        raise UsageError(str(error)) from None
    if not database.is_set or database.os_authentication or not database.user or not is_queried():
        return None
    if database.password_file:
        try:
            return read_password_file(database.password_file)
        except SecretError as error:
            raise UsageError(str(error)) from None
    if in_environment is not None:
        return in_environment
    return _prompted(f"Password of {sanitize_lines(database.user)} at {sanitize_lines(database.connect)}: ")


def _prompted(prompt: str) -> Secret | None:
    """The answer on the terminal; None without a terminal, where another process reads it, or for an empty answer."""
    if not _has_terminal():
        return None
    import getpass  # late: the first screen of the console does not need it

    try:
        # SIGHUP and SIGTERM act like Ctrl-C, so that getpass restores the echo of the terminal.
        with graceful_stop():
            answer = getpass.getpass(prompt)
    except EOFError:
        return None
    except UnicodeError:
        raise UsageError(
            "The password that was typed is not text in the terminal's encoding; set the locale."
        ) from None
    return Secret(answer) if answer else None


def _has_terminal() -> bool:
    """Whether this process may read from the terminal. The kernel would stop a background process that tries."""
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
