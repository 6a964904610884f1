"""The packets for probing a path: sizes and counts by purpose, from the settings and the MTU."""

from __future__ import annotations

from dataclasses import dataclass

from checks.model.packet_sizes import SMALL_PAYLOAD, payload_for
from checks.model.settings import ProbeSettings
from checks.model.shell_command import shell
from checks.sources.probes.path import Path
from checks.sources.probes.pinger import Request
from checks.sources.probes.verdict import LEAST_FOR_BLACK_HOLE

COUNTED_PINGS = 10
"""Full-size pings for each sender and count of those that arrive."""


@dataclass(frozen=True, slots=True)
class PathPlan:
    """The packets of one path, by purpose."""

    small: Request
    full: Request
    over: Request
    counted: Request
    """For each count of the echo requests that reach the target; only on a path with a black hole."""
    timeout_s: float

    @property
    def reserve(self) -> int:
        """Packets that the search must leave for finding the direction: one count with all senders, and one alone."""
        return 2 * self.counted.count

    def as_commands(self, path: Path) -> str:
        """The action on the path, and the commands with which a person can repeat it."""
        by_hand = "; ".join(
            shell(
                "ping -n -M do -s {size} -c {count} -i 0.2 -W 1 -I {source} {to}",
                size=request.payload,
                count=request.count,
                source=path.source.ip,
                to=path.destination.ip,
            )
            for request in (self.small, self.full, self.over)
        )
        return f"DF pings of three sizes; by hand: {by_hand}"


def plan_path(settings: ProbeSettings, mtu: int, version: int = 4) -> PathPlan:
    """Compute the packets of a path from the settings and the MTU of its network."""
    full_payload = payload_for(mtu, version)
    affordable = max(1, (settings.max_packets_per_path - 1) // 2)
    full_count = min(max(settings.packets, LEAST_FOR_BLACK_HOLE), affordable)
    return PathPlan(
        small=Request(SMALL_PAYLOAD, min(settings.packets, affordable)),
        full=Request(full_payload, full_count),
        over=Request(full_payload + 1, 1),
        counted=Request(full_payload, COUNTED_PINGS),
        timeout_s=settings.timeout_ms / 1000,
    )
