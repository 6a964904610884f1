"""Which statement suits which version of Oracle: where a view has other columns, each form has a file of its own."""

from __future__ import annotations

from collections.abc import Iterable

from checks.model.facts import release
from checks.sources.database.statements import Statement, statement


def suits(asked: Statement, version: str) -> bool:
    """Whether the statement's header counts this version in; `11.2-12.1` has 12.1 in it with all of its updates."""
    first, _, last = (release(bound) for bound in asked.versions.partition("-"))
    numbers = release(version)
    return first <= numbers and (not last or numbers[: len(last)] <= last)


def statement_for(version: str, names: Iterable[str]) -> Statement:
    """The first of these statements that suits the version. Raises LookupError where none does."""
    for name in names:
        if suits(statement(name), version):
            return statement(name)
    raise LookupError(f"No statement of {', '.join(names)} is written for Oracle {version}.")
