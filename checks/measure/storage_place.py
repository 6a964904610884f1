"""What a directory is that `racwire measure storage` is to use, and why nothing is written there. No I/O."""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from checks.measure.load_refusals import LoadRefusal
from checks.model.facts import Cluster, Unknown
from checks.model.measurement import MeasuredPath
from checks.model.wording import listed
from checks.rules.table_routes import route_to

LEAST_FREE = 0.2
"""The share of a file system that must stay free with the file in it."""
_OVER_A_NETWORK = (
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "ceph",
    "lustre",
    "gpfs",
    "glusterfs",
    "fuse.glusterfs",
    "beegfs",
    "9p",
)
_IN_MEMORY = ("tmpfs", "ramfs", "devtmpfs", "proc", "sysfs")
_OF_ORACLE = ("acfs", "oracleasmfs")
_SAN = {"/session": "iSCSI", "/rport-": "Fibre Channel", "/nvme-fabrics": "NVMe over a network"}
_DATAFILE = re.compile(
    r".*\.(dbf|ctl|ora|dmp|arc|bkp|f|flb)|o1_mf_.*|redo\d*\.log|(snapcf|spfile|orapw).*", re.IGNORECASE
)
_DATA_DIRECTORY = re.compile(
    r"(datafile|onlinelog|controlfile|archivelog|tempfile|autobackup|backupset)", re.IGNORECASE
)
_OCTAL = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True, slots=True)
class Mount:
    """The mount that a directory is on, as /proc/self/mountinfo has it."""

    point: str
    file_system: str
    source: str
    """`10.40.0.200:/export`, `/dev/sda1`."""
    options: tuple[str, ...]
    """Those of the mount and of the file system."""


def mount_of(mountinfo: str, real: str, device: int) -> Mount | None:
    """Return the mount of a real path on this device number: the longest mount point; the last of several there."""
    number = f"{os.major(device)}:{os.minor(device)}"
    found: tuple[bool, int, int, Mount] | None = None
    for place, line in enumerate(mountinfo.splitlines()):
        before, _, after = line.partition(" - ")
        words, last = before.split(" "), after.split(" ")
        if len(words) < 6 or len(last) < 3:
            continue
        point = _plain(words[4])
        if real != point and not real.startswith(point.rstrip("/") + "/"):
            continue
        mount = Mount(point, last[0], _plain(last[1]), (*words[5].split(","), *last[2].split(",")))
        # Of a btrfs subvolume, the device number is another one than that of its mount.
        key = (words[2] == number, len(point), place, mount)
        if found is None or key[:3] >= found[:3]:
            found = key
    return found[3] if found else None


def _plain(text: str) -> str:
    r"""Undo `\040` for a space, in which mountinfo writes names."""
    return _OCTAL.sub(lambda match: chr(int(match[1], 8)), text)


@dataclass(frozen=True, slots=True)
class StoragePlace:
    """A directory, as this node sees it."""

    asked: str
    real: str
    """Without symbolic links."""
    device: int
    inode: int
    size: int
    free: int
    """Bytes, for ordinary users."""
    is_read_only: bool
    is_writable: bool
    names: tuple[str, ...]
    """Names in it, up to 5,000."""
    mount: Mount | None
    disk: str = ""
    """Where the block device is in /sys; empty where there is none."""

    @classmethod
    def of(cls, asked: str, look: dict[str, Any], mountinfo: str, disk: str) -> StoragePlace:
        """Return the place from the sender's look at it."""
        return cls(
            asked,
            look["real"],
            look["device"],
            look["inode"],
            look["size"],
            look["free"],
            look["is_read_only"],
            look["is_writable"],
            tuple(look["names"]),
            mount_of(mountinfo, look["real"], look["device"]),
            disk,
        )

    @property
    def file_system(self) -> str:
        """Its kind: `nfs4`; empty where no mount was found."""
        return self.mount.file_system if self.mount else ""

    @property
    def server(self) -> str:
        """The address of its server; empty without one."""
        if self.mount is None or self.file_system not in _OVER_A_NETWORK:
            return ""
        named = next((o.partition("=")[2] for o in self.mount.options if o.startswith("addr=")), "")
        return named or self.mount.source.rpartition(":/")[0].strip("[]")

    @property
    def is_over_a_network(self) -> bool:
        """Whether its data goes over a network."""
        return self.file_system in _OVER_A_NETWORK or bool(self.san)

    @property
    def san(self) -> str:
        """The kind of network of its block device: `iSCSI`; empty for a local one."""
        return next((kind for mark, kind in _SAN.items() if mark in self.disk), "")

    def what(self) -> str:
        """Return what it is, as a clause."""
        if self.mount is None:
            return f"{self.real} is on a file system that /proc/self/mountinfo does not name"
        link = f" (from {self.asked})" if self.real != self.asked.rstrip("/") and self.asked.startswith("/") else ""
        over = f", over {self.san}" if self.san else ""
        return f"{self.real}{link} is on {self.file_system} of {self.mount.source}{over}"


def storage_refusals(place: StoragePlace, file_bytes: int, *, is_lab: bool) -> Iterator[LoadRefusal]:
    """Yield why nothing is written there. `is_lab`: a local disk serves for practice."""
    kind = place.file_system
    if kind in _OF_ORACLE or (place.mount and place.mount.source.startswith("/dev/asm")):
        yield LoadRefusal(
            "ME-STORE-001", f"{place.what()}: an ASM volume, on which databases depend. racwire writes no file there."
        )
    elif kind in _IN_MEMORY and not is_lab:
        yield LoadRefusal(
            "ME-STORE-002", f"{place.what()}, which is memory and no storage: name a directory of a mount."
        )
    elif not place.is_over_a_network and not is_lab:
        yield LoadRefusal(
            "ME-STORE-003",
            f"{place.what()}, a local disk as far as /proc and /sys tell. Clusterware may need it: a node whose disk "
            "hangs is evicted. Name a directory of a storage network.",
        )
    if names := [name for name in place.names if _DATAFILE.fullmatch(name)]:
        yield LoadRefusal(
            "ME-STORE-004",
            f"{place.real} holds files with names of a database ({listed(sorted(names)[:3])}): name another directory.",
        )
    elif parts := [part for part in place.real.split("/") if _DATA_DIRECTORY.fullmatch(part) or part.startswith("+")]:
        yield LoadRefusal(
            "ME-STORE-004",
            f"{place.real} is named like a directory of a database ({parts[-1]}): name another one.",
        )
    if place.is_read_only:
        yield LoadRefusal("ME-STORE-005", f"{place.real} is mounted read-only.")
    elif not place.is_writable:
        yield LoadRefusal("ME-STORE-005", f"This user may not write in {place.real}: name another directory or user.")
    if not place.size or (place.free - file_bytes) / place.size < LEAST_FREE:
        free = place.free / place.size if place.size else 0.0
        yield LoadRefusal(
            "ME-STORE-006",
            f"{free:.0%} of the file system of {place.real} is free ({place.free / 1e6:,.0f} MB); with the file of "
            f"{file_bytes / 1e6:,.0f} MB it must be {LEAST_FREE:.0%} or more.",
        )


def storage_link(cluster: Cluster, place: StoragePlace) -> MeasuredPath | None:
    """Return the link of this node through which its server is reached; None where that is not known."""
    node = cluster.node(cluster.local_node)
    try:
        server = str(ipaddress.ip_address(place.server.partition("%")[0]))
    except ValueError:
        return None
    if node is None:
        return None
    routes: Sequence[str] = [route.interface] if (route := route_to(node, server)) else []
    if not routes:
        routes = [one.interface for one in node.routes if one.destination == "default"]
    interface = node.interface(routes[0]) if routes else None
    if interface is None:
        return None
    source = next((a.ip for a in interface.addresses), "")
    speed = None if isinstance(interface.speed_mbps, Unknown) else interface.speed_mbps
    return MeasuredPath(
        network=server,
        source_node=node.name,
        source=source,
        target_node=server,
        target=server,
        interface=interface.name,
        mtu=interface.mtu,
        speed_mbps=speed,
    )
