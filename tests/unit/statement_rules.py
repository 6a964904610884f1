"""The rules for every statement of racwire: its header is true, and its SQL has one meaning in all versions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import sqlglot
from sqlglot import exp

from checks.sources.database.statements import SqlStatement
from racwire_lab.database.backend import OracleError
from racwire_lab.oracle_sql.dictionary import Version, VersionRange, View, find_view
from racwire_lab.oracle_sql.errors import oracle_error
from racwire_lab.oracle_sql.kinds import ColumnKind
from racwire_lab.oracle_sql.translate import translate

LICENCES = ("none", "Diagnostics Pack")


def complaints(statement: SqlStatement) -> list[str]:
    """Return every violation of a statement; an empty list when there is none."""
    found = list(_header(statement))
    try:
        trees = sqlglot.parse(statement.text, dialect="oracle")
    except sqlglot.errors.SqlglotError as error:
        return [*found, f"is no Oracle SQL: {error}"]
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        return [*found, "is no SELECT"]
    tree = trees[0]
    found += _constructs(tree)
    found += _reading(statement, tree)
    if found and "range of versions" in "".join(found):
        return found
    for form in (statement, statement.here()):
        if "gv$" in form.text.lower() and form is not statement:
            found.append("the form for one instance still reads a GV$ view: write `FROM gv$name alias`")
        seen = set()
        for version in VersionRange.parse(statement.versions).known():
            # Versions whose views have the same columns differ in nothing.
            columns = tuple(
                (name, view is not None and version in view.versions and tuple(view.of(version).items()))
                for name in statement.reads
                for view in [find_view(name)]
            )
            if columns not in seen:
                seen.add(columns)
                found += _on(form, version)
    return list(dict.fromkeys(found))


def bind_values(text: str) -> dict[str, Any]:
    """Return values for the binds of a statement: times by name, numbers for the others."""
    names = re.findall(r":([a-z]\w*)", re.sub(r"'[^']*'", "", text), re.IGNORECASE)
    is_time = re.compile(r"(time|origin|begin|end|since|until)$", re.IGNORECASE)
    return {name: datetime(2026, 1, 10) if is_time.search(name) else 1 for name in names}


def _header(statement: SqlStatement) -> Iterator[str]:
    if not statement.purpose.endswith("."):
        yield "the purpose is no sentence"
    if statement.licence not in LICENCES:
        yield f"the licence is one of {', '.join(LICENCES)}"
    try:
        if not VersionRange.parse(statement.versions).known():
            yield "no version has it"
    except ValueError as error:
        yield str(error)


def _constructs(tree: exp.Expr) -> Iterator[str]:
    for node in tree.walk():
        if isinstance(node, exp.Column) and node.args.get("join_mark"):
            yield "(+) is forbidden: write LEFT JOIN"
        if isinstance(node, exp.Cast) and node.to.this is exp.DType.DATE:
            yield "CAST AS DATE is forbidden: Oracle keeps the time, others do not"
        if isinstance(node, exp.Select) and node.args.get("connect"):
            yield "CONNECT BY is forbidden"
        if isinstance(node, exp.Column) and node.name.upper() == "ROWNUM":
            yield "ROWNUM is forbidden: write FETCH FIRST"
        if isinstance(node, exp.Join) and node.args.get("method"):
            yield "NATURAL JOIN is forbidden: name the columns"
        if isinstance(node, exp.Select) and node.args.get("locks"):
            yield "FOR UPDATE is forbidden: racwire never writes"
        if isinstance(node, exp.Group) and any(group.find(exp.Placeholder) for group in node.expressions):
            # python-oracledb issue 422: in thin mode each occurrence is another bind, and the grouping fails.
            yield "a bind in GROUP BY is forbidden (ORA-00979): compute the value in an inner query"
        if isinstance(node, exp.Select):
            yield from _stars(node)


def _stars(select: exp.Select) -> Iterator[str]:
    """`SELECT *` is only permitted for views whose columns differ by version."""
    if not any(item.is_star for item in select.expressions):
        return
    for table in _tables(select):
        view = find_view(table.name, table.db)
        if view is not None and not _differs(view):
            yield f"SELECT * of {view.name} is forbidden: name the columns"


def _differs(view: View) -> bool:
    """Whether the view's columns differ between versions, without CON_ID."""
    return any(column.versions != VersionRange() for column in view.columns if column.name != "CON_ID")


def _tables(select: exp.Select) -> list[exp.Table]:
    sources = [select.args["from_"].this, *(join.this for join in select.args.get("joins") or ())]
    return [source for source in sources if isinstance(source, exp.Table)]


def _reading(statement: SqlStatement, tree: exp.Expr) -> Iterator[str]:
    """Check that `reads`, `grants` and `licence` agree with the text."""
    named = {table.alias.upper() for table in tree.find_all(exp.CTE)}
    tables = [table for table in tree.find_all(exp.Table) if table.db or table.name.upper() not in named]
    views = {view.name: view for table in tables if (view := find_view(table.name, table.db)) is not None}
    for table in tables:
        if find_view(table.name, table.db) is None:
            yield f"{table.name.upper()} is no view of the dictionary"
    if sorted(statement.reads) != sorted(views):
        yield f"reads {', '.join(sorted(views))}, but the header says {', '.join(statement.reads)}"
    needed = {view.grant for view in views.values()}
    fallback = {grant.replace("SYS.GV_$", "SYS.V_$") for grant in needed}
    # Every run reads V$INSTANCE first; views that all users may read can be left out.
    optional = {"SYS.V_$INSTANCE", "", *(f"SYS.{name.replace('V$', 'V_$')}" for name in views if views[name].is_public)}
    wanted = (needed | fallback) - {""}
    if not wanted <= set(statement.grants):
        yield f"needs grants on {', '.join(sorted(wanted - set(statement.grants)))}"
    if more := set(statement.grants) - wanted - optional:
        yield f"does not need the grant on {', '.join(sorted(more))}"
    licence = "Diagnostics Pack" if any(view.needs_licence for view in views.values()) else "none"
    if statement.licence != licence:
        yield f"the licence is {licence!r}, not {statement.licence!r}"


def _on(form: SqlStatement, version: Version) -> Iterator[str]:
    """Check that a version has all views and columns, and that the practice database supports the statement."""
    where = ".".join(str(part) for part in version)

    def find(schema: str, name: str, offset: int) -> tuple[View, dict[str, ColumnKind]]:
        view = find_view(name, schema)
        if view is None or version not in view.versions:
            raise oracle_error(942, offset=offset)
        return view, view.of(version)

    try:
        translate(form.text, bind_values(form.text), find)
    except OracleError as error:
        yield f"{form.name}, {where}: {error}"
