"""The instances' samples, from racwire's real statements on the practice database's SQL.

Instances that restart, hang or cannot be read are reported, and a refused login is never tried again.
"""

import asyncio
from dataclasses import replace
from functools import partial

import msgspec
import pytest

pytest.importorskip("duckdb")
pytest.importorskip("sqlglot")

from checks.model.facts import BlockTransfer, InstancePing, UnaskedInstance
from checks.model.journal import Journal
from checks.model.settings import DatabaseSettings, TrafficSettings
from checks.sources.database.connections import Connections
from checks.sources.database.errors import DatabaseError, ErrorKind
from checks.sources.database.secret import Secret
from checks.traffic import all_instances
from checks.traffic import instances as source
from checks.traffic.all_instances import AllInstances
from checks.traffic.instances import InstanceSampler, Names, sample_instances
from checks.traffic.pace import Pace
from checks.traffic.samples import Gap, InstanceSample, PairsSample
from racwire_lab.database.live import Ping
from tests.fixtures.databases import database
from tests.fixtures.instance_states import StraightIn, instances, practice
from tests.fixtures.oracle import PASSWORD, Witness, serve, settings

SETTINGS = TrafficSettings(database_timeout_s=5)


class Sampling:
    """A sampler on so many practice instances, and its events.

    `hung_s` is the timeout of the connection for queries of all instances, when it differs from the other one.
    """

    def __init__(self, count=2, granted=None, why_alone="", facts=None, hung_s=None, **straight):
        self.instances = instances(count)
        self.straight = StraightIn(practice(self.instances, granted=granted), **straight)
        self.names = Names(facts or database(count))
        self.events = []
        self.databases = Failing([], replace(self.straight, limit_s=hung_s) if hung_s else self.straight)
        self.everyone = AllInstances(self.databases, ("sysstat", "dlm_misc"), SETTINGS.database_timeout_s)
        self.sampler = InstanceSampler(
            self.straight, self.names, SETTINGS, self.events.append, self.everyone, why_alone
        )

    async def take(self):
        """Return the events of one more round, by source."""
        self.events.clear()
        await self.sampler.take()
        return {event.source: event for event in self.events}

    async def take_pairs(self):
        self.events.clear()
        await self.sampler.pairs.take(self.sampler._views)
        return self.events

    async def rounds(self):
        """Yield the events of many rounds."""
        async with asyncio.timeout(20):
            while True:
                yield await self.take()
                await asyncio.sleep(0.01)


async def test_the_counts_since_the_last_sample_are_returned_and_none_at_first():
    sampling = Sampling()
    assert await sampling.take() == {}
    sampling.instances.grow(1, {"gc cr blocks received": 40})
    sampling.instances.change(2, messages={"gcs msgs received": 70_009, "ges msgs received": 7_000})
    samples = await sampling.take()
    first, second = samples["instance prod1"], samples["instance prod2"]
    assert isinstance(first, InstanceSample)
    assert (first.number, first.host, first.left_out) == (1, "rac1", ())
    assert first.seconds > 0
    assert first.statistics["gc cr blocks received"] == 40
    assert first.statistics["gc blocks lost"] == 0
    assert second.messages["gcs msgs received"] == 9


async def test_an_instance_that_was_restarted_is_a_gap_and_continues_afterwards():
    sampling = Sampling()
    await sampling.take()
    sampling.instances.grow(2, {"gc cr blocks received": -9_000})
    samples = await sampling.take()
    assert isinstance(samples["instance prod1"], InstanceSample)
    assert samples["instance prod2"].reason.startswith("prod2 was restarted, or its counters were reset")
    sampling.instances.grow(2, {"gc cr blocks received": 3})
    assert (await sampling.take())["instance prod2"].statistics["gc cr blocks received"] == 3


async def test_an_instance_that_stopped_is_a_gap_and_counts_only_after_its_return():
    sampling = Sampling()
    await sampling.take()
    stopped = sampling.instances.states_by_number.pop(2)
    assert (await sampling.take())["instance prod2"].reason == (
        "prod2 did not answer GV$SYSSTAT: it is down, or hangs."
    )
    sampling.instances.states_by_number[2] = stopped
    assert "instance prod2" not in await sampling.take()
    assert isinstance((await sampling.take())["instance prod2"], InstanceSample)


async def test_an_instance_that_joined_is_added_under_its_own_name():
    sampling = Sampling(2, facts=database(1))
    await sampling.take()
    samples = await sampling.take()
    assert samples["instance prod2"].host == "rac2"
    assert sampling.straight.sent.count("instances") == 1, "the instances were listed more than once"


async def test_if_one_instance_hangs_the_connected_one_continues_and_all_are_retried(monkeypatch):
    monkeypatch.setattr(all_instances, "GLOBAL_AGAIN_S", 0.05)
    sampling = Sampling(3, limit_s=0.3)
    await sampling.take()
    sampling.instances.hangs = True
    samples = await sampling.take()
    assert isinstance(samples["instance prod1"], InstanceSample)
    assert samples["instance prod3"].reason == (
        "prod3 could not be queried: GV$SYSSTAT did not answer in time: an instance hangs, or has no free parallel "
        "query process. While racwire takes samples, it queries GV$ again every 0.05 s."
    )
    async for samples in sampling.rounds():
        assert isinstance(samples["instance prod1"], InstanceSample)
        assert isinstance(samples["instance prod2"], Gap)
        if sampling.instances.asked_all >= 5:
            break
    assert set(sampling.databases.wanted) == {all_instances.PURPOSE}, "all were asked where it holds up the samples"
    sampling.instances.hangs = False
    async for samples in sampling.rounds():
        assert isinstance(samples["instance prod1"], InstanceSample)
        if isinstance(samples.get("instance prod2"), InstanceSample):
            break
    assert sampling.databases.forgotten == [all_instances.PURPOSE], "a session was kept that nobody needs"


async def test_a_database_that_never_answers_is_queried_less_and_less_often(monkeypatch):
    """Each attempt leaves a session behind in it, for as long as the instance hangs."""
    monkeypatch.setattr(all_instances, "GLOBAL_AGAIN_S", 0.01)
    monkeypatch.setattr(all_instances, "_ENDED_S", -SETTINGS.database_timeout_s)
    sampling = Sampling(why_alone="GV$SYSSTAT did not answer in time.", hung_s=0.1)
    sampling.instances.hangs = True
    waits = []
    async for samples in sampling.rounds():
        wait = samples["instance prod2"].reason.rpartition(" every ")[2]
        waits += [wait] if wait not in waits else []
        if len(waits) == 3:
            break
    await sampling.everyone.end()
    # Each wait is twice the one before; a busy machine may miss to look while one lasts.
    doubled = {f"{0.01 * 2**n:g} s." for n in range(12)}
    assert set(waits) <= doubled
    assert waits == sorted(waits, key=lambda text: float(text.split()[0]))
    assert len(sampling.databases.forgotten) >= 2


async def test_all_instances_are_not_queried_again_if_that_login_is_refused(monkeypatch):
    monkeypatch.setattr(all_instances, "GLOBAL_AGAIN_S", 0.01)
    sampling = Sampling(why_alone="GV$SYSSTAT did not answer in time.")
    sampling.databases.failures = [DatabaseError("Wrong password (ORA-01017).", ErrorKind.LOGIN, code=1017)]
    await sampling.take()
    async for samples in sampling.rounds():
        assert isinstance(samples["instance prod1"], InstanceSample)
        if "does not query GV$ again" in samples["instance prod2"].reason:
            break
    assert samples["instance prod2"].reason == (
        "prod2 could not be queried: GV$SYSSTAT did not answer in time. racwire does not query GV$ again: "
        f"Wrong password (ORA-01017). {all_instances.NOT_AGAIN}"
    )
    await sampling.take()
    assert sampling.databases.wanted == [all_instances.PURPOSE]


async def test_a_missing_list_of_instances_removes_no_instance(monkeypatch):
    monkeypatch.setattr(source, "INVENTORY_S", 0.0)
    sampling = Sampling(3, limit_s=0.3)
    await sampling.take()
    hang = partial(setattr, sampling.instances, "hangs")
    sampling.straight.before |= {"instances": lambda: hang(True), "sysstat": lambda: hang(False)}
    for _ in range(2):
        samples = await sampling.take()
        assert [type(samples[f"instance prod{n}"]) for n in (1, 2, 3)] == [InstanceSample] * 3


async def test_instances_never_queried_have_a_reason():
    alone = database(1, unasked=(UnaskedInstance(2, "prod2", "GV$INSTANCE did not answer in time."),))
    sampling = Sampling(why_alone=alone.why_alone, facts=alone)
    samples = await sampling.take()
    assert samples == {"instance prod2": samples["instance prod2"]}
    assert samples["instance prod2"].reason == (
        "prod2 could not be queried: GV$INSTANCE did not answer in time. While racwire takes samples, it queries "
        "GV$ again every 15 s."
    )
    await sampling.everyone.end()
    assert sampling.instances.asked_all == 0


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
    assert gap.source == "pairs"


def test_pairs_are_queried_at_the_tick_nearest_to_their_own_interval(monkeypatch):
    pairs = source.PairsSampler(10, print)
    clock = iter([100.0, 109.4, 109.6])
    monkeypatch.setattr(source.time, "monotonic", lambda: next(clock))
    assert pairs.is_due(1)
    pairs._queried_s = 100.0
    assert not pairs.is_due(1)
    assert pairs.is_due(1)


# --- connecting -------------------------------------------------------------------------------------------------------


async def events_of(databases, wanted, facts=None):
    """Return the events until one meets the condition, or the source ends."""
    events, enough = [], asyncio.Event()

    def emit(event):
        events.append(event)
        if wanted(event):
            enough.set()

    work = asyncio.create_task(sample_instances(facts or database(2), databases, SETTINGS, Pace(1.0), emit))
    waiting = asyncio.create_task(enough.wait())
    try:
        await asyncio.wait([work, waiting], timeout=20, return_when=asyncio.FIRST_COMPLETED)
        return events, work.done()
    finally:
        for task in (work, waiting):
            task.cancel()
        await asyncio.gather(work, waiting, return_exceptions=True)
        await databases.close()


@pytest.mark.parametrize("code", [1017, 28000])
async def test_a_refused_login_is_reported_and_never_retried(code, monkeypatch):
    monkeypatch.setattr("checks.traffic.pace._FIRST_S", 0.01)
    attempts = []

    def session(self):
        attempts.append(1)
        raise DatabaseError(f"Refused (ORA-{code:05d}).", ErrorKind.LOGIN, code=code)

    monkeypatch.setattr("checks.sources.database.login.Login.session", session)
    unreachable = DatabaseSettings(connect="nowhere:1521/prod", user="RACWIRE")
    connections = Connections(unreachable, Secret(PASSWORD), Journal(), lambda: "rac1")
    events, ended = await events_of(connections, lambda event: False)
    assert ended
    assert len(attempts) == 1
    assert {gap.source for gap in events} == {"database", "instance prod1", "instance prod2", "pairs"}
    assert "racwire does not try again, so that the account is not locked" in events[0].reason


async def test_a_wrong_password_is_sent_to_the_database_once(monkeypatch):
    monkeypatch.setattr("checks.traffic.pace._FIRST_S", 0.01)
    with serve(Witness()) as server:
        connections = Connections(settings(server), Secret("wrong"), Journal(), lambda: "rac1")
        events, ended = await events_of(connections, lambda event: False)
    assert ended
    assert "ORA-01017" in events[0].reason


async def test_a_dropped_connection_is_closed_and_the_next_one_is_new():
    witness = Witness()
    with serve(witness) as server:
        connections = Connections(settings(server), Secret(PASSWORD), Journal(), lambda: "rac1")
        try:
            first = await connections.get("traffic")
            assert await connections.get("traffic") is first
            await connections.forget("traffic")
            assert await asyncio.to_thread(witness.over.wait, 10), "the session was left behind"
            assert await connections.get("traffic") is not first
            await connections.forget("nothing of that name")
        finally:
            await connections.close()


async def test_login_errors_unrelated_to_the_password_are_retried(monkeypatch):
    monkeypatch.setattr("checks.traffic.pace._FIRST_S", 0.01)
    failures = [
        DatabaseError("It is in restricted session.", ErrorKind.LOGIN, code=1035),
        DatabaseError("No listener answers.", ErrorKind.CANNOT_CONNECT, code=12541),
    ]
    straight = StraightIn(practice(instances(2)))
    databases = Failing(failures, straight)
    events, ended = await events_of(databases, lambda event: isinstance(event, InstanceSample))
    assert not ended
    assert [gap.reason for gap in events if gap.source == "database"] == [
        "It is in restricted session.",
        "No listener answers.",
    ]
    assert databases.forgotten == ["traffic", "traffic"]
    assert isinstance(events[-1], InstanceSample)


class Failing:
    """Connections that fail some times before one is made."""

    def __init__(self, failures, connection):
        self.failures, self.connection, self.forgotten, self.wanted = list(failures), connection, [], []

    async def get(self, purpose):
        self.wanted.append(purpose)
        if self.failures:
            raise self.failures.pop(0)
        return self.connection

    async def forget(self, purpose):
        self.forgotten.append(purpose)

    async def close(self):
        pass


async def test_a_connection_lost_during_a_sample_is_reopened(monkeypatch):
    monkeypatch.setattr("checks.traffic.pace._FIRST_S", 0.01)
    straight = StraightIn(practice(instances(2)))
    lose = [DatabaseError("The connection was lost.", ErrorKind.LOST)]

    def once():
        if lose:
            raise lose.pop()

    straight.before["sysstat"] = once
    databases = Failing([], straight)
    events, _ = await events_of(databases, lambda event: isinstance(event, InstanceSample))
    assert events[0] == Gap("database", events[0].at, "The connection was lost.")
    assert databases.forgotten == ["traffic"]
    assert isinstance(events[-1], InstanceSample)


async def test_if_the_connected_instance_hangs_only_that_one_is_named(monkeypatch):
    """The next connection does not wait for GV$ once more."""
    monkeypatch.setattr("checks.traffic.pace._FIRST_S", 0.01)
    states = instances(2)
    straight = StraightIn(practice(states), limit_s=0.3)
    hangs = [DatabaseError("It took too long.", ErrorKind.TIMED_OUT)]

    def hang():
        states.hangs = True

    def once():
        if hangs:
            raise hangs.pop()

    straight.before |= {"sysstat": hang, "sysstat (this instance)": once}
    events, _ = await events_of(Failing([], straight), lambda event: isinstance(event, InstanceSample))
    gaps = {gap.source: gap.reason for gap in events[:4]}
    assert gaps["instance prod1"] == gaps["database"]
    assert gaps["database"].startswith("prod1, to which racwire was connected, did not answer in time: it hangs")
    assert (
        gaps["instance prod2"]
        == "racwire was connected to prod1, which did not answer in time. racwire connects again."
    )
    assert states.asked_all == 1
    assert events[-1].reason == (
        "prod2 could not be queried: prod1 did not answer in time, not even a query about itself only, "
        "and GV$ waits for every instance. While racwire takes samples, it queries GV$ again every 15 s."
    )
    assert {event.instance for event in events if isinstance(event, InstanceSample)} == {"prod1"}
