"""The cursors of a session: executed statements and their remaining rows."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from racwire_lab.database.backend import Cancellation, OracleError, OracleType, Result
from racwire_lab.oracle_net import values
from racwire_lab.oracle_net.calls import Definition, KnownCursor
from racwire_lab.oracle_net.statements import SentStatement
from racwire_lab.oracle_net.wire import Writer

_ROW_HEADER, _ROW = 6, 7
_LARGEST_RESPONSE = 16 * 1024 * 1024
_LOCATOR_SIZE = 40
_LOB_CHUNK = 8060
_IN_PLACE = (values.LONG, values.LONG_RAW, OracleType.VARCHAR2.value)


class Lobs:
    """The CLOBs of a session, by locator."""

    def __init__(self) -> None:
        self._texts: dict[bytes, str] = {}

    def locator(self, text: str) -> bytes:
        """Return a new locator of this text."""
        locator = (_LOCATOR_SIZE - 2).to_bytes(2, "big") + bytes(8) + len(self._texts).to_bytes(8, "big")
        locator = locator.ljust(_LOCATOR_SIZE, b"\0")
        self._texts[locator] = text
        return locator

    def text(self, locator: bytes) -> str:
        """Return the text of a locator. Raises OracleError 22922 for an unknown locator."""
        if locator not in self._texts:
            raise OracleError(22922, "nonexistent LOB value")
        return self._texts[locator]


class Cursor:
    """One cursor. Only the session's worker thread fetches its rows."""

    def __init__(self, number: int, statement: SentStatement, lobs: Lobs) -> None:
        self.number = number
        self.statement = statement
        self.bind_definitions: tuple[Definition, ...] = ()
        self.defines: tuple[Definition, ...] = ()
        self.result: Result | None = None
        self.fetched = 0
        self.cancellation = Cancellation()
        """The cancellation of the execution and of all fetches from its result: some rows are computed as they are
        fetched."""
        self._rows: Iterator[Sequence[Any]] | None = None
        self._lobs = lobs

    @property
    def known(self) -> KnownCursor:
        """The parts of the cursor that are needed to read further calls."""
        return KnownCursor(self.statement, self.bind_definitions)

    @property
    def is_at_end(self) -> bool:
        """Whether there are no more rows."""
        return self._rows is None

    @property
    def must_be_defined(self) -> bool:
        """Whether the client must define its columns first, because there are LOBs."""
        columns = self.result.columns if self.result else ()
        return not self.defines and any(column.type is OracleType.CLOB for column in columns)

    def open(self, result: Result | None) -> None:
        """Replace the result by a new one."""
        self.release()
        self.result = result
        self._rows = iter(result.rows) if result else None
        self.fetched = 0

    def release(self) -> None:
        """Discard the remaining rows."""
        close = getattr(self._rows, "close", None)
        self._rows = None
        if close:
            close()

    def write_rows(self, writer: Writer, wanted: int) -> None:
        """Write the next rows, at most `wanted` rows. Raises OracleError.

        A response that would become too large has fewer rows; the client fetches again.
        """
        if self._rows is None or self.result is None:
            raise OracleError(1002, "fetch out of sequence")
        encoders = [self._column_writer(index) for index in range(len(self.result.columns))]
        writer.u8(_ROW_HEADER, 0x22).ub(1, 0, wanted, 0, 0, 0)
        rows, self._rows = self._rows, None
        for row in itertools.islice(rows, wanted):
            if self.cancellation.cancelled:
                raise OracleError(1013, "user requested cancel of current operation")
            writer.u8(_ROW)
            for write, value in zip(encoders, row, strict=True):
                write(writer, value)
            self.fetched += 1
            wanted -= 1
            if len(writer.data) > _LARGEST_RESPONSE:
                break
        else:
            if wanted:
                return
        # Assign the rows at the end: after a failed fetch the cursor has no rows.
        self._rows = rows

    def _column_writer(self, index: int) -> Any:
        columns = self.result.columns if self.result else ()
        type_ = columns[index].type
        if type_ is OracleType.CLOB:
            as_type = self.defines[index].type if index < len(self.defines) else type_.value
            return self._write_clob_in_place if as_type in _IN_PLACE else self._write_locator
        encode = values.encoder(type_)
        return lambda writer, value: writer.counted(encode(value))

    def _write_clob_in_place(self, writer: Writer, value: str | None) -> None:
        writer.counted(values.encode_text(value) if value is not None else None).ub(0, 0)

    def _write_locator(self, writer: Writer, value: str | None) -> None:
        if value is None:
            writer.ub(0)
            return
        writer.ub(_LOCATOR_SIZE, len(value), _LOB_CHUNK).counted(self._lobs.locator(value))
