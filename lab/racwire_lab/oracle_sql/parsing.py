"""Oracle text to a syntax tree, every function left under its Oracle name."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.dialects.oracle import Oracle
from sqlglot.errors import ParseError, TokenError
from sqlglot.parsers.oracle import OracleParser
from sqlglot.tokenizer_core import Token, TokenType

from racwire_lab.database.backend import OracleError
from racwire_lab.oracle_sql.errors import not_supported, oracle_error


class PlainOracle(Oracle):
    """Oracle's grammar without sqlglot's own reading of functions, which loses their format strings."""

    class Parser(OracleParser):
        """Functions are `exp.Anonymous`, but for those with a syntax of their own (CAST, EXTRACT, LISTAGG, TRIM)."""

        FUNCTIONS: ClassVar[dict[str, Callable[..., Any]]] = {}


@dataclass(frozen=True)
class Parsed:
    """A statement's tree, its text, and its words."""

    tree: exp.Expr
    text: str
    tokens: tuple[Token, ...]

    def follows_as(self, identifier: exp.Expr) -> bool:
        """Whether the word AS stands before this identifier."""
        start = identifier.meta.get("start")
        before = [token for token in self.tokens if start is not None and token.end < start]
        return bool(before) and before[-1].token_type is TokenType.ALIAS


_SKIPPED = r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|/\*.*?\*/"
_NUMBERED_BIND = re.compile(rf"({_SKIPPED})|:(\d+)\b", re.DOTALL)
_BIND_PREFIX = "_"


def bind_name(name: str) -> str:
    """The name under which the client gives the bind: `HOURS`, or `1` for `:1`."""
    return name.removeprefix(_BIND_PREFIX).upper()


def offset_of(node: exp.Expr) -> int:
    """Where the node begins in the text; 0 where that is not known."""
    starts = [part.meta["start"] for part in node.walk() if "start" in part.meta]
    return min(starts, default=0)


def what(node: exp.Expr) -> str:
    """What kind of thing a node is, for a person."""
    return re.sub(r"(?<!^)(?=[A-Z])", " ", type(node).__name__).upper()


@lru_cache(maxsize=200)
def parse(sql: str) -> Parsed:
    """Parse one query, whose tree nobody may change. Raises OracleError as the database would."""
    text = sql.rstrip().removesuffix(";")
    numbered = _NUMBERED_BIND.sub(lambda m: m[1] or f":{_BIND_PREFIX}{m[2]}", text)
    try:
        dialect = PlainOracle()
        tokens = dialect.tokenize(numbered)
        _refuse_foreign_words(tokens)
        trees = dialect.parser().parse(tokens, numbered)
    except TokenError:
        raise oracle_error(1756 if _has_open_quote(numbered) else 911) from None
    except ParseError as error:
        raise _from_parser(numbered, error) from None
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        raise oracle_error(933 if len(trees) > 1 else 900)
    return Parsed(trees[0], text, tuple(tokens))


def _has_open_quote(text: str) -> bool:
    return "'" in re.sub(_SKIPPED, "", text, flags=re.DOTALL)


_FOREIGN = {
    TokenType.DCOLON: 933,
    TokenType.L_BRACKET: 936,
    TokenType.L_BRACE: 936,
    TokenType.SEMICOLON: 933,
    TokenType.QUALIFY: 933,
    TokenType.TABLE_SAMPLE: 933,
}


def _refuse_foreign_words(tokens: Sequence[Token]) -> None:
    """What the parser takes although Oracle does not, or takes for something else."""
    for token, following in zip(tokens, (*tokens[1:], None), strict=True):
        if token.token_type in _FOREIGN or token.text in ("==", "&&"):
            raise oracle_error(_FOREIGN.get(token.token_type, 936), offset=token.start)
        if following is None:
            continue
        if token.token_type in (TokenType.COMMA, TokenType.SELECT) and following.token_type is TokenType.FROM:
            raise oracle_error(936, offset=following.start)
        if token.token_type is TokenType.NUMBER and token.end + 1 == following.start and following.text.isalpha():
            raise not_supported(f"the literal {token.text}{following.text}", token.start)


def _from_parser(text: str, error: ParseError) -> OracleError:
    first = error.errors[0] if error.errors else {}
    description = str(first.get("description", ""))
    lines = text.split("\n")
    line = int(first.get("line") or 1)
    # The parser tells the column of the last character of the word that it stumbled over.
    highlight = str(first.get("highlight") or "")
    offset = sum(len(before) + 1 for before in lines[: line - 1]) + max(0, int(first.get("col") or 0) - len(highlight))
    if "Expecting )" in description:
        return oracle_error(907, offset=offset)
    if "Required" in description or "Expected" in description:
        return oracle_error(936, offset=offset)
    return oracle_error(933, offset=offset)
