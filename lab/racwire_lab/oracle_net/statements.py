"""The kind of a statement and the names of its binds, from its text, without parsing it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

_QUOTES = r"[nN]?[qQ]'(?:\[.*?\]|\{.*?\}|\(.*?\)|<.*?>|(\S).*?\1)'"
_NOT_BINDS = rf"{_QUOTES}|'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|/\*.*?\*/"
_BINDS = re.compile(rf'{_NOT_BINDS}|(?<![:\w]):\s*(\w+|"[^"]+")', re.DOTALL)
_FIRST_WORD = re.compile(r"(?:\s|\(|--[^\n]*(?:\n|$)|/\*.*?\*/)*(\w+)", re.DOTALL)
_BLOCKS = frozenset({"BEGIN", "DECLARE", "CALL"})


@dataclass(frozen=True)
class SentStatement:
    """A statement as the client sent it."""

    sql: str

    @cached_property
    def is_block(self) -> bool:
        """Whether the statement is PL/SQL."""
        found = _FIRST_WORD.match(self.sql)
        return found is not None and found[1].upper() in _BLOCKS

    @cached_property
    def bind_names(self) -> tuple[str, ...]:
        """The names of the binds in the order of their values: a repeated name has two values in SQL, and one in
        PL/SQL."""
        found = (match[2] for match in _BINDS.finditer(self.sql))
        names = [name[1:-1] if name.startswith('"') else name.upper() for name in found if name]
        return tuple(dict.fromkeys(names)) if self.is_block else tuple(names)
