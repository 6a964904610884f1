"""ASCII where the locale or the terminal is not Unicode."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tui.cli.streams import is_unicode


@pytest.mark.parametrize(
    ("environment", "unicode"),
    [
        ({}, False),
        ({"LANG": "C"}, False),
        ({"LANG": "POSIX"}, False),
        ({"LANG": "de_DE.ISO-8859-1"}, False),
        ({"LANG": "C.UTF-8"}, True),
        ({"LANG": "en_US.utf8"}, True),
        ({"LANG": "C", "LC_CTYPE": "en_US.UTF-8"}, True),
        ({"LANG": "en_US.UTF-8", "LC_CTYPE": "C"}, False),
        ({"LANG": "en_US.UTF-8", "LC_CTYPE": ""}, True),
        ({"LANG": "C.UTF-8", "LC_CTYPE": "C.UTF-8", "LC_ALL": "POSIX"}, False),
        ({"LANG": "C", "LC_ALL": "C.UTF-8"}, True),
        ({"LANG": "C", "PYTHONIOENCODING": "utf-8"}, True),
    ],
)
def test_the_locale_decides(environment: dict[str, str], unicode: bool) -> None:
    assert is_unicode(environment, on_terminal=False) is unicode
    assert is_unicode({**environment, "TERM": "xterm-256color"}, on_terminal=True) is unicode


@pytest.mark.parametrize("term", ["vt100", "vt220", "linux", "linux-16color", "ansi", "cons25"])
def test_the_type_of_the_terminal_decides_for_a_terminal_only(term: str) -> None:
    environment = {"LANG": "C.UTF-8", "TERM": term}
    assert not is_unicode(environment, on_terminal=True)
    assert is_unicode(environment, on_terminal=False)


@pytest.mark.parametrize("locale", [{"LANG": "C"}, {"LC_ALL": "C"}, {}])
def test_a_pipe_gets_ascii_although_python_would_write_utf8(locale: dict[str, str]) -> None:
    """Also for a child process: Python sets LC_CTYPE=C.UTF-8 in its own environment."""
    program = (
        "import subprocess, sys\nfrom tui.cli.streams import follow_locale\nfollow_locale()\n"
        "print('1500 → 9000 … ☃', flush=True)\n"
        "if len(sys.argv) > 1: subprocess.run([sys.executable, '-c', sys.argv[1]], check=True)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, program],
        env={**locale, "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        check=True,
    )
    assert done.stdout.splitlines() == [b"1500 > 9000 ... ?"] * 2
