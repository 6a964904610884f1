"""Translate an Oracle query to DuckDB: sqlglot parses, checks and rewrites it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import OptimizeError, ParseError, TokenError
from sqlglot.optimizer.normalize_identifiers import normalize_identifiers
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import Scope, traverse_scope
from sqlglot.schema import MappingSchema
from sqlglot.tokenizer_core import Token, TokenType

from racwire_lab.database.backend import OracleError
from racwire_lab.oracle_sql.dictionary import View
from racwire_lab.oracle_sql.errors import not_supported, oracle_error
from racwire_lab.oracle_sql.kinds import DATE, TIMESTAMP_TZ, ColumnKind, kind_of, text
from racwire_lab.oracle_sql.language import UNITS_US, construct_of, kind_in, offset_of, set_kind

MACROS = (
    """ora_div(a, b) AS CASE WHEN b = 0 THEN error('ORA-01476') ELSE a / NULLIF(b, 0) END""",
    f"ora_day(i) AS epoch_us(i) // {UNITS_US['DAY']}",
    f"ora_hour(i) AS epoch_us(i) % {UNITS_US['DAY']} // {UNITS_US['HOUR']}",
    f"ora_minute(i) AS epoch_us(i) % {UNITS_US['HOUR']} // {UNITS_US['MINUTE']}",
    f"ora_second(i) AS epoch_us(i) % {UNITS_US['MINUTE']} * CAST('0.000001' AS DECIMAL(7,6))",
    "ora_interval(amount, unit_us) AS to_microseconds(CAST(round(amount * unit_us) AS BIGINT))",
)
"""The semantics of Oracle that DuckDB lacks: a zero divisor is an error, seconds have fractions, days have 24 hours."""

_WANT_MORE = (TokenType.COMMA, TokenType.SELECT, TokenType.ALIAS)
_FETCH = re.compile(r"\bFETCH\s+(FIRST|NEXT)\s+(\d+|:\w+)\s+ROWS?\s+ONLY\s*$", re.IGNORECASE)

FindView = Callable[[str, str, int], tuple[View, Mapping[str, ColumnKind]]]
"""Function of schema, name and offset: it returns a view and its columns. Raises ORA-00942."""


@dataclass
class Translation:
    """A query for DuckDB."""

    sql: str = ""
    columns: tuple[tuple[str, ColumnKind], ...] = ()
    reads: dict[str, View] = field(default_factory=dict)
    """The views that the query reads, by name."""
    binds: set[str] = field(default_factory=set)
    """The binds of the query; each is the parameter `B_NAME`."""
    session_values: set[str] = field(default_factory=set)
    """The session values of the query, each the parameter `S_NAME`: `USER`, `SYSDATE`, `SYSTIMESTAMP`, or an attribute
    of USERENV such as `USERENV_CON_NAME`."""


def translate(sql: str, binds: Mapping[str, Any], find_view: FindView) -> Translation:
    """Translate a query. Only the types of the binds' values matter. Raises OracleError."""
    translation = Translation()
    tree = _parse(sql).copy()
    _replace_parameters(tree, {name.upper(): kind_of(value) for name, value in binds.items()}, translation)
    for node in tree.walk():
        construct_of(node)
    columns = _find_views(tree, find_view, translation)
    tree = _qualified(tree, columns)
    _give_types(tree, columns)
    translation.columns = tuple((item.alias_or_name, kind_in(item)) for item in tree.selects)
    _rewrite(tree)
    translation.sql = tree.sql(dialect="duckdb", identify=True, comments=False, copy=False)
    return translation


@lru_cache(maxsize=100)
def _parse(sql: str) -> exp.Query:
    """The tree of one query, which callers must not change. Raises OracleError as the database would."""
    body = sql.rstrip().removesuffix(";")
    try:
        tokens = sqlglot.tokenize(body, dialect="oracle")
        trees = sqlglot.parse(body, dialect="oracle")
    except TokenError:
        raise oracle_error(1756 if body.count("'") % 2 else 911) from None
    except ParseError as error:
        raise _parse_error(body, error) from None
    tree = trees[0]
    if len(trees) != 1 or not isinstance(tree, exp.Select | exp.Union):
        raise oracle_error(933 if len(trees) > 1 else 900)
    _refuse_other_keywords(tokens)
    _refuse_other_syntax(tree, body, tokens)
    tree = normalize_identifiers(tree, dialect="oracle")
    _name_columns(tree)
    return tree


def _parse_error(body: str, error: ParseError) -> OracleError:
    first = error.errors[0] if error.errors else {}
    description, highlight = str(first.get("description", "")), str(first.get("highlight") or "")
    # The parser reports the column of the last character of the unexpected word.
    before = body.split("\n")[: int(first.get("line") or 1) - 1]
    offset = sum(len(line) + 1 for line in before) + max(0, int(first.get("col") or 0) - len(highlight))
    if "Expecting )" in description:
        return oracle_error(907, offset=offset)
    return oracle_error(936 if "Required" in description or "Expected" in description else 933, offset=offset)


def _refuse_other_keywords(tokens: list[Token]) -> None:
    """Raise OracleError for words that the parser accepts although Oracle does not."""
    for token, following in pairwise(tokens):
        if token.token_type is TokenType.DCOLON or token.text == "==":
            raise oracle_error(933 if token.token_type is TokenType.DCOLON else 936, offset=token.start)
        if token.token_type in _WANT_MORE and following.token_type in (TokenType.FROM, TokenType.COMMA):
            raise oracle_error(936, offset=following.start)
        if token.token_type is TokenType.NUMBER and token.end + 1 == following.start and following.text.isalpha():
            raise not_supported(f"the literal {token.text}{following.text}", token.start)


def _refuse_other_syntax(tree: exp.Query, body: str, tokens: list[Token]) -> None:
    """Raise OracleError for queries that DuckDB answers although Oracle does not."""
    for select in tree.find_all(exp.Select):
        if not select.args.get("from_"):
            raise oracle_error(923, offset=len(body))
        if len(select.expressions) > 1 and any(isinstance(item, exp.Star) for item in select.expressions):
            raise oracle_error(923, offset=offset_of(select))
        if any(isinstance(item, exp.Alias) and item.this.is_star for item in select.expressions):
            raise oracle_error(923, offset=offset_of(select))
    if tree.find(exp.Fetch) and not _FETCH.search(body):
        raise oracle_error(933, offset=len(body))
    for key in tree.find_all(exp.Ordered):
        if isinstance(key.this, exp.Literal) and key.this.name == "0":
            raise oracle_error(1785)
    for group in tree.find_all(exp.Group):
        for item in group.expressions:
            if isinstance(item, exp.Literal):
                raise oracle_error(979, offset=offset_of(group))
    place = {token.start: number for number, token in enumerate(tokens)}
    for alias in tree.find_all(exp.TableAlias):
        start = alias.this.meta.get("start") if alias.this else None
        if start is None or not isinstance(alias.parent, exp.Table | exp.Subquery):
            continue
        if tokens[place[start] - 1].token_type is TokenType.ALIAS:
            raise oracle_error(933, offset=start)


def _name_columns(tree: exp.Query) -> None:
    """Name the columns without an alias as Oracle does: by the text of their expression, without spaces."""
    for item in tree.selects:
        if not isinstance(item, exp.Column | exp.Alias | exp.Star):
            name = item.sql(dialect="oracle").upper().replace(" ", "")
            item.replace(exp.alias_(item.copy(), name, quoted=True))


def _replace_parameters(tree: exp.Query, binds: Mapping[str, ColumnKind], translation: Translation) -> None:
    """Replace the binds and the session values by typed parameters."""
    for node in list(tree.walk()):
        if isinstance(node, exp.Placeholder):
            name = str(node.this or "").upper()
            if name not in binds:
                raise oracle_error(1008, offset=offset_of(node))
            translation.binds.add(name)
            _replace(node, f"B_{name}", binds[name])
        elif (session_value := _session_value(node)) is not None:
            name, kind = session_value
            translation.session_values.add(name)
            _replace(node, f"S_{name}", kind)


def _replace(node: exp.Expr, parameter: str, kind: ColumnKind) -> None:
    placeholder = exp.Placeholder(this=parameter)
    set_kind(placeholder, kind)
    node.replace(placeholder)


def _session_value(node: exp.Expr) -> tuple[str, ColumnKind] | None:
    """The session value that a node reads, and its type; None for other nodes."""
    if isinstance(node, exp.CurrentTimestamp) and node.args.get("sysdate"):
        return "SYSDATE", DATE
    if isinstance(node, exp.Systimestamp):
        return "SYSTIMESTAMP", TIMESTAMP_TZ
    if isinstance(node, exp.Column) and not node.table and not node.this.args.get("quoted"):
        if node.name in ("ROWNUM", "ROWID", "LEVEL"):
            raise not_supported(node.name, offset_of(node))
        return ("USER", text(128)) if node.name == "USER" else None
    if isinstance(node, exp.Anonymous) and str(node.this).upper() == "SYS_CONTEXT":
        names = [argument.name.upper() for argument in node.expressions if isinstance(argument, exp.Literal)]
        if len(names) != len(node.expressions) or names[:1] != ["USERENV"]:
            raise not_supported("this form of SYS_CONTEXT", offset_of(node))
        if len(names) != 2:
            raise oracle_error(2003)
        return f"USERENV_{names[1]}", text(256)
    return None


def _find_views(tree: exp.Query, find_view: FindView, translation: Translation) -> dict[str, Mapping[str, ColumnKind]]:
    """Replace the view names of the statement by the views' own names. Return the columns of the views."""
    found: dict[str, Mapping[str, ColumnKind]] = {}
    for scope in _scopes(tree):
        for table in [source for source in scope.sources.values() if isinstance(source, exp.Table)]:
            written = table.name
            view, found_columns = find_view(table.db, written, offset_of(table))
            found[view.name] = found_columns
            translation.reads[view.name] = view
            if not table.alias:
                table.set("alias", exp.TableAlias(this=exp.to_identifier(written, quoted=True)))
            table.set("this", exp.to_identifier(view.name, quoted=True))
            table.set("db", None)
    return found


def _scopes(tree: exp.Query) -> Iterator[Scope]:
    try:
        yield from traverse_scope(tree)
    except OptimizeError as error:
        raise not_supported(f"this: {error}") from None


def _qualified(tree: exp.Query, columns: Mapping[str, Mapping[str, ColumnKind]]) -> exp.Query:
    """The tree with every star expanded and every column qualified. Raises ORA-00904, ORA-00918, ORA-01785."""
    any_type = _duck_type("BIGINT")
    schema = MappingSchema(
        {name: dict.fromkeys(listed, any_type) for name, listed in columns.items()}, dialect="oracle", normalize=False
    )
    try:
        return qualify(tree, schema=schema, dialect="oracle", expand_alias_refs=False)
    except OptimizeError as error:
        raise _name_error(str(error), tree, columns) from None


def _name_error(message: str, tree: exp.Query, columns: Mapping[str, Mapping[str, ColumnKind]]) -> OracleError:
    if matched := re.match(r"Unknown output column: ", message):
        return oracle_error(1785)
    matched = re.match(r"(?:Unknown column: |Column ')([\w$#\"]+)", message) or re.match(r".*table: (\S+)", message)
    if matched is None:
        return not_supported(f"this: {message.splitlines()[0]}")
    name = matched[1].replace('"', "")
    meant = [column for column in tree.find_all(exp.Column) if name in (column.name, column.table)]
    for column in meant:
        if not column.table and sum(name in listed for listed in columns.values()):
            return oracle_error(918, offset=offset_of(column))
        identifier = f'"{column.table}"."{column.name}"' if column.table else f'"{column.name}"'
        return oracle_error(904, identifier, offset=offset_of(column))
    return oracle_error(904, f'"{name}"')


def _give_types(tree: exp.Query, columns: Mapping[str, Mapping[str, ColumnKind]]) -> None:
    """Set the type of every expression, from the innermost query outwards.

    Raises OracleError when types do not match.
    """
    done: set[int] = set()

    def visit(node: exp.Expr, scope: Scope) -> None:
        if id(node) in done:
            return
        done.add(id(node))
        for part in node.iter_expressions():
            visit(part, scope)
        if isinstance(node, exp.Column):
            set_kind(node, _column_kind(node, scope, columns))
        rule = construct_of(node).rule
        kind = rule(node) if rule else None
        if kind is not None:
            set_kind(node, kind)

    for scope in _scopes(tree):
        for item in _query(scope).selects:
            visit(item, scope)
        visit(scope.expression, scope)


def _query(scope: Scope) -> exp.Query:
    query = scope.expression
    assert isinstance(query, exp.Query)
    return query


def _column_kind(column: exp.Column, scope: Scope, columns: Mapping[str, Mapping[str, ColumnKind]]) -> ColumnKind:
    source = scope.sources.get(column.table)
    if isinstance(source, exp.Table):
        return columns[source.name][column.name]
    # Without a table it is a name of the select list, in ORDER BY.
    for item in _query(source if isinstance(source, Scope) else scope).selects:
        if item.alias_or_name == column.name:
            return kind_in(item)
    raise oracle_error(904, f'"{column.name}"', offset=offset_of(column))


@cache
def _duck_type(duck: str) -> exp.DataType:
    return exp.DataType.build(duck, dialect="duckdb")


def _rewrite(tree: exp.Query) -> None:
    """Rewrite constructs that DuckDB expresses in another way."""
    for node in reversed(list(tree.walk())):
        if isinstance(node, exp.Literal) and node.args["is_string"] and not node.name:
            node.replace(exp.null())
        elif isinstance(node, exp.Placeholder):
            duck = _duck_type(kind_in(node).duck)
            node.replace(exp.Cast(this=exp.Placeholder(this=node.this), to=duck.copy()))
        elif isinstance(node, exp.Div):
            node.replace(_macro("ora_div", node.this, node.expression))
        elif isinstance(node, exp.Extract):
            node.replace(_macro(f"ora_{node.name.lower()}", node.expression))
        elif isinstance(node, exp.Anonymous):
            amount, unit = node.expressions
            node.replace(_macro("ora_interval", amount, exp.Literal.number(UNITS_US[unit.name.upper()])))


def _macro(name: str, *arguments: exp.Expr) -> exp.Expr:
    """A call of one of `MACROS`."""
    return exp.Anonymous(this=name, expressions=list(arguments))
