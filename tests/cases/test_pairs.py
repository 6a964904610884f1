"""Two faults at once, on facts: both causes are among the first entries of the diagnosis."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import msgspec
import pytest

from checks.model.report import Report
from tests.cases.outcomes import GOALS, PROPERTY, Result, outcome_of_pair
from tests.cases.pairs import FACT_PAIRS, fact_pairs, lab_pairs
from tests.cases.test_fact_cases import report_of

PAIRS = fact_pairs()
SAMPLE = 3
"""The pairs of `make test`."""
beyond = pytest.mark.beyond_sample


@cache
def report_of_pair(number: int) -> Report:
    return report_of(PAIRS[number].case)


@pytest.mark.case
@pytest.mark.parametrize(
    "number",
    [pytest.param(n, id=pair.name, marks=() if n < SAMPLE else beyond) for n, pair in enumerate(PAIRS)],
)
def test_a_pair_has_no_false_sentence_and_no_error(number: int, record_property: Callable[[str, object], None]) -> None:
    pair, report = PAIRS[number], report_of_pair(number)
    outcome = outcome_of_pair(pair.name, pair.first, pair.second, report)
    record_property(PROPERTY, msgspec.to_builtins(outcome))
    assert outcome.false == ()
    assert [f.title for f in report.findings if f.code.startswith("RW-ENGINE-002")] == []


@pytest.mark.case
@beyond
def test_both_causes_are_named_for_the_goal_of_the_pairs() -> None:
    results = [outcome_of_pair(p.name, p.first, p.second, report_of_pair(n)).result for n, p in enumerate(PAIRS)]
    assert 100 * results.count(Result.BOTH) >= GOALS["pairs"] * len(PAIRS)


def test_the_pairs_are_always_the_same() -> None:
    assert len(PAIRS) == FACT_PAIRS
    assert [p.name for p in PAIRS] == [p.name for p in fact_pairs()]
    assert [p.name for p in lab_pairs()] == [p.name for p in lab_pairs()]
