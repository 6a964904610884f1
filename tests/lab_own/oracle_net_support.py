"""Helpers for tests of the Oracle Net server: a small database, and a server on it."""

from __future__ import annotations

import queue
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import oracledb
import pytest

from racwire_lab.database.backend import Caller, Cancellation, Column, OracleError, OracleType, Result
from racwire_lab.oracle_net.releases import RELEASES
from racwire_lab.oracle_net.server import OracleServer, serving
from racwire_lab.oracle_net.verifier import Verifier

PASSWORD = "tiger-Ä-7f3a"
VERIFIER = Verifier.of(PASSWORD, vgen_count=16)
USERS = {"SCOTT": VERIFIER, "SYS": VERIFIER}

Binds = Mapping[str, Any]
Table = Callable[[Caller, Binds, Cancellation], Result]


def numbered(_: Caller, binds: Binds, __: Cancellation) -> Result:
    """Return as many rows as the bind `rows` requests, made while they are fetched."""
    rows = ((i, f"row {i}") for i in range(int(binds.get("ROWS", 3))))
    return Result((Column("N", OracleType.NUMBER, precision=10, scale=0), Column("T", OracleType.VARCHAR2, 200)), rows)


def bound(_: Caller, binds: Binds, __: Cancellation) -> Result:
    """Return one row with the binds as they arrived."""
    return Result(tuple(Column(name, _type_of(value)) for name, value in binds.items()), [tuple(binds.values())])


def session(caller: Caller, *_: object) -> Result:
    """Return the database's data about the caller."""
    names = ("user", "is_sysdba", "module", "action", "client_info")
    columns = tuple(Column(name.upper(), OracleType.VARCHAR2, 100) for name in names)
    return Result(columns, [tuple(str(getattr(caller, name)) for name in names)])


def failing(*_: object) -> Result:
    """Fail after two rows."""

    def rows() -> Iterator[tuple[int]]:
        yield (1,)
        yield (2,)
        raise OracleError(1555, "snapshot too old")

    return Result((Column("N", OracleType.NUMBER),), rows())


def _type_of(value: object) -> OracleType:
    types: dict[type, OracleType] = {
        int: OracleType.NUMBER,
        Decimal: OracleType.NUMBER,
        float: OracleType.BINARY_DOUBLE,
        datetime: OracleType.TIMESTAMP,
        timedelta: OracleType.INTERVAL_DS,
        bytes: OracleType.RAW,
    }
    return types.get(type(value), OracleType.VARCHAR2)


class SmallDatabase:
    """Reads whole tables, raises ORA-00942 for others, and sleeps in `begin sleep; end;` until cancelled."""

    def __init__(self, **tables: Table) -> None:
        self.tables: dict[str, Table] = {
            "numbered": numbered, "dual": bound, "session": session, "failing": failing, **tables
        }  # fmt: skip
        self.statements: list[str] = []
        self.asleep: queue.SimpleQueue[Caller] = queue.SimpleQueue()
        self.left: queue.SimpleQueue[Caller] = queue.SimpleQueue()

    def execute(self, caller: Caller, sql: str, binds: Binds, cancellation: Cancellation) -> Result | None:
        self.statements.append(sql)
        if "sleep" in sql:
            self.asleep.put(caller)
            cancellation.wait(60)
            raise OracleError(1013, "user requested cancel of current operation")
        if "bug" in sql:
            raise ZeroDivisionError
        found = re.search(r"\bfrom\s+(\w+)", sql, re.IGNORECASE)
        if found is None:
            return None
        if found[1] not in self.tables:
            raise OracleError(942, "table or view does not exist", found.start(1))
        return self.tables[found[1]](caller, binds, cancellation)

    def closed(self, caller: Caller) -> None:
        self.left.put(caller)


def serve(database: SmallDatabase | None = None, **options: Any) -> AbstractContextManager[OracleServer]:
    """Return a server on the database, or on a new one."""
    return serving(database or SmallDatabase(), users=USERS, **options)


def connect(server: OracleServer, **options: Any) -> oracledb.Connection:
    """Return a connection of the real driver, as SCOTT by default."""
    return oracledb.connect(**{"user": "scott", "password": PASSWORD, "dsn": server.dsn, **options})


def code(error: BaseException) -> str:
    """Return the code of an error, such as `ORA-00942`."""
    return str(error.args[0].full_code)


# Fixtures, for the files that import them


@pytest.fixture
def database() -> SmallDatabase:
    return SmallDatabase()


@pytest.fixture(params=["12.1", "19c", "23ai"])
def server(request: pytest.FixtureRequest, database: SmallDatabase) -> Iterator[OracleServer]:
    with serve(database, profile=RELEASES[request.param]) as running:
        yield running


@pytest.fixture
def connection(server: OracleServer) -> Iterator[oracledb.Connection]:
    with connect(server) as open_:
        yield open_
