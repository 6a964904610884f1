"""The Report screen: the text of the report, and its files."""

from __future__ import annotations

import asyncio
import dataclasses
import re
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from textual.pilot import Pilot

from checks.model.facts import Cluster
from checks.model.report import Report
from checks.report.json_report import from_json, to_json
from checks.report.report_evidence import Evidence
from checks.saved import open_saved
from checks.sources.nodes.session import Session
from checks.traffic.samples import Links
from checks.whole_files import OutputError, OutputFile
from tests.tui.clusters import UNCHANGING, black_hole, engine, healthy
from tests.tui.conftest import FakeFeed, NewConsole
from tests.tui.driving import checks_screen, concluded, shown, until, write
from tests.tui.traffic_driving import Console
from tests.tui.traffic_samples import BEGIN, HOSTILE, cluster_events
from tui.cli.report_formats import FORMATS
from tui.console import report_file
from tui.console.app import ConsoleApp
from tui.console.export_state import SAVED
from tui.screens.report.screen import FORMS
from tui.text.sanitize import sanitize_lines
from tui.widgets.lines import Lines

STEM = "racwire-20261120-140231"
"""The start time of the run of `UNCHANGING`."""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use this directory for files and as the home directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def sick(new_console: NewConsole) -> ConsoleApp:
    return new_console(lambda: engine(black_hole(), UNCHANGING))


async def report_screen(pilot: Pilot[None]) -> None:
    await concluded(pilot)
    await pilot.press("6")
    await until(pilot, lambda: "~/" in shown(pilot, "report-file"))


async def test_e_shows_the_contents_of_the_report_and_writes_no_file_yet(sick: ConsoleApp, here: Path) -> None:
    async with sick.run_test() as pilot:
        await concluded(pilot)
        await pilot.press("e")
        await pilot.pause()
        assert "[6 Report]" in shown(pilot, "tabs")
        contents = shown(pilot, "report-says")
        assert "Jumbo frames vanish on 192.168.11.0/24 between rac1 and rac3, both ways." in contents
        assert "Every check has concluded." in contents
        assert "None yet: sampling starts when you open Traffic (3)." in contents
        assert not list(here.glob("racwire-*"))  # noqa: ASYNC240 - a test waits for nothing else


async def test_every_format_is_written_privately_and_listed_with_its_path_and_size(
    sick: ConsoleApp, here: Path
) -> None:
    async with sick.run_test(size=(80, 40)) as pilot:
        await report_screen(pilot)
        for form in FORMS:
            path = await write(pilot, form.name)
            assert path == here / f"{STEM}{form.ending}"
            assert path.stat().st_mode & 0o777 == 0o600
            assert path.stat().st_size > 100
            await until(pilot, lambda path=path: f"~/{path.name}, " in shown(pilot, "report-done"))  # type: ignore[misc]
        newest, *_, oldest = [line for line in shown(pilot, "report-done").splitlines() if "~/" in line]
        assert FORMS[-1].ending in newest
        assert FORMS[0].ending in oldest


async def test_the_file_name_is_shown_before_writing(sick: ConsoleApp) -> None:
    async with sick.run_test() as pilot:
        await report_screen(pilot)
        assert f"~/{STEM}{FORMS[0].ending}" in shown(pilot, "report-file")
        await pilot.press("j")
        assert f"~/{STEM}{FORMS[1].ending}" in shown(pilot, "report-file")
        await write(pilot, FORMS[1].name)
        await until(pilot, lambda: f"~/{STEM}-2{FORMS[1].ending}" in shown(pilot, "report-file"))


async def test_an_existing_file_is_not_overwritten(sick: ConsoleApp, here: Path) -> None:
    there = here / f"{STEM}.json"
    there.write_text("mine")
    async with sick.run_test() as pilot:
        await report_screen(pilot)
        assert await write(pilot, "json") == here / f"{STEM}-2.json"
        assert there.read_text() == "mine"


async def test_with_an_unwritable_working_directory_the_state_directory_is_used(
    sick: ConsoleApp, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    removed = here / "gone"
    removed.mkdir()
    monkeypatch.chdir(removed)
    removed.rmdir()
    async with sick.run_test() as pilot:
        await report_screen(pilot)
        assert f"~/state/{STEM}" in shown(pilot, "report-file")
        assert await write(pilot, "json") == here / "state" / f"{STEM}.json"


async def test_a_full_disk_is_one_sentence_and_the_console_continues(
    sick: ConsoleApp, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(file: OutputFile, data: bytes) -> None:
        raise OutputError(f"{file} could not be written: No space left on device; no file was left.")

    monkeypatch.setattr(report_file, "write_whole", full)
    async with sick.run_test() as pilot:
        await report_screen(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: "No space left" in shown(pilot, "report-done"))
        result = "".join(shown(pilot, "report-done").split())
        assert f"{here.name}/{STEM}.txtcouldnotbewritten" in result, "of the first place, not of the second"
        await pilot.press("1")
        assert checks_screen(pilot)


async def test_the_progress_is_shown_above_the_keys(sick: ConsoleApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report is made and then written; the screen announces each step first, as both can take a while."""
    made, finished = threading.Event(), threading.Event()
    json = FORMATS["json"]

    def slow(evidence: Evidence) -> bytes:
        made.wait(20)
        return json.write(evidence)

    def hang(file: OutputFile, data: bytes) -> None:
        finished.wait(20)
        file.path.write_bytes(data)

    monkeypatch.setitem(FORMATS, "json", dataclasses.replace(json, write=slow))
    monkeypatch.setattr(report_file, "write_whole", hang)
    try:
        async with sick.run_test() as pilot:
            await report_screen(pilot)
            await pilot.press("j", "j", "j", "enter")
            await until(pilot, lambda: "making the report" in shown(pilot, "lower-rule"))
            made.set()
            await until(pilot, lambda: "B to ~/" in shown(pilot, "lower-rule"))
            assert re.search(rf"writing \d+ kB to ~/{STEM}.json", shown(pilot, "lower-rule"))
            finished.set()
            await until(pilot, lambda: f"~/{STEM}.json, " in shown(pilot, "report-done"))
            assert "writing" not in shown(pilot, "lower-rule")
    finally:
        made.set()
        finished.set()


def held_up() -> tuple[asyncio.Event, Callable[[Session, Cluster], object]]:
    gate = asyncio.Event()

    async def paths(session: Session, known: Cluster) -> object:
        await gate.wait()
        return black_hole().paths

    return gate, paths


async def test_before_all_checks_have_concluded_the_report_names_the_others(new_console: NewConsole) -> None:
    gate, paths = held_up()
    async with new_console(lambda: engine(black_hole(), UNCHANGING, paths=paths)).run_test() as pilot:  # type: ignore[arg-type]
        await pilot.press("6")
        await until(pilot, lambda: "1 check has not concluded yet: df-ping." in shown(pilot, "report-says"))
        report = from_json((await write(pilot, "json")).read_bytes())
        assert report.interrupted
        assert [
            (f.check, f.status) for f in report.findings if "had not concluded when the report was written" in f.title
        ] == [("df-ping", "UNKNOWN")]
        gate.set()
        await until(pilot, lambda: "Every check has concluded." in shown(pilot, "report-says"))


async def test_during_a_second_run_the_report_is_the_earlier_one(new_console: NewConsole) -> None:
    gate, paths = held_up()
    app = new_console(
        lambda: engine(black_hole(), UNCHANGING),
        lambda: engine(black_hole(), UNCHANGING, paths=paths),  # type: ignore[arg-type]
    )
    async with app.run_test() as pilot:
        await concluded(pilot)
        await pilot.press("r", "6")
        await until(pilot, lambda: "until they conclude, this is the run of" in shown(pilot, "report-says"))
        report = from_json((await write(pilot, "json")).read_bytes())
        assert not report.interrupted
        assert "IC-PATH-003" in [f.code for f in report.findings]
        gate.set()


async def test_without_results_there_is_nothing_to_write(new_console: NewConsole, here: Path) -> None:
    app = new_console(lambda: engine(healthy()), warm_up=(hold := threading.Event()).wait)
    async with app.run_test() as pilot:
        try:
            await pilot.press("6")
            await pilot.pause()
            assert "There are no findings yet" in shown(pilot, "report-says")
            await pilot.press("enter")
            await until(pilot, lambda: "There is no report yet" in shown(pilot, "lower-rule"))
        finally:
            hold.set()
        await concluded(pilot)


async def test_a_disk_that_hangs_blocks_neither_keys_nor_quitting_and_leaves_no_file(
    sick: ConsoleApp, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hangs, goes_on = threading.Event(), threading.Event()

    def hang(file: OutputFile, report: Report, recording: Path | None) -> None:
        hangs.set()
        goes_on.wait(20)

    monkeypatch.setattr("checks.saved.save", hang)
    scratch = here / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    try:
        async with sick.run_test() as pilot:
            await report_screen(pilot)
            await pilot.press("G", "enter")
            await until(pilot, hangs.is_set)
            await until(pilot, lambda: f"saving everything to ~/{STEM}.racwire" in shown(pilot, "lower-rule"))
            await pilot.press("enter")
            await until(pilot, lambda: "is being written" in shown(pilot, "lower-rule"))
            await pilot.press("1", "6", "q")
            assert not goes_on.is_set(), "it was left though the disk hangs"
        assert not list(scratch.iterdir())
    finally:
        goes_on.set()


async def test_the_saved_file_has_the_samples_so_far(new_console: NewConsole) -> None:
    feed = FakeFeed()
    app = new_console(lambda: engine(black_hole(), UNCHANGING), new_feed=lambda: feed)
    async with app.run_test() as pilot:
        await report_screen(pilot)
        await pilot.press("3")
        events = list(cluster_events(5))
        await Console(pilot, feed).emit(*events)
        await pilot.press("6")
        await until(pilot, lambda: "Of 2 nodes and 2 instances, from " in shown(pilot, "report-says"))
        path = await write(pilot, SAVED)
    with open_saved(path) as saved:
        assert app.report is not None
        run = msgspec.structs.replace(saved.report, saved_at="", situation=None)
        assert to_json(run) == to_json(app.report)
        assert saved.report.situation is not None
        assert saved.recording is not None
        times = [event.at for event in events if not isinstance(event, Links)]
        assert saved.recording.span() == (min(times), max(times))
        links = saved.recording.links("rac1", BEGIN + 5)
        assert links is not None
        assert saved.recording.header.cluster == app.report.cluster


async def test_pseudonyms_are_used_on_request_and_the_path_of_the_mapping_is_shown(sick: ConsoleApp) -> None:
    async with sick.run_test() as pilot:
        await report_screen(pilot)
        assert "real names; d writes pseudonyms" in shown(pilot, "report-done")
        assert "d redact" in shown(pilot, "keys")
        await pilot.press("d")
        assert "~/.local/state/racwire/redaction.json" in shown(pilot, "report-done")
        assert f"~/{STEM}-redacted.txt" in shown(pilot, "report-file")
        for form in ("json", SAVED):
            path = await write(pilot, form)
            assert path.name.startswith(f"{STEM}-redacted.")
            await until(pilot, lambda: "withpseudonyms" in "".join(shown(pilot, "report-done").split()))
            with open_saved(path) as saved:
                assert saved.report.is_redacted
                text = msgspec.json.encode(saved.report).decode()
                assert not [name for name in ("rac1", "rac3", "prodrac", "192.168.11.") if name in text]
        assert (Path.home() / ".local" / "state" / "racwire" / "redaction.json").stat().st_mode & 0o777 == 0o600


async def test_hostile_names_are_escaped(new_console: NewConsole, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    odd = here / "\x1b[2J\u202eodd"
    odd.mkdir()
    monkeypatch.chdir(odd)
    facts = msgspec.structs.replace(healthy(), local_node=HOSTILE)
    async with new_console(lambda: engine(facts)).run_test() as pilot:
        await report_screen(pilot)
        await write(pilot, "text")
        await until(pilot, lambda: "\\x1b[2J" in shown(pilot, "report-done"))
        for lines in pilot.app.screen.query(Lines):
            assert all(line == sanitize_lines(line) for line in lines.text.split("\n")), lines.id


@pytest.mark.parametrize("size", [(60, 16), (80, 24), (120, 40)])
async def test_the_formats_and_the_contents_are_visible_at_every_size(sick: ConsoleApp, size: tuple[int, int]) -> None:
    async with sick.run_test(size=size) as pilot:
        await report_screen(pilot)
        await until(pilot, lambda: pilot.app.screen.query_one("#report-forms").size.height >= min(len(FORMS), 7))
        assert pilot.app.screen.query_one("#report-says").size.height >= 2
        assert pilot.app.screen.query_one("#report-done").size.height >= 1
        assert "6 Report" in shown(pilot, "tabs")
        assert all(len(line) <= size[0] for lines in pilot.app.screen.query(Lines) for line in lines.text.split("\n"))
