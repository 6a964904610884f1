"""Compute the growth of a kernel's counters between two readings: text in, differences out. No I/O, no exceptions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from checks.model.facts import KernelCounters, NicAddresses, Route, SystemCounters, Unknown
from checks.sources.kernel_files import COUNTERS_OF_THIS_NODE, MOST_LINES
from checks.sources.nodes.ip_text import parse_addresses, parse_routes
from checks.sources.nodes.proc import parse_counters, parse_locks
from checks.sources.nodes.system_difference import SystemReading, grown_by, parse_system, system_growth, system_text
from checks.sources.sh_text import MARK

SOFTNET = "Softnet"
NOT_READ = Unknown("This reading has no addresses and routes.")
_SOFTNET_COLUMNS = {"Dropped": 1, "TimeSqueezed": 2}
_SOFTNET_LINE = re.compile(r"[0-9a-f]{8}(?: [0-9a-f]{8}){2,}", re.ASCII)

_FRAGMENT_MEMORY = re.compile(r"^FRAG: inuse [0-9]{1,19} memory ([0-9]{1,19})\s*$", re.ASCII | re.MULTILINE)

_NO_COUNTERS = {
    "Ip": {"Forwarding", "DefaultTTL"},
    "Tcp": {"RtoAlgorithm", "RtoMin", "RtoMax", "MaxConn", "CurrEstab"},
}
"""Settings and gauges among the counters: their differences have no meaning."""

_ALWAYS_COUNTED = ("Ip", "InReceives")
"""A counter that grows all the time on a node with network traffic: if it fell, all counters were reset.

The kernel counts it in 64 bits, so it never overflows: a fall from a high value is a restart, too.
"""


@dataclass(frozen=True)
class KernelReading:
    """The counters of one node at one moment."""

    counters: KernelCounters
    softnet: tuple[tuple[int, ...], ...] = ()
    """A line for each CPU that is online, in the kernel's order; empty where there is no softnet_stat."""
    fragment_memory_bytes: int | None = None
    """The memory of packets in reassembly; None where there is no sockstat."""
    machine: SystemReading = field(default_factory=SystemReading)
    """The counters of NICs, CPUs and memory."""
    racwires: tuple[str, ...] = ()
    """The locks of racwires."""
    addresses: tuple[NicAddresses, ...] | Unknown = NOT_READ
    routes: tuple[Route, ...] | Unknown = NOT_READ
    """The IPv4 routes of the main table."""


@dataclass(frozen=True)
class KernelGrowth:
    """The growth of the counters, and the counters whose growth is not known."""

    counters: KernelCounters
    left_out: tuple[str, ...] = field(default=())
    """The names of counters that fell: `Ip.ReasmFails`."""
    fragment_memory_bytes: int | None = None
    """The larger of the amounts at the two readings."""
    machine: SystemCounters = field(default_factory=SystemCounters)


def parse_reading(text: str) -> KernelReading | Unknown:
    """Parse the output of the program `counters`: /proc/net/snmp, netstat, softnet_stat and sockstat, then sections.

    A line of softnet_stat is a row of hexadecimal words of eight digits; no line of the others is.
    """
    kernel, *marked = re.split(rf"^{re.escape(MARK)} ", text, flags=re.MULTILINE)
    counters = parse_counters(kernel)
    if isinstance(counters, Unknown):
        return Unknown(f"No counter could be parsed from {', '.join(COUNTERS_OF_THIS_NODE.files)}.")
    memory = _FRAGMENT_MEMORY.search(kernel)
    softnet = parse_softnet(kernel.splitlines())
    sections = {name: lines for name, *lines in (section.splitlines() for section in marked if section.strip())}
    return KernelReading(
        counters,
        softnet,
        int(memory[1]) if memory else None,
        parse_system(sections, softnet if sections else ()),
        parse_locks("\n".join(sections.get("racwires", ()))),
        _whole("addresses", sections.get("addresses", ()), parse_addresses),
        _whole("routes", sections.get("routes", ()), lambda lines: parse_routes("\n".join(lines))),
    )


_T = TypeVar("_T")


def _whole(
    what: str, lines: Sequence[str], parse: Callable[[Sequence[str]], tuple[_T, ...]]
) -> tuple[_T, ...] | Unknown:
    """Parse a list; Unknown where the node printed none, or so many lines that the rest was left out."""
    if len(lines) >= MOST_LINES:
        return Unknown(f"The node has more than {MOST_LINES} {what}: they were not read again.")
    return parse(lines) or Unknown(f"The node did not print its {what} again.")


def parse_softnet(lines: Iterable[str]) -> tuple[tuple[int, ...], ...]:
    """The rows of /proc/net/softnet_stat among some lines, one for each CPU."""
    rows = (line.split() for line in map(str.strip, lines) if _SOFTNET_LINE.fullmatch(line))
    return tuple(tuple(int(word, 16) for word in row) for row in rows)


def difference(before: KernelReading, after: KernelReading) -> KernelGrowth | Unknown:
    """The growth between two readings of one node; Unknown where the counters were reset between the readings.

    A counter that only one reading has is left out without a remark: some kernels list a name only after its first
    count.
    """
    groups: dict[str, dict[str, int]] = {}
    fell: list[str] = []
    for group, values in after.counters.groups.items():
        for name, value in values.items():
            earlier = before.counters.value(group, name)
            if earlier is None or name in _NO_COUNTERS.get(group, ()):
                continue
            if value < earlier and (group, name) == _ALWAYS_COUNTED:
                return Unknown("The node was restarted between the two readings: its counters were reset.")
            grown = grown_by(earlier, value)
            if grown is not None:
                groups.setdefault(group, {})[name] = grown
            else:
                fell.append(f"{group}.{name}")
    if softnet := _softnet(before.softnet, after.softnet):
        groups[SOFTNET] = softnet
    elif before.softnet or after.softnet:
        fell += [f"{SOFTNET}.{name}" for name in _SOFTNET_COLUMNS]
    amounts = [r.fragment_memory_bytes for r in (before, after) if r.fragment_memory_bytes is not None]
    return KernelGrowth(
        KernelCounters(groups), tuple(fell), max(amounts, default=None), system_growth(before.machine, after.machine)
    )


def difference_text(change: KernelGrowth) -> str:
    """The counters that grew or fell, one line each, for the journal."""
    grew = [
        f"{group}.{name} +{value}"
        for group, values in change.counters.groups.items()
        for name, value in values.items()
        if value
    ]
    fell = (f"{name} fell: left out" for name in change.left_out)
    return "\n".join([*grew, *fell, *system_text(change.machine)])


def _softnet(before: Sequence[Sequence[int]], after: Sequence[Sequence[int]]) -> dict[str, int]:
    """The growth over all CPUs; empty where the number of CPUs changed, or a counter of one fell."""
    if len(before) != len(after):
        return {}
    sums = dict.fromkeys(_SOFTNET_COLUMNS, 0) if after else {}
    for old, new in zip(before, after, strict=True):
        for name, column in _SOFTNET_COLUMNS.items():
            grown = grown_by(old[column], new[column])
            if grown is None:
                return {}
            sums[name] += grown
    return sums
