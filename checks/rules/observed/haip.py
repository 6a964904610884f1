"""What became of pings between HAIP addresses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from checks.model.facts import Cluster, HaipPath
from checks.model.observation import Fate, Observation
from checks.model.packet_sizes import SMALL_PAYLOAD, ip_version, packet_of
from checks.rules.observed.packets import route_mtu
from checks.rules.observed.pings import PING, Trip


def haip_pings(cluster: Cluster, paths: Iterable[HaipPath]) -> tuple[Observation, ...]:
    """Return what became of the small and of the full-size pings of these paths."""
    return tuple(seen for path in paths for seen in _of_path(cluster, path))


def _of_path(cluster: Cluster, path: HaipPath) -> Iterator[Observation]:
    trip = Trip(cluster, path.network, path.from_node, path.to_node, "haip")
    small = packet_of(SMALL_PAYLOAD, ip_version(path.destination_ip))
    yield from trip.answered(small, path.small_sent, path.small_answered)
    own = route_mtu(cluster, path.from_node, path.to_node, path.network, "haip")
    if path.full_sent and not path.full_answered and own is not None and own < path.mtu:
        # With Don't Fragment the kernel refuses what its own route does not carry.
        yield Observation(
            fate=Fate.REFUSED, what=PING, legs=trip.there(path.mtu), number=path.full_sent, of=path.full_sent,
            nodes=(path.from_node,), network=path.network,
        )  # fmt: skip
    else:
        yield from trip.answered(path.mtu, path.full_sent, path.full_answered)
