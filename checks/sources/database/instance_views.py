"""How views of all instances are asked, and what is done where an instance that hangs keeps GV$ from answering."""

from __future__ import annotations

from checks.sources.database.connection import Connection, Rows
from checks.sources.database.errors import DatabaseError, ErrorKind
from checks.sources.database.statements import Statement

_PARALLEL_QUERY_FAILED = frozenset({12801, 12805, 12850, 12853})
"""ORA- errors of the processes that fetch the other instances' rows: none to be had on one, or one died meanwhile."""


class InstanceViews:
    """Asks GV$ views until one of them does not answer, and from then on the V$ views of the connected instance.

    A GV$ query waits for every instance, so that one that hangs costs a whole call timeout: it is tried once.
    """

    def __init__(self, connection: Connection, only_here: str = "", *, timeout_s: float | None = None) -> None:
        """`timeout_s`: how long each statement may take; the settings' call timeout where None."""
        self._connection = connection
        self._timeout_s = timeout_s
        self.only_here = only_here
        """Why only the connected instance is asked; empty while all are."""

    async def rows(self, asked: Statement) -> Rows:
        """The rows of a statement. Raises DatabaseError."""
        if self.only_here:
            asked = asked.here()
        try:
            return await self._connection.rows(asked, timeout_s=self._timeout_s)
        except DatabaseError as error:
            if not asked.is_global or not others_failed(error):
                raise
            self.only_here = _why(asked, error)
        return await self._connection.rows(asked.here(), timeout_s=self._timeout_s)


def ends_everything(error: DatabaseError) -> bool:
    """Whether nothing more can be asked after this: not one view that is refused, but the connection or instance."""
    return error.kind in (ErrorKind.CANNOT_CONNECT, ErrorKind.LOGIN, ErrorKind.TIMED_OUT, ErrorKind.LOST)


def others_failed(error: DatabaseError) -> bool:
    """Whether the other instances kept a GV$ query from being answered: asking one alone may do."""
    return error.kind is ErrorKind.TIMED_OUT or error.code in _PARALLEL_QUERY_FAILED


def _why(asked: Statement, error: DatabaseError) -> str:
    view = next((name for name in asked.reads if name.startswith("GV$")), asked.name)
    if error.kind is ErrorKind.TIMED_OUT:
        return f"{view} did not answer in time: an instance hangs, or has no parallel query process free to answer."
    return f"{view} could not be asked on all instances (ORA-{error.code:05d}): {_cure(error.code)}"


def _cure(code: int | None) -> str:
    if code in (12850, 12853):
        return "parallel_max_servers is 0 there, or no parallel query process was free."
    return "an instance failed while it was asked."
