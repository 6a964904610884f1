"""The check `gc-receive-time`: averages, the tail behind them, impossible units, and the waits of sessions."""

import msgspec
import pytest

from checks.model.facts import ActivityGap, Unknown, UnreadNode, UnreadView, WaitEvent
from checks.model.finding import Status
from checks.plugins.gc_receive_time import gc_receive_time
from checks.rules.receive_time import past_time_status, receive_limits
from checks.rules.waits import beyond, quantile_us
from checks.sources.database.release_columns import suits
from checks.sources.database.statements import statements as all_statements
from tests.fixtures.clusters import cluster, node, with_interface
from tests.fixtures.databases import activity, asked, database, event, own_activity


def found(*changed):
    return {f.code: f for f in gc_receive_time.run(asked(2, activity=activity(2, *changed)))}


def slow(cr_ms, **more):
    """prod2 with this receive time of CR blocks, by the statistics."""
    return own_activity(2, {"gc cr block receive time": round(cr_ms * 8_400 / 10)}, **more)


def test_a_healthy_database_passes_with_the_slowest_average():
    codes = found()
    assert {c: f.status for c, f in codes.items()} == {"IC-TIME-001": Status.PASS}
    assert codes["IC-TIME-001"].title == "Blocks arrive at prod1 and prod2 in 0.40 ms or less on average."
    assert codes["IC-TIME-001"].table.rows[1] == ("prod2", "12,400", "0.40 ms", "0.40 ms")


FAST = "because every private NIC runs at 10 Gbit/s or more"


def at_speed(speed_mbps, *changed, **limits):
    """The findings where eth1 of rac2 has this speed, with these thresholds."""
    nodes = [node(1), with_interface(node(2), "eth1", speed_mbps=speed_mbps)]
    built = asked(cluster(nodes), activity=activity(2, *changed))
    built = msgspec.structs.replace(built, thresholds=msgspec.structs.replace(built.thresholds, **limits))
    return {f.code: f for f in gc_receive_time.run(built)}


@pytest.mark.parametrize(("cr_ms", "status"), [(3.5, Status.WARN), (9.0, Status.WARN), (10.5, Status.FAIL)])
def test_on_fast_nics_the_limits_are_strict(cr_ms, status):
    finding = found(slow(cr_ms))["IC-TIME-002"]
    assert finding.status is status
    time = f"{cr_ms:.2f}" if cr_ms < 10 else cr_ms
    assert finding.title == f"Blocks take long to arrive at prod2: {time} ms for CR blocks, on average of 30 s."
    assert finding.nodes == ("rac2",)
    assert finding.expected == (f"Under 3 ms, {FAST}; on 10 Gbit/s under 1 ms is usual",)
    assert found(slow(2.9))["IC-TIME-001"].expected == (f"Under 3 ms, {FAST}",)


@pytest.mark.parametrize(
    ("speed_mbps", "why"),
    [(1000, "eth1 of rac2 runs at 1,000 Mbit/s"), (Unknown("veth"), "the speed of eth1 of rac2 is not known")],
)
@pytest.mark.parametrize(("cr_ms", "status"), [(9.0, None), (10.5, Status.WARN), (20.5, Status.FAIL)])
def test_on_other_nics_the_limits_are_those_of_enterprise_manager(speed_mbps, why, cr_ms, status):
    codes = at_speed(speed_mbps, slow(cr_ms))
    finding = codes["IC-TIME-001" if status is None else "IC-TIME-002"]
    assert finding.status is (status or Status.PASS)
    assert finding.expected[0].partition(";")[0] == f"Under 10 ms, because {why}"


def test_a_nic_without_a_link_does_not_count_and_an_unread_node_does():
    nodes = [node(1), with_interface(node(2), "eth1", speed_mbps=Unknown("no link"), operational_state="down")]
    assert receive_limits(cluster(nodes)).warn_ms == 3.0
    lacking = [node(1), UnreadNode("rac2", "It is down.")]
    limits = receive_limits(msgspec.structs.replace(cluster(1), nodes=tuple(lacking)))
    assert (limits.warn_ms, limits.why_warn) == (10.0, "the speeds of the private NICs of rac2 are not known")
    unknown = receive_limits(msgspec.structs.replace(cluster(1), networks=Unknown("oifcfg failed.")))
    assert [past_time_status(5.0, each) for each in (receive_limits(cluster(2)), unknown)] == [Status.INFO, None]
    assert (unknown.fail_ms, unknown.why_fail) == (20.0, "the speeds of the private NICs are not known")


@pytest.mark.parametrize(
    ("speed_mbps", "changed", "limits_ms"),
    [
        (10_000, {}, (3, 10)),
        (1_000, {}, (10, 20)),
        (10_000, {"receive_warn_ms": 5.0}, (5, 10)),
        (10_000, {"receive_warn_ms": 15.0}, (15, 20)),
        (10_000, {"receive_warn_ms": 30.0}, (30, 30)),
        (10_000, {"receive_fail_ms": 40.0}, (3, 40)),
        (10_000, {"receive_fail_ms": 2.0}, (2, 2)),
        (10_000, {"receive_fast_warn_ms": 2.0}, (2, 10)),
        (10_000, {"receive_warn_ms": 5.0, "receive_fast_warn_ms": 2.0}, (2, 10)),
        (1_000, {"receive_warn_ms": 5.0, "receive_fast_warn_ms": 2.0}, (5, 20)),
    ],
)
def test_a_limit_that_the_operator_changed_stays_at_every_speed(speed_mbps, changed, limits_ms):
    built = cluster([with_interface(node(1), "eth1", speed_mbps=speed_mbps), node(2)])
    built = msgspec.structs.replace(built, thresholds=msgspec.structs.replace(built.thresholds, **changed))
    limits = receive_limits(built)
    assert (limits.warn_ms, limits.fail_ms) == limits_ms


def test_a_changed_limit_is_named_as_the_reason():
    finding = at_speed(10_000, slow(6.0), receive_warn_ms=5.0)["IC-TIME-002"]
    assert finding.expected[0].startswith("Under 5 ms, because receive_warn_ms is 5 in the settings;")


def test_times_above_the_usual_pass_with_a_note():
    finding = found(slow(2.5))["IC-TIME-001"]
    assert "2.50 ms" in finding.title
    assert any("worth watching" in line for line in finding.seen)


def test_a_long_tail_behind_a_good_average_is_reported_with_its_bound():
    finding = found(own_activity(2, events=(event("gc cr block 2-way", 8_000, 300, late=400),)))["IC-TIME-003"]
    assert finding.status is Status.WARN
    assert finding.title.startswith("5.0 % of the waits for blocks on prod2 took longer than 16.4 ms")
    assert finding.expected == (f"2 % at most over 10 ms, {FAST}",)
    slow_nic = at_speed(1000, own_activity(2, events=(event("gc cr block 2-way", 8_000, 300, late=400),)))
    assert slow_nic["IC-TIME-003"].title.startswith("5.0 % of the waits for blocks on prod2 took longer than 32.8 ms")
    assert any("99% in up to 65.5 ms" in line for line in finding.seen)


def test_a_time_that_contradicts_the_waits_is_doubted_and_not_a_failure():
    codes = found(slow(4_000))
    assert codes["IC-TIME-004"].status is Status.UNKNOWN
    assert "IC-TIME-002" not in codes


def test_a_time_confirmed_by_the_waits_is_a_failure_however_long():
    events = (event("gc cr block 2-way", 8_000, 3_900_000),)
    assert found(slow(4_000, events=events))["IC-TIME-002"].status is Status.FAIL


def test_large_differences_between_statistics_and_waits_are_noted():
    events = (event("gc cr block 2-way", 8_000, 30),)
    assert any("far apart" in line for line in found(slow(12, events=events))["IC-TIME-002"].seen)


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("gc cr block congested", Status.WARN),
        ("gc current retry", Status.WARN),
        ("gc buffer busy acquire", Status.INFO),
    ],
)
def test_costly_waits_other_than_plain_transfers_are_named(name, status):
    finding = found(own_activity(2, events=(event("gc cr block 2-way", 8_000, 400), event(name, 2_000, 5_000))))[
        "IC-TIME-006"
    ]
    assert finding.status is status
    assert name in finding.title


def test_lost_blocks_are_left_to_gc_blocks_lost():
    lost = event("gc cr block lost", 20, 400_000)
    codes = found(own_activity(2, {"gc blocks lost": 20}, events=(event("gc cr block 2-way", 8_000, 400), lost)))
    assert set(codes) == {"IC-TIME-001"}
    assert "only blocks that arrived; gc-blocks-lost reports those that did not" in codes["IC-TIME-001"].seen
    busy = event("gc current block busy", 900, 5_000)
    codes = found(own_activity(2, {"gc blocks lost": 20}, events=(event("gc cr block 2-way", 8_000, 400), lost, busy)))
    assert codes["IC-TIME-006"].title == (
        "prod2 spends 58 % of its cluster wait time, lost blocks excluded, on gc current block busy."
    )


def test_instances_with_the_same_problem_share_one_finding():
    same = [own_activity(n, {"gc cr block receive time": 92_400}, events=(congested(),)) for n in (1, 2)]
    codes = {f.code: f for f in gc_receive_time.run(asked(3, activity=activity(3, *same)))}
    assert codes["IC-TIME-002"].title == (
        "Blocks take long to arrive at prod1 and prod2: up to 110 ms, on average of 30 s."
    )
    assert (
        codes["IC-TIME-006"].title == "prod1 and prod2 spend 100 % of their cluster wait time on gc cr block congested."
    )
    assert [remedy.commands[0] for remedy in codes["IC-TIME-006"].next] == ["mpstat -P ALL 1 5"]


def congested():
    return event("gc cr block congested", 8_000, 100_000)


def test_unreadable_waits_are_unknown_and_not_zero():
    unread = (UnreadView("GV$EVENT_HISTOGRAM_MICRO", "The grant on GV$EVENT_HISTOGRAM_MICRO is missing."),)
    codes = {f.code: f for f in gc_receive_time.run(asked(2, activity=activity(2, unread=unread)))}
    assert codes["IC-TIME-001"].status is Status.PASS
    assert codes["IC-TIME-005"].status is Status.UNKNOWN
    assert codes["IC-TIME-005"].seen == ("The grant on GV$EVENT_HISTOGRAM_MICRO is missing.",)
    views = (UnreadView("GV$SYSTEM_EVENT", "No grant."),)
    measured = activity(2, slow(4_000, events=()), unread=views)
    assert {f.code for f in gc_receive_time.run(asked(2, activity=measured))} >= {"IC-TIME-002", "IC-TIME-005"}


@pytest.mark.parametrize(
    ("version", "statement"),
    [
        ("11.2.0.4.0", "event_histogram"),
        ("12.1.0.1.0", "event_histogram"),
        ("12.1.0.2.0", "event_histogram_micro"),
        ("12.2.0.1.0", "event_histogram_micro"),
        ("19.22.0.0.0", "event_histogram_micro"),
    ],
)
def test_the_tail_comes_from_the_histogram_of_the_release(version, statement):
    assert suits(all_statements()[statement], version)
    late = own_activity(2, events=(event("gc cr block 2-way", 8_000, 300, late=400),))
    built = asked(2, database=database(2, version), activity=activity(2, late))
    (finding,) = (f for f in gc_receive_time.run(built) if f.code == "IC-TIME-003")
    assert {e.topic for e in finding.evidence} == {f"sql {statement}"}


def test_the_share_that_makes_a_wait_costly_is_a_setting():
    events = (event("gc cr block 2-way", 8_000, 400), event("gc cr block congested", 100, 5_000))
    built = asked(2, activity=activity(2, own_activity(2, events=events)))  # 0.5 s of 3.7 s
    limits = msgspec.structs.replace(built.thresholds, gc_wait_share_warn_percent=14.0)
    lenient = msgspec.structs.replace(built, thresholds=limits)
    assert "IC-TIME-006" in {f.code for f in gc_receive_time.run(built)}
    assert "IC-TIME-006" not in {f.code for f in gc_receive_time.run(lenient)}


def exchanging(number, cr_ms=0.4):
    """30 s with 12,400 blocks of 8 KB received and sent each, and 10,240 messages of 200 bytes."""
    statistics = {
        "gc cr block receive time": round(cr_ms * 8_400 / 10),
        "gc cr blocks served": 8_400,
        "gc current blocks served": 4_000,
        "gcs messages sent": 5_120,
        "ges messages sent": 0,
    }
    return own_activity(number, statistics, messages={"gcs msgs received": 5_120, "ges msgs received": 0})


def test_the_table_has_the_known_traffic_of_each_instance():
    table = found(exchanging(1))["IC-TIME-001"].table
    assert table.columns[-1] == "traffic"
    assert [row[-1] for row in table.rows] == ["6.5 MB/s", "-"]
    assert found()["IC-TIME-001"].table.columns[-1] == "current"


def test_the_traffic_of_slow_instances_is_reported():
    assert "prod2: about 6.5 MB/s over the interconnect" in found(exchanging(2, cr_ms=12))["IC-TIME-002"].seen


def test_inside_a_pluggable_database_the_origin_of_the_figures_is_stated():
    inside = asked(2, database=database(2, is_multitenant=True, container="APP1"))
    note = "connected to the pluggable database APP1, not to CDB$ROOT: the figures cover only it"
    assert [f.seen[-1] for f in gc_receive_time.run(inside)] == [note]
    root = asked(2, database=database(2, is_multitenant=True, container="CDB$ROOT"))
    assert not any("pluggable" in line for f in gc_receive_time.run(root) for line in f.seen)


def test_few_blocks_are_not_judged():
    idle = own_activity(
        2, {"gc cr blocks received": 3, "gc current blocks received": 2, "gc cr block receive time": 60}
    )
    codes = found(idle)
    assert codes["IC-TIME-007"].status is Status.INFO
    assert codes["IC-TIME-007"].title.startswith("prod2 received 5 blocks in 30 s")
    assert "IC-TIME-002" not in codes


def test_a_restarted_instance_is_unknown():
    codes = found(ActivityGap(2, "It was restarted between the two samples."))
    assert codes["IC-TIME-005"].title.startswith("The receive time of blocks at prod2 is not known: it was restarted")
    assert codes["IC-TIME-001"].title.startswith("Blocks arrive at prod1 in")


def test_only_waits_certainly_beyond_the_bound_count():
    histogram = [(16_384, 90), (32_768, 6), (65_536, 4)]
    assert beyond(histogram, 20_000) == (4, 32_768)
    assert beyond(histogram, 16_384) == (10, 16_384)
    assert beyond([(65_536, 4)], 20_000) == (4, 32_768)
    assert beyond([], 20_000)[0] == 0


def test_a_quantile_is_the_limit_of_its_bucket():
    assert quantile_us([(512, 95), (1024, 4), (2048, 1)], 0.95) == 512
    assert quantile_us([(512, 95), (1024, 4), (2048, 1)], 0.99) == 1024
    assert quantile_us([], 0.5) is None


def test_a_wait_without_a_histogram_has_no_tail():
    plain = WaitEvent("gc cr block 2-way", 8_000, 3_200_000)
    assert "IC-TIME-003" not in found(own_activity(2, events=(plain,)))
