"""Which checks to run again after something returned: those whose findings are not certain, and rest on it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from checks.model.check import Check
from checks.model.condition import Condition
from checks.model.finding import PROBLEMS, Status
from checks.model.report import Report
from checks.model.situation import Situation, Standing
from checks.report.standings import Standings
from checks.situation.conditions import rests_on
from checks.situation.touching import touches

_NOT_CERTAIN = (Standing.UNKNOWN, Standing.WAS)


def checks_to_run(
    report: Report, situation: Situation, returned: Collection[Condition], checks: Mapping[str, Check]
) -> tuple[str, ...]:
    """Return the checks that found a fault, could not tell, or are not known any more, and that read a condition which
    these can have changed; in the order of their findings."""
    standings = Standings(report, situation)
    found: dict[str, None] = {}
    for finding in report.findings:
        said, check = standings.of(finding), checks.get(finding.check)
        is_uncertain = finding.status in PROBLEMS or (said is not None and said.standing in _NOT_CERTAIN)
        if check is None or finding.status is Status.SKIPPED or finding.check in found or not is_uncertain:
            continue
        if finding.status is Status.UNKNOWN and said is not None and said.outdated and said.outdated.is_end:
            found[finding.check] = None  # what racwire asked for these facts is back
            continue
        rests = rests_on(finding, check.about, report.cluster)
        if any(touches(condition, "", other) for condition in returned for other in rests):
            found[finding.check] = None
    return tuple(found)
