"""The number of fragments of a block or a message at the MTU of the private networks."""

from __future__ import annotations

from checks.model.effect import Effect
from checks.model.facts import Cluster, PrivateNetwork
from checks.model.finding import NextStep
from checks.model.packet_sizes import fragments_of, ip_version
from checks.model.shell_command import shell
from checks.rules.frame_sizes import STANDARD_MTU


def size_text(size_bytes: int) -> str:
    """Return `8 KB`."""
    return f"{size_bytes // 1024} KB" if size_bytes % 1024 == 0 else f"{size_bytes:,} bytes"


def fragmenting(cluster: Cluster, datagram_bytes: int) -> list[tuple[PrivateNetwork, int, int]]:
    """Return the private networks that fragment a datagram of that size, each with its MTU and number of fragments."""
    return [
        (network, network.mtu, pieces)
        for network in cluster.read_networks()
        if isinstance(network.mtu, int)
        and (pieces := fragments_of(datagram_bytes, network.mtu, ip_version(network.subnet))) > 1
    ]


def plan_jumbo(cluster: Cluster, datagram_bytes: int) -> tuple[NextStep, ...]:
    """Return the step that plans jumbo frames where the standard MTU cuts a datagram of that size. A larger MTU that
    still cuts it is jumbo frames already: the plan would lower it."""
    mtus = [mtu for _, mtu, _ in fragmenting(cluster, datagram_bytes)]
    if not mtus or max(mtus) > STANDARD_MTU:
        return ()
    text = (
        f"Plan jumbo frames, so that {size_text(datagram_bytes)} are one packet: switches first. The change is an "
        "outage of the whole cluster."
    )
    return (NextStep(text, (shell("racwire change new"),), is_change=True, effect=Effect.CLUSTER_DOWN_FIRST),)


def mtu_line(network: PrivateNetwork, mtu: int, pieces: int, size_bytes: int) -> str:
    """Return `192.168.10.0/24 has MTU 1500: a block of 8 KB is 6 fragments`."""
    return f"{network.name} has MTU {mtu}: a block of {size_text(size_bytes)} is {pieces} fragments"
