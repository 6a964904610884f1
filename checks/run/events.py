"""The events of the engine; the console and the command line consume only these."""

from __future__ import annotations

import msgspec

from checks.model.facts import Cluster, PathProbe
from checks.model.finding import Finding
from checks.model.report import Report


class RunStarted(msgspec.Struct, frozen=True):
    """The run starts: its checks, and the groups of facts that they need."""

    checks: tuple[str, ...]
    groups: tuple[str, ...]


class GatherProgress(msgspec.Struct, frozen=True):
    """The progress of gathering a group of facts; `total` is 0 while the amount of work is not known."""

    group: str
    text: str
    done: int = 0
    total: int = 0

    @property
    def measure(self) -> str:
        """The progress as `12 of 30 s` for timed groups, else as `2 of 4`; empty where it is not known."""
        unit = " s" if self.group in _TIMED else ""
        return f"{self.done} of {self.total}{unit}" if self.total else ""


_TIMED = ("counters", "activity")
"""Groups with two readings and a wait between them: their progress is in seconds."""


FACTS_OF = {
    "clusterware": "Clusterware",
    "nodes": "the nodes",
    "networks": "the private networks",
    "paths": "the answers to the pings",
    "flows": "the answers to the datagrams",
    "owners": "the owners of the addresses",
    "counters": "the kernels' counters",
    "database": "the database",
    "haip_paths": "the answers to the pings between HAIP addresses",
    "effective_routes": "the routes in use",
    "activity": "the statistics of the instances",
    "history": "the history of the database",
    "setups": "the setup of the nodes",
    "managed": "the databases that Clusterware manages",
    "changing": "the files of the change",
    "optics": "the transceivers of the private NICs",
    "kernel_drops": "what the kernels dropped",
}
"""What each group of facts is, for people."""


class Gathered(msgspec.Struct, frozen=True):
    """A group of facts has been gathered; `problem` is the reason where it could not be."""

    group: str
    seconds: float
    problem: str = ""

    @property
    def text(self) -> str:
        """What was read, in the voice of `GatherProgress.text`."""
        return f"{'could not read' if self.problem else 'read'} {FACTS_OF[self.group]}"


class NodesSoFar(msgspec.Struct, frozen=True):
    """Some nodes have answered while others are pending: for samples, which need not wait for all. Checks wait."""

    cluster: Cluster
    """The facts so far, with the pending nodes."""


class PathsSoFar(msgspec.Struct, frozen=True):
    """Some paths have been probed while others are pending: for the display. Checks wait for all."""

    probes: tuple[PathProbe, ...]


class CheckConcluded(msgspec.Struct, frozen=True):
    """A check has finished."""

    check: str
    findings: tuple[Finding, ...]


class RunFinished(msgspec.Struct, frozen=True):
    """All checks have finished."""

    report: Report


Event = RunStarted | GatherProgress | NodesSoFar | PathsSoFar | Gathered | CheckConcluded | RunFinished
