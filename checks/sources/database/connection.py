"""A read-only connection to a database. Each statement is journaled and runs in a thread that may hang alone."""

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
from checks.sources.database.login import DatabaseSession, Login, cancel_and_close, fetch
from checks.sources.database.statements import SqlStatement
from checks.sources.database.worker import Worker

_WIDEST = 60
_MOST_ROWS = 2000


def rows_text(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table of the rows under the column names. Its last line counts the rows that were left out, if any."""
    return "\n".join(_lines(columns, rows))


def _lines(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    cells = [[_cell(value) for value in row] for row in rows[:_MOST_ROWS]]
    widths = [max(len(line[place]) for line in ([*columns], *cells)) for place in range(len(columns))]
    written = 0
    length = 0
    for line in ([*columns], *cells):
        text = "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        length += len(text) + 1
        if length > TEXT_LIMIT - 100:
            break
        yield text
        written += 1
    if left := len(rows) - written + 1:
        yield f"[{left:,} more {'row' if left == 1 else 'rows'}]"
    if not rows:
        yield "(no rows)"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = value.isoformat(" ") if isinstance(value, datetime) else str(value)
    text = "".join(letter if letter.isprintable() else " " for letter in text)
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"


_GRACE_S = 2.0
"""Seconds that a call may take beyond the driver's own limit: the time in which the server answers the break."""

_LAST_WAIT_S = 0.25
"""Seconds that `close` waits for a logoff or a break to be sent: too short for a user to notice."""
_ENDING_S = 30.0

_STALE = (1466, 1555, 8103)
"""ORA- errors of a read-only transaction that is older than its data, such as partitions of AWR. A new one helps."""

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
        """Yield each row as a dict of column name to value."""
        return (dict(zip(self.columns, row, strict=True)) for row in self.rows)


class Connection:
    """Run one query at a time. `open` logs in; `close` ends the session and does not wait for a call that hangs."""

    def __init__(self, login: Login, journal: Journal, node: Callable[[], str], purpose: str = "main") -> None:
        self.driver = ""
        """`python-oracledb 26.1.0, thin`; empty before `open`."""
        self.login_warning = ""
        """The database's warning at the login, such as ORA-28002; empty where there was none."""
        self._login = login
        self._journal = journal
        self._node = node
        self._name = f"racwire database {purpose}"
        self._worker = Worker(self._name)
        self._session: DatabaseSession | None = None
        self._leaving: list[asyncio.Task[None]] = []
        self._turn = asyncio.Lock()
        self._is_over = threading.Event()
        """Set while no statement runs, so also before the first."""
        self._is_over.set()

    async def open(self) -> None:
        """Log in. Raises DatabaseError where the login fails or exceeds the login timeout."""
        login, limit_s = self._login, self._login.settings.login_timeout_s
        made: list[DatabaseSession] = []

        def log_in() -> None:
            made.append(login.session())

        with self._journal.entry(self._node(), "sql connect", f"connect {login.who} to {login.where}") as entry:
            try:
                await self._worker.call(log_in, limit_s)
            except BaseException as error:
                # A login that succeeds after this is logged off in the thread that waits for it.
                self._worker.end(lambda: [session.raw.close() for session in made])
                self._worker = Worker(self._name)
                if not isinstance(error, TimeoutError):
                    raise
                raise DatabaseError(
                    f"The login at {login.where} did not end within {limit_s:g} s, and racwire gave up: the listener "
                    f"does not answer, or {_or_tls(login.where)}the instance hangs. Check `lsnrctl status` and the "
                    "alert log.",
                    ErrorKind.CANNOT_CONNECT,
                ) from None
            self._session = made[0]
            self.driver, self.login_warning = self._session.driver, self._session.warning
            entry.text = "\n".join(filter(None, (self.driver, self.login_warning)))

    async def rows(
        self, statement: SqlStatement, binds: Mapping[str, Any] | None = None, *, timeout_s: float | None = None
    ) -> Rows:
        """Run a query and return all its rows.

        If the connection is lost, or its read-only transaction is too old, log in again and repeat the query once.
        Raises DatabaseError where the query fails; ValueError for a statement that is no query, which is not sent.
        """
        if not reads_only(statement.text):
            raise ValueError(f"The statement {statement.name} is no query; racwire sends only queries to a database.")
        limit_s = self._login.settings.call_timeout_s if timeout_s is None else timeout_s
        async with self._turn:
            with self._journal.entry(self._node(), statement.topic, _as_sent(statement, binds)) as entry:
                try:
                    found = await self._run(statement, dict(binds or {}), limit_s)
                except DatabaseError as error:
                    if error.kind is not ErrorKind.LOST and error.code not in _STALE:
                        raise
                    self._abandon()
                    found = await self._run(statement, dict(binds or {}), limit_s)
                entry.text = rows_text(found.columns, found.rows)
                return found

    async def close(self) -> None:
        """Log off, and cancel a running query. Does not wait for a session that does not answer at once."""
        self._abandon()
        if self._leaving:
            _, hanging = await asyncio.wait(self._leaving, timeout=_LAST_WAIT_S)
            for ending in hanging:
                ending.cancel()

    async def _run(self, statement: SqlStatement, binds: dict[str, Any], limit_s: float) -> Rows:
        if self._session is not None and not self._session.raw.is_healthy():
            # The driver has given the session up. It crashes where a time limit is set on such a session.
            self._abandon()
        if self._session is None:
            await self.open()
        session, login = self._session, self._login
        assert session is not None

        self._is_over = is_over = threading.Event()

        def call() -> Rows:
            started = time.monotonic()
            try:
                return Rows(*fetch(session.raw, statement.text, binds, statement.name, limit_s))
            except Exception as error:  # of the driver, or of a value that the driver cannot convert
                problem = login.translated(error, statement)
            finally:
                is_over.set()
            if problem.kind is ErrorKind.LOST and time.monotonic() - started >= limit_s:
                raise TimeoutError  # the driver ended the session, since the server did not answer its break either
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
        """Leave the session, with a call that may hang in it, to its own threads; the next query logs in again."""
        session, self._session = self._session, None
        self._worker.end()
        self._worker = Worker(self._name)
        if session is not None:
            raw, is_over = session.raw, self._is_over
            self._leave(lambda: cancel_and_close(raw, is_over))

    def _leave(self, ending: Callable[[], None]) -> None:
        """End a session in a thread of its own, because the end may hang."""

        async def end() -> None:
            worker = Worker(f"{self._name} ending")
            with contextlib.suppress(Exception):  # the session is abandoned in any case
                await worker.call(ending, _ENDING_S)
            worker.end()

        # Drop the tasks that ended: a connection of many hours may lose many sessions.
        self._leaving = [task for task in self._leaving if not task.done()]
        self._leaving.append(asyncio.create_task(end()))


def _or_tls(where: str) -> str:
    """A further cause of a login that hangs: a listener waits for more where a client starts TLS at a port without."""
    return "the port does not use TLS, or " if "tcps" in where.casefold() else ""


def reads_only(sql: str) -> bool:
    """Whether the text is a query: its first word is SELECT or WITH, it has no PL/SQL, and it locks no row."""
    bare = _COMMENT.sub(" ", sql)
    return _READS.match(bare) is not None and _LOCKS.search(bare) is None


def _as_sent(statement: SqlStatement, binds: Mapping[str, Any] | None) -> str:
    values = "".join(f"\n-- :{name} = {value}" for name, value in (binds or {}).items())
    return f"{statement.text}{values}"
