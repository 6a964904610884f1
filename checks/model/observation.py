"""What a finding saw, as data: packets and what became of them, counters that moved at a place, states read there.

Findings carry observations; the diagnosis reads them, and never a sentence.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from checks.model.condition import ConditionKind
from checks.model.traffic import Traffic

OF_RACWIRE = ("ping", "datagram", "fragments")
"""What racwire itself sends: the loss of one shows the path itself, not a program at its end."""


class Fate(StrEnum):
    """What was observed."""

    PASSED = "passed"
    """Each of these packets passed, on all of its legs."""
    LOST = "lost"
    """Some of these packets, or all, were lost on one of their legs, without an answer."""
    DELAYED = "delayed"
    """These packets took too long."""
    REFUSED = "refused"
    """A kernel, a filter or a router refused these packets with an error; they were not lost on the way."""
    COUNTED = "counted"
    """A counter moved at a place: packets arrived there, or were dropped there."""
    STATE = "state"
    """A value was read at a place; no packets."""


class Observation(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that a check saw."""

    fate: Fate
    what: str
    """What was sent (`ping`, `datagram`, `fragments`, `block`, `message`, `heartbeat`), or the name of the counter
    (`Udp.RcvbufErrors`) or of the state (`mtu`)."""
    legs: tuple[Traffic, ...] = ()
    """The ways that one packet takes in turn: a ping goes there and comes back; a datagram that the sender cuts is its
    fragments. Sizes are those on the wire. Of a counter, the packets that it counts. Empty for a state."""
    number: int = 0
    """The packets that passed, were lost, or were counted."""
    of: int | None = None
    """The packets that were sent; None where that is not known. Of those that PASSED, more than `number` where it is
    not known what became of the others."""
    nodes: tuple[str, ...] = ()
    """The place of a counter or a state."""
    network: str = ""
    nic: str = ""
    value: str | int | float | bool | None = None
    """The value of a state; the name of the instance, where its condition is one of an instance."""
    condition: ConditionKind | None = None
    """The condition of the place that this state shows to be bad, where samples or a change can show it too."""

    @property
    def is_loss(self) -> bool:
        """Whether packets were lost or late: a cause must cover it."""
        return self.fate in (Fate.LOST, Fate.DELAYED)

    @property
    def is_total(self) -> bool:
        """Whether none of these packets passed."""
        return self.of is not None and self.number >= self.of
