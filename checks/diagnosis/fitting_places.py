"""What was read of a place decides which causes can be there: what is below its NICs, how short its paths are."""

from __future__ import annotations

from collections.abc import Iterator

from checks.diagnosis.cause import Fit
from checks.diagnosis.seen import Seen
from checks.model.facts import PathProbe, PrivateNetwork, Unknown
from checks.model.finding import FAULTS
from checks.model.hypothesis import Place
from checks.rules.below_nics import Below, below
from checks.rules.tunnels import STANDARD_MTU, missing_bytes, mtu_below, tunnels_of
from checks.rules.unanswered_pings import hears_alone

HAIP_VANISHES = "IC-HAIP-010"
"""The finding about HAIP addresses of which the private addresses of the same ports answer."""


def below_nics(seen: Seen, place: Place) -> Fit:
    """Return whether a hypervisor, a cloud or a container host can be below a NIC of a place. A node that hears its
    peers, while none hears it, points to it: such filters look at what a node sends."""
    ends = [(network, node) for network in _networks(seen, place) for node in (*place.nodes, *place.to)]
    layers = {below(seen.cluster, network, node) for network, node in ends} - {Below.CABLE}
    if not layers:
        return Fit.NOT
    if layers == {Below.NOT_KNOWN}:
        return Fit.LESS
    alone = len(place.nodes) == 1 and not place.to
    return Fit.MORE if alone and any(hears_alone(seen.cluster, *end) for end in ends) else Fit.AS_ANY


def in_tunnel(seen: Seen, place: Place) -> Fit:
    """Return whether the headers of a tunnel explain how short the paths of a place are."""
    return Fit.MORE if tunnels_of(_short_paths(seen, place)) else Fit.NOT


def on_switch(seen: Seen, place: Place) -> Fit:
    """Return whether the MTU of a switch can explain how short the paths of a place are: no switch carries less than
    the standard MTU, and a tunnel does."""
    paths = _short_paths(seen, place)
    is_standard = bool(paths) and all(mtu_below(path) <= STANDARD_MTU for path in paths)
    return Fit.NOT if is_standard and tunnels_of(paths) else Fit.AS_ANY


def of_haip(seen: Seen, place: Place) -> Fit:
    """Return whether packets between HAIP addresses vanish at a place for no reason but their addresses."""
    nodes = {*place.nodes, *place.to}
    found = [f for f in seen.findings if f.code == HAIP_VANISHES and f.status in FAULTS]
    at_place = (f.network in place.networks and (not nodes or not nodes.isdisjoint(f.nodes)) for f in found)
    return Fit.AS_ANY if any(at_place) else Fit.NOT


def without_counts(seen: Seen, place: Place) -> Fit:
    """Return whether packets without a buffer can be lost at a node, since the counters of its NICs were not read:
    where they were, such a loss is a finding."""
    changes = seen.cluster.counters
    read = () if isinstance(changes, Unknown) else [c for c in changes.nodes if not isinstance(c.machine.nics, Unknown)]
    return Fit.NOT if set(place.nodes) <= {change.node for change in read} else Fit.AS_ANY


_UNSETTLED = frozenset({"failed", "incomplete"})


def arp_unsettled(seen: Seen, place: Place) -> Fit:
    """Return whether a neighbour entry between two private addresses, one of them of a place, had no answer: where some
    packets pass, ARP is answered at times."""
    nodes = {*place.nodes, *place.to}
    at_place = (
        entry.state in _UNSETTLED and entry.ip == port.ip
        for network in _networks(seen, place)
        for node in seen.cluster.read_nodes()
        for port in network.ports
        if port.node != node.name and len(nodes & {node.name, port.node}) == (2 if place.to else 1)
        for entry in node.neighbours
    )
    return Fit.AS_ANY if any(at_place) else Fit.NOT


def _networks(seen: Seen, place: Place) -> Iterator[PrivateNetwork]:
    yield from (network for network in seen.cluster.read_networks() if network.name in place.networks)


def _short_paths(seen: Seen, place: Place) -> list[PathProbe]:
    nodes = {*place.nodes, *place.to}
    return [
        path
        for path in seen.cluster.read_paths()
        if path.network in place.networks
        and missing_bytes(path) > 0
        and (not nodes or not nodes.isdisjoint((path.from_node, path.to_node)))
    ]
