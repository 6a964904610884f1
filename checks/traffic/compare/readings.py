"""Divides a recording into pieces of equal length, with the counts of each source in each piece."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from checks.model.facts import InstancePing, ServiceActivity
from checks.model.percentiles import least_values
from checks.rules.interconnect_users import DLM, counted_bytes, users_of
from checks.rules.measured_moment import PortValues
from checks.traffic.compare.disturbances import Disturbance, DisturbanceWatch
from checks.traffic.recording import Header
from checks.traffic.samples import (
    Event,
    Gap,
    InstanceSample,
    LatencySample,
    Links,
    NodeSample,
    PairsSample,
    Sample,
    overlap_s,
)
from checks.traffic.source_id import SourceId

COVERED = 0.7
"""The share of a stretch that must have been sampled for the stretch to have a value."""
_USUAL = 0.1
"""The share of the sampled time from which on a sample length is an interval, and not the length of late samples."""
_LATE = 1.5
"""The longest late sample, in intervals."""
_LONGEST_S = 366 * 86_400.0
"""The longest valid sample, longer than any recording; a damaged file may contain any number."""
_CHANGED = 1.8
"""The ratio of two sample lengths from which on the operator must have changed the interval."""

Subject = tuple[str, str]
"""A measured thing: ("node", "rac1"), ("instance", "prod1"), ("users", "prod1"), ("pings", "prod1"), ("path", "rac2 on
192.168.10.0/24"). Users and pings have their own intervals, so they are separate subjects."""
USERS = "users"
"""The kind of the users of the interconnect of an instance: of the samples with messages, about one in ten seconds."""
SERVICE = "service"
"""The kind of a service of the database, on all instances together."""
_BACKGROUND = "SYS$BACKGROUND"
"""The service of the processes of the instance itself: no load of a user."""
Rates = Mapping[str, float]
"""Amounts per second by name, without the unknown ones."""


class Recorded(Protocol):
    """The part of a `checks.traffic.recording.Recording` that a comparison needs."""

    @property
    def header(self) -> Header:
        """The cluster, time and settings of the recording."""

    def events(self) -> Iterator[Event]:
        """Yield all events in order of time."""

    def span(self) -> tuple[float, float] | None:
        """Return the time of the first and of the last event; None while there is no event."""


class Sums:
    """The counts of one subject in one piece, and the sampled seconds of each name."""

    __slots__ = ("_amounts", "_seconds")

    def __init__(self) -> None:
        self._amounts: dict[str, float] = {}
        self._seconds: dict[str, float] = {}

    def add(self, amounts: Iterable[tuple[str, float]], seconds: float, share: float = 1.0) -> None:
        """Add a sample, or the share of the sample that falls into `seconds`."""
        for name, amount in amounts:
            self._amounts[name] = self._amounts.get(name, 0) + share * amount
            self._seconds[name] = self._seconds.get(name, 0) + seconds

    def merge(self, other: Sums) -> None:
        """Add the counts of another piece."""
        for name, amount in other._amounts.items():
            self._amounts[name] = self._amounts.get(name, 0) + amount
            self._seconds[name] = self._seconds.get(name, 0) + other._seconds[name]

    def rates(self, stretch_s: float) -> Rates:
        """Return the rates per second of the names that were sampled in enough of the stretch."""
        return {
            name: amount / self._seconds[name]
            for name, amount in self._amounts.items()
            if self._seconds[name] >= COVERED * stretch_s
        }

    @property
    def spot_rates(self) -> Rates:
        """The rates per second of all names, however little of the stretch was sampled."""
        return {name: amount / self._seconds[name] for name, amount in self._amounts.items()}


@dataclass
class Readings:
    """The contents of a recording that a comparison needs."""

    piece_s: float
    pieces: list[dict[Subject, Sums]]
    hosts: dict[str, str] = field(default_factory=dict)
    """The node of each instance, in lower case, without a domain."""
    databases: dict[str, list[str]] = field(default_factory=dict)
    """The instances of each database, where there are several databases: each has a recording."""
    cpus: dict[str, int] = field(default_factory=dict)
    links: dict[str, Links] = field(default_factory=dict)
    """The interfaces of each node at the end of the recording."""
    changes: dict[str, None] = field(default_factory=dict)
    """The changes during the recording, one sentence each, in order."""
    disturbances: list[Disturbance] = field(default_factory=list)
    gaps: dict[SourceId, list[str]] = field(default_factory=dict)
    """The reasons of the gaps, by source."""
    ports: dict[tuple[str, str], PortValues] = field(default_factory=dict)
    """The values of each private interface, by node and interface, within the compared part."""
    times: tuple[float, float] = (0.0, 0.0)
    """The beginning and the end of the compared part, in seconds since 1970."""
    block_bytes: int | None = None
    """The block size of the database; None where it is not known."""
    lengths: dict[str, dict[float, float]] = field(default_factory=dict)
    """By `node` and `instance` the total time of the samples, by sample length to the half second."""

    def intervals_s(self, kind: str) -> tuple[float, float]:
        """Return the shortest and the longest interval between samples of a kind that was used for a while: the
        operator can change the interval during a recording, and instances slow down. 0 without samples."""
        lengths = self.lengths.get(kind, {})
        least = _USUAL * sum(lengths.values())
        usual = [length for length, covered in lengths.items() if covered >= least]
        return min(usual, default=0.0), max(usual, default=0.0)

    @property
    def longest_s(self) -> float:
        """The longest interval of any kind."""
        return max((self.intervals_s(kind)[1] for kind in self.lengths), default=0.0)

    def is_uneven(self, kind: str) -> bool:
        """Return whether the longest interval of a kind is much longer than its shortest."""
        shortest_s, longest_s = self.intervals_s(kind)
        return longest_s >= _CHANGED * shortest_s > 0

    def subjects(self, kind: str) -> list[str]:
        """Return the names of the subjects of one kind, sorted."""
        return sorted({name for piece in self.pieces for found, name in piece if found == kind})

    def sampled(self, kind: str) -> dict[str, float]:
        """Return the share of the pieces, from 0 to 1, in which each subject of a kind was sampled."""
        return {
            name: sum(bool(piece[kind, name].rates(self.piece_s)) for piece in self.pieces if (kind, name) in piece)
            / len(self.pieces)
            for name in self.subjects(kind)
        }

    def instances_of(self, node: str) -> list[str]:
        """Return the instances of a node."""
        return [instance for instance, host in self.hosts.items() if host == short(node)]

    def stretches(self, pieces_each: int) -> list[dict[Subject, Rates]]:
        """Return complete stretches of `pieces_each` pieces. An incomplete stretch at the end is dropped."""
        found = []
        for start in range(0, len(self.pieces) - pieces_each + 1, pieces_each):
            merged: dict[Subject, Sums] = {}
            for piece in self.pieces[start : start + pieces_each]:
                for subject, sums in piece.items():
                    merged.setdefault(subject, Sums()).merge(sums)
            stretch_s = pieces_each * self.piece_s
            found.append(
                {
                    subject: sums.spot_rates if subject[0] == USERS else sums.rates(stretch_s)
                    for subject, sums in merged.items()
                }
            )
        return found


def time_of(recording: Recorded, skip_first_s: float = 0.0) -> tuple[float, float]:
    """Return the start time and the seconds of the compared part of a recording."""
    span = recording.span()
    if span is None:
        return 0.0, 0.0
    first, last = span
    # Samples end at about the same moment of each interval; stretches end in between, so that each has as many.
    half_s = recording.header.interval_s / 2
    begin = first - half_s + skip_first_s
    return begin, max(last + half_s - begin, 0.0)


class _Time(NamedTuple):
    """The division of a recording into pieces."""

    begin: float
    piece_s: float
    whole_up_to_s: float
    """The longest sample that is not divided among pieces, in seconds."""


def read(
    recording: Recorded, piece_s: float, skip_first_s: float = 0.0, times: tuple[float, float] | None = None
) -> Readings:
    """Read a recording once; with `times`, the part from a beginning on, with these seconds. Raises RecordingError
    where its file is damaged."""
    begin, lasting_s = times or time_of(recording, skip_first_s)
    count = math.floor(lasting_s / piece_s + 0.05)  # the last sample may have ended a moment early
    block_bytes = recording.header.cluster.block_size_bytes
    times = begin, begin + lasting_s
    readings = Readings(piece_s, [{} for _ in range(count)], times=times, block_bytes=block_bytes)
    watch = DisturbanceWatch()
    time = _Time(begin, piece_s, max((1 - COVERED) * piece_s, _LATE * recording.header.interval_s))
    names: dict[int, str] = {}
    for event in recording.events():
        readings.disturbances += watch.see(event)
        if isinstance(event, Links):
            _note_links(readings, event, is_compared=event.at > begin)
        elif event.at <= begin:
            continue
        elif isinstance(event, Gap):
            readings.gaps.setdefault(event.source, []).append(event.reason)
        else:
            if isinstance(event, InstanceSample):
                names[event.number] = event.instance
                readings.hosts[event.instance] = short(event.host)
            elif isinstance(event, NodeSample) and event.cpu:
                readings.cpus[event.node] = event.cpu.cpus
            if 0 < event.seconds <= _LONGEST_S:
                if isinstance(event, NodeSample | InstanceSample):
                    length = round(2 * event.seconds) / 2 or event.seconds
                    lengths = readings.lengths.setdefault(event.kind, {})
                    lengths[length] = lengths.get(length, 0.0) + event.seconds
                for subject, amounts in _amounts(event, readings, names):
                    _add(readings.pieces, time, event, subject, amounts)
    return readings


def _add(pieces: list[dict[Subject, Sums]], time: _Time, sample: Sample, subject: Subject, amounts: Amounts) -> None:
    """Add a sample to the piece in which it ended, so that one lost block is in one stretch. A sample so long that this
    would leave the piece before without counts is divided among the pieces that it covers."""
    last = math.ceil((sample.at - time.begin) / time.piece_s) - 1
    if sample.seconds <= time.whole_up_to_s:
        if last < len(pieces):
            pieces[last].setdefault(subject, Sums()).add(amounts, sample.seconds)
        return
    first = max(math.floor((sample.at - sample.seconds - time.begin) / time.piece_s), 0)
    for place in range(first, min(last + 1, len(pieces))):
        begin = time.begin + place * time.piece_s
        if covered_s := overlap_s(sample, begin, begin + time.piece_s):
            pieces[place].setdefault(subject, Sums()).add(amounts, covered_s, covered_s / sample.seconds)


def short(host: str) -> str:
    """Return a host's name without its domain, in lower case."""
    return host.partition(".")[0].lower()


def _note_links(readings: Readings, links: Links, *, is_compared: bool) -> None:
    known = readings.links.get(links.node)
    mtus = {link.name: link.mtu for link in known.links if link.network} if known else {}
    for link in links.links:
        if link.name in mtus and link.mtu != mtus[link.name]:
            change = f"The MTU of {link.name} on {links.node} changed from {mtus[link.name]} to {link.mtu} meanwhile."
            readings.changes[change] = None
    for link in (one for one in links.links if one.network and one.mtu):
        before = readings.ports.get((links.node, link.name)) if is_compared else None
        port = PortValues(frozenset({link.mtu}), frozenset({link.speed_mbps} if link.speed_mbps else ()))
        readings.ports[links.node, link.name] = port | before if before else port
    readings.links[links.node] = links


Amounts = list[tuple[str, float]]


def _amounts(
    event: NodeSample | InstanceSample | PairsSample | LatencySample, readings: Readings, names: Mapping[int, str]
) -> Iterator[tuple[Subject, Amounts]]:
    match event:
        case NodeSample():
            yield ("node", event.node), _of_node(event, readings.links.get(event.node))
        case InstanceSample():
            yield ("instance", event.instance), [(name, float(count)) for name, count in event.statistics.items()]
            if event.messages:
                yield (USERS, event.instance), list(_of_users(event, readings.block_bytes))
        case PairsSample():
            for name in {one.service for one in event.services if one.service != _BACKGROUND}:
                yield (SERVICE, name), _of_service([one for one in event.services if one.service == name])
            for number in {ping.instance for ping in event.pings}:
                own = [ping for ping in event.pings if ping.instance == number]
                yield ("pings", names.get(number, f"instance {number}")), _of_pings(own)
        case LatencySample():
            yield ("path", f"{event.to_node} on {event.network}"), _of_latency(event)


def _of_users(sample: InstanceSample, block_bytes: int | None) -> Iterator[tuple[str, float]]:
    for is_counted in (True, False):
        bytes_ = counted_bytes(sample.messages) if is_counted else None
        if is_counted and not bytes_:
            continue
        users = users_of("", sample.statistics, sample.messages, 1.0, block_bytes=block_bytes, counted=bytes_)
        for user in users:
            if user.bytes_per_s is not None:
                yield f"{user.client} {'counted' if is_counted else 'estimated'} bytes", user.bytes_per_s
            if user.client == DLM and not is_counted and user.messages_per_s is not None:
                yield f"{user.client} messages", user.messages_per_s


def _of_node(sample: NodeSample, links: Links | None) -> Amounts:
    found: Amounts = [(name, float(count)) for name, count in sample.counters.items()]
    private = [link.name for link in links.links if link.network] if links else []
    if private and all(name in sample.interfaces for name in private):
        counts = [sample.interfaces[name] for name in private]
        found += [
            ("private in bytes", sum(c.rx_bytes for c in counts)),
            ("private out bytes", sum(c.tx_bytes for c in counts)),
            ("private in packets", sum(c.rx_packets for c in counts)),
            ("private out packets", sum(c.tx_packets for c in counts)),
            ("private faults", sum(c.rx_errors + c.rx_dropped + c.tx_errors + c.tx_dropped for c in counts)),
        ]
    if sample.cpu and sample.cpu.total_s > 0:
        cpu = sample.cpu
        found += [("cpu", cpu.total_s), ("cpu busy", cpu.total_s - cpu.idle_s), ("cpu softirq", cpu.softirq_s)]
        found.append(("busiest softirq", cpu.busiest_softirq_percent / 100 * sample.seconds))
    if sample.load is not None:
        found.append(("load", sample.load * sample.seconds))
    return found


def _of_service(of_instances: list[ServiceActivity]) -> Amounts:
    return [
        ("db us", sum(one.db_time_us for one in of_instances)),
        ("cluster us", sum(one.cluster_us for one in of_instances)),
        ("blocks", sum(one.blocks for one in of_instances)),
    ]


def _of_pings(pings: list[InstancePing]) -> Amounts:
    return [
        ("500 B pings", sum(p.count_500b for p in pings)),
        ("500 B us", sum(p.time_500b_us for p in pings)),
        ("8 KB pings", sum(p.count_8k for p in pings)),
        ("8 KB us", sum(p.time_8k_us for p in pings)),
    ]


SMALL_UP_TO = 1000
"""The largest payload of a ping that is one packet at every MTU and so is a control."""


def _of_latency(sample: LatencySample) -> Amounts:
    """The amounts of a latency sample. Its figures cannot be added up, so each is weighted by its number of answers.

    A sample without a p99 is no part of that: those that lost no ping would stand for all.
    """
    size = "small" if sample.payload <= SMALL_UP_TO else "block"
    found: Amounts = [(f"{size} sent", sample.sent), (f"{size} received", sample.received)]
    p99_us = sample.p99_us if sample.received >= least_values(0.99) else None
    for name, us in (("p50", sample.p50_us), ("p99", p99_us), ("longest", sample.max_us)):
        if us is not None or name != "p99":
            answers = sample.received if us is not None else 0
            found += [(f"{size} {name} answers", answers), (f"{size} {name} us", (us or 0.0) * answers)]
    return found
