"""A node's samples: text of the kernel's files in, differences out; an unknown value is left out, never 0."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.traffic.interface_table import counted_between, parse_table
from checks.traffic.node_counter import NodeCounter, cpu_time, node_sample
from checks.traffic.node_text import CpuTicks, NodeReading, parse_files, parse_peer
from checks.traffic.pace import Backoff, tick_after
from checks.traffic.peer_stream import Boot, PeerClock
from checks.traffic.samples import KERNEL_COUNTERS, Gap, GapCause, InterfaceCounts, NodeSample
from checks.traffic.source_id import SourceId
from checks.traffic.this_node import KernelFiles

HEAD = (
    "Inter-|   Receive                                                |  Transmit\n"
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier"
    " compressed\n"
)
ETH1 = (1000, 10, 1, 2, 3, 4, 0, 5, 2000, 20, 6, 7, 8, 9, 11, 0)
WRAP = 2**32


def dev(**interfaces):
    return HEAD + "".join(f"{name:>6}: {' '.join(map(str, figures))}\n" for name, figures in interfaces.items())


def snmp(in_receives=100, fails=3):
    return (
        f"Ip: Forwarding InReceives ReasmFails\nIp: 1 {in_receives} {fails}\nTcp: RtoAlgorithm\nTcp: 1\n"
        "Udp: InDatagrams NoPorts\nUdp: 7 1\nUdpLite: InDatagrams\nUdpLite: 0\n"
    )


STAT = (
    "cpu  100 0 50 800 10 0 30 0 0 0\ncpu0 50 0 25 400 5 0 25 0 0 0\ncpu1 50 0 25 400 5 0 5 0 0 0\nintr 5 0\nctxt 1\n"
)
SOFTNET = "00000064 00000002 00000001 00000000\n00000064 00000000 00000000 00000000\n"
LOAD = "1.25 0.50 0.25 2/345 6789\n"


def reading(in_receives=100, fails=3, **interfaces):
    known = parse_files(
        dev(**(interfaces or {"eth1": ETH1})), snmp(in_receives, fails), SOFTNET, f"{STAT}intr 5 0\n", LOAD
    )
    assert isinstance(known, NodeReading)
    return known


def between(before, after, seconds=1.0):
    return node_sample("rac1", before, after, seconds=seconds, at=50.0)


def plus(figures, **growth):
    columns = {"rx_bytes": 0, "rx_packets": 1, "tx_bytes": 8, "tx_packets": 9}
    added = {columns[name]: by for name, by in growth.items()}
    return tuple(figure + added.get(place, 0) for place, figure in enumerate(figures))


# --- reading ----------------------------------------------------------------------------------------------------------


def test_each_column_of_the_kernel_table_has_its_own_name():
    grown = tuple(2**n for n in range(16))
    sample = between(reading(eth1=(0,) * 16), reading(eth1=grown))
    assert sample.interfaces["eth1"] == InterfaceCounts(
        rx_bytes=1, rx_packets=2, rx_errors=4, rx_dropped=8, rx_fifo=16, rx_frame=32, rx_multicast=128,
        tx_bytes=256, tx_packets=512, tx_errors=1024, tx_dropped=2048, tx_fifo=4096, tx_collisions=8192,
        tx_carrier=16384,
    )  # fmt: skip


def test_a_peer_has_the_same_counters_in_one_text_as_this_node_in_files():
    text = (
        f"{dev(eth1=ETH1)}{SOFTNET}{LOAD}350735.47 234388.90\n##racwire kernel\n"
        f"{STAT}Ip: Forwarding InReceives ReasmFails\nIp: 1 100 3\nUdp: InDatagrams NoPorts\nUdp: 7 1\n"
        "##racwire links\neth1/mtu:9000\neth1/operstate:up\n"
    )
    peer, here = parse_peer(text), reading()
    assert isinstance(peer, NodeReading)
    assert (peer.interfaces, peer.kernel, peer.cpus, peer.load) == (
        here.interfaces,
        here.kernel,
        here.cpus,
        here.load,
    )
    assert (peer.uptime_s, peer.links_text) == (350735.47, "eth1/mtu:9000\neth1/operstate:up\n")


def test_old_kernels_have_no_blank_after_the_colon():
    known = parse_files(HEAD + f"  eth1:{' '.join(map(str, ETH1))}\n", "", "", "", "")
    assert known.interfaces == reading().interfaces


def test_this_node_is_read_from_open_files():
    files, counter = KernelFiles(), NodeCounter()
    try:
        assert counter.sample("rac1", files.read(), 1.0, 50.0) is None
        sample = counter.sample("rac1", files.read(), 3.0, 52.0)
    finally:
        files.close()
    assert isinstance(sample, NodeSample)
    assert (sample.node, sample.seconds, sample.at, sample.left_out) == ("rac1", 2.0, 52.0, ())
    assert "lo" in sample.interfaces
    assert {name.partition(".")[0] for name in sample.counters} == set(KERNEL_COUNTERS)
    assert sample.cpu is not None
    assert sample.cpu.cpus >= 1


def test_a_table_with_more_interfaces_than_one_read_returns_is_read_completely(tmp_path):
    many = {f"eth{n}": ETH1 for n in range(2000)}
    (tmp_path / "dev").write_text(dev(**many))
    files = KernelFiles([str(tmp_path / name) for name in ("dev", "no1", "no2", "no3", "no4")])
    try:
        known = files.read()
    finally:
        files.close()
    assert isinstance(known, NodeReading)
    assert len(known.interfaces.names) == 2000


def test_unreadable_files_omit_their_part_and_without_interfaces_there_is_a_gap():
    bare = parse_files(dev(eth1=ETH1), "", "", "", "")
    sample = between(bare, bare)
    assert (sample.counters, sample.cpu, sample.load, sample.left_out) == ({}, None, None, ("Ip", "Udp", "Softnet"))
    counter = NodeCounter()
    gap = counter.sample("rac1", parse_files("", snmp(), SOFTNET, STAT, LOAD), 1.0, 50.0)
    assert isinstance(gap, Gap)
    assert gap.source == SourceId.node("rac1")
    assert counter.sample("rac1", reading(), 2.0, 51.0) is None, "a time that nothing is known of was sampled"


@given(st.tuples(*[st.text()] * 5))
def test_no_text_raises(texts):
    parse_files(*texts)
    parse_peer("".join(texts))


_LINES = st.lists(
    st.sampled_from(
        ["eth1:", "lo:", "Ip:", "Udp:", "cpu", "cpu0", "##racwire kernel\n", "InReceives", "1.0", "\n", " "]
    )
    | st.integers(-(2**70), 2**70).map(str),
    max_size=80,
).map(" ".join)


@given(_LINES, _LINES)
def test_no_pair_of_peer_answers_counts_backwards(one, other):
    before, after = parse_peer(HEAD + one), parse_peer(HEAD + other)
    if isinstance(before, NodeReading) and isinstance(after, NodeReading):
        sample = between(before, after)
        if isinstance(sample, NodeSample):
            assert all(value >= 0 for value in sample.counters.values())


_NAMES = st.sampled_from(["lo", "eth1", "bond0.100", "usb\u2003x", "7"])
_WORD = st.sampled_from(
    ["0", "7", "18446744073709551615", "00012", "-1", "+1", "1_0", "\u0663", "\u00b2", ":", "9" * 5000, "x"]
)
_ROW = st.tuples(_NAMES, st.sampled_from([":", ": ", ""]), st.lists(st.just("5") | _WORD, min_size=15, max_size=17))


@given(st.lists(_ROW | st.tuples(_NAMES, st.just(":"), st.just(["5"] * 16)), max_size=5))
def test_an_invalid_line_affects_only_its_own_interface(rows):
    """A sound table is parsed at once as a whole, with the same result as line by line."""
    lines = [name + colon + " ".join(words) for name, colon, words in rows]
    sound = {
        name for name, colon, words in rows
        if colon and len(words) == 16 and all(re.fullmatch("[0-9]{1,20}", word) for word in words)
    }  # fmt: skip
    table = parse_table(HEAD + "\n".join(lines))
    assert sound <= set(table.names)
    assert all(word.isascii() and word.isdecimal() for column in table.columns for word in column)
    assert {len(column) for column in table.columns} == {len(table.names)}
    counted, _ = counted_between(table, table)
    assert set(counted.values()) <= {InterfaceCounts()}
    assert set(counted) == set(table.names)


# --- differences ------------------------------------------------------------------------------------------------------


@given(
    st.lists(st.integers(0, 2**63), min_size=16, max_size=16),
    st.lists(st.integers(0, 2**40), min_size=16, max_size=16),
)
def test_the_growth_of_an_interface_is_exact(start, growth):
    after = tuple(a + b for a, b in zip(start, growth, strict=True))
    counts = between(reading(eth1=start), reading(eth1=after)).interfaces["eth1"]
    assert counts.rx_bytes == growth[0]
    assert counts.tx_carrier == growth[14]


def test_a_32_bit_byte_counter_that_wraps_is_counted_correctly():
    before = plus(ETH1, rx_bytes=WRAP - 2000)
    after = plus(ETH1, rx_bytes=-600, rx_packets=1)
    counts = between(reading(eth1=before), reading(eth1=after)).interfaces["eth1"]
    assert (counts.rx_bytes, counts.rx_packets) == (1400, 1)


@pytest.mark.parametrize("was", [plus(ETH1, rx_bytes=5000, rx_packets=5), plus(ETH1, tx_bytes=3 * 10**9, tx_packets=9)])
def test_a_recreated_interface_is_left_out(was):
    sample = between(reading(eth1=was, eth2=ETH1), reading(eth1=ETH1, eth2=ETH1))
    assert (list(sample.interfaces), sample.left_out) == (["eth2"], ("eth1",))


def test_an_interface_that_came_went_or_is_invalid_is_left_out():
    before, after = reading(eth1=ETH1, eth2=ETH1, eth4=ETH1), reading(eth1=ETH1, eth3=ETH1, eth4=("what", *ETH1[1:]))
    sample = between(before, after)
    assert list(sample.interfaces) == ["eth1"]
    assert set(sample.left_out) == {"eth2", "eth3", "eth4"}


def test_values_above_64_bits_are_left_out_without_affecting_others():
    huge = (int("9" * 40), *ETH1[1:])
    sample = between(reading(eth1=ETH1, eth2=ETH1), reading(eth1=huge, eth2=plus(ETH1, rx_bytes=5)))
    assert (sample.interfaces, sample.left_out) == ({"eth2": InterfaceCounts(rx_bytes=5)}, ("eth1",))


def test_interfaces_are_matched_by_name_even_if_they_change_position():
    before = reading(eth1=ETH1, eth2=plus(ETH1, rx_bytes=100))
    after = reading(eth2=plus(ETH1, rx_bytes=101), eth3=ETH1, eth1=plus(ETH1, rx_bytes=2))
    sample = between(before, after)
    assert {name: counts.rx_bytes for name, counts in sample.interfaces.items()} == {"eth1": 2, "eth2": 1}
    assert sample.left_out == ("eth3",)


def test_a_counter_that_fell_is_left_out_and_a_missing_counter_is_absent():
    sample = between(reading(fails=9), reading(in_receives=140, fails=3))
    assert sample.counters["Ip.InReceives"] == 40
    assert "Ip.ReasmFails" not in sample.counters
    assert "Udp.RcvbufErrors" not in sample.counters
    assert sample.left_out == ("Ip.ReasmFails",)


def test_a_node_that_was_restarted_is_a_gap():
    counter = NodeCounter()
    counter.sample("rac2", reading(in_receives=5000), 1.0, 50.0)
    gap = counter.sample("rac2", reading(in_receives=3), 2.0, 51.0)
    assert isinstance(gap, Gap)
    assert "restarted" in gap.reason
    assert isinstance(counter.sample("rac2", reading(in_receives=4), 3.0, 52.0), NodeSample)


def test_cpu_time_and_the_processor_busiest_with_soft_interrupts():
    before = {"cpu": CpuTicks(1000, 800, 50), "cpu0": CpuTicks(500, 400, 25), "cpu1": CpuTicks(500, 400, 25)}
    after = {"cpu": CpuTicks(1200, 880, 130), "cpu0": CpuTicks(600, 400, 100), "cpu1": CpuTicks(600, 480, 30)}
    spent = cpu_time(before, after)
    assert (spent.cpus, spent.total_s, spent.idle_s, spent.softirq_s) == (2, 2.0, 0.8, 0.8)
    assert spent.busiest_softirq_percent == 75.0


def test_the_busiest_processor_is_at_least_as_busy_as_all_where_only_the_sum_of_the_kernel_has_grown_by_a_tick():
    before = {"cpu": CpuTicks(1000, 800, 50), "cpu0": CpuTicks(500, 400, 25), "cpu1": CpuTicks(500, 400, 24)}
    after = {"cpu": CpuTicks(1200, 980, 51), "cpu0": CpuTicks(600, 490, 25), "cpu1": CpuTicks(600, 490, 24)}
    spent = cpu_time(before, after)
    assert (spent.total_s, spent.softirq_s, spent.busiest_softirq_percent) == (2.0, 0.0, 0.0)


def test_slightly_falling_idle_time_is_zero_and_a_new_processor_is_ignored():
    spent = cpu_time(
        {"cpu": CpuTicks(1000, 800, 50)}, {"cpu": CpuTicks(1050, 795, 55), "cpu7": CpuTicks(10**6, 0, 10**6)}
    )
    assert (spent.total_s, spent.idle_s, spent.busiest_softirq_percent) == (0.5, 0.0, 0.0)
    assert cpu_time({}, {"cpu": CpuTicks(1, 1, 0)}) is None


_TICKS = st.builds(CpuTicks, *[st.integers(0, 10**9)] * 3)


@given(_TICKS, _TICKS)
def test_shares_of_time_are_between_0_and_100_percent(before, after):
    spent = cpu_time({"cpu": before, "cpu0": before, "cpu1": after}, {"cpu": after, "cpu0": after, "cpu1": after})
    assert 0 <= spent.idle_s + spent.softirq_s <= spent.total_s * (1 + 1e-9)
    assert 100 * spent.softirq_s <= spent.busiest_softirq_percent * spent.total_s * (1 + 1e-9)


# --- time -------------------------------------------------------------------------------------------------------------


def test_a_peer_that_answers_promptly_is_timed_by_the_local_clock():
    clock = PeerClock()
    assert clock.read_s(10.000, 10.002, 500.00) == pytest.approx(10.001)
    assert clock.read_s(11.000, 11.004, 501.00) == pytest.approx(11.002)


@pytest.mark.parametrize("answered_s", [11.001, 11.4, 13.9])
def test_a_peer_with_a_slow_answer_is_timed_by_its_own_clock(answered_s):
    clock = PeerClock()
    before = clock.read_s(10.000, 10.002, 500.00)
    assert clock.read_s(11.000, answered_s, 501.00) - before == pytest.approx(1.0, abs=0.011)


def test_without_an_uptime_the_middle_of_request_and_answer_is_used():
    clock = PeerClock()
    assert clock.read_s(1.0, 2.0, None) == 1.5
    assert clock.read_s(3.0, 3.0, 7.0) == 3.0


@given(st.floats(0, 1e8), st.sampled_from([1.0, 2.0, 5.0, 60.0]) | st.floats(1, 60))
def test_the_next_tick_is_a_multiple_of_the_interval_and_within_one_interval(now, interval):
    tick = tick_after(now, interval)
    assert now < tick <= now + interval * (1 + 1e-6) + 1e-6
    assert tick / interval == pytest.approx(round(tick / interval), abs=1e-6)


def test_failed_sources_are_retried_at_growing_delays_up_to_a_minute():
    backoff = Backoff()
    assert [backoff.next_s() for _ in range(7)] == [2, 4, 8, 16, 32, 60, 60]
    backoff.succeeded()
    assert backoff.next_s() == 2


def test_a_peer_with_another_boot_id_was_restarted_also_on_another_connection():
    boot = Boot("rac2")

    def reading(boot_id, uptime="900.00"):
        return parse_peer(f"{dev(eth1=ETH1)}{uptime} 1.00\n{boot_id}\n##racwire kernel\n")

    first, second = "0f0c8a52-26a7-4a4e-9f8d-2b8a3a6f1c11", "9b1d6f0e-5c35-4df2-8a43-0f6c1b0a7d22"
    assert reading(first).boot_id == first
    assert [boot.restart(reading(one), 5.0) for one in (first, "", first)] == [None, None, None]
    gap = boot.restart(reading(second, "12.30"), 7.0)
    assert (gap.source, gap.at, gap.cause, gap.up_s) == (SourceId.node("rac2"), 7.0, GapCause.RESTARTED, 12.3)
    assert gap.reason == "It has another boot id: it was booted 12 s ago."
    assert boot.restart(reading(second), 8.0) is None
