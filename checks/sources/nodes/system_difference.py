"""Compute the growth of the counters of NICs, CPUs and memory: text in, differences out. No I/O, no exceptions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from checks.model.facts import CounterGroup, NicState, SystemCounters, TrackedConnections, Unknown
from checks.sources.kernel_files import CONNECTION_COUNTERS, CONNECTION_TABLE
from checks.sources.nodes.proc import number

_CPU_COLUMNS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
"""The columns of /proc/stat. Those after `steal` count the time of guests a second time."""
_NIC_COUNTERS = frozenset(
    (
        *(f"{way}_{what}" for way in ("rx", "tx") for what in ("bytes", "packets", "errors", "dropped", "fifo_errors")),
        *(f"rx_{kind}_errors" for kind in ("crc", "frame", "length", "missed", "over")),
        *("rx_nohandler", "tx_aborted_errors", "tx_carrier_errors", "collisions", "multicast", "carrier_changes"),
    )
)
"""The counters that are facts, with the drops of the queue; the journal has all of them."""
_CPU = re.compile(r"cpu[0-9]{0,5}", re.ASCII)
_SOFTNET_COLUMNS = {"processed": 0, "dropped": 1, "squeezed": 2}
_CPU_OF_ROW = 12
"""The column of softnet_stat with the number of the CPU, since Linux 5.10; before, rows of offline CPUs are absent."""
_STALL = re.compile(r"(some|full) .*\btotal=([0-9]{1,19})", re.ASCII)
_MEMORY = ("pswpin", "pswpout", "allocstall", "oom_kill", "compact_stall", "compact_fail")
_QUEUE = re.compile(r"qdisc \S+ \S+ dev (\S+) .*\broot\b", re.ASCII)
_DROPPED = re.compile(r"\(dropped ([0-9]{1,19}),", re.ASCII)
_HEXADECIMAL = re.compile(r"[0-9a-f]{1,16}", re.ASCII)
_WRAP = 2**32

Counts = Mapping[str, Mapping[str, int]]
"""Counters by name, by NIC, CPU or resource."""


@dataclass(frozen=True)
class SystemReading:
    """The counters of NICs, CPUs and memory at one moment; empty where the node has none."""

    nics: Counts = field(default_factory=dict)
    cpus: Counts = field(default_factory=dict)
    stalls: Counts = field(default_factory=dict)
    memory: Mapping[str, int] = field(default_factory=dict)
    connections: Mapping[str, int] = field(default_factory=dict)
    """`count` and `max` of nf_conntrack, with the counters of all CPUs by the names of their columns."""
    states: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """`address`, `mtu` and `operstate`, by NIC."""


def parse_system(sections: Mapping[str, Sequence[str]], softnet: Iterable[Sequence[int]]) -> SystemReading:
    """Parse the lines of the sections `system`, `nics` and `queues` of the program `counters`."""
    cpus: dict[str, dict[str, int]] = {}
    stalls: dict[str, dict[str, int]] = {}
    memory: dict[str, int] = {}
    connections: dict[str, int] = {}
    columns: list[str] = []
    for line in sections.get("system", ()):
        path, _, content = line.partition(":")
        directory, _, file = path.rpartition("/")
        words = content.split()
        if directory == "/proc/pressure" and (found := _STALL.match(content)):
            stalls.setdefault(file, {})[found[1]] = int(found[2])
        elif path == "/proc/stat" and words and _CPU.fullmatch(words[0]):
            ticks = [number(word) for word in words[1 : len(_CPU_COLUMNS) + 1]]
            if len(ticks) == len(_CPU_COLUMNS) and None not in ticks:
                cpus[words[0]] = dict(zip(_CPU_COLUMNS, map(int, words[1:]), strict=False))
        elif path.startswith(CONNECTION_TABLE) and (count := number(content)) is not None:
            connections[path.removeprefix(CONNECTION_TABLE)] = count
        elif path == CONNECTION_COUNTERS and words and words[0] == "entries":
            columns = words
        elif path == CONNECTION_COUNTERS and len(words) == len(columns) and all(map(_HEXADECIMAL.fullmatch, words)):
            for name, word in zip(columns, words, strict=True):
                connections[name] = connections.get(name, 0) + int(word, 16)
        elif path == "/proc/vmstat" and len(words) == 2 and (count := number(words[1])) is not None:
            # Since Linux 4.8 allocstall is counted by zone: allocstall_normal, allocstall_movable.
            name = "allocstall" if words[0].startswith("allocstall") else words[0]
            if name in _MEMORY:
                memory[name] = memory.get(name, 0) + count
    for position, row in enumerate(softnet):
        cpu = row[_CPU_OF_ROW] if len(row) > _CPU_OF_ROW else position
        cpus.setdefault(f"cpu{cpu}", {}).update({name: row[at] for name, at in _SOFTNET_COLUMNS.items()})
    return SystemReading(_nics(sections), cpus, stalls, memory, connections, _states(sections))


def _states(sections: Mapping[str, Sequence[str]]) -> dict[str, dict[str, str]]:
    states: dict[str, dict[str, str]] = {}
    for line in sections.get("nics", ()):
        path, _, content = line.partition(":")  # a MAC address has colons
        nic, _, file = path.partition("/")
        if nic and file in ("address", "mtu", "operstate"):
            states.setdefault(nic, {})[file] = content.strip()
    return states


def _nics(sections: Mapping[str, Sequence[str]]) -> dict[str, dict[str, int]]:
    """The counters of the NICs in the section `nics`, with the drops of their queues."""
    nics: dict[str, dict[str, int]] = {}
    for line in sections.get("nics", ()):
        path, _, content = line.rpartition(":")
        nic, _, file = path.partition("/")
        name, count = file.rpartition("/")[2], number(content)
        if nic and name in _NIC_COUNTERS and count is not None and count >= 0:
            nics.setdefault(nic, {})[name] = count
    sender = ""
    for line in sections.get("queues", ()):
        if found := _QUEUE.match(line):
            sender = found[1].partition("@")[0]
        elif (dropped := _DROPPED.search(line)) and sender in nics:
            nics[sender]["qdisc_drops"] = int(dropped[1])
            sender = ""
    return nics


def system_growth(before: SystemReading, after: SystemReading) -> SystemCounters:
    """The growth between two readings of one node."""
    memory = _grown(before.memory, after.memory)
    return SystemCounters(
        nics=_groups(before.nics, after.nics) or Unknown("The node reports no counters of private NICs."),
        cpus=_groups(before.cpus, after.cpus) or Unknown("The node reports no counters of CPUs."),
        stalls=_groups(before.stalls, after.stalls) or Unknown("The kernel of the node has no /proc/pressure."),
        memory=CounterGroup("memory", memory) if memory else Unknown("The node reports no counters of memory."),
        connections=_connections(before.connections, after.connections),
        states=tuple(
            NicState(name, number(of.get("mtu", "")), of.get("operstate", ""), of.get("address", ""))
            for name, of in after.states.items()
        ),
    )


def _connections(before: Mapping[str, int], after: Mapping[str, int]) -> TrackedConnections | Unknown | None:
    if "count" not in after:
        return None
    if "max" not in after:
        return Unknown("The node does not report how many connections its kernel can track.")
    grown = _grown(before, after)
    entries = max(before.get("count", 0), after["count"])
    return TrackedConnections(entries, after["max"], grown.get("drop", 0), grown.get("early_drop", 0))


def system_text(counters: SystemCounters) -> list[str]:
    """The counters that grew, a line for each NIC, CPU and resource, for the journal."""
    groups = [group for found in (counters.nics, counters.stalls) if not isinstance(found, Unknown) for group in found]
    if (total := counters.cpu("cpu")) is not None:
        groups.append(total)
    if not isinstance(counters.memory, Unknown):
        groups.append(counters.memory)
    lines = ((g.name, [f"{name} +{value}" for name, value in g.counts.items() if value]) for g in groups)
    return [f"{name}: {', '.join(grew)}" for name, grew in lines if grew]


def _groups(before: Counts, after: Counts) -> tuple[CounterGroup, ...]:
    both = (name for name in after if name in before)
    return tuple(CounterGroup(name, grown) for name in both if (grown := _grown(before[name], after[name])))


def _grown(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    """The growth of each counter that both have, without those that fell; 32-bit counters can overflow."""
    growth = {name: grown_by(before[name], value) for name, value in after.items() if name in before}
    return {name: grown for name, grown in growth.items() if grown is not None}


def grown_by(before: int, after: int) -> int | None:
    """The growth, also of a 32-bit counter that overflowed from a high enough value; None where the counter fell."""
    if after >= before:
        return after - before
    ran_over = _WRAP // 2 <= before < _WRAP and 0 <= after < _WRAP // 2
    return after + _WRAP - before if ran_over else None
