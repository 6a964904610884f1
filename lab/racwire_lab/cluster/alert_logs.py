"""The alert logs of the practice nodes: their places, and the lines of a day ago that the fault log-lines adds."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path

from racwire_lab.cluster.directory import grid_home
from racwire_lab.cluster.profiles import DATABASE_OWNER, GRID_OWNER, INVENTORY_GROUP, ClusterProfile
from racwire_lab.cluster.ssh_configuration import node_home
from racwire_lab.cluster.topology import Shape, index_of
from racwire_lab.programs.cache_fusion.alert_log import (
    BASE,
    asm_log,
    crs_log,
    css_line,
    css_trace,
    database_log,
    stamped,
)

_ADDED = "added_log_lines"
"""The file with the lines that the fault added, one file for each log; they are removed when the fault is fixed."""


def install(directory: Path, shape: Shape) -> None:
    """Make the logs, and the file of the Grid home that names the ORACLE_BASE."""
    for node in shape.nodes:
        for log in _logs(directory, shape, node).values():
            log.parent.mkdir(parents=True, exist_ok=True)
            log.touch(mode=0o640)
        home, base = grid_home(directory, node), node_home(directory, node) / BASE
        (home / "install").mkdir()
        (home / "install" / "orabasetab").write_text(
            "#orabasetab file is used to track Oracle Home associated with Oracle Base\n"
            f"{home}:{base}:OraGI19Home1:N:\n",
            encoding="ascii",
        )


def give_to_owners(directory: Path, shape: Shape, profile: ClusterProfile) -> None:
    """Make the users own the logs, as on a node with role separation."""
    users = {user.name: user.uid for user in profile.accounts}
    group = profile.groups[INVENTORY_GROUP]
    for node in shape.nodes:
        base = node_home(directory, node) / BASE
        for path in (base, *sorted(base.rglob("*"))):
            is_database = "rdbms" in path.relative_to(base).parts[1:2]
            os.chown(path, users[DATABASE_OWNER if is_database else GRID_OWNER], group)
            path.chmod(0o640 if path.is_file() else 0o750 if path != base else 0o755)


def follow(directory: Path, past_lines: Mapping[str, str]) -> None:
    """Add the lines of some hours ago to the logs of these nodes, and remove them from the logs of all others.

    `past_lines` has the database's version by node; an empty version for a cluster without a database.
    """
    for base in sorted((directory / "nodes").glob(f"*/{BASE}")):
        node = base.parent.name
        for log in sorted(base.rglob("alert*.log")):
            added = log.with_name(_ADDED)
            before = added.read_text(encoding="ascii") if added.exists() else ""
            if bool(before) is (node in past_lines):
                continue
            text = log.read_text(encoding="ascii")
            new = _past(log, node, past_lines[node], len(list(base.parent.parent.iterdir()))) if not before else ""
            with log.open("r+", encoding="ascii") as file:
                file.write(new + text.removeprefix(before))
                file.truncate()
            added.write_text(new, encoding="ascii")
            if not new:
                added.unlink()


def _past(log: Path, node: str, version: str, size: int) -> str:
    """The lines of a network that was interrupted hours ago, as the node saw it."""
    now = time.time()
    peer = index_of(node) % size + 1
    early, late = now - 6 * 3600, now - 3 * 3600
    if log.name == "alert.log":
        missing = f"Network communication with node rac{peer} ({peer}) has been missing for"
        end = "of the timeout interval.  If this persists, removal of this node from cluster will occur in"
        return (
            css_line(f"CRS-1612: {missing} 50% {end} 14.740 seconds", early)
            + css_line(f"CRS-1611: {missing} 75% {end} 7.360 seconds", early + 7.4)
            + css_line(f"CRS-1612: {missing} 50% {end} 14.910 seconds", late)
        )
    if "/rdbms/" not in str(log):
        return "\n"
    return (
        f"{stamped(version, late + 60)}\nIPC Send timeout detected. Sender: ospid 4812 [oracle@{node} (LMS0)]\n"
        f"Receiver: inst {peer} binc 430 ospid 4846\n"
    )


def _logs(directory: Path, shape: Shape, node: str) -> dict[str, Path]:
    base = node_home(directory, node) / BASE
    logs = {
        "crs": base / crs_log(node),
        "trace": base / css_trace(node),
        "asm": base / asm_log(f"+ASM{index_of(node)}"),
    }
    if shape.database and shape.has_instance(node):
        logs["database"] = base / database_log(shape.db_unique_name, shape.instance_of(node))
    return logs
