"""Parse the kernel's text files: counters of /proc/net, files with one value. Text in, facts out; raises nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import msgspec

from checks.model.facts import Interface, KernelCounters, Unknown
from checks.sources.kernel_files import COUNTER_FILES, LOCK_NAMES

_INTEGER = re.compile(r"-?[0-9]{1,20}", re.ASCII)
_SPEEDS_NOT_KNOWN = (0xFFFF, 0xFFFFFFFF)
"""-1, as printed by kernels that treat the speed as unsigned."""


def number(text: str) -> int | None:
    """Parse a decimal integer as the kernel prints it; None for other text."""
    return int(text) if _INTEGER.fullmatch(text) else None


def parse_counters(text: str) -> KernelCounters | Unknown:
    """Parse /proc/net/snmp and /proc/net/netstat, one after the other: a line of names and a line of values a group.

    A value belongs to the name at its position; a name without a value, or a value without a name, is left out. A group
    with a value that is no integer is left out whole, because its columns cannot be trusted.
    """
    groups: dict[str, dict[str, int]] = {}
    names: tuple[str, list[str]] | None = None
    for line in text.splitlines():
        group, colon, rest = line.partition(":")
        if not colon or not group or " " in group:
            names = None
        elif names is None or names[0] != group:
            names = group, rest.split()
        else:
            values = [number(word) for word in rest.split()]
            pairs = {name: value for name, value in zip(names[1], values, strict=False) if value is not None}
            if None not in values and pairs:
                groups.setdefault(group, {}).update(pairs)
            names = None
    return (
        KernelCounters(groups) if groups else Unknown(f"No counter could be parsed in {' and '.join(COUNTER_FILES)}.")
    )


def snmp_total(text: str, group: str, name: str) -> int | None:
    """The counter of IPv4 and that of IPv6 together, from /proc/net/snmp and snmp6; None where both are missing.

    snmp has the names of its columns on one line and the values on the next; snmp6 has a line for each counter.
    """
    counters = parse_counters(text)
    of_ipv4 = None if isinstance(counters, Unknown) else counters.value(group, name)
    of_ipv6 = next((number(w[1]) for line in text.splitlines() if (w := line.split())[:1] == [f"{group}6{name}"]), None)
    known = [value for value in (of_ipv4, of_ipv6) if value is not None]
    return sum(known) if known else None


def lock_lines(text: str) -> str:
    """Return the names of racwire's locks in /proc/net/unix, a line each, as the programs for peers print them."""
    return "\n".join(re.findall(LOCK_NAMES, text))


def parse_locks(text: str) -> tuple[str, ...]:
    """Parse these lines: each lock once, without the @ of abstract sockets. Any user of the node may hold one."""
    return tuple(sorted({line[1:] for line in text.splitlines() if re.fullmatch(LOCK_NAMES, line)}))


def parse_values(text: str) -> dict[str, str]:
    """Parse files of one line, as `grep -H .` prints them: path, colon, content. Runs of blanks become one blank."""
    values: dict[str, str] = {}
    for line in text.splitlines():
        path, colon, content = line.partition(":")
        if colon and path and path not in values:
            values[path] = " ".join(content.split())
    return values


def with_speeds(interfaces: Iterable[Interface], values: Mapping[str, str]) -> tuple[Interface, ...]:
    """The interfaces with their speed, duplex and changes of the link, from `<name>/speed` and its like below
    /sys/class/net."""
    return tuple(
        msgspec.structs.replace(
            interface,
            speed_mbps=_speed(values.get(f"{interface.name}/speed"), interface),
            duplex=_duplex(values.get(f"{interface.name}/duplex"), interface),
            carrier_changes=number(values.get(f"{interface.name}/carrier_changes", "")),
        )
        for interface in interfaces
    )


def _speed(text: str | None, interface: Interface) -> int | Unknown:
    mbps = number(text) if text is not None else None
    if mbps is None or mbps <= 0 or mbps in _SPEEDS_NOT_KNOWN:
        return _not_reported("speed", interface)
    return mbps


def _duplex(text: str | None, interface: Interface) -> str | Unknown:
    return text if text in ("full", "half") else _not_reported("duplex", interface)


def _not_reported(attribute: str, interface: Interface) -> Unknown:
    if not interface.is_up:
        return Unknown(f"{interface.name} has no link, so it has no {attribute}.")
    return Unknown(f"The driver of {interface.name} reports no {attribute}.")
