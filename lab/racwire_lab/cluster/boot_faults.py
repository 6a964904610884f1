"""The faults of the next boot: what a node's network service keeps for a private NIC differs from what runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from racwire_lab.cluster import network_services
from racwire_lab.cluster.fault_kind import ActiveFault, of_nic
from racwire_lab.cluster.topology import PortId, Shape, index_of
from racwire_lab.programs.node_system.keyfile import changed

_ADDED = 60
"""What is added to the number of the node for the address of the next boot."""


BOOT_FAULTS = (
    of_nic(
        "no-autoconnect",
        "One private NIC is not set up at the next boot of its node.",
        "Sets autoconnect=false in the node's keyfile, ONBOOT=no in its ifcfg file, or Unmanaged=yes in its .network "
        "file. What runs does not change. After a reboot the NIC is down, and `lab mend` changes the file only.",
    ),
    of_nic(
        "boot-address",
        "The configuration of one private NIC has another address than runs.",
        f"Writes an address that ends in {_ADDED} and the number of the node (.62 for rac2) into the file of the "
        "node's network service. After a reboot the NIC has it, and `lab mend` changes the file only.",
    ),
)


@dataclass(frozen=True)
class NextBoot:
    """What the file of a private NIC says."""

    address: str
    """Without the prefix length."""
    is_set_up: bool = True


def next_boots(shape: Shape, broken: frozenset[ActiveFault]) -> dict[PortId, NextBoot]:
    """Return what the files of the private NICs say with these faults."""
    return dict(_next_boots(shape, broken))


def _next_boots(shape: Shape, broken: frozenset[ActiveFault]) -> Iterator[tuple[PortId, NextBoot]]:
    for port in shape.private_ports:
        is_other = ActiveFault("boot-address", *port) in broken
        number = index_of(port.node) + (_ADDED if is_other else 0)
        address = shape.networks[port.network].address(number)
        yield port, NextBoot(address, ActiveFault("no-autoconnect", *port) not in broken)


def write(
    home: Path, service: str, names: Mapping[PortId, str], before: Mapping[PortId, NextBoot],
    after: Mapping[PortId, NextBoot],
) -> None:  # fmt: skip
    """Change the files of a node's network service from one state to another; other changes of them stay."""
    for port, name in names.items():
        if before[port] != after[port]:
            path = network_services.file_of(service, name)
            for file in (home / "etc" / path, home / "connections" / Path(path).name):
                if file.is_file():
                    text = file.read_text(encoding="utf-8", errors="surrogateescape")
                    file.write_text(
                        edited(service, text, before[port], after[port]), encoding="utf-8", errors="surrogateescape"
                    )


def edited(service: str, text: str, before: NextBoot, after: NextBoot) -> str:
    """Return the text of a file with another address and another start."""
    if before.address != after.address:
        text = re.sub(rf"(?<![\d.]){re.escape(before.address)}(?![\d.])", after.address, text)
    if before.is_set_up != after.is_set_up:
        if service == "keyfile":
            text = changed(text, "connection", "autoconnect", None if after.is_set_up else "false")
        elif service == "ifcfg":
            text = re.sub("(?m)^ONBOOT=.*$", f"ONBOOT={'yes' if after.is_set_up else 'no'}", text)
        else:
            text = changed(text, "Link", "Unmanaged", None if after.is_set_up else "yes")
            text = text.removesuffix("\n[Link]\n")
    return text
