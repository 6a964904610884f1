"""Tables of DuckDB with the columns that the dictionary gives a view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb

from racwire_lab.oracle_sql.dictionary import View
from racwire_lab.oracle_sql.kinds import Family, Kind
from racwire_lab.oracle_sql.scope import quoted


def table_type(kind: Kind) -> str:
    """The type of a table's column: whole numbers take half the room there."""
    return "BIGINT" if kind.is_whole else kind.duck


def create(connection: duckdb.DuckDBPyConnection, view: View, columns: Mapping[str, Kind], *, temporary: bool) -> None:
    """An empty table, named as the view in lower case."""
    listed = ", ".join(f"{quoted(name)} {table_type(kind)}" for name, kind in columns.items())
    connection.execute(f"CREATE {'TEMP ' if temporary else ''}TABLE {quoted(view.name.lower())} ({listed})")


def insert(
    connection: duckdb.DuckDBPyConnection, view: View, columns: Mapping[str, Kind], rows: Sequence[Mapping[str, Any]]
) -> None:
    """Put rows in; a column that a row has not is NULL, and so is empty text."""
    if not rows:
        return
    values = []
    for name, kind in columns.items():
        given = [row.get(name) for row in rows]
        values.append([value or None for value in given] if kind.family is Family.TEXT else given)
    lists = ", ".join(
        f"unnest(CAST(${number} AS {table_type(kind)}[]))" for number, kind in enumerate(columns.values(), 1)
    )
    connection.execute(f"INSERT INTO {quoted(view.name.lower())} SELECT {lists}", values)
