"""Reads `sadf -j`: sysstat's records of one or more nodes, often from long before a change was planned.

    sadf -j -- -n DEV,EDEV,IP,EIP,UDP,SOFT -u ALL -q /var/log/sa/sa20

sysstat rounds rates to 0.01 a second: a reassembly failure every four minutes becomes 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from checks.traffic.compare.run import Better, ComparedRun, ImportProblem, Measured
from checks.traffic.imports.result_text import decoded, number, plain, table, tables, word

ROUNDED = "sysstat rounds to 0.01 a second: a rare event becomes 0."
_SIGN = re.compile(r'"sysstat"\s*:')
_MEGABITS_OF_KIBIBYTES = 1024 * 8 / 1e6
_MOST_HOSTS, _MOST_INTERFACES = 64, 512


class _Column(NamedTuple):
    """A figure of sysstat, and its name in racwire."""

    keys: tuple[str, ...]
    """The names of the figure in different versions."""
    name: str
    unit: str = "/s"
    better: Better = Better.NEITHER
    factor: float = 1.0


_NET_DEV = (
    _Column(("rxpck",), "packets received"),
    _Column(("txpck",), "packets sent"),
    _Column(("rxkB",), "received", "Mb/s", factor=_MEGABITS_OF_KIBIBYTES),
    _Column(("txkB",), "sent", "Mb/s", factor=_MEGABITS_OF_KIBIBYTES),
    _Column(("ifutil-percent", "ifutil"), "share of link speed", "%"),
)
_NET_EDEV = (
    _Column(("rxerr",), "receive errors", better=Better.LOWER),
    _Column(("txerr",), "send errors", better=Better.LOWER),
    _Column(("rxdrop",), "received packets dropped", better=Better.LOWER),
    _Column(("txdrop",), "sent packets dropped", better=Better.LOWER),
    _Column(("rxfifo",), "receive buffer overruns", better=Better.LOWER),
)
_NODE_GROUPS = {
    "net-ip": (
        "Kernel",
        (
            _Column(("irec",), "IP packets received"),
            _Column(("orq",), "IP packets sent"),
            _Column(("asmrq",), "fragments received"),
            _Column(("asmok",), "packets reassembled"),
            _Column(("fragcrt",), "fragments made"),
        ),
    ),
    "net-eip": (
        "Kernel",
        (
            _Column(("asmf",), "reassembly failures", better=Better.LOWER),
            _Column(("fragf",), "fragmenting failures", better=Better.LOWER),
            _Column(("idisc",), "received IP packets discarded", better=Better.LOWER),
            _Column(("odisc",), "sent IP packets discarded", better=Better.LOWER),
        ),
    ),
    "net-udp": (
        "Kernel",
        (
            _Column(("idgm",), "UDP datagrams received"),
            _Column(("odgm",), "UDP datagrams sent"),
            _Column(("idgmerr",), "UDP receive errors", better=Better.LOWER),
            _Column(("noport",), "UDP datagrams to no port", better=Better.LOWER),
        ),
    ),
    "queue": ("CPU", (_Column(("ldavg-1",), "load", ""),)),
}
_CPU = (
    _Column(("soft",), "soft interrupts", "%", Better.LOWER),
    _Column(("sys", "system"), "system", "%", Better.LOWER),
)
_SOFTNET = (
    _Column(("dropd",), "softnet drops", better=Better.LOWER),
    _Column(("squeezd",), "softnet time squeezes", better=Better.LOWER),
)
_Series = dict[str, tuple[str, _Column, list[float]]]
"""By the metric's name: its heading, its column and its values so far."""


def looks_like_sadf(text: str) -> bool:
    """Return whether a JSON text starts like those of sadf."""
    return _SIGN.search(text[:2000]) is not None


def parse_sadf(text: str, name: str) -> ComparedRun:
    """Return the run of a file. Raises ImportProblem where it has no figures of network or CPU."""
    hosts = tables(table(table(decoded(text, name)).get("sysstat")).get("hosts"))
    series: _Series = {}
    environment: dict[str, str] = {}
    warnings: list[str] = []
    begun, seconds = [], []
    for host in hosts[:_MOST_HOSTS]:
        node = word(host.get("nodename")).partition(".")[0][:64] or "node"
        samples = [s for s in tables(host.get("statistics")) if len(s) > 1]
        samples.sort(key=_time_of)
        for sample in samples:
            _take(series, node, sample)
        if samples:
            begun.append(_time_of(samples[0]))
            seconds.append(sum(number(table(s.get("timestamp")).get("interval")) or 0 for s in samples))
        environment |= _environment(node, host)
        boots = [_when(table(restart.get("boot"))) for restart in tables(host.get("restarts"))]
        if samples and any(boot > _time_of(samples[0]) for boot in boots):
            warnings.append(f"{node} was restarted within this time.")
    measured = tuple(_measured(series))
    if not measured:
        raise ImportProblem(
            f"{name} has no figures of network or CPU: print it with "
            "`sadf -j -- -n DEV,EDEV,IP,EIP,UDP,SOFT -u ALL -q FILE`."
        )
    return ComparedRun(
        kind="sadf",
        name=name,
        begun_at=min(begun, default=""),
        seconds=max(seconds, default=0) or None,
        measured=measured,
        environment=environment,
        warnings=tuple(dict.fromkeys(warnings)),
    )


def _time_of(sample: dict[str, object]) -> str:
    """When a sample ended."""
    return _when(table(sample.get("timestamp")))


def _when(stamp: dict[str, object]) -> str:
    """A time as ISO 8601; in UTC where sadf says so, else in the node's own time."""
    is_utc = number(stamp.get("utc")) == 1 or word(stamp.get("tz")) == "UTC"
    day, time = word(stamp.get("date")), word(stamp.get("time"))
    return f"{day}T{time}{'+00:00' if is_utc else ''}" if day and time else ""


def _take(series: _Series, node: str, sample: dict[str, object]) -> None:
    """Add one sample's figures to their series."""
    network = {**sample, **table(sample.get("network"))}
    for device in tables(network.get("net-dev"))[:_MOST_INTERFACES]:
        if place := _interface(node, device):
            _add(series, "Network", place, _NET_DEV, device)
            _add_packet_sizes(series, place, device)
    for device in tables(network.get("net-edev"))[:_MOST_INTERFACES]:
        if place := _interface(node, device):
            _add(series, "Network", place, _NET_EDEV, device)
    for group, (heading, columns) in _NODE_GROUPS.items():
        for counts in tables(network.get(group))[:1]:
            _add(series, heading, node, columns, counts)
    _add(series, "Kernel", node, _SOFTNET, _over_all_cpus(tables(network.get("softnet"))))
    load = tables(network.get("cpu-load")) or tables(network.get("cpu-load-all"))
    cpu = next((c for c in load if c.get("cpu") == "all"), {})
    _add(series, "CPU", node, _CPU, cpu)
    idle = number(cpu.get("idle"))
    if idle is not None and 0 <= idle <= 100:
        _append(series, "CPU", node, _Column((), "CPU busy", "%", Better.LOWER), 100 - idle)


def _interface(node: str, device: dict[str, object]) -> str:
    """A name such as `rac1 eth1`; empty for the loopback, which is no part of the interconnect."""
    name = word(device.get("iface"))[:64]
    return f"{node} {name}" if name and name != "lo" else ""


def _add_packet_sizes(series: _Series, place: str, device: dict[str, object]) -> None:
    """Add the mean packet size, which an MTU changes most directly."""
    for packets_key, size_key, name in (("rxpck", "rxkB", "received"), ("txpck", "txkB", "sent")):
        packets, kibibytes = number(device.get(packets_key)), number(device.get(size_key))
        # Rounded to 0.01 a second, few packets would give any size.
        if packets is not None and kibibytes is not None and packets >= 1 and kibibytes > 0:
            column = _Column((), f"mean packet {name}", "bytes")
            _append(series, "Network", place, column, kibibytes * 1024 / packets)


def _over_all_cpus(rows: list[dict[str, object]]) -> dict[str, object]:
    """The row of all CPUs, or their sum where the file has only single CPUs."""
    if whole := next((row for row in rows if row.get("cpu") == "all"), None):
        return whole
    sums: dict[str, object] = {}
    for column in _SOFTNET:
        values = [v for row in rows if (v := number(row.get(column.keys[0]))) is not None]
        if values:
            sums[column.keys[0]] = sum(values)
    return sums


def _add(series: _Series, heading: str, place: str, columns: tuple[_Column, ...], counts: dict[str, object]) -> None:
    for column in columns:
        value = next((v for key in column.keys if (v := number(counts.get(key))) is not None), None)
        if value is not None and value >= 0:
            _append(series, heading, place, column, value * column.factor)


def _append(series: _Series, heading: str, place: str, column: _Column, value: float) -> None:
    series.setdefault(f"{place} {column.name}", (heading, column, []))[2].append(value)


def _measured(series: _Series) -> Iterator[Measured]:
    for name, (heading, column, values) in series.items():
        rare = column.better is Better.LOWER and column.unit == "/s"
        note = ROUNDED if rare else ""
        yield Measured(name, column.unit, tuple(values), column.better, group=heading, note=note)


def _environment(node: str, host: dict[str, object]) -> dict[str, str]:
    cpus = number(host.get("number-of-cpus"))
    found = {
        f"{node} kernel": word(host.get("release")),
        f"{node} machine": word(host.get("machine")),
        f"{node} CPUs": plain(cpus) if cpus else "",
    }
    return {what: value for what, value in found.items() if value}
