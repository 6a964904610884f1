"""Pseudonyms for networks: the addresses of one subnet stay in one subnet, with the same prefix length.

The known networks form a tree: each network contains its subnets. Each network has a position within the pseudonym of
its parent. The first and the last subnet of a network get the first and the last position, so that the network address
and the broadcast address keep their meaning. All pseudonyms are in ranges that no site uses: 240.0.0.0/4 (reserved,
RFC 1112) and 3fff::/20 (documentation, RFC 9637). So no pseudonym looks like a real address or is equal to one.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from checks.model.facts import IPAddress, IPNetwork

_TOO_MANY = (
    "There are more networks than pseudonyms for them: share a report of fewer checks, or specify another mapping with "
    "--redaction-map FILE."
)


class RedactionError(Exception):
    """Names and addresses cannot be replaced. The text contains the reason and the next step."""


@dataclass
class _Network:
    start: int
    length: int
    pseudonym: int
    subnets: list[_Network] = field(default_factory=list)

    def descendants(self) -> Iterator[_Network]:
        for subnet in self.subnets:
            yield subnet
            yield from subnet.descendants()


@dataclass(frozen=True)
class _Family:
    """The differences between IPv4 and IPv6."""

    bits: int
    range: str
    """All pseudonyms are in this network."""
    levels: tuple[int, ...]
    """Prefix lengths of the networks that exist for every address, known or not: a network that is learned later then
    changes nothing."""
    reserved: tuple[str, ...] = ()
    """Large networks that have a position from the start."""
    excluded: tuple[str, ...] = ()
    """The parts of the range that have another meaning."""

    @property
    def leaf(self) -> int:
        return self.levels[-1]


SHORTEST = {4: 8, 6: 21}
"""Prefix length of the largest network that a site can own. A larger one is a part of the Internet and is not
replaced."""
_FAMILIES = {
    4: _Family(32, "240.0.0.0/4", (16, 24), ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"), ("255.0.0.0/8",)),
    6: _Family(128, "3fff::/20", (48, 64)),
}


class NetworkPseudonyms:
    """The networks of one family (4 or 6) and their pseudonyms."""

    def __init__(self, version: int, originals: Iterable[IPAddress] = ()) -> None:
        """Create the tree. No pseudonym contains one of `originals`."""
        self._family = _FAMILIES[version]
        self._version = version
        whole = ipaddress.ip_network(self._family.range)
        self._root = _Network(0, 0, 0)
        self._range = (int(whole.network_address), whole.prefixlen)
        excluded = map(_parsed, self._family.excluded)
        self._taken = [(int(n.network_address), int(n.broadcast_address) + 1) for n in excluded]
        for address in originals:
            if address.version == version:
                self.avoid(address)
        self._reserved = [ipaddress.ip_network(text) for text in self._family.reserved]
        self.retired: list[tuple[IPNetwork, IPNetwork]] = []
        """Each network whose pseudonym was replaced, with the old pseudonym."""

    def avoid(self, address: IPAddress) -> None:
        """Assign no further pseudonym that contains this address, which is an original."""
        base, bits = self._range
        if self._network_address(int(address), bits) == base:
            self._taken.append((int(address), int(address) + 1))

    def load(self, pairs: Iterable[tuple[IPNetwork, IPNetwork]]) -> None:
        """Restore pseudonyms that were assigned earlier.

        Raises ValueError where a network cannot have that pseudonym.
        """
        for network, pseudonym in sorted(pairs, key=lambda pair: pair[0].prefixlen):
            start, length = int(network.network_address), network.prefixlen
            parent = self._smallest_containing(start, length)
            position = int(pseudonym.network_address)
            size = 1 << (self._family.bits - length)
            base, bits = self._pseudonym_of(parent)
            inside = pseudonym.prefixlen == length and base <= position < base + (1 << (self._family.bits - bits))
            free = all(
                position + size <= n.pseudonym or n.pseudonym + self._size(n) <= position for n in parent.subnets
            )
            if not inside or not free or parent.length == length:
                raise ValueError(f"{pseudonym} cannot be the pseudonym of {network}")
            parent.subnets.append(_Network(start, length, position))

    def pairs(self) -> Iterator[tuple[IPNetwork, IPNetwork]]:
        """Yield all networks with their pseudonyms, sorted by address."""
        for network in sorted(self._root.descendants(), key=lambda n: (n.start, n.length)):
            original = self._ip_network(network.start, network.length)
            yield original, self._ip_network(network.pseudonym, network.length)

    def add(self, network: IPNetwork) -> None:
        """Assign a pseudonym to a network, unless it is a part of the Internet.

        Raises RedactionError where no pseudonym is free.
        """
        if network.prefixlen >= SHORTEST[self._version]:
            length = min(network.prefixlen, self._family.leaf)
            self._ensure(self._network_address(int(network.network_address), length), length)

    def pseudonym(self, address: int) -> int:
        """Return the pseudonym of the leaf network of an address: the host bits (8 of IPv4, 64 of IPv6) are 0.

        Raises RedactionError where no pseudonym is free.
        """
        return self._ensure(self._network_address(address, self._family.leaf), self._family.leaf).pseudonym

    def is_known(self, address: int) -> bool:
        """Whether the leaf network of the address has a pseudonym."""
        return self._smallest_containing(address, self._family.leaf).length == self._family.leaf

    def _ensure(self, start: int, length: int) -> _Network:
        """Return the network; add it, with the networks of all levels that contain it, where it is new."""
        parent = self._smallest_containing(start, length)
        if parent.length == length:
            return parent
        for level in self._levels(start, length):
            self._insert(self._network_address(start, level), level)
        return self._insert(start, length)

    def _levels(self, start: int, length: int) -> list[int]:
        address = self._ip_network(start, self._family.bits).network_address
        reserved = [n.prefixlen for n in self._reserved if address in n]
        return sorted({level for level in (*reserved, *self._family.levels) if level < length})

    def _insert(self, start: int, length: int) -> _Network:
        parent = self._smallest_containing(start, length)
        if parent.length == length:
            return parent
        network = _Network(start, length, 0)
        inside = [n for n in parent.subnets if self._network_address(n.start, length) == start]
        self._remove(parent, inside)
        displaced = self._assign(parent, network)
        parent.subnets.append(network)
        for old in sorted((*inside, *displaced), key=lambda n: n.length):
            self._insert_again(old)
        return network

    def _assign(self, parent: _Network, network: _Network) -> list[_Network]:
        """Assign the network's pseudonym. Return the networks that were removed to make room."""
        base, bits = self._pseudonym_of(parent)
        size, last = self._size(network), (1 << (network.length - bits)) - 1
        index = (network.start - parent.start) // size
        if parent is not self._root and index in (0, last):
            network.pseudonym = base + index * size
            overlapping = [n for n in parent.subnets if self._overlap(n, network)]
            self._remove(parent, overlapping)
            return overlapping
        first = base if parent is self._root else base + size
        taken = sorted([*((n.pseudonym, n.pseudonym + self._size(n)) for n in parent.subnets), *self._taken])
        position = _first_free(first, size, taken)
        if position + size > base + last * size:
            return self._make_room(parent, network)
        network.pseudonym = position
        return []

    def _make_room(self, parent: _Network, network: _Network) -> list[_Network]:
        """Assign all pseudonyms again, the largest network first, so that they fit. Return the removed networks."""
        others = parent.subnets
        smaller = [n for n in others if n.length > network.length]
        if parent is self._root or not smaller:
            raise RedactionError(_TOO_MANY)
        parent.subnets = []
        for old in sorted((n for n in others if n.length <= network.length), key=lambda n: n.length):
            self._insert_again(old)
        return [*self._assign(parent, network), *smaller]

    def _insert_again(self, old: _Network) -> None:
        """Insert a removed network again, with its subnets, and record each pseudonym that changes."""
        for network in (old, *old.descendants()):
            inserted = self._ensure(network.start, network.length)
            if inserted.pseudonym != network.pseudonym:
                original = self._ip_network(network.start, network.length)
                self.retired.append((original, self._ip_network(network.pseudonym, network.length)))

    @staticmethod
    def _remove(parent: _Network, networks: list[_Network]) -> None:
        parent.subnets = [n for n in parent.subnets if not any(n is removed for removed in networks)]

    def _smallest_containing(self, start: int, length: int) -> _Network:
        """Return the smallest known network that contains the network; the network itself where it is known."""
        network = self._root
        while True:
            for subnet in network.subnets:
                if subnet.length <= length and self._network_address(start, subnet.length) == subnet.start:
                    network = subnet
                    break
            else:
                return network

    def _pseudonym_of(self, network: _Network) -> tuple[int, int]:
        return self._range if network is self._root else (network.pseudonym, network.length)

    def _overlap(self, one: _Network, other: _Network) -> bool:
        return one.pseudonym < other.pseudonym + self._size(other) and other.pseudonym < one.pseudonym + self._size(one)

    def _size(self, network: _Network) -> int:
        return 1 << (self._family.bits - network.length)

    def _network_address(self, address: int, length: int) -> int:
        """Return the address of the network of this prefix length that contains the address."""
        host_bits = self._family.bits - length
        return address >> host_bits << host_bits

    def _ip_network(self, start: int, length: int) -> IPNetwork:
        network_type = ipaddress.IPv4Network if self._version == 4 else ipaddress.IPv6Network
        return network_type((start, length))


def _first_free(position: int, size: int, taken: list[tuple[int, int]]) -> int:
    """Return the first free position of this size, from `position` on."""
    for start, end in taken:
        if position + size <= start:
            break
        if end > position:
            position = -(-end // size) * size
    return position


def _parsed(text: str) -> IPNetwork:
    return ipaddress.ip_network(text)
