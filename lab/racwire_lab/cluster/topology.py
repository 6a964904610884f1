"""The shape of the practice cluster: its nodes, networks, names and addresses. Nothing here touches the system."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

CLUSTER_NAME = "practice"
MIN_NODES, MAX_NODES = 2, 16
MIN_MTU, MAX_MTU = 1280, 9216
STANDARD_MTU = 1500
DATABASE, SERVICE_PORT = "prac", 1521
DATABASE_VERSIONS = {"12.1": "12.1.0.2.0", "19c": "19.22.0.0.0", "23ai": "23.7.0.25.1"}
DEFAULT_DATABASE = DATABASE_VERSIONS["19c"]
KEEPERS = ("keyfile", "ifcfg", "networkd")
"""NetworkManager with keyfiles, the network service with ifcfg files, systemd-networkd."""
DEFAULT_KEEPER, MIXED = KEEPERS[0], "mixed"
SWITCH_MTU = 9216
"""MTU of every healthy switch port: a Linux bridge drops what exceeds the MTU of the port it leaves by."""


@dataclass(frozen=True)
class Network:
    """One network of the cluster: number 0 is public, 1 and 2 are private."""

    number: int
    bridge: str
    subnet: str
    haip_subnet: str | None

    @property
    def nic(self) -> str:
        """The name of each node's NIC on this network, when nothing is broken."""
        return f"eth{self.number}"

    @property
    def private(self) -> bool:
        """Whether this is an interconnect, and not the public network."""
        return self.number > 0

    def address(self, index: int) -> str:
        """The address of the node with this number (from 1), without its prefix length of 24."""
        return f"{self.subnet.rpartition('.')[0]}.{index}"

    def haip(self, index: int) -> str | None:
        """The node's HAIP with its prefix length; looks drawn at random as real ones do, but is always the same."""
        if self.haip_subnet is None:
            return None
        half = int(self.haip_subnet.split(".")[2])
        # 37 has an inverse modulo 128, so no two nodes meet; the last octet stays clear of 0, 254 and 255.
        return f"169.254.{half + (37 * index + 10) % 128}.{(91 * index + 7) % 250 + 1}/17"


PUBLIC = Network(0, "pub", "10.20.0.0", None)
PRIVATE = (
    Network(1, "priv1", "192.168.10.0", "169.254.0.0"),
    Network(2, "priv2", "192.168.11.0", "169.254.128.0"),
)
NETWORKS = (PUBLIC, *PRIVATE)
SCAN_NAME, SCAN_ADDRESS = "practice-scan", PUBLIC.address(100)
"""Where clients connect to; it stands for all instances."""


class Port(NamedTuple):
    """Where a node's NIC meets the switch."""

    node: str
    network: int

    @property
    def name(self) -> str:
        """The switch's own interface for this port, at most 10 characters so that suffixes fit into 15."""
        return f"{self.node}-eth{self.network}"

    @property
    def is_private(self) -> bool:
        """Whether it belongs to an interconnect."""
        return NETWORKS[self.network].private


@dataclass(frozen=True)
class Shape:
    """What `lab up` was asked for."""

    size: int
    mtu: int
    database: str = DEFAULT_DATABASE
    """The version of its database; empty where it has none."""
    switch_mtu: int = SWITCH_MTU
    """The MTU with which the switch's ports of the private networks came up, in bytes."""
    keeper: str = DEFAULT_KEEPER
    """What keeps the network of its nodes: one of KEEPERS, or MIXED for each of them in turn."""

    def keeper_of(self, node: str) -> str:
        """What keeps the network of that node."""
        return KEEPERS[(index_of(node) - 1) % len(KEEPERS)] if self.keeper == MIXED else self.keeper

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of all nodes, in the order of their numbers."""
        return tuple(f"rac{i}" for i in range(1, self.size + 1))

    def port_mtu(self, port: Port) -> int:
        """The MTU with which a switch port came up, in bytes."""
        return self.switch_mtu if port.is_private else SWITCH_MTU

    @property
    def ports(self) -> tuple[Port, ...]:
        """Every NIC of every node."""
        return tuple(Port(node, net.number) for node in self.nodes for net in NETWORKS)


def index_of(node: str) -> int:
    """The number of a node, from 1, out of its name."""
    return int(node.removeprefix("rac"))
