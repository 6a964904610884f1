"""The checks without the screen, with the traffic recorded at the same time: how they end, and the results then."""

import asyncio
import io
import os
import signal
import sys

import pytest
from msgspec.structs import replace

from checks.model.facts import NotAsked
from checks.model.finding import Status
from checks.model.settings import Settings
from checks.run.check_discovery import discover
from checks.run.engine import Engine
from checks.run.events import CheckConcluded, RunFinished
from checks.run.gathering import Gatherer
from checks.traffic.recording import Recording
from checks.traffic.samples import Gap, NodeSample
from checks.traffic.source_id import SourceId
from tests.fixtures.clusters import cluster
from tui.cli.checking import check
from tui.cli.progress import Progress
from tui.cli.short_recording import ShortRecording

BUILT = replace(cluster(2), database=NotAsked("No database is named."))


def engine(*, hangs: str = "", ids: tuple[str, ...] = ("interfaces", "clusterware", "gc-blocks-lost")) -> Engine:
    """Three checks of a healthy cluster; the facts of the group that hangs never arrive."""

    def gives(group: str) -> Gatherer:
        async def gather(session, known):
            session.local_node = "rac1"
            if group == hangs:
                await asyncio.Event().wait()
            return getattr(BUILT, group)

        return Gatherer(group, (), gather, limit_s=60)

    groups = ("clusterware", "nodes", "networks", "database", "activity", "counters", "paths")
    return Engine([c for c in discover() if c.id in ids], Settings(), gatherers=[*map(gives, groups)])


class FakeFeed:
    """A feed that sends its samples, and then waits until it is closed."""

    def __init__(self, *events, breaks=None):
        self.events_to_tell = events
        self.breaks = breaks
        self.followed = []
        self.is_closed = asyncio.Event()

    def follow(self, found):
        self.followed.append(found)

    def probe(self, found):
        raise AssertionError("nothing is sent for a report")

    async def events(self):
        for event in self.events_to_tell:
            yield event
            await asyncio.sleep(0)
        if self.breaks:
            raise self.breaks
        await self.is_closed.wait()

    async def close(self):
        self.is_closed.set()


class Awaited(Progress):
    """An output that displays nothing and records when a check has concluded, and when all have."""

    def __init__(self):
        super().__init__(enabled=False)
        self.first, self.all = asyncio.Event(), asyncio.Event()

    def __call__(self, event):
        if isinstance(event, CheckConcluded):
            self.first.set()
        if isinstance(event, RunFinished):
            self.all.set()


SAMPLES = [NodeSample("rac1", 1000.0 + second, 1.0) for second in range(5)]


def short(tmp_path, feed, at_least_s=0.0) -> ShortRecording:
    return ShortRecording(tmp_path, Settings(), lambda: feed, at_least_s)


async def test_a_recording_that_is_long_enough_ends_with_the_checks(tmp_path):
    feed = FakeFeed(*SAMPLES)
    recording = short(tmp_path, feed)
    report = await check(engine(), Progress(False), recording)
    assert not report.interrupted
    assert feed.is_closed.is_set()
    opened = Recording.open(recording.path)
    assert list(opened.events()) == SAMPLES
    assert opened.header.cluster == report.cluster
    opened.close()


async def test_a_recording_continues_after_the_checks_for_the_requested_time(tmp_path):
    feed = FakeFeed(*SAMPLES)
    recording = short(tmp_path, feed, at_least_s=3600)
    progress = Awaited()
    checking = asyncio.create_task(check(engine(), progress, recording))
    await progress.all.wait()
    assert not checking.done()
    os.kill(os.getpid(), signal.SIGINT)
    report = await checking
    assert not report.interrupted
    assert {f.status for f in report.findings if f.check == "interfaces"} == {Status.PASS}
    opened = Recording.open(recording.path)
    assert list(opened.events()) == SAMPLES
    opened.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_an_interrupt_ends_the_checks_with_partial_results_and_the_recording_is_complete(tmp_path, number):
    feed = FakeFeed(*SAMPLES)
    progress = Awaited()
    running = engine(hangs="nodes", ids=("interfaces", "clusterware"))
    checking = asyncio.create_task(check(running, progress, short(tmp_path, feed, at_least_s=3600)))
    await progress.first.wait()
    os.kill(os.getpid(), number)
    report = await checking
    assert report.interrupted
    assert {f.check: f.code for f in report.findings if f.check == "interfaces"} == {"interfaces": "RW-ENGINE-004"}
    assert {f.code for f in report.findings if f.check == "clusterware"} == {"IC-GRID-001"}
    opened = Recording.open(tmp_path / "traffic.rec")
    assert list(opened.events()) == SAMPLES
    opened.close()


async def test_hup_is_ignored_under_nohup(tmp_path):
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    running = engine(hangs="nodes")
    checking = asyncio.create_task(check(running, Progress(False)))
    await asyncio.sleep(0.01)
    os.kill(os.getpid(), signal.SIGHUP)
    await asyncio.sleep(0.01)
    assert not checking.done()
    os.kill(os.getpid(), signal.SIGTERM)
    assert (await checking).interrupted


async def test_the_feed_follows_the_known_facts_and_an_unread_database_is_not_a_gap(tmp_path):
    feed = FakeFeed()
    await check(engine(), Progress(False), short(tmp_path, feed))
    assert feed.followed[-1].nodes == BUILT.nodes
    assert feed.followed[-1].database == BUILT.database
    assert all(isinstance(found.database, NotAsked) for found in feed.followed)


async def test_a_failed_feed_is_reported_and_does_not_affect_the_checks(tmp_path, capsys):
    feed = FakeFeed(*SAMPLES[:2], breaks=ValueError("a fault"))
    recording = short(tmp_path, feed, at_least_s=3600)
    report = await check(engine(hangs=""), Progress(False), recording)
    assert report.count(Status.PASS)
    assert capsys.readouterr().err == "racwire: The recording of the traffic failed: a fault. The checks continue.\n"
    opened = Recording.open(recording.path)
    assert list(opened.events()) == SAMPLES[:2]
    opened.close()


async def test_a_disk_that_takes_no_recording_is_reported_and_does_not_affect_the_checks(tmp_path, capsys):
    recording = short(tmp_path / "nowhere", FakeFeed(Gap(SourceId.node("rac2"), 1.0, "?")), at_least_s=3600)
    report = await check(engine(), Progress(False), recording)
    assert report.count(Status.PASS)
    assert "traffic.rec could not be written: No such file or directory." in capsys.readouterr().err


async def test_a_recording_that_fails_after_the_checks_is_not_waited_for(tmp_path):
    progress = Awaited()
    feed = FakeFeed()
    recording = short(tmp_path, feed, at_least_s=3600)
    checking = asyncio.create_task(check(engine(), progress, recording))
    await progress.all.wait()
    recording._fail("The disk is full.")
    assert (await checking).count(Status.PASS)


async def test_one_line_shows_the_progress_of_both(tmp_path, monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    progress = Progress(True)
    await check(engine(), progress, short(tmp_path, FakeFeed(*SAMPLES), at_least_s=0.01))
    lines = screen.getvalue().split("\r\x1b[K")
    assert any(line.endswith("3 of 3 checks concluded, recording 0 of 0 s") for line in lines)
    assert max(map(len, lines)) <= 78
    progress.clear()
    assert screen.getvalue().endswith("\r\x1b[K")


async def test_hostile_names_do_not_reach_the_terminal_in_that_line(monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    progress = Progress(True)
    progress.alongside("recording \x1b]0;owned\x07")
    assert screen.getvalue() == "\r\x1b[Krecording \\x1b]0;owned\\x07"


async def test_without_a_recording_no_feed_is_made(tmp_path):
    report = await check(engine(), Progress(False))
    assert replace(report, findings=()).interrupted is False
    assert os.listdir(tmp_path) == []
