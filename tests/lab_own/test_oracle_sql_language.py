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
    """What an expression gives."""
    ((found,),) = ask(DATABASE, f"SELECT {expression} AS x FROM dual", binds)
    return found


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("7 / 2", Decimal("3.5")),
        ("1 / 3", Decimal("0.333333333333333333")),
        ("2 / 3", Decimal("0.666666666666666667")),
        ("-2 / 3", Decimal("-0.666666666666666667")),
        ("6 / 3", 2),
        ("0.1 + 0.2", Decimal("0.3")),
        ("1.5 * 2.25", Decimal("3.375")),
        ("(1 / 3) * 3", Decimal("0.999999999999999999")),
        ("(1 / 8) * (1 / 4)", Decimal("0.03125")),
        ("(1 / 8) / (1 / 4)", Decimal("0.5")),
        ("9223372036854775807 + 1", 9223372036854775808),
        ("123456789012345678 * 1000000000000", 123456789012345678000000000000),
        ("ROUND(1005 / 1000, 2)", Decimal("1.01")),
        ("ROUND(-2.5)", -3),
        ("ROUND(1234.567, -2)", 1200),
        ("ROUND(1250, -2)", 1300),
        ("TRUNC(-1.99)", -1),
        ("TRUNC(1.987, 2)", Decimal("1.98")),
        ("FLOOR(-0.5)", -1),
        ("CEIL(0.1)", 1),
        ("MOD(-7, 3)", -1),
        ("MOD(7, 0)", 7),
        ("ABS(-3)", 3),
        ("SIGN(-0.5)", -1),
        ("SQRT(16)", 4),
        ("POWER(2, 10)", 1024),
        ("GREATEST(1, 2.5)", Decimal("2.5")),
        ("GREATEST(1, NULL)", None),
        ("LEAST(3, 2)", 2),
        ("1 + NULL", None),
        ("CAST(1.256 AS NUMBER(10, 2))", Decimal("1.26")),
        ("CAST('12' AS NUMBER)", 12),
        ("TO_NUMBER('1.50')", Decimal("1.5")),
        ("'5' + 1", 6),
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
        ("'a' || NULL || 'b'", "ab"),
        ("'' || ''", None),
        ("NVL('', 'empty')", "empty"),
        ("NVL2('', 1, 2)", 2),
        ("LENGTH('')", None),
        ("'n' || 1.50", "n1.5"),
        ("0.5 || ''", ".5"),
        ("-0.25 || ''", "-.25"),
        ("SUBSTR('abcdef', 2, 3)", "bcd"),
        ("SUBSTR('abcdef', 0, 2)", "ab"),
        ("SUBSTR('abcdef', -2)", "ef"),
        ("SUBSTR('abc', 9)", None),
        ("INSTR('abc', 'c')", 3),
        ("REPLACE('a-b', '-')", "ab"),
        ("REPLACE('--', '-')", None),
        ("LPAD('7', 3, '0')", "007"),
        ("RTRIM('a  ')", "a"),
        ("TRIM(BOTH 'x' FROM 'xax')", "a"),
        ("UPPER('abc')", "ABC"),
        ("q'[it's]'", "it's"),
        ("DECODE(NULL, NULL, 'same', 'other')", "same"),
        ("DECODE(2, 1, 'one', 2, 'two')", "two"),
        ("DECODE(3, 1, 'one')", None),
        ("NULLIF('a', 'a')", None),
        ("COALESCE(NULL, NULL, 'c')", "c"),
        ("CASE WHEN 'a' LIKE 'a%' THEN 'yes' END", "yes"),
        ("CASE WHEN 'a_b' LIKE 'a\\_b' ESCAPE '\\' THEN 1 ELSE 0 END", 1),
        ("CASE WHEN 'axb' LIKE 'a\\_b' ESCAPE '\\' THEN 1 ELSE 0 END", 0),
        ("CASE WHEN NULL = '' THEN 1 ELSE 0 END", 0),
        ("TO_CHAR(1234.5)", "1234.5"),
        ("TO_CHAR(1234.5, 'FM999990.00')", "1234.50"),
        ("TO_CHAR(-0.126, 'FM990.00')", "-0.13"),
        ("TO_CHAR(0.5, 'FM990.99')", "0.5"),
        ("TO_CHAR(1234, 'FM990')", "####"),
    ],
)
def test_text(expression: str, expected: Any):
    assert value(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("DATE '2026-01-15' + 1.5", datetime(2026, 1, 16, 12)),
        ("DATE '2026-01-15' - 1/24", datetime(2026, 1, 14, 23)),
        ("TIMESTAMP '2026-01-15 10:00:00.75' + 1", datetime(2026, 1, 16, 10)),
        ("DATE '2026-01-15' - DATE '2026-01-14'", 1),
        ("TO_DATE('2026-01-15 12:00', 'YYYY-MM-DD HH24:MI') - DATE '2026-01-15'", Decimal("0.5")),
        ("TIMESTAMP '2026-01-15 10:00:00' - TIMESTAMP '2026-01-14 09:59:58.5'", timedelta(days=1, seconds=1.5)),
        ("DATE '2026-01-15' + INTERVAL '1 02:03:04' DAY TO SECOND", datetime(2026, 1, 16, 2, 3, 4)),
        ("DATE '2026-01-15' - INTERVAL '90' MINUTE", datetime(2026, 1, 14, 22, 30)),
        ("DATE '2026-01-15' - NUMTODSINTERVAL(36, 'HOUR')", datetime(2026, 1, 13, 12)),
        ("INTERVAL '1' DAY * 1.5", timedelta(hours=36)),
        ("INTERVAL '1' HOUR + INTERVAL '30' SECOND", timedelta(hours=1, seconds=30)),
        ("EXTRACT(DAY FROM INTERVAL '-1 02:00:00' DAY TO SECOND)", -1),
        ("EXTRACT(HOUR FROM INTERVAL '-1 02:00:00' DAY TO SECOND)", -2),
        ("EXTRACT(SECOND FROM INTERVAL '1.25' SECOND)", Decimal("1.25")),
        ("EXTRACT(YEAR FROM DATE '2026-01-15')", 2026),
        ("EXTRACT(MINUTE FROM TIMESTAMP '2026-01-15 10:42:00')", 42),
        ("TRUNC(TIMESTAMP '2026-01-15 10:42:07.5', 'HH24')", datetime(2026, 1, 15, 10)),
        ("TRUNC(TO_DATE('15.01.2026 10', 'DD.MM.YYYY HH24'))", DAY),
        ("TRUNC(DATE '2026-01-15', 'IW')", datetime(2026, 1, 12)),
        ("TO_CHAR(TIMESTAMP '2026-01-15 10:42:07.125', 'YYYY-MM-DD HH24:MI:SS.FF3')", "2026-01-15 10:42:07.125"),
        ("TO_CHAR(DATE '2026-01-15', 'DD-MON-YY')", "15-JAN-26"),
        ("TO_CHAR(DATE '2026-01-15', 'YYYY-MM-DD\"T\"HH24:MI')", "2026-01-15T00:00"),
        (
            "TO_TIMESTAMP('2026-01-15 10:42:07.125', 'YYYY-MM-DD HH24:MI:SS.FF')",
            datetime(2026, 1, 15, 10, 42, 7, 125000),
        ),
        ("CAST(TIMESTAMP '2026-01-15 10:42:07.9' AS DATE)", datetime(2026, 1, 15, 10, 42, 7)),
        ("ADD_MONTHS(DATE '2026-01-31', 1)", datetime(2026, 2, 28)),
        ("ADD_MONTHS(DATE '2026-02-28', 1)", datetime(2026, 3, 31)),
        ("LAST_DAY(DATE '2026-02-03')", datetime(2026, 2, 28)),
        ("CASE WHEN DATE '2026-01-15' < TIMESTAMP '2026-01-15 00:00:01' THEN 1 ELSE 0 END", 1),
    ],
)
def test_times(expression: str, expected: Any):
    assert value(expression) == expected


def test_sysdate_is_now_without_fractions_and_a_date():
    before = datetime.now().replace(microsecond=0)
    described = result(DATABASE, "SELECT SYSDATE AS d, SYSTIMESTAMP AS t, SYSDATE - INTERVAL '1' DAY AS y FROM dual")
    ((date, stamp, yesterday),) = described.rows
    assert [column.type for column in described.columns] == [
        OracleType.DATE,
        OracleType.TIMESTAMP_TZ,
        OracleType.DATE,
    ]
    assert before <= date <= stamp
    assert date.microsecond == 0
    assert date - yesterday == timedelta(days=1)


def test_binds_have_the_type_of_their_values():
    binds = {"n": 2**70, "d": Decimal("1.25"), "f": 0.1, "t": "ä", "w": DAY, "s": DAY + timedelta(microseconds=1)}
    binds |= {"i": timedelta(hours=1), "e": "", "z": None}
    ((*given,),) = ask(DATABASE, "SELECT :n, :d, :f, :t, :w, :s, :i, :e, :z FROM dual", binds)
    assert given == [2**70, Decimal("1.25"), Decimal("0.1"), "ä", DAY, binds["s"], timedelta(hours=1), None, None]
    assert value("CASE WHEN :w + 1 > :w THEN 1 END", {"w": DAY}) == 1
    assert ask(DATABASE, "SELECT :1 AS a, ':1' AS b, :2 AS c FROM dual -- :3", {"1": 7, "2": 8}) == [(7, ":1", 8)]


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
            "SELECT t.g, SUM(t.v) AS s, COUNT(*), COUNT(t.v), AVG(t.v) FROM t GROUP BY t.g ORDER BY s",
            [("b", 5, 2, 1, 5), ("a", 40, 2, 2, 20)],
        ),
        ("SELECT t.g FROM t GROUP BY t.g HAVING SUM(t.v) > 5", [("a",)]),
        ("SELECT MAX(t.v) AS m FROM t WHERE t.k > 9", [(None,)]),
        ("SELECT LISTAGG(t.k, ',') WITHIN GROUP (ORDER BY t.k DESC) AS l FROM t", [("4,3,2,1",)]),
        (
            "SELECT t.k, t.v - LAG(t.v) OVER (PARTITION BY t.g ORDER BY t.k) AS d FROM t ORDER BY 1",
            [(1, None), (2, 20), (3, None), (4, None)],
        ),
        (
            "SELECT t.k, LAG(t.v, 1, 0) OVER (ORDER BY t.k) AS d FROM t ORDER BY 1",
            [(1, 0), (2, 10), (3, 30), (4, None)],
        ),
        (
            "SELECT t.k, LAG(t.v IGNORE NULLS) OVER (ORDER BY t.k) AS d FROM t ORDER BY 1",
            [(1, None), (2, 10), (3, 30), (4, 30)],
        ),
        (
            "SELECT t.k, FIRST_VALUE(t.k) OVER (PARTITION BY t.g ORDER BY t.k DESC) AS f FROM t ORDER BY t.k",
            [(1, 2), (2, 2), (3, 4), (4, 4)],
        ),
        (
            "SELECT t.k, SUM(t.v) OVER (ORDER BY t.k ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t ORDER BY t.k",
            [(1, 10), (2, 40), (3, 30), (4, 5)],
        ),
        (
            "SELECT t.k, ROW_NUMBER() OVER (PARTITION BY t.g ORDER BY t.k) AS r FROM t ORDER BY t.k",
            [(1, 1), (2, 2), (3, 1), (4, 2)],
        ),
        (
            "SELECT t.k, ROUND(RATIO_TO_REPORT(t.v) OVER () * 100, 1) AS p FROM t WHERE t.v IS NOT NULL ORDER BY t.k",
            [(1, Decimal("22.2")), (2, Decimal("66.7")), (4, Decimal("11.1"))],
        ),
        (
            "SELECT a.k, b.k FROM t a LEFT JOIN t b ON b.k = a.k + 2 ORDER BY a.k",
            [(1, 3), (2, 4), (3, None), (4, None)],
        ),
        ("SELECT k, a.v, b.v FROM t a JOIN t b USING (k) WHERE k = 2", [(2, 30, 30)]),
        ("SELECT COUNT(*) AS n FROM t a CROSS JOIN t b", [(16,)]),
        ("SELECT t.k FROM t WHERE t.g IN (SELECT u.g FROM t u WHERE u.v = 5) ORDER BY 1", [(3,), (4,)]),
        ("SELECT t.k FROM t WHERE EXISTS (SELECT 1 FROM t u WHERE u.v > t.v) ORDER BY t.k", [(1,), (4,)]),
        ("SELECT t.k FROM t WHERE (t.k, t.g) IN ((1, 'a'), (4, 'x'))", [(1,)]),
        ("SELECT t.k FROM t ORDER BY t.k DESC FETCH FIRST :n ROWS ONLY", [(4,), (3,)]),
        ("SELECT t.k FROM t ORDER BY t.k OFFSET 1 ROWS FETCH NEXT 2 ROWS ONLY", [(2,), (3,)]),
        ("SELECT t.g FROM t MINUS SELECT 'a' FROM dual", [("b",)]),
        ("SELECT t.g FROM t UNION SELECT 'c' FROM dual ORDER BY g DESC", [("c",), ("b",), ("a",)]),
        ("SELECT DISTINCT t.g FROM t ORDER BY t.g", [("a",), ("b",)]),
        ("SELECT COUNT(DISTINCT t.g) AS n FROM t", [(2,)]),
        ("SELECT (SELECT MAX(u.k) FROM t u WHERE u.g = t.g) AS m FROM t WHERE t.k = 1", [(2,)]),
        ('SELECT x.* FROM (SELECT t.k AS "Mixed", t.g FROM t) x WHERE x."Mixed" = 4', [(4, "b")]),
        ("SELECT COUNT(*) AS n FROM t WHERE NOT t.v = 10", [(2,)]),
        ("SELECT t.k FROM t WHERE t.k BETWEEN 2 AND 3 AND ROWNUM <= 1", [(2,)]),
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
