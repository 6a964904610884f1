"""Measure the size of a large cluster's HTML report, and the time to make it."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Iterator

from bench.pace import Pace
from bench.rows import Row

NODES, FINDINGS, SECONDS = 16, 500, 300
MOST_MB, MOST_S = 2.0, 1.0
"""The budgets: the report must fit into a mail, and no user should wait for it."""


def measure(pace: Pace) -> Iterator[Row]:
    """Yield the rows; as many processes make the report as are started for the first paint."""
    made = [_page() for _ in range(pace.starts)]
    title = f"HTML report of {NODES} nodes, {FINDINGS} problems"
    yield Row(f"{title}, size", "MB", made[0]["bytes"] / 1e6, MOST_MB)
    note = f"median of {pace.starts}: the first page of a process, with {SECONDS} s of samples, imports included"
    yield Row(f"{title}, time", "s", statistics.median(page["seconds"] for page in made), MOST_S, "", (note,))


def _page() -> dict[str, float]:
    command = [sys.executable, "-m", "bench.programs.page_cost", *map(str, (NODES, FINDINGS, SECONDS))]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return {name: float(figure) for name, figure in json.loads(done.stdout).items()}
