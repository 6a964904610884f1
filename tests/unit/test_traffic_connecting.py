"""How the samples of instances connect, and connect again."""

import asyncio

import pytest
from msgspec.structs import replace

pytest.importorskip("duckdb")
pytest.importorskip("sqlglot")

from checks.model.facts import Parameter, UnaskedInstance, Unknown
from checks.model.journal import Journal
from checks.model.settings import DatabaseSettings
from checks.sources.database.connections import Connections
from checks.sources.database.errors import DatabaseError, ErrorKind
from checks.sources.database.secret import Secret
from checks.traffic.instances import sample_instances
from checks.traffic.instances_pacer import InstancesPacer
from checks.traffic.samples import Gap, InstanceSample
from checks.traffic.source_id import DATABASE
from tests.fixtures.databases import database
from tests.fixtures.instance_states import StraightIn, instances, practice
from tests.fixtures.oracle import PASSWORD, Witness, serve, settings
from tests.unit.traffic_instances_support import SETTINGS, Failing


async def as_it_is(failure, code):
    return failure


async def events_of(databases, wanted, facts=None, explain=as_it_is):
    """Return the events until one meets the condition, or the source ends."""
    events, enough = [], asyncio.Event()

    def emit(event):
        events.append(event)
        if wanted(event):
            enough.set()

    pacer = InstancesPacer(SETTINGS, lambda pace: None)
    sampling = sample_instances(facts or database(2), databases, SETTINGS, pacer, emit, explain)
    work = asyncio.create_task(sampling)
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
    assert {str(gap.source) for gap in events} == {"database", "instance prod1", "instance prod2", "pairs"}
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
    assert [gap.reason for gap in events if gap.source == DATABASE] == [
        "It is in restricted session.",
        "No listener answers.",
    ]
    assert databases.forgotten == ["traffic", "traffic"]
    assert isinstance(events[-1], InstanceSample)


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
    assert events[0] == Gap(DATABASE, events[0].at, "The connection was lost.")
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
    gaps = {str(gap.source): gap.reason for gap in events[:4]}
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


@pytest.mark.parametrize(("value", "sampled"), [("0", {"prod1", "prod2"}), ("80", {"prod1"})])
async def test_a_limit_of_another_instance_does_not_count_for_the_one_that_is_connected_now(value, sampled):
    found = replace(
        database(2),
        connected_instance=2,
        instances=database(2).instances[1:],
        unasked=(UnaskedInstance(1, "prod1", "Why."),),
        parameters=(Parameter(2, "parallel_max_servers", value),),
    )
    connections = Failing([], StraightIn(practice(instances(2))))
    events, _ = await events_of(connections, lambda event: isinstance(event, InstanceSample), facts=found)
    assert {e.instance for e in events if isinstance(e, InstanceSample)} <= sampled
    gaps = {str(event.source) for event in events if isinstance(event, Gap)}
    assert ("instance prod2" in gaps) == (value != "0")


async def test_a_service_that_no_listener_serves_is_reported_with_the_served_ones():
    refused = DatabaseError("The listener does not serve prod.", ErrorKind.CANNOT_CONNECT, code=12514)
    explained = []

    async def explain(failure, code):
        explained.append(code)
        return Unknown(f"{failure.reason} It serves prod.example.com.")

    databases = Failing([refused] * 2, StraightIn(practice(instances(2))))
    events, _ = await events_of(databases, lambda event: isinstance(event, InstanceSample), explain=explain)
    gaps = {str(event.source): event.reason for event in events if isinstance(event, Gap)}
    assert set(gaps.values()) == {"The listener does not serve prod. It serves prod.example.com."}
    assert set(gaps) == {"database", "instance prod1", "instance prod2", "pairs"}
    assert explained == [12514], "the listener was queried at each attempt"
