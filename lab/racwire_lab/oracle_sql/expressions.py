"""Expressions and conditions of Oracle SQL in DuckDB's words.

Only what is known here is translated; everything else is refused, so that nothing is answered wrong in silence.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING

from sqlglot import exp

from racwire_lab.oracle_sql import aggregates, arithmetic, functions, functions_of_times, intervals
from racwire_lab.oracle_sql.conditions import CONDITIONS, same_number
from racwire_lab.oracle_sql.errors import not_supported, oracle_error
from racwire_lab.oracle_sql.kinds import (
    DATE,
    FLOAT,
    MAX_SCALE,
    NULL,
    TEXT,
    TIMESTAMP,
    TIMESTAMP_TZ,
    Code,
    Family,
    Kind,
    number,
    text,
)
from racwire_lab.oracle_sql.parsing import bind_name, offset_of, what
from racwire_lab.oracle_sql.scope import Scope, name_of

if TYPE_CHECKING:
    from racwire_lab.oracle_sql.queries import QueryText

_WORDS = {"USER": ("USER", TEXT), "SYSDATE": ("NOW", DATE), "SYSTIMESTAMP": ("NOW", TIMESTAMP_TZ)}


@dataclass
class Statement:
    """What the translation of one statement gathers on its way."""

    binds: dict[str, Kind]
    """The kinds of the values that came with it."""
    query: Callable[[exp.Expr, Scope | None], QueryText]
    """Translates a query within."""
    used: set[str] = field(default_factory=set)
    """Binds that the text names."""
    asks: set[str] = field(default_factory=set)
    """What it wants to know of the session: `NOW`, `USER`, `SYS_CONTEXT:CON_NAME`."""
    remarks: set[str] = field(default_factory=set)
    """What is legal, and understood differently by different readers: `DATE - DATE`."""

    def session(self, asked: str, kind: Kind) -> Code:
        """A value that is known when it runs."""
        self.asks.add(asked)
        code = f"CAST(${parameter(asked)} AS {kind.duck})"
        return Code(f"date_trunc('second', {code})" if kind.family is Family.DATE else code, kind)


def parameter(asked: str) -> str:
    """The name of DuckDB's parameter for a value of the session."""
    return "S_" + re.sub(r"\W", "_", asked)


def literal_text(value: str) -> str:
    """Text as a literal."""
    return "'" + value.replace("'", "''") + "'"


@dataclass(frozen=True)
class Expressions:
    """Translates the expressions of one query block."""

    scope: Scope
    statement: Statement
    clause: str = ""
    """Where it stands: aggregates and windows are not allowed everywhere."""

    def within(self, clause: str) -> Expressions:
        """For another clause of the same block."""
        return replace(self, clause=clause)

    def value(self, node: exp.Expr) -> Code:
        """An expression with a value. Raises OracleError."""
        code = self._any(node)
        if code.kind.family is Family.BOOLEAN:
            raise oracle_error(923 if self.clause == "SELECT" else 933, offset=offset_of(node))
        return code

    def condition(self, node: exp.Expr) -> Code:
        """A condition. Raises ORA-00920 for what is none."""
        code = self._any(node)
        if code.kind.family is not Family.BOOLEAN:
            raise oracle_error(920, offset=offset_of(node))
        return code

    def _any(self, node: exp.Expr) -> Code:
        translate = CONDITIONS.get(type(node)) or _NODES.get(type(node))
        if translate is None:
            raise not_supported(what(node), offset_of(node))
        return translate(self, node)

    def _paren(self, node: exp.Expr) -> Code:
        return self._any(node.this)

    def _subquery(self, node: exp.Expr) -> Code:
        query = self.statement.query(node, self.scope)
        same_number(1, query.columns, offset_of(node))
        return Code(f"({query.sql})", query.columns[0][1])

    def _arithmetic(self, node: exp.Expr) -> Code:
        left, right = self.value(node.this), self.value(node.expression)
        if isinstance(node, exp.Mul):
            return arithmetic.multiply(left, right)
        if isinstance(node, exp.Div):
            return arithmetic.divide(left, right)
        if isinstance(node, exp.Sub) and left.kind.family is right.kind.family is Family.DATE:
            self.statement.remarks.add("DATE - DATE")
        return arithmetic.add(left, right, "+" if isinstance(node, exp.Add) else "-")

    def _neg(self, node: exp.Expr) -> Code:
        return arithmetic.negate(self.value(node.this))

    def _concatenation(self, node: exp.Expr) -> Code:
        left, right = arithmetic.to_text(self.value(node.this)), arithmetic.to_text(self.value(node.expression))
        return Code(f"NULLIF(concat({left.sql}, {right.sql}), '')", TEXT)

    def _literal(self, node: exp.Expr) -> Code:
        if node.args["is_string"]:
            return text_literal(str(node.this))
        value = Decimal(str(node.this))
        _, digits, exponent = value.as_tuple()
        if not isinstance(exponent, int) or -exponent > MAX_SCALE or len(digits) + max(exponent, 0) > 38:
            return Code(f"CAST({node.this} AS DOUBLE)", FLOAT)
        kind = number(max(0, -exponent))
        return Code(f"CAST('{value:f}' AS {kind.duck})", kind)

    def _raw_string(self, node: exp.Expr) -> Code:
        return text_literal(str(node.this))

    def _null(self, node: exp.Expr) -> Code:
        return Code("NULL", NULL)

    def _bind(self, node: exp.Expr) -> Code:
        name = bind_name(str(node.this or ""))
        if name not in self.statement.binds:
            raise oracle_error(1008, offset=offset_of(node))
        self.statement.used.add(name)
        kind = self.statement.binds[name]
        return Code(f"CAST($B_{name} AS {kind.duck})", kind)

    def _column(self, node: exp.Expr) -> Code:
        assert isinstance(node, exp.Column)
        if node.args.get("join_mark"):
            raise not_supported("(+); write LEFT JOIN", offset_of(node))
        if node.args.get("db") or isinstance(node.this, exp.Star):
            raise not_supported("this form of a column's name", offset_of(node))
        name = name_of(node.this)
        if not node.args.get("table") and not node.this.args.get("quoted") and name in _WORDS:
            return self.statement.session(*_WORDS[name])
        if name in ("ROWNUM", "LEVEL", "ROWID"):
            raise not_supported(f"{name} here", offset_of(node))
        return self.scope.column(node)

    def _now(self, node: exp.Expr) -> Code:
        kinds: dict[type[exp.Expr], Kind] = {
            exp.CurrentDate: DATE,
            exp.Systimestamp: TIMESTAMP_TZ,
            exp.Localtimestamp: TIMESTAMP,
            exp.CurrentTimestamp: DATE if node.args.get("sysdate") else TIMESTAMP_TZ,
        }
        return self.statement.session("NOW", kinds[type(node)])

    def _case(self, node: exp.Expr) -> Code:
        tested = self.value(node.this) if node.this else None
        conditions = []
        for branch in node.args["ifs"]:
            if tested is None:
                conditions.append(self.condition(branch.this).sql)
            else:
                conditions.append(arithmetic.compare(tested, self.value(branch.this), "=").sql)
        results = [self.value(branch.args["true"]) for branch in node.args["ifs"]]
        default = self.value(node.args["default"]) if node.args.get("default") is not None else Code("NULL", NULL)
        codes, kind = arithmetic.unify([*results, default])
        steps = [f"WHEN {when} THEN {then.sql}" for when, then in zip(conditions, codes[:-1], strict=True)]
        return Code(f"CASE {' '.join(steps)} ELSE {codes[-1].sql} END", kind)

    def _decode(self, node: exp.Expr) -> Code:
        tested, *rest = [self.value(argument) for argument in node.expressions]
        default = rest.pop() if len(rest) % 2 else Code("NULL", NULL)
        codes, kind = arithmetic.as_first([*rest[1::2], default])
        steps = []
        for search, result in zip(rest[::2], codes[:-1], strict=True):
            left, right = arithmetic.alike(tested, search)
            # To DECODE, NULL is the same as NULL.
            steps.append(f"WHEN {left.sql} IS NOT DISTINCT FROM {right.sql} THEN {result.sql}")
        return Code(f"CASE {' '.join(steps)} ELSE {codes[-1].sql} END", kind)

    def _cast(self, node: exp.Expr) -> Code:
        if node.args.get("format") or node.args.get("default") or node.args.get("action"):
            raise not_supported("CAST with a format", offset_of(node))
        return functions_of_times.cast(self.value(node.this), node.args["to"])

    def _extract(self, node: exp.Expr) -> Code:
        return intervals.extract(str(node.this.name), self.value(node.expression))

    def _interval(self, node: exp.Expr) -> Code:
        return intervals.literal(node)

    def _time_literal(self, node: exp.Expr) -> Code:
        if not isinstance(node.this, exp.Literal):
            raise not_supported(what(node), offset_of(node))
        return intervals.time_literal(str(node.this.this), DATE if isinstance(node, exp.DateStrToDate) else TIMESTAMP)

    def _trim(self, node: exp.Expr) -> Code:
        trimmed = arithmetic.to_text(self.value(node.this))
        characters = f", {self.value(node.expression).sql}" if node.args.get("expression") is not None else ""
        name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(node.args.get("position") or "").upper(), "trim")
        return Code(f"NULLIF({name}({trimmed.sql}{characters}), '')", TEXT)

    def _function(self, node: exp.Expr) -> Code:
        if aggregates.is_aggregate(node):
            return aggregates.aggregate(self, node, over="")
        return functions.call(self, node)

    def _window(self, node: exp.Expr) -> Code:
        return aggregates.window(self, node)

    def _aggregate(self, node: exp.Expr) -> Code:
        return aggregates.aggregate(self, node, over="")


def text_literal(value: str) -> Code:
    """A text literal; the empty one is NULL."""
    if not value:
        return Code("NULL", NULL)
    return Code(literal_text(value), text(len(value.encode())))


_NODES: dict[type[exp.Expr], Callable[[Expressions, exp.Expr], Code]] = {
    exp.Paren: Expressions._paren,
    exp.Subquery: Expressions._subquery,
    exp.Add: Expressions._arithmetic,
    exp.Sub: Expressions._arithmetic,
    exp.Mul: Expressions._arithmetic,
    exp.Div: Expressions._arithmetic,
    exp.Neg: Expressions._neg,
    exp.DPipe: Expressions._concatenation,
    exp.Literal: Expressions._literal,
    exp.RawString: Expressions._raw_string,
    exp.National: Expressions._raw_string,
    exp.Null: Expressions._null,
    exp.Placeholder: Expressions._bind,
    exp.Column: Expressions._column,
    exp.CurrentTimestamp: Expressions._now,
    exp.CurrentDate: Expressions._now,
    exp.Systimestamp: Expressions._now,
    exp.Localtimestamp: Expressions._now,
    exp.Case: Expressions._case,
    exp.DecodeCase: Expressions._decode,
    exp.Cast: Expressions._cast,
    exp.Extract: Expressions._extract,
    exp.Interval: Expressions._interval,
    exp.StrToTime: Expressions._time_literal,
    exp.DateStrToDate: Expressions._time_literal,
    exp.Trim: Expressions._trim,
    exp.Anonymous: Expressions._function,
    exp.ToNumber: Expressions._function,
    exp.Floor: Expressions._function,
    exp.Ceil: Expressions._function,
    exp.GroupConcat: Expressions._aggregate,
    exp.WithinGroup: Expressions._aggregate,
    exp.Window: Expressions._window,
}
