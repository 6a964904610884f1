"""The choice of the next step: the expected information per price, with "none of these" among the alternatives."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log2

from checks.investigate.step_predictions import Impact, Known, Other, Outcome, beside, fits, is_whole, naming, outcomes
from checks.investigate.suspects import SuspectEntry
from checks.model.investigation import SessionStep, StepAnswer, Suspect
from checks.model.signs import SignAt

OTHER = -1
"""The place of "none of these" among the alternatives of an entry, which are 0, 1, 2 and so on.

It predicts what any of them does, and goes only by a sign that it cannot make: without it the last one left would be
the cause, also where racwire does not know the cause."""
Left = frozenset[int]


@dataclass(frozen=True)
class Offer:
    """A step with its information."""

    step: SessionStep
    bits: float
    """The expected information, at equal priors."""
    separates: tuple[tuple[Suspect, ...], tuple[Suspect, ...]] = ((), ())
    """Those that its likeliest outcome leaves, and the others."""
    opens: SessionStep | None = None
    """The step by hand that may be made only where this one loses nothing; None of any other step."""


@dataclass(frozen=True)
class OutcomePart:
    """One outcome of a step: its chance, and what it leaves."""

    outcome: Outcome
    chance: float
    left: Left


class StepChoice:
    """The steps of one entry, and what each shows of its alternatives together with those of the other entries."""

    def __init__(
        self, entry: SuspectEntry, others: Sequence[Other], steps: Iterable[SessionStep], known: Known
    ) -> None:
        self.entry = entry
        self.every: Left = frozenset((*range(len(entry.alternatives)), OTHER))
        self._others, self._known = others, known
        self._names = [one.named for one in entry.alternatives]
        self._together: dict[tuple[str, int], frozenset[Impact]] = {}
        self._beside: dict[str, frozenset[Impact]] = {}
        self._says: dict[tuple[str, int], frozenset[Outcome]] = {}
        self.damage: tuple[SignAt, ...] = ()
        """The signs that name nothing alone, of the answers so far."""
        self.steps = self._cheapest(steps)

    def _cheapest(self, steps: Iterable[SessionStep]) -> tuple[SessionStep, ...]:
        """Return the steps that tell anything; of those that tell the same, the cheapest."""
        best: dict[object, SessionStep] = {}
        for step in sorted(steps, key=lambda s: (s.price.number, s.key)):
            says = tuple(self.says(step, one) for one in range(len(self.entry.alternatives)))
            if not step.probes and not any(any(o) for every in says for o in every):
                continue
            best.setdefault((bool(step.probes), tuple(self._named_by(step, o) for o in says), says), step)
        return tuple(best.values())

    def _named_by(self, step: SessionStep, every: frozenset[Outcome]) -> bool:
        return not step.probes and any(isinstance(o, frozenset) and o for o in every)

    def together(self, step: SessionStep, one: int) -> frozenset[Impact]:
        """Return what an alternative does to the packets of a step, together with each set of the other entries'."""
        key = step.key, one
        if key not in self._together:
            if step.key not in self._beside:
                self._beside[step.key] = beside(step, self._others, self._known)
            own = self._known.impact(step, self.entry.keys[one], self.entry.alternatives[one])
            self._together[key] = frozenset(own | other for other in self._beside[step.key])
        return self._together[key]

    def says(self, step: SessionStep, one: int) -> frozenset[Outcome]:
        """Return the outcomes of a step that an alternative predicts."""
        key = step.key, one
        if key not in self._says:
            self._says[key] = outcomes(step, self.together(step, one))
        return self._says[key]

    def names(self, left: Left) -> int:
        """Return how many causes are left: those that the same hands fix are one, and "none of these" is one."""
        return len({self._names[one] for one in left if one != OTHER}) + (OTHER in left)

    def suspects(self, left: Iterable[int]) -> tuple[Suspect, ...]:
        """Return one suspect of each cause at a place."""
        found = {self._names[one]: self.entry.alternatives[one] for one in sorted(left, reverse=True) if one != OTHER}
        return tuple(found.values())[::-1]

    # --- what an answer leaves ----------------------------------------------------------------------------------------

    def after(self, left: Left, answer: StepAnswer) -> Left:
        """Return what an answer leaves. A sign names its owner, not what stands next to it.

        Where no alternative has a part in what a step looks at, its answer says nothing of them: something else there
        may be unknown.
        """
        step = answer.step
        if not is_whole(answer) or not any(self._has_part(step, one) for one in range(len(self.entry.alternatives))):
            return left
        stay = {one for one in left if one != OTHER and fits(step, answer, self.together(step, one))}
        owners = self._owners(left, answer.seen)
        if owners:
            return frozenset(stay & owners)
        return frozenset(stay | ({OTHER} & left))

    def _has_part(self, step: SessionStep, one: int) -> bool:
        own = self._known.impact(step, self.entry.keys[one], self.entry.alternatives[one])
        return any(own.fates) or bool(own.sure or own.may)

    def _owners(self, left: Left, seen: Collection[SignAt]) -> frozenset[int]:
        """Return the alternatives that a sign names, also together with damage that was seen before."""
        if not seen:
            return frozenset()
        every = (*seen, *self.damage)
        return frozenset(one for one in left if one != OTHER and naming(every, self.entry.alternatives[one]))

    def sign_of(self, one: int, answers: Iterable[StepAnswer]) -> SignAt | None:
        """Return the sign that names an alternative, if an answer has it."""
        seen = [sign for answer in answers for sign in answer.seen]
        return naming(seen, self.entry.alternatives[one])

    # --- what a step would tell ---------------------------------------------------------------------------------------

    def parts(self, step: SessionStep, left: Left) -> list[OutcomePart]:
        """Return the outcomes of a step with their chance at equal priors."""
        real = sorted(one for one in left if one != OTHER)
        weights = self._weights(left)
        chance: dict[Outcome, float] = {}
        for one in real:
            says = self.says(step, one)
            for outcome in says:
                chance[outcome] = chance.get(outcome, 0.0) + weights[one] / len(says)
        owners = {o: self._owners(left, o) if not step.probes else frozenset[int]() for o in chance}  # type: ignore[arg-type]
        if OTHER in left:
            free = [o for o in chance if not owners[o]]
            if not free:
                free = [frozenset()]
                owners[free[0]] = frozenset()
            for outcome in free:
                chance[outcome] = chance.get(outcome, 0.0) + weights[OTHER] / len(free)
        found = []
        for outcome in sorted(chance, key=_in_order):
            stay = {one for one in real if outcome in self.says(step, one)}
            if owners[outcome]:
                stay &= owners[outcome]
            elif OTHER in left:
                stay.add(OTHER)
            found.append(OutcomePart(outcome, chance[outcome], frozenset(stay)))
        return found

    def _weights(self, left: Left) -> Mapping[int, float]:
        """Return the prior of each alternative: equal for each cause at a place, however many forms its loss has."""
        count: dict[object, int] = {}
        for one in left:
            name = OTHER if one == OTHER else self._names[one]
            count[name] = count.get(name, 0) + 1
        return {one: 1 / len(count) / count[OTHER if one == OTHER else self._names[one]] for one in left}

    def bits(self, parts: Iterable[OutcomePart], left: Left) -> float:
        """Return the expected information in bits."""
        names = self.names(left)
        return round(sum(p.chance * log2(names / max(1, self.names(p.left))) for p in parts), 9)

    def informative(self, left: Left, used: frozenset[str]) -> Iterator[tuple[float, SessionStep, list[OutcomePart]]]:
        """Yield the steps that tell anything, with what they tell."""
        if self.names(left) < 2:
            return
        for step in self.steps:
            if step.key not in used:
                parts = self.parts(step, left)
                bits = self.bits(parts, left)
                if bits > 0:
                    yield bits, step, parts

    def ranked(self, left: Left, used: frozenset[str]) -> list[Offer]:
        """Return the steps that tell anything, the most information for its price first; ties by name."""
        found = sorted(
            self.informative(left, used), key=lambda x: (-x[0] / max(x[1].price.number, 0.1), -x[0], x[1].key)
        )
        return [Offer(step, bits, self._separates(parts, left)) for bits, step, parts in found]

    def _separates(self, parts: Sequence[OutcomePart], left: Left) -> tuple[tuple[Suspect, ...], tuple[Suspect, ...]]:
        likeliest = max(parts, key=lambda p: (p.left != left, p.chance))
        return self.suspects(likeliest.left), self.suspects(left - likeliest.left)


def _in_order(outcome: Outcome) -> tuple[object, ...]:
    return tuple(sorted(map(str, outcome))) if isinstance(outcome, frozenset) else outcome
