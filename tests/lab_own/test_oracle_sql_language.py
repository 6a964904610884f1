"""The language: numbers, text, times, joins, groups and windows come out as Oracle's rules say, not DuckDB's."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

pytest.importorskip("duckdb")

from racwire_lab.database.backend import OracleType
from tests.lab_own.oracle_sql_database import ask, engine, result

DATABASE = engine()
DAY = datetime(2026, 1, 15)


def value(expression: str, binds: dict[str, Any] | None = None) -> Any:
    """Return the value of an expression."""
    ((found,),) = ask(DATABASE, f"SELECT {expression} AS x FROM dual", binds)
    return found


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("7 / 2", Decimal("3.5")),
        ("6 / 3", 2),
        ("0.1 + 0.2", Decimal("0.3")),
        ("1.5 * 2.25", Decimal("3.375")),
        ("(1 / 8) / (1 / 4)", Decimal("0.5")),
        ("9223372036854775807 - 1", 9223372036854775806),
        ("FLOOR(-0.5)", -1),
        ("FLOOR((2 * 5 + 7) / (2 * 3))", 2),
        ("1 + NULL", None),
        ("-(-5)", 5),
        ("1e3", 1000),
        (".5", Decimal("0.5")),
    ],
)
def test_numbers(expression: str, expected: Any):
    assert value(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("''", None),
        ("NVL('', 'empty')", "empty"),
        ("COALESCE(NULL, NULL, 'c')", "c"),
        ("'it''s'", "it's"),
        ("CASE WHEN 'a' LIKE 'a%' THEN 'yes' END", "yes"),
        ("CASE WHEN 'b' LIKE 'a%' THEN 'yes' END", None),
        ("CASE WHEN NULL = '' THEN 1 ELSE 0 END", 0),
        ("CASE WHEN '' IS NULL THEN 1 ELSE 0 END", 1),
        ("CASE WHEN 'a' IN ('b', 'a') AND NOT 'a' BETWEEN 'b' AND 'c' THEN 1 ELSE 0 END", 1),
    ],
)
def test_text(expression: str, expected: Any):
    assert value(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("CAST(:t AS TIMESTAMP) - NUMTODSINTERVAL(36, 'HOUR')", datetime(2026, 1, 13, 22)),
        ("CAST(:t AS TIMESTAMP) + INTERVAL '90' MINUTE", datetime(2026, 1, 15, 11, 30)),
        ("CAST(:t AS TIMESTAMP) - CAST(:u AS TIMESTAMP)", timedelta(days=1, seconds=1.5)),
        ("INTERVAL '1' HOUR + INTERVAL '30' SECOND", timedelta(hours=1, seconds=30)),
        ("EXTRACT(DAY FROM NUMTODSINTERVAL(-26, 'HOUR'))", -1),
        ("EXTRACT(HOUR FROM NUMTODSINTERVAL(-26, 'HOUR'))", -2),
        ("EXTRACT(MINUTE FROM NUMTODSINTERVAL(1.5, 'HOUR'))", 30),
        ("EXTRACT(SECOND FROM NUMTODSINTERVAL(61.25, 'SECOND'))", Decimal("1.25")),
        ("CASE WHEN :t < CAST(:t AS TIMESTAMP) + INTERVAL '1' SECOND THEN 1 ELSE 0 END", 1),
    ],
)
def test_times(expression: str, expected: Any):
    binds = {"t": datetime(2026, 1, 15, 10), "u": datetime(2026, 1, 14, 9, 59, 58, 500000)}
    assert value(expression, {name: moment for name, moment in binds.items() if f":{name}" in expression}) == expected


def test_sysdate_is_the_present_date_without_fractions():
    before = datetime.now().replace(microsecond=0)
    described = result(DATABASE, "SELECT SYSDATE AS d, SYSTIMESTAMP AS t FROM dual")
    ((date, stamp),) = described.rows
    assert [column.type for column in described.columns] == [OracleType.DATE, OracleType.TIMESTAMP_TZ]
    assert before <= date <= stamp
    assert date == stamp.replace(microsecond=0)


def test_binds_have_the_type_of_their_values():
    binds = {"n": 2**70, "d": Decimal("1.25"), "f": 0.1, "t": "ä", "w": DAY, "s": DAY + timedelta(microseconds=1)}
    binds |= {"i": timedelta(hours=1), "e": "", "z": None}
    ((*returned,),) = ask(DATABASE, "SELECT :n, :d, :f, :t, :w, :s, :i, :e, :z FROM dual", binds)
    assert returned == [2**70, Decimal("1.25"), Decimal("0.1"), "ä", DAY, binds["s"], timedelta(hours=1), None, None]
    assert ask(DATABASE, "SELECT :a AS a, ':a' AS b FROM dual -- :c", {"a": 7}) == [(7, ":a")]


ROWS = """
WITH t AS (SELECT 1 AS k, 'a' AS g, 10 AS v FROM dual UNION ALL SELECT 2, 'a', 30 FROM dual
           UNION ALL SELECT 3, 'b', NULL FROM dual UNION ALL SELECT 4, 'b', 5 FROM dual)
"""


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT t.k FROM t ORDER BY t.v", [(4,), (1,), (2,), (3,)]),
        ("SELECT t.k FROM t ORDER BY t.v DESC", [(3,), (2,), (1,), (4,)]),
        ("SELECT t.k FROM t ORDER BY t.v DESC NULLS LAST, 1", [(2,), (1,), (4,), (3,)]),
        (
            "SELECT t.g, SUM(t.v) AS s, COUNT(*), COUNT(t.v), MIN(t.v) FROM t GROUP BY t.g ORDER BY s",
            [("b", 5, 2, 1, 5), ("a", 40, 2, 2, 10)],
        ),
        ("SELECT t.g FROM t GROUP BY t.g HAVING SUM(t.v) > 5", [("a",)]),
        ("SELECT MAX(t.v) AS m FROM t WHERE t.k > 9", [(None,)]),
        (
            "SELECT t.k, t.v - LAG(t.v) OVER (PARTITION BY t.g ORDER BY t.k) AS d FROM t ORDER BY 1",
            [(1, None), (2, 20), (3, None), (4, None)],
        ),
        (
            "SELECT t.k, ROW_NUMBER() OVER (PARTITION BY t.g ORDER BY t.k) AS r FROM t ORDER BY t.k",
            [(1, 1), (2, 2), (3, 1), (4, 2)],
        ),
        ("SELECT t.k, MAX(t.v) OVER () AS m FROM t WHERE t.k < 3 ORDER BY 1", [(1, 30), (2, 30)]),
        (
            "SELECT a.k, b.k FROM t a LEFT JOIN t b ON b.k = a.k + 2 ORDER BY a.k",
            [(1, 3), (2, 4), (3, None), (4, None)],
        ),
        ("SELECT COUNT(*) AS n FROM t a CROSS JOIN t b", [(16,)]),
        ("SELECT COUNT(*) AS n FROM t a, t b WHERE a.k = b.k", [(4,)]),
        ("SELECT t.k FROM t ORDER BY t.k DESC FETCH FIRST :n ROWS ONLY", [(4,), (3,)]),
        ("SELECT t.g FROM t UNION SELECT 'c' FROM dual ORDER BY g DESC", [("c",), ("b",), ("a",)]),
        ("SELECT DISTINCT t.g FROM t ORDER BY t.g", [("a",), ("b",)]),
        ("SELECT COUNT(DISTINCT t.g) AS n FROM t", [(2,)]),
        ('SELECT x.* FROM (SELECT t.k AS "Mixed", t.g FROM t) x WHERE x."Mixed" = 4', [(4, "b")]),
        ("SELECT COUNT(*) AS n FROM t WHERE NOT t.v = 10", [(2,)]),
        ("SELECT t.k FROM t WHERE t.v IS NULL OR t.v BETWEEN 6 AND 10 ORDER BY 1", [(1,), (3,)]),
        ("SELECT t.k FROM t WHERE t.k IN (1, 3, NULL) AND t.g <> 'b'", [(1,)]),
    ],
)
def test_queries(query: str, expected: list[tuple[Any, ...]]):
    binds = {"n": 2} if ":n" in query else {}
    assert ask(DATABASE, ROWS + query, binds) == expected


def test_columns_are_described_as_oracle_does():
    described = result(
        DATABASE,
        'SELECT i.startup_time, i.instance_name, COUNT(*), i.inst_id "id" FROM gv$instance i '
        "GROUP BY i.startup_time, i.instance_name, i.inst_id",
    )
    assert [(column.name, column.type) for column in described.columns] == [
        ("STARTUP_TIME", OracleType.DATE),
        ("INSTANCE_NAME", OracleType.VARCHAR2),
        ("COUNT(*)", OracleType.NUMBER),
        ("id", OracleType.NUMBER),
    ]
    assert described.columns[1].size == 16
    of_history = result(DATABASE, "SELECT h.end_interval_time, h.flush_elapsed FROM dba_hist_snapshot h")
    assert [column.type for column in of_history.columns] == [OracleType.TIMESTAMP, OracleType.INTERVAL_DS]
