"""netplan's YAML, as far as an MTU goes: a careful reading of indented mappings, and Unknown for anything beyond them.

Files are merged in the order of their names, later ones over earlier ones; of one name /etc stands before /run before
/lib (netplan-generate(8)).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from checks.facts import Keeper, KeptMtu, Unknown
from checks.nodes.kept.device import Device, parse_mtu
from checks.nodes.kept.profile import BY_DHCP
from checks.nodes.sections import ConfigFile
from checks.sources.node_setup import NETPLAN_DIRECTORIES

_KINDS = {"ethernets": "ethernet", "bonds": "bond", "vlans": "vlan", "bridges": "bridge"}
_PAIR = re.compile(r"""("[^"]*"|'[^']*'|[^:\s{}][^:{}]*?)\s*:(?:\s+(.*))?""")
_INLINE = re.compile(r"""(match|name|macaddress|driver|mtu|set-name|dhcp4)\s*:\s*("[^"]*"|'[^']*'|[^,{}\s]+)""")
_NOT_FOLLOWED = re.compile(r"[&*]\w|<<")


@dataclass(slots=True)
class _Definition:
    """What the files say of one interface; `id` is its key in the YAML."""

    id: str
    kind: str
    file: str
    values: dict[str, str] = field(default_factory=dict)
    is_understood: bool = True


def parse_netplan(files: Iterable[ConfigFile]) -> tuple[_Definition, ...]:
    """The definitions of all files, merged. Never raises."""
    definitions: dict[str, _Definition] = {}
    for file in _ordered(files):
        for kind, name, key, value in _entries(file.lines):
            found = definitions.setdefault(name, _Definition(name, kind, file.path))
            if key == "mtu":
                found.file = file.path
            found.values[key] = value
            found.is_understood = found.is_understood and not _NOT_FOLLOWED.search(value)
    return tuple(definitions.values())


def kept_by_netplan(files: Sequence[ConfigFile], devices: Sequence[Device]) -> dict[str, KeptMtu]:
    """What netplan keeps, by the names that the interfaces have or will be given."""
    kept = {}
    for found in parse_netplan(files):
        by_dhcp = BY_DHCP if found.values.get("dhcp4") in ("true", "yes", "on") else None
        mtu: int | Unknown | None = parse_mtu(found.values.get("mtu", "")) or by_dhcp
        if not found.is_understood:
            mtu = Unknown(f"{found.file} uses YAML that racwire does not follow")
        for name in _names(found, devices):
            kept[name] = KeptMtu(name, Keeper.NETPLAN, found.file, found.id, mtu, found.kind)
    return kept


def _names(found: _Definition, devices: Sequence[Device]) -> tuple[str, ...]:
    """The interfaces that a definition is about: set-name, else what `match` finds, else the key itself."""
    if set_name := found.values.get("set-name"):
        return (set_name,)
    pattern, address = found.values.get("match.name", ""), found.values.get("match.macaddress", "")
    if pattern or address:
        hardware = (device for device in devices if device.is_hardware)
        return tuple(
            d.name
            for d in hardware
            if (not pattern or fnmatchcase(d.name, pattern)) and (not address or d.has_address(address))
        )
    return () if "match.driver" in found.values else (found.id,)


def _ordered(files: Iterable[ConfigFile]) -> list[ConfigFile]:
    chosen: dict[str, ConfigFile] = {}
    for file in sorted(
        files, key=lambda f: NETPLAN_DIRECTORIES.index(f.directory) if f.directory in NETPLAN_DIRECTORIES else 9
    ):
        if file.is_readable and not file.is_masked:
            chosen.setdefault(file.name, file)
    return [file for _, file in sorted(chosen.items())]


def _entries(lines: Iterable[str]) -> Iterator[tuple[str, str, str, str]]:
    """Kind, interface, key and value of each line below an interface; `match.name` for what stands below `match`."""
    above: list[tuple[int, str]] = []
    for raw in lines:
        text = raw.expandtabs(8)
        line = text.strip()
        pair = _PAIR.fullmatch(_without_comment(line))
        if pair is None or line.startswith("-"):
            continue
        indent = len(text) - len(text.lstrip())
        while above and above[-1][0] >= indent:
            above.pop()
        key, value = pair[1].strip("\"'"), (pair[2] or "").strip()
        above.append((indent, key))
        path = [name for _, name in above]
        if path[:1] == ["network"]:
            path = path[1:]
        if len(path) < 2 or path[0] not in _KINDS:
            continue
        kind, name, *below = (_KINDS[path[0]], *path[1:])
        if value.startswith("{"):
            yield from ((kind, name, ".".join([*below, key]), v) for key, v in _inline(value))
        elif not below:
            yield kind, name, "", value
        else:
            yield kind, name, ".".join(below), value.strip("\"'")


def _inline(value: str) -> Iterator[tuple[str, str]]:
    """The pairs of a mapping on one line; those of a `match` within it by their longer names."""
    within = ""
    opened = value.find("match")
    closed = value.find("}", opened)
    for found in _INLINE.finditer(value):
        within = "match." if 0 <= opened < found.start() < closed else ""
        if found[1] != "match":
            yield within + found[1], found[2].strip("\"'")


def _without_comment(line: str) -> str:
    return re.sub(r"(^|\s)#.*", "", line).strip()
