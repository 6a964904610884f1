"""The source of history: AWR only with an opt-in and where nothing forbids it, otherwise Statspack, otherwise none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from checks.model.facts import Database, History, NotAsked, NotGathered, Unknown
from checks.sources.database.statements import statements
from racwire_lab.history.history_plan import HistoryPlan
from racwire_lab.oracle_sql.dictionary import FREE_HISTORY, views
from racwire_lab.oracle_sql.identity import Access
from tests.unit.history_support import FIRST_END, Practice, a_database

PLAN = HistoryPlan(seed=1, first_end=FIRST_END, intervals_s=(3600,) * 6)
AWR_VIEWS = {view for statement in statements().values() for view in statement.reads if view.startswith("DBA_HIST_")}
LICENSED = AWR_VIEWS - FREE_HISTORY


@pytest.fixture(scope="module")
def both() -> Iterator[Practice]:
    practice = Practice(PLAN)
    yield practice
    practice.close()


@pytest.fixture(scope="module")
def without_statspack() -> Iterator[Practice]:
    practice = Practice(PLAN, statspack=False)
    yield practice
    practice.close()


@pytest.fixture(autouse=True)
def forget(both: Practice, without_statspack: Practice) -> None:
    for practice in (both, without_statspack):
        practice.read.clear()
        practice.asked.clear()


def test_without_enabling_awr_no_licensed_view_is_read_and_statspack_is_used(both: Practice) -> None:
    history = both.history(awr=False)
    assert isinstance(history, History)
    assert history.source == "Statspack"
    assert not both.read & LICENSED
    assert isinstance(history.transfers, Unknown)


def test_without_awr_and_statspack_the_message_says_how_to_enable_them(without_statspack: Practice) -> None:
    history = without_statspack.history(awr=False)
    assert isinstance(history, NotAsked)
    assert "Diagnostics Pack" in history.reason
    assert history.commands == ("racwire check --awr",)
    assert not without_statspack.read & AWR_VIEWS


@pytest.mark.parametrize(("awr", "statement"), [(True, "awr_range"), (False, "statspack_range")])
def test_one_statement_finds_whether_a_history_can_be_read(both: Practice, awr: bool, statement: str) -> None:
    assert both.found(awr=awr) == NotGathered()
    assert both.asked == [statement]


def test_a_history_that_cannot_be_read_is_found_with_the_same_reason(without_statspack: Practice) -> None:
    assert without_statspack.found(awr=False) == without_statspack.history(awr=False)


def test_enabling_awr_reads_awr(both: Practice) -> None:
    history = both.history(awr=True)
    assert isinstance(history, History)
    assert history.source == "AWR"
    assert both.read >= LICENSED


@pytest.mark.parametrize("value", ["NONE", "none"])
def test_the_parameter_forbids_awr_and_statspack_is_the_alternative(
    both: Practice, without_statspack: Practice, value: str
) -> None:
    history = both.history(awr=True, database=a_database(PLAN, value))
    assert isinstance(history, History)
    assert history.source == "Statspack"
    assert not both.read & LICENSED
    unknown = without_statspack.history(awr=True, database=a_database(PLAN, value))
    assert isinstance(unknown, Unknown)
    assert "control_management_pack_access is NONE on prod1" in unknown.reason
    assert not without_statspack.read & LICENSED


@pytest.mark.parametrize("changes", [{"pack": None}, {"parameters": Unknown("GV$PARAMETER is not granted")}])
def test_a_parameter_that_is_unknown_permits_no_history(without_statspack: Practice, changes: dict[str, Any]) -> None:
    unknown = without_statspack.history(awr=True, database=a_database(PLAN, **changes))
    assert isinstance(unknown, Unknown)
    assert "control_management_pack_access" in unknown.reason
    assert not without_statspack.read & LICENSED


STANDBY = {"role": "PHYSICAL STANDBY", "open_mode": "READ ONLY WITH APPLY"}
PLUGGABLE = {"is_multitenant": True, "container": "PDB1"}


@pytest.mark.parametrize(("changes", "word"), [(STANDBY, "primary"), (PLUGGABLE, "CDB$ROOT")])
@pytest.mark.parametrize("awr", [True, False])
def test_a_standby_and_a_pluggable_database_name_the_database_to_query(
    both: Practice, changes: dict[str, Any], word: str, awr: bool
) -> None:
    answer = both.history(awr=awr, database=a_database(PLAN, **changes))
    assert isinstance(answer, Unknown if awr else NotAsked)
    assert word in answer.reason
    assert both.asked == []


def test_a_database_without_snapshots_of_its_own_is_unknown(both: Practice) -> None:
    other: Database = a_database(PLAN, dbid=4711)
    answer = both.history(awr=True, database=other)
    assert isinstance(answer, Unknown)
    assert "4711" in answer.reason


def test_a_view_without_a_grant_leaves_that_part_unknown_and_the_rest_is_read() -> None:
    missing = "SYS.DBA_HIST_IC_DEVICE_STATS"
    granted = frozenset(view.grant for view in views().values() if view.is_history) - {missing}
    practice = Practice(PLAN, access=Access({"RACWIRE": granted}))
    history = practice.history(awr=True)
    practice.close()
    assert isinstance(history, History)
    assert isinstance(history.devices, Unknown)
    assert not isinstance(history.pings, Unknown)
    assert not isinstance(history.clients, Unknown)


def test_without_the_statistics_the_history_is_unknown() -> None:
    granted = frozenset(view.grant for view in views().values() if view.is_history) - {"SYS.DBA_HIST_SYSSTAT"}
    practice = Practice(PLAN, access=Access({"RACWIRE": granted}))
    answer = practice.history(awr=True)
    practice.close()
    assert isinstance(answer, Unknown)


def test_the_free_views_are_marked_free_and_the_others_licensed() -> None:
    for name, statement in statements().items():
        if name.startswith(("awr_", "statspack_")):
            assert statement.needs_licence == bool(set(statement.reads) & LICENSED), name
