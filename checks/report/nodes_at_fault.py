"""The nodes at fault, for the header of the console."""

from __future__ import annotations

from collections import Counter

from checks.model.finding import FAULTS, Finding, Status, keyed
from checks.model.report import Report
from checks.report.causes import ReportEntry, cause_entries

_OVER = "IC-LOST-009"
"""The code of blocks that were lost before the run, and no longer in it."""


def nodes_at_fault(report: Report) -> dict[str, Status]:
    """Return the nodes at fault with the worst status of each: of a cause that was found its own places, and not the
    nodes that noticed its effects; of any other fault its nodes. Where a cause was found, what only names lost packets
    marks a node if no cause explains it; losses that are over mark none."""
    entries = cause_entries(report)
    explained = {id(f) for entry in entries for f in entry.all_findings}
    found = [
        (node, min((f.status for f in entry.findings), key=lambda status: status.gravity))
        for entry in entries
        for node in _places_of(entry)
    ]
    unexplained = {*report.diagnosis.unexplained}
    for key, finding in keyed(report.findings):
        if finding.status not in FAULTS or finding.waived or id(finding) in explained or _is_over(finding):
            continue
        if not entries or key in unexplained or not _is_of_losses(finding):
            found += [(node, finding.status) for node in finding.nodes]
    return dict(sorted(found, key=lambda one: one[1].gravity, reverse=True))  # the worst is the last of a node


def _places_of(entry: ReportEntry) -> set[str]:
    """Return the nodes at fault: those that the causes have in common, or else those of the first; where it names none,
    those that most of its findings name."""
    own = [{*cause.nodes} for cause in entry.causes if cause.nodes]
    if own:
        return set.intersection(*own) or own[0]
    named = Counter(node for finding in entry.findings for node in dict.fromkeys(finding.nodes))
    most = max(named.values(), default=0)
    return {node for node, count in named.items() if count == most}


def _is_of_losses(finding: Finding) -> bool:
    return any(seen.is_loss for seen in finding.observed)


def _is_over(finding: Finding) -> bool:
    """Return whether all packets of a finding are of a time before the run."""
    legs = [leg for seen in finding.observed for leg in seen.legs]
    return finding.code == _OVER or (bool(legs) and all(leg.times is not None for leg in legs))
