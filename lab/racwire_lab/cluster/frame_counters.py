"""The frames of each private NIC by size, counted by the packet filter of its node, as `ethtool` of the node shows.

The kernel's own links have no such counters. The packet filter counts each frame where it enters and where it leaves
the node, at the NIC itself: fragments, pings, ARP. The answers have the names of the driver i40e, or those of the
kernel's standard groups, or, with a driver that counts none, no counters.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from racwire_lab.cluster.fault_kind import ActiveFault, Fault
from racwire_lab.cluster.nics import Nic
from racwire_lab.cluster.processes import LabJob, Process, into
from racwire_lab.cluster.ssh_configuration import node_home
from racwire_lab.cluster.topology import PortId

FRAME_FAULTS = (
    Fault(
        "no-frame-sizes",
        "The driver of one private NIC counts no frames by size.",
        "`ethtool -S` on the node shows no such counters for the NIC, and the standard groups of the kernel have none.",
        "nic",
        needs_nft=True,
    ),
    Fault(
        "standard-frame-sizes",
        "The driver of one private NIC counts frames by size in the standard groups of the kernel only.",
        "`ethtool -S` on the node shows no such counters for the NIC, and `ethtool -S NIC --groups rmon` shows them.",
        "nic",
        needs_nft=True,
    ),
)
_ENDS = (64, 127, 255, 511, 1023, 1522)
_LARGER = "big"
_HEADER, _CHECK = 14, 4
"""Bytes of an Ethernet header, and of the frame check sequence, which NICs count."""


def counting(nics: Mapping[PortId, Nic], node: str) -> str:
    """Return the nft input that counts the frames of the private NICs of a node."""
    lines = []
    for nic in (nic for port, nic in nics.items() if port.node == node and port.network):
        table = f"netdev frames_{nic.name}"
        lines.append(f"add table {table}")
        for way, hook, counted in (("rx", "ingress", 0), ("tx", "egress", _HEADER)):
            chain = f"{table} {way}"
            lines.append(f'add chain {chain} {{ type filter hook {hook} device "{nic.name}" priority -500; }}')
            for end in (*_ENDS, _LARGER):
                lines.append(f"add counter {table} {way}_size_{end}")
                # On the way in, the header is not in the length; the check sequence is in neither.
                length = "" if end == _LARGER else f"meta length <= {int(end) - _HEADER - _CHECK + counted} "
                lines.append(f"add rule {chain} {length}counter name {way}_size_{end} return")
    return "".join(f"{line}\n" for line in lines)


def counting_job(node: str, holder: Process, nics: Mapping[PortId, Nic], *, rootless: bool) -> Iterator[LabJob]:
    """Yield the job that counts the frames of a node. Without nft, or in a kernel that cannot, nothing counts them."""
    if shutil.which("nft") is not None:
        argv = [*into(holder, "net", rootless=rootless), "sh", "-c", "nft --file - 2>/dev/null || true"]
        yield LabJob(argv, counting(nics, node), f"count the frames of {node}")


def frame_names(nics: Mapping[PortId, Nic], broken: frozenset[ActiveFault]) -> dict[tuple[str, str], str]:
    """Return which names the counters of each private NIC have, by node and NIC: `driver`, `standard` or `none`."""
    found = {}
    for port, nic in nics.items():
        if port.network:
            found[port.node, nic.name] = "driver"
            if ActiveFault("standard-frame-sizes", *port) in broken:
                found[port.node, nic.name] = "standard"
            if ActiveFault("no-frame-sizes", *port) in broken:
                found[port.node, nic.name] = "none"
    return found


def write_answers(directory: Path, names: Mapping[tuple[str, str], str]) -> None:
    """Write these names where `ethtool` of each node reads them."""
    for (node, nic), which in names.items():
        (node_home(directory, node) / f"{nic}.sizes").write_text(f"{which}\n", encoding="ascii")
