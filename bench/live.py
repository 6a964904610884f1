"""Measure what the live samples of the instances cost the database: statements, PX slaves, and bytes between instances.

The practice database counts the parallel query slaves of GV$ statements on each instance, and the bytes of their rows
on the private networks.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.pace import Pace
from bench.practice import inside, practice_cluster
from bench.rows import Row
from checks.rules.sampling_pace import PX_PER_S
from racwire_lab import Lab
from racwire_lab.cluster.ssh_configuration import node_home
from racwire_lab.database.backend import Cancellation
from racwire_lab.database.instance_server import USE_FILE
from racwire_lab.database.live import Daemons, InstanceState

SIZES = (2, 8, 16)
_WARM_UP_S = 20.0
"""Seconds until the pace has adapted, which no row contains."""
_SECONDS = 80.0
"""Seconds of one measurement: two samples of pairs on 16 instances."""
_LEAST_S = 60.0
"""Least seconds of one measurement: in a shorter one, the statements on pairs weigh too much or too little."""
_ROOT = Path(__file__).parents[1]


def measure(pace: Pace) -> Iterator[Row]:
    """Yield the rows of each size: healthy, and with a network that loses packets."""
    seconds = max(_SECONDS * pace.seconds / Pace.seconds, _LEAST_S)
    for size in SIZES:
        with practice_cluster(size) as lab:
            yield from _rows(lab, f"{size} instances, healthy", seconds, PX_PER_S)
            try:
                lab.break_("loss", network=1)
                yield from _rows(lab, f"{size} instances, packets are lost", seconds, PX_PER_S)
            finally:
                lab.mend()


def _rows(lab: Lab, about: str, seconds: float, budget: float) -> Iterator[Row]:
    cost = cost_of_feed(lab, _WARM_UP_S, seconds)
    note = f"{cost['pace'] or 'no pace'}; {cost['global']:.2f} of {cost['statements']:.2f} statements a second on GV$"
    yield Row(f"{about}: PX slaves", "/s", float(cost["slaves"]), budget, notes=(note,))
    yield Row(f"{about}: rows between instances", "B/s", float(cost["bytes"]), why_not="for comparison")


def cost_of_feed(lab: Lab, warm_up_s: float, seconds: float, sources: Path = _ROOT) -> dict[str, float | str]:
    """Return the costs a second of a feed on the first node: statements, those on GV$, PX slaves, bytes; its pace.

    `sources` has the packages `checks` and `bench`."""
    command = [sys.executable, "-m", "bench.programs.instances_cost", str(warm_up_s), str(seconds)]
    environment = inside(lab, dict(os.environ)) | {"PYTHONPATH": str(sources)}
    with subprocess.Popen(
        lab.enter(lab.nodes[0], command), stdout=subprocess.PIPE, text=True, env=environment, cwd=sources
    ) as feed:
        assert feed.stdout is not None
        if feed.stdout.readline() != "begin\n":
            raise RuntimeError("the feed did not start")
        before = states_of(lab)
        found = json.loads(feed.stdout.readline())
        after = states_of(lab)
    took_s = found["seconds"]
    return {
        "statements": found["statements"] / took_s,
        "global": found["global"] / took_s,
        "slaves": sum(a.px_slaves - b.px_slaves for a, b in zip(after, before, strict=True)) / took_s,
        "bytes": sum(a.clients["ipq"][0] - b.clients["ipq"][0] for a, b in zip(after, before, strict=True)) / took_s,
        "pace": found["pace"],
    }


def use_of(lab: Lab, node: str) -> tuple[int, int]:
    """Return the statements that a node's instance has executed, and the sessions that it has."""
    try:
        statements, sessions = (node_home(lab.directory, node) / USE_FILE).read_text(encoding="ascii").split()
    except FileNotFoundError:  # no client yet
        return 0, 0
    return int(statements), int(sessions)


def states_of(lab: Lab) -> tuple[InstanceState, ...]:
    """Return the counters of all open instances, from the programs that are the instances."""
    homes = [node_home(lab.directory, node) for node in lab.nodes]
    return Daemons(homes[0], homes).states("everywhere", Cancellation())
