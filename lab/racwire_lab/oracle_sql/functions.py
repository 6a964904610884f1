"""Functions of one row: calls by their Oracle names, and those that take values of any type."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlglot import exp

from racwire_lab.oracle_sql.arithmetic import alike, as_first, to_number
from racwire_lab.oracle_sql.errors import not_supported, oracle_error
from racwire_lab.oracle_sql.functions_of_numbers import NUMBER_FUNCTIONS, shortened
from racwire_lab.oracle_sql.functions_of_text import TEXT_FUNCTIONS
from racwire_lab.oracle_sql.functions_of_times import TIME_FUNCTIONS, truncated
from racwire_lab.oracle_sql.kinds import NULL, TEXT, Code, text
from racwire_lab.oracle_sql.parsing import offset_of

if TYPE_CHECKING:
    from racwire_lab.oracle_sql.expressions import Expressions

USERENV = frozenset(
    (
        *("CON_ID", "CON_NAME", "CDB_NAME", "CURRENT_SCHEMA", "CURRENT_USER", "DATABASE_ROLE", "DB_DOMAIN", "DB_NAME"),
        *("DB_UNIQUE_NAME", "INSTANCE", "INSTANCE_NAME", "ISDBA", "MODULE", "ACTION", "CLIENT_INFO", "SERVER_HOST"),
        *("SESSION_USER", "SESSIONID", "SID"),
    )
)
"""Attributes of SYS_CONTEXT('USERENV', ...) that are known."""


def call(expressions: Expressions, node: exp.Expr) -> Code:
    """A call of a function of one row. Raises ORA-00904 for one that is not known, as Oracle does."""
    name, arguments = _name_and_arguments(node)
    if name == "SYS_CONTEXT":
        return _sys_context(expressions, arguments)
    known = _FUNCTIONS.get(name)
    if known is None:
        raise oracle_error(904, f'"{name}"', offset=offset_of(node))
    least, most, translate = known
    if not least <= len(arguments) <= most:
        raise oracle_error(909, offset=offset_of(node))
    return translate(*[expressions.value(argument) for argument in arguments])


def _name_and_arguments(node: exp.Expr) -> tuple[str, list[exp.Expr]]:
    if isinstance(node, exp.Anonymous):
        return str(node.this).upper(), node.expressions
    names: dict[type[exp.Expr], str] = {exp.ToNumber: "TO_NUMBER"}
    further = [node.args[key] for key in ("format", "nlsparam", "decimals") if node.args.get(key) is not None]
    return names.get(type(node), type(node).__name__.upper()), [node.this, *further]


def _sys_context(expressions: Expressions, arguments: list[exp.Expr]) -> Code:
    if len(arguments) not in (2, 3) or not all(isinstance(argument, exp.Literal) for argument in arguments[:2]):
        raise not_supported("SYS_CONTEXT of anything but literals")
    attribute = str(arguments[1].this).upper()
    if str(arguments[0].this).upper() != "USERENV":
        return Code("NULL", NULL)
    if attribute not in USERENV:
        raise oracle_error(2003)
    return expressions.statement.session(f"SYS_CONTEXT:{attribute}", text(256))


def _first_of(*values: Code) -> Code:
    codes, kind = as_first(list(values))
    return Code(f"coalesce({', '.join(code.sql for code in codes)})", kind)


def _nvl2(tested: Code, given: Code, missing: Code) -> Code:
    codes, kind = as_first([given, missing])
    return Code(f"CASE WHEN {tested.sql} IS NOT NULL THEN {codes[0].sql} ELSE {codes[1].sql} END", kind)


def _nullif(value: Code, other: Code) -> Code:
    left, right = alike(value, other)
    return Code(f"CASE WHEN {left.sql} = {right.sql} THEN NULL ELSE {value.sql} END", value.kind)


def _extreme(function: str) -> Callable[..., Code]:
    def translate(*values: Code) -> Code:
        codes, kind = as_first(list(values))
        missing = " OR ".join(f"{code.sql} IS NULL" for code in codes)
        return Code(f"CASE WHEN {missing} THEN NULL ELSE {function}({', '.join(code.sql for code in codes)}) END", kind)

    return translate


def _trunc(value: Code, precision: Code | None = None) -> Code:
    if value.kind.is_time:
        return truncated(value, precision or Code("'DD'", TEXT))
    return shortened("trunc", to_number(value), precision)


_MANY = 255
_FUNCTIONS: dict[str, tuple[int, int, Callable[..., Code]]] = {
    **NUMBER_FUNCTIONS,
    **TEXT_FUNCTIONS,
    **TIME_FUNCTIONS,
    "COALESCE": (2, _MANY, _first_of),
    "GREATEST": (1, _MANY, _extreme("greatest")),
    "LEAST": (1, _MANY, _extreme("least")),
    "NULLIF": (2, 2, _nullif),
    "NVL": (2, 2, _first_of),
    "NVL2": (3, 3, _nvl2),
    "TRUNC": (1, 2, _trunc),
}
"""How few and how many arguments each takes, and its translation."""
