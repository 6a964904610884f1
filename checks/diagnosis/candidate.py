"""A cause at one exact place, and how it relates to what was observed: explained, contradicted, unlikely."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from checks.diagnosis.cause import Cause
from checks.diagnosis.seen import Loss, Seen
from checks.model.finding import FAULTS, Finding
from checks.model.hypothesis import Footprint, How, Place, Standing
from checks.model.observation import Fate, Observation
from checks.model.traffic import Traffic

RARE = 1e-3
"""A share of losses is no candidate where like packets all passed, in numbers that it allows less often than this."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A cause at a place, with the packets that it touches there."""

    cause: Cause
    place: Place
    effects: tuple[Footprint, ...]
    standing: Standing
    shown: tuple[Finding, ...] = ()
    """The findings that state it; empty where it was inferred from losses."""
    width: int = 0
    certain_from: int = 0
    """The least size in bytes of which a loss was seen: smaller packets of the footprint may pass."""
    pairs: frozenset[tuple[str, str, str]] = field(default=frozenset())
    """Network, sender and receiver of the paths that it touches; of an inferred candidate only."""

    @property
    def is_stated(self) -> bool:
        """Whether a finding states it at its place: then it is said whatever it loses."""
        return bool(self.shown)

    def explains(self, loss: Loss) -> bool:
        """Return whether the cause can have lost, or delayed, these packets."""
        seen = loss.observation
        if seen.fate is Fate.DELAYED:
            return any(e.how is How.DELAYS and any(leg.meets(e.traffic) for leg in seen.legs) for e in self.effects)
        return any(_loses(effect, leg, seen) for effect in self.effects for leg in seen.legs)

    def is_contradicted(self, seen: Seen) -> bool:
        """Return whether packets passed that the cause stops."""
        return any(self._forbids(leg) for pair in self.pairs for leg, _ in seen.passed.get(pair, ())) or any(
            self._forbids(leg) for leg, _ in seen.elsewhere
        )

    def lacks_contrast(self, seen: Seen) -> bool:
        """Return whether the packets that the cause lets pass were not seen to pass at its place."""
        beside = self.cause.beside
        return beside is not None and not any(
            leg <= beside and leg.sizes[0] >= self.certain_from
            for pair in self.pairs
            for leg, _ in seen.passed.get(pair, ())
        )

    def _forbids(self, leg: Traffic) -> bool:
        return leg.sizes[0] >= self.certain_from and any(
            effect.how is How.STOPS and leg <= effect.traffic for effect in self.effects
        )

    def is_unlikely(self, seen: Seen) -> bool:
        """Return whether a cause that loses a share would have lost some of what passed whole."""
        shares = [effect.traffic for effect in self.effects if effect.how is How.SHARE]
        if not shares:
            return False
        kinds: dict[object, list[int]] = defaultdict(lambda: [0, 0])
        sent = lost = 0
        for pair in self.pairs:
            for leg, one in seen.passed.get(pair, ()):
                if any(leg <= traffic for traffic in shares):
                    own = one.number if one.fate is Fate.LOST else 0
                    of = (one.of or 0) if one.fate is Fate.LOST else one.number
                    kind = kinds[leg.protocols, leg.sizes, leg.forms, leg.addresses]
                    kind[0] += own
                    kind[1] += of
                    if own:
                        sent, lost = sent + of, lost + own
        if not lost:
            return True
        share = lost / sent
        return any(not own and (1 - share) ** of < RARE for own, of in kinds.values())

    def implies(self, finding: Finding) -> bool:
        """Return whether the cause leads to a finding about a counter or a value at its place."""
        if finding.code not in self.cause.moves or finding in self.shown:
            return False
        if finding.network and self.place.networks and finding.network not in self.place.networks:
            return False
        return (
            not finding.nodes
            or not self.place.nodes
            or not set(finding.nodes).isdisjoint((*self.place.nodes, *self.place.to))
        )

    @property
    def shows_gravity(self) -> int:
        """The gravity of its worst own finding."""
        return min((f.status.gravity for f in self.shown if f.status in FAULTS), default=99)


def _loses(effect: Footprint, leg: Traffic, seen: Observation) -> bool:
    if effect.how is How.DELAYS or not leg.meets(effect.traffic):
        return False
    if effect.how is How.STOPS:  # what stops a whole leg explains only where nothing passed
        return seen.of is None or seen.is_total or not leg <= effect.traffic
    return effect.how is How.FLOWS or not seen.is_total  # a share never explains that all is lost
