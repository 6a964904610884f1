"""`measure sizes`: latency and throughput by message size, one at a time and at a fixed rate.

The design follows TruCluster's figures 5 and 6. Each size is measured in short rounds in random order, so that a
disturbance of some seconds does not fall on one size, and rounds are samples for a rank test.
"""

from __future__ import annotations

import random
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from checks.measure.load_limits import LoadLimits, incomplete_bytes
from checks.measure.load_plan import PlannedLoad
from checks.measure.measure_error import MeasureError
from checks.measure.testbed import Experiment, Testbed
from checks.model.kept_percentiles import percentile_or_why
from checks.model.measurement import MeasuredPath, MeasuredSizes, SizeRound, SizeSummary
from checks.model.packet_sizes import IP_HEADER, UDP_HEADER, WIRE_BYTES, fragments_of
from checks.model.percentiles import percentile
from checks.model.wording import counted

USUAL_SIZES = (64, 200, 512, 1472, 2048, 4096, 8192, 8972, 16_384, 32_768, 65_507)
TRAINS = (2, 8, 16)
"""Blocks of 8 KB that answer one request: a multiblock read brings up to 128 KB, as a datagram for each block."""
TRAIN_BYTES = 8192
LEAST_BYTES, MOST_BYTES = 28, 65_507
_PART_OF_CAP = 0.25
"""Messages at a fixed rate take this part of the packets a second that the limits allow."""
_MOST_RATE = 500.0
_TRAIN_IN_FLIGHT = 8
"""Packets in flight of a train that the kernel answers: the hard limit."""


@dataclass(frozen=True, slots=True)
class _Series:
    path: int
    size: int
    train: int
    rate: float


@dataclass
class _Raw:
    """All rounds of a series."""

    times_us: list[float] = field(default_factory=list)
    rounds: list[SizeRound] = field(default_factory=list)


class Sizes(Experiment):
    """The experiment. `result` has what was measured so far at any time."""

    kind = "sizes"

    def __init__(
        self,
        sizes: Sequence[int] = USUAL_SIZES,
        trains: Sequence[int] = TRAINS,
        *,
        rounds: int = 8,
        round_s: float = 1.0,
        seed: int = 0,
    ) -> None:
        """`round_s`: seconds of one size in one round, one half one at a time, one at a rate. Raises MeasureError."""
        wrong = [size for size in sizes if not LEAST_BYTES <= size <= MOST_BYTES]
        if wrong or not sizes:
            raise MeasureError(f"A size is from {LEAST_BYTES} to {MOST_BYTES:,} bytes, not {wrong[0] if wrong else 0}.")
        if len(set(sizes)) != len(sizes):
            raise MeasureError("A size is named twice.")
        if not 1 <= rounds <= 100:
            raise MeasureError("The rounds must be from 1 to 100.")
        if not 0.2 <= round_s <= 30:
            raise MeasureError("A round takes from 0.2 s to 30 s.")
        self._sizes, self._trains, self._rounds, self._round_s = tuple(sizes), tuple(trains), rounds, round_s
        self.seed = seed
        self._raw: dict[_Series, _Raw] = defaultdict(_Raw)
        self._paths: tuple[MeasuredPath, ...] = ()
        self._is_running = False

    def plan(self, paths: Sequence[MeasuredPath], limits: LoadLimits) -> PlannedLoad:
        """Return what will be sent at most."""
        series = list(self._series(paths, limits))
        messages = {one: self._most_messages(one, paths[one.path], limits) * self._rounds for one in series}
        packets = {one: 2 * fragments_of(one.size, paths[one.path].mtu) * one.train for one in series}
        wire = {one: 2 * _wire_bytes(one, paths[one.path].mtu) for one in series}
        return PlannedLoad(
            title=f"{counted(len(self._sizes), 'message size')} from {min(self._sizes)} to {max(self._sizes):,} bytes"
            + (f", and trains of up to {max(self._trains)} blocks" if self._trains else "")
            + f", on {counted(len(paths), 'path')}, {counted(self._rounds, 'round')} in random order",
            seconds=len(series) * self._seconds * self._rounds,
            packets=round(sum(messages[one] * packets[one] for one in series)),
            wire_bytes=round(sum(messages[one] * wire[one] for one in series)),
            peak_packets_per_s=limits.packets_per_s,
            peak_bps=max(
                self._most_messages(one, paths[one.path], limits) / self._seconds * wire[one] / 2 * 8 for one in series
            ),
            most_incomplete_bytes=max(incomplete_bytes(one.size, paths[one.path].mtu) * one.train for one in series),
        )

    async def run(self, testbed: Testbed) -> None:
        """Measure until done. Raises HaltedError; `result` then has the rounds so far."""
        self._paths, self._is_running = testbed.paths, True
        try:
            await self._run(testbed)
        finally:
            self._is_running = False
        testbed.demand_running()

    async def _run(self, testbed: Testbed) -> None:
        chance = random.Random(self.seed)  # noqa: S311 - an order, no secret
        series = list(self._series(testbed.paths, testbed.limits))
        self._raw.update({one: _Raw() for one in series})
        idle = await testbed.order({"order": "idle", "seconds": 1.0}, 1.0)
        idle_share = idle["busy_s"] / 1.0
        done = 0
        for number in range(self._rounds):
            chance.shuffle(series)
            for one in series:
                path = testbed.paths[one.path]
                testbed.progress(
                    f"{_name(one)} to {path.target_node} on {path.network}", done, len(series) * self._rounds
                )
                await self._measure(testbed, one, number, idle_share)
                done += 1

    def result(self) -> MeasuredSizes:
        """Return the rounds so far, and their summaries; while it runs, also empty summaries of the sizes to come."""
        rounds = sorted(
            (one for raw in self._raw.values() for one in raw.rounds),
            key=lambda r: (r.path, r.rate, r.train, r.size, r.round),
        )
        summaries = [self._summary(one, raw) for one, raw in self._raw.items() if raw.rounds or self._is_running]
        return MeasuredSizes(
            tuple(rounds), tuple(sorted(summaries, key=lambda s: (s.path, s.rate > 0, s.train, s.size)))
        )

    def _series(self, paths: Sequence[MeasuredPath], limits: LoadLimits) -> Iterator[_Series]:
        for number, path in enumerate(paths):
            for size in self._sizes:
                yield _Series(number, size, 1, 0)
                yield _Series(number, size, 1, _rate_of(size, path, limits))
            for train in self._trains:
                if path.far_end != "kernel" or train <= _TRAIN_IN_FLIGHT:
                    yield _Series(number, TRAIN_BYTES, train, 0)

    @property
    def _seconds(self) -> float:
        """The seconds of a series in one round."""
        return self._round_s / 2

    def _most_messages(self, one: _Series, path: MeasuredPath, limits: LoadLimits) -> float:
        """Return the messages of one series in one round that the limits allow."""
        by_packets = limits.packets_per_s / (fragments_of(one.size, path.mtu) * one.train)
        by_bits = limits.bits_per_s(path.speed_mbps) / 8 / _wire_bytes(one, path.mtu)
        most = min(by_packets, by_bits)
        return self._seconds * (min(most, one.rate) if one.rate else most) + 1

    async def _measure(self, testbed: Testbed, one: _Series, number: int, idle_share: float) -> None:
        path = testbed.paths[one.path]
        before = await self._far_cpu_ns(testbed, one.path)
        at = time.time()
        found = await testbed.order(
            {
                "order": "exchange",
                **testbed.address(one.path),
                "size": one.size,
                "train": one.train,
                "rate": one.rate,
                "packets": fragments_of(one.size, path.mtu) * one.train,
                "wire_bytes": _wire_bytes(one, path.mtu),
                "bits_per_s": testbed.limits.bits_per_s(path.speed_mbps),
                "holds": _holds(one, path),
                "seconds": self._seconds,
                "in_flight": testbed.limits.in_flight,
            },
            self._seconds,
        )
        after = await self._far_cpu_ns(testbed, one.path)
        times = found.pop("times_us")
        testbed.lateness_us += found["lateness_us"]
        answers = len(times)
        there = (after - before) / 1000 if before is not None and after is not None else None
        raw = self._raw[one]
        raw.times_us += times
        raw.rounds.append(
            SizeRound(
                path=one.path,
                size=one.size,
                train=one.train,
                rate=one.rate,
                round=number,
                at=at,
                seconds=found["seconds"],
                sent=found["sent"],
                lost=found["lost"],
                refused=found["refused"],
                withheld=found["withheld"],
                p50_us=percentile(times, 0.5),
                p99_us=percentile(times, 0.99),
                mean_us=sum(times) / answers if answers else None,
                max_us=max(times, default=None),
                lateness_p99_us=percentile(found["lateness_us"], 0.99),
                cpu_here_us=found["cpu_s"] * 1e6 / answers if answers else None,
                cpu_there_us=there / answers if there is not None and answers else None,
                cpu_node_us=max(0.0, found["busy_s"] - idle_share * found["seconds"]) * 1e6 / answers
                if answers
                else None,
            )
        )

    async def _far_cpu_ns(self, testbed: Testbed, path: int) -> int | None:
        counts = await testbed.far_counts(path)
        return None if counts is None else counts.cpu_ns

    def _summary(self, one: _Series, raw: _Raw) -> SizeSummary:
        answers, rounds = len(raw.times_us), raw.rounds
        seconds = sum(r.seconds for r in rounds)
        return SizeSummary(
            path=one.path,
            size=one.size,
            train=one.train,
            rate=one.rate,
            frames=fragments_of(one.size, self._paths[one.path].mtu) * one.train,
            answers=answers,
            sent=sum(r.sent for r in rounds),
            lost=sum(r.lost for r in rounds),
            p50_us=percentile(raw.times_us, 0.5),
            p99_us=percentile_or_why(raw.times_us, 0.99, "answer"),
            p999_us=percentile_or_why(raw.times_us, 0.999, "answer"),
            messages_per_s=answers / seconds if seconds else None,
            megabytes_per_s=answers * one.size * one.train / seconds / 1e6 if seconds else None,
            cpu_here_us=_mean(rounds, "cpu_here_us"),
            cpu_there_us=_mean(rounds, "cpu_there_us"),
            cpu_node_us=_mean(rounds, "cpu_node_us"),
        )


def _mean(rounds: Sequence[SizeRound], name: str) -> float | None:
    values: list[Any] = [value for r in rounds if (value := getattr(r, name)) is not None]
    return sum(values) / len(values) if values else None


def _holds(one: _Series, path: MeasuredPath) -> dict[str, int]:
    """Return the memory for reassembly that an incomplete message holds at each node that receives it in fragments."""
    size = incomplete_bytes(one.size, path.mtu) * one.train
    # Of a train, a program gets a small request; pings come back as they are.
    nodes = (path.source_node,) if one.train > 1 and path.far_end != "kernel" else (path.source_node, path.target_node)
    return dict.fromkeys(nodes, size) if size else {}


def _wire_bytes(one: _Series, mtu: int) -> int:
    """Return the bytes on the wire of a message, one way."""
    headers = fragments_of(one.size, mtu) * (IP_HEADER[4] + WIRE_BYTES)
    return (one.size + UDP_HEADER + headers) * one.train


def _rate_of(size: int, path: MeasuredPath, limits: LoadLimits) -> float:
    frames = fragments_of(size, path.mtu)
    by_bits = limits.bits_per_s(path.speed_mbps) / 8 / _wire_bytes(_Series(0, size, 1, 0), path.mtu)
    return max(1.0, round(min(_MOST_RATE, limits.packets_per_s * _PART_OF_CAP / frames, by_bits * _PART_OF_CAP)))


def _name(one: _Series) -> str:
    what = f"{one.train} blocks of 8 KB" if one.train > 1 else f"{one.size:,} bytes"
    return f"{what} at {one.rate:,.0f}/s" if one.rate else f"{what}, one at a time"
