"""What the checks find in the facts that the steps of a session read: no run reads these."""

from __future__ import annotations

from checks.investigate.sensed import with_sensed
from checks.model.finding import Finding
from checks.model.investigation import SessionRecord
from checks.model.journal import Journal
from checks.model.report import Report
from checks.run.check_discovery import discover
from checks.run.judgement import judged


def sensed_findings(report: Report, record: SessionRecord) -> tuple[Finding, ...]:
    """Return the findings, on the cluster of the run of the session; none where no step read any."""
    cluster = with_sensed(report.cluster, record)
    able = [check for check in discover().on_request if all(map(cluster.is_gathered, check.needs))]
    return tuple(finding for check in able for finding in judged(check, cluster, Journal()))
