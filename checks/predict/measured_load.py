"""The load of a recording, as a prediction needs it: by node and stretch, per second."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from checks.model.facts import Database, Unknown
from checks.model.packet_sizes import USUAL_BLOCK_BYTES
from checks.predict.fragment_cost import FragmentCost, fragment_costs
from checks.predict.packet_rates import Flow
from checks.rules.cache_fusion import BLOCKS_LOST, CR_RECEIVED, CR_SERVED, CURRENT_RECEIVED, CURRENT_SERVED
from checks.rules.measured_moment import moment_of
from checks.traffic.compare.readings import Rates, Readings, Recorded, Subject, read, time_of
from checks.traffic.samples import Link

_STRETCHES = 24
"""About how many stretches a recording is divided into, where its samples are short enough."""


@dataclass(frozen=True)
class NodeStretch:
    """One node in one stretch of the recording."""

    inbound: Flow
    outbound: Flow
    softirq_s: float | None
    """Seconds of CPU time in soft interrupts for each second, over all CPUs."""
    busiest_softirq: float | None
    """The share of the busiest CPU's time in soft interrupts, 0 to 1."""


@dataclass(frozen=True)
class NodeLoad:
    """One node over the whole recording."""

    node: str
    links: tuple[Link, ...]
    """Its private interfaces."""
    stretches: tuple[NodeStretch, ...]
    blocks_lost: float | None
    """Lost blocks per second; None without a database."""

    @property
    def mtu(self) -> int:
        """The smallest MTU of its private interfaces."""
        return min(link.mtu for link in self.links)


@dataclass(frozen=True)
class MeasuredLoad:
    """A recording, as far as a prediction needs it."""

    cluster: str
    measured_at: str
    seconds: float
    stretch_count: int
    nodes: tuple[NodeLoad, ...]
    left_out: Mapping[str, str]
    """The nodes without usable samples, each with the reason."""
    block_bytes: int
    is_block_assumed: bool
    multiblock: int | None
    """The largest db_file_multiblock_read_count of the instances; None if it was not read."""
    message_bytes: int | None
    """The largest parallel_execution_message_size of the instances in bytes; None if it was not read."""
    lms_processes: int | None
    """The largest gcs_server_processes of the instances; None if it was not read."""
    receive_buffer_bytes: Mapping[str, int]
    """net.core.rmem_max of each node."""
    version: int
    """The IP version of the private networks."""
    statistics: Mapping[str, Mapping[str, float]]
    """The statistics of each instance over the measured time, by its name."""
    small_rtt_ms: float | None
    """The average time of the instances' own pings of 500 bytes; None where none was recorded."""
    block_rtt_ms: float | None
    """The same of 8 KB."""
    fragment_costs: Mapping[str, FragmentCost | Unknown] = field(default_factory=dict)
    """The measured CPU time of a packet, by node; nodes that nothing was measured on have none."""


def load_of(recording: Recorded) -> MeasuredLoad:
    """Return the load of a recording. Raises RecordingError where its file is damaged."""
    _, seconds = time_of(recording)
    interval_s = recording.header.interval_s
    # A multiple of the interval: otherwise samples lie across the limits of the pieces, and many pieces have none.
    piece_s = interval_s * max(1, round(seconds / _STRETCHES / interval_s))
    readings = read(recording, piece_s)
    each = max(1, round(readings.longest_s / piece_s))
    stretches = readings.stretches(each)
    cluster = recording.header.cluster
    database = cluster.database if isinstance(cluster.database, Database) else None
    block = cluster.block_size_bytes
    nodes: list[NodeLoad] = []
    left_out: dict[str, str] = {}
    for node in sorted({*readings.subjects("node"), *(one.name for one in cluster.read_nodes())}):
        loaded = _node(node, readings, stretches)
        if isinstance(loaded, NodeLoad):
            nodes.append(loaded)
        else:
            left_out[node] = loaded
    return MeasuredLoad(
        cluster=_name(recording),
        measured_at=recording.header.started_at,
        seconds=seconds,
        stretch_count=len(stretches),
        nodes=tuple(nodes),
        left_out=left_out,
        block_bytes=block or USUAL_BLOCK_BYTES,
        is_block_assumed=block is None,
        multiblock=_largest(database, "db_file_multiblock_read_count"),
        message_bytes=_largest(database, "parallel_execution_message_size"),
        lms_processes=_largest(database, "gcs_server_processes"),
        receive_buffer_bytes=dict(_buffers(recording)),
        version=6 if any(":" in network.subnet for network in cluster.read_networks()) else 4,
        statistics={name: _statistics(name, stretches, seconds) for name in sorted(readings.subjects("instance"))},
        small_rtt_ms=_ping_ms("500 B", readings.subjects("pings"), stretches),
        block_rtt_ms=_ping_ms("8 KB", readings.subjects("pings"), stretches),
        fragment_costs=fragment_costs(
            recording.header.measurements, moment_of(cluster, readings.ports, readings.times)
        ),
    )


def _statistics(name: str, stretches: Sequence[Mapping[Subject, Rates]], seconds: float) -> dict[str, float]:
    """Return the counts of an instance over the measured time, those that every stretch with the instance has."""
    own = [rates for stretch in stretches if (rates := stretch.get(("instance", name)))]
    shared = set.intersection(*(set(rates) for rates in own)) if own else set()
    return {counter: seconds * fmean([rates[counter] for rates in own]) for counter in sorted(shared)}


def _ping_ms(size: str, instances: Iterable[str], stretches: Sequence[Mapping[Subject, Rates]]) -> float | None:
    """Return the average time of the instances' pings of one size."""
    own = [rates for name in instances for stretch in stretches if (rates := stretch.get(("pings", name)))]
    number = sum(rates.get(f"{size} pings", 0.0) for rates in own)
    return sum(rates.get(f"{size} us", 0.0) for rates in own) / number / 1000 if number > 0 else None


def _name(recording: Recorded) -> str:
    facts = recording.header.cluster.clusterware
    name = getattr(facts, "cluster_name", "")
    return name if isinstance(name, str) else ""


def _node(node: str, readings: Readings, stretches: Sequence[Mapping[Subject, Rates]]) -> NodeLoad | str:
    """Return the load of a node, or the reason why it is not known."""
    known = readings.links.get(node)
    links = tuple(link for link in known.links if link.network and link.mtu > 0) if known else ()
    if not links:
        return f"The private interfaces of {node} are not known."
    instances = readings.instances_of(node)
    found = [one for stretch in stretches if (one := _stretch(node, stretch, instances)) is not None]
    if not found:
        return f"{node} was not sampled long enough."
    lost = [sum(counts) for stretch in stretches if (counts := _lost(stretch, instances))]
    return NodeLoad(node, links, tuple(found), sum(lost) / len(lost) if lost else None)


def _lost(stretch: Mapping[Subject, Rates], instances: Sequence[str]) -> list[float]:
    """Return the lost blocks per second of each of the instances that was sampled."""
    known = (stretch.get(("instance", name), {}) for name in instances)
    return [rates[BLOCKS_LOST] for rates in known if BLOCKS_LOST in rates]


def _stretch(node: str, stretch: Mapping[Subject, Rates], instances: Sequence[str]) -> NodeStretch | None:
    rates = stretch.get(("node", node), {})
    try:
        inbound = Flow(
            packets=rates["private in packets"],
            bytes_=rates["private in bytes"],
            fragments=min(rates["Ip.ReasmReqds"], rates["private in packets"]),
            datagrams=rates["Ip.ReasmOKs"],
            blocks=_blocks(stretch, instances, (CR_RECEIVED, CURRENT_RECEIVED)),
        )
        outbound = Flow(
            packets=rates["private out packets"],
            bytes_=rates["private out bytes"],
            fragments=min(rates["Ip.FragCreates"], rates["private out packets"]),
            datagrams=rates["Ip.FragOKs"],
            blocks=_blocks(stretch, instances, (CR_SERVED, CURRENT_SERVED)),
        )
    except KeyError:
        return None
    return NodeStretch(inbound, outbound, rates.get("cpu softirq"), rates.get("busiest softirq"))


def _blocks(stretch: Mapping[Subject, Rates], instances: Sequence[str], names: Sequence[str]) -> float | None:
    """Return the blocks per second of all instances of a node; None where one of them is not known."""
    try:
        counted = [stretch["instance", instance][name] for instance in instances for name in names]
    except KeyError:
        return None
    return sum(counted) if instances else None


def _largest(database: Database | None, parameter: str) -> int | None:
    """Return the largest value of a parameter of the instances."""
    counts = [
        int(value)
        for instance in (database.instances if database else ())
        if database and (value := database.parameter(instance.number, parameter) or "").isdigit()
    ]
    return max(counts, default=None)


def _buffers(recording: Recorded) -> Iterator[tuple[str, int]]:
    for node in recording.header.cluster.read_nodes():
        value = node.sysctls.get("net.core.rmem_max")
        if isinstance(value, str) and value.isascii() and value.isdigit():
            yield node.name, int(value)
