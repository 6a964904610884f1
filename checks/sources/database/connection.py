"""One connection to a database: each statement in the journal, in a thread that nobody waits for, reading only."""

from __future__ import annotations

import asyncio
import contextlib
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from checks.model.journal import TEXT_LIMIT, Journal
from checks.sources.database.driver_errors import timed_out
from checks.sources.database.errors import DatabaseError, ErrorKind
from checks.sources.database.login import DatabaseSession, Login, break_off, fetch
from checks.sources.database.statements import Statement
from checks.sources.database.worker import Worker

_WIDEST = 60
_MOST_ROWS = 2000


def rows_text(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """The rows under their columns' names, as wide as their values, and how many there were where some are left out."""
    return "\n".join(_lines(columns, rows))


def _lines(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    cells = [[_cell(value) for value in row] for row in rows[:_MOST_ROWS]]
    widths = [max(len(line[place]) for line in ([*columns], *cells)) for place in range(len(columns))]
    shown = 0
    length = 0
    for line in ([*columns], *cells):
        text = "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        length += len(text) + 1
        if length > TEXT_LIMIT - 100:
            break
        yield text
        shown += 1
    if left := len(rows) - shown + 1:
        yield f"[{left:,} rows more]"
    if not rows:
        yield "(no rows)"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = value.isoformat(" ") if isinstance(value, datetime) else str(value)
    text = "".join(letter if letter.isprintable() else " " for letter in text)
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"


_GRACE_S = 2.0
"""How much longer than the driver's own limit a call may take: the time for its break to be answered."""

_LAST_WAIT_S = 0.25
"""How long leaving waits for a logoff or a break to be sent; nobody notices that."""
_ENDING_S = 30.0

_STALE = (1466, 1555, 8103)
"""The read-only transaction is older than what it reads, such as partitions of AWR; a new one is not."""

_COMMENT = re.compile(r"/\*.*?\*/|--[^\n]*", re.DOTALL)
_READS = re.compile(r"\s*(SELECT|WITH(?!\s+(FUNCTION|PROCEDURE)\b))\b", re.IGNORECASE)
_LOCKS = re.compile(r"\bFOR\s+UPDATE\b", re.IGNORECASE)


@dataclass(frozen=True)
class Rows:
    """The result of a query."""

    columns: tuple[str, ...]
    """In lower case."""
    rows: list[tuple[Any, ...]]

    def dicts(self) -> Iterator[dict[str, Any]]:
        """Each row by the names of its columns."""
        return (dict(zip(self.columns, row, strict=True)) for row in self.rows)


class Connection:
    """Asks one statement at a time. Opened by `open`; closed by `close`, which waits for nothing that hangs."""

    def __init__(self, login: Login, journal: Journal, node: Callable[[], str], purpose: str = "main") -> None:
        self.driver = ""
        """`python-oracledb 26.1.0, thin`; known once it is open."""
        self._login = login
        self._journal = journal
        self._node = node
        self._name = f"racwire database {purpose}"
        self._worker = Worker(self._name)
        self._session: DatabaseSession | None = None
        self._leaving: list[asyncio.Task[None]] = []
        self._turn = asyncio.Lock()
        self._is_over = threading.Event()
        """Whether the last statement is over; set before the first."""
        self._is_over.set()

    async def open(self) -> None:
        """Log in. Raises DatabaseError."""
        login, limit_s = self._login, self._login.settings.login_timeout_s
        made: list[DatabaseSession] = []

        def log_in() -> None:
            made.append(login.session())

        with self._journal.entry(self._node(), "sql connect", f"connect {login.who} to {login.where}") as entry:
            try:
                await self._worker.call(log_in, limit_s)
            except BaseException as error:
                # Whoever lets racwire in after all is taken leave of, in the thread that waits for it.
                self._worker.end(lambda: [session.raw.close() for session in made])
                self._worker = Worker(self._name)
                if not isinstance(error, TimeoutError):
                    raise
                raise DatabaseError(
                    f"Logging in to {login.where} took over {limit_s:g} s and was given up: what listens there does "
                    "not answer, or the instance hangs; look at `lsnrctl status` and the alert log.",
                    ErrorKind.CANNOT_CONNECT,
                ) from None
            self._session = made[0]
            self.driver = entry.text = self._session.driver

    async def rows(
        self, statement: Statement, binds: Mapping[str, Any] | None = None, *, timeout_s: float | None = None
    ) -> Rows:
        """Run a query and fetch it whole. Where the connection was lost, or its view of the data is too old, it is
        opened again, once, and asked again. Raises DatabaseError; ValueError for anything but a query, which is never
        sent."""
        if not reads_only(statement.text):
            raise ValueError(f"{statement.name} is no query; racwire sends nothing else to a database.")
        limit_s = self._login.settings.call_timeout_s if timeout_s is None else timeout_s
        async with self._turn:
            with self._journal.entry(self._node(), statement.topic, _as_sent(statement, binds)) as entry:
                try:
                    found = await self._ask(statement, dict(binds or {}), limit_s)
                except DatabaseError as error:
                    if error.kind is not ErrorKind.LOST and error.code not in _STALE:
                        raise
                    self._abandon()
                    found = await self._ask(statement, dict(binds or {}), limit_s)
                entry.text = rows_text(found.columns, found.rows)
                return found

    async def close(self) -> None:
        """Log off, or break off what runs; what does not answer at once is left behind."""
        self._abandon()
        if self._leaving:
            _, hanging = await asyncio.wait(self._leaving, timeout=_LAST_WAIT_S)
            for ending in hanging:
                ending.cancel()

    async def _ask(self, statement: Statement, binds: dict[str, Any], limit_s: float) -> Rows:
        if self._session is None:
            await self.open()
        session, login = self._session, self._login
        assert session is not None

        self._is_over = is_over = threading.Event()

        def call() -> Rows:
            began = time.monotonic()
            try:
                return Rows(*fetch(session.raw, statement.text, binds, statement.name, limit_s))
            except Exception as error:  # of the driver, or of a value that it cannot turn into ours
                problem = login.explained(error, statement)
            finally:
                is_over.set()
            if problem.kind is ErrorKind.LOST and time.monotonic() - began >= limit_s:
                raise TimeoutError  # the driver gave the session up, since its break was not answered either
            raise problem

        try:
            return await self._worker.call(call, limit_s + _GRACE_S)
        except TimeoutError:
            self._abandon()
            raise timed_out(statement) from None
        except asyncio.CancelledError:
            self._abandon()
            raise

    def _abandon(self) -> None:
        """Leave the session, and what may hang in it, to threads of their own; the next statement has a new one."""
        session, self._session = self._session, None
        self._worker.end()
        self._worker = Worker(self._name)
        if session is not None:
            raw, is_over = session.raw, self._is_over
            self._leave(lambda: break_off(raw, is_over))

    def _leave(self, ending: Callable[[], None]) -> None:
        """End a session in a thread of its own, since that may hang."""

        async def end() -> None:
            worker = Worker(f"{self._name} ending")
            with contextlib.suppress(Exception):  # it is over in any case
                await worker.call(ending, _ENDING_S)
            worker.end()

        # Those that are over are let go: a connection of many hours may lose many sessions.
        self._leaving = [task for task in self._leaving if not task.done()]
        self._leaving.append(asyncio.create_task(end()))


def reads_only(sql: str) -> bool:
    """Whether the text is a query: begins with SELECT or WITH, has no PL/SQL in it and locks no row."""
    bare = _COMMENT.sub(" ", sql)
    return _READS.match(bare) is not None and _LOCKS.search(bare) is None


def _as_sent(statement: Statement, binds: Mapping[str, Any] | None) -> str:
    given = "".join(f"\n-- :{name} = {value}" for name, value in (binds or {}).items())
    return f"{statement.text}{given}"
