"""Access lists of a switch, as pasted: `show access-lists` with the matches of each line, and where each is applied
(`show access-lists summary`)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checks.investigate.outputs.found_parts import FoundPart
from checks.investigate.outputs.pasted_text import PasteBlock
from checks.model.pasted import DeviceSystem, FilterRule, PastedOutput, RuleVerdict

_MOST_BYTES = 65_535
_LIST = re.compile(r"\s*(?:IP|IPv4|Extended IP) access[ -]list (\S{1,64})\s*", re.IGNORECASE)
_LINE = re.compile(
    r"\s+(?:seq )?[0-9]{1,10} (deny|permit) (\S{1,20}) (\S.{0,300}?)\s*(?:\[match(?:es)?=([0-9]{1,20})\]\s*)?"
)
_APPLIED_LIST = re.compile(r"\s*IPV4 ACL (\S{1,64})\s*", re.IGNORECASE)
_APPLIED = re.compile(
    r"\s+(\S{2,40}|Vlan \d{1,4}) - (?:(ingress|egress) \(\w{2,8} ACL\)|\(VLAN ACL\))\s*", re.IGNORECASE
)
_ACTIVE = re.compile(r"\s*Active on interfaces:\s*", re.IGNORECASE)


def access_lists(block: PasteBlock) -> Iterator[FoundPart]:
    """Find the lines that decide. Their chain is the list; the summary has where it is active."""
    rules: list[FilterRule] = []
    used: set[int] = set()
    name = ""
    for at, line in enumerate(block.lines):
        if begun := _LIST.fullmatch(line):
            name = begun[1]
            used.add(at)
        elif name and (found := _LINE.fullmatch(line)):
            used.add(at)
            rules.append(_rule(block.device, name, found[1].casefold() == "deny", found[2], found[3], found[4]))
    applied = dict(_where(block, used))
    if used:
        yield FoundPart(
            output=PastedOutput.RULES,
            platform=DeviceSystem.NXOS,
            lines=frozenset(used),
            rules=tuple(rules),
            applied=applied,
        )


def _where(block: PasteBlock, used: set[int]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield where each list is active: its ports and VLANs."""
    name, is_active, found = "", False, dict[str, list[str]]()
    for at, line in enumerate(block.lines):
        if begun := _APPLIED_LIST.fullmatch(line):
            name, is_active = begun[1], False
            found[name] = []
            used.add(at)
        elif name and _ACTIVE.fullmatch(line):
            is_active = True
            used.add(at)
        elif name and is_active and (place := _APPLIED.fullmatch(line)):
            found[name].append(place[1])
            used.add(at)
    yield from ((name, tuple(places)) for name, places in found.items())


def _rule(device: str, name: str, drops: bool, protocol: str, rest: str, matches: str | None) -> FilterRule:
    words = rest.split()
    ends = [word for word in words if re.fullmatch(r"[0-9.]{7,15}/[0-9]{1,2}", word)]
    source, destination = _ends(words)
    length = re.search(r"packet-length gt ([0-9]{1,5})", rest)
    known = {"fragments", "any", "host", "packet-length", "gt", "log", *ends}
    return FilterRule(
        device=device,
        chain=name,
        text=f"{'deny' if drops else 'permit'} {protocol} {rest}",
        verdict=RuleVerdict.DROP if drops else RuleVerdict.ACCEPT,
        protocols=() if protocol == "ip" else (protocol,),
        sources=source,
        destinations=destination,
        lengths=(int(length[1]) + 1, _MOST_BYTES) if length else None,
        is_of_fragments="fragments" in words,
        is_partial=any(not (word in known or word.isdigit()) for word in words),
        packets=int(matches) if matches else None,
    )


def _ends(words: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The source and the destination: `any`, `host A` or `A/LENGTH` each."""
    found: list[tuple[str, ...]] = []
    at = 0
    while at < len(words) and len(found) < 2:
        if words[at] == "host" and at + 1 < len(words):
            found.append((words[at + 1],))
            at += 2
        elif words[at] == "any" or "/" in words[at]:
            found.append(() if words[at] == "any" else (words[at],))
            at += 1
        else:
            at += 1
    return (*found, (), ())[0], (*found, (), ())[1]
