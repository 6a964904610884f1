"""The marks of nodes on the first line of every screen: at fault, not known, or stopped by a plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec

from checks.model.condition import Condition, ConditionKind
from checks.model.finding import FAULTS, Finding, Status, keyed
from checks.model.report import Report
from checks.model.situation import Situation, Standing
from checks.report.causes import ReportEntry, stated_entries
from checks.report.standings import Standings

DATABASE = ""
"""The name under which the database is marked."""
_SIGNS = ("!", "?", "~")
"""At fault, not known, planned: the most urgent first."""
_OVER = "IC-LOST-009"
"""The code of blocks that were lost before the run, and no longer in it."""


class NodeMark(msgspec.Struct, frozen=True):
    """The mark of a node, and the status behind it."""

    sign: str
    status: Status

    @property
    def rank(self) -> tuple[int, int]:
        """The most urgent first."""
        return _SIGNS.index(self.sign), self.status.gravity


def node_marks(report: Report | None, situation: Situation) -> dict[str, NodeMark]:
    """Return the marked nodes. A cause that holds marks its own places, and not the nodes that noticed its effects."""
    found: dict[str, NodeMark] = {}
    of_findings = _of_findings(report, situation) if report else ()
    for node, mark in (*_of_events(situation), *of_findings, *_of_plan(situation)):
        if node not in found or mark.rank < found[node].rank:
            found[node] = mark
    return found


def _of_events(situation: Situation) -> Iterator[tuple[str, NodeMark]]:
    for episode in situation.episodes:
        event = episode.event
        if not event.is_problem or episode.until is not None:
            continue
        sign = "~" if episode.step else "?" if episode.is_open or event.is_silence else "!"
        # What a cause of the report explains is marked where the cause is; a silent node in any case.
        if sign == "!" and episode.has_finding:
            continue
        for node in event.open_nodes or (() if event.nodes else (DATABASE,)):
            yield node, NodeMark(sign, event.status)


def _of_plan(situation: Situation) -> Iterator[tuple[str, NodeMark]]:
    """Yield the nodes on which a step of a change has stopped something, also where no finding is about it: with the
    database those of its instances, which racwire cannot query one by one then."""
    planned = {one.condition for one in situation.conditions if one.said.standing is Standing.PLANNED}
    for one in situation.conditions:
        is_of_database = one.condition.kind is ConditionKind.INSTANCE and Condition(ConditionKind.DATABASE) in planned
        if one.condition.node and (one.condition in planned or is_of_database):
            yield one.condition.node, NodeMark("~", Status.INFO)


def _of_findings(report: Report, situation: Situation) -> Iterator[tuple[str, NodeMark]]:
    standings = Standings(report, situation)
    entries = [*stated_entries(report, standings)]
    # What shows a cause stands as the cause does; one that does not hold explains nothing else of now.
    explained = {id(finding) for whole, _ in entries for finding in whole.findings}
    not_explained: set[int] = set()
    alarms = False
    for whole, entry in entries:
        sign = _sign(entry.said.standing) if entry.said else "!"
        alarms |= sign == "!"
        (explained if sign == "!" else not_explained).update(id(finding) for finding in whole.all_findings)
        status = min((f.status for f in entry.findings), key=lambda status: status.gravity)
        over = {node for f in whole.findings for node in f.nodes} - {node for f in entry.findings for node in f.nodes}
        yield from ((node, NodeMark(sign, status)) for node in (_places_of(entry) - over if sign else ()))
    unexplained = {*report.diagnosis.unexplained}
    for key, finding in keyed(report.findings):
        if finding.status not in FAULTS or finding.waived or id(finding) in explained or _is_over(finding):
            continue
        is_apart = key in unexplained or id(finding) in not_explained
        if alarms and not is_apart and _is_of_losses(finding):
            continue
        said = standings.of(finding)
        sign = _sign(said.standing) if said else "!"
        yield from ((node, NodeMark(sign, finding.status)) for node in (finding.nodes if sign else ()))


def _sign(standing: Standing) -> str:
    """Return the sign of a fault that stands so; empty where it is over."""
    if standing in (Standing.WAS, Standing.VERIFIED):
        return ""
    return {Standing.UNKNOWN: "?", Standing.PLANNED: "~"}.get(standing, "!")


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
