"""Judges the counts of the last seconds of each node and instance, by the rules of the checks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from checks.events.cluster_event import EventKind, EventPlace
from checks.events.event_book import EventBook, Sighting
from checks.events.private_places import PrivatePlaces
from checks.model.facts import CounterGroup, Database, Thresholds, Unknown
from checks.model.finding import FAULTS, Status
from checks.model.wording import NodePair
from checks.rules.cache_fusion import lost, received
from checks.rules.live_events import WINDOW_S, begins
from checks.rules.lost_blocks import counts_falsely, share_status
from checks.rules.nic_counts import FaultyNic, LossEnds, NicFault, PrivateNic, faults_of
from checks.rules.node_counts import NodeCounts, counts_by, datagram_status, overflow_status, reassembly_status
from checks.traffic.samples import InstanceSample, InterfaceCounts, NodeSample, PairsSample

S = TypeVar("S", NodeSample, InstanceSample)
_SIGNS = ("Ip.ReasmFails", "Ip.ReasmTimeout", "Udp.RcvbufErrors", "Udp.InCsumErrors", "Softnet.Dropped")
"""The counters that grow with every trouble of a node's kernel."""


@dataclass(frozen=True)
class _Kernel:
    """A kind of trouble in the counters of a kernel."""

    kind: EventKind
    unit: str
    count: Callable[[NodeCounts], int]
    status: Callable[[NodeCounts, Thresholds], Status]


_KERNEL = (
    _Kernel(EventKind.REASSEMBLY, "packets/s", lambda c: c.failed, reassembly_status),
    _Kernel(EventKind.RECEIVE_BUFFERS, "datagrams/s", lambda c: c.overflowed, lambda c, _: overflow_status(c)),
    _Kernel(
        EventKind.CHECKSUMS, "datagrams/s", lambda c: c.bad_checksums, lambda c, _: datagram_status(c.bad_checksums)
    ),
    _Kernel(
        EventKind.BACKLOG, "packets/s", lambda c: c.backlog_dropped, lambda c, _: datagram_status(c.backlog_dropped)
    ),
)
_NIC_KINDS = {
    NicFault.DROPPED: EventKind.NIC_DROPS,
    NicFault.SEND_QUEUE: EventKind.NIC_DROPS,
    NicFault.OVERRUN: EventKind.NIC_DROPS,
    NicFault.OTHER: EventKind.NIC_ERRORS,
    NicFault.CORRUPT: EventKind.NIC_ERRORS,
}
_NIC_COUNTERS = {
    "rx_packets": "rx_packets",
    "tx_packets": "tx_packets",
    "rx_dropped": "rx_dropped",
    "rx_fifo": "rx_fifo_errors",
    "rx_errors": "rx_errors",
    "tx_dropped": "tx_dropped",
    "tx_errors": "tx_errors",
    "tx_collisions": "collisions",
}
"""Columns of /proc/net/dev, with the names of the same counters in /sys/class/net. The table adds the counters of
several errors up in a column, which says less than the totals."""


class _Window(Generic[S]):
    """The samples of the last seconds of one source, by the clock of the book."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, S]] = deque()

    def add(self, now_s: float, sample: S) -> None:
        """Add a sample, and drop those that ended before the window."""
        self._samples.append((now_s, sample))
        while len(self._samples) > 1 and self._samples[0][0] <= now_s - WINDOW_S:
            self._samples.popleft()

    def __iter__(self) -> Iterator[S]:
        return (sample for _, sample in self._samples)

    @property
    def seconds(self) -> float:
        """The seconds that the samples cover."""
        return sum(sample.seconds for sample in self)

    def after(self, s: float) -> _Window[S]:
        """Return the samples that ended after a moment of the book's clock."""
        later: _Window[S] = _Window()
        later._samples.extend((at, sample) for at, sample in self._samples if at > s)
        return later

    def total(self, of: Callable[[S], int]) -> int:
        """Return the sum of a count."""
        return sum(of(sample) for sample in self)


class CountedTroubles:
    """Turns the counts of samples into signs of trouble."""

    def __init__(self, book: EventBook, places: PrivatePlaces) -> None:
        self.limits = Thresholds()
        self.database: Database | None = None
        self._book = book
        self._places = places
        self._nodes: dict[str, _Window[NodeSample]] = {}
        self._instances: dict[str, _Window[InstanceSample]] = {}
        self._down_s: dict[tuple[str, str], float] = {}
        """When an interface was last without a link, by the book's clock."""
        self._hosts: dict[int, str] = {}
        """The node of each instance by its number."""

    def forget(self, source: str) -> None:
        """Drop the samples of a source before a time without samples."""
        name = source.partition(" ")[2]
        (self._nodes if source.startswith("node ") else self._instances).pop(name, None)

    def see_instance(self, sample: InstanceSample) -> None:
        """Take the counts of an instance."""
        self._hosts[sample.number] = sample.host
        window = self._instances.setdefault(sample.instance, _Window())
        window.add(self._book.now_s, sample)
        if not _positive(lost(sample.statistics)) or counts_falsely(self.database, sample.number):
            return
        arrived = window.total(lambda s: _positive(received(s.statistics)))
        self._see(
            EventKind.LOST_BLOCKS,
            EventPlace(sample.at, sample.host, instance=sample.instance),
            window,
            lambda s: _positive(lost(s.statistics)),
            share_status(window.total(lambda s: _positive(lost(s.statistics))), arrived, self.limits),
            "blocks/s",
        )

    def see_pairs(self, sample: PairsSample) -> None:
        """Take the senders of lost blocks."""
        pairs: dict[NodePair, None] = {}
        for transfer in sample.transfers:
            ends = self._hosts.get(transfer.sender, ""), self._hosts.get(transfer.receiver, "")
            if transfer.lost > 0 and transfer.sender != transfer.receiver and all(ends):
                pairs[ends] = None
        self._book.add_pairs(pairs)

    def see_node(self, sample: NodeSample) -> None:
        """Take the counts of a node's kernel and NICs."""
        window = self._nodes.setdefault(sample.node, _Window())
        window.add(self._book.now_s, sample)
        counters = sample.counters
        if any(counters.get(name) for name in _SIGNS):
            self._see_kernel(sample, window)
        for name, place in self._places.of(sample.node).items():
            if (link := self._places.link(sample.node, name)) and not link.is_up:
                self._down_s[sample.node, name] = self._book.now_s + sample.seconds
            counts = sample.interfaces.get(name)
            if counts is not None and _shows_trouble(counts):
                self._see_nic(sample, window, name, place.network, place.is_lowest)

    def _see_kernel(self, sample: NodeSample, window: _Window[NodeSample]) -> None:
        counts = counts_by(lambda group, name: window.total(_counter(f"{group}.{name}")), sample.node, window.seconds)
        for trouble in _KERNEL:
            self._see(
                trouble.kind,
                EventPlace(sample.at, sample.node),
                window,
                partial(_kernel_count, trouble.count),
                trouble.status(counts, self.limits),
                trouble.unit,
            )

    def _see_nic(
        self, sample: NodeSample, window: _Window[NodeSample], name: str, network: str, is_lowest: bool
    ) -> None:
        link = self._places.link(sample.node, name)
        # What is sent while there is no link is dropped: an effect, which the lost link tells.
        window = window.after(self._down_s.get((sample.node, name), -1.0))
        if not list(window):
            return
        largest = max((port.mtu for port in self._places.ports(network).values()), default=0)
        counts = {kernel: window.total(partial(_most, name, [column])) for column, kernel in _NIC_COUNTERS.items()}
        nic = PrivateNic(
            sample.node, name, network, window.seconds, is_lowest, link is None or link.is_up,
            (link.speed_mbps if link else None) or Unknown("not known"), CounterGroup(name, counts),
            has_small_mtu=link is not None and link.mtu < largest,
        )  # fmt: skip
        for faulty in _worst_by_kind(faults_of(nic, self.limits, self._ends())):
            columns = [column for column, kernel in _NIC_COUNTERS.items() if kernel in faulty.counts]
            self._see(
                _NIC_KINDS[faulty.fault],
                EventPlace(sample.at, sample.node, name, network),
                window,
                partial(_most, name, columns),
                faulty.status,
                "packets/s",
            )

    def _ends(self) -> LossEnds:
        """The nodes between which blocks are lost now."""
        losing = [event for event in self._book.lasting if event.kind is EventKind.LOST_BLOCKS]
        return LossEnds(
            frozenset(node for event in losing for node in event.nodes),
            frozenset(sender for event in losing for sender, _ in event.pairs),
        )

    def _see(
        self,
        kind: EventKind,
        place: EventPlace,
        window: _Window[S],
        count: Callable[[S], int],
        status: Status,
        unit: str,
    ) -> None:
        """Note a sign in the last sample of the window, if the counts of the window are a fault."""
        counts = [(sample, count(sample)) for sample in window]
        last, number = counts[-1]
        if not number or status not in FAULTS:
            return
        first = next(sample for sample, seen in counts if seen)
        begun = EventPlace(first.at - first.seconds, place.node, place.interface, place.network, place.instance)
        numbers = [seen for _, seen in counts]
        self._book.count(
            Sighting(kind, begun, status, unit, last.at, last.seconds, number, sum(numbers), begins(numbers))
        )


def _worst_by_kind(faults: Iterable[FaultyNic]) -> Iterator[FaultyNic]:
    """Of each kind of event the gravest fault; several faults of a NIC may count the same packets."""
    worst: dict[EventKind, FaultyNic] = {}
    for faulty in faults:
        kind = _NIC_KINDS.get(faulty.fault)
        if kind and (kind not in worst or _rank(faulty) < _rank(worst[kind])):
            worst[kind] = faulty
    yield from worst.values()


def _rank(faulty: FaultyNic) -> tuple[int, int]:
    return faulty.status.gravity, -faulty.number


def _shows_trouble(counts: InterfaceCounts) -> bool:
    return bool(
        counts.rx_errors or counts.rx_dropped or counts.rx_fifo
        or counts.tx_errors or counts.tx_dropped or counts.tx_collisions
    )  # fmt: skip


def _positive(count: int | None) -> int:
    """A count of a sample; 0 where it is unknown. A recording can contain any figures."""
    return max(0, count or 0)


def _counter(name: str) -> Callable[[NodeSample], int]:
    return lambda sample: _positive(sample.counters.get(name))


def _kernel_count(of: Callable[[NodeCounts], int], sample: NodeSample) -> int:
    counters = sample.counters
    return of(counts_by(lambda group, name: _positive(counters.get(f"{group}.{name}")), sample.node, sample.seconds))


def _most(interface: str, columns: Iterable[str], sample: NodeSample) -> int:
    """The largest count of an interface in some columns, which may count the same packets."""
    counts = sample.interfaces.get(interface)
    return max((_positive(getattr(counts, column)) for column in columns), default=0) if counts is not None else 0
