"""The lines of a path's journal entry: what was sent and what came back, for people to read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from checks.model.facts import PingSeries, Verdict
from checks.model.packet_sizes import packet_of
from checks.sources.probes.path import Path
from checks.sources.probes.path_mtu import Found, NotFound, Outcome


@dataclass(frozen=True, slots=True)
class Lines:
    """Words for one path."""

    path: Path

    def series(self, series: PingSeries) -> str:
        """`packets of 9000 bytes (payload 8972): 20 sent, 20 answered, 0.028/0.031/0.052 ms min/median/max, ttl 64`."""
        packet = packet_of(series.payload, self.path.version)
        parts = [f"{series.sent} sent", f"{series.received} answered"]
        if series.rtt_ms_median is not None:
            times = f"{series.rtt_ms_min}/{series.rtt_ms_median}/{series.rtt_ms_max}"
            parts.append(f"{times} ms min/median/max")
        if series.ttl is not None:
            parts.append(f"ttl {series.ttl}")
        if series.refused_locally:
            parts.append(
                f"{series.refused_locally} refused by {self.path.source.node}'s own kernel"
                + (f" (MTU {series.local_mtu})" if series.local_mtu else "")
            )
        if series.too_big_mtu is not None:
            parts.append(f"fragmentation needed (MTU {series.too_big_mtu}) says {series.too_big_from}")
        if series.unreachable_from:
            parts.append(f"unreachable says {series.unreachable_from}")
        parts += [f"error: {error}" for error in series.errors]
        return f"packets of {packet} bytes (payload {series.payload}): " + ", ".join(parts)

    def batch(self, outcomes: Sequence[Outcome], timeout_s: float) -> str:
        """One batch of the search: packet sizes by fate; `x6` where several copies were sent."""
        answered = [_copies(o.packet, o.answered) for o in outcomes if o.answered]
        lost = [_copies(o.packet, o.sent - o.answered) for o in outcomes if o.answered < o.sent]
        return (
            f"search, time-out {timeout_s * 1000:.0f} ms: answered {' '.join(answered) or 'none'}; "
            f"lost {' '.join(lost) or 'none'}"
        )

    def answer(self, outcome: Found | NotFound) -> str:
        """How the search ended."""
        if isinstance(outcome, NotFound):
            return f"path MTU unknown: {outcome.reason}"
        below, above = outcome.below, outcome.above
        return (
            f"path MTU {outcome.mtu}: packets of {below.packet} bytes answered {below.answered} of {below.sent}, "
            f"of {above.packet} bytes {above.answered} of {above.sent}"
        )

    def verdict(self, verdict: Verdict, reason: str) -> str:
        """What follows."""
        return f"verdict: {verdict}" + (f" ({reason})" if reason else "")


def _copies(packet: int, count: int) -> str:
    return str(packet) if count == 1 else f"{packet}x{count}"
