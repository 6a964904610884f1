"""Measures the round trip of a small ping and of a block-sized ping to the other nodes, open loop.

racwire sends pings at a fixed rate, whether or not answers arrive. A program that waits for each answer before it sends
the next ping hides every queue: with a full queue such a program saw 69 us where pings at a fixed rate saw 8,465 us, on
the same link in the same second.

The time of a ping runs from the send call to the kernel's timestamp of the answer: a racwire process that is busy
drawing a screen must not look like a slow network. Sending never waits, so time in a queue counts in full.

These pings do not set Don't Fragment, apart from the kernel's default for any program: at an MTU of 1500 a block-sized
ping is sent in six fragments, like the block.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from checks.model.facts import Cluster, Unknown
from checks.model.packet_sizes import BLOCK_HEADER_BYTES, SMALL_PAYLOAD, USUAL_BLOCK_BYTES, ping_bytes
from checks.model.settings import ProbeSettings
from checks.model.wording import listed
from checks.sources.probes.path import Path
from checks.sources.probes.paths import all_paths
from checks.sources.probes.pinger import NoPrivilegeError
from checks.sources.probes.safety import UnsafePathError, assert_private, public_subnets, two_owners
from checks.traffic.latency_pinger import LatencyPinger
from checks.traffic.samples import Event, Gap
from checks.traffic.source_id import ALL_PINGS, SourceId, SourceKind

LATE_S = 0.005
"""racwire skips a ping that is later than this, in seconds. Pings that accumulated while this process was busy would
leave as a burst and measure the queue that they cause. An event loop wakes up to 1 ms late."""


class Schedule:
    """The due times of `streams` streams, in turn."""

    def __init__(self, streams: int, per_second: float, most_per_second: float, began: float) -> None:
        """`per_second`: the requested rate of each stream; `most_per_second`: the limit for all streams together."""
        self.per_second = min(per_second, most_per_second / streams)
        """The actual rate of each stream."""
        self._streams = streams
        self._step_s = 1 / (self.per_second * streams)
        self._began = began
        self._next = 0

    @property
    def due(self) -> float:
        """When the next ping is due."""
        return self._began + self._next * self._step_s

    def take(self, now: float) -> int | None:
        """Return the number of the stream whose ping is due, from 0 on; None while none is due. Missed pings are
        skipped."""
        if now - self.due > LATE_S:
            self._next = math.ceil((now - LATE_S - self._began) / self._step_s)
        if self.due > now:
            return None
        stream = self._next % self._streams
        self._next += 1
        return stream


NO_PATH = "There is no other node on a private network to ping."
NO_PRIVILEGE = (
    "racwire does not measure latency: this user may not open ICMP sockets. Run racwire as root, or have root add this "
    "user's group to net.ipv4.ping_group_range."
)


@dataclass(frozen=True, slots=True)
class LatencyPath:
    """A path from this node, and the pings for the path."""

    path: Path
    block_bytes: int = USUAL_BLOCK_BYTES
    refusal: str = ""
    """A sentence that says why the path gets no pings: they would leave the private networks. Empty for a safe path."""

    @property
    def payloads(self) -> tuple[int, int]:
        """ICMP payloads in bytes: the small ping, and a ping as large as the datagram of a block.

        The headers of ICMP and UDP have the same length, so equal payloads make equal packets.
        """
        return (SMALL_PAYLOAD, self.block_bytes + BLOCK_HEADER_BYTES)

    @property
    def bytes_of_both(self) -> int:
        """Bytes on the wire of one ping of each size, with the IP headers of all fragments."""
        small, large = self.payloads
        return ping_bytes(small, self.path.mtu, self.path.version) + ping_bytes(large, self.path.mtu, self.path.version)


def latency_paths(cluster: Cluster) -> tuple[LatencyPath, ...]:
    """Return the paths from this node to every other node on every private network. Never raises."""
    if isinstance(cluster.networks, Unknown):
        return ()
    public = public_subnets(cluster)
    block = cluster.block_size_bytes or USUAL_BLOCK_BYTES
    return tuple(
        LatencyPath(path, block, _refusal(path, public))
        for path in all_paths(cluster.networks)
        if path.source.node == cluster.local_node
    )


def _refusal(path: Path, public: Sequence[str]) -> str:
    if reason := two_owners(path):
        return f"racwire sends no pings here: {reason}."
    try:
        assert_private(path, public)
    except UnsafePathError as error:
        return f"racwire sends no pings here: {error}."
    return ""


def planned_latency(paths: Sequence[LatencyPath], per_second: int, probe: ProbeSettings | None = None) -> str:
    """Return a sentence about the pings that `run_latency` would send."""
    safe = [p for p in paths if not p.refusal]
    refusals = list(dict.fromkeys(p.refusal for p in paths if p.refusal))
    if not safe:
        return " ".join(refusals) or NO_PATH
    schedule = _schedule(safe, per_second, probe or ProbeSettings(), 0.0)
    sizes = listed(f"of {size:,}" for size in safe[0].payloads)
    ways: dict[str, list[str]] = {}
    for p in safe:
        ways.setdefault(p.path.network.name, []).append(p.path.destination.node)
    targets = listed(f"to {listed(nodes)} on {network}" for network, nodes in ways.items())
    megabits = sum(p.bytes_of_both for p in safe) * 8 * schedule.per_second / 1e6
    rate = f"{schedule.per_second:.3g} pings a second" if schedule.per_second != 1 else "1 ping a second"
    sent = f"{rate} {sizes} bytes {targets}; {megabits:.1f} Mb/s in all, and as much in answers."
    return " ".join((sent, *refusals))


async def run_latency(
    paths: Sequence[LatencyPath],
    per_second: int,
    interval_s: Callable[[], float],
    emit: Callable[[Event], None],
    *,
    probe: ProbeSettings | None = None,
) -> None:
    """Ping all paths until cancelled, and emit a sample for each path, size and interval.

    A sample is emitted `probe.timeout_ms` after its interval, when its last ping has timed out. A path that takes no
    pings yields a `Gap` and is tried again. The function returns only if no ping can ever be sent; then one `Gap` has
    the reason.
    """
    limits = probe or ProbeSettings()
    timeout_s = limits.timeout_ms / 1000
    safe = [p for p in paths if not p.refusal]
    for refused in (p for p in paths if p.refusal):
        emit(Gap(source=_source(refused), at=time.time(), reason=refused.refusal))
    if not paths:
        emit(Gap(source=ALL_PINGS, at=time.time(), reason=NO_PATH))
    if not safe:
        return
    pingers = [LatencyPinger(p.path, p.payloads, timeout_s, emit) for p in safe]
    try:
        for pinger in pingers:
            pinger.open()
        schedule = _schedule(safe, per_second, limits, asyncio.get_running_loop().time())
        await _ping(pingers, schedule, interval_s, timeout_s)
    except NoPrivilegeError:
        emit(Gap(source=ALL_PINGS, at=time.time(), reason=NO_PRIVILEGE))
    finally:
        for pinger in pingers:
            pinger.close()


async def _ping(
    pingers: Sequence[LatencyPinger], schedule: Schedule, interval_s: Callable[[], float], timeout_s: float
) -> None:
    """Without end: send due pings, close rounds at the end of each interval, and settle them a time-out later."""
    loop = asyncio.get_running_loop()
    turn_at = loop.time() + interval_s()
    settle_at: deque[float] = deque()
    while True:
        now = loop.time()
        # One ping per turn of the event loop, so that the task can be cancelled at any rate.
        if (stream := schedule.take(now)) is not None:
            pingers[stream % len(pingers)].ping(stream // len(pingers))
        if now >= turn_at:
            for pinger in pingers:
                pinger.turn()
            settle_at.append(now + timeout_s)
            turn_at = max(now, turn_at + interval_s())
        if settle_at and now >= settle_at[0]:
            settle_at.popleft()
            for pinger in pingers:
                pinger.settle()
        wake_at = min(schedule.due, turn_at, *list(settle_at)[:1])
        await asyncio.sleep(max(0.0, wake_at - loop.time()))


def _schedule(paths: Sequence[LatencyPath], per_second: int, probe: ProbeSettings, began: float) -> Schedule:
    return Schedule(sum(len(p.payloads) for p in paths), per_second, probe.max_packets_per_second, began)


def _source(of: LatencyPath) -> SourceId:
    return SourceId(SourceKind.LATENCY, of.path.destination.node, of.path.network.name)
