"""The faults that come and go by themselves: a program of the lab changes a link at intervals while they are active."""

from __future__ import annotations

import contextlib
import shlex
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from racwire_lab.cluster.fault_kind import ActiveFault, Fault
from racwire_lab.cluster.nics import Nic
from racwire_lab.cluster.processes import LabJob, Process, into
from racwire_lab.cluster.topology import STANDARD_MTU, PortId

_UP_S, _DOWN_S = 4, 1
_FIRST_MTU_S, _MTU_S = 5, 10
_PROGRAM = Path(__file__).parents[1] / "programs" / "alternating.py"
_ENDS_S, _POLL_S = 3.0, 0.02

LIVE_FAULTS = (
    Fault(
        "port-flaps",
        "The switch port of one private NIC goes down and up again.",
        f"The switch's end of the link is up for {_UP_S} s and down for {_DOWN_S} s in turns: HAIP stays, and packets "
        "that are sent meanwhile are lost. With link-down too, the cable stays pulled.",
        "nic",
    ),
    Fault(
        "mtu-changes",
        "The MTU of one private NIC changes while racwire looks.",
        f"Sets the MTU of the NIC to {STANDARD_MTU} after {_FIRST_MTU_S} s, and from then on back and to "
        f"{STANDARD_MTU} again every {_MTU_S} s, as two programs do that do not agree.",
        "nic",
        needs_jumbo=True,
    ),
)


@dataclass(frozen=True, order=True)
class Alternation:
    """A link that has two states in turns: the `ip` command of each, and the seconds of each."""

    name: str
    node: str
    """The node whose link it is; empty for the switch."""
    usual: str
    other: str
    first_s: int
    """Seconds in the usual state before the first change."""
    usual_s: int
    other_s: int


def alternations(
    nics: Mapping[PortId, Nic], plugged: Iterable[PortId], broken: frozenset[ActiveFault]
) -> frozenset[Alternation]:
    """Return the links that change with these faults. A port without a cable stays down."""
    found = set()
    for port in plugged:
        if ActiveFault("port-flaps", *port) in broken:
            up, down = (f"link set {port.name} {state}" for state in ("up", "down"))
            found.add(Alternation(f"flaps-{port.name}", "", up, down, _UP_S, _UP_S, _DOWN_S))
    for port, nic in nics.items():
        if ActiveFault("mtu-changes", *port) in broken and nic.mtu > STANDARD_MTU:
            large, small = (f"link set {nic.name} mtu {mtu}" for mtu in (nic.mtu, STANDARD_MTU))
            found.add(Alternation(f"mtu-{port.name}", port.node, large, small, _FIRST_MTU_S, _MTU_S, _MTU_S))
    return frozenset(found)


@dataclass(frozen=True)
class AlternationChange:
    """The change of the programs from one state to another, in two parts: links change between them."""

    directory: Path
    init: Process
    nodes: Mapping[str, Process]
    before: frozenset[Alternation]
    after: frozenset[Alternation]
    rootless: bool

    def end(self) -> None:
        """End the programs that the new state does not have, with their links in the usual state."""
        ended = [self.directory / one.name for one in self.before - self.after]
        for file in ended:
            file.unlink(missing_ok=True)
        deadline = time.monotonic() + _ENDS_S
        while any(_mark(file).exists() for file in ended) and time.monotonic() < deadline:
            time.sleep(_POLL_S)
        for file in ended:
            with contextlib.suppress(FileNotFoundError):
                _mark(file).unlink()

    def programs(self) -> list[LabJob]:
        """Return the jobs that start the programs of the new state; each runs as long as its file exists."""
        jobs = []
        for one in sorted(self.after - self.before):
            file = self.directory / one.name
            file.touch()
            _mark(file).touch()
            seconds = map(str, (one.first_s, one.usual_s, one.other_s))
            words = [sys.executable, "-I", "-S", str(_PROGRAM), str(file), str(_mark(file)), *seconds]
            text = f"{shlex.join([*words, one.usual, one.other])} </dev/null >/dev/null 2>&1 &"
            # In the first namespace of processes: a reboot of the node does not end the program.
            holder = self.nodes[one.node] if one.node else self.init
            argv = [*into(holder, "net", rootless=self.rootless), f"--pid=/proc/{self.init.pid}/ns/pid"]
            jobs.append(LabJob([*argv, "sh", "-c", text], "", "start a program that changes a link"))
        return jobs


def _mark(file: Path) -> Path:
    """The file that the program removes when it has ended."""
    return file.with_suffix(".runs")
