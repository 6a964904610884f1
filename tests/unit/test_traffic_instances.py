"""The instances' samples, from racwire's real statements on the practice database's SQL.

Instances that restart, hang or cannot be read are reported, and a refused login is never tried again.
"""

import asyncio
from dataclasses import replace
from datetime import datetime
from functools import partial

import msgspec
import pytest

pytest.importorskip("duckdb")
pytest.importorskip("sqlglot")

from checks.model.facts import UnaskedInstance
from checks.sources.database.errors import DatabaseError, ErrorKind
from checks.traffic import all_instances, listed_instances
from checks.traffic import instances as instances_source
from checks.traffic.all_instances import AllInstances
from checks.traffic.instances import InstanceSampler
from checks.traffic.listed_instances import Names
from checks.traffic.samples import Gap, GapCause, InstanceSample
from tests.fixtures.databases import database
from tests.fixtures.instance_states import STARTED, StraightIn, instances, practice
from tests.unit.traffic_instances_support import SETTINGS, Failing


def since(started):
    """A start time as the views have it: to the second, without a zone."""
    return datetime.fromtimestamp(started).isoformat(timespec="seconds")


class Sampling:
    """A sampler on so many practice instances, and its events.

    `hung_s` is the timeout of the connection for queries of all instances, when it differs from the other one.
    """

    def __init__(self, count=2, granted=None, why_alone="", facts=None, hung_s=None, **straight):
        self.instances = instances(count)
        self.straight = StraightIn(practice(self.instances, granted=granted), **straight)
        self.names = Names(facts or database(count))
        for named in self.names.by_number.values():
            named.started = since(STARTED)
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
        return {str(event.source): event for event in self.events}

    async def take_pairs(self):
        self.events.clear()
        up = {n: (f"prod{n}", {(name,): value for name, value in state.statistics.items()})
              for n, state in self.instances.states_by_number.items()}  # fmt: skip
        await self.sampler.pairs.take(self.sampler._views, up)
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
    assert samples["instance prod2"].cause is GapCause.NOT_KNOWN, "no other STARTUP_TIME"
    sampling.instances.grow(2, {"gc cr blocks received": 3})
    assert (await sampling.take())["instance prod2"].statistics["gc cr blocks received"] == 3


@pytest.mark.parametrize("is_missed", [False, True])
async def test_an_instance_with_another_start_time_was_restarted_also_where_no_counter_was_seen_to_fall(is_missed):
    sampling = Sampling()
    await sampling.take()
    stopped = sampling.instances.states_by_number.pop(2)
    if is_missed:
        await sampling.take()
    again = dict.fromkeys(stopped.statistics, 7 if is_missed else 0)
    sampling.instances.states_by_number[2] = msgspec.structs.replace(
        stopped, startup_time=STARTED + 3600, statistics=again
    )
    gap = (await sampling.take())["instance prod2"]
    assert gap.cause is GapCause.RESTARTED
    time = since(STARTED + 3600).replace("T", " ")
    assert gap.reason == f"It has another STARTUP_TIME: {time}."
    assert isinstance((await sampling.take())["instance prod2"], InstanceSample), "said once"


async def test_a_restart_during_a_lost_connection_is_seen_on_the_next_one():
    sampling = Sampling()
    await sampling.take()
    sampling.sampler = InstanceSampler(
        sampling.straight, sampling.names, SETTINGS, sampling.events.append, sampling.everyone, is_again=True
    )
    sampling.instances.change(2, startup_time=STARTED + 60)
    assert {name: gap.cause for name, gap in (await sampling.take()).items()} == {"instance prod2": GapCause.RESTARTED}


async def test_an_instance_that_stopped_is_a_gap_and_counts_only_after_its_return():
    sampling = Sampling()
    await sampling.take()
    stopped = sampling.instances.states_by_number.pop(2)
    assert (await sampling.take())["instance prod2"].reason == (
        "prod2 is up, but GV$SYSSTAT has no row for this instance: it was starting or stopping, had no free parallel "
        "query process, or its parallel_max_servers is 0."
    )
    assert sampling.straight.sent.count("active_instances") == 1
    await sampling.take()
    assert sampling.straight.sent.count("active_instances") == 1, "the view is read only from time to time"
    sampling.instances.states_by_number[2] = stopped
    assert "instance prod2" not in await sampling.take()
    assert isinstance((await sampling.take())["instance prod2"], InstanceSample)


async def test_an_instance_that_the_others_do_not_list_is_down():
    sampling = Sampling()
    await sampling.take()
    del sampling.instances.states_by_number[2]
    sampling.instances.change(1, peers=[])
    assert (await sampling.take())["instance prod2"].reason == "prod2 is down: V$ACTIVE_INSTANCES does not list it."


async def test_without_the_grant_on_active_instances_no_cause_is_excluded():
    sampling = Sampling()

    def refuse():
        raise DatabaseError("RACWIRE may not read V$ACTIVE_INSTANCES.", ErrorKind.MISSING_GRANT)

    sampling.straight.before |= {"active_instances": refuse}
    await sampling.take()
    del sampling.instances.states_by_number[2]
    assert (await sampling.take())["instance prod2"].reason == (
        "prod2 did not answer the query of GV$SYSSTAT: it is down, or had no free parallel query process."
    )


class Short:
    """Views whose named statement has no row of one instance, which has no free parallel query process."""

    def __init__(self, views, name, number):
        self.views, self.name, self.number = views, name, number

    def __getattr__(self, name):
        return getattr(self.views, name)

    async def rows(self, query):
        found = await self.views.rows(query)
        if query.name != self.name:
            return found
        at = [column.lower() for column in found.columns].index("inst_id")
        return replace(found, rows=[row for row in found.rows if row[at] != self.number])


async def test_an_instance_without_rows_in_one_view_is_named_as_the_checks_name_it():
    sampling = Sampling()
    await sampling.take()
    views = sampling.sampler._views
    sampling.sampler._views = Short(views, "dlm_misc", 2)
    samples = await sampling.take()
    assert (samples["instance prod2"].messages, samples["instance prod2"].left_out) == ({}, ("GV$DLM_MISC",))
    assert samples["instance prod1"].left_out == ()
    sampling.sampler._views = views
    assert (await sampling.take())["instance prod2"].left_out == ("GV$DLM_MISC",), "counts since startup"
    assert (await sampling.take())["instance prod2"].left_out == ()
    await sampling.take_pairs()
    sampling.sampler._views = Short(views, "cache_transfer", 2)
    once, never = [(await sampling.take_pairs())[0] for _ in range(2)]
    view = "GV$INSTANCE_CACHE_TRANSFER"
    assert once.unread == {view: f"prod2 did not answer the query of {view} in one of two samples."}
    assert never.unread == {view: f"prod2 did not answer the query of {view}."}
    assert {t.receiver for t in never.transfers} == {1}
    assert {p.instance for p in never.pings} == {1, 2}


async def test_an_instance_that_joined_is_added_under_its_own_name():
    sampling = Sampling(2, facts=database(1))
    await sampling.take()
    samples = await sampling.take()
    assert samples["instance prod2"].host == "rac2"
    assert sampling.straight.sent.count("instances") == 1, "the instances were listed more than once"


async def test_names_are_read_only_for_an_instance_that_is_new_or_came_back():
    sampling = Sampling()
    for _ in range(3):
        await sampling.take()
    assert "instances" not in sampling.straight.sent
    stopped = sampling.instances.states_by_number.pop(2)
    await sampling.take()
    assert "instances" not in sampling.straight.sent
    sampling.instances.states_by_number[2] = msgspec.structs.replace(stopped, host="rac9.example.com")
    for _ in range(3):
        samples = await sampling.take()
    assert samples["instance prod2"].host == "rac9"
    assert sampling.straight.sent.count("instances") == 1


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
    monkeypatch.setattr(instances_source, "INVENTORY_S", 0.0)
    monkeypatch.setattr(listed_instances, "INVENTORY_S", 0.0)
    sampling = Sampling(3, facts=database(2), limit_s=0.3)
    hang = partial(setattr, sampling.instances, "hangs")
    sampling.straight.before |= {"instances": lambda: hang(True), "sysstat": lambda: hang(False)}
    await sampling.take()
    for _ in range(2):
        samples = await sampling.take()
        assert [type(e) for e in samples.values()] == [InstanceSample] * 3
        assert list(samples) == ["instance prod1", "instance prod2", "instance instance 3"]
    assert sampling.straight.sent.count("instances") == 3


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
