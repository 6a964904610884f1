"""Pseudonyms for networks: addresses of one subnet stay in one subnet, with the same prefix length.

Known networks form a tree by what lies within what; each has a place within the image of the one around it. The first
and the last place go to the first and the last one, so that the network's own address stays its network's address and
its broadcast address stays that. All images are in ranges that no site uses: 240.0.0.0/4 (reserved, RFC 1112) and
3fff::/20 (documentation, RFC 9637), so that a pseudonym cannot be mistaken for an address, nor meet one.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from checks.model.facts import IPAddress, IPNetwork

_TOO_MANY = (
    "There are more networks in it than there are pseudonyms for; hand on a report of fewer checks, or give this one a "
    "mapping of its own with --redaction-map FILE."
)


class RedactionError(Exception):
    """Names and addresses cannot be replaced. The text says why and what to do."""


@dataclass
class _Block:
    start: int
    length: int
    image: int
    inner: list[_Block] = field(default_factory=list)

    def walk(self) -> Iterator[_Block]:
        for block in self.inner:
            yield block
            yield from block.walk()


@dataclass(frozen=True)
class _Family:
    """What differs between IPv4 and IPv6."""

    bits: int
    root: str
    levels: tuple[int, ...]
    """Every address lies in networks of these lengths too, known or not: so those learnt later change nothing."""
    reserved: tuple[str, ...] = ()
    """Large networks, which have their own place from the start."""
    not_given: tuple[str, ...] = ()
    """Of the images, what means something else."""

    @property
    def leaf(self) -> int:
        return self.levels[-1]


SHORTEST = {4: 8, 6: 21}
"""Prefix length of the largest network that is one's own: a larger one is a part of the Internet, and stays."""
_FAMILIES = {
    4: _Family(32, "240.0.0.0/4", (16, 24), ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"), ("255.0.0.0/8",)),
    6: _Family(128, "3fff::/20", (48, 64)),
}


class Blocks:
    """The networks of one family (4 or 6) and their images."""

    def __init__(self, version: int, originals: Iterable[IPAddress] = ()) -> None:
        self._family = _FAMILIES[version]
        self._version = version
        root = ipaddress.ip_network(self._family.root)
        self._root = _Block(0, 0, 0)
        self._image_root = (int(root.network_address), root.prefixlen)
        not_given = map(_parsed, self._family.not_given)
        self._taken = [(int(n.network_address), int(n.broadcast_address) + 1) for n in not_given]
        for address in originals:
            if address.version == version:
                self.avoid(address)
        self._reserved = [ipaddress.ip_network(text) for text in self._family.reserved]
        self.moved: list[tuple[IPNetwork, IPNetwork]] = []
        """Images that were replaced, with the network of each."""

    def avoid(self, address: IPAddress) -> None:
        """No image assigned from now on holds this one, which is an original."""
        base, bits = self._image_root
        if self._cut(int(address), bits) == base:
            self._taken.append((int(address), int(address) + 1))

    def load(self, pairs: Iterable[tuple[IPNetwork, IPNetwork]]) -> None:
        """Restore images that were assigned earlier. Raises ValueError where one cannot be an image of its network."""
        for network, image in sorted(pairs, key=lambda pair: pair[0].prefixlen):
            start, length = int(network.network_address), network.prefixlen
            around = self._around(start, length)
            place = int(image.network_address)
            size = 1 << (self._family.bits - length)
            base, bits = self._image_of(around)
            inside = image.prefixlen == length and base <= place < base + (1 << (self._family.bits - bits))
            free = all(place + size <= b.image or b.image + self._size(b) <= place for b in around.inner)
            if not inside or not free or around.length == length:
                raise ValueError(f"{image} cannot stand for {network}")
            around.inner.append(_Block(start, length, place))

    def pairs(self) -> Iterator[tuple[IPNetwork, IPNetwork]]:
        """All networks with their images, in order."""
        for block in sorted(self._root.walk(), key=lambda b: (b.start, b.length)):
            yield self._network(block.start, block.length), self._network(block.image, block.length)

    def learn(self, network: IPNetwork) -> None:
        """Assign a place to a network, if it belongs to the site."""
        if network.prefixlen >= SHORTEST[self._version]:
            length = min(network.prefixlen, self._family.leaf)
            self._ensure(self._cut(int(network.network_address), length), length)

    def image(self, address: int) -> int:
        """The image of the leaf network that the address lies in: what lies below it (a byte of IPv4, 64 bits of IPv6)
        is 0."""
        return self._ensure(self._cut(address, self._family.leaf), self._family.leaf).image

    def is_known(self, address: int) -> bool:
        """Whether the address lies in a network that has a place."""
        return self._around(address, self._family.leaf).length == self._family.leaf

    def _ensure(self, start: int, length: int) -> _Block:
        around = self._around(start, length)
        if around.length == length:
            return around
        for level in self._levels(start, length):
            self._seat(self._cut(start, level), level)
        return self._seat(start, length)

    def _levels(self, start: int, length: int) -> list[int]:
        address = self._network(start, self._family.bits).network_address
        own = [n.prefixlen for n in self._reserved if address in n]
        return sorted({level for level in (*own, *self._family.levels) if level < length})

    def _seat(self, start: int, length: int) -> _Block:
        around = self._around(start, length)
        if around.length == length:
            return around
        block = _Block(start, length, 0)
        inside = [b for b in around.inner if self._cut(b.start, length) == start]
        self._take_out(around, inside)
        displaced = self._find_place(around, block)
        around.inner.append(block)
        for old in sorted((*inside, *displaced), key=lambda b: b.length):
            self._seat_again(old)
        return block

    def _find_place(self, around: _Block, block: _Block) -> list[_Block]:
        """Set the block's image; what has to make room for it."""
        base, bits = self._image_of(around)
        size, last = self._size(block), (1 << (block.length - bits)) - 1
        index = (block.start - around.start) // size
        if around is not self._root and index in (0, last):
            block.image = base + index * size
            in_the_way = [b for b in around.inner if self._overlap(b, block)]
            self._take_out(around, in_the_way)
            return in_the_way
        first = base if around is self._root else base + size
        taken = sorted([*((b.image, b.image + self._size(b)) for b in around.inner), *self._taken])
        place = _first_free(first, size, taken)
        if place + size > base + last * size:
            return self._make_room(around, block)
        block.image = place
        return []

    def _make_room(self, around: _Block, block: _Block) -> list[_Block]:
        """Place all networks again, the largest first, so that they fit. Return the networks that are left to place."""
        others = around.inner
        smaller = [b for b in others if b.length > block.length]
        if around is self._root or not smaller:
            raise RedactionError(_TOO_MANY)
        around.inner = []
        for old in sorted((b for b in others if b.length <= block.length), key=lambda b: b.length):
            self._seat_again(old)
        return [*self._find_place(around, block), *smaller]

    def _seat_again(self, old: _Block) -> None:
        """Move a network to its sorted position, with the networks in it. A changed image is recorded."""
        for block in (old, *old.walk()):
            seated = self._ensure(block.start, block.length)
            if seated.image != block.image:
                network = self._network(block.start, block.length)
                self.moved.append((network, self._network(block.image, block.length)))

    @staticmethod
    def _take_out(around: _Block, blocks: list[_Block]) -> None:
        around.inner = [b for b in around.inner if not any(b is gone for gone in blocks)]

    def _around(self, start: int, length: int) -> _Block:
        """The smallest known network that contains the network; the network itself where it is known."""
        block = self._root
        while True:
            for inner in block.inner:
                if inner.length <= length and self._cut(start, inner.length) == inner.start:
                    block = inner
                    break
            else:
                return block

    def _image_of(self, block: _Block) -> tuple[int, int]:
        return self._image_root if block is self._root else (block.image, block.length)

    def _overlap(self, one: _Block, other: _Block) -> bool:
        return one.image < other.image + self._size(other) and other.image < one.image + self._size(one)

    def _size(self, block: _Block) -> int:
        return 1 << (self._family.bits - block.length)

    def _cut(self, address: int, length: int) -> int:
        """The address of the network of that length that an address lies in."""
        below = self._family.bits - length
        return address >> below << below

    def _network(self, start: int, length: int) -> IPNetwork:
        kind = ipaddress.IPv4Network if self._version == 4 else ipaddress.IPv6Network
        return kind((start, length))


def _first_free(place: int, size: int, taken: list[tuple[int, int]]) -> int:
    """The first free place of that size from there on."""
    for begin, until in taken:
        if place + size <= begin:
            break
        if until > place:
            place = -(-until // size) * size
    return place


def _parsed(text: str) -> IPNetwork:
    return ipaddress.ip_network(text)
