"""Samples of the users of the interconnect, of pairs of instances, and of services."""

import msgspec
import pytest

from checks.model.facts import BlockTransfer, InstancePing, ServiceActivity
from checks.rules.interconnect_users import counted_bytes
from checks.sources.database.errors import DatabaseError
from checks.traffic import pairs_sampler
from checks.traffic.samples import Gap, PairsSample
from checks.traffic.source_id import PAIRS
from racwire_lab.database.live import Ping
from tests.unit.test_traffic_instances import Sampling


async def test_the_users_of_the_interconnect_are_sampled_with_the_messages_of_the_connected_instance():
    sampling = Sampling()
    sampling.instances.change(1, clients={"cache": (70_000, 80_000)})
    await sampling.take()
    sampling.instances.change(1, clients={"cache": (70_600, 80_400)})
    samples = await sampling.take()
    first, second = (samples[f"instance prod{number}"] for number in (1, 2))
    assert counted_bytes(first.messages)["cache"] == (600, 400)
    assert counted_bytes(second.messages) == {}


async def test_without_the_view_of_the_users_it_is_queried_once_for_a_connection():
    granted = [f"SYS.{letter}_${name}" for letter in ("GV", "V") for name in ("SYSSTAT", "DLM_MISC", "INSTANCE")]
    sampling = Sampling(granted=granted)
    await sampling.take()
    sample = (await sampling.take())["instance prod1"]
    assert sample.left_out == ()
    assert not any("interconnect" in name for name in sample.messages)
    assert sampling.straight.sent.count("ic_clients") == 1


async def test_without_the_grant_on_messages_only_statistics_are_sampled():
    sampling = Sampling(granted=["SYS.GV_$SYSSTAT", "SYS.V_$SYSSTAT", "SYS.V_$INSTANCE"])
    await sampling.take()
    sample = (await sampling.take())["instance prod1"]
    assert (sample.messages, sample.left_out) == ({}, ("GV$DLM_MISC",))
    assert sampling.straight.sent.count("dlm_misc") == 1


async def test_without_the_grant_on_statistics_there_is_no_sample():
    with pytest.raises(DatabaseError, match="GRANT SELECT ON SYS"):
        await Sampling(granted=["SYS.GV_$DLM_MISC"]).take()


async def test_pairs_count_lost_blocks_by_sender_and_pings():
    sampling = Sampling()
    assert await sampling.take_pairs() == []
    state = sampling.instances.states_by_number[1]
    before = state.transfers["2"]
    sampling.instances.change(1, transfers={"2": msgspec.structs.replace(before, lost=before.lost + 3)})
    sampling.instances.change(2, pings={"1": Ping(90, 400, 200, 17_000, 250, 900, 210, 51_000)})
    (sample,) = await sampling.take_pairs()
    assert isinstance(sample, PairsSample)
    assert BlockTransfer(1, 2, 0, 0, 3) in sample.transfers
    assert [(ping.instance, ping.target) for ping in sample.pings] == [(1, 2)], "a pair that fell was returned"
    assert sample.unread == {}


async def test_a_new_pair_starts_at_zero():
    sampling = Sampling(3)
    state = sampling.instances.states_by_number[1]
    sampling.instances.change(1, pings={"2": state.pings["2"]})
    await sampling.take_pairs()
    sampling.instances.change(1, pings=state.pings)
    (sample,) = await sampling.take_pairs()
    (new,) = [ping for ping in sample.pings if (ping.instance, ping.target) == (1, 3)]
    assert isinstance(new, InstancePing)
    assert new.count_500b > 0


async def test_an_unreadable_view_of_pairs_is_named_with_the_other():
    sampling = Sampling(granted=["SYS.GV_$INSTANCE_PING", "SYS.V_$INSTANCE_PING"])
    await sampling.take_pairs()
    (sample,) = await sampling.take_pairs()
    assert sample.transfers == ()
    assert sample.pings
    assert "GRANT SELECT" in sample.unread["GV$INSTANCE_CACHE_TRANSFER"]
    (gap,) = await Sampling(granted=["SYS.GV_$SYSSTAT"]).take_pairs()
    assert isinstance(gap, Gap)
    assert gap.source == PAIRS


def test_pairs_are_queried_at_the_tick_nearest_to_their_own_interval(monkeypatch):
    pairs = pairs_sampler.PairsSampler(print)
    clock = iter([100.0, 109.4, 109.6])
    monkeypatch.setattr(pairs_sampler.time, "monotonic", lambda: next(clock))
    assert pairs.is_due(10, 1)
    pairs._queried_s = 100.0
    assert not pairs.is_due(10, 1)
    assert pairs.is_due(10, 1)


async def test_the_work_of_services_is_counted_for_those_that_worked_since_the_start() -> None:
    sampling = Sampling()
    names = "DB time", "cluster wait time", "gc cr blocks received", "gc current blocks received"
    sampling.instances.change(1, services={"orders": dict.fromkeys(names, 100), "idle": dict.fromkeys(names, 0)})
    await sampling.take_pairs()
    later = dict(zip(names, (150, 110, 103, 104), strict=True))
    sampling.instances.change(1, services={"orders": later, "idle": dict.fromkeys(names, 0)})
    (sample,) = await sampling.take_pairs()
    assert isinstance(sample, PairsSample)
    of_one = [service for service in sample.services if service.instance == 1]
    assert of_one == [ServiceActivity(1, "orders", 50, 10, 7)]
