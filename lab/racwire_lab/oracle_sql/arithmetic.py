"""Sums, products, quotients and comparisons, of numbers and of times, as Oracle does them."""

from __future__ import annotations

from collections.abc import Callable

from racwire_lab.oracle_sql.errors import not_supported, oracle_error
from racwire_lab.oracle_sql.kinds import (
    BOOLEAN,
    DATE,
    FLOAT,
    INTERVAL,
    MAX_SCALE,
    TEXT,
    WHOLE,
    Code,
    Family,
    Kind,
    common,
    number,
)

_DAY_US = 86_400_000_000


def to_number(code: Code) -> Code:
    """As a number: text is converted, as Oracle does where a number is wanted. Raises ORA-00932."""
    if code.kind.family is Family.NUMBER:
        return code
    if code.kind.family is Family.NULL:
        return code.to(WHOLE)
    if code.kind.family is Family.TEXT:
        return Code(f"ora_to_number({code.sql})", number(MAX_SCALE))
    raise oracle_error(932, Family.NUMBER.value, code.kind.family.value)


def to_text(code: Code) -> Code:
    """As text: numbers as TO_CHAR gives them. Times have no format of their own here."""
    if code.kind.family in (Family.TEXT, Family.NULL):
        return code.to(TEXT) if code.kind.family is Family.NULL else code
    if code.kind.family is Family.NUMBER:
        if code.kind.is_whole:
            return Code(f"CAST({code.sql} AS VARCHAR)", TEXT)
        decimal = code.sql if code.kind.scale is not None else f"CAST({code.sql} AS DECIMAL(38,12))"
        return Code(f"ora_number_text({decimal})", TEXT)
    raise not_supported(f"{code.kind.family.value} as text without TO_CHAR and a format")


def add(left: Code, right: Code, sign: str) -> Code:
    """`left + right` or `left - right`. Raises ORA-00932."""
    if left.kind.is_time or right.kind.is_time:
        return _times(left, right, sign)
    if Family.INTERVAL in (left.kind.family, right.kind.family):
        if {left.kind.family, right.kind.family} <= {Family.INTERVAL, Family.NULL}:
            return Code(f"({left.to(INTERVAL).sql} {sign} {right.to(INTERVAL).sql})", INTERVAL)
        raise oracle_error(932, Family.INTERVAL.value, _other(left, right).value)
    left, right = to_number(left), to_number(right)
    kind = common([left.kind, right.kind]) or WHOLE
    return Code(f"({_as(left, kind)} {sign} {_as(right, kind)})", kind)


def _as(code: Code, kind: Kind) -> str:
    return f"CAST({code.sql} AS {kind.duck})"


def _other(left: Code, right: Code) -> Family:
    return right.kind.family if left.kind.family is Family.INTERVAL else left.kind.family


def _times(left: Code, right: Code, sign: str) -> Code:
    if left.kind.is_time and right.kind.is_time:
        if sign == "+":
            raise oracle_error(932, Family.NUMBER.value, right.kind.family.value)
        microseconds = f"(epoch_us({left.sql}) - epoch_us({right.sql}))"
        if left.kind.family is Family.DATE and right.kind.family is Family.DATE:
            return divide(Code(f"({microseconds} // 1000000)", WHOLE), Code("86400", WHOLE))
        return Code(microseconds, INTERVAL)
    if not left.kind.is_time:
        if sign == "-":
            raise oracle_error(932, Family.NUMBER.value, right.kind.family.value)
        left, right = right, left
    minus = "-" if sign == "-" else ""
    if right.kind.family is Family.INTERVAL:
        moved = f"ora_add({left.sql}, {minus}{right.sql})"
        if left.kind.family is Family.DATE:
            return Code(f"date_trunc('second', {moved})", DATE)
        return Code(moved, left.kind)
    # A number of days makes a DATE of a TIMESTAMP too.
    start = left.sql if left.kind.family is Family.DATE else f"date_trunc('second', {left.sql})"
    return Code(f"ora_add({start}, {minus}ora_days({to_number(right).sql}))", DATE)


def multiply(left: Code, right: Code) -> Code:
    """`left * right`; an interval times a number is an interval."""
    if Family.INTERVAL in (left.kind.family, right.kind.family):
        interval, factor = (left, right) if left.kind.family is Family.INTERVAL else (right, left)
        product = multiply(Code(interval.sql, WHOLE), to_number(factor))
        return Code(f"CAST({product.sql} AS BIGINT)", INTERVAL)
    left, right = to_number(left), to_number(right)
    if left.kind.scale is None or right.kind.scale is None:
        return Code(f"({_as(left, FLOAT)} * {_as(right, FLOAT)})", FLOAT)
    scale = left.kind.scale + right.kind.scale
    if scale <= MAX_SCALE:
        kind = number(scale)
        return Code(f"CAST({_as(left, left.kind)} * {_as(right, right.kind)} AS {kind.duck})", kind)
    shift = 10 ** (scale - MAX_SCALE)
    near = f"{_as(left, FLOAT)} * {_as(right, FLOAT)}"
    operands = f"{_digits(left)}, {_digits(right)}, CAST({shift} AS HUGEINT), {near}"
    return Code(f"ora_decimal_mul({operands})", number(MAX_SCALE))


def _digits(code: Code) -> str:
    return code.whole if code.kind.is_whole else f"ora_digits({code.sql})"


def divide(left: Code, right: Code) -> Code:
    """`left / right`, to 18 digits after the point, the last one rounded. Raises ORA-01476 when it runs."""
    if left.kind.family is Family.INTERVAL:
        quotient = divide(Code(left.sql, WHOLE), to_number(right))
        return Code(f"CAST(round({quotient.sql}) AS BIGINT)", INTERVAL)
    left, right = to_number(left), to_number(right)
    if left.kind.scale is None or right.kind.scale is None:
        return Code(f"ora_div_float({left.sql}, {right.sql})", FLOAT)
    kind = number(MAX_SCALE)
    shift = MAX_SCALE - left.kind.scale + right.kind.scale
    operands = f"{_digits(left)}, {_digits(right)}, CAST({10**shift} AS HUGEINT)"
    if right.kind.is_whole:
        return Code(f"ora_div({operands})", kind)
    near = f"ora_div_float({left.sql}, {right.sql})"
    return Code(f"ora_decimal_div({operands}, {near})", kind)


def negate(code: Code) -> Code:
    """`-code`."""
    if code.kind.family is Family.INTERVAL:
        return Code(f"(-{code.sql})", INTERVAL)
    code = to_number(code)
    return Code(f"(-{_as(code, code.kind)})", code.kind)


def alike(left: Code, right: Code) -> tuple[Code, Code]:
    """Both so that they can be compared. Raises ORA-00932."""
    families = {left.kind.family, right.kind.family} - {Family.NULL}
    if len(families) < 2 or (left.kind.is_time and right.kind.is_time):
        if families:
            kind = next(code.kind for code in (left, right) if code.kind.family is not Family.NULL)
            left = left.to(kind) if left.kind.family is Family.NULL else left
            right = right.to(kind) if right.kind.family is Family.NULL else right
        return left, right
    if families == {Family.NUMBER, Family.TEXT}:
        return to_number(left), to_number(right)
    if Family.TEXT in families and (left.kind.is_time or right.kind.is_time):
        raise not_supported("a time compared with text; convert it with TO_DATE or TO_TIMESTAMP and a format")
    raise oracle_error(932, left.kind.family.value, right.kind.family.value)


def compare(left: Code, right: Code, operator: str) -> Code:
    """`left = right` and the like."""
    left, right = alike(left, right)
    return Code(f"({left.sql} {operator} {right.sql})", BOOLEAN)


def unify(codes: list[Code]) -> tuple[list[Code], Kind]:
    """All of one kind, as the branches of CASE must be. Raises ORA-00932."""
    kind = common([code.kind for code in codes])
    if kind is None:
        first = next(code.kind for code in codes if code.kind.family is not Family.NULL)
        other = next(code.kind for code in codes if code.kind.family not in (first.family, Family.NULL))
        raise oracle_error(932, first.family.value, other.family.value)
    return [code.to(kind) for code in codes], kind


def as_first(codes: list[Code]) -> tuple[list[Code], Kind]:
    """All of the first one's kind, as NVL and DECODE convert them."""
    first = next((code.kind.family for code in codes if code.kind.family is not Family.NULL), Family.NULL)
    convert: dict[Family, Callable[[Code], Code]] = {Family.TEXT: to_text, Family.NUMBER: to_number}
    if first in convert:
        codes = [code if code.kind.family is Family.NULL else convert[first](code) for code in codes]
    return unify(codes)


def microseconds_of(unit: str) -> int:
    """How long a DAY, HOUR, MINUTE or SECOND is. Other units are not supported."""
    sizes = {"DAY": _DAY_US, "HOUR": 3_600_000_000, "MINUTE": 60_000_000, "SECOND": 1_000_000}
    if unit.upper() not in sizes:
        raise not_supported(f"intervals of {unit}")
    return sizes[unit.upper()]
