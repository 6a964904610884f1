"""Flows of `racwire measure mix`: the share of a link that they reach and what bounds it, pauses, and priorities."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Coroutine, Iterator, Sequence
from typing import Any

import pytest

from checks.measure import testbed as of_testbed
from checks.measure.flow_figures import TOGETHER, figures_of, summaries_of
from checks.measure.flow_plan import FLOW_BYTES, FlowPlan, FlowRoom, FlowStep
from checks.measure.link_fill import Filling
from checks.measure.load_limits import limits_of
from checks.measure.measure_error import HaltedError, MeasureError
from checks.measure.mix import Mix
from checks.measure.near_end.tcp_flows import _Lane
from checks.measure.priority_effect import effects_of
from checks.model.flow_bound import FlowBound
from checks.model.measurement import FlowRound, MeasuredMix, MeasuredPath
from checks.report.measured.drawings import drawings_of
from checks.report.measured.result_parts import parts_of
from checks.report.measurement_headline import headline
from checks.traffic.imports.measurement_result import run_of
from tests.unit.measurement_support import Clock, measurement
from tui.cli.enter_key import wait_for_enter

# --- the share of the link --------------------------------------------------------------------------------------------


def room(mbps: int, mtu: int, **limits: Any) -> FlowRoom:
    paths = [
        MeasuredPath("192.168.10.0/24", "rac1", "192.168.10.1", f"rac{n}", f"192.168.10.{n}", "eth1", mtu, mbps)
        for n in (2, 3, 4)
    ]
    return FlowRoom(paths, limits_of(most_share=0.95, **limits))


def together(of: FlowRoom, concurrency: int, classes: Sequence[str] = tuple(FLOW_BYTES), **more: Any) -> FlowStep:
    plan = FlowPlan(classes, (concurrency,), True, more.get("gap_s", 0.01), has_alone=False)
    (step,) = plan.steps(of)
    return step


@pytest.mark.parametrize("mtu", [1500, 9000])
@pytest.mark.parametrize(("mbps", "flows"), [(50, 4), (100, 1), (100, 12)])
def test_all_flows_together_reach_the_share_and_leave_no_second_with_more(mbps: int, flows: int, mtu: int) -> None:
    of = room(mbps, mtu, link_share=0.8, packets_per_s=20_000)
    filling = of.filling(together(of, flows))
    assert filling.planned_bound == ""
    assert filling.planned_bps == pytest.approx(0.9 * 0.8 * mbps * 1e6, rel=0.001)


def test_a_plan_that_offers_less_names_what_binds_it() -> None:
    few_packets = room(1000, 1500, link_share=0.8, packets_per_s=2_000)
    assert few_packets.filling(together(few_packets, 1)).planned_bound == FlowBound.PACKETS
    of = room(100, 9000, link_share=0.8, packets_per_s=20_000)
    assert of.filling(together(of, 1, ("small", "medium"))).planned_bound == FlowBound.CLASSES
    (note,) = (line for line in Mix(("small", "medium"), is_towards_here=True).plan(of.paths, of.limits).notes
               if "Together" in line)  # fmt: skip
    assert "use 16 % of the link on average" in note
    assert "(--classes, --flows, --gap)" in note


def filled(delivered: float = 36e6, cpu_s: float = 0.1, **held: float) -> Any:
    one = Filling((0,), 20, None, 50e6, 40e6 * 1.1, 39.6e6, is_by_packets=False)
    one.add(
        10.0, delivered / 8 * 10, held.pop("broken", 0.0) / 8 * 10, [{k: v / 8 * 10 for k, v in held.items()}], cpu_s
    )
    return one.fact()


@pytest.mark.parametrize(
    ("fill", "bound"),
    [
        (filled(39e6), ""),
        (filled(30e6, late=6e6, limits=3e6), FlowBound.LATE),
        (filled(30e6, limits=6e6), FlowBound.LIMITS),
        (filled(30e6, classes=6e6), FlowBound.CLASSES),
        (filled(30e6, answers=6e6), FlowBound.ANSWERS),
        (filled(30e6), FlowBound.ANSWERS),  # flows that ended after their pace
        (filled(30e6, cpu_s=9.5), FlowBound.CPU_THERE),
        (filled(30e6, broken=7e6), FlowBound.BROKEN),
    ],
)
def test_what_held_back_most_is_the_bound(fill: Any, bound: str) -> None:
    assert fill.bound == bound
    assert sum(fill.held_bps.values()) + fill.delivered_bps == pytest.approx(fill.mean_bps)


def test_a_full_link_is_a_bound_of_its_own() -> None:
    one = Filling((0,), 20, None, 40e6, 50e6 * 1.1, 49e6, is_by_packets=False)
    one.add(10.0, 38e6 / 8 * 10, 0.0, [{}], 0.0)
    assert one.fact().bound == FlowBound.LINK


# --- the pace of one connection ---------------------------------------------------------------------------------------


class Sink:
    """A connection that takes all."""

    def send(self, data: memoryview) -> int:
        return len(data)

    def close(self) -> None: ...


def lane(clock: Clock, **more: Any) -> _Lane:
    order = {"name": "block", "size": 8192, "burst": 8192, "gap_s": 0.02, "pause_s": 0.0, "flows": -1, "mtu": 1500}
    one = _Lane({**order, "is_from_far_end": False, **more})
    one._socket = Sink()  # type: ignore[assignment]
    one.due_s = clock.now
    return one


def held(one: _Lane) -> dict[str, float]:
    """Seconds of its pace that a lane lost, by what held it."""
    seconds = {reason: round(size / one.wire_bytes * one.gap_s, 6) for reason, size in one.held_bytes.items()}
    return {reason: lost_s for reason, lost_s in seconds.items() if lost_s}


def test_what_a_connection_loses_is_that_of_what_held_it(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, chance = Clock(monkeypatch), random.Random(1)
    one = lane(clock)
    one.go(clock.now, chance)
    one.is_under_way = False
    one.due_s = clock.now + 0.02
    clock.tick(0.03)
    one.end(clock.now)  # 10 ms after the next was due
    one.hold(FlowBound.LIMITS, clock.now, 0.005)
    assert one.look_s == pytest.approx(clock.now + 0.005)
    clock.tick(0.007)
    one.go(clock.now, chance)
    assert held(one) == {FlowBound.ANSWERS: 0.01, FlowBound.LIMITS: 0.005, FlowBound.LATE: 0.002}


def test_the_next_flow_starts_a_pause_after_the_end_of_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    one = lane(clock, pause_s=0.008, gap_s=0.01)
    one.go(clock.now, random.Random(1))
    one.is_under_way = False
    one.due_s = clock.now + 0.01
    clock.tick(0.03)
    one.end(clock.now)
    assert one.due_s == pytest.approx(clock.now + 0.008)
    assert held(one) == {FlowBound.ANSWERS: 0.02, FlowBound.CLASSES: 0.008}


def test_a_large_flow_makes_up_for_a_short_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, chance = Clock(monkeypatch), random.Random(1)
    one = lane(clock, size=1 << 20, burst=65_536, flows=1)
    begun_s = clock.now
    one.go(clock.now, chance)
    clock.tick(0.09)
    one.go(clock.now, chance)
    assert one.due_s == pytest.approx(begun_s + 0.04)
    assert held(one) == {}


@pytest.mark.parametrize("wrong", [{"gap_s": -0.001}, {"gap_s": 2.0}, {"turns": 3}, {"turns": 18}])
def test_a_wrong_pause_or_number_of_turns_is_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(MeasureError, match=r"pause between two flows|turns are an even number"):
        Mix(**wrong)


# --- priorities -------------------------------------------------------------------------------------------------------


def rounds(off: Sequence[Sequence[float]], on: Sequence[Sequence[float]], name: str = "block") -> Iterator[FlowRound]:
    """Yield rounds of the turns off, on, on, off: of each the means of its rounds."""
    number = 0
    for turn, (is_on, means) in enumerate([(False, off[0]), *((True, one) for one in on), (False, off[1])]):
        for mean in means:
            yield FlowRound(
                path=0, flow_class=name, size=FLOW_BYTES[name], company=TOGETHER, concurrency=20, round=number, at=0.0,
                seconds=2.0, broken=0, prioritised=is_on, turn=turn, **figures_of([mean * 0.9, mean * 1.1]),
            )  # fmt: skip
            number += 1


SIX = (0.96, 0.98, 1.0, 1.01, 1.03, 1.05)


def six(mean: float) -> list[float]:
    return [mean * one for one in SIX]


@pytest.mark.parametrize(
    ("off", "on", "verdict"),
    [
        ((six(40), six(41)), (six(25), six(26)), "less"),
        ((six(40), six(41)), (six(70), six(71)), "more"),
        ((six(40), six(41)), (six(40.5), six(41)), "no difference"),
        # The turns without priorities differ by more among themselves.
        ((six(30), six(60)), (six(30), six(29)), "cannot tell"),
        (([40, 41], [40, 42]), ([20, 21], [20, 22]), "cannot tell"),
    ],
)
def test_priorities_are_judged_by_the_rank_test_and_the_noise_of_the_turns(off: Any, on: Any, verdict: str) -> None:
    (one,) = effects_of(rounds(off, on), [(0,)])
    assert one.verdict == verdict
    assert (one.flows_without, one.flows_with) == (2 * len([*off[0], *off[1]]), 2 * len([*on[0], *on[1]]))
    assert (one.p is None) is (len(off[0]) < 3)
    if verdict == "less":
        assert one.change == pytest.approx(-0.37, abs=0.01)
        assert one.change_low is not None
        assert one.change_high is not None
        assert one.change_low < one.change < one.change_high < 0


def test_of_one_state_no_effect_is_claimed() -> None:
    off = [one for one in rounds((six(40), six(41)), (six(25),)) if not one.prioritised]
    assert effects_of(off, [(0,)]) == []


class Bench:
    """The testbed of a mix that sends nothing: keeps what was asked and what was sent, in their order."""

    def __init__(self) -> None:
        of = room(50, 1500, link_share=0.8, packets_per_s=20_000)
        self.paths, self.limits = tuple(of.paths), of.limits
        self.lateness_us: list[float] = []
        self.done: list[str] = []

    def progress(self, *words: Any) -> None: ...

    def demand_running(self) -> None: ...

    def address(self, number: int) -> dict[str, Any]:
        return {}

    async def far_counts(self, number: int) -> None: ...

    async def wait_for(self, work: Coroutine[Any, Any, None]) -> None:
        await work

    async def switch(self, is_on: bool) -> None:
        self.done.append("on" if is_on else "off")

    async def order(self, order: dict[str, Any], seconds: float) -> dict[str, Any]:
        self.done.append(f"{len(order['lanes'])} at once")
        assert {one["pause_s"] for one in order["lanes"]} == {0.0, 0.008}
        lanes = [{"name": one["name"], "flows": [(0.0, 2.0)], "broken": 0, "held": {}} for one in order["lanes"]]
        return {"lanes": lanes, "lateness_us": [], "at": 1.0, "seconds": 2.0, "stopped": ""}


async def test_the_switch_is_set_between_turns_and_not_between_equal_ones() -> None:
    bench: Any = Bench()
    mix = Mix(concurrencies=(4,), rounds=1, is_towards_here=True, gap_s=0.008, turns=4)
    mix.switching = bench.switch
    await mix.run(bench)
    assert bench.done == ["off", "20 at once", "on", "20 at once", "20 at once", "off", "20 at once"]
    found = mix.result()
    assert {(one.turn, one.prioritised, one.company) for one in found.rounds} == {
        (0, False, TOGETHER), (1, True, TOGETHER), (2, True, TOGETHER), (3, False, TOGETHER),
    }  # fmt: skip
    assert [(one.prioritised, one.paths, one.seconds) for one in found.fills] == [
        (False, (0, 1, 2), 4.0), (True, (0, 1, 2), 4.0),
    ]  # fmt: skip
    assert [one.flow_class for one in found.effects] == list(FLOW_BYTES)
    assert found.gap_ms == 8.0


async def test_rounds_that_were_stopped_fill_no_link() -> None:
    class Stopping(Bench):
        async def order(self, order: dict[str, Any], seconds: float) -> dict[str, Any]:
            return {**await super().order(order, seconds), "stopped": "racwire was stopped"}

    bench: Any = Stopping()
    mix = Mix(concurrencies=(4,), rounds=1, is_towards_here=True, gap_s=0.008, turns=2)
    mix.switching = bench.switch
    await mix.run(bench)
    found = mix.result()
    assert found.fills == ()
    assert {one.verdict for one in found.effects} == {"cannot tell"}


async def test_a_stop_ends_the_wait_for_the_switch() -> None:
    class Sender:
        def stop(self) -> None: ...

    sender: Any = Sender()
    nobody: Any = None
    testbed = of_testbed.Testbed((), (), sender, limits_of(), nobody, nobody, lambda *_: None)
    asyncio.get_running_loop().call_soon(lambda: testbed.halt("The operator stopped it.", is_harm=False))
    with pytest.raises(HaltedError, match="The operator stopped it"):
        await testbed.wait_for(asyncio.sleep(3600))


async def test_a_line_of_a_pipe_counts_as_enter_and_the_end_of_stdin_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs, ours = os.pipe()
    keep = os.dup(0)
    os.dup2(theirs, 0)
    try:
        os.write(ours, b"done\n\n")
        assert await wait_for_enter()
        assert await wait_for_enter()
        os.close(ours)
        assert not await wait_for_enter()
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        assert not await wait_for_enter()
    finally:
        os.dup2(keep, 0)
        os.close(keep)
        os.close(theirs)


def test_the_table_by_class_and_the_bars_have_both_states() -> None:
    found = [
        *rounds((six(40), six(41)), (six(25), six(26))),
        *rounds((six(900), six(901)), (six(899), six(902)), "large"),
    ]
    result = MeasuredMix(tuple(found), tuple(summaries_of(found)), (), tuple(effects_of(found, [(0,)])), 8.0)
    one = measurement(result)
    (table,) = (part for part in parts_of(one) if getattr(part, "title", "").startswith("without and with"))
    (block, large) = table.table.rows  # type: ignore[union-attr]
    assert (block[0], block[4:7], block[-1]) == ("block", ("40.70", "25.61", "-37 %"), "less")
    assert (large[0], large[-1]) == ("large", "no difference")
    assert headline(one) == "block 40.7 ms without priorities, 25.6 ms with them"
    bars = next(iter(drawings_of(one)))
    assert "block: 40.7 ms without, 25.6 ms with, -37 %" in bars.description
    widths = [float(mark.partition('width="')[2].partition('"')[0]) for mark in bars.marks[6:] if "<rect" in mark]
    assert widths[1] / widths[0] == pytest.approx(25.61 / 40.7, abs=0.01)
    names = {metric.name for metric in run_of(one, "mix").measured}
    assert {
        "block together without priorities, 20 at a time, mean",
        "block together with priorities, 20 at a time, mean",
    } <= names
