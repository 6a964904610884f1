"""A practice cluster and the racwire command on it, for tests from one end to the other."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from checks import lab
from checks.report.json_report import from_json
from checks.result import Report
from tui.cli import main


class Practice:
    """A practice cluster in a directory of its own, which is the environment's while no other was made."""

    def __init__(self, directory: Path, nodes: int = 2, mtu: int = 9000, *, database: bool = False) -> None:
        self.environment = {**os.environ, "RACWIRE_LAB_DIR": str(directory), "HOME": "/nonexistent"}
        os.environ["RACWIRE_LAB_DIR"] = str(directory)
        lab.up(nodes=nodes, mtu=mtu, database=database)

    def racwire(self, *words: str) -> subprocess.CompletedProcess[str]:
        """What the command says and how it ends."""
        return subprocess.run(
            [sys.executable, "-m", "tui", *words],
            env=self.environment, capture_output=True, text=True, timeout=120, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def lab(self, *words: str) -> None:
        """`racwire lab …`, in this process: to start another takes longer than what it does."""
        with (
            pytest.MonkeyPatch.context() as patch,
            redirect_stdout(io.StringIO()),
            redirect_stderr(io.StringIO()) as told,
        ):
            patch.setenv("RACWIRE_LAB_DIR", self.environment["RACWIRE_LAB_DIR"])
            assert main(["lab", *words]) == 0, told.getvalue()

    def check(self, *words: str) -> Report:
        """The report of `racwire check --lab`."""
        ran = self.racwire("check", "--lab", "--format", "json", *words)
        assert ran.stdout, ran.stderr
        assert "Traceback" not in ran.stderr
        return from_json(ran.stdout.encode())

    def down(self) -> None:
        """Take it down."""
        os.environ["RACWIRE_LAB_DIR"] = self.environment["RACWIRE_LAB_DIR"]
        try:
            lab.down()
        finally:
            del os.environ["RACWIRE_LAB_DIR"]
