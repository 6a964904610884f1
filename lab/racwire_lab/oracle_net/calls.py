"""The calls of a session after the logon, read from the client's messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from racwire_lab.database.backend import OracleType
from racwire_lab.oracle_net import values
from racwire_lab.oracle_net.logon_messages import has_tokens
from racwire_lab.oracle_net.statements import SentStatement
from racwire_lab.oracle_net.wire import ProtocolError, Reader, utf8

_MAX_ENTRIES = 65_535


def read_piggyback(reader: Reader, function: int, closed: list[int], attributes: dict[str, str]) -> None:
    """Read one piggybacked call. Add the numbers of closed cursors to `closed`, and the client's attributes to
    `attributes`.

    Raises ProtocolError for an unknown piggyback, because its length is unknown.
    """
    match function:
        case 105:  # close cursors
            reader.u8()
            closed += [reader.ub() for _ in range(reader.count(_MAX_ENTRIES))]
        case 135:  # end-to-end attributes
            _end_to_end(reader, attributes)
        case 152:  # the current schema
            reader.u8()
            attributes["current_schema"] = reader.text()
        case 154:  # an application context
            reader.skip("bub")
            count = reader.count(_MAX_ENTRIES)
            reader.skip("ub")
            reader.counted()
            _skip_pairs(reader, count)
        case 176:  # the state of the session
            reader.ub()
        case 96:  # temporary LOBs to be freed
            reader.u8()
            size = reader.count(_MAX_ENTRIES)
            reader.skip("buuubbbubuuubbububu")
            reader.raw(size)
        case 199:  # the beginning of a pipeline
            reader.skip("ubb")
        case 204:  # alter session
            reader.skip("ub")
            _skip_pairs(reader, reader.count(_MAX_ENTRIES))
        case _:
            raise ProtocolError(f"unknown piggyback {function}")


def _end_to_end(reader: Reader, attributes: dict[str, str]) -> None:
    """Read the flags of the attributes that follow, then their values. An attribute without a value is cleared."""
    reader.skip("bbu")
    fields = ("client_identifier", "module", "action", "", "", "client_info", "", "", "operation")
    present: list[tuple[str, int]] = []
    for name in fields:
        is_present, size = reader.u8(), reader.ub()
        if name and is_present:
            present.append((name, size))
    for name, size in present:
        attributes[name] = utf8(reader.counted() or b"") if size else ""


def _skip_pairs(reader: Reader, count: int) -> None:
    for _ in range(count):
        reader.bytes_()
        reader.bytes_()
        reader.ub()


_CALL, _PIGGYBACK, _ONE_WAY = 3, 17, 26
_ROW = 7
_IN_ARRAY = 0x40
_LONGEST_IN_ORDER = 32_767
_MAX_BINDS = 65_535
_MAX_EXECUTIONS = 65_535
_MAX_ROWS = 2**32 - 1
_REF_CURSOR = 102
_LOBS = (OracleType.CLOB.value, values.BLOB)

OPTION_BIND, OPTION_DEFINE, OPTION_EXECUTE, OPTION_FETCH = 0x08, 0x10, 0x20, 0x40
OPTION_COMMIT, OPTION_DESCRIBE = 0x100, 0x20000


@dataclass(frozen=True)
class Definition:
    """The format of a bound value, or the format in which the client wants a column."""

    type: int
    size: int
    character_form: int
    is_array: bool = False


@dataclass(frozen=True)
class Execute:
    """Run a statement, new or already parsed, with rows of bound values: one for each execution."""

    cursor: int
    statement: SentStatement | None
    options: int
    rows: int
    binds: tuple[tuple[Any, ...], ...] = field(repr=False)
    bind_definitions: tuple[Definition, ...] = ()
    defines: tuple[Definition, ...] = ()
    is_described: bool = True
    """Whether the client needs a description of the columns."""


@dataclass(frozen=True)
class Fetch:
    """Fetch more rows of a cursor."""

    cursor: int
    rows: int


@dataclass(frozen=True)
class ReadLob:
    """Read a part of a LOB, or its length. The offset counts from 1."""

    locator: bytes
    operation: int
    offset: int
    amount: int | None

    LENGTH = 1
    READ = 2


@dataclass(frozen=True)
class Simple:
    """A call without arguments: only its number matters."""

    function: int

    LOGOFF = 9
    COMMIT = 14
    ROLLBACK = 15
    PING = 147


@dataclass(frozen=True)
class ClientMessage:
    """A call and the piggybacked data before it. The call is None when no answer is needed."""

    call: Execute | Fetch | ReadLob | Simple | None
    closed_cursors: tuple[int, ...] = ()
    attributes: dict[str, str] = field(default_factory=dict)
    """Attributes of the client: module, action, client_info, client_identifier, current_schema."""


@dataclass(frozen=True)
class KnownCursor:
    """The parts of an earlier call's cursor that are needed to read later calls."""

    statement: SentStatement
    bind_definitions: tuple[Definition, ...]


class CallReader:
    """Reads the messages of a session, which refer to its cursors."""

    def __init__(self, field_version: int, known: Callable[[int], KnownCursor | None]) -> None:
        self._version = field_version
        self._known = known

    def read(self, reader: Reader) -> ClientMessage:
        """Read one message.

        Raises NeedMoreError when the message is incomplete, and ProtocolError when it is malformed.
        """
        closed: list[int] = []
        attributes: dict[str, str] = {}
        while True:
            kind, function = reader.u8(), reader.u8()
            if kind not in (_CALL, _PIGGYBACK, _ONE_WAY):
                raise ProtocolError(f"message {kind} in a session")
            reader.u8()
            if has_tokens(self._version):
                reader.ub()
            if kind == _ONE_WAY:
                return ClientMessage(None, tuple(closed), attributes)
            if kind == _CALL:
                return ClientMessage(self._call(reader, function), tuple(closed), attributes)
            read_piggyback(reader, function, closed, attributes)

    def _call(self, reader: Reader, function: int) -> Execute | Fetch | ReadLob | Simple:
        if function == 94:
            return self._execute(reader)
        if function in (4, 78):
            return self._execute_again(reader, fetches=function == 78)
        if function == 5:
            return Fetch(reader.ub(), reader.count(_MAX_ROWS))
        if function == 96:
            return _lob(reader)
        return Simple(function)

    def _execute(self, reader: Reader) -> Execute:
        options, cursor, has_sql = reader.ub(), reader.ub(), reader.u8()
        reader.skip("ububbu")  # the length of the SQL is sent again with the SQL
        rows = reader.count(_MAX_ROWS)
        reader.skip("ub")
        binds = reader.count(_MAX_BINDS)
        reader.skip("bbbbbb")
        defines = reader.count(_MAX_BINDS)
        reader.skip("ubbbubuubub")
        if self._version >= 8:
            reader.skip("bubub")
        if self._version >= 9:
            reader.skip("bu")
        statement = SentStatement(utf8(reader.counted() or b"")) if has_sql else None
        details = [reader.ub() for _ in range(13)]
        if options & OPTION_DEFINE:
            wanted = self._definitions(reader, defines)
            return Execute(cursor, statement, options, rows, (), defines=wanted)
        definitions = self._definitions(reader, binds)
        known = self._known(cursor)
        meant = statement or (known.statement if known else None)
        executions = min(max(details[1], 1), _MAX_EXECUTIONS)
        is_query = bool(details[7])
        values_: tuple[tuple[Any, ...], ...] = ()
        if binds and options & OPTION_EXECUTE:
            values_ = self._rows(reader, definitions, meant, 1 if is_query else executions)
        return Execute(cursor, statement, options, rows, values_, definitions)

    def _execute_again(self, reader: Reader, *, fetches: bool) -> Execute:
        cursor, count = reader.ub(), reader.count(_MAX_ROWS)
        reader.skip("uu")
        known = self._known(cursor)
        values_: tuple[tuple[Any, ...], ...] = ()
        if known and known.bind_definitions:
            executions = 1 if fetches else min(max(count, 1), _MAX_EXECUTIONS)
            values_ = self._rows(reader, known.bind_definitions, known.statement, executions)
        options = OPTION_EXECUTE | (OPTION_FETCH if fetches else 0)
        definitions = known.bind_definitions if known else ()
        return Execute(cursor, None, options, count, values_, definitions, is_described=False)

    def _definitions(self, reader: Reader, count: int) -> tuple[Definition, ...]:
        found = []
        for _ in range(count):
            type_, flags = reader.u8(), reader.u8()
            reader.skip("bb")
            size = reader.ub()
            reader.skip("uu")
            if reader.ub():
                reader.counted()
            reader.skip("uu")
            form = reader.u8()
            reader.ub()
            if self._version >= 8:
                reader.ub()
            found.append(Definition(type_, size, form, bool(flags & _IN_ARRAY)))
        return tuple(found)

    def _rows(
        self, reader: Reader, definitions: tuple[Definition, ...], statement: SentStatement | None, count: int
    ) -> tuple[tuple[Any, ...], ...]:
        """Rows of bound values. Outside of PL/SQL, values that may be long come after the others."""
        order = list(range(len(definitions)))
        if statement is not None and not statement.is_block:
            order.sort(key=lambda index: definitions[index].size > _LONGEST_IN_ORDER)
        rows = []
        for _ in range(count):
            if (kind := reader.u8()) != _ROW:
                raise ProtocolError(f"message {kind} instead of bound values")
            row: list[Any] = [None] * len(definitions)
            for index in order:
                row[index] = _bound(reader, definitions[index])
            rows.append(tuple(row))
        return tuple(rows)


def _bound(reader: Reader, definition: Definition) -> Any:
    if definition.is_array:
        return [_value(reader, definition) for _ in range(reader.count(_MAX_BINDS))]
    return _value(reader, definition)


def _value(reader: Reader, definition: Definition) -> Any:
    if definition.type == _REF_CURSOR:
        return reader.ub() if reader.ub() else None
    if definition.type in _LOBS:
        # The content of a temporary LOB is sent by calls that this server does not support.
        reader.bytes_()
        return None
    if definition.type == values.BOOLEAN:
        size = reader.u8()
        if size == 253:
            reader.u8()
            return None
        return reader.raw(size)[-1] == 1 if size else None
    return values.decode(reader.counted(), definition.type, definition.character_form)


def _lob(reader: Reader) -> ReadLob:
    reader.u8()
    size = reader.count(_MAX_BINDS)
    reader.skip("buuubbb")
    operation = reader.ub()
    reader.skip("bb")
    offset = reader.ub()
    reader.ub()
    has_amount = reader.u8()
    reader.skip("bbbbbb")
    locator = reader.raw(size)
    return ReadLob(locator, operation, offset, reader.ub() if has_amount else None)
