"""The actions of every client with the practice database's server: `scenario.py MODULE PORT`, the password on stdin.

The program imports nothing of racwire. It prints its results as JSON.
"""

from __future__ import annotations

import importlib
import json
import sys
from datetime import datetime, timedelta
from typing import Any


def main(module: str, port: int, password: str) -> dict[str, Any]:
    driver = importlib.import_module(module)

    def connect(secret: str) -> Any:
        return driver.connect(user="scott", password=secret, host="127.0.0.1", port=port, service_name="orcl")

    seen: dict[str, Any] = {"version": driver.__version__, "refused": attempt(driver, lambda: connect("wrong"))}
    connection = connect(password)
    cursor = connection.cursor()
    cursor.execute("select * from numbered where n < :rows", {"rows": 1234})
    rows = cursor.fetchall()
    seen["rows"] = [len(rows), list(rows[-1])]
    cursor.execute(
        "select :a, :b, :c, :d, :e from dual",
        {"a": 42, "b": "é" * 3000, "c": datetime(2026, 1, 2, 3, 4, 5), "d": timedelta(days=1, seconds=2), "e": None},
    )
    seen["binds"] = [str(value) for value in cursor.fetchone()]
    seen["error"] = attempt(driver, lambda: cursor.execute("select * from missing"))
    cursor.execute("select * from session")
    seen["user"] = cursor.fetchone()[0]
    connection.commit()
    connection.close()
    return seen


def attempt(driver: Any, action: Any) -> str:
    """Return the code of the error that the action raises."""
    try:
        action()
    except driver.Error as error:
        return str(error)[:9]
    return "no error"


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], int(sys.argv[2]), sys.stdin.readline().rstrip("\n"))))
