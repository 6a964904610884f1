"""Parses the kernel's files that a sample of a node needs. Reads no files and raises nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from checks.model.facts import Unknown
from checks.sources.nodes.counter_difference import KernelReading, parse_softnet
from checks.sources.nodes.proc import parse_counters
from checks.sources.sh_text import MARK
from checks.traffic.interface_table import InterfaceTable, parse_table

_FIGURE = re.compile(r"[0-9]{1,20}", re.ASCII)
_LOAD = re.compile(r"(\d+\.\d+) \d+\.\d+ \d+\.\d+ \d+/\d+ \d+", re.ASCII)
_BOOT_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)
_UPTIME = re.compile(r"(\d+\.\d+) \d+\.\d+", re.ASCII)
_WANTED_GROUPS = ("Ip:", "Udp:")
_USER, _IDLE, _IOWAIT, _SOFTIRQ, _GUEST = 0, 3, 4, 6, 8


@dataclass(frozen=True, slots=True)
class CpuTicks:
    """The time of one CPU, or of all CPUs, since boot, by use, in ticks of the kernel."""

    total: int
    idle: int
    softirq: int


@dataclass(frozen=True, slots=True)
class NodeReading:
    """The counters of a node at one moment."""

    interfaces: InterfaceTable
    kernel: KernelReading | None = None
    cpus: Mapping[str, CpuTicks] = field(default_factory=dict)
    """`cpu` is all CPUs together, `cpu0` the first one."""
    load: float | None = None
    uptime_s: float | None = None
    """Seconds since boot by the node's own clock; read only from peers."""
    links_text: str = ""
    """The output of SAMPLE about the interfaces."""
    boot_id: str = ""
    """Another one after each boot; read only from peers."""


def parse_files(dev: str, snmp: str, softnet: str, stat: str, loadavg: str) -> NodeReading | Unknown:
    """Return a reading of this node from the texts of its files. A file that could not be read is an empty text."""
    interfaces = parse_table(dev)
    if not interfaces.all_names:
        return Unknown("/proc/net/dev could not be parsed.")
    load = _LOAD.match(loadavg)
    return NodeReading(
        interfaces, _kernel(snmp.splitlines(), softnet.splitlines()), _cpus(stat), float(load[1]) if load else None
    )


def parse_peer(text: str) -> NodeReading | Unknown:
    """Return a reading of a peer from the output of SAMPLE.

    The lines of each file that `cat` printed have a form of their own, which says which file a line is from.
    """
    counted, _, rest = text.partition(f"{MARK} kernel\n")
    kernel, _, links = rest.partition(f"{MARK} links\n")
    table: list[str] = []
    others: list[str] = []
    load: float | None = None
    uptime_s: float | None = None
    boot_id = ""
    for line in counted.splitlines():
        if ":" in line or "|" in line:
            table.append(line)
        elif found := _LOAD.fullmatch(line):
            load = float(found[1])
        elif found := _UPTIME.fullmatch(line):
            uptime_s = float(found[1])
        elif _BOOT_ID.fullmatch(line):
            boot_id = line
        else:
            others.append(line)
    interfaces = parse_table("\n".join(table))
    if not interfaces.all_names:
        return Unknown("/proc/net/dev of the peer could not be parsed.")
    return NodeReading(interfaces, _kernel(kernel.splitlines(), others), _cpus(kernel), load, uptime_s, links, boot_id)


def _kernel(snmp: Iterable[str], softnet: Iterable[str]) -> KernelReading | None:
    counters = parse_counters("\n".join(line for line in snmp if line.startswith(_WANTED_GROUPS)))
    return None if isinstance(counters, Unknown) else KernelReading(counters, parse_softnet(softnet))


def _cpus(stat: str) -> dict[str, CpuTicks]:
    """The CPU lines of /proc/stat, which are its first lines."""
    cpus: dict[str, CpuTicks] = {}
    for line in stat.splitlines():
        if not line.startswith("cpu"):
            break
        name, *words = line.split()
        if len(words) > _SOFTIRQ and all(map(_FIGURE.fullmatch, words)):
            ticks = [int(word) for word in words]
            # Time given to guests is counted a second time, under user.
            idle = ticks[_IDLE] + ticks[_IOWAIT]
            cpus[name] = CpuTicks(sum(ticks[_USER:_GUEST]), idle, ticks[_SOFTIRQ])
    return cpus
