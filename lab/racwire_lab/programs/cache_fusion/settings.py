"""The file that says how the instance of this node should be; the practice cluster rewrites it for each fault."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field, fields

FILE = "instance.json"
FOLLOWED_BY = "followed_by_{}"
"""Beside it, for each program that follows it: which writing of it the program has carried out (`mark_of`)."""


def mark_of(path: str) -> str:
    """Tells one writing of a file from the others; empty where there is no such file."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return ""
    return f"{status.st_ino} {status.st_mtime_ns}"


def confirm(directory: str, program: str, mark: str) -> None:
    """Write down that a program has carried out what the file said at that mark."""
    path = os.path.join(directory, FOLLOWED_BY.format(program))
    with open(f"{path}.new", "w", encoding="ascii") as file:
        file.write(mark)
    os.replace(f"{path}.new", path)


@dataclass(frozen=True)
class InterconnectAddress:
    """An address that the instance uses, and what V$CLUSTER_INTERCONNECTS says of it."""

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
    """The other instances: their addresses by network."""
    hosts: dict[int, str] = field(default_factory=dict)
    """The nodes of the other instances."""
    asks_by_way_of_others: bool = True
    parameters: dict[str, str] = field(default_factory=dict)
    receive_buffer_bytes: int | None = None
    """Of the sockets that blocks come to; None for a size that suffices."""
    restart_every_s: float | None = None
    counts_false_losses: bool = False
    hangs: bool = False
    """It answers nobody who asks for its state."""


class SettingsFile:
    """The file, read again when it was written anew."""

    def __init__(self, directory: str) -> None:
        self._path = os.path.join(directory, FILE)
        self.mark = ""
        """Of the writing that was read last."""

    def news(self) -> InstanceSettings | None:
        """The settings when they have changed since they were last asked for."""
        mark = mark_of(self._path)
        if mark == self.mark:
            return None
        with open(self._path, encoding="utf-8") as file:
            document = json.load(file)
        self.mark = mark
        # There may be more in it, for the instance's other program.
        known = {name: document[name] for name in (f.name for f in fields(InstanceSettings)) if name in document}
        known["interconnects"] = tuple(InterconnectAddress(**entry) for entry in document["interconnects"])
        known["peers"] = {
            int(peer): {int(network): ip for network, ip in addresses.items()}
            for peer, addresses in document["peers"].items()
        }
        known["hosts"] = {int(peer): host for peer, host in document.get("hosts", {}).items()}
        return InstanceSettings(**known)
