"""A second host, behind another switch, that answers for the private address of a node.

The kernel has no such address: a program of the lab answers the ARP requests, and announces itself, and nothing answers
what the others then send there.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from racwire_lab.cluster.fault_kind import ActiveFault, Fault
from racwire_lab.cluster.nics import Nic
from racwire_lab.cluster.processes import LabJob, Process, into
from racwire_lab.cluster.topology import SWITCH_MTU, PortId, Shape, index_of

_NAME = "duplicate-elsewhere"
_PROGRAM = Path(__file__).parents[1] / "programs" / "claiming.py"

SECOND_FAULTS = (
    Fault(
        _NAME,
        "A host behind another switch answers for the private address of one node.",
        "Connects a second switch with a host, which answers the ARP requests for the private address of the node and "
        "announces itself twice a second: the packets to that address go there and are lost. Packets from the node, "
        "and those to its HAIP, pass; the switch has the MAC address of the host at the link to the second switch.",
        "nic",
    ),
)


@dataclass(frozen=True, order=True)
class SecondHost:
    """A host with the address of a node: its switch and that of the network, its MAC address, and the address."""

    port: PortId
    bridge: str
    mac: str
    address: str

    @property
    def switch(self) -> str:
        """The second switch."""
        return f"x-{self.port.name}"

    @property
    def trunk(self) -> tuple[str, str]:
        """The ends of the link between the switches: in that of the network, and in the second one."""
        return f"xu-{self.port.name}", f"xd-{self.port.name}"

    @property
    def link(self) -> str:
        """The NIC of the host."""
        return f"tw-{self.port.name}"


def second_hosts(shape: Shape, nics: Mapping[PortId, Nic], broken: frozenset[ActiveFault]) -> frozenset[SecondHost]:
    """Return the second hosts with these faults."""
    return frozenset(
        SecondHost(
            port,
            shape.networks[port.network].bridge,
            f"02:72:61:65:{port.network:02x}:{index_of(port.node):02x}",
            nics[port].address.partition("/")[0],
        )
        for port in shape.private_ports
        if ActiveFault(_NAME, *port) in broken
    )


@dataclass(frozen=True)
class SecondHostChange:
    """The change of the second hosts from one state to another."""

    directory: Path
    init: Process
    before: frozenset[SecondHost]
    after: frozenset[SecondHost]
    rootless: bool

    def removed(self) -> list[str]:
        """End the programs that the new state does not have; return the commands that remove their links."""
        lines = []
        for host in sorted(self.before - self.after):
            (self.directory / host.link).unlink(missing_ok=True)
            lines += [f"link delete {name}" for name in (host.link, host.trunk[0], host.switch)]
        return lines

    def added(self, bridge: Callable[[str], list[str]]) -> list[str]:
        """Return the commands that make the switches, as `bridge` says how, and links of the new hosts."""
        lines = []
        for host in sorted(self.after - self.before):
            (up, down), seen = host.trunk, f"{host.link}-s"
            lines += [
                *bridge(host.switch),
                f"link add {up} mtu {SWITCH_MTU} type veth peer name {down} mtu {SWITCH_MTU}",
                f"link set {up} master {host.bridge} up",
                f"link set {down} master {host.switch} up",
                f"link add {host.link} address {host.mac} mtu {SWITCH_MTU} type veth peer name {seen} mtu {SWITCH_MTU}",
                f"link set {seen} master {host.switch} up",
                f"link set {host.link} arp off up",
            ]
        return lines

    def programs(self) -> list[LabJob]:
        """Return the jobs that start the programs of the new hosts; each runs as long as its file exists."""
        jobs = []
        for host in sorted(self.after - self.before):
            file = self.directory / host.link
            file.touch()
            words = [sys.executable, "-I", "-S", str(_PROGRAM), host.link, host.address, str(file)]
            text = f"{shlex.join(words)} </dev/null >/dev/null 2>&1 &"
            argv = [*into(self.init, "net", "pid", rootless=self.rootless), "sh", "-c", text]
            jobs.append(LabJob(argv, "", "start a host with the address of a node"))
        return jobs
