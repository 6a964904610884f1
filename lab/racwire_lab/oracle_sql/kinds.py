"""The types of expressions: what Oracle would call them, and how DuckDB holds them.

| Oracle                  | DuckDB                                                                                    |
|-------------------------|-------------------------------------------------------------------------------------------|
| NUMBER, whole           | HUGEINT (columns of tables: BIGINT)                                                       |
| NUMBER with decimals    | DECIMAL(38, scale), the scale up to 18; DOUBLE for what has no end: SQRT, LN, STDDEV      |
| VARCHAR2                | VARCHAR, never the empty string, which is NULL                                            |
| DATE                    | TIMESTAMP of whole seconds                                                                |
| TIMESTAMP               | TIMESTAMP, to the microsecond; with a time zone: the same, in the host's zone             |
| INTERVAL DAY TO SECOND  | BIGINT, microseconds                                                                      |
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from racwire_lab.database.backend import OracleType

MAX_SCALE = 18
"""Digits after the point that a division gives."""


class Family(Enum):
    """The families of types between which Oracle tells."""

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
class Kind:
    """The type of an expression."""

    family: Family
    scale: int | None = 0
    """Of a number: digits after the point; None for one that is held as DOUBLE."""
    size: int = 4000
    """Of a text, in bytes."""

    @property
    def is_time(self) -> bool:
        """A point in time."""
        return self.family in (Family.DATE, Family.TIMESTAMP, Family.TIMESTAMP_TZ)

    @property
    def is_whole(self) -> bool:
        """A number without decimals."""
        return self.family is Family.NUMBER and self.scale == 0

    @property
    def duck(self) -> str:
        """DuckDB's type."""
        if self.family is Family.NUMBER:
            if self.scale is None:
                return "DOUBLE"
            return f"DECIMAL(38,{self.scale})" if self.scale else "HUGEINT"
        return _DUCK[self.family]

    @property
    def oracle(self) -> OracleType:
        """The type that the client is told."""
        return _ORACLE[self.family]


_DUCK = {
    Family.TEXT: "VARCHAR",
    Family.DATE: "TIMESTAMP",
    Family.TIMESTAMP: "TIMESTAMP",
    Family.TIMESTAMP_TZ: "TIMESTAMP",
    Family.INTERVAL: "BIGINT",
    Family.BYTES: "BLOB",
    Family.NULL: "VARCHAR",
    Family.BOOLEAN: "BOOLEAN",
}
_ORACLE = {
    Family.NUMBER: OracleType.NUMBER,
    Family.TEXT: OracleType.VARCHAR2,
    Family.DATE: OracleType.DATE,
    Family.TIMESTAMP: OracleType.TIMESTAMP,
    Family.TIMESTAMP_TZ: OracleType.TIMESTAMP_TZ,
    Family.INTERVAL: OracleType.INTERVAL_DS,
    Family.BYTES: OracleType.RAW,
    Family.NULL: OracleType.VARCHAR2,
}

WHOLE = Kind(Family.NUMBER)
FLOAT = Kind(Family.NUMBER, None)
TEXT = Kind(Family.TEXT)
DATE = Kind(Family.DATE)
TIMESTAMP = Kind(Family.TIMESTAMP)
TIMESTAMP_TZ = Kind(Family.TIMESTAMP_TZ)
INTERVAL = Kind(Family.INTERVAL)
BYTES = Kind(Family.BYTES)
NULL = Kind(Family.NULL)
BOOLEAN = Kind(Family.BOOLEAN)


def number(scale: int) -> Kind:
    """A number with so many digits after the point, at most `MAX_SCALE`."""
    return Kind(Family.NUMBER, min(scale, MAX_SCALE))


def text(size: int) -> Kind:
    """A VARCHAR2 of that size."""
    return Kind(Family.TEXT, size=size)


@dataclass(frozen=True)
class Code:
    """An expression in DuckDB's words, and its type."""

    sql: str
    kind: Kind

    @property
    def whole(self) -> str:
        """A whole number so wide that sums and products of it do not overflow."""
        return f"CAST({self.sql} AS HUGEINT)"

    def to(self, kind: Kind) -> Code:
        """The same as that kind: for NULL, and numbers held in another way."""
        if self.kind.family is Family.NULL:
            return Code(f"CAST({self.sql} AS {kind.duck})", kind)
        if self.kind.family is Family.NUMBER and kind.family is Family.NUMBER and self.kind.scale != kind.scale:
            return Code(f"CAST({self.sql} AS {kind.duck})", kind)
        return replace(self, kind=kind)


def common(kinds: list[Kind]) -> Kind | None:
    """The kind that takes them all, as CASE and UNION need it; None where there is none."""
    given = [kind for kind in kinds if kind.family is not Family.NULL]
    if not given:
        return NULL
    families = {kind.family for kind in given}
    if families == {Family.NUMBER}:
        if any(kind.scale is None for kind in given):
            return FLOAT
        return number(max(kind.scale or 0 for kind in given))
    if families == {Family.TEXT}:
        return text(max(kind.size for kind in given))
    if len(families) == 1:
        return given[0]
    if all(kind.is_time for kind in given):
        return TIMESTAMP_TZ if Family.TIMESTAMP_TZ in families else TIMESTAMP
    return None
