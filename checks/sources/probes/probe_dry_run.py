"""What probing a path will send, said before anything is sent: `racwire plan`, the journal, and the probe itself."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from checks.model.packet_sizes import packet_of, payload_for
from checks.model.settings import ProbeSettings
from checks.sources.probes.direction import PINGS
from checks.sources.probes.path import Path
from checks.sources.probes.path_mtu import CONFIRMATION_COPIES, HINT_COPIES, LADDER, SIZES_PER_ROUND
from checks.sources.probes.pinger import Request
from checks.sources.probes.verdict import LEAST_FOR_BLACK_HOLE


@dataclass(frozen=True, slots=True)
class PathPlan:
    """The packets of one path, by purpose."""

    small: Request
    full: Request
    over: Request
    counted: Request
    """For each count of the echo requests that reach the target; only behind a black hole."""
    timeout_s: float

    @property
    def reserve(self) -> int:
        """Packets that the search must leave for finding the direction: together with others, and alone."""
        return 2 * self.counted.count

    def as_commands(self, path: Path) -> str:
        """What racwire does on the path, and the commands with which a person repeats it."""
        ends = f"-I {shlex.quote(path.source.ip)} {shlex.quote(path.destination.ip)}"
        by_hand = "; ".join(
            f"ping -n -M do -s {request.payload} -c {request.count} -i 0.2 -W 1 {ends}"
            for request in (self.small, self.full, self.over)
        )
        return f"DF pings of three sizes; by hand: {by_hand}"


def plan_path(settings: ProbeSettings, mtu: int, version: int = 4, small_payload: int = 56) -> PathPlan:
    """What the settings mean for a network of this MTU."""
    full_payload = payload_for(mtu, version)
    affordable = max(1, (settings.max_packets_per_path - 1) // 2)
    full_count = min(max(settings.packets, LEAST_FOR_BLACK_HOLE), affordable)
    return PathPlan(
        small=Request(small_payload, min(settings.packets, affordable)),
        full=Request(full_payload, full_count),
        over=Request(full_payload + 1, 1),
        counted=Request(full_payload, PINGS),
        timeout_s=settings.timeout_ms / 1000,
    )


def describe_budget(settings: ProbeSettings, mtu: int, version: int = 4) -> list[str]:
    """What one path costs, a line each: sizes, counts, bytes, limits."""
    plan = plan_path(settings, mtu, version)
    rungs = sum(2 for rung in LADDER if rung < mtu)
    return [
        _line(plan.small, version, "small packets"),
        _line(plan.full, version, "full-size packets, Don't Fragment set"),
        _line(plan.over, version, "one byte more, which the sender's own kernel must refuse: not sent"),
        "only where some packets, or all, get no answer: the same once more, alone and patiently",
        f"only where full-size packets do not pass: the search for the path MTU, {rungs} packets of the usual MTUs, "
        f"then at most {SIZES_PER_ROUND} in each of two rounds, then {2 * CONFIRMATION_COPIES} at the boundary; "
        f"{2 * HINT_COPIES} where another path of the network told the answer",
        f"only behind a black hole: {plan.counted.count} or {2 * plan.counted.count} full-size packets "
        "that the target counts, to see which way loses them",
        f"at most {settings.max_packets_per_path} packets in all, {settings.max_bytes_in_flight} bytes unanswered "
        f"at one time, {settings.max_packets_per_second} packets a second from a node on all its paths; "
        f"a packet counts as lost after at most {settings.timeout_ms} ms",
    ]


def _line(request: Request, version: int, what: str) -> str:
    packet = packet_of(request.payload, version)
    return f"{request.count} x {packet} bytes = {request.count * packet} bytes: {what} (payload {request.payload})"
