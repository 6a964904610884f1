"""The table of the case book: outcomes of cases, totals, goals."""

from __future__ import annotations

import msgspec
import pytest

from checks.model.hypothesis import Certainty
from tests.cases.loading import DIRECTORY, load
from tests.cases.outcomes import Outcome, Result, false_sentences, missed_goals, outcome_of, table
from tests.cases.test_fact_cases import report_of

CASE = load(DIRECTORY / "mtu-odd-node.toml")
REPORT = report_of(CASE)


def expecting(**changes: object) -> Result:
    """Return the result where the case expects its cause with other values."""
    wanted = msgspec.structs.replace(CASE.expect.cause[0], **changes)
    return outcome_of(with_expect(cause=(wanted,)), REPORT).result


def with_expect(**changes: object):
    return msgspec.structs.replace(CASE, expect=msgspec.structs.replace(CASE.expect, **changes))


def test_the_expected_cause_comes_first() -> None:
    assert outcome_of(CASE, REPORT).result is Result.RIGHT
    assert outcome_of(CASE, REPORT).is_right


@pytest.mark.parametrize(
    ("changes", "result"),
    [
        ({"cause": "CAUSE-12"}, Result.MISSED),
        ({"cause": ("CAUSE-12", "CAUSE-05")}, Result.RIGHT),
        ({"standing": Certainty.SUPPORTED}, Result.PARTLY),
        ({"place": "rac1 *"}, Result.MISSED),
        ({"nodes": ("rac1",)}, Result.MISSED),
        ({"network": "192.168.10.0/24"}, Result.MISSED),
    ],
)
def test_another_expectation_is_missed_or_partly_met(changes: dict[str, object], result: Result) -> None:
    assert expecting(**changes) is result


def test_a_cause_that_is_not_excluded_is_partly_right() -> None:
    assert outcome_of(with_expect(excluded=("CAUSE-05",)), REPORT).result is Result.PARTLY
    assert outcome_of(with_expect(excluded=("CAUSE-13",)), REPORT).result is Result.RIGHT


def test_a_proved_cause_of_an_unknowable_fault_is_an_invention() -> None:
    assert outcome_of(with_expect(cause=(), causes=None), REPORT).result is Result.MISSED


def test_a_healthy_variant_with_a_fault_is_an_alarm() -> None:
    assert outcome_of(msgspec.structs.replace(CASE, name="healthy-not"), REPORT).result is Result.ALARM


def test_false_sentences_are_found_anywhere_in_the_report() -> None:
    assert false_sentences(REPORT) == ()
    said = msgspec.structs.replace(REPORT.findings[0], title="Pings are filtered, and the network looks clean.")
    lying = msgspec.structs.replace(REPORT, findings=(said, *REPORT.findings[1:]))
    assert false_sentences(lying, ["Pings are"]) == ("network looks clean", "Pings are filtered", "Pings are")


def outcome(group: str, result: Result, *false: str) -> Outcome:
    return Outcome(name="a case", group=group, result=result, false=false)


def test_the_table_has_totals_in_percent_and_the_cases_to_improve() -> None:
    outcomes = [outcome("facts", Result.RIGHT)] * 3 + [outcome("facts", Result.PARTLY, "What is left is")]
    first, last = table(outcomes, every_case=False)
    assert first.split() == ["facts", "a", "case", "partly", "FALSE:", '"What', "is", "left", 'is"']
    assert last == (
        "facts            4 cases: 75 % right (goal 95 %): 3 right first, 1 partly; 1 with a false sentence"
    )
    assert len(table(outcomes, every_case=True)) == 5


def test_goals() -> None:
    assert missed_goals([outcome("healthy", Result.QUIET)]) == []
    assert missed_goals([outcome("healthy", Result.QUIET), outcome("healthy", Result.ALARM)]) == ["healthy"]
    assert missed_goals([outcome("pairs", Result.BOTH)] * 4 + [outcome("pairs", Result.ONE)]) == []
    assert missed_goals([outcome("facts", Result.RIGHT, "What is left is")]) == ["facts"]
