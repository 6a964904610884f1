"""Hosts on a private network that are no nodes.

A quiet one is the switch itself, with an address there, which contacts the nodes. A noisy one has a NIC of its own, and
sends large flows to one node.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from racwire_lab.cluster.fault_kind import ActiveFault, Fault
from racwire_lab.cluster.nics import Nic
from racwire_lab.cluster.processes import LabJob, Process, into
from racwire_lab.cluster.topology import SWITCH_MTU, PortId, Shape, index_of
from racwire_lab.programs.stranger import FLOWS

_HOST, _PORT = 200, 9
"""The last number of the address; and the port that it tries on each node, where no program listens."""
_NOISY, _NOISY_PORT = 210, 5010
"""What is added to the number of the node for the last number of the noisy host's address; and the port."""
_PROGRAM = Path(__file__).parents[1] / "programs" / "stranger.py"

FOREIGN_FAULTS = (
    Fault(
        "foreign-host",
        "A host that is no node is on a private network.",
        f"Gives the switch of the network an address in the private subnet, ending in .{_HOST}; each second it tries "
        "a TCP connection to each node, which no program accepts.",
        "network",
        default_node=None,
    ),
    Fault(
        "noisy-neighbour",
        "A host that is no node sends large flows to one node over a private network.",
        f"Connects a host to the switch of the network; {FLOWS} TCP connections from there fill the node's port, "
        "and blocks to the node wait in its buffer. With small-switch-buffer too, the switch drops some.",
        "nic",
        needs_rate=True,
    ),
)


@dataclass(frozen=True)
class ForeignHost:
    """A host on a private network: the interface of the switch, its address, and the addresses that it contacts."""

    bridge: str
    address: str
    nodes: tuple[str, ...]


@dataclass(frozen=True, order=True)
class NoisyHost:
    """A host that sends large flows to a node: its link, its switch, its address, and the node with its address."""

    link: str
    bridge: str
    address: str
    mtu: int
    node: str
    target: str


def noisy_hosts(shape: Shape, nics: Mapping[PortId, Nic], broken: frozenset[ActiveFault]) -> frozenset[NoisyHost]:
    """Return the noisy hosts with these faults."""
    return frozenset(
        NoisyHost(
            f"noisy{port.name.removeprefix('rac')}",
            shape.networks[port.network].bridge,
            _address(nic, _NOISY + index_of(port.node)),
            nic.mtu,
            port.node,
            nic.address.partition("/")[0],
        )
        for port, nic in nics.items()
        if ActiveFault("noisy-neighbour", *port) in broken
    )


def _address(nic: Nic, last: int) -> str:
    """An address in the subnet of a NIC, with its prefix length."""
    address, _, length = nic.address.partition("/")
    return f"{address.rpartition('.')[0]}.{last}/{length}"


@dataclass(frozen=True)
class NoiseChange:
    """The change of the noisy hosts from one state to another."""

    directory: Path
    init: Process
    nodes: Mapping[str, Process]
    before: frozenset[NoisyHost]
    after: frozenset[NoisyHost]
    rootless: bool

    def removed(self) -> list[str]:
        """End the programs that the new state does not have; return the commands that remove their links."""
        hosts = sorted(self.before - self.after)
        for host in hosts:
            self._file(host).unlink(missing_ok=True)
        return [f"link delete {host.link}" for host in hosts]

    def added(self) -> list[str]:
        """Return the commands that make the links of the new hosts, for the switch."""
        return [
            line
            for host in sorted(self.after - self.before)
            for line in (
                f"link add {host.link}-s mtu {SWITCH_MTU} type veth peer name {host.link} mtu {host.mtu}",
                f"link set {host.link}-s master {host.bridge} up",
                f"link set {host.link} gso_max_segs 1",
                f"address add {host.address} brd + dev {host.link}",
                f"link set {host.link} up",
            )
        ]

    def programs(self) -> list[LabJob]:
        """Return the jobs that start the programs of the new hosts; each runs as long as its file exists."""
        jobs = []
        for host in sorted(self.after - self.before):
            self._file(host).touch()
            # In the first namespace of processes: a reboot of the node does not end the reader.
            at_node = [
                *into(self.nodes[host.node], "net", rootless=self.rootless),
                f"--pid=/proc/{self.init.pid}/ns/pid",
            ]
            at_host = into(self.init, "net", "pid", rootless=self.rootless)
            for entered, role in ((at_node, "serve"), (at_host, "flood")):
                words = [sys.executable, "-I", "-S", str(_PROGRAM), role, host.target, str(_NOISY_PORT)]
                text = f"{shlex.join([*words, str(self._file(host))])} </dev/null >/dev/null 2>&1 &"
                jobs.append(LabJob([*entered, "sh", "-c", text], "", "start a noisy host"))
        return jobs

    def _file(self, host: NoisyHost) -> Path:
        return self.directory / host.link


def foreign_hosts(shape: Shape, broken: frozenset[ActiveFault]) -> tuple[ForeignHost, ...]:
    """Return the foreign hosts with these faults."""
    return tuple(
        ForeignHost(
            network.bridge,
            f"{network.address(1).rpartition('.')[0]}.{_HOST}/{network.prefix_length}",
            tuple(network.address(number) for number in range(1, shape.size + 1)),
        )
        for network in shape.private_networks
        if ActiveFault("foreign-host", None, network.number) in broken
    )


def ended(directory: Path, hosts: tuple[ForeignHost, ...]) -> list[str]:
    """End the programs of these hosts; return the commands that remove their addresses, for the switch."""
    for host in hosts:
        for node in host.nodes:
            _file(directory, node).unlink(missing_ok=True)
    return [f"address del {host.address} dev {host.bridge}" for host in hosts]


def made(hosts: tuple[ForeignHost, ...]) -> list[str]:
    """Return the commands that add the addresses of these hosts, for the switch."""
    return [f"address add {host.address} dev {host.bridge}" for host in hosts]


def programs(directory: Path, init: Process, hosts: tuple[ForeignHost, ...], *, rootless: bool) -> list[LabJob]:
    """Return the jobs that start the programs of these hosts; each runs as long as its file exists."""
    jobs = []
    for node in (node for host in hosts for node in host.nodes):
        file = _file(directory, node)
        file.touch()
        words = [sys.executable, "-I", "-S", str(_PROGRAM), "greet", node, str(_PORT), str(file)]
        text = f"{shlex.join(words)} </dev/null >/dev/null 2>&1 &"
        argv = [*into(init, "net", "pid", rootless=rootless), "sh", "-c", text]
        jobs.append(LabJob(argv, "", "start a foreign host"))
    return jobs


def _file(directory: Path, node: str) -> Path:
    return directory / f"foreign-{node}"
