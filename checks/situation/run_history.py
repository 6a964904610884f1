"""What the runs of the checks and the gates of a change have shown so far: a fold over finished runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from checks.model.check import Check
from checks.model.condition import Condition, ConditionKind
from checks.model.facts import Activity
from checks.model.finding import FAULTS, PROBLEMS, Finding, Key, Status, could_not_look, keyed
from checks.model.known_instances import nodes_of
from checks.model.report import Report
from checks.model.run_record import RunRecord
from checks.report.diff_findings import same_findings
from checks.run.rerun import judged_again, judged_by
from checks.situation.condition_readings import ConditionReading, ReadTimes, readings_in, seconds_of
from checks.situation.conditions import rests_on, shown_bad

KEPT_RUNS = 8
"""The most runs that are kept: a report of a large cluster takes megabytes."""


class GoneFinding(msgspec.Struct, frozen=True):
    """A fault of an earlier run that a later run no longer has."""

    key: Key
    finding: Finding
    report: Report
    """The report that had it."""
    since: float
    as_of: float
    """When it was last read as bad."""
    looked: float
    """When the run that no longer has it looked: the oldest of its readings."""
    looked_last: float
    """When the newest run that could look at its place did, and did not find it."""
    is_proved: bool
    """Whether a run could look at its place, and found it well."""
    rests_on: frozenset[Condition]


class RunReadings(msgspec.Struct, frozen=True):
    """What one finished run read of conditions."""

    ended: float
    """By the clock as it was then."""
    seen: tuple[ConditionReading, ...]


class RunHistory(msgspec.Struct, frozen=True):
    """The finished runs of a session, or of a recording up to the playhead. What they read has its times by a clock
    that nothing sets."""

    records: tuple[RunRecord, ...] = ()
    report: Report | None = None
    """What is known now: the newest facts of each group, with every check judged on them. None before the first run."""
    clock_s: float = 0.0
    """How far the clock had been set when the newest run ended."""
    clocks: Mapping[str, float] = msgspec.field(default_factory=dict)
    """How far it had been set at the runs of the report, by the time at which each started; without those of 0 s."""
    since: Mapping[Key, float] = msgspec.field(default_factory=dict)
    """Since when each finding is as it is: the first of the runs in a row that had it."""
    before: Mapping[Key, Finding] = msgspec.field(default_factory=dict)
    """By key of a finding: the same one before its check was judged the last time."""
    is_compared: bool = False
    """Whether there was an earlier run."""
    gone: tuple[GoneFinding, ...] = ()
    readings: tuple[RunReadings, ...] = ()

    @property
    def for_recording(self) -> tuple[RunRecord, ...]:
        """The runs that a recording starts with: the kept ones from the first of all checks on; where none of them ran
        all checks, what is known now as one run."""
        first = next((number for number, record in enumerate(self.records) if record.is_whole), None)
        if first is not None or self.report is None:
            return self.records[first or 0 :]
        return (RunRecord(report=self.report, ended=self.records[-1].ended, clock_s=self.clock_s),)

    def after(self, record: RunRecord, checks: Mapping[str, Check]) -> RunHistory:
        """Return the history after one more run. `checks` are the known checks by id.

        A run of some checks, and a gate, add to what is known; before the first run of all checks they are left out.
        """
        is_part = bool(record.checks) or record.is_gate
        if is_part and self.report is None:
            return self
        old = self.report
        own, judged_first = _judged(old if is_part else None, record, checks)
        new, judged = own, judged_first
        for gates in self._gates_after(record):
            new, again = _judged(new, gates, checks)
            judged = judged | again
        about = {name: one.about for name, one in checks.items()}
        former = dict(keyed(old.findings)) if old else {}
        now = dict(keyed(new.findings))
        pairs = {key: before for key, before in _pairs(former, now) if now[key].check in judged}
        shows = {name: one.shows for name, one in checks.items()}
        clocks = dict(self._clocks_of(new, record))
        times = ReadTimes(new, clocks)
        # Until this run started, a fault that it does not find was not over: older facts alone prove nothing.
        begin = (seconds_of(record.report.started_at) or 0.0) - record.clock_s
        lost = tuple(self._newly_gone(former, now, pairs, new, times, judged, about, begin))
        gone = (*self._still_gone(now, new, times, judged, about), *lost)
        looked_for = (one for one in gone if one.finding.check in judged)
        # What was read by a gate meanwhile, that gate has added.
        seen = times if new is own else ReadTimes(own, dict(self._clocks_of(own, record)))
        read = (*readings_in(own, judged_first, shows, seen), *_read_well(looked_for, new, times))
        read = tuple(one._replace(began=begin) for one in read)
        return RunHistory(
            records=(*self.records, record)[-KEPT_RUNS:],
            report=new,
            clock_s=record.clock_s,
            clocks=clocks,
            since=dict(self._since(now, former, pairs, times, judged)),
            before={**({} if not is_part else self.before), **{key: former[old_key] for key, old_key in pairs.items()}},
            is_compared=self.is_compared or old is not None,
            gone=_of_newest_reports(gone),
            readings=(*self.readings, RunReadings(record.ended, read))[-4 * KEPT_RUNS :],
        )

    def _gates_after(self, record: RunRecord) -> Iterator[RunRecord]:
        """Yield the gates that started after a run, and ended before it: what they read is newer."""
        started = (seconds_of(record.report.started_at) or 0.0) - record.clock_s
        for one in self.records:
            if one.is_gate and (seconds_of(one.report.started_at) or 0.0) - one.clock_s > started:
                yield one

    def _clocks_of(self, report: Report, record: RunRecord) -> Iterator[tuple[str, float]]:
        for time in (report.started_at, *(again.started_at for again in report.reruns)):
            by_s = record.clock_s if time == record.report.started_at else self.clocks.get(time, 0.0)
            if by_s:
                yield time, by_s

    def _since(
        self,
        now: Mapping[Key, Finding],
        former: Mapping[Key, Finding],
        pairs: Mapping[Key, Key],
        times: ReadTimes,
        judged: Collection[str],
    ) -> Iterator[tuple[Key, float]]:
        for key, finding in now.items():
            old_key = pairs.get(key, key)
            same = former.get(old_key)
            is_same = same is not None and (same.status in FAULTS) == (finding.status in FAULTS)
            if old_key in self.since and (finding.check not in judged or is_same):
                yield key, self.since[old_key]
            else:
                yield key, times.span(finding).begin

    def _newly_gone(
        self,
        former: Mapping[Key, Finding],
        now: Mapping[Key, Finding],
        pairs: Mapping[Key, Key],
        report: Report,
        times: ReadTimes,
        judged: Collection[str],
        about: Mapping[str, Collection[ConditionKind]],
        begin: float,
    ) -> Iterator[GoneFinding]:
        old = self.report
        kept = {old_key for key, old_key in pairs.items() if now[key].status in FAULTS}
        before = ReadTimes(old, self.clocks) if old is not None else None
        for key, finding in former.items():
            if (
                old is None
                or before is None
                or finding.status not in FAULTS
                or finding.check not in judged
                or key in kept
            ):
                continue
            became = next((now[key_] for key_, old_key in pairs.items() if old_key == key), None)
            is_unknown = became is not None and became.status is Status.UNKNOWN
            looked = max(begin, _looked(finding, times, about.get(finding.check, ())))
            yield GoneFinding(
                key=key,
                finding=finding,
                report=old,
                since=self.since.get(key, 0.0),
                as_of=before.span(finding).begin,
                looked=looked,
                looked_last=looked,
                is_proved=not is_unknown and _could_look(report, finding, old),
                rests_on=rests_on(finding, about.get(finding.check, ()), old.cluster),
            )

    def _still_gone(
        self,
        now: Mapping[Key, Finding],
        report: Report,
        times: ReadTimes,
        judged: Collection[str],
        about: Mapping[str, Collection[ConditionKind]],
    ) -> Iterator[GoneFinding]:
        """Yield what was gone before and was not found again; a run that could look for it renews the proof."""
        again = {key: finding for key, finding in now.items() if finding.status in PROBLEMS}
        before = {one.key: one.finding for one in self.gone}
        back = {old_key for _, old_key in _pairs(before, again)}
        for one in self.gone:
            if one.key in back:
                continue
            if one.finding.check not in judged or not _could_look(report, one.finding, one.report):
                yield one
                continue
            looked = max(one.looked_last, _looked(one.finding, times, about.get(one.finding.check, ())))
            yield replace(one, looked=one.looked if one.is_proved else looked, looked_last=looked, is_proved=True)


def _judged(old: Report | None, record: RunRecord, checks: Mapping[str, Check]) -> tuple[Report, set[str]]:
    """Return what is known after a record, and the checks that were judged on it: without an earlier report, all."""
    if old is None:
        return record.report, {finding.check for finding in record.report.findings}
    own = () if record.is_gate else record.checks
    return judged_again(old, record, checks), {*judged_by(old, record, checks), *own}


def _could_look(report: Report, gone: Finding, had: Report) -> bool:
    """Return whether a run could look for a fault that an earlier report had: it read each node on which that was
    read, counted the blocks of its instances, and its check could tell."""
    known = {node.name for node in had.cluster.all_nodes()}
    asked = {*gone.nodes, *(ref.node for ref in gone.evidence)} & known
    read = {node.name for node in report.cluster.read_nodes()}
    losing = {condition.node for condition in shown_bad(gone) if condition.kind is ConditionKind.LOST_BLOCKS}
    activity = report.cluster.activity
    counted = activity.instances if isinstance(activity, Activity) else ()
    counting = nodes_of(report.cluster, (one.instance for one in counted))
    return asked <= read and losing <= {*counting} and not could_not_look(report.findings, gone)


def _looked(gone: Finding, times: ReadTimes, about: Collection[ConditionKind]) -> float:
    """Return when a run looked for a fault that it did not find: the oldest of its readings of what that showed bad."""
    shown = [times.looked(gone.check, condition, counts=condition.kind.is_counted) for condition in shown_bad(gone)]
    return min(shown) if shown else times.looked(gone.check, counts=any(kind.is_counted for kind in about))


def _of_newest_reports(gone: Sequence[GoneFinding]) -> tuple[GoneFinding, ...]:
    """Return what is gone, the oldest first, without that of reports which are too old to be kept."""
    kept = [*dict.fromkeys(id(one.report) for one in reversed(gone))][:KEPT_RUNS]
    return tuple(one for one in gone if id(one.report) in kept)


def _read_well(gone: Iterable[GoneFinding], report: Report, times: ReadTimes) -> Iterator[ConditionReading]:
    """Yield what a run read as well without a PASS that says so: what a fault showed bad that it could look for, and
    did not find again."""
    bad = {condition for finding in report.findings for condition in shown_bad(finding)}
    for one in gone:
        has_looked = one.is_proved and _could_look(report, one.finding, one.report)
        for condition in shown_bad(one.finding) - bad if has_looked else ():
            at = times.looked(one.finding.check, condition, counts=condition.kind.is_counted)
            yield ConditionReading(condition, at, at, False)


def _pairs(before: dict[Key, Finding], now: dict[Key, Finding]) -> Iterator[tuple[Key, Key]]:
    """Yield the key of each present finding with that of the same one before, by the rule of `racwire diff`."""
    key_of = {id(finding): key for findings in (before, now) for key, finding in findings.items()}
    for one, other in same_findings(before, now):
        if one is not None and other is not None:
            yield key_of[id(other)], key_of[id(one)]
