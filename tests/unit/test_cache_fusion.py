"""The formulas of AWR and Statspack, against exact arithmetic and against figures that real reports printed."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.rules import cache_fusion as cf

COUNTS = st.integers(0, 10**15)
TIMES = {
    cf.average_cr_receive_ms: ("gc cr block receive time", "gc cr blocks received"),
    cf.average_current_receive_ms: ("gc current block receive time", "gc current blocks received"),
    cf.average_cr_build_ms: ("gc cr block build time", "gc cr blocks served"),
    cf.average_cr_send_ms: ("gc cr block send time", "gc cr blocks served"),
    cf.average_current_pin_ms: ("gc current block pin time", "gc current blocks served"),
    cf.average_current_send_ms: ("gc current block send time", "gc current blocks served"),
}
FLUSHES = {
    cf.average_cr_flush_ms: "gc cr block flush time",
    cf.average_current_flush_ms: "gc current block flush time",
}
BLOCKS = {
    "gc cr blocks received": 629,
    "gc current blocks received": 108_000,
    "gc cr blocks served": 833,
    "gc current blocks served": 108_000,
}
SENT = {"gcs messages sent": 268_000, "ges messages sent": 179}
RECEIVED = {"gcs msgs received": 273_000, "ges msgs received": 650}
BUFFERS = {
    "gc cr blocks received": 300,
    "gc current blocks received": 110,
    "physical reads cache": 510,
    "consistent gets from cache": 60_000,
    "db block gets from cache": 40_000,
}


def exact(dividend, divisor):
    """The float nearest to the quotient of the values as they stand, however large."""
    return float(Fraction(dividend) / Fraction(divisor))


def test_the_estimated_traffic_of_a_published_report():
    # 1,086.29 blocks received, 1,088.33 served, 2,736.50 and 2,681.79 messages in each second: AWR says 18,455.23 KB.
    estimated = cf.estimated_traffic_kb_per_s(BLOCKS | SENT, RECEIVED, 8192, 100.0)
    assert estimated == exact(217_462 * 8192 + 541_829 * 200, 1024 * 100)
    assert estimated == pytest.approx(18_455.23, abs=0.1)  # its own figures are rounded to a hundredth


def test_the_buffer_access_of_a_published_report():
    # It says 99.07 local, 0.41 remote, 0.51 disk.
    shares = cf.local_cache_percent(BUFFERS), cf.remote_cache_percent(BUFFERS), cf.disk_percent(BUFFERS)
    assert shares == (exact(9908, 100), exact(41, 100), exact(51, 100))


def test_receive_times_are_centiseconds_for_all_blocks_together():
    assert cf.average_cr_receive_ms({"gc cr block receive time": 42, "gc cr blocks received": 1000}) == 0.42


@pytest.mark.parametrize(("average", "names"), TIMES.items(), ids=lambda x: getattr(x, "__name__", ""))
@given(time=COUNTS, blocks=st.integers(1, 10**15))
def test_average_times_to_the_last_digit(average, names, time, blocks):
    assert average(dict(zip(names, (time, blocks), strict=True))) == exact(10 * time, blocks)


@pytest.mark.parametrize(("average", "name"), FLUSHES.items(), ids=lambda x: getattr(x, "__name__", ""))
@given(time=COUNTS, flushes=st.integers(1, 10**15))
def test_average_flush_times_to_the_last_digit(average, name, time, flushes):
    assert average({name: time}, flushes) == exact(10 * time, flushes)


@given(
    blocks=st.lists(COUNTS, min_size=4, max_size=4),
    messages=st.lists(COUNTS, min_size=4, max_size=4),
    size=st.sampled_from([2048, 4096, 8192, 16384, 32768]),
    seconds=st.floats(0.001, 1e7),
)
def test_traffic_and_rates_to_the_last_digit(blocks, messages, size, seconds):
    statistics = dict(zip((*BLOCKS, *SENT), (*blocks, *messages[:2]), strict=True))
    received = dict(zip(RECEIVED, messages[2:], strict=True))
    traffic = cf.estimated_traffic_kb_per_s(statistics, received, size, seconds)
    assert traffic == exact(sum(blocks) * size + sum(messages) * 200, 1024 * Fraction(seconds))
    assert cf.per_second(cf.received(statistics), seconds) == exact(blocks[0] + blocks[1], seconds)
    assert cf.per_second(cf.served(statistics), seconds) == exact(blocks[2] + blocks[3], seconds)
    assert cf.messages_sent(statistics) == messages[0] + messages[1]
    assert cf.messages_received(received) == messages[2] + messages[3]


@given(flushes=COUNTS, served=st.integers(1, 10**15))
def test_log_flushes_for_blocks_served(flushes, served):
    assert cf.cr_log_flush_percent({"gc cr blocks served": served}, flushes) == exact(100 * flushes, served)
    assert cf.current_log_flush_percent({"gc current blocks served": served}, flushes) == exact(100 * flushes, served)


@given(st.lists(COUNTS, min_size=5, max_size=5).filter(lambda counts: counts[3] + counts[4] > 0))
def test_the_three_shares_of_buffers(counts):
    cr, current, disk, consistent, block = counts
    statistics = dict(zip(BUFFERS, counts, strict=True))
    gets = consistent + block
    assert cf.remote_cache_percent(statistics) == exact(100 * (cr + current), gets)
    assert cf.disk_percent(statistics) == exact(100 * disk, gets)
    assert cf.local_cache_percent(statistics) == exact(100 * (gets - disk - cr - current), gets)


def all_formulas(statistics, messages, size, seconds, flushes):
    return {
        "traffic": cf.estimated_traffic_kb_per_s(statistics, messages, size, seconds),
        "received": cf.per_second(cf.received(statistics), seconds),
        "lost": cf.per_second(cf.lost(statistics), seconds),
        "shares": cf.local_cache_percent(statistics),
        "disk": cf.disk_percent(statistics),
        "remote": cf.remote_cache_percent(statistics),
        "cr log flushes": cf.cr_log_flush_percent(statistics, flushes),
        "current log flushes": cf.current_log_flush_percent(statistics, flushes),
        **{f.__name__: f(statistics) for f in TIMES},
        **{f.__name__: f(statistics, flushes) for f in FLUSHES},
    }


def test_without_measurements_all_values_are_none():
    names = {*BLOCKS, *SENT, *BUFFERS, "gc blocks lost", *FLUSHES.values(), *(time for time, _ in TIMES.values())}
    nothing_done = all_formulas(dict.fromkeys(names, 0), dict.fromkeys(RECEIVED, 0), 8192, 0.0, 0)
    nothing_read = all_formulas({}, {}, None, 30.0, None)
    assert set(nothing_done.values()) == set(nothing_read.values()) == {None}


@pytest.mark.parametrize("missing", [*BLOCKS, *SENT, *RECEIVED])
def test_traffic_without_one_of_its_inputs_is_unknown(missing):
    statistics = {n: v for n, v in (BLOCKS | SENT).items() if n != missing}
    messages = {n: v for n, v in RECEIVED.items() if n != missing}
    assert cf.estimated_traffic_kb_per_s(statistics, messages, 8192, 100.0) is None


def test_an_idle_interconnect_has_a_traffic_of_zero():
    statistics, messages = dict.fromkeys((*BLOCKS, *SENT), 0), dict.fromkeys(RECEIVED, 0)
    assert cf.estimated_traffic_kb_per_s(statistics, messages, 8192, 30.0) == 0
