"""The Traffic screen records what is sampled, and shows recordings."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from checks.traffic.recording import Header, Recorder, Recording
from tests.tui.clusters import engine, healthy
from tests.tui.conftest import FakeFeed, NewConsole
from tests.tui.driving import concluded
from tests.tui.traffic_driving import Console, console
from tests.tui.traffic_samples import BEGIN, cluster_events, node_sample
from tui.screens import traffic
from tui.screens.traffic import TrafficScreen

NOISE = random.Random(7)


@pytest.fixture(autouse=True)
def _draw_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traffic, "DRAW_AFTER_S", 0.005)
    monkeypatch.setattr(traffic, "DRAW_EVERY_S", 0.005)


@pytest.fixture(autouse=True)
def _where_recordings_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def only_recording(directory: Path) -> Path:
    [path] = directory.glob("racwire-*.rec")
    return path


def damage(path: Path) -> None:
    path.write_bytes(b"\0" * path.stat().st_size)


async def test_what_is_sampled_is_recorded_until_it_is_ended(new_console: NewConsole, tmp_path: Path) -> None:
    async with console(new_console, cluster_events(3)) as on:
        await on.press("w")
        await on.until(lambda: "Recording to" in on.below)
        await on.tell(*(node_sample("rac1", BEGIN + second, NOISE) for second in (4, 5)))
        await on.press("left")
        await on.until(lambda: "recording to racwire-" in on.below)
        await on.press("w")
        await on.until(lambda: "Recorded to" in on.below)
    recording = Recording.open(only_recording(tmp_path))
    assert [event.at for event in recording.window("node rac1", 0, BEGIN + 99)] == [BEGIN + 4, BEGIN + 5]
    known = recording.links("rac1", BEGIN + 5)
    assert known is not None
    assert [link.name for link in known.links] == ["eth1", "eth2", "eth0"]
    assert recording.header.cluster.local_node == "rac1"
    recording.close()


async def test_leaving_ends_a_recording_whole(new_console: NewConsole, tmp_path: Path) -> None:
    async with console(new_console, cluster_events(3)) as on:
        await on.press("w")
        await on.until(lambda: "Recording to" in on.below)
        await on.tell(node_sample("rac1", BEGIN + 4, NOISE))
        await on.press("q")
    recording = Recording.open(only_recording(tmp_path))
    assert recording.span() == (BEGIN + 4, BEGIN + 4)
    recording.close()
    assert on.feed.is_closed


async def test_a_recording_that_cannot_be_written_says_so_and_sampling_goes_on(
    new_console: NewConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.live.recording_path", lambda now, otherwise: Path("gone/x.rec"))
    async with console(new_console, cluster_events(3)) as on:
        await on.press("w")
        await on.until(lambda: "x.rec" in on.below and "ecording to" not in on.below)
        await on.tell(node_sample("rac1", BEGIN + 4, NOISE, Ip_ReasmFails=212))
        assert "FAILED  212/s" in on.body


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    path = tmp_path / "before.rec"
    header = Header(
        racwire_version="0.1.0",
        started_at="2025-11-28T14:02:31.000+00:00",
        label="mtu1500",
        interval_s=1.0,
        cluster=healthy(),
    )
    recorder = Recorder.create(path, header)
    recorder.write(cluster_events(120))
    recorder.write([node_sample("rac1", BEGIN + 121, NOISE, Ip_ReasmFails=212)])
    recorder.close()
    return path


async def test_a_recording_is_looked_at_by_the_same_keys(new_console: NewConsole, recorded: Path) -> None:
    app = new_console(lambda: engine(healthy()))
    async with app.run_test(size=(80, 24)) as pilot:
        await concluded(pilot)
        on = Console(pilot, FakeFeed())
        await app.push_screen(TrafficScreen(app.known, Recording.open(recorded)))
        await on.until(lambda: "FAILED  212/s" in on.body)
        assert "recording mtu1500" in on.rule
        assert "2025-11-28" in on.rule
        end = on.rule
        await on.press("left")
        await on.until(lambda: "FAILED    0/s" in on.body)
        await on.press("home")
        await on.until(lambda: on.rule != end and "highest" in on.body)
        first = on.rule
        await on.press("pagedown")
        await on.until(lambda: on.rule > first)
        await on.press("end")
        await on.until(lambda: on.rule == end)
        await on.press("+")
        await on.until(lambda: "a point is 2 s" in on.rule)
        await on.press("space")
        assert "stands still" in on.below
        await on.press("w")
        assert "recording already" in on.below


async def test_a_recording_that_is_damaged_meanwhile_says_so(new_console: NewConsole, recorded: Path) -> None:
    app = new_console(lambda: engine(healthy()))
    recording = Recording.open(recorded)
    async with app.run_test(size=(80, 24)) as pilot:
        await concluded(pilot)
        on = Console(pilot, FakeFeed())
        await app.push_screen(TrafficScreen(app.known, recording))
        await on.until(lambda: "eth1" in on.body)
        damage(recorded)
        recording.close()
        await on.press("home")
        await on.until(lambda: "before.rec" in "".join(on.body.split()))
