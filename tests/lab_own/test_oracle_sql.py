"""The practice database as a whole: its views by version, the grants, and cancelled statements."""

import threading
import time
from collections.abc import Callable
from datetime import datetime
from typing import Literal

import pytest

pytest.importorskip("duckdb")

from racwire_lab.database.backend import Caller, Cancellation, OracleError
from racwire_lab.database.live import InstanceState, Waits
from racwire_lab.oracle_sql.identity import Access
from tests.lab_own.oracle_sql_database import STARTED, Instances, ask, engine, instance_state, refused, result

DATABASE = engine()


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


def test_rows_are_those_at_the_time_of_the_query():
    source = Instances(instance_state(1))
    database = engine(source=source)
    question = "SELECT value FROM v$sysstat WHERE name = 'gc blocks lost'"
    assert ask(database, question) == [(0,)]
    source.all[0].statistics["gc blocks lost"] = 5
    assert ask(database, question) == [(5,)]


def test_all_instances_are_queried_only_for_gv_views():
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


def test_losses_are_listed_per_sender_and_block_class():
    rows = ask(DATABASE, "SELECT inst_id, instance, class, cr_block, lost, cr_3hop FROM gv$instance_cache_transfer")
    assert len(rows) == 8
    assert (1, 2, "data block", 1000, 0, 0) in rows
    assert (1, 2, "undo header", 0, 0, 0) in rows


def test_pings_have_a_row_for_the_instance_itself():
    rows = ask(DATABASE, "SELECT instance, count_500b, average_500b, average_8k FROM v$instance_ping ORDER BY instance")
    assert rows == [(1, 0, 0, 0), (2, 10, 150, 250)]


def test_the_histogram_in_milliseconds_sums_the_one_in_microseconds():
    waits = {"gc cr block 2-way": Waits(7, 9000, histogram={"256": 1, "512": 2, "1024": 1, "2048": 2, "16384": 1})}
    database = engine(source=Instances(instance_state(1, events=waits)))
    micro = ask(database, "SELECT wait_time_micro, wait_count FROM v$event_histogram_micro ORDER BY 1")
    milli = ask(database, "SELECT wait_time_milli, wait_count FROM v$event_histogram ORDER BY 1")
    assert micro == [(256, 1), (512, 2), (1024, 1), (2048, 2), (16384, 1)]
    assert milli == [(1, 4), (2, 2), (16, 1)]


def test_an_instance_has_its_startup_time_in_the_time_zone_of_its_host():
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
    found_columns = result(engine(version), "SELECT * FROM v$current_block_server").columns
    some = {"PINUNDER", "PIN0", "PIN1", "PINOVER", "WRITE1", "CON_ID"}
    assert {column.name for column in found_columns} & some == columns


def test_the_transport_of_an_interconnect_exists_from_26ai_on():
    question = "SELECT transport FROM v$cluster_interconnects"
    assert ask(engine("23.26.0.0.0"), question) == [("UDP",), ("UDP",)]
    assert refused(engine("23.4.0.24.5"), question).code == 904


def test_a_view_of_a_later_version_does_not_exist():
    assert refused(engine("11.2.0.4.0"), "SELECT 1 FROM v$event_histogram_micro").code == 942


def test_containers_do_not_exist_in_11_2():
    question = "SELECT SYS_CONTEXT('USERENV', 'CON_NAME') AS c FROM dual"
    assert refused(engine("11.2.0.4.0"), question).code == 2003
    assert ask(engine("12.1.0.2.0", is_multitenant=False), question) == [("LAB",)]
    assert ask(engine(), question) == [("CDB$ROOT",)]
    assert ask(engine(container="SALES", container_id=3), question) == [("SALES",)]


def test_a_session_sees_its_user_and_instance():
    names = ("SESSION_USER", "DB_UNIQUE_NAME", "INSTANCE", "INSTANCE_NAME", "SERVER_HOST", "ISDBA", "MODULE")
    wanted = ", ".join(f"SYS_CONTEXT('USERENV', '{name}') AS x{name}" for name in names)
    caller = Caller("racwire", 7, 1, module="racwire")
    assert ask(DATABASE, f"SELECT {wanted}, USER FROM dual", caller=caller) == [
        ("RACWIRE", "lab", "1", "lab1", "rac1", "FALSE", "racwire", "RACWIRE")
    ]
    assert refused(DATABASE, "SELECT SYS_CONTEXT('USERENV', 'SHOE_SIZE') FROM dual").code == 2003


# Access


def test_a_user_sees_only_granted_views():
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


def test_public_views_need_no_grant():
    database = engine(access=Access())
    assert ask(database, "SELECT inst_number FROM v$active_instances ORDER BY 1") == [(1,), (2,)]


def test_a_session_can_detect_statspack():
    question = "SELECT table_name FROM all_tables WHERE owner = 'PERFSTAT' AND table_name = 'STATS$SNAPSHOT'"
    assert ask(DATABASE, question) == [("STATS$SNAPSHOT",)]
    assert ask(engine(access=Access()), question) == []
    without = engine(has_statspack=False)
    assert ask(without, question) == []
    assert refused(without, "SELECT 1 FROM perfstat.stats$snapshot").code == 942


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
def test_a_query_that_would_not_end_is_cancelled(delay_s: float):
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


def test_a_call_cancelled_before_it_starts_does_not_run():
    cancellation = Cancellation()
    cancellation.cancel()
    with pytest.raises(OracleError, match="ORA-01013"):
        DATABASE.execute(Caller("RACWIRE", 1, 1), ENDLESS, {}, cancellation)


def test_a_hung_instance_hangs_queries_of_all_instances_until_they_are_cancelled():
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


def test_many_sessions_query_at_once():
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
