"""Losses of findings as single ways, so that those of two reports can be compared whatever each report joined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from checks.model.finding import FAULTS, PROBLEMS, Finding
from checks.model.observation import Fate, Observation

_SMALL_BYTES = 576
"""A packet of at most this size is small: mending an MTU changes the sizes of the packets of a test."""
_PROBES = ("ping", "datagram", "fragments")
"""What racwire sends itself on one network; instances choose networks and addresses anew when a fault is mended."""

Way = tuple[str, str, str, str, str, str, bool]
"""The check, what was sent, network, sender, receiver, kind of address, and whether it was larger than a small packet.

Each check looks at packets of its own: a counter of fragments that are missing says nothing of racwire's datagrams.
"""


def losses(findings: Iterable[Finding], names: Sequence[str], networks: Sequence[str]) -> frozenset[Way]:
    """Return the ways on which these findings saw losses."""
    return frozenset(
        way
        for finding in findings
        for seen in finding.observed
        if seen.is_loss
        for way in _ways(finding.check, seen, names, networks)
    )


def faulty(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings whose losses a cause must cover."""
    return [finding for finding in findings if finding.status in FAULTS]


def _ways(check: str, seen: Observation, names: Sequence[str], networks: Sequence[str]) -> Iterator[Way]:
    """Of a ping either direction is the same way: which of its two legs is lost may be known in one report alone."""
    for leg in seen.legs[:1]:
        ends = product(leg.senders or names, leg.receivers or names)
        for network, (sender, receiver), address in product(
            leg.networks or networks, ends, leg.addresses or ("private", "haip")
        ):
            if sender != receiver:
                one, other = sorted((sender, receiver)) if seen.what == "ping" else (sender, receiver)
                where = (network, address) if seen.what in _PROBES else ("", "")
                yield check, seen.what, where[0], one, other, where[1], leg.sizes[1] > _SMALL_BYTES


def visible(findings: Iterable[Finding], names: Sequence[str], networks: Sequence[str]) -> frozenset[object]:
    """Return all that an operator can see change: problems, lossy ways, and counters and states at their places.

    Problems are those that the checks found, also where other evidence outweighs them in the report.
    """
    known = tuple(findings)
    judged = [(f, status) for f in known if (status := (f.outweighed or f).status) in PROBLEMS]
    problems = {(f.code, status, f.network, f.nodes) for f, status in judged}
    places = {
        (o.what, o.nodes, o.network, o.nic, o.value)
        for f, _ in judged
        for o in f.observed
        if o.fate in (Fate.COUNTED, Fate.STATE)
    }
    return losses(known, names, networks) | problems | places
