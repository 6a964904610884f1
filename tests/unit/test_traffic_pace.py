"""The pace of the traffic feed: ticks at multiples of the interval, a changed interval, and stalls."""

import asyncio
import itertools

import pytest

from checks.traffic.pace import Pace, happens_within, phase_of, tick_after


class Clock:
    """A clock that advances only while a task waits: a wait of a minute lasts until its event."""

    def __init__(self) -> None:
        self.now_s = 1000.03

    def __call__(self) -> float:
        return self.now_s

    async def wait(self, event: asyncio.Event, seconds: float) -> bool:
        if seconds > 10:
            return await event.wait()
        self.now_s += seconds
        return False


@pytest.mark.parametrize("is_first", [True, False])
async def test_a_changed_interval_ends_the_wait_for_a_tick(is_first):
    clock = Clock()
    pace = Pace(0.01, clock=clock, wait=clock.wait)
    ticks = pace.ticks()
    if not is_first:
        await anext(ticks)
    pace.interval_s = 60.0
    waiting = asyncio.create_task(anext(ticks))
    await settled()
    assert not waiting.done()
    before_s = clock.now_s
    pace.interval_s = 0.01
    await waiting
    # The first tick comes half an interval later than it could.
    assert 0 < clock.now_s - before_s < 0.0151
    await ticks.aclose()


async def test_after_a_stall_the_missed_ticks_are_skipped():
    clock = Clock()
    ticks_s: list[float] = []
    async for _ in Pace(0.05, clock=clock, wait=clock.wait).ticks():
        ticks_s.append(clock.now_s)
        if len(ticks_s) == 1:
            clock.now_s += 0.42  # a stall of the whole process
        if len(ticks_s) == 4:
            break
    assert ticks_s == pytest.approx([1000.1, 1000.55, 1000.6, 1000.65])


async def settled():
    """Everything that can go on without time passing has gone on."""
    for _ in range(10):
        await asyncio.sleep(0)


@pytest.mark.parametrize("comes", [True, False])
async def test_a_wait_ends_with_its_event_or_its_time(comes):
    event = asyncio.Event()
    waiting = asyncio.create_task(happens_within(event, 60 if comes else 0.001))
    await settled()
    if comes:
        event.set()
    assert await waiting is comes


@pytest.mark.parametrize("interval_s", [1.0, 2.0, 4.0, 15.0])
def test_processes_of_one_node_and_of_others_sample_at_moments_of_their_own(interval_s):
    places = [("rac1", pid) for pid in range(4711, 4715)] + [(f"rac{n}", 4711) for n in range(2, 5)]
    moments = sorted(tick_after(1000.0, interval_s, phase_of(*place)) - 1000.0 for place in places)
    assert all(0 < moment <= interval_s for moment in moments)
    apart = [b - a for a, b in itertools.pairwise(moments)]
    assert min(apart) > interval_s / 200


def test_a_slower_source_of_the_same_racwire_shares_its_moments():
    phase_s = phase_of("rac1", 4711)
    fast = {round(tick_after(1000.0 + n, 1.0, phase_s), 6) for n in range(60)}
    assert {round(tick_after(1000.0 + n, 4.0, phase_s), 6) for n in range(56)} <= fast


async def test_ticks_have_the_phase():
    clock = Clock()
    ticks = Pace(0.5, phase_s=0.2, clock=clock, wait=clock.wait).ticks()
    await anext(ticks)
    assert clock.now_s == pytest.approx(1000.7)
    await ticks.aclose()
