"""Statements that are no query: those that set up a session succeed, those that write are refused."""

from __future__ import annotations

import re

from racwire_lab.database.backend import Caller
from racwire_lab.oracle_sql.errors import not_supported, oracle_error

_COMMENT = re.compile(r"\s+|--[^\n]*(?:\n|$)|/\*.*?\*/", re.DOTALL)
_WRITES = frozenset(
    (
        *("INSERT", "UPDATE", "DELETE", "MERGE", "CREATE", "DROP", "TRUNCATE", "GRANT", "REVOKE", "RENAME", "COMMENT"),
        *("LOCK", "AUDIT", "NOAUDIT", "ANALYZE", "PURGE", "FLASHBACK"),
    )
)
_BLOCK = re.compile(r"(BEGIN|DECLARE)\b.*\bEND\s*;?\s*", re.IGNORECASE | re.DOTALL)
_HARMLESS_CALL = re.compile(
    r"(?:SYS\.)?(?:DBMS_APPLICATION_INFO\.(?:SET_MODULE|SET_ACTION|SET_CLIENT_INFO)|DBMS_SESSION\.SET_IDENTIFIER)\s*\("
    r"[^;]*\)\s*;|NULL\s*;",
    re.IGNORECASE,
)

SNAPSHOTS = "snapshots"
"""Where `Caller.extra` keeps the living instances' states that history ends with in a read-only transaction."""


def first_word(sql: str) -> str:
    """The statement's first word, upper case, comments and parentheses left out."""
    position = 0
    while (matched := _COMMENT.match(sql, position)) or sql[position : position + 1] == "(":
        position = matched.end() if matched else position + 1
    word = re.match(r"[A-Za-z]+", sql[position:])
    return word[0].upper() if word else ""


def is_query(sql: str) -> bool:
    """Whether it is a SELECT."""
    return first_word(sql) in ("SELECT", "WITH")


def run_command(caller: Caller, sql: str) -> None:
    """Run a statement that is no query. Raises OracleError for what this database does not do."""
    word = first_word(sql)
    text = " ".join(_COMMENT.sub(" ", sql).upper().rstrip(";").split())
    if word in ("COMMIT", "ROLLBACK"):
        caller.is_read_only = False
    elif word == "SET" and text.startswith("SET TRANSACTION"):
        caller.is_read_only = text.startswith("SET TRANSACTION READ ONLY")
        caller.extra.pop(SNAPSHOTS, None)
    elif word == "ALTER" and text.startswith("ALTER SESSION SET "):
        return
    elif word in ("BEGIN", "DECLARE"):
        _block(sql)
    elif word in _WRITES or word == "ALTER":
        raise oracle_error(1456 if caller.is_read_only and word != "ALTER" else 1031)
    else:
        raise oracle_error(900)


def _block(sql: str) -> None:
    bare = _COMMENT.sub(" ", sql).strip()
    if not _BLOCK.fullmatch(bare):
        raise oracle_error(900)
    body = re.sub(r"^BEGIN\b|\bEND\s*;?$", "", bare, flags=re.IGNORECASE).strip()
    if _HARMLESS_CALL.sub("", body).strip():
        raise not_supported("PL/SQL other than DBMS_APPLICATION_INFO")
