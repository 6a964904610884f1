"""Rates of any values that a recording can contain."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.rules import cache_fusion
from checks.traffic.rates import bits_per_second, instance_rates, interface_rates, kernel_rates
from checks.traffic.samples import CpuTime, InstanceSample, InterfaceCounts, Link, NodeSample
from checks.traffic.source_id import SourceId
from checks.traffic.timeline import Timeline
from tui.screens.traffic.peaks import Peaks

COUNTS = st.one_of(st.integers(0, 2**64), st.integers(-(10**400), 10**400))
SECONDS = st.one_of(st.floats(), st.sampled_from([1.0, 0.0, -1.0, 1e-300, 5e-324, 1e300, 1.7e308]))


def figures(rates: object) -> list[float]:
    """All figures in it that are known."""
    found = vars(rates).values()
    return [value for value in found if isinstance(value, float | int)]


@given(st.lists(COUNTS, min_size=14, max_size=14), SECONDS, st.one_of(st.none(), st.integers(1, 400_000)))
def test_rates_of_an_interface_are_numbers_or_unknown(counts: list[int], seconds: float, speed: int | None) -> None:
    rates = interface_rates(InterfaceCounts(*counts), seconds, Link("eth1", speed_mbps=speed))
    if rates is not None:
        assert all(math.isfinite(value) for way in (rates.rx, rates.tx) for value in figures(way))


@given(COUNTS, SECONDS, st.floats(), st.floats())
def test_rates_of_a_node_are_numbers_or_unknown(count: int, seconds: float, total_s: float, softirq_s: float) -> None:
    cpu = CpuTime(1, total_s, 0.0, softirq_s)
    rates = kernel_rates(NodeSample("rac1", 1.0, seconds, counters={"Ip.ReasmFails": count}, cpu=cpu))
    assert all(math.isfinite(value) for value in figures(rates))


@given(COUNTS, COUNTS, SECONDS)
def test_rates_of_an_instance_are_numbers_or_unknown(blocks: int, time_cs: int, seconds: float) -> None:
    statistics = {
        cache_fusion.BLOCKS_LOST: blocks,
        cache_fusion.CR_RECEIVED: blocks,
        "gc cr block receive time": time_cs,
    }
    rates = instance_rates(InstanceSample("prod1", 1, "rac1", 1.0, seconds, statistics))
    assert all(math.isfinite(value) for value in figures(rates))


@given(COUNTS, SECONDS)
def test_peaks_are_found_in_any_samples(count: int, seconds: float) -> None:
    counts = InterfaceCounts(rx_bytes=count)
    timeline, peaks = Timeline(), Peaks()
    timeline.add(
        [
            NodeSample("rac1", 1.0, seconds, {"eth1": counts}, {"Ip.ReasmFails": count}),
            InstanceSample("prod1", 1, "rac1", 1.0, seconds, {cache_fusion.BLOCKS_LOST: count}),
        ]
    )
    peaks.take(timeline)
    assert peaks.of(SourceId.node("rac1"), "eth1 in") == bits_per_second(count, seconds)


@pytest.mark.parametrize("seconds", [0.0, -1.0, 1e-300, float("nan"), float("inf")])
def test_samples_of_no_duration_have_no_rates(seconds: float) -> None:
    assert interface_rates(InterfaceCounts(rx_bytes=1), seconds) is None
    assert bits_per_second(1, seconds) is None
    assert kernel_rates(NodeSample("rac1", 1.0, seconds, counters={"Ip.ReasmFails": 1})).reassembly_failed_per_s is None


def test_a_time_of_0_means_less_than_a_hundredth_of_a_second_for_all_blocks() -> None:
    statistics = {cache_fusion.CR_RECEIVED: 80, "gc cr block receive time": 0}
    rates = instance_rates(InstanceSample("prod1", 1, "rac1", 1.0, 1.0, statistics))
    assert rates.cr_receive_ms == 0
    assert rates.least_cr_receive_ms == pytest.approx(0.125)
    assert rates.least_current_receive_ms is None
