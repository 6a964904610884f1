"""The error of a database: its message for the operator, and its kind for the code."""

from __future__ import annotations

from enum import StrEnum

from checks.model.facts import MissingRight, Unknown


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
        right: MissingRight | None = None,
    ) -> None:
        super().__init__(
            f"{sentence} Have a DBA run: {' '.join(right.commands)}" if right and right.commands else sentence
        )
        self.sentence = sentence
        """The text without the GRANT commands."""
        self.kind = kind
        self.code = code
        """The number of the ORA- error; None where the error has none."""
        self.statement = statement
        """The name of the statement that failed; empty for the login."""
        self.right = right
        """The missing right, for a MISSING_GRANT."""

    @property
    def unknown(self) -> Unknown:
        """The fact that this error leaves unknown."""
        return Unknown(self.sentence, self.right)
