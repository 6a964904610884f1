"""`racwire change` on a directory of journals."""

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from checks.change.progress.change_events import Attested
from tui.cli.main import main
from tui.text.line import Line, plain

AGREED = Attested("agree", "Ann Lee", "CHG-4711")
SWITCHED = Attested("switch", "Bob of the network team")


def command_on(changes: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Return the command on that directory: it returns its exit code, stdout and stderr."""

    def run(*words: str) -> tuple[int, str, str]:
        code = main(["change", "--directory", str(changes), *words])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def shown(lines: Iterable[Line]) -> str:
    return plain(lines)
