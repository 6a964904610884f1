"""Judges the counts of the last seconds of each node and instance, by the rules of the checks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from checks.model.cluster_event import EventKind, EventPlace
from checks.model.condition import Condition, ConditionKind
from checks.model.facts import CounterGroup, Database, Thresholds, Unknown
from checks.model.finding import FAULTS, Status
from checks.model.wording import NodePair
from checks.rules.cache_fusion import lost, received
from checks.rules.live_events import WINDOW_S, starts
from checks.rules.lost_blocks import counts_falsely, share_status
from checks.rules.nic_counts import FaultyNic, LossEnds, NicFault, PrivateNic, faults_of
from checks.rules.node_counts import NodeCounts, counts_by, datagram_status, overflow_status, reassembly_status
from checks.situation.events.event_book import EventBook, Sighting
from checks.situation.events.private_links import PrivatePlace, PrivatePlaces
from checks.situation.events.sampled_conditions import Counted, SampledConditions
from checks.traffic.samples import InstanceSample, Link, NodeSample, PairsSample
from checks.traffic.source_id import SourceId

_KERNEL_COUNTERS = (
    "Ip.ReasmReqds",
    "Ip.ReasmFails",
    "Ip.ReasmTimeout",
    "Udp.RcvbufErrors",
    "Udp.InCsumErrors",
    "Softnet.Dropped",
)
"""The counters that the rules need; all but the first grow with trouble."""


@dataclass(frozen=True)
class _Kernel:
    """A kind of trouble in the counters of a kernel."""

    kind: EventKind
    condition: ConditionKind
    counter: str
    """A sample with this counter reads it."""
    unit: str
    count: Callable[[NodeCounts], int]
    status: Callable[[NodeCounts, Thresholds], Status]


_KERNEL = (
    _Kernel(
        EventKind.REASSEMBLY, ConditionKind.REASSEMBLY, "Ip.ReasmFails", "packets/s",
        lambda c: c.failed, reassembly_status,
    ),
    _Kernel(
        EventKind.RECEIVE_BUFFERS, ConditionKind.RECEIVE_BUFFERS, "Udp.RcvbufErrors", "datagrams/s",
        lambda c: c.overflowed, lambda c, _: overflow_status(c),
    ),
    _Kernel(
        EventKind.CHECKSUMS, ConditionKind.CHECKSUMS, "Udp.InCsumErrors", "datagrams/s",
        lambda c: c.bad_checksums, lambda c, _: datagram_status(c.bad_checksums),
    ),
    _Kernel(
        EventKind.BACKLOG, ConditionKind.BACKLOG, "Softnet.Dropped", "packets/s",
        lambda c: c.backlog_dropped, lambda c, _: datagram_status(c.backlog_dropped),
    ),
)  # fmt: skip
_NIC_KINDS = {
    NicFault.DROPPED: EventKind.NIC_DROPS,
    NicFault.SEND_QUEUE: EventKind.NIC_DROPS,
    NicFault.OVERRUN: EventKind.NIC_DROPS,
    NicFault.PORT_BUFFER: EventKind.NIC_DROPS,
    NicFault.OTHER: EventKind.NIC_ERRORS,
    NicFault.CORRUPT: EventKind.NIC_ERRORS,
}
_NIC_CONDITIONS = {
    EventKind.NIC_DROPS: ConditionKind.NIC_DROPS,
    EventKind.NIC_ERRORS: ConditionKind.NIC_ERRORS,
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


Row = tuple[int, ...]


class _Window:
    """The counts of the last seconds of one source, by the clock of the book."""

    def __init__(self, width: int) -> None:
        self._rows: deque[tuple[float, NodeSample | InstanceSample, Row]] = deque()
        self.totals = [0] * width
        self.seconds = 0.0

    def add(self, now_s: float, sample: NodeSample | InstanceSample, row: Row) -> None:
        """Add the counts of a sample, and drop those of samples that ended before the window."""
        self._rows.append((now_s, sample, row))
        self._sum(sample.seconds, row, 1)
        while len(self._rows) > 1 and self._rows[0][0] <= now_s - WINDOW_S:
            _, old, gone = self._rows.popleft()
            self._sum(old.seconds, gone, -1)

    def _sum(self, seconds: float, row: Row, sign: int) -> None:
        self.seconds += sign * seconds
        if any(row):
            self.totals = [total + sign * count for total, count in zip(self.totals, row, strict=True)]

    def __iter__(self) -> Iterator[tuple[NodeSample | InstanceSample, Row]]:
        return ((sample, row) for _, sample, row in self._rows)


class CountedTroubles:
    """Turns the counts of samples into signs of trouble, and into readings of conditions.

    A sign of an event shows that a condition is bad. A stray interrupts its calm, and a count that the rules do not
    mind is calm.
    """

    def __init__(self, book: EventBook, places: PrivatePlaces, conditions: SampledConditions) -> None:
        self.limits = Thresholds()
        self.database: Database | None = None
        self._book = book
        self._places = places
        self._conditions = conditions
        self._windows: dict[tuple[SourceId, str], _Window] = {}
        """Of each source and interface; of the kernel and of an instance under the empty name."""
        self._hosts: dict[int, str] = {}
        """The node of each instance by its number."""

    def forget(self, source: SourceId) -> None:
        """Drop the samples of a source before a time without samples."""
        for key in [key for key in self._windows if key[0] == source]:
            del self._windows[key]

    def see_instance(self, sample: InstanceSample) -> None:
        """Take the counts of an instance."""
        self._hosts[sample.number] = sample.host
        lost_blocks = _positive(lost(sample.statistics))
        window = self._add(sample, "", (lost_blocks, _positive(received(sample.statistics))))
        is_known, found = lost(sample.statistics) is not None, None
        if lost_blocks and counts_falsely(self.database, sample.number):
            is_known = False
        elif lost_blocks:
            status = share_status(window.totals[0], window.totals[1], self.limits)
            place = EventPlace(sample.at, sample.host, instance=sample.instance)
            found = self._see(EventKind.LOST_BLOCKS, place, window, lambda row: row[0], status, "blocks/s")
        if is_known:
            self._conditions.count(Condition(ConditionKind.LOST_BLOCKS, sample.host), found)

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
        kernel = tuple(_positive(sample.counters.get(name)) for name in _KERNEL_COUNTERS)
        window = self._add(sample, "", kernel)
        found = self._see_kernel(sample, window) if any(kernel[1:]) else {}
        for trouble in _KERNEL:
            if trouble.counter in sample.counters:
                self._conditions.count(Condition(trouble.condition, sample.node), found.get(trouble.kind))
        for name, place in self._places.of(sample.node).items():
            counts, link = sample.interfaces.get(name), self._places.link(sample.node, name)
            if counts is None or (link is not None and not link.is_up):
                # What is sent without a link is dropped: an effect, which the event of the link tells.
                self._windows.pop((sample.source, name), None)
                continue
            row = tuple(_positive(getattr(counts, column)) for column in _NIC_COUNTERS)
            window = self._add(sample, name, row)
            found = self._see_nic(sample, window, name, place, link) if any(row[2:]) else {}
            for kind, condition in _NIC_CONDITIONS.items():
                self._conditions.count(Condition(condition, sample.node, name), found.get(kind))

    def _add(self, sample: NodeSample | InstanceSample, name: str, row: Row) -> _Window:
        window = self._windows.get((sample.source, name))
        if window is None:
            window = self._windows[sample.source, name] = _Window(len(row))
        window.add(self._book.now_s, sample, row)
        return window

    def _see_kernel(self, sample: NodeSample, window: _Window) -> dict[EventKind, Counted | None]:
        counts = _kernel_counts(sample.node, window.seconds, window.totals)
        return {
            trouble.kind: self._see(
                trouble.kind,
                EventPlace(sample.at, sample.node),
                window,
                partial(_kernel_count, trouble.count),
                trouble.status(counts, self.limits),
                trouble.unit,
            )
            for trouble in _KERNEL
            if trouble.count(counts)
        }

    def _see_nic(
        self, sample: NodeSample, window: _Window, name: str, place: PrivatePlace, link: Link | None
    ) -> dict[EventKind, Counted | None]:
        largest = max((port.mtu for port in self._places.ports(place.network).values()), default=0)
        nic = PrivateNic(
            sample.node, name, place.network, window.seconds, place.is_lowest, True,
            (link.speed_mbps if link else None) or Unknown("not known"),
            CounterGroup(name, dict(zip(_NIC_COUNTERS.values(), window.totals, strict=True))),
            has_small_mtu=link is not None and link.mtu < largest,
        )  # fmt: skip
        found: dict[EventKind, Counted | None] = {}
        for faulty in _worst_by_kind(faults_of(nic, self.limits, self._ends())):
            columns = [at for at, kernel in enumerate(_NIC_COUNTERS.values()) if kernel in faulty.counts]
            kind = _NIC_KINDS[faulty.fault]
            found[kind] = self._see(
                kind,
                EventPlace(sample.at, sample.node, name, place.network),
                window,
                partial(_most, columns),
                faulty.status,
                "packets/s",
            )
        return found

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
        window: _Window,
        count: Callable[[Row], int],
        status: Status,
        unit: str,
    ) -> Counted | None:
        """Note a sign in the last sample of the window, if the counts of the window are a fault, and return it."""
        if status not in FAULTS:
            return None
        counts = [(sample, number) for sample, row in window if (number := count(row))]
        last, first = list(window)[-1][0], counts[0][0] if counts else None
        if first is None or counts[-1][0] is not last:
            return None
        begun = EventPlace(first.at - first.seconds, place.node, place.interface, place.network, place.instance)
        numbers = [number for _, number in counts]
        is_event = self._book.count(
            Sighting(kind, begun, status, unit, last.at, last.seconds, numbers[-1], sum(numbers), starts(numbers))
        )
        return Counted(begun.since, is_event)


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


def _positive(count: int | None) -> int:
    """A count of a sample; 0 where it is unknown. A recording can contain any figures."""
    return max(0, count or 0)


def _kernel_counts(node: str, seconds: float, row: Sequence[int]) -> NodeCounts:
    values = dict(zip(_KERNEL_COUNTERS, row, strict=True))
    return counts_by(lambda group, name: values.get(f"{group}.{name}", 0), node, seconds)


@lru_cache(maxsize=1_000)
def _counts_of_row(row: Row) -> NodeCounts:
    """The counts of one sample. With each sample, those of the whole window are needed again."""
    return _kernel_counts("", 1.0, row)


def _kernel_count(of: Callable[[NodeCounts], int], row: Row) -> int:
    return of(_counts_of_row(row))


def _most(columns: Iterable[int], row: Row) -> int:
    """The largest count of some columns, which may count the same packets."""
    return max((row[column] for column in columns), default=0)
