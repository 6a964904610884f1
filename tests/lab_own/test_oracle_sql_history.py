"""AWR and Statspack in the practice database's SQL: filled once, and followed by the running instances."""

from collections.abc import Collection
from datetime import timedelta
from typing import Any, Literal

import pytest

pytest.importorskip("duckdb")

from racwire_lab.database.backend import Caller, Cancellation, OracleError
from racwire_lab.database.live import InstanceState
from tests.lab_own.oracle_sql_database import Instances, ask, engine, instance_state, run


class Snapshots:
    """A history with a snapshot an hour, and one more of each living instance."""

    fills = 0

    def fill(self, connection: Any) -> None:
        self.fills += 1
        connection.execute(
            "INSERT INTO dba_hist_snapshot (snap_id, dbid, instance_number, end_interval_time) "
            "SELECT range, 1, 1, TIMESTAMP '2026-01-01 00:00:00' + INTERVAL 1 HOUR * range FROM range(5)"
        )

    def add_living(self, connection: Any, states: tuple[InstanceState, ...], tables: Collection[str]) -> None:
        assert tables == {"dba_hist_snapshot"}, "the others are not read"
        for state in states:
            connection.execute(
                "INSERT INTO dba_hist_snapshot (snap_id, dbid, instance_number) VALUES (100, 1, ?)", [state.instance]
            )


def test_history_is_filled_once_and_ends_with_the_live_instances_in_each_statement():
    history = Snapshots()
    database = engine(history=history)
    question = "SELECT snap_id, instance_number FROM dba_hist_snapshot ORDER BY 1, 2"
    for _ in range(2):
        assert ask(database, question) == [(0, 1), (1, 1), (2, 1), (3, 1), (4, 1), (100, 1), (100, 2)]
    assert history.fills == 1
    ((interval,),) = ask(database, "SELECT MAX(end_interval_time) - MIN(end_interval_time) AS i FROM dba_hist_snapshot")
    assert interval == timedelta(hours=4)


def test_in_a_read_only_transaction_history_has_one_end_time():
    source = Instances(instance_state(1))
    database = engine(source=source, history=Snapshots())
    first, second = Caller("RACWIRE", 1, 1), Caller("RACWIRE", 2, 1)

    def living(caller: Caller) -> int:
        sql = "SELECT COUNT(*) AS n, MAX(instance_name) AS i FROM dba_hist_snapshot s, v$instance WHERE snap_id = 100"
        ((count, instance),) = ask(database, sql, caller=caller)
        assert instance == source.all[0].name  # the V$ views are of now all the same
        return int(count)

    for caller in (first, second):
        run(database, caller, "SET TRANSACTION READ ONLY")
    assert living(first) == 1
    source.all = (instance_state(1, name="newer"), instance_state(2))
    assert [living(first), living(second), living(first)] == [1, 2, 1]
    for command in ("COMMIT", "SET TRANSACTION READ ONLY"):
        run(database, first, command)
    assert living(first) == 2


def test_a_query_can_be_cancelled_while_its_history_is_made():
    cancellation = Cancellation()

    class Endless(Snapshots):
        def add_living(self, connection: Any, states: tuple[InstanceState, ...], tables: Collection[str]) -> None:
            cancellation.cancel()
            connection.execute("SELECT COUNT(*) FROM range(1000000) a, range(1000000) b WHERE a.range > b.range")

    database = engine(history=Endless())
    with pytest.raises(OracleError, match="ORA-01013"):
        database.execute(Caller("RACWIRE", 1, 1), "SELECT COUNT(*) AS n FROM dba_hist_snapshot", {}, cancellation)


def test_history_does_not_wait_for_a_hung_instance(monkeypatch: pytest.MonkeyPatch):
    class Hung(Instances):
        def states(self, scope: Literal["here", "everywhere"], cancellation: Cancellation) -> tuple[InstanceState, ...]:
            if scope == "everywhere":
                assert cancellation.wait(10)
                raise OracleError(1013, "user requested cancel of current operation")
            return super().states(scope, cancellation)

    monkeypatch.setattr("racwire_lab.oracle_sql.engine._HISTORY_WAITS_S", 0.05)
    database = engine(source=Hung(), history=Snapshots())
    assert ask(database, "SELECT COUNT(*) AS n FROM dba_hist_snapshot WHERE snap_id = 100") == [(1,)]
