"""Rules for kernel settings: which file decides at the next boot, and which value counts for an interface."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from checks.model.facts import Cluster, SysctlLine, TunedProfile, Unknown
from checks.rules.node_counts import sysctl

STRICT, LOOSE = 1, 2
"""Values of rp_filter: Linux kernel documentation, ip-sysctl."""
RP_FILTER = "rp_filter"
_OF_INTERFACE = "net.ipv4.conf."
_PATTERN = frozenset("*?[")


def rp_filter_key(interface: str) -> str:
    """Return the key of an interface's rp_filter, as in `Node.sysctls`."""
    return f"{_OF_INTERFACE}{interface}.{RP_FILTER}"


def interface_of(key: str) -> str:
    """Return the interface of a key below net.ipv4.conf; empty for another key."""
    return key.removeprefix(_OF_INTERFACE).rpartition(".")[0] if key.startswith(_OF_INTERFACE) else ""


def spelled(key: str) -> str:
    """Return the key as sysctl(8) and sysctl.d(5) read it: a slash stands for a dot in the name of an interface."""
    interface = interface_of(key)
    return f"{_OF_INTERFACE}{interface.replace('.', '/')}.{key.rpartition('.')[2]}" if interface else key


def effective_rp_filter(cluster: Cluster, node: str, interface: str) -> int | None:
    """Return the effective rp_filter; None where it is not known."""
    return effective(cluster, node, interface, "rp_filter")


def effective(cluster: Cluster, node: str, interface: str, name: str) -> int | None:
    """Return the effective rp_filter, arp_ignore or arp_filter of an interface: the larger of `all` and its own (kernel
    documentation, ip-sysctl); None where one of them is not known."""
    values = [sysctl(cluster, node, f"net.ipv4.conf.{of}.{name}") for of in ("all", interface)]
    known = [value for value in values if value is not None]
    return max(known) if len(known) == len(values) else None


def strict_interfaces(cluster: Cluster, node: str) -> tuple[str, ...]:
    """Return the private interfaces of a node that filter strictly."""
    return tuple(nic for nic in private_interfaces(cluster, node) if effective_rp_filter(cluster, node, nic) == STRICT)


def private_interfaces(cluster: Cluster, node: str) -> tuple[str, ...]:
    """Return the interfaces of a node on the private networks of IPv4."""
    networks = cluster.read_networks()
    return tuple(dict.fromkeys(port.interface for n in networks if (port := n.port(node)) and ":" not in port.ip))


def line_that_sets(lines: Sequence[SysctlLine], key: str) -> SysctlLine | None:
    """Return the line that decides a key, of lines in the order in which they apply; None if none sets it.

    The last line with the key itself decides, also as an exception from patterns; else the last pattern that matches.
    Source: sysctl.d(5). systemd reads patterns from 246 on.
    """
    own = [line for line in lines if line.key == key]
    if own:
        return None if own[-1].is_exception else own[-1]
    patterns = [line for line in lines if not line.is_exception and _matches(line.key, key)]
    return patterns[-1] if patterns else None


def is_pattern(line: SysctlLine) -> bool:
    """Whether the key of a line is a pattern."""
    return not _PATTERN.isdisjoint(line.key)


def _matches(pattern: str, key: str) -> bool:
    parts, wanted = _parts(pattern), _parts(key)
    return len(parts) == len(wanted) and all(map(fnmatchcase, wanted, parts)) and not _PATTERN.isdisjoint(pattern)


def _parts(key: str) -> tuple[str, ...]:
    """Return the parts of a key; the name of an interface is one part."""
    parts = key.split(".")
    if key.startswith(_OF_INTERFACE) and len(parts) > 4:
        return (*parts[:3], ".".join(parts[3:-1]), parts[-1])
    return tuple(parts)


def tuned_line_against(profile: TunedProfile | Unknown | None, key: str, value: str) -> SysctlLine | None:
    """Return the line of the profile that replaces the value of a key at boot; None if none does.

    The files of sysctl win over the profile where tuned applies them again. `>1000` raises a smaller value only, and
    `<1000` lowers a larger one: tuned-profiles(7).
    """
    if not isinstance(profile, TunedProfile) or profile.reapplies:
        return None
    line = next((line for line in reversed(profile.sets) if line.key == key), None)
    if line is None:
        return None
    sign, number = line.value[:1], line.value[1:].strip()
    if sign in (">", "<") and number.isdecimal() and value.isdecimal():
        is_kept = int(value) >= int(number) if sign == ">" else int(value) <= int(number)
        return None if is_kept else line
    return None if line.value == value else line
