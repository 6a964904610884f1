"""What an MTU means for pings and for database blocks on this cluster."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator

from checks.change.change_plan import PlannedDatabase, PlannedNetwork
from checks.model.facts import Cluster, Database
from checks.model.packet_sizes import fragments_of, payload_for
from checks.model.wording import counted, listed

USUAL_BLOCK = 8192
"""Oracle's default of db_block_size, in bytes: taken where no connection told it."""
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


def block_remarks(cluster: Cluster, networks: Iterable[PlannedNetwork]) -> Iterator[str]:
    """Into how many packets a block is cut, before and after; for each network by name where they differ."""
    known = block_size(cluster)
    size = known or USUAL_BLOCK
    alike: dict[tuple[int, int, int], list[str]] = {}
    for network in networks:
        alike.setdefault((network.mtu_before, network.mtu_after, _version(network)), []).append(network.name)
    for (mtu_before, mtu_after, version), names in alike.items():
        before, after = (fragments_of(size, mtu, version) for mtu in (mtu_before, mtu_after))
        block = f"A block of {size // _KB} KB goes out in {counted(before, 'packet')}"
        where = f" on {listed(names)}" if len(alike) > 1 else ""
        if before == after:
            yield f"{block}{where} before and after."
        else:
            still = " It is still cut up, only less." if 1 < after < before else ""
            yield f"{block}{where} at MTU {mtu_before}, and in {after} at {mtu_after}.{still}"
    if alike and known is None:
        yield "8 KB is taken for the size of a block, since no database was asked for it (--connect)."


def block_remarks_back(networks: Iterable[PlannedNetwork], databases: Iterable[PlannedDatabase]) -> Iterator[str]:
    """The same for a way back, from its plan alone: whatever runs at the moment, it ends as it was."""
    sizes = dict.fromkeys(d.block_bytes for d in databases if d.block_bytes) or {USUAL_BLOCK: None}
    for network in networks:
        for size in sizes:
            packets = counted(fragments_of(size, network.mtu_after, _version(network)), "packet")
            yield (
                f"Back at MTU {network.mtu_after} a block of {size // _KB} KB goes out in {packets}, as before the "
                "change."
            )


def _version(network: PlannedNetwork) -> int:
    return ip_version(next(iter(network.addresses.values()), "0.0.0.0"))  # noqa: S104 - only the version is looked at
