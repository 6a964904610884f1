"""The commands of the pages: racwire runs them here, for the tests and to bring their outputs up to date."""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from unittest.mock import patch

from docs.generate.console_blocks import PROMPT, Block, Step, blocks, matches, steps, updated
from racwire_lab import down, find, up
from tui.cli.main import main

ROOT = Path(__file__).parents[2]
CONSOLE, ON_LAB, ON_NODE = "console", "console lab", "console rac1"
"""Blocks whose commands run in a directory with `FILES`, on a machine with a practice cluster, on a node of it."""
_NODE = ON_NODE.split()[1]
_GOLDEN = "tests/golden/v0_2_0"
_MEASURED = "tests/samples/measurements"
"""Results of `racwire measure` on a practice cluster, at MTU 1500 and at 9000."""
FILES = {
    "night.racwire": f"{_GOLDEN}/faults.racwire",
    "evening.racwire": f"{_GOLDEN}/healthy.racwire",
    "before.rec": f"{_GOLDEN}/before.rec",
    "after.rec": f"{_GOLDEN}/loss.rec",
    "outage.change": f"{_GOLDEN}/outage.change",
    "sizes1500.json": f"{_MEASURED}/sizes1500.json",
    "sizes9000.json": f"{_MEASURED}/sizes9000.json",
    "mix.json": f"{_MEASURED}/mix.json",
}
"""The files that the commands find in their directory, and their places in the checkout."""
_NOT_INHERITED = re.compile(r"RACWIRE|XDG_|ORACLE_|TNS_ADMIN|GRID_HOME|COLUMNS|FORCE_COLOR|PYTHON")
_SHELL_SIGNS = re.compile(r"[|<>;&$*?]")


def pages() -> list[str]:
    """The paths of all pages with commands, from the top of the checkout. Generated pages are not among them."""
    written = (path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").glob("*.md")))
    return ["README.md", "CONTRIBUTING.md", *(path for path in written if path != "docs/checks.md")]


def blocks_of(page: str, *infos: str) -> list[Block]:
    """The blocks of a page, all or those with one of these infos."""
    found = blocks((ROOT / page).read_text(encoding="utf-8"))
    return [block for block in found if not infos or block.info in infos]


class Workplace:
    """A directory with the files of the examples, in which commands run one after the other."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory / "work"
        self.directory.mkdir()
        for name, path in FILES.items():
            shutil.copy(ROOT / path, self.directory / name)
        self.lab = directory / "lab"
        self._is_plain = False
        kept = {name: value for name, value in os.environ.items() if not _NOT_INHERITED.match(name)}
        self.environment = {
            **kept,
            "HOME": str(self.directory),
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "RACWIRE_LAB_DIR": str(self.lab),
            "COLUMNS": "80",
            "LANG": "C.UTF-8",
            "NO_COLOR": "1",
            "TZ": "UTC",
        }

    def printed(self, command: str, info: str) -> list[str]:
        """Run a command line of a block and return what it prints, on stdout and stderr, as lines.

        A `racwire` command runs in this process. One of the practice cluster changes the namespaces of its process, and
        the shell has the rest: both run in another one.
        """
        words = shlex.split(command)
        if info == CONSOLE and words[0] == "racwire" and not _SHELL_SIGNS.search(command):
            return self._inside(words[1:])
        argv, environment = ["/bin/sh", "-c", command], self.environment
        if info == ON_NODE:
            with patch.dict(os.environ, self.environment):
                lab = find()
            assert lab is not None
            password = (self.lab / "database" / "password").read_text(encoding="utf-8").strip()
            argv = lab.enter(_NODE, argv)
            environment = {**environment, **lab.environment(_NODE), "RACWIRE_DB_PASSWORD": password}
            environment.pop("RACWIRE_SETTINGS", None)  # the defaults, as on a real node
        ran = subprocess.run(
            argv,
            cwd=self.directory, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, check=False, timeout=120,
        )  # fmt: skip
        return _lines(ran.stdout)

    def start(self, page: str) -> None:
        """Have a practice cluster without faults for the commands of a page; none for a page that makes its own."""
        with patch.dict(os.environ, self.environment):
            lab = find() if self.lab.exists() else None
            commands = [step.command for block in blocks_of(page, ON_LAB) for step in steps(block)]
            if any(command.startswith("racwire lab up") for command in commands):
                down()
                self._is_plain = False
            elif lab is not None and self._is_plain:
                lab.mend()
            else:
                down()
                up()
                self._is_plain = True

    def _inside(self, words: list[str]) -> list[str]:
        printed = io.BytesIO()
        stream = io.TextIOWrapper(printed, encoding="utf-8", write_through=True)
        here = Path.cwd()
        os.chdir(self.directory)
        try:
            with (
                patch.dict(os.environ, self.environment, clear=True),
                patch("sys.stdin", io.StringIO()),
                redirect_stdout(stream),
                redirect_stderr(stream),
                suppress(SystemExit),  # --help
            ):
                main(words)
        finally:
            os.chdir(here)
        return _lines(printed.getvalue().decode())


@contextmanager
def workplace(environment: Mapping[str, str] = os.environ) -> Iterator[Workplace]:
    """Yield a place to run commands. Its practice cluster, if there is one, is taken down at the end."""
    with tempfile.TemporaryDirectory(prefix="racwire-docs-", dir=environment.get("TMPDIR")) as directory:
        place = Workplace(Path(directory))
        try:
            yield place
        finally:
            if place.lab.exists():
                with patch.dict(os.environ, place.environment):
                    down()


def wrong_outputs(place: Workplace, page: str, *infos: str) -> list[str]:
    """Run the commands of a page's blocks; return a message for each that prints something else."""
    found = []
    for step, info in _steps(page, infos):
        printed = place.printed(step.command, info)
        if not matches(step.expected, printed):
            text = "\n".join(printed)
            found.append(f"{page}:{step.line}: `{step.command}` prints something else; `make docs` updates it:\n{text}")
    return found


def rewrite_outputs(place: Workplace, page: str) -> bool:
    """Run the commands of a page and write what they print into it; return whether that changed the page."""
    file = ROOT / page
    text = file.read_text(encoding="utf-8")
    lines = text.splitlines()
    if blocks_of(page, ON_LAB, ON_NODE):
        place.start(page)
    run = [(step, place.printed(step.command, info)) for step, info in _steps(page, (CONSOLE, ON_LAB, ON_NODE))]
    for step, printed in reversed(run):
        assert lines[step.line - 1] == f"{PROMPT}{step.command}"
        lines[step.line : step.line + len(step.expected)] = updated(step.expected, printed)
    new = "\n".join(lines) + "\n"
    file.write_text(new, encoding="utf-8")
    return new != text


def _steps(page: str, infos: Iterable[str]) -> Iterator[tuple[Step, str]]:
    return ((step, block.info) for block in blocks_of(page, *infos) for step in steps(block))


def _lines(printed: str) -> list[str]:
    return [line.rstrip() for line in printed.rstrip("\n").split("\n")] if printed.strip() else []
