# ruff: noqa: S608  (the statement that is translated is the practice database's own)
"""Queries: SELECT, set operators, WITH, in DuckDB's words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from sqlglot import exp

from racwire_lab.oracle_sql.aggregates import is_aggregate, order_by
from racwire_lab.oracle_sql.errors import not_supported, oracle_error
from racwire_lab.oracle_sql.expressions import Expressions, Statement
from racwire_lab.oracle_sql.kinds import Code, Kind, common
from racwire_lab.oracle_sql.parsing import Parsed, offset_of
from racwire_lab.oracle_sql.scope import Columns, Scope, Source, name_of, quoted

_KNOWN_CLAUSES = frozenset(
    (
        "expressions",
        "from_",
        "joins",
        "where",
        "group",
        "having",
        "order",
        "limit",
        "offset",
        "distinct",
        "with_",
        "hint",
    )
)
_SET_OPERATORS: dict[type[exp.Expr], str] = {exp.Union: "UNION", exp.Except: "EXCEPT", exp.Intersect: "INTERSECT"}

FindTable = Callable[[str, str, int], tuple[str, Columns]]
"""Schema, name and offset of a table: its DuckDB name and columns. Raises ORA-00942."""


@dataclass(frozen=True)
class QueryText:
    """A query in DuckDB's words, and what it gives."""

    sql: str
    columns: Columns


@dataclass
class Queries:
    """Translates the queries of one statement."""

    parsed: Parsed
    find_table: FindTable
    binds: dict[str, Kind]
    statement: Statement = field(init=False)
    _named: list[dict[str, Columns]] = field(default_factory=list)
    """The queries of WITH that are visible here, innermost last."""

    def __post_init__(self) -> None:
        self.statement = Statement(self.binds, self.query)

    def query(self, node: exp.Expr, outer: Scope | None = None) -> QueryText:
        """Any query, in parentheses or not."""
        if isinstance(node, exp.Subquery):
            return self._subquery(node, outer)
        names, written = self._with(node, outer)
        self._named.append(names)
        try:
            if isinstance(node, exp.Select):
                body = self._select(node, outer)
            elif type(node) in _SET_OPERATORS:
                body = self._set(node, outer)
            else:
                raise not_supported("this kind of query", offset_of(node))
        finally:
            self._named.pop()
        return QueryText(written + body.sql, body.columns)

    def _subquery(self, node: exp.Expr, outer: Scope | None) -> QueryText:
        _refuse_others(node, frozenset({"this", "alias", "order", "limit", "offset"}))
        if not isinstance(node.this, exp.Query):
            raise not_supported("parentheses around joins", offset_of(node))
        inner = self.query(node.this, outer)
        tail = self._tail(node, Expressions(_results(inner.columns), self.statement), len(inner.columns))
        return QueryText(f"SELECT * FROM ({inner.sql}){tail}" if tail else inner.sql, inner.columns)

    def _with(self, node: exp.Expr, outer: Scope | None) -> tuple[dict[str, Columns], str]:
        clause = node.args.get("with_")
        if clause is None:
            return {}, ""
        names: dict[str, Columns] = {}
        parts = []
        self._named.append(names)
        for table in clause.expressions:
            name = name_of(table.args["alias"].this)
            query = self.query(table.this, outer)
            columns = query.columns
            if given := table.args["alias"].args.get("columns"):
                if len(given) != len(columns):
                    raise oracle_error(913 if len(given) < len(columns) else 947, offset=offset_of(table))
                columns = [(name_of(column), kind) for column, (_, kind) in zip(given, columns, strict=True)]
            # DuckDB takes the names from this list, so that they are Oracle's whatever stands within.
            listed = ", ".join(quoted(column) for column, _ in columns)
            parts.append(f"{quoted(name)}({listed}) AS ({query.sql})")
            names[name] = columns
        self._named.pop()
        return names, f"WITH {', '.join(parts)} "

    def _set(self, node: exp.Expr, outer: Scope | None) -> QueryText:
        _refuse_others(node, frozenset({"this", "expression", "distinct", "order", "limit", "offset", "with_"}))
        left, right = self.query(node.this, outer), self.query(node.expression, outer)
        if len(left.columns) != len(right.columns):
            raise oracle_error(1789, offset=offset_of(node))
        columns: Columns = []
        for (name, one), (_, other) in zip(left.columns, right.columns, strict=True):
            kind = common([one, other])
            if kind is None:
                raise oracle_error(1790, offset=offset_of(node))
            columns.append((name, kind))
        word = _SET_OPERATORS[type(node)] + ("" if node.args.get("distinct") else " ALL")
        sides = [_as_kinds(side, columns) for side in (left, right)]
        tail = self._tail(node, Expressions(_results(columns), self.statement), len(columns))
        return QueryText(f"({sides[0]}) {word} ({sides[1]}){tail}", columns)

    def _select(self, node: exp.Expr, outer: Scope | None) -> QueryText:
        _refuse_others(node, _KNOWN_CLAUSES)
        distinct = node.args.get("distinct")
        if distinct is not None and distinct.args.get("on") is not None:
            raise oracle_error(936, offset=offset_of(node))
        scope = Scope(outer=outer)
        tables = self._from(node, scope)
        expressions = Expressions(scope, self.statement, "SELECT")
        where, at_most = self._where(node, expressions)
        groups = self._groups(node, expressions)
        selected = self._selected(node, expressions)
        sql = f"SELECT {'DISTINCT ' if distinct is not None else ''}"
        sql += ", ".join(f"{code.sql} AS {quoted(name)}" for name, code in selected)
        sql += f" FROM {tables}{where}{groups}"
        if (having := node.args.get("having")) is not None:
            sql += f" HAVING {expressions.within('HAVING').condition(having.this).sql}"
        # In ORDER BY the select list's names go before the tables' columns.
        named = Scope(scope.sources, outer, scope.joined_by, dict(selected))
        if at_most is not None:
            beside = any(node.args.get(key) is not None for key in ("group", "having", "order", "distinct", "limit"))
            if beside or any(_is_over_rows(item) for item in node.expressions):
                raise not_supported("ROWNUM beside functions over many rows, ORDER BY or DISTINCT", offset_of(node))
            sql += f" LIMIT CAST({at_most.sql} AS BIGINT)"
        sql += self._tail(node, Expressions(named, self.statement, "ORDER BY"), len(selected))
        return QueryText(sql, [(name, code.kind) for name, code in selected])

    def _from(self, node: exp.Expr, scope: Scope) -> str:
        clause = node.args.get("from_")
        if clause is None:
            raise oracle_error(923, offset=len(self.parsed.text))
        sql = self._source(clause.this, scope)
        for join in node.args.get("joins") or ():
            sql += self._join(join, scope)
        return sql

    def _source(self, node: exp.Expr, scope: Scope) -> str:
        alias = node.args.get("alias")
        if alias is not None and (alias.args.get("columns") or self.parsed.follows_as(alias.this)):
            raise oracle_error(933, offset=offset_of(alias))
        if isinstance(node, exp.Subquery):
            inner = self._subquery(node, scope.outer)
            name = name_of(alias.this) if alias is not None else f" {len(scope.sources)}"
            scope.add(Source(name, inner.columns))
            return f"({inner.sql}) AS {quoted(name)}"
        if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
            raise not_supported("this in FROM", offset_of(node))
        _refuse_others(node, frozenset({"this", "db", "alias"}))
        name, schema = name_of(node.this), name_of(node.args["db"]) if node.args.get("db") else ""
        shown = name_of(alias.this) if alias is not None else name
        table, columns = self._table(schema, name, offset_of(node))
        scope.add(Source(shown, columns))
        return f"{quoted(table)} AS {quoted(shown)}"

    def _table(self, schema: str, name: str, offset: int) -> tuple[str, Columns]:
        if not schema:
            for names in reversed(self._named):
                if name in names:
                    return name, names[name]
        return self.find_table(schema, name, offset)

    def _join(self, node: exp.Expr, scope: Scope) -> str:
        _refuse_others(node, frozenset({"this", "on", "using", "side", "kind"}))
        side, kind = str(node.args.get("side") or ""), str(node.args.get("kind") or "")
        joined = self._source(node.this, scope)
        if using := node.args.get("using"):
            names = [name_of(column.this if isinstance(column, exp.Column) else column) for column in using]
            scope.join_using(names, offset_of(using[0]))
            return f" {side or kind} JOIN {joined} USING ({', '.join(quoted(name) for name in names)})"
        on = node.args.get("on")
        if kind == "CROSS" or (on is None and not side and not kind):
            return f", {joined}" if kind != "CROSS" else f" CROSS JOIN {joined}"
        if on is None or kind not in ("", "INNER", "OUTER") or side not in ("", "LEFT", "RIGHT", "FULL"):
            raise not_supported("this kind of join", offset_of(node))
        condition = Expressions(scope, self.statement, "ON").condition(on)
        return f" {side or 'INNER'} JOIN {joined} ON {condition.sql}"

    def _where(self, node: exp.Expr, expressions: Expressions) -> tuple[str, Code | None]:
        """The condition, and the limit that `ROWNUM <= n` in it means."""
        clause = node.args.get("where")
        if clause is None:
            return "", None
        kept: list[exp.Expr] = []
        limits: list[exp.Expr] = []
        for term in clause.this.flatten() if isinstance(clause.this, exp.And) else [clause.this]:
            (limits if _is_rownum(term) else kept).append(term)
        conditions = [expressions.within("WHERE").condition(term).sql for term in kept]
        at_most = expressions.value(limits[0].expression) if limits else None
        if len(limits) > 1:
            raise not_supported("ROWNUM twice", offset_of(limits[1]))
        return (f" WHERE {' AND '.join(conditions)}" if conditions else ""), at_most

    def _groups(self, node: exp.Expr, expressions: Expressions) -> str:
        clause = node.args.get("group")
        if clause is None:
            return ""
        _refuse_others(clause, frozenset({"expressions"}))
        for group in clause.expressions:
            if isinstance(group, exp.Literal | exp.Tuple):
                raise oracle_error(979, offset=offset_of(group))
        return " GROUP BY " + ", ".join(expressions.within("GROUP BY").value(g).sql for g in clause.expressions)

    def _selected(self, node: exp.Expr, expressions: Expressions) -> list[tuple[str, Code]]:
        selected: list[tuple[str, Code]] = []
        for item in node.expressions:
            if isinstance(item, exp.Star):
                if len(node.expressions) > 1:
                    raise oracle_error(923, offset=offset_of(item))
                selected += expressions.scope.star(item)
            elif isinstance(item, exp.Column) and isinstance(item.this, exp.Star):
                selected += expressions.scope.star(item, name_of(item.args["table"]))
            elif isinstance(item, exp.Alias):
                selected.append((name_of(item.args["alias"]), expressions.value(item.this)))
            else:
                selected.append((_heading(item), expressions.value(item)))
        return selected

    def _tail(self, node: exp.Expr, expressions: Expressions, width: int) -> str:
        """ORDER BY, OFFSET and FETCH FIRST."""
        sql = ""
        if (order := node.args.get("order")) is not None:
            for key in order.expressions:
                if isinstance(key.this, exp.Literal) and not 1 <= int(key.this.this) <= width:
                    raise oracle_error(1785, offset=offset_of(key))
            sql += " " + _positions(expressions, order)
        limit, offset = node.args.get("limit"), node.args.get("offset")
        if limit is not None:
            options = limit.args.get("limit_options")
            if not isinstance(limit, exp.Fetch):
                raise oracle_error(933, offset=offset_of(limit))
            if options is not None and (options.args.get("percent") or options.args.get("with_ties")):
                raise not_supported("FETCH FIRST PERCENT and WITH TIES", offset_of(limit))
            count = limit.args.get("count")
            sql += f" LIMIT CAST({expressions.value(count).sql if count is not None else '1'} AS BIGINT)"
        if offset is not None:
            sql += f" OFFSET CAST({expressions.value(offset.expression).sql} AS BIGINT)"
        return sql


def _positions(expressions: Expressions, order: exp.Expr) -> str:
    """ORDER BY, in which a whole number means a column of the select list."""
    keys = []
    for key in order.expressions:
        if isinstance(key.this, exp.Literal):
            nulls = "FIRST" if key.args.get("nulls_first") else "LAST"
            keys.append(f"{int(key.this.this)} {'DESC' if key.args.get('desc') else 'ASC'} NULLS {nulls}")
        else:
            keys.append(order_by(expressions, exp.Order(expressions=[key.copy()])).removeprefix("ORDER BY "))
    return f"ORDER BY {', '.join(keys)}"


def _results(columns: Columns) -> Scope:
    """The names that ORDER BY after a set operator or a parenthesis can use."""
    return Scope(results={name: Code(quoted(name), kind) for name, kind in columns})


def _as_kinds(query: QueryText, columns: Columns) -> str:
    """One side of a set operator, its columns of the kinds that both sides have in common."""
    if [kind.duck for _, kind in query.columns] == [kind.duck for _, kind in columns]:
        return query.sql
    listed = [f"c{number}" for number in range(len(columns))]
    cast = ", ".join(
        f"CAST({short} AS {kind.duck}) AS {quoted(name)}" for short, (name, kind) in zip(listed, columns, strict=True)
    )
    return f"SELECT {cast} FROM ({query.sql}) AS side({', '.join(listed)})"


def _is_rownum(term: exp.Expr) -> bool:
    compared = isinstance(term, exp.LTE) and isinstance(term.this, exp.Column)
    return compared and not term.this.args.get("table") and name_of(term.this.this) == "ROWNUM"


def _is_over_rows(item: exp.Expr) -> bool:
    return any(isinstance(node, exp.Window) or is_aggregate(node) for node in item.walk())


def _heading(node: exp.Expr) -> str:
    """The name of a column without an alias: the column's, else the expression as it is written, without spaces."""
    if isinstance(node, exp.Column):
        return name_of(node.this)
    return node.sql(dialect="oracle").upper().replace(" ", "")


def _refuse_others(node: exp.Expr, known: frozenset[str]) -> None:
    for key, value in node.args.items():
        if value and key not in known:
            word = key.rstrip("_").upper().replace("_", " ")
            raise not_supported(f"{word} here", offset_of(node))
