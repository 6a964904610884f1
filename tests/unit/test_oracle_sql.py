"""The practice database as a whole: which views it has, for whom, in which version, and how it is broken off."""

import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Literal

import pytest

pytest.importorskip("duckdb")

from checks.lab.oracle.backend import Caller, Cancellation, OracleError
from checks.lab.oracle.live import InstanceState, Waits
from checks.lab.oracle.sql.access import Access
from checks.lab.oracle.sql.engine import SqlEngine
from tests.unit.oracle_sql_database import STARTED, Instances, ask, engine, instance_state, result

DATABASE = engine()


def refused(database: SqlEngine, sql: str, binds: dict[str, Any] | None = None, **caller: Any) -> OracleError:
    with pytest.raises(OracleError) as error:
        list(database.execute(Caller("RACWIRE", 1, 1, **caller), sql, binds or {}, Cancellation()).rows)
    return error.value


def run(database: SqlEngine, caller: Caller, sql: str) -> None:
    assert database.execute(caller, sql, {}, Cancellation()) is None


# What the instances say


def test_a_gv_view_has_rows_of_every_instance_and_a_v_view_of_this_one():
    assert ask(DATABASE, "SELECT i.inst_id, i.instance_name FROM gv$instance i ORDER BY 1") == [
        (1, "lab1"),
        (2, "lab2"),
    ]
    assert ask(DATABASE, "SELECT instance_number, host_name FROM v$instance") == [(1, "rac1")]
    assert ask(DATABASE, "SELECT s.value FROM sys.gv_$sysstat s WHERE s.name = 'gc cr blocks received'") == [
        (1000,),
        (2000,),
    ]


def test_rows_are_those_of_the_moment():
    source = Instances(instance_state(1))
    database = engine(source=source)
    question = "SELECT value FROM v$sysstat WHERE name = 'gc blocks lost'"
    assert ask(database, question) == [(0,)]
    source.all[0].statistics["gc blocks lost"] = 5
    assert ask(database, question) == [(5,)]


def test_all_instances_are_only_asked_for_gv_views():
    asked: list[str] = []

    class Source(Instances):
        def states(self, scope: Literal["here", "everywhere"], cancellation: Cancellation) -> tuple[InstanceState, ...]:
            asked.append(scope)
            return super().states(scope, cancellation)

    database = engine(source=Source())
    ask(database, "SELECT 1 FROM dual")
    assert asked == []
    ask(database, "SELECT name FROM v$database")
    ask(database, "SELECT name FROM gv$database")
    assert asked == ["here", "everywhere"]


def test_losses_are_told_per_sender_and_class_of_block():
    rows = ask(DATABASE, "SELECT inst_id, instance, class, cr_block, lost, cr_3hop FROM gv$instance_cache_transfer")
    assert len(rows) == 8
    assert (1, 2, "data block", 1000, 0, 0) in rows
    assert (1, 2, "undo header", 0, 0, 0) in rows


def test_pings_have_a_row_for_the_instance_itself():
    rows = ask(DATABASE, "SELECT instance, count_500b, average_500b, average_8k FROM v$instance_ping ORDER BY instance")
    assert rows == [(1, 0, 0, 0), (2, 10, 150, 250)]


def test_the_histogram_in_milliseconds_sums_up_the_one_in_microseconds():
    waits = {"gc cr block 2-way": Waits(7, 9000, histogram={"256": 1, "512": 2, "1024": 1, "2048": 2, "16384": 1})}
    database = engine(source=Instances(instance_state(1, events=waits)))
    micro = ask(database, "SELECT wait_time_micro, wait_count FROM v$event_histogram_micro ORDER BY 1")
    milli = ask(database, "SELECT wait_time_milli, wait_count FROM v$event_histogram ORDER BY 1")
    assert micro == [(256, 1), (512, 2), (1024, 1), (2048, 2), (16384, 1)]
    assert milli == [(1, 4), (2, 2), (16, 1)]


def test_an_instance_tells_when_it_was_started_in_its_hosts_time():
    ((started, version),) = ask(DATABASE, "SELECT startup_time, version_full FROM v$instance")
    assert started == datetime.fromtimestamp(STARTED)
    assert version == "19.22.0.0.0"


def test_an_empty_text_is_null():
    assert ask(DATABASE, "SELECT value FROM v$parameter WHERE name = 'cluster_interconnects'") == [(None,)]


# Versions


@pytest.mark.parametrize(
    ("version", "columns"),
    [
        ("11.2.0.4.0", {"PIN1", "WRITE1"}),
        ("12.1.0.2.0", {"PIN1", "WRITE1", "CON_ID"}),
        ("12.2.0.1.0", {"PIN0", "PIN1", "WRITE1", "CON_ID"}),
        ("19.22.0.0.0", {"PIN0", "PIN1", "WRITE1", "CON_ID"}),
        ("23.4.0.24.5", {"PINUNDER", "PIN0", "PIN1", "PINOVER", "CON_ID"}),
    ],
)
def test_a_view_has_the_columns_of_the_version(version: str, columns: set[str]):
    told = result(engine(version), "SELECT * FROM v$current_block_server").columns
    some = {"PINUNDER", "PIN0", "PIN1", "PINOVER", "WRITE1", "CON_ID"}
    assert {column.name for column in told} & some == columns


def test_the_transport_of_an_interconnect_is_told_from_26ai_on():
    question = "SELECT transport FROM v$cluster_interconnects"
    assert ask(engine("23.26.0.0.0"), question) == [("UDP",), ("UDP",)]
    assert refused(engine("23.4.0.24.5"), question).code == 904


def test_a_view_of_a_later_version_is_not_there():
    assert refused(engine("11.2.0.4.0"), "SELECT 1 FROM v$event_histogram_micro").code == 942


def test_containers_are_unknown_to_11_2():
    question = "SELECT SYS_CONTEXT('USERENV', 'CON_NAME') AS c FROM dual"
    assert refused(engine("11.2.0.4.0"), question).code == 2003
    assert ask(engine("12.1.0.2.0", is_multitenant=False), question) == [("LAB",)]
    assert ask(engine(), question) == [("CDB$ROOT",)]
    assert ask(engine(container="SALES", container_id=3), question) == [("SALES",)]


def test_a_session_is_told_who_and_where_it_is():
    names = ("SESSION_USER", "DB_UNIQUE_NAME", "INSTANCE", "INSTANCE_NAME", "SERVER_HOST", "ISDBA", "MODULE")
    wanted = ", ".join(f"SYS_CONTEXT('USERENV', '{name}') AS x{name}" for name in names)
    caller = Caller("racwire", 7, 1, module="racwire")
    assert ask(DATABASE, f"SELECT {wanted}, USER FROM dual", caller=caller) == [
        ("RACWIRE", "lab", "1", "lab1", "rac1", "FALSE", "racwire", "RACWIRE")
    ]
    assert refused(DATABASE, "SELECT SYS_CONTEXT('USERENV', 'SHOE_SIZE') FROM dual").code == 2003


# Errors


@pytest.mark.parametrize(
    ("sql", "code", "marked"),
    [
        ("SELECT 1 FROM v$sistat", 942, "v$sistat"),
        ("SELECT s.value,\n       s.val FROM v$sysstat s", 904, "s.val"),
        ("SELECT value FROM v$sysstat a, v$sysstat b", 918, "value"),
        ("SELECT GONE(1) FROM dual", 904, "GONE"),
        ("SELECT 1 FROM dual WHERE", 936, ""),
        ("SELECT FROM dual", 936, "FROM"),
        ("SELECT 1, FROM dual", 936, "FROM"),
        ("SELECT (1 FROM dual", 907, ""),
        ("SELECT 1 FROM dual x y", 933, ""),
        ("SELECT 1 FROM dual AS x", 933, "x"),
        ("SELECT 1 FROM dual LIMIT 5", 933, ""),
        ("SELECT 1::int FROM dual", 933, "::"),
        ("SELECT 'open FROM dual", 1756, ""),
        ("SELECT 1", 923, ""),
        ("SELECT 1 + 'x' FROM dual", 1722, ""),
        ("SELECT 1 / 0 FROM dual", 1476, ""),
        ("SELECT 1 / (1 - value / value) FROM v$sysstat WHERE value > 0", 1476, ""),
        ("SELECT name, SUM(value) FROM v$sysstat", 937, ""),
        ("SELECT name, SUM(value) FROM v$sysstat GROUP BY class", 979, ""),
        ("SELECT name FROM v$sysstat WHERE SUM(value) > 1", 934, "SUM"),
        ("SELECT name FROM v$sysstat GROUP BY 1", 979, "1"),
        ("SELECT value x FROM v$sysstat WHERE x > 1", 904, "x > 1"),
        ("SELECT (SELECT value FROM v$sysstat) FROM dual", 1427, ""),
        ("SELECT 1 FROM dual WHERE 1", 920, ""),
        ("SELECT name || startup_time FROM v$instance, v$database", 900, ""),
        ("SELECT SYSDATE + SYSDATE FROM dual", 932, ""),
        ("SELECT 1 FROM dual WHERE SYSDATE > '2026-01-15'", 900, ""),
        ("SELECT CASE WHEN 1 = 1 THEN 1 ELSE 'x' END FROM dual", 932, ""),
        ("SELECT TO_CHAR(SYSDATE, 'QQ') FROM dual", 1821, ""),
        ("SELECT TO_DATE('x', 'YYYY') FROM dual", 1861, ""),
        ("SELECT EXTRACT(HOUR FROM SYSDATE) FROM dual", 30076, ""),
        ("SELECT 1 FROM dual UNION SELECT 1, 2 FROM dual", 1789, ""),
        ("SELECT 1 FROM dual UNION SELECT 'x' FROM dual", 1790, ""),
        ("SELECT value FROM v$sysstat ORDER BY 2", 1785, "2"),
        ("SELECT :gone FROM dual", 1008, ""),
        ("SELECT ROUND(1) OVER () FROM dual", 900, ""),
        ("SELECT value FROM v$sysstat WHERE ROW_NUMBER() OVER (ORDER BY value) = 1", 30483, "ROW_NUMBER"),
        ("SELECT 99999999999999999999 * 99999999999999999999 FROM dual", 1426, ""),
        ("EXPLAIN PLAN FOR SELECT 1 FROM dual", 900, ""),
        ("", 900, ""),
    ],
)
def test_what_is_wrong_is_told_as_the_database_does(sql: str, code: int, marked: str):
    error = refused(DATABASE, sql)
    assert error.code == code
    if marked:
        assert sql[error.offset :].startswith(marked)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a.name FROM v$sysstat a, v$statname b WHERE a.name = b.name(+)",
        "SELECT LEVEL FROM dual CONNECT BY LEVEL < 3",
        "SELECT a.name FROM v$sysstat a NATURAL JOIN v$statname b",
        "SELECT COUNT(*) FROM v$sysstat WHERE ROWNUM <= 3",
        "SELECT name FROM v$sysstat WHERE ROWNUM <= 3 ORDER BY value",
        "SELECT MAX(name) KEEP (DENSE_RANK FIRST ORDER BY value) FROM v$sysstat",
        "SELECT name FROM v$sysstat GROUP BY ROLLUP(name)",
        "SELECT name FROM v$sysstat FETCH FIRST 5 PERCENT ROWS ONLY",
        "SELECT TO_CHAR(SYSDATE) FROM dual",
        "SELECT TO_CHAR(5, 'XXX') FROM dual",
        "SELECT INTERVAL '1' MONTH FROM dual",
        "SELECT 1.5f FROM dual",
        "SELECT TRUNC(SYSDATE, 'WW') FROM dual",
    ],
)
def test_what_could_be_answered_wrong_is_refused(sql: str):
    assert refused(DATABASE, sql).code in (900, 933)


# Access


def test_a_user_sees_what_is_granted_and_nothing_else():
    database = engine(access=Access({"RACWIRE": frozenset({"SYS.GV_$SYSSTAT", "SYS.DBA_HIST_SNAPSHOT"})}))
    assert len(ask(database, "SELECT 1 FROM gv$sysstat")) > 0
    assert ask(database, "SELECT 1 FROM dba_hist_snapshot") == []
    assert refused(database, "SELECT 1 FROM v$sysstat").code == 942
    assert refused(database, "SELECT 1 FROM sys.dba_hist_sysstat").code == 942
    assert refused(database, "SELECT 1 FROM stats$snapshot").code == 942
    assert refused(database, "SELECT 1 FROM dual, v$instance").offset == len("SELECT 1 FROM dual, ")


def test_sysdba_sees_everything():
    database = engine(access=Access())
    assert ask(database, "SELECT USER FROM v$instance", caller=Caller("SYS", 1, 1, is_sysdba=True)) == [("SYS",)]


def test_what_everybody_may_read_needs_no_grant():
    database = engine(access=Access())
    assert ask(database, "SELECT inst_number FROM v$active_instances ORDER BY 1") == [(1,), (2,)]


def test_a_session_finds_out_whether_statspack_is_there():
    question = "SELECT table_name FROM all_tables WHERE owner = 'PERFSTAT' AND table_name = 'STATS$SNAPSHOT'"
    assert ask(DATABASE, question) == [("STATS$SNAPSHOT",)]
    assert ask(engine(access=Access()), question) == []
    without = engine(has_statspack=False)
    assert ask(without, question) == []
    assert refused(without, "SELECT 1 FROM perfstat.stats$snapshot").code == 942


# Commands


@pytest.mark.parametrize(
    "sql",
    [
        "SET TRANSACTION READ ONLY",
        "alter session set nls_date_format = 'YYYY'",
        "COMMIT",
        "BEGIN DBMS_APPLICATION_INFO.SET_MODULE('racwire', 'sysstat'); END;",
        "/* x */ begin null; end;",
    ],
)
def test_commands_that_set_up_a_session_succeed(sql: str):
    run(DATABASE, Caller("RACWIRE", 1, 1), sql)


@pytest.mark.parametrize(
    "sql", ["DELETE FROM stats$snapshot", "CREATE TABLE t (a NUMBER)", "-- x\nINSERT INTO t VALUES (1)"]
)
def test_nothing_is_ever_written(sql: str):
    caller = Caller("RACWIRE", 1, 1)
    with pytest.raises(OracleError, match="ORA-01031"):
        run(DATABASE, caller, sql)
    run(DATABASE, caller, "SET TRANSACTION READ ONLY")
    with pytest.raises(OracleError, match="ORA-01456"):
        run(DATABASE, caller, sql)
    run(DATABASE, caller, "ROLLBACK")
    with pytest.raises(OracleError, match="ORA-01031"):
        run(DATABASE, caller, sql)


def test_a_block_that_does_more_is_refused():
    with pytest.raises(OracleError, match="ORA-00900"):
        run(DATABASE, Caller("RACWIRE", 1, 1), "BEGIN DBMS_LOCK.SLEEP(60); END;")


# Breaking off


ENDLESS = (
    "SELECT COUNT(*) AS n FROM gv$sysstat a, gv$sysstat b, gv$sysstat c, gv$sysstat d, gv$sysstat e, gv$sysstat f, "
)
ENDLESS += "gv$sysstat g, gv$sysstat h, gv$sysstat i, gv$sysstat j WHERE a.value + b.value * c.value > j.value"


def in_thread(work: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=work)
    thread.start()
    return thread


@pytest.mark.parametrize("delay_s", [0.0, 0.2])
def test_a_query_that_would_not_end_is_broken_off(delay_s: float):
    cancellation, errors = Cancellation(), []

    def work() -> None:
        try:
            list(DATABASE.execute(Caller("RACWIRE", 1, 1), ENDLESS, {}, cancellation).rows)
        except OracleError as error:
            errors.append(error.code)

    thread = in_thread(work)
    time.sleep(delay_s)
    cancellation.cancel()
    thread.join(10)
    assert errors == [1013]
    assert ask(DATABASE, "SELECT 1 FROM dual") == [(1,)]


def test_a_call_that_is_broken_off_before_it_runs_does_not_run():
    cancellation = Cancellation()
    cancellation.cancel()
    with pytest.raises(OracleError, match="ORA-01013"):
        DATABASE.execute(Caller("RACWIRE", 1, 1), ENDLESS, {}, cancellation)


def test_a_hung_instance_hangs_what_asks_all_of_them_until_it_is_broken_off():
    class Hung(Instances):
        def states(self, scope: Literal["here", "everywhere"], cancellation: Cancellation) -> tuple[InstanceState, ...]:
            if scope == "everywhere":
                assert cancellation.wait(10)
                raise OracleError(1013, "user requested cancel of current operation")
            return super().states(scope, cancellation)

    database, cancellation, errors = engine(source=Hung()), Cancellation(), []

    def work() -> None:
        try:
            database.execute(Caller("RACWIRE", 1, 1), "SELECT 1 FROM gv$instance", {}, cancellation)
        except OracleError as error:
            errors.append(error.code)

    thread = in_thread(work)
    assert ask(database, "SELECT instance_number FROM v$instance") == [(1,)]
    cancellation.cancel()
    thread.join(10)
    assert errors == [1013]


def test_many_sessions_ask_at_once():
    wrong: list[object] = []

    def work(number: int) -> None:
        for _ in range(10):
            found = ask(DATABASE, "SELECT SUM(value) + :n AS s FROM gv$sysstat", {"n": number})
            if found != [(8631 + number,)]:
                wrong.append(found)

    threads = [in_thread(lambda number=number: work(number)) for number in range(6)]
    for thread in threads:
        thread.join(30)
    assert wrong == []


# History


class Snapshots:
    """A history with a snapshot an hour, and one more of each living instance."""

    fills = 0

    def fill(self, connection: Any) -> None:
        self.fills += 1
        connection.execute(
            "INSERT INTO dba_hist_snapshot (snap_id, dbid, instance_number, end_interval_time) "
            "SELECT range, 1, 1, TIMESTAMP '2026-01-01 00:00:00' + INTERVAL 1 HOUR * range FROM range(5)"
        )

    def refresh(self, connection: Any, states: tuple[InstanceState, ...]) -> None:
        connection.execute("DELETE FROM dba_hist_snapshot WHERE snap_id = 100")
        for state in states:
            connection.execute(
                "INSERT INTO dba_hist_snapshot (snap_id, dbid, instance_number) VALUES (100, 1, ?)", [state.instance]
            )


def test_history_is_filled_once_and_refreshed_for_each_statement_that_reads_it():
    history = Snapshots()
    database = engine(history=history)
    question = "SELECT snap_id, instance_number FROM dba_hist_snapshot ORDER BY 1, 2"
    for _ in range(2):
        assert ask(database, question) == [(0, 1), (1, 1), (2, 1), (3, 1), (4, 1), (100, 1), (100, 2)]
    assert history.fills == 1
    ((interval,),) = ask(database, "SELECT MAX(end_interval_time) - MIN(end_interval_time) AS i FROM dba_hist_snapshot")
    assert interval == timedelta(hours=4)


def test_history_does_not_wait_for_a_hung_instance(monkeypatch: pytest.MonkeyPatch):
    class Hung(Instances):
        def states(self, scope: Literal["here", "everywhere"], cancellation: Cancellation) -> tuple[InstanceState, ...]:
            if scope == "everywhere":
                assert cancellation.wait(10)
                raise OracleError(1013, "user requested cancel of current operation")
            return super().states(scope, cancellation)

    monkeypatch.setattr("checks.lab.oracle.sql.engine._HISTORY_WAITS_S", 0.05)
    database = engine(source=Hung(), history=Snapshots())
    assert ask(database, "SELECT COUNT(*) AS n FROM dba_hist_snapshot WHERE snap_id = 100") == [(1,)]
