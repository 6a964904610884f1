"""`measure mix`: completion times of small, medium and large flows, alone and together.

The design follows Cisco's measurement of dynamic packet prioritisation. Each class has the same part of what the limits
allow alone and together, so that a slowdown comes from the queues on the way, and not from the limits.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from checks.measure.flow_figures import ALONE, TOGETHER, figures_of, summaries_of
from checks.measure.load_limits import LoadLimits
from checks.measure.load_plan import PlannedLoad
from checks.measure.measure_error import MeasureError
from checks.measure.near_end.tcp_flows import completed, needed_s, packets_of_flow, wire_bytes_of_flow
from checks.measure.testbed import Experiment, Testbed
from checks.model.measurement import FlowRound, MeasuredMix, MeasuredPath
from checks.model.wording import counted, lasting, listed

FLOW_BYTES = {"message": 200, "block": 8_192, "small": 65_536, "medium": 131_072, "large": 32 << 20}
"""The bytes of a flow by class: a message of Cache Fusion, a block, and Cisco's sizes."""
LARGE = "large"
MOST_CONCURRENT = 12
"""Connections of each class: a far end takes 64 in all."""
_LARGE_S = 2.0
"""Seconds that a large flow may take at the limits."""
_SMALL_S = 1.0
"""Seconds of a class other than the large ones, alone in one round."""
_PART, _LARGE_PART = 0.1, 0.5
"""The parts of the limits for each class, and for the large flows. What is left is for what is sent again."""
_LEAST_GAP_S = 0.010
"""Between two flows of a connection: a switch that prioritises the first packets of flows takes the next flow for a new
one after a pause of some milliseconds."""
_BURST_BYTES, _BURST_S = 256 << 10, 0.05
"""The most that all large flows together send at once, in bytes and in seconds of the limits."""
_LEAST_LARGE = 256 << 10


@dataclass(frozen=True, slots=True)
class FlowLane:
    """The flows of one class on one path."""

    flow_class: str
    path: int
    connections: int
    """How many flows of the class are under way on this path at the same time."""
    size: int
    burst: int
    gap_s: float
    """From flow to flow of one connection; of a large flow, from burst to burst."""

    @property
    def name(self) -> str:
        """The name of the lane in an order of the sender."""
        return f"{self.flow_class} on path {self.path}"


@dataclass(frozen=True, slots=True)
class _Room:
    """What all flows together may send."""

    paths: Sequence[MeasuredPath]
    limits: LoadLimits

    @property
    def bits_per_s(self) -> float:
        """That of the slowest path."""
        return min(self.limits.bits_per_s(path.speed_mbps) for path in self.paths)

    def needed_s(self, size: int, path: MeasuredPath) -> float:
        """Return the seconds that a burst needs at the limits."""
        return needed_s(size, path.mtu, self.bits_per_s, self.limits.packets_per_s)

    def large_bytes_per_s(self, path: MeasuredPath) -> float:
        """Return what the large flows may have."""
        return _LARGE_PART * _BURST_BYTES / self.needed_s(_BURST_BYTES, path)


class Mix(Experiment):
    """The experiment. `result` has what was measured so far at any time."""

    kind = "mix"
    needs_program = True

    def __init__(
        self,
        classes: Sequence[str] = tuple(FLOW_BYTES),
        concurrencies: Sequence[int] = (1,),
        *,
        rounds: int = 6,
        is_towards_here: bool = False,
        seed: int = 0,
    ) -> None:
        """`concurrencies`: connections of each class, measured one after the other. Raises MeasureError."""
        unknown = [name for name in classes if name not in FLOW_BYTES]
        if unknown or not classes:
            raise MeasureError(f"There is no class of flows {unknown[0] if unknown else ''!r}: {listed(FLOW_BYTES)}.")
        if len(set(classes)) != len(classes):
            raise MeasureError("A class of flows is named twice.")
        if not concurrencies or not all(1 <= one <= MOST_CONCURRENT for one in concurrencies):
            raise MeasureError(f"The flows at the same time of each class are from 1 to {MOST_CONCURRENT}.")
        if len(set(concurrencies)) != len(concurrencies):
            raise MeasureError("A number of flows at the same time is named twice.")
        if not 1 <= rounds <= 100:
            raise MeasureError("The rounds must be from 1 to 100.")
        self._classes = [name for name in FLOW_BYTES if name in classes]
        self._concurrencies, self._rounds, self._is_towards_here = tuple(concurrencies), rounds, is_towards_here
        self.seed = seed
        self._found: list[FlowRound] = []

    def plan(self, paths: Sequence[MeasuredPath], limits: LoadLimits) -> PlannedLoad:
        """Return what will be sent at most. Raises MeasureError where the limits are too small for these flows."""
        room = _Room(paths, limits)
        steps = list(self._steps(room))
        flows = bytes_sent = packets = 0.0
        for step in steps:
            for lane in step.lanes:
                mtu, own = paths[lane.path].mtu, lane.connections
                number = own if lane.flow_class == LARGE else step.seconds * own / lane.gap_s
                number = (number + own) * self._rounds
                flows += number
                bytes_sent += number * wire_bytes_of_flow(lane.size, mtu)
                packets += number * packets_of_flow(lane.size, mtu)
        large = next((lane.size for step in steps for lane in step.lanes if lane.flow_class == LARGE), None)
        seconds = sum(step.seconds for step in steps) * self._rounds
        if bytes_sent > limits.most_bytes:
            raise MeasureError("These flows need more bytes than a measurement may send: choose fewer rounds.")
        return PlannedLoad(
            title=f"flows of {listed(map(_sized, self._classes))}, each alone"
            + (" and together" if len(self._classes) > 1 else "")
            + f", on {counted(len(paths), 'path')}, {counted(self._rounds, 'round')} in random order",
            seconds=seconds * 1.2,
            # The receiver acknowledges every second segment at most.
            packets=round(packets * 1.5),
            wire_bytes=round(bytes_sent + packets * 0.5 * 90),
            peak_packets_per_s=limits.packets_per_s,
            peak_bps=room.bits_per_s,
            notes=tuple(self._notes(room, large)),
        )

    def _notes(self, room: _Room, large: int | None) -> Iterator[str]:
        if large is not None and large < FLOW_BYTES[LARGE]:
            rate = room.large_bytes_per_s(room.paths[0])
            yield (
                f"The large flows are {_bytes(large)}, not 32 MB: these limits leave {rate / 1e6:,.1f} MB/s for them, "
                f"at which 32 MB take {lasting(FLOW_BYTES[LARGE] / rate)}."
            )
        if self._is_towards_here:
            yield (
                "The flows come from the peers to this node. With several peers the large flows come from the first "
                "half of them, and the others from the rest, so that they meet at the switch port of this node. Large "
                "flows of two peers at the same time fill its buffer: choose --flows 4."
            )

    async def run(self, testbed: Testbed) -> None:
        """Measure until done. Raises HaltedError; `result` then has the rounds so far."""
        chance = random.Random(self.seed)  # noqa: S311 - an order, no secret
        steps = list(self._steps(_Room(testbed.paths, testbed.limits)))
        done = 0
        for number in range(self._rounds):
            chance.shuffle(steps)
            for step in steps:
                what = listed(dict.fromkeys(lane.flow_class for lane in step.lanes))
                testbed.progress(f"{what} flows, {step.concurrency} at a time", done, len(steps) * self._rounds)
                await self._measure(testbed, step, number, chance.randrange(1 << 30))
                done += 1
        testbed.demand_running()

    def result(self) -> MeasuredMix:
        """Return the rounds so far, and their summaries."""
        names = list(FLOW_BYTES)
        rounds = sorted(
            self._found, key=lambda r: (r.path, r.company, r.concurrency, names.index(r.flow_class), r.round)
        )
        return MeasuredMix(tuple(rounds), tuple(summaries_of(rounds)))

    def _steps(self, room: _Room) -> Iterator[FlowStep]:
        for group in self._groups(room.paths):
            for concurrency in self._concurrencies:
                classes = [self._lanes(name, group, room, concurrency) for name in self._classes]
                for lanes in classes:
                    yield FlowStep(tuple(lanes), ALONE, concurrency, self._step_s(lanes, room, concurrency))
                if len(classes) > 1:
                    together = [lane for lanes in classes for lane in lanes]
                    seconds = self._step_s(together, room, concurrency)
                    yield FlowStep(tuple(together), TOGETHER, concurrency * len(classes), seconds)

    def _groups(self, paths: Sequence[MeasuredPath]) -> list[list[int]]:
        """Return the paths whose flows go together: each by itself, or those of a network from all its peers."""
        if not self._is_towards_here:
            return [[number] for number in range(len(paths))]
        found: dict[str, list[int]] = defaultdict(list)
        for number, path in enumerate(paths):
            found[path.network].append(number)
        return list(found.values())

    def _lanes(self, name: str, group: list[int], room: _Room, concurrency: int) -> list[FlowLane]:
        """Return the lanes of a class: one, or for large flows one on each path that has some of them."""
        # The large flows come from the first half of the peers; the other classes take turns among the rest. A peer
        # with both would let the small flows wait in its own queue already.
        half = -(-len(group) // 2)
        others = group[half:] or group
        places = group[:half][:concurrency] if name == LARGE else [others[self._classes.index(name) % len(others)]]
        return [
            self._lane(name, place, -(-(concurrency - number) // len(places)), room, concurrency)
            for number, place in enumerate(places)
        ]

    def _lane(self, name: str, place: int, connections: int, room: _Room, concurrency: int) -> FlowLane:
        """Return one lane. `concurrency`: the connections of its class, which share the part of the limits."""
        path, size = room.paths[place], FLOW_BYTES[name]
        burst, part = size, _PART
        if name == LARGE:
            most = room.large_bytes_per_s(path) * _LARGE_S / concurrency
            size = min(size, 1 << (int(most).bit_length() - 1)) if most >= 1 else 0
            if size < _LEAST_LARGE:
                raise MeasureError(
                    f"These limits leave {most / 1e3:,.0f} kB for a large flow, which is no large flow: choose more "
                    "with --packets or --share, fewer flows at the same time, or --classes without large."
                )
            least_s = room.needed_s(_BURST_BYTES, path)
            burst = int(min(_BURST_BYTES * min(1.0, _BURST_S / least_s), size) / concurrency)
            part = _LARGE_PART
        burst_s = room.needed_s(burst, path)
        if burst_s > _PART:
            raise MeasureError(
                f"These limits are too small for {name} flows of {_bytes(burst)}: choose more with --packets or "
                f"--share, or --classes without {name}."
            )
        gap_s = burst_s / part * concurrency
        return FlowLane(name, place, connections, size, burst, gap_s if name == LARGE else max(_LEAST_GAP_S, gap_s))

    def _step_s(self, lanes: Sequence[FlowLane], room: _Room, concurrency: int) -> float:
        large = next((lane for lane in lanes if lane.flow_class == LARGE), None)
        if large is None:
            return _SMALL_S
        return concurrency * large.size / room.large_bytes_per_s(room.paths[large.path])

    async def _measure(self, testbed: Testbed, step: FlowStep, number: int, seed: int) -> None:
        lanes = [
            {
                **testbed.address(lane.path),
                "name": lane.name,
                "size": lane.size,
                "burst": lane.burst,
                "gap_s": lane.gap_s,
                "flows": 1 if lane.flow_class == LARGE else -1,
                "mtu": testbed.paths[lane.path].mtu,
                "is_from_far_end": self._is_towards_here,
            }
            for lane in step.lanes
            for _ in range(lane.connections)
        ]
        longest_s = step.seconds * 3 + 5
        found = await testbed.order(
            {
                "order": "flows",
                "lanes": lanes,
                "seconds": 0.0 if any(lane["flows"] > 0 for lane in lanes) else step.seconds,
                "longest_s": longest_s,
                "bits_per_s": _Room(testbed.paths, testbed.limits).bits_per_s,
                "seed": seed,
            },
            longest_s * 2,
        )
        testbed.lateness_us += found["lateness_us"]
        for lane in step.lanes:
            self._found.append(self._round(lane, step, number, found))

    def _round(self, lane: FlowLane, step: FlowStep, number: int, found: dict[str, Any]) -> FlowRound:
        broken = sum(one["broken"] for one in found["lanes"] if one["name"] == lane.name)
        return FlowRound(
            path=lane.path,
            flow_class=lane.flow_class,
            size=lane.size,
            company=step.company,
            concurrency=step.concurrency,
            round=number,
            at=found["at"],
            seconds=found["seconds"],
            broken=broken,
            is_towards_here=self._is_towards_here,
            **figures_of([took for _, took in completed(found, lane.name)]),
        )


@dataclass(frozen=True, slots=True)
class FlowStep:
    """What is sent at the same time."""

    lanes: tuple[FlowLane, ...]
    company: str
    concurrency: int
    """Flows of all its classes at the same time."""
    seconds: float


def _sized(name: str) -> str:
    return f"{_bytes(FLOW_BYTES[name])} ({name})"


def _bytes(size: int) -> str:
    return f"{size >> 20} MB" if size >= 1 << 20 else f"{size >> 10} KB" if size >= 1 << 10 else f"{size} B"
