"""The findings of a run with their observations, indexed for the diagnosis."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from checks.model.facts import Cluster
from checks.model.finding import FAULTS, Finding, Key, Status, by_place, keyed
from checks.model.observation import Fate, Observation
from checks.model.traffic import SMALL, Traffic

RARE = 1e-3
"""A share of losses is no candidate where like packets all passed, in numbers that it allows less often than this."""
Pair = tuple[str, str, str]
"""Network, sender, receiver."""
PROBES = frozenset({"ping", "datagram", "fragments"})
"""What racwire itself sends: both ends, the size and the network are known, so these losses point to places."""


@dataclass(frozen=True, slots=True)
class Loss:
    """Packets that were lost or late, of a finding that is a fault."""

    number: int
    observation: Observation
    finding: Finding
    key: Key


@dataclass(frozen=True, slots=True)
class Sent:
    """Packets of one kind on one leg, of which some, all or none were lost there or on another leg of their way."""

    leg: Traffic
    lost: int
    of: int

    @property
    def kind(self) -> object:
        """Equal for packets that a share of losses treats alike."""
        leg = self.leg
        return leg.protocols, leg.addresses, leg.forms, leg.sizes[1] > SMALL


class Seen:
    """What a run observed."""

    def __init__(self, cluster: Cluster, findings: Iterable[Finding]) -> None:
        self.cluster = cluster
        every = tuple(findings)
        keys = {id(finding): key for key, finding in keyed(every)}
        self.findings = sorted(every, key=by_place)
        self.of_code: dict[str, list[Finding]] = defaultdict(list)
        for found in self.findings:
            self.of_code[found.code].append(found)
        self.faults = [f for f in self.findings if f.status in FAULTS]
        self.not_passed = [f for f in self.findings if f.status not in (Status.PASS, Status.SKIPPED)]
        self.key_of = keys
        self.losses = [
            Loss(number, seen, finding, keys[id(finding)])
            for number, (seen, finding) in enumerate(_losses(self.findings))
        ]
        """The losses that a cause must cover, or, of a finding that is UNKNOWN or a remark, may cover."""
        self.on: dict[Pair, list[Sent]] = defaultdict(list)
        """By network, sender and receiver: packets of known number, with their leg there."""
        self.lost_on: dict[Pair, list[Loss]] = defaultdict(list)
        """The losses by each of their ways."""
        self.unplaced: list[Loss] = []
        """Those of which network, sender and receiver of some leg are not all known exactly."""
        for loss in self.losses:
            ways = dict.fromkeys(pair_of(leg) for leg in loss.observation.legs)
            for way in ways:
                if way is not None:
                    self.lost_on[way].append(loss)
            if None in ways or not ways:
                self.unplaced.append(loss)
        self._senders: dict[int, frozenset[str]] = {}
        for finding in self.findings:
            for seen in finding.observed:
                self._index(seen)

    def _index(self, seen: Observation) -> None:
        if seen.fate is Fate.PASSED or (seen.fate is Fate.LOST and seen.of is not None):
            # Of what took one network or another in turn, those that passed may all have taken one of them.
            if seen.fate is Fate.LOST and len({leg.networks for leg in seen.legs}) > 1:
                return
            # Where what became of the others is not known, one at least passed.
            passed = seen.number if seen.number == (seen.of or seen.number) else 1
            for leg in seen.legs:
                lost = seen.fate is Fate.LOST
                sent = Sent(leg, seen.number, seen.of or 0) if lost else Sent(leg, 0, passed)
                if exact := pair_of(leg):
                    self.on[exact].append(sent)

    def passed(self, pair: Pair) -> Iterator[Traffic]:
        """Yield the packets from one node to another of which at least one passed."""
        return (sent.leg for sent in self.on.get(pair, ()) if sent.lost < sent.of)

    @staticmethod
    def is_demanded(loss: Loss) -> bool:
        """Return whether a cause must cover a loss: that of a fault, and that of racwire's own packets in a remark that
        leaves the fault to another check."""
        if loss.finding.status in FAULTS:
            return True
        is_remark = loss.finding.status in (Status.INFO, Status.SKIPPED) and loss.finding.outweighed is None
        return is_remark and loss.observation.what in PROBES

    def senders_of(self, loss: Loss) -> frozenset[str]:
        """Return from whom the packets of a loss without one known sender came, by those losses of the same finding and
        the same receivers of which the sender is known; empty where there are none."""
        if all(leg.senders is None or len(leg.senders) == 1 for leg in loss.observation.legs):
            return frozenset()
        if loss.number not in self._senders:
            self._senders[loss.number] = self._known_senders(loss)
        return self._senders[loss.number]

    def _known_senders(self, loss: Loss) -> frozenset[str]:
        receivers = {leg.receivers for leg in loss.observation.legs}
        possible = {node for leg in loss.observation.legs for node in leg.senders or ()}
        known = {
            leg.senders[0]
            for other in self.losses
            if other.finding is loss.finding and other.observation.what == loss.observation.what
            for leg in other.observation.legs
            if leg.receivers in receivers and leg.senders and len(leg.senders) == 1
        }
        return frozenset(known & possible)

    def key(self, finding: Finding) -> Key:
        """Return the key of a finding."""
        return self.key_of[id(finding)]

    def with_code(self, codes: Sequence[str]) -> list[Finding]:
        """Return the faults with one of these codes, in the order of the codes."""
        return [f for code in codes for f in self.of_code.get(code, ()) if f.status in FAULTS]

    def placed_losses(self) -> Iterator[tuple[Loss, Traffic]]:
        """Yield each loss of racwire's own packets, with each of its legs: they point to places."""
        for loss in self.losses:
            if loss.observation.what in PROBES and self.is_demanded(loss) and loss.observation.fate is Fate.LOST:
                yield from ((loss, leg) for leg in loss.observation.legs if pair_of(leg))


def pair_of(leg: Traffic) -> Pair | None:
    """Return network, sender and receiver, where each is exactly one."""
    match leg.networks, leg.senders, leg.receivers:
        case (network,), (sender,), (receiver,):
            return network, sender, receiver
    return None


def _losses(findings: Sequence[Finding]) -> Iterator[tuple[Observation, Finding]]:
    for finding in findings:
        for seen in finding.observed:
            if seen.is_loss and not any(leg.times for leg in seen.legs):
                # The present does not explain the past.
                yield seen, finding
