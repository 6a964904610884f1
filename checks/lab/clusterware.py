"""The Grid homes of the practice nodes, and the files from which their oifcfg, olsnodes and crsctl answer."""

from __future__ import annotations

import shutil
from pathlib import Path

from checks.lab.desired import Desired
from checks.lab.errors import LabError
from checks.lab.processes import missing_tool
from checks.lab.topology import CLUSTER_NAME, Shape

_PROGRAMS = Path(__file__).with_name("grid")


def grid_home(directory: Path, node: str) -> Path:
    """The GRID_HOME of one node."""
    return directory / "nodes" / node / "grid"


def install(directory: Path, shape: Shape) -> None:
    """Give every node a Grid home with its programs, and a process to go by the name of ocssd.bin."""
    sleep = shutil.which("sleep")
    if sleep is None:
        raise LabError(missing_tool("sleep"))
    for node in shape.nodes:
        target = grid_home(directory, node) / "bin"
        target.mkdir(parents=True)
        for program in _PROGRAMS.iterdir():
            shutil.copy(program, target / program.name)
            (target / program.name).chmod(0o755)
        shutil.copy(sleep, target / "ocssd.bin")
    cluster = directory / "cluster"
    cluster.mkdir()
    (cluster / "name").write_text(f"{CLUSTER_NAME}\n", encoding="ascii")


def answer(directory: Path, desired: Desired) -> None:
    """Make the programs say what should be so."""
    for name, lines in (("getif", desired.getif), ("members", desired.members)):
        (directory / "cluster" / name).write_text("".join(f"{line}\n" for line in lines), encoding="ascii")
