"""The practice cluster as a whole: start, find, break, fix and remove it."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from racwire_lab.cluster import (
    apply,
    databases,
    directory,
    far_end,
    node_boot,
    port_queues,
    roles,
    stack,
    topology,
)
from racwire_lab.cluster.desired import desired
from racwire_lab.cluster.entering import INSIDE, root_environment
from racwire_lab.cluster.fault_kind import ActiveFault
from racwire_lab.cluster.faults import FAULTS, fault_named, place
from racwire_lab.cluster.hands import Hand, checked_hand
from racwire_lab.cluster.load import measured_load
from racwire_lab.cluster.losses import Losses, LossReader
from racwire_lab.cluster.processes import missing_tool, run_all
from racwire_lab.cluster.profiles import NodeAccount
from racwire_lab.cluster.state import RemoteShell, State, load, save
from racwire_lab.cluster.topology import network_named, node_named
from racwire_lab.lab_errors import LabError, LabUsageError
from racwire_lab.switch.reading import SwitchReader
from racwire_lab.switch.view import SwitchView

_PULLED_S = 0.3
"""Seconds for which a cable is pulled: much less than what moves a HAIP."""
_ENTER = Path(__file__).parents[1] / "programs" / "enter.py"


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
        return directory.settings_file(self.directory)

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
            return {**roles.login_environment(self.directory, account), INSIDE: str(self.directory)}
        return root_environment(self.directory, name, self.remote_shell)

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

    def break_(
        self, fault: str, node: str | None = None, network: str | int | None = None, share: float | None = None
    ) -> Lab:
        """Add a fault, which drops this share of the packets in percent; None for its usual one. A fault that is there
        already changes nothing.

        Raises LabUsageError when the fault cannot be made at this place, and LabError when the machine does not allow
        it.
        """
        known = fault_named(fault)
        active = place(known, self.state.shape, node, network, share)
        if known.needs_nft and shutil.which("nft") is None:
            raise LabError(f"For the fault {known.name}: {missing_tool('nft')}")
        if known.needs_users and not self.state.profile.accounts:
            raise LabUsageError(f"The fault {known.name} needs {known.needs}.")
        if reason := far_end.why_not(known.name):
            raise LabError(f"The fault {known.name} is not possible on this machine: {reason}.")
        if known.needs_sshd and self.remote_shell != "ssh":
            raise LabError(f"The fault {known.name} needs sshd, but {self.remote_shell_reason}.")

        def added(state: State) -> State:
            there = next((fault for fault in state.faults if fault == active), None)
            if there and share is not None and there.share != share:
                raise LabUsageError(f"The fault {self.described(there)} is already there: fix it first.")
            return state if there else replace(state, faults=(*state.faults, active))

        return self._change(added)

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
    def hands(self) -> tuple[Hand, ...]:
        """What people did at the switch and did not take back, oldest first."""
        return self.state.hands

    def hand(self, act: str, words: Sequence[str], network: str | int | None = None) -> Lab:
        """Do at the switch of a private network what a person does there: exchange the cables of two nodes, move that
        of one node to a free port, disable a link of an aggregation. The links of the nodes go down for a moment.

        Raises LabUsageError when it is not possible.
        """
        number = network_named(2 if network is None else network, self.state.shape)
        done = checked_hand(act, words, self.state.shape, number, self.state.hands, time.time())
        return self._change(lambda state: replace(state, hands=(*state.hands, done)))._pulled(done)

    def hand_back(self) -> Lab:
        """Take the last act back. Raises LabUsageError when there is none."""
        if not self.state.hands:
            raise LabUsageError("No hand is at the switch: there is nothing to take back.")
        last = self.state.hands[-1]
        return self._change(lambda state: replace(state, hands=state.hands[:-1]))._pulled(last)

    def _pulled(self, hand: Hand) -> Lab:
        """Pull the cables of an act, and plug them in again."""
        running = apply.running_cluster(self.directory, self.state)
        cables = apply.desired_of(self.state).cables
        ports = [port for port in hand.ports if cables[port].plugged]
        for state in ("down", "up"):
            run_all([running.in_switch(f"link set {port.name} {state}" for port in ports)])
            time.sleep(_PULLED_S if state == "down" else 0)
        return self

    def read_switch(self, network: str | int | None = None, *, second: bool = False) -> SwitchView:
        """Return what the switch of a private network has now, or the second one that a fault connected.

        Raises LabUsageError where there is none, and LabError when a counter cannot be read.
        """
        chosen = self.state.shape.networks[network_named(2 if network is None else network, self.state.shape)]
        running = apply.running_cluster(self.directory, self.state)
        reader = SwitchReader(running.init, running.rootless, self.state, apply.desired_of(self.state))
        return reader.read(chosen, second=second)

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

    @property
    def rate(self) -> str:
        """The rate of the private switch ports, such as `1g`; empty for that of the kernel's links."""
        return port_queues.rate_text(self.state.shape.rate_mbps) if self.state.shape.rate_mbps else ""

    @property
    def prioritised_packets(self) -> int:
        """How many packets of each flow leave the private switch ports first."""
        return self.state.prioritised_packets

    def prioritise(self, packets: str) -> Lab:
        """Let the first packets of each flow leave the private switch ports first: their number, or `off`.

        Raises LabUsageError when the number is out of range or the ports have no rate, and LabError when the change
        fails.
        """
        number = port_queues.checked_priority(packets, self.state.shape)
        if number and shutil.which("nft") is None:
            raise LabError(f"For --prioritise: {missing_tool('nft')}")
        return self._change(lambda state: replace(state, prioritised_packets=number))

    @property
    def blocks_per_s(self) -> int | None:
        """The wanted load of all instances together, in blocks a second; None for their usual load."""
        return self.state.blocks_per_s

    def set_load(self, blocks_per_s: int | None) -> Lab:
        """Set the blocks a second that all instances together exchange; 0 for none, None for their usual load.

        Raises LabUsageError when the cluster has no database, and LabError when the change fails.
        """
        self._need_database()
        return self._change(lambda state: replace(state, blocks_per_s=blocks_per_s))

    def measured_load(self) -> float:
        """Return the blocks a second that all open instances received in about a second, as their counters say.

        Raises LabUsageError when the cluster has no database, and LabError when an instance does not answer.
        """
        self._need_database()
        return measured_load(self.directory, self.nodes)

    def losses(self, begun_at: float, ended_at: float) -> Losses:
        """Return the lost blocks of an interval in seconds since 1970, whose start is at most `MOST_S` of `losses` ago.

        Raises LabUsageError when the cluster has no database, and LabError when a counter cannot be read.
        """
        self._need_database()
        state = self.state
        reader = LossReader(
            self.directory, state.init, state.nodes, state.hypervisors, state.rootless, apply.desired_of(state)
        )
        return reader.read(begun_at, ended_at)

    def _need_database(self) -> None:
        if not self.state.shape.database:
            raise LabUsageError(
                "This cluster has no database, so no load: run `racwire lab down`, then `racwire lab up`."
            )

    @property
    def behind_hypervisor(self) -> tuple[str, ...]:
        """The nodes whose private NICs are behind a hypervisor's bridge."""
        return self.state.shape.hypervisor

    def described(self, fault: ActiveFault) -> str:
        """Return the name of a fault and its place, such as `link-down (rac2 eth2)`."""
        place = " ".join(part for part in (fault.node, self.nic_of(fault.network)) if part)
        place += f"{', ' if place else ''}{fault.share:g} %" if fault.share != FAULTS[fault.fault].share else ""
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
            running = apply.running_cluster(self.directory, state)
            healthy = desired(state.shape, (), wanted.port_mtus)
            before, after = apply.desired_of(state), apply.desired_of(wanted)
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


def refuse_inside() -> None:
    """Raise LabError in the shell of a practice node."""
    if INSIDE in os.environ:
        raise LabError("This shell is inside a practice node: leave it with `exit`, then run the command again.")
