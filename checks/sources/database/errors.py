"""What can go wrong with a database, as one sentence for the operator."""

from __future__ import annotations

from enum import StrEnum


class ErrorKind(StrEnum):
    """What kind of failure it was: what the reader does about it depends on that alone."""

    CANNOT_CONNECT = "cannot connect"
    LOGIN = "login refused"
    MISSING_GRANT = "missing grant"
    TIMED_OUT = "timed out"
    LOST = "connection lost"
    OTHER = "other"


class DatabaseError(Exception):
    """A database could not be asked. As text: one sentence with what, where and what to do, never with a password."""

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
        """The number of the ORA- error, where the database gave one."""
        self.statement = statement
        """The name of the statement that failed; empty for the login."""
        self.grants = grants
        """The exact commands that give a missing grant, for MISSING_GRANT."""
