"""What causes do to packets, by name, and what a value read at a place does to them."""

from __future__ import annotations

from collections.abc import Iterator
from math import comb
from typing import Any

from checks.diagnosis.cause import Touch, Way
from checks.diagnosis.seen import RARE, Seen, pair_of
from checks.model.finding import Finding, Status
from checks.model.hypothesis import Footprint, How
from checks.model.observation import Fate
from checks.model.traffic import MOST, SMALL, Traffic, among
from checks.rules.changed_meanwhile import CHANGED_CODES

FULL = (SMALL + 1, MOST)
"""The sizes of full-size packets; what passed at the place decides from which size on."""

MESSAGES = (0, SMALL)
"""The sizes of messages between instances, which a filter can drop while full-size packets pass."""


def touch(how: How, way: Way = Way.BOTH, *, every_network: bool = False, **packets: Any) -> Touch:
    """Return what a cause does to these packets, given as fields of a Traffic."""
    return Touch(how, Traffic(**packets), way, every_network)


SHARE_ALL = touch(How.SHARE)
SHARE_FULL = touch(How.SHARE, sizes=FULL)
SHARE_IN = touch(How.SHARE, Way.TO)


_KINDS = (Traffic(protocols=("udp",)), Traffic(protocols=("icmp",)), Traffic(forms=("fragment",)))
_FILTERED = (*_KINDS, *(kind & Traffic(sizes=FULL) for kind in _KINDS), _KINDS[0] & Traffic(sizes=MESSAGES))
"""What filters of a node drop, the widest first."""


def haip_alone(seen: Seen, finding: Finding) -> bool:
    """Return whether pings between HAIP addresses are lost whole, or so often that those between the private addresses
    of the same nodes, which pass, do not suffer the same share (Fisher's exact test)."""
    lost = of = others_lost = others = 0
    for one in finding.observed:
        if one.fate is Fate.LOST and one.of and one.number >= max(one.of, _ENOUGH):
            return True
        if one.fate in (Fate.LOST, Fate.PASSED) and one.of and (pair := pair_of(one.legs[0])):
            lost, of = lost + (one.number if one.fate is Fate.LOST else 0), of + one.of
            for sent in seen.on.get(pair, ()):
                like = (sent.leg.protocols, sent.leg.addresses, sent.leg.sizes)
                if like == (("icmp",), ("private",), one.legs[0].sizes):
                    others_lost, others = others_lost + sent.lost, others + sent.of
    total, losses = of + others, lost + others_lost
    ways = sum(comb(of, k) * comb(others, losses - k) for k in range(lost, min(of, losses) + 1))
    return bool(lost) and ways / comb(total, losses) < RARE


_ENOUGH = 3
"""Pings of one size that all get no answer: chance seldom does that."""


def filtered(seen: Seen, finding: Finding) -> Iterator[Footprint]:
    """Yield what a packet filter stops: what it refused with an error; where packets vanish at a node, the kinds of
    packets that get lost on the way to it, and of which none passes."""
    refused = [leg for one in finding.observed if one.fate is Fate.REFUSED for leg in one.legs]
    yield from (Footprint(how=How.STOPS, traffic=leg) for leg in refused)
    known = seen.cluster.read_networks()
    networks = (finding.network,) if finding.network else tuple(network.name for network in known)
    for to_node in () if refused else (Traffic(receivers=(n,), networks=(w,)) for n in finding.nodes for w in networks):
        kinds: list[Traffic] = []
        for kind in (to_node & kind for kind in _FILTERED):
            if not any(kind <= wider for wider in kinds) and _vanishes(seen, kind):
                kinds.append(kind)
        yield from (Footprint(how=How.STOPS, traffic=kind) for kind in kinds)


def _vanishes(seen: Seen, kind: Traffic) -> bool:
    """Return whether packets of a kind were lost, and none passed."""
    if any(leg <= kind for pair in seen.on for leg in seen.passed(pair)):
        return False
    return any(leg <= kind for loss, leg in seen.placed_losses() if loss.observation.is_total)


def smaller_mtu(seen: Seen, finding: Finding) -> Iterator[Footprint]:
    """Yield what the MTU of a node does: a NIC drops packets above its own MTU. A node with a smaller MTU than its
    network sends fragments, which pass; one with a larger MTU sends packets that the others drop."""
    network = seen.cluster.network(finding.network)
    for one in finding.observed:
        if one.fate is not Fate.STATE or not isinstance(one.value, int) or isinstance(one.value, bool):
            continue
        if finding.code in _OF_ROUTES:
            continue
        how = How.AT_TIMES if finding.code in CHANGED_CODES else How.STOPS
        own, there = Traffic(networks=(finding.network,)), (network.mtu if network else 0)
        if isinstance(there, int) and one.value > there > 0:
            yield Footprint(how=how, traffic=own & Traffic(senders=one.nodes, sizes=(there + 1, MOST)))
        else:
            yield Footprint(how=how, traffic=own & Traffic(receivers=one.nodes, sizes=(one.value + 1, MOST)))


def is_of_some_nodes(seen: Seen, finding: Finding) -> bool:
    """Return whether the MTU that changed during the run is not that of all nodes of the network."""
    network = seen.cluster.network(finding.network)
    return finding.code not in CHANGED_CODES or len(finding.nodes) < (len(network.ports) if network else 0)


_OF_ROUTES = frozenset({"IC-MTU-005", "IC-EROUTE-002", "IC-EROUTE-004", "IC-PATH-002"})
"""Findings about routes: they make the node send smaller packets, and lose none."""


def of_bond(_: Seen, finding: Finding) -> Iterator[Footprint]:
    """Yield what a bond does: without a usable member it stops all packets of its node, else some flows of them."""
    how = How.STOPS if finding.status is Status.FAIL and finding.code in _BOND_STOPS else How.FLOWS
    own = Traffic(networks=(finding.network,) if finding.network else None)
    yield Footprint(how=how, traffic=own & Traffic(receivers=among(finding.nodes)))
    yield Footprint(how=how, traffic=own & Traffic(senders=among(finding.nodes)))


_BOND_STOPS = frozenset({"IC-BOND-012", "IC-BOND-013", "IC-IFACE-045"})
