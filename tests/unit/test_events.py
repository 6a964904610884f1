"""Events of generated runs: none in an hour of a healthy cluster, one for each trouble, in the words of the checks."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from checks.model.cluster_event import EventKind
from checks.model.facts import BlockTransfer
from checks.model.finding import Status
from checks.plugins.gc_blocks_lost import gc_blocks_lost
from checks.plugins.reassembly import reassembly
from checks.plugins.udp_receive_buffers import udp_receive_buffers
from checks.situation.events.watching import EventWatch, events_in
from checks.traffic.samples import (
    Gap,
    GapCause,
    InstanceSample,
    InstancesPace,
    LatencySample,
    Links,
    NodeSample,
    PairsSample,
)
from checks.traffic.source_id import DATABASE, PAIRS, SourceId
from tests.fixtures.databases import asked, change, counters, losing
from tests.unit.events_support import (
    BAD,
    BEGIN,
    facts,
    instance_sample,
    is_bad,
    links,
    loses,
    lost_at,
    node_sample,
    noisy_hour,
    only,
    run,
    seen,
    with_counts,
    without,
)


def on(node, **more):
    """The run in which a node counts more in the bad seconds."""

    def broken(at, item):
        wrong = is_bad(at) and isinstance(item, NodeSample) and item.node in node
        return with_counts(item, **more) if wrong else item

    return broken


# --- healthy ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("seed", "every"), [(1, 1.0), (3, 5.0)])
def test_an_hour_of_a_healthy_cluster_with_strays_and_late_samples_has_no_event(seed, every):
    assert seen(noisy_hour(seed, every)) == []


def test_a_longer_interval_is_no_time_without_samples():
    short, long = run(60), run(600, every=60.0)
    later = [replace(item, at=item.at + 60) for item in long if not isinstance(item, Links)]
    assert seen([*short, *later]) == []


# --- one event for each trouble ---------------------------------------------------------------------------------------

COUNTED = [
    (on(["rac2"], ReasmFails=30, ReasmTimeout=30), EventKind.REASSEMBLY, Status.WARN, 30),
    (on(["rac2"], ReasmFails=3_000), EventKind.REASSEMBLY, Status.FAIL, 3_000),
    (on(["rac2"], RcvbufErrors=5), EventKind.RECEIVE_BUFFERS, Status.FAIL, 5),
    (on(["rac2"], InCsumErrors=5), EventKind.CHECKSUMS, Status.WARN, 5),
    (on(["rac2"], Dropped=5), EventKind.BACKLOG, Status.WARN, 5),
    (on(["rac2"], eth2={"rx_dropped": 900}), EventKind.NIC_DROPS, Status.WARN, 900),
    (on(["rac2"], eth2={"tx_dropped": 900}), EventKind.NIC_DROPS, Status.WARN, 900),
    (on(["rac2"], eth2={"rx_errors": 4}), EventKind.NIC_ERRORS, Status.WARN, 4),
    (lost_at(2, blocks=2), EventKind.LOST_BLOCKS, Status.WARN, 2),
    (lost_at(2, blocks=200), EventKind.LOST_BLOCKS, Status.FAIL, 200),
]


@pytest.mark.parametrize(("broken", "kind", "status", "count"), COUNTED)
def test_a_counter_that_grows_is_one_event_with_place_time_and_peak(broken, kind, status, count):
    event = only(seen(run(240, broken)), kind)
    assert (event.status, event.nodes) == (status, ("rac2",))
    assert event.start == pytest.approx(BEGIN + BAD.start - 1, abs=0.1)
    assert event.end == pytest.approx(BEGIN + BAD.stop - 1, abs=0.1)
    assert event.count == count * len(BAD)
    assert event.peak == pytest.approx(count, rel=0.1)
    assert [place.until for place in event.places] == [event.end]


def test_the_public_interface_and_a_few_strays_are_no_event():
    assert seen(run(200, on(["rac2"], eth0={"rx_errors": 50, "rx_dropped": 9_000}))) == []
    assert seen(run(200, on(["rac2"], eth2={"rx_dropped": 1}))) == []


def test_drops_of_a_nic_with_a_smaller_mtu_are_an_effect_of_the_mtu():
    def broken(at, item):
        if at == 61 and isinstance(item, Links):
            return item
        return on(["rac2"], eth2={"rx_dropped": 900})(at, item)

    items = [*run(60), links("rac2", BEGIN + 60.5, eth2={"mtu": 1500})]
    items += [i for i in run(200, broken) if i.at > BEGIN + 61]
    assert only(seen(items), EventKind.MTU).status is Status.FAIL


def test_the_same_trouble_on_several_nodes_is_one_event_with_the_rate_of_all():
    event = only(seen(run(240, lost_at(1, 2, 3))), EventKind.LOST_BLOCKS)
    assert event.nodes == ("rac1", "rac2", "rac3")
    assert event.count == 3 * 20 * len(BAD)
    assert event.peak == pytest.approx(60, rel=0.05)


def test_trouble_with_pauses_is_one_event_and_trouble_that_returns_needs_longer_to_be_over():
    def with_pauses(at, item):
        return lost_at(2)(61 if int(at) % 20 < 2 else 0, item)

    assert len(seen(run(600, with_pauses))) == 1

    def returning(at, item):
        return lost_at(2)(61 if int(at) % 100 < 2 else 0, item)

    found = seen(run(900, returning))
    assert {event.kind for event in found} == {EventKind.LOST_BLOCKS}
    assert len(found) == 3  # over after 30, 60 and 120 s, and then the pauses of 98 s are too short


def test_a_stray_block_after_the_event_began_belongs_to_it():
    def broken(at, item):
        stray = int(at) == 120 and isinstance(item, InstanceSample) and item.number == 2
        return loses(item, 1) if stray else lost_at(2)(at, item)

    event = only(seen(run(240, broken)), EventKind.LOST_BLOCKS)
    assert (event.count, event.end) == (20 * len(BAD) + 1, pytest.approx(BEGIN + 120, abs=0.1))


def test_the_senders_of_lost_blocks_are_pairs_of_nodes():
    transfers = (BlockTransfer(2, 1, 900, 900, 12, 0, 0, 0), BlockTransfer(1, 2, 900, 900, 0, 0, 0, 0))
    items = [*run(90, lost_at(2)), PairsSample(BEGIN + 90.1, 10.0, transfers)]
    assert only(seen(items), EventKind.LOST_BLOCKS).pairs == (("rac1", "rac2"),)


# --- links ------------------------------------------------------------------------------------------------------------


def linked(*changes):
    """A run with the interfaces of nodes at some seconds."""
    states = [links(node, BEGIN + at + 0.5, **changed) for at, node, changed in changes]
    return sorted([*run(120), *states], key=lambda item: item.at)


@pytest.mark.parametrize(
    ("changed", "kind", "peak", "former"),
    [
        ({"is_up": False, "speed_mbps": None}, EventKind.LINK_DOWN, 0, None),
        ({"speed_mbps": 1000}, EventKind.LINK_SPEED, 1000, 10_000),
        ({"mtu": 1400}, EventKind.MTU, 1400, 9000),
    ],
)
def test_an_interface_that_changes_is_an_event_until_it_is_what_it_was(changed, kind, peak, former):
    event = only(seen(linked((20, "rac2", {"eth2": changed}), (50, "rac2", {}))), kind)
    assert (event.status, event.nodes, event.places[0].interface) == (Status.FAIL, ("rac2",), "eth2")
    assert (event.start, event.end) == (BEGIN + 20.5, BEGIN + 50.5)
    assert (event.peak, event.former) == (peak, former)
    assert only(seen(linked((20, "rac2", {"eth2": changed}))), kind).end is None


def test_an_mtu_that_was_changed_on_every_node_is_over():
    new = {"eth2": {"mtu": 1500}}
    event = only(seen(linked((20, "rac1", new), (25, "rac2", new), (29, "rac3", new))), EventKind.MTU)
    assert (event.status, event.end, event.nodes) == (Status.FAIL, BEGIN + 29.5, ("rac1", "rac2", "rac3"))


def test_a_speed_that_came_back_lower_after_the_link_is_an_event_of_its_own():
    down, slow = {"eth2": {"is_up": False, "speed_mbps": None}}, {"eth2": {"speed_mbps": 1000}}
    found = seen(linked((20, "rac2", down), (30, "rac2", slow)))
    assert [event.kind for event in found] == [EventKind.LINK_DOWN, EventKind.LINK_SPEED]


def test_a_link_that_was_lost_between_two_readings_is_an_event_and_one_that_flaps_stays_one():
    """The kernel counts each change of the link: down and up again are two."""
    counts = [(20, 4), (40, 6), (45, 12), (90, 14)]
    found = seen(linked(*((at, "rac2", {"eth2": {"carrier_changes": count}}) for at, count in counts)))
    assert [(event.kind, event.status, event.count) for event in found] == [
        (EventKind.LINK_FLAP, Status.FAIL, 4),
        (EventKind.LINK_FLAP, Status.FAIL, 1),
    ]
    assert (found[0].start, found[0].end) == (pytest.approx(BEGIN + 39.02), BEGIN + 45.5)
    assert (found[0].places[0].node, found[0].places[0].interface) == ("rac2", "eth2")


def test_a_link_that_stays_away_or_a_boot_is_no_flap():
    down = {"eth2": {"is_up": False, "carrier_changes": 5}}
    back = {"eth2": {"carrier_changes": 6}}
    items = linked((20, "rac2", {"eth2": {"carrier_changes": 4}}), (30, "rac2", down), (40, "rac2", back))
    assert only(seen(items), EventKind.LINK_DOWN).end == BEGIN + 40.5
    booted = Gap(SourceId.node("rac2"), BEGIN + 70.4, "It was restarted.", cause=GapCause.RESTARTED)
    items = sorted([*items, booted, links("rac2", BEGIN + 70.5, eth2={"carrier_changes": 8})], key=lambda item: item.at)
    assert [event.kind for event in seen(items)] == [EventKind.LINK_DOWN, EventKind.NODE_RESTART]


def test_what_a_nic_drops_without_a_link_is_no_event_of_its_own():
    items = linked((60, "rac2", {"eth2": {"is_up": False}}), (101, "rac2", {}))
    drops = on(["rac2"], eth2={"tx_dropped": 900})
    only(seen([drops(item.at - BEGIN, item) for item in items]), EventKind.LINK_DOWN)


# --- a check and an event agree ---------------------------------------------------------------------------------------


@given(st.integers(1, 40), st.integers(10, 400), st.integers(0, 30), st.integers(1, 3_000))
def test_an_event_of_thirty_seconds_has_the_status_of_a_check_over_them(lost, blocks, timeouts, fails):
    """Whether counts are normal, and how grave they are, is judged once."""
    seconds = [
        [
            node_sample("rac2", BEGIN + n, ReasmFails=max(fails, timeouts), ReasmTimeout=timeouts, RcvbufErrors=lost),
            replace(
                instance_sample(2, BEGIN + n),
                statistics={"gc blocks lost": lost, "gc cr blocks received": blocks, "gc current blocks received": 0},
            ),
        ]
        for n in range(1, 31)
    ]
    found = {event.kind: event.status for event in seen([item for second in seconds for item in second], nodes=2)}
    activity = losing(2, 30 * lost, {1: 30 * lost})
    (own,) = [one for one in activity.instances if one.instance == 2]
    statistics = {**own.statistics, "gc cr blocks received": 30 * blocks, "gc current blocks received": 0}
    activity = replace(
        activity, instances=tuple(replace(o, statistics=statistics) if o is own else o for o in activity.instances)
    )
    checked = asked(
        2,
        activity=activity,
        counters=counters(
            2,
            change(
                "rac2", Ip_ReasmReqds=30 * 60_000, Ip_ReasmFails=30 * max(fails, timeouts),
                Ip_ReasmTimeout=30 * timeouts, Udp_RcvbufErrors=30 * lost, Udp_InErrors=30 * lost,
            ),
        ),
    )  # fmt: skip

    def worst(check):
        return min((finding.status for finding in check.run(checked)), key=lambda status: status.gravity)

    assert found[EventKind.LOST_BLOCKS] is worst(gc_blocks_lost)
    assert found[EventKind.REASSEMBLY] is worst(reassembly)
    assert found[EventKind.RECEIVE_BUFFERS] is worst(udp_receive_buffers)


# --- any items --------------------------------------------------------------------------------------------------------

TIMES = st.one_of(st.floats(BEGIN - 100, BEGIN + 4000), st.floats())
COUNTS = st.integers(-5, 2**64)
NODES = st.sampled_from(("rac1", "rac2", "rac3", "other", ""))
SOURCES = (SourceId.node("rac2"), SourceId.instance("prod2"), DATABASE, PAIRS, SourceId.node(""))
ITEMS = st.one_of(
    st.builds(
        lambda node, at, seconds, count: replace(
            node_sample("x", BEGIN), node=node, at=at, seconds=seconds, counters={"Ip.ReasmFails": count}
        ),
        NODES, TIMES, st.one_of(st.just(1.0), st.floats()), COUNTS,
    ),
    st.builds(lambda n, at, count: replace(instance_sample(n, at), statistics={"gc blocks lost": count}),
              st.integers(0, 5), TIMES, COUNTS),
    st.builds(lambda node, at, mtu, up: links(node, at, mtu, eth2={"is_up": up}),
              NODES, TIMES, st.integers(), st.booleans()),
    st.builds(Gap, st.sampled_from(SOURCES), TIMES, st.text()),
    st.builds(PairsSample, TIMES, st.floats()),
    st.builds(LatencySample, st.text(), NODES, COUNTS, TIMES, st.floats(), COUNTS, COUNTS),
    st.builds(InstancesPace, TIMES, st.floats(), st.floats()),
    st.builds(facts, st.integers(1, 3)),
)  # fmt: skip


@given(st.lists(ITEMS, max_size=60), st.randoms(use_true_random=False))
def test_any_items_make_events_that_begin_before_they_end(items, at_random):
    changes = list(events_in(items, facts()))
    assert changes == list(events_in(items, facts()))
    watch, numbers, over = EventWatch(facts()), set(), set()
    for item in items:
        for event in [*watch.see(item), *watch.pass_time(BEGIN + at_random.uniform(0, 4000))]:
            assert event.number not in over
            assert event.places
            numbers.add(event.number)
            over |= {event.number} if event.is_over else set()
    assert sorted(numbers) == list(range(1, len(numbers) + 1))
    assert {event.number for event in watch.events} == numbers
    assert {event.number for event in watch.lasting} == numbers - over


@pytest.mark.parametrize("seed", range(3))
def test_looking_between_the_samples_changes_no_event(seed):
    at_random = random.Random(seed)
    broken = at_random.choice(COUNTED)[0]

    def both(at, item):
        return without("node rac3")(at, item) and broken(at, item)

    watch = EventWatch(facts())
    for item in run(240, both):
        watch.see(item)
        watch.pass_time(item.at + at_random.uniform(0, 0.9))

    def of(event):
        return event.kind, event.count, event.start, event.end, [(p.key, p.since, p.until) for p in event.places]

    assert [of(event) for event in watch.events] == [of(event) for event in seen(run(240, both))]
