"""The rules of packet filters that make faults: each counts what it drops under the name of its fault and its place.

A rule remembers each block that it drops by the request that the block answers, and each fragment by its datagram. So
`racwire lab status --losses` knows which rule dropped a block that the database counts as lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from racwire_lab.programs.cache_fusion.messages import BLOCK_PORT

REMEMBERED_S = 90
"""Seconds for which a rule remembers a block."""
BLOCKS, FRAGMENTS, CUT = "-blocks", "-fragments", "cut-blocks"
"""What the names of the sets end with after the name of their rule; and the set of the blocks that were cut."""
TABLE = "racwire"

_HOOKS = {
    "prerouting": "type filter hook prerouting priority 0;",
    "forward": "type filter hook forward priority 0;",
    "input": "type filter hook input priority 0;",
}
_DATAGRAM = "@nh,96,64 . ip id"
"""The two addresses, as one part: nft 1.0.6 cannot print a key of five parts."""
_BLOCK = "@th,96,8 . @th,128,64"
"""The bit of the block, and the number of its request (`racwire_lab.programs.cache_fusion.messages`)."""
_WITH_PORTS, _FIRST, _FRAGMENT = "& 0x1fff == 0", "& 0x3fff == 0x2000", "& 0x3fff != 0"
"""By the field frag-off: not a later fragment; the first fragment of several; any fragment."""


@dataclass(frozen=True)
class DropRule:
    """One rule: where it looks, which packets it matches, and whether it drops them itself. Rules of one name count
    together."""

    name: str
    """The fault and its place: `udp-policed-eth2`."""
    hook: str
    match: str
    drops: bool = True
    """False where the link that follows drops the packets, and the rule only counts them."""


def named(fault: str, *place: str | None) -> str:
    """Return the name of the rule of a fault at its place."""
    return "-".join((fault, *(part for part in place if part)))


def ruleset(family: str, rules: Sequence[DropRule]) -> str:
    """Return the nft input that replaces all drop rules of a namespace."""
    # Adding the table first makes its deletion succeed even when it did not exist.
    lines = [f"add table {family} {TABLE}", f"delete table {family} {TABLE}"]
    if rules:
        lines.append(f"add table {family} {TABLE}")
        cuts = family == "bridge"  # at the input of a node no datagram is in fragments
        for hook in dict.fromkeys([*(["prerouting"] if cuts else []), *(rule.hook for rule in rules)]):
            lines.append(f"add chain {family} {TABLE} {hook} {{ {_HOOKS[hook]} }}")
        if cuts:
            lines += _set(family, CUT, f"{_DATAGRAM} . {_BLOCK}")
            lines.append(_rule(family, "prerouting", _remember_block(_FIRST, CUT, f"{_DATAGRAM} . {_BLOCK}")))
        for rule in {rule.name: rule for rule in rules}.values():
            lines += _counted(family, rule)
        for rule in rules:
            lines.append(_rule(family, rule.hook, f'{rule.match} counter name "{rule.name}" jump {rule.name}'))
            if not cuts and rule.drops:
                lines.append(_rule(family, rule.hook, f"{rule.match} counter drop"))
    return "\n".join(lines) + "\n"


def _counted(family: str, rule: DropRule) -> Iterator[str]:
    yield f"add counter {family} {TABLE} {rule.name}"
    yield from _set(family, f"{rule.name}{BLOCKS}", _BLOCK)
    yield from _set(family, f"{rule.name}{FRAGMENTS}", _DATAGRAM)
    # A chain of its own: what is no IP packet, or no block, ends a rule that reads its ports.
    yield f"add chain {family} {TABLE} {rule.name}"
    yield _rule(family, rule.name, _remember_block(_WITH_PORTS, f"{rule.name}{BLOCKS}", _BLOCK))
    remembered = f"update @{rule.name}{FRAGMENTS} {{ {_DATAGRAM} }}"
    yield _rule(family, rule.name, f"ip protocol udp ip frag-off {_FRAGMENT} {remembered}")
    # A node shows its rules to people: the rule itself drops there, as one of a firewall does.
    yield _rule(family, rule.name, "drop" if rule.drops and family == "bridge" else "return")


def _remember_block(part: str, name: str, key: str) -> str:
    return f"ip frag-off {part} udp dport {BLOCK_PORT} update @{name} {{ {key} }}"


def _set(family: str, name: str, key: str) -> Iterator[str]:
    options = f"size 65535; flags dynamic,timeout; timeout {REMEMBERED_S}s;"
    yield f"add set {family} {TABLE} {name} {{ typeof {key}; {options} }}"


def _rule(family: str, chain: str, rule: str) -> str:
    return f"add rule {family} {TABLE} {chain} {rule}"
