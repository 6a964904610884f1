"""What makes a statement "was so until", "verified", "planned" or "not known since": from all readings of a condition.

The newest reading, by the start of what it covers, says what holds. An event, a failed reading or a started step of a
change decides how that stands.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from checks.model.cluster_event import ClusterEvent, EventKind
from checks.model.condition import Condition, ConditionKind
from checks.model.explained_stop import ExplainedStop
from checks.model.situation import Outdated, Standing, Statement
from checks.situation.condition_readings import ConditionReading
from checks.situation.edges import Edges

BEGIN_S = 10.0
"""A step reads what it stops when it is started: that must have been well at most so many seconds before."""


def statement_of(
    condition: Condition, readings: Sequence[ConditionReading], edges: Edges, stops: Sequence[ExplainedStop], now: float
) -> Statement:
    """Return the statement about a condition from its readings in order (`in_order`); at least one."""
    known = [one for one in readings if one.is_bad is not None]
    if not known:
        tried = readings[-1].at
        said = Statement(standing=Standing.PLANNED, is_bad=False, since=tried, as_of=tried, of=1, unknown=1)
        if step := _unread_by(condition, tried, stops, now):
            return replace(said, step=step)
        return replace(said, standing=Standing.UNKNOWN, outdated=Outdated(tried))
    last = known[-1]
    start = _start_of_streak(known)
    streak = known[start:]
    said = Statement(standing=Standing.HOLDS, is_bad=bool(last.is_bad), since=streak[0].as_of, as_of=last.as_of, of=1)
    step = planned_by(condition, known, start, stops, now) if last.is_bad else ""
    if outdated := _outdated(condition, last, readings, edges):
        # An event makes it unknown, also where a reading failed later.
        is_unread = edges.outdating(condition, last.as_of, is_bad=bool(last.is_bad)) is None
        if is_unread and not last.is_bad:
            step = _unread_by(condition, outdated.at, stops, now)
        if not (is_unread and step):
            return replace(said, standing=Standing.UNKNOWN, outdated=outdated, unknown=1)
    if step:
        return replace(said, standing=Standing.PLANNED, step=step)
    if last.is_bad:
        is_of_run = any(one.is_proof for one in streak)
        return said if is_of_run else replace(said, standing=Standing.NEW)
    if start == 0:
        return said
    proofs = [one for one in streak if one.is_proof]
    # Samples alone do not renew a proof.
    if proofs and edges.outdating(condition, proofs[-1].as_of, is_bad=False) is None:
        return replace(said, standing=Standing.VERIFIED, until=streak[0].since, proved=proofs[-1].at)
    return replace(said, standing=Standing.WAS, until=streak[0].since)


def _start_of_streak(known: Sequence[ConditionReading]) -> int:
    start = len(known) - 1
    while start and known[start - 1].is_bad == known[-1].is_bad:
        start -= 1
    return start


def _outdated(
    condition: Condition, last: ConditionReading, readings: Sequence[ConditionReading], edges: Edges
) -> Outdated | None:
    """Return what makes the newest reading say nothing about now; None where it still does."""
    failed = max((one.at for one in readings if one.is_bad is None and one.at > last.at), default=None)
    by_event = edges.outdating(condition, last.as_of, is_bad=bool(last.is_bad))
    if failed is not None and (by_event is None or failed > by_event.at):
        return Outdated(failed)
    return by_event


def planned_by(
    condition: Condition, known: Sequence[ConditionReading], start: int, stops: Sequence[ExplainedStop], now: float
) -> str:
    """Return the title of the step that explains why a condition is bad; empty where none does.

    That is its first stop within the time of the step, of what was well when the step was started: a second stop, or
    one that fell before, is an alarm.
    """
    for stop in stops:
        if not is_covered(condition, stop, now) or known[start].at <= stop.begin:
            continue
        was_well = condition in stop.was_well or (start > 0 and known[start - 1].at >= stop.begin - BEGIN_S)
        times = sum(
            bool(one.is_bad) and not (n and known[n - 1].is_bad) for n, one in enumerate(known) if one.at > stop.begin
        )
        if was_well and times <= 1:
            return stop.step
    return ""


def step_of_moment(event: ClusterEvent, events: Sequence[ClusterEvent], stops: Sequence[ExplainedStop]) -> str:
    """Return the title of the step that explains something that was over when it was noticed; empty where none does.

    As of what lasts, that is the first stop within the time of the step of what was well; a reconfiguration of the
    instances that it stops is none of its own.
    """
    is_stop = event.kind is not EventKind.RECONFIGURATION
    of_places = event.conditions if is_stop else [Condition(ConditionKind.INSTANCE, node) for node in event.nodes]
    at = event.start if event.end is None else event.end
    for stop in stops:
        if not of_places or not all(is_covered(condition, stop, at) for condition in of_places):
            continue
        second = any(
            one.number < event.number and one.start > stop.begin and (one.end or at) < event.start
            for one in events
            if not set(one.conditions).isdisjoint(of_places)
        )
        if not is_stop or (stop.was_well.issuperset(of_places) and not second):
            return stop.step
    return ""


def _unread_by(condition: Condition, tried: float, stops: Sequence[ExplainedStop], now: float) -> str:
    """Return the title of the step that explains why a condition could not be read: it was well when the step was
    started. The database counts the lost blocks. Empty where none does."""
    asked = Condition(ConditionKind.DATABASE) if condition.kind is ConditionKind.LOST_BLOCKS else condition
    explaining = (s for s in stops if is_covered(asked, s, now) and asked in s.was_well and tried >= s.begin)
    return next((stop.step for stop in explaining), "")


def is_covered(condition: Condition, stop: ExplainedStop, now: float) -> bool:
    """Return whether a started step stops this condition, and still may at that moment."""
    is_due = now < stop.begin + stop.most_s and (stop.over is None or now < stop.over)
    is_there = condition.kind is ConditionKind.DATABASE or condition.node in stop.nodes
    return stop.begin <= now and is_due and is_there and condition.kind in stop.kinds
