"""The checks that examine an event: those whose findings rest on what it changes."""

from __future__ import annotations

from collections.abc import Iterable

from checks.model.check import Check
from checks.model.cluster_event import EventKind, EventPlace
from checks.situation.touching import touched_kinds


def checks_about(kind: EventKind, checks: Iterable[Check]) -> tuple[str, ...]:
    """Return the ids of the checks that examine such an event, those first that are about its own condition."""
    condition = EventPlace(0.0).condition(kind)
    if condition is None:
        return ()
    known = tuple(checks)
    kinds = touched_kinds(condition.kind)
    return tuple(dict.fromkeys(one.id for touched in kinds for one in known if touched in one.about))
