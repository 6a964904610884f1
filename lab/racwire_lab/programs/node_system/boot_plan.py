"""The interfaces that a node's network service configures from its files."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from . import ifcfg, keyfile, links, networkd, node
from .wanted import Wanted, files_in, text_of

LOADED_MODE = 0o644
"""NetworkManager reports its connections, without secrets, to every user."""


def wanted() -> list[Wanted]:
    """Return the interfaces that this node's network service configures at boot."""
    service = node.network_service()
    if service == "keyfile":
        return keyfile.read(node.LOADED)
    if service == "ifcfg":
        return ifcfg.read(node.IFCFG)
    return networkd.read(node.NETWORKD, links.interfaces())


def taken_by_networkmanager(wanted: Wanted) -> Wanted:
    """Return the interface as NetworkManager leaves it after it has activated the profile.

    When the profile sets no MTU, NetworkManager restores the MTU from before its own change; an MTU that another
    program has set stays.
    """
    has_set = text_of(node.MTU_SET).split()
    others = [name for name in has_set if name != wanted.interface]
    put(node.MTU_SET, "".join(f"{name}\n" for name in (*others, *([wanted.interface] if wanted.mtu else ()))))
    if wanted.mtu or wanted.interface not in has_set:
        return wanted
    return replace(wanted, mtu=links.STANDARD_MTU)


def load_keyfiles() -> None:
    """Read all files again, as NetworkManager does when it starts and when it reloads."""
    node.LOADED.mkdir(exist_ok=True)
    there = {path.name: path for path in keyfile.files(node.KEYFILES)}
    for path in files_in(node.LOADED):
        if path.name not in there:
            path.unlink()
    for name, path in there.items():
        put(node.LOADED / name, text_of(path), LOADED_MODE)


def put(path: Path, text: str, mode: int = 0o600) -> None:
    """Write a file in one step; by default no other user may read it."""
    new_path = path.with_name(f".{path.name}.new")
    new_path.unlink(missing_ok=True)
    with os.fdopen(os.open(new_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(new_path, path)
