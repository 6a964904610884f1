"""Parse the output of the program `storage connections`: connections as `ss` prints them, mounts of mountstats. No I/O.

The texts of mountstats are those of versions 1.0 and 1.1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from checks.model.facts import Unknown
from checks.sources.nodes.sections import sections
from checks.sources.nodes.socket_text import Socket, parse_sockets
from checks.sources.storage_connections import ESTABLISHED, MOUNTS, NO_SS, SOCKETS, STORAGE_PORTS


@dataclass(frozen=True)
class NfsMount:
    """One mount of mountstats, with its counts since it was mounted."""

    mount: str
    device: str
    options: Mapping[str, str]
    transport: str = ""
    sizes: tuple[int, ...] = ()
    """The line `bytes`: the fifth and sixth are bytes read from and written to the server."""
    reads: tuple[int, ...] = ()
    writes: tuple[int, ...] = ()
    """Operations, transmissions, timeouts, bytes sent and received, and times in ms: in the queue, round trip, all."""


@dataclass(frozen=True)
class StorageReading:
    """The state of a node's connections and mounts at one moment."""

    sockets: tuple[Socket, ...] | Unknown
    mounts: tuple[NfsMount, ...] | Unknown
    at_s: float = 0.0
    """The time of the reading in seconds, of a clock that does not jump."""


def parse_storage(text: str) -> StorageReading:
    """Parse the output of the program `storage connections`."""
    parts = sections(text)
    incomplete = Unknown("The answer is incomplete.")
    mounts: tuple[NfsMount, ...] | Unknown = incomplete
    if MOUNTS in parts:
        # grep ends with 2 where it could not read the file.
        refused = parts[MOUNTS].exit_status > 1
        mounts = (
            Unknown("The node does not show /proc/self/mountstats.") if refused else parse_mounts(parts[MOUNTS].text)
        )
    return StorageReading(_sockets(parts[SOCKETS].text) if SOCKETS in parts else incomplete, mounts)


def _sockets(text: str) -> tuple[Socket, ...] | Unknown:
    first, _, rest = text.partition("\n")
    listed = first.removeprefix(ESTABLISHED).strip()
    if not first.startswith(ESTABLISHED) or not listed.isdecimal():
        return Unknown("The node does not show /proc/net/tcp.")
    if rest.strip() == NO_SS:
        return Unknown("The node has connections to storage, and no ss that shows their packet sizes.")
    found = tuple(one for one in parse_sockets(rest) if one.remote[1] in STORAGE_PORTS)
    if int(listed) and not found:
        return Unknown("The node has connections to storage, and its ss showed none.")
    if found and not any("mss" in socket.values for socket in found):
        return Unknown("The ss of the node does not show the packet sizes of connections.")
    return found


# --- mountstats -------------------------------------------------------------------------------------------------------

_DEVICE = re.compile(r"device (.*) mounted on (.*) with fstype nfs4?(?:\s.*)?")


def parse_mounts(text: str) -> tuple[NfsMount, ...]:
    """Parse the lines of mountstats that the program prints. A line that cannot be parsed is left out."""
    found: list[NfsMount] = []
    for line in text.split("\n"):
        if matched := _DEVICE.fullmatch(line.rstrip()):
            found.append(NfsMount(matched[2], matched[1], {}))
            continue
        name, colon, rest = line.strip().partition(":")
        if not found or not colon or not line[:1].isspace():
            continue
        if name == "opts":
            options = dict(option.partition("=")[::2] for option in rest.strip().split(","))
            found[-1] = replace(found[-1], options=options)
        elif name == "xprt" and rest.split():
            found[-1] = replace(found[-1], transport=found[-1].transport or rest.split()[0])
        elif counts := _counts(rest):
            mount = found[-1]
            found[-1] = replace(
                mount,
                sizes=counts if name == "bytes" else mount.sizes,
                reads=counts if name == "READ" else mount.reads,
                writes=counts if name == "WRITE" else mount.writes,
            )
    return tuple(found)


def _counts(text: str) -> tuple[int, ...]:
    """The numbers of a line; empty where a word is no number."""
    words = text.split()
    return tuple(map(int, words)) if all(re.fullmatch("[0-9]{1,20}", word, re.ASCII) for word in words) else ()
