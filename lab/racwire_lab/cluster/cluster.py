"""The practice cluster as a whole: brought up, found, broken, mended, and taken down."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from racwire_lab.cluster import (
    apply,
    clusterware,
    databases,
    directory,
    holders,
    node_boot,
    peers,
    remote,
    stack,
    topology,
)
from racwire_lab.cluster.desired import desired
from racwire_lab.cluster.faults import ActiveFault, fault_named, node_named, place
from racwire_lab.cluster.processes import missing_tool, run_all
from racwire_lab.cluster.state import RemoteShell, State, boot_id, load, save
from racwire_lab.cluster.topology import (
    DATABASE_VERSIONS,
    DEFAULT_KEEPER,
    KEEPERS,
    MAX_MTU,
    MAX_NODES,
    MIN_MTU,
    MIN_NODES,
    MIXED,
    SWITCH_MTU,
    Shape,
)
from racwire_lab.lab_errors import LabError, LabUsageError

_SCRIPTS = Path(__file__).parents[1] / "scripts"
_ENTER = Path(__file__).parents[1] / "programs" / "enter.py"
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
        """Its active faults, oldest first."""
        return self.state.faults

    @property
    def remote_shell(self) -> RemoteShell:
        """The remote shell of its nodes: a real ssh, or the lab's substitute for it."""
        return self.state.remote_shell

    @property
    def remote_shell_reason(self) -> str:
        """Why the substitute is used; empty for ssh."""
        return self.state.remote_shell_reason

    @property
    def database(self) -> databases.DatabaseAccess | None:
        """The login to its database from a node; None where it has no database."""
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
        """Variables to add to the environment of a command inside a node.

        The settings are the practice cluster's own: those that the caller has were made for another cluster, and name
        its database. Who wants others here gives --settings.
        """
        name = node_named(node, self.state.shape)
        path = os.environ.get("PATH", "/usr/bin:/bin").split(":")
        # An ordinary user's may lack it, and there are the commands of the node's own system.
        path += [] if "/usr/sbin" in path else ["/usr/sbin"]
        variables = {
            "PATH": ":".join(path),
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
        return self._change(
            lambda state: state if active in state.faults else replace(state, faults=(*state.faults, active))
        )

    def mend(self, fault: str | None = None) -> Lab:
        """Mend one fault, wherever it was broken, or all of them."""
        if fault is not None:
            fault_named(fault)
        return self._change(
            lambda state: replace(
                state, faults=tuple(f for f in state.faults if fault is not None and f.fault != fault)
            )
        )

    @property
    def switch_ports(self) -> tuple[topology.SwitchPort, ...]:
        """The switch's ports on the private networks, as they are where nothing is broken."""
        return topology.switch_ports(self.state.shape, self.state.port_mtus)

    def set_port_mtu(self, port: str, mtu: int) -> Lab:
        """Give a port of the switch, or `all` of the private networks, another MTU in bytes. LabError as for faults."""
        chosen, checked = topology.ports_named(port, self.state.shape), topology.checked_mtu(mtu)
        return self._change(
            lambda state: replace(state, port_mtus={**state.port_mtus, **dict.fromkeys(chosen, checked)})
        )

    def is_running(self, node: str, service: stack.Service) -> bool:
        """Whether a service of that node's Clusterware runs at this moment, or its database instance is open."""
        return stack.is_running(self.directory, node_named(node, self.state.shape), service)

    def keeper_of(self, node: str) -> str:
        """The network service of that node: one of KEEPERS."""
        return self.state.shape.keeper_of(node)

    def reboot(self, node: str) -> str:
        """Reboot a node: it loses what its own files do not keep. LabError when it does not come up again.

        Comes back when the node's network and remote shell are there; Clusterware may still be starting.
        Returns the node's name.
        """
        name = node_named(node, self.state.shape)
        node_boot.reboot(self.directory, name, self.state.nodes[name])
        return name

    def _change(self, change: Callable[[State], State]) -> Lab:
        """Carry out a change of what should be so, alone, starting from what is so now and not from this snapshot."""
        with directory.locked(self.directory, create=False):
            state = load(self.directory)
            if state is None or state.init != self.state.init or not state.alive():
                raise LabError("The practice cluster was taken down meanwhile: run `racwire lab up`.")
            wanted = change(state)
            if wanted == state:
                return Lab(self.directory, state)
            running = apply.RunningCluster(self.directory, state.rootless, state.init, state.nodes, state.routers)
            healthy = desired(state.shape, (), wanted.port_mtus)
            before, after = (desired(one.shape, one.faults, one.port_mtus) for one in (state, wanted))
            # Before it is done: what cannot be remembered could not be mended.
            save(self.directory, wanted)
            try:
                routers = apply.change(running, before, after)
                node_boot.remember(self.directory, healthy, before, after)
            except BaseException:
                save(self.directory, state)
                raise
            wanted = replace(wanted, routers=routers)
            save(self.directory, wanted)
            return Lab(self.directory, wanted)


def up(
    nodes: int = 2,
    mtu: int = 9000,
    progress: Callable[[str], None] | None = None,
    database: bool = True,
    database_version: str = "19c",
    keeper: str = DEFAULT_KEEPER,
    switch_mtu: int = SWITCH_MTU,
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
    if keeper not in (*KEEPERS, MIXED):
        raise LabUsageError(
            f"The network of the practice nodes is kept by {', '.join(KEEPERS)} or {MIXED}, not {keeper}: choose with "
            "--keeper."
        )
    topology.checked_mtu(switch_mtu)
    _refuse_inside()
    progress = progress or (lambda _: None)
    shape = Shape(nodes, mtu, _database(database, database_version, progress), switch_mtu, keeper)
    path = directory.lab_directory()
    with directory.locked(path, create=True):
        state = load(path)
        if state is not None and state.alive():
            if state.shape != shape:
                raise LabError(
                    f"A practice cluster of {state.shape.size} nodes with MTU {state.shape.mtu}, "
                    f"{state.shape.switch_mtu} at the switch, and "
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
        progress("There is no practice database: `pip install ./lab` in a checkout of racwire brings what it needs.")
        return ""
    return DATABASE_VERSIONS[version]


def _bring_up(path: Path, shape: Shape, progress: Callable[[str], None]) -> Lab:
    rootless = holders.needs_user_namespace()
    sshd = peers.find_sshd()
    progress(f"Making {shape.size} nodes in {path}{' without root' if rootless else ''}.")
    _prepare(path, shape, rootless=rootless, with_ssh=sshd is not None)
    with databases.servers(path, shape) as servers, holders.booted(path, shape, rootless=rootless) as held:
        progress("Connecting them to one public and two private networks.")
        running = apply.RunningCluster(path, rootless, held.init, held.nodes, {})
        healthy = desired(shape, ())
        apply.build(running, healthy)
        node_boot.remember(path, healthy, healthy, healthy)
        progress("Starting Clusterware and the remote shell on each node.")
        run_all(stack.start(path, held.nodes, rootless=rootless))
        if servers:
            servers.start(held.nodes)
        remote_shell, reason = remote.serve(path, held.nodes, sshd=sshd, rootless=rootless)
        if reason:
            progress(f"The nodes reach each other by a stand-in for ssh, because {reason}.")
        if servers:
            progress("Starting an instance of the practice database on each node.")
            databases.start_daemons(path, held.nodes, rootless=rootless)
            servers.wait()
        state = State(shape, boot_id(), rootless, remote_shell, reason, held.init, held.nodes, routers={}, faults=())
        save(path, state)
    return Lab(path, state)


def _prepare(path: Path, shape: Shape, *, rootless: bool, with_ssh: bool) -> None:
    """Write all files that the nodes will read."""
    for tool in ("ip", "nsenter", "unshare"):
        if shutil.which(tool) is None:
            raise LabError(missing_tool(tool))
    shutil.copytree(_SCRIPTS, path / "scripts")
    clusterware.install(path, shape)
    stack.install(path, shape)
    databases.install(path, shape)
    for node in shape.nodes:
        (peers.node_home(path, node) / "run").mkdir()
    peers.write_accounts(path, shape, rootless=rootless)
    node_boot.install(path, shape, desired(shape, ()).nics)
    if with_ssh:
        run_all(peers.keygen_jobs(path, shape))
        peers.configure(path, shape, rootless=rootless)


def _refuse_inside() -> None:
    if _INSIDE in os.environ:
        raise LabError("This shell is inside a practice node: leave it with `exit`, and run the command outside.")
