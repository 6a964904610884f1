"""What samples read of conditions, and what was known at a moment: a recording shows at the playhead what the
console showed then."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from checks.model.cluster_event import EventKind
from checks.model.condition import Condition, ConditionKind
from checks.model.situation import Episode
from checks.report.event_text import pauses
from checks.report.standing_text import episode_text
from checks.rules.live_events import CALM_S
from checks.situation.events.known_events import as_known, event_readings
from checks.situation.events.watching import EventWatch
from checks.traffic.samples import Gap, InstanceSample, Links, NodeSample
from checks.traffic.source_id import DATABASE
from tests.unit.events_support import (
    BAD,
    BEGIN,
    facts,
    instance_sample,
    links,
    loses,
    lost_at,
    node_sample,
    only,
    run,
    seen,
    with_counts,
    without,
)

LOST = Condition(ConditionKind.LOST_BLOCKS, "rac2")
LINK = Condition(ConditionKind.LINK, "rac2", "eth2")
NODE = Condition(ConditionKind.NODE, "rac2")


def watched(items):
    watch = EventWatch(facts())
    for item in items:
        watch.see(item)
    return watch


def of(condition, readings):
    """The readings of a condition, in seconds of the run."""
    return [(round(r.since - BEGIN, 1), round(r.at - BEGIN, 1), r.is_bad) for r in readings if r.condition == condition]


# --- what was known at a moment -----------------------------------------------------------------------------------

TROUBLES = ("loss", "stray", "drops", "reassembly", "silent", "gap", "unread", "link", "database", "clock")
SPANS = st.lists(
    st.tuples(st.sampled_from(TROUBLES), st.integers(1, 120), st.integers(1, 60), st.sampled_from(("1", "2"))),
    max_size=5,
)


def _changed(at, item, spans):
    """An item of the run with what goes wrong at that second; None where it does not come."""
    now, source = round(at), str(item.source)
    for what, begin, length, number in spans:
        if not begin <= now < begin + length:
            continue
        is_node = isinstance(item, NodeSample) and item.node == f"rac{number}"
        is_instance = isinstance(item, InstanceSample) and source == f"instance prod{number}"
        if what == "loss" and is_instance and (now * 7 + int(number)) % 5:
            item = loses(item, 20)
        elif what == "stray" and is_instance and now == begin:
            item = loses(item, 1)
        elif what == "drops" and is_node:
            item = with_counts(item, eth2={"rx_dropped": 60})
        elif what == "reassembly" and is_node:
            item = with_counts(item, ReasmFails=3)
        elif what == "unread" and is_node:
            item = replace(item, counters={}, interfaces={})
        elif what == "silent" and source in ("node rac2", "instance prod2"):
            return None  # without samples of racwire's own node, nothing shows the time
        elif what == "gap" and (is_node or is_instance):
            return Gap(item.source, item.at, "It could not be read.") if now == begin else None
        elif what == "database" and isinstance(item, InstanceSample):
            return Gap(item.source, item.at, "GV$ did not answer in time.", DATABASE)
    return item


def timeline(spans, seconds=160):
    """A run of two nodes with what goes wrong in it, in order of time; the clock is set ahead between two rounds."""
    items = list(run(seconds, lambda at, item: _changed(at, item, spans), nodes=2))
    for what, begin, length, number in spans:
        if what == "link":
            down = {"eth2": {"is_up": False, "speed_mbps": None}}
            items.append(links(f"rac{number}", BEGIN + begin + 0.5, **down))
            items += [links(f"rac{number}", BEGIN + begin + length + 0.5)] if begin + length < seconds else []
    items.sort(key=lambda item: item.at)
    for what, begin, length, _ in spans:
        if what == "clock":
            items = [replace(i, at=i.at + 60 * length) if i.at >= BEGIN + begin else i for i in items]
            break
    return items


@settings(max_examples=20)
@given(SPANS, st.lists(st.integers(0, 1200), min_size=8, max_size=8))
def test_what_was_known_at_a_moment_stays_what_was_known_then(spans, moments):
    items = timeline(spans)
    whole, then = watched(items), EventWatch(facts())
    cuts = sorted({moment % len(items) for moment in moments})
    for number, item in enumerate(items):
        then.see(item)
        if number in cuts:
            last = number + 1 == len(items)
            for now in {item.at, item.at if last else (item.at + items[number + 1].at) / 2}:
                if last or now < items[number + 1].at:
                    assert whole.readings(now) == then.readings(now)
                    assert [_facts(e) for e in whole.known(now)] == [_facts(e) for e in then.known(now)]
                    assert whole.clock_at(now) == then.clock_s


def _facts(event):
    """What is kept of an event: not its worst status, its peak and its count, nor that it paused at one place."""
    places = {(p.key, p.since, p.noticed) for p in event.places}
    last_sign = event.last_sign if event.count else None
    return event.number, event.kind, event.start, event.noticed, event.end, event.end_noticed, last_sign, places


@settings(max_examples=10)
@given(SPANS, st.integers(0, 160))
def test_readings_cover_no_time_after_the_moment_and_calm_is_long_and_not_within_an_event(spans, second):
    watch = watched(timeline(spans))
    now = BEGIN + second
    known = watch.known(now)
    for reading in watch.readings(now):
        assert reading.since <= reading.at <= now
        assert not reading.is_proof
        if reading.condition.kind.is_counted and not reading.is_bad:
            assert reading.at - reading.since >= CALM_S - 0.001
            within = [e for e in known if e.end is None and reading.condition in e.conditions]
            assert all(
                reading.at <= place.since + 0.001
                for event in within
                for place in event.places
                if place.condition(event.kind) == reading.condition
            )


# --- counts -----------------------------------------------------------------------------------------------------------


def test_a_loss_is_bad_from_its_first_to_its_newest_count_and_calm_follows_once_the_event_is_over():
    watch = watched(run(240, lost_at(2)))
    before, first, newest = (0.0, 60.0, False), (60.0, 61.0, True), (99.0, 100.0, True)
    assert of(LOST, watch.readings(BEGIN + 61.5)) == [before, first]
    assert of(LOST, watch.readings(BEGIN + 129.5)) == [before, first, newest], "a pause is not its end"
    assert of(LOST, watch.readings(BEGIN + 131.5)) == [before, first, newest, (100.0, 131.0, False)]
    ends = [r for r in event_readings(watch.events, BEGIN + 131.5) if r.condition == LOST]
    assert of(LOST, ends) == [(100.0, 130.0, False)]
    assert not list(event_readings(watch.events, BEGIN + 129.5))


def test_a_pause_in_an_event_that_recurred_is_no_calm_however_long():
    def returning(at, item):
        return lost_at(2)(61 if 9 < at < 12 or 59 < at < 62 else 0, item)

    watch = watched(run(140, returning))
    assert [round(event.end - BEGIN) for event in watch.events] == [11, 61]
    assert of(LOST, watch.readings(BEGIN + 110))[-1] == (60.0, 61.0, True), "over after 60 s of calm"
    assert of(LOST, watch.readings(BEGIN + 130))[-1] == (61.0, 129.0, False)


def test_a_stray_shows_no_trouble_and_interrupts_the_calm():
    def stray(at, item):
        return loses(item, 1) if at == 60 and str(item.source) == "instance prod2" else item

    watch = watched(run(100, stray))
    assert not watch.events
    assert of(LOST, watch.readings(BEGIN + 89.5)) == [(0.0, 59.0, False)]
    assert of(LOST, watch.readings(BEGIN + 99.5)) == [(0.0, 59.0, False), (60.0, 99.0, False)]


def test_counts_that_the_rules_do_not_mind_are_calm():
    def strays(_, item):
        return with_counts(item, eth2={"rx_dropped": 1}) if isinstance(item, NodeSample) else item

    drops = Condition(ConditionKind.NIC_DROPS, "rac2", "eth2")
    assert of(drops, watched(run(50, strays)).readings(BEGIN + 50)) == [(0.0, 49.0, False)]


def test_a_counter_that_is_not_read_and_a_gap_interrupt_the_calm():
    def unread(at, item):
        is_it = at == 40 and isinstance(item, NodeSample) and item.node == "rac2"
        return replace(item, counters={}) if is_it else item

    of_node = Condition(ConditionKind.REASSEMBLY, "rac2")
    watch = watched(run(100, unread))
    assert of(of_node, watch.readings(BEGIN + 60)) == [(0.0, 39.0, False)]
    watch = watched(run(150, without("node rac2")))
    assert of(of_node, watch.readings(BEGIN + 149.5)) == [(0.0, 60.0, False), (100.0, 149.0, False)]
    assert of(NODE, watch.readings(BEGIN + 149.5)) == [(at, at, False) for at in (1.0, 60.0, 101.0, 149.0)]


def test_a_loss_on_a_node_that_falls_silent_is_not_over_until_it_is_calm_there_again():
    def silent(at, item):
        is_it = str(item.source) in ("node rac2", "instance prod2")
        return None if is_it and 101 <= at < 200 else lost_at(2)(at, item)

    items = list(run(300, silent))
    event = next(e for e in watched(i for i in items if i.at < BEGIN + 200).events if e.kind is EventKind.LOST_BLOCKS)
    assert (event.end, event.places[0].until) == (None, None)
    event = next(e for e in watched(items).events if e.kind is EventKind.LOST_BLOCKS)
    assert event.end == pytest.approx(BEGIN + 100, abs=0.1)
    assert event.end_noticed == pytest.approx(BEGIN + 230, abs=1.1)


# --- states -----------------------------------------------------------------------------------------------------------


def test_a_link_that_was_down_at_the_start_is_read_without_an_event():
    down = [links("rac2", BEGIN + 0.5, eth2={"is_up": False})]
    items = sorted(
        [*(i for i in run(60) if not (isinstance(i, Links) and i.node == "rac2")), *down, links("rac2", BEGIN + 30.5)],
        key=lambda item: item.at,
    )
    watch = watched(items)
    assert not watch.events
    assert of(LINK, watch.readings(BEGIN + 20.5)) == [(0.5, 0.5, True), (20.0, 20.0, True)]
    assert of(LINK, watch.readings(BEGIN + 59.5))[-2:] == [(30.5, 30.5, False), (59.0, 59.0, False)]


def test_an_event_of_a_state_is_a_reading_when_it_was_noticed_and_at_its_end():
    events = seen(run(240, without("node rac2")))
    event = only(events, EventKind.NODE_SILENT)
    assert event.start < event.noticed < event.end == event.end_noticed
    bad = (round(event.noticed - BEGIN, 1),) * 2
    assert list(event_readings(events, event.noticed - 0.1)) == []
    assert of(NODE, event_readings(events, event.noticed)) == [(*bad, True)]
    assert of(NODE, event_readings(events, BEGIN + 240)) == [(*bad, True), (101.0, 101.0, False)]


def test_an_event_keeps_when_it_was_noticed_first_and_a_place_is_known_when_it_joined():
    def later(at, item):
        return lost_at(2)(at, item) if at < 70 else lost_at(2, 3)(at, item)

    watch = watched(run(240, later))
    event = only(watch.events, EventKind.LOST_BLOCKS)
    assert event.noticed == min(place.noticed for place in event.places)
    early, late = as_known(watch.events, BEGIN + 65), as_known(watch.events, BEGIN + 110)
    assert [e.nodes for e in early] == [("rac2",)]
    assert [(e.nodes, e.end, e.last_sign <= BEGIN + 110) for e in late] == [(("rac2", "rac3"), None, True)]
    assert as_known(watch.events, BEGIN + 60) == []


def test_the_database_answers_while_instances_deliver_and_nothing_says_that_its_query_fails():
    def delayed(at, item):
        is_other = at in BAD and isinstance(item, InstanceSample) and item.number > 1
        return Gap(item.source, item.at, "GV$ did not answer in time.", DATABASE) if is_other else item

    watch = watched(run(120, delayed))
    read = [at for at, _, _ in of(Condition(ConditionKind.DATABASE), watch.readings(BEGIN + 99.5))]
    assert max(read) == pytest.approx(61, abs=1), "the connected instance answers alone"
    alone = Condition(ConditionKind.INSTANCE, "rac1", "prod1")
    assert of(alone, watch.readings(BEGIN + 99.5))[-1] == (99.0, 99.0, False)


# --- the clock --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by_s", [3600.0, -3600.0])
def test_times_before_and_after_a_clock_that_was_set_compare(by_s):
    def jumps(at, item):
        item = lost_at(2)(at, item)
        return replace(item, at=item.at + by_s) if at >= 80 else item

    items = list(run(240, jumps))
    watch = watched(items)
    assert watch.clock_s == pytest.approx(by_s, abs=0.1)
    loss = next(event for event in watch.events if event.kind is EventKind.LOST_BLOCKS)
    assert loss.clock_s == watch.clock_s
    assert loss.duration_s(0) == pytest.approx(len(BAD), abs=0.1), "as long as it was"
    assert loss.noticed - loss.clock_s == pytest.approx(BEGIN + 61, abs=0.1)
    now = BEGIN + 239.5 + by_s
    by_the_new_clock = of(LOST, (r.moved(-by_s) for r in watch.readings(now)))
    plain = of(LOST, watched(run(240, lost_at(2))).readings(BEGIN + 239.5))
    assert by_the_new_clock == plain
    assert {r.since for r in event_readings(watch.events, now, watch.clock_s)} <= {loss.end}
    if by_s > 0:
        for moment in (BEGIN + 79.5, BEGIN + 2_000):  # the clock left out the second one
            (known,) = watch.known(moment)
            assert (known.start, known.clock_s) == (pytest.approx(BEGIN + 60, abs=0.1), 0)
            assert max(reading.at for reading in watch.readings(moment)) < BEGIN + 80


def test_a_sample_by_a_clock_that_was_set_a_moment_ago_is_left_out_until_racwires_own_node_shows_it():
    items = [*run(60), replace(node_sample("rac3", BEGIN + 60.5), at=BEGIN + 4_060.5)]
    items += [replace(node_sample(f"rac{n}", BEGIN), at=BEGIN + 4_061 + n / 100) for n in (1, 2, 3)]
    watch = watched(items)
    assert watch.clock_s == pytest.approx(4_000, abs=0.1)
    read = [r.at - watch.clock_s - BEGIN for r in watch.readings(BEGIN + 9_000) if r.condition.node == "rac3"]
    assert (min(read), max(read)) == (pytest.approx(0, abs=0.1), pytest.approx(61, abs=0.1))


# --- words ------------------------------------------------------------------------------------------------------------


def test_while_a_loss_pauses_its_last_sign_is_said():
    def paused(at, item):
        return lost_at(2)(0 if 71 <= at < 85 else at, item)

    watch = watched(run(240, paused))

    def text(at):
        (event,) = watch.known(BEGIN + at)
        episode = Episode(event=event, until=event.end, as_of=BEGIN + at)
        return episode_text(episode, lambda t: f"{t - BEGIN:.0f}", BEGIN + at)

    assert text(70) == "lasts, as of 70"
    assert text(80) == "last 70"
    assert text(90) == "lasts, as of 90"
    assert text(104) == "lasts, as of 104"
    assert text(106) == "last 100"
    assert text(140) == "until 100"
    silent = watched([*run(80, without("node rac2"))])
    assert not pauses(silent.events[0], BEGIN + 80), "it lasts until something ends it"


def test_instances_whose_samples_come_in_any_order_show_one_database():
    items = [instance_sample(n, BEGIN + second + 0.1 * (5 - n)) for second in range(1, 40) for n in (1, 2, 3)]
    watch = watched(sorted([*run(40), *items], key=lambda i: (int(i.at), str(i.source))))
    read = of(Condition(ConditionKind.DATABASE), watch.readings(BEGIN + 41))
    assert read[-1][0] > 39
