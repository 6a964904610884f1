"""The file that says how the instance of this node should be; the practice cluster rewrites it for each fault."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field, fields

FILE = "instance.json"


@dataclass(frozen=True)
class Interconnect:
    """An address that the instance uses, and what V$CLUSTER_INTERCONNECTS says of it."""

    network: int
    ip: str
    is_public: str
    source: str


@dataclass(frozen=True)
class Settings:
    """How the instance should be."""

    number: int
    name: str
    host: str
    version: str
    is_open: bool
    interconnects: tuple[Interconnect, ...]
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
        self._seen: tuple[int, int] | None = None

    def news(self) -> Settings | None:
        """The settings when they have changed since they were last asked for."""
        status = os.stat(self._path)
        mark = status.st_ino, status.st_mtime_ns
        if mark == self._seen:
            return None
        with open(self._path, encoding="utf-8") as file:
            document = json.load(file)
        self._seen = mark
        # There may be more in it, for the instance's other program.
        known = {name: document[name] for name in (f.name for f in fields(Settings)) if name in document}
        known["interconnects"] = tuple(Interconnect(**entry) for entry in document["interconnects"])
        known["peers"] = {
            int(peer): {int(network): ip for network, ip in addresses.items()}
            for peer, addresses in document["peers"].items()
        }
        known["hosts"] = {int(peer): host for peer, host in document.get("hosts", {}).items()}
        return Settings(**known)
