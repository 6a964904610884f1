"""Run a query that can be cancelled, and return its rows as Oracle would."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from decimal import Context, Decimal
from typing import Any

import duckdb

from racwire_lab.database.backend import Cancellation, OracleError
from racwire_lab.oracle_sql.errors import not_supported, oracle_error
from racwire_lab.oracle_sql.kinds import ColumnKind, Family

Convert = Callable[[Any], Any]

_ROWS_AT_ONCE = 1000
_ALL_DIGITS = Context(prec=60)
_INTERRUPT_EVERY_S = 0.02


class Running:
    """One query on one cursor, from its start to its last row."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection, cancellation: Cancellation) -> None:
        self._cursor = cursor
        self._cancellation = cancellation
        self._ended = threading.Event()
        cancellation.on_cancel(self._cancel)

    def _cancel(self) -> None:
        if not self._ended.is_set():
            threading.Thread(target=self._interrupt_until_ended, name="sql-break", daemon=True).start()

    def _interrupt_until_ended(self) -> None:
        # An interrupt between two queries of the cursor has no effect, so one is not enough.
        with suppress(duckdb.ConnectionException):  # the query ended, and closed its cursor, a moment ago
            while not self._ended.wait(_INTERRUPT_EVERY_S):
                self._cursor.interrupt()

    def end(self) -> None:
        """Close the cursor, and its tables with it."""
        if not self._ended.is_set():
            self._ended.set()
            self._cursor.close()

    def rows(self, sql: str, values: Mapping[str, Any], converters: Sequence[Convert]) -> Iterator[tuple[Any, ...]]:
        """Run the query and yield its rows.

        Raises OracleError from this call or while the rows are read; OracleError(1013) when the query was cancelled.
        """
        with translated_errors(sql):
            if self._cancellation.cancelled:
                raise oracle_error(1013)
            self._cursor.execute(sql, dict(values) or None)
            first = self._cursor.fetchmany(_ROWS_AT_ONCE)
        return self._give(sql, first, converters)

    def _give(self, sql: str, rows: list[tuple[Any, ...]], converters: Sequence[Convert]) -> Iterator[tuple[Any, ...]]:
        try:
            while rows:
                for row in rows:
                    yield tuple(convert(value) for convert, value in zip(converters, row, strict=True))
                if self._cancellation.cancelled:
                    raise oracle_error(1013)
                with translated_errors(sql):
                    rows = self._cursor.fetchmany(_ROWS_AT_ONCE)
        finally:
            self.end()


@contextmanager
def translated_errors(sql: str) -> Iterator[None]:
    """Raise OracleError in place of DuckDB's errors."""
    try:
        yield
    except duckdb.Error as error:
        raise _as_oracle_error(error, sql) from error


def _as_oracle_error(error: duckdb.Error, sql: str) -> OracleError:
    text = str(error)
    if isinstance(error, duckdb.InterruptException):
        return oracle_error(1013)
    if matched := re.search(r"ORA-(\d{5})", text):
        return oracle_error(int(matched[1]))
    if isinstance(error, duckdb.OutOfRangeException):
        return oracle_error(1426)
    if isinstance(error, duckdb.OutOfMemoryException):
        return oracle_error(4036)
    if "More than one row returned by a subquery" in text:
        return oracle_error(1427)
    if "cannot contain window functions" in text or "WINDOW" in text:
        return oracle_error(30483)
    if "cannot contain aggregates" in text:
        return oracle_error(934)
    if "GROUP BY" in text or "aggregate" in text:
        return oracle_error(979 if " GROUP BY " in sql else 937)
    if isinstance(error, duckdb.ConversionException):
        return oracle_error(1426 if "DECIMAL" in text or "INT" in text else 1722)
    if isinstance(error, duckdb.ParserException | duckdb.BinderException | duckdb.CatalogException):
        return not_supported(f"this: {text.splitlines()[0]}")
    return OracleError(600, f"internal error of the practice database: {text.splitlines()[0]}")


def converter(kind: ColumnKind) -> Convert:
    """Return the function that converts DuckDB's value to the value for the client."""
    if kind.family is Family.NUMBER:
        return _number
    return _text if kind.family in (Family.TEXT, Family.NULL) else lambda value: value


def _text(value: Any) -> Any:
    return value or None


def _number(value: Any) -> Any:
    """A whole number as int, others as Decimal without trailing zeros."""
    if value is None or isinstance(value, int):
        return value
    exact = Decimal(repr(value)) if isinstance(value, float) else value
    if not exact.is_finite():
        raise oracle_error(1426)
    return int(exact) if exact == exact.to_integral_value() else exact.normalize(_ALL_DIGITS)
