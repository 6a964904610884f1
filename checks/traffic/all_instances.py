"""Finds out when all instances answer again, where GV$ was given up because one hangs.

It asks through a connection of its own, so that what is sampled meanwhile of the connected instance is not held up.
"""

from __future__ import annotations

import asyncio
import time

from checks.sources.database.connection import Connection
from checks.sources.database.connections import Connections
from checks.sources.database.errors import DatabaseError, ErrorKind
from checks.sources.database.instance_views import is_fatal, other_instance_failed
from checks.sources.database.statements import Statement, statement
from checks.sources.registry import GLOBAL_AGAIN_S

PURPOSE = "traffic, all instances"

_LONGEST_S = 600.0

_ENDED_S = 1.0
"""A statement that was broken off in order is over by so long after its limit. One that takes longer has cost its
session, which lives on in the database until the hang ends: those must not pile up, so the next attempt comes later."""

_PASSES_BY = (1035, 2391, 28001)
"""Logins refused by no fault of the password: restricted session, too many sessions, a password that has expired."""

NOT_AGAIN = "racwire does not try again, so that the account is not locked: start it anew once that is mended."


def is_refused(error: DatabaseError) -> bool:
    """Whether a login was refused so that another attempt brings the account nearer to being locked."""
    return error.kind is ErrorKind.LOGIN and error.code not in _PASSES_BY


class AllInstances:
    """Asks all instances, now and then, from the first `answer()` until one of them is true. End it."""

    def __init__(self, databases: Connections, names: tuple[str, ...], timeout_s: float) -> None:
        """`names`: the statements that are to be answered; `timeout_s`: how long each may take."""
        self._databases = databases
        self._names = names
        self._timeout_s = timeout_s
        self._wait_s = GLOBAL_AGAIN_S
        self._refused = ""
        self._asking: asyncio.Task[None] | None = None

    @property
    def when(self) -> str:
        """When all are asked again: a sentence, which a recording keeps, so it must stay true there."""
        if self._refused:
            return f"GV$ is not asked again: {self._refused}"
        often = f"{self._wait_s:g} s" if self._wait_s <= 60 else f"{self._wait_s / 60:g} min"
        return f"While samples are taken, GV$ is asked again every {often}."

    def answer(self) -> bool:
        """Whether all answer by now. Never waits."""
        if self._asking is None:
            self._asking = asyncio.create_task(self._ask_until_answered(), name=f"racwire {PURPOSE}")
        elif self._asking.done() and not self._refused:
            self._asking.result()  # raises what was not foreseen
            self._asking, self._wait_s = None, GLOBAL_AGAIN_S
            return True
        return False

    async def end(self) -> None:
        """Ask no more; nothing that hangs is waited for."""
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.gather(self._asking, return_exceptions=True)

    async def _ask_until_answered(self) -> None:
        is_over = False
        while not is_over and not self._refused:
            await asyncio.sleep(self._wait_s)
            is_over = await self._ask()

    async def _ask(self) -> bool:
        """Whether every statement is answered, if only by that it may not be read."""
        began_s = time.monotonic()
        try:
            connection = await self._databases.get(PURPOSE)
            for name in self._names:
                began_s = time.monotonic()
                await _be_answered(connection, statement(name), self._timeout_s)
        except DatabaseError as error:
            if is_refused(error):
                self._refused = f"{error} {NOT_AGAIN}"
            elif other_instance_failed(error) and time.monotonic() - began_s < self._timeout_s + _ENDED_S:
                return False  # and the session is as good as before
            self._wait_s = min(2 * self._wait_s, _LONGEST_S)
            await self._databases.forget(PURPOSE)
            return False
        await self._databases.forget(PURPOSE)
        return True


async def _be_answered(connection: Connection, asked: Statement, timeout_s: float) -> None:
    try:
        await connection.rows(asked, timeout_s=timeout_s)
    except DatabaseError as error:
        if is_fatal(error) or other_instance_failed(error):
            raise
