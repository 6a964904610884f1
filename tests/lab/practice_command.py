"""A practice cluster and the racwire command on it, for end-to-end tests."""

from __future__ import annotations

import io
import os
import pty
import re
import select
import signal
import subprocess
import sys
from contextlib import closing, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

import racwire_lab
from checks.model.report import Report
from checks.report.json_report import from_json
from checks.traffic.recording import Recording, RecordingError
from racwire_lab.cluster.ssh_configuration import node_home
from racwire_lab.database.backend import Cancellation
from racwire_lab.database.live import Daemons
from tests.lab.lab_support import PATIENCE_S, until
from tests.lab.node_operator import CommandResult, Operator
from tui.cli.main import main
from tui.cli.options import ENTERED

_ENOUGH = 60
"""Blocks that an instance receives in half a second; blocks in flight at a fault have arrived or are lost by then."""


class Practice:
    """A practice cluster in a directory of its own.

    The environment names this directory until another cluster is made.
    """

    def __init__(
        self, directory: Path, nodes: int = 2, mtu: int = 9000, *, database: bool = False, **options: Any
    ) -> None:
        self.state = directory.with_name(f"{directory.name}-state")
        """The state directory of the commands: results of measurements are kept there."""
        self.environment = {
            **os.environ,
            "RACWIRE_LAB_DIR": str(directory),
            "HOME": "/nonexistent",
            "XDG_STATE_HOME": str(self.state),
        }
        os.environ["RACWIRE_LAB_DIR"] = str(directory)
        # A test that takes long must not see a HAIP move or an IPC send timeout, unless it is about them. Incomplete
        # datagrams are counted before the next read of the counters.
        times = dict.fromkeys(("haip_after_s", "ipc_timeout_s"), 900.0)
        self.cluster = racwire_lab.up(
            nodes=nodes, mtu=mtu, database=database, **{**times, "fragment_time_s": 2, **options}
        )
        self._operator: Operator | None = None

    def racwire(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run the command. Return its output and exit code."""
        return subprocess.run(
            [sys.executable, "-P", "-m", "racwire", *words],
            env=self.environment, capture_output=True, text=True, timeout=120, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def lab(self, *words: str) -> None:
        """Run `racwire lab …` in this process: a new process would take longer than the command."""
        with (
            pytest.MonkeyPatch.context() as patch,
            redirect_stdout(io.StringIO()),
            redirect_stderr(io.StringIO()) as stderr,
        ):
            patch.setenv("RACWIRE_LAB_DIR", self.environment["RACWIRE_LAB_DIR"])
            assert main(["lab", *words]) == 0, stderr.getvalue()

    def inside(self, *words: str) -> CommandResult:
        """Run a racwire command on the first node, as `--lab` does, without a new Python process."""
        if self._operator is None:
            environment = {name: self.environment[name] for name in ("HOME", "RACWIRE_LAB_DIR")}
            self._operator = Operator(self.cluster, self.cluster.nodes[0], {**environment, ENTERED: "--lab"})
        return self._operator.type(words)

    def check(self, *words: str) -> Report:
        """Return the report of `racwire check` on the first node."""
        ran = self.inside("check", "--format", "json", *words)
        assert ran.out, ran.err
        return from_json(ran.out.encode())

    def until_blocks_flow(self) -> None:
        """Wait until every instance receives blocks and loses none: the fault has been fixed."""
        homes = [node_home(self.cluster.directory, node) for node in self.cluster.nodes]
        daemons = Daemons(homes[0], homes)

        def flows() -> bool:
            started = self._blocks(daemons)
            until(
                lambda: all(
                    now >= started.get(at, (0, 0))[0] + _ENOUGH for at, (now, _) in self._blocks(daemons).items()
                )
            )
            lost = {at: lost for at, (_, lost) in started.items()}
            return len(lost) == len(homes) and {at: lost for at, (_, lost) in self._blocks(daemons).items()} == lost

        until(flows)

    def _blocks(self, daemons: Daemons) -> dict[int, tuple[int, int]]:
        """Blocks received and lost by each instance since its start."""
        return {
            state.instance: (
                sum(t.cr_block + t.current_block for t in state.transfers.values()),
                sum(t.lost for t in state.transfers.values()),
            )
            for state in daemons.states("everywhere", Cancellation())
        }

    def leave(self) -> None:
        """Log out the operators of its nodes."""
        if self._operator is not None:
            self._operator.leave()
            self._operator = None

    def down(self) -> None:
        """Remove the cluster."""
        self.leave()
        os.environ["RACWIRE_LAB_DIR"] = self.environment["RACWIRE_LAB_DIR"]
        try:
            racwire_lab.down()
        finally:
            del os.environ["RACWIRE_LAB_DIR"]


def record(practice: Practice, path: Path, *words: str) -> subprocess.Popen[str]:
    """Start `racwire record --lab` into that file, and return the process."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "racwire", "record", "--lab", *words, str(path)], env=practice.environment,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def until_it_holds(path: Path, *sources: str, samples: int = 1) -> None:
    """Wait until the file has samples of a source that starts with each of these names."""

    def holds() -> bool:
        try:
            with closing(Recording.open(path)) as recording:
                complete = [str(source) for source, (count, *_) in recording.tallies().items() if count >= samples]
        except RecordingError:  # it may not be there yet
            return False
        return all(any(source.startswith(words) for source in complete) for words in sources)

    until(holds, f"{path.name} lacks samples")


class OnTerminal:
    """A running `racwire …` in a session of its own. Its stderr is a terminal, so a test can wait for its progress."""

    def __init__(self, practice: Practice, *words: str) -> None:
        self._screen, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "racwire", *words], env=practice.environment, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs, text=True,
        )  # fmt: skip
        os.close(theirs)
        self.shown = ""

    def until_it_shows(self, pattern: str) -> None:
        """Read until the output matches. Fail when the command ends before, or prints nothing more."""
        while not re.search(pattern, self.shown):
            assert self._read(), self.shown

    def interrupted(self) -> tuple[str, str]:
        """Send SIGINT to the command and its children. Return its stdout, and all that it displayed until its end."""
        os.killpg(self.process.pid, signal.SIGINT)
        while self._read():
            pass
        printed, _ = self.process.communicate(timeout=PATIENCE_S)
        os.close(self._screen)
        return printed, self.shown.replace("\r\n", "\n")

    def _read(self) -> bool:
        ready, _, _ = select.select([self._screen], [], [], PATIENCE_S)
        try:
            output = os.read(self._screen, 1 << 16) if ready else b""
        except OSError:  # no process has the other end open any more
            output = b""
        self.shown += output.decode(errors="replace")
        return bool(output)
