"""The storage server of `lab up --storage`: a host on a network of its own, and what each node mounts from it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from racwire_lab.cluster.fault_kind import ActiveFault, Fault
from racwire_lab.cluster.processes import LabJob, Process, into
from racwire_lab.cluster.ssh_configuration import node_home
from racwire_lab.cluster.topology import NFS_PORT, STANDARD_MTU, SWITCH_MTU, Shape

_NUMBER = 200
"""The last number of the server's address."""
_LINK = "filer"
_PROGRAM = Path(__file__).parents[1] / "programs" / "storage.py"
_MOUNT = "/backup"

STORAGE_FAULTS = (
    Fault(
        "storage-mtu",
        "The interface of the storage server has MTU 1500.",
        "Gives the storage server MTU 1500, and opens the connections again: the server offers segments of 1460 bytes "
        "to nodes whose interfaces have MTU 9000.",
        "cluster",
        default_node=None,
        default_network=None,
        needs_jumbo=True,
        needs_storage=True,
    ),
    Fault(
        "storage-on-private",
        "The nodes mount from an address of the storage server on a private network.",
        "Moves the storage server to eth1's network, with the address 192.168.10.200, and mounts from there.",
        "cluster",
        default_node=None,
        default_network=None,
        needs_storage=True,
    ),
    Fault(
        "asm-elsewhere",
        "One instance uses the ASM instance of another node.",
        "V$ASM_CLIENT of the instance names the ASM instance of the first other node, as Flex ASM leaves it after a "
        "stop of the instance's own one.",
        "node",
        default_network=None,
        needs_database=True,
    ),
)
"""The faults of storage, in the order of `racwire lab faults`."""


@dataclass(frozen=True)
class StorageServer:
    """The desired storage server, and the nodes that mount from it."""

    bridge: str
    address: str
    prefix_length: int
    mtu: int
    clients: tuple[str, ...]

    @property
    def file_name(self) -> str:
        """The name of the file that its processes live by: another server is another file."""
        return f"storage-{self.address}-{self.mtu}"


def storage_server(shape: Shape, broken: Iterable[ActiveFault]) -> StorageServer | None:
    """Return the desired storage server; None in a cluster without one."""
    faults = {fault.fault for fault in broken}
    network = shape.storage_network
    if network is None:
        return None
    if "storage-on-private" in faults:
        network = shape.private_networks[0]
    mtu = STANDARD_MTU if "storage-mtu" in faults else shape.mtu
    return StorageServer(network.bridge, network.address(_NUMBER), network.prefix_length, mtu, shape.nodes)


def link_lines(server: StorageServer) -> list[str]:
    """Return the `ip` commands that connect the server to its switch, in the switch's namespace."""
    return [
        f"link add {_LINK}-sw mtu {SWITCH_MTU} type veth peer name {_LINK} mtu {server.mtu}",
        f"link set {_LINK}-sw master {server.bridge} up",
        f"link set {_LINK} gso_max_segs 1",
        f"address add {server.address}/{server.prefix_length} brd + dev {_LINK}",
        f"link set {_LINK} up",
    ]


def unlink_lines() -> list[str]:
    """Return the `ip` commands that remove the server's link."""
    return [f"link delete {_LINK}"]


def end(directory: Path, server: StorageServer) -> None:
    """Let the processes of the server and of its clients end."""
    for owner in (directory, *(node_home(directory, node) for node in server.clients)):
        (owner / server.file_name).unlink(missing_ok=True)


def start(
    directory: Path, server: StorageServer, init: Process, nodes: dict[str, Process], *, rootless: bool
) -> list[LabJob]:
    """Return the jobs that start the server and the mount of each node; they run as long as their files exist."""
    device = f"{server.address}:/vol/backup"
    options = (
        f"rw,vers=3,rsize=32768,wsize=32768,hard,proto=tcp,nconnect=2,timeo=600,mountproto=tcp,addr={server.address}"
    )
    jobs = [_job(directory / server.file_name, init, "serve", server, (), rootless=rootless)]
    for node in server.clients:
        home = node_home(directory, node)
        (home / "mounts").write_text(f"{device} {_MOUNT} nfs {options} 0 0\n", encoding="ascii")
        lines = home / "mountstats.head"
        lines.write_text(
            f"device {device} mounted on {_MOUNT} with fstype nfs statvers=1.1\n\topts:\t{options}\n\tage:\t0\n",
            encoding="ascii",
        )
        (home / "mountstats").write_text(lines.read_text(encoding="ascii"), encoding="ascii")
        counts = (str(home / "mountstats"), str(lines))
        jobs.append(_job(home / server.file_name, nodes[node], "mount", server, counts, rootless=rootless))
    return jobs


def _job(
    file: Path, holder: Process, role: str, server: StorageServer, counts: tuple[str, ...], *, rootless: bool
) -> LabJob:
    file.touch()
    words = [sys.executable, "-I", "-S", str(_PROGRAM), role, server.address, str(NFS_PORT), str(file), *counts]
    argv = [*into(holder, "mount", "net", "pid", rootless=rootless), "sh", "-c"]
    argv.append(f"{shlex.join(words)} </dev/null >/dev/null 2>&1 &")
    return LabJob(argv, "", f"start the storage of {file.parent.name}")
