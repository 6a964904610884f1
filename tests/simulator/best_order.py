"""The expected price of the recommended steps against the best order of all, by brute force."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from checks.investigate.choice import Left, OutcomePart, StepChoice
from checks.investigate.step_predictions import Known
from checks.investigate.steps import offered_for
from checks.investigate.suspects import entries
from checks.model.investigation import SessionStep
from tests.simulator.facts import gathered
from tests.simulator.investigating import draws
from tests.simulator.judging import findings_of
from tests.simulator.world import World

MOST_CAUSES, MOST_STEPS = 5, 16
_IN_VAIN = 2
"""Steps in a row that told nothing, at most: else no order ends."""
_Option = tuple[float, SessionStep, list[OutcomePart]]


class Compared(NamedTuple):
    """The expected price of an entry: of the steps that a session recommends, and of the best order."""

    entry: str
    own: float
    best: float

    @property
    def ratio(self) -> float:
        """How many times the best it costs."""
        return self.own / self.best if self.best else 1.0


def compared(count: int, seed: int) -> Iterator[Compared]:
    """Yield the comparison of the first entry of each draw that leaves two to five causes."""
    for draw in draws(count, 1, seed):
        cluster = gathered(World(draw.faults, nodes=draw.nodes, mtu=draw.mtu, seed=draw.seed))
        for entry in entries(cluster, findings_of(cluster))[:1]:
            choice = StepChoice(entry, (), offered_for(entry, cluster).steps, Known())
            if entry.is_open and 2 <= choice.names(choice.every) - 1 <= MOST_CAUSES:
                choice.steps = _most_telling(choice)
                yield Compared(str(draw), _Order(choice).expected(), _Order(choice, is_best=True).expected())


def _most_telling(choice: StepChoice) -> tuple[SessionStep, ...]:
    """Return the steps that tell most for their price, half of them by racwire itself: few enough for brute force."""
    ranked = [offer.step for offer in choice.ranked(choice.every, frozenset())]
    own = [step for step in ranked if step.probes and not step.price.minutes][: MOST_STEPS // 2]
    return (*own, *[step for step in ranked if step not in own][: MOST_STEPS - len(own)])


class _Order:
    def __init__(self, choice: StepChoice, *, is_best: bool = False) -> None:
        self._choice, self._is_best = choice, is_best
        self.through = cache(self._through)

    def expected(self) -> float:
        return self.through(self._choice.every, frozenset())

    def _through(self, left: Left, used: frozenset[str]) -> float:
        options = list(self._choice.informative(left, used))
        if not options:
            return 0.0
        if not self._is_best:
            first = self._choice.ranked(left, used)[0].step.key
            return self._price(next(o for o in options if o[1].key == first), left, used)
        if len(used) >= _IN_VAIN:
            options = self._telling(options, left) or options[:1]
        return min(self._price(option, left, used) for option in options)

    def _price(self, option: _Option, left: Left, used: frozenset[str]) -> float:
        _, step, parts = option
        return step.price.number + sum(
            part.chance * self.through(part.left, used | {step.key} if part.left == left else frozenset())
            for part in parts
        )

    @staticmethod
    def _telling(options: Sequence[_Option], left: Left) -> list[_Option]:
        return [option for option in options if all(part.left != left for part in option[2])]


def mean_ratio(found: Sequence[Compared]) -> float:
    """Return the mean of the expected prices against that of the best."""
    return sum(one.own for one in found) / sum(one.best for one in found)
