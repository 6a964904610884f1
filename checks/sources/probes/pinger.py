"""The interface of all senders of DF pings: sizes and counts in, a series for each out."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from checks.model.facts import PingSeries


class CannotPingError(Exception):
    """No ping can be sent from this end; the text says why."""


class NoPrivilegeError(CannotPingError):
    """This user may not open the socket that pings need."""


@dataclass(frozen=True, slots=True)
class Request:
    """`count` DF pings with `payload` bytes of ICMP payload."""

    payload: int
    count: int


class Pinger(Protocol):
    """A sender of DF pings on one path, within the limits of the path and of the sending node."""

    sent_by: str
    """`icmp socket` or `ping`."""

    async def ping(self, requests: Sequence[Request], *, timeout_s: float, hurry: bool = False) -> list[PingSeries]:
        """Send the requests in their order and return a series for each.

        A packet counts as lost `timeout_s` after it was sent, or later. In a `hurry` the sizes are sent at the same
        time: for a search, which repeats its tests.

        Raises CannotPingError where no ping can be sent, ShellError where the connection to the sending node is lost,
        and BudgetSpentError, before anything is sent, where the path's budget does not cover the requests.
        """
        ...


@dataclass(slots=True)
class Tally:
    """The counts of a series that is not complete yet."""

    payload: int
    sent: int = 0
    """Attempts, including those that the kernel refused, as in ping's own summary."""
    refused: int = 0
    local_mtu: int | None = None
    too_big_mtu: int | None = None
    too_big_from: str = ""
    unreachable_from: str = ""
    rtts_ms: list[float] = field(default_factory=list)
    ttl: int | None = None
    errors: list[str] = field(default_factory=list)

    @property
    def lost(self) -> int:
        """Packets that left the node and got no answer."""
        return self.sent - self.refused - len(self.rtts_ms)

    def answered(self, rtt_ms: float, ttl: int | None) -> None:
        """Record an answer."""
        self.rtts_ms.append(rtt_ms)
        if ttl is not None:
            self.ttl = ttl

    def refuse(self, mtu: int | None) -> None:
        """Record a packet that this node's own kernel refused to send."""
        self.refused += 1
        self.local_mtu = mtu or self.local_mtu

    def too_big(self, mtu: int, router: str) -> None:
        """Record a "fragmentation needed" (IPv4) or "packet too big" (IPv6) from a router."""
        self.too_big_mtu, self.too_big_from = mtu, router

    def error(self, text: str) -> None:
        """Record another error, each text once."""
        if text not in self.errors:
            self.errors.append(text)

    def absorb(self, other: Tally) -> None:
        """Add the counts of more packets of the same size."""
        self.sent += other.sent
        self.refused += other.refused
        self.local_mtu = other.local_mtu or self.local_mtu
        if other.too_big_mtu is not None:
            self.too_big(other.too_big_mtu, other.too_big_from)
        self.unreachable_from = other.unreachable_from or self.unreachable_from
        self.rtts_ms += other.rtts_ms
        self.ttl = other.ttl if other.ttl is not None else self.ttl
        for text in other.errors:
            self.error(text)

    def series(self) -> PingSeries:
        """The series with the counts so far."""
        rtts = self.rtts_ms
        return PingSeries(
            payload=self.payload,
            sent=self.sent,
            received=len(rtts),
            refused_locally=self.refused,
            local_mtu=self.local_mtu,
            too_big_mtu=self.too_big_mtu,
            too_big_from=self.too_big_from,
            unreachable_from=self.unreachable_from,
            rtt_ms_min=round(min(rtts), 3) if rtts else None,
            rtt_ms_median=round(statistics.median(rtts), 3) if rtts else None,
            rtt_ms_max=round(max(rtts), 3) if rtts else None,
            ttl=self.ttl,
            errors=tuple(self.errors),
        )
