"""Functions of times, TO_CHAR, and CAST."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from racwire_lab.oracle_sql.arithmetic import microseconds_of, multiply, to_number, to_text
from racwire_lab.oracle_sql.errors import not_supported, oracle_error
from racwire_lab.oracle_sql.formats import NUMBER_FORMAT, TRUNCATED_TO, strftime
from racwire_lab.oracle_sql.functions_of_numbers import exactly, round_number, shortened
from racwire_lab.oracle_sql.kinds import DATE, FLOAT, INTERVAL, TEXT, TIMESTAMP, WHOLE, Code, Family, Kind, number, text


def literal_value(code: Code) -> str | None:
    """The text of a literal; None for anything else."""
    if code.kind.family is Family.TEXT and code.sql.startswith("'") and code.sql.endswith("'"):
        return code.sql[1:-1].replace("''", "'")
    return None


def literal_format(code: Code) -> str:
    """A format, which has to be a literal."""
    written = literal_value(code)
    if written is None:
        raise not_supported("a format that is no literal")
    return written


def to_char(value: Code, format_: Code | None = None) -> Code:
    """TO_CHAR of a time with a format, or of a number with or without."""
    if value.kind.is_time:
        if format_ is None:
            raise not_supported("TO_CHAR of a time without a format, which depends on NLS_DATE_FORMAT")
        pattern, case = strftime(literal_format(format_))
        written = f"strftime({value.sql}, '{pattern}')"
        return Code(f"{case}({written})" if case else written, TEXT)
    if value.kind.family is Family.INTERVAL:
        raise not_supported("TO_CHAR of an interval")
    if format_ is None:
        return to_text(value)
    matched = NUMBER_FORMAT.fullmatch(literal_format(format_))
    if matched is None or not matched[1] or "," in matched[2]:
        raise not_supported("this format of TO_CHAR; known are those like FM999990.00")
    return _formatted(to_number(value), matched[2], matched[4] or "")


def _formatted(value: Code, whole: str, fraction: str) -> Code:
    digits = len(fraction)
    rounded = shortened("round", exactly(value), Code(str(digits), WHOLE)).to(number(digits)).sql
    too_long = f"abs({rounded}) >= CAST('{10 ** len(whole)}' AS DECIMAL(38,0))"
    least = len(whole) - whole.index("0") if "0" in whole else 0
    written = f"CAST(abs({rounded}) AS VARCHAR)"
    shown = f"CASE WHEN {rounded} < 0 THEN '-' ELSE '' END"
    shown += f" || ora_whole_digits(split_part({written}, '.', 1), {least})"
    if digits:
        kept = fraction.rindex("0") + 1 if "0" in fraction else 0
        after = f"split_part({written}, '.', 2)"
        shown += f" || '.' || left({after}, {kept}) || rtrim(substring({after}, {kept + 1}), '0')"
    return Code(f"CASE WHEN {too_long} THEN '{'#' * (len(whole) + digits + 1)}' ELSE {shown} END", TEXT)


def _to_time(kind: Kind) -> Callable[..., Code]:
    def translate(value: Code, format_: Code | None = None) -> Code:
        if value.kind.is_time:
            return as_time(value, kind)
        if format_ is None:
            raise not_supported("TO_DATE and TO_TIMESTAMP without a format, which depend on the session's settings")
        pattern, _ = strftime(literal_format(format_), reading=True)
        return Code(f"ora_parse({to_text(value).sql}, '{pattern}')", kind)

    return translate


def as_time(value: Code, kind: Kind) -> Code:
    """A time as another kind of time: a DATE has no fractions of seconds."""
    if kind.family is Family.DATE and value.kind.family is not Family.DATE:
        return Code(f"date_trunc('second', {value.sql})", DATE)
    return Code(value.sql, kind)


def cast(value: Code, to: exp.DataType) -> Code:
    """CAST(value AS NUMBER(10,2)), VARCHAR2(30), TIMESTAMP, DATE, BINARY_DOUBLE."""
    sizes = [int(parameter.this.this) for parameter in to.expressions if isinstance(parameter.this, exp.Literal)]
    name = to.this.value if isinstance(to.this, exp.DType) else str(to.this)
    if value.kind.family is Family.NULL:
        targets = {"DATE": DATE, "TIMESTAMP": TIMESTAMP, "VARCHAR": TEXT}
        return value.to(targets.get(name, WHOLE))
    if name in ("DECIMAL", "INT", "BIGINT", "SMALLINT"):
        numeric = to_number(value)
        if name == "DECIMAL" and not sizes:
            return numeric
        return round_number(numeric, Code(str(sizes[1] if len(sizes) > 1 else 0), WHOLE))
    if name in ("DOUBLE", "FLOAT"):
        return to_number(value).to(FLOAT)
    if name in ("VARCHAR", "NVARCHAR"):
        size = sizes[0] if sizes else 4000
        return Code(f"left({to_text(value).sql}, {size})", text(size))
    if name in ("TIMESTAMP", "DATE", "TIMESTAMPNTZ") and value.kind.is_time:
        return as_time(value, DATE if name == "DATE" else TIMESTAMP)
    raise not_supported(f"CAST AS {name} of {value.kind.family.value}")


def truncated(value: Code, unit: Code) -> Code:
    """TRUNC of a time to a unit."""
    name = literal_format(unit).upper()
    if name not in TRUNCATED_TO:
        raise not_supported(f"TRUNC of a time to {name}")
    return Code(f"CAST(date_trunc('{TRUNCATED_TO[name]}', {value.sql}) AS TIMESTAMP)", DATE)


def _numtodsinterval(amount: Code, unit: Code) -> Code:
    name = literal_format(unit).upper()
    size = Code(f"CAST({microseconds_of(name)} AS HUGEINT)", WHOLE)
    return Code(f"CAST(round({multiply(to_number(amount), size).sql}) AS BIGINT)", INTERVAL)


def _add_months(moment: Code, months: Code) -> Code:
    start = _date(moment)
    moved = f"({start} + to_months(CAST(trunc({to_number(months).sql}) AS INTEGER)))"
    # The last day of a month stays the last day.
    return Code(
        f"CASE WHEN CAST({start} AS DATE) = last_day({start}) THEN ora_month_end({moved}) ELSE {moved} END", DATE
    )


def _last_day(moment: Code) -> Code:
    return Code(f"ora_month_end({_date(moment)})", DATE)


def _date(moment: Code) -> str:
    if not moment.kind.is_time:
        raise oracle_error(932, Family.DATE.value, moment.kind.family.value)
    return as_time(moment, DATE).sql


TIME_FUNCTIONS: dict[str, tuple[int, int, Callable[..., Code]]] = {
    "ADD_MONTHS": (2, 2, _add_months),
    "LAST_DAY": (1, 1, _last_day),
    "NUMTODSINTERVAL": (2, 2, _numtodsinterval),
    "TO_CHAR": (1, 2, to_char),
    "TO_DATE": (1, 2, _to_time(DATE)),
    "TO_TIMESTAMP": (1, 2, _to_time(TIMESTAMP)),
}
"""How few and how many arguments each takes, and its translation."""
