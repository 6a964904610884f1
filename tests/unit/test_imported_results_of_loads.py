"""Results of Swingbench and HammerDB for their load: in their real format, with reports of their faults."""

from __future__ import annotations

import pytest

from checks.traffic.compare.run import Better, ImportProblem
from checks.traffic.imports.hammerdb import parse_hammerdb
from checks.traffic.imports.swingbench import parse_swingbench
from tests.unit.test_imported_results import SAMPLES, values

SWINGBENCH = SAMPLES["swingbench.xml"]
HAMMERDB = SAMPLES["hammerdb.log"]


# Swingbench


def test_readings_are_sorted_by_time_without_the_idle_seconds() -> None:
    run = parse_swingbench(SWINGBENCH, "a")
    assert values(run)["transactions per second"] == (120.0, 380.0, 400.0)
    assert "first 2 and the last 1 readings have no transactions" in run.warnings[1]
    assert run.begun_at == "2026-11-20T13:02:31+00:00"
    assert run.seconds == 10


def test_the_peak_comes_from_the_readings_and_not_from_the_rate_per_minute() -> None:
    run = parse_swingbench(SWINGBENCH, "a")
    assert values(run)["peak of transactions per second"] == (400.0,)
    assert all(22774 not in m.values for m in run.measured)


def test_both_spellings_of_a_percentile_are_one_metric() -> None:
    found = values(parse_swingbench(SWINGBENCH, "a"))
    deciles = [found[f"Customer Registration: p{n} of response"] for n in range(10, 100, 10)]
    assert deciles == [(2,), (3,), (4,), (5,), (6,), (7,), (8,), (9,), (20,)]
    assert found["Browse Products: p10 of response"] == (1,)
    assert found["Browse Products: p50 of response"] == (3,)


def test_high_percentiles_come_from_the_histogram_where_there_is_one() -> None:
    run = parse_swingbench(SWINGBENCH, "a")
    p95 = next(m for m in run.measured if m.name == "Customer Registration: p95 of response")
    assert (p95.values, p95.better) == ((30.0,), Better.LOWER)
    assert "up to 10 ms too long" in p95.note
    assert "Browse Products: p95 of response" not in values(run)


def test_conditions_that_must_be_equal_in_two_runs_are_listed_without_the_password() -> None:
    run = parse_swingbench(SWINGBENCH, "a")
    assert run.environment["users"] == "40"
    assert run.environment["think time between transactions"] == "0 to 5 ms"
    assert run.environment["connect string"] == "//prodrac-scan:1521/prod"
    assert "tiger" not in repr(run)


def test_failed_transactions_are_a_warning() -> None:
    assert parse_swingbench(SWINGBENCH, "a").warnings[0].startswith("3 transactions failed, and 2,280 completed")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(SWINGBENCH.replace(' xmlns="http://www.dominicgiles.com/swingbench"', ""), id="no namespace"),
        pytest.param(
            SWINGBENCH.replace("<Results xmlns", "<s:Results xmlns:s").replace("</Results>", "</s:Results>"),
            id="a prefix",
        ),
        pytest.param(SWINGBENCH.replace("DMLResults", "A").replace("TransactionResults", "B"), id="other wrappers"),
        pytest.param("<!-- a licence -->\n" + SWINGBENCH, id="a comment before the declaration"),
    ],
)
def test_namespaces_and_wrappers_make_no_difference(text: str) -> None:
    assert values(parse_swingbench(text, "a")) == values(parse_swingbench(SWINGBENCH, "a"))


def test_without_readings_the_message_says_that_no_difference_can_be_judged() -> None:
    begin, end = SWINGBENCH.index("<TPSReadings>"), SWINGBENCH.index("</TPSReadings>")
    run = parse_swingbench(SWINGBENCH[:begin] + SWINGBENCH[end:].replace("</TPSReadings>", "", 1), "a")
    assert "transactions per second" not in values(run)
    assert any("no readings" in warning for warning in run.warnings)


@pytest.mark.parametrize(
    ("text", "message"),
    ids=["entities", "depth", "nothing within", "another root", "cut off"],
    argvalues=[
        (SWINGBENCH.replace("<Results", '<!DOCTYPE Results [<!ENTITY a "b">]>\n<Results', 1), "declares a DOCTYPE"),
        ("<Results>" + "<a>" * 50 + "</a>" * 50 + "</Results>", "nested too deeply"),
        ("<Results><Overview/></Results>", "without any figure"),
        ("<Other><Results/></Other>", "its root is 'Other'"),
        (SWINGBENCH[:-20], "no whole XML file"),
    ],
)
def test_untrusted_xml_is_refused(text: str, message: str) -> None:
    with pytest.raises(ImportProblem, match=message):
        parse_swingbench(text, "a")


# HammerDB


def test_several_results_in_one_log_are_all_values() -> None:
    found = values(parse_hammerdb(HAMMERDB, "a"))
    assert found["new orders per minute"] == (8043, 8110)
    assert found["transactions per minute"] == (16365, 16490)


def test_the_counter_counts_only_within_the_tests() -> None:
    assert values(parse_hammerdb(HAMMERDB, "a"))["transactions per minute over time"] == (16000, 16500, 16250, 16800)


def test_a_log_of_only_the_counter_is_read_completely() -> None:
    lines = "0 Oracle tpm @ Fri Nov 20\n100 Oracle tpm @ Fri Nov 20\n120 Oracle tpm @ Fri Nov 20\n"
    run = parse_hammerdb(lines, "a")
    assert values(run) == {"transactions per minute over time": (100, 120)}
    assert any("1 reading of the transaction counter" in warning for warning in run.warnings)


def test_failures_are_warnings_that_quote_no_line() -> None:
    run = parse_hammerdb(HAMMERDB, "a")
    assert run.warnings[:2] == (
        "1 virtual user ended with FINISHED FAILED: 30.",
        "The log contains errors of Oracle: ORA-00060.",
    )
    assert "tiger" not in repr(run)


def test_conditions_that_must_be_equal_in_two_tests_are_listed() -> None:
    run = parse_hammerdb(HAMMERDB, "a")
    assert run.environment == {
        "database": "Oracle",
        "virtual users": "32",
        "ramp-up, minutes": "2",
        "test, minutes": "5",
    }
    assert run.seconds == 600


@pytest.mark.parametrize(
    ("line", "new_orders", "transactions", "database"),
    [
        ("Vuser 1:TEST RESULT : System achieved 53 NOPM from 399 PostgreSQL TPM", 53, 399, "PostgreSQL"),
        ("Vuser 1:TEST RESULT : System achieved 101005 NOPM from 232149 SQL Server TPM", 101005, 232149, "SQL Server"),
        ("Vuser 1:TEST RESULT : System achieved 60501 Oracle TPM at 13207 NOPM", 13207, 60501, "Oracle"),
        ('["AB", "TEST RESULT : System achieved 3290 NOPM from 6828 Oracle TPM"]', 3290, 6828, "Oracle"),
    ],
)
def test_results_of_all_versions_and_databases(line: str, new_orders: int, transactions: int, database: str) -> None:
    run = parse_hammerdb(line, "a")
    assert values(run) == {"new orders per minute": (new_orders,), "transactions per minute": (transactions,)}
    assert run.environment["database"] == database
    assert any("single result" in warning for warning in run.warnings)


def test_no_transactions_with_new_orders_is_an_error_and_not_a_value() -> None:
    run = parse_hammerdb("TEST RESULT : System achieved 0 Oracle TPM at 27975 NOPM", "a")
    assert values(run) == {"new orders per minute": (27975,)}
    assert any("0 TPM" in warning for warning in run.warnings)


def test_of_a_time_profile_the_summary_of_all_users_is_used() -> None:
    found = values(parse_hammerdb(SAMPLES["hammerdb_profile.log"], "a"))
    assert found["NEWORD: p99 of response"] == (210.118,)
    assert found["NEWORD: p50 of response"] == (22.118,)
    assert found["NEWORD: average response"] == (36.332,)
    assert found["PAYMENT: p95 of response"] == (40.0,)
    assert found["NEWORD: calls"] == (3427,)


def test_a_log_without_a_result_says_that_the_test_did_not_end() -> None:
    with pytest.raises(ImportProblem, match="without a result"):
        parse_hammerdb("Vuser 1:Beginning rampup time of 2 minutes\n0 Oracle tpm\n", "a")
