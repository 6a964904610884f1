"""Statements that the practice database refuses, with Oracle's error numbers; and statements that are not queries."""

import pytest

pytest.importorskip("duckdb")

from racwire_lab.database.backend import Caller, OracleError
from tests.lab_own.oracle_sql_database import engine, refused, run

DATABASE = engine()


# Queries


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
        ("SELECT 1 FROM dual LIMIT 5", 900, ""),
        ("SELECT 1::int FROM dual", 933, "::"),
        ("SELECT 'open FROM dual", 1756, ""),
        ("SELECT 1", 923, ""),
        ("SELECT 1 + 'x' FROM dual", 932, ""),
        ("SELECT 1 / 0 FROM dual", 1476, ""),
        ("SELECT 1 / (1 - value / value) FROM v$sysstat WHERE value > 0", 1476, ""),
        ("SELECT name, SUM(value) FROM v$sysstat", 937, ""),
        ("SELECT name, SUM(value) FROM v$sysstat GROUP BY class", 979, ""),
        ("SELECT name FROM v$sysstat WHERE SUM(value) > 1", 934, ""),
        ("SELECT name FROM v$sysstat GROUP BY 1", 979, "1"),
        ("SELECT value x FROM v$sysstat WHERE x > 1", 904, "x > 1"),
        ("SELECT *, name FROM v$sysstat", 923, ""),
        ("SELECT 1 FROM dual WHERE 1", 920, ""),
        ("SELECT name || startup_time FROM v$instance, v$database", 900, ""),
        ("SELECT NUMTODSINTERVAL(1, 'DAY') + 1 FROM dual", 932, ""),
        ("SELECT 1 FROM dual WHERE SYSDATE > '2026-01-15'", 932, ""),
        ("SELECT CASE WHEN 1 = 1 THEN 1 ELSE 'x' END FROM dual", 932, ""),
        ("SELECT 1 FROM dual WHERE value = 1", 904, "value"),
        ("SELECT MAX(1 = 1) FROM dual", 923, ""),
        ("SELECT FLOOR('x') FROM dual", 932, ""),
        ("SELECT 1 FROM dual WHERE 5 LIKE 'x'", 932, ""),
        ("SELECT LAG(value) FROM v$sysstat", 30484, ""),
        ("SELECT COUNT(DISTINCT name, value) FROM v$sysstat", 909, ""),
        ("SELECT EXTRACT(HOUR FROM SYSDATE) FROM dual", 30076, ""),
        ("SELECT 1 FROM dual UNION SELECT 1, 2 FROM dual", 1789, ""),
        ("SELECT 1 FROM dual UNION SELECT 'x' FROM dual", 1790, ""),
        ("SELECT value FROM v$sysstat ORDER BY 2", 1785, ""),
        ("SELECT value FROM v$sysstat ORDER BY 0", 1785, ""),
        ("SELECT value, , name FROM v$sysstat", 936, ", name"),
        ("SELECT value AS , name FROM v$sysstat", 936, ", name"),
        ("SELECT s.* x FROM v$sysstat s", 923, ""),
        ("SELECT value FROM v$sysstat FETCH FIRST 3 ROWS", 933, ""),
        ("SELECT value FROM v$sysstat FETCH 3 ROWS ONLY", 933, ""),
        ("SELECT SYS_CONTEXT() FROM dual", 900, ""),
        ("SELECT :gone FROM dual", 1008, ""),
        ("SELECT ROUND(1) OVER () FROM dual", 900, ""),
        ("SELECT value FROM v$sysstat WHERE ROW_NUMBER() OVER (ORDER BY value) = 1", 30483, ""),
        ("SELECT 99999999999999999999 * 99999999999999999999 FROM dual", 1426, ""),
        ("EXPLAIN PLAN FOR SELECT 1 FROM dual", 900, ""),
        ("", 900, ""),
    ],
)
def test_errors_are_those_of_the_database(sql: str, code: int, marked: str):
    error = refused(DATABASE, sql)
    assert error.code == code
    if marked:
        assert sql[error.offset :].startswith(marked)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a.name FROM v$sysstat a, v$statname b WHERE a.name = b.name(+)",
        "SELECT LEVEL FROM dual CONNECT BY LEVEL < 3",
        "SELECT LEVEL FROM dual",
        "SELECT a.name FROM v$sysstat a NATURAL JOIN v$statname b",
        "SELECT name FROM v$sysstat a JOIN v$statname b USING (name)",
        "SELECT a.name FROM v$sysstat a LEFT JOIN v$statname b",
        "SELECT name FROM v$sysstat WHERE ROWNUM <= 3",
        "SELECT MAX(name) KEEP (DENSE_RANK FIRST ORDER BY value) FROM v$sysstat",
        "SELECT name FROM v$sysstat GROUP BY ROLLUP(name)",
        "SELECT name FROM v$sysstat FETCH FIRST 5 PERCENT ROWS ONLY",
        "SELECT name FROM v$sysstat FETCH FIRST 5 ROWS WITH TIES",
        "SELECT name FROM v$sysstat OFFSET 5 ROWS",
        "SELECT name FROM v$sysstat FOR UPDATE",
        "SELECT name FROM v$sysstat SAMPLE (10)",
        "SELECT name FROM v$sysstat WHERE value IN (SELECT value FROM v$osstat)",
        "SELECT name FROM v$sysstat WHERE EXISTS (SELECT 1 FROM dual)",
        "SELECT (SELECT MAX(value) FROM v$osstat) FROM dual",
        "SELECT name FROM v$sysstat WHERE (name, value) IN (('x', 1))",
        "SELECT name FROM v$sysstat MINUS SELECT stat_name FROM v$osstat",
        "SELECT LAG(value, 1, 0) OVER (ORDER BY name) FROM v$sysstat",
        "SELECT LAG(value IGNORE NULLS) OVER (ORDER BY name) FROM v$sysstat",
        "SELECT FLOOR(value) OVER (ORDER BY name) FROM v$sysstat",
        "SELECT FIRST_VALUE(value) OVER (ORDER BY name) FROM v$sysstat",
        "SELECT SUM(value) OVER (ORDER BY name ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM v$sysstat",
        "SELECT LISTAGG(name, ',') WITHIN GROUP (ORDER BY name) FROM v$sysstat",
        "SELECT AVG(value) FROM v$sysstat",
        "SELECT CASE name WHEN 'x' THEN 1 END FROM v$sysstat",
        "SELECT name FROM v$sysstat WHERE name LIKE 'a\\_b' ESCAPE '\\'",
        "SELECT name FROM v$sysstat WHERE name BETWEEN SYMMETRIC 'a' AND 'b'",
        "SELECT name || 'x' FROM v$sysstat",
        "SELECT ROUND(value, 2) FROM v$sysstat",
        "SELECT TRUNC(SYSDATE, 'WW') FROM dual",
        "SELECT MOD(7, 3) FROM dual",
        "SELECT SUBSTR(name, 0, 2) FROM v$sysstat",
        "SELECT DECODE(name, 'x', 1) FROM v$sysstat",
        "SELECT NVL2(name, 1, 2) FROM v$sysstat",
        "SELECT TO_CHAR(SYSDATE) FROM dual",
        "SELECT TO_CHAR(5, 'XXX') FROM dual",
        "SELECT TO_DATE('15.01.2026', 'DD.MM.YYYY') FROM dual",
        "SELECT TO_NUMBER('5') FROM dual",
        "SELECT CAST(SYSDATE AS DATE) FROM dual",
        "SELECT CAST(5 AS TIMESTAMP) FROM dual",
        "SELECT CAST(value AS NUMBER(10, 2)) FROM v$sysstat",
        "SELECT CAST(SYSDATE AS TIMESTAMP(3)) FROM dual",
        "SELECT SYSDATE + 1 FROM dual",
        "SELECT SYSDATE - SYSDATE FROM dual",
        "SELECT SYSDATE - INTERVAL '1' DAY FROM dual",
        "SELECT CURRENT_TIMESTAMP FROM dual",
        "SELECT DATE '2026-01-15' FROM dual",
        "SELECT INTERVAL '1' MONTH FROM dual",
        "SELECT INTERVAL '1 02:03:04' DAY TO SECOND FROM dual",
        "SELECT SYS_CONTEXT('OTHER', 'X') FROM dual",
        "SELECT NUMTODSINTERVAL(1, name) FROM v$sysstat",
        "SELECT 1.5f FROM dual",
        "SELECT q'[x]' FROM dual",
        "SELECT :1 FROM dual",
    ],
)
def test_statements_that_could_give_wrong_rows_are_refused(sql: str):
    assert refused(DATABASE, sql).code in (900, 933)


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
def test_no_statement_writes(sql: str):
    caller = Caller("RACWIRE", 1, 1)
    with pytest.raises(OracleError, match="ORA-01031"):
        run(DATABASE, caller, sql)
    run(DATABASE, caller, "SET TRANSACTION READ ONLY")
    with pytest.raises(OracleError, match="ORA-01456"):
        run(DATABASE, caller, sql)
    run(DATABASE, caller, "ROLLBACK")
    with pytest.raises(OracleError, match="ORA-01031"):
        run(DATABASE, caller, sql)


def test_a_block_with_other_statements_is_refused():
    with pytest.raises(OracleError, match="ORA-00900"):
        run(DATABASE, Caller("RACWIRE", 1, 1), "BEGIN DBMS_LOCK.SLEEP(60); END;")
