"""What disturbed the figures of a recording for a moment: instances that left or joined, restarts, lost links."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from checks.model.wording import few, lasting
from checks.traffic.samples import Event, Gap, GapCause, InstanceSample, Link, Links
from checks.traffic.source_id import SourceKind

_MOST = 4
"""Most disturbances that are named."""


class DisturbanceKind(StrEnum):
    """What happened."""

    LEFT = "left"
    JOINED = "joined"
    RESTARTED = "was restarted"
    LINK_LOST = "lost its link"


@dataclass(frozen=True)
class Disturbance:
    """What happened to an instance, a node or a private interface."""

    at: float
    """When it was noticed, in seconds since 1970."""
    kind: DisturbanceKind
    name: str
    of_instance: bool = False


class DisturbanceWatch:
    """Finds the disturbances in the events of a recording, in order of time."""

    def __init__(self) -> None:
        self._sampled: set[str] = set()
        self._down: set[str] = set()
        self._links: dict[tuple[str, str], Link] = {}

    def see(self, event: Event) -> Iterator[Disturbance]:
        """Yield what an event shows."""
        match event:
            case Gap(cause=GapCause.RESTARTED, source=source) if source.name in self._down:
                yield self._joined(event.at, source.name)
            case Gap(cause=GapCause.RESTARTED, source=source):
                is_instance = source.kind is SourceKind.INSTANCE
                self._links = {place: link for place, link in self._links.items() if place[0] != source.name}
                yield Disturbance(event.at, DisturbanceKind.RESTARTED, source.name, is_instance)
            case Gap(cause=GapCause.INSTANCE_DOWN, source=source) if source.name not in self._down:
                self._down.add(source.name)
                if source.name in self._sampled:
                    yield Disturbance(event.at, DisturbanceKind.LEFT, source.name, of_instance=True)
            case InstanceSample(instance=name):
                self._sampled.add(name)
                if name in self._down:
                    yield self._joined(event.at - event.seconds, name)
            case Links():
                for link in event.links:
                    before = self._links.get((event.node, link.name))
                    self._links[event.node, link.name] = link
                    if link.network and before and before.is_up and (not link.is_up or _changes(before, link)):
                        yield Disturbance(event.at, DisturbanceKind.LINK_LOST, f"{link.name} of {event.node}")

    def _joined(self, at: float, name: str) -> Disturbance:
        self._down.discard(name)
        return Disturbance(at, DisturbanceKind.JOINED, name, of_instance=True)


def _changes(before: Link, after: Link) -> bool:
    """Whether the kernel counted changes of a link meanwhile. A boot starts the count at 0."""
    counts = before.carrier_changes, after.carrier_changes
    return None not in counts and (counts[1] or 0) > (counts[0] or 0)


def disturbed_text(found: list[Disturbance], begin: float, stretch_s: float, stretches: int) -> str:
    """Return the sentence that names the disturbances within the stretches of a run; empty where there are none."""
    within = [one for one in found if 0 <= one.at - begin < stretch_s * stretches]
    if not within:
        return ""
    places = {math.floor((one.at - begin) / stretch_s) for one in within}
    named = few((f"{one.name} {one.kind} {lasting(one.at - begin)} after the start" for one in within), _MOST)
    verb = "is" if len(places) == 1 else "are"
    text = f"{len(places)} of {stretches:,} stretches {verb} disturbed: {named}."
    is_reconfigured = any(one.of_instance for one in within)
    return f"{text} At each stop and start of an instance the others reconfigure." if is_reconfigured else text
