"""The command-line options for the look and the operation of the console."""

from __future__ import annotations

import io

import pytest

from checks.model.settings import ConsoleSettings, Settings
from tui.cli.main import build_parser, effective_settings, main
from tui.console.start import encoding_of


@pytest.fixture(autouse=True)
def _nothing_configured(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)


def console_of(*words: str) -> ConsoleSettings:
    return effective_settings(build_parser(words).parse_args(words)).console


def test_options_override_the_settings() -> None:
    assert console_of() == ConsoleSettings(mouse=True, ascii="auto", graphs="auto")
    assert console_of("--unicode").ascii is False
    assert console_of("--no-mouse", "--ascii", "--graphs", "braille") == ConsoleSettings(
        mouse=False, ascii=True, graphs="braille"
    )


def test_a_settings_file_sets_the_options_permanently(tmp_path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text("[console]\nmouse = false\nascii = true\n")
    assert console_of("--settings", str(file)) == ConsoleSettings(mouse=False, ascii=True)


def test_an_unknown_graph_style_is_one_sentence(capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--graphs", "smoke"])
    assert ended.value.code == 64
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("detected", ["utf-8", "ascii"])
def test_the_setting_overrides_the_detected_terminal(detected: str) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=detected)
    assert encoding_of(Settings(), stream) == detected
    assert encoding_of(Settings(console=ConsoleSettings(ascii=True)), stream) == "ascii"
    assert encoding_of(Settings(console=ConsoleSettings(ascii=False)), stream) == "utf-8"
    assert encoding_of(Settings(), None) == "ascii"
