"""The file with the desired state of this node's instance; the practice cluster rewrites it for each fault."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field, fields

FILE = "instance.json"
FOLLOWED_BY = "followed_by_{}"
"""A file for each program that follows the settings: the mark of the version that it has applied (`mark_of`)."""


def mark_of(path: str) -> str:
    """Return a mark that identifies the current version of a file; empty when there is no file."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return ""
    return f"{status.st_ino} {status.st_mtime_ns}"


def confirm(directory: str, program: str, mark: str) -> None:
    """Record that a program has applied the version of the file with that mark."""
    path = os.path.join(directory, FOLLOWED_BY.format(program))
    with open(f"{path}.new", "w", encoding="ascii") as file:
        file.write(mark)
    os.replace(f"{path}.new", path)


@dataclass(frozen=True)
class InterconnectAddress:
    """An address that the instance uses, with its columns of V$CLUSTER_INTERCONNECTS."""

    network: int
    ip: str
    is_public: str
    source: str


@dataclass(frozen=True)
class InstanceSettings:
    """The desired state of the instance."""

    number: int
    name: str
    host: str
    version: str
    is_open: bool
    interconnects: tuple[InterconnectAddress, ...]
    peers: dict[int, dict[int, str]]
    """The addresses of the other instances by number and network."""
    hosts: dict[int, str] = field(default_factory=dict)
    """The nodes of the other instances."""
    asks_by_way_of_others: bool = True
    parameters: dict[str, str] = field(default_factory=dict)
    receive_buffer_bytes: int | None = None
    """The size of the receive buffer of the sockets that receive blocks; None for a sufficient default."""
    restart_every_s: float | None = None
    counts_false_losses: bool = False
    nfs_server: str = ""
    """The address of the storage server; empty without one."""
    asm: int = 0
    """The number of the ASM instance that the instance uses."""
    others: tuple[str, ...] = ()
    """The instances of other databases on this node; they have a process and no Cache Fusion."""
    blocks_per_s: int | None = None
    """The blocks that all open instances together request in a second; None for their usual load."""
    ping_every_s: float = 12.0
    """Seconds in which every other instance is pinged once with each size."""
    members: dict[int, tuple[str, dict[int, str]]] = field(default_factory=dict)
    """The other nodes by number: the name, and the private addresses by network; empty where CSS sends no heartbeat."""
    private: dict[int, tuple[str, str]] = field(default_factory=dict)
    """The private NICs of this node by network: name and address."""
    haips: dict[int, str] = field(default_factory=dict)
    """The HAIPs of this node by network, with their prefix length."""
    powered_off: tuple[str, ...] = ()
    """The nodes that are switched off."""
    misscount_s: float = 30.0
    """Seconds without a network heartbeat after which CSS evicts a node."""
    haip_after_s: float = 20.0
    """Seconds without a link after which a HAIP moves to another NIC."""
    stale_arp_of: tuple[str, ...] = ()
    """The nodes whose HAIPs announce no move, and whose old MAC addresses the other nodes keep for some seconds."""
    ipc_timeout_s: float = 60.0
    """Seconds without a message of an instance after which the others report an IPC send timeout."""
    hangs: bool = False
    """Whether the instance sends its state to no client."""


class SettingsFile:
    """The settings file, read again after each change."""

    def __init__(self, directory: str) -> None:
        self._path = os.path.join(directory, FILE)
        self.mark = ""
        """The mark of the version that was read last."""

    def changed_settings(self) -> InstanceSettings | None:
        """Return the settings if the file has changed since the last call, else None."""
        mark = mark_of(self._path)
        if mark == self.mark:
            return None
        with open(self._path, encoding="utf-8") as file:
            document = json.load(file)
        self.mark = mark
        # The file also has settings for the instance's other program.
        known = {name: document[name] for name in (f.name for f in fields(InstanceSettings)) if name in document}
        known["interconnects"] = tuple(InterconnectAddress(**entry) for entry in document["interconnects"])
        known["peers"] = {
            int(peer): {int(network): ip for network, ip in addresses.items()}
            for peer, addresses in document["peers"].items()
        }
        known["hosts"] = {int(peer): host for peer, host in document.get("hosts", {}).items()}
        for name in ("private", "haips"):
            known[name] = {int(network): value for network, value in document.get(name, {}).items()}
        known["members"] = {
            int(number): (host, {int(network): ip for network, ip in addresses.items()})
            for number, (host, addresses) in document.get("members", {}).items()
        }
        return InstanceSettings(**known)
