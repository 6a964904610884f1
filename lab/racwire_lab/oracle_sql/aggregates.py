"""Aggregates and window functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from racwire_lab.oracle_sql import arithmetic
from racwire_lab.oracle_sql.errors import not_supported, oracle_error
from racwire_lab.oracle_sql.kinds import FLOAT, TEXT, WHOLE, Code, Family
from racwire_lab.oracle_sql.parsing import offset_of

if TYPE_CHECKING:
    from racwire_lab.oracle_sql.expressions import Expressions

_STATISTICS = {
    "STDDEV": "stddev_samp",
    "STDDEV_SAMP": "stddev_samp",
    "STDDEV_POP": "stddev_pop",
    "VARIANCE": "var_samp",
    "VAR_SAMP": "var_samp",
    "VAR_POP": "var_pop",
}
_AGGREGATES = frozenset({"COUNT", "SUM", "AVG", "MIN", "MAX", "MEDIAN", *_STATISTICS})
_NUMBERED = {"ROW_NUMBER": WHOLE, "RANK": WHOLE, "DENSE_RANK": WHOLE, "PERCENT_RANK": FLOAT, "CUME_DIST": FLOAT}
_NEIGHBOURS = frozenset({"LAG", "LEAD", "FIRST_VALUE", "LAST_VALUE", "NTH_VALUE"})
_NO_WINDOWS = frozenset({"WHERE", "ON", "GROUP BY", "HAVING"})
_NO_AGGREGATES = frozenset({"WHERE", "ON", "GROUP BY"})


def is_aggregate(node: exp.Expr) -> bool:
    """Whether it is a function over many rows."""
    return isinstance(node, exp.GroupConcat | exp.WithinGroup) or (
        isinstance(node, exp.Anonymous) and str(node.this).upper() in _AGGREGATES
    )


def aggregate(expressions: Expressions, node: exp.Expr, over: str) -> Code:
    """An aggregate, or with `over` the same of a window."""
    if not over and expressions.clause in _NO_AGGREGATES:
        raise oracle_error(934, offset=offset_of(node))
    if isinstance(node, exp.GroupConcat):
        return _listagg(expressions, node, over)
    if isinstance(node, exp.WithinGroup):
        return _percentile(expressions, node, over)
    name = str(node.this).upper()
    arguments = node.expressions
    if len(arguments) != 1:
        raise oracle_error(909, offset=offset_of(node))
    argument, distinct = arguments[0], ""
    if isinstance(argument, exp.Distinct):
        if len(argument.expressions) != 1:
            raise oracle_error(909, offset=offset_of(node))
        argument, distinct = argument.expressions[0], "DISTINCT "
    if name == "COUNT":
        counted = "*" if isinstance(argument, exp.Star) else f"{distinct}{expressions.value(argument).sql}"
        return Code(f"count({counted}){over}", WHOLE)
    value = expressions.value(argument)
    if name in ("MIN", "MAX"):
        return Code(f"{name.lower()}({value.sql}){over}", value.kind)
    if value.kind.family is Family.INTERVAL:
        raise oracle_error(932, Family.NUMBER.value, value.kind.family.value, offset=offset_of(node))
    value = arithmetic.to_number(value)
    if name in _STATISTICS:
        return Code(f"{_STATISTICS[name]}({distinct}CAST({value.sql} AS DOUBLE)){over}", FLOAT)
    if name == "MEDIAN":
        return Code(f"median(CAST({value.sql} AS DOUBLE)){over}", FLOAT)
    total = Code(f"CAST(sum({distinct}{value.sql}){over} AS {value.kind.duck})", value.kind)
    if name == "SUM":
        return total
    return arithmetic.divide(total, Code(f"NULLIF(count({distinct}{value.sql}){over}, 0)", WHOLE))


def _listagg(expressions: Expressions, node: exp.Expr, over: str) -> Code:
    ordered = node.this
    listed = ordered.this if isinstance(ordered, exp.Order) else ordered
    if isinstance(listed, exp.Distinct) or node.args.get("on_overflow"):
        raise not_supported("this form of LISTAGG", offset_of(node))
    separator = node.args.get("separator")
    between = expressions.value(separator).sql if separator is not None else "''"
    between = "''" if between == "NULL" else between
    order = f" {order_by(expressions, ordered)}" if isinstance(ordered, exp.Order) else ""
    return Code(f"string_agg({arithmetic.to_text(expressions.value(listed)).sql}, {between}{order}){over}", TEXT)


def _percentile(expressions: Expressions, node: exp.Expr, over: str) -> Code:
    function, order = node.this, node.expression
    if not isinstance(function, exp.Anonymous) or not isinstance(order, exp.Order) or len(order.expressions) != 1:
        raise not_supported("this form of WITHIN GROUP", offset_of(node))
    names = {"PERCENTILE_CONT": "quantile_cont", "PERCENTILE_DISC": "quantile_disc"}
    name, by = names.get(str(function.this).upper()), order.expressions[0]
    if name is None or by.args.get("desc"):
        raise not_supported("this form of WITHIN GROUP", offset_of(node))
    value = arithmetic.to_number(expressions.value(by.this))
    share = expressions.value(function.expressions[0]).sql
    measured = f"CAST({value.sql} AS DOUBLE)" if name == "quantile_cont" else value.sql
    return Code(f"{name}({measured}, {share}){over}", FLOAT if name == "quantile_cont" else value.kind)


def order_by(expressions: Expressions, order: exp.Expr) -> str:
    """`ORDER BY ...`, NULL being larger than everything, as in Oracle."""
    keys = []
    for key in order.expressions:
        direction = "DESC" if key.args.get("desc") else "ASC"
        nulls = "FIRST" if key.args.get("nulls_first") else "LAST"
        keys.append(f"{expressions.value(key.this).sql} {direction} NULLS {nulls}")
    return f"ORDER BY {', '.join(keys)}"


def window(expressions: Expressions, node: exp.Expr) -> Code:
    """A function with OVER (...)."""
    if node.args.get("over") != "OVER" or node.args.get("alias") is not None:
        raise not_supported("KEEP and named windows", offset_of(node))
    if expressions.clause in _NO_WINDOWS or expressions.clause == "OVER":
        raise oracle_error(30483, offset=offset_of(node))
    over = _over(expressions.within("OVER"), node)
    expressions = expressions.within("OVER")
    function, ignore_nulls = node.this, ""
    if isinstance(function, exp.IgnoreNulls | exp.RespectNulls):
        ignore_nulls = " IGNORE NULLS" if isinstance(function, exp.IgnoreNulls) else ""
        function = function.this
    if is_aggregate(function):
        return aggregate(expressions, function, over)
    name = str(function.this).upper() if isinstance(function, exp.Anonymous) else ""
    arguments = function.expressions
    if name in _NUMBERED:
        return Code(f"{name.lower()}(){over}", _NUMBERED[name])
    if name == "NTILE":
        return Code(f"ntile(CAST({expressions.value(arguments[0]).sql} AS BIGINT)){over}", WHOLE)
    if name == "RATIO_TO_REPORT":
        value = arithmetic.to_number(expressions.value(arguments[0]))
        return arithmetic.divide(
            value, Code(f"NULLIF(CAST(sum({value.sql}){over} AS {value.kind.duck}), 0)", value.kind)
        )
    if name not in _NEIGHBOURS:
        raise not_supported(f"{name or type(function).__name__} over a window", offset_of(node))
    return _neighbour(expressions, name, arguments, ignore_nulls, over)


def _neighbour(expressions: Expressions, name: str, arguments: list[exp.Expr], ignore_nulls: str, over: str) -> Code:
    first = arguments[0]
    if isinstance(first, exp.IgnoreNulls | exp.RespectNulls):
        ignore_nulls = " IGNORE NULLS" if isinstance(first, exp.IgnoreNulls) else ""
        first = first.this
    value = expressions.value(first)
    rest = [expressions.value(argument) for argument in arguments[1:]]
    written = ""
    if name in ("LAG", "LEAD", "NTH_VALUE") and rest:
        written = f", CAST({rest[0].sql} AS BIGINT)"
        if len(rest) == 2:
            (value, default), _ = arithmetic.as_first([value, rest[1]])
            written += f", {default.sql}"
    elif name == "NTH_VALUE":
        raise oracle_error(909)
    return Code(f"{name.lower()}({value.sql}{written}{ignore_nulls}){over}", value.kind)


def _over(expressions: Expressions, node: exp.Expr) -> str:
    parts = []
    if partition := node.args.get("partition_by"):
        parts.append("PARTITION BY " + ", ".join(expressions.value(by).sql for by in partition))
    if (order := node.args.get("order")) is not None:
        parts.append(order_by(expressions, order))
    if (spec := node.args.get("spec")) is not None:
        parts.append(_frame(expressions, spec))
    return f" OVER ({' '.join(parts)})"


def _frame(expressions: Expressions, spec: exp.Expr) -> str:
    kind = str(spec.args.get("kind") or "").upper()
    if kind not in ("ROWS", "RANGE") or spec.args.get("exclude"):
        raise not_supported("this frame of a window")

    def edge(value: exp.Expr | str | None, side: str | None) -> str:
        if value is None:
            return "CURRENT ROW"
        if isinstance(value, str):
            return f"{value.upper()} {(side or '').upper()}".strip()
        code = expressions.value(value)
        if code.kind.family is Family.INTERVAL:
            return f"to_microseconds({code.sql}) {(side or '').upper()}"
        if kind == "RANGE" and not code.kind.is_whole:
            raise not_supported("this frame of a window")
        return f"{code.sql if kind == 'RANGE' else f'CAST({code.sql} AS BIGINT)'} {(side or '').upper()}"

    start = edge(spec.args.get("start"), spec.args.get("start_side"))
    end = edge(spec.args.get("end"), spec.args.get("end_side"))
    return f"{kind} BETWEEN {start} AND {end}"
