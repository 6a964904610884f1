"""How the packets of a bond divide among its members in each direction: from counters to a status."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from checks.model.facts import Bond, CounterGroup
from checks.model.finding import Status

LEAST_PACKETS = 1000
"""Packets of a direction in the interval below which its division says nothing. The limit was chosen by racwire."""
MOST = 0.9
"""The share of one member from which a direction is one-sided. The limit was chosen by racwire; the bond of
Kundersma's measurement had over 99 % of each direction on one member."""
_RECEIVES_ON_ONE = "transmit load balancing"
"""The driver's term for balance-tlb, which receives through one member by design."""


@dataclass(frozen=True)
class Balance:
    """The packets of each member of a bond in an interval, and what they mean."""

    sent: Mapping[str, int]
    received: Mapping[str, int]
    status: Status
    sends_on: str = ""
    """The member that sends nearly all packets; empty where several do."""
    receives_on: str = ""

    @property
    def is_one_sided(self) -> bool:
        """Whether one member sends nearly all packets, and another one receives nearly all."""
        return bool(self.sends_on and self.receives_on) and self.sends_on != self.receives_on

    def share(self, member: str, *, is_sent: bool) -> float:
        """Return the share of a member in one direction, in percent."""
        counts = self.sent if is_sent else self.received
        return 100 * counts[member] / (sum(counts.values()) or 1)


def judge_balance(bond: Bond, counters: Mapping[str, CounterGroup]) -> Balance | None:
    """Judge a bond by the growth of its members' counters; None where they are too few to tell, or not known.

    Nearly all packets out through one member and in through another is a warning: each direction has the speed of one
    link, and with active-backup the switch sends to a member that is not in use. With balance-tlb the driver itself
    receives through one member: that is information, as is a bond that spreads its packets and uses one member.
    """
    up = [m.name for m in bond.members if m.mii_status == "up"]
    if len(up) < 2 or any(_count(counters, name, "tx_packets") is None for name in up):
        return None
    sent = {name: _count(counters, name, "tx_packets") or 0 for name in up}
    received = {name: _count(counters, name, "rx_packets") or 0 for name in up}
    if min(sum(sent.values()), sum(received.values())) < LEAST_PACKETS:
        return None
    found = Balance(sent, received, Status.PASS, _one(sent), _one(received))
    if found.is_one_sided:
        status = Status.INFO if _RECEIVES_ON_ONE in bond.mode else Status.WARN
    else:
        status = Status.INFO if found.sends_on and found.receives_on and not bond.has_one_active else Status.PASS
    return Balance(sent, received, status, found.sends_on, found.receives_on)


def _count(counters: Mapping[str, CounterGroup], member: str, name: str) -> int | None:
    group = counters.get(member)
    return None if group is None else group.counts.get(name)


def _one(counts: Mapping[str, int]) -> str:
    """Return the member with nearly all packets; empty without one."""
    name = max(counts, key=lambda one: counts[one])
    return name if counts[name] >= MOST * sum(counts.values()) else ""
