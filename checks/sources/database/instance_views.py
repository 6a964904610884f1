"""Query the views of all instances (GV$), and fall back to the connected instance where another instance hangs."""

from __future__ import annotations

import re
import time

from checks.model.facts import Parameter, Unknown
from checks.sources.database.connection import Connection, Rows
from checks.sources.database.errors import DatabaseError, ErrorKind
from checks.sources.database.statements import SqlStatement

_FAILED = re.compile(r"ORA-12801: .*?\binstance (?:[\w.-]+:)?([\w$#-]+) \(\d+\)")
"""As in `ORA-12801: error signaled in parallel query server PZ98, instance rac2:prod2 (2)`; the cause follows it."""
_FIRST_CAUSE = re.compile(r"ORA-\d{5}")
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
        self.is_late = False
        """Whether a GV$ query did not end in time."""
        self.slowest_s = 0.0
        """The time of the slowest answered statement, in seconds. The caller resets it."""
        self.answered_s = 0.0
        """The middle of the last answered statement, by the monotonic clock. Each instance reads its counters at some
        moment of the statement: the middle is never wrong by more than half of its time."""

    async def rows(self, query: SqlStatement) -> Rows:
        """The rows of a statement. Raises DatabaseError where the connected instance does not answer it either."""
        if self.only_here:
            query = query.here()
        try:
            return await self._timed(query)
        except DatabaseError as error:
            if not query.is_global or not other_instance_failed(error):
                raise
            self.only_here = _why(query, error)
            self.is_late = error.kind is ErrorKind.TIMED_OUT
        return await self._timed(query.here())

    async def _timed(self, query: SqlStatement) -> Rows:
        started_s = time.monotonic()
        rows = await self._connection.rows(query, timeout_s=self._timeout_s)
        took_s = time.monotonic() - started_s
        self.slowest_s = max(self.slowest_s, took_s)
        self.answered_s = started_s + took_s / 2
        return rows


def has_own_rows_only(parameters: tuple[Parameter, ...] | Unknown, instance: int) -> bool:
    """Whether GV$ views have rows of the connected instance only, because its own parallel_max_servers is 0."""
    if isinstance(parameters, Unknown):
        return False
    return {p.value for p in parameters if p.instance == instance and p.name == "parallel_max_servers"} == {"0"}


def why_no_row(view: str) -> str:
    """Return why a GV$ view has no row of an instance that V$ACTIVE_INSTANCES lists."""
    return (
        f"{view} has no row for this instance: it was starting or stopping, had no free parallel query process, or "
        "its parallel_max_servers is 0."
    )


def is_fatal(error: DatabaseError) -> bool:
    """Whether the error ends all queries: the connection or the instance failed, not only one view."""
    return error.kind in (ErrorKind.CANNOT_CONNECT, ErrorKind.LOGIN, ErrorKind.TIMED_OUT, ErrorKind.LOST)


def other_instance_failed(error: DatabaseError) -> bool:
    """Whether another instance made a GV$ query fail: the V$ view of the connected instance may still answer."""
    return error.kind is ErrorKind.TIMED_OUT or error.code in _PARALLEL_QUERY_FAILED


def _why(query: SqlStatement, error: DatabaseError) -> str:
    view = next((name for name in query.reads if name.startswith("GV$")), query.name)
    if error.kind is ErrorKind.TIMED_OUT:
        return f"{view} did not answer in time: an instance hangs, or has no free parallel query process."
    return f"{view} could not be queried on all instances (ORA-{error.code:05d}): {_cause(error)}"


def _cause(error: DatabaseError) -> str:
    if error.code in (12850, 12853):
        return "parallel_max_servers is 0 on an instance, or no parallel query process was free."
    if found := _FAILED.search(str(error)):
        why = _FIRST_CAUSE.search(str(error), found.end())
        return f"{found[1]} failed during the query{f' with {why[0]}' if why else ''}."
    return "an instance failed during the query."
