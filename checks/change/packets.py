"""What an MTU means for pings and for database blocks on this cluster."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from checks.change.plan import PlannedNetwork
from checks.facts import Cluster, Database
from checks.packet_sizes import fragments_of, payload_for
from checks.wording import counted

USUAL_BLOCK = 8192
_KB = 1024


def full_size(mtu: int, address: str) -> int:
    """The ping payload that fills a packet of `mtu` bytes, for the IP version of the address."""
    return payload_for(mtu, ip_version(address))


def ip_version(address: str) -> int:
    """4 or 6."""
    return ipaddress.ip_address(address).version


def block_size(cluster: Cluster) -> int | None:
    """The size of the asked database's blocks, in bytes; None where no database tells it."""
    return cluster.database.block_size_bytes if isinstance(cluster.database, Database) else None


def block_remarks(cluster: Cluster, network: PlannedNetwork) -> Iterator[str]:
    """Into how many packets a block is cut, before and after."""
    known = block_size(cluster)
    size = known or USUAL_BLOCK
    version = ip_version(next(iter(network.addresses.values()), "0.0.0.0"))  # noqa: S104 - only the version is looked at
    before = fragments_of(size, network.mtu_before, version)
    after = fragments_of(size, network.mtu_after, version)
    block = f"A block of {size // _KB} KB goes out in {counted(before, 'packet')}"
    if before == after:
        yield f"{block} before and after."
    else:
        still = " It is still cut up, only less." if 1 < after < before else ""
        yield f"{block} at MTU {network.mtu_before}, and in {after} at {network.mtu_after}.{still}"
    if known is None:
        yield "8 KB is taken for the size of a block, since no database was asked for it (--connect)."
