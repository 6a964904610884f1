"""What the journal of a change adds to the situation: what it read of the nodes, and which stops it explains. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from checks.change.plan.step_stops import StopKind
from checks.change.progress.change_events import Begun, ObservedState, Opened, Verified
from checks.change.progress.planned_stops import planned_stops
from checks.change.progress.state import Change
from checks.model.condition import Condition, ConditionKind
from checks.model.explained_stop import ExplainedStop, Look

_KINDS = {
    StopKind.STACK: (ConditionKind.STACK,),
    StopKind.INSTANCE: (ConditionKind.INSTANCE,),
    StopKind.LINK: (ConditionKind.LINK,),
    StopKind.MTU: (ConditionKind.MTU,),
    # A node that boots answers nothing, and runs nothing.
    StopKind.NODE: (ConditionKind.NODE, ConditionKind.STACK, ConditionKind.INSTANCE, ConditionKind.LINK),
}


def looks_of(change: Change) -> tuple[Look, ...]:
    """Return what each verification and each start of a step has read, oldest first."""
    return tuple(
        Look(at, tuple(_read(line.event.look)))
        for line in change.lines
        if isinstance(line.event, Opened | Verified | Begun) and (at := _seconds(line.at)) is not None
    )


def explained_stops(change: Change) -> tuple[ExplainedStop, ...]:
    """Return the stops that the started steps of a change explain, oldest first, with those that are over."""
    found = []
    for stop in planned_stops(change):
        begin = _seconds(stop.began)
        if begin is None:
            continue
        kinds = {kind for each in stop.kinds for kind in _KINDS[each]}
        was_well = {condition for condition, is_bad in _read(stop.was) if not is_bad}
        if stop.stops_database:
            kinds.add(ConditionKind.DATABASE)
            # A database whose instances ran was there.
            was_well |= {Condition(ConditionKind.DATABASE) for c in was_well if c.kind is ConditionKind.INSTANCE}
        found.append(
            ExplainedStop(
                step=stop.step,
                nodes=stop.nodes,
                kinds=frozenset(kinds),
                begin=begin,
                most_s=stop.most_s,
                over=_seconds(stop.over),
                was_well=frozenset(was_well),
            )
        )
    return tuple(found)


def _read(look: ObservedState) -> Iterator[tuple[Condition, bool]]:
    """Yield what was read: a node whose state is that of an earlier verification was not."""
    for node, runs in look.running.items():
        if node not in look.carried:
            yield Condition(ConditionKind.STACK, node), not runs
            yield Condition(ConditionKind.NODE, node), False
    for node, names in look.instances.items():
        if node not in look.carried:
            yield from ((Condition(ConditionKind.INSTANCE, node, name), False) for name in names)


def _seconds(time: str) -> float | None:
    try:
        return datetime.fromisoformat(time).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
