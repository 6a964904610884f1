"""Enters the first node with few modules: `racwire --lab` draws nothing before that."""

from __future__ import annotations

import os
from pathlib import Path

from racwire_lab.cluster.directory import exists, grid_home, lab_directory, settings_file
from racwire_lab.cluster.state import RemoteShell, first_node
from racwire_lab.lab_errors import LabError
from racwire_lab.programs.enter import continue_inside

INSIDE = "RACWIRE_LAB"
"""Environment variable of all commands inside a node: the directory of the cluster."""


def continue_in_first_node() -> bool:
    """Continue this program as root on the first node of the running cluster, with the environment of the node, in a
    new process for which this one waits. Return False where no cluster runs.

    The program must not have started a thread. Raises LabError where the node cannot be entered, or the directory of
    the cluster belongs to another user.
    """
    directory = lab_directory()
    found = first_node(directory) if exists(directory) else None
    if found is None:
        return False
    node, holder, remote_shell = found
    try:
        continue_inside(holder.pid, holder.started)
    except OSError as error:
        raise LabError(
            f"Could not enter the practice node {node} ({error.strerror}): see `racwire lab status`."
        ) from error
    os.environ.update(root_environment(directory, node, remote_shell))
    return True


def root_environment(directory: Path, node: str, remote_shell: RemoteShell) -> dict[str, str]:
    """Return the variables to add to the environment of root's commands on a node."""
    path = os.environ.get("PATH", "/usr/bin:/bin").split(":")
    # The PATH of an ordinary user may lack /usr/sbin, where the node's own system commands are.
    path += [] if "/usr/sbin" in path else ["/usr/sbin"]
    variables = {
        "PATH": ":".join(path),
        "GRID_HOME": str(grid_home(directory, node)),
        "RACWIRE_SETTINGS": str(settings_file(directory)),
        INSIDE: str(directory),
    }
    if remote_shell == "ssh":
        variables["RACWIRE_SSH_CONFIG"] = str(directory / "ssh_config")
    else:
        variables["RACWIRE_RSH"] = str(directory / "rsh")
    return variables
