"""What a diagnosis leaves open: for each entry, every cause at every place that can have lost what is its own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt
from typing import NamedTuple

from checks.diagnosis.bad_links import bad_links
from checks.diagnosis.candidate import Candidate
from checks.diagnosis.catalogue import CATALOGUE
from checks.diagnosis.cause import Cause, CauseForm
from checks.diagnosis.cover import Covering, cover
from checks.diagnosis.predict import LostPaths, inferred, stated
from checks.diagnosis.seen import Loss, Pair, Seen
from checks.model.facts import Cluster
from checks.model.finding import Finding, Key
from checks.model.hypothesis import Certainty, Footprint, How, Place
from checks.model.investigation import Suspect
from checks.model.signs import Sign, SignAt
from checks.model.traffic import Traffic
from checks.model.wording import listed

_SURE, _LEAST_OF_ONE = 2.0, 0.05
"""Standard deviations of a count; and the least part of a few losses that counts."""
_FEW = 30
"""Packets of which all can be lost by a share: of ten, half of the packets lose all once in a thousand tests, and a run
has hundreds of tests. Only more of them show that nothing passes."""


class Settled(NamedTuple):
    """What a session found out: the keys of suspects."""

    proved: frozenset[str] = frozenset()
    excluded: frozenset[str] = frozenset()


NOTHING = Settled()


@dataclass(frozen=True, eq=False)
class SuspectEntry:
    """What was lost, and what can have lost it."""

    number: int
    alternatives: tuple[Suspect, ...]
    """Of all widths; one, where a finding states it or the session proved it. Empty: none that racwire knows."""
    standing: Certainty
    shown_by: tuple[Key, ...] = ()
    """The findings that show the losses, or state the cause."""
    share: float = 0.0
    """The share of the packets that is lost where some are, estimated from the losses; 0 where all are lost, or where
    none of racwire's own packets was."""
    lost: tuple[Traffic, ...] = ()
    """The ways of racwire's own packets that were lost: where no alternative explains them, something unknown is at
    work there."""
    is_placed: bool = True
    """Whether racwire's own packets show where it is lost; else only blocks of the database, or messages, show that
    something is."""

    @property
    def is_open(self) -> bool:
        """Whether a session can find out more: neither stated nor proved."""
        return self.standing is not Certainty.PROVED

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The keys of the alternatives, in their order."""
        return tuple(one.key for one in self.alternatives)


class _Made(NamedTuple):
    suspect: Suspect
    candidate: Candidate


class Run:
    """The findings of a run, with all of its suspects: these do not depend on what a session settles."""

    def __init__(self, cluster: Cluster, findings: Iterable[Finding], causes: Sequence[Cause] = CATALOGUE) -> None:
        self.seen = Seen(cluster, findings)
        self._made = {one.suspect.key: one for one in _suspected(self.seen, causes)}
        self.suspects = {key: one.suspect for key, one in self._made.items()}
        """All suspects by their keys."""
        self._stated = [one for cause in causes for one in stated(cause, self.seen)]

    def entries(self, settled: Settled = NOTHING) -> list[SuspectEntry]:
        """Return what is left open, after what a session settled: most losses first, what is stated or proved at the
        end.

        What it proved is proved, what it excluded is no cause here; so an entry that another one hid comes to light.
        """
        made = {key: one for key, one in self._made.items() if key not in settled.excluded}
        kept = [key for key in sorted(settled.proved) if key in made]
        proved = [replace(made[key].candidate, standing=Certainty.PROVED) for key in kept]
        offered = {key: one for key, one in made.items() if key not in settled.proved}
        found = cover(self.seen, self._stated, [one.candidate for one in offered.values()], proved)
        suspects = {id(one): made[key].suspect for one, key in zip(proved, kept, strict=True)}
        return list(_entries(self.seen, found, offered, suspects))


def entries(
    cluster: Cluster, findings: Iterable[Finding], settled: Settled = NOTHING, causes: Sequence[Cause] = CATALOGUE
) -> list[SuspectEntry]:
    """Return what the findings leave open, after what a session settled; see `Run.entries`."""
    return Run(cluster, findings, causes).entries(settled)


def _entries(
    seen: Seen, found: Sequence[Covering], offered: Mapping[str, _Made], suspects: Mapping[int, Suspect]
) -> Iterator[SuspectEntry]:
    own = frozenset(loss.number for loss, _ in seen.placed_losses())
    number = 0
    forms = {
        id(one): _still_open(one, [seen.losses[n] for n in sorted(one.losses & own)], offered, suspects.values(), seen)
        for one in found
        if one.losses & own
    }
    open_ = [one for one in found if not _is_settled(one) or forms.get(id(one))]
    for one in sorted(open_, key=lambda c: -len(c.losses & own)):
        rest = frozenset[int]().union(*(other.losses for other in found if other is not one))
        alone = (one.losses & own) - rest or one.losses & own
        losses = [seen.losses[n] for n in sorted(alone)]
        alternatives = forms.get(id(one)) or _explaining(losses, offered, seen)
        number += 1
        yield SuspectEntry(
            number=number,
            alternatives=alternatives,
            standing=Certainty.SUPPORTED,
            shown_by=_keys(losses),
            share=_share(losses),
            lost=_ways(losses),
        )
    covered = frozenset[int]().union(*(one.losses for one in found))
    left = [loss for loss in seen.losses if loss.number not in covered and seen.is_demanded(loss)]
    for is_placed in (True, False):
        losses = [loss for loss in left if (loss.number in own) is is_placed]
        if losses:
            number += 1
            yield SuspectEntry(
                number=number,
                alternatives=_explaining(losses, offered, seen) if is_placed else (),
                standing=Certainty.POSSIBLE,
                shown_by=_keys(losses),
                share=_share(losses) if is_placed else 0.0,
                lost=_ways(losses) if is_placed else (),
                is_placed=is_placed,
            )
    for one in found:
        if one not in open_:
            number += 1
            of = suspects.get(id(one.first)) or _of_stated(one.first)
            yield SuspectEntry(number=number, alternatives=(of,), standing=Certainty.PROVED,
                        shown_by=tuple(seen.key(f) for f in one.first.shown))  # fmt: skip


def _is_settled(one: Covering) -> bool:
    """Return whether a finding states the cause, or the session proved it: no session is needed."""
    return one.first.is_stated or one.first.standing is Certainty.PROVED


def _still_open(
    one: Covering, losses: Sequence[Loss], offered: Mapping[str, _Made], proved: Collection[Suspect], seen: Seen
) -> tuple[Suspect, ...]:
    """Return what a session can still tell of a cause that a finding states at a node. Where the finding proves it, its
    forms that need different hands: damaged frames are of the cable, the port or the NIC. Where it only supports it,
    all that can have lost the same. Empty where there is no more to tell, or the session proved it."""

    def is_of_it(suspect: Suspect) -> bool:
        place, at = suspect.place, one.first.place
        return suspect.cause == one.first.cause.code and (place.networks, place.nodes, place.to) == (
            at.networks, at.nodes, (),
        )  # fmt: skip

    if not one.first.is_stated or len(one.first.place.nodes) != 1 or any(map(is_of_it, proved)):
        return ()
    forms = tuple(made.suspect for made in offered.values() if is_of_it(made.suspect))
    if one.first.standing is not Certainty.PROVED:
        every = _explaining(losses, offered, seen) if forms else ()
        return every if any(map(is_of_it, every)) else ()
    return forms if len({suspect.kind for suspect in forms}) > 1 else ()


def _keys(losses: Iterable[Loss]) -> tuple[Key, ...]:
    return tuple(dict.fromkeys(loss.key for loss in losses))


def _ways(losses: Iterable[Loss]) -> tuple[Traffic, ...]:
    legs = (leg for loss in losses for leg in loss.observation.legs)
    ways = (Traffic(networks=leg.networks, senders=leg.senders, receivers=leg.receivers) for leg in legs)
    return tuple(dict.fromkeys(ways))


def _share(losses: Iterable[Loss]) -> float:
    """Return the share of the packets that is lost at least where some were and others not: of few losses, which can
    be many by chance where each path was sent few packets, the share that makes as many once in a hundred times."""
    partial = [o for loss in losses if (o := loss.observation).of and not o.is_total]
    lost = sum(o.number for o in partial)
    least = max(lost - _SURE * sqrt(lost), _LEAST_OF_ONE * lost)
    return least / sum(o.of or 0 for o in partial) if partial else 0.0


def _explaining(losses: Sequence[Loss], offered: Mapping[str, _Made], seen: Seen) -> tuple[Suspect, ...]:
    """Return the suspects of all widths that can have lost all of these packets."""
    known: dict[object, bool] = {}
    found = []
    for one in offered.values():
        like = (one.candidate.effects, one.candidate.share_of_flows)
        if like not in known:
            known[like] = all(_can_lose(one.candidate, loss, seen) for loss in losses)
        if known[like]:
            found.append(one.suspect)
    return tuple(sorted(found, key=lambda s: (s.cause, s.kind, s.place.networks, s.place.nodes, s.key)))


def _can_lose(one: Candidate, loss: Loss, seen: Seen) -> bool:
    of = loss.observation
    few = of.is_total and (of.of or 0) < _FEW
    is_share = few and any(e.how is How.SHARE and leg.meets(e.traffic) for e in one.effects for leg in of.legs)
    return is_share or one.explains(loss, seen)


# --- the causes at their places ---------------------------------------------------------------------------------------


def _suspected(seen: Seen, causes: Sequence[Cause]) -> Iterator[_Made]:
    lost = LostPaths(seen, every_width=True)
    for cause in causes:
        for kind in cause.kinds:
            form = replace(cause, patterns=kind.patterns or cause.patterns, at=kind.at or cause.at)
            found = bad_links(form, lost) if form.is_link_of_aggregation else inferred(form, lost)
            yield from (_Made(_suspect(cause, kind, one), one) for one in found)


def _suspect(cause: Cause, kind: CauseForm, one: Candidate) -> Suspect:
    place = _place(one.place)
    return Suspect(
        cause=cause.code,
        kind=kind.name,
        name=cause.name,
        place=place,
        footprint=one.effects,
        signs=tuple(_at(kind.signs, one, place)),
        may_show=tuple(_at(kind.may_show, one, place)),
        is_above_nic=kind.is_above_nic,
        is_of_flows=cause.is_link_of_aggregation,
    )


def _of_stated(one: Candidate) -> Suspect:
    """Return what a finding states: any of its forms may show its signs."""
    place = _place(one.place)
    kinds = [(s, kind.is_above_nic) for kind in one.cause.kinds for s in (*kind.signs, *kind.may_show)]
    return Suspect(
        cause=one.cause.code,
        name=one.cause.name,
        place=place,
        footprint=one.effects,
        may_show=tuple(at for node in place.nodes or ("",) for network in place.networks
                       for at in _signs({s: None for s, _ in kinds}, one.effects, network, node)),
    )  # fmt: skip


def _place(place: Place) -> Place:
    """Return a place with one text for all ways of its packets: what is at a port is at that port in any way."""
    if len(place.nodes) != 1 or place.to:
        return place
    return Place(networks=place.networks, nodes=place.nodes, text=f"at {place.nodes[0]} on {listed(place.networks)}")


def _at(signs: Collection[Sign], one: Candidate, place: Place) -> Iterator[SignAt]:
    """Yield the signs at the place: of the node, or of the receiver of a path; else of the network."""
    ends = place.to or (place.nodes if len(place.nodes) == 1 else ())
    for network in place.networks:
        for sign in signs:
            is_inside = sign in _OF_AGGREGATION or (bool(place.to) and sign is Sign.FABRIC)
            yield from _signs((sign,), one.effects, network, ends[0] if ends and not is_inside else "")


def _signs(signs: Iterable[Sign], effects: Sequence[Footprint], network: str, node: str) -> Iterator[SignAt]:
    for sign in signs:
        ways = _ENDS.get(sign)
        if node and ways and not any(node in (getattr(e.traffic, ways) or ()) for e in effects):
            continue  # nothing is damaged in that direction
        packets = Traffic()
        if sign in _OF_PACKETS and effects:
            kind = effects[0].traffic
            packets = Traffic(protocols=kind.protocols, addresses=kind.addresses, forms=kind.forms, sizes=kind.sizes)
        yield SignAt(sign=sign, network=network, node=node, packets=packets)


_OF_AGGREGATION = frozenset({Sign.MEMBER_CRC, Sign.MEMBER_DOWN, Sign.MEMBER_MTU})
"""The signs of the links that the flows of several nodes take: the switch lists them for the network."""
_ENDS: Mapping[Sign, str] = {Sign.PORT_CRC: "senders", Sign.NIC_CRC: "receivers"}
"""Damaged frames are counted where they arrive: those from a node at its switch port."""
_OF_PACKETS = frozenset({Sign.NODE_RULE, Sign.NODE_QDISC, Sign.PORT_ACL, Sign.PORT_POLICED, Sign.NODE_DROPS})
"""The signs that name the packets that are dropped."""


def pairs_of(suspect: Suspect) -> frozenset[Pair]:
    """Return network, sender and receiver of the footprint, where each is one."""
    return frozenset(
        (network, s, r)
        for f in suspect.footprint
        for network in f.traffic.networks or ()
        for s in f.traffic.senders or ()
        for r in f.traffic.receivers or ()
    )
