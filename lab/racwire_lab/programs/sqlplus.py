"""sqlplus of the practice cluster: it logs in AS SYSDBA, runs the statements of its standard input, and prints rows.

It knows one login, `sqlplus / as sysdba`, and needs python-oracledb, as racwire does. Commands of SQL*Plus, such as
STARTUP, are refused: srvctl stops and starts the practice database.
"""

from __future__ import annotations

import os
import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

_LOGIN = re.compile(r"/\s+as\s+sysdba", re.IGNORECASE)
_COMMANDS = ("STARTUP", "SHUTDOWN", "CONNECT", "SET", "SPOOL", "COLUMN", "PROMPT", "DESC", "SHOW")
_END = ("EXIT", "QUIT")


def main(arguments: Sequence[str]) -> int:
    """Run the program and return its exit code: 0 done, 1 where it cannot log in or understand its arguments."""
    words = [word for word in arguments if word.upper() not in ("-S", "-L", "-SILENT")]
    if not _LOGIN.fullmatch(" ".join(words)):
        print("sqlplus of the practice cluster knows one login: sqlplus / as sysdba", file=sys.stderr)
        return 1
    try:
        import oracledb
    except ImportError:
        print("sqlplus of the practice cluster needs python-oracledb: pip install oracledb", file=sys.stderr)
        return 1
    directory = Path(os.environ.get("RACWIRE_LAB", ""))
    try:
        login = tomllib.loads((directory / "settings.toml").read_text(encoding="utf-8"))["database"]
        password = Path(login["password_file"]).read_text(encoding="ascii").strip()
    except (OSError, KeyError):
        print("ERROR:\nORA-01017: invalid username/password; logon denied")
        return 1
    try:
        connection = oracledb.connect(
            user="SYS", password=password, dsn=login["connect"], mode=oracledb.AUTH_MODE_SYSDBA
        )
    except oracledb.Error:
        print("Connected to an idle instance.\n")
        for statement in statements(sys.stdin):
            print(f"{_refused(statement) or _IDLE}\n")
        return 0
    with connection:
        for statement in statements(sys.stdin):
            _run(connection, oracledb.Error, statement)
    return 0


_IDLE = "ERROR at line 1:\nORA-01034: ORACLE not available"


def _refused(statement: str) -> str:
    """Return the refusal of a command of SQL*Plus; empty for a statement."""
    if statement.split(" ", 1)[0].upper() not in _COMMANDS:
        return ""
    return f"SP2-0734: the practice cluster does not know {statement!r}; srvctl stops and starts the database."


def statements(lines: TextIO | Sequence[str]) -> Iterator[str]:
    """Yield each statement without its semicolon, and each command of SQL*Plus, until EXIT or the end."""
    found: list[str] = []
    for line in lines:
        text = line.strip()
        word = text.split(" ", 1)[0].rstrip(";").upper()
        if not found and word in _END:
            return
        if not found and (not text or word in _COMMANDS):
            if text:
                yield text
            continue
        found.append(text.removesuffix(";"))
        if text.endswith(";"):
            yield "\n".join(found)
            found = []
    if any(found):
        yield "\n".join(found)


def _run(connection: Any, failed: type[Exception], statement: str) -> None:
    if refused := _refused(statement):
        print(refused)
        return
    with connection.cursor() as cursor:
        try:
            cursor.execute(statement)
        except failed as error:
            print(f"ERROR at line 1:\n{_first_line(error)}\n")
            return
        if cursor.description is None:
            words = " ".join(statement.split()[:2]).upper()
            print({"CREATE RESTORE": "Restore point created.", "DROP RESTORE": "Restore point dropped."}.get(words, ""))
            return
        names = [column[0] for column in cursor.description]
        rows = [["" if value is None else str(value) for value in row] for row in cursor.fetchall()]
    if not rows:
        print("\nno rows selected\n")
        return
    wide = [max(len(cell) for cell in column) for column in zip(names, *rows, strict=True)]
    for row in (names, ["-" * size for size in wide], *rows):
        print(" ".join(f"{cell:<{size}}" for cell, size in zip(row, wide, strict=True)).rstrip())
    print()


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
