"""Functions of numbers, by their Oracle names."""

from __future__ import annotations

from collections.abc import Callable

from racwire_lab.oracle_sql.arithmetic import divide, multiply, to_number, unify
from racwire_lab.oracle_sql.errors import not_supported
from racwire_lab.oracle_sql.kinds import FLOAT, WHOLE, Code, Kind, number


def _literal_places(code: Code) -> int | None:
    sql = code.sql.removeprefix("(-").removesuffix(")") if code.sql.startswith("(-") else code.sql
    sign = -1 if code.sql.startswith("(-") else 1
    while sql.startswith("CAST("):
        sql = sql.removeprefix("CAST(").rpartition(" AS ")[0]
    digits = sql.strip("'")
    return sign * int(digits) if digits.isdigit() else None


def round_number(value: Code, digits: Code | None = None) -> Code:
    """ROUND of a number, half away from zero."""
    if value.kind.is_time:
        raise not_supported("ROUND of a time")
    return shortened("round", to_number(value), digits)


def shortened(function: str, value: Code, digits: Code | None) -> Code:
    """`round` or `trunc` to a number of digits, which may be negative."""
    places = 0 if digits is None else _literal_places(digits)
    if places is None:
        raise not_supported(f"{function.upper()} to a number of digits that is no literal")
    if value.kind.scale is not None and 0 <= value.kind.scale <= places:
        return value
    exact = exactly(value)
    if places < 0:
        size = Code(f"CAST('{10**-places}' AS HUGEINT)", WHOLE)
        return multiply(shortened(function, divide(exact, size), None), size)
    kind = number(places)
    return Code(f"CAST({function}({exact.sql}, {places}) AS {kind.duck})", kind)


def exactly(value: Code) -> Code:
    """A number as a decimal, also one that is held as DOUBLE: so that 1.005 is rounded as it is written."""
    if value.kind.scale is not None:
        return value
    kind = Kind(value.kind.family, 12)
    return Code(f"CAST({value.sql} AS {kind.duck})", kind)


def _to_whole(function: str) -> Callable[..., Code]:
    def translate(value: Code) -> Code:
        value = to_number(value)
        if value.kind.is_whole:
            return value
        return Code(f"CAST({function}({exactly(value).sql}) AS HUGEINT)", WHOLE)

    return translate


def _mod(value: Code, divisor: Code) -> Code:
    codes, kind = unify([to_number(value), to_number(divisor)])
    return Code(f"ora_mod({codes[0].sql}, {codes[1].sql})", kind)


def _float(function: str) -> Callable[..., Code]:
    def translate(*arguments: Code) -> Code:
        given = ", ".join(to_number(argument).to(FLOAT).sql for argument in arguments)
        return Code(f"{function}({given})", FLOAT)

    return translate


def _abs(value: Code) -> Code:
    value = to_number(value)
    return Code(f"abs({value.sql})", value.kind)


def _sign(value: Code) -> Code:
    return Code(f"CAST(sign({to_number(value).sql}) AS HUGEINT)", WHOLE)


NUMBER_FUNCTIONS: dict[str, tuple[int, int, Callable[..., Code]]] = {
    "ABS": (1, 1, _abs),
    "CEIL": (1, 1, _to_whole("ceil")),
    "EXP": (1, 1, _float("exp")),
    "FLOOR": (1, 1, _to_whole("floor")),
    "LN": (1, 1, _float("ln")),
    "LOG": (2, 2, _float("log")),
    "MOD": (2, 2, _mod),
    "POWER": (2, 2, _float("pow")),
    "ROUND": (1, 2, round_number),
    "SIGN": (1, 1, _sign),
    "SQRT": (1, 1, _float("sqrt")),
    "TO_NUMBER": (1, 1, to_number),
}
"""How few and how many arguments each takes, and its translation."""
