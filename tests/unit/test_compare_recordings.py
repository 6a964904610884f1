"""From recordings to compared values: stretches, sums before ratios, gaps, packets per block, the environment."""

import dataclasses
import random
from statistics import median

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.traffic.compare.environment import FEWEST, are_alike, piece_length, thinned, times_longer
from checks.traffic.compare.metrics import packets_per_block
from checks.traffic.compare.readings import read
from checks.traffic.compare.recorded_run import runs_of
from checks.traffic.compare.run import Better, ComparedRun
from checks.traffic.compare.statistics import dependence_of
from checks.traffic.samples import Event, Gap, GapCause, InstanceSample, InterfaceCounts, Links, NodeSample
from checks.traffic.source_id import SourceId
from tests.unit.compare_support import BEGIN, FakeRecording, gap, links, recording


def run_of(of: FakeRecording, **options) -> ComparedRun:
    return runs_of([("it", of)], **options)[0][0]


def values(run: ComparedRun, name: str) -> tuple[float, ...]:
    return next((m.values for m in run.measured if m.name == name), ())


def sample(at: float, *, node="rac1", seconds=1.0, rx_bytes=0, rx_packets=0, **counters) -> NodeSample:
    counts = InterfaceCounts(rx_bytes=rx_bytes, rx_packets=rx_packets)
    named = {name.replace("_", "."): count for name, count in counters.items()}
    return NodeSample(node=node, at=BEGIN + at, seconds=seconds, interfaces={"eth1": counts}, counters=named)


def blocks(at: float, count: int, *, seconds=1.0, host="rac1", instance="prod1") -> InstanceSample:
    statistics = {"gc cr blocks received": count, "gc current blocks received": 0}
    return InstanceSample(instance=instance, number=1, host=host, at=BEGIN + at, seconds=seconds, statistics=statistics)


# --- packets per block ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counted", "packets"),
    [
        ((100, 600, 100), 6.0),
        ((100, 0, 0), 1.0),
        ((100, 300, 50), 3.5),
        ((100, 1200, 200), 6.0),
        ((100, 606, 100), 6.06),
    ],
    ids=["all in six fragments", "all whole", "half and half", "as many pings of 8 KB beside", "one that failed"],
)
def test_a_fragmented_block_counts_its_fragments_and_a_whole_block_counts_one(counted, packets):
    assert packets_per_block(dict(zip(("blocks", "Ip.ReasmReqds", "Ip.ReasmOKs"), counted, strict=True))) == packets


@pytest.mark.parametrize(("mtu", "packets"), [(1500, 6.0), (9000, 1.0)])
def test_the_mtu_shows_in_the_packets_per_block_of_each_node_and_of_all(mtu, packets):
    run = run_of(recording(1, mtu=mtu))
    for name in ("packets per block received", "rac1 packets per block received", "rac2 packets per block received"):
        assert set(values(run, name)) == {packets}


def test_a_node_gets_the_blocks_of_its_instance_with_any_domain():
    events = [links("RAC1", 1500)]
    for second in range(1, 61):
        events.append(sample(second, node="RAC1", Ip_ReasmReqds=600, Ip_ReasmOKs=100))
        events.append(blocks(second, 100, host="rac1.example.com"))
    assert set(values(run_of(FakeRecording(events)), "packets per block received")) == {6.0}


# --- disturbances -----------------------------------------------------------------------------------------------------


def disturbed(*more) -> list[str]:
    """The warnings about a recording of 60 s in stretches of 10 s with further events, other than those of gaps."""
    items = sorted([*recording(1, seconds=60).events(), *more], key=lambda item: item.at)
    return [text for text in run_of(FakeRecording(items), stretch_s=10).warnings if "disturbed" in text]


def test_stretches_with_a_restart_or_a_lost_link_are_named_and_a_healthy_run_has_none():
    assert disturbed() == []
    restart = Gap(SourceId.instance("prod2"), BEGIN + 14.2, "x", cause=GapCause.RESTARTED)
    eth1 = msgspec.structs.replace(links("rac2", 1500).links[0], carrier_changes=2)
    flap = msgspec.structs.replace(eth1, carrier_changes=4)
    lost = [Links("rac2", BEGIN + at, (link,)) for at, link in ((1, eth1), (40.5, flap))]
    assert disturbed(restart, *lost) == [
        "2 of 6 stretches are disturbed: prod2 was restarted 14 s after the start and eth1 of rac2 lost its link 40 s "
        "after the start. At each stop and start of an instance the others reconfigure."
    ]
    booted = Gap(SourceId.node("rac2"), BEGIN + 35.5, "x", cause=GapCause.RESTARTED)
    assert disturbed(booted, *lost) == ["1 of 6 stretches is disturbed: rac2 was restarted 35 s after the start."]


def test_an_instance_that_left_and_joined_disturbs_two_stretches():
    items = [e for e in recording(1, seconds=60).events() if getattr(e, "instance", "") != "prod2" or e.at > BEGIN + 35]
    start = [e for e in recording(1, seconds=10).events() if getattr(e, "instance", "") == "prod2"]
    down = [Gap(SourceId.instance("prod2"), BEGIN + 11.3 + n, "x", cause=GapCause.INSTANCE_DOWN) for n in range(20)]
    run = run_of(FakeRecording(sorted([*items, *start, *down], key=lambda item: item.at)), stretch_s=10)
    (text,) = (text for text in run.warnings if "disturbed" in text)
    assert text.startswith("2 of 6 stretches are disturbed: prod2 left 11 s after the start and prod2 joined 34 s")


# --- intervals --------------------------------------------------------------------------------------------------------


def test_an_interval_divides_sums_and_not_the_ratios_of_seconds():
    events = [links("rac1", 1500)]
    for second in range(1, 61):
        busy = second % 10 == 0
        events.append(sample(second, rx_bytes=9_000_000 if busy else 100, rx_packets=1000 if busy else 1))
    found = values(run_of(FakeRecording(events)), "mean packet in")
    assert found == pytest.approx([9_000_900 / 1009] * 6)


@pytest.mark.parametrize(
    ("spans", "interval", "length"),
    [
        ((60,), 1, 10),
        ((300, 280), 1, 10),
        ((1800, 1800), 1, 30),
        ((86400, 86400), 1, 1800),
        ((75, 7200), 1, 10),
        ((3600,), 60, 600),
    ],
)
def test_an_interval_has_ten_samples_and_a_run_at_most_sixty_intervals(spans, interval, length):
    assert piece_length(spans, interval) == length


@given(st.lists(st.floats(1, 1e7), min_size=1, max_size=3), st.floats(1, 60))
def test_a_run_with_sixty_samples_has_six_intervals_however_long_the_others_are(spans, interval):
    length = piece_length(spans, interval)
    assert length >= 9.98 * interval
    if min(spans) >= 60 * interval:
        assert min(spans) / length >= 5.99
    assert min(spans) / length <= 61


def test_all_runs_have_intervals_of_one_length():
    runs, length = runs_of([("long", recording(1, seconds=900)), ("short", recording(2, seconds=200))])
    assert [len(values(run, "private in")) for run in runs] == [900 // length, 200 // length]


def test_an_interval_is_never_shorter_than_the_time_between_two_samples():
    runs, stretch_s = runs_of([("a", recording(1, seconds=60))], stretch_s=0.05)
    assert stretch_s == 1
    assert not any("of the time only" in warning for warning in runs[0].warnings)


def test_a_slowly_varying_load_makes_the_intervals_longer():
    quick, slow = (runs_of([("it", recording(3, seconds=1200, wandering=w))])[1] for w in (0.3, 0.99))
    assert quick == 20
    assert slow > quick


def test_an_interval_stays_short_enough_for_a_dozen():
    assert times_longer([[list(range(60))], [list(range(30))]]) == [1, 2]
    assert times_longer([[]]) == [1]


def test_values_of_other_tools_are_averaged_until_neighbours_differ():
    chance = random.Random(5)
    level, wandering = 0.0, []
    for _ in range(600):
        level = 0.95 * level + chance.gauss(0, 1)
        wandering.append(level)
    found = thinned(wandering)
    assert 12 <= len(found) < 60
    assert dependence_of(found) < dependence_of(wandering)
    assert thinned([1.0, 2.0, 3.0]) == (1.0, 2.0, 3.0)
    assert not are_alike([[1.0] * 30])


def test_the_start_of_a_recording_can_be_skipped():
    ramp = recording(1, seconds=200, ramp_s=60)
    whole, skipped = run_of(ramp), run_of(ramp, skip_first_s=60)
    assert any("--skip-first" in warning for warning in whole.warnings)
    assert skipped.warnings == ()
    assert min(values(skipped, "blocks received")) > 2 * min(values(whole, "blocks received"))


# --- unknown values ---------------------------------------------------------------------------------------------------


def test_an_interval_with_too_few_samples_is_left_out_and_reported():
    quiet = range(100, 160)
    events = [e for e in recording(1, seconds=200).events() if not (
        isinstance(e, NodeSample) and e.node == "rac2" and e.at - BEGIN in quiet)]  # fmt: skip
    events.append(gap(SourceId.node("rac2"), BEGIN + 100, "ssh to rac2 ended."))
    run = run_of(FakeRecording(sorted(events, key=lambda e: e.at)), stretch_s=10)
    assert len(values(run, "rac1 private in")) == 20
    assert len(values(run, "rac2 private in")) == 14
    assert len(values(run, "private in")) == 14
    assert "node rac2: 1 gap, first: ssh to rac2 ended." in run.warnings
    assert "rac2 was sampled during only 70 % of the time." in run.warnings


def test_a_node_not_sampled_after_the_change_does_not_count_as_less_traffic():
    whole = recording(1)
    alone = FakeRecording([e for e in recording(2).events() if getattr(e, "node", "") != "rac2"])
    (before, after), _ = runs_of([("before", whole), ("after", alone)])
    assert "private in" in {m.name for m in before.measured}
    assert {"private in", "packets per block received"}.isdisjoint(m.name for m in after.measured)
    assert {"rac1 private in", "blocks received"} <= {m.name for m in after.measured}


def test_a_missing_kernel_counter_is_not_zero():
    run = run_of(FakeRecording([links("rac1", 1500), *(sample(s, Ip_ReasmFails=0) for s in range(1, 61))]))
    assert values(run, "reassembly failed") == (0.0,) * 6
    assert values(run, "receive-buffer errors") == ()
    assert values(run, "packets per block received") == ()
    assert values(run, "CPU busy") == ()


def test_private_interfaces_are_those_of_a_private_network_and_a_lack_of_any_is_reported():
    events = list(recording(1).events())[2:]
    run = run_of(FakeRecording(events))
    assert values(run, "private in") == ()
    assert "The private interfaces of rac1 are not known: their traffic is left out." in run.warnings


def test_an_mtu_change_during_the_recording_is_reported():
    events = [*recording(1).events(), links("rac1", 9000, BEGIN + 299)]
    run = run_of(FakeRecording(sorted(events, key=lambda e: e.at)))
    assert "The MTU of eth1 on rac1 changed from 1500 to 9000 meanwhile." in run.warnings


def test_a_recording_that_is_too_short_is_reported():
    run = run_of(recording(1, seconds=5))
    assert run.measured == ()
    assert run.warnings == ("The recording has 5 s: less than one stretch of 10 s.",)
    assert run_of(FakeRecording([])).measured == ()


@given(st.lists(st.builds(
    NodeSample,
    node=st.sampled_from(["rac1", "rac2", ""]),
    at=st.floats(BEGIN, BEGIN + 1000),
    seconds=st.floats(allow_nan=True, allow_infinity=True),
    load=st.none() | st.floats(allow_nan=True),
    counters=st.dictionaries(st.sampled_from(["Ip.ReasmReqds", "Ip.ReasmOKs", "Udp.InDatagrams"]), st.integers(0)),
)))  # fmt: skip
def test_unusual_samples_never_raise(samples):
    events = [links("rac1", 1500), *sorted(samples, key=lambda s: s.at)]
    for metric in run_of(FakeRecording(events), stretch_s=1).measured:
        assert all(abs(value) < float("inf") for value in metric.values)


# --- an interval that is changed while it is recorded -----------------------------------------------------------------


def paced(intervals: list[float]) -> list[Event]:
    """One node that always receives 1,000 packets of 900 bytes a second, sampled at these intervals."""
    events: list[Event] = [links("rac1", 1500)]
    at = 0.0
    for seconds in intervals:
        at += seconds
        packets = round(1000 * seconds)
        events.append(sample(at, seconds=seconds, rx_bytes=900 * packets, rx_packets=packets))
    return events


@pytest.mark.parametrize("later_s", [2.0, 5.0, 10.0, 15.0, 30.0, 60.0])
@pytest.mark.parametrize("at_first", [60, 63, 67])
def test_a_longer_sampling_interval_from_some_time_on_leaves_no_gap(later_s, at_first):
    (run,), stretch_s = runs_of([("it", FakeRecording(paced([1.0] * at_first + [later_s] * round(600 / later_s))))])
    assert stretch_s >= later_s
    assert values(run, "packets in") == pytest.approx([1000.0] * int(run.seconds / stretch_s))
    assert not any("of the time only" in warning for warning in run.warnings)


def test_a_changed_sampling_interval_is_reported_and_replaces_the_first_one():
    changed = run_of(FakeRecording(paced([1.0] * 60 + [10.0] * 30)))
    assert changed.environment["seconds between samples"] == "1 to 10"
    assert any(warning.startswith("The samples of nodes are 1 to 10 s") for warning in changed.warnings)
    at_once = run_of(FakeRecording(paced([1.0] * 3 + [10.0] * 60)))
    assert at_once.environment["seconds between samples"] == "10"
    assert not any(warning.startswith("The samples of") for warning in at_once.warnings)


def with_instance(intervals: list[float]) -> list[Event]:
    """One node sampled every second, and its instance, which receives 100 blocks a second, at these intervals."""
    events, at = paced([1.0] * round(sum(intervals))), 0.0
    for seconds in intervals:
        at += seconds
        blocks = {"gc cr blocks received": round(100 * seconds), "gc current blocks received": 0, "gc blocks lost": 0}
        events.append(InstanceSample("prod1", 1, "rac1", BEGIN + at, seconds, blocks))
    return sorted(events, key=lambda event: event.at)


@pytest.mark.parametrize(
    "intervals", [[4.0] * 100, [1.0] * 200 + [2.0] * 30 + [10.0] * 12 + [5.0] * 12 + [2.0] * 30 + [1.0] * 100]
)
def test_instances_that_slow_down_are_compared_by_the_same_rates(intervals):
    (run,), stretch_s = runs_of([("it", FakeRecording(with_instance(intervals)))])
    assert stretch_s >= 4
    assert values(run, "blocks received") == pytest.approx([100.0] * int(run.seconds / stretch_s))
    assert run.environment["seconds between samples"] == "1"
    uneven = [warning for warning in run.warnings if warning.startswith("The samples of")]
    if len(set(intervals)) == 1:
        assert (run.environment["seconds between samples of instances"], uneven) == ("4", [])
    else:
        assert run.environment["seconds between samples of instances"] == "1 to 10"
        (warning,) = uneven
        assert warning.startswith("The samples of instances are 1 to 10 s long")
        assert "racwire slowed down" in warning


def test_a_few_late_samples_are_not_another_sampling_interval():
    run = run_of(FakeRecording(paced([1.0] * 200 + [4.0] * 3 + [1.0] * 100)))
    assert run.environment["seconds between samples"] == "1"
    assert run.warnings == ()


def test_an_interval_is_not_shorter_than_the_longest_sampling_interval():
    _, stretch_s = runs_of([("it", FakeRecording(paced([1.0] * 60 + [60.0] * 20)))], stretch_s=5)
    assert stretch_s == 60


def test_time_without_samples_is_a_gap_at_every_sampling_interval():
    """After second 200 a minute was not sampled: the sample after the gap covers its own ten seconds only."""
    events = [e for e in paced([1.0] * 100 + [10.0] * 40) if not 200 < e.at - BEGIN <= 260]
    run = run_of(FakeRecording(events), stretch_s=10)
    assert 42 <= len(values(run, "packets in")) <= 44
    assert "rac1 was sampled during only 88 % of the time." in run.warnings


def test_a_lost_block_of_one_sample_is_lost_in_one_interval():
    events = [links("rac1", 1500)]
    events += [sample(s + 0.03 * (s % 3), Ip_ReasmFails=int(s == 101)) for s in range(1, 301)]
    found = values(run_of(FakeRecording(events)), "reassembly failed")
    assert sum(value > 0 for value in found) == 1


def test_shares_of_a_long_sample_add_up_to_it():
    events = [links("rac1", 1500), *(sample(s, Ip_ReasmFails=0) for s in range(1, 41))]
    events.append(sample(100, seconds=60.0, Ip_ReasmFails=120))
    readings = read(FakeRecording(events), 7.0)
    rates = [piece["node", "rac1"].rates(7.0).get("Ip.ReasmFails", 0.0) for piece in readings.pieces]
    assert rates[:5] == [0.0] * 5
    assert rates[6:] == pytest.approx([2.0] * 8)
    assert 0 < rates[5] < 2


# --- metrics and environment ------------------------------------------------------------------------------------------


def test_controls_are_metrics_that_the_mtu_cannot_affect():
    controls = {m.name for m in run_of(recording(1)).measured if m.is_control and not m.part_of}
    assert controls == {"blocks received", "ping 500 B", "small ping p50", "small ping longest"}


def test_without_a_database_datagrams_measure_the_load():
    controls = {m.name for m in run_of(recording(1, with_database=False)).measured if m.is_control and not m.part_of}
    assert controls == {"UDP datagrams in", "small ping p50", "small ping longest"}


def test_metrics_of_the_amount_of_work_are_never_better():
    done = {"packets per block received", "private in", "packets in", "fragments in", "UDP datagrams in"}
    by_name = {m.name: m.better for m in run_of(recording(1)).measured}
    assert {by_name[name] for name in done} == {Better.NEITHER}
    assert {by_name[name] for name in ("CPU per MB", "CR receive time", "ping 8 KB")} == {Better.LOWER}


def test_units_are_those_of_the_metric():
    run = run_of(recording(1, blocks=1000))
    assert median(values(run, "rac1 private in")) == pytest.approx(1000 * 8400 * 8 / 1e6, rel=0.1)
    assert median(values(run, "CR receive time")) == pytest.approx(0.625, rel=0.05)  # 0.05 cs for 0.8 of the blocks
    assert median(values(run, "ping 500 B")) == pytest.approx(0.2, rel=0.05)


def test_the_environment_names_what_should_be_equal():
    facts = run_of(recording(1)).environment
    assert facts["rac1 eth1 MTU"] == "1500"
    assert facts["rac2 kernel"] == "5.15.0-1"
    assert facts["rac1 CPUs"] == "8"
    assert facts["rac1 eth1 speed"] == "10000 Mb/s"
    assert facts["instances sampled"] == "prod1 prod2"
    assert facts["seconds between samples"] == "1"


def test_reading_stops_at_a_limit_whatever_length_a_file_claims():
    events = [links("rac1", 1500, 0.0), sample(1 - BEGIN), sample(0)]
    run, length = runs_of([("it", FakeRecording(events))], stretch_s=0.001)
    assert length >= BEGIN / 5000
    assert run[0].seconds == BEGIN


def test_a_run_is_plain_data():
    run = run_of(recording(1, seconds=60))
    assert msgspec.json.encode(dataclasses.asdict(run))
    assert len(read(recording(1, seconds=60), 10.0).pieces) == FEWEST
