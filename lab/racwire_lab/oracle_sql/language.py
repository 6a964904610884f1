"""The Oracle SQL that the practice database supports: each construct, its parts, and its type.

These are the constructs that racwire sends, and some that a person types in a session. A construct that is not in
`KNOWN` is refused, so that no statement gets another answer than from Oracle.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from racwire_lab.database.backend import OracleError
from racwire_lab.oracle_sql.errors import not_supported, oracle_error
from racwire_lab.oracle_sql.kinds import BOOLEAN, INTERVAL, NULL, TIMESTAMP, WHOLE, ColumnKind, Family, common, text

UNITS_US = {"DAY": 86_400_000_000, "HOUR": 3_600_000_000, "MINUTE": 60_000_000, "SECOND": 1_000_000}
"""The units of intervals, in microseconds."""

_KIND = "kind"
TypeRule = Callable[[exp.Expr], ColumnKind | None]


@dataclass(frozen=True)
class Construct:
    """A kind of node of the syntax tree: the parts that it may have, and the rule for its type."""

    parts: frozenset[str]
    rule: TypeRule | None = None
    """Sets the type of a node whose parts have their types. Raises OracleError when the types do not match."""


def kind_in(node: exp.Expr) -> ColumnKind:
    """Return the type of a node. Raises ORA-00936 for a node without a type: it is not an expression."""
    kind: ColumnKind | None = node.meta.get(_KIND)
    if kind is None:
        raise oracle_error(936, offset=offset_of(node))
    return kind


def set_kind(node: exp.Expr, kind: ColumnKind) -> None:
    """Set the type of a node."""
    node.meta[_KIND] = kind


def offset_of(node: exp.Expr) -> int:
    """Return the position of the node in the text; 0 when it is unknown."""
    return min((part.meta["start"] for part in node.walk() if "start" in part.meta), default=0)


def construct_of(node: exp.Expr) -> Construct:
    """Return the construct of a node. Raises OracleError for an unsupported construct or part."""
    known = KNOWN.get(type(node))
    construct = re.sub(r"(?<!^)(?=[A-Z])", " ", type(node).__name__).upper()
    if known is None:
        raise not_supported(construct, offset_of(node))
    for part, value in node.args.items():
        if value and part not in known.parts:
            raise not_supported(f"{construct} with {part.rstrip('_').upper()}", offset_of(node))
    return known


def _mismatch(wanted: Family, kind: ColumnKind, node: exp.Expr) -> OracleError:
    return oracle_error(932, wanted.value, kind.family.value, offset=offset_of(node))


def _is_number(kind: ColumnKind) -> bool:
    return kind.family in (Family.NUMBER, Family.NULL)


def _value(node: exp.Expr) -> ColumnKind:
    """The type of a value. Raises ORA-00923 for a condition."""
    kind = kind_in(node)
    if kind.family is Family.BOOLEAN:
        raise oracle_error(923, offset=offset_of(node))
    return kind


def _number(node: exp.Expr) -> ColumnKind:
    kind = _value(node)
    if not _is_number(kind):
        raise _mismatch(Family.NUMBER, kind, node)
    return WHOLE


def _condition(node: exp.Expr) -> ColumnKind:
    """The type of a condition. Raises ORA-00920 for another expression."""
    if kind_in(node).family is not Family.BOOLEAN:
        raise oracle_error(920, offset=offset_of(node))
    return BOOLEAN


def _comparison(node: exp.Expr) -> ColumnKind:
    """All parts must be of one family, except times: Oracle converts text by the session's settings, or by its first
    part."""
    kinds = [_value(part) for part in node.iter_expressions()]
    if not all(kind.is_time or kind.family is Family.NULL for kind in kinds):
        common(kinds)
    return BOOLEAN


def _like(node: exp.Expr) -> ColumnKind:
    for part in (node.this, node.expression):
        if _value(part).family is not Family.TEXT:
            raise _mismatch(Family.TEXT, kind_in(part), part)
    return BOOLEAN


def _is_null(node: exp.Expr) -> ColumnKind:
    _value(node.this)
    if not isinstance(node.expression, exp.Null):
        raise oracle_error(920, offset=offset_of(node))
    return BOOLEAN


def _junction(node: exp.Expr) -> ColumnKind:
    for part in node.iter_expressions():
        _condition(part)
    return BOOLEAN


def _sum(node: exp.Expr) -> ColumnKind:
    """`+` and `-` of numbers, of intervals, and of a TIMESTAMP and an interval; `-` of two TIMESTAMPs."""
    left, right = _value(node.this), _value(node.expression)
    if _is_number(left) and _is_number(right):
        return WHOLE
    if Family.DATE in (left.family, right.family):
        raise not_supported("arithmetic with a DATE; CAST it AS TIMESTAMP", offset_of(node))
    if left.is_time and right.is_time and isinstance(node, exp.Sub):
        return INTERVAL
    if left.is_time and right.family is Family.INTERVAL:
        return left
    if left.family is right.family is Family.INTERVAL:
        return INTERVAL
    raise _mismatch(Family.NUMBER if _is_number(left) else Family.INTERVAL, right, node)


def _numbers(node: exp.Expr) -> ColumnKind:
    for part in node.iter_expressions():
        _number(part)
    return WHOLE


def _same(node: exp.Expr) -> ColumnKind:
    return kind_in(node.this)


def _of_value(node: exp.Expr) -> ColumnKind:
    return _value(node.this)


def _case(node: exp.Expr) -> ColumnKind:
    default = node.args.get("default")
    for branch in node.args["ifs"]:
        _condition(branch.this)
    results = [branch.args["true"] for branch in node.args["ifs"]]
    return common(_value(part) for part in (*results, *([default] if default else [])))


def _coalesce(node: exp.Expr) -> ColumnKind:
    return common(_value(part) for part in (node.this, *node.expressions))


def _cast(node: exp.Expr) -> ColumnKind:
    if not node.args["to"].is_type(exp.DType.TIMESTAMP) or node.args["to"].expressions:
        raise not_supported("CAST other than AS TIMESTAMP", offset_of(node))
    kind = _value(node.this)
    if not kind.is_time and kind.family is not Family.NULL:
        raise not_supported("CAST other than of a time", offset_of(node))
    return TIMESTAMP


def _extract(node: exp.Expr) -> ColumnKind:
    if node.this.name.upper() not in UNITS_US or kind_in(node.expression).family is not Family.INTERVAL:
        raise oracle_error(30076, offset=offset_of(node))
    return WHOLE


def _interval(node: exp.Expr) -> ColumnKind:
    unit = node.args.get("unit")
    if not isinstance(unit, exp.Var) or unit.name.upper() not in UNITS_US or not node.this.name.isdecimal():
        raise not_supported("this form of INTERVAL", offset_of(node))
    return INTERVAL


def _literal(node: exp.Expr) -> ColumnKind:
    if not node.args["is_string"]:
        return WHOLE
    return text(len(node.name.encode())) if node.name else NULL


def _count(node: exp.Expr) -> ColumnKind:
    if not isinstance(node.this, exp.Star | exp.Distinct):
        _value(node.this)
    return WHOLE


def _call(node: exp.Expr) -> ColumnKind:
    """NUMTODSINTERVAL, the only supported function that the parser does not know. Raises ORA-00904 for others."""
    name = str(node.this).upper()
    if name != "NUMTODSINTERVAL":
        raise oracle_error(904, f'"{name}"', offset=offset_of(node))
    amount, unit = node.expressions if len(node.expressions) == 2 else (None, None)
    if amount is None or not isinstance(unit, exp.Literal) or unit.name.upper() not in UNITS_US:
        raise not_supported("this form of NUMTODSINTERVAL", offset_of(node))
    _number(amount)
    return INTERVAL


def _distinct(node: exp.Expr) -> None:
    if len(node.expressions) > 1:
        raise oracle_error(909, offset=offset_of(node))
    for part in node.expressions:
        _value(part)


def _window(node: exp.Expr) -> ColumnKind:
    if not isinstance(node.this, exp.AggFunc | exp.RowNumber) or node.args.get("over") != "OVER":
        raise not_supported("this form of a window", offset_of(node))
    for part in node.args.get("partition_by") or ():
        _value(part)
    return kind_in(node.this)


def _in_a_window(node: exp.Expr) -> ColumnKind:
    if not isinstance(node.parent, exp.Window):
        raise oracle_error(30484, offset=offset_of(node))
    return _value(node.this) if node.this else WHOLE


def _join(node: exp.Expr) -> None:
    on, kind = node.args.get("on"), node.args.get("kind") or ""
    if kind not in ("", "INNER", "OUTER", "CROSS") or (on is None and (node.args.get("side") or kind == "INNER")):
        raise not_supported("this kind of join", offset_of(node))
    if on is not None:
        _condition(on)


def _subquery(node: exp.Expr) -> None:
    if not isinstance(node.parent, exp.From | exp.Join):
        raise not_supported("a subquery outside FROM and WITH", offset_of(node))


def _checked(check: Callable[[exp.Expr], ColumnKind]) -> TypeRule:
    """The rule of a clause: its only expression passes the check; the clause itself has no type."""

    def rule(node: exp.Expr) -> None:
        check(node.this)

    return rule


def _group(node: exp.Expr) -> None:
    for item in node.expressions:
        _value(item)


def _union(node: exp.Expr) -> None:
    left, right = node.this.selects, node.expression.selects
    if len(left) != len(right):
        raise oracle_error(1789, offset=offset_of(node))
    for one, other in zip(left, right, strict=True):
        kinds = [kind for kind in (kind_in(one), kind_in(other)) if kind.family is not Family.NULL]
        if len({kind.family for kind in kinds}) > 1:
            raise oracle_error(1790, offset=offset_of(node))
        set_kind(one, common(kinds))


def _parts(names: str) -> frozenset[str]:
    return frozenset(names.split())


_CLAUSES = "with_ expressions from_ joins where group having order limit distinct"

KNOWN: dict[type[exp.Expr], Construct] = {
    exp.Select: Construct(_parts(_CLAUSES)),
    exp.Union: Construct(_parts("this expression distinct with_ order limit"), _union),
    exp.With: Construct(_parts("expressions")),
    exp.CTE: Construct(_parts("this alias")),
    exp.TableAlias: Construct(_parts("this")),
    exp.Identifier: Construct(_parts("this quoted")),
    exp.From: Construct(_parts("this")),
    exp.Join: Construct(_parts("this on side kind"), _join),
    exp.Table: Construct(_parts("this db alias")),
    exp.Subquery: Construct(_parts("this alias"), _subquery),
    exp.Where: Construct(_parts("this"), _checked(_condition)),
    exp.Having: Construct(_parts("this"), _checked(_condition)),
    exp.Group: Construct(_parts("expressions"), _group),
    exp.Order: Construct(_parts("expressions")),
    exp.Ordered: Construct(_parts("this desc nulls_first"), _checked(_value)),
    exp.Fetch: Construct(_parts("direction count limit_options")),
    exp.LimitOptions: Construct(_parts("rows")),
    exp.Distinct: Construct(_parts("expressions"), _distinct),
    exp.Star: Construct(_parts("")),
    exp.Alias: Construct(_parts("this alias"), _of_value),
    exp.Paren: Construct(_parts("this"), _same),
    exp.Column: Construct(_parts("this table"), kind_in),
    exp.Placeholder: Construct(_parts("this"), kind_in),
    exp.Literal: Construct(_parts("this is_string"), _literal),
    exp.Null: Construct(_parts(""), lambda _: NULL),
    exp.Var: Construct(_parts("this")),
    exp.DataType: Construct(_parts("this expressions nested")),
    exp.And: Construct(_parts("this expression"), _junction),
    exp.Or: Construct(_parts("this expression"), _junction),
    exp.Not: Construct(_parts("this"), _junction),
    **dict.fromkeys(
        (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE), Construct(_parts("this expression"), _comparison)
    ),
    exp.In: Construct(_parts("this expressions"), _comparison),
    exp.Between: Construct(_parts("this low high"), _comparison),
    exp.Like: Construct(_parts("this expression"), _like),
    exp.Is: Construct(_parts("this expression"), _is_null),
    exp.Add: Construct(_parts("this expression"), _sum),
    exp.Sub: Construct(_parts("this expression"), _sum),
    exp.Mul: Construct(_parts("this expression"), _numbers),
    exp.Div: Construct(_parts("this expression"), _numbers),
    exp.Neg: Construct(_parts("this"), _numbers),
    exp.Case: Construct(_parts("ifs default"), _case),
    exp.If: Construct(_parts("this true")),
    exp.Coalesce: Construct(_parts("this expressions is_nvl"), _coalesce),
    exp.Cast: Construct(_parts("this to"), _cast),
    exp.Extract: Construct(_parts("this expression"), _extract),
    exp.Interval: Construct(_parts("this unit"), _interval),
    exp.Floor: Construct(_parts("this"), _numbers),
    exp.Anonymous: Construct(_parts("this expressions"), _call),
    exp.Count: Construct(_parts("this big_int"), _count),
    exp.Sum: Construct(_parts("this"), _numbers),
    exp.Min: Construct(_parts("this"), _of_value),
    exp.Max: Construct(_parts("this"), _of_value),
    exp.Lag: Construct(_parts("this"), _in_a_window),
    exp.RowNumber: Construct(_parts(""), _in_a_window),
    exp.Window: Construct(_parts("this partition_by order over"), _window),
}
