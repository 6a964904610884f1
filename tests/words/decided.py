"""All that racwire decides, by aspect and by name. Import it after the texts are masked."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import msgspec

from tests.cases.loading import DIRECTORY, fact_cases, load
from tests.cases.test_fact_cases import report_of
from tests.words.of_cases import of_report
from tests.words.of_changes import PLANS, WALKS, of_plan, of_walk
from tests.words.of_events import RUNS, of_run
from tests.words.planted import a_sentence_that_shuts_a_gate, a_title_that_hides_a_cause

_CASES, _PLANS = 30, 8
"""In the sample is every so many of them."""
_WALKS = 6


def decided(*, every: bool) -> bytes:
    """Return all decisions as JSON; else those of the sample."""
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    reports = {case.name: report_of(case) for case in fact_cases()[:: 1 if every else _CASES]}
    before = [*reports.values()]
    for number, (name, report) in enumerate(reports.items()):
        found["cases"][name] = of_report(report, before[number - 1])
    for name in RUNS:
        found[f"events: {name}"][name] = of_run(name)
    for name in [*PLANS][:: 1 if every else _PLANS]:
        for aspect, value in of_plan(name).items():
            found[f"plans: {aspect}"][name] = value
    for shape, seed in WALKS if every else WALKS[:_WALKS]:
        for aspect, value in of_walk(shape, seed).items():
            found[f"walks: {aspect}"][f"{shape} {seed}"] = value
    with a_title_that_hides_a_cause():
        report = report_of(load(DIRECTORY / "mtu-odd-node.toml"))
        found["trial: a title"]["mtu-odd-node"] = of_report(report, report)
    with a_sentence_that_shuts_a_gate():
        found["trial: a sentence"]["a walk"] = of_walk(*WALKS[0])
    return msgspec.json.encode(found)
