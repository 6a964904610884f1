"""From the text of an Oracle query to the text that DuckDB runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from racwire_lab.oracle_sql.dictionary import View
from racwire_lab.oracle_sql.errors import oracle_error
from racwire_lab.oracle_sql.kinds import (
    BYTES,
    DATE,
    FLOAT,
    INTERVAL,
    MAX_SCALE,
    NULL,
    TIMESTAMP,
    WHOLE,
    Kind,
    number,
    text,
)
from racwire_lab.oracle_sql.parsing import parse
from racwire_lab.oracle_sql.queries import Queries
from racwire_lab.oracle_sql.scope import Columns

FindView = Callable[[str, str, int], tuple[View, Columns]]
"""Schema, name and offset of what a statement reads: the view and its columns. Raises ORA-00942."""


@dataclass(frozen=True)
class Translation:
    """A query for DuckDB."""

    sql: str
    columns: tuple[tuple[str, Kind], ...]
    reads: tuple[View, ...]
    binds: frozenset[str]
    """The binds that stand in it, each the parameter `B_NAME`."""
    asks: frozenset[str]
    """What it asks of the session: see `expressions.Statement.asks`."""
    remarks: frozenset[str]
    """See `expressions.Statement.remarks`."""


def translate(sql: str, binds: Mapping[str, Any], find_view: FindView) -> Translation:
    """Translate a query. The binds' values only tell their types. Raises OracleError."""
    reads: dict[str, View] = {}

    def find_table(schema: str, name: str, offset: int) -> tuple[str, Columns]:
        view, columns = find_view(schema, name, offset)
        reads[view.name] = view
        return view.name.lower(), columns

    parsed = parse(sql)
    queries = Queries(parsed, find_table, {name.upper(): kind_of(value) for name, value in binds.items()})
    query = queries.query(parsed.tree)
    statement = queries.statement
    return Translation(
        query.sql,
        tuple(query.columns),
        tuple(reads.values()),
        frozenset(statement.used),
        frozenset(statement.asks),
        frozenset(statement.remarks),
    )


def kind_of(value: Any) -> Kind:
    """The type of a bind, from its value. A time without fractions of seconds counts as a DATE."""
    if value is None:
        return NULL
    if isinstance(value, bool | int):
        return WHOLE
    if isinstance(value, float):
        return kind_of(Decimal(repr(value)))
    if isinstance(value, Decimal):
        exponent = value.as_tuple().exponent
        if not isinstance(exponent, int) or -exponent > MAX_SCALE:
            return FLOAT
        return number(max(0, -exponent))
    if isinstance(value, datetime):
        return TIMESTAMP if value.microsecond else DATE
    if isinstance(value, timedelta):
        return INTERVAL
    if isinstance(value, bytes):
        return BYTES
    if isinstance(value, str):
        return text(4000) if value else NULL
    raise oracle_error(932, "NUMBER", type(value).__name__.upper())


def parameter_value(value: Any) -> Any:
    """A bind's value as DuckDB takes it."""
    if isinstance(value, timedelta):
        return value // timedelta(microseconds=1)
    if isinstance(value, float):
        return Decimal(repr(value))
    return None if value == "" else value
