"""The differences of two samples of counters, and the instances without a difference."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.facts import (
    ActivityGap,
    BlockTransfer,
    ClientTraffic,
    Database,
    Instance,
    InstanceActivity,
    InstancePing,
    ServiceActivity,
    UnaskedInstance,
    Unknown,
    UnreadView,
    WaitBucket,
    WaitEvent,
)
from checks.sources.database.deltas import Sample, Start, ViewReading, activity_between, difference
from checks.sources.database.driver_errors import right_to_run
from checks.sources.database.statements import statement

VIEWS = {
    "sysstat": "GV$SYSSTAT",
    "system_event": "GV$SYSTEM_EVENT",
    "event_histogram": "GV$EVENT_HISTOGRAM_MICRO",
    "dlm_misc": "GV$DLM_MISC",
    "cr_block_server": "GV$CR_BLOCK_SERVER",
    "current_block_server": "GV$CURRENT_BLOCK_SERVER",
    "cache_transfer": "GV$INSTANCE_CACHE_TRANSFER",
    "instance_ping": "GV$INSTANCE_PING",
    "service_stats": "GV$SERVICE_STATS",
    "ic_clients": "RACWIRE_IC_CLIENTS",
}
MONDAY, TUESDAY = "2026-11-16T08:00:00", "2026-11-17T09:30:00"
LOST, RECEIVED = ("gc blocks lost",), ("gc cr blocks received",)
TRANSFER = ("cr_blocks", "current_blocks", "lost", "cr_time_us", "current_time_us", "lost_time_us")
PING = ("count_500b", "time_500b_us", "count_8k", "time_8k_us")


def database(*numbers, unasked=()):
    return Database(
        name="prod",
        dbid=1,
        version="19.22.0.0.0",
        role="PRIMARY",
        open_mode="READ WRITE",
        reached="rac-scan:1521/prod",
        user="RACWIRE",
        driver="python-oracledb",
        connected_instance=1,
        block_size_bytes=8192,
        instances=tuple(Instance(n, f"prod{n}", f"rac{n}", "19.22.0.0.0", MONDAY) for n in numbers),
        unasked=tuple(UnaskedInstance(n, f"prod{n}", why) for n, why in unasked),
    )


def sample(clock_s, instances, *, unread=None, only_here="", **counters):
    """Return a sample of instances with their startup times; counters of other views are 0."""
    readings = {
        name: ViewReading(view, counters.get(name, {}), Unknown(unread[name]) if unread and name in unread else None)
        for name, view in VIEWS.items()
    }
    if "sysstat" not in counters:
        readings["sysstat"] = ViewReading("GV$SYSSTAT", {n: {LOST: 0} for n in instances}, readings["sysstat"].unread)
    starts = {n: Start(f"prod{n}", since) for n, since in instances.items()}
    return Sample(f"2026-11-21T14:00:{clock_s:02.0f}+00:00", clock_s, starts, readings, only_here)


def table(columns, rows):
    """Counters of one instance about others: {other: (values in the columns' order)}."""
    return {(other, name): v for other, values in rows.items() for name, v in zip(columns, values, strict=True)}


def test_only_growth_between_the_samples_counts():
    up = {1: MONDAY, 2: MONDAY}
    before = sample(10, up, sysstat={1: {LOST: 500, RECEIVED: 10_000}, 2: {LOST: 3, RECEIVED: 70}})
    after = sample(40, up, sysstat={1: {LOST: 500, RECEIVED: 12_400}, 2: {LOST: 40, RECEIVED: 70}})
    activity = activity_between(before, after, database(1, 2))
    assert (activity.begun_at, activity.ended_at) == ("2026-11-21T14:00:10+00:00", "2026-11-21T14:00:40+00:00")
    assert activity.seconds == 30
    assert [(a.instance, a.seconds, a.statistics) for a in activity.instances] == [
        (1, 30, {"gc blocks lost": 0, "gc cr blocks received": 2400}),
        (2, 30, {"gc blocks lost": 37, "gc cr blocks received": 0}),
    ]
    assert activity.unread == ()


def test_a_restarted_instance_is_a_gap_even_if_its_counters_are_higher_than_before():
    before = sample(0, {1: MONDAY, 2: MONDAY}, sysstat={1: {LOST: 1}, 2: {LOST: 1}})
    after = sample(30, {1: MONDAY, 2: TUESDAY}, sysstat={1: {LOST: 2}, 2: {LOST: 9}})
    one, two = activity_between(before, after, database(1, 2)).instances
    assert one == InstanceActivity(1, 30, {"gc blocks lost": 1})
    assert two == ActivityGap(
        2,
        "prod2 was restarted within the interval (up since 2026-11-17T09:30:00, previously since "
        "2026-11-16T08:00:00): its counters were reset.",
    )


def test_a_counter_that_fell_or_wrapped_makes_a_gap():
    before = sample(0, {1: MONDAY}, sysstat={1: {LOST: 4, RECEIVED: 4_294_967_000}})
    after = sample(30, {1: MONDAY}, sysstat={1: {LOST: 5, RECEIVED: 12}})
    (gap,) = activity_between(before, after, database(1)).instances
    assert gap == ActivityGap(
        1,
        "The statistic 'gc cr blocks received' of prod1 fell from 4,294,967,000 to 12 within the interval: the "
        "instance was restarted, or its counters were reset.",
    )


def test_instances_that_came_or_went_are_gaps():
    before = sample(0, {1: MONDAY, 2: MONDAY})
    after = sample(30, {1: MONDAY, 3: TUESDAY})
    activity = activity_between(before, after, database(1, 2, 4, unasked=[(5, "No row of it.")]))
    assert [(a.instance, getattr(a, "reason", "")) for a in activity.instances] == [
        (1, ""),
        (2, "prod2 did not answer at the end of the interval: prod2 went down, or could not be queried."),
        (3, "prod3 started within the interval, or did not answer at its start: only one sample has it."),
        (4, "prod4 answered when racwire connected, but not for the samples: prod4 went down, or hangs."),
        (5, "No row of it."),
    ]


def test_where_gv_views_were_abandoned_the_other_instances_are_gaps_with_that_reason():
    before = sample(0, {1: MONDAY, 2: MONDAY})
    after = sample(30, {1: MONDAY}, only_here="GV$SYSSTAT did not answer in time.")
    _, two = activity_between(before, after, database(1, 2)).instances
    assert two == ActivityGap(2, "prod2 could not be queried: GV$SYSSTAT did not answer in time.")


def test_without_the_statistics_instances_are_unknown_but_pairs_are_counted():
    refused = {"sysstat": "RACWIRE may not read what sysstat reads."}
    pair = {1: table(TRANSFER, {2: (0, 0, 0, 0, 0, 0)})}
    before = sample(0, {1: MONDAY, 2: MONDAY}, unread=refused, cache_transfer=pair)
    after = sample(
        30,
        {1: MONDAY, 2: MONDAY},
        unread=refused,
        cache_transfer={1: table(TRANSFER, {2: (5, 6, 7, 50, 60, 70)})},
    )
    activity = activity_between(before, after, database(1, 2))
    assert activity.instances == tuple(ActivityGap(n, refused["sysstat"]) for n in (1, 2))
    assert activity.transfers == (BlockTransfer(1, 2, 5, 6, 7, 50, 60, 70),)


@pytest.mark.parametrize("when", [0, 1])
def test_a_view_refused_in_either_sample_is_unknown_with_the_reason(when):
    refused = {name: f"No grant on {view}." for name, view in VIEWS.items() if name != "sysstat"}
    before, after = (sample(30 * n, {1: MONDAY}, unread=refused if n == when else None) for n in (0, 1))
    activity = activity_between(before, after, database(1))
    assert activity.transfers == Unknown("No grant on GV$INSTANCE_CACHE_TRANSFER.")
    assert activity.pings == Unknown("No grant on GV$INSTANCE_PING.")
    assert activity.services == Unknown("No grant on GV$SERVICE_STATS.")
    assert activity.clients == Unknown("No grant on RACWIRE_IC_CLIENTS.")
    assert activity.unread == tuple(
        UnreadView(VIEWS[name], f"No grant on {VIEWS[name]}.")
        for name in ("system_event", "event_histogram", "dlm_misc", "cr_block_server", "current_block_server")
    )
    assert activity.why_unread("GV$DLM_MISC") == "No grant on GV$DLM_MISC."
    assert activity.instances == (InstanceActivity(1, 30, {"gc blocks lost": 0}),)


def test_a_statistic_that_one_sample_lacks_is_left_out_not_zero():
    before = sample(0, {1: MONDAY}, sysstat={1: {LOST: 1}})
    after = sample(30, {1: MONDAY}, sysstat={1: {LOST: 1, RECEIVED: 900}})
    assert activity_between(before, after, database(1)).of(1).statistics == {"gc blocks lost": 0}


def test_waits_have_their_histogram():
    two_way, busy = "gc cr block 2-way", "gc cr block busy"
    before = sample(
        0,
        {1: MONDAY},
        system_event={
            1: {(two_way, "waits"): 100, (two_way, "time_us"): 50_000, (busy, "waits"): 2, (busy, "time_us"): 9}
        },
        event_histogram={1: {(two_way, 512): 60, (two_way, 1024): 40}},
    )
    after = sample(
        30,
        {1: MONDAY},
        system_event={
            1: {
                (two_way, "waits"): 130,
                (two_way, "time_us"): 70_000,
                (busy, "waits"): 2,
                (busy, "time_us"): 9,
                ("gc current block lost", "waits"): 1,
                ("gc current block lost", "time_us"): 600_000,
            }
        },
        event_histogram={1: {(two_way, 512): 80, (two_way, 1024): 40, (two_way, 16384): 10}},
    )
    assert activity_between(before, after, database(1)).of(1).events == (
        WaitEvent(two_way, 30, 20_000, (WaitBucket(512, 20), WaitBucket(16384, 10))),
        WaitEvent("gc current block lost", 1, 600_000),
    )


def test_pairs_of_instances_have_transfers_and_pings():
    up = {1: MONDAY, 2: MONDAY}
    before = sample(
        0,
        up,
        cache_transfer={2: table(TRANSFER, {1: (7, 0, 1, 50, 0, 4)})},
        instance_ping={1: table(PING, {2: (10, 1000, 10, 3000)})},
    )
    after = sample(
        30,
        up,
        cache_transfer={2: table(TRANSFER, {1: (107, 20, 4, 9050, 800, 16)})},
        instance_ping={1: table(PING, {2: (16, 1600, 16, 5400)})},
    )
    activity = activity_between(before, after, database(1, 2))
    assert activity.transfers == (BlockTransfer(2, 1, 100, 20, 3, 9000, 800, 12),)
    assert activity.pings == (InstancePing(1, 2, 6, 600, 6, 2400),)


def test_pairs_of_a_restarted_receiver_are_left_out():
    pairs = {1: table(TRANSFER, {2: (0,) * 6}), 2: table(TRANSFER, {1: (0,) * 6})}
    before = sample(0, {1: MONDAY, 2: MONDAY}, cache_transfer=pairs)
    after = sample(30, {1: MONDAY, 2: TUESDAY}, cache_transfer=pairs)
    transfers = activity_between(before, after, database(1, 2)).transfers
    assert [(t.receiver, t.sender) for t in transfers] == [(1, 2)]


def test_a_pair_that_counts_backwards_is_reported_unless_the_other_instance_went_down():
    up = {1: MONDAY, 2: MONDAY, 3: MONDAY}
    before = sample(0, up, cache_transfer={1: table(TRANSFER, {2: (9,) * 6, 3: (9,) * 6})})
    after = sample(30, {1: MONDAY, 2: MONDAY}, cache_transfer={1: table(TRANSFER, {2: (1,) * 6})})
    activity = activity_between(before, after, database(1, 2, 3))
    assert activity.transfers == ()
    assert activity.unread == (
        UnreadView(
            "GV$INSTANCE_CACHE_TRANSFER",
            "The counters of prod1 for prod2 fell within the interval: their growth is not known.",
        ),
    )


SINCE_STARTUP = {
    "system_event": {("gc cr block lost", "waits"): 5000, ("gc cr block lost", "time_us"): 10**9},
    "event_histogram": {("gc cr block 2-way", 512): 5000},
    "dlm_misc": {("gcs msgs received",): 5000},
    "cr_block_server": {("flushes",): 5000},
    "current_block_server": {("flushes",): 5000},
    "cache_transfer": table(TRANSFER, {1: (5000,) * 6}),
    "instance_ping": table(PING, {1: (5000,) * 4}),
}


@pytest.mark.parametrize("answered", ["first", "second"])
@pytest.mark.parametrize("view", SINCE_STARTUP)
def test_rows_that_only_one_sample_has_are_not_counted_as_activity(view, answered):
    up = {1: MONDAY, 2: MONDAY}
    with_rows, without = {view: {2: SINCE_STARTUP[view]}}, {view: {}}
    first, second = (with_rows, without) if answered == "first" else (without, with_rows)
    activity = activity_between(sample(0, up, **first), sample(30, up, **second), database(1, 2))
    _, two = activity.instances
    assert (two.events, two.messages, two.cr_flushes, two.current_flushes) == ((), {}, None, None)
    assert (activity.transfers, activity.pings) == ((), ())
    reason = f"prod2 did not answer the query of {VIEWS[view]} in one of two samples."
    assert activity.unread == (UnreadView(VIEWS[view], reason),)


def of_service(db_time_us, cluster_us, cr=5, current=5):
    names = "DB time", "cluster wait time", "gc cr blocks received", "gc current blocks received"
    return {("prod", name): count for name, count in zip(names, (db_time_us, cluster_us, cr, current), strict=True)}


def of_client(sent, received):
    return {("cache", "bytes_sent"): sent, ("cache", "bytes_received"): received}


def test_services_and_users_of_the_interconnect_grow_within_one_run_of_an_instance():
    up = {1: MONDAY, 2: MONDAY}
    before = sample(
        0, up, service_stats={1: of_service(10**9, 500), 2: of_service(7, 7)}, ic_clients={1: of_client(9000, 8000)}
    )
    after = sample(
        30,
        {1: MONDAY, 2: TUESDAY},
        service_stats={1: of_service(10**9 + 400, 600, 9, 8), 2: of_service(900, 900)},
        ic_clients={1: of_client(9500, 8100)},
    )
    activity = activity_between(before, after, database(1, 2))
    assert activity.services == (ServiceActivity(1, "prod", 400, 100, 7),)
    assert activity.clients == (ClientTraffic(1, "cache", 500, 100),)
    assert activity.unread == ()


def test_the_optional_view_that_is_not_there_is_unknown_with_the_script_that_creates_it():
    right = right_to_run(statement("ic_clients"), "racwire")
    missing = ViewReading("RACWIRE_IC_CLIENTS", unread=Unknown("ORA-00942", right))
    before, after = (sample(30 * n, {1: MONDAY}) for n in (0, 1))
    for one in (before, after):
        one.readings["ic_clients"] = missing
    activity = activity_between(before, after, database(1))
    assert isinstance(activity.clients, Unknown)
    assert "RACWIRE_IC_CLIENTS is not there" in activity.clients.reason
    assert activity.clients.right.script == "racwire grants --ic-clients"
    assert activity.unread == ()


def test_a_buffer_statistic_that_fell_does_not_affect_those_of_cache_fusion():
    gets = ("consistent gets from cache",)
    before = sample(0, {1: MONDAY}, sysstat={1: {LOST: 4, gets: 900}})
    after = sample(30, {1: MONDAY}, sysstat={1: {LOST: 6, gets: 12}})
    activity = activity_between(before, after, database(1))
    assert [a.statistics for a in activity.instances] == [{"gc blocks lost": 2}]
    assert "'consistent gets from cache' fell" in activity.why_unread("GV$SYSSTAT")


NAMES = st.sampled_from(["gc blocks lost", "gc cr blocks received", "gc cr block receive time"])
EVENTS = st.one_of(st.tuples(NAMES, st.integers(0, 10**12)), st.just("restart"))


@given(st.lists(EVENTS, max_size=12), st.lists(EVENTS, max_size=12))
def test_the_activity_is_exact_for_any_history_of_an_instance(earlier, meanwhile):
    """Events of an instance one by one; the truth is the growth between them, or that there is none."""
    starts, counters = 0, dict.fromkeys([LOST, RECEIVED, ("gc cr block receive time",)], 0)
    truth = dict.fromkeys((name for (name,) in counters), 0)
    samples = []
    for clock_s, events in ((0, earlier), (30, meanwhile)):
        for event in events:
            if event == "restart":
                starts += 1
                counters = dict.fromkeys(counters, 0)
            else:
                counters[event[:1]] += event[1]
                if clock_s:
                    truth[event[0]] += event[1]
        samples.append(sample(clock_s, {1: f"start {starts}"}, sysstat={1: dict(counters)}))
    (result,) = activity_between(*samples, database(1)).instances
    if "restart" in meanwhile:
        assert isinstance(result, ActivityGap)
    else:
        assert result.statistics == truth


COUNTERS = st.dictionaries(st.tuples(st.sampled_from("abcdef")), st.integers(0, 10**18))


@given(COUNTERS, COUNTERS, st.booleans())
def test_a_difference_is_never_negative_and_loses_no_counter(before, after, absent_is_zero):
    change = difference(before, after, absent_is_zero=absent_is_zero)
    unknown = set() if absent_is_zero else set(after) - set(before)
    assert set(change.grown) | set(change.fallen) | unknown == set(before) | set(after)
    assert not set(change.grown) & set(change.fallen)
    assert all(before.get(key, 0) + grown == after[key] and grown >= 0 for key, grown in change.grown.items())
