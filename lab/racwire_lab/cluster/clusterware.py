"""The Grid homes of the practice nodes, and the files that their tools read."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from racwire_lab.cluster import far_end
from racwire_lab.cluster.desired import Desired
from racwire_lab.cluster.directory import grid_home
from racwire_lab.cluster.files import write_lines
from racwire_lab.cluster.processes import program, waiting_program
from racwire_lab.cluster.profiles import profile_named
from racwire_lab.cluster.topology import CLUSTER_NAME, Shape, index_of

_PROGRAMS = Path(__file__).parents[1] / "grid"
_AGENT = "orarootagent.bin"
"""A shell: it runs the program that carries out orders from other nodes (`grid/lib/agent.sh`)."""
_DAEMONS = (
    "ohasd.bin",
    "mdnsd.bin",
    "gpnpd.bin",
    "gipcd.bin",
    "cssdmonitor",
    "cssdagent",
    "ocssd.bin",
    "octssd.bin",
    "evmd.bin",
    "crsd.bin",
    "oraagent.bin",
)
"""Copies of one program that waits until it is ended; `grid/lib/daemons.sh` starts them."""


def install(directory: Path, shape: Shape) -> None:
    """Give every node a Grid home with its tools, and programs under the names of the daemons."""
    shell, waiting = program("sh"), waiting_program()
    for needed in ("flock", "setsid"):
        program(needed)
    far_end.install(directory)
    for node in shape.nodes:
        home = grid_home(directory, node)
        far_end.set_grid_perl(directory, home, far_end.GridPerl.REAL)
        shutil.copytree(_PROGRAMS, home / "bin", ignore=shutil.ignore_patterns("lib"))
        shutil.copytree(_PROGRAMS / "lib", home / "lib")
        for tool in (home / "bin").iterdir():
            tool.chmod(0o755)
        shutil.copy(shell, home / "bin" / _AGENT)
        first, *others = (home / "bin" / name for name in (*_DAEMONS, f"asm_pmon_+ASM{index_of(node)}"))
        shutil.copy(waiting, first)
        for daemon in others:
            os.link(first, daemon)
        os.link(first, home / "bin" / "tnslsnr")
        (home / "cdata" / node).mkdir(parents=True)
        for part in ("wallets", "profiles"):
            (home / "gpnp" / node / part / "peer").mkdir(parents=True)
    cluster = directory / "cluster"
    cluster.mkdir()
    write_lines(cluster / "release", [profile_named(shape.like).clusterware_release])
    (cluster / "name").write_text(f"{CLUSTER_NAME}\n", encoding="ascii")


def write_answers(directory: Path, desired: Desired) -> None:
    """Write the answers of the tools for the desired state."""
    files = {"getif": desired.getif, "members": desired.members, "private": desired.private}
    for name, lines in files.items():
        write_lines(directory / "cluster" / name, lines)
    for node, seconds in desired.tools_wait_s.items():
        write_lines(directory / "nodes" / node / "tools_wait", (str(seconds),))
