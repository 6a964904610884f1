"""A practice cluster of the bench's own, with nothing left of it afterwards."""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

from racwire_lab import Lab, LabError, down, up

_DIRECTORY = "RACWIRE_LAB_DIR"
_ENDING = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


class NoCluster(Exception):  # noqa: N818 - it is no error of ours, but a reason not to measure
    """There can be no practice cluster here, and why."""


@contextlib.contextmanager
def practice_cluster(nodes: int) -> Iterator[Lab]:
    """Bring one up, with its database and the load that this brings. Raises NoCluster."""
    before = os.environ.get(_DIRECTORY)
    with tempfile.TemporaryDirectory(prefix="racwire-bench-") as directory:
        os.environ[_DIRECTORY] = str(Path(directory) / "lab")
        try:
            lab = up(nodes=nodes)
            if lab.database is None:
                raise NoCluster("the practice cluster has no database here: pip install ./lab")
            yield lab
        except LabError as error:
            raise NoCluster(str(error)) from error
        finally:
            # A second Ctrl-C, out of impatience, must not leave it standing.
            signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
            down()
            os.environ.pop(_DIRECTORY)
            if before is not None:
                os.environ[_DIRECTORY] = before
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)


def inside(lab: Lab, environment: dict[str, str]) -> dict[str, str]:
    """The environment of a command in the first node: what `racwire --lab` gives itself."""
    return {**environment, **lab.environment(lab.nodes[0])}


def outside(lab: Lab, environment: dict[str, str]) -> dict[str, str]:
    """The environment in which `racwire --lab` finds this cluster."""
    return {**environment, _DIRECTORY: str(lab.directory)}
