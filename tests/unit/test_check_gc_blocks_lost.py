"""The check `gc-blocks-lost`: receiver, sender, number and start of a loss; and never a PASS with a loss."""

import itertools

import msgspec
import pytest

from checks.model.facts import ActivityGap, InstanceHistory, UnaskedInstance, Unknown, UnreadView
from checks.model.finding import Magnitude, Status
from checks.plugins.gc_blocks_lost import gc_blocks_lost
from tests.fixtures.clusters import cluster, node
from tests.fixtures.databases import (
    activity,
    asked,
    database,
    event,
    history,
    losing,
    own_activity,
    past_loss,
    period,
    transfers,
)


def found(built):
    return {f.code: f for f in gc_blocks_lost.run(built)}


def lost(built):
    return found(built)["IC-LOST-002"]


SMALL = cluster([node(1, 1500), node(2, 1500)])


@pytest.mark.parametrize("nodes", [2, 4, 8])
def test_without_losses_the_finding_has_the_number_of_received_blocks(nodes):
    (finding,) = gc_blocks_lost.run(asked(nodes))
    assert finding.status is Status.PASS
    assert f"received {12_400 * nodes:,} blocks in 30 s and lost none." in finding.title


def test_a_loss_has_the_instances_the_count_and_the_total():
    finding = lost(asked(2, activity=losing(2, 37, {1: 37})))
    assert finding.title == "prod2 lost 37 of 12,437 blocks in 30 s, all of them from prod1."
    assert finding.status is Status.FAIL
    assert finding.nodes == ("rac2", "rac1")
    assert finding.table.rows == (("prod1", "·", "0"), ("prod2", "37", "·"))
    assert "prod1: none lost, 12,400 received in 30 s" in finding.seen


def losing_all(instances, lost):
    """Every pair in `lost`, by (receiver, sender), loses blocks."""
    numbers = range(1, instances + 1)
    own = {n: sum(blocks for (receiver, _), blocks in lost.items() if receiver == n) for n in numbers}
    activities = [own_activity(n, {"gc blocks lost": own[n]}) for n in numbers if own[n]]
    return activity(instances, *activities, transfers=transfers(instances, lost))


def test_instances_that_lose_for_one_cause_share_one_finding():
    matrix = {(1, 2): 5, (1, 3): 7, (2, 1): 8, (2, 3): 6, (3, 1): 4, (3, 2): 7}
    (finding,) = gc_blocks_lost.run(asked(3, activity=losing_all(3, matrix)))
    assert finding.title == "prod1, prod2 and prod3 lost 37 of 37,237 blocks in 30 s, at worst 8 from prod1 to prod2."
    assert finding.subject == "3 instances: 37 in 30 s"
    assert finding.seen[0] == "prod2: 14 lost, 12,400 received; 8 from prod1 and 6 from prod3"
    assert finding.nodes == ("rac1", "rac2", "rac3")
    assert {(f"rac{n}", "counters over time") for n in (1, 2, 3)} <= {(e.node, e.topic) for e in finding.evidence}


def test_the_instance_or_pair_common_to_several_losses_is_named():
    matrix = {(1, 2): 9, (3, 2): 9, (4, 2): 9, (2, 4): 4}
    (finding,) = gc_blocks_lost.run(asked(4, activity=losing_all(4, matrix)))
    assert finding.title.endswith("lost 31 of 49,631 blocks in 30 s, all of them to or from prod2.")
    matrix = {(2, 1): 90, (1, 2): 2, (3, 4): 9, (4, 3): 9}
    (finding,) = gc_blocks_lost.run(asked(4, activity=losing_all(4, matrix)))
    assert finding.title.endswith("blocks in 30 s, most of them prod2's from prod1.")


def test_lost_blocks_of_unknown_origin_are_counted():
    matrix = {(1, 2): 30, (1, 3): 13, (2, 1): 8}
    losses = losing_all(3, matrix)
    losses.instances[0].statistics["gc blocks lost"] = 44
    (finding,) = gc_blocks_lost.run(asked(3, activity=losses))
    assert finding.seen[:2] == (
        "prod1: 44 lost, 12,400 received; 30 from prod2, 13 from prod3 and 1 of unknown origin",
        "prod2: 8 lost, 12,400 received; 8 from prod1",
    )


def test_the_extent_never_exceeds_100_percent():
    few = own_activity(2, {"gc cr blocks received": 10, "gc current blocks received": 0, "gc blocks lost": 30})
    finding = lost(asked(2, activity=activity(2, few)))
    assert finding.title.startswith("prod2 lost 30 of 40 blocks in 30 s")
    assert finding.extent == Magnitude(75.0, "% lost of the blocks sent")


def test_the_losses_of_sixteen_instances_fit_a_terminal():
    matrix = {(a, b): a + b for a in range(1, 17) for b in range(1, 17) if a != b}
    (finding,) = gc_blocks_lost.run(asked(16, activity=losing_all(16, matrix)))
    assert finding.title.startswith("16 instances lost 4,080 of 202,480 blocks in 30 s")
    assert finding.table.columns == ("to", "from", "lost")
    assert finding.table.rows[0] == ("prod15", "prod16", "31")
    assert len(finding.table.rows) == 8
    assert "and 10 more" in finding.seen
    (finding,) = gc_blocks_lost.run(asked(16, activity=losing(2, 37, {1: 30, 16: 7}, 16)))
    assert finding.table.rows == (("prod2", "30", "7"),)


def test_waits_for_lost_blocks_among_the_top_events_make_a_failure():
    waits = (event("gc cr block 2-way", 8_000, 400), event("gc cr block lost", 1, 500_000))
    finding = lost(asked(2, activity=activity(2, own_activity(2, {"gc blocks lost": 1}, events=waits))))
    assert finding.status is Status.FAIL
    assert "gc cr block lost: 1 wait, 0.5 s in all" in finding.seen


def test_losses_in_the_transfers_count_even_if_the_statistic_has_none():
    finding = lost(asked(2, activity=activity(2, transfers=transfers(2, {(2, 1): 5}))))
    assert finding.title == "prod2 lost 5 of 12,405 blocks in 30 s, all of them from prod1."


def test_without_the_transfers_the_loss_is_reported_without_a_sender():
    measured = activity(2, own_activity(2, {"gc blocks lost": 37}), transfers=Unknown("no grant"))
    finding = lost(asked(2, activity=measured))
    assert finding.title == "prod2 lost 37 of 12,437 blocks in 30 s."
    assert finding.table is None
    assert "the senders are not known: no grant" in finding.seen


def test_incompletely_read_transfers_are_noted():
    part = losing(2, 37, {1: 30}, unread=(UnreadView("GV$INSTANCE_CACHE_TRANSFER", "Some counts fell."),))
    assert "the senders are not known in full: Some counts fell." in lost(asked(2, activity=part)).seen


# --- the start --------------------------------------------------------------------------------------------------------


def test_history_has_the_start_the_amount_and_the_trend_of_the_losses():
    past = history(2, [past_loss(2)], periods=(period(2, 17, 0), period(2, 18, 402), period(2, 19, 802)))
    finding = lost(asked(2, activity=losing(2, 37, {1: 37}), history=past))
    assert any(
        "1,204 blocks lost in 40 intervals, the latest run of losses since 2026-11-18 03:00" in s for s in finding.seen
    )
    assert "lost in periods of 24 h, oldest first, from 2026-11-17 00:00: 0, 402, 802" in finding.seen


def test_periods_and_intervals_below_a_minute_have_seconds():
    times = [f"2026-11-20T22:18:{second:02}" for second in (5, 20, 35)]
    parts = [
        msgspec.structs.replace(period(2, 18, number), begin=begin, end=end, seconds=15.0)
        for number, (begin, end) in enumerate(itertools.pairwise(times))
    ]
    worst = msgspec.structs.replace(past_loss(2), worst_begin=times[0], worst_end=times[1], worst_lost=95)
    finding = lost(asked(2, activity=losing(2, 37, {1: 37}), history=history(2, [worst], periods=tuple(parts))))
    assert "worst from 2026-11-20 22:18:05 to 22:18:20: 95 blocks lost" in finding.seen
    assert "lost in periods of 15 s, oldest first, from 2026-11-20 22:18:05: 0, 1" in finding.seen


def test_a_worst_interval_over_midnight_has_both_days_and_unreadable_times_stay():
    over = msgspec.structs.replace(past_loss(2), worst_begin="2026-11-18T23:30:00", worst_end="2026-11-19T00:30:00")
    finding = lost(asked(2, activity=losing(2, 37, {1: 37}), history=history(2, [over])))
    assert "worst from 2026-11-18 23:30 to 2026-11-19 00:30: 402 blocks lost" in finding.seen
    odd = [msgspec.structs.replace(period(2, day, day), end="later") for day in (17, 18)]
    finding = lost(asked(2, activity=losing(2, 37, {1: 37}), history=history(2, [over], periods=tuple(odd))))
    assert "lost in periods, oldest first, from 2026-11-17 00:00: 17, 18" in finding.seen


def test_history_names_the_pair_with_most_losses():
    past = history(3, [past_loss(2)], transfers=transfers(3, {(2, 1): 200, (2, 3): 1_004, (1, 2): 5_000}))
    expected = "most between two instances: 1,004 blocks lost from prod3 to prod2"
    finding = found(asked(3, history=past))["IC-LOST-009"]
    assert expected in finding.seen
    assert ("rac1", "sql awr_cache_transfer") in {(e.node, e.topic) for e in finding.evidence}
    assert expected in lost(asked(3, activity=losing(2, 37, {1: 37}, 3), history=past)).seen


@pytest.mark.parametrize(
    ("restarts", "missing", "expected"),
    [
        (2, 1, "prod2: 2 restarts and 1 missing snapshot leave gaps in these figures"),
        (1, 0, "prod2: 1 restart leaves a gap in these figures"),
    ],
)
@pytest.mark.parametrize("losses", [(), (past_loss(2),)])
def test_gaps_of_the_history_are_listed_with_it(losses, restarts, missing, expected):
    instance = InstanceHistory(2, "prod2", "rac2", 500_000.0, 140, restarts, missing)
    other = InstanceHistory(1, "prod1", "rac1", 500_000.0, 140, 7, 7)
    past = msgspec.structs.replace(history(2, losses), instances=(other, instance))
    seen = lost(asked(2, activity=losing(2, 37, {1: 37}), history=past)).seen
    assert seen[-1] == expected
    assert not any("7 restarts" in line for line in seen)


# --- misleading counts ------------------------------------------------------------------------------------------------


def test_a_loss_stays_a_warning_if_counters_could_not_be_read():
    built = asked(2, database=database(2, "12.1.0.2.0"), activity=losing(2, 37, {}), counters=Unknown("not read"))
    assert found(built)["IC-LOST-006"].status is Status.WARN


def of_12_1_0_2(waits=(("gc cr block 2-way", 900), ("gc cr block lost", 0)), pairs=None):
    """A cluster of that release with lost blocks in AWR, and none now."""
    events = {name: (number, 1_000 * number) for name, number in waits}
    instances = tuple(InstanceHistory(n, f"prod{n}", f"rac{n}", 6e5, 168, 0, 0, events=events) for n in (1, 2))
    past = history(2, [past_loss(2)], transfers=transfers(2, pairs))
    return asked(2, database=database(2, "12.1.0.2.0"), history=msgspec.structs.replace(past, instances=instances))


def test_an_unconfirmed_count_of_12_1_0_2_in_the_history_is_info():
    finding = found(of_12_1_0_2())["IC-LOST-009"]
    assert finding.status is Status.INFO
    assert finding.seen[-1] == "12.1.0.2 may count too many lost blocks (bug 20922010, MOS 2096299.1)"
    assert "20922010" in finding.next[0].text


@pytest.mark.parametrize("shown", [{"waits": [("gc current block lost", 4)]}, {"pairs": {(2, 1): 9}}])
def test_a_confirmed_count_of_12_1_0_2_in_the_history_warns_with_the_note(shown):
    finding = found(of_12_1_0_2(**shown))["IC-LOST-009"]
    assert finding.status is Status.WARN
    assert finding.seen[-1] == "12.1.0.2 may count too many lost blocks (bug 20922010, MOS 2096299.1)"


def test_a_count_of_12_1_0_2_in_the_history_warns_without_other_data():
    bare = asked(2, database=database(2, "12.1.0.2.0"), history=history(2, [past_loss(2)]))
    assert found(bare)["IC-LOST-009"].status is Status.WARN


def test_other_releases_have_no_note_of_the_bug_in_the_history():
    for version in ("12.1.0.1.0", "12.2.0.1.0", "19.22.0.0.0"):
        built = msgspec.structs.replace(of_12_1_0_2(), database=database(2, version))
        finding = found(built)["IC-LOST-009"]
        assert finding.status is Status.WARN
        assert not any("20922010" in line for line in finding.seen)


def test_a_restarted_or_unqueried_instance_is_unknown_and_the_others_are_judged():
    gap = activity(2, ActivityGap(2, "It was restarted between the two samples."))
    codes = found(asked(2, activity=gap))
    assert codes["IC-LOST-001"].title.startswith("prod1 received")
    assert codes["IC-LOST-004"].status is Status.UNKNOWN
    assert codes["IC-LOST-004"].title == (
        "The number of blocks that prod2 lost is not known: it was restarted between the two samples."
    )
    alone = database(2, unasked=(UnaskedInstance(3, "prod3", "prod3 did not answer in 15 s."),))
    codes = found(asked(2, database=alone))
    assert (
        codes["IC-LOST-004"].title == "The number of blocks that prod3 lost is not known: prod3 did not answer in 15 s."
    )


def test_instances_that_were_all_restarted_share_one_finding():
    gaps = [ActivityGap(n, f"prod{n} was restarted within the interval (up since 14:02:0{n}).") for n in (1, 2)]
    finding = found(asked(3, activity=activity(3, *gaps)))["IC-LOST-004"]
    assert finding.title == (
        "The number of blocks that prod1 and prod2 lost is not known: each of them was restarted within the interval."
    )
    assert finding.seen == tuple(gap.reason for gap in gaps)


def test_incompletely_read_transfers_do_not_prove_that_nothing_was_lost():
    silent = own_activity(2)
    del silent.statistics["gc blocks lost"]
    fell = "What prod2 counts of prod1 fell within the interval."
    part = activity(2, silent, unread=(UnreadView("GV$INSTANCE_CACHE_TRANSFER", fell),))
    assert found(asked(2, activity=part))["IC-LOST-004"].title.startswith(
        "The number of blocks that prod2 lost is not known: what prod2"
    )


def test_a_count_of_12_1_0_2_stays_a_warning_where_the_waits_were_not_read():
    no_waits = losing(2, 37, {}, unread=(UnreadView("GV$SYSTEM_EVENT", "A grant is missing."),))
    finding = found(asked(2, database=database(2, "12.1.0.2.0"), activity=no_waits))["IC-LOST-006"]
    assert finding.status is Status.WARN
    assert "the waits of sessions for lost blocks are not known in full: A grant is missing." in finding.seen


def test_inside_a_pluggable_database_no_result_passes():
    codes = found(asked(2, database=database(2, is_multitenant=True, container="APP1")))
    finding = codes["IC-LOST-005"]
    assert finding.status is Status.UNKNOWN
    assert finding.title == (
        "Only the statistics of the pluggable database APP1 are visible: the blocks that other containers lost are not "
        "known."
    )
    assert "visible: the statistics and waits of sessions in APP1" in finding.seen
    assert Status.PASS not in {f.status for f in codes.values()}


@pytest.mark.parametrize(
    ("reached", "target"),
    [
        ("scan:1521/app1", "scan:1521/PROD"),
        ("scan.example.com:1521/app1.example.com", "scan.example.com:1521/PROD.example.com"),
        ("tcps://scan:2484/app1.world?wallet_location=/w", "tcps://scan:2484/PROD.world"),
        ("//scan/app1:dedicated", "//scan/PROD"),
        ("PROD_ALIAS", "SCAN:1521/PROD"),
        ("(DESCRIPTION=(ADDRESS=(HOST=scan))(CONNECT_DATA=(SERVICE_NAME=app1)))", "SCAN:1521/PROD"),
    ],
)
def test_inside_a_pluggable_database_the_service_of_the_container_database_is_proposed(reached, target):
    inside = database(2, is_multitenant=True, container="APP1", reached=reached)
    (remedy,) = found(asked(2, database=inside))["IC-LOST-005"].next
    assert remedy.commands[1] == f"racwire check --connect {target} --user C##RACWIRE"


def test_lost_claims_and_corrupt_blocks_have_their_own_findings():
    measured = own_activity(2, {"gc claim blocks lost": 2, "gc blocks corrupt": 1})
    codes = found(asked(2, activity=activity(2, measured)))
    assert codes["IC-LOST-007"].title == "prod2 lost 2 claims of blocks in 30 s."
    assert (codes["IC-LOST-008"].status, codes["IC-LOST-008"].nodes) == (Status.FAIL, ("rac2",))
    assert codes["IC-LOST-008"].next[0].commands == (
        *("ethtool -S eth1", "ethtool -S eth2"),
        *("ethtool -k eth1", "ethtool -k eth2"),
    )
    both = [own_activity(n, {"gc claim blocks lost": 2}) for n in (1, 2)]
    assert found(asked(2, activity=activity(2, *both)))["IC-LOST-007"].title == (
        "prod1 and prod2 lost 4 claims of blocks in 30 s."
    )


def test_instances_unknown_for_one_reason_share_one_finding():
    alone = database(
        1,
        unasked=tuple(
            UnaskedInstance(n, f"prod{n}", f"prod{n} could not be asked: an instance hangs.") for n in (2, 3)
        ),
    )
    finding = found(asked(3, database=alone, activity=activity(1, transfers=())))["IC-LOST-004"]
    assert finding.title == (
        "The number of blocks that prod2 and prod3 lost is not known: "
        "each of them could not be asked: an instance hangs."
    )
    assert finding.nodes == ()
