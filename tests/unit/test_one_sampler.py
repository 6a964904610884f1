"""Racwires of one user share one sampler: who samples, who follows, and what happens when one ends, hangs or lags."""

import asyncio
import os
import socket
import time
import uuid

import pytest

from checks.model.facts import Cluster, NotAsked
from checks.model.settings import DatabaseSettings, Settings, TrafficSettings
from checks.traffic import feed as feed_module
from checks.traffic import one_sampler
from checks.traffic.feed import Feed
from checks.traffic.json_text import to_json_text
from checks.traffic.one_sampler import Sampler, SamplerCount, samplers_in, socket_names
from checks.traffic.samples import Gap, GapCause, InstancesPace, LatencySample, Links, NodeSample
from checks.traffic.source_id import BY_RACWIRE, SourceId
from tests.fixtures.clusters import node

HERE = "rac1"
SETTINGS = Settings(traffic=TrafficSettings(interval_s=1))
QUICK_S = 0.05


@pytest.fixture(autouse=True)
def own_names(monkeypatch):
    """Sockets that no other test and no other racwire sees."""
    monkeypatch.setattr(one_sampler, "_OF_NODES", f"racwire-test-{uuid.uuid4().hex[:8]}")


class Shared:
    """A feed that shares its samples, with what it delivered."""

    def __init__(self) -> None:
        self.by: list[int] = []
        self.events: list[object] = []
        self.feed = Feed(SETTINGS, share=self.by.append)
        self.feed.interval_s = QUICK_S
        self._news = asyncio.Condition()

    async def run(self) -> None:
        async for event in self.feed.events():
            async with self._news:
                self.events.append(event)
                self._news.notify_all()

    async def until(self, wanted):
        """Wait for an event that meets the condition, and return it; from now on only later ones count."""
        async with asyncio.timeout(20), self._news:
            while not (found := [event for event in self.events if wanted(event)]):
                await self._news.wait()
            del self.events[: self.events.index(found[0]) + 1]
            return found[0]


@pytest.fixture
async def start():
    """Starts shared feeds, and ends them."""
    made = []

    def begin():
        shared = Shared()
        made.append((shared, asyncio.create_task(shared.run())))
        return shared

    yield begin
    for shared, task in made:
        await shared.feed.close()
        await task


def is_sample(event):
    return isinstance(event, NodeSample)


def is_left(event):
    return isinstance(event, Gap) and event.caused_by == BY_RACWIRE


async def started(start):
    """A feed that samples."""
    first = start()
    await first.until(is_sample)
    return first


async def test_the_second_follows_the_first_and_samples_nothing_itself(start):
    first = await started(start)
    second = start()
    await second.until(is_sample)
    assert (first.by, second.by) == ([0], [os.getpid()])
    assert set(second.feed._tasks) == set()


async def test_a_follower_has_the_events_of_the_sampler_as_they_are(start):
    first = await started(start)
    second = start()
    sample = await second.until(is_sample)
    assert sample in [*first.events, await first.until(lambda event: event == sample)]
    pace = InstancesPace(1.0, 4.0, 40.0, "instances", "16 instances")
    first.feed._emit(pace)
    assert await second.until(lambda event: isinstance(event, InstancesPace)) == pace


async def test_a_newcomer_learns_what_lasts_and_no_pings(start):
    first = await started(start)
    while "links of" not in " ".join(map(str, first.feed._lasting)):
        await first.until(lambda event: True)
    first.feed._emit(Gap(SourceId.node("rac2"), 1.0, "rac2 refused: é\ud800.", SourceId.node("rac3"), GapCause.ALIAS))
    first.feed._emit(LatencySample("n", "rac2", 56, at=1.0, seconds=1.0, sent=1, received=1))
    first.feed._emit(Gap(SourceId.parse("latency n rac2 56"), 1.0, "no pings"))
    second = start()
    assert isinstance(await second.until(lambda event: isinstance(event, Links | Gap)), Links)
    gap = await second.until(lambda event: isinstance(event, Gap))
    assert (gap.source, gap.reason) == (SourceId.node("rac2"), "rac2 refused: é\ud800.")
    assert (gap.caused_by, gap.cause) == (SourceId.node("rac3"), GapCause.ALIAS)
    assert gap.at > 1.0, "a gap of the past would set the clock of the events back"
    await second.until(is_sample)
    assert not [event for event in second.events if "latency" in str(getattr(event, "source", ""))]


async def test_a_sample_that_began_before_its_follower_is_left_out(start):
    first = await started(start)
    second = start()
    await second.until(is_sample)
    at = second.feed._lacks_since
    for seconds in (5.0, 6.0):
        first.feed._emit(NodeSample("rac9", at + 1, seconds))
    assert (await second.until(lambda event: getattr(event, "node", "") == "rac9")).seconds == 6.0


async def test_when_the_sampler_ends_a_follower_takes_over_and_the_others_follow_it(start):
    first = await started(start)
    others = [start(), start()]
    for other in others:
        await other.until(is_sample)
    await first.feed.close()
    for other in others:
        gap = await other.until(is_left)
        assert str(os.getpid()) in gap.reason
        assert (await other.until(is_sample)).at - gap.at > 0
    assert sorted(other.by for other in others) == [[os.getpid(), 0], [os.getpid(), os.getpid()]]


async def test_a_feed_that_ends_itself_leaves_no_gap(start):
    first = await started(start)
    second = start()
    await second.until(is_sample)
    await second.feed.close()
    assert not list(filter(is_left, second.events))
    place = len(first.events)
    await first.until(lambda event: is_sample(event) and event in first.events[place:])


async def test_a_sampler_with_another_interval_leaves_its_followers(start):
    first = await started(start)
    second = start()
    await second.until(is_sample)
    first.feed.interval_s = 2 * QUICK_S
    await second.until(is_left)
    await second.until(is_sample)
    assert (first.by[-1], second.by[-1]) == (0, 0)
    third = start()
    third.feed.interval_s = 2 * QUICK_S
    await third.until(is_sample)
    assert third.by == [os.getpid()]
    assert len(first.feed._publisher._followers) == 1


async def test_a_sampler_that_hangs_is_left_and_one_that_never_answers_is_not_joined(start, monkeypatch):
    for name, seconds in (("_SILENT_S", 0.3), ("_ANSWER_S", 0.3), ("_AGAIN_S", 0.05)):
        monkeypatch.setattr(one_sampler, name, seconds)
    (name, *_) = socket_names(SETTINGS, QUICK_S)
    with socket.socket(socket.AF_UNIX) as hung:
        hung.bind(f"\0{name}")
        hung.listen()
        second = start()
        end, _ = await asyncio.to_thread(hung.accept)
        sample = NodeSample("rac9", time.time() + 60, 1.0)
        with end:
            end.sendall(to_json_text(Sampler(("this node", "this node's interfaces"))) + b"\n")
            end.sendall(to_json_text(sample) + b"\n")
            assert await second.until(is_sample) == sample
            assert (await second.until(is_left)).source == SourceId.node("rac9")
        await second.until(is_sample)
        assert second.by == [os.getpid(), 0]
        third = start()
        await third.until(is_sample)
        assert third.by == [os.getpid()] * 2, "it joins the hanging one, and then the second"


async def test_a_follower_that_takes_nothing_is_dropped_and_the_others_go_on(start, monkeypatch):
    monkeypatch.setattr(one_sampler, "_BEHIND_BYTES", 100_000)
    first = await started(start)
    second = start()
    await second.until(is_sample)
    (name, *_) = socket_names(SETTINGS, QUICK_S)
    with socket.socket(socket.AF_UNIX) as stuck:
        stuck.connect(f"\0{name}")
        publisher = first.feed._publisher
        while len(publisher._followers) < 2:
            await second.until(is_sample)
        many = NodeSample("rac9", time.time() + 60, 1.0, counters={f"Ip.{n}": n for n in range(3000)})
        while len(publisher._followers) == 2:
            first.feed._emit(many)
            await second.until(lambda event: event == many)
    await second.until(is_sample)


async def test_samples_of_another_user_are_not_taken_and_none_are_given_to_one(start, monkeypatch):
    first = await started(start)
    monkeypatch.setattr(one_sampler, "_peer_of", lambda writer: (1, os.geteuid() + 1))
    second = start()
    await second.until(is_sample)
    assert second.by == [0]
    assert not first.feed._publisher._followers


async def test_a_name_that_somebody_holds_without_answering_is_not_waited_for(start):
    (name, *_) = socket_names(SETTINGS, QUICK_S)
    with socket.socket(socket.AF_UNIX) as squatter:
        squatter.bind(f"\0{name}")
        first = await started(start)
        second = start()
        await second.until(is_sample)
    assert (first.by, second.by) == ([0], [os.getpid()])


async def test_who_lacks_a_wanted_source_is_left(start, monkeypatch):
    monkeypatch.setattr(feed_module, "_LACKS_S", 0.0)
    monkeypatch.setattr(feed_module, "BEAT_S", QUICK_S)
    await started(start)
    second = start()
    await second.until(is_sample)
    monkeypatch.setenv("RACWIRE_RSH", "false")
    # The digest is of the environment at the start: only what is wanted differs now.
    second.feed.follow(Cluster(local_node=HERE, taken_at="", nodes=(node(1), node(2)), database=NotAsked("none")))
    await second.until(lambda event: isinstance(event, Gap) and event.source == SourceId.node("rac2"))
    assert second.by == [os.getpid(), 0]


# --- the names --------------------------------------------------------------------------------------------------------


def first_name(settings: Settings = SETTINGS, interval_s: float = 1.0) -> str:
    return next(socket_names(settings, interval_s))


def test_the_name_tells_apart_what_makes_samples_differ_and_has_no_secret(monkeypatch):
    database = DatabaseSettings(connect="rac-scan/prod", user="racwire")
    names = [
        first_name(),
        first_name(interval_s=2.0),
        first_name(Settings(database=database)),
        first_name(Settings(database=DatabaseSettings(connect="rac-scan/test", user="racwire"))),
        first_name(Settings(traffic=TrafficSettings(pairs_interval_s=30))),
    ]
    monkeypatch.setenv("RACWIRE_RSH", "/bin/other")
    names.append(first_name())
    assert len(set(names)) == len(names)
    assert not any(word in name for name in names for word in ("prod", "rac-scan", "bin"))
    assert first_name(Settings(database=database)) == first_name(
        Settings(database=DatabaseSettings(connect="rac-scan/prod", user="racwire", diagnostics_pack=True)),
    )
    assert str(os.getpid()) in [*socket_names(SETTINGS, 1.0)][-1]


def test_listening_samplers_of_instances_are_counted_once_each(tmp_path):
    lines = [
        "Num       RefCount Protocol Flags    Type St Inode Path",
        "0: 00000002 00000000 00010000 0001 01 180 @racwire-sample-gv-0-aa-0",
        "0: 00000003 00000000 00000000 0001 03 181 @racwire-sample-gv-0-aa-0",
        "0: 00000002 00000000 00010000 0001 01 182 @racwire-sample-gv-1001-aa-p77",
        "0: 00000002 00000000 00010000 0001 01 183 @racwire-sample-os-0-bb-0",
        "0: 00000002 00000000 00010000 0001 01 184 /tmp/racwire-sample-gv",
        "0: 00000002 00000000 00010000 0001 01 185",
        "racwire-sample-gv",
    ]
    assert samplers_in(lines) == 2
    path = tmp_path / "unix"
    path.write_text("\n".join(lines))
    assert SamplerCount(is_listed=True, path=str(path))() == 2
    assert SamplerCount(is_listed=False, path=str(path))() == 3
    path.write_text("\n".join(f"0: 2 0 00010000 0001 01 1 @racwire-sample-gv-{n}" for n in range(900)))
    assert SamplerCount(is_listed=True, path=str(path))() == 16
    assert SamplerCount(is_listed=True, path=str(tmp_path / "none"))() == 1


def test_a_sampler_is_a_fact_with_its_sources():
    assert Sampler(("node rac2",)).sources == ("node rac2",)
