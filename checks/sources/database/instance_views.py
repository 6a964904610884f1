"""Query the views of all instances (GV$), and fall back to the connected instance where another instance hangs."""

from __future__ import annotations

from checks.sources.database.connection import Connection, Rows
from checks.sources.database.errors import DatabaseError, ErrorKind
from checks.sources.database.statements import Statement

_PARALLEL_QUERY_FAILED = frozenset({12801, 12805, 12850, 12853})
"""ORA- errors of the parallel query processes on the other instances: an instance had none free, or one failed."""


class InstanceViews:
    """Query GV$ views until one does not answer, and from then on the V$ views of the connected instance.

    A GV$ query waits for every instance: one that hangs costs a whole call timeout, so this happens only once.
    """

    def __init__(self, connection: Connection, only_here: str = "", *, timeout_s: float | None = None) -> None:
        """`timeout_s` is the limit of each statement; None takes the call timeout of the settings."""
        self._connection = connection
        self._timeout_s = timeout_s
        self.only_here = only_here
        """Why only the connected instance is queried; empty while all instances are."""

    async def rows(self, query: Statement) -> Rows:
        """The rows of a statement. Raises DatabaseError where the connected instance does not answer it either."""
        if self.only_here:
            query = query.here()
        try:
            return await self._connection.rows(query, timeout_s=self._timeout_s)
        except DatabaseError as error:
            if not query.is_global or not other_instance_failed(error):
                raise
            self.only_here = _why(query, error)
        return await self._connection.rows(query.here(), timeout_s=self._timeout_s)


def is_fatal(error: DatabaseError) -> bool:
    """Whether the error ends all queries: the connection or the instance failed, not only one view."""
    return error.kind in (ErrorKind.CANNOT_CONNECT, ErrorKind.LOGIN, ErrorKind.TIMED_OUT, ErrorKind.LOST)


def other_instance_failed(error: DatabaseError) -> bool:
    """Whether another instance made a GV$ query fail: the V$ view of the connected instance may still answer."""
    return error.kind is ErrorKind.TIMED_OUT or error.code in _PARALLEL_QUERY_FAILED


def _why(query: Statement, error: DatabaseError) -> str:
    view = next((name for name in query.reads if name.startswith("GV$")), query.name)
    if error.kind is ErrorKind.TIMED_OUT:
        return f"{view} did not answer in time: an instance hangs, or has no free parallel query process."
    return f"{view} could not be queried on all instances (ORA-{error.code:05d}): {_cause(error.code)}"


def _cause(code: int | None) -> str:
    if code in (12850, 12853):
        return "parallel_max_servers is 0 on an instance, or no parallel query process was free."
    return "an instance failed during the query."
