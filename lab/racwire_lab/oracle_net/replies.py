"""The messages that answer a session's calls."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from racwire_lab.database.backend import Column, OracleError, OracleType
from racwire_lab.oracle_net.wire import Writer

_ERROR, _PARAMETERS, _STATUS, _LOB_DATA, _WARNING, _DESCRIBE = 4, 8, 9, 14, 15, 16
_AL32UTF8 = 873
_CALL_IS_OVER = 1
_TEXT = (OracleType.VARCHAR2, OracleType.CHAR)
_SIZES = {
    OracleType.NUMBER: 22,
    OracleType.DATE: 7,
    OracleType.TIMESTAMP: 11,
    OracleType.TIMESTAMP_TZ: 13,
    OracleType.INTERVAL_DS: 11,
    OracleType.BINARY_DOUBLE: 8,
    OracleType.CLOB: 4000,
}
"""Size in bytes; columns of other types have their own."""

NO_MORE_ROWS = OracleError(1403, "no data found")


class Replies:
    """Writes answers in the format of the negotiated field version."""

    def __init__(self, field_version: int) -> None:
        self.field_version = field_version
        self.sequence = 1
        """The sequence number of the session's calls."""

    def status(self, writer: Writer) -> None:
        """Write that a call without results has ended."""
        writer.u8(_STATUS).ub(_CALL_IS_OVER, self.sequence & 0xFFFF)

    def summary(self, writer: Writer, error: OracleError | None = None, *, cursor: int = 0, rows: int = 0) -> None:
        """Write the end of a call: its error, or the number of rows so far."""
        code = error.code if error else 0
        writer.u8(_ERROR).ub(_CALL_IS_OVER, self.sequence & 0xFFFF, rows & 0xFFFFFFFF, code if code < 65536 else 0)
        writer.ub(0, 0, cursor, error.offset if error else 0)
        # The kind of statement, and flags of the call.
        writer.u8(3 if cursor else 0, 0, 0, 0, 0, 0)
        # The rowid, and the error of the operating system.
        writer.ub(0, 0).u8(0).ub(0, 0, 0).u8(0, 0).ub(0, 0, 0)
        # Errors of single executions of an array of executions.
        writer.ub(0, 0, 0).ub(code, rows)
        if self.field_version >= 14:
            writer.ub(0, 0)
        if error:
            writer.counted(f"{error}\n".encode())

    def warning(self, writer: Writer, warning: OracleError) -> None:
        """Write a warning, which comes before the other parts of an answer."""
        text = f"{warning}\n".encode()
        writer.u8(_WARNING).ub(warning.code, len(text), 0).counted(text)

    def parameters(self, writer: Writer) -> None:
        """Write an empty message that real servers send after each execution."""
        writer.u8(_PARAMETERS).ub(0, 0, 0, 0)

    def columns(self, writer: Writer, columns: Sequence[Column]) -> None:
        """Describe the columns of a result."""
        writer.u8(_DESCRIBE).counted(secrets.token_bytes(16))
        writer.ub(sum(map(_buffer_size, columns)) & 0xFFFF, len(columns))
        if columns:
            writer.u8(1)
        for position, column in enumerate(columns, 1):
            self._column(writer, column, position)
        writer.text(bytes(7)).ub(0, 0, 0, 0).text("")

    def _column(self, writer: Writer, column: Column, position: int) -> None:
        is_text = column.type in _TEXT or column.type is OracleType.CLOB
        writer.u8(column.type.value, 0, column.precision, column.scale)
        writer.ub(_buffer_size(column), 0, 0).text("").ub(0)
        writer.ub(_AL32UTF8 if is_text else 0).u8(1 if is_text else 0)
        writer.ub(_buffer_size(column) if column.type in _TEXT else 0)
        if self.field_version >= 8:
            writer.ub(0)
        can_be_null = 1
        writer.u8(can_be_null, len(column.name)).text(column.name).text("").text("").ub(position, 0)
        if self.field_version >= 17:
            writer.text("").text("")
        if self.field_version >= 20:
            writer.ub(0)
        if self.field_version >= 24:
            writer.ub(0).u8(0, 0)

    def lob(self, writer: Writer, locator: bytes, data: bytes | None, amount: int | None) -> None:
        """Write a part of a LOB, or only its length."""
        if data is not None:
            writer.u8(_LOB_DATA).counted(data)
        writer.u8(_PARAMETERS).raw(locator)
        if amount is not None:
            writer.ub(amount)


def _buffer_size(column: Column) -> int:
    """Size in bytes; 0 would mean that all values are NULL and are not sent."""
    return _SIZES.get(column.type) or max(column.size, 1)
