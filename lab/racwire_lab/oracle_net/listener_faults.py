"""Faults of a listener or server that can be switched on and off while it runs."""

from __future__ import annotations

from dataclasses import dataclass

from racwire_lab.database.backend import OracleError


@dataclass
class Faults:
    """Each may be set and reset at any time, from any thread; it holds for what happens from then on."""

    refuse: int | None = None
    """Refuse each connection with this code of the listener: 12514, 12528, 12541, ..."""
    hang_at_connect: bool = False
    """Take each connection, and never answer it."""
    hang_at_login: bool = False
    """Greet each client, and never answer who wants a session."""
    login_error: OracleError | None = None
    """The error of each login with a right password: ORA-01033, ORA-01045, ORA-28000, ..."""
    drop_after: int | None = None
    """So many more responses are sent; then each session is dropped in place of its next one. Counts down itself."""
