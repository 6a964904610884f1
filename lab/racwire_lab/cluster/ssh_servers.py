"""Start the remote shell of the nodes: sshd when it works on this machine, otherwise a stand-in."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from racwire_lab.cluster import ssh_configuration
from racwire_lab.cluster.networks import PUBLIC
from racwire_lab.cluster.processes import LabJob, Process, into, run_all
from racwire_lab.cluster.profiles import ClusterProfile
from racwire_lab.cluster.state import RemoteShell
from racwire_lab.cluster.topology import index_of
from racwire_lab.lab_errors import LabError

_STAND_IN = Path(__file__).parents[1] / "programs" / "remote_shell.py"
_LOGIN_TIMEOUT_S = 15
_LOGINS = 3
"""Attempts to log in before sshd counts as unusable: on a busy machine one login may time out."""


def serve(
    directory: Path, nodes: dict[str, Process], profile: ClusterProfile, *, sshd: str | None, rootless: bool
) -> tuple[RemoteShell, str]:
    """Start a server on every node. Return its kind, and why it is not ssh (empty for ssh).

    Raises LabError when the stand-in does not start, or would not keep the users of the profile apart.
    """
    if sshd is None:
        reason = "ssh, sshd or ssh-keygen is not installed"
    else:
        refused = _serve_ssh(directory, nodes, profile, sshd, rootless=rootless)
        if refused is None:
            return "ssh", ""
        reason = refused
        _stop_ssh(directory, nodes, rootless=rootless)
    if profile.accounts:
        raise LabError(f"The users of the practice nodes need ssh, but {reason}.")
    _serve_stand_in(directory, nodes, rootless=rootless)
    return "direct", reason


def _serve_ssh(
    directory: Path, nodes: dict[str, Process], profile: ClusterProfile, sshd: str, *, rootless: bool
) -> str | None:
    """Start sshd on every node and log in once. Return the reason when ssh does not work on this machine, else None."""
    try:
        for node in nodes:
            _write_start_script(
                directory, node, ssh_configuration.serve_command(directory, node, sshd, rootless=rootless)
            )
        run_all(
            LabJob(
                [*_inside(holder, rootless=rootless), "sh", str(_start_script(directory, node))],
                "",
                f"start sshd on {node}",
            )
            for node, holder in nodes.items()
        )
    except LabError as error:
        return f"sshd does not start here: {error}"
    node, holder = next(iter(nodes.items()))
    ssh = ["ssh", "-F", str(directory / "ssh_config"), "-n", node, "true"]
    user = next((user for user in profile.accounts if user.has_equivalence), None)
    if user is not None:
        ids = ("--reuid", user.name, "--regid", user.group, "--init-groups")
        ssh = ["setpriv", *ids, "ssh", "-o", "BatchMode=yes", "-n", node, "true"]
    reason = None
    for _ in range(_LOGINS):
        reason = _login_failure([*_inside(holder, rootless=rootless), *ssh])
        if reason is None:
            break
    return reason


def _login_failure(command: list[str]) -> str | None:
    try:
        login = subprocess.run(command, capture_output=True, text=True, timeout=_LOGIN_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        return "the first ssh login hung"
    if login.returncode:
        return f"the first ssh login failed: {login.stderr.strip() or 'no message'}"
    return None


def _stop_ssh(directory: Path, nodes: dict[str, Process], *, rootless: bool) -> None:
    """End every sshd that started, and wait for its end."""
    script = 'if read -r pid <"$1"; then kill "$pid"; while kill -0 "$pid"; do sleep 0.1; done; fi 2>/dev/null; true'
    run_all(
        LabJob(
            [
                *_inside(holder, rootless=rootless),
                *("sh", "-c", script, "sh", str(ssh_configuration.node_home(directory, node) / "sshd.pid")),
            ],
            "",
            f"stop sshd on {node}",
        )
        for node, holder in nodes.items()
    )


def _serve_stand_in(directory: Path, nodes: dict[str, Process], *, rootless: bool) -> None:
    program = [sys.executable, "-I", "-S", str(_STAND_IN)]
    caller = directory / "rsh"
    caller.write_text(f'#!/bin/sh\nexec {shlex.join(program)} call "$@"\n', encoding="utf-8")
    caller.chmod(0o755)
    login = str(directory / "scripts" / "login.sh")
    for node in nodes:
        home = str(ssh_configuration.node_home(directory, node))
        _write_start_script(directory, node, [*program, "serve", PUBLIC.address(index_of(node)), home, login])
    run_all(
        LabJob(
            [*_inside(holder, rootless=rootless), "sh", str(_start_script(directory, node))],
            "",
            f"start the remote shell of {node}",
        )
        for node, holder in nodes.items()
    )


def _write_start_script(directory: Path, node: str, argv: Sequence[str]) -> None:
    """Write the start command of a node's server; each boot of the node runs it."""
    prevented = shlex.quote(str(ssh_configuration.node_home(directory, node) / ssh_configuration.NO_SERVER))
    _start_script(directory, node).write_text(f"[ -e {prevented} ] || exec {shlex.join(argv)}\n", encoding="utf-8")


def _start_script(directory: Path, node: str) -> Path:
    return ssh_configuration.node_home(directory, node) / "serve"


def _inside(holder: Process, *, rootless: bool) -> list[str]:
    return into(holder, "mount", "uts", "net", "pid", rootless=rootless)
