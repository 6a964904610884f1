"""The types of columns and expressions: what Oracle calls them, and how DuckDB holds them.

A NUMBER is a BIGINT, HUGEINT, DECIMAL or DOUBLE; a VARCHAR2 is never the empty string, which is NULL; DATE and both
kinds of TIMESTAMP are a TIMESTAMP of DuckDB in the host's zone, a DATE one of whole seconds.
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
    """The families of types, by the name that ORA-00932 gives them."""

    NUMBER = "NUMBER"
    TEXT = "CHAR"
    DATE = "DATE"
    TIMESTAMP = "TIMESTAMP"
    TIMESTAMP_TZ = "TIMESTAMP WITH TIME ZONE"
    INTERVAL = "INTERVAL DAY TO SECOND"
    BYTES = "BINARY"
    NULL = "NULL"
    """The literal NULL: goes with all others."""
    BOOLEAN = "BOOLEAN"
    """A condition, which is no value in Oracle SQL."""


@dataclass(frozen=True)
class ColumnKind:
    """The type of a column or an expression."""

    family: Family
    duck: str
    """How a column of a table or a bind of it is held."""
    size: int = 4000
    """Of a text, in bytes."""

    @property
    def is_time(self) -> bool:
        """A point in time."""
        return self.family in (Family.DATE, Family.TIMESTAMP, Family.TIMESTAMP_TZ)

    def column(self, name: str) -> Column:
        """How a column of this type in a result is described to the client."""
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
"""Oracle's type, its size, precision and scale."""

WHOLE = ColumnKind(Family.NUMBER, "BIGINT")
DATE = ColumnKind(Family.DATE, "TIMESTAMP")
TIMESTAMP = ColumnKind(Family.TIMESTAMP, "TIMESTAMP")
TIMESTAMP_TZ = ColumnKind(Family.TIMESTAMP_TZ, "TIMESTAMP")
INTERVAL = ColumnKind(Family.INTERVAL, "INTERVAL")
BYTES = ColumnKind(Family.BYTES, "BLOB")
NULL = ColumnKind(Family.NULL, "VARCHAR", 1)
BOOLEAN = ColumnKind(Family.BOOLEAN, "BOOLEAN")


def number(scale: int) -> ColumnKind:
    """A number with at most so many digits after the point."""
    return ColumnKind(Family.NUMBER, f"DECIMAL(38,{scale})") if scale else WHOLE


def text(size: int) -> ColumnKind:
    """A VARCHAR2 of that size."""
    return ColumnKind(Family.TEXT, "VARCHAR", size)


def common(kinds: Iterable[ColumnKind]) -> ColumnKind:
    """The type that takes all of these, as CASE and UNION need it. Raises ORA-00932 where there is none."""
    found = NULL
    for kind in kinds:
        if found.family is Family.NULL or (found.family is kind.family and found.size < kind.size):
            found = kind
        elif kind.family not in (found.family, Family.NULL):
            raise oracle_error(932, found.family.value, kind.family.value)
    return found


def kind_of(value: Any) -> ColumnKind:
    """The type of a bind, from its value. A time without fractions of seconds counts as a DATE."""
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
