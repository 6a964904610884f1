"""What the console remembers: over sessions, with a broken file, and without a place to write."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.settings import ConsoleSettings, Settings
from tests.tui.clusters import engine, healthy
from tests.tui.conftest import NewConsole
from tests.tui.driving import concluded, shown, until
from tui.console.presets import FILE_NAME, PresetFile, Presets
from tui.console.theme import DARK, TERMINAL
from tui.screens.database.screen import DatabaseScreen
from tui.screens.traffic.screen import TrafficScreen
from tui.widgets.sorting import Sorting


def ignored(text: str) -> None:
    """Displays nothing."""


async def test_choices_survive_quitting(new_console: NewConsole, tmp_path: Path) -> None:
    file = tmp_path / "state" / FILE_NAME
    app = new_console(lambda: engine(healthy()))
    async with app.run_test() as pilot:
        await concluded(pilot)
        assert not file.exists()
        await pilot.press("3", "a", "o", "s", "S", "4", "s", "colon", *"graphs", "enter", "colon", *"theme", "enter")
        await until(pilot, lambda: app.theme == TERMINAL.name)
        await app.action_quit()
    assert file.stat().st_mode & 0o777 == 0o600
    assert len(file.read_bytes()) < 400
    again = new_console(lambda: engine(healthy()))
    async with again.run_test() as pilot:
        await concluded(pilot)
        assert again.theme == TERMINAL.name
        assert again.state.graphs == "braille"
        await pilot.press("3")
        traffic = again.screen
        assert isinstance(traffic, TrafficScreen)
        assert traffic.sorting == Sorting("lost", is_ascending=True)
        assert (traffic._view.kind, traffic._view.others) == ("nodes", True)
        await pilot.press("4")
        assert isinstance(again.screen, DatabaseScreen)
        assert again.screen.sorting == Sorting("lost/s")
        await pilot.press("3", "a", "colon", *"theme", "enter")
        await until(pilot, lambda: "theme" not in json.loads(file.read_text()))
    kept = json.loads(file.read_text())
    assert "all_nodes" not in kept
    assert kept["other_interfaces"]


async def test_settings_and_no_color_win(
    new_console: NewConsole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / FILE_NAME).write_text('{"version": 1, "graphs": "braille", "theme": "racwire"}')
    monkeypatch.setenv("NO_COLOR", "1")
    app = new_console(
        lambda: engine(healthy()), settings=Settings(console=ConsoleSettings(graphs="blocks")), terminal_colours=True
    )
    async with app.run_test():
        assert app.state.graphs == "blocks"
        assert app.theme == TERMINAL.name
    monkeypatch.delenv("NO_COLOR")
    assert new_console(lambda: engine(healthy()), terminal_colours=True).theme == DARK.name


async def test_without_a_place_to_write_one_notice_says_so(new_console: NewConsole, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file, not a directory")
    app = new_console(lambda: engine(healthy()))
    async with app.run_test(size=(160, 40)) as pilot:
        await concluded(pilot)
        await pilot.press("4", "s")
        await until(pilot, lambda: "This choice is not remembered: " in shown(pilot, "lower-rule"))
        await pilot.press("s")
        await app._presets.stop(10)
        await pilot.pause()
        assert "not remembered" not in shown(pilot, "lower-rule")


BROKEN = [
    b"",
    b"[]",
    b"\xff\xfe",
    b'{"version": 1, "graphs": "sixel"}',
    b'{"version": "1"}',
    b'{"version": 1, "nodes": 3}',
    b"[" * 9000,
    b" " * 20_000,
]


@pytest.mark.parametrize("data", BROKEN)
def test_a_broken_file_is_ignored_with_a_sentence_in_the_log(
    data: bytes, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / FILE_NAME).write_bytes(data)
    assert PresetFile(tmp_path, ignored).load() == Presets()
    [record] = caplog.records
    assert record.levelno == logging.WARNING
    assert record.exc_info is None
    assert f"{FILE_NAME} is ignored: " in record.getMessage()


def test_a_pipe_in_its_place_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / FILE_NAME)
    assert PresetFile(tmp_path, ignored).load() == Presets()


async def test_the_file_of_a_newer_version_stays_as_it_is(tmp_path: Path) -> None:
    newer = '{"version": 2, "graphs": "sixel"}'
    (tmp_path / FILE_NAME).write_text(newer)
    reports: list[str] = []
    presets = PresetFile(tmp_path, reports.append)
    assert presets.load().graphs == ""
    presets.keep(graphs="braille")
    await presets.stop(10)
    assert (tmp_path / FILE_NAME).read_text() == newer
    assert reports == [f"This choice is not remembered: {tmp_path / FILE_NAME} is of a newer racwire."]


async def test_two_consoles_keep_the_choices_of_each_other(tmp_path: Path) -> None:
    one, other = PresetFile(tmp_path, ignored), PresetFile(tmp_path, ignored)
    one.keep(graphs="braille")
    await one.stop(10)
    other.keep(all_nodes=True)
    other.keep(nodes=Sorting("lost"))
    await other.stop(10)
    assert one.load() == Presets(version=1, graphs="braille", all_nodes=True, nodes=Sorting("lost"))


@given(st.binary(max_size=200) | st.from_regex(rb'\{"[a-z_]+": ?[\[{"0-9a-z}\]]*\}', fullmatch=True))
def test_no_file_makes_loading_fail(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    directory = tmp_path_factory.getbasetemp() / "presets"
    directory.mkdir(exist_ok=True)
    (directory / FILE_NAME).write_bytes(data)
    assert isinstance(PresetFile(directory, ignored).load(), Presets)
