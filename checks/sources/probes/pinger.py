"""What every way of sending DF pings has in common: sizes and counts in, a series for each out."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from checks.model.facts import PingSeries


class CannotPingError(Exception):
    """No ping can be sent from this end: one sentence that says why."""


class NoPrivilegeError(CannotPingError):
    """This user may not open the socket that pings need, here or anywhere else."""


@dataclass(frozen=True, slots=True)
class Request:
    """`count` DF pings with `payload` bytes of ICMP payload."""

    payload: int
    count: int


class Pinger(Protocol):
    """Sends DF pings on one path, within the limits of that path and of the sending node."""

    sent_by: str
    """`icmp socket` or `ping`."""

    async def ping(self, requests: Sequence[Request], *, timeout_s: float, hurry: bool = False) -> list[PingSeries]:
        """Send the requests in their order and return a series for each.

        A packet counts as lost `timeout_s` after it was sent. In a `hurry` nothing is waited for beyond that: for a
        search, which asks again before it settles on anything.

        Raises CannotPingError when nothing can be sent at all, ShellError when the sending node's shell is gone, and
        BudgetSpentError, before anything is sent, when the path's budget does not cover the requests.
        """
        ...


@dataclass(slots=True)
class Tally:
    """A series in the making."""

    payload: int
    sent: int = 0
    """Attempts, those that the kernel refused included, as ping's own summary counts."""
    refused: int = 0
    local_mtu: int | None = None
    too_big_mtu: int | None = None
    too_big_from: str = ""
    unreachable_from: str = ""
    rtts_ms: list[float] = field(default_factory=list)
    ttl: int | None = None
    errors: list[str] = field(default_factory=list)

    def answered(self, rtt_ms: float, ttl: int | None) -> None:
        """Note an answer."""
        self.rtts_ms.append(rtt_ms)
        if ttl is not None:
            self.ttl = ttl

    def refuse(self, mtu: int | None) -> None:
        """Note a packet that this node's own kernel would not send."""
        self.refused += 1
        self.local_mtu = mtu or self.local_mtu

    def too_big(self, mtu: int, router: str) -> None:
        """Note a "fragmentation needed" (IPv4) or "packet too big" (IPv6) from a router."""
        self.too_big_mtu, self.too_big_from = mtu, router

    def error(self, text: str) -> None:
        """Note any other error once, however often it came."""
        if text not in self.errors:
            self.errors.append(text)

    def absorb(self, other: Tally) -> None:
        """Add what came of more packets of the same size."""
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
        """What has come of it."""
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
