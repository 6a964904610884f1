"""Faults of a listener or server that can be switched on and off while it runs."""

from __future__ import annotations

from dataclasses import dataclass

from racwire_lab.database.backend import OracleError


@dataclass
class Faults:
    """Faults that any thread may set and reset at any time; each affects the events after that."""

    refuse: int | None = None
    """Code with which the listener refuses each connection: 12514, 12528, 12541, ..."""
    hang_at_connect: bool = False
    """Whether connections are accepted and never answered."""
    hang_at_login: bool = False
    """Whether each client is greeted, and its request for a session is never answered."""
    login_error: OracleError | None = None
    """The error of each login with a correct password: ORA-01033, ORA-01045, ORA-28000, ..."""
    drop_after: int | None = None
    """Number of responses still to be sent; then each session is dropped instead of its next response. Counts down."""
