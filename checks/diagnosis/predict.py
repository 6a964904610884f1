"""Hypotheses of a cause: where a finding states it, and where packets are lost as one of its patterns loses them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import msgspec

from checks.diagnosis.candidate import Candidate
from checks.diagnosis.cause import At, Cause, Fit, Touch, Way
from checks.diagnosis.seen import Loss, Pair, Seen, pair_of
from checks.model.finding import Finding
from checks.model.hypothesis import Certainty, Footprint, How, Place
from checks.model.observation import Fate, Observation
from checks.model.traffic import MOST, Traffic, among
from checks.model.wording import listed
from checks.rules.changed_meanwhile import CHANGED_CODES, is_outdated
from checks.rules.own_footprint import may_be_own

# --- stated: a finding is the cause, at its place ---------------------------------------------------------------------


def stated(cause: Cause, seen: Seen) -> Iterator[Candidate]:
    """Yield the cause at each place where findings state it: those at one place together, and those of one kind on one
    network."""
    if cause.is_of_each_node:
        yield from (
            one for f in seen.with_code(cause.shown_by) if _is_of_place(f) for one in _at_each_node(cause, seen, f)
        )
        return
    groups: list[list[Finding]] = []
    for finding in seen.with_code(cause.shown_by):
        if cause.patterns and not _is_of_place(finding):
            continue  # only losses, which its patterns place
        if cause.is_shown is not None and not cause.is_shown(seen, finding):
            continue
        joined = [group for group in groups if any(_belong_together(finding, other) for other in group)]
        groups = [group for group in groups if group not in joined]
        groups.append([*(one for group in joined for one in group), finding])
    for group in groups:
        # A value that changed meanwhile comes first: what the others found is of a moment.
        moments = set(CHANGED_CODES).intersection(cause.supported_by)
        order = sorted(group, key=lambda f: (f.code not in moments, cause.shown_by.index(f.code)))
        proves = any(f.code in cause.proved_by and not may_be_own(f) and not is_outdated(f) for f in group)
        placed = any(_has_legs(f) for f in group) and cause.effects_of is None
        own = [f for f in group if not (placed and _has_only_losses(f))]
        effects = tuple(dict.fromkeys(e for f in own for e in _effects(cause, seen, f)))
        yield Candidate(
            cause=cause,
            place=_place_of(group, effects),
            effects=effects,
            standing=Certainty.PROVED if proves else Certainty.SUPPORTED,
            shown=tuple(order),
        )


def _at_each_node(cause: Cause, seen: Seen, finding: Finding) -> Iterator[Candidate]:
    """Yield the cause at each node of a finding that says of several nodes the same, whatever its reason at each."""
    standing = Certainty.PROVED if finding.code in cause.proved_by else Certainty.SUPPORTED
    effects = tuple(_effects(cause, seen, finding))
    for node in finding.nodes or ("",):
        own = tuple(
            e for e in effects if not node or node in (*(e.traffic.receivers or ()), *(e.traffic.senders or ()))
        )
        place = _place_of([msgspec.structs.replace(finding, nodes=(node,) if node else ())], own)
        yield Candidate(cause=cause, place=place, effects=own, standing=standing, shown=(finding,))


def _ends(traffic: Traffic) -> tuple[str, ...]:
    return (*(traffic.senders or ()), *(traffic.receivers or ()))


def _is_of_place(finding: Finding) -> bool:
    fates = {seen.fate for seen in finding.observed}
    # Where a sender refused some packets and others were lost, the finding is about those that were lost.
    return not fates.isdisjoint({Fate.STATE, Fate.COUNTED}) or (Fate.REFUSED in fates and Fate.LOST not in fates)


_STATED = (Fate.STATE, Fate.COUNTED)


def _has_legs(finding: Finding) -> bool:
    return any(one.legs for one in finding.observed if one.fate in _STATED)


def _has_only_losses(finding: Finding) -> bool:
    """Return whether a finding shows a cause by what is lost alone: what the cause touches, the others of its place
    state better than its nodes do."""
    fates = {one.fate for one in finding.observed}
    return Fate.LOST in fates and fates.isdisjoint(_STATED)


def _belong_together(one: Finding, other: Finding) -> bool:
    if one.network and other.network and one.network != other.network:
        return False
    same_kind = one.code == other.code and one.network == other.network != ""
    return same_kind or not one.nodes or not other.nodes or not set(one.nodes).isdisjoint(other.nodes)


def _place_of(findings: Sequence[Finding], effects: Iterable[Footprint]) -> Place:
    nodes = dict.fromkeys(node for f in findings for node in f.nodes)
    networks = dict.fromkeys(f.network for f in findings if f.network)
    networks = networks or dict.fromkeys(name for e in effects for name in e.traffic.networks or ())
    text = f"{f'on {listed(nodes)}' if nodes else ''}{f' on {listed(networks)}' if networks else ''}".strip()
    return Place(networks=tuple(networks), nodes=tuple(nodes), text=text)


def _effects(cause: Cause, seen: Seen, finding: Finding) -> Iterator[Footprint]:
    if cause.effects_of is not None:
        yield from cause.effects_of(seen, finding)
        return
    legs = [leg for one in finding.observed if one.fate in _STATED for leg in one.legs]
    for touch in cause.touches:
        if legs:
            yield from (_effect(touch, leg) for leg in legs)
        else:
            networks = (finding.network,) if finding.network and not touch.every_network else None
            yield from at_nodes(touch, networks, finding.nodes)


def _effect(touch: Touch, leg: Traffic) -> Footprint:
    wide = (
        Traffic(networks=None, senders=leg.senders, receivers=leg.receivers, ports=leg.ports)
        if (touch.every_network)
        else leg
    )
    return Footprint(how=touch.how, traffic=touch.packets & wide)


def at_nodes(touch: Touch, networks: tuple[str, ...] | None, nodes: Sequence[str]) -> Iterator[Footprint]:
    """Yield what a cause does at nodes; without nodes, on the whole network."""
    base = touch.packets & Traffic(networks=networks)
    if not nodes:
        yield Footprint(how=touch.how, traffic=base)
        return
    own = among(nodes)
    if touch.way is not Way.FROM:
        yield Footprint(how=touch.how, traffic=base & Traffic(receivers=own))
    if touch.way is not Way.TO:
        yield Footprint(how=touch.how, traffic=base & Traffic(senders=own))


# --- inferred: packets are lost as the cause loses them ---------------------------------------------------------------


class LostPaths:
    """The losses of racwire's own packets by network, and the nodes there: where to look for patterns."""

    def __init__(self, seen: Seen, *, every_width: bool = False) -> None:
        self.seen = seen
        self.every_width = every_width
        """Whether a path is a place of its own where one of its nodes can be the place."""
        self.by_network: dict[str, list[tuple[Loss, Traffic]]] = defaultdict(list)
        for loss, leg in seen.placed_losses():
            if leg.networks:
                self.by_network[leg.networks[0]].append((loss, leg))
        self.nodes = {n.name: tuple(port.node for port in n.ports) for n in seen.cluster.read_networks()}
        self._made: dict[tuple[Touch, tuple[At, ...]], tuple[Candidate, ...]] = {}

    def candidates(self, cause: Cause, touch: Touch) -> Iterator[Candidate]:
        """Yield the places at which a cause can have lost packets by a pattern; several causes share a pattern."""
        key = touch, cause.at
        if key not in self._made:
            self._made[key] = tuple(_candidates(cause, touch, self))
        return (replace(made, cause=cause) for made in self._made[key])


def inferred(cause: Cause, lost: LostPaths) -> Iterator[Candidate]:
    """Yield the cause at each place where it can have lost what was lost, and where nothing that passed contradicts."""
    for touch in cause.patterns:
        for made in lost.candidates(cause, touch):
            fit = cause.fits(lost.seen, made.place) if cause.fits else Fit.AS_ANY
            if fit is not Fit.NOT and not made.lacks_contrast(lost.seen):
                yield replace(made, fit=fit)


def _candidates(cause: Cause, touch: Touch, lost: LostPaths) -> Iterator[Candidate]:
    for network, losses in lost.by_network.items():
        like: dict[Pair, list[Traffic]] = defaultdict(list)
        for loss, leg in losses:
            if _fits(touch, loss.observation) and leg.meets(touch.packets) and (pair := pair_of(leg)):
                like[pair].append(leg)
        held = set[Pair]()
        for place, width, effects, pairs in _places(cause, touch, network, like, held, lost):
            made = _limited(cause, touch, place, width, effects, pairs, like, lost.seen)
            if made is not None and not _is_refuted(made, lost.seen):
                if not lost.every_width:
                    held |= made.pairs
                yield made


def _is_refuted(made: Candidate, seen: Seen) -> bool:
    return made.is_contradicted(seen) or made.is_unlikely(seen)


def _fits(touch: Touch, seen: Observation) -> bool:
    return touch.how is How.STOPS or not seen.is_total


_Found = tuple[Place, At, tuple[Footprint, ...], frozenset[Pair]]


def _places(
    cause: Cause,
    touch: Touch,
    network: str,
    like: Mapping[Pair, Sequence[Traffic]],
    held: Collection[Pair],
    lost: LostPaths,
) -> Iterator[_Found]:
    """Yield the places at which the losses can be. `held` has the paths of the candidates so far: a path of a node that
    can be the place is no place of its own, since the node is the narrower one."""
    if not like:
        return
    nodes = lost.nodes.get(network) or tuple(dict.fromkeys(n for _, s, r in like for n in (s, r)))
    every = [(network, s, r) for s in nodes for r in nodes if s != r]
    if At.NODE in cause.at:
        ends = {Way.TO: (2,), Way.FROM: (1,), Way.BOTH: (1, 2)}[touch.way]
        for node in dict.fromkeys(way[end] for way in like for end in ends):
            own = frozenset(pair for pair in every if any(pair[end] == node for end in ends))
            place = Place(networks=(network,), nodes=(node,), text=_at_node(touch, node, network))
            yield place, At.NODE, tuple(at_nodes(touch, (network,), (node,))), own
    if At.PATH in cause.at:
        for _, s, r in [way for way in like if way not in held]:
            there = touch.packets & Traffic(networks=(network,), senders=(s,), receivers=(r,))
            place = Place(networks=(network,), nodes=(s,), to=(r,), text=f"from {s} to {r} on {network}")
            yield place, At.PATH, (Footprint(how=touch.how, traffic=there),), frozenset({(network, s, r)})
    least = min(leg.sizes[0] for legs in like.values() for leg in legs) if touch.is_sized else 0
    sides = _sides(touch, least, network, nodes, lost.seen) if At.SIDES in cause.at else None
    # The link of a node that is alone on its side is its port.
    if sides and not (At.NODE in cause.at and 1 in map(len, sides)):
        one, other = sides
        effects = tuple(
            Footprint(how=touch.how, traffic=touch.packets & Traffic(networks=(network,), senders=a, receivers=b))
            for a, b in ((one, other), (other, one))
        )
        pairs = frozenset(
            (network, a, b) for a, b in ((a, b) for a in nodes for b in nodes) if (a in one) != (b in one)
        )
        text = f"between {listed(one)} and {listed(other)} on {network}"
        at = At.NODE if 1 in (len(one), len(other)) else At.SIDES  # a node alone: as narrow as its port
        yield Place(networks=(network,), nodes=(*one, *other), text=text), at, effects, pairs
    if At.NETWORK in cause.at:
        effect = Footprint(how=touch.how, traffic=touch.packets & Traffic(networks=(network,)))
        yield Place(networks=(network,), text=f"on {network}"), At.NETWORK, (effect,), frozenset(every)


def _at_node(touch: Touch, node: str, network: str) -> str:
    if touch.way is Way.BOTH:
        return f"at the port of {node} on {network}"
    return f"{'to' if touch.way is Way.TO else 'from'} {node} on {network}"


_LEAST_OF_SIDES = 3
"""Between two nodes there is a path, and no sides."""


def _sides(
    touch: Touch, least: int, network: str, nodes: Sequence[str], seen: Seen
) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Return the two groups of nodes between which such packets pass in none of the ways."""
    group = {node: node for node in nodes}
    for s, r in combinations(nodes, 2):
        legs = [leg for pair in ((network, s, r), (network, r, s)) for leg in seen.passed(pair)]
        if any(leg <= touch.packets and leg.sizes[0] >= least for leg in legs):
            old, new = group[r], group[s]
            group = {node: new if of == old else of for node, of in group.items()}
    sides = defaultdict(list)
    for node, of in group.items():
        sides[of].append(node)
    if len(sides) != 2 or len(nodes) < _LEAST_OF_SIDES:
        return None
    one, other = sides.values()
    return among(one), among(other)


def _limited(
    cause: Cause,
    touch: Touch,
    place: Place,
    width: At,
    effects: tuple[Footprint, ...],
    pairs: frozenset[Pair],
    like: Mapping[Pair, Sequence[Traffic]],
    seen: Seen,
) -> Candidate | None:
    """Return the candidate; of full-size packets, those larger than what passed at its place, and none where nothing
    smaller passed."""
    certain = 0
    if touch.is_sized and touch.how is not How.SHARE:
        kind = touch.packets.of_any_size
        passed = [leg.sizes[1] for pair in pairs for leg in seen.passed(pair) if leg <= kind]
        certain = max(passed, default=0) + 1
        if not passed or not any(leg.sizes[0] >= certain for pair in pairs for leg in like.get(pair, ())):
            return None
        effects = _above(certain, effects)
    return Candidate(
        cause=cause,
        place=place,
        effects=effects,
        standing=Certainty.SUPPORTED,
        width=width.width,
        certain_from=certain,
        pairs=pairs,
    )


def _above(least: int, effects: Iterable[Footprint]) -> tuple[Footprint, ...]:
    above = Traffic(sizes=(least, MOST))
    return tuple(Footprint(how=e.how, traffic=e.traffic.of_any_size & above) for e in effects)


def joined(one: Candidate, other: Candidate) -> Candidate:
    """Return two narrow hypotheses of one cause as one that equals a wide one: `at the ports of rac1 and of rac3`."""
    nodes = among((*one.place.nodes, *other.place.nodes))
    text = f"at {listed(nodes)} on {listed(one.place.networks)}"
    place = Place(networks=one.place.networks, nodes=nodes, text=text)
    effects = (*one.effects, *other.effects)
    return replace(one, place=place, effects=effects, pairs=one.pairs | other.pairs)
