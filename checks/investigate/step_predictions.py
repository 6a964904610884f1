"""Which outcomes of a step a suspect predicts: by the packets that it looks at, and by the signs that it reads.

Each outcome is predicted together with every alternative of the other entries: with two faults, what one does to a
packet hides what the other does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import combinations, product
from operator import contains
from typing import NamedTuple

from checks.investigate.suspects import SuspectEntry
from checks.model.hypothesis import Footprint, How
from checks.model.investigation import Fared, Probe, SessionStep, StepAnswer, Suspect
from checks.model.signs import SOLE, Sign, SignAt
from checks.model.traffic import Traffic

Outcome = tuple[Fared, ...] | frozenset[SignAt]
"""How each probe of a step fares, or the signs that are seen."""
_MOST_OPEN = 5
"""Signs of one step that may be seen or not, of which each combination is an outcome."""
_FEW_OF = 6
"""Fewer losses than this part of those that are looked for count as none: something else loses a few everywhere."""


class Impact(NamedTuple):
    """What one suspect, or several at once, do to what a step looks at."""

    fates: tuple[frozenset[tuple[How, bool]], ...] = ()
    """Of each probe: what becomes of its packets, and whether of the flows on one link alone."""
    sure: frozenset[SignAt] = frozenset()
    may: frozenset[SignAt] = frozenset()

    def __or__(self, other: Impact) -> Impact:
        fates = tuple(a | b for a, b in zip(self.fates, other.fates, strict=True))
        return Impact(fates, self.sure | other.sure, self.may | other.may)


def impact(step: SessionStep, suspect: Suspect) -> Impact:
    """Return what a suspect does to what a step looks at."""
    if step.probes:
        return Impact(tuple(_fate(probe, suspect) for probe in step.probes))
    return Impact(
        (),
        frozenset(s for s in suspect.signs if any(s.shows(r) for r in step.reads)),
        frozenset(s for s in suspect.may_show if any(s.shows(r) for r in step.reads)),
    )


def _fate(probe: Probe, suspect: Suspect) -> frozenset[tuple[How, bool]]:
    return frozenset(
        (one.how, suspect.is_of_flows)
        for one in suspect.footprint
        for leg in probe.legs
        if one.how is not How.DELAYS and leg.meets(one.traffic) and not _is_seen_before(probe, leg, one, suspect)
    )


def _is_seen_before(probe: Probe, leg: Traffic, one: Footprint, suspect: Suspect) -> bool:
    """Return whether a capture at the receiver shows the packets before the suspect drops them there."""
    if not (probe.is_at_nic and suspect.is_above_nic):
        return False
    at = suspect.place.to or suspect.place.nodes
    return bool(leg.receivers) and set(leg.receivers or ()) <= set(at)


class Other(NamedTuple):
    """Another entry, with those of its alternatives that no answer contradicts by itself."""

    entry: SuspectEntry
    alive: tuple[int, ...]


def beside(step: SessionStep, others: Sequence[Other], known: Known) -> frozenset[Impact]:
    """Return what the other entries can do to what a step looks at: one for each set that differs."""
    found = {Impact((_EMPTY,) * len(step.probes))}
    for entry, alive in others:
        own = {known.impact(step, entry.keys[one], entry.alternatives[one]) for one in alive}
        own = own or {Impact(tuple(_unknown(probe, entry.lost) for probe in step.probes))}
        found = {a | b for a in found for b in own} if own else found
    return frozenset(found)


def _unknown(probe: Probe, lost: Sequence[Traffic]) -> frozenset[tuple[How, bool]]:
    """Return what a cause that racwire does not know can do to a probe: anything, where it lost packets."""
    meets = any(leg.meets(way) for leg in probe.legs for way in lost)
    return frozenset([(How.AT_TIMES, False)] if meets else ())


_EMPTY: frozenset[tuple[How, bool]] = frozenset()


class Known:
    """The impacts that were computed: they hold for a whole session."""

    def __init__(self) -> None:
        self._impacts: dict[tuple[str, str], Impact] = {}
        self._like: dict[str, str] = {}
        self._first: dict[object, str] = {}

    def impact(self, step: SessionStep, key: str, suspect: Suspect) -> Impact:
        """Return what a suspect with this key does to what a step looks at; suspects that touch the same packets do the
        same to them."""
        like = self._alike(key, suspect) if step.probes else key
        found = self._impacts.get((step.key, like))
        if found is None or len(found.fates) != len(step.probes):
            found = self._impacts[step.key, like] = impact(step, suspect)
        return found

    def _alike(self, key: str, suspect: Suspect) -> str:
        if key not in self._like:
            above = (suspect.place.to or suspect.place.nodes) if suspect.is_above_nic else ()
            self._like[key] = self._first.setdefault((suspect.footprint, above, suspect.is_of_flows), key)
        return self._like[key]


_OF_ONE_PORT = frozenset((Fared.NONE_LOST, Fared.SOME_LOST, Fared.ALL_LOST))


def outcomes(step: SessionStep, together: Iterable[Impact]) -> frozenset[Outcome]:
    """Return the outcomes that a step can have where one of these sets is at work."""
    if step.probes:
        ports = [p.ports > 1 for p in step.probes]
        every = {tuple(map(_fares, ports, one.fates)) for one in together}
        return frozenset(outcome for fate in every for outcome in product(*fate))
    found = set[Outcome]()
    for one in together:
        may = sorted(one.may - one.sure, key=str)[:_MOST_OPEN]
        found |= {one.sure | frozenset(some) for n in range(len(may) + 1) for some in combinations(may, n)}
    return frozenset(found)


def fares(probe: Probe, fate: frozenset[tuple[How, bool]]) -> frozenset[Fared]:
    """Return how the packets of a probe can fare under these effects."""
    return _fares(probe.ports > 1, fate)


@cache
def _fares(of_ports: bool, fate: frozenset[tuple[How, bool]]) -> frozenset[Fared]:
    if not fate:
        return frozenset((Fared.NONE_LOST,))
    if any(how is How.STOPS and not of_flows for how, of_flows in fate):
        return frozenset((Fared.ALL_LOST,))
    if any(how is How.AT_TIMES for how, _ in fate):
        return frozenset(Fared) if of_ports else _OF_ONE_PORT
    some = any(how is How.SHARE and not of_flows for how, of_flows in fate)
    whole_flows = any(how is How.FLOWS or (how is How.STOPS and of_flows) for how, of_flows in fate)
    parts_of_flows = any(how is How.SHARE and of_flows for how, of_flows in fate)
    least = Fared.SOME_LOST if some else Fared.NONE_LOST
    if not of_ports:
        found = {least}
        found |= {Fared.ALL_LOST} if whole_flows else set()
        found |= {Fared.SOME_LOST} if parts_of_flows else set()
        return frozenset(found)
    if some:
        return frozenset((Fared.SOME_LOST,))
    if whole_flows:
        return frozenset((Fared.PORTS_LOST,))
    return frozenset((Fared.PORTS_SHARE,) if parts_of_flows else (least,))


def fits(step: SessionStep, answer: StepAnswer, together: Iterable[Impact]) -> bool:
    """Return whether an answer can come of one of these sets."""
    if step.probes:
        ports = [p.ports > 1 for p in step.probes]
        every = {tuple(map(_fares, ports, one.fates)) for one in together}
        return any(all(map(contains, one, answer.fared)) for one in every)
    # What an output shows besides, of other places, is not of this step.
    seen = [sign for sign in answer.seen if any(sign.shows(at) for at in step.reads)]
    return any(_shows(answer, seen, one) for one in together)


def is_contradicted(step: SessionStep, answer: StepAnswer, own: Impact) -> bool:
    """Return whether an answer contradicts what one suspect does, whatever else is at work: others lose more, and let
    nothing pass that it stops."""
    if not is_whole(answer):
        return False
    if step.probes:
        return any(
            _RANK[got] < min(_RANK[one] for one in fares(probe, fate))
            for got, probe, fate in zip(answer.fared, step.probes, own.fates, strict=True)
        )
    looked = [s for s in own.sure if any(s.shows(at) for at in answer.looked)]
    return not all(any(seen.shows(s) for seen in answer.seen) for s in looked)


def is_whole(answer: StepAnswer) -> bool:
    """Return whether an answer says of each probe of its step how it fared: a capture that was not understood does
    not."""
    return len(answer.fared) == len(answer.step.probes) or not answer.step.probes


_RANK = {
    Fared.NONE_LOST: 0,
    Fared.PORTS_SHARE: 1,
    Fared.PORTS_LOST: 1,
    Fared.SOME_LOST: 2,
    Fared.ALL_LOST: 3,
}
"""How much is lost."""


def _shows(answer: StepAnswer, found: Sequence[SignAt], one: Impact) -> bool:
    """Return whether what was seen is what these make: each sign that they surely make, where it was looked for, and
    none that they do not make."""
    looked = [s for s in one.sure if any(s.shows(at) for at in answer.looked)]
    possible = (*one.sure, *one.may)
    return all(any(seen.shows(s) for seen in found) for s in looked) and all(
        any(seen.shows(s) for s in possible) for seen in found
    )


def naming(seen: Iterable[SignAt], suspect: Suspect) -> SignAt | None:
    """Return the sign that names a suspect among those that were seen: no other kind of cause makes it, known or not.

    What ends at another port names a bad port where damaged frames were counted: else it can be set there. What only
    may be seen of a path is of its receiver, and names no path.
    """
    every = list(seen)
    own = suspect.signs if suspect.place.to else (*suspect.signs, *suspect.may_show)
    is_damaged = any(s.sign in _DAMAGE and s.place == mine.place for s in every for mine in suspect.signs)
    names = {s.sign for s in suspect.signs} if is_damaged else frozenset[Sign]()
    sole = (s for s in every if s.sign in SOLE or (s.sign is Sign.WITH_PORT and s.sign in names))
    return next((s for s in sole if any(s.shows(mine) for mine in own) and _is_of(s, suspect)), None)


def _is_of(sign: SignAt, suspect: Suspect) -> bool:
    """Return whether a sign is of the packets that a suspect drops: a filter of pings does not show what drops
    datagrams, and a limit of all packets is none of datagrams."""
    if sign.sign in _LIMITS and sign.packets.protocols is None and any(f.traffic.protocols for f in suspect.footprint):
        return False
    return any(f.traffic <= sign.packets for f in suspect.footprint)


_LIMITS = frozenset({Sign.PORT_POLICED, Sign.NODE_QDISC})
_DAMAGE = frozenset({Sign.PORT_CRC, Sign.NIC_CRC})


def fared(probe: Probe, by_port: Sequence[tuple[int, int]]) -> Fared:
    """Return how the packets of a probe fared: (lost, sent) by source port, or one pair for all.

    Fewer losses than a sixth of the share that is looked for count as none.
    """
    if len(by_port) < 2 or probe.ports == 1:
        return _of_one(sum(lost for lost, _ in by_port), sum(sent for _, sent in by_port), probe.share)
    each = {_of_one(lost, sent, probe.share) for lost, sent in by_port}
    if len(each) == 1:
        return each.pop()
    if each == {Fared.NONE_LOST, Fared.ALL_LOST}:
        return Fared.PORTS_LOST
    if Fared.NONE_LOST in each and Fared.ALL_LOST not in each:
        return Fared.PORTS_SHARE
    return Fared.SOME_LOST


def _of_one(lost: int, sent: int, share: float) -> Fared:
    if lost <= share / _FEW_OF * sent:
        return Fared.NONE_LOST
    return Fared.ALL_LOST if lost >= sent else Fared.SOME_LOST
