"""Conditions: comparisons, AND, OR, NOT, IN, EXISTS, LIKE, BETWEEN, IS NULL."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlglot import exp

from racwire_lab.oracle_sql import arithmetic
from racwire_lab.oracle_sql.errors import not_supported, oracle_error
from racwire_lab.oracle_sql.kinds import BOOLEAN, Code
from racwire_lab.oracle_sql.parsing import offset_of, what
from racwire_lab.oracle_sql.scope import Columns

if TYPE_CHECKING:
    from racwire_lab.oracle_sql.expressions import Expressions

_OPERATORS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}


def _comparison(at: Expressions, node: exp.Expr) -> Code:
    operator = _OPERATORS[type(node)]
    if isinstance(node.this, exp.Tuple):
        pairs = _pairs(at, node.this, node.expression)
        if operator not in ("=", "<>"):
            raise oracle_error(920, offset=offset_of(node))
        return Code(f"({'' if operator == '=' else 'NOT '}({' AND '.join(pairs)}))", BOOLEAN)
    return arithmetic.compare(at.value(node.this), at.value(node.expression), operator)


def _pairs(at: Expressions, left: exp.Expr, right: exp.Expr) -> list[str]:
    lefts, rights = left.expressions, right.expressions if isinstance(right, exp.Tuple) else [right]
    if len(lefts) != len(rights):
        raise oracle_error(947 if len(lefts) > len(rights) else 913, offset=offset_of(right))
    return [
        arithmetic.compare(at.value(one), at.value(other), "=").sql for one, other in zip(lefts, rights, strict=True)
    ]


def _and(at: Expressions, node: exp.Expr) -> Code:
    word = "AND" if isinstance(node, exp.And) else "OR"
    return Code(f"({at.condition(node.this).sql} {word} {at.condition(node.expression).sql})", BOOLEAN)


def _not(at: Expressions, node: exp.Expr) -> Code:
    return Code(f"(NOT {at.condition(node.this).sql})", BOOLEAN)


def _is(at: Expressions, node: exp.Expr) -> Code:
    if not isinstance(node.expression, exp.Null):
        raise oracle_error(920, offset=offset_of(node))
    return Code(f"({at.value(node.this).sql} IS NULL)", BOOLEAN)


def _between(at: Expressions, node: exp.Expr) -> Code:
    if node.args.get("symmetric"):
        raise oracle_error(920, offset=offset_of(node))
    tested = at.value(node.this)
    low = arithmetic.compare(tested, at.value(node.args["low"]), ">=")
    high = arithmetic.compare(tested, at.value(node.args["high"]), "<=")
    return Code(f"({low.sql} AND {high.sql})", BOOLEAN)


def _in(at: Expressions, node: exp.Expr) -> Code:
    if node.args.get("query") is not None:
        return _in_query(at, node)
    if not node.expressions:
        raise not_supported("this form of IN", offset_of(node))
    if isinstance(node.this, exp.Tuple):
        rows = [" AND ".join(_pairs(at, node.this, row)) for row in node.expressions]
        return Code("(" + " OR ".join(f"({row})" for row in rows) + ")", BOOLEAN)
    tested = at.value(node.this)
    values = [arithmetic.alike(tested, at.value(value)) for value in node.expressions]
    if all(left.sql == tested.sql for left, _ in values):
        return Code(f"({tested.sql} IN ({', '.join(right.sql for _, right in values)}))", BOOLEAN)
    return Code("(" + " OR ".join(f"{left.sql} = {right.sql}" for left, right in values) + ")", BOOLEAN)


def _in_query(at: Expressions, node: exp.Expr) -> Code:
    tested = node.this.expressions if isinstance(node.this, exp.Tuple) else [node.this]
    query = at.statement.query(node.args["query"], at.scope)
    same_number(len(tested), query.columns, offset_of(node))
    lefts = []
    for one, (_, kind) in zip(tested, query.columns, strict=True):
        left, right = arithmetic.alike(at.value(one), Code("x", kind))
        if right.sql != "x":
            raise not_supported("IN (SELECT ...) of text against numbers", offset_of(node))
        lefts.append(left.sql)
    left_sql = lefts[0] if len(lefts) == 1 else f"({', '.join(lefts)})"
    return Code(f"({left_sql} IN ({query.sql}))", BOOLEAN)


def _exists(at: Expressions, node: exp.Expr) -> Code:
    return Code(f"EXISTS ({at.statement.query(node.this, at.scope).sql})", BOOLEAN)


def _like(at: Expressions, node: exp.Expr) -> Code:
    escape = ""
    if isinstance(node, exp.Escape):
        escape = f" ESCAPE {at.value(node.expression).sql}"
        node = node.this
    if not isinstance(node, exp.Like):
        raise not_supported(what(node), offset_of(node))
    left, right = arithmetic.to_text(at.value(node.this)), arithmetic.to_text(at.value(node.expression))
    return Code(f"({left.sql} LIKE {right.sql}{escape})", BOOLEAN)


def same_number(wanted: int, columns: Columns, offset: int) -> None:
    """That a query gives as many columns as are wanted of it. Raises ORA-00913, ORA-00947."""
    if len(columns) != wanted:
        raise oracle_error(913 if len(columns) > wanted else 947, offset=offset)


CONDITIONS: dict[type[exp.Expr], Callable[[Expressions, exp.Expr], Code]] = {
    **dict.fromkeys(_OPERATORS, _comparison),
    exp.And: _and,
    exp.Or: _and,
    exp.Not: _not,
    exp.Is: _is,
    exp.Between: _between,
    exp.In: _in,
    exp.Exists: _exists,
    exp.Like: _like,
    exp.Escape: _like,
}
"""The translation of each kind of node."""
