"""The password of the practice database, from any source: in no output, file, argument or environment of a run."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from checks.run.settings_file import load_settings
from checks.sources.database.secret import PASSWORD_VARIABLE
from racwire_lab import Lab, up
from tests.lab.lab_support import lab_directory, needs_namespaces, needs_nft

pytestmark = [
    needs_namespaces,
    needs_nft,
    pytest.mark.skipif(
        any(find_spec(name) is None for name in ("duckdb", "sqlglot", "cryptography")),
        reason="THE PASSWORD WAS NOT LOOKED FOR: the extra `lab` is not installed",
    ),
]
RACWIRE = (sys.executable, "-P", "-m", "racwire")
FAULTY = (
    "import sys\nfrom tui.screens.checks.screen import ChecksScreen\n"
    "def action_copy(self): raise RuntimeError('wheels')\nChecksScreen.action_copy = action_copy\n"
    "from tui.cli.main import main\nsys.exit(main())\n"
)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with lab_directory(tmp_path_factory.mktemp("lab") / "dir"):
        yield up()


@pytest.fixture(scope="module")
def password(cluster: Lab) -> str:
    return Path(load_settings(None, cluster.environment("rac1")).database.password_file).read_text().strip()


class Run:
    """racwire on its own terminal and in its own home on the first node, with its output."""

    def __init__(self, cluster: Lab, home: Path, password: str, source: str, *command: str) -> None:
        self._password = password
        self._ssh_config = bytes(cluster.directory / "ssh_config")
        self._source = source
        self._before = set(_processes())
        """Processes from before this run, which cannot have its password; some may be of an earlier run."""
        self.shown = b""
        self.process_checks = 0
        """The number of times that all processes of the run were checked while it ran and had its peers open."""
        home.mkdir()
        settings = home.parent / "settings.toml"
        settings.write_text(self._settings(cluster, home.parent))
        names = ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "TMPDIR")
        environment = {**os.environ, **cluster.environment("rac1"), **dict.fromkeys(names, str(home))}
        environment |= {"TERM": "xterm-256color", "LANG": "C.UTF-8", "RACWIRE_SETTINGS": str(settings)}
        if source == "environment":
            environment[PASSWORD_VARIABLE] = password
        self.terminal, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, (24, 80))
        self.process = subprocess.Popen(
            cluster.enter("rac1", command),
            stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )  # fmt: skip
        os.close(theirs)
        if source == "prompt":
            self.until(lambda: self.shown.endswith(b": "))
            self.type(f"{password}\n")

    def _settings(self, cluster: Lab, directory: Path) -> str:
        access = load_settings(None, cluster.environment("rac1")).database
        lines = ["[sampling]", "interval_s = 2", "[database]", f'connect = "{access.connect}"', 'user = "RACWIRE"']
        if self._source == "file":
            file = directory / "password"
            file.touch(0o600)
            file.write_text(f"{self._password}\n")
            lines.append(f'password_file = "{file}"')
        return "\n".join(lines)

    def type(self, text: str) -> None:
        os.write(self.terminal, text.encode())

    def until(self, is_so: Callable[[], bool], within_s: float = 60) -> None:
        end = time.monotonic() + within_s
        while not is_so():
            assert time.monotonic() < end, self.shown[-2000:]
            with contextlib.suppress(OSError):  # no process has the terminal open any more
                if select.select([self.terminal], [], [], 0.02)[0]:
                    self.shown += os.read(self.terminal, 65_536)
            self._check_processes()

    def until_it_ended(self) -> None:
        self.until(lambda: self.process.poll() is not None)

    def _check_processes(self) -> None:
        """Once it has opened its peers it has long taken the password from where it was."""
        since = [process for process in _processes() if process not in self._before]
        contents = [(_read(process / "cmdline"), _read(process / "environ")) for process in since]
        if any(words.startswith(b"ssh\0") and self._ssh_config in words for words, _ in contents):
            self.process_checks += 1
            assert [words for words, environ in contents if self._password.encode() in words + environ] == []

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.terminal)


def _processes() -> list[Path]:
    return [directory for directory in Path("/proc").iterdir() if directory.name.isdigit()]


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""


@pytest.fixture
def run(cluster: Lab, password: str, tmp_path: Path) -> Iterator[Callable[..., Run]]:
    started: list[Run] = []

    def start(source: str, *command: str) -> Run:
        started.append(Run(cluster, tmp_path / "home", password, source, *command))
        return started[-1]

    yield start
    for one in started:
        one.close()


def assert_nowhere(run: Run, password: str, home: Path) -> None:
    assert run.process_checks > 10
    assert password.encode() not in run.shown
    written = [file for file in home.rglob("*") if file.is_file()]
    assert [file for file in written if password.encode() in file.read_bytes()] == []


EACH_WAY = pytest.mark.parametrize(
    "source", ["prompt", *(pytest.param(source, marks=pytest.mark.beyond_sample) for source in ("environment", "file"))]
)


# The source and the format are independent: each source once, and each format.
@pytest.mark.beyond_sample
@pytest.mark.parametrize(
    ("source", "form"), [("file", "json"), ("prompt", "text"), ("environment", "json"), ("prompt", "json")]
)
def test_a_check_shows_and_writes_the_password_nowhere(
    source: str, form: str, run: Callable[..., Run], password: str, tmp_path: Path
) -> None:
    report = tmp_path / "home" / "report"
    one = run(source, *RACWIRE, "check", "--format", form, "-o", str(report))
    one.until_it_ended()
    # It got in: on a busy machine a block may be lost meanwhile.
    assert re.search("IC-LOST-002|gc-blocks-lost", report.read_text()), report.read_text()
    assert_nowhere(one, password, tmp_path / "home")


@EACH_WAY
def test_the_console_shows_and_writes_the_password_nowhere_even_in_its_error_log(
    source: str, run: Callable[..., Run], password: str, tmp_path: Path
) -> None:
    one = run(source, sys.executable, "-c", FAULTY)
    one.until(lambda: b"gc-blocks-lost" in one.shown and one.process_checks > 10)
    one.type("c")
    one.until(lambda: b"Internal error in racwire" in one.shown)
    one.type("q")
    one.until_it_ended()
    log = tmp_path / "home" / "racwire" / "racwire.log"
    assert "wheels" in log.read_text()
    assert_nowhere(one, password, tmp_path / "home")


def test_processes_of_the_lab_have_no_password_of_their_caller(tmp_path: Path) -> None:
    with lab_directory(tmp_path / "dir"):
        environment = {**os.environ, PASSWORD_VARIABLE: f"secret-{tmp_path}"}
        subprocess.run([*RACWIRE, "lab", "up", "--no-database"], env=environment, check=True, capture_output=True)
        environments = [_read(process / "environ") for process in _processes()]
        assert environments
        assert not [one for one in environments if f"secret-{tmp_path}".encode() in one]
