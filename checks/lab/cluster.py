"""The practice cluster as a whole: brought up, found, broken, mended, and taken down."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from checks.lab import apply, boot, clusterware, databases, directory, peers, remote
from checks.lab.desired import desired
from checks.lab.errors import LabError, LabUsageError
from checks.lab.faults import ActiveFault, fault_named, node_named, place
from checks.lab.processes import missing_tool, run_all
from checks.lab.state import RemoteShell, State, boot_id, load, save
from checks.lab.topology import (
    DATABASE_VERSIONS,
    MAX_MTU,
    MAX_NODES,
    MIN_MTU,
    MIN_NODES,
    Shape,
)

_SCRIPTS = Path(__file__).with_name("scripts")
_ENTER = Path(__file__).parent / "programs" / "enter.py"
_INSIDE = "RACWIRE_LAB"


@dataclass(frozen=True)
class Lab:
    """A practice cluster as it was when it was found: breaking and mending return it as it is then."""

    directory: Path
    state: State

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of its nodes."""
        return self.state.shape.nodes

    @property
    def mtu(self) -> int:
        """The MTU of its private NICs where nothing is broken, in bytes."""
        return self.state.shape.mtu

    @property
    def faults(self) -> tuple[ActiveFault, ...]:
        """What is broken in it, oldest first."""
        return self.state.faults

    @property
    def remote_shell(self) -> RemoteShell:
        """How its nodes reach each other: by a real ssh, or by the lab's substitute for it."""
        return self.state.remote_shell

    @property
    def remote_shell_reason(self) -> str:
        """Why the substitute is used; empty for ssh."""
        return self.state.remote_shell_reason

    @property
    def database(self) -> databases.Access | None:
        """How to log in to its database from a node; None where it has none."""
        return databases.access(self.directory) if self.state.shape.database else None

    @property
    def database_version(self) -> str:
        """The version of its database where nothing is broken; empty where it has none."""
        return self.state.shape.database

    @property
    def settings_file(self) -> Path:
        """The settings with which racwire reads it."""
        return databases.settings_file(self.directory)

    def enter(self, node: str, argv: Sequence[str]) -> list[str]:
        """The command line that runs argv inside a node, as one process: stdio, signals and exit code pass through."""
        holder = self.state.nodes[node_named(node, self.state.shape)]
        if not holder.alive():
            raise LabError(f"The practice node {node} has ended: run `racwire lab down` and `racwire lab up` again.")
        return [sys.executable, "-I", "-S", str(_ENTER), str(holder.pid), str(holder.started), *argv]

    def environment(self, node: str) -> dict[str, str]:
        """What to add to the environment of a command inside a node.

        The settings are the practice cluster's own: those that the caller has were made for another cluster, and name
        its database. Who wants others here gives --settings.
        """
        name = node_named(node, self.state.shape)
        variables = {
            "GRID_HOME": str(clusterware.grid_home(self.directory, name)),
            "RACWIRE_SETTINGS": str(self.settings_file),
            _INSIDE: str(self.directory),
        }
        if self.remote_shell == "ssh":
            variables["RACWIRE_SSH_CONFIG"] = str(self.directory / "ssh_config")
        else:
            variables["RACWIRE_RSH"] = str(self.directory / "rsh")
        return variables

    def break_(self, fault: str, node: str | None = None, network: str | int | None = None) -> Lab:
        """Break something; the same fault at the same place again changes nothing. LabError when it cannot be."""
        known = fault_named(fault)
        active = place(known, self.state.shape, node, network)
        if known.needs_nft and shutil.which("nft") is None:
            raise LabError(f"For the fault {known.name}: {missing_tool('nft')}")
        return self._change(lambda faults: faults if active in faults else (*faults, active))

    def mend(self, fault: str | None = None) -> Lab:
        """Mend one fault, wherever it was broken, or all of them."""
        if fault is not None:
            fault_named(fault)
        return self._change(lambda faults: tuple(f for f in faults if fault is not None and f.fault != fault))

    def _change(self, faults: Callable[[tuple[ActiveFault, ...]], tuple[ActiveFault, ...]]) -> Lab:
        """Carry out a change of what is broken, alone, starting from what is so now and not from this snapshot."""
        with directory.locked(self.directory, create=False):
            state = load(self.directory)
            if state is None or state.init != self.state.init or not state.alive():
                raise LabError("The practice cluster was taken down meanwhile: run `racwire lab up`.")
            wanted = faults(state.faults)
            if wanted == state.faults:
                return Lab(self.directory, state)
            running = apply.Running(self.directory, state.rootless, state.init, state.nodes, state.routers)
            # Before it is done: what cannot be remembered could not be mended.
            save(self.directory, replace(state, faults=wanted))
            try:
                routers = apply.change(running, desired(state.shape, state.faults), desired(state.shape, wanted))
            except BaseException:
                save(self.directory, state)
                raise
            state = replace(state, faults=wanted, routers=routers)
            save(self.directory, state)
            return Lab(self.directory, state)


def up(
    nodes: int = 2,
    mtu: int = 9000,
    progress: Callable[[str], None] | None = None,
    database: bool = True,
    database_version: str = "19c",
) -> Lab:
    """Bring a cluster up, or find the one of this shape that is up already. LabError when it cannot be.

    It has a database unless that is not wanted, or what it needs is not installed; progress tells of that.
    """
    if not MIN_NODES <= nodes <= MAX_NODES:
        raise LabUsageError(
            f"The practice cluster has {MIN_NODES} to {MAX_NODES} nodes, not {nodes}: choose with --nodes."
        )
    if not MIN_MTU <= mtu <= MAX_MTU:
        raise LabUsageError(
            f"The practice cluster's MTU is {MIN_MTU} to {MAX_MTU} bytes, not {mtu}: choose with --mtu."
        )
    if database_version not in DATABASE_VERSIONS:
        raise LabUsageError(
            f"The practice database is of version {', '.join(DATABASE_VERSIONS)}, not {database_version}: choose "
            "with --database-version."
        )
    _refuse_inside()
    progress = progress or (lambda _: None)
    shape = Shape(nodes, mtu, _database(database, database_version, progress))
    path = directory.lab_directory()
    with directory.locked(path, create=True):
        state = load(path)
        if state is not None and state.alive():
            if state.shape != shape:
                raise LabError(
                    f"A practice cluster of {state.shape.size} nodes with MTU {state.shape.mtu} and "
                    f"{f'database {state.shape.database}' if state.shape.database else 'no database'} is already up: "
                    "run `racwire lab down` first."
                )
            return Lab(path, state)
        directory.clear(path)
        try:
            return _bring_up(path, shape, progress)
        except BaseException:
            directory.remove(path)
            raise


def down() -> bool:
    """Take the cluster down and remove all that is left of it; False when there was nothing. LabError when it stays."""
    _refuse_inside()
    path = directory.lab_directory()
    with directory.locked(path, create=False) as there:
        if not there:
            return False
        state = load(path)
        if state is not None and state.alive() and not state.init.kill():
            raise LabError(
                f"The practice cluster's first process {state.init.pid} does not end: a program in it hangs in the "
                "kernel; try `racwire lab down` again."
            )
        directory.remove(path)
        return True


def find() -> Lab | None:
    """The running cluster of this user and environment; None when there is none, or only the remains of one."""
    path = directory.lab_directory()
    if not directory.exists(path):
        return None
    state = load(path)
    return Lab(path, state) if state is not None and state.alive() else None


def _database(wanted: bool, version: str, progress: Callable[[str], None]) -> str:
    """The version that the database will be of; empty for none."""
    if not wanted:
        return ""
    if not databases.can_be():
        progress("There is no practice database: `pip install 'racwire[lab]'` brings what it needs.")
        return ""
    return DATABASE_VERSIONS[version]


def _bring_up(path: Path, shape: Shape, progress: Callable[[str], None]) -> Lab:
    rootless = boot.needs_user_namespace()
    sshd = peers.find_sshd()
    progress(f"Making {shape.size} nodes in {path}{' without root' if rootless else ''}.")
    _prepare(path, shape, rootless=rootless, with_ssh=sshd is not None)
    with databases.servers(path, shape) as servers, boot.booted(path, shape, rootless=rootless) as holders:
        progress("Connecting them to one public and two private networks.")
        running = apply.Running(path, rootless, holders.init, holders.nodes, {})
        apply.build(running, desired(shape, ()))
        progress("Starting Clusterware and the remote shell on each node.")
        if servers:
            servers.start(holders.nodes)
        remote_shell, reason = remote.serve(path, holders.nodes, sshd=sshd, rootless=rootless)
        if reason:
            progress(f"The nodes reach each other by a stand-in for ssh, because {reason}.")
        if servers:
            progress("Starting an instance of the practice database on each node.")
            databases.start_daemons(path, holders.nodes, rootless=rootless)
            servers.wait()
        state = State(
            shape, boot_id(), rootless, remote_shell, reason, holders.init, holders.nodes, routers={}, faults=()
        )
        save(path, state)
    return Lab(path, state)


def _prepare(path: Path, shape: Shape, *, rootless: bool, with_ssh: bool) -> None:
    """Write all files that the nodes will read."""
    for tool in ("ip", "nsenter", "unshare"):
        if shutil.which(tool) is None:
            raise LabError(missing_tool(tool))
    shutil.copytree(_SCRIPTS, path / "scripts")
    clusterware.install(path, shape)
    databases.install(path, shape)
    for node in shape.nodes:
        (peers.node_home(path, node) / "run").mkdir()
    peers.write_accounts(path, shape, rootless=rootless)
    if with_ssh:
        run_all(peers.keygen_jobs(path, shape))
        peers.configure(path, shape, rootless=rootless)


def _refuse_inside() -> None:
    if _INSIDE in os.environ:
        raise LabError("This shell is inside a practice node: leave it with `exit`, and run the command outside.")
