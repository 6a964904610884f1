"""What samples come from: a node, an instance, all instances, their pairs, or the pings of this node."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum


class SourceKind(StrEnum):
    """The kinds of sources of samples."""

    NODE = "node"
    INSTANCE = "instance"
    DATABASE = "database"
    """All instances together."""
    PAIRS = "pairs"
    LATENCY = "latency"
    """The pings of this node: all of them, those of a path, or those of one size on a path."""
    RACWIRE = "racwire"
    """racwire itself, as the cause of a gap."""


class SourceId:
    """A source of samples. It prints as in files and on the screen: `node rac2`, `instance prod1`, `database`."""

    __slots__ = ("_key",)

    def __init__(self, kind: SourceKind, name: str = "", network: str = "", payload: int = 0) -> None:
        """`network` and `payload`: of pings; `name` is the node that they go to."""
        self._key = kind, name, network, payload

    @classmethod
    def node(cls, name: str) -> SourceId:
        """Return the source of a node's samples."""
        return cls(SourceKind.NODE, name)

    @classmethod
    def instance(cls, name: str) -> SourceId:
        """Return the source of an instance's samples."""
        return cls(SourceKind.INSTANCE, name)

    @classmethod
    def parse(cls, text: str) -> SourceId:
        """Return the source from its text. Raises ValueError where it is none."""
        word, _, rest = text.partition(" ")
        kind = SourceKind(word)
        if kind is not SourceKind.LATENCY or not rest:
            return cls(kind, rest)
        path, _, size = rest.rpartition(" ")
        if not size.isdecimal() or " " not in path:
            path, size = rest, "0"
        network, _, node = path.rpartition(" ")
        return cls(kind, node, network, int(size))

    @property
    def kind(self) -> SourceKind:
        """What the source is."""
        return self._key[0]

    @property
    def name(self) -> str:
        """The name of the node or the instance; the node that is pinged; empty for a source without a name."""
        return self._key[1]

    @property
    def network(self) -> str:
        """The network of the pings; empty for those of all networks."""
        return self._key[2]

    @property
    def is_of_database(self) -> bool:
        """Whether its samples come from views of the database."""
        return self.kind in (SourceKind.INSTANCE, SourceKind.DATABASE, SourceKind.PAIRS)

    @property
    def short(self) -> str:
        """The text without the kind, where it has a name: `rac2`, `database`."""
        return " ".join(self._words()) or self.kind.value

    def renamed(self, change: Callable[[str], str]) -> SourceId:
        """Return the source with other names."""
        kind, name, network, payload = self._key
        return SourceId(kind, name and change(name), network and change(network), payload)

    def _words(self) -> list[str]:
        _, name, network, payload = self._key
        return [word for word in (network, name, str(payload or "")) if word]

    def __str__(self) -> str:
        return " ".join((self.kind.value, *self._words()))

    def __repr__(self) -> str:
        return f"SourceId.parse({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, SourceId) and self._key == other._key)

    def __lt__(self, other: SourceId) -> bool:
        return self._key < other._key

    def __hash__(self) -> int:
        return hash(self._key)


DATABASE = SourceId(SourceKind.DATABASE)
PAIRS = SourceId(SourceKind.PAIRS)
ALL_PINGS = SourceId(SourceKind.LATENCY)
"""All pings of this node."""
BY_RACWIRE = SourceId(SourceKind.RACWIRE)
"""The cause of a gap in which racwire itself took no sample: nothing is wrong with the source."""
