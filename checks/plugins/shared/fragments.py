"""How many fragments a block or a message is at the MTU of the private networks."""

from __future__ import annotations

from checks.model.facts import Cluster, PrivateNetwork, Unknown
from checks.model.known_instances import database_of
from checks.model.packet_sizes import fragments_of

USUAL_BLOCK_BYTES = 8192


def block_bytes(cluster: Cluster) -> int:
    """The size of the database's blocks; 8 KB where it is not known, as most are."""
    database = database_of(cluster)
    size = database.block_size_bytes if database else None
    return size if size is not None and size > 0 else USUAL_BLOCK_BYTES


def size_text(size_bytes: int) -> str:
    """`8 KB`."""
    return f"{size_bytes // 1024} KB" if size_bytes % 1024 == 0 else f"{size_bytes:,} bytes"


def fragmenting(cluster: Cluster, datagram_bytes: int) -> list[tuple[PrivateNetwork, int, int]]:
    """The private networks on which a datagram of that size is cut up: each with its MTU and the fragments."""
    networks = () if isinstance(cluster.networks, Unknown) else cluster.networks
    return [
        (network, network.mtu, pieces)
        for network in networks
        if isinstance(network.mtu, int)
        and (pieces := fragments_of(datagram_bytes, network.mtu, 6 if ":" in network.subnet else 4)) > 1
    ]


def mtu_line(network: PrivateNetwork, mtu: int, pieces: int, size_bytes: int) -> str:
    """`192.168.10.0/24 has MTU 1500: a block of 8 KB is 6 fragments`."""
    return f"{network.name} has MTU {mtu}: a block of {size_text(size_bytes)} is {pieces} fragments"
