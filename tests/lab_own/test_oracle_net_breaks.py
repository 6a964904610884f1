"""Statements that hang on the practice database's server, and how python-oracledb cancels them."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import oracledb
import pytest

from racwire_lab.database.backend import Caller, Cancellation, Column, OracleError, OracleType, Result
from racwire_lab.oracle_net.server import OracleServer
from tests.lab_own.oracle_net_support import PASSWORD, SmallDatabase, code, connect
from tests.lab_own.oracle_net_support import connection as connection
from tests.lab_own.oracle_net_support import database as database
from tests.lab_own.oracle_net_support import server as server

SLEEP = "begin sleep; end;"


@pytest.mark.parametrize("by", ["call_timeout", "cancel"])
def test_a_statement_that_takes_too_long_is_cancelled(
    connection: oracledb.Connection, database: SmallDatabase, by: str
) -> None:
    for _ in range(2):
        with ThreadPoolExecutor(1) as other:
            if by == "call_timeout":
                connection.call_timeout = 200
            else:
                other.submit(lambda: (database.asleep.get(timeout=10), connection.cancel()))
            with pytest.raises(oracledb.Error) as error:
                connection.cursor().execute(SLEEP)
        assert code(error.value) == ("DPY-4024" if by == "call_timeout" else "ORA-01013")
        connection.call_timeout = 0
        assert connection.cursor().execute("select * from numbered").fetchone() == (0, "row 0")


def test_rows_that_take_too_long_are_cancelled(connection: oracledb.Connection, database: SmallDatabase) -> None:
    def hanging(_: Caller, __: object, cancellation: Cancellation) -> Result:
        def rows() -> Iterator[tuple[int]]:
            yield (1,)
            cancellation.wait(60)
            raise OracleError(1013, "user requested cancel of current operation")

        return Result((Column("N", OracleType.NUMBER),), rows())

    database.tables["hanging"] = hanging
    cursor = connection.cursor()
    cursor.arraysize = cursor.prefetchrows = 1
    assert cursor.execute("select * from hanging").fetchone() == (1,)
    connection.call_timeout = 200
    with pytest.raises(oracledb.Error, match="DPY-4024"):
        cursor.fetchone()
    connection.call_timeout = 10_000
    assert connection.cursor().execute("select * from numbered").fetchone() == (0, "row 0")


def test_a_break_that_comes_too_late_ends_the_next_statement(connection: oracledb.Connection) -> None:
    connection.cancel()
    with pytest.raises(oracledb.Error, match="ORA-01013"):
        connection.cursor().execute("select * from numbered")
    assert connection.cursor().execute("select * from numbered").fetchone() == (0, "row 0")


def test_one_session_does_not_wait_for_another(server: OracleServer, database: SmallDatabase) -> None:
    with connect(server) as slow, connect(server) as quick, ThreadPoolExecutor(1) as other:
        sleeping = other.submit(slow.cursor().execute, SLEEP)
        database.asleep.get(timeout=10)
        assert len(quick.cursor().execute("select * from numbered").fetchall()) == 3
        slow.cancel()
        with pytest.raises(oracledb.Error, match="ORA-01013"):
            sleeping.result(10)


async def test_the_asynchronous_driver_does_the_same(server: OracleServer) -> None:
    async with oracledb.connect_async(user="scott", password=PASSWORD, dsn=server.dsn) as connection:
        rows = await connection.fetchall("select * from numbered where n < :rows", [300])
        assert rows[-1] == (299, "row 299")
        with pytest.raises(oracledb.Error, match="ORA-00942"):
            await connection.fetchall("select * from missing")
        connection.call_timeout = 200
        with pytest.raises(oracledb.Error, match="DPY-4024"):
            await connection.execute(SLEEP)
        connection.call_timeout = 0
        assert await connection.fetchone("select * from numbered") == (0, "row 0")
