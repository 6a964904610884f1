"""Finds out when all instances answer again, after racwire stopped querying GV$ because an instance hangs.

The queries use a separate connection, so that they do not delay the samples of the connected instance.
"""

from __future__ import annotations

import asyncio
import time

from checks.sources.database.connection import Connection
from checks.sources.database.connections import Connections
from checks.sources.database.errors import DatabaseError, ErrorKind
from checks.sources.database.instance_views import is_fatal, other_instance_failed
from checks.sources.database.statements import SqlStatement, statement
from checks.sources.registry import GLOBAL_AGAIN_S

PURPOSE = "traffic, all instances"

_LONGEST_S = 600.0

_ENDED_S = 1.0
"""Seconds after its limit by which a cancelled statement has ended. A statement that takes longer has lost its session,
which stays in the database until the hang ends. Such sessions must not accumulate, so the next attempt comes later."""

_TEMPORARY = (1035, 2391, 28001)
"""ORA codes of a refused login with a correct password: restricted session, too many sessions, expired password."""

NOT_AGAIN = "racwire does not try again, so that the account is not locked. Fix the login, then restart racwire."


def is_refused(error: DatabaseError) -> bool:
    """Whether the database refused the login in a way that counts towards locking the account."""
    return error.kind is ErrorKind.LOGIN and error.code not in _TEMPORARY


class AllInstances:
    """Queries all instances from time to time, from the first `answer()` until one is true. Call `end` after use."""

    def __init__(self, databases: Connections, names: tuple[str, ...], timeout_s: float) -> None:
        """`names`: the statements that all instances must answer; `timeout_s`: the time limit of each statement."""
        self._databases = databases
        self._names = names
        self._timeout_s = timeout_s
        self._wait_s = GLOBAL_AGAIN_S
        self._refused = ""
        self._asking: asyncio.Task[None] | None = None

    @property
    def when(self) -> str:
        """A sentence that says when GV$ is queried again. Recordings contain it, so it must stay true later."""
        if self._refused:
            return f"racwire does not query GV$ again: {self._refused}"
        often = f"{self._wait_s:g} s" if self._wait_s <= 60 else f"{self._wait_s / 60:g} min"
        return f"While racwire takes samples, it queries GV$ again every {often}."

    def answer(self) -> bool:
        """Return whether all instances have answered. Never waits. Raises any unexpected error of the queries."""
        if self._asking is None:
            self._asking = asyncio.create_task(self._query_until_answered(), name=f"racwire {PURPOSE}")
        elif self._asking.done() and not self._refused:
            self._asking.result()  # raises unexpected errors
            self._asking, self._wait_s = None, GLOBAL_AGAIN_S
            return True
        return False

    async def end(self) -> None:
        """Stop querying, without waiting for a query that hangs."""
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.gather(self._asking, return_exceptions=True)

    async def _query_until_answered(self) -> None:
        is_over = False
        while not is_over and not self._refused:
            await asyncio.sleep(self._wait_s)
            is_over = await self._query()

    async def _query(self) -> bool:
        """Whether every statement got an answer. A refusal, such as a missing grant, is an answer too."""
        started_s = time.monotonic()
        try:
            connection = await self._databases.get(PURPOSE)
            for name in self._names:
                started_s = time.monotonic()
                await _execute(connection, statement(name), self._timeout_s)
        except DatabaseError as error:
            if is_refused(error):
                self._refused = f"{error} {NOT_AGAIN}"
            elif other_instance_failed(error) and time.monotonic() - started_s < self._timeout_s + _ENDED_S:
                return False  # the session is still usable
            self._wait_s = min(2 * self._wait_s, _LONGEST_S)
            await self._databases.forget(PURPOSE)
            return False
        await self._databases.forget(PURPOSE)
        return True


async def _execute(connection: Connection, query: SqlStatement, timeout_s: float) -> None:
    try:
        await connection.rows(query, timeout_s=timeout_s)
    except DatabaseError as error:
        if is_fatal(error) or other_instance_failed(error):
            raise
