"""MAC address tables: at which port a switch learned an address. One row of each platform has its address."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from checks.investigate.outputs.found_parts import FoundPart, ruled_tables
from checks.investigate.outputs.pasted_text import PasteBlock, is_ruler, mac_address
from checks.investigate.outputs.port_names import is_port, port_name
from checks.model.pasted import DeviceSystem, MacEntry, PastedOutput

_HEADS = (
    (DeviceSystem.NXOS, re.compile(r"\s*VLAN/?(?:BD)?\s+MAC Address\s+Type\s+(?:age|\S+)\s+.*Secure.*", re.IGNORECASE)),
    (DeviceSystem.EOS, re.compile(r"\s*Vlan\s+mac address\s+Type\s+Ports\s+Moves\s+Last Move\s*", re.IGNORECASE)),
    (DeviceSystem.IOS_XE, re.compile(r"\s*\*?\s*Vlan\s+Mac Address\s+Type\s+(?:Learn\s+Age\s+|Protocols\s+)?Ports?\s*|"
                                     r"\s*\*?\s*Vlan\s+mac address\s+type\s+(?:protocols|learn).*", re.IGNORECASE)),
    (DeviceSystem.JUNOS, re.compile(
    r"\s*(?:Ethernet switching table ?:.*|Vlan\s+MAC\s+MAC\s+.*|VLAN\s+MAC"
    r" address\s+Type\s+Age\s+Interfaces?)"
)),
    (DeviceSystem.SONIC, re.compile(r"\s*No\.\s+Vlan\s+MacAddress\s+Port\s+Type.*")),
    (DeviceSystem.CUMULUS, re.compile(r"\s*(?:VLAN|Vlan)\s+Master\s+(?:If|Interface)\s+MAC\s+.*")),
    (DeviceSystem.UNKNOWN, re.compile(
    r"\s*(?:Non-Static Entries|Destination Address\s+Address Type\s+VLAN\s+Destination Port|mac address"
    r" table.*)"
, re.IGNORECASE)),
)  # fmt: skip
_ASKED = re.compile(r"\bmac\b|mac-address|mac-table|\bmacs\b|\bfdb\b|ethernet-switching|fdbshow")
_STATIC = frozenset({"static", "permanent", "self", "system", "igmp", "cpu", "s", "p,s", "router", "local", "offload"})
_VLAN = re.compile(r"[0-9]{1,4}|[Vv]lan[\w-]{1,30}|default|BD-[0-9]{1,8}", re.ASCII)
_LOST_TAIL = re.compile(r"\(R\)$|\*$")


def mac_tables(block: PasteBlock) -> Iterator[FoundPart]:
    """Find a MAC address table; the port of a row can be several ports, and continue on the next line."""
    by_columns = tuple(_by_columns(block))
    yield from by_columns
    done = frozenset().union(*(part.lines for part in by_columns))
    platform, is_headed = DeviceSystem.UNKNOWN, _ASKED.search(block.command) is not None
    entries: list[MacEntry] = []
    used: set[int] = set()
    has_row = False
    for at, line in enumerate(block.lines):
        if at in done:
            continue
        head = next((system for system, head in _HEADS if head.fullmatch(line)), None)
        if head:
            platform, is_headed = (head if platform is DeviceSystem.UNKNOWN else platform), True
            used.add(at)
            has_row = False
            continue
        words = line.split()
        row = _row(block.device, words, platform) if is_headed else None
        if row is not None:
            entries += row
            used.add(at)
            has_row = True
        elif has_row and entries and (more := _ports(words)) and len(more) == len(_items(words)):
            last = entries[-1]
            entries += (replace(last, port=port_name(word)) for word in more)
            used.add(at)
        elif not is_ruler(line):
            has_row = False
    if used and (entries or platform is not DeviceSystem.UNKNOWN):
        yield FoundPart(output=PastedOutput.MACS, platform=platform, lines=frozenset(used), macs=tuple(entries))


def _items(words: Sequence[str]) -> list[str]:
    return [_LOST_TAIL.sub("", item) for word in words for item in word.split(",") if item]


def _ports(words: Sequence[str]) -> list[str]:
    return [item for item in _items(words) if is_port(item) and not item.startswith("sup-eth")]


def _row(device: str, words: Sequence[str], platform: DeviceSystem) -> list[MacEntry] | None:
    """The entries of one row; None where the line is none. One at no port (CPU, flooded) has no entry."""
    at = next((i for i, word in enumerate(words[:8]) if mac_address(word)), None)
    if at is None or len(words) < 3 or len(words) > 24:
        return None
    before, after = words[:at], words[at + 1 :]
    if "dev" in after[:1] and len(after) > 1:  # bridge fdb
        vlan = after[after.index("vlan") + 1] if "vlan" in after[:-1] else ""
        ports, types = [after[1]], set(after[2:])
    else:
        if platform is DeviceSystem.JUNOS:
            vlan = before[-1] if before else ""
        else:
            vlan = next((word for word in reversed(before) if _VLAN.fullmatch(word)), "")
        vlan = vlan or next((word for word in after[:2] if word.isdigit()), "" if "All" not in before else "All")
        ports = _ports(after)
        ports = ports or [word for word in before if is_port(word) and not _VLAN.fullmatch(word)]
        types = {word.casefold() for word in (*after, *before)}
    is_learned = _STATIC.isdisjoint(types)
    mac = mac_address(words[at])
    return [
        MacEntry(device=device, mac=mac, vlan=vlan, port=port_name(port), is_learned=is_learned)
        for port in dict.fromkeys(ports)
    ]


def _by_columns(block: PasteBlock) -> Iterator[FoundPart]:
    """The table of `nv show bridge domain br_default mac-table`, whose columns differ from release to release."""
    for table in ruled_tables(block.lines):
        column = next((name for name in table.header if name in ("mac", "mac address")), None)
        if column and "interface" in table.header:
            macs = tuple(
                MacEntry(
                    device=block.device,
                    mac=mac,
                    vlan=row.cells.get("vlan", ""),
                    port=port_name(row.cells["interface"]),
                    is_learned=row.cells.get("entry-type", "") not in ("permanent", "static"),
                )
                for row in table.rows
                if (mac := mac_address(row.cells[column])) and row.cells["interface"]
            )
            yield FoundPart(output=PastedOutput.MACS, platform=DeviceSystem.CUMULUS, lines=table.lines, macs=macs)
