"""The networks of a practice cluster: their NICs, subnets and addresses, as data only."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import ip_network


class Role(StrEnum):
    """What a network is for."""

    PUBLIC = "public"
    PRIVATE = "private"
    SPARE = "spare"
    """Cabled and configured like an interconnect, and not registered in Clusterware: for a change that adds it."""
    STORAGE = "storage"
    """The network of a storage server, with jumbo frames where the interconnects have them."""
    OTHER = "other"
    """A network that Clusterware does not know: management, or a controller inside the node."""


@dataclass(frozen=True)
class Network:
    """One network of the cluster: number 0 is public, 1 and 2 are private."""

    number: int
    nic: str
    """The name of each node's NIC on this network in the healthy cluster."""
    bridge: str
    """The switch of the network; two networks on one switch reach each other. Empty for a NIC without a switch."""
    subnet: str
    haip_subnet: str | None = None
    """The half of 169.254.0.0/16 from which Clusterware picks the HAIP address; None without HAIP."""
    role: Role = Role.PRIVATE
    prefix_length: int = 24
    addresses: str = ""
    """The first three numbers of the nodes' addresses; empty for those of the subnet."""
    first: int = 1
    """The last number of the address of node 1."""
    step: int = 1
    """The distance from a node's address to the next node's; 0 when all nodes have the same address."""

    @property
    def private(self) -> bool:
        """Whether this network is an interconnect."""
        return self.role is Role.PRIVATE

    @property
    def is_fast(self) -> bool:
        """Whether this network has the NICs and switch of an interconnect, registered or not, or are like them."""
        return self.role in (Role.PRIVATE, Role.SPARE, Role.STORAGE)

    @property
    def cidr(self) -> str:
        """The subnet with its prefix length."""
        return f"{self.subnet}/{self.prefix_length}"

    @property
    def netmask(self) -> str:
        """The prefix length as a netmask."""
        return str(ip_network(self.cidr).netmask)

    def address(self, index: int) -> str:
        """Return the address of the node with this number (from 1), without the prefix length."""
        return f"{self.addresses or self.subnet.rpartition('.')[0]}.{self.first + self.step * (index - 1)}"

    def haip(self, index: int) -> str | None:
        """Return the node's HAIP with its prefix length; None on a network without HAIP.

        It looks random, as a real HAIP, but is the same for each run.
        """
        if self.haip_subnet is None:
            return None
        half = int(self.haip_subnet.split(".")[2])
        # 37 has an inverse modulo 128, so no two nodes get the same address; the last octet is never 0, 254 or 255.
        return f"169.254.{half + (37 * index + 10) % 128}.{(91 * index + 7) % 250 + 1}/17"


PUBLIC = Network(0, "eth0", "pub", "10.20.0.0", role=Role.PUBLIC)
PRIVATE = (
    Network(1, "eth1", "priv1", "192.168.10.0", "169.254.0.0"),
    Network(2, "eth2", "priv2", "192.168.11.0", "169.254.128.0"),
)
SPARE = Network(3, "eth3", "priv3", "192.168.12.0", role=Role.SPARE)
"""The network of `lab up --spare-network`."""
STORAGE = Network(3, "eth3", "stor", "10.40.0.0", role=Role.STORAGE)
"""The network of `lab up --storage`."""
NETWORKS = (PUBLIC, *PRIVATE)
"""The networks of most clusters. The addresses on the public network are the same in every cluster."""

EXADATA_NETWORKS = (
    Network(0, "bondeth0", "pub", "10.20.0.0", role=Role.PUBLIC),
    # Both ports of the card are in one subnet of the RDMA network fabric, and a node has two addresses in a row.
    Network(1, "re0", "fabric", "192.168.8.0", None, Role.PRIVATE, 22, "192.168.10", 1, 2),
    Network(2, "re1", "fabric", "192.168.8.0", None, Role.PRIVATE, 22, "192.168.10", 2, 2),
    Network(3, "eth0", "mgmt", "10.30.0.0", role=Role.OTHER),
    # The host's end of the interconnect to ILOM, the management controller, has this address by default.
    Network(4, "usb0", "", "169.254.182.0", role=Role.OTHER, first=77, step=0),
)
"""The networks of Exadata with RoCE (X8M and later); its MTU is `ROCE_MTU`."""
ROCE_MTU = 2300


def private_of(networks: Iterable[Network]) -> tuple[Network, ...]:
    """Return the interconnects among the networks."""
    return tuple(network for network in networks if network.private)
