"""Paths of a node's own files, for its programs."""

from __future__ import annotations

from pathlib import Path

ETC = Path("/etc")
HOME = Path("/run/racwire/home")
"""The node's directory among the lab's files."""
KEYFILES = ETC / "NetworkManager/system-connections"
LOADED = HOME / "connections"
"""The keyfiles as NetworkManager last read them: it ignores later edits until a reload."""
MTU_SET = HOME / "mtu_set"
"""The interfaces whose MTU NetworkManager has set and will restore: one name a line."""
IFCFG = ETC / "sysconfig/network-scripts"
NETWORKD = (ETC / "systemd/network", Path("/run/systemd/network"))
"""The directories of systemd-networkd, in order of precedence."""


def network_service() -> str:
    """Return the network service of this node: `keyfile`, `ifcfg` or `networkd`."""
    return (HOME / "network_service").read_text(encoding="ascii").strip()
