"""Which hypotheses are reported: those that findings state, and the fewest that cover the losses which these leave."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from checks.diagnosis.candidate import Candidate
from checks.diagnosis.cause import At
from checks.diagnosis.predict import joined
from checks.diagnosis.seen import RARE, Loss, Seen, pair_of
from checks.model.finding import Finding
from checks.model.hypothesis import Certainty, How

_A_LOSS = 3
"""The weight of one more loss that is covered, against the logarithm of how likely what passed whole is."""
_FAR_LESS_LIKELY = RARE
"""A hypothesis that makes what passed so many times less likely than another one is no alternative to it."""
_MANY = 3
"""The narrow places of one network that are rather the network."""
_MOST_JOINED = 12
"""The most narrow hypotheses of one cause that are tried in pairs against a wide one."""


@dataclass(frozen=True, eq=False)
class Covering:
    """Hypotheses that the evidence cannot tell apart, with the losses that they explain."""

    alternatives: tuple[Candidate, ...]
    losses: frozenset[int]
    """Those that the first hypothesis explains."""
    may_lose: frozenset[int] = frozenset()
    """Those that any of them explains."""

    @property
    def first(self) -> Candidate:
        """The hypothesis that stands for the entry."""
        return self.alternatives[0]

    def implies(self, finding: Finding) -> bool:
        """Return whether a value or a counter follows from the cause."""
        return any(one.implies(finding) for one in self.alternatives)


def cover(
    seen: Seen, stated: Sequence[Candidate], offered: Sequence[Candidate], proved: Sequence[Candidate] = ()
) -> list[Covering]:
    """Return the entries: each stated cause, and what was proved without a finding; then, most losses first, what the
    rest needs. Symptoms that they cover are left out."""
    entries = [_with_losses((one,), seen) for one in (*_roots(stated), *proved)]
    roots = [entry for entry in entries if not entry.first.cause.is_symptom]
    left = frozenset(loss.number for loss in seen.losses if seen.is_demanded(loss))
    left = left.difference(*(entry.losses for entry in roots), *(_dropped(entry.first, seen) for entry in entries))
    roots += [_with_losses(alternatives, seen) for alternatives in _greedy(seen, offered, left)]
    symptoms = [entry for entry in entries if entry.first.cause.is_symptom]
    for entry in symptoms:
        if not all(_is_covered(seen, finding, roots) for finding in entry.first.shown):
            roots.append(entry)
    return roots


def _dropped(one: Candidate, seen: Seen) -> frozenset[int]:
    """Return the losses of racwire's fragments that the receiver itself dropped, as its counter proves."""
    return frozenset(
        loss.number
        for loss in seen.losses
        for leg in loss.observation.legs
        if any(leg.meets(effect.traffic) for effect in one.effects) and one.takes_fragments(loss.observation, leg, seen)
    )


def _with_losses(alternatives: tuple[Candidate, ...], seen: Seen) -> Covering:
    losses = [_losses_of(one, seen) for one in alternatives]
    if alternatives[0].cause.mixes_networks:
        losses.append(frozenset(loss.number for loss in seen.losses if alternatives[0].touches(loss)))
    return Covering(alternatives, losses[0], frozenset[int]().union(*losses))


def _roots(stated: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates that do not follow from another: it leads to all that states them, or the same findings
    prove it. Two that follow from each other stay."""
    return [one for one in stated if not any(_follows(one, other) and not _follows(other, one) for other in stated)]


def _follows(one: Candidate, other: Candidate) -> bool:
    if one is other:
        return False
    is_better = other.standing is Certainty.PROVED and one.standing is Certainty.SUPPORTED
    return all(other.implies(f) or (is_better and f in other.shown) for f in one.shown)


def _losses_of(one: Candidate, seen: Seen) -> frozenset[int]:
    every = seen.losses
    if one.pairs and not one.share_of_flows:  # what is known of the flows of a link is of other paths, too
        every = [*(loss for pair in one.pairs for loss in seen.lost_on.get(pair, ())), *seen.unplaced]
    return frozenset(loss.number for loss in every if one.explains(loss, seen))


def _is_covered(seen: Seen, finding: Finding, entries: Sequence[Covering]) -> bool:
    """Return whether others explain all that a finding of a symptom saw.

    Fragments that a node missed are of blocks, and it is not known from where: they are explained as far as the blocks
    that it lost are.
    """
    own = [loss for loss in seen.losses if loss.finding is finding]
    counted = [leg for loss in own for leg in loss.observation.legs if loss.observation.what == "fragments"]
    receivers = {node for leg in counted if leg.senders is None for node in leg.receivers or ()}
    blocks = [
        loss
        for loss in seen.losses
        if loss.observation.what == "block"
        and receivers & {n for g in loss.observation.legs for n in g.receivers or ()}
    ]
    if own and all(_is_held(loss, seen, entries) for loss in blocks):
        return all(any(entry.first.touches(loss) for entry in entries) for loss in own)
    return any(entry.implies(finding) for entry in entries)


def _is_held(loss: Loss, seen: Seen, entries: Sequence[Covering]) -> bool:
    held = [entry for entry in entries if loss.number in entry.losses]
    return len(held) > 1 or any(entry.first.is_enough(loss, seen) for entry in held)


def _greedy(seen: Seen, offered: Sequence[Candidate], left: frozenset[int]) -> list[tuple[Candidate, ...]]:
    """Most losses of racwire's own packets first, then the narrower place, then most of what others suffered: as good
    as the fewest, and linear."""
    table: dict[frozenset[int], list[Candidate]] = defaultdict(list)
    probes = frozenset(loss.number for loss, _ in seen.placed_losses())
    same: dict[object, frozenset[int]] = {}
    for one in offered:
        if one.effects not in same:
            same[one.effects] = _losses_of(one, seen) & left
        if mine := same[one.effects]:
            table[mine].append(one)
    chosen: list[frozenset[int]] = []
    held = set[Candidate]()
    rest = left
    while True:
        # What only the database suffered points to no place: it never makes an entry by itself.
        # What a cause that loses a share leaves within its own place, chance leaves.
        fits = [mine for mine in table if mine & rest & probes and not all(map(held.__contains__, table[mine]))]
        if not fits:
            break
        best = max(
            fits,
            key=lambda mine: (
                _A_LOSS * len(mine & rest & probes) + max(one.of_the_whole - one.width for one in table[mine]),
                len(mine & rest),
                [-n for n in sorted(mine)],
            ),
        )
        chosen.append(best)
        others = [one for every in table.values() for one in every if one not in held]
        held |= {one for one in others if any(_holds(wide, one) for wide in table[best])}
        rest -= best
    chosen = _widened(chosen, table)
    chosen = [mine for mine in chosen if not mine <= frozenset[int]().union(*(c for c in chosen if c is not mine))]
    return [_entry(seen, mine, chosen, table) for mine in chosen]


def _widened(
    chosen: Sequence[frozenset[int]], table: Mapping[frozenset[int], Sequence[Candidate]]
) -> list[frozenset[int]]:
    """Return the chosen ones, with the network in the place of several of its ports and paths that lose the same share:
    one limit on a network is simpler than so many of its ends."""
    found = list(chosen)
    wide = [(mine, one) for mine, every in table.items() for one in every if one.width == At.NETWORK.width]
    for mine, one in sorted(wide, key=lambda pair: -len(pair[0])):
        parts = [c for c in found if c != mine and any(n.cause is one.cause and _holds(one, n) for n in table[c])]
        others = frozenset[int]().union(*(c for c in found if c not in parts))
        if len(parts) >= _MANY and frozenset[int]().union(*parts) - others <= mine:
            found = [mine if c is parts[0] else c for c in found if c is parts[0] or c not in parts]
    return found


def _holds(wide: Candidate, narrow: Candidate) -> bool:
    shares = [effect for effect in wide.effects if effect.how is How.SHARE]
    return all(
        any(effect.how is How.SHARE and effect.traffic <= of.traffic for of in shares) for effect in narrow.effects
    )


def _width(candidates: Iterable[Candidate]) -> int:
    return min(one.width for one in candidates)


def _entry(
    seen: Seen, mine: frozenset[int], chosen: Sequence[frozenset[int]], table: dict[frozenset[int], list[Candidate]]
) -> tuple[Candidate, ...]:
    """Return the hypotheses that the losses cannot tell apart: they cover what no other entry does, as narrowly."""
    alone = mine.difference(*(other for other in chosen if other is not mine))
    width = _width(table[mine])
    fit = [one for losses, every in table.items() if alone <= losses for one in every if one.width == width]
    if width > 1:  # two narrow ones can equal a wide one
        for codes in {one.cause.code: one.cause for one in fit}:
            narrow = [(one, losses) for losses, every in table.items() for one in every if _is_narrow(one, codes)]
            pairs = combinations(sorted(narrow, key=lambda n: -len(n[1] & alone))[:_MOST_JOINED], 2)
            fit += next(([joined(a, b)] for (a, x), (b, y) in pairs if alone <= x | y), [])
    paths = frozenset(
        pair for loss in seen.losses if loss.number in mine for leg in loss.observation.legs if (pair := pair_of(leg))
    )
    likely = max(one.likelihood(seen, paths) for one in fit) * _FAR_LESS_LIKELY
    fit = [one for one in fit if one.likelihood(seen, paths) >= likely]
    fit.sort(key=lambda one: (one not in table[mine], -one.fit, len(one.place.nodes), one.cause.code, one.at))
    return tuple({(one.cause.code, one.at): one for one in reversed(fit)}.values())[::-1]


def _is_narrow(one: Candidate, code: str) -> bool:
    return one.cause.code == code and one.width == 1
