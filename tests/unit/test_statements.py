"""Every statement that racwire sends: its header is true, its columns exist in every version, and it runs."""

import re
from functools import cache
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("duckdb")
pytest.importorskip("sqlglot")

from checks.sources.database.statements import SqlStatement, parse_statement, parse_template, statements
from racwire_lab.database.backend import OracleError
from racwire_lab.oracle_sql.dictionary import VERSIONS, VersionRange, find_view
from racwire_lab.oracle_sql.engine import SqlEngine
from tests.lab_own.oracle_sql_database import ask, engine
from tests.unit.statement_rules import bind_values, complaints

ALL = [pytest.param(statement, id=name) for name, statement in statements().items()]


@cache
def database_of(version: tuple[int, int]) -> SqlEngine:
    return engine(f"{version[0]}.{version[1]}.0.4.0")


GOLDEN = Path(__file__).parents[1] / "golden" / "statements"
"""The statements of the templates, written out. The SQL is that of racwire 0.1.0."""


@pytest.mark.parametrize("file", sorted(GOLDEN.glob("*.sql")), ids=lambda file: file.stem)
def test_a_template_renders_the_written_statements(file: Path):
    assert statements()[file.stem] == parse_statement(file.stem, file.read_text(encoding="utf-8"))


def test_every_statement_of_a_template_is_written_to_a_file():
    templates = files("checks.sources.database").joinpath("queries").iterdir()
    names = [file.name.removeprefix("history_") for file in templates if file.name.startswith("history_")]
    assert len(names) > 5
    assert {f"{source}_{name}" for source in ("awr", "statspack") for name in names} == {
        file.name for file in GOLDEN.glob("*.sql")
    }


def test_a_template_without_a_value_for_a_key_is_refused():
    header = "".join(f"-- {key}: {value}\n" for key, value in GOOD.items())
    with pytest.raises(KeyError, match="column"):
        list(parse_template("history_made", f"{header}SELECT $column FROM gv$$sysstat s", {}))
    text = "SELECT\nawr|$column\nstatspack|$end_time\nFROM $snapshots s"
    awr, statspack = parse_template("history_made", f"{header}-- awr column: a\n{text}", {})
    assert (awr.name, awr.text) == ("awr_made", "SELECT\na\nFROM dba_hist_snapshot s")
    assert statspack.text == "SELECT\nCAST(s.snap_time AS TIMESTAMP)\nFROM perfstat.stats$snapshot s"


@pytest.mark.parametrize("statement", ALL)
def test_a_statement_follows_the_rules(statement: SqlStatement):
    assert complaints(statement) == []


@pytest.mark.parametrize("statement", ALL)
def test_a_statement_runs_on_its_oldest_and_newest_version_and_for_one_instance(statement: SqlStatement):
    versions = VersionRange.parse(statement.versions).known()
    for version in {versions[0], versions[-1]}:
        ask(database_of(version), statement.text, bind_values(statement.text))
    here = statement.here()
    ask(database_of(versions[-1]), here.text, bind_values(here.text))


@pytest.mark.beyond_sample
@pytest.mark.parametrize("statement", ALL)
def test_a_statement_runs_on_each_version_between(statement: SqlStatement):
    for version in VersionRange.parse(statement.versions).known()[1:-1]:
        ask(database_of(version), statement.text, bind_values(statement.text))


def test_there_are_statements_for_every_version():
    assert len(ALL) > 10
    ranges = [VersionRange.parse(statement.versions) for statement in statements().values()]
    assert all(any(version in range_ for range_ in ranges) for version in VERSIONS)


@pytest.mark.parametrize("name", [name for name, each in statements().items() if each.needs_licence])
def test_a_history_statement_reads_only_the_range_of_snapshots(name: str):
    # WRH$ tables are partitioned by DBID and SNAP_ID: the range stands for the view itself, not for snapshots alone.
    text = " ".join(statements()[name].text.split())
    assert "AND v.dbid = :dbid AND v.snap_id BETWEEN :from_snap AND :last_snap" in text


@pytest.mark.parametrize(
    ("view", "schema", "column"),
    [
        ("STATS$INSTANCE_CACHE_TRANSFER", "PERFSTAT", "LOST"),
        ("STATS$CR_BLOCK_SERVER", "PERFSTAT", "STALE"),
        ("DBA_HIST_CR_BLOCK_SERVER", "SYS", "OTHER_REQUESTS"),
    ],
)
def test_snapshots_lack_columns_of_the_live_views(view: str, schema: str, column: str):
    found = find_view(view, schema)
    assert found is not None
    assert all(column not in found.of(version) for version in VERSIONS)


GOOD = {
    "purpose": "What each instance counted.",
    "reads": "GV$SYSSTAT",
    "grants": "SYS.GV_$SYSSTAT, SYS.V_$SYSSTAT",
    "licence": "none",
    "versions": "11.2-",
}
GOOD_TEXT = "SELECT s.inst_id, s.value FROM gv$sysstat s"


def made(text: str = GOOD_TEXT, **header: str) -> SqlStatement:
    lines = [f"-- {key}: {value}" for key, value in (GOOD | header).items() if value]
    return parse_statement("made", "\n".join([*lines, text]))


def of_history(text: str) -> SqlStatement:
    free = {"reads": "DBA_HIST_SNAPSHOT", "grants": "SYS.DBA_HIST_SNAPSHOT"}
    return made(text, **free)


def test_a_valid_statement_has_no_complaint():
    assert complaints(made()) == []
    assert complaints(of_history("SELECT h.snap_id FROM dba_hist_snapshot h")) == []


@pytest.mark.parametrize(
    ("statement", "complaint"),
    [
        (made(purpose="something"), "the purpose is no sentence"),
        (made(licence="Tuning Pack"), "the licence is one of"),
        (made(versions="11.2"), "is not a range of versions"),
        (made(versions="9.0-10.2"), "no version has it"),
        (made("SELECT s.inst_id FROM WHERE"), "is no Oracle SQL"),
        (made("DELETE FROM gv$sysstat s"), "is no SELECT"),
        (made("SELECT 1 FROM dual; SELECT 2 FROM dual"), "is no SELECT"),
        (made(reads="GV$SYSSTAT, GV$INSTANCE"), "reads GV$SYSSTAT, but the header says"),
        (made("SELECT s.inst_id FROM gv$sysstat s, gv$instance i"), "reads GV$INSTANCE, GV$SYSSTAT, but"),
        (made("SELECT s.inst_id FROM gv$sysstats s"), "GV$SYSSTATS is no view of the dictionary"),
        (made(grants="SYS.GV_$SYSSTAT"), "needs grants on SYS.V_$SYSSTAT"),
        (made(grants="SYS.GV_$SYSSTAT, SYS.V_$SYSSTAT, SYS.DBA_USERS"), "does not need the grant on SYS.DBA_USERS"),
        (made(licence="Diagnostics Pack"), "the licence is 'none'"),
        (
            made(
                "SELECT h.value FROM dba_hist_sysstat h",
                reads="DBA_HIST_SYSSTAT",
                grants="SYS.DBA_HIST_SYSSTAT",
            ),
            "the licence is 'Diagnostics Pack'",
        ),
        (made("SELECT s.inst_id, s.val FROM gv$sysstat s"), 'ORA-00904: "S"."VAL": invalid identifier'),
        (made("SELECT s.inst_id, s.con_id FROM gv$sysstat s"), 'made, 11.2: ORA-00904: "S"."CON_ID"'),
        (
            made(
                "SELECT h.wait_count FROM gv$event_histogram_micro h",
                reads="GV$EVENT_HISTOGRAM_MICRO",
                grants="SYS.GV_$EVENT_HISTOGRAM_MICRO, SYS.V_$EVENT_HISTOGRAM_MICRO",
            ),
            "11.2: ORA-00942",
        ),
        (made("SELECT value FROM gv$sysstat"), "still reads a GV$ view"),
        (made("SELECT a.value FROM gv$sysstat a, gv$sysstat b WHERE a.name = b.name(+)"), "(+) is forbidden"),
        (of_history("SELECT CAST(h.end_interval_time AS DATE) FROM dba_hist_snapshot h"), "CAST AS DATE is forbidden"),
        (
            made(
                "SELECT i.startup_time - SYSDATE FROM gv$instance i",
                reads="GV$INSTANCE",
                grants="SYS.GV_$INSTANCE, SYS.V_$INSTANCE",
            ),
            "arithmetic with a DATE; CAST it AS TIMESTAMP",
        ),
        (made("SELECT s.value FROM gv$sysstat s CONNECT BY LEVEL < 3"), "CONNECT BY is forbidden"),
        (made("SELECT s.value FROM gv$sysstat s WHERE ROWNUM <= 3"), "ROWNUM is forbidden"),
        (made("SELECT a.value FROM gv$sysstat a NATURAL JOIN gv$sysstat b"), "NATURAL JOIN is forbidden"),
        (made("SELECT s.value FROM gv$sysstat s FOR UPDATE"), "FOR UPDATE is forbidden"),
        (made("SELECT * FROM gv$sysstat s"), "SELECT * of GV$SYSSTAT is forbidden"),
        (made("SELECT s.* FROM gv$sysstat s"), "SELECT * of GV$SYSSTAT is forbidden"),
        (
            made("SELECT FLOOR(s.value / :part) FROM gv$sysstat s GROUP BY FLOOR(s.value / :part)"),
            "a bind in GROUP BY is forbidden",
        ),
        (made("SELECT s.value FROM gv$sysstat s WHERE s.value > DUMP(s.name)"), '"DUMP": invalid identifier'),
    ],
)
def test_an_invalid_statement_is_detected(statement: SqlStatement, complaint: str):
    assert complaint in "\n".join(complaints(statement))


@pytest.mark.parametrize("key", GOOD)
def test_a_header_without_one_of_its_lines_is_refused(key: str):
    with pytest.raises(ValueError, match=f"lacks the key '{key}'"):
        made(**{key: ""})


def test_evidence_is_found_for_all_instances_and_for_one():
    sysstat = statements()["sysstat"]
    assert sysstat.here().name != sysstat.name
    assert sysstat.here().topic == sysstat.topic == "sql sysstat"


WORDS = [re.findall(r"'[^']*'|:?[\w$#.]+|<>|[<>]=|\S", statement.text) for statement in statements().values()]
SHORT = [words for words in WORDS if len(words) < 250]
ANY_WORD = sorted({word for words in WORDS for word in words} | set("[]{}()*,;?@") | {"PIVOT", "USING", "EXISTS", "''"})


@given(st.sampled_from(SHORT), st.lists(st.tuples(st.integers(0, 249), st.sampled_from(["", *ANY_WORD])), max_size=3))
def test_a_damaged_statement_returns_rows_or_is_refused(words: list[str], changes: list[tuple[int, str]]):
    broken = list(words)
    for place, word in changes:
        broken[place % len(broken)] = word
    sql = f"SELECT {' '.join(broken[1:])}" if words[0] == "SELECT" else f"WITH {' '.join(broken[1:])}"
    code = 0
    try:
        ask(database_of((19, 0)), sql, bind_values(sql))
    except OracleError as error:
        code = error.code
    assert code != 600
