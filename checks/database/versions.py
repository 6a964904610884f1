"""Which statement suits which version of Oracle: where a view has other columns, each form has a file of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable

from checks.database.statements import Statement, statement


def release(version: str) -> tuple[int, int]:
    """The part of a version that views change with: (12, 1) of `12.1.0.2.0`, (19, 0) of `19`."""
    numbers = [int(number) for number in re.findall(r"\d+", version)[:2]]
    return (numbers[0] if numbers else 0, numbers[1] if len(numbers) > 1 else 0)


def suits(asked: Statement, version: str) -> bool:
    """Whether the statement's header counts this version in; `11.2-12.1` has 12.1 in it with all of its updates."""
    first, _, last = asked.versions.partition("-")
    return release(first) <= release(version) and (not last or release(version) <= release(last))


def statement_for(version: str, names: Iterable[str]) -> Statement:
    """The first of these statements that suits the version. Raises LookupError where none does."""
    for name in names:
        if suits(statement(name), version):
            return statement(name)
    raise LookupError(f"No statement of {', '.join(names)} is written for Oracle {version}.")
