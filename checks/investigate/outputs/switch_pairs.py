"""Two switches that nodes take for one: `show vpc` of NX-OS, `show mlag` of EOS, `net show clag` of Cumulus."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checks.investigate.outputs.found_parts import FoundPart
from checks.investigate.outputs.pasted_text import PasteBlock, is_ruler
from checks.investigate.outputs.port_names import is_port, port_name
from checks.model.pasted import DeviceSystem, PairChannel, PastedOutput, SwitchPair

_FIELD = re.compile(r"\s*([A-Za-z][\w /-]{1,40}?)\s*:\s*(\S.{0,120}?)\s*")
_LINK = re.compile(r"\s*[0-9]{1,5}\*?\s+(\S{2,20})\s+(up|down)\b.{0,120}")
_CHANNEL = re.compile(r"\s*[0-9]{1,5}\*?\s+(\S{2,20})\s+(up|down)\*?\s+(success|failed|Not|-)\b.{0,160}")
_TITLE = re.compile(r"\s*(?:vPC [Pp]eer-link status|vPC status)\s*")


def switch_pairs(block: PasteBlock) -> Iterator[FoundPart]:
    """Find the state of a pair, of the link between the two, and of its port-channels."""
    fields: dict[str, str] = {}
    channels: list[PairChannel] = []
    links: dict[str, bool] = {}
    part = ""
    used: set[int] = set()
    for at, line in enumerate(block.lines):
        if _TITLE.fullmatch(line):
            part = "links" if "link" in line else "channels"
            used.add(at)
        elif part == "links" and (row := _LINK.fullmatch(line)) and is_port(row[1]):
            links[port_name(row[1])] = row[2] == "up"
            used.add(at)
        elif part == "channels" and (row := _CHANNEL.fullmatch(line)) and is_port(row[1]):
            consistent = {"success": True, "failed": False}.get(row[3])
            channels.append(PairChannel(port=port_name(row[1]), is_up=row[2] == "up", is_consistent=consistent))
            used.add(at)
        elif (field := _FIELD.fullmatch(line)) and not part:
            fields.setdefault(field[1].casefold(), field[2])
            used.add(at)
        elif is_ruler(line):
            used.add(at)
    if "vpc domain id" in fields or "vpc keep-alive status" in fields:
        pair = _vpc(block.device, fields, links, channels)
        yield FoundPart(output=PastedOutput.PAIR, platform=DeviceSystem.NXOS, lines=frozenset(used), pairs=(pair,))
    elif "negotiation status" in fields and "peer-link status" in fields:
        pair = SwitchPair(
            device=block.device,
            is_peer_up=fields["negotiation status"].casefold() == "connected",
            is_link_up=fields["peer-link status"].casefold() == "up",
            is_consistent=_is_consistent(fields.get("peer-config", fields.get("config-sanity", ""))),
        )
        yield FoundPart(output=PastedOutput.PAIR, platform=DeviceSystem.EOS, lines=frozenset(used), pairs=(pair,))
    elif "peer interface" in fields and "peer priority, id, and role" in {f.replace("  ", " ") for f in fields}:
        pair = SwitchPair(device=block.device, is_peer_up=True)
        yield FoundPart(output=PastedOutput.PAIR, platform=DeviceSystem.CUMULUS, lines=frozenset(used), pairs=(pair,))


def _vpc(device: str, fields: dict[str, str], links: dict[str, bool], channels: list[PairChannel]) -> SwitchPair:
    peer = fields.get("peer status", "")
    consistency = fields.get("configuration consistency status", "")
    return SwitchPair(
        device=device,
        is_peer_up=None if not peer else "formed ok" in peer,
        is_link_up=all(links.values()) if links else None,
        link_port=next(iter(links), ""),
        is_consistent={"success": True, "failed": False}.get(consistency.split(" ")[0].casefold()),
        channels=tuple(channels),
    )


def _is_consistent(text: str) -> bool | None:
    return {"consistent": True, "inconsistent": False}.get(text.casefold())


_SYSTEM_MTU = re.compile(
    r"\s*(?:(?:System (?:Jumbo )?|Global Ethernet )MTU (?:size )?is ([0-9]{4,5}) bytes\.?|system jumbomtu"
    r" ([0-9]{4,5}))\s*"
)


def system_mtu(block: PasteBlock) -> Iterator[FoundPart]:
    """Find `show system mtu` of IOS-XE; of two values the larger is that of fast ports."""
    found = {at: int(row[1] or row[2]) for at, line in enumerate(block.lines) if (row := _SYSTEM_MTU.fullmatch(line))}
    if found:
        yield FoundPart(
            output=PastedOutput.STATUS,
            platform=DeviceSystem.IOS_XE,
            lines=frozenset(found),
            system_mtu=max(found.values()),
        )
