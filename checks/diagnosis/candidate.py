"""A cause at one exact place, and how it relates to what was observed: explained, contradicted, unlikely."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import ceil, erfc, exp, fsum, log, sqrt

from checks.diagnosis.cause import Cause, Fit
from checks.diagnosis.seen import PROBES, RARE, Loss, Pair, Seen, Sent, pair_of
from checks.model.finding import Finding, Status
from checks.model.hypothesis import Certainty, Footprint, How, Place
from checks.model.observation import Fate, Observation
from checks.model.traffic import SMALL, Traffic
from checks.rules.changed_meanwhile import is_of_change

_SIZES_DIFFER = 8
"""How many times more often one cause may lose one kind of packets than another. Ours."""
_VLAN_TAG = 4
"""A NIC receives packets that are larger than its MTU by the room for a tag (Linux: VLAN_HLEN)."""
_ALL, _WHOLE = "kinds together", "kinds that passed whole"
_BLOCK_BYTES = 8192
A_ROW = 10
"""Datagrams of a source port from which it is known by itself whether the port loses a share."""
_ENOUGH_OF_A_FLOW = 5
"""The packets of one flow that must all pass to show that the flow is not stopped from time to time."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A cause at a place, with the packets that it touches there."""

    cause: Cause
    place: Place
    effects: tuple[Footprint, ...]
    standing: Certainty
    shown: tuple[Finding, ...] = ()
    """The findings that state it; empty where it was inferred from losses."""
    width: int = 0
    fit: Fit = Fit.AS_ANY
    """How well its place fits the cause, of an inferred candidate; see `Cause.fits`."""
    certain_from: int = 0
    """The least size in bytes of which a loss was seen: smaller packets of the footprint may pass."""
    share_of_flows: float = 0.0
    """Of a link of an aggregation: the share of the source ports that took it."""
    pairs: frozenset[Pair] = field(default=frozenset())
    """Network, sender and receiver of the paths that it touches; of an inferred candidate only."""

    _chances: dict[object, tuple[int, float]] = field(default_factory=dict, repr=False)
    """By kind of packets: the number of tests, and the share of the packets that was lost."""

    @property
    def is_stated(self) -> bool:
        """Whether a finding states it at its place: then it is reported, whatever it loses."""
        return bool(self.shown)

    @property
    def at(self) -> tuple[object, ...]:
        """The place as data, with the ways that it is on: `to rac2` and `from rac2` are two places."""
        traffic = (effect.traffic for effect in self.effects)
        ways = dict.fromkeys((one.senders or (), one.receivers or ()) for one in traffic)
        return self.place.networks, self.place.nodes, self.place.to, tuple(ways)

    def explains(self, loss: Loss, seen: Seen) -> bool:
        """Return whether the cause can have lost, or delayed, these packets."""
        one = loss.observation
        if one.fate is Fate.DELAYED:
            return any(e.how is How.DELAYS and any(leg.meets(e.traffic) for leg in one.legs) for e in self.effects)
        return any(self._loses(effect, leg, one, seen) for effect in self.effects for leg in one.legs)

    def touches(self, loss: Loss) -> bool:
        """Return whether the cause loses packets like these, whether so many or not."""
        legs = loss.observation.legs
        return any(e.how is not How.DELAYS and leg.meets(e.traffic) for e in self.effects for leg in legs)

    def _loses(self, effect: Footprint, leg: Traffic, one: Observation, seen: Seen) -> bool:
        if effect.how is How.DELAYS or not leg.meets(effect.traffic):
            return False
        if effect.how is How.AT_TIMES:
            is_enough = one.is_total and one.what in PROBES and (one.of or 0) >= _ENOUGH_OF_A_FLOW
            return not (is_enough and self._others_pass(effect, leg, seen))
        if effect.how is How.SHARE:
            # A counter of the receiver shows what it dropped there, be it all; how many is compared later.
            is_counted = self.is_stated and self.cause.is_bound and one.what not in PROBES
            is_counted = is_counted or self.takes_fragments(one, leg, seen)
            return is_counted or not one.is_total or self._by_chance(leg, one, seen)
        in_turn = len({other.networks for other in one.legs}) > 1  # a block takes one network or another
        if one.of is not None and not one.is_total and leg <= effect.traffic and not in_turn:
            # What stops a whole leg explains only where nothing passed; of racwire's own packets the flows are known.
            return effect.how is How.FLOWS and one.what not in PROBES
        return not one.is_total or not self._passes_there(effect, leg, seen)

    def takes_fragments(self, one: Observation, leg: Traffic, seen: Seen) -> bool:
        """Return whether the counter of the receiver proves the cause, and none of racwire's fragments passed to it on
        any network: it can have dropped them all."""
        if self.standing is not Certainty.PROVED or not self.cause.is_bound or one.what != "fragments":
            return False
        like = [sent for sent in self._within(seen, How.SHARE) if sent.leg.receivers == leg.receivers]
        return all(sent.lost == sent.of for sent in like if sent.leg.forms == leg.forms)

    def _passes_there(self, effect: Footprint, leg: Traffic, seen: Seen) -> bool:
        """Return whether packets that it stops passed on the path; of an unknown part, packets of the same flow."""
        pair = pair_of(leg)
        if pair is None or (effect.how is How.STOPS and not self.is_stated):
            return False  # an inferred one that packets contradict is no candidate
        least = effect.traffic.sizes[0] + (_VLAN_TAG if effect.traffic.sizes[0] > SMALL else 0)
        like = (
            sent
            for sent in seen.on.get(pair, ())
            if sent.lost < sent.of and sent.leg <= effect.traffic and sent.leg.sizes[0] >= least
        )
        return any(effect.how is How.STOPS or _is_same_flow(leg, sent) for sent in like)

    @staticmethod
    def _others_pass(effect: Footprint, leg: Traffic, seen: Seen) -> bool:
        """Return whether other packets of the same protocol passed on the path, and none was lost: what stops all
        packets at times does not choose them by size or form."""
        pair = pair_of(leg)
        like = [sent for sent in (seen.on.get(pair, ()) if pair else ()) if sent.leg.protocols == leg.protocols]
        whole = (sent.of for sent in like if not sent.lost and sent.leg <= effect.traffic)
        return sum(whole) >= _ENOUGH_OF_A_FLOW

    def _by_chance(self, leg: Traffic, one: Observation, seen: Seen) -> bool:
        """Return whether a share of losses can lose each of so few packets."""
        kind = Sent(leg, 0, 0).kind
        if kind not in self._chances:
            # What is known of the flows of a link is of other paths, too.
            within = list(self._within(seen, How.SHARE, frozenset(seen.on) if self.share_of_flows else self.pairs))
            in_part = [sent for sent in within if sent.lost < sent.of]
            like = [sent for sent in in_part if sent.kind == kind]
            share, others = _shared(like)[0], [sent for sent in in_part if sent.lost]
            if not share:  # tests of one packet are lost whole or not at all
                share = _shared(others)[0]
                share *= (1 - share) ** sum(sent.of for sent in like) >= RARE
            if not like and share ** (sum(sent.of for sent in within if sent.kind == kind) // 2) < RARE:
                share = 0.0  # all of a kind were lost; a ping has two legs
            self._chances[kind] = max(1, len(like) or len(others)), share
        tests, share = self._chances[kind]
        return tests * share ** (one.of or 0) >= RARE

    def _within(self, seen: Seen, how: How, pairs: frozenset[Pair] = frozenset()) -> Iterator[Sent]:
        """Yield the packets of known number that lie within what it does in this way; of some paths, or of all."""
        boxes = [effect.traffic for effect in self.effects if effect.how is how]
        for pair in pairs or self.pairs or seen.on:
            yield from (sent for sent in seen.on.get(pair, ()) if any(sent.leg <= box for box in boxes))

    def is_contradicted(self, seen: Seen) -> bool:
        """Return whether packets passed that the cause stops."""
        stopped = [e.traffic for e in self.effects if e.how is How.STOPS]
        return bool(stopped) and any(
            leg.sizes[0] >= self.certain_from and any(leg <= traffic for traffic in stopped)
            for pair in self.pairs
            for leg in seen.passed(pair)
        )

    def lacks_contrast(self, seen: Seen) -> bool:
        """Return whether the packets that the cause lets pass were not seen to pass at its place."""
        beside = self.cause.beside
        return beside is not None and not any(
            leg <= beside and leg.sizes[0] >= self.certain_from for pair in self.pairs for leg in seen.passed(pair)
        )

    def is_unlikely(self, seen: Seen) -> bool:
        """Return whether a cause that loses a share would have lost some of what passed whole."""
        if not any(effect.how is How.SHARE for effect in self.effects):
            return False
        share, kinds = self._shares(seen)
        if self._differs_by_port(seen):
            return True
        self._chances[_WHOLE] = 0, _whole(share, kinds)
        # A ping is lost on its way there or back; larger packets are lost more often.
        return (
            not share
            or any(_at_most(lost, of, share / (_SIZES_DIFFER if lost else 2)) < RARE for lost, of in kinds.values())
            or any((1 - share / 2) ** of < RARE for of in self._spared(seen).values())
        )

    def _differs_by_port(self, seen: Seen) -> bool:
        """Return whether some source ports of a path lose a share, and others far less: it loses those of all alike."""
        ways: dict[object, list[Sent]] = defaultdict(list)
        for one in self._within(seen, How.SHARE):
            if one.leg.ports and one.of >= A_ROW * len(one.leg.ports):
                ways[one.leg.senders, one.leg.receivers].append(one)
        return any(
            one.lost and _at_most(other.lost, other.of, one.lost / one.of / 2) < RARE
            for sent in ways.values()
            for one in sent
            for other in sent
        )

    def _spared(self, seen: Seen) -> dict[object, int]:
        """Return the packets of each protocol on the paths where none of that protocol was lost."""
        paths: dict[tuple[object, object, object], list[Sent]] = defaultdict(list)
        for one in self._within(seen, How.SHARE):
            paths[one.leg.protocols, one.leg.senders, one.leg.receivers].append(one)
        spared: dict[object, int] = defaultdict(int)
        for (protocol, _, _), sent in paths.items():
            spared[protocol] += 0 if any(one.lost for one in sent) else sum(one.of for one in sent)
        return spared

    @property
    def of_the_whole(self) -> float:
        """The logarithm of the probability that the kinds of packets which passed whole at its place did so."""
        return self._chances.get(_WHOLE, (0, 0.0))[1]

    def likelihood(self, seen: Seen, pairs: frozenset[Pair]) -> float:
        """Return how likely it is that the kinds of packets which passed whole on these paths did so, at the share that
        is lost there."""
        share, kinds = self._shares(seen, pairs)
        return exp(_whole(share, kinds))

    def _shares(self, seen: Seen, pairs: frozenset[Pair] = frozenset()) -> tuple[float, dict[object, tuple[int, int]]]:
        """Return the share of the packets that are lost where some are, and (lost, sent) of each kind. What is lost
        whole has another cause, unless it is so little that the share loses it whole by chance."""
        within = list(self._within(seen, How.SHARE, pairs))
        share, kinds = _shared(sent for sent in within if sent.lost < sent.of)
        if not share:
            return share, kinds
        return _shared(sent for sent in within if sent.lost < sent.of or share**sent.of >= RARE)

    def is_enough(self, loss: Loss, seen: Seen) -> bool:
        """Return whether the cause can have lost all these packets, so that their loss ends with it: none of their
        ways is outside its footprint, and, where they took several networks in turn, their number is not above what it
        can lose on its own. Of legs that a packet takes one after the other, one is enough."""
        one = loss.observation
        in_turn = len({leg.networks for leg in one.legs}) > 1
        return any(
            self._is_enough(legs, loss, seen) for legs in ([one.legs] if in_turn else [[leg] for leg in one.legs])
        )

    def _is_enough(self, legs: Sequence[Traffic], loss: Loss, seen: Seen) -> bool:
        one, senders = loss.observation, seen.senders_of(loss)
        ways = {way for leg in legs for way in _ways(leg) if not senders or way[1] in senders}
        met = [(leg & e.traffic) for leg in legs for e in self.effects if leg.meets(e.traffic)]
        own = {way for leg in met for way in _ways(leg)}
        if not {way[1:] for way in ways} <= {way[1:] for way in own}:
            return False
        networks, hit = {way[0] for way in ways}, {way[0] for way in own}
        if hit >= networks:
            return True
        if None in networks or not one.of:
            return False
        if self.is_stated and any(effect.how is How.SHARE for effect in self.effects):
            return True  # what a queue or a wire loses of blocks, racwire's few packets do not tell
        most = len(hit) / len(networks) * self._share_of_blocks(one, seen)
        return most >= 1 or _at_most(one.of - one.number, one.of, 1 - most) >= RARE

    def _share_of_blocks(self, one: Observation, seen: Seen) -> float:
        """Return the share of the datagrams that the cause can lose on a network that it touches."""
        if self.share_of_flows:
            return self.share_of_flows
        if _ALL not in self._chances:
            kinds: dict[object, list[int]] = defaultdict(lambda: [0, 0])
            for sent in self._within(seen, How.SHARE):
                kinds[sent.kind][0] += sent.lost
                kinds[sent.kind][1] += sent.of
            self._chances[_ALL] = 1, max((lost / of for lost, of in kinds.values() if of), default=1.0)
        share = self._chances[_ALL][1]
        fragments = ceil(_BLOCK_BYTES / max(1, min(leg.sizes[1] for leg in one.legs)))
        return float(1 - (1 - min(1.0, 2 * share)) ** fragments)

    def implies(self, finding: Finding) -> bool:
        """Return whether the cause leads to a finding about a counter or a value at its place."""
        if finding in self.shown:
            return False
        if self.cause.blinds and finding.status is Status.UNKNOWN and finding.nodes:
            return set(finding.nodes) <= set(self.place.nodes)
        if finding.code not in self.cause.moves and not is_of_change(finding, self.shown):
            return False
        is_of_any = self.cause.mixes_networks or not self.place.networks
        if finding.network and not is_of_any and finding.network not in self.place.networks:
            return False
        return (
            not finding.nodes
            or not self.place.nodes
            or not set(finding.nodes).isdisjoint((*self.place.nodes, *self.place.to))
        )


def _whole(share: float, kinds: Mapping[object, tuple[int, int]]) -> float:
    """Return the logarithm of the probability that the kinds which passed whole did so; the order has no influence."""
    return fsum(of * log(1 - share / 2) for lost, of in kinds.values() if not lost)


def _shared(every: Iterable[Sent]) -> tuple[float, dict[object, tuple[int, int]]]:
    kinds: dict[object, tuple[int, int]] = {}
    some = [0, 0]
    for sent in every:
        lost, of = kinds.get((sent.kind, sent.leg.sizes), (0, 0))
        kinds[sent.kind, sent.leg.sizes] = lost + sent.lost, of + sent.of
        some = [some[0] + sent.lost, some[1] + sent.of] if sent.lost else some
    return (some[0] / some[1] if some[0] else 0.0), kinds


def _ways(leg: Traffic) -> Iterator[tuple[str | None, str | None, str | None]]:
    """Yield network, sender and receiver of each way that the packets can take; None where any is possible."""
    return product(leg.networks or (None,), leg.senders or (None,), leg.receivers or (None,))


def _is_same_flow(one: Traffic, other: Sent) -> bool:
    """Return whether all other packets of the same flow passed: a flow is lost whole, whatever the size."""
    leg = other.leg
    same = (one.protocols, one.addresses, one.ports) == (leg.protocols, leg.addresses, leg.ports)
    return same and not other.lost and other.of >= _ENOUGH_OF_A_FLOW


def _at_most(lost: int, of: int, share: float) -> float:
    """Return the probability that of so many packets at most so many are lost at this share (binomial)."""
    if not 0 < share < 1:
        return float(share <= 0 or lost >= of)
    term = total = (1 - share) ** of
    if not term:  # of very many: the normal distribution
        return 0.5 * erfc((of * share - lost - 0.5) / sqrt(2 * of * share * (1 - share)))
    for k in range(1, lost + 1):
        term *= (of - k + 1) / k * share / (1 - share)
        total += term
    return total
