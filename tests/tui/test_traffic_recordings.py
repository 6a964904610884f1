"""The Traffic screen records samples, and displays recordings."""

from __future__ import annotations

import random
import threading
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path

import msgspec
import pytest

from checks.model.facts import Cluster, NotGathered, Unknown
from checks.model.run_record import RunRecord
from checks.model.settings import Settings
from checks.run.check_discovery import discover
from checks.traffic.recorder import Recorder
from checks.traffic.recording import Header, Recording
from checks.traffic.recording_replay import JudgedRecording
from checks.traffic.samples import Event, Gap
from checks.traffic.source_id import DATABASE, SourceId
from tests.fixtures.databases import asked
from tests.tui.clusters import black_hole, engine, healthy
from tests.tui.conftest import FakeFeed, NewConsole
from tests.tui.driving import concluded, shown
from tests.tui.traffic_driving import Console, console
from tests.tui.traffic_samples import BEGIN, HOSTILE, cluster_events, hostile_events, node_sample
from tui.console import background_recorder
from tui.console.past import of_recording
from tui.screens.traffic import screen, time_keys
from tui.screens.traffic.screen import TrafficScreen
from tui.text.sanitize import sanitize_lines
from tui.widgets.lines import Lines

NOISE = random.Random(7)


@pytest.fixture(autouse=True)
def _draw_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screen, "DRAW_AFTER_S", 0.005)
    monkeypatch.setattr(screen, "DRAW_EVERY_S", 0.005)


@pytest.fixture(autouse=True)
def _where_recordings_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))  # short in a notice


def only_recording(directory: Path) -> Path:
    [path] = directory.glob("racwire-*.rec")
    return path


def damage(path: Path) -> None:
    path.write_bytes(b"\0" * path.stat().st_size)


async def test_samples_are_recorded_until_the_recording_is_stopped(new_console: NewConsole, tmp_path: Path) -> None:
    async with console(new_console, cluster_events(3), (120, 40)) as on:
        await on.press("w")
        await on.until(lambda: "Recording to" in on.below)
        await on.emit(*(node_sample("rac1", BEGIN + second, NOISE) for second in (4, 5)))
        await on.press("left")
        await on.until(lambda: "recording to racwire-" in on.below)
        await on.press("w")
        await on.until(lambda: "Recorded to" in on.below)
    recording = Recording.open(only_recording(tmp_path))
    assert [event.at for event in recording.window(SourceId.node("rac1"), 0, BEGIN + 99)] == [BEGIN + 4, BEGIN + 5]
    known = recording.links("rac1", BEGIN + 5)
    assert known is not None
    assert [link.name for link in known.links] == ["eth1", "eth2", "eth0"]
    assert recording.header.cluster.local_node == "rac1"
    recording.close()


async def test_a_recording_begins_with_the_current_gaps(new_console: NewConsole, tmp_path: Path) -> None:
    """The feed reports a gap once; a recording that starts during the gap must also contain it with its reason."""
    away = [Gap(SourceId.node("rac2"), BEGIN + 4, "rac2 is away."), Gap(DATABASE, BEGIN + 2, "The listener was away.")]
    async with console(new_console, [*cluster_events(3), *away]) as on:
        await on.press("w")
        await on.until(lambda: "Recording to" in on.below)
        await on.emit(node_sample("rac1", BEGIN + 5, NOISE))
        await on.press("w")
        await on.until(lambda: "Recorded to" in on.below)
    with closing(Recording.open(only_recording(tmp_path))) as recording:
        gap = recording.newest(SourceId.node("rac2"))
        assert isinstance(gap, Gap)
        assert gap.reason == "rac2 is away."
        assert gap.at > BEGIN + 3600, "of the moment at which the recording began"
        assert DATABASE not in recording.sources(), "an instance has answered since"


async def test_recordings_of_the_same_second_have_separate_files(
    new_console: NewConsole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.console.live.time.strftime", lambda form, moment: "racwire-20251128-140231")
    async with console(new_console, cluster_events(3)) as on:
        for name in ("", "-2", "-3"):
            await on.press("w")
            await on.until(lambda name=name: f"Recording to ~/racwire-20251128-140231{name}.rec" in on.below)  # type: ignore[misc]
            await on.press("w")
            await on.until(lambda name=name: f"Recorded to ~/racwire-20251128-140231{name}.rec" in on.below)  # type: ignore[misc]


async def test_a_disk_that_hangs_ends_the_recording_and_sampling_continues(
    new_console: NewConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on, hangs = threading.Event(), threading.Event()

    def hang(recorder: Recorder, items: Sequence[object]) -> None:
        hangs.set()
        goes_on.wait(20)

    monkeypatch.setattr(background_recorder, "record", hang)
    monkeypatch.setattr(background_recorder, "STUCK_S", 0.0)
    async with console(new_console, cluster_events(3)) as on:
        try:
            await on.press("w")
            await on.until(hangs.is_set)
            await on.emit(node_sample("rac1", BEGIN + 4, NOISE, Ip_ReasmFails=212))
            await on.until(lambda: "The disk hangs: the recording racwire-" in on.below)
            assert " rec" not in shown(on.pilot, "header")
            assert "FAILED  212/s" in on.body
        finally:
            goes_on.set()


async def test_quitting_ends_a_recording_completely(new_console: NewConsole, tmp_path: Path) -> None:
    async with console(new_console, cluster_events(3)) as on:
        await on.press("w")
        await on.until(lambda: "Recording to" in on.below)
        await on.emit(node_sample("rac1", BEGIN + 4, NOISE))
        await on.press("q")
    recording = Recording.open(only_recording(tmp_path))
    assert recording.span() == (BEGIN + 4, BEGIN + 4)
    recording.close()
    assert on.feed.is_closed


async def test_a_recording_that_cannot_be_written_says_so_and_sampling_continues(
    new_console: NewConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.console.live.recording_path", lambda now, otherwise: Path("gone/x.rec"))
    async with console(new_console, cluster_events(3)) as on:
        await on.press("w")
        await on.until(lambda: "x.rec" in on.below and "ecording to" not in on.below)
        await on.emit(node_sample("rac1", BEGIN + 4, NOISE, Ip_ReasmFails=212))
        assert "FAILED  212/s" in on.body


def record(path: Path, facts: Cluster, events: Iterable[Event], label: str = "mtu1500") -> Path:
    """Make a recording of these events."""
    header = Header(
        racwire_version="0.1.0",
        started_at="2025-11-28T19:32:31.000+05:30",
        label=label,
        interval_s=1.0,
        cluster=facts,
    )
    recorder = Recorder.create(path, header)
    recorder.write(events)
    recorder.close()
    return path


@asynccontextmanager
async def replay(new_console: NewConsole, path: Path, size: tuple[int, int] = (80, 24)) -> AsyncIterator[Console]:
    """A console that displays that recording, as `racwire open` starts it."""
    with closing(Recording.open(path)) as recording:
        judged = lambda: JudgedRecording(recording.header, discover(), Settings())  # noqa: E731
        app = new_console(judged, past=of_recording(recording), first="traffic")
        async with app.run_test(size=size) as pilot:
            await concluded(pilot)
            yield Console(pilot, FakeFeed())


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    sick = node_sample("rac1", BEGIN + 121, NOISE, Ip_ReasmFails=212)
    return record(tmp_path / "before.rec", healthy(), [*cluster_events(120), sick])


async def test_a_recording_is_shown_with_the_same_keys(new_console: NewConsole, recorded: Path) -> None:
    app = new_console(lambda: engine(healthy()))
    async with app.run_test(size=(110, 24)) as pilot:
        await concluded(pilot)
        on = Console(pilot, FakeFeed())
        await app.push_screen(TrafficScreen(app.state, Recording.open(recorded)))
        await on.until(lambda: "FAILED  212/s" in on.body)
        assert "rac1 of 3 nodes  stopped" in on.rule
        assert "2025-11-28 19:34:32 +05:30" in on.rule, "the zone is that of the node where it was made"
        end = on.rule
        await on.press("left")
        await on.until(lambda: "FAILED    0/s" in on.body)
        await on.press("home")
        await on.until(lambda: on.rule != end)
        first = on.rule
        await on.press("pagedown")
        await on.until(lambda: on.rule > first)
        await on.press("end")
        await on.until(lambda: on.rule == end)
        await on.press("+")
        await on.until(lambda: "2 s/point" in on.rule)
        await on.press("w")
        assert "recording already" in on.below
        for words in ("pause", "record"):
            assert words not in shown(pilot, "keys"), "what cannot be done here is not offered"
        await on.press("question_mark")
        assert "Record the samples" not in shown(pilot, "page")
        assert "Go one graph width earlier." in shown(pilot, "page")


async def test_a_recording_is_played_at_several_speeds_until_its_end(
    new_console: NewConsole, recorded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time_keys, "PLAY_EVERY_S", 0.05)
    app = new_console(lambda: engine(healthy()))
    async with app.run_test(size=(80, 24)) as pilot:
        await concluded(pilot)
        on = Console(pilot, FakeFeed())
        await app.push_screen(TrafficScreen(app.state, Recording.open(recorded)))
        await on.until(lambda: "eth1" in on.body)
        end = on.rule.rpartition("playhead")[2]
        assert "stopped" in on.rule
        await on.press("less_than_sign", *["greater_than_sign"] * 7)
        assert "Space play" in shown(pilot, "keys")
        await on.press("space")
        # At the end, playing begins at the start.
        await on.until(lambda: "playing 300x" in on.rule and on.rule.rpartition("playhead")[2] < end)
        await on.until(lambda: "Space stop" in shown(pilot, "keys") or "The recording ends here." in on.below)
        await on.until(lambda: "The recording ends here." in on.below)
        assert on.rule.rpartition("playhead")[2] == end
        assert "stopped" in on.rule


async def test_a_recording_damaged_meanwhile_is_reported(new_console: NewConsole, recorded: Path) -> None:
    app = new_console(lambda: engine(healthy()))
    recording = Recording.open(recorded)
    async with app.run_test(size=(80, 24)) as pilot:
        await concluded(pilot)
        on = Console(pilot, FakeFeed())
        await app.push_screen(TrafficScreen(app.state, recording))
        await on.until(lambda: "eth1" in on.body)
        damage(recorded)
        recording.close()
        await on.press("home")
        await on.until(lambda: "before.rec" in "".join(on.body.split()))


NOT_GATHERED = NotGathered()
HELD = {"paths": NOT_GATHERED, "counters": NOT_GATHERED, "activity": NOT_GATHERED, "history": NOT_GATHERED}
"""The groups of facts as a recording of the console contains them."""


@pytest.mark.parametrize(
    ("facts", "paths", "database"),
    [
        (healthy(), "not probed", "This recording contains no database. No database connection is set"),
        (asked(2), "not probed", "The Traffic screen (3) shows the counters of the instances."),
        (
            msgspec.structs.replace(healthy(), networks=Unknown("oifcfg was not found.")),
            "This recording contains no private networks. oifcfg was not found.",
            "This recording contains no database.",
        ),
    ],
)
async def test_data_missing_from_a_recording_is_reported_and_no_run_is_offered(
    new_console: NewConsole, tmp_path: Path, facts: Cluster, paths: str, database: str
) -> None:
    path = record(tmp_path / "a.rec", msgspec.structs.replace(facts, **HELD), cluster_events(5))
    async with replay(new_console, path) as on:
        for key, part, expected in (("2", "path-matrix", paths), ("4", "database-page", database)):
            await on.press(key)
            await on.until(lambda part=part, expected=expected: expected in " ".join(shown(on.pilot, part).split()))  # type: ignore[misc]
            text = shown(on.pilot, part)
            assert "runs the checks again" not in " ".join(text.split())
            assert " yet" not in text
            assert "rerun" not in shown(on.pilot, "keys")


async def test_hostile_names_in_a_recording_are_escaped(new_console: NewConsole, tmp_path: Path) -> None:
    path = record(tmp_path / "a.rec", healthy(), hostile_events(), label=HOSTILE)
    async with replay(new_console, path) as on:
        await on.until(lambda: "x\\x1b]0;own" in on.body)
        for keys in ("", "n", "n", "n", "n", "enter", "down", "escape a", "2", "4", "1"):
            await on.press(*keys.split())
            await on.until(lambda: not getattr(on.pilot.app.screen, "_reading", False))
            for lines in on.pilot.app.screen.query(Lines):
                assert all(line == sanitize_lines(line) for line in lines.text.split("\n")), (keys, lines.id)


async def test_all_screens_show_the_moment_of_the_playhead(new_console: NewConsole, tmp_path: Path) -> None:
    """The run before the fault had ended after 30 s, the one that found it after 90 s."""
    path = tmp_path / "night.rec"
    header = Header(
        racwire_version="0.3.0", started_at="2025-11-28T19:32:31.000+05:30", interval_s=1.0, cluster=healthy()
    )
    with closing(Recorder.create(path, header)) as recorder:
        recorder.write(cluster_events(120))
        for facts, ended in ((healthy(), 30), (black_hole(), 90)):
            report = await engine(facts, tuple(discover())).run()
            recorder.add_run(RunRecord(report=report, ended=BEGIN + ended))
    async with replay(new_console, path) as on:
        await on.press("1")
        await on.until(lambda: "at 19:34:31" in on.rule and "rac3!" in shown(on.pilot, "header"))
        assert "FAIL" in shown(on.pilot, "counts")
        for moment, words in (("19:33:31", "No problem was found"), ("19:32:51", "No run of the checks had ended by")):
            await on.press("3", "t", *moment, "enter")
            await on.until(lambda moment=moment: moment in on.rule.rpartition("playhead")[2])  # type: ignore[misc]
            await on.press("1")
            await on.until(lambda words=words: words in shown(on.pilot, "finding"))  # type: ignore[misc]
            assert f"at {moment}" in on.rule
            assert "rac3!" not in shown(on.pilot, "header")
        await on.press("2")
        assert "No run of the checks had ended by 19:32:51." in shown(on.pilot, "path-matrix")
        await on.press("3", "end", "2")
        await on.until(lambda: "black hole" in shown(on.pilot, "path-foot"))
