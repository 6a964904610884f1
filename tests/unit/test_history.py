"""The history that racwire reads from AWR and Statspack equals the truth, with restarts, gaps, falling counters and
foreign rows."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checks.model.facts import BlockTransfer, History, Unknown
from checks.rules import cache_fusion
from checks.sources.database.history_range import trend
from racwire_lab.history.history_plan import Drops, HistoryPlan, MtuChange, PlannedLoss, Restart
from tests.fixtures.history_truth import Truth
from tests.unit.history_support import FIRST_END, Practice

THREE = ((1, "prod1", "rac1"), (2, "prod2", "rac2"), (5, "prod5", "rac5"))


@st.composite
def plans(draw: st.DrawFn) -> HistoryPlan:
    """Histories of a few dozen snapshots with many irregular events."""
    instances = THREE[: draw(st.integers(2, 3))]
    number = st.sampled_from([i for i, _, _ in instances])
    lengths = draw(st.lists(st.sampled_from((600, 3600, 3600, 3600, 7000, 100_000)), min_size=4, max_size=40))
    last = len(lengths)
    snapshot = st.integers(1, last)
    restarts = []
    for instance, _, _ in instances:
        for k in draw(st.lists(snapshot, max_size=2, unique=True)):
            down = draw(st.integers(0, min(3, k - 1)))
            if all(abs(k - other.snapshot) > 4 for other in restarts if other.instance == instance):
                restarts.append(Restart(instance, k, down, draw(st.booleans())))
    pair = st.tuples(number, number).filter(lambda two: two[0] != two[1])
    losses = [
        PlannedLoss(
            receiver, sender, first, draw(st.one_of(st.none(), st.integers(first, last))), each=draw(st.integers(0, 9))
        )
        for (receiver, sender), first in draw(st.lists(st.tuples(pair, snapshot), max_size=3))
    ]
    return HistoryPlan(
        seed=draw(st.integers(0, 10_000)),
        first_end=FIRST_END + timedelta(minutes=draw(st.integers(0, 1500))),
        intervals_s=tuple(lengths),
        instances=instances,
        restarts=tuple(restarts),
        missing=tuple(draw(st.lists(st.tuples(number, st.integers(0, last - 1)), max_size=4, unique=True))),
        falls=tuple(draw(st.lists(st.tuples(number, snapshot), max_size=2, unique=True))),
        losses=tuple(losses),
        drops=tuple(Drops(*two) for two in draw(st.lists(st.tuples(number, snapshot), max_size=1))),
        mtu_changes=tuple(
            MtuChange(i, k, mtu)
            for i, k, mtu in draw(
                st.lists(
                    st.tuples(number, snapshot, st.sampled_from((1500, 9000))), max_size=2, unique_by=lambda c: c[1]
                )
            )
        ),
        foreign_dbids=tuple(draw(st.lists(st.integers(1, 9), max_size=1))),
    )


@settings(max_examples=2, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(plan=plans(), days=st.sampled_from((0.2, 1.0, 3.0, 3660.0)))
@pytest.mark.no_cover  # a long computation, of lines that others run
def test_every_sum_is_exact(plan: HistoryPlan, days: float) -> None:
    practice = Practice(plan)
    try:
        for awr in (True, False):
            truth = Truth(plan, days, "AWR" if awr else "Statspack")
            history = practice.history(awr=awr, days=days)
            if not any(truth.intervals(number) for number in plan.numbers):
                assert isinstance(history, Unknown)
                assert "no two snapshots" in history.reason
                continue
            assert isinstance(history, History), history
            assert history.instances == truth.instances()
            assert history.losses == truth.losses()
            assert history.periods == truth.periods(part_length(truth))
            assert history.pings == truth.pings()
            if awr:
                assert (history.first_snapshot, history.last_snapshot) == truth.snapshots
                assert history.transfers == truth.transfers()
                assert history.devices == truth.devices()
                assert history.clients == truth.clients()
    finally:
        practice.close()


def part_length(truth: Truth) -> int:
    begin, end = truth.span()
    rows = [
        {"intervals": found.intervals, "seconds": found.seconds, "begin_time": begin, "end_time": end}
        for found in truth.instances()
    ]
    scale = trend(rows)
    assert scale is not None
    return scale.part_s


@pytest.fixture(scope="module")
def faulty() -> HistoryPlan:
    """Ten days; prod2 loses blocks from prod1 on the second day, and again from the seventh on."""
    return HistoryPlan(
        seed=11,
        first_end=FIRST_END,
        intervals_s=(3600,) * 240,
        restarts=(Restart(1, 60), Restart(2, 90, down=5)),
        missing=((2, 150), (1, 170)),
        losses=(PlannedLoss(2, 1, first=30, last=33), PlannedLoss(2, 1, first=151)),
        mtu_changes=(MtuChange(1, 100, 1500),),
        foreign_dbids=(99,),
    )


@pytest.fixture(scope="module")
def week(faulty: HistoryPlan) -> History:
    practice = Practice(faulty)
    history = practice.history(days=3660)
    practice.close()
    assert isinstance(history, History)
    return history


def test_a_loss_is_dated_from_its_present_series_on_and_has_its_pair(faulty: HistoryPlan, week: History) -> None:
    ends = faulty.planned_ends()
    (loss,) = week.losses
    assert loss.instance == 2
    assert loss.first_begin.startswith(f"{ends[29]:%Y-%m-%dT%H}")
    # Snapshot 150 is missing on prod2: the loss that started after it shows in the interval from 149 to 151.
    assert loss.since_begin.startswith(f"{ends[149]:%Y-%m-%dT%H}")
    assert loss.intervals_with_loss == 4 + 90
    assert isinstance(week.transfers, tuple)
    lossy: list[BlockTransfer] = [transfer for transfer in week.transfers if transfer.lost]
    assert [(transfer.receiver, transfer.sender) for transfer in lossy] == [(2, 1)]
    expected = sum(faulty.blocks_lost(2, 1, k) for k in [*range(30, 34), *range(151, 241)])
    assert lossy[0].lost == loss.lost == expected


def test_totals_since_startup_and_rows_of_other_databases_are_ignored(week: History) -> None:
    first = week.instances[0]
    assert first.statistics["gc blocks lost"] == 0
    assert week.dbid == 2718281828


def test_restarts_and_missing_snapshots_are_reported_and_their_time_is_not_counted_twice(week: History) -> None:
    one, two = week.instances
    assert (one.restarts, one.missing_snapshots, one.intervals) == (1, 1, 238)
    assert (two.restarts, two.missing_snapshots, two.intervals) == (1, 6, 233)
    # A missing snapshot makes one longer interval; the one with the restart, and those while it was down, are gone.
    assert one.seconds == pytest.approx(239 * 3600, abs=10)
    assert two.seconds == pytest.approx(234 * 3600, abs=10)


def test_the_estimated_traffic_and_receive_times_follow_from_the_statistics(week: History) -> None:
    two = week.instances[1]
    units = two.statistics["gc cr blocks received"] // 200
    sent = two.statistics["gc cr blocks served"] // 200
    lost = two.statistics["gc blocks lost"]
    assert cache_fusion.average_cr_receive_ms(two.statistics) == 10 * (9 * units + 50 * lost) / (200 * units)
    assert cache_fusion.average_current_receive_ms(two.statistics) == 10 * 17 / 300
    blocks = 500 * units + 500 * sent
    messages = (700 + 90 + 510 + 85) * units + (510 + 700) * sent
    assert cache_fusion.estimated_traffic_kb_per_s(two.statistics, two.messages, 8192, two.seconds) == pytest.approx(
        (blocks * 8192 + messages * 200) / 1024 / two.seconds, rel=1e-15
    )


def test_a_change_of_the_mtu_is_shown_with_the_present_and_the_earlier_value(week: History) -> None:
    assert isinstance(week.devices, tuple)
    mtus = {(device.instance, device.name): (device.mtu, device.earlier_mtus) for device in week.devices}
    assert mtus[1, "eth1"] == (1500, (9000,))
    assert mtus[2, "eth2"] == (9000, ())


def test_ten_days_are_in_hours_or_longer_parts_of_equal_length(week: History) -> None:
    begins = sorted({period.begin for period in week.periods})
    assert 24 < len(begins) <= 170
    assert {period.begin[14:] for period in week.periods if period.begin != week.begin} == {"00:00"}
    for instance in week.instances:
        periods = [period for period in week.periods if period.instance == instance.instance]
        assert sum(period.lost for period in periods) == instance.statistics["gc blocks lost"]
        assert sum(period.received for period in periods) == cache_fusion.received(instance.statistics)
