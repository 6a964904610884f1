"""The types of columns and expressions: their names in Oracle, and their types in DuckDB.

A NUMBER is a BIGINT, HUGEINT, DECIMAL or DOUBLE. A VARCHAR2 is never the empty string, which is NULL. DATE and both
kinds of TIMESTAMP are a TIMESTAMP of DuckDB in the host's zone; a DATE has whole seconds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any

from racwire_lab.database.backend import Column, OracleType
from racwire_lab.oracle_sql.errors import oracle_error


class Family(Enum):
    """The families of types, with their names in ORA-00932."""

    NUMBER = "NUMBER"
    TEXT = "CHAR"
    DATE = "DATE"
    TIMESTAMP = "TIMESTAMP"
    TIMESTAMP_TZ = "TIMESTAMP WITH TIME ZONE"
    INTERVAL = "INTERVAL DAY TO SECOND"
    BYTES = "BINARY"
    NULL = "NULL"
    """The literal NULL: it is compatible with all families."""
    BOOLEAN = "BOOLEAN"
    """A condition, which is not a value in Oracle SQL."""


@dataclass(frozen=True)
class ColumnKind:
    """The type of a column or an expression."""

    family: Family
    duck: str
    """The type in DuckDB of a column or a bind."""
    size: int = 4000
    """The size of a text, in bytes."""

    @property
    def is_time(self) -> bool:
        """Whether it is a point in time."""
        return self.family in (Family.DATE, Family.TIMESTAMP, Family.TIMESTAMP_TZ)

    def column(self, name: str) -> Column:
        """Return the description of a result column of this type for the client."""
        if self.family in (Family.TEXT, Family.NULL):
            return Column(name, OracleType.VARCHAR2, max(1, min(self.size, 4000)))
        return Column(name, *_DESCRIBED[self.family])


_DESCRIBED = {
    Family.NUMBER: (OracleType.NUMBER, 22, 0, -127),
    Family.DATE: (OracleType.DATE, 7, 0, 0),
    Family.TIMESTAMP: (OracleType.TIMESTAMP, 11, 0, 6),
    Family.TIMESTAMP_TZ: (OracleType.TIMESTAMP_TZ, 13, 0, 6),
    Family.INTERVAL: (OracleType.INTERVAL_DS, 11, 9, 6),
    Family.BYTES: (OracleType.RAW, 4000, 0, -127),
}
"""Oracle's type, size, precision and scale of a column."""

WHOLE = ColumnKind(Family.NUMBER, "BIGINT")
DATE = ColumnKind(Family.DATE, "TIMESTAMP")
TIMESTAMP = ColumnKind(Family.TIMESTAMP, "TIMESTAMP")
TIMESTAMP_TZ = ColumnKind(Family.TIMESTAMP_TZ, "TIMESTAMP")
INTERVAL = ColumnKind(Family.INTERVAL, "INTERVAL")
BYTES = ColumnKind(Family.BYTES, "BLOB")
NULL = ColumnKind(Family.NULL, "VARCHAR", 1)
BOOLEAN = ColumnKind(Family.BOOLEAN, "BOOLEAN")


def number(scale: int) -> ColumnKind:
    """Return the type of a number with at most so many decimal places."""
    return ColumnKind(Family.NUMBER, f"DECIMAL(38,{scale})") if scale else WHOLE


def text(size: int) -> ColumnKind:
    """Return the type of a VARCHAR2 of that size."""
    return ColumnKind(Family.TEXT, "VARCHAR", size)


def common(kinds: Iterable[ColumnKind]) -> ColumnKind:
    """Return the common type of all these, for CASE and UNION. Raises ORA-00932 when there is none."""
    found = NULL
    for kind in kinds:
        if found.family is Family.NULL or (found.family is kind.family and found.size < kind.size):
            found = kind
        elif kind.family not in (found.family, Family.NULL):
            raise oracle_error(932, found.family.value, kind.family.value)
    return found


def kind_of(value: Any) -> ColumnKind:
    """Return the type of a bind, from its value.

    A time without fractions of a second is a DATE. Raises ORA-00932 for others.
    """
    if isinstance(value, bool | int):
        return WHOLE if abs(value) < 2**63 else ColumnKind(Family.NUMBER, "HUGEINT")
    if isinstance(value, float | Decimal):
        exponent = Decimal(repr(value) if isinstance(value, float) else value).as_tuple().exponent
        if isinstance(exponent, int) and exponent >= -18:
            return ColumnKind(Family.NUMBER, f"DECIMAL(38,{max(0, -exponent)})")
        return ColumnKind(Family.NUMBER, "DOUBLE")
    if isinstance(value, datetime):
        return TIMESTAMP if value.microsecond else DATE
    for type_, kind in ((timedelta, INTERVAL), (bytes, BYTES), (str, text(4000))):
        if isinstance(value, type_):
            return kind if value != "" else NULL
    if value is None:
        return NULL
    raise oracle_error(932, "NUMBER", type(value).__name__.upper())
