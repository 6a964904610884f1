"""What holds now: a pure function from runs, gates, events, started steps and samples to the situation of a moment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

import msgspec
from msgspec.structs import replace

from checks.model.check import Check
from checks.model.cluster_event import ClusterEvent
from checks.model.condition import Condition, ConditionKind
from checks.model.explained_stop import ExplainedStop, Look
from checks.model.finding import FAULTS, Key
from checks.model.situation import (
    ConditionStatement,
    Episode,
    FindingStatement,
    Former,
    Outdated,
    Situation,
    Standing,
    Statement,
)
from checks.situation.condition_readings import ConditionReading, ReadTimes, in_order
from checks.situation.condition_standing import statement_of, step_of_moment
from checks.situation.conditions import OF_INTERFACES, shown_bad
from checks.situation.edges import Edges, newest_of
from checks.situation.finding_standing import NOT_SAMPLED, FindingStandings
from checks.situation.run_history import GoneFinding, RunHistory

MATRIX = "df-ping"
"""The check whose probes the matrix of paths shows."""


class Inputs(msgspec.Struct, frozen=True, kw_only=True):
    """All that racwire knew at a moment; nothing that was noticed later."""

    now: float
    """Seconds since 1970."""
    checks: Mapping[str, Check] = msgspec.field(default_factory=dict)
    history: RunHistory = RunHistory()
    events: Sequence[ClusterEvent] = ()
    """As they were known at the moment, in the order of their start."""
    sampled: Sequence[ConditionReading] = ()
    """What samples and events show of conditions, by the clock of now."""
    looks: Sequence[Look] = ()
    """What the journal of the open change has read, by the clock of now."""
    stops: Sequence[ExplainedStop] = ()
    change: str = ""
    clock_s: float = 0.0
    """How far the clock has been set since the first sample."""
    are_runs_recorded: bool = True


def situation(known: Inputs) -> Situation:
    """Return the situation of a moment."""
    every: dict[Condition, list[ConditionReading]] = {}
    for one in chain(_of_runs(known), _of_looks(known), known.sampled):
        every.setdefault(one.condition, []).append(one)
    for condition in every:
        if condition.kind in OF_INTERFACES:
            unread = (one for one in every.get(Condition(ConditionKind.NODE, condition.node), ()) if one.is_bad is None)
            every[condition] += [one._replace(condition=condition) for one in unread]
    seen = {condition: in_order(each) for condition, each in every.items()}
    edges = Edges(known.events, known.clock_s, seen)
    statements = {
        condition: statement_of(condition, each, edges, known.stops, known.now) for condition, each in seen.items()
    }
    report, history = known.history.report, known.history
    findings: tuple[FindingStatement, ...] = ()
    paths: dict[Condition, Statement] = {}
    if report is not None:
        standings = FindingStandings(
            report,
            {name: check.about for name, check in known.checks.items()},
            {name: check.shows for name, check in known.checks.items()},
            statements,
            edges,
            known.stops,
            now=known.now,
            times=ReadTimes(report, history.clocks),
            clock_s=known.clock_s,
        )
        findings = tuple(standings.every(history.since))
        paths = dict(standings.paths(MATRIX))
    shown = _shown(known, findings)
    return Situation(
        at=known.now,
        findings=findings,
        former=tuple(
            _former(one, statements, edges, known) for one in history.gone if not _goes_on(one, statements, known)
        ),
        episodes=tuple(_episodes(known.events, statements, shown, known.stops)),
        conditions=tuple(ConditionStatement(*each) for each in sorted({**statements, **paths}.items(), key=_place)),
        change=known.change,
        are_runs_recorded=known.are_runs_recorded,
    )


def _place(stated: tuple[Condition, Statement]) -> Condition:
    return stated[0]


def _of_runs(known: Inputs) -> Iterator[ConditionReading]:
    for run in known.history.readings:
        yield from (one.moved(known.clock_s) for one in run.seen)


def _of_looks(known: Inputs) -> Iterator[ConditionReading]:
    for look in known.looks:
        for condition, is_bad in look.read:
            yield ConditionReading(condition, look.at, look.at, is_bad)


def _shown(known: Inputs, findings: Iterable[FindingStatement]) -> set[Condition]:
    """Return the conditions that faults of the report show bad now."""
    if known.history.report is None:
        return set()
    standing = {one.key: one.said for one in findings}
    by_key: dict[Key, Statement] = {key: said for key, said in standing.items() if said.is_alarm}
    return {c for f in known.history.report.findings_of(by_key) if f.status in FAULTS for c in shown_bad(f)}


def _goes_on(gone: GoneFinding, statements: Mapping[Condition, Statement], known: Inputs) -> bool:
    """Return whether what a fault showed bad has been so ever since, and a live event is about it."""
    lasting = {condition for event in known.events if not event.is_over for condition in _lasting(event)}
    return any(
        (said := statements.get(condition)) is not None
        and said.is_alarm
        and condition in lasting
        and said.since <= gone.as_of + known.clock_s
        for condition in shown_bad(gone.finding)
    )


def _former(gone: GoneFinding, statements: Mapping[Condition, Statement], edges: Edges, known: Inputs) -> Former:
    """Return how a fault stands that a later run does not have: as the conditions stand that it showed bad, where
    samples read them too; else verified until an event touches what it rests on."""
    by_s = known.clock_s
    bad = shown_bad(gone.finding)
    shown = [statements[c] for c in bad if c in statements and c.kind not in NOT_SAMPLED]
    looked = gone.looked_last + by_s
    said = Statement(standing=Standing.VERIFIED, is_bad=True, since=gone.since + by_s, as_of=looked, proved=looked)
    if shown and len(shown) == len(bad):
        return Former(
            gone.key,
            gone.finding,
            _by_conditions(replace(said, until=gone.looked + by_s) if gone.is_proved else said, shown),
        )
    if not gone.is_proved:
        was = gone.as_of + by_s
        said = replace(said, standing=Standing.UNKNOWN, as_of=was, proved=None, outdated=Outdated(max(looked, was)))
    elif touched := [one for c in gone.rests_on if (one := edges.outdating(c, looked, is_bad=False))]:
        newest = newest_of(touched)
        said = replace(said, standing=Standing.UNKNOWN, until=gone.looked + by_s, proved=None, outdated=newest)
    return Former(gone.key, gone.finding, said)


def _by_conditions(said: Statement, shown: Sequence[Statement]) -> Statement:
    """Return the statement about a fault that is gone, by those about the conditions that it showed bad."""
    as_of = min(one.as_of for one in shown)
    if again := [one.since for one in shown if one.is_bad]:
        # It is bad again: the event says so, and this is the story before it.
        return replace(said, standing=Standing.WAS, as_of=as_of, proved=None, until=min(said.as_of, *again))
    if unknown := [one.outdated for one in shown if one.outdated is not None]:
        newest = newest_of(unknown)
        return replace(said, standing=Standing.UNKNOWN, as_of=as_of, proved=None, outdated=newest)
    until = max(said.since if one.until is None else one.until for one in shown)
    proofs = [one.proved for one in shown if one.proved is not None]
    if len(proofs) < len(shown):
        return replace(said, standing=Standing.WAS, as_of=as_of, until=until, proved=None)
    return replace(said, as_of=as_of, until=until, proved=min(proofs))


def _lasting(event: ClusterEvent) -> list[Condition]:
    """Return the conditions of an event at the places where it lasts; of one that is over, at all of them."""
    places = [place for place in event.places if place.until is None] or event.places
    return [condition for place in places if (condition := place.condition(event.kind)) is not None]


def _episodes(
    events: Sequence[ClusterEvent],
    statements: Mapping[Condition, Statement],
    shown: set[Condition],
    stops: Sequence[ExplainedStop],
) -> Iterator[Episode]:
    newest = {condition: event.number for event in events for condition in event.conditions}
    for event in events:
        if event.is_moment and (step := step_of_moment(event, events, stops)):
            yield Episode(event=event, until=event.end, as_of=event.last_sign, step=step)
            continue
        newest_own = {c: statements[c] for c in event.conditions if newest[c] == event.number and c in statements}
        own, lasting = [*newest_own.values()], [newest_own[c] for c in _lasting(event) if c in newest_own]
        over = [one.until for one in own if one.until is not None]
        episode = Episode(
            event=event,
            until=event.end,
            as_of=max((one.as_of for one in lasting), default=event.last_sign or event.noticed),
            has_finding=shown.issuperset(_lasting(event)),
        )
        if own and len(over) == len(own) == len(event.conditions):
            # The first reading that shows it over is the end everywhere, whoever made it.
            proofs = [one.proved for one in own if one.proved is not None]
            proved = max(proofs) if len(proofs) == len(own) else None
            until = max(*over, event.start)
            yield replace(episode, event=replace(event, end=until), until=until, proved=proved)
        elif event.end is None and lasting and all(not one.is_alarm for one in lasting):
            # What is not known at one of its places is not planned there.
            why = [one.outdated for one in lasting if one.outdated is not None]
            step = "" if why else next((one.step for one in lasting if one.standing is Standing.PLANNED), "")
            yield replace(episode, step=step, is_open=not step, outdated=newest_of(why) if why else None)
        elif event.end is not None:
            # What proves a later event of the same conditions over proves this one over too.
            proofs = [one.proved for c in event.conditions if (one := statements.get(c)) and one.proved is not None]
            is_proved = bool(proofs) and len(proofs) == len(event.conditions)
            is_again = any(
                newest[c] != event.number and c in statements and statements[c].is_bad for c in event.conditions
            )
            yield replace(episode, proved=max(proofs) if is_proved else None, is_again=is_again)
        else:
            yield episode
