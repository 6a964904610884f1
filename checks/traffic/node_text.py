"""What is read of a node for one sample: the kernel's files as text in, figures out. Nothing is read or raised."""

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
_UPTIME = re.compile(r"(\d+\.\d+) \d+\.\d+", re.ASCII)
_WANTED_GROUPS = ("Ip:", "Udp:")
_USER, _IDLE, _IOWAIT, _SOFTIRQ, _GUEST = 0, 3, 4, 6, 8


@dataclass(frozen=True, slots=True)
class CpuTicks:
    """Where the time of one processor, or of all, went since boot, in the kernel's ticks."""

    total: int
    idle: int
    softirq: int


@dataclass(frozen=True, slots=True)
class NodeReading:
    """The counters of a node at one moment."""

    interfaces: InterfaceTable
    kernel: KernelReading | None = None
    cpus: Mapping[str, CpuTicks] = field(default_factory=dict)
    """`cpu` is all of them together, `cpu0` the first."""
    load: float | None = None
    uptime_s: float | None = None
    """Seconds since boot by the node's own clock; read of peers only."""
    links_text: str = ""
    """What SAMPLE_AND_LINKS printed of the interfaces; empty where it was not asked."""


def parse_files(dev: str, snmp: str, softnet: str, stat: str, loadavg: str) -> NodeReading | Unknown:
    """A reading of this node from its files, each as it was read, empty where it could not be."""
    interfaces = parse_table(dev)
    if not interfaces.all_names:
        return Unknown("Nothing was understood of /proc/net/dev.")
    load = _LOAD.match(loadavg)
    return NodeReading(
        interfaces, _kernel(snmp.splitlines(), softnet.splitlines()), _cpus(stat), float(load[1]) if load else None
    )


def parse_peer(text: str) -> NodeReading | Unknown:
    """A reading of a peer from what SAMPLE or SAMPLE_AND_LINKS printed there.

    The files that `cat` printed are told apart by the shape of their lines: no two of them look alike.
    """
    counted, _, rest = text.partition(f"{MARK} kernel\n")
    kernel, _, links = rest.partition(f"{MARK} links\n")
    table: list[str] = []
    others: list[str] = []
    load: float | None = None
    uptime_s: float | None = None
    for line in counted.splitlines():
        if ":" in line or "|" in line:
            table.append(line)
        elif found := _LOAD.fullmatch(line):
            load = float(found[1])
        elif found := _UPTIME.fullmatch(line):
            uptime_s = float(found[1])
        else:
            others.append(line)
    interfaces = parse_table("\n".join(table))
    if not interfaces.all_names:
        return Unknown("Nothing was understood of /proc/net/dev there.")
    return NodeReading(interfaces, _kernel(kernel.splitlines(), others), _cpus(kernel), load, uptime_s, links)


def _kernel(snmp: Iterable[str], softnet: Iterable[str]) -> KernelReading | None:
    counters = parse_counters("\n".join(line for line in snmp if line.startswith(_WANTED_GROUPS)))
    return None if isinstance(counters, Unknown) else KernelReading(counters, parse_softnet(softnet))


def _cpus(stat: str) -> dict[str, CpuTicks]:
    """The lines of /proc/stat about processors, which come first there."""
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
