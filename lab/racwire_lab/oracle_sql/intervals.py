"""Literals of times and intervals, and EXTRACT."""

from __future__ import annotations

import re
from datetime import datetime

from sqlglot import exp

from racwire_lab.oracle_sql.arithmetic import microseconds_of
from racwire_lab.oracle_sql.errors import not_supported, oracle_error
from racwire_lab.oracle_sql.kinds import INTERVAL, WHOLE, Code, Family, Kind, number

_UNITS = ("DAY", "HOUR", "MINUTE", "SECOND")


def literal(node: exp.Expr) -> Code:
    """`INTERVAL '7' DAY`, `INTERVAL '1 02:03:04.5' DAY TO SECOND`."""
    unit = node.args.get("unit")
    if not isinstance(node.this, exp.Literal) or unit is None:
        raise oracle_error(936)
    written = str(node.this.this)
    if isinstance(unit, exp.IntervalSpan):
        return Code(str(_span(written, unit.this.name.upper(), unit.expression.name.upper())), INTERVAL)
    return Code(str(_single(written, unit.name.upper())), INTERVAL)


def _single(written: str, unit: str) -> int:
    size = microseconds_of(unit)
    if not re.fullmatch(r"[+-]?\d+" + (r"(\.\d+)?" if unit == "SECOND" else ""), written.strip()):
        raise oracle_error(1867)
    return round(float(written) * size) if "." in written else int(written) * size


def _span(written: str, first: str, last: str) -> int:
    if first not in _UNITS or last not in _UNITS or _UNITS.index(first) >= _UNITS.index(last):
        raise not_supported(f"intervals of {first} TO {last}")
    wanted = _UNITS[_UNITS.index(first) : _UNITS.index(last) + 1]
    body = written.strip()
    sign = -1 if body.startswith("-") else 1
    parts = re.split(r"[ :]", body.lstrip("+-"))
    if len(parts) != len(wanted):
        raise oracle_error(1867)
    return sign * sum(_single(part, unit) for part, unit in zip(parts, wanted, strict=True))


def time_literal(written: str, kind: Kind) -> Code:
    """`DATE '2026-01-15'`, `TIMESTAMP '2026-01-15 12:00:00.5'`."""
    try:
        moment = datetime.fromisoformat(written.strip())
    except ValueError:
        raise oracle_error(1861) from None
    if moment.tzinfo is not None:
        raise not_supported("a time literal with a zone")
    return Code(f"TIMESTAMP '{moment.isoformat(sep=' ')}'", kind)


def extract(field: str, code: Code) -> Code:
    """EXTRACT(field FROM an interval or a time). Raises ORA-30076 for a field that it has not."""
    field = field.upper()
    if code.kind.family is Family.INTERVAL:
        if field not in _UNITS:
            raise oracle_error(30076)
        size = microseconds_of(field)
        if field == "DAY":
            return Code(f"({code.sql} // {size})", WHOLE)
        within = microseconds_of(_UNITS[_UNITS.index(field) - 1])
        if field == "SECOND":
            return Code(f"({code.sql} % {within}) * CAST('0.000001' AS DECIMAL(38,6))", number(6))
        return Code(f"(({code.sql} % {within}) // {size})", WHOLE)
    if not code.kind.is_time:
        raise oracle_error(30076)
    if field in ("YEAR", "MONTH", "DAY"):
        return Code(f"{field.lower()}({code.sql})", WHOLE)
    if code.kind.family is Family.DATE or field not in _UNITS:
        raise oracle_error(30076)
    if field == "SECOND":
        return Code(f"((epoch_us({code.sql}) % 60000000) * CAST('0.000001' AS DECIMAL(38,6)))", number(6))
    return Code(f"{field.lower()}({code.sql})", WHOLE)
