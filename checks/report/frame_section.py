"""The section "Frames by size": what the private NICs counted, and how many of the frames are database blocks."""

from __future__ import annotations

from dataclasses import dataclass

from checks.model.facts import Cluster, CounterChanges, Unknown
from checks.model.finding import Table
from checks.model.wording import continued, counted, listed
from checks.plugins.shared.frame_table import frame_table
from checks.report.quantities import seconds, whole
from checks.rules.frame_sizes import frame_sizes
from checks.rules.frame_users import BlockFrames, NodeFrames, node_frames
from checks.rules.size_classes import SizeClass

TITLE = "Frames by size"
_MOST = 2
"""The most sizes that a sentence names."""


@dataclass(frozen=True)
class FrameSection:
    """The content of the section."""

    notes: tuple[str, ...]
    tables: tuple[tuple[str, Table], ...]
    """Each with its title."""


def frame_section(cluster: Cluster) -> FrameSection | None:
    """Return the section; None where the drivers of no private NIC were queried."""
    sizes = frame_sizes(cluster)
    if not sizes.known and not sizes.silent:
        return None
    nodes = [found for found in node_frames(cluster, sizes) if found.frames]
    silent: dict[str, list[str]] = {}
    for place, (_, why) in sizes.silent.items():
        silent.setdefault(why.reason, []).append(place)
    notes = [frame_sentence(found) for found in nodes]
    notes += [
        f"The sizes of the frames of {listed(places)} are not known: {continued(why)}" for why, places in silent.items()
    ]
    tables = []
    if nodes:
        span = seconds(max(found.seconds for found in nodes))
        if isinstance(cluster.counters, CounterChanges):
            span += f" until {cluster.counters.ended_at[11:19]}"
        tables.append((f"Frames of each private NIC in {span}", frame_table(sizes.known)))
        if any(isinstance(found.blocks, BlockFrames) for found in nodes):
            tables.append((f"Frames of blocks in {span}, estimated from the blocks of the instances", _blocks(nodes)))
    return FrameSection(tuple(notes), tuple(tables))


def frame_sentence(found: NodeFrames) -> str:
    """Return what the frames of a node are: `rac1 received 8,808 frames in 30 s: 69 % are of 1,523 bytes or more and
    30 % of 65 to 127 bytes. Blocks are an estimated 68 % of the frames and 99 % of the bytes.`"""
    most = sorted((size for size in found.classes if size.frames), key=lambda size: -size.frames)[:_MOST]
    shares = [f"{_percent(size.frames, found.frames)} of {_range(size)}" for size in most]
    shares[0] = shares[0].replace(" % of ", " % are of ")
    what = f"{'received' if found.way == 'rx' else 'sent'} {counted(found.frames, 'frame')}"
    return f"{found.node} {what} in {seconds(found.seconds)}: {' and '.join(shares)}. {_of_blocks(found)}"


def _of_blocks(found: NodeFrames) -> str:
    blocks = found.blocks
    if isinstance(blocks, Unknown):
        return f"Which of them are blocks is not known: {continued(blocks.reason)}"
    text = f"Blocks are an estimated {_percent(blocks.frames, found.frames)} of the frames"
    if blocks.percent_of_bytes is not None:
        text += f" and {blocks.percent_of_bytes:.0f} % of the bytes"
    others = found.frames - blocks.frames
    if blocks.messages is not None and others:
        text += (
            f"; of the other {whole(others)}, up to {whole(min(blocks.messages, others))} are messages of GCS and GES"
        )
    return f"{text}."


def _percent(part: int, of: int) -> str:
    percent = 100 * part / of
    return f"{percent:.0f} %" if percent >= 1 or not part else "<1 %"


def _range(size: SizeClass) -> str:
    if size.high is None:
        return f"{size.low:,} bytes or more"
    return f"{size.low:,} to {size.high:,} bytes" if size.low else f"{size.high:,} bytes or less"


def _blocks(nodes: list[NodeFrames]) -> Table:
    rows = []
    for found in nodes:
        if isinstance(found.blocks, BlockFrames):
            for size in found.classes:
                if size.frames:
                    own = found.blocks.by_least.get(size.low, 0)
                    way = "in" if found.way == "rx" else "out"
                    rows.append((found.node, way, size.label, whole(own), whole(size.frames - own)))
    return Table(
        ("Node", "", "bytes", "blocks", "others"), tuple(rows), "Others: messages, parallel query, heartbeats."
    )
