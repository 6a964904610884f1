"""A host on a private network that is no node: the switch itself gets an address there and contacts the nodes."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

from racwire_lab.cluster.fault_kind import ActiveFault, Fault
from racwire_lab.cluster.processes import LabJob, Process, into
from racwire_lab.cluster.topology import Shape

_HOST, _PORT = 200, 9
"""The last number of the address; and the port that it tries on each node, where no program listens."""
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
)


@dataclass(frozen=True)
class ForeignHost:
    """A host on a private network: the interface of the switch, its address, and the addresses that it contacts."""

    bridge: str
    address: str
    nodes: tuple[str, ...]


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
