"""The same fault gives the same report, whatever the order in which checks end."""

from __future__ import annotations

import asyncio
import random

import msgspec
import pytest

from checks.diagnosis.diagnose import diagnose
from checks.model.check import Check
from checks.report.markdown import to_markdown
from checks.run.engine import Engine
from tests.cases.loading import Case, fact_cases
from tests.cases.test_fact_cases import report_of
from tests.support.sampling import sampled

TIMES = 8
CASES = [case for case in fact_cases() if case.expect.first][::5]


@pytest.mark.case
@pytest.mark.parametrize("case", sampled(CASES, 3))
def test_the_order_of_the_findings_has_no_influence_on_the_diagnosis(case: Case) -> None:
    report, chance = report_of(case), random.Random(20)
    seen = set()
    for _ in range(TIMES):
        findings = list(report.findings)
        chance.shuffle(findings)
        seen.add(msgspec.json.encode(diagnose(report.cluster, findings)))
    assert len(seen) == 1


@pytest.mark.case
@pytest.mark.parametrize("case", sampled(CASES[::6]))
def test_the_order_in_which_checks_end_has_no_influence_on_the_report(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance, texts = random.Random(20), set()
    judge = Engine._judge

    async def late(self: Engine, check: Check) -> None:
        for _ in range(chance.randrange(40)):
            await asyncio.sleep(0)
        await judge(self, check)

    monkeypatch.setattr(Engine, "_judge", late)
    for _ in range(TIMES):
        texts.add(
            to_markdown(
                msgspec.structs.replace(report_of(case), started_at="2026-11-20T14:00:00+00:00", duration_s=1.0)
            )
        )
    assert len(texts) == 1
