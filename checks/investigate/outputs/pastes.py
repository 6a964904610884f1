"""Understand a paste: every parser looks at each of its blocks, and what none understands is kept."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from checks.investigate.outputs.access_lists import access_lists, acl_summaries
from checks.investigate.outputs.captured import captures
from checks.investigate.outputs.channel_members import channel_summaries, lacp_states
from checks.investigate.outputs.filter_rules import iptables_rules, nft_rules
from checks.investigate.outputs.found_parts import FoundPart, OutputParser
from checks.investigate.outputs.kernel_lines import kernel_lines
from checks.investigate.outputs.mac_tables import mac_tables
from checks.investigate.outputs.nic_counters import (
    driver_statistics,
    link_statistics,
    neighbour_lines,
    queue_disciplines,
)
from checks.investigate.outputs.optic_values import cisco_optics, optic_values
from checks.investigate.outputs.pasted_text import PasteBlock, blocks, is_refused, is_ruler, plain_lines
from checks.investigate.outputs.policers import junos_policers, policy_maps
from checks.investigate.outputs.port_names import system_of
from checks.investigate.outputs.port_sections import port_sections
from checks.investigate.outputs.port_sections_junos import junos_port_sections
from checks.investigate.outputs.port_setups import port_setups, trunk_tables
from checks.investigate.outputs.port_tables import counter_tables, ruled_port_tables, state_tables
from checks.investigate.outputs.queue_drops import catalyst_queues, internal_errors, nexus_queues, queue_tables
from checks.investigate.outputs.switch_pairs import switch_pairs, system_mtu
from checks.investigate.outputs.tree_ports import tree_ports
from checks.model.pasted import DeviceSystem, Note, Pasted, PastedOutput, PortReading

_PARSERS: tuple[OutputParser, ...] = (
    port_sections,
    junos_port_sections,
    counter_tables,
    state_tables,
    ruled_port_tables,
    nexus_queues,
    queue_tables,
    catalyst_queues,
    policy_maps,
    junos_policers,
    switch_pairs,
    system_mtu,
    channel_summaries,
    lacp_states,
    tree_ports,
    mac_tables,
    optic_values,
    cisco_optics,
    driver_statistics,
    link_statistics,
    queue_disciplines,
    kernel_lines,
    captures,
    nft_rules,
    iptables_rules,
    access_lists,
    acl_summaries,
    port_setups,
    trunk_tables,
    internal_errors,
    neighbour_lines,
)
MOST_CHARACTERS = 4_000_000
"""Of one paste; what follows is not read."""
_LEAST_LINES = 4
"""Of lines that no parser took within an output that was understood: fewer are its legend."""


def understand(paste: str, asked: Sequence[str] = ()) -> Pasted:
    """Return what a paste shows.

    `asked`: the commands that were printed, for an output that does not name its port, where the paste has no command.
    """
    parts: list[tuple[PasteBlock, FoundPart]] = []
    unknown: list[str] = []
    notes: list[Note] = [Note.CUT_SHORT] if len(paste) > MOST_CHARACTERS else []
    for block in blocks(plain_lines(paste[:MOST_CHARACTERS])):
        if not block.command and asked:
            block = PasteBlock(block.lines, block.device, "\n".join(asked))
        found = [part for parser in _PARSERS for part in parser(block)]
        if found:
            parts += ((block, part) for part in found)
            unknown += _left(block, found)
        elif is_refused(block):
            notes.append(Note.REFUSED)
            unknown.append(_text(block))
        else:
            unknown.append(_text(block))
    if any(part.is_cut for _, part in parts):
        notes.append(Note.CUT_SHORT)
    ports, is_repeated = _merged(parts)
    if is_repeated:
        notes.append(Note.REPEATED)
    found_parts = [part for _, part in parts]
    return Pasted(
        platform=_platform(parts),
        outputs=tuple(dict.fromkeys(part.output for part in found_parts)),
        ports=ports,
        macs=tuple(dict.fromkeys(mac for part in found_parts for mac in part.macs)),
        members=tuple({(m.device, m.channel, m.port): m for part in found_parts for m in part.members}.values()),
        pairs=tuple(pair for part in found_parts for pair in part.pairs),
        trees=tuple({(t.device, t.tree, t.port): t for part in found_parts for t in part.trees}.values()),
        rules=tuple(rule for part in found_parts for rule in part.rules),
        access_lists=tuple(rule for part in found_parts for rule in part.access_lists),
        acl_places=tuple(dict.fromkeys(place for part in found_parts for place in part.acl_places)),
        neighbours=tuple(one for part in found_parts for one in part.neighbours),
        frames=tuple(frame for part in found_parts for frame in part.frames),
        captures=tuple(summary for part in found_parts for summary in part.captures),
        kernel=tuple(line for part in found_parts for line in part.kernel),
        system_mtu=next((part.system_mtu for part in found_parts if part.system_mtu), None),
        inside={name: number for part in found_parts for name, number in part.inside.items()},
        notes=tuple(dict.fromkeys(notes)),
        not_understood=tuple(text for text in unknown if text),
    )


def _left(block: PasteBlock, parts: Sequence[FoundPart]) -> list[str]:
    """The runs of lines in a block that no output reaches. Lines before the first output are its legend; indented
    lines behind one belong to its last line."""
    used = {at for part in parts if part.lines for at in range(min(part.lines), max(part.lines) + 1)}
    found: list[str] = []
    run: list[str] = []
    for at in range(min(used, default=0), len(block.lines) + 1):
        line = block.lines[at] if at < len(block.lines) else None
        if line is not None and at not in used:
            run.append(line)
            continue
        filled = [one for one in run if not is_ruler(one)]
        if len(filled) >= _LEAST_LINES and not filled[0].startswith(" "):
            found.append("\n".join(run).strip("\n"))
        run = []
    return found


def _platform(parts: Sequence[tuple[PasteBlock, FoundPart]]) -> DeviceSystem:
    """The system of the first output that shows it: by its form, else by how it names ports."""
    for block, part in parts:
        if part.platform is not DeviceSystem.UNKNOWN:
            return part.platform
        words = (word for at in sorted(part.lines)[:200] for word in block.lines[at].split())
        if (system := system_of(words)) is not DeviceSystem.UNKNOWN:
            return system
    return DeviceSystem.UNKNOWN


def _text(block: PasteBlock) -> str:
    command = "" if "\n" in block.command else block.command
    return "\n".join(filter(None, (command, "\n".join(block.lines).strip("\n"))))


def _merged(parts: Sequence[tuple[PasteBlock, FoundPart]]) -> tuple[tuple[PortReading, ...], bool]:
    """The ports of all outputs, each once; whether an output of one port occurs twice."""
    ports: dict[tuple[str, str], PortReading] = {}
    read: set[tuple[str, str, PastedOutput]] = set()
    is_repeated = False
    for _, part in parts:
        for port in part.ports:
            # A part that the block had already given is not a second reading of the port.
            mark = (*port.key, part.output)
            is_repeated |= mark in read and part.output is PastedOutput.PORTS
            read.add(mark)
            ports[port.key] = joined(ports[port.key], port) if port.key in ports else port
    return tuple(ports.values()), is_repeated


_UNREAD = PortReading()


def joined(earlier: PortReading, later: PortReading) -> PortReading:
    """Return what two outputs show of one port; where both have a value, that of the later one."""
    both: dict[str, object] = {}
    for name in PortReading.__struct_fields__:
        old, new = getattr(earlier, name), getattr(later, name)
        both[name] = {**old, **new} if isinstance(new, dict) else old if new == getattr(_UNREAD, name) else new
    return replace(earlier, **both)
