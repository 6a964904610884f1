"""A condition of the cluster that is well or bad at a place: a link, a path, the answers of a node, lost blocks.

Runs, gates, events and samples read conditions; the situation of a moment (`checks.situation`) says what holds of each.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class ConditionKind(StrEnum):
    """What is well or bad."""

    NODE = "node"
    """A node answers."""
    STACK = "stack"
    """Clusterware runs on a node."""
    INSTANCE = "instance"
    """An instance answers; `item` is its name."""
    DATABASE = "database"
    """The query of all instances answers."""
    LINK = "link"
    """A private interface has a link; `item` is its name."""
    SPEED = "speed"
    MTU = "mtu"
    PATH = "path"
    """Packets pass from a node to a peer; `item` is the private network."""
    LOST_BLOCKS = "lost blocks"
    REASSEMBLY = "reassembly"
    RECEIVE_BUFFERS = "receive buffers"
    CHECKSUMS = "checksums"
    BACKLOG = "backlog"
    NIC_DROPS = "NIC drops"
    NIC_ERRORS = "NIC errors"
    SETUP = "setup"
    """Everything else that is read on a node: settings, files, logs."""

    @property
    def is_counted(self) -> bool:
        """Whether a counter shows it, which covers a time: it may have stopped at any moment of that time."""
        return self in _COUNTED

    @property
    def is_silence(self) -> bool:
        """Whether it is bad while something does not answer, of which nothing is known then."""
        return self in (ConditionKind.NODE, ConditionKind.INSTANCE, ConditionKind.DATABASE)


_COUNTED = frozenset(
    {
        ConditionKind.LOST_BLOCKS,
        ConditionKind.REASSEMBLY,
        ConditionKind.RECEIVE_BUFFERS,
        ConditionKind.CHECKSUMS,
        ConditionKind.BACKLOG,
        ConditionKind.NIC_DROPS,
        ConditionKind.NIC_ERRORS,
    }
)


class Condition(NamedTuple):
    """A condition at a place. An empty node stands for every node, an empty item for every item."""

    kind: ConditionKind
    node: str = ""
    item: str = ""
    """The interface, the instance, or the private network of a path."""
    peer: str = ""
    """The other end of a path."""
