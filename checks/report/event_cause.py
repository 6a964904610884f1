"""Which cause of a report explains an event."""

from __future__ import annotations

from checks.events.cluster_event import ClusterEvent, checks_for
from checks.report.causes import ReportEntry


def explains(entry: ReportEntry, event: ClusterEvent) -> bool:
    """Return whether a cause explains an event: one of its findings names a node of the event, and is by a check that
    examines such events. An event without a node, such as a database that does not answer, has no such cause."""
    checks, nodes = {*checks_for(event.kind)}, {*event.nodes}
    return any(finding.check in checks and nodes & {*finding.nodes} for finding in entry.all_findings)
