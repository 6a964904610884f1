"""The check `instance-ping`: slow pairs, visible fragmentation, large messages without an answer."""

import msgspec
import pytest

from checks.model.facts import InstancePing, UnaskedInstance, Unknown, UnreadView
from checks.model.finding import Status
from checks.plugins.instance_ping import instance_ping
from tests.fixtures.clusters import cluster, node
from tests.fixtures.databases import activity, asked, database, pings

SMALL = cluster([node(1, 1500), node(2, 1500)])


def found(measured, base=2, instances=2):
    return {f.code: f for f in instance_ping.run(asked(base, activity=activity(instances, pings=measured)))}


@pytest.mark.parametrize("is_late", [True, False])
def test_an_instance_that_does_not_answer_is_named_where_a_query_of_all_ended_at_its_time_limit(is_late):
    why = "GV$INSTANCE did not answer in time: an instance hangs."
    silent = [UnaskedInstance(n, f"prod{n}", why, host=f"rac{n}", is_late=is_late) for n in (2, 3)]
    facts = asked(3, database=database(1, unasked=tuple(silent)), activity=activity(1))
    codes = {f.code: f for f in instance_ping.run(facts)}
    assert ("IC-PING-008" in codes) is is_late
    if is_late:
        finding = codes["IC-PING-008"]
        assert finding.title.startswith("prod2 or prod3 does not answer: ")
        assert finding.title.endswith("and prod1 answers alone.")
        assert (finding.status, finding.nodes) == (Status.WARN, ("rac2", "rac3"))
    assert codes["IC-PING-004"].nodes == ("rac2", "rac3")


def test_quick_answers_pass_with_the_slowest_pair():
    finding = found(pings(4), 4, 4)["IC-PING-001"]
    assert finding.status is Status.PASS
    assert finding.title == "The instances answer each other in 0.24 ms or less on average, 8 KB included."
    assert finding.table.rows[0] == ("prod1", "·", *("0.18 / 0.24",) * 3)


@pytest.mark.parametrize(("us", "status"), [(1_200, Status.WARN), (11_000, Status.FAIL)])
def test_a_slow_pair_is_named(us, status):
    finding = found(pings(2, {(2, 1): (us, us + 100)}))["IC-PING-002"]
    assert finding.status is status
    assert finding.title.startswith("A ping from prod2 to prod1 takes 1")
    assert set(finding.nodes) == {"rac1", "rac2"}


def test_fragments_show_as_a_large_ping_that_takes_several_times_as_long():
    measured = pings(2, {(1, 2): (200, 900)})
    finding = found(measured, SMALL)["IC-PING-003"]
    commands = [command for remedy in finding.next for command in remedy.commands]
    assert {"ethtool eth1", "ethtool eth2", "mpstat -P ALL 1 5"} <= set(commands)
    assert finding.title == (
        "A ping of 8 KB from prod1 to prod2 takes 4.5 times as long as one of 500 bytes: 0.90 ms, not 0.20 ms."
    )
    assert finding.why.startswith("At MTU 1500 each message of 8 KB is 6 fragments")
    assert "needs no fragments for 8 KB" in found(measured)["IC-PING-003"].why


def test_a_ratio_of_very_short_times_is_not_reported():
    assert set(found(pings(2, {(1, 2): (20, 90)}))) == {"IC-PING-001"}


def test_a_ratio_of_too_few_large_pings_is_not_judged():
    measured = (InstancePing(1, 2, 10, 2_000, 1, 4_000), InstancePing(2, 1, 10, 1_800, 10, 2_400))
    assert "IC-PING-003" not in found(measured)


def test_a_table_of_many_instances_lists_the_worst_pings():
    finding = found(pings(8, {(3, 5): (400, 900)}), 8, 8)["IC-PING-001"]
    assert finding.table.columns == ("from", "to", "500 bytes / 8 KB")
    assert finding.table.rows[0] == ("prod3", "prod5", "0.40 / 0.90")


def test_pairs_that_were_not_read_are_listed_as_missing():
    measured = activity(3, pings=pings(3)[:-1], unread=(UnreadView("GV$INSTANCE_PING", "A count fell."),))
    (finding,) = instance_ping.run(asked(3, activity=measured))
    assert "not all pairs are known: A count fell." in finding.seen


def test_small_pings_that_return_while_large_ones_do_not_are_a_failure():
    measured = (InstancePing(1, 2, 10, 1_800, 0, 0), InstancePing(2, 1, 10, 1_800, 10, 2_400))
    finding = found(measured)["IC-PING-005"]
    assert finding.status is Status.FAIL
    assert finding.title == "10 small pings from prod1 to prod2 got an answer in 30 s, and no ping of 8 KB did."


def test_too_few_pings_are_not_judged():
    finding = found(pings(2, {(1, 2): (9_000, 90_000)}, count=2))["IC-PING-006"]
    assert (finding.status, finding.title) == (
        Status.INFO,
        "The instances exchanged 8 pings in 30 s: too few for a verdict; 40 s have enough.",
    )


@pytest.mark.parametrize(("seconds", "proposed"), [(10, 40), (30, 40), (60, 120)])
def test_the_next_step_has_an_interval_with_enough_pings(seconds, proposed):
    measured = activity(2, pings=pings(2, count=1), seconds=seconds)
    (finding,) = instance_ping.run(asked(2, activity=measured))
    assert finding.code == "IC-PING-006"
    assert finding.expected[0] == "3 or more pings of each size for each pair, usual in 40 s"
    assert finding.next[0].commands == (f"racwire check instance-ping --interval {proposed}",)


@pytest.mark.parametrize("count", [2, 3])
def test_quick_answers_pass_at_the_pace_of_real_instances(count):
    """A real instance sends a ping of each size about every 12 s: two or three in 30 s."""
    found_ = found(pings(4, count=count), 4, 4)
    assert {code: f.status for code, f in found_.items()} == {"IC-PING-001": Status.PASS}


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_few_pings_are_never_unknown(count):
    for times in ({}, {(1, 2): (9_000, 90_000)}):
        assert Status.UNKNOWN not in {f.status for f in found(pings(2, times, count=count)).values()}


def test_a_slow_answer_among_few_is_no_fault_and_no_pass():
    assert set(found(pings(2, {(1, 2): (9_000, 90_000)}, count=2))) == {"IC-PING-006"}
    assert set(found(pings(2, {(1, 2): (9_000, 90_000)}, count=3))) == {"IC-PING-002"}


def test_two_small_pings_without_a_large_one_do_not_pass():
    told = (InstancePing(1, 2, 2, 360, 0, 0), InstancePing(2, 1, 2, 360, 2, 480))
    assert set(found(told)) == {"IC-PING-006"}


def test_pings_that_could_not_be_read_are_unknown():
    assert found(Unknown("no grant"))["IC-PING-004"].seen == ("no grant",)
    codes = found(tuple(p for p in pings(3) if p.instance != 3), 3, 3)
    assert codes["IC-PING-004"].title.startswith("The ping time of prod3 is not known")


def test_the_thresholds_are_settings():
    built = asked(2, activity=activity(2, pings=pings(2, {(2, 1): (1_200, 1_300)})))
    lenient = msgspec.structs.replace(built.thresholds, ping_warn_ms=5.0)
    (finding,) = instance_ping.run(msgspec.structs.replace(built, thresholds=lenient))
    assert finding.status is Status.PASS


def test_inside_a_pluggable_database_the_origin_of_the_figures_is_stated():
    inside = asked(2, database=database(2, is_multitenant=True, container="APP1"))
    (finding,) = instance_ping.run(inside)
    assert finding.seen[-1] == "connected to the pluggable database APP1, not to CDB$ROOT: the figures cover only it"
