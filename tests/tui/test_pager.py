"""Long text on a terminal: which pager, and the end of racwire with it."""

from __future__ import annotations

import contextlib
import subprocess
from pathlib import Path

import pytest

from tests.tui.terminal import RACWIRE, Terminal, other_user
from tui.cli.pager import pager


@pytest.mark.parametrize(
    ("environment", "command"),
    [
        ({"PAGER": "more"}, ["more"]),
        ({"PAGER": "more", "RACWIRE_PAGER": "less -R '+/a b'"}, ["less", "-R", "+/a b"]),
        ({"PAGER": "cat"}, []),
        ({"PAGER": "more", "RACWIRE_PAGER": ""}, []),
        ({"PAGER": "less 'open"}, []),
        ({"PAGER": "more", "TERM": "dumb"}, []),
        ({"PAGER": "more", "TERM": ""}, []),
    ],
)
def test_the_pager_is_that_of_the_environment(environment: dict[str, str], command: list[str]) -> None:
    assert pager({"TERM": "xterm", **environment}) == command


@pytest.mark.parametrize("words", [("settings",), ("help", "check")])
def test_the_pager_shows_what_does_not_fit_on_a_terminal_and_may_end_first(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    environment = {**other_user(tmp_path), "PAGER": "head -n 2"}
    with contextlib.closing(Terminal(environment, [*RACWIRE, *words])) as terminal:
        assert terminal.ended() == 0
    assert terminal.seen.count(b"\n") == 2
    with contextlib.closing(Terminal(environment, [*RACWIRE, *words, "--no-pager"])) as terminal:
        assert terminal.ended() == 0
    assert terminal.seen.count(b"\n") > 24


@pytest.mark.beyond_sample
def test_a_pager_that_is_not_there_costs_a_sentence(tmp_path: Path) -> None:
    with contextlib.closing(
        Terminal({**other_user(tmp_path), "PAGER": "/no/pager"}, [*RACWIRE, "settings"])
    ) as terminal:
        assert terminal.ended() == 0
    assert terminal.seen.startswith(b"racwire: the pager /no/pager could not be started: No such file or directory.")
    assert terminal.seen.count(b"\n") > 24


@pytest.mark.beyond_sample
def test_a_pipe_has_no_pager(tmp_path: Path) -> None:
    done = subprocess.run(
        [*RACWIRE, "settings"],
        env={**other_user(tmp_path), "PAGER": "false"},
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.count(b"\n") > 24
