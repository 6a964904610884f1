"""`racwire bug`: whatever a site's names are, the text is the same; and an internal error names the command."""

from __future__ import annotations

import os
from pathlib import Path

import hypothesis.strategies as st
import msgspec
import pytest
from hypothesis import given, settings

from checks.model.settings import Settings
from checks.run.settings_file import choices
from tui.cli import bug, main
from tui.cli.crash import end_after

WORDS = "check df-ping --connect rac-scan:1521/prod --user ann --format json --peer=rac2 --password tiger oddnode"
SITE = ("rac-scan:1521/prod", "ann", "tiger", "oddnode")
SHOWN = "racwire check df-ping --connect ... --user ... --format json --peer ... --password ... ..."
NAMES = st.text(st.characters(codec="utf-8", exclude_characters=" \n=\0"), min_size=1).map(lambda name: f"q{name}7")
LOG = """\
2026-11-29 03:04:05 racwire: an internal error
Traceback (most recent call last):
  File "{root}/tui/cli/main.py", line 154, in main
    code = _ended(arguments)
  File "/home/{name}/site.py", line 7, in {name}
    raise {name}
  File "/home/{name}/checks/{name}.py", line 8, in {name}
  File "{root}/checks/whole_files.py", line 34, in write_whole
{error}: '{name}'
"""


def log_of(name: str, error: str = "KeyError") -> str:
    return LOG.format(root=Path(main.__file__).parents[2], name=name, error=error)


def test_a_command_line_keeps_its_commands_options_and_choices() -> None:
    assert " ".join(("racwire", *bug.shown_words(WORDS.split()))) == SHOWN


@given(name=NAMES)
@settings(max_examples=15, deadline=None)
def test_no_name_of_a_command_line_is_shown(name: str) -> None:
    named = [name if word in SITE else word for word in WORDS.split()]
    named = [f"--peer={name}" if word.startswith("--peer") else word for word in named]
    assert " ".join(("racwire", *bug.shown_words(named))) == SHOWN


def settings_with(name: str) -> Settings:
    """Settings in which every text is this name, and every list has it twice."""
    sections = {
        section.name: msgspec.structs.replace(
            section.default,
            **{
                field.name: name if isinstance(field.default, str) else (name, name)
                for field in msgspec.structs.fields(type(section.default))
                if isinstance(field.default, (str, tuple)) and not choices(field.type)
            },
        )
        for section in msgspec.structs.fields(Settings)
        if section.name != "waivers"
    }
    return Settings(**sections)


@given(name=NAMES)
@settings(max_examples=15, deadline=None)
def test_no_text_of_a_setting_is_shown(name: str) -> None:
    shown = [*bug.shown_settings(settings_with(name))]
    assert len(shown) > 10
    assert shown == [*bug.shown_settings(settings_with("other"))]


def test_numbers_and_racwires_own_words_of_settings_are_shown() -> None:
    some = msgspec.convert(
        {
            "console": {"on_event": "check", "ascii": True},
            "cluster": {"peers": ["rac2", "rac3"]},
            "ssh": {"user": "ann"},
        },
        Settings,
    )
    assert [*bug.shown_settings(some)] == [
        "cluster.peers = 2 given",
        "ssh.user = given",
        "console.ascii = true",
        'console.on_event = "check"',
    ]


@given(name=NAMES)
@settings(max_examples=15, deadline=None)
def test_a_traceback_keeps_places_in_racwire_and_no_name(name: str) -> None:
    assert bug.shown_traceback(log_of("".join(c for c in name if c.isalnum()))) == [
        "tui/cli/main.py line 154, main",
        "...",
        "checks/whole_files.py line 34, write_whole",
        "KeyError",
    ]


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        ("checks.whole_files.OutputError", "checks.whole_files.OutputError"),
        ("checks.whole_files.Rac1", "an error of other code"),
        ("acme.prod.Rac1", "an error of other code"),
        ("rac1", "an error of other code"),
    ],
)
def test_an_error_of_other_code_has_no_name(error: str, shown: str) -> None:
    assert bug.shown_traceback(log_of("rac1", error))[-1] == shown


def test_no_traceback_is_found_in_a_log_without_one() -> None:
    assert bug.shown_traceback("2026-11-29 03:04:05 asyncio: rac1 took 2 s\n") == []


HOSTILE = dict.fromkeys(
    (
        *("USER", "LOGNAME", "SUDO_USER", "LANG", "TERM", "COLORTERM", "COLUMNS", "SSH_CONNECTION"),
        *("RACWIRE_CLUSTER_PEERS", "RACWIRE_DATABASE_CONNECT", "RACWIRE_DB_PASSWORD"),
    ),
    "annlee",
)


def test_the_whole_text_has_nothing_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    state = tmp_path / "annlee" / "racwire"
    state.mkdir(parents=True)
    (state / "racwire.log").write_text(log_of("annlee"))
    for name, value in {
        **HOSTILE,
        "HOME": "/home/annlee",
        "XDG_STATE_HOME": str(state.parent),
        "XDG_CONFIG_HOME": str(tmp_path),
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("platform.release", lambda: "5.15.0-annlee.el9uek.x86_64")
    output = tmp_path / "bug.txt"
    assert main.main(["bug", "-o", str(output), "--", "racwire", "check", "--peer", "annlee"]) == 0
    text = output.read_text()
    assert "annlee" not in text
    assert f"{tmp_path}" not in text
    for part in (
        "racwire check --peer ...",
        "KeyError",
        "kernel 5.15.0-....el9uek.x86_64",
        "TERM=...",
        "cluster.peers = 1",
    ):
        assert part in text
    assert os.uname().nodename not in text
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("urls", "where"),
    [
        ([], "names no place"),
        (["Issues, https://racwire.invalid/issues"], "names no place"),
        (["Home, https://x.example", "Issues, https://x.example/issues"], "\n  https://x.example/issues\n"),
    ],
)
def test_the_place_for_reports_is_that_of_the_package(
    urls: list[str], where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Metadata:
        def get_all(self, _: str) -> list[str]:
            return urls

    monkeypatch.setattr("importlib.metadata.metadata", lambda _: Metadata())
    assert where in bug.bug_text()


def test_settings_with_a_mistake_and_a_part_that_fails_leave_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = tmp_path / "settings.toml"
    wrong.write_text("annlee = 1\n")
    monkeypatch.setattr(bug, "_versions", lambda: 1 / 0)
    text = bug.bug_text(settings_file=str(wrong))
    assert "they have a mistake" in text
    assert "not found out: ZeroDivisionError" in text
    assert "annlee" not in text


def test_an_internal_error_ends_in_a_sentence_that_names_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> int:
        raise KeyError("rac1")

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr("tui.cli.schema.run", broken)
    assert main.main(["schema"]) == 3
    printed = capsys.readouterr().err
    assert printed.startswith("Traceback")
    assert printed.splitlines()[-1] == (
        "racwire: this is an internal error of racwire, and says nothing of the cluster; `racwire bug` prints what a "
        "bug report needs."
    )
    assert bug.shown_traceback((tmp_path / "racwire" / "racwire.log").read_text())[-1] == "KeyError"


def test_an_internal_error_is_told_where_no_log_can_be_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/proc/nowhere")
    assert end_after(ValueError("odd")) == 3
    assert "ValueError: odd" in capsys.readouterr().err
