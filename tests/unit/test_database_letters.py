"""The letters of the Database screen: it judges as the checks do."""

from __future__ import annotations

import pytest

from checks.model.facts import (
    InstancePing,
)
from checks.model.finding import Status
from checks.plugins.gc_blocks_lost import gc_blocks_lost
from checks.plugins.gc_receive_time import gc_receive_time
from checks.plugins.instance_ping import instance_ping
from checks.rules.instance_pings import judge_ping
from tests.fixtures.databases import (
    activity,
    asked,
    event,
    own_activity,
    pings,
    transfers,
)
from tests.unit.test_database_text import part, row_of, text_of


def worst(check, built):
    status = min((f.status for f in check.run(built)), key=lambda s: s.gravity)
    return status if status in (Status.FAIL, Status.WARN) else None


def letters(built, title):
    return {word for line in part(text_of(built, 120), title)[2:] for word in line.split() if word in ("F", "W")}


@pytest.mark.parametrize(
    ("lost", "events"),
    [(0, ()), (1, ()), (37, ()), (1, (event("gc cr block lost", 1, 500_000),))],
)
def test_lost_blocks_have_the_status_of_gc_blocks_lost(lost, events):
    own = own_activity(2, {"gc blocks lost": lost}, **({"events": events} if events else {}))
    built = asked(2, activity=activity(2, own, transfers=transfers(2, {(2, 1): lost})))
    expected = worst(gc_blocks_lost, built)
    assert letters(built, "Instances") == ({expected.letter} if expected else set())


@pytest.mark.parametrize("time_cs", [336, 840, 5_000, 9_000, 20_000])
def test_receive_times_have_the_status_of_gc_receive_time(time_cs):
    slow = (event("gc cr block 2-way", 8_000, time_cs * 10_000 // 8_400),)
    own = own_activity(2, {"gc cr block receive time": time_cs}, events=slow)
    built = asked(2, activity=activity(2, own))
    expected = worst(gc_receive_time, built)
    assert letters(built, "Instances") == ({expected.letter} if expected else set())


@pytest.mark.parametrize("times", [(180, 240), (180, 2_400), (180, 700), (10, 60), (2_000, 2_100), (12_000, 13_000)])
@pytest.mark.parametrize("count", [1, 10])
def test_pings_have_the_status_of_instance_ping(times, count):
    built = asked(2, activity=activity(2, pings=pings(2, {(1, 2): times}, count)))
    expected = worst(instance_ping, built)
    assert letters(built, "Pings") == ({expected.letter} if expected else set())


def test_pings_of_8_kb_that_never_return_are_a_failure():
    limits = asked(2).thresholds
    assert judge_ping(InstancePing(1, 2, 10, 1000, 0, 0), limits).status is Status.FAIL
    assert judge_ping(InstancePing(1, 2, 1, 1000, 0, 0), limits).status is None


def test_a_loss_without_any_received_block_is_a_failure():
    statistics = {"gc blocks lost": 1, "gc cr blocks received": 0, "gc current blocks received": 0}
    built = asked(2, activity=activity(2, own_activity(2, statistics, events=())))
    assert row_of(text_of(built), "Instances", "prod2")[2:4] == ["0.03", "F"]
