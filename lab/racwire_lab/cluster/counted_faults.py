"""Faults that show in counters: those of a node's kernel that grow as on a sick machine.

This kernel has no NIC that receives corrupt frames, no hypervisor that the lab could slow down, and no memory to waste.
For these a program writes files with the kernel's own values, grown by the fault, and the node sees them instead of
the kernel's files. So every program on the node, and every login, reads the same.
"""

from __future__ import annotations

import json
import sys
import uuid
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from racwire_lab.cluster.drop_rules import DropRule, named
from racwire_lab.cluster.fault_kind import ActiveFault, Fault
from racwire_lab.cluster.hands import Cabling
from racwire_lab.cluster.nics import Nic
from racwire_lab.cluster.port_faults import DAMAGING, OUT, port_rules
from racwire_lab.cluster.processes import LabJob, Process, into, run_all
from racwire_lab.cluster.ssh_configuration import node_home
from racwire_lab.cluster.topology import PortId, Shape

COUNTED_FAULTS = (
    Fault(
        "nic-errors",
        "A bad cable damages frames to one private NIC.",
        "The switch drops 3 % of the frames to the node, and the node's NIC counts as many CRC errors "
        "(rx_crc_errors, rx_errors).",
        "nic",
        needs_nft=True,
    ),
    Fault(
        "steal",
        "The hypervisor withholds CPU time from one node.",
        "The node's /proc/stat counts 41 % of the CPU time as steal.",
        "node",
        default_network=None,
    ),
    Fault(
        "swap-storm",
        "One node swaps.",
        "The node's /proc/vmstat counts 8,000 pages swapped out and 6,000 swapped in each second, and 50 allocations "
        "that wait for memory.",
        "node",
        default_network=None,
    ),
)
_DAMAGED_PERCENT = 3
_PROGRAM = Path(__file__).parents[1] / "programs" / "grown_counters.py"
_FILES = {"steal": ("/proc/stat",), "swap-storm": ("/proc/vmstat",)}
_NIC_FILES = ("rx_crc_errors", "rx_errors")


@dataclass(frozen=True, order=True)
class GrownFile:
    """A file of a node's kernel whose counters grow faster than the kernel's own."""

    node: str
    fault: str
    path: str
    counters: tuple[str, ...] = ()
    """The rules of the switch that drop what this file counts."""


def damage_rules(nics: Mapping[PortId, Nic], broken: Collection[ActiveFault]) -> list[DropRule]:
    """Return the rules of the switch that drop the frames that the NICs then count as damaged."""
    return [
        DropRule(
            named("nic-errors", port.node, nic.name),
            "forward",
            f'oifname "{port.name}" numgen random mod 100 < {_DAMAGED_PERCENT}',
        )
        for port, nic in nics.items()
        if ActiveFault("nic-errors", *port) in broken
    ]


def grown_files(
    shape: Shape, nics: Mapping[PortId, Nic], broken: frozenset[ActiveFault], cabling: Cabling
) -> frozenset[GrownFile]:
    """Return the files of the nodes' kernels that these faults change."""
    return frozenset(_grown_files(shape, nics, broken, cabling))


def _grown_files(
    shape: Shape, nics: Mapping[PortId, Nic], broken: frozenset[ActiveFault], cabling: Cabling
) -> Iterator[GrownFile]:
    for active in broken:
        if active.node is not None:
            yield from (GrownFile(active.node, active.fault, path) for path in _FILES.get(active.fault, ()))
    damaging = {rule.name for rule in (*damage_rules(nics, broken), *port_rules(shape, nics, cabling, broken))}
    for port, nic in nics.items():
        names = {named("nic-errors", port.node, nic.name), *(of + OUT for of in _damaged(port, nic))}
        if counters := tuple(sorted(damaging & names)):
            for name in _NIC_FILES:
                path = f"/sys/class/net/{nic.name}/statistics/{name}"
                yield GrownFile(port.node, "nic-errors", path, counters)


def _damaged(port: PortId, nic: Nic) -> Iterator[str]:
    return (named(fault, port.node, nic.name) for fault in DAMAGING)


@dataclass(frozen=True)
class CountedChange:
    """The change from one set of files to another, in two parts: a NIC may be renamed between them."""

    directory: Path
    init: Process
    nodes: Mapping[str, Process]
    before: frozenset[GrownFile]
    after: frozenset[GrownFile]
    rootless: bool

    def remove(self) -> None:
        """Remove what the new state does not have. Raises LabError when a command fails."""
        if self.before != self.after:
            run_all(
                self._in_node(file, "umount", "-n", file.path, purpose=f"restore {file.path}")
                for file in sorted(self.before)
            )

    def add(self) -> None:
        """Add what the old state did not have. Raises LabError when a command fails."""
        if self.before == self.after:
            return
        written = [(file, _written(self.directory, file)) for file in sorted(self.after)]
        # The program of the state before reads the orders, too, and ends.
        orders, generation = self.directory / "grown.json", uuid.uuid4().hex
        orders.write_text(json.dumps({"generation": generation, "files": [self._order(*each) for each in written]}))
        if not written:
            return
        program = [sys.executable, "-I", "-S", str(_PROGRAM), str(orders), generation]
        in_init = into(self.init, "net", "pid", rootless=self.rootless)
        # Once and to its end: the files must have their content before a node sees them.
        run_all([LabJob([*in_init, *program, "once"], "", "write the counters")])
        background = ["sh", "-c", '"$@" </dev/null >/dev/null 2>>"$0" &', str(self.directory / "log"), *program]
        run_all([LabJob([*in_init, *background], "", "start the program that writes the counters")])
        run_all(
            self._in_node(file, "mount", "-n", "--bind", str(path), file.path, purpose=f"replace {file.path}")
            for file, path in written
        )

    def _in_node(self, file: GrownFile, *command: str, purpose: str) -> LabJob:
        argv = [*into(self.nodes[file.node], "mount", "pid", rootless=self.rootless), *command]
        return LabJob(argv, "", f"{purpose} of {file.node}")

    def _order(self, file: GrownFile, written: Path) -> dict[str, str | list[str]]:
        return {"fault": file.fault, "path": file.path, "counters": list(file.counters), "written": str(written)}


def _written(directory: Path, file: GrownFile) -> Path:
    path = node_home(directory, file.node) / "grown" / file.path.strip("/").replace("/", "-")
    path.parent.mkdir(exist_ok=True)
    path.write_text("")
    path.chmod(0o644)
    return path
