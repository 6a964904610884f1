"""The pace of the instances' samples: it depends on their number and on trouble, and returns slowly."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.settings import TrafficSettings
from checks.rules.sampling_pace import (
    PX_PER_S,
    PaceCause,
    PaceJudge,
    SampledRound,
    pace_text,
    pairs_interval_s,
    samples_a_pair,
    statements_a_sample,
    usual_interval_s,
)
from checks.traffic.instances_pacer import InstancesPacer
from checks.traffic.pace import Pace

USUAL = TrafficSettings()
QUICK = 0.02


@pytest.mark.parametrize(
    ("instances", "interval_s"), [(1, 1), (2, 1), (4, 1), (5, 2), (8, 2), (9, 3), (16, 4), (64, 15), (255, 60)]
)
def test_the_interval_grows_with_the_number_of_instances(instances: int, interval_s: float) -> None:
    assert usual_interval_s(USUAL, 1.0, instances) == interval_s


@given(
    st.floats(1, 60),
    st.floats(1, 600),
    st.integers(1, 200),
    st.integers(1, 16),
)
def test_the_budget_of_px_slaves_holds_for_all_settings_and_for_all_racwires_together(
    base_s: float, pairs_s: float, instances: int, samplers: int
) -> None:
    settings = TrafficSettings(interval_s=base_s, pairs_interval_s=pairs_s)
    interval_s = usual_interval_s(settings, base_s, instances, samplers)
    assert interval_s >= base_s
    if interval_s < 60:
        # One statement with each sample; two of pairs and at most two of messages with one of so many samples.
        many = samples_a_pair(settings, base_s)
        each = 1 + 2 / many + min(2, many) / many
        assert each == pytest.approx(statements_a_sample(settings, base_s))
        assert samplers * each * instances / interval_s <= PX_PER_S + 1e-6
    assert pairs_interval_s(settings, base_s, interval_s) >= pairs_s


def test_pairs_slow_down_with_the_samples_up_to_a_minute() -> None:
    assert [pairs_interval_s(USUAL, 1.0, s) for s in (1, 2, 4, 30)] == [10, 20, 40, 60]
    assert pairs_interval_s(TrafficSettings(pairs_interval_s=120), 1.0, 1.0) == 120


def test_the_operators_interval_is_the_shortest() -> None:
    judge = PaceJudge(USUAL)
    assert judge.judge(SampledRound(2, QUICK), 10.0, 0).interval_s == 10
    assert judge.judge(SampledRound(2, QUICK), 7.0, 0).cause is PaceCause.NONE


def test_a_set_interval_stays_whatever_happens() -> None:
    judge = PaceJudge(TrafficSettings(instances_interval_s=1.5))
    trouble = SampledRound(16, 4.0, lost_blocks=900, has_stopped=True)
    verdict = judge.judge(trouble, 1.0, 0)
    assert (verdict.interval_s, verdict.cause) == (1.5, PaceCause.SET)
    assert "as traffic.instances_interval_s has it" in pace_text(TrafficSettings(instances_interval_s=1.5))


@pytest.mark.parametrize(
    ("found", "interval_s", "reason"),
    [
        (SampledRound(2, QUICK), 1, ""),
        (SampledRound(16, QUICK), 4, "16 instances"),
        (SampledRound(2, 0.3), 2, "GV$ took 0.3 s"),
        (SampledRound(2, 2.1), 10, "GV$ took 2.1 s"),
        (SampledRound(4, QUICK, samplers=3), 3, "4 instances, sampled by 3 racwires"),
        (SampledRound(2, QUICK, samplers=2), 1, ""),  # two of them keep within the budget
        (SampledRound(4, QUICK, lost_blocks=1, samplers=3), 6, "blocks are lost"),
        (SampledRound(16, 0.9), 4, "16 instances"),  # less than a quarter of 4 s
        (SampledRound(16, 2.1), 10, "GV$ took 2.1 s"),
        (SampledRound(2, QUICK, lost_blocks=1), 2, "blocks are lost"),
        (SampledRound(16, QUICK, lost_blocks=1), 8, "blocks are lost"),
        (SampledRound(7, QUICK, has_stopped=True), 8, "an instance stopped answering"),
        (SampledRound(2, 2.1, lost_blocks=5, has_stopped=True), 10, "GV$ took 2.1 s"),
        (SampledRound(2, 40.0), 60, "GV$ took 40.0 s"),
    ],
)
def test_trouble_slows_down_at_once(found: SampledRound, interval_s: float, reason: str) -> None:
    verdict = PaceJudge(USUAL).judge(found, 1.0, 100.0)
    assert (verdict.interval_s, verdict.reason) == (interval_s, reason)
    assert verdict.returns_to_s is None


def test_after_trouble_the_pace_returns_slowly_and_says_so() -> None:
    judge = PaceJudge(USUAL)
    judge.judge(SampledRound(2, 1.9), 1.0, 0)
    calm = SampledRound(2, QUICK)
    found = [(now_s, judge.judge(calm, 1.0, now_s)) for now_s in range(8, 300, 8)]
    intervals = [verdict.interval_s for _, verdict in found]
    assert intervals == sorted(intervals, reverse=True)
    assert list(dict.fromkeys(intervals)) == [8, 4, 2, 1]
    changes = [now_s for (now_s, a), b in zip(found[1:], intervals, strict=False) if a.interval_s != b]
    assert min(b - a for a, b in zip([0, *changes], changes, strict=False)) >= 60
    assert {(v.reason, v.returns_to_s) for _, v in found if v.interval_s > 1} == {("GV$ took 1.9 s", 1)}
    assert found[-1][1].cause is PaceCause.NONE


def test_trouble_that_lasts_keeps_its_pace_and_lesser_trouble_is_a_floor() -> None:
    judge = PaceJudge(USUAL)
    for now_s in range(0, 400, 10):
        assert judge.judge(SampledRound(2, 2.1), 1.0, now_s).interval_s == 10
    verdicts = [judge.judge(SampledRound(2, QUICK, lost_blocks=3), 1.0, now_s) for now_s in range(400, 800, 10)]
    assert verdicts[0].returns_to_s == 2
    assert (verdicts[-1].interval_s, verdicts[-1].reason, verdicts[-1].returns_to_s) == (2, "blocks are lost", None)


def test_v_dollar_of_one_instance_uses_no_slave_and_gv_dollar_starts_slowly_afterwards() -> None:
    judge = PaceJudge(USUAL)
    alone = judge.judge(SampledRound(1, QUICK, is_alone=True), 1.0, 0)
    assert (alone.interval_s, alone.cause) == (1, PaceCause.ALONE)
    again = judge.judge(SampledRound(2, QUICK), 1.0, 15)
    assert (again.interval_s, again.reason) == (8, "GV$ did not answer for a while")
    assert judge.judge(SampledRound(2, QUICK), 1.0, 23).interval_s == 8
    assert judge.judge(SampledRound(2, QUICK), 1.0, 90).interval_s == 4


# --- the ticks --------------------------------------------------------------------------------------------------------


class Clock:
    """A monotonic clock whose waits pass at once."""

    def __init__(self) -> None:
        self.now_s = 1000.3

    def __call__(self) -> float:
        return self.now_s

    async def wait(self, event: asyncio.Event, seconds: float) -> bool:
        if event.is_set():
            return True
        self.now_s += seconds
        return False


async def test_the_pace_follows_the_number_of_racwires_that_sample() -> None:
    clock, samplers = Clock(), [1]
    texts: list[str] = []
    pacer = InstancesPacer(USUAL, lambda p: texts.append(p.text), clock=clock, samplers=lambda: samplers[0])
    for samplers[0] in (1, 4, 4, 1):
        pacer.take(SampledRound(4, QUICK))
    assert texts == ["every 1 s", "every 4 s: 4 instances, sampled by 4 racwires", "every 1 s"]


def pacer_on(clock: Clock, settings: TrafficSettings = USUAL) -> tuple[InstancesPacer, list[str]]:
    texts: list[str] = []
    pace = Pace(settings.interval_s, clock=clock, wait=clock.wait)
    return InstancesPacer(settings, lambda p: texts.append(p.text), clock=clock, pace=pace), texts


async def test_ticks_follow_the_verdict_and_each_change_is_emitted_once() -> None:
    clock = Clock()
    pacer, texts = pacer_on(clock)
    pacer.expect(16)
    ticks, gaps, before = pacer.ticks(), [], clock.now_s
    for statement_s in (QUICK, QUICK, 2.0, 2.1, QUICK, QUICK):
        await anext(ticks)
        gaps.append(clock.now_s - before)
        before = clock.now_s
        pacer.take(SampledRound(16, statement_s))
    assert texts == [
        "every 4 s: 16 instances",
        "every 8 s: GV$ took 2.0 s",
        "every 10 s: GV$ took 2.1 s",
        "every 10 s, returning to 4 s: GV$ took 2.1 s",
    ]
    assert gaps[1:3] == [4, 4]
    assert all(gap >= 4 for gap in gaps[3:]), "a longer interval started with a short one"
    assert gaps[-1] == 10


async def test_the_operators_interval_takes_effect_at_once_and_trouble_is_not_forgotten() -> None:
    pacer, texts = pacer_on(Clock())
    pacer.change_base(5.0)
    assert pacer.interval_s == 5
    pacer.take(SampledRound(2, 2.1))
    assert pacer.interval_s == 10
    pacer.change_base(1.0)
    assert pacer.interval_s == 10
    assert texts[-1] == "every 10 s, returning to 1 s: GV$ took 2.1 s"
    pacer.change_base(30.0)
    assert (pacer.interval_s, texts[-1]) == (30, "every 30 s")


async def test_without_trouble_only_the_first_pace_is_emitted() -> None:
    pacer, texts = pacer_on(Clock())
    pacer.expect(2)
    for _ in range(5):
        pacer.take(SampledRound(2, QUICK))
    assert texts == ["every 1 s"]


# --- the rates --------------------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.floats(0.001, 4.0), st.floats(0, 1)), min_size=3, max_size=12))
def test_rates_stay_right_with_slow_statements_and_irregular_intervals(statements: list[tuple[float, float]]) -> None:
    """A counter grows by 1000 a second. Each instance reads it at any moment of the statement; the statement's middle
    is the time of the sample. The rate is wrong by half of the two statements at most, and the pace keeps a statement
    below a quarter of the interval that follows."""
    judge, now_s, before = PaceJudge(USUAL), 50.0, None
    for took_s, moment in statements:
        counter, middle_s = 1000 * (now_s + moment * took_s), now_s + took_s / 2
        interval_s = judge.judge(SampledRound(2, took_s), 1.0, now_s + took_s).interval_s
        if before is not None:
            seconds = middle_s - before[1]
            error = 1000 * (took_s + before[2]) / 2 / seconds
            assert (counter - before[0]) / seconds == pytest.approx(1000, abs=error + 1e-6)
        before = counter, middle_s, took_s
        assert took_s / 2 / interval_s <= 0.125 + 1e-9
        now_s += took_s + interval_s
