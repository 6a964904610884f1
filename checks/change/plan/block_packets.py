"""The effect of an MTU on pings and on database blocks of this cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from checks.change.plan.change_plan import PlannedDatabase, PlannedNetwork
from checks.model.facts import Cluster
from checks.model.packet_sizes import USUAL_BLOCK_BYTES, fragments_of, ip_version, payload_for
from checks.model.wording import counted, listed

_KB = 1024


def full_size(mtu: int, address: str) -> int:
    """Return the ping payload that fills a packet of `mtu` bytes, for the IP version of the address."""
    return payload_for(mtu, ip_version(address))


def block_remarks(cluster: Cluster, networks: Iterable[PlannedNetwork]) -> Iterator[str]:
    """Yield the number of packets for a block before and after, with the networks' names if they differ."""
    known = cluster.block_size_bytes
    size = known or USUAL_BLOCK_BYTES
    alike: dict[tuple[int, int, int], list[str]] = {}
    for network in networks:
        alike.setdefault((network.mtu_before, network.mtu_after, _version(network)), []).append(network.name)
    for (mtu_before, mtu_after, version), names in alike.items():
        before, after = (fragments_of(size, mtu, version) for mtu in (mtu_before, mtu_after))
        block = f"A block of {size // _KB} KB is sent in {counted(before, 'packet')}"
        where = f" on {listed(names)}" if len(alike) > 1 else ""
        if before == after:
            yield f"{block}{where} before and after the change."
        else:
            still = " The kernel still fragments it, but into fewer packets." if 1 < after < before else ""
            yield f"{block}{where} at MTU {mtu_before}, and in {after} at MTU {mtu_after}.{still}"
    if alike and known is None:
        yield "racwire assumes a block size of 8 KB, since no database is connected (--connect)."


def block_remarks_back(networks: Iterable[PlannedNetwork], databases: Iterable[PlannedDatabase]) -> Iterator[str]:
    """Yield the number of packets for a block after a rollback, from the plan only."""
    sizes = dict.fromkeys(d.block_bytes for d in databases if d.block_bytes) or {USUAL_BLOCK_BYTES: None}
    for network in networks:
        for size in sizes:
            packets = counted(fragments_of(size, network.mtu_after, _version(network)), "packet")
            yield (
                f"At MTU {network.mtu_after}, a block of {size // _KB} KB is sent in {packets}, as before the change."
            )


def _version(network: PlannedNetwork) -> int:
    return ip_version(next(iter(network.addresses.values()), "0.0.0.0"))  # noqa: S104 - only the version is used
