"""What `measure mix` sends at the same time: the flows of each class, their paths, and their pace within the limits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from checks.measure.flow_figures import ALONE, TOGETHER
from checks.measure.link_fill import Filling
from checks.measure.load_limits import LoadLimits
from checks.measure.measure_error import MeasureError
from checks.measure.near_end.control import SECOND_S
from checks.measure.near_end.tcp_flows import needed_s, packets_of_flow, wire_bytes_of_flow
from checks.model.measurement import MeasuredPath
from checks.model.wording import listed

FLOW_BYTES = {"message": 200, "block": 8_192, "small": 65_536, "medium": 131_072, "large": 32 << 20}
"""The bytes of a flow by class: a message of Cache Fusion, a block, and Cisco's sizes."""
LARGE = "large"
MOST_CONCURRENT = 12
"""Connections of each class: a far end takes 64 in all."""
_LARGE_S = 2.0
"""Seconds that a large flow may take at the limits."""
_SMALL_S = 1.0
"""Seconds of a class other than the large ones, alone in one round."""
_PART = 0.1
"""The part of the limits for each class but the large flows, which have the rest."""
_STEADY = 0.99 / SECOND_S
"""The part of the limits for all flows, on average: no second then has more than the limits."""
USUAL_GAP_S, MOST_GAP_S = 0.010, 1.0
"""The pause between two flows of a connection. A switch that prioritises the first packets of flows takes the next flow
for a new one after a pause of some milliseconds. Cisco's had 8 ms."""
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
    """From the start of a flow to that of the next, of one connection; of a large flow, from burst to burst."""
    pause_s: float
    """The least time from the end of a flow to the start of the next."""

    @property
    def name(self) -> str:
        """The name of the lane in an order of the sender."""
        return f"{self.flow_class} on path {self.path}"


@dataclass(frozen=True, slots=True)
class FlowRoom:
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

    def used(self, lanes: Sequence[FlowLane]) -> tuple[float, float]:
        """Return the bits on the wire and the packets a second that lanes add up to."""
        each = [(one.connections / one.gap_s, one.burst, self.paths[one.path].mtu) for one in lanes]
        bits = sum(per_s * wire_bytes_of_flow(burst, mtu) * 8 for per_s, burst, mtu in each)
        return bits, sum(per_s * packets_of_flow(burst, mtu) for per_s, burst, mtu in each)

    def gap_s(self, burst: int, path: MeasuredPath, others: Sequence[FlowLane]) -> float:
        """Return the seconds from burst to burst that leave other lanes their part of the limits."""
        bits, packets = self.used(others)
        return max(
            wire_bytes_of_flow(burst, path.mtu) * 8 / (_STEADY * self.bits_per_s - bits),
            packets_of_flow(burst, path.mtu) / (_STEADY * self.limits.packets_per_s - packets),
        )

    def filling(self, step: FlowStep, is_on: bool | None = None) -> Filling:
        """Return how full the flows of a step make their link, without its rounds."""
        paths = tuple(sorted({lane.path for lane in step.lanes}))
        speeds = [self.paths[number].speed_mbps for number in paths]
        known = [speed * 1e6 for speed in speeds if speed]
        bits, packets = self.used(step.lanes)
        return Filling(
            paths,
            step.concurrency,
            is_on,
            min(known) if len(known) == len(speeds) else None,
            self.bits_per_s,
            bits,
            packets / self.limits.packets_per_s > bits / self.bits_per_s,
        )


@dataclass(frozen=True, slots=True)
class FlowStep:
    """What is sent at the same time."""

    lanes: tuple[FlowLane, ...]
    company: str
    concurrency: int
    """Flows of all its classes at the same time."""
    seconds: float


@dataclass(frozen=True, slots=True)
class FlowPlan:
    """The flows that were chosen."""

    classes: Sequence[str]
    concurrencies: Sequence[int]
    """Connections of each class, measured one after the other."""
    is_towards_here: bool
    gap_s: float
    has_alone: bool
    """Whether each class goes alone too."""

    def demand_possible(self) -> None:
        """Raise MeasureError where these are no flows."""
        classes, concurrencies = self.classes, self.concurrencies
        unknown = [name for name in classes if name not in FLOW_BYTES]
        if unknown or not classes:
            raise MeasureError(f"There is no class of flows {unknown[0] if unknown else ''!r}: {listed(FLOW_BYTES)}.")
        if len(set(classes)) != len(classes):
            raise MeasureError("A class of flows is named twice.")
        if not concurrencies or not all(1 <= one <= MOST_CONCURRENT for one in concurrencies):
            raise MeasureError(f"The flows at the same time of each class are from 1 to {MOST_CONCURRENT}.")
        if len(set(concurrencies)) != len(concurrencies):
            raise MeasureError("A number of flows at the same time is named twice.")
        if not 0 <= self.gap_s <= MOST_GAP_S:
            raise MeasureError(f"The pause between two flows is from 0 to {MOST_GAP_S * 1000:.0f} ms.")

    @property
    def names(self) -> list[str]:
        """The classes, the smallest first."""
        return [name for name in FLOW_BYTES if name in self.classes]

    def steps(self, room: FlowRoom) -> Iterator[FlowStep]:
        """Yield what is sent in one round. Raises MeasureError where the limits are too small."""
        for group in self._groups(room.paths):
            for concurrency in self.concurrencies:
                classes: list[list[FlowLane]] = []
                for name in self.names:  # the large flows are the last, and have what the others leave
                    together = [lane for lanes in classes for lane in lanes]
                    classes.append(self._lanes(name, group, room, concurrency, together))
                together = [lane for lanes in classes for lane in lanes]
                seconds = self._step_s(together, room)
                for lanes in classes if self.has_alone else ():
                    yield FlowStep(tuple(lanes), ALONE, concurrency, self._step_s(lanes, room))
                if len(classes) > 1:
                    yield FlowStep(tuple(together), TOGETHER, concurrency * len(classes), seconds)

    def _groups(self, paths: Sequence[MeasuredPath]) -> list[list[int]]:
        """Return the paths whose flows go together: each by itself, or those of a network from all its peers."""
        if not self.is_towards_here:
            return [[number] for number in range(len(paths))]
        found: dict[str, list[int]] = defaultdict(list)
        for number, path in enumerate(paths):
            found[path.network].append(number)
        return list(found.values())

    def _lanes(
        self, name: str, group: list[int], room: FlowRoom, concurrency: int, others: Sequence[FlowLane]
    ) -> list[FlowLane]:
        """Return the lanes of a class: one, or for large flows one on each path that has some of them."""
        # The large flows come from the first half of the peers; the other classes take turns among the rest. A peer
        # with both would let the small flows wait in its own queue already.
        half = -(-len(group) // 2)
        rest = group[half:] or group
        places = group[:half][:concurrency] if name == LARGE else [rest[self.names.index(name) % len(rest)]]
        return [
            self._lane(name, place, -(-(concurrency - number) // len(places)), room, concurrency, others)
            for number, place in enumerate(places)
        ]

    def _lane(
        self, name: str, place: int, connections: int, room: FlowRoom, concurrency: int, others: Sequence[FlowLane]
    ) -> FlowLane:
        """Return one lane. `concurrency`: the connections of its class, which share the part of the limits; `others`:
        the lanes of the other classes, where it is of the large flows."""
        path, size = room.paths[place], FLOW_BYTES[name]
        burst, part_s = size, room.needed_s(size, path) / _PART
        if name == LARGE:
            least_s = room.needed_s(_BURST_BYTES, path)
            burst = int(_BURST_BYTES * min(1.0, _BURST_S / least_s) / concurrency)
            part_s = room.gap_s(burst, path, others)
            most = burst / part_s * _LARGE_S / concurrency
            size = min(size, 1 << (int(most).bit_length() - 1)) if most >= 1 else 0
            if size < _LEAST_LARGE:
                raise MeasureError(
                    f"These limits leave {most / 1e3:,.0f} kB for a large flow, which is no large flow: choose more "
                    "with --packets or --share, fewer flows at the same time, or --classes without large."
                )
        burst_s = room.needed_s(burst, path)
        if burst_s > _PART:
            raise MeasureError(
                f"These limits are too small for {name} flows of {bytes_text(burst)}: choose more with --packets or "
                f"--share, or --classes without {name}."
            )
        gap_s = part_s * concurrency
        pause_s = 0.0 if name == LARGE else self.gap_s
        return FlowLane(name, place, connections, size, burst, max(pause_s, gap_s), pause_s)

    def _step_s(self, lanes: Sequence[FlowLane], room: FlowRoom) -> float:
        large = lanes[-1]
        return large.gap_s * large.size / large.burst if large.flow_class == LARGE else _SMALL_S


def bytes_text(size: int) -> str:
    """Return a size such as `8 KB`."""
    return f"{size >> 20} MB" if size >= 1 << 20 else f"{size >> 10} KB" if size >= 1 << 10 else f"{size} B"
