"""Runs timelines through the texts and the judge: what is wrong at some moments of each."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from msgspec.structs import replace

from checks.model.situation import Situation
from checks.situation import at_moment
from tests.agreement.judge import judge
from tests.agreement.places import texts
from tests.agreement.timeline import Timeline
from tests.agreement.truth import END

COUNT = 2_000
"""The timelines of `make cases`."""
MOMENTS = 4


class Complaint(NamedTuple):
    """What is wrong with the texts of a moment."""

    seed: int
    t: float
    what: str


def complaints(seed: int, timeline: Timeline | None = None) -> Iterator[Complaint]:
    """Yield what is wrong at some moments of a timeline."""
    drawn = timeline or Timeline(seed)
    moments = sorted(Random(seed + 9).sample(range(65, END), MOMENTS))
    recorded = drawn.watched()
    for t, known in drawn.live(moments):
        made = at_moment.situation(known)
        yield from (Complaint(seed, t, what) for what in judge(drawn, t, texts(known.history, made), known.events))
        # Of a clock that is set back, a time before names two moments.
        is_clear = drawn.truth.wall.by_s == 0.0
        if is_clear and _comparable(at_moment.situation(drawn.inputs(t, recorded, known.history))) != _comparable(made):
            yield Complaint(seed, t, "replay: a recording has another situation at this moment than the console had")


def _comparable(made: Situation) -> Situation:
    """Leave out what an event has as a whole: what a part of it had is not kept."""
    of_whole = {"count": 0, "peak": 0.0, "peak_at": 0.0, "sample_s": 0.0, "reason": "", "pairs": ()}
    episodes = (
        replace(one, event=replace(one.event, status=one.event.status if one.event.is_over else "", **of_whole))
        for one in made.episodes
    )
    return replace(made, episodes=tuple(episodes))
