"""Rules for the socket buffers of a node: what is below Oracle's minimum, and what racwire proposes."""

from __future__ import annotations

from collections.abc import Iterable

from checks.model.facts import Cluster
from checks.rules.host_limits import BUFFER_MINIMUM
from checks.rules.node_counts import sysctl

RECEIVE_MINIMUM = {key: size for key, size in BUFFER_MINIMUM.items() if ".rmem_" in key}
"""Bytes: the minimum of the receive buffers."""
_LARGER = {"net.core.rmem_max": 16_777_216, "net.core.rmem_default": 4_194_304}
"""Bytes: the least that racwire proposes where datagrams are dropped although the minimum is met. Ours."""


def below_minimum(cluster: Cluster, node: str, minimum: dict[str, int] = RECEIVE_MINIMUM) -> list[str]:
    """Return the buffers of a node that are below a minimum, as far as they are known."""
    return [
        key for key, least in minimum.items() if (value := sysctl(cluster, node, key)) is not None and value < least
    ]


def proposed(cluster: Cluster, nodes: Iterable[str]) -> dict[str, int]:
    """Return the receive buffers in bytes that racwire proposes for these nodes, none smaller than now.

    The minimum where one is below it; else twice the present size, and at least what racwire holds to be large.
    """
    names = tuple(nodes)
    sizes = {key: [size for n in names if (size := sysctl(cluster, n, key)) is not None] for key in _LARGER}
    small = [key for key in RECEIVE_MINIMUM if any(key in below_minimum(cluster, n) for n in names)]
    if small:
        return {key: max(RECEIVE_MINIMUM[key], *sizes[key]) for key in small}
    return {key: max(2 * max(sizes[key], default=0), least) for key, least in _LARGER.items()}
