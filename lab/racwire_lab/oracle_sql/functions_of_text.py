"""Functions of text, by their Oracle names."""

from __future__ import annotations

from collections.abc import Callable

from racwire_lab.oracle_sql.arithmetic import to_number, to_text
from racwire_lab.oracle_sql.kinds import BOOLEAN, TEXT, WHOLE, Code


def _text(function: str) -> Callable[..., Code]:
    def translate(*arguments: Code) -> Code:
        written = f"{function}({', '.join(to_text(argument).sql for argument in arguments)})"
        return Code(f"NULLIF({written}, '')", TEXT)

    return translate


def _substr(value: Code, start: Code, length: Code | None = None) -> Code:
    taken = to_number(length).sql if length else "4000"
    return Code(f"ora_substr({to_text(value).sql}, {to_number(start).sql}, {taken})", TEXT)


def _instr(value: Code, part: Code) -> Code:
    return Code(f"strpos({to_text(value).sql}, {to_text(part).sql})", WHOLE)


def _length(value: Code) -> Code:
    return Code(f"length({to_text(value).sql})", WHOLE)


def _replace(value: Code, old: Code, new: Code | None = None) -> Code:
    put = f"coalesce({to_text(new).sql}, '')" if new else "''"
    searched, sought = to_text(value).sql, to_text(old).sql
    replaced = f"CASE WHEN {sought} IS NULL THEN {searched} ELSE replace({searched}, {sought}, {put}) END"
    return Code(f"NULLIF({replaced}, '')", TEXT)


def _pad(function: str) -> Callable[..., Code]:
    def translate(value: Code, length: Code, fill: Code | None = None) -> Code:
        filled = to_text(fill).sql if fill else "' '"
        width = f"CAST({to_number(length).sql} AS INTEGER)"
        return Code(f"NULLIF({function}({to_text(value).sql}, {width}, {filled}), '')", TEXT)

    return translate


def _regexp_like(value: Code, pattern: Code) -> Code:
    return Code(f"regexp_matches({to_text(value).sql}, {to_text(pattern).sql})", BOOLEAN)


def _concat(left: Code, right: Code) -> Code:
    return Code(f"NULLIF(concat({to_text(left).sql}, {to_text(right).sql}), '')", TEXT)


TEXT_FUNCTIONS: dict[str, tuple[int, int, Callable[..., Code]]] = {
    "CONCAT": (2, 2, _concat),
    "INSTR": (2, 2, _instr),
    "LENGTH": (1, 1, _length),
    "LOWER": (1, 1, _text("lower")),
    "LPAD": (2, 3, _pad("lpad")),
    "LTRIM": (1, 2, _text("ltrim")),
    "REGEXP_LIKE": (2, 2, _regexp_like),
    "REPLACE": (2, 3, _replace),
    "RPAD": (2, 3, _pad("rpad")),
    "RTRIM": (1, 2, _text("rtrim")),
    "SUBSTR": (2, 3, _substr),
    "UPPER": (1, 1, _text("upper")),
}
"""How few and how many arguments each takes, and its translation."""
