"""`measure mix`: completion times of small, medium and large flows, alone and together.

The design follows Cisco's measurement of dynamic packet prioritisation. Each class has the same part of what the limits
allow alone and together, so that a slowdown comes from the queues on the way, and not from the limits.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Coroutine, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from checks.measure.flow_figures import TOGETHER, figures_of, summaries_of
from checks.measure.flow_plan import FLOW_BYTES, LARGE, USUAL_GAP_S, FlowLane, FlowPlan, FlowRoom, FlowStep, bytes_text
from checks.measure.link_fill import Filling
from checks.measure.load_limits import LoadLimits
from checks.measure.load_plan import PlannedLoad
from checks.measure.measure_error import MeasureError
from checks.measure.near_end.tcp_flows import completed, packets_of_flow, wire_bytes_of_flow
from checks.measure.priority_effect import effects_of
from checks.measure.testbed import Experiment, Testbed
from checks.model.measurement import FlowRound, MeasuredMix, MeasuredPath
from checks.model.wording import counted, lasting, listed
from checks.rules.link_fill_text import planned_fill_text

MOST_TURNS = 16
Switching = Callable[[bool], Coroutine[Any, Any, None]]
"""Returns once the switch prioritises the first packets of flows, or no longer does: a person sets it."""


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
        gap_s: float = USUAL_GAP_S,
        turns: int = 0,
        seed: int = 0,
    ) -> None:
        """`concurrencies`: connections of each class, measured one after the other. `turns`: how often all rounds are
        sent, without and with priorities of the switch. Raises MeasureError."""
        if not 1 <= rounds <= 100:
            raise MeasureError("The rounds must be from 1 to 100.")
        if turns and (turns % 2 or not 2 <= turns <= MOST_TURNS):
            raise MeasureError(f"The turns are an even number, from 2 to {MOST_TURNS}.")
        if turns and len(classes) < 2:
            raise MeasureError("Priorities need flows of two classes: what they change is which flow waits.")
        self._flows = FlowPlan(tuple(classes), tuple(concurrencies), is_towards_here, gap_s, has_alone=not turns)
        self._flows.demand_possible()
        self._rounds, self._turns = rounds, turns
        self.switching: Switching | None = None
        """Who sets the priorities of the switch; needed with turns."""
        self.seed = seed
        self._found: list[FlowRound] = []
        self._fillings: dict[tuple[tuple[int, ...], int, bool | None], Filling] = {}

    @property
    def _states(self) -> list[bool | None]:
        """Whether the switch prioritises, for each turn: off, on, on, off, so that a slow drift falls on both alike."""
        return [bool((turn + 1) // 2 % 2) for turn in range(self._turns)] or [None]

    def plan(self, paths: Sequence[MeasuredPath], limits: LoadLimits) -> PlannedLoad:
        """Return what will be sent at most. Raises MeasureError where the limits are too small for these flows."""
        room = FlowRoom(paths, limits)
        steps = list(self._flows.steps(room))
        rounds = self._rounds * (self._turns or 1)
        bytes_sent = packets = 0.0
        for step in steps:
            for lane in step.lanes:
                mtu, own = paths[lane.path].mtu, lane.connections
                number = own if lane.flow_class == LARGE else step.seconds * own / lane.gap_s
                number = (number + own) * rounds
                bytes_sent += number * wire_bytes_of_flow(lane.size, mtu)
                packets += number * packets_of_flow(lane.size, mtu)
        seconds = sum(step.seconds for step in steps) * rounds
        if bytes_sent > limits.most_bytes:
            raise MeasureError("These flows need more bytes than a measurement may send: choose fewer rounds.")
        return PlannedLoad(
            title=f"flows of {listed(map(_sized, self._flows.names))}, {self._company()}, on "
            f"{counted(len(paths), 'path')}, {counted(self._rounds, 'round')}"
            + (f" in each of {self._turns} turns" if self._turns else " in random order"),
            seconds=seconds * 1.2,
            # The receiver acknowledges every second segment at most.
            packets=round(packets * 1.5),
            wire_bytes=round(bytes_sent + packets * 0.5 * 90),
            peak_packets_per_s=limits.packets_per_s,
            peak_bps=room.bits_per_s,
            notes=tuple(self._notes(room, steps)),
        )

    def _company(self) -> str:
        if self._turns:
            return "together, without and with priorities of the switch"
        return "each alone and together" if len(self._flows.names) > 1 else "alone"

    def _notes(self, room: FlowRoom, steps: Sequence[FlowStep]) -> Iterator[str]:
        if self._turns:
            yield (
                "Someone sets the priorities of the switch, so that the first packets of each flow leave a port first: "
                f"{', then '.join('on' if on else 'off' for on, _ in groupby(self._states))}. racwire asks for each, "
                "sends nothing meanwhile, and goes on at Enter. This time is part of --whole."
            )
        step = next((one for one in steps if one.lanes[-1].flow_class == LARGE), None)
        if step is not None and (size := step.lanes[-1].size) < FLOW_BYTES[LARGE]:
            rate = size * sum(one.connections for one in step.lanes if one.flow_class == LARGE) / step.seconds
            yield (
                f"The large flows are {bytes_text(size)}, not 32 MB: these limits leave {rate / 1e6:,.1f} MB/s for "
                f"them, at which 32 MB take {lasting(FLOW_BYTES[LARGE] / rate)}."
            )
        yield f"After each flow its connection pauses for {self._flows.gap_s * 1000:g} ms or more."
        for one in (room.filling(step) for step in steps if step.company == TOGETHER):
            yield planned_fill_text(one.fact(), one.planned_bound)
        if self._flows.is_towards_here:
            yield (
                "The flows come from the peers to this node. With several peers the large flows come from the first "
                "half of them, and the others from the rest, so that they meet at the switch port of this node. Large "
                "flows of two peers at the same time fill its buffer: choose --flows 4."
            )

    async def run(self, testbed: Testbed) -> None:
        """Measure until done. Raises HaltedError; `result` then has the rounds so far."""
        chance = random.Random(self.seed)  # noqa: S311 - an order, no secret
        room = FlowRoom(testbed.paths, testbed.limits)
        steps = list(self._flows.steps(room))
        done, total = 0, len(steps) * self._rounds * (self._turns or 1)
        was: bool | None = None
        for turn, is_on in enumerate(self._states):
            if is_on is not None and is_on is not was:
                assert self.switching is not None, "turns need a person at the switch"
                testbed.progress(f"priorities of the switch: {'on' if is_on else 'off'}?", 0, 0)
                await testbed.wait_for(self.switching(is_on))
            was = is_on
            for number in range(turn * self._rounds, (turn + 1) * self._rounds):
                chance.shuffle(steps)
                for step in steps:
                    what = listed(dict.fromkeys(lane.flow_class for lane in step.lanes))
                    testbed.progress(f"{what} flows, {step.concurrency} at a time", done, total)
                    await self._measure(testbed, room, step, _Round(number, turn, is_on), chance.randrange(1 << 30))
                    done += 1
        testbed.demand_running()

    def result(self) -> MeasuredMix:
        """Return the rounds so far, and their summaries."""
        names = list(FLOW_BYTES)
        rounds = sorted(
            self._found,
            key=lambda r: (r.path, r.company, r.concurrency, bool(r.prioritised), names.index(r.flow_class), r.round),
        )
        return MeasuredMix(
            tuple(rounds),
            tuple(summaries_of(rounds)),
            tuple(one.fact() for one in self._fillings.values() if one.seconds),
            tuple(effects_of(rounds, list(dict.fromkeys(paths for paths, _, _ in self._fillings)))),
            self._flows.gap_s * 1000,
        )

    async def _measure(self, testbed: Testbed, room: FlowRoom, step: FlowStep, number: _Round, seed: int) -> None:
        lanes = [
            {
                **testbed.address(lane.path),
                "name": lane.name,
                "size": lane.size,
                "burst": lane.burst,
                "gap_s": lane.gap_s,
                "pause_s": lane.pause_s,
                "flows": 1 if lane.flow_class == LARGE else -1,
                "mtu": testbed.paths[lane.path].mtu,
                "is_from_far_end": self._flows.is_towards_here,
            }
            for lane in step.lanes
            for _ in range(lane.connections)
        ]
        longest_s = step.seconds * 3 + 5
        filling = room.filling(step, number.is_on) if step.company == TOGETHER else None
        cpu_s = await self._cpu_there(testbed, step) if filling else {}
        found = await testbed.order(
            {
                "order": "flows",
                "lanes": lanes,
                "seconds": 0.0 if any(lane["flows"] > 0 for lane in lanes) else step.seconds,
                "longest_s": longest_s,
                "bits_per_s": room.bits_per_s,
                "seed": seed,
            },
            longest_s * 2,
        )
        testbed.lateness_us += found["lateness_us"]
        for lane in step.lanes:
            self._found.append(self._round(lane, step, number, found))
        if filling is None:
            return
        filling = self._fillings.setdefault((filling.paths, filling.concurrency, filling.prioritised), filling)
        if found["stopped"]:
            return
        wire = {one.name: wire_bytes_of_flow(one.size, testbed.paths[one.path].mtu) for one in step.lanes}
        after_s = await self._cpu_there(testbed, step)
        filling.add(
            found["seconds"],
            sum(wire[one["name"]] * len(one["flows"]) for one in found["lanes"]),
            sum(wire[one["name"]] * one["broken"] for one in found["lanes"]),
            [one["held"] for one in found["lanes"]],
            max((after_s[path] - cpu_s[path] for path in after_s), default=0.0),
        )

    async def _cpu_there(self, testbed: Testbed, step: FlowStep) -> dict[int, float]:
        """Return the CPU seconds of the program of each peer so far."""
        counts = {path: await testbed.far_counts(path) for path in sorted({lane.path for lane in step.lanes})}
        return {path: one.cpu_ns / 1e9 for path, one in counts.items() if one is not None}

    def _round(self, lane: FlowLane, step: FlowStep, number: _Round, found: dict[str, Any]) -> FlowRound:
        broken = sum(one["broken"] for one in found["lanes"] if one["name"] == lane.name)
        return FlowRound(
            path=lane.path,
            flow_class=lane.flow_class,
            size=lane.size,
            company=step.company,
            concurrency=step.concurrency,
            round=number.number,
            prioritised=number.is_on,
            turn=number.turn,
            at=found["at"],
            seconds=found["seconds"],
            broken=broken,
            is_towards_here=self._flows.is_towards_here,
            **figures_of([took for _, took in completed(found, lane.name)]),
        )


class _Round(NamedTuple):
    """Which round of all, its turn, and whether the switch prioritises."""

    number: int
    turn: int
    is_on: bool | None


def _sized(name: str) -> str:
    return f"{bytes_text(FLOW_BYTES[name])} ({name})"
