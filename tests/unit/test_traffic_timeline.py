"""The newest samples in memory, and samples as rates: bits or bytes, None for an unknown value."""

import pytest

from checks.traffic.rates import instance_rates, interface_rates, kernel_rates
from checks.traffic.samples import CpuTime, Gap, InstanceSample, InterfaceCounts, Link, Links, NodeSample, overlap_s
from checks.traffic.source_id import SourceId
from checks.traffic.timeline import Timeline


def sample(at, node="rac1", seconds=1.0):
    return NodeSample(node, at, seconds)


def test_old_samples_are_discarded_and_gaps_are_listed_with_samples():
    timeline = Timeline(kept=3)
    assert timeline.span() is None
    timeline.add([sample(1), sample(2), Gap(SourceId.node("rac1"), 3, "it hangs"), sample(4), sample(9, "rac2")])
    assert timeline.sources() == (SourceId.node("rac1"), SourceId.node("rac2"))
    assert [event.at for event in timeline.window(SourceId.node("rac1"), 0, 10)] == [2, 3, 4]
    assert [event.at for event in timeline.window(SourceId.node("rac1"), 2, 3)] == [3]
    assert timeline.span() == (2, 9)


def test_links_are_those_valid_at_the_time():
    first, then = Links("rac1", 5, (Link("eth1", mtu=1500),)), Links("rac1", 8, (Link("eth1", mtu=9000),))
    timeline = Timeline()
    timeline.add([first, then])
    assert [timeline.links("rac1", at) for at in (4, 5, 7.9, 8)] == [None, first, first, then]
    assert timeline.links("rac2", 9) is None
    assert timeline.span() is None


def test_the_newest_event_of_a_source_is_its_last_sample_or_gap():
    timeline = Timeline(kept=2)
    timeline.add([sample(1), sample(2), Links("rac2", 3, ()), Gap(SourceId.node("rac1"), 4, "it hangs")])
    assert timeline.newest(SourceId.node("rac1")) == Gap(SourceId.node("rac1"), 4, "it hangs")
    assert timeline.newest(SourceId.node("rac2")) is None
    assert timeline.newest(SourceId.node("rac3")) is None


@pytest.mark.parametrize(
    ("begin", "end", "seconds"),
    [(80, 120, 10), (80, 95, 5), (92, 95, 3), (97, 120, 3), (80, 90, 0), (100, 120, 0)],
    ids=["all of it", "its beginning", "its middle", "its end", "before it", "after it"],
)
def test_a_sample_covers_only_its_own_seconds(begin, end, seconds):
    assert overlap_s(sample(100, seconds=10.0), begin, end) == seconds


def test_speeds_are_in_bits_and_sizes_in_bytes():
    counts = InterfaceCounts(rx_bytes=125_000_000, rx_packets=100_000, tx_dropped=4)
    rates = interface_rates(counts, 2.0, Link("eth1", speed_mbps=1000))
    assert (rates.rx.bits_per_s, rates.rx.share_percent, rates.rx.mean_packet_bytes) == (5e8, 50.0, 1250.0)
    assert (rates.tx.drops_per_s, rates.tx.mean_packet_bytes) == (2.0, None)
    assert interface_rates(counts, 2.0).rx.share_percent is None


def test_a_missing_counter_is_not_a_rate_of_0():
    rates = kernel_rates(NodeSample("rac1", 1, 2.0, counters={"Ip.ReasmFails": 5, "Udp.InDatagrams": 0}))
    assert (rates.reassembly_failed_per_s, rates.udp_in_per_s) == (2.5, 0.0)
    assert (rates.reassembled_per_s, rates.softirq_percent, rates.busy_percent) == (None, None, None)
    busy = kernel_rates(NodeSample("rac1", 1, 1.0, cpu=CpuTime(2, 2.0, 0.5, 0.25, 40.0)))
    assert (busy.softirq_percent, busy.busy_percent, busy.busiest_softirq_percent) == (12.5, 75.0, 40.0)
    assert kernel_rates(NodeSample("rac1", 1, 1.0, cpu=CpuTime(2, 0.0, 0.0, 0.0))).busy_percent is None


def test_times_of_an_instance_are_centiseconds_and_without_blocks_there_is_no_average():
    statistics = {
        "gc cr blocks received": 300, "gc cr block receive time": 12, "gc current blocks received": 0,
        "gc current block receive time": 0, "gc blocks lost": 1,
    }  # fmt: skip
    rates = instance_rates(InstanceSample("prod1", 1, "rac1", 9, 2.0, statistics))
    assert (rates.blocks_in_per_s, rates.lost_per_s) == (150.0, 0.5)
    assert rates.cr_receive_ms == pytest.approx(0.4)
    assert (rates.current_receive_ms, rates.blocks_out_per_s, rates.messages_in_per_s) == (None, None, None)
