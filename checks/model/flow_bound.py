"""What keeps flows from filling a link more than they do. The sender imports it: it needs no other module."""

from __future__ import annotations

from enum import StrEnum


class FlowBound(StrEnum):
    """What kept flows from filling a link more than they did."""

    LIMITS = "limits"
    """The share of the link that no second may exceed."""
    PACKETS = "packets"
    """The packets a second of this node."""
    CLASSES = "classes"
    """The classes, their number at the same time, and the pause between flows: they offer no more."""
    ANSWERS = "answers"
    """Flows took longer than planned, and the next of a connection waits for the end of the one before."""
    LINK = "link"
    """The same, where the link was full."""
    CPU_THERE = "cpu there"
    """The same, where the program of a peer used up a CPU."""
    CPU_HERE = "cpu here"
    """This node's program used up its share of a CPU."""
    LATE = "late"
    """This node's program did not run when a flow was due."""
    BROKEN = "broken"
    """Flows did not complete."""
