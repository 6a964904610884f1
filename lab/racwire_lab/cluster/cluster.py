"""The practice cluster as a whole: start, find, break, fix and remove it."""

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
    node_boot,
    roles,
    stack,
    topology,
)
from racwire_lab.cluster.database_kinds import DEFAULT_KIND, kind_named
from racwire_lab.cluster.desired import desired
from racwire_lab.cluster.fault_kind import ActiveFault
from racwire_lab.cluster.faults import fault_named, node_named, place
from racwire_lab.cluster.processes import missing_tool
from racwire_lab.cluster.profiles import DEFAULT_PROFILE, NodeAccount, profile_named
from racwire_lab.cluster.starting import bring_up
from racwire_lab.cluster.state import RemoteShell, State, load, save
from racwire_lab.cluster.topology import (
    DATABASE,
    DATABASE_VERSIONS,
    LLDP,
    MAX_MTU,
    MAX_NODES,
    MIN_MTU,
    MIN_NODES,
    MIXED,
    NETWORK_SERVICES,
    NO_LLDP,
    SWITCH_MTU,
    Shape,
)
from racwire_lab.lab_errors import LabError, LabUsageError

_ENTER = Path(__file__).parents[1] / "programs" / "enter.py"
_INSIDE = "RACWIRE_LAB"


@dataclass(frozen=True)
class Lab:
    """A practice cluster at the moment when it was found.

    `break_` and `mend` return a new Lab with the changed state.
    """

    directory: Path
    state: State

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of the nodes."""
        return self.state.shape.nodes

    @property
    def mtu(self) -> int:
        """The MTU of the private NICs in the healthy cluster, in bytes."""
        return self.state.shape.mtu

    @property
    def faults(self) -> tuple[ActiveFault, ...]:
        """The active faults, oldest first."""
        return self.state.faults

    @property
    def remote_shell(self) -> RemoteShell:
        """The remote shell of the nodes: a real ssh, or the lab's stand-in for ssh."""
        return self.state.remote_shell

    @property
    def remote_shell_reason(self) -> str:
        """Why the nodes use the stand-in; empty for ssh."""
        return self.state.remote_shell_reason

    @property
    def database(self) -> databases.DatabaseAccess | None:
        """The login to the database from a node; None when the cluster has no database."""
        return databases.access(self.directory, self.state.shape) if self.state.shape.database else None

    @property
    def database_version(self) -> str:
        """The version of the database in the healthy cluster; empty when the cluster has no database."""
        return self.state.shape.database

    @property
    def settings_file(self) -> Path:
        """The path of the settings file with which racwire reads the practice cluster."""
        return databases.settings_file(self.directory)

    @property
    def like(self) -> str:
        """The name of the cluster's profile: one of PROFILES."""
        return self.state.shape.like

    @property
    def users(self) -> tuple[str, ...]:
        """The users of the nodes, without root."""
        return tuple(user.name for user in self.state.profile.accounts)

    @property
    def no_users_reason(self) -> str:
        """Why the nodes lack the users of the profile; empty when they have them, or the profile has none."""
        return self.state.no_users_reason

    def enter(self, node: str, argv: Sequence[str], user: str = "") -> list[str]:
        """Return the command line that runs argv inside a node, as one process; as root unless `user` is another one.

        Stdin, stdout, stderr, signals and the exit code pass through. Raises LabUsageError when there is no such node
        or user, and LabError when the node has ended.
        """
        account = self._account(user)
        profile = self.state.profile
        ids = "-"
        if account is not None:
            numbers = (profile.groups[group] for group in (account.group, *account.groups))
            ids = ":".join(map(str, (account.uid, *numbers)))
        holder = self.state.nodes[node_named(node, self.state.shape)]
        if not holder.alive():
            raise LabError(f"The practice node {node} has ended: run `racwire lab down` and `racwire lab up` again.")
        return [sys.executable, "-I", "-S", str(_ENTER), str(holder.pid), str(holder.started), ids, *argv]

    def environment(self, node: str, user: str = "") -> dict[str, str]:
        """Return the variables to add to the environment of a command inside a node.

        RACWIRE_SETTINGS names the settings file of the practice cluster: the caller's own settings name the database of
        another cluster. The option --settings selects another file. Users other than root find the Grid home and the
        configuration of ssh as on a real node, without a variable. Raises LabUsageError when there is no such node or
        user.
        """
        name = node_named(node, self.state.shape)
        if account := self._account(user):
            return {**roles.login_environment(self.directory, account), _INSIDE: str(self.directory)}
        path = os.environ.get("PATH", "/usr/bin:/bin").split(":")
        # The PATH of an ordinary user may lack /usr/sbin, where the node's own system commands are.
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

    def _account(self, user: str) -> NodeAccount | None:
        """The account of a user; None for root. Raises LabUsageError when the nodes have no such user."""
        if user in ("", "root"):
            return None
        if account := self.state.profile.account(user):
            return account
        if self.no_users_reason:
            raise LabUsageError(f"The practice nodes have no user but root, because {self.no_users_reason}.")
        known = ", ".join(("root", *self.users))
        hint = "choose one of them" if self.users else "run `racwire lab up --like hardened` for others"
        raise LabUsageError(f"The users of the practice nodes are {known}, not {user}: {hint}.")

    def break_(self, fault: str, node: str | None = None, network: str | int | None = None) -> Lab:
        """Add a fault; a fault that is already active there changes nothing.

        Raises LabUsageError when the fault cannot be made at this place, and LabError when the machine does not allow
        it.
        """
        known = fault_named(fault)
        active = place(known, self.state.shape, node, network)
        if known.needs_nft and shutil.which("nft") is None:
            raise LabError(f"For the fault {known.name}: {missing_tool('nft')}")
        if known.needs_users and not self.state.profile.accounts:
            raise LabUsageError(f"The fault {known.name} needs {known.needs}.")
        if known.needs_sshd and self.remote_shell != "ssh":
            raise LabError(f"The fault {known.name} needs sshd, but {self.remote_shell_reason}.")
        return self._change(
            lambda state: state if active in state.faults else replace(state, faults=(*state.faults, active))
        )

    def mend(self, fault: str | None = None) -> Lab:
        """Fix one fault at every place, or all faults. Raises LabUsageError when there is no such fault."""
        if fault is not None:
            fault_named(fault)
        return self._change(
            lambda state: replace(
                state, faults=tuple(f for f in state.faults if fault is not None and f.fault != fault)
            )
        )

    @property
    def switch_ports(self) -> tuple[topology.SwitchPort, ...]:
        """The switch ports on the private networks, with their MTUs in the healthy cluster."""
        return topology.switch_ports(self.state.shape, self.state.port_mtus)

    def set_port_mtu(self, port: str, mtu: int) -> Lab:
        """Set the MTU of a switch port, or of `all` ports of the private networks, in bytes.

        Raises LabUsageError when there is no such port or the MTU is out of range, and LabError when the change fails.
        """
        chosen, checked = topology.ports_named(port, self.state.shape), topology.checked_mtu(mtu)
        return self._change(
            lambda state: replace(state, port_mtus={**state.port_mtus, **dict.fromkeys(chosen, checked)})
        )

    def described(self, fault: ActiveFault) -> str:
        """Return the name of a fault and its place, such as `link-down (rac2 eth2)`."""
        place = " ".join(part for part in (fault.node, self.nic_of(fault.network)) if part)
        return f"{fault.fault} ({place})" if place else fault.fault

    def nic_of(self, network: int | None) -> str | None:
        """Return the name of the NICs on a network in the healthy cluster; None for no network."""
        return self.state.shape.networks[network].nic if network else None

    def is_running(self, node: str, service: stack.Service) -> bool:
        """Whether a Clusterware service of the node runs; for `instance`, whether the instance is open."""
        return stack.is_running(self.directory, node_named(node, self.state.shape), service)

    def network_service_of(self, node: str) -> str:
        """Return the network service of a node: one of NETWORK_SERVICES."""
        return self.state.shape.network_service_of(node)

    def reboot(self, node: str) -> str:
        """Reboot a node and return its name. The node loses every setting that is not in its configuration files.

        Return when the node's network and remote shell run again; Clusterware may still be starting. Raises
        LabUsageError when there is no such node, and LabError when the node does not boot.
        """
        name = node_named(node, self.state.shape)
        node_boot.reboot(self.directory, name, self.state.nodes[name])
        return name

    def _change(self, change: Callable[[State], State]) -> Lab:
        """Lock the directory, load the current state, and change it. This snapshot may be out of date."""
        with directory.locked(self.directory, create=False), roles.readable_files(self.state.profile):
            state = load(self.directory)
            if state is None or state.init != self.state.init or not state.alive():
                raise LabError("The practice cluster was stopped in the meantime: run `racwire lab up`.")
            wanted = change(state)
            if wanted == state:
                return Lab(self.directory, state)
            running = apply.RunningCluster(self.directory, state.rootless, state.init, state.nodes, state.routers)
            healthy = desired(state.shape, (), wanted.port_mtus)
            before, after = (desired(one.shape, one.faults, one.port_mtus) for one in (state, wanted))
            # Save first: a fault that is not in the saved state could not be fixed.
            save(self.directory, wanted)
            try:
                routers = apply.change(running, before, after)
                node_boot.record_next_boot(self.directory, healthy, before, after)
            except BaseException:
                save(self.directory, state)
                raise
            wanted = replace(wanted, routers=routers)
            save(self.directory, wanted)
            for fault in wanted.faults:
                if fault.fault == "evicted-node" and fault not in state.faults and fault.node:
                    stack.wait_until_ended(self.directory, fault.node)
            return Lab(self.directory, wanted)


def up(
    nodes: int = 2,
    mtu: int | None = None,
    progress: Callable[[str], None] | None = None,
    database: bool = True,
    database_version: str | None = None,
    keeper: str | None = None,
    switch_mtu: int = SWITCH_MTU,
    db_unique_name: str = DATABASE,
    db_domain: str = "",
    like: str = DEFAULT_PROFILE,
    lldp: str = NO_LLDP,
    db_kind: str = DEFAULT_KIND,
    has_second: bool = False,
    ping_every_s: float = topology.PING_EVERY_S,
    misscount_s: float = topology.MISSCOUNT_S,
    haip_after_s: float = topology.HAIP_AFTER_S,
    ipc_timeout_s: float = topology.IPC_TIMEOUT_S,
    has_spare: bool = False,
    has_storage: bool = False,
) -> Lab:
    """Start a cluster, or find a running one of the same shape. Report each step to `progress`.

    None stands for the value of the profile. The cluster has a database unless `database` is False or a package is
    missing; `progress` receives the reason. `ping_every_s` is for tests that cannot wait for pings at a real pace.
    Raises LabUsageError when an argument is out of range, and LabError when the cluster cannot start or one of another
    shape runs.
    """
    if not MIN_NODES <= nodes <= MAX_NODES:
        raise LabUsageError(
            f"The practice cluster has {MIN_NODES} to {MAX_NODES} nodes, not {nodes}: choose with --nodes."
        )
    profile = profile_named(like)
    mtu = profile.mtu if mtu is None else mtu
    database_version = profile.database_version if database_version is None else database_version
    keeper = profile.network_service if keeper is None else keeper
    if not MIN_MTU <= mtu <= MAX_MTU:
        raise LabUsageError(
            f"The practice cluster's MTU is {MIN_MTU} to {MAX_MTU} bytes, not {mtu}: choose with --mtu."
        )
    if database_version not in DATABASE_VERSIONS:
        raise LabUsageError(
            f"The practice database is of version {', '.join(DATABASE_VERSIONS)}, not {database_version}: choose "
            "with --database-version."
        )
    if keeper not in (*NETWORK_SERVICES, MIXED):
        raise LabUsageError(
            f"The network service of the nodes is {', '.join(NETWORK_SERVICES)} or {MIXED}, not {keeper}: choose with "
            "--keeper."
        )
    if lldp not in LLDP:
        raise LabUsageError(f"lldpd of the nodes is {', '.join(LLDP)}, not {lldp}: choose with --lldp.")
    topology.checked_mtu(switch_mtu)
    topology.checked_names(db_unique_name, db_domain)
    topology.checked_spare(like, has_spare, has_storage)
    kind_named(db_kind)
    _refuse_inside()
    progress = progress or (lambda _: None)
    version = _database(database, database_version, progress)
    for option, seconds in {"misscount": misscount_s, "haip-after": haip_after_s, "ipc-timeout": ipc_timeout_s}.items():
        if not topology.SHORTEST_S <= seconds <= topology.LONGEST_S:
            raise LabUsageError(
                f"--{option} is {topology.SHORTEST_S:g} to {topology.LONGEST_S:g} seconds, not {seconds:g}."
            )
    rest = (lldp, db_kind, has_second, ping_every_s, misscount_s, haip_after_s, ipc_timeout_s, has_spare, has_storage)
    shape = Shape(nodes, mtu, version, switch_mtu, keeper, db_unique_name, db_domain, like, *rest)
    path = directory.lab_directory()
    with directory.locked(path, create=True):
        state = load(path)
        if state is not None and state.alive():
            if state.shape != shape:
                raise LabError(
                    f"A practice cluster like {state.shape.like} of {state.shape.size} nodes with MTU "
                    f"{state.shape.mtu}, MTU {state.shape.switch_mtu} at the switch, and "
                    f"{f'database {state.shape.database}' if state.shape.database else 'no database'} is already "
                    "running: run `racwire lab down` first."
                )
            return Lab(path, state)
        directory.clear(path)
        path.chmod(0o700)
        try:
            return Lab(path, bring_up(path, shape, progress))
        except BaseException:
            directory.remove(path)
            raise


def down() -> bool:
    """Stop the cluster and remove its files. Return False when there was no cluster.

    Raises LabError when a process or a file remains.
    """
    _refuse_inside()
    path = directory.lab_directory()
    with directory.locked(path, create=False) as there:
        if not there:
            return False
        state = load(path)
        if state is not None and state.alive() and not state.init.kill():
            raise LabError(
                f"The first process of the practice cluster, {state.init.pid}, does not end because a program hangs in "
                "the kernel: run `racwire lab down` again."
            )
        directory.remove(path)
        return True


def find() -> Lab | None:
    """Return the running cluster of this user and environment; None when no cluster runs, even if files of an old one
    remain.

    Raises LabError when the directory belongs to another user.
    """
    path = directory.lab_directory()
    if not directory.exists(path):
        return None
    state = load(path)
    return Lab(path, state) if state is not None and state.alive() else None


def _database(wanted: bool, version: str, progress: Callable[[str], None]) -> str:
    """The version of the database; empty for none."""
    if not wanted:
        return ""
    if not databases.can_start():
        progress("The cluster starts without a database: run `pip install ./lab` in a checkout of racwire to add one.")
        return ""
    return DATABASE_VERSIONS[version]


def _refuse_inside() -> None:
    if _INSIDE in os.environ:
        raise LabError("This shell is inside a practice node: leave it with `exit`, then run the command again.")
