"""`measure rate`: what a path carries at a stated rate: one TCP stream, datagrams of 8 KB, and N-1 nodes to this one.

Losses of the two ends are separated from those of the network: what a sender's queue refused, what a receiver's own
socket dropped, and what was lost in between.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from checks.measure.far_end.far_process import FarCounts
from checks.measure.load_limits import FEW_LOST, PUBLIC_BPS, STEP_UP_LOSS, LoadLimits, incomplete_bytes
from checks.measure.load_plan import PlannedLoad
from checks.measure.measure_error import MeasureError
from checks.measure.testbed import Experiment, Testbed
from checks.model.measurement import MeasuredPath, MeasuredRate, RateStep
from checks.model.packet_sizes import IP_HEADER, UDP_HEADER, USUAL_BLOCK_BYTES, WIRE_BYTES, fragments_of
from checks.model.wording import counted

USUAL_STEPS = (0.01, 0.02, 0.05, 0.10)
"""Shares of the slowest link."""
_TCP_HEADERS = 32
"""Bytes of a TCP header with timestamps (RFC 7323)."""
_REST_S = 1.0
"""Seconds of a step after its sending: the last datagrams arrive, and counts are read."""


@dataclass(frozen=True, slots=True)
class _Step:
    paths: tuple[int, ...]
    protocol: str
    is_towards_here: bool
    share: float
    bits_per_s: float
    """On the wire."""


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
            notes=tuple(self._notes(steps, paths, limits)),
            most_incomplete_bytes=max(
                incomplete_bytes(USUAL_BLOCK_BYTES, _mtu(step, paths)) for step in steps if step.protocol == "udp"
            ),
        )

    def _notes(self, steps: Sequence[_Step], paths: Sequence[MeasuredPath], limits: LoadLimits) -> Iterator[str]:
        """Yield which limit the largest steps meet, where it is not the share of the link."""
        for protocol, what in (("tcp", "TCP segments"), ("udp", "datagrams of 8 KB")):
            step = max((one for one in steps if one.protocol == protocol), key=lambda one: one.bits_per_s)
            speed = min(paths[number].speed_mbps or 1000 for number in step.paths) * 1e6
            if step.bits_per_s / 8 / _packet_bytes(protocol, _mtu(step, paths)) >= limits.packets_per_s * 0.999:
                yield (
                    f"The limit of {limits.packets_per_s:,.0f} packets/s binds: {what} are sent at up to "
                    f"{step.bits_per_s / 1e6:,.1f} Mb/s, {step.bits_per_s / speed * 100:.2g} % of the link instead of "
                    f"{step.share * 100:g} %. More: --packets."
                )
            elif step.bits_per_s < step.share * speed * 0.999:
                yield (
                    f"The limit of {limits.most_bps / 1e9:g} Gb/s binds: {what} are sent at up to "
                    f"{step.bits_per_s / 1e6:,.1f} Mb/s, {step.bits_per_s / speed * 100:.2g} % of the link instead of "
                    f"{step.share * 100:g} %. More: --share."
                )

    async def run(self, testbed: Testbed) -> None:
        """Measure until done. Raises HaltedError; `result` then has the steps so far."""
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
        return MeasuredRate(tuple(self._steps))

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
                        yield _Step((number,), protocol, back, share, self._rate(share, paths[number], caps[number]))
        for own in by_network.values():
            if len(own) > 1:
                for share in self._shares:
                    slowest = min(own, key=lambda n: caps[n])
                    yield _Step(tuple(own), "udp", True, share, self._rate(share, paths[slowest], caps[slowest]))

    def _cap(self, paths: Sequence[MeasuredPath], number: int, limits: LoadLimits, protocol: str) -> float:
        """Return the most bits a second of a path. With public ones, all paths have the same: only so they compare."""
        of_path = [
            min(limits.bits_per_s(path.speed_mbps), limits.packets_per_s * _packet_bytes(protocol, path.mtu) * 8)
            for path in paths
        ]
        return min(PUBLIC_BPS, *of_path) if self.is_public else of_path[number]

    def _rate(self, share: float, path: MeasuredPath, cap: float) -> float:
        """Return the bits a second of a step. Where the cap is below the largest share, all steps shrink alike."""
        largest = self._shares[-1] * (path.speed_mbps or 1000) * 1e6
        return share / self._shares[-1] * min(largest, cap)

    async def _measure(self, testbed: Testbed, step: _Step, number: int) -> None:
        paths = [testbed.paths[path] for path in step.paths]
        mtu = _mtu(step, testbed.paths)
        payload, wire = _sizes(step.protocol, mtu)
        cap = min(self._cap(testbed.paths, path, testbed.limits, step.protocol) for path in step.paths)
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
        before = await self._counts(testbed, step)
        at = time.time()
        found = await testbed.order(order, self._step_s + _REST_S)
        after = await self._counts(testbed, step)
        self._steps.append(
            step_of(
                step.protocol,
                step.is_towards_here,
                found,
                before,
                after,
                {
                    "paths": step.paths,
                    "cap_bps": step.bits_per_s * payload / wire,
                    "round": number,
                    "at": at,
                    "share": step.bits_per_s / ((min(path.speed_mbps or 1000 for path in paths)) * 1e6),
                },
            )
        )

    async def _counts(self, testbed: Testbed, step: _Step) -> FarCounts:
        """Return the sum of what the far ends of a step counted. After a stop they still answer."""
        each = [await testbed.far_counts(path) for path in step.paths]
        return FarCounts(*(sum(values) for values in zip(*(one for one in each if one is not None), strict=True)))


def step_of(
    protocol: str,
    is_towards_here: bool,
    found: dict[str, Any],
    before: FarCounts,
    after: FarCounts,
    known: dict[str, Any],
) -> RateStep:
    """Return a step from what both ends counted. `found`: the fields of `near_end.rates.Stream`.

    A datagram that left is received, dropped by the receiver's own full socket, refused by its kernel, or lost in
    between. The kernel counts what it refuses of all senders, and fragments singly: at most so many were of the step.
    """
    there = FarCounts(*(now - then for now, then in zip(after, before, strict=True)))
    is_udp = protocol == "udp"
    if is_towards_here:
        sent, received = there.packets_out, found["received"]
        sent_bytes, received_bytes = there.bytes_out, found["received_bytes"]
        refused, dropped, refusals = there.refused, found["dropped"], found["kernel_refused"]
    else:
        sent, sent_bytes = found["sent"], found["sent_bytes"]
        received, received_bytes = there.packets_in, there.bytes_in
        refused, dropped, refusals = found["refused"], there.dropped, there.refusals
    missing = max(0, sent - received - dropped) if is_udp else 0
    # What a full socket dropped is among the refusals.
    kernel_refused = min(missing, max(0, refusals - dropped))
    return RateStep(
        **known,
        protocol=protocol,
        is_towards_here=is_towards_here,
        seconds=found["seconds"],
        sent_bytes=sent_bytes,
        received_bytes=received_bytes,
        sent=sent if is_udp else 0,
        received=received if is_udp else 0,
        refused=refused if is_udp else 0,
        dropped=dropped if is_udp else 0,
        kernel_refused=kernel_refused,
        lost=missing - kernel_refused,
        lateness_p99_us=found["lateness_p99_us"],
        cpu_here_s=found["cpu_s"],
        cpu_there_s=there.cpu_ns / 1e9,
        buffer_bytes=found["buffer_bytes"] or None,
    )


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
