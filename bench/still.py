"""Measure the bytes to the terminal while nothing on the screen changes: there must be none."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

from bench.console import show, until_concluded
from bench.home import RACWIRE, new_user
from bench.pace import Pace
from bench.practice import outside, practice_cluster
from bench.rows import Row
from bench.terminal import Terminal

_NO_CLUSTER = "no cluster"


def measure(pace: Pace) -> Iterator[Row]:
    """Yield a row for every screen, on a node without a cluster; for Traffic, paused, on a node under load."""
    seconds = pace.seconds / 3
    with new_user() as environment:
        with Terminal([RACWIRE, "--interval", "1"], environment) as terminal:
            until_concluded(terminal)
            yield _row("Checks, run complete", terminal, seconds, _NO_CLUSTER)
            terminal.send("?")
            terminal.read_for(1)
            yield _row("Help", terminal, seconds, "")
            terminal.send("\x1b")
            terminal.read_until("1 Checks")
            show(terminal, "2")
            yield _row("Paths", terminal, seconds, _NO_CLUSTER)
            show(terminal, "4")
            yield _row("Database", terminal, seconds, "no database configured")
            show(terminal, "5")
            yield _row("Change", terminal, seconds, "no change open")
        with (
            practice_cluster(nodes=2) as lab,
            Terminal([RACWIRE, "--lab", "--interval", "1"], outside(lab, environment)) as terminal,
        ):
            until_concluded(terminal)
            yield _row("Checks, run complete", terminal, seconds, "practice cluster under load")
            show(terminal, "2")
            yield _row("Paths", terminal, seconds, "practice cluster under load")
            show(terminal, "3", settle_s=5)
            terminal.send(" ")
            terminal.read_until("paused")
            terminal.read_for(1.5)
            yield _row("Traffic, paused", terminal, seconds, "practice cluster under load, samples continue")
            terminal.send("1")
            terminal.read_until("1 Checks")
            terminal.read_for(1.5)
            yield _row("Checks, the feed running", terminal, seconds, "practice cluster under load")
            file = Path(environment["HOME"]) / "bench.rec"
            record = [RACWIRE, "record", "--lab", "--for", "5s", "-q", str(file)]
            subprocess.run(record, env=outside(lab, environment), timeout=60, check=True, stdin=subprocess.DEVNULL)
        with Terminal([RACWIRE, "open", str(file)], environment) as terminal:
            until_concluded(terminal)
            yield _row("Traffic of a recording, stopped", terminal, seconds, "")


def _row(screen: str, terminal: Terminal, seconds: float, where: str) -> Row:
    count = terminal.read_for(seconds)
    terminal.processes()  # raises when the program has ended: then it sends nothing either
    return Row(f"nothing changing: {screen}{f' ({where})' if where else ''}", "B/s", count / seconds, 0)
