"""Statements, binds, rows and errors: python-oracledb in thin mode against the practice database's server."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import oracledb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from racwire_lab.database.backend import Column, OracleType, Result
from racwire_lab.oracle_net.server import OracleServer
from tests.lab_own.oracle_net_support import SmallDatabase, code, connect
from tests.lab_own.oracle_net_support import connection as connection
from tests.lab_own.oracle_net_support import database as database
from tests.lab_own.oracle_net_support import server as server


def test_every_type_is_returned_unchanged(connection: oracledb.Connection, database: SmallDatabase) -> None:
    moment = datetime(2026, 1, 2, 3, 4, 5, 678901)
    row = (
        42,
        Decimal("-12.34"),
        "é" * 400,
        "abc",
        moment.replace(microsecond=0),
        moment,
        moment.replace(tzinfo=UTC),
        timedelta(days=-3, hours=2, microseconds=1),
        -0.1,
        b"\x00\xff",
        "long " * 50_000,
    )
    types = [
        OracleType.NUMBER,
        OracleType.NUMBER,
        OracleType.VARCHAR2,
        OracleType.CHAR,
        OracleType.DATE,
        OracleType.TIMESTAMP,
        OracleType.TIMESTAMP_TZ,
        OracleType.INTERVAL_DS,
        OracleType.BINARY_DOUBLE,
        OracleType.RAW,
        OracleType.CLOB,
    ]
    columns = tuple(Column(f"C{position}", type_, 4000) for position, type_ in enumerate(types))
    nulls = (None,) * len(row)
    database.tables["everything"] = lambda *_: Result(columns, [row, nulls])
    cursor = connection.cursor()
    for _ in range(2):
        first, second = cursor.execute("select * from everything").fetchall()
        # The driver gives times with a zone without it.
        assert first[:-1] == (42, -12.34, *row[2:6], moment, *row[7:-1])
        assert first[-1].read() == row[-1]
        assert (first[-1].size(), first[-1].read(3, 4)) == (250_000, "ng l")
        assert second == nulls
    assert [column.name for column in cursor.description] == [column.name for column in columns]
    described = [column.type_code.name.removeprefix("DB_TYPE_") for column in cursor.description]
    assert described == [type_.name.replace("VARCHAR2", "VARCHAR") for type_ in types]


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    binds=st.lists(
        st.one_of(
            st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=1500),
            st.integers(-(10**30), 10**30),
            # The driver binds a datetime as DATE.
            st.datetimes().map(lambda moment: moment.replace(microsecond=0)),
            st.timedeltas(timedelta(days=-99_999_999), timedelta(days=99_999_999)),
            st.none(),
        ),
        min_size=1,
        max_size=12,
    )
)
def test_binds_round_trip(connection: oracledb.Connection, binds: list[object]) -> None:
    names = [f"b{position}" for position in range(len(binds))]
    sql = f"select {', '.join(':' + name for name in names)} from dual"
    cursor = connection.cursor()
    # An implicit float would lose digits.
    cursor.outputtypehandler = lambda cursor, column: (
        cursor.var(int, arraysize=cursor.arraysize) if column.type_code is oracledb.DB_TYPE_NUMBER else None
    )
    (row,) = cursor.execute(sql, dict(zip(names, binds, strict=True))).fetchall()
    assert list(row) == binds


def test_fractions_are_bound_exactly(connection: oracledb.Connection) -> None:
    with connection.cursor() as cursor:
        cursor.setinputsizes(d=oracledb.DB_TYPE_BINARY_DOUBLE)
        row = cursor.execute("select :a, :b, :d from dual", a=Decimal("0.1"), b=2.5, d=0.1).fetchone()
        assert row == (0.1, 2.5, 0.1)


@pytest.mark.parametrize(("arraysize", "prefetch"), [(100, 2), (7, 3), (1, 1), (1000, 1001), (50, 0)])
def test_rows_are_fetched_in_portions_of_any_size(
    connection: oracledb.Connection, arraysize: int, prefetch: int
) -> None:
    cursor = connection.cursor()
    cursor.arraysize, cursor.prefetchrows = arraysize, prefetch
    for count in (0, 1, 99, 523):
        rows = cursor.execute("select * from numbered where n < :rows", rows=count).fetchall()
        assert rows == [(i, f"row {i}") for i in range(count)]


def test_results_are_computed_only_as_far_as_they_are_fetched(
    connection: oracledb.Connection, database: SmallDatabase
) -> None:
    made = []

    def endless(*_: object) -> Result:
        def rows() -> Iterator[tuple[int]]:
            while True:
                made.append(len(made))
                yield (made[-1],)

        return Result((Column("N", OracleType.NUMBER),), rows())

    database.tables["endless"] = endless
    cursor = connection.cursor()
    cursor.arraysize = cursor.prefetchrows = 50
    assert cursor.execute("select * from endless").fetchmany(120)[-1] == (119,)
    assert len(made) == 150


def test_statements_are_cached_and_run_again(connection: oracledb.Connection, database: SmallDatabase) -> None:
    for count in (3, 4, 0, 250, 1):
        assert len(connection.cursor().execute("select * from numbered where n < :rows", [count]).fetchall()) == count
    assert database.statements == ["select * from numbered where n < :rows"] * 5


def test_cursors_are_closed_when_the_client_releases_them(connection: oracledb.Connection) -> None:
    connection.stmtcachesize = 5
    for number in range(400):
        connection.cursor().execute(f"select {number} from dual")
    held = [connection.cursor() for _ in range(310)]

    def hold() -> None:
        for number, cursor in enumerate(held):
            cursor.execute(f"select :rows, {number} from numbered", rows=9)

    with pytest.raises(oracledb.Error, match="ORA-01000"):
        hold()


def test_an_error_has_its_position_and_leaves_the_connection_usable(connection: oracledb.Connection) -> None:
    for _ in range(3):
        with pytest.raises(oracledb.DatabaseError) as error:
            connection.cursor().execute("select * from missing")
        assert (code(error.value), error.value.args[0].offset) == ("ORA-00942", 14)
        assert "table or view does not exist" in str(error.value)
    assert connection.cursor().execute("select * from numbered").fetchone() == (0, "row 0")


def test_an_error_in_a_row_is_raised_at_its_fetch(connection: oracledb.Connection) -> None:
    cursor = connection.cursor()
    cursor.arraysize = cursor.prefetchrows = 1
    cursor.execute("select * from failing")
    assert [cursor.fetchone(), cursor.fetchone()] == [(1,), (2,)]
    with pytest.raises(oracledb.DatabaseError) as error:
        cursor.fetchone()
    assert code(error.value) == "ORA-01555"


def test_a_bug_of_the_backend_is_an_internal_error_and_logged(
    server: OracleServer, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(2):
        # The driver gives up a connection with an ORA-00600; the server goes on.
        with connect(server) as connection, pytest.raises(oracledb.Error, match=r"ORA-00600.*ZeroDivisionError"):
            connection.cursor().execute("select bug")
    assert caplog.text.count("a statement failed unexpectedly") == 2


@pytest.mark.parametrize("binds", [{}, {"a": 1}])
def test_missing_binds_are_reported(connection: oracledb.Connection, binds: dict[str, int]) -> None:
    with pytest.raises(oracledb.Error, match=r"ORA-01008|DPY-4010"):
        connection.cursor().execute("select :a, :b from dual", binds)


def test_statements_without_rows_reach_the_backend(connection: oracledb.Connection, database: SmallDatabase) -> None:
    statements = ["alter session set nls_sort = binary", "set transaction read only", "begin dbms_x.y(:a, :b); end;"]
    cursor = connection.cursor()
    for sql in statements:
        cursor.execute(sql, {"a": 1, "b": cursor.var(str)} if ":a" in sql else {})
    cursor.executemany("insert into nothing values (:1)", [(1,), (2,), (3,)])
    assert database.statements == [*statements, *["insert into nothing values (:1)"] * 3]


def test_the_end_of_a_transaction_ends_its_read_only_mode(
    connection: oracledb.Connection, server: OracleServer
) -> None:
    (caller,) = server.callers
    for end in (connection.commit, connection.rollback):
        caller.is_read_only = True
        end()
        assert not caller.is_read_only
    connection.ping()


def test_a_statement_can_be_parsed_only_for_its_columns(connection: oracledb.Connection) -> None:
    cursor = connection.cursor()
    cursor.parse("select * from numbered")
    assert [column.name for column in cursor.description] == ["N", "T"]


def test_a_block_with_out_binds_runs_again(connection: oracledb.Connection, database: SmallDatabase) -> None:
    cursor = connection.cursor()
    out = cursor.var(str)
    for _ in range(3):
        cursor.execute("begin p(:a, :out); end;", a=1, out=out)
    assert out.getvalue() is None
    assert len(database.statements) == 3


@pytest.mark.parametrize("end", ["cursor is closed", "session is over"])
def test_rows_that_are_never_fetched_are_released(server: OracleServer, database: SmallDatabase, end: str) -> None:
    let_go = threading.Event()

    def endless(*_: object) -> Result:
        def rows() -> Iterator[tuple[int]]:
            try:
                while True:
                    yield (1,)
            finally:
                let_go.set()

        return Result((Column("N", OracleType.NUMBER),), rows())

    database.tables["endless"] = endless
    with connect(server, stmtcachesize=0) as connection:
        with connection.cursor() as cursor:
            assert cursor.execute("select * from endless").fetchone() == (1,)
            assert not let_go.is_set()
        if end == "cursor is closed":
            connection.ping()
            assert let_go.wait(10)
    assert let_go.wait(10)
