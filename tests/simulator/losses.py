"""Losses of findings as single ways, so that those of two reports can be compared whatever each report joined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product

from checks.model.finding import FAULTS, PROBLEMS, Finding
from checks.model.observation import Fate, Observation

_SMALL_BYTES = 576
"""A packet of at most this size is small: mending an MTU changes the sizes of the packets of a test."""
_FEW = 5
"""Lost packets that a share of the loss can have lost by chance."""

Way = tuple[str, str, str, str, str, bool]
"""What was sent, network, sender, receiver, kind of address, and whether it was larger than a small packet."""


def losses(findings: Iterable[Finding], names: Sequence[str], networks: Sequence[str]) -> dict[Way, bool]:
    """Return the ways on which these findings saw losses, each with whether chance can have made all of its losses."""
    found: dict[Way, bool] = {}
    for finding in findings:
        for seen in finding.observed:
            if seen.is_loss:
                by_chance = not seen.is_total and seen.number <= _FEW
                for way in _ways(seen, names, networks):
                    found[way] = found.get(way, True) and by_chance
    return found


def faulty(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings whose losses a cause must cover."""
    return [finding for finding in findings if finding.status in FAULTS]


def _ways(seen: Observation, names: Sequence[str], networks: Sequence[str]) -> Iterator[Way]:
    """Of a ping either direction is the same way: which of its two legs is lost may be known in one report alone."""
    for leg in seen.legs[:1]:
        ends = product(leg.senders or names, leg.receivers or names)
        for network, (sender, receiver), address in product(
            leg.networks or networks, ends, leg.addresses or ("private", "haip")
        ):
            if sender != receiver:
                one, other = sorted((sender, receiver)) if seen.what == "ping" else (sender, receiver)
                yield seen.what, network, one, other, address, leg.sizes[1] > _SMALL_BYTES


def visible(findings: Iterable[Finding], names: Sequence[str], networks: Sequence[str]) -> frozenset[object]:
    """Return all that an operator can see change: problems, lossy ways, and counters and states at their places.

    Problems are those that the checks found, also where other evidence outweighs them in the report.
    """
    known = tuple(findings)
    judged = [((f.outweighed or f).status, f) for f in known]
    seen: set[object] = {(f.code, status, f.network, f.nodes) for status, f in judged if status in PROBLEMS}
    seen |= set(losses(known, names, networks))
    seen |= {
        (o.what, o.nodes, o.network, o.nic, o.value)
        for f in known
        for o in f.observed
        if o.fate in (Fate.COUNTED, Fate.STATE)
    }
    return frozenset(seen)


def ended(both: Mapping[Way, bool], left: Mapping[Way, bool]) -> set[Way]:
    """Return the lossy ways that lose nothing after one fault is mended."""
    return set(both) - set(left)
