"""The connections of NetworkManager on this node."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from . import keyfile, links, node
from .wanted import Wanted, text_of


@dataclass(frozen=True)
class NmConnection:
    """One connection, as NetworkManager last read it."""

    path: Path
    text: str

    @cached_property
    def sections(self) -> keyfile.Keyfile:
        """The keys of the connection's file."""
        return keyfile.parse(self.text)

    def value(self, section: str, key: str) -> str:
        """Return the value in the file; empty when there is none."""
        return self.sections.get(section, {}).get(key, "")

    @property
    def id(self) -> str:
        """The name of the connection."""
        return self.value("connection", "id") or self.path.name.removesuffix(".nmconnection")

    @property
    def uuid(self) -> str:
        """The permanent identifier of the connection."""
        return self.value("connection", "uuid")

    @property
    def interface(self) -> str:
        """The interface of the connection."""
        return self.value("connection", "interface-name")

    @property
    def wanted(self) -> Wanted:
        """The configuration of the interface."""
        return keyfile.wanted_of(self.sections)

    @property
    def is_active(self) -> bool:
        """Whether the connection is active: in a practice node no interface has two."""
        return links.is_up(self.interface)

    @property
    def file(self) -> Path:
        """The path of the keyfile."""
        return node.KEYFILES / self.path.name


def connections() -> list[NmConnection]:
    """Return all connections, by name."""
    found = [NmConnection(path, text_of(path)) for path in keyfile.loaded(node.LOADED)]
    return sorted(found, key=lambda profile: profile.id)


def find(name: str) -> NmConnection | None:
    """Return the connection with that name, UUID or file; None when there is none."""
    return next((p for p in connections() if name in (p.id, p.uuid, str(p.file))), None)
