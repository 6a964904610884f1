"""The state of the nodes in the report of a change: MTUs, packets for a block and kernel settings, before and after."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from checks.change.progress.change_events import Verified
from checks.change.progress.state import Change
from checks.model.facts import Unknown
from checks.model.packet_sizes import USUAL_BLOCK_BYTES, fragments_of

_NOT_READ = Unknown("it was not read after the change was opened")


class ReportedLayer(msgspec.Struct, frozen=True, kw_only=True):
    """The MTU of one interface before the change, and when it was last read."""

    node: str
    interface: str
    role: str
    before: int
    after: int | Unknown


class ReportedValue(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel setting of one node before the change, and when it was last read."""

    node: str
    key: str
    before: str
    after: str | Unknown


class ReportedBlocks(msgspec.Struct, frozen=True, kw_only=True):
    """The number of packets for a block on a network, before and after."""

    network: str
    database: str
    """The database; empty if no block size is known, and 8 KB is assumed."""
    block_bytes: int
    before: int
    after: int | Unknown


def _last_seen(change: Change) -> dict[tuple[str, str], int]:
    """Return the last MTU that was read of each node's interfaces."""
    return {
        (node, interface): mtu
        for line in change.lines
        if isinstance(line.event, Verified)
        for node, mtus in line.event.look.mtus.items()
        for interface, mtu in mtus.items()
    }


def reported_layers(change: Change) -> Iterator[ReportedLayer]:
    """Yield the MTU of each layer, before and after."""
    found = _last_seen(change)
    for layer in change.opened.layers:
        seen = found.get((layer.node, layer.interface))
        yield ReportedLayer(
            node=layer.node,
            interface=layer.interface,
            role=layer.role,
            before=layer.mtu_before,
            after=_NOT_READ if seen is None else seen,
        )


def reported_values(change: Change) -> Iterator[ReportedValue]:
    """Yield each kernel setting of the plan, before and after."""
    seen = {
        (node, key): value
        for line in change.lines
        if isinstance(line.event, Verified)
        for node, values in line.event.look.values.items()
        for key, value in values.items()
    }
    for value in change.opened.values:
        after = seen.get((value.node, value.key), _NOT_READ)
        yield ReportedValue(node=value.node, key=value.key, before=value.before, after=after)


def reported_blocks(change: Change) -> Iterator[ReportedBlocks]:
    """Yield the packets for a block on each network, before and after."""
    plan = change.opened
    known = [(db.name, db.block_bytes) for db in plan.databases if db.block_bytes is not None]
    for network in plan.networks:
        version = 6 if ":" in network.subnet else 4
        after = _seen_on(change, network.name)
        for name, block in dict.fromkeys(known) or [("", USUAL_BLOCK_BYTES)]:
            yield ReportedBlocks(
                network=network.name,
                database=name,
                block_bytes=block,
                before=fragments_of(block, network.mtu_before, version),
                after=after if isinstance(after, Unknown) else fragments_of(block, after, version),
            )


def _seen_on(change: Change, network: str) -> int | Unknown:
    """Return the smallest MTU that was last read of a network's ports; Unknown if a port was not read."""
    ports = [layer for layer in change.opened.layers if layer.role == "port" and network in layer.networks]
    found = _last_seen(change)
    seen = [found.get((port.node, port.interface)) for port in ports]
    known = [mtu for mtu in seen if mtu is not None]
    return min(known) if known and len(known) == len(seen) else _NOT_READ
