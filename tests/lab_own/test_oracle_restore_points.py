"""Restore points of the practice database, and the statements that its sqlplus reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("duckdb")
pytest.importorskip("sqlglot")

from racwire_lab.database.backend import Caller, Cancellation, OracleError
from racwire_lab.oracle_sql.restore_points import LIMIT_BYTES, RestorePoints
from racwire_lab.programs.sqlplus import statements
from tests.fixtures.instance_states import instances, practice

SYS, USER = Caller("SYS", 1, 1, is_sysdba=True), Caller("RACWIRE", 1, 1)


@pytest.fixture
def ask(tmp_path: Path):
    engine = practice(instances(2), restore_points=RestorePoints(tmp_path / "area"))

    def run(sql: str, caller: Caller = SYS) -> list[Any]:
        result = engine.execute(caller, sql, {}, Cancellation())
        return [] if result is None else list(result.rows)

    return run


def test_a_guaranteed_restore_point_is_there_until_it_is_dropped(ask, tmp_path):
    assert ask("SELECT flashback_on FROM v$database") == [("NO",)]
    ask("CREATE RESTORE POINT before_run GUARANTEE FLASHBACK DATABASE;")
    ask("create restore point plain")
    rows = "SELECT name, guarantee_flashback_database FROM v$restore_point ORDER BY name"
    assert ask(rows) == [("BEFORE_RUN", "YES"), ("PLAIN", "NO")]
    assert ask("SELECT flashback_on FROM v$database") == [("RESTORE POINT ONLY",)]
    ask("DROP RESTORE POINT before_run")
    assert ask(rows) == [("PLAIN", "NO")]
    (tmp_path / "area" / "backup.bkp").write_bytes(b"x" * 5000)
    ((limit, used),) = ask("SELECT space_limit, space_used FROM v$recovery_file_dest")
    assert (limit, used > 5000) == (LIMIT_BYTES, True)


@pytest.mark.parametrize(
    ("sql", "caller", "code"),
    [
        ("DROP RESTORE POINT none_such", SYS, 38780),
        ("FLASHBACK DATABASE TO RESTORE POINT a", SYS, 38757),
        ("CREATE RESTORE POINT a", USER, 1031),
        ("CREATE TABLE a (b NUMBER)", SYS, 1031),
    ],
)
def test_what_the_database_cannot_do_is_refused(ask, sql, caller, code):
    with pytest.raises(OracleError) as error:
        ask(sql, caller)
    assert error.value.code == code


def test_a_second_restore_point_with_one_name_is_refused(ask):
    ask("CREATE RESTORE POINT a")
    with pytest.raises(OracleError, match="ORA-38778"):
        ask("CREATE RESTORE POINT A")


def test_sqlplus_reads_statements_and_commands_to_the_exit():
    text = [
        "SELECT 1\n",
        "  FROM dual;\n",
        "\n",
        "STARTUP MOUNT\n",
        "DROP RESTORE POINT a;\n",
        "exit;\n",
        "SELECT 2;\n",
    ]
    assert list(statements(text)) == ["SELECT 1\nFROM dual", "STARTUP MOUNT", "DROP RESTORE POINT a"]


@given(st.lists(st.text()))
def test_sqlplus_reads_any_text(text):
    assert all(isinstance(one, str) for one in statements(text))
