"""What the load asks of the interconnect: the share of the wire with its limits, and the kind of the load."""

import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.facts import (
    ActivityGap,
    Parameter,
    ServiceActivity,
    Unknown,
    UnreadView,
    WaitEvent,
)
from checks.model.interconnect_load import InterconnectLoad, LoadKind, WireTime
from checks.report.load_section import load_section
from checks.rules.load_class import BusiestLink, classify
from checks.rules.load_of_run import interconnect_load, wire_path
from checks.rules.wire_time import WirePath, no_network_text, wire_time
from tests.fixtures.clusters import cluster
from tests.fixtures.databases import activity, counters, database, own_activity

PATH = WirePath(8192, 9000, 10_000, small_rtt_ms=0.1, block_rtt_ms=0.14, pings="pings")
BUSY = {
    "DB time": 60_000,
    "cluster wait time": 1_200,
    "gc cr block receive time": 336,
    "gc current block receive time": 160,
    "gc cr block build time": 30,
    "gc current block flush time": 60,
    "gc remote grants": 1_000,
    "gcs messages sent": 20_000,
    "ges messages sent": 3_000,
}


def known(*own, **more):
    return msgspec.structs.replace(
        cluster(), database=database(), counters=counters(), activity=activity(2, *own, **more)
    )


def busy(**more):
    return known(*(own_activity(n, BUSY) for n in (1, 2)), **more)


def test_the_cluster_waits_are_the_limit_of_what_a_network_can_bring():
    found = wire_time({"a": {"DB time": 100_000, "cluster wait time": 500}}, 60, PATH)
    assert isinstance(found, WireTime)
    assert found.cluster_percent == pytest.approx(0.5)
    assert (found.low_percent, found.likely_percent) == (0, 0)
    # One tick more of waits, one less of DB time: each counter is known within a hundredth of a second.
    assert found.high_percent == pytest.approx(100 * 5.01 / 999.99)
    assert no_network_text(found) == (
        "Cluster waits are 0.5 % of DB time; at most 0.51 % of DB time are on the wire (by the pings 0 %): no network "
        "makes this load more than 0.51 % faster."
    )


def test_limits_too_far_apart_say_so_and_what_narrows_them():
    found = wire_time({"a": {"DB time": 10_000, "cluster wait time": 4_900}}, 60, PATH)
    assert isinstance(found, WireTime)
    assert no_network_text(found).endswith(": no network makes this load more than 97 % faster.")
    # Each of the counters of 50 instances is off by up to 0.01 s: together 0.5 of 12.5 s.
    rounded = wire_time({str(n): {"DB time": 25, "cluster wait time": 12} for n in range(50)}, 10, PATH)
    assert isinstance(rounded, WireTime)
    assert no_network_text(rounded) == (
        "Cluster waits are 48 % of DB time; at most 55 % of DB time are on the wire (by the pings 0 %). That is too "
        "wide to say what a faster network would bring. A longer measurement narrows it: the counters have ticks of "
        "0.01 s."
    )
    for waits in (9_600, 10_400):
        wide = wire_time({"a": {"DB time": 10_000, "cluster wait time": waits}}, 60, PATH)
        assert isinstance(wide, WireTime)
        assert "That is too wide to say what a faster network would bring." in no_network_text(wide)
        assert "before and after a change" in no_network_text(wide)
        assert "times as fast" not in no_network_text(wide)


def test_a_link_that_needs_most_of_the_time_for_the_bits_is_named():
    statistics = {"DB time": 10_000, "cluster wait time": 9_000, "gc cr blocks received": 100_000}
    found = wire_time({"a": statistics}, 60, WirePath(8192, 9000, 100))
    assert isinstance(found, WireTime)
    assert no_network_text(found).endswith("so a link with more speed helps.")


def test_blocks_that_need_longer_than_anything_waited_contradict_the_waits():
    # 12,048 blocks at 100 Mb/s are 8.1 s, which cannot be in 7 s of cluster waits: it was "between 70 and 71 %".
    statistics = {"DB time": 1_000, "cluster wait time": 700, "gc cr blocks received": 12_048}
    found = wire_time({"a": statistics}, 60, WirePath(8192, 9000, 100))
    assert isinstance(found, Unknown)
    assert found.reason == (
        "The bits of the blocks need 80 % of DB time or more at 100 Mb/s, and the waits for them are at most 71 %. So "
        "either no session waited for a part of the blocks, or they came over more than one link, or over one of "
        "another speed."
    )
    assert isinstance(wire_time({"a": statistics}, 60, WirePath(8192, 9000, 1000)), WireTime)


def test_what_passes_at_the_senders_is_no_time_on_the_wire():
    statistics = {
        "DB time": 100_000,
        "cluster wait time": 5_000,
        "gc cr blocks received": 10_000,
        "gc cr block receive time": 4_000,
        "gc cr block flush time": 3_004,
    }
    alone = wire_time({"a": statistics}, 60, PATH)
    with_waits = wire_time({"a": statistics}, 60, PATH, block_waits_s=40.0)
    assert isinstance(alone, WireTime)
    assert isinstance(with_waits, WireTime)
    # Without the waits for blocks, it is not known how much of the senders' time sessions waited for.
    assert alone.high_percent == pytest.approx(5, rel=0.01)
    assert with_waits.high_percent == pytest.approx(2, rel=0.02)
    # Blocks of one request are on their way together: 40 s of receive time, only 10 s of waits.
    together = wire_time({"a": statistics}, 60, PATH, block_waits_s=10.0)
    assert isinstance(together, WireTime)
    assert together.high_percent == pytest.approx(5 - 0.75, rel=0.02)


def test_the_bits_of_the_blocks_are_the_lower_limit_and_pings_show_the_likely_time():
    statistics = {"DB time": 10_000, "cluster wait time": 5_000, "gc cr blocks received": 100_000}
    found = wire_time({"a": statistics}, 60, PATH)
    assert isinstance(found, WireTime)
    # 8,394 bytes with their headers at 10 Gb/s are 6.7 us for each of 100,000 blocks: 0.67 of 100 s.
    assert found.low_percent == pytest.approx(0.67, rel=0.01)
    assert found.likely_percent == pytest.approx(100 * 100_000 * 0.12e-3 / 100)
    unknown_speed = wire_time({"a": statistics}, 60, WirePath(8192, 9000))
    assert isinstance(unknown_speed, WireTime)
    assert (unknown_speed.low_percent, unknown_speed.likely_percent) == (0, None)


@pytest.mark.parametrize(
    ("instances", "seconds", "reason"),
    [
        ({}, 60, "no instance could be read"),
        ({"prod1": {"DB time": 5, "cluster wait time": 1}}, 60, "were idle: 0.05 s of DB time in 60 s"),
        (
            {"prod1": {"DB time": 20, "cluster wait time": 1}, "prod2": {"DB time": 18, "cluster wait time": 1}},
            4,
            "too short for counters of 0.01 s: 0.38 s in 4 s, and at least 0.4 s are needed. A longer measurement",
        ),
        ({"prod1": {"cluster wait time": 1}}, 60, "'DB time' of prod1 was not read"),
        ({"prod1": {"DB time": 5000, "cluster wait time": 1}, "prod2": {"DB time": 1}}, 60, "time' of prod2 was not"),
        ({"prod1": {"DB time": 5000, "cluster wait time": 1}}, 0.0, "read twice"),
    ],
)
def test_where_it_cannot_be_told_there_is_a_reason(instances, seconds, reason):
    found = wire_time(instances, seconds, PATH)
    assert isinstance(found, Unknown)
    assert reason in found.reason


COUNTS = st.dictionaries(
    st.sampled_from([*BUSY, "gc cr blocks received", "gc current blocks received", "gc current block pin time"]),
    st.one_of(st.integers(-5, 10**400), st.integers(0, 10**5)),
)


@given(
    st.dictionaries(st.sampled_from(["a", "b", "c"]), COUNTS, max_size=3),
    st.floats(0, 1e9),
    st.one_of(st.none(), st.floats(0, 1e9)),
    st.one_of(st.none(), st.floats(0.001, 1e4)),
    st.one_of(st.none(), st.integers(1, 400_000)),
)
def test_the_limits_are_in_order_for_any_counters(instances, seconds, waits_s, rtt_ms, speed):
    path = WirePath(8192, 1500, speed, small_rtt_ms=rtt_ms, block_rtt_ms=rtt_ms)
    found = wire_time(instances, seconds, path, waits_s)
    if isinstance(found, Unknown):
        assert found.reason.endswith(".")
        return
    assert 0 <= found.low_percent <= found.high_percent <= 100
    assert found.likely_percent is None or found.low_percent <= found.likely_percent <= found.high_percent
    # Nothing on the wire can take longer than the cluster waits, but for the ticks of the counters.
    assert found.high_percent <= 100 * (found.cluster_s + 0.03) / (found.db_time_s - 0.03) + 1e-6
    if found.faster_percent is not None and found.high_percent < 99.9:  # above, the difference to 100 has few digits
        assert math.isclose((1 + found.faster_percent / 100) * (1 - found.high_percent / 100), 1, rel_tol=1e-6)
    assert no_network_text(found).endswith(".")


def test_more_waits_of_the_same_load_never_lower_the_limit():
    shares = []
    for waits in range(0, 5_000, 250):
        found = wire_time({"a": {"DB time": 10_000, "cluster wait time": waits}}, 60, PATH)
        assert isinstance(found, WireTime)
        shares.append(found.high_percent)
    assert shares == sorted(shares)


def of_share(percent):
    found = wire_time({"a": {"DB time": 100_000, "cluster wait time": 1000 * percent}}, 60, PATH)
    assert isinstance(found, WireTime)
    return found


def counts(**more):
    blocks = {"gc cr blocks received": 8_000, "gcs messages sent": 20_000, "ges messages sent": 1_000}
    return {**blocks, "cluster wait time": 900, **{name.replace("_", " "): value for name, value in more.items()}}


SINGLE = WaitEvent("gc cr block 2-way", 1000, 400_000)


@pytest.mark.parametrize(
    ("kind", "share", "statistics", "events", "link", "reason"),
    [
        (LoadKind.INDEPENDENT, 3, counts(), [SINGLE], 2.0, "Cluster waits are 3 % of DB time, less than 5 %."),
        (LoadKind.LATENCY, 20, counts(), [SINGLE], 2.0, "neither scans nor messages"),
        (LoadKind.BANDWIDTH, 3, counts(), [SINGLE], 66.0, "from 50 % on packets often wait"),
        (
            LoadKind.SCANNING,
            20,
            counts(),
            [SINGLE, WaitEvent("gc cr multi block request", 100, 900_000)],
            2.0,
            "69 % of the cluster wait time is for several blocks at once.",
        ),
        (
            LoadKind.SCANNING,
            20,
            counts(table_scan_blocks_gotten=700, consistent_gets_from_cache=800, db_block_gets_from_cache=200),
            [SINGLE],
            2.0,
            "70 % of the requested buffers belong to full scans.",
        ),
        (LoadKind.MESSAGES, 20, counts(gcs_messages_sent=200_000), [SINGLE], 2.0, "25.1 for each block received."),
        (
            LoadKind.MESSAGES,
            20,
            counts(),
            [SINGLE, WaitEvent("gc cr grant 2-way", 5000, 1_600_000)],
            None,
            "80 % of the cluster wait time is for grants",
        ),
    ],
)
def test_the_kind_of_a_load_has_its_reason(kind, share, statistics, events, link, reason):
    found = classify(of_share(share), [statistics], events, BusiestLink("eth1 of rac1", link) if link else None)
    assert found.kind is kind
    assert reason in " ".join(found.reasons)
    assert ("How full the private links are is not known." in found.reasons) == (link is None)


def test_unread_events_decide_nothing():
    assert classify(of_share(20), [counts()], None, None).kind is LoadKind.LATENCY


def test_the_facts_of_a_run_give_the_share_the_blocks_and_the_way():
    load = interconnect_load(busy())
    assert isinstance(load, InterconnectLoad)
    assert isinstance(load.wire, WireTime)
    assert load.wire.cluster_percent == pytest.approx(2)
    path = wire_path(busy())
    assert (path.block_bytes, path.mtu, path.speed_mbps) == (8192, 9000, 10_000)
    assert load.instances == ("prod1", "prod2")
    assert load.exchanges[0].cr_received == pytest.approx(8_400 / 30)
    assert load.exchanges[0].gcs_received is None


def test_the_instances_own_pings_stand_in_where_full_size_pings_are_smaller_than_a_block():
    path = wire_path(msgspec.structs.replace(busy(), paths=Unknown("not probed")))
    assert (path.small_rtt_ms, path.block_rtt_ms) == (pytest.approx(0.18), pytest.approx(0.24))
    assert "own pings" in path.pings


def test_with_an_instance_missing_the_time_of_the_senders_is_not_subtracted():
    whole = interconnect_load(busy())
    part = interconnect_load(known(own_activity(1, BUSY), ActivityGap(2, "prod2 was restarted.")))
    assert isinstance(whole, InterconnectLoad)
    assert isinstance(part, InterconnectLoad)
    assert part.missing == {"prod2": "prod2 was restarted."}
    assert isinstance(whole.wire, WireTime)
    assert isinstance(part.wire, WireTime)
    assert "time of the senders" in whole.wire.inputs
    assert "time of the senders" not in part.wire.inputs
    unread = interconnect_load(busy(unread=(UnreadView("GV$SYSTEM_EVENT", "No grant."),)))
    assert isinstance(unread, InterconnectLoad)
    assert isinstance(unread.wire, WireTime)
    assert "time of the senders" not in unread.wire.inputs


def test_a_service_on_several_nodes_with_long_cluster_waits_would_gain_from_one_node():
    services = (
        ServiceActivity(1, "orders", 20_000_000, 5_000_000),
        ServiceActivity(2, "orders", 20_000_000, 3_000_000),
        ServiceActivity(1, "batch", 50_000_000, 20_000_000),
        ServiceActivity(2, "batch", 0, 0),
        ServiceActivity(2, "hr", 30_000_000, 300_000),
        ServiceActivity(1, "hr", 30_000_000, 300_000),
        ServiceActivity(1, "idle", 90, 90),
        ServiceActivity(1, "SYS$USERS", 1_000_000, 900_000),
        ServiceActivity(2, "SYS$USERS", 1_000_000, 900_000),
    )
    load = interconnect_load(busy(services=services))
    assert isinstance(load, InterconnectLoad)
    assert isinstance(load.services, tuple)
    assert [(s.service, s.gains_on_one_node) for s in load.services] == [
        ("batch", False), ("orders", True), ("SYS$USERS", False), ("hr", False)
    ]  # fmt: skip
    section = load_section(busy(services=services))
    assert any("Service orders works on prod1 and prod2 and waits 20 % of its DB time" in n for n in section.notes)


def test_parallel_query_between_nodes_is_named_with_the_parameter_that_decides():
    parameters = tuple(Parameter(n, "parallel_force_local", "FALSE") for n in (1, 2))
    own = [own_activity(n, {**BUSY, "PX remote messages sent": 9_000 * n}) for n in (1, 2)]
    facts = msgspec.structs.replace(known(*own), database=database(parameters=parameters))
    assert any("Parallel query on prod1 and prod2 exchanges" in n and "FALSE" in n for n in load_section(facts).notes)
    few = known(own_activity(1, {**BUSY, "PX remote messages sent": 30}), own_activity(2, BUSY))
    assert not any("Parallel query" in note for note in load_section(few).notes)
