"""Nodes and instances that do not answer, times without samples, and clocks that jump, as events."""

import pytest
from msgspec.structs import replace

from checks.model.cluster_event import EventKind
from checks.model.finding import Status
from checks.report.event_text import headline
from checks.situation.events.watching import EventWatch
from checks.traffic.listed_instances import UpInstances
from checks.traffic.peer_stream import SameNodeError
from checks.traffic.samples import Gap, GapCause, InstanceSample, NodeSample
from checks.traffic.source_id import BY_RACWIRE, DATABASE, SourceId
from tests.unit.events_support import (
    BAD,
    BEGIN,
    facts,
    instance_sample,
    is_bad,
    lost_at,
    node_sample,
    only,
    run,
    seen,
    without,
)


def test_a_node_that_stops_answering_is_an_event_after_two_intervals_until_it_answers():
    watch = EventWatch(facts())
    began = next(item.at for item in run(240, without("node rac2")) if watch.see(item))
    assert began - (BEGIN + 60) < 3.1  # the last sample, two that are missing
    event = only(seen(run(240, without("node rac2"))), EventKind.NODE_SILENT)
    assert (event.status, event.nodes) == (Status.UNKNOWN, ("rac2",))
    assert (event.start, event.end) == (pytest.approx(BEGIN + 60, abs=0.1), pytest.approx(BEGIN + 101, abs=0.1))


def test_time_that_passes_shows_a_silent_node_before_the_next_sample():
    watch = EventWatch(facts())
    for item in run(60):
        watch.see(item)
    for second in (61, 62):
        for item in (node_sample("rac1", BEGIN + second), instance_sample(1, BEGIN + second)):
            assert watch.see(item) == []
    assert watch.pass_time(BEGIN + 62.1) == []
    assert [event.kind for event in watch.pass_time(BEGIN + 62.4)] == [EventKind.NODE_SILENT]


def test_nodes_that_stop_together_are_one_event_and_each_comes_back_by_itself():
    def broken(at, item):
        late = 101 <= at < 111 and item.source == SourceId.node("rac3")
        return None if late else without("node rac2", "node rac3")(at, item)

    event = only(seen(run(240, broken)), EventKind.NODE_SILENT)
    assert {p.node: round(p.until - BEGIN) for p in event.places} == {"rac2": 101, "rac3": 111}


def test_samples_that_racwire_itself_did_not_take_say_nothing_of_their_sources():
    watch = EventWatch(facts())
    for item in run(60):
        watch.see(item)
    sources = [
        of(f"{name}{n}") for of, name in ((SourceId.node, "rac"), (SourceId.instance, "prod")) for n in (1, 2, 3)
    ]
    for source in sources:
        assert watch.see(Gap(source, BEGIN + 60.5, "Another racwire took the samples.", BY_RACWIRE)) == []
    for second in range(62, 72):
        assert watch.see(node_sample("rac1", BEGIN + second)) == []
    assert watch.pass_time(BEGIN + 80) == []
    (event,) = watch.see(Gap(SourceId.node("rac2"), BEGIN + 81, "rac2 refused the connection."))
    assert (event.kind, event.nodes) == (EventKind.NODE_SILENT, ("rac2",))


def test_an_instance_that_is_down_is_an_event_at_once_and_one_that_hangs_has_a_reason():
    up = UpInstances()
    up._listed = {1, 3}
    reason, cause = up.why_missing(2, "prod2")
    watch = EventWatch(facts())
    for item in run(10):
        watch.see(item)
    gap = Gap(SourceId.instance("prod2"), BEGIN + 11, reason, cause=cause)
    event, left = watch.see(gap)
    assert (event.kind, event.status, event.places[0].node) == (EventKind.INSTANCE_DOWN, Status.WARN, "rac2")
    assert headline(left) == "the instances reconfigured without prod2"
    event, joined = watch.see(instance_sample(2, BEGIN + 15))
    assert event.end == BEGIN + 15
    assert headline(joined) == "the instances reconfigured with prod2"
    changes = [(one.kind, one.status, one.former, one.peak, one.is_problem) for one in (left, joined)]
    assert changes == [
        (EventKind.RECONFIGURATION, Status.INFO, 3, 2, False),
        (EventKind.RECONFIGURATION, Status.INFO, 2, 3, False),
    ]

    def hangs(at, item):
        if at == BAD.start and item.source == SourceId.instance("prod2"):
            return Gap(item.source, item.at, "prod2 could not be queried: it did not answer in time.")
        return without("instance prod2")(at, item)

    event = only(seen(run(240, hangs)), EventKind.INSTANCE_SILENT)
    assert (event.status, "prod2 could not be queried" in event.reason) == (Status.UNKNOWN, True)


def restarted(source, at, up_s=None):
    return Gap(source, BEGIN + at, "It was restarted.", cause=GapCause.RESTARTED, up_s=up_s)


def test_an_instance_that_was_restarted_between_two_samples_is_an_event_and_reconfigured_all():
    def restart(at, item):
        is_first = at == 60 and item.source == SourceId.instance("prod2")
        return restarted(item.source, at) if is_first else item

    restart_, reconfiguration = seen(run(120, restart))
    assert (headline(restart_), restart_.status, restart_.nodes) == ("prod2 was restarted", Status.WARN, ("rac2",))
    times = (BEGIN + 59.05, BEGIN + 60)
    assert (restart_.start, restart_.end) == pytest.approx(times)
    assert headline(reconfiguration) == "the instances reconfigured for the restart of prod2"
    assert (reconfiguration.former, reconfiguration.peak) == (3, 3)


def test_instances_that_restart_together_are_one_event_and_one_that_follows_later_another():
    times = {"prod2": 60, "prod3": 60, "prod1": 90}

    def restart(at, item):
        is_due = item.source.kind == "instance" and at == times[item.source.name]
        return restarted(item.source, at) if is_due else item

    found = [headline(event) for event in seen(run(120, restart))]
    assert found == [
        "prod2 and prod3 were restarted",
        "the instances reconfigured for the restart of prod2 and prod3",
        "prod1 was restarted",
        "the instances reconfigured for the restart of prod1",
    ]


def test_a_node_that_answers_again_with_another_boot_was_restarted_when_it_booted():
    def reboots(at, item):
        if item.source != SourceId.node("rac2") or not 60 < at < 100:
            return item
        return restarted(item.source, at, up_s=12.0) if at == 99 else None

    silent, restart = seen(run(240, reboots))
    assert (silent.kind, silent.end) == (EventKind.NODE_SILENT, pytest.approx(BEGIN + 99))
    assert (restart.kind, restart.status) == (EventKind.NODE_RESTART, Status.WARN)
    assert (restart.start, restart.end) == (pytest.approx(BEGIN + 87), pytest.approx(BEGIN + 99))


def test_an_instance_that_was_down_and_is_started_joins_and_is_no_further_restart():
    def starts(at, item):
        if item.source != SourceId.instance("prod2") or at > 80:
            return item
        if at == 80:
            return restarted(item.source, at)
        return Gap(item.source, item.at, "prod2 is down.", cause=GapCause.INSTANCE_DOWN) if at > 60 else item

    found = seen(run(120, starts))
    assert [event.kind for event in found] == [EventKind.INSTANCE_DOWN, *[EventKind.RECONFIGURATION] * 2]
    assert [event.former for event in found[1:]] == [3, 2]
    assert found[0].end == found[2].end


def test_only_the_instance_that_hangs_is_silent_although_no_instance_delivers():
    """GV$ waits for every instance: until racwire knows which one hangs, the database does not answer."""

    def hangs(at, item):
        if not isinstance(item, InstanceSample) or not is_bad(at):
            return item
        if at < 75:
            return None
        cause = None if item.number == 2 else SourceId.instance("prod2")
        return Gap(item.source, item.at, "prod2 did not answer in time.", cause) if at == 75 else None

    database, instance = seen(run(240, hangs))
    assert (database.kind, database.nodes) == (EventKind.DATABASE_SILENT, ())
    assert database.end == pytest.approx(BEGIN + 75, abs=1)
    assert headline(database) == "GV$ did not answer", "the connected instance may answer V$"
    assert (instance.kind, instance.nodes) == (EventKind.INSTANCE_SILENT, ("rac2",))
    assert instance.end == pytest.approx(BEGIN + 101, abs=1)

    def unknown(at, item):
        is_other = isinstance(item, InstanceSample) and item.number > 1 and is_bad(at)
        return Gap(item.source, item.at, "GV$SYSSTAT did not answer in time.", DATABASE) if is_other else item

    assert only(seen(run(240, unknown)), EventKind.DATABASE_SILENT).nodes == ()


def test_a_database_stays_silent_where_another_racwire_stops_sampling_it():
    def handed_over(at, item):
        if not isinstance(item, InstanceSample) or not is_bad(at):
            return item
        return Gap(item.source, item.at, "Process 4711 took the samples until now.", BY_RACWIRE) if at == 90 else None

    assert only(seen(run(240, handed_over)), EventKind.DATABASE_SILENT).end == pytest.approx(BEGIN + 101, abs=1)


def test_counters_that_were_reset_and_a_node_with_another_name_are_no_events():
    def restarted(at, item):
        gap = Gap(item.source, item.at, "The node was restarted between the two readings: its counters were reset.")
        return gap if at == 61 and isinstance(item, NodeSample) else item

    assert seen(run(120, restarted)) == []

    def renamed(at, item):
        if item.source != SourceId.node("rac3") or at < 61:
            return item
        return Gap(item.source, item.at, str(SameNodeError("rac3", "rac1")), SourceId.node("rac1"), GapCause.ALIAS)

    assert seen(run(120, renamed)) == []


def test_sources_that_never_answered_are_no_events_and_are_named():
    watch = EventWatch(facts())
    for item in run(60, without("node rac2")):
        watch.see(item if item.source != SourceId.node("rac3") else Gap(SourceId.node("rac3"), item.at, "ssh refused"))
    assert (watch.events, watch.never_seen) == ([], {SourceId.node("rac3"): "ssh refused"})
    watch = EventWatch(facts())
    watch.see(Gap(DATABASE, BEGIN, "no listener"))
    assert watch.never_seen == {DATABASE: "no listener"}
    watch.see(instance_sample(1, BEGIN + 9))
    assert watch.never_seen == {}


def test_a_clock_that_was_set_is_an_event_and_disturbs_no_other():
    def jumps(at, item):
        item = lost_at(2)(at, item)
        return replace(item, at=item.at + 3600) if at >= 80 else item

    found = {event.kind: event for event in seen(run(240, jumps))}
    assert set(found) == {EventKind.LOST_BLOCKS, EventKind.CLOCK_JUMP}
    assert found[EventKind.CLOCK_JUMP].peak == pytest.approx(3600, abs=1)
    assert found[EventKind.LOST_BLOCKS].count == 20 * len(BAD)

    def jumps_back(at, item):
        return replace(item, at=item.at - 3600) if at >= 80 else item

    assert only(seen(run(240, jumps_back)), EventKind.CLOCK_JUMP).peak == pytest.approx(-3600, abs=1)


def test_a_time_in_which_racwire_stood_still_is_one_event_and_no_node_is_silent():
    def stood(at, item):
        if 61 <= at < 101:
            return None
        return replace(item, seconds=41.0) if at == 101 and isinstance(item, NodeSample) else item

    event = only(seen(run(240, stood)), EventKind.NO_SAMPLES)
    assert (event.status, round(event.peak)) == (Status.UNKNOWN, 41)
