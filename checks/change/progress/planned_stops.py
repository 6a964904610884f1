"""The stops that a change plans, from the events of its journal: since when, on which nodes, and until when. No I/O.

A stop lasts from the line by which the operator started its step until the step that ends it is over, or the change.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from checks.change.plan.change_plan import Plan, Step
from checks.change.plan.step_stops import StopKind, Stops, stops_of
from checks.change.progress.change_events import Begun, Closed, JournalLine, ObservedState, Reopened, RolledBack
from checks.change.progress.state import Change, advance, fold


@dataclass(frozen=True)
class PlannedStop:
    """Something that a step of a change stops on some nodes: only what was well in `was` and is bad after it."""

    step: str
    """The title of the step."""
    nodes: frozenset[str]
    kinds: frozenset[StopKind]
    began: str
    """When the operator started the step, in ISO 8601."""
    most_s: int
    """How long it is planned to last at most: the estimated minutes of the steps from the one that starts it to the one
    that ends it, in seconds; after a rollback those of its steps, after the time until then."""
    until: str
    """The title of the step that ends it."""
    was: ObservedState
    """What was read at the start; a node that could not be read is left out."""
    over: str = ""
    """When it ended, in ISO 8601; empty while it lasts. After `most_s` it is not planned any more, ended or not."""
    stops_database: bool = False
    """Whether all nodes of the plan that have instances are in it: then the database is silent, too."""

    def is_planned_at(self, at: datetime) -> bool:
        """Return whether it is planned at this time, which has a zone; never if the clocks cannot be read."""
        try:
            start = datetime.fromisoformat(self.began)
            is_over = bool(self.over) and datetime.fromisoformat(self.over) <= at
            return start <= at <= start + timedelta(seconds=self.most_s) and not is_over
        except (ValueError, TypeError):
            return False


@dataclass(frozen=True)
class _Followed:
    """A stop with what ends it."""

    stop: PlannedStop
    of: str
    """The id of the step that stops."""
    until: str
    """The id of the step that ends it, in the current plan."""
    stops: Stops
    is_reopened: bool = False
    """Whether its step must be done again: a second start then stops again what was started meanwhile."""


def planned_stops(change: Change) -> tuple[PlannedStop, ...]:
    """Return the planned stops of a change, oldest first, with those that are over."""
    if not any(isinstance(line.event, Begun) for line in change.lines):
        return ()
    found: list[_Followed] = []
    now = fold(change.lines[:1])
    for line in change.lines[1:]:
        now = advance(now, line)
        found = [_after(one, now, line) for one in found]
        if isinstance(line.event, Begun) and not any(_still_counts(one, line) for one in found):
            found += _started(now, now.plan.step(line.event.step), line, line.event.look)
    return tuple(one.stop for one in found)


def is_started(change: Change, step: Step, at: datetime) -> bool:
    """Return whether an operator started a step of the current plan, and what it stops is planned at this time.

    A step that must be done again is to be started again.
    """
    reopened = change.mark(step).reopened
    starts = {line.at for line in change.starts(step) if reopened is None or line.number > reopened.number}
    return any(stop.began in starts and stop.is_planned_at(at) for stop in planned_stops(change))


def _still_counts(one: _Followed, line: JournalLine) -> bool:
    """Whether a second start of a step is only a remark: the first reading counts while its stop is planned."""
    is_same = isinstance(line.event, Begun) and line.event.step == one.of and not one.is_reopened
    return is_same and not one.stop.over and _is_planned(one.stop, line.at)


def _is_planned(stop: PlannedStop, at: str) -> bool:
    try:
        return stop.is_planned_at(datetime.fromisoformat(at))
    except ValueError:
        return False


def _started(change: Change, step: Step, line: JournalLine, look: ObservedState) -> Iterator[_Followed]:
    """Yield the stops of a step that is started; of the nodes that are back at different steps, one for each step."""
    plan = change.plan
    with_instances = _with_instances(plan, look)
    for stops in stops_of(plan, step):
        nodes: dict[str, set[str]] = {}
        for node in stops.nodes:
            nodes.setdefault(_end(change, stops, node, step.id) or step.id, set()).add(node)
        for until, ended in sorted(nodes.items(), key=lambda each: plan.position(each[0])):
            stop = PlannedStop(
                step=step.title,
                nodes=frozenset(ended),
                kinds=stops.kinds,
                began=line.at,
                most_s=_most_s(plan, step.id, until),
                until=plan.step(until).title,
                was=look,
                stops_database=StopKind.INSTANCE in stops.kinds and with_instances <= stops.nodes,
            )
            yield _Followed(stop, step.id, until, stops)


def _with_instances(plan: Plan, look: ObservedState) -> frozenset[str]:
    """Return the nodes with instances, by the plan and by what was read; all nodes if neither names any."""
    planned = {node for database in plan.databases for node in database.instances}
    running = {node for node, names in look.instances.items() if names and node in plan.nodes}
    return frozenset(planned or running or plan.nodes)


def _end(change: Change, stops: Stops, node: str, step: str) -> str:
    """Return the id of the step whose gate shows that a node is back, from `step` on; empty if there is none."""
    ids = [each.id for each in change.plan.steps]
    first = max((ids.index(name) for name in (step, stops.not_before) if name in ids), default=0)
    for check in stops.ends_with:
        for later in change.plan.steps[first:]:
            shows = any(gate.check == check and (not gate.nodes or node in gate.nodes) for gate in later.gates)
            if shows and not _is_over(change, later):
                return later.id
    return ""


def _is_over(change: Change, step: Step) -> bool:
    """Whether a step ended what ends with it: its gate passed or was overridden; without a gate, it is attested."""
    return change.is_proved(step) if step.gates else change.standing(step).is_behind


def _most_s(plan: Plan, first: str, last: str) -> int:
    """Return the most estimated seconds of the steps from `first` to `last`, both included."""
    steps = plan.steps[plan.position(first) : plan.position(last) + 1]
    return 60 * sum(step.minutes.most for step in steps if step.minutes)


def _after(one: _Followed, change: Change, line: JournalLine) -> _Followed:
    """Return a stop after a line of the journal; `change` is the state after that line."""
    if one.stop.over:
        return one
    match line.event:
        case RolledBack():
            return _in_rollback(one, change, line)
        case Reopened(step=step) if step == one.of:
            return replace(one, is_reopened=True)
        case Closed():
            return _ended(one, line)
    return _ended(one, line) if _is_over(change, change.plan.step(one.until)) else one


def _ended(one: _Followed, line: JournalLine) -> _Followed:
    return replace(one, stop=replace(one.stop, over=line.at))


def _in_rollback(one: _Followed, change: Change, line: JournalLine) -> _Followed:
    """Return a stop after the rollback replaced the plan: what is down stays so until the rollback brings it back.

    It is over if the rollback starts nothing again, or if it lasted too long before.
    """
    ends = {_end(change, one.stops, node, "") for node in one.stop.nodes}
    if "" in ends or not _is_planned(one.stop, line.at):
        return _ended(one, line)
    plan = change.plan
    until = max(ends, key=plan.position)
    passed = datetime.fromisoformat(line.at) - datetime.fromisoformat(one.stop.began)
    most_s = int(passed.total_seconds()) + _most_s(plan, plan.steps[0].id, until)
    stop = replace(one.stop, most_s=most_s, until=plan.step(until).title)
    return replace(one, of="", until=until, stop=stop)
