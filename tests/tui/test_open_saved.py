"""`racwire open`: the console with a saved file, without a cluster."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path

import msgspec
import pytest
from textual.pilot import Pilot

from checks.model.exit_codes import ExitCode
from checks.model.facts import Cluster
from checks.model.report import Report
from checks.report.json_report import from_json, to_json
from checks.run.check_discovery import discover
from checks.saved import open_saved, save
from checks.saved.saved_replay import Replay
from checks.traffic.samples import Event
from checks.traffic.source_id import SourceId
from checks.whole_files import OutputFile
from tests.fixtures.databases import asked
from tests.tui.clusters import black_hole, engine
from tests.tui.conftest import FakeFeed, NewConsole
from tests.tui.driving import concluded, shown, write
from tests.tui.terminal import LEAVE_ALTERNATE_SCREEN, RACWIRE, Terminal, other_user
from tests.tui.test_traffic_recordings import record
from tests.tui.traffic_driving import Console
from tests.tui.traffic_samples import BEGIN, HOSTILE, cluster_events
from tests.unit.measurement_support import sizes
from tui.console.actions import TABS
from tui.console.export_state import SAVED
from tui.console.past import of_saved
from tui.text.line import plain
from tui.text.measurement_lines import measurement_lines
from tui.text.sanitize import sanitize_lines
from tui.widgets.lines import Lines

SAVED_AT = "2026-11-20T14:02:44.000+01:00"
NOW = datetime.fromisoformat("2026-11-23T17:00:00+01:00")


async def report_of(facts: Cluster) -> Report:
    """Return the report of a run on such a cluster."""
    return msgspec.structs.replace(await engine(facts, tuple(discover())).run(), saved_at=SAVED_AT)


async def saved_file(directory: Path, facts: Cluster, events: Sequence[Event] = ()) -> Path:
    """Save such a cluster, with a recording of these samples if there are any."""
    recording = record(directory / "samples.rec", facts, events, label="") if events else None
    path = directory / "night.racwire"
    save(OutputFile(path, replace=True), await report_of(facts), recording)
    return path


def no_feed() -> FakeFeed:
    raise AssertionError("nothing is sampled")


@asynccontextmanager
async def opened(new_console: NewConsole, path: Path, size: tuple[int, int] = (80, 24)) -> AsyncIterator[Console]:
    """Return the console as `racwire open` starts it."""
    with open_saved(path) as saved:
        app = new_console(lambda: Replay(saved.report, discover()), new_feed=no_feed, past=of_saved(saved, NOW))
        async with app.run_test(size=size) as pilot:
            await concluded(pilot)
            yield Console(pilot, FakeFeed())


def text(pilot: Pilot[None], part: str) -> str:
    return " ".join(shown(pilot, part).split())


async def test_every_screen_shows_that_the_state_is_saved_and_its_age(new_console: NewConsole, tmp_path: Path) -> None:
    path = await saved_file(tmp_path, black_hole())
    for width in (60, 80):
        async with opened(new_console, path, (width, 24)) as on:
            for tab in TABS.values():
                await on.press(tab[0])
                assert "saved 2026-11-20 14:02, 3 d ago" in shown(on.pilot, "header")


async def test_the_checks_and_paths_are_those_of_the_file(new_console: NewConsole, tmp_path: Path) -> None:
    path = await saved_file(tmp_path, black_hole())
    async with opened(new_console, path) as on:
        assert "IC-PATH-003" in shown(on.pilot, "finding")
        await on.press("enter")
        assert "DF ping -s 8972" in shown(on.pilot, "page"), "the evidence is there too"
        await on.press("escape", "2")
        assert "1500 B" in shown(on.pilot, "path-matrix")
        await on.press("5")
        assert "This is a saved state." in text(on.pilot, "change-page")


async def test_measurements_of_the_file_are_shown_and_nothing_can_be_sent(
    new_console: NewConsole, tmp_path: Path
) -> None:
    found = sizes(9000)
    path = tmp_path / "night.racwire"
    save(OutputFile(path), msgspec.structs.replace(await report_of(black_hole()), measurements=(found,)), None)
    async with opened(new_console, path) as on:
        await on.press("7")
        assert "us p50" in shown(on.pilot, "measure-list")
        assert "rac1 -> rac2 on 192.168.10.0/24" in text(on.pilot, "measure-page")
        assert "The saved state is open, so nothing can be sent" in text(on.pilot, "measure-page")
        await on.press("g")
        assert shown(on.pilot, "measure-line").strip() == "The saved state is open: nothing can be sent."
        await on.press("enter")
        assert shown(on.pilot, "page") == plain(measurement_lines(found, 78))


async def test_actions_that_need_a_cluster_are_not_offered(new_console: NewConsole, tmp_path: Path) -> None:
    path = await saved_file(tmp_path, black_hole())
    async with opened(new_console, path, (120, 40)) as on:
        for key in "1234567":
            await on.press(key)
            keys = shown(on.pilot, "keys")
            assert not [
                word for word in ("rerun", "record", "pause", "plan a change", "measure", "plan again") if word in keys
            ]
            await on.press("question_mark")
            assert "Run all checks again" not in shown(on.pilot, "page")
            await on.press("escape")


async def test_traffic_and_database_show_the_saved_samples(new_console: NewConsole, tmp_path: Path) -> None:
    path = await saved_file(tmp_path, asked(2), cluster_events(30))
    async with opened(new_console, path) as on:
        await on.press("3")
        await on.until(lambda: "eth1" in on.body)
        await on.press("4")
        await on.until(lambda: "recorded, 1 s to" in shown(on.pilot, "database-page"))


async def test_samples_and_run_use_one_time_zone_named_once_on_each_screen(
    new_console: NewConsole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time zone is that of the run, wherever the file is opened."""
    path = await saved_file(tmp_path, asked(2), cluster_events(30))
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        report = await report_of(asked(2))
        zone = datetime.fromisoformat(report.started_at).tzinfo
        last = f"{datetime.fromtimestamp(BEGIN + 29, zone):%H:%M:%S}"
        async with opened(new_console, path, (120, 60)) as on:
            await on.press("4")
            await on.until(lambda: "recorded, 1 s to" in shown(on.pilot, "database-page"))
            assert f"recorded, 1 s to {last} " in shown(on.pilot, "database-page")
            assert len(re.findall(r"[+-]\d\d:\d\d", shown(on.pilot, "database-page"))) == 1
            await on.press("6")
            await on.until(lambda: f" to {last}." in shown(on.pilot, "report-says"))
            assert re.search(r"[+-]\d\d:\d\d", shown(on.pilot, "upper-rule"))
            samples = shown(on.pilot, "report-says").partition("Samples")[2]
            assert not re.search(r"[+-]\d\d:\d\d", samples)
    finally:
        monkeypatch.undo()
        time.tzset()


async def test_without_samples_traffic_says_so_and_the_database_shows_the_run(
    new_console: NewConsole, tmp_path: Path
) -> None:
    path = await saved_file(tmp_path, asked(2))
    async with opened(new_console, path) as on:
        await on.press("3")
        await on.until(lambda: "No samples were saved." in on.body)
        await on.press("+", "left", "home", "a", "n", "6")
        await on.until(lambda: "None were saved." in shown(on.pilot, "report-says"))
        await on.press("4")
        assert "by the checks" in shown(on.pilot, "database-page")


async def test_a_json_report_opens_like_a_saved_file(new_console: NewConsole, tmp_path: Path) -> None:
    path = tmp_path / "incident.json"
    path.write_bytes(to_json(msgspec.structs.replace(await report_of(black_hole()), saved_at="")))
    async with opened(new_console, path) as on:
        assert "IC-PATH-003" in shown(on.pilot, "finding")
        assert "saved 2026-11-20 14:02, 3 d ago" in shown(on.pilot, "header"), "as old as its run"


async def test_reports_can_be_exported_and_the_state_saved_again(
    new_console: NewConsole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = await saved_file(tmp_path, asked(2), cluster_events(30))
    async with opened(new_console, path) as on:
        await on.press("6")
        await on.until(lambda: "Of 2 nodes and 2 instances" in shown(on.pilot, "report-says"))
        report = from_json((await write(on.pilot, "json")).read_bytes())
        again = await write(on.pilot, SAVED)
    with open_saved(path) as first, open_saved(again) as second:
        assert report.situation == second.report.situation
        runs = [msgspec.structs.replace(one, situation=None) for one in (report, first.report, second.report)]
        assert to_json(runs[0]) == to_json(runs[1]) == to_json(runs[2])
        assert first.recording is not None
        assert second.recording is not None
        assert list(first.recording.events()) == list(second.recording.events())


async def test_a_saved_state_can_be_exported_with_pseudonyms_which_are_not_replaced_again(
    new_console: NewConsole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    path = await saved_file(tmp_path, asked(2), cluster_events(5))
    async with opened(new_console, path) as on:
        await on.press("6", "d")
        redacted = await write(on.pilot, SAVED)
    async with opened(new_console, redacted) as on:
        await on.press("6")
        assert "d redact" not in shown(on.pilot, "keys")
        await on.press("d")
        assert "pseudonyms, as in the saved file" in shown(on.pilot, "report-done")
        again = await write(on.pilot, SAVED)
        assert "-redacted" in again.name
    with open_saved(redacted) as first, open_saved(again) as second:
        assert first.report.is_redacted
        runs = [msgspec.structs.replace(one, situation=None) for one in (first.report, second.report)]
        assert to_json(runs[0]) == to_json(runs[1])
        assert first.report.stated() == second.report.stated()
        assert first.recording is not None
        assert second.recording is not None
        assert first.recording.sources() == second.recording.sources()
        nodes = [node.name for node in first.report.cluster.read_nodes()]
        assert "rac1" not in nodes
        assert SourceId.node(nodes[0]) in first.recording.sources(), "the same pseudonym for the same node"


async def test_hostile_names_in_a_saved_file_are_escaped(new_console: NewConsole, tmp_path: Path) -> None:
    hostile = msgspec.structs.replace(await report_of(black_hole()), started_at=HOSTILE, saved_at=HOSTILE)
    path = tmp_path / "evil.racwire"
    save(OutputFile(path, replace=True), hostile, None)
    async with opened(new_console, path) as on:
        for key in "612345":
            await on.press(key)
            for lines in on.pilot.app.screen.query(Lines):
                assert all(line == sanitize_lines(line) for line in lines.text.split("\n")), (key, lines.id)


# --- the command ------------------------------------------------------------------------------------------------------


def racwire(*words: str, home: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*RACWIRE, *words], env=other_user(home), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
    )


async def test_in_a_terminal_the_console_opens_and_leaves_no_files(tmp_path: Path) -> None:
    path = await saved_file(tmp_path, asked(2), cluster_events(30))
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    terminal = Terminal({**other_user(tmp_path), "TMPDIR": str(scratch)}, [*RACWIRE, "open", str(path)])
    try:
        terminal.read_until(b"[1 Checks]")
        terminal.send(b"3")
        terminal.read_until(b"eth1")
        terminal.process.terminate()
        code = terminal.ended()
    finally:
        terminal.close()
    assert LEAVE_ALTERNATE_SCREEN in terminal.seen
    assert code in (*ExitCode,)
    assert os.listdir(scratch) == []


async def test_without_a_terminal_the_text_report_is_printed_with_the_exit_code_of_the_checks(tmp_path: Path) -> None:
    path = await saved_file(tmp_path, black_hole())
    ran = racwire("open", str(path), home=tmp_path)
    assert ran.returncode == ExitCode.FAILURES
    assert "IC-PATH-003" in ran.stdout
    assert "saved" in ran.stdout


@pytest.mark.parametrize("damage", ["cut", "garbled"])
async def test_a_damaged_file_is_one_sentence(tmp_path: Path, damage: str) -> None:
    path = await saved_file(tmp_path, black_hole())
    whole = path.read_bytes()
    middle = len(whole) // 2
    path.write_bytes(whole[:middle] if damage == "cut" else whole[:middle] + b"\0" * 99 + whole[middle + 99 :])
    ran = racwire("open", str(path), home=tmp_path)
    assert (ran.returncode, ran.stdout, len(ran.stderr.splitlines())) == (ExitCode.USAGE, "", 1)
    assert "night.racwire" in ran.stderr
