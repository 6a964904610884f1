"""One session: it reads calls, runs statements in its worker thread, and notices breaks meanwhile."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from racwire_lab.database.backend import Caller, Cancellation, OracleError
from racwire_lab.oracle_net.calls import (
    OPTION_COMMIT,
    OPTION_DESCRIBE,
    OPTION_EXECUTE,
    OPTION_FETCH,
    CallReader,
    ClientMessage,
    Execute,
    Fetch,
    KnownCursor,
    ReadLob,
    Simple,
)
from racwire_lab.oracle_net.connecting import ConnectRequest
from racwire_lab.oracle_net.conversation import BrokenOffError, Conversation
from racwire_lab.oracle_net.cursors import Cursor, Lobs
from racwire_lab.oracle_net.logon import Logon
from racwire_lab.oracle_net.packets import Channel, Marker
from racwire_lab.oracle_net.replies import NO_MORE_ROWS, Replies
from racwire_lab.oracle_net.wire import Writer

if TYPE_CHECKING:
    from racwire_lab.oracle_net.server import OracleServer

log = logging.getLogger(__name__)


class OracleNetSession:
    """A session from the logon to its end, whatever ends it."""

    def __init__(
        self, server: OracleServer, channel: Channel, number: int, request: ConnectRequest, *, marks_ends: bool
    ) -> None:
        self.caller: Caller | None = None
        """The user who is logged on."""
        self._server = server
        self._conversation = Conversation(channel, server.faults)
        self._logon = Logon(server, self._conversation, number, request, marks_ends=marks_ends)
        self._replies = Replies(0)
        self._worker = ThreadPoolExecutor(1, thread_name_prefix=f"session {number}")
        self._cancellation = Cancellation()
        self._cursors: dict[int, Cursor] = {}
        self._cursor_numbers = itertools.count(1)
        self._lobs = Lobs()

    async def run(self) -> None:
        """Log the client on and answer its calls. Raises EOFError, OSError or ProtocolError when the session ends."""
        async with asyncio.timeout(self._server.logon_timeout_s):
            logged_on = await self._logon.run()
        if logged_on is None:
            return
        self.caller, self._replies = logged_on.caller, logged_on.replies
        await self._conversation.respond(logged_on.welcome)
        reader = CallReader(self._replies.field_version, self._known)
        while True:
            try:
                message = await self._conversation.read(reader.read)
            except BrokenOffError as error:
                await self._fail(error)
                continue
            self._note(message, self.caller)
            if message.call is not None:
                self._replies.sequence += 1
                await self._answer(message.call, self.caller)
            if message.call == Simple(Simple.LOGOFF):
                return

    def end(self) -> Future[None] | None:
        """Cancel the running statement and report the end to the backend after it.

        The future is done when the backend knows.
        """
        self._cancellation.cancel()
        farewell = self._worker.submit(self._report_end, self.caller) if self.caller else None
        self._worker.shutdown(wait=False)
        return farewell

    def _report_end(self, caller: Caller) -> None:
        try:
            for cursor in self._cursors.values():
                cursor.release()
        finally:
            try:
                self._server.backend.closed(caller)
            except Exception as error:
                log.error("the backend could not end a session", exc_info=error)

    def _known(self, number: int) -> KnownCursor | None:
        cursor = self._cursors.get(number)
        return cursor.known if cursor else None

    def _note(self, message: ClientMessage, caller: Caller) -> None:
        """Process the data that was sent ahead of a call."""
        for number in message.closed_cursors:
            self._forget(number)
        for name, value in message.attributes.items():
            if name in ("module", "action", "client_info"):
                setattr(caller, name, value)
            else:
                caller.extra[name] = value

    async def _answer(self, call: Execute | Fetch | ReadLob | Simple, caller: Caller) -> None:
        writer = Writer()
        try:
            match call:
                case Execute():
                    await self._execute(writer, call, caller)
                case Fetch():
                    await self._fetch(writer, call)
                case ReadLob():
                    self._read_lob(writer, call)
                case Simple():
                    self._simple(writer, call, caller)
        except OracleError as error:
            await self._fail(error)
        else:
            await self._conversation.respond(writer)

    async def _fail(self, error: OracleError) -> None:
        writer = Writer()
        self._replies.summary(writer, error)
        await self._conversation.respond(writer)

    async def _execute(self, writer: Writer, call: Execute, caller: Caller) -> None:
        self._server.statements += 1
        cursor = self._cursor_for(call)
        try:
            # Definitions of columns are sent for an existing result.
            if not call.defines:
                cursor.cancellation = Cancellation()
            await self._in_worker(lambda: self._run(writer, call, cursor, caller), cursor.cancellation)
        except OracleError:
            if call.statement is not None:
                self._forget(cursor.number)
            raise
        finally:
            if call.options & OPTION_COMMIT:
                caller.is_read_only = False

    def _cursor_for(self, call: Execute) -> Cursor:
        """The cursor that the call names, or a new one for a new statement."""
        if call.statement is None:
            return self._cursor(call.cursor)
        if len(self._cursors) >= self._server.max_open_cursors:
            raise OracleError(1000, "maximum open cursors exceeded")
        self._forget(call.cursor)
        number = call.cursor or next(self._cursor_numbers)
        cursor = self._cursors[number] = Cursor(number, call.statement, self._lobs)
        return cursor

    def _forget(self, number: int) -> None:
        """Close the cursor of this number, if there is one, after the call that runs on it."""
        if cursor := self._cursors.pop(number, None):
            self._worker.submit(cursor.release)

    def _cursor(self, number: int) -> Cursor:
        if number not in self._cursors:
            raise OracleError(1001, "invalid cursor")
        return self._cursors[number]

    def _run(self, writer: Writer, call: Execute, cursor: Cursor, caller: Caller) -> None:
        """Execute, and write the response. Runs in the worker thread."""
        cursor.bind_definitions = call.bind_definitions or cursor.bind_definitions
        cursor.defines = call.defines or cursor.defines
        if not call.defines and call.options & (OPTION_EXECUTE | OPTION_DESCRIBE):
            for binds in _bind_maps(call, cursor):
                sql, cancellation = cursor.statement.sql, cursor.cancellation
                cursor.open(self._server.backend.execute(caller, sql, binds, cancellation))
        if cursor.result is not None:
            if call.is_described:
                self._replies.columns(writer, cursor.result.columns)
            only_described = call.options & OPTION_DESCRIBE
            if call.options & OPTION_FETCH and not only_described and not cursor.must_be_defined:
                cursor.write_rows(writer, call.rows)
        self._replies.parameters(writer)
        self._write_end_of_rows(writer, cursor)

    async def _fetch(self, writer: Writer, call: Fetch) -> None:
        cursor = self._cursor(call.cursor)
        await self._in_worker(lambda: cursor.write_rows(writer, call.rows), cursor.cancellation)
        self._write_end_of_rows(writer, cursor)

    def _write_end_of_rows(self, writer: Writer, cursor: Cursor) -> None:
        is_over = cursor.result is not None and cursor.is_at_end
        self._replies.summary(writer, NO_MORE_ROWS if is_over else None, cursor=cursor.number, rows=cursor.fetched)

    def _read_lob(self, writer: Writer, call: ReadLob) -> None:
        text = self._lobs.text(call.locator)
        if call.operation == ReadLob.LENGTH:
            self._replies.lob(writer, call.locator, None, len(text))
        elif call.operation == ReadLob.READ:
            start = max(call.offset, 1) - 1
            part = text[start : start + max(call.amount or 0, 0)]
            self._replies.lob(writer, call.locator, part.encode(), len(part))
        else:
            raise _unsupported()
        self._replies.summary(writer)

    def _simple(self, writer: Writer, call: Simple, caller: Caller) -> None:
        match call.function:
            case Simple.COMMIT | Simple.ROLLBACK:
                caller.is_read_only = False
            case Simple.PING | Simple.LOGOFF:
                pass
            case _:
                raise _unsupported()
        self._replies.status(writer)

    async def _in_worker(self, job: Callable[[], None], cancellation: Cancellation) -> None:
        """Run the job in the worker thread, and read from the client meanwhile.

        Raises OracleError 1013 after a break, and EOFError or OSError when the client goes away. In these cases the job
        is cancelled and its result discarded.
        """
        self._cancellation = cancellation
        work = asyncio.get_running_loop().run_in_executor(self._worker, job)
        work.add_done_callback(lambda done: done.cancelled() or done.exception())
        channel = self._conversation.channel
        waited: list[asyncio.Future[Any]] = [work, channel.ahead()]
        await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        if not work.done() and channel.ahead().result().marker in (Marker.BREAK, Marker.INTERRUPT):
            await channel.receive()
            cancellation.cancel()
            await self._conversation.break_off()
        # Another packet is the next call, sent before this one is answered.
        await asyncio.wait([work])
        try:
            work.result()
        except OracleError:
            raise
        except Exception as error:
            log.error("a statement failed unexpectedly", exc_info=error)
            raise OracleError(600, f"internal error code, arguments: [{type(error).__name__}]") from None


def _bind_maps(call: Execute, cursor: Cursor) -> Iterator[dict[str, Any]]:
    """The bound values by name, for each execution.

    Raises OracleError when their number differs from that of the names.
    """
    names = cursor.statement.bind_names
    for values in call.binds or ((),):
        if len(values) < len(names) and call.options & OPTION_EXECUTE:
            raise OracleError(1008, "not all variables bound")
        if len(values) > len(names):
            raise OracleError(1036, "illegal variable name/number")
        yield dict(zip(names, values, strict=False))


def _unsupported() -> OracleError:
    return OracleError(3115, "unsupported network datatype or representation")
