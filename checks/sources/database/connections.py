"""The connections of one run: each is opened at its first use, and all are closed at the end of the run."""

from __future__ import annotations

import asyncio
import getpass
import os
from collections.abc import Callable

from checks.model.journal import Journal
from checks.model.settings import DatabaseSettings
from checks.sources.database.connection import Connection
from checks.sources.database.errors import DatabaseError
from checks.sources.database.login import Login
from checks.sources.database.secret import Secret


class Connections:
    """The connections of one run to the database, by purpose. Always call `close`: it takes under a second."""

    def __init__(
        self, settings: DatabaseSettings, password: Secret | None, journal: Journal, node: Callable[[], str]
    ) -> None:
        self.settings = settings
        self.journal = journal
        self.node = node
        self._login = Login(settings, password, _user_and_host())
        self._opening: dict[str, asyncio.Task[Connection]] = {}
        self._open: dict[str, Connection] = {}

    async def get(self, purpose: str = "main") -> Connection:
        """The connection for a purpose.

        Raises DatabaseError where the login fails. The same error is raised each time: a run tries a database that
        refused or hung only once, unless `forget` was called for the purpose.
        """
        if purpose not in self._opening:
            self._opening[purpose] = asyncio.create_task(self._connect(purpose))
        return await asyncio.shield(self._opening[purpose])

    async def failed_with(self) -> int | None:
        """The number of the ORA- error with which the main login failed; None where it did not fail so."""
        if "main" in self._opening:
            try:
                await asyncio.shield(self._opening["main"])
            except DatabaseError as error:
                return error.code
        return None

    async def forget(self, purpose: str) -> None:
        """End the connection for a purpose, or its login; the next `get` logs in again."""
        if opening := self._opening.pop(purpose, None):
            opening.cancel()
            await asyncio.gather(opening, return_exceptions=True)
        if connection := self._open.pop(purpose, None):
            await connection.close()

    async def close(self) -> None:
        """End every connection and every login. Does not wait for a call that hangs."""
        opening, self._opening = list(self._opening.values()), {}
        for task in opening:
            task.cancel()
        await asyncio.gather(*opening, return_exceptions=True)
        await asyncio.gather(*(connection.close() for connection in self._open.values()))

    async def _connect(self, purpose: str) -> Connection:
        connection = Connection(self._login, self.journal, self.node, purpose)
        self._open[purpose] = connection
        await connection.open()
        return connection


def _user_and_host() -> str:
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = str(os.geteuid())
    return f"{user}@{os.uname().nodename}"[:64]
