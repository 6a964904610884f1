"""The frames of a node's private NICs by size, and which of them carry database blocks: an estimate from the blocks
that its instances counted.

A block has a known number of frames of known sizes at an MTU, so that many frames of their size class are its own.
Messages of GCS, GES and parallel query have any size: no class is theirs, and all other frames stay one number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from checks.model.facts import Activity, Cluster, Database, InstanceActivity, Unknown
from checks.model.known_instances import instance_name, node_of
from checks.model.packet_sizes import BLOCK_HEADER_BYTES, IP_HEADER, UDP_HEADER
from checks.rules.cache_fusion import messages_received, messages_sent, received, served
from checks.rules.frame_sizes import STANDARD_MTU, CountedSizes, FrameSizes
from checks.rules.size_classes import Direction, SizeClass

_ETHERNET_HEADER, _CHECK_SEQUENCE = 14, 4
_MOMENT = 0.05
"""The difference of two intervals of one run, as a share of them."""
_TOLERANCE, _FEW = 0.02, 30
"""The frames by which the blocks may exceed a class: the database and the NICs are not read at the same moment."""


@dataclass(frozen=True)
class BlockFrames:
    """The frames of blocks among those of a node."""

    by_least: Mapping[int, int]
    """By the least size of their class in bytes, without classes that hold none."""
    percent_of_bytes: float | None
    """Their share in the bytes that the kernel counted, without Oracle's header of a block; None where it counted
    none."""
    messages: int | None
    """The messages of GCS and GES, which are among the other frames; None where they were not read."""

    @property
    def frames(self) -> int:
        """The frames of all classes."""
        return sum(self.by_least.values())


@dataclass(frozen=True)
class NodeFrames:
    """The frames of the private NICs of one node in one direction, during the interval."""

    nics: tuple[FrameSizes, ...]
    classes: tuple[SizeClass, ...]
    """The frames of all these NICs."""
    blocks: BlockFrames | Unknown

    @property
    def node(self) -> str:
        """The node."""
        return self.nics[0].nic.node

    @property
    def way(self) -> Direction:
        """The direction."""
        return self.nics[0].way

    @property
    def seconds(self) -> float:
        """The length of the interval."""
        return max(nic.nic.seconds for nic in self.nics)

    @property
    def frames(self) -> int:
        """All frames."""
        return sum(size.frames for size in self.classes)


def node_frames(cluster: Cluster, sizes: CountedSizes) -> tuple[NodeFrames, ...]:
    """Return the frames of each node and direction; NICs of a node that count other classes of sizes are apart."""
    nodes: dict[tuple[str, Direction], dict[object, list[FrameSizes]]] = {}
    for found in sizes.known:
        classes = tuple((size.low, size.high) for size in found.classes)
        nodes.setdefault((found.nic.node, found.way), {}).setdefault(classes, []).append(found)
    silent = {nic.node for nic, _ in sizes.silent.values()}
    made = []
    for (node, way), groups in nodes.items():
        is_whole = len(groups) == 1 and node not in silent
        for nics in groups.values():
            together = _together(nics)
            blocks = _blocks(cluster, node, way, nics, together) if is_whole else _NOT_WHOLE
            made.append(NodeFrames(tuple(nics), together, blocks))
    return tuple(made)


_NOT_WHOLE = Unknown("Blocks use the private NICs together, and these do not count frames in the same classes.")
_NOT_COUNTED = Unknown("The blocks of the instances were not read.")


def _together(nics: Sequence[FrameSizes]) -> tuple[SizeClass, ...]:
    return tuple(
        SizeClass(same[0].low, same[0].high, sum(size.frames for size in same))
        for same in zip(*(nic.classes for nic in nics), strict=True)
    )


def _blocks(
    cluster: Cluster, node: str, way: Direction, nics: Sequence[FrameSizes], classes: Sequence[SizeClass]
) -> BlockFrames | Unknown:
    activity, database = cluster.activity, cluster.database
    if not isinstance(activity, Activity) or not isinstance(database, Database) or activity.seconds <= 0:
        return _NOT_COUNTED
    here = [own for own in activity.instances if node_of(cluster, own.instance) == node]
    if not here:
        return Unknown(f"No instance runs on {node}.")
    known = [own for own in here if isinstance(own, InstanceActivity)]
    if gap := next((own for own in here if not isinstance(own, InstanceActivity)), None):
        return Unknown(f"The blocks of {instance_name(cluster, gap.instance)} are not known.")
    counts = [(received if way == "rx" else served)(own.statistics) for own in known]
    size, mtus = cluster.block_size_bytes, {nic.mtu for nic in nics}
    if size is None or len(mtus) > 1 or None in counts:
        return Unknown(f"The size of a block, the MTU of {node} or its number of blocks is not known.")
    blocks = sum(count or 0 for count in counts) * nics[0].nic.seconds / activity.seconds
    blocks_of_drivers = round(blocks * _longer(way, nics))
    version = 6 if any(":" in nic.nic.network for nic in nics) else 4
    for mtu in (*mtus, STANDARD_MTU):  # a route or a learned path MTU can be smaller than that of the NIC
        packets = list(_packets_of(size, mtu, version))
        if (taken := _taken(classes, packets, blocks_of_drivers)) is not None:
            bytes_ = sum(nic.nic.counts.counts.get(f"{way}_bytes", 0) for nic in nics)
            headers = len(packets) * (IP_HEADER[version] + _ETHERNET_HEADER)
            own_bytes = blocks * (size + UDP_HEADER + headers)
            exchanged = [messages_received(a.messages) if way == "rx" else messages_sent(a.statistics) for a in known]
            return BlockFrames(
                taken,
                min(100 * own_bytes / bytes_, 100.0) if bytes_ > 0 else None,
                None if None in exchanged else sum(count or 0 for count in exchanged),
            )
    return Unknown(f"{node} has fewer frames of the size of blocks than its instances counted blocks.")


def _longer(way: Direction, nics: Sequence[FrameSizes]) -> float:
    """How much longer the interval of the drivers is than that of the kernel, which is read at another moment: by the
    packets that both counted. 1 where the drivers count those of others, too."""
    packets = sum(nic.nic.counts.counts.get(f"{way}_packets", 0) for nic in nics)
    ratio = sum(nic.frames for nic in nics) / packets if packets > 0 else 1.0
    return ratio if abs(ratio - 1) <= _MOMENT else 1.0


def _packets_of(block_bytes: int, mtu: int, version: int) -> Iterator[int]:
    """Yield the bytes of each IP packet of a block."""
    header = IP_HEADER[version]
    left, room = block_bytes + BLOCK_HEADER_BYTES + UDP_HEADER, (mtu - header) // 8 * 8
    if left <= mtu - header or room <= 0:
        yield left + header
        return
    while left > 0:
        yield min(left, room) + header
        left -= room


def _taken(classes: Sequence[SizeClass], packets: Sequence[int], blocks: int) -> dict[int, int] | None:
    """The frames of so many blocks by the least size of their class; None where a class has clearly fewer."""
    frames = {size.low: size.frames for size in classes}
    wanted: dict[int, int] = {}
    for packet in packets:
        frame = packet + _ETHERNET_HEADER + _CHECK_SEQUENCE
        fits = next((size for size in classes if size.high is None or frame <= size.high), None)
        if fits is None:
            return None
        wanted[fits.low] = wanted.get(fits.low, 0) + blocks
    if any(count > frames[low] * (1 + _TOLERANCE) + _FEW for low, count in wanted.items()):
        return None
    return {low: least for low, count in wanted.items() if (least := min(count, frames[low]))}
