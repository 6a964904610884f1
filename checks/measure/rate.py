"""`measure rate`: what a path carries at a stated rate: one TCP stream, datagrams of 8 KB, and N-1 nodes to this one.

Losses of the two ends are separated from those of the network: see `checks.measure.rate_losses`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from checks.measure.far_end.far_process import FarCounts
from checks.measure.load_limits import FEW_LOST, PUBLIC_BPS, STEP_UP_LOSS, LoadLimits, incomplete_bytes
from checks.measure.load_plan import PlannedLoad, RateBinding
from checks.measure.measure_error import MeasureError
from checks.measure.near_end.messages import BUFFER_BYTES
from checks.measure.near_end.paced_streams import MOST_REST_S, REST_S
from checks.measure.paths_to_measure import public_mtus
from checks.measure.rate_losses import all_of, drops_between, step_of
from checks.measure.testbed import Experiment, Testbed
from checks.model.facts import Unknown
from checks.model.measured_rate import MeasuredRate, RateLimit, RateStep, SocketBuffers
from checks.model.measurement import MeasuredPath
from checks.model.packet_sizes import IP_HEADER, UDP_HEADER, USUAL_BLOCK_BYTES, WIRE_BYTES, fragments_of
from checks.model.wording import counted
from checks.rules.node_counts import sysctl
from checks.sources.nodes.counter_difference import KernelReading

USUAL_STEPS = (0.01, 0.02, 0.05, 0.10)
"""Shares of the slowest link."""
_TCP_HEADERS = 32
"""Bytes of a TCP header with timestamps (RFC 7323)."""
_REST_S = 1.0
"""Seconds of a step after its sending: the last datagrams arrive, and counts are read."""


_End = tuple[str, str]
"""A node and its interface."""


@dataclass(frozen=True, slots=True)
class _Step:
    paths: tuple[int, ...]
    protocol: str
    is_towards_here: bool
    share: float
    bits_per_s: float
    """On the wire."""
    limit: RateLimit
    """What sets the rate of the largest step."""


class Rate(Experiment):
    """The experiment. `result` has the steps so far at any time."""

    kind = "rate"
    needs_program = True

    def __init__(
        self,
        steps: Sequence[float] = USUAL_STEPS,
        *,
        step_s: float = 1.0,
        rounds: int = 1,
        is_public: bool = False,
        are_paths_named: bool = False,
    ) -> None:
        """`steps`: shares of the slowest link, 0 to 1. `are_paths_named`: measure each path; else the first of each
        network, and all of its peers together. Raises MeasureError.
        """
        if not steps or any(not 0 < step <= 1 for step in steps):
            raise MeasureError("The steps must be shares of the link, from above 0 to 100 percent.")
        if len(set(steps)) != len(steps):
            raise MeasureError("A step is named twice.")
        if not 0.2 <= step_s <= 30:
            raise MeasureError("A step takes from 0.2 s to 30 s.")
        if not 1 <= rounds <= 100:
            raise MeasureError("The rounds must be from 1 to 100.")
        self._shares, self._step_s, self._rounds = tuple(sorted(steps)), step_s, rounds
        self.is_public = is_public
        self._are_paths_named = are_paths_named
        self._steps: list[RateStep] = []
        self._testbed: Testbed | None = None
        self._buffers: dict[str, tuple[int, int]] = {}
        """For receiving and for sending, as the kernel counts them, by node."""

    def plan(self, paths: Sequence[MeasuredPath], limits: LoadLimits) -> PlannedLoad:
        """Return what will be sent at most. Raises MeasureError for steps or bytes above the limits."""
        if self._shares[-1] > limits.link_share:
            raise MeasureError(
                f"The step of {self._shares[-1] * 100:g} % is above the limit of {limits.link_share * 100:g} % of the "
                "link: choose smaller steps, or a larger --share."
            )
        steps = list(self._planned(paths, limits))
        wire = sum(step.bits_per_s / 8 * self._step_s for step in steps) * self._rounds
        if wire > limits.most_bytes:
            raise MeasureError(
                f"This sends up to {wire / 1e9:,.1f} GB, and may send {limits.most_bytes / 1e9:,.1f} GB: choose "
                "smaller or fewer steps, a shorter --step, or fewer paths."
            )
        peak = max(step.bits_per_s for step in steps)
        packet_bytes = {step: _packet_bytes(step.protocol, _mtu(step, paths)) for step in steps}
        title = (
            f"one TCP stream and datagrams of 8 KB, each way, {counted(len(self._shares), 'step')} up to "
            f"{peak / 1e6:,.0f} Mb/s on {counted(len({step.paths for step in steps if len(step.paths) == 1}), 'path')}"
        )
        if (several := max(len(step.paths) for step in steps)) > 1:
            title += f", then {several} nodes to this one at the same time"
        return PlannedLoad(
            title=title,
            seconds=len(steps) * (self._step_s + _REST_S) * self._rounds,
            packets=round(
                sum(
                    # The receiver acknowledges every datagram, and every second segment of TCP.
                    step.bits_per_s / 8 * self._step_s * (1 / own + 1 / _wire_of_an_answer(step, paths))
                    for step, own in packet_bytes.items()
                )
                * self._rounds
            ),
            wire_bytes=round(wire),
            peak_packets_per_s=max(step.bits_per_s / 8 / own for step, own in packet_bytes.items()),
            peak_bps=peak,
            bindings=tuple(self._bindings(steps, paths, limits)),
            most_incomplete_bytes=max(
                incomplete_bytes(USUAL_BLOCK_BYTES, _mtu(step, paths)) for step in steps if step.protocol == "udp"
            ),
        )

    def _bindings(
        self, steps: Sequence[_Step], paths: Sequence[MeasuredPath], limits: LoadLimits
    ) -> Iterator[RateBinding]:
        """Yield what sets the rate of the largest step of each protocol on single paths."""
        for protocol in ("tcp", "udp"):
            step = max((one for one in steps if one.protocol == protocol), key=lambda one: one.bits_per_s)
            path = min((paths[number] for number in step.paths), key=lambda one: one.speed_mbps or 1000)
            yield RateBinding(
                protocol,
                step.limit,
                step.bits_per_s,
                min([limits.bits_per_s(path.speed_mbps), *[PUBLIC_BPS] * self.is_public]),
                limits.packets_per_s,
                limits.packets_per_s * _packet_bytes(protocol, _mtu(step, paths)) * 8,
                (path.speed_mbps or 1000) * 1e6,
            )

    async def run(self, testbed: Testbed) -> None:
        """Measure until done. Raises HaltedError; `result` then has the steps so far."""
        self._testbed = testbed
        steps = list(self._planned(testbed.paths, testbed.limits))
        done = 0
        for number in range(self._rounds):
            for step in steps:
                testbed.progress(_name(step, testbed.paths), done, len(steps) * self._rounds)
                await self._measure(testbed, step, number)
                done += 1
                if self._steps and (why := why_no_more(self._steps[-1], testbed.paths)):
                    testbed.halt(why, is_harm=True)
                    testbed.demand_running()
        testbed.demand_running()

    def result(self) -> MeasuredRate:
        """Return the steps so far."""
        cluster = None if self._testbed is None else self._testbed.cluster
        if cluster is None:
            return MeasuredRate(tuple(self._steps))
        return MeasuredRate(
            tuple(self._steps),
            tuple(
                SocketBuffers(node, BUFFER_BYTES, receive // 2, send // 2, sysctl(cluster, node, "net.core.rmem_max"))
                for node, (receive, send) in self._buffers.items()
            ),
            public_mtus(cluster) if self.is_public else (),
        )

    def _planned(self, paths: Sequence[MeasuredPath], limits: LoadLimits) -> Iterator[_Step]:
        """Yield the steps: of single paths, those of private and public networks side by side; then of all peers."""
        networks = list(dict.fromkeys(path.network for path in paths))
        by_network = {name: [n for n, path in enumerate(paths) if path.network == name] for name in networks}
        singles = [n for own in by_network.values() for n in (own if self._are_paths_named else own[:1])]
        for protocol in ("tcp", "udp"):
            caps = {n: self._cap(paths, n, limits, protocol) for n in range(len(paths))}
            for back in (False, True):
                for share in self._shares:
                    for number in singles:
                        yield self._step((number,), protocol, back, share, paths[number], caps[number])
        for own in by_network.values():
            if len(own) > 1:
                for share in self._shares:
                    slowest = min(own, key=lambda n: caps[n][0])
                    yield self._step(tuple(own), "udp", True, share, paths[slowest], caps[slowest])

    def _cap(
        self, paths: Sequence[MeasuredPath], number: int, limits: LoadLimits, protocol: str
    ) -> tuple[float, RateLimit]:
        """Return the most bits a second of a path, and which limit that is. With public ones, all paths have the same:
        only so they compare.
        """
        caps = [
            cap
            for path in (paths if self.is_public else [paths[number]])
            for cap in (
                (limits.bits_per_s(path.speed_mbps), RateLimit.BITS),
                (limits.packets_per_s * _packet_bytes(protocol, path.mtu) * 8, RateLimit.PACKETS),
            )
        ]
        return min([*caps, (PUBLIC_BPS, RateLimit.PUBLIC)] if self.is_public else caps)

    def _step(
        self,
        numbers: tuple[int, ...],
        protocol: str,
        back: bool,
        share: float,
        path: MeasuredPath,
        cap: tuple[float, RateLimit],
    ) -> _Step:
        """Return a step of so many bits a second. Where the cap is below the largest share, all steps shrink alike."""
        most, limit = min((self._shares[-1] * (path.speed_mbps or 1000) * 1e6, RateLimit.STEP), cap)
        if most > cap[0] * 0.999:
            limit = cap[1]
        return _Step(numbers, protocol, back, share, share / self._shares[-1] * most, limit)

    async def _measure(self, testbed: Testbed, step: _Step, number: int) -> None:
        paths = [testbed.paths[path] for path in step.paths]
        mtu = _mtu(step, testbed.paths)
        payload, wire = _sizes(step.protocol, mtu)
        cap, _ = min(self._cap(testbed.paths, path, testbed.limits, step.protocol) for path in step.paths)
        held = incomplete_bytes(payload, mtu) if step.protocol == "udp" else 0
        order: dict[str, Any] = {
            "order": f"{step.protocol}_{'from' if step.is_towards_here else 'to'}",
            **testbed.address(step.paths[0]),
            "far_ends": [testbed.address(path) for path in step.paths],
            "payload": payload,
            "wire_bytes": wire,
            "packets": _frames(step.protocol, mtu),
            "holds": {paths[0].source_node if step.is_towards_here else paths[0].target_node: held} if held else {},
            "bits_per_s": step.bits_per_s,
            "most_bps": cap,
            "seconds": self._step_s,
        }
        receivers, senders = _ends(paths, step.is_towards_here)
        read = await self._read(testbed, (*receivers, *senders)) if step.protocol == "udp" else {}
        before = await self._counts(testbed, step)
        at = time.time()
        found = await testbed.order(order, self._step_s + _REST_S)
        there, is_arriving = await self._settled(testbed, step, before, found)
        if order["order"] == "udp_from":
            rest = await testbed.rest()
            found, is_arriving = rest or found, rest is None or rest["is_arriving"]
        if step.protocol == "udp":
            self._buffers[paths[0].source_node] = found["receive_buffer"], found["send_buffer"]
            self._buffers |= {
                path.target_node: (far.receive_buffer, far.send_buffer) for path, far in zip(paths, before, strict=True)
            }
        arrived, left = found["received"], there.packets_out
        if not step.is_towards_here:
            arrived, left = there.packets_in, found["sent"]
        # Only where something is missing does it matter what the nodes dropped.
        again = await self._read(testbed, tuple(read)) if arrived < left else read
        drops = {end: drops_between(read[end], again[end]) for end in read}
        self._steps.append(
            step_of(
                step.protocol,
                step.is_towards_here,
                found,
                there,
                {
                    "paths": step.paths,
                    "cap_bps": step.bits_per_s * payload / wire,
                    "round": number,
                    "at": at,
                    "share": step.bits_per_s / ((min(path.speed_mbps or 1000 for path in paths)) * 1e6),
                    "limit": step.limit,
                },
                all_of(drops[end] for end in receivers if end in drops),
                all_of(drops[end] for end in senders if end in drops),
                is_arriving=is_arriving,
            )
        )

    async def _read(self, testbed: Testbed, ends: Sequence[_End]) -> dict[_End, KernelReading | Unknown]:
        """Return the counters of nodes and interfaces, read at the same time."""
        ends = tuple(dict.fromkeys(ends))
        return dict(zip(ends, await asyncio.gather(*(testbed.read_kernel(*end) for end in ends)), strict=True))

    async def _settled(
        self, testbed: Testbed, step: _Step, before: Sequence[FarCounts], found: dict[str, Any]
    ) -> tuple[FarCounts, bool]:
        """Return what the far ends counted during a step, and whether datagrams still arrived there at the last count.

        A queue of the network may hold datagrams for longer than this node waits for their answers.
        """
        until = time.monotonic() + MOST_REST_S
        there = _grown(before, await self._counts(testbed, step))
        while step.protocol == "udp" and not step.is_towards_here and there.packets_in < found["sent"]:
            if time.monotonic() > until:
                return there, True
            await asyncio.sleep(REST_S)
            earlier, there = there, _grown(before, await self._counts(testbed, step))
            if there.packets_in == earlier.packets_in:
                break
        return there, False

    async def _counts(self, testbed: Testbed, step: _Step) -> list[FarCounts]:
        """Return what the far ends of a step counted. After a stop they still answer."""
        each = [await testbed.far_counts(path) for path in step.paths]
        return [one for one in each if one is not None]


def _grown(before: Sequence[FarCounts], after: Sequence[FarCounts]) -> FarCounts:
    """Return what far ends counted between two moments, all together."""
    each = [[now - then for now, then in zip(*one, strict=True)] for one in zip(after, before, strict=True)]
    return FarCounts(*map(sum, zip(*each, strict=True)))


def _ends(paths: Sequence[MeasuredPath], is_towards_here: bool) -> tuple[list[_End], list[_End]]:
    """Return node and interface of the receivers, and of the senders."""
    here = [(paths[0].source_node, paths[0].interface)]
    there = [(path.target_node, path.target_interface) for path in paths]
    return (here, there) if is_towards_here else (there, here)


def _sizes(protocol: str, mtu: int) -> tuple[int, int]:
    """Return the payload of a TCP segment or of a datagram, and its bytes on the wire."""
    if protocol == "tcp":
        return mtu - IP_HEADER[4] - _TCP_HEADERS, mtu + WIRE_BYTES
    frames = fragments_of(USUAL_BLOCK_BYTES, mtu)
    return USUAL_BLOCK_BYTES, USUAL_BLOCK_BYTES + UDP_HEADER + frames * (IP_HEADER[4] + WIRE_BYTES)


def why_no_more(step: RateStep, paths: Sequence[MeasuredPath]) -> str:
    """Return why nothing more is sent after a step, as a sentence: it lost too much. Empty where it did not."""
    missing = step.sent - step.received
    if step.protocol != "udp" or missing <= FEW_LOST or missing <= STEP_UP_LOSS * step.sent:
        return ""
    path = paths[step.paths[0]]
    who = path.source_node if step.is_towards_here else path.target_node
    return (
        f"{who} did not receive {missing:,} of {counted(step.sent, 'datagram')} on {path.network} "
        f"({missing / step.sent:.1%}), so no more were sent."
    )


def _mtu(step: _Step, paths: Sequence[MeasuredPath]) -> int:
    return min(paths[number].mtu for number in step.paths)


def _frames(protocol: str, mtu: int) -> int:
    return 1 if protocol == "tcp" else fragments_of(USUAL_BLOCK_BYTES, mtu)


def _packet_bytes(protocol: str, mtu: int) -> float:
    """Return the mean bytes of a packet on the wire."""
    return _sizes(protocol, mtu)[1] / _frames(protocol, mtu)


def _wire_of_an_answer(step: _Step, paths: Sequence[MeasuredPath]) -> float:
    """Return the bytes on the wire for which the receiver sends one acknowledgement."""
    wire = _sizes(step.protocol, _mtu(step, paths))[1]
    return 2 * wire if step.protocol == "tcp" else wire


def _name(step: _Step, paths: Sequence[MeasuredPath]) -> str:
    first = paths[step.paths[0]]
    what = "TCP" if step.protocol == "tcp" else "datagrams"
    who = first.target_node if len(step.paths) == 1 else f"{len(step.paths)} nodes"
    return (
        f"{what} {'from' if step.is_towards_here else 'to'} {who} on {first.network}, {step.bits_per_s / 1e6:,.1f} Mb/s"
    )
