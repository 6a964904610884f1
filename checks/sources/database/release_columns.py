"""Choose the statement for a version of Oracle: where the columns of a view differ, each form has its own file."""

from __future__ import annotations

from collections.abc import Iterable

from checks.model.facts import release
from checks.sources.database.statements import SqlStatement, statement


def suits(query: SqlStatement, version: str) -> bool:
    """Whether the statement's header includes this version; `11.2-12.1` includes all updates of 12.1."""
    first, _, last = (release(bound) for bound in query.versions.partition("-"))
    numbers = release(version)
    return first <= numbers and (not last or numbers[: len(last)] <= last)


def statement_for(version: str, names: Iterable[str]) -> SqlStatement:
    """The first of the named statements that suits the version. Raises LookupError where none does."""
    for name in names:
        if suits(statement(name), version):
            return statement(name)
    raise LookupError(f"No statement of {', '.join(names)} supports Oracle {version}.")
