"""Sets of packets: the vocabulary in which observations, footprints of causes and exclusions are compared.

A `Traffic` is a box: each field is a set of values, and a packet belongs to the box if each of its values is in the
field's set. None means all values. Intersection, containment and emptiness obey the laws of sets.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Literal, TypeVar

import msgspec

from checks.model.wording import listed

Address = Literal["private", "haip", "public", "multicast"]
"""The kind of address to which a packet is sent."""
Protocol = Literal["arp", "icmp", "udp", "tcp"]
Form = Literal["whole", "fragment"]
"""Whether the packet is a whole datagram, or a fragment of one."""
End = Literal["kernel", "instance", "clusterware"]
"""Who takes the packet at the receiver: the kernel answers pings, and datagrams to closed ports."""

_Value = TypeVar("_Value")

MOST = 65_535
"""The largest IP packet, in bytes."""
SMALL = 576
"""A packet that every path carries (RFC 791, 3.1), in bytes; larger ones are called full-size."""
_ALL_SIZES = (0, MOST)
"""A single object, so that traffic of all sizes is written without them."""


class Traffic(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A set of packets. Sizes are bytes of the IP packet on the wire, its header included; both ends belong to them."""

    networks: tuple[str, ...] | None = None
    """Names of private networks."""
    senders: tuple[str, ...] | None = None
    """Nodes."""
    receivers: tuple[str, ...] | None = None
    addresses: tuple[Address, ...] | None = None
    protocols: tuple[Protocol, ...] | None = None
    forms: tuple[Form, ...] | None = None
    ends: tuple[End, ...] | None = None
    ports: tuple[int, ...] | None = None
    """Source ports: a link aggregation chooses a link by them."""
    sizes: tuple[int, int] = _ALL_SIZES
    times: tuple[float, float] | None = None
    """The first and the last second, since 1970; None is the time of the run as a whole."""

    def __post_init__(self) -> None:
        """Replace all sizes by the single object for them."""
        if self.sizes == _ALL_SIZES:
            msgspec.structs.force_setattr(self, "sizes", _ALL_SIZES)

    def __and__(self, other: Traffic) -> Traffic:
        """Return the packets that belong to both."""
        if self == other:
            return self
        return Traffic(
            networks=_both(self.networks, other.networks),
            senders=_both(self.senders, other.senders),
            receivers=_both(self.receivers, other.receivers),
            addresses=_both(self.addresses, other.addresses),
            protocols=_both(self.protocols, other.protocols),
            forms=_both(self.forms, other.forms),
            ends=_both(self.ends, other.ends),
            ports=_both(self.ports, other.ports),
            sizes=(max(self.sizes[0], other.sizes[0]), min(self.sizes[1], other.sizes[1])),
            times=_overlap(self.times, other.times),
        )

    def __le__(self, other: Traffic) -> bool:
        """Return whether each packet of this set belongs to the other, too."""
        is_within = (
            (other.networks is None or _within(self.networks, other.networks))
            and (other.senders is None or _within(self.senders, other.senders))
            and (other.receivers is None or _within(self.receivers, other.receivers))
            and (other.addresses is None or _within(self.addresses, other.addresses))
            and (other.protocols is None or _within(self.protocols, other.protocols))
            and (other.forms is None or _within(self.forms, other.forms))
            and (other.ends is None or _within(self.ends, other.ends))
            and (other.ports is None or _within(self.ports, other.ports))
            and other.sizes[0] <= self.sizes[0]
            and self.sizes[1] <= other.sizes[1]
            and (other.times is None or _spans(other.times, self.times))
        )
        return is_within or not self

    @property
    def of_any_size(self) -> Traffic:
        """The same packets of all sizes."""
        return msgspec.structs.replace(self, sizes=_ALL_SIZES)

    def __bool__(self) -> bool:
        """Return whether any packet can belong to the set."""
        return (
            self.sizes[0] <= self.sizes[1]
            and (self.times is None or self.times[0] <= self.times[1])
            and () not in (self.networks, self.senders, self.receivers, self.addresses, self.protocols)
            and () not in (self.forms, self.ends, self.ports)
        )

    def meets(self, other: Traffic) -> bool:
        """Return whether any packet belongs to both."""
        return (
            self.sizes[0] <= other.sizes[1]
            and other.sizes[0] <= self.sizes[1]
            and _touch(self.networks, other.networks)
            and _touch(self.senders, other.senders)
            and _touch(self.receivers, other.receivers)
            and _touch(self.addresses, other.addresses)
            and _touch(self.protocols, other.protocols)
            and _touch(self.forms, other.forms)
            and _touch(self.ends, other.ends)
            and _touch(self.ports, other.ports)
            and bool(self)
            and bool(other)
            and _overlap(self.times, other.times) != _NEVER
        )

    @property
    def text(self) -> str:
        """The set in a few words: `UDP packets above 1500 bytes from rac2 to rac3 on 192.168.11.0/24`."""
        what = [self._what]
        if self.ends is not None and self.ends != ("kernel",):
            what.append(f"of {listed(_ENDS[one] for one in self.ends)}")
        if self.senders is not None:
            what.append(f"from {listed(self.senders)}")
        if self.receivers is not None:
            what.append(f"to {listed(self.receivers)}")
        if self.addresses is not None:
            what.append(listed(_between(self.addresses)))
        if self.ports is not None:
            what.append(f"of {len(self.ports)} source ports")
        if self.networks is not None:
            what.append(f"on {listed(self.networks)}")
        return " ".join(what)

    @property
    def _what(self) -> str:
        kind = listed(_PROTOCOLS[one] for one in self.protocols) if self.protocols else "packets"
        if self.forms == ("fragment",):
            kind = f"fragments of {kind}" if self.protocols else "fragments"
        least, most = self.sizes
        if least > 1 and most >= MOST:
            return f"{kind} above {least - 1} bytes"
        if least > 0 or most < MOST:
            return f"{kind} of {least:,} bytes" if least == most else f"{kind} of {least:,} to {most:,} bytes"
        return kind


_ADDRESSES = {"private": "private", "haip": "HAIP", "public": "public"}
_PROTOCOLS = {"arp": "ARP packets", "icmp": "pings", "udp": "UDP packets", "tcp": "TCP packets"}
_ENDS = {"kernel": "kernels", "instance": "instances", "clusterware": "Clusterware"}
_NEVER = (1.0, 0.0)


def among(values: Iterable[str]) -> tuple[str, ...]:
    """Return the values as a field of a Traffic: sorted, each once."""
    return tuple(sorted(set(values)))


def _between(addresses: Collection[Address]) -> Iterator[str]:
    if of_hosts := [_ADDRESSES[one] for one in addresses if one in _ADDRESSES]:
        yield f"between {listed(of_hosts)} addresses"
    if "multicast" in addresses:
        yield "to multicast addresses"


def _both(one: tuple[_Value, ...] | None, other: tuple[_Value, ...] | None) -> tuple[_Value, ...] | None:
    if one is None or other is None:
        return other if one is None else one
    return one if one == other else tuple(value for value in one if value in other)


def _within(one: tuple[_Value, ...] | None, other: tuple[_Value, ...]) -> bool:
    return one is not None and (one == other or all(value in other for value in one))


def _touch(one: tuple[_Value, ...] | None, other: tuple[_Value, ...] | None) -> bool:
    return one is None or other is None or one == other or any(value in other for value in one)


def _overlap(one: tuple[float, float] | None, other: tuple[float, float] | None) -> tuple[float, float] | None:
    if one is None or other is None:
        return other if one is None else one
    both = max(one[0], other[0]), min(one[1], other[1])
    return both if both[0] <= both[1] else _NEVER


def _spans(whole: tuple[float, float], part: tuple[float, float] | None) -> bool:
    return part is not None and whole[0] <= part[0] and part[1] <= whole[1]
