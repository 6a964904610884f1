"""A practice cluster for the bench, removed at the end."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.home import RACWIRE
from racwire_lab import Lab, LabError, down, up

_DIRECTORY = "RACWIRE_LAB_DIR"
_ENDING = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


class NoCluster(Exception):  # noqa: N818 - this is a reason not to measure, not an error
    """The practice cluster cannot run on this machine. The text is the reason."""


@contextlib.contextmanager
def practice_cluster(nodes: int, **options: Any) -> Iterator[Lab]:
    """Start a practice cluster with its database, whose load it measures. Raises NoCluster when it cannot run.

    `options`: those of `racwire_lab.up`.
    """
    before = os.environ.get(_DIRECTORY)
    with tempfile.TemporaryDirectory(prefix="racwire-bench-") as directory:
        os.environ[_DIRECTORY] = str(Path(directory) / "lab")
        try:
            lab = up(nodes=nodes, **options)
            if lab.database is None and options.get("database", True):
                raise NoCluster("the practice cluster has no database: run pip install ./lab")
            yield lab
        except LabError as error:
            raise NoCluster(str(error)) from error
        finally:
            # A second Ctrl-C must not interrupt the removal of the cluster.
            signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
            down()
            os.environ.pop(_DIRECTORY)
            if before is not None:
                os.environ[_DIRECTORY] = before
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)


def inside(lab: Lab, environment: dict[str, str], node: str = "") -> dict[str, str]:
    """Return the environment of a command in a node (else the first one), as `racwire --lab` sets it."""
    return {**environment, **lab.environment(node or lab.nodes[0])}


def start_racwire(
    lab: Lab, node: str, environment: dict[str, str], words: Sequence[str], through: Sequence[str] = ()
) -> subprocess.Popen[str]:
    """Start racwire with these words on a node, with its output in pipes, or the command `through` that runs it."""
    return subprocess.Popen(
        lab.enter(node, [*through, RACWIRE, *words]), env=inside(lab, environment, node), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def outside(lab: Lab, environment: dict[str, str]) -> dict[str, str]:
    """Return the environment in which `racwire --lab` finds this cluster."""
    return {**environment, _DIRECTORY: str(lab.directory)}
