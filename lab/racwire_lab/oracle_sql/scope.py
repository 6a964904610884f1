"""Which column a name in a statement means."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from racwire_lab.oracle_sql.errors import oracle_error
from racwire_lab.oracle_sql.kinds import Code, Kind, common
from racwire_lab.oracle_sql.parsing import offset_of

Columns = list[tuple[str, Kind]]
"""What a query or a view gives; a name can stand in it twice."""


def name_of(identifier: exp.Expr | str) -> str:
    """An identifier as Oracle keeps it: upper case unless quoted."""
    if isinstance(identifier, str):
        return identifier.upper()
    return str(identifier.this) if identifier.args.get("quoted") else str(identifier.this).upper()


def quoted(name: str) -> str:
    """The name for DuckDB."""
    return '"' + name.replace('"', '""') + '"'


@dataclass
class Source:
    """What stands in FROM, under its alias."""

    alias: str
    columns: Columns

    def find(self, name: str) -> list[Kind]:
        """The columns of that name: one, none, or too many."""
        return [kind for column, kind in self.columns if column == name]


@dataclass
class Scope:
    """The names that an expression can use."""

    sources: list[Source] = field(default_factory=list)
    outer: Scope | None = None
    joined_by: dict[str, Kind] = field(default_factory=dict)
    """Columns named in JOIN ... USING: one column for both sides."""
    results: dict[str, Code] = field(default_factory=dict)
    """In ORDER BY: the select list's aliases."""

    def add(self, source: Source) -> None:
        """A further source."""
        self.sources.append(source)

    def column(self, node: exp.Column) -> Code:
        """The column that is meant. Raises ORA-00904, ORA-00918."""
        name = name_of(node.this)
        table = name_of(node.args["table"]) if node.args.get("table") else ""
        offset = offset_of(node)
        if not table and name in self.results:
            return self.results[name]
        scope: Scope | None = self
        while scope is not None:
            found = scope._here(name, table, offset)
            if found is not None:
                return found
            scope = scope.outer
        raise oracle_error(904, f'"{table}"."{name}"' if table else f'"{name}"', offset=offset)

    def _here(self, name: str, table: str, offset: int) -> Code | None:
        if not table and name in self.joined_by:
            return Code(quoted(name), self.joined_by[name])
        candidates = [source for source in self.sources if not table or source.alias == table]
        found = [(source, kind) for source in candidates for kind in source.find(name)]
        if len(found) > 1:
            raise oracle_error(918, offset=offset)
        if not found:
            return None
        source, kind = found[0]
        return Code(f"{quoted(source.alias)}.{quoted(name)}", kind)

    def join_using(self, names: list[str], offset: int) -> None:
        """Make one column of those that the last source and the ones before it share."""
        for name in names:
            kinds = [kind for source in self.sources for kind in source.find(name)]
            in_last = self.sources[-1].find(name)
            kind = common(kinds)
            if not in_last or len(kinds) < 2 or kind is None:
                raise oracle_error(904, f'"{name}"', offset=offset)
            self.joined_by[name] = kind

    def star(self, node: exp.Expr, table: str = "") -> list[tuple[str, Code]]:
        """The columns of `*` or `table.*`. Raises ORA-00904 where there is no such table."""
        chosen = [source for source in self.sources if not table or source.alias == table]
        if not chosen:
            raise oracle_error(904, f'"{table}"', offset=offset_of(node))
        columns = [] if table else [(name, Code(quoted(name), kind)) for name, kind in self.joined_by.items()]
        for source in chosen:
            columns += [
                (name, Code(f"{quoted(source.alias)}.{quoted(name)}", kind))
                for name, kind in source.columns
                if table or name not in self.joined_by
            ]
        return columns
