"""The same fault gives the same report, whatever the order in which checks end."""

from __future__ import annotations

import random

import msgspec
import pytest

from checks.diagnosis.diagnose import diagnose
from checks.model.report import Report
from checks.report.markdown import to_markdown
from tests.cases.loading import Case, fact_cases
from tests.cases.test_fact_cases import report_of

TIMES = 20
SAMPLE = [case for case in fact_cases() if case.expect.cause][::5]


def first_lines(report: Report) -> bytes:
    """Return the report up to its first finding."""
    return to_markdown(report).partition(b"\n### ")[0]


@pytest.mark.case
@pytest.mark.parametrize("case", SAMPLE, ids=lambda case: case.name)
def test_the_order_of_the_findings_has_no_influence_on_the_diagnosis(case: Case) -> None:
    report, chance = report_of(case), random.Random(20)
    seen, texts = set(), set()
    for _ in range(TIMES):
        findings = list(report.findings)
        chance.shuffle(findings)
        diagnosis = diagnose(report.cluster, findings)
        seen.add(msgspec.json.encode(diagnosis))
        texts.add(first_lines(msgspec.structs.replace(report, findings=tuple(findings), diagnosis=diagnosis)))
    assert len(seen) == 1
    assert len(texts) == 1
