"""The error of a database: its message for the operator, and its kind for the code."""

from __future__ import annotations

from enum import StrEnum


class ErrorKind(StrEnum):
    """The kind of a failure. The code that catches the error decides by this kind what to do."""

    CANNOT_CONNECT = "cannot connect"
    LOGIN = "login refused"
    MISSING_GRANT = "missing grant"
    TIMED_OUT = "timed out"
    LOST = "connection lost"
    OTHER = "other"


class DatabaseError(Exception):
    """racwire could not query a database. The text says what happened, where and what to do; it has no password."""

    def __init__(
        self,
        sentence: str,
        kind: ErrorKind = ErrorKind.OTHER,
        *,
        code: int | None = None,
        statement: str = "",
        grants: tuple[str, ...] = (),
    ) -> None:
        super().__init__(sentence)
        self.kind = kind
        self.code = code
        """The number of the ORA- error; None where the error has none."""
        self.statement = statement
        """The name of the statement that failed; empty for the login."""
        self.grants = grants
        """The exact GRANT commands for a MISSING_GRANT."""
