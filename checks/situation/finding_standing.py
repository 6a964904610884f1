"""How each finding of the report stands: by the conditions that it shows bad, or that it rests on."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from msgspec.structs import replace

from checks.model.condition import Condition, ConditionKind
from checks.model.explained_stop import ExplainedStop
from checks.model.facts import Verdict
from checks.model.finding import FAULTS, Finding, Key, Status, keyed
from checks.model.report import Report
from checks.model.situation import FindingStatement, Outdated, Standing, Statement
from checks.situation.condition_readings import ReadTimes, groups_lacking, seconds_of
from checks.situation.condition_standing import is_covered
from checks.situation.conditions import rests_on, shown_bad
from checks.situation.edges import Edges, newest_of

NOT_SAMPLED = (ConditionKind.PATH, ConditionKind.SETUP)
"""Kinds that only runs read: each finding has its own reading of them."""
_OF_DATABASE = frozenset({"database", "activity", "history"})
"""The groups of facts that only the database has."""
_STOPPING = frozenset({ConditionKind.LINK, ConditionKind.MTU, ConditionKind.NODE})
"""What stops a path on purpose, at either of its ends."""


class FindingStandings:
    """Makes the statements about the findings of one report at one moment."""

    def __init__(
        self,
        report: Report,
        about: Mapping[str, Collection[ConditionKind]],
        shows: Mapping[str, Collection[ConditionKind]],
        conditions: Mapping[Condition, Statement],
        edges: Edges,
        stops: Collection[ExplainedStop],
        *,
        times: ReadTimes,
        now: float,
        clock_s: float,
    ) -> None:
        """`conditions` are the statements about conditions; `clock_s` is how far the clock has been set by now."""
        self._report = report
        self._about = about
        self._shows = shows
        self._conditions = conditions
        self._edges = edges
        self._stops = stops
        self._now = now
        self._times = times
        self._clock_s = clock_s

    def every(self, since: Mapping[Key, float]) -> Iterator[FindingStatement]:
        """Yield the statement about each finding; `since` has the start of each by its key."""
        for key, finding in keyed(self._report.findings):
            begin = since.get(key)
            said = self._said(finding)
            if begin is not None and said.standing is not Standing.UNKNOWN:
                said = replace(said, since=min(begin + self._clock_s, said.since))
            yield FindingStatement(key, said)

    def paths(self, check: str) -> Iterator[tuple[Condition, Statement]]:
        """Yield the statement about each path that a finding of the check rests on: a cell of the matrix."""
        bad = {path for finding in self._report.findings if finding.check == check for path in shown_bad(finding)}
        # Its own packets say more of a path than a sentence about a node.
        passed = {
            Condition(ConditionKind.PATH, probe.from_node, probe.network, probe.to_node): probe.verdict
            is Verdict.PASSES
            for probe in self._report.cluster.read_paths()
        }
        for finding in self._report.findings:
            if finding.check != check or finding.status is Status.SKIPPED:
                continue
            for path in self._rests(finding):
                if path.kind is ConditionKind.PATH and path.node and path.peer:
                    yield path, self._path(path, finding, is_bad=not passed.get(path, path not in bad))

    def _path(self, path: Condition, finding: Finding, *, is_bad: bool) -> Statement:
        as_of = self._as_of(finding, path, is_bad=is_bad)
        said = Statement(standing=Standing.HOLDS, is_bad=is_bad, since=as_of, as_of=as_of, of=1)
        if outdated := self._edges.outdating(path, as_of, is_bad=is_bad):
            return replace(said, standing=Standing.UNKNOWN, outdated=outdated, unknown=1)
        if is_bad and (step := self._planned_path(path, as_of)):
            return replace(said, standing=Standing.PLANNED, step=step)
        return said

    def _said(self, finding: Finding) -> Statement:
        if finding.status in FAULTS:
            return self._fault(finding)
        if finding.status is Status.UNKNOWN:
            return self._not_known(finding)
        if finding.status is Status.SKIPPED:
            as_of = self._as_of(finding, is_bad=False)
            return Statement(standing=Standing.HOLDS, is_bad=False, since=as_of, as_of=as_of)
        return self._well(finding)

    def _fault(self, finding: Finding) -> Statement:
        as_of = self._as_of(finding, is_bad=True)
        said = Statement(standing=Standing.HOLDS, is_bad=True, since=as_of, as_of=as_of)
        shown = shown_bad(finding)
        live = [self._conditions[c] for c in shown if c.kind not in NOT_SAMPLED and c in self._conditions]
        if live:
            return _together(live, said)
        rests = shown or self._rests(finding)
        outdated = [one for c in rests if (one := self._outdating(c, as_of, is_bad=True))]
        if outdated and len(outdated) == len(rests):
            newest = newest_of(outdated)
            return replace(said, standing=Standing.UNKNOWN, outdated=newest, unknown=len(outdated), of=len(rests))
        if step := self._planned(rests, as_of):
            return replace(said, standing=Standing.PLANNED, step=step)
        return replace(said, unknown=len(outdated), of=len(rests))

    def _not_known(self, finding: Finding) -> Statement:
        as_of = self._as_of(finding, is_bad=True)
        rests = self._rests(finding)
        said = Statement(standing=Standing.UNKNOWN, is_bad=False, since=as_of, as_of=as_of, outdated=Outdated(as_of))
        if step := self._planned(rests, as_of) or self._planned_lack(finding, as_of):
            return replace(said, standing=Standing.PLANNED, step=step, outdated=None)
        touched = [one for c in rests if (one := self._edges.outdating(c, as_of, is_bad=True))]
        asked = self._asked_for(finding)
        live = self._conditions.get(asked) if asked else None
        tried = self._times.span(finding).oldest_end + self._clock_s
        if live is not None and not live.is_bad and live.outdated is None and live.since > tried:
            touched.append(Outdated(live.since, asked, is_end=True))
        return replace(said, outdated=newest_of(touched)) if touched else said

    def _well(self, finding: Finding) -> Statement:
        as_of = self._as_of(finding, is_bad=False)
        said = Statement(standing=Standing.HOLDS, is_bad=False, since=as_of, as_of=as_of)
        rests = self._rests(finding)
        outdated: list[Outdated] = []
        steps: list[str] = []
        times: list[float] = []
        for condition in rests:
            live = None if condition.kind in NOT_SAMPLED else self._conditions.get(condition)
            if live is None:
                if one := self._outdating(condition, as_of, is_bad=False):
                    outdated.append(one)
            elif live.standing is Standing.PLANNED:
                steps.append(live.step)
            elif live.outdated is not None:
                outdated.append(live.outdated)
            elif live.is_bad:
                # What was bad when this was read has not changed it, nor has what the same run read later; but for what
                # the sentence itself says to be well.
                is_own = condition.kind in self._shows.get(finding.check, ())
                read = as_of if is_own or live.standing is Standing.NEW else self._end_of_run(finding)
                if (live.as_of if is_own else live.since) > read:
                    outdated.append(Outdated(live.since, condition))
            else:
                times.append(live.as_of)
        if outdated:
            newest = newest_of(outdated)
            return replace(said, standing=Standing.UNKNOWN, outdated=newest, unknown=len(outdated), of=len(rests))
        if steps:
            return replace(said, standing=Standing.PLANNED, step=steps[0], unknown=len(steps), of=len(rests))
        if len(times) == len(rests) and times:
            said = replace(said, as_of=max(as_of, min(times)))
        return replace(said, of=len(rests))

    def _planned(self, conditions: Collection[Condition], as_of: float) -> str:
        """Return the title of the step that stopped all of these conditions before they were read; empty where none
        did."""
        live = [self._conditions[c] for c in conditions if c.kind not in NOT_SAMPLED and c in self._conditions]
        if live and all(one.standing is Standing.PLANNED for one in live):
            return live[0].step
        steps = [self._planned_path(c, as_of) for c in conditions if c.kind is ConditionKind.PATH]
        return steps[0] if steps and all(steps) else ""

    def _planned_lack(self, finding: Finding, as_of: float) -> str:
        """Return the title of the step that stopped what racwire asks for the facts that a finding lacks; empty where
        none did."""
        asked = self._asked_for(finding)
        live = self._conditions.get(asked) if asked else None
        if live is None or live.standing is not Standing.PLANNED:
            return ""
        return live.step if any(stop.step == live.step and as_of >= stop.begin for stop in self._stops) else ""

    def _asked_for(self, finding: Finding) -> Condition | None:
        """Return what racwire asks for whole groups of facts that a finding lacks: the database, or else Clusterware on
        its own node; None where it lacks those of single nodes only, or none."""
        groups = groups_lacking(finding, self._report.cluster)
        if not groups:
            return None
        if _OF_DATABASE.issuperset(groups):
            return Condition(ConditionKind.DATABASE)
        return Condition(ConditionKind.STACK, self._report.cluster.local_node)

    def _planned_path(self, path: Condition, as_of: float) -> str:
        for stop in self._stops:
            ends = [Condition(kind, node) for kind in _STOPPING & stop.kinds for node in (path.node, path.peer)]
            if as_of >= stop.begin and any(is_covered(end, stop, self._now) for end in ends):
                return stop.step
        return ""

    def _outdating(self, condition: Condition, as_of: float, *, is_bad: bool) -> Outdated | None:
        return self._edges.outdating(condition, as_of, is_bad=is_bad)

    def _rests(self, finding: Finding) -> frozenset[Condition]:
        return rests_on(finding, self._about.get(finding.check, ()), self._report.cluster)

    def _end_of_run(self, finding: Finding) -> float:
        again = next((one for one in reversed(self._report.reruns) if one.has_judged(finding.check)), self._report)
        return (seconds_of(again.started_at) or 0.0) + again.duration_s + self._clock_s

    def _as_of(self, finding: Finding, condition: Condition | None = None, *, is_bad: bool) -> float:
        span = self._times.span(finding, condition)
        counts = any(kind.is_counted for kind in self._about.get(finding.check, ()))
        return (span.oldest_end if counts and not is_bad else span.begin) + self._clock_s


def _together(conditions: Collection[Statement], said: Statement) -> Statement:
    """Return the statement of a fault from those about the conditions that it shows bad: it holds where one of them is
    bad, and is over where all are."""
    bad = [one for one in conditions if one.is_alarm]
    unknown = [one.outdated for one in conditions if one.standing is Standing.UNKNOWN and one.outdated]
    planned = [one for one in conditions if one.standing is Standing.PLANNED]
    numbers = {"unknown": len(unknown), "of": len(conditions)}
    if bad:
        return replace(said, since=min(one.since for one in bad), as_of=min(one.as_of for one in bad), **numbers)
    if unknown:
        return replace(said, standing=Standing.UNKNOWN, outdated=newest_of(unknown), **numbers)
    if planned:
        as_of = min(one.as_of for one in planned)
        return replace(said, standing=Standing.PLANNED, step=planned[0].step, as_of=as_of, **numbers)
    until = max(one.until if one.until is not None else one.since for one in conditions)
    as_of = min(one.as_of for one in conditions)
    proofs = [one.proved for one in conditions if one.proved is not None]
    if len(proofs) < len(conditions):
        return replace(said, standing=Standing.WAS, until=until, as_of=as_of, **numbers)
    return replace(said, standing=Standing.VERIFIED, until=until, proved=min(proofs), as_of=as_of, **numbers)
