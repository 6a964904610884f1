"""The limits of this cluster that the target MTU respects: drivers, clouds, switch ports, layers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from checks.change.plan.change_plan import Layer
from checks.change.plan.cloud_limits import cloud_limits
from checks.change.plan.layers import interface_of, is_tagged
from checks.change.plan.mtu_limits import (
    DATAGRAM,
    LARGEST_CONNECTED,
    frame_bytes,
    infiniband_of,
    not_yet_jumbo,
    port_name,
    switch_ports,
)
from checks.model.facts import Cluster
from checks.model.wording import counted, few

_STACKED = {"bond": "bond", "team": "team", "vlan": "VLAN", "bridge": "bridge"}
"""Kinds of interface that are stacked on others, by the kernel's name."""


def headroom(cluster: Cluster, target: int, layers: Sequence[Layer]) -> Iterator[str]:
    """Yield a sentence for each known limit, and for each limit that is not known."""
    yield from _stacked(layers)
    yield from _drivers(cluster, layers)
    yield from (limit.sentence for limit in cloud_limits(cluster))
    if infiniband_of(cluster, layers):
        yield (
            f"InfiniBand carries {DATAGRAM[0]} or {DATAGRAM[1]} bytes in datagram mode, and in connected "
            f"mode up to {LARGEST_CONNECTED}."
        )
    else:
        yield from _tagged(cluster, target, layers)
        yield from _switches(cluster, target, layers)


def _stacked(layers: Sequence[Layer]) -> Iterator[str]:
    kinds = Counter(_STACKED[layer.kind] for layer in layers if layer.kind in _STACKED)
    if kinds:
        numbers = [counted(number, kind) for kind, number in kinds.items()]
        yield (
            f"The private networks use {few(numbers)}. With the interfaces below, all nodes together have "
            f"{counted(len(layers), 'layer')}; the plan has commands for each layer."
        )


def _drivers(cluster: Cluster, layers: Sequence[Layer]) -> Iterator[str]:
    most: dict[str, int] = {}
    for layer in layers:
        interface = interface_of(cluster, layer)
        if interface and isinstance(interface.max_mtu, int):
            most[f"{layer.interface} of {layer.node}"] = interface.max_mtu
    if not most:
        yield "No driver reports its largest MTU; the kernel refuses an MTU that is too large."
        return
    least = min(most.values())
    where = few([name for name, mtu in most.items() if mtu == least])
    silent = len(layers) - len(most)
    rest = f"; the limit of {counted(silent, 'other interface')} is not known" if silent else ""
    yield f"The smallest MTU limit that a driver reports is {least} bytes ({where}){rest}."


def _tagged(cluster: Cluster, target: int, layers: Sequence[Layer]) -> Iterator[str]:
    if any(is_tagged(cluster, layer) for layer in layers):
        yield (f"VLAN tags add 4 bytes: the switch ports must carry frames of {frame_bytes(target, True)} bytes.")


def _switches(cluster: Cluster, target: int, layers: Sequence[Layer]) -> Iterator[str]:
    ports = [neighbour for _, neighbour in switch_ports(cluster, layers)]
    cables = sum(1 for layer in layers if layer.level == 0)
    if not ports:
        yield "LLDP names no switch port of the private networks: only the step prove-paths tests the switches."
        return
    sizes = {port_name(n): n.max_frame_bytes for n in ports if isinstance(n.max_frame_bytes, int)}
    named = f"LLDP names the switch ports of {len(ports)} of {counted(cables, 'private NIC')}"
    if not sizes:
        yield f"{named}; no port announces its largest frame: only the step prove-paths tests the switches."
        return
    least = min(sizes.values())
    where = few([name for name, size in sizes.items() if size == least])
    verb = "port announces its" if len(sizes) == 1 else "ports announce their"
    yield f"{named}; {len(sizes)} {verb} largest frame. The smallest of these sizes is {least} bytes ({where})."
    small = [port_name(n) for n in ports if not_yet_jumbo(n, target)]
    if small:
        yield f"By LLDP {few(small)} still {'announces' if len(small) == 1 else 'announce'} standard frames."
