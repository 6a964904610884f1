"""Access lists of a switch, the packets that matched, and where they are applied: `show access-lists`, `summary`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from checks.investigate.outputs.found_parts import FoundPart
from checks.investigate.outputs.pasted_text import PasteBlock
from checks.investigate.outputs.port_names import is_port, port_name
from checks.model.pasted import AclPlace, DeviceSystem, FilterRule, PastedOutput, RuleVerdict

_MOST_BYTES = 65_535
_HEAD = re.compile(r"\s*(?:(?:Extended |Standard )?IP(?:v4|v6)?|MAC) [Aa]ccess [Ll]ist (\S{1,64})(?: .{0,60})?")
_LINE = re.compile(
    r"\s*(?:[0-9]{1,10} )?(permit|deny) (\S.{0,200}?)\s*"
    r"(?:\[match(?:es)?[= ]([0-9,]{1,26})[^\]]{0,60}\]|\(([0-9,]{1,26}) match(?:es)?\)|)\s*"
)
_OF_THE_SWITCH_ITSELF = "copp-"
_ADDRESS = re.compile(r"[0-9a-fA-F.:]{2,45}(?:/[0-9]{1,3})?")
_WILDCARD = re.compile(r"0\.[0-9.]{5,11}")


def access_lists(block: PasteBlock) -> Iterator[FoundPart]:
    """Find the lines of access lists. A list that protects the switch itself (`copp`) is left out."""
    name = ""
    rules: list[FilterRule] = []
    used: set[int] = set()
    for at, line in enumerate(block.lines):
        if begun := _HEAD.fullmatch(line):
            name = begun[1]
        elif name and (row := _LINE.fullmatch(line)):
            matched = row[3] or row[4]
            if not name.startswith(_OF_THE_SWITCH_ITSELF):
                packets = int(matched.replace(",", "")) if matched else None
                rules.append(_rule(block.device, name, row[1], row[2].split(), packets))
        elif line.strip() and "statistics" not in line:
            continue
        used.add(at)
    if name:
        yield FoundPart(output=PastedOutput.ACCESS_LISTS, lines=frozenset(used), access_lists=tuple(rules))


def _rule(device: str, name: str, action: str, words: Sequence[str], packets: int | None) -> FilterRule:
    source, at = _address(words, 1)
    destination, at = _address(words, at)
    lengths: tuple[int, int] | None = None
    is_of_fragments = is_partial = False
    while at < len(words):
        word = words[at]
        values = [int(value) for value in words[at + 2 : at + 4] if value.isdigit()]
        if word == "fragments":
            is_of_fragments = True
        elif word == "packet-length" and values:
            lengths = _lengths(words[at + 1], values)
            at += 1 + len(values)
        elif word not in ("log", "log-input"):
            is_partial = True
        at += 1
    return FilterRule(
        device=device,
        chain=name,
        text=" ".join((action, *words)),
        verdict=RuleVerdict.DROP if action == "deny" else RuleVerdict.ACCEPT,
        protocols=() if words[0] in ("ip", "ipv4", "ipv6") else (words[0],),
        sources=source,
        destinations=destination,
        lengths=lengths,
        is_of_fragments=is_of_fragments,
        is_partial=is_partial,
        packets=packets,
    )


def _lengths(sign: str, values: Sequence[int]) -> tuple[int, int]:
    first, last = values[0], values[-1]
    return {"gt": (first + 1, _MOST_BYTES), "lt": (0, first - 1)}.get(sign, (first, last))


def _address(words: Sequence[str], at: int) -> tuple[tuple[str, ...], int]:
    """The address at a place, and the place behind; nothing for `any`."""
    word = words[at] if at < len(words) else "any"
    following = words[at + 1] if at + 1 < len(words) else ""
    if word == "host" and following:
        return (following,), at + 2
    if word == "any" or not _ADDRESS.fullmatch(word):
        return (), at + 1 if word == "any" else at
    if _WILDCARD.fullmatch(following):
        return (f"{word}/{_prefix(following)}",), at + 2
    return (word,), at + 1


def _prefix(wildcard: str) -> int:
    """The length of the prefix of a wildcard mask: 24 of `0.0.0.255`."""
    parts = [int(part) for part in wildcard.split(".") if part.isdigit() and int(part) < 256]
    return max(0, 32 - sum(part.bit_length() for part in parts))


_SUMMARY = re.compile(r"\s*(?:IPV?[46]?|MAC) ACL (\S{1,64})\s*", re.IGNORECASE)
_ON_PORT = re.compile(r"\s*(\S{2,40}) - (ingress|egress) \((?:Port|Router) ACL\)\s*")
_ON_VLAN = re.compile(r"\s*Vlan ?([0-9]{1,4})(?:-[0-9]{1,4})? - .{0,40}")


def acl_summaries(block: PasteBlock) -> Iterator[FoundPart]:
    """Find `show access-lists summary` of NX-OS: the ports and VLANs to which each list is applied."""
    name = ""
    places: list[AclPlace] = []
    used: set[int] = set()
    for at, line in enumerate(block.lines):
        if begun := _SUMMARY.fullmatch(line):
            name = begun[1]
        elif not name:
            continue
        elif (row := _ON_PORT.fullmatch(line)) and is_port(row[1]):
            is_egress = row[2] == "egress"
            places.append(AclPlace(device=block.device, name=name, port=port_name(row[1]), is_egress=is_egress))
        elif row := _ON_VLAN.fullmatch(line):
            places.append(AclPlace(device=block.device, name=name, vlan=row[1]))
        used.add(at)
    if name:
        yield FoundPart(
            output=PastedOutput.ACCESS_LISTS,
            platform=DeviceSystem.NXOS,
            lines=frozenset(used),
            acl_places=tuple(dict.fromkeys(places)),
        )
