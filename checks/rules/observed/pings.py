"""What became of pings: of each size there and back, and of the sizes at the limit of a path.

A ping goes there whole, since it has Don't Fragment set. The answer is as large, and the kernel that answers cuts it as
any other datagram.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from checks.model.facts import Cluster, Leg, PathProbe, PingSeries
from checks.model.observation import Fate, Observation
from checks.model.packet_sizes import packet_of
from checks.model.traffic import Address, Traffic
from checks.rules.observed.packets import legs

PING = "ping"


@dataclass(frozen=True, slots=True)
class Trip:
    """The way of pings from a node to another and back on a private network, between addresses of one kind."""

    cluster: Cluster
    network: str
    sender: str
    receiver: str
    address: Address = "private"

    def there(self, wire_bytes: int) -> tuple[Traffic, ...]:
        """Return the packet of a request."""
        return self._legs(self.sender, self.receiver, wire_bytes, df=True)

    def back(self, wire_bytes: int) -> tuple[Traffic, ...]:
        """Return the packets of its answer."""
        return self._legs(self.receiver, self.sender, wire_bytes, df=False)

    def both(self, wire_bytes: int) -> tuple[Traffic, ...]:
        """Return the packets of a request and of its answer."""
        return (*self.there(wire_bytes), *self.back(wire_bytes))

    def _legs(self, sender: str, receiver: str, wire_bytes: int, *, df: bool) -> tuple[Traffic, ...]:
        return legs(
            self.cluster, sender, receiver, self.network, wire_bytes,
            df=df, addresses=(self.address,), protocols=("icmp",), ends=("kernel",),
        )  # fmt: skip

    def answered(self, wire_bytes: int, sent: int, received: int) -> Iterator[Observation]:
        """Yield what became of pings of one size that met no error: all passed, or some were lost on either leg."""
        if sent > 0:
            lost = max(0, sent - received)
            fate = Fate.LOST if lost else Fate.PASSED
            yield Observation(fate=fate, what=PING, legs=self.both(wire_bytes), number=lost or sent, of=sent)


def pings(cluster: Cluster, paths: Iterable[PathProbe]) -> tuple[Observation, ...]:
    """Return what became of the pings of these paths, by size; sizes above the MTU of the network are left out."""
    return tuple(seen for path in paths for seen in _of_path(cluster, path))


def _of_path(cluster: Cluster, path: PathProbe) -> Iterator[Observation]:
    trip = Trip(cluster, path.network, path.from_node, path.to_node)
    sized = [(packet_of(series.payload, path.version), series) for series in path.series]
    limits = [mtu for series in path.series for mtu in (series.local_mtu, series.too_big_mtu) if mtu]
    limit = min(limits, default=path.expected_mtu)
    for wire_bytes, series in (*sized, *_at_the_limit(path, [size for size, _ in sized])):
        if wire_bytes <= path.expected_mtu:
            yield from _of_series(trip, path, series, wire_bytes, is_above=wire_bytes > limit)


def _at_the_limit(path: PathProbe, sizes: list[int]) -> Iterator[tuple[int, PingSeries]]:
    """Yield the result of the search for the path MTU where the path does not have its series: at least one ping of
    this size was answered, and at least one that is a byte larger was lost."""
    limit = path.path_mtu
    searched = any(min(sizes) < size < path.expected_mtu for size in sizes)
    if isinstance(limit, int) and limit < path.expected_mtu and not searched:
        for size, answered in ((limit, 1), (limit + 1, 0)):
            if size not in sizes:
                yield size, PingSeries(size - packet_of(0, path.version), 1, answered)


def _of_series(
    trip: Trip, path: PathProbe, series: PingSeries, wire_bytes: int, *, is_above: bool
) -> Iterator[Observation]:
    """Yield what became of the pings of one size. `is_above`: of a size that a kernel or a router of the path refuses.

    The kernel of the sender reports "unreachable" where no host answered its ARP requests: that is silence on the way
    there. The same report of another host is a refusal.
    """
    if series.sent <= 0:
        return
    lost = series.sent - series.received
    by_router = series.too_big_mtu is not None or series.unreachable_from not in ("", path.source_ip)
    if is_above and not series.received and not by_router:
        yield _refused(trip, wire_bytes, series.sent, by=(path.from_node,) if _is_own_limit(path) else ())
    elif by_router and lost:
        at = series.unreachable_from or series.too_big_from
        by = (path.to_node,) if at == path.destination_ip else ()
        yield _refused(trip, wire_bytes, lost, of=series.sent, by=by, address=at)
    elif series.refused_locally:
        yield _refused(trip, wire_bytes, series.refused_locally, of=series.sent, by=(path.from_node,))
        yield from trip.answered(wire_bytes, series.sent - series.refused_locally, series.received)
    elif series.unreachable_from and lost:
        yield Observation(fate=Fate.LOST, what=PING, legs=trip.there(wire_bytes), number=lost, of=series.sent)
    elif series.errors and not series.received:
        yield _refused(trip, wire_bytes, series.sent)
    elif lost >= series.sent and wire_bytes == path.expected_mtu and path.lost_leg is not Leg.UNKNOWN:
        yield from _on_known_leg(trip, path.lost_leg, wire_bytes, series.sent)
    else:
        yield from trip.answered(wire_bytes, series.sent, series.received)


def _on_known_leg(trip: Trip, leg: Leg, wire_bytes: int, sent: int) -> Iterator[Observation]:
    """Yield the loss of all full-size pings on the leg that the count of their target shows.

    Where both directions lose them, those of this path were lost on the way there. Where the answers are lost, the
    target counted the requests, a few of which may be of others: one at least arrived.
    """
    if leg is Leg.REPLY:
        yield Observation(fate=Fate.PASSED, what=PING, legs=trip.there(wire_bytes), number=1, of=1)
    lost_on = trip.back(wire_bytes) if leg is Leg.REPLY else trip.there(wire_bytes)
    yield Observation(fate=Fate.LOST, what=PING, legs=lost_on, number=sent, of=sent)


def _refused(
    trip: Trip, wire_bytes: int, number: int, *, of: int = 0, by: tuple[str, ...] = (), address: str = ""
) -> Observation:
    return Observation(
        fate=Fate.REFUSED, what=PING, legs=trip.there(wire_bytes), number=number, of=of or number,
        nodes=by, network=trip.network, value=address or None,
    )  # fmt: skip


def _is_own_limit(path: PathProbe) -> bool:
    return all(series.too_big_mtu is None for series in path.series)
