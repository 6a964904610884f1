"""Rules for the counters of private NICs over the interval: errors, drops, link changes, traffic."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from checks.model.facts import Activity, Cluster, CounterChange, CounterGroup, DriverCounters, Thresholds, Unknown
from checks.model.finding import Status
from checks.model.known_instances import active, node_of
from checks.model.networks import layers_of, nics_of
from checks.rules.changed_meanwhile import ReadAgain, changed_values
from checks.rules.driver_counts import DriverSign, counted_as_dropped, driver_signs, largest
from checks.rules.lost_blocks import loss_of
from checks.rules.traffic_classes import TrafficClasses, classes_of


class NicFault(Enum):
    """What the counters of a NIC show (Linux, Documentation/networking/statistics.rst)."""

    CORRUPT = "corrupt frames, or a carrier lost while sending"
    OVERRUN = "no buffer for received packets"
    PORT_BUFFER = "packets dropped in the buffer of the NIC's port"
    DROPPED = "received packets dropped by the kernel"
    SEND_QUEUE = "packets dropped before they left the node"
    UNLINKED = "packets dropped when sending, while the link went down or up"
    LINK = "the link went down or up"
    BOND = "a bond went down or up while the links of its members stayed up"
    LIMIT = "packets queued or dropped above a limit of the cloud"
    PAUSE = "pause frames"
    CLASS_PAUSED = "pause frames for a class in which its packets travel"
    OTHER_CLASS_PAUSED = "pause frames for classes of other packets"
    MARKED = "packets that a switch marked as congested"
    OTHER = "other errors"


@dataclass(frozen=True)
class PrivateNic:
    """The growth of the counters of one private NIC, or of a layer above it such as a bond."""

    node: str
    name: str
    network: str
    """Its private network; empty for a NIC below several networks."""
    seconds: float
    is_lowest: bool
    """Whether it is the NIC itself; the layers above repeat its counts, and have queues of their own."""
    is_up: bool
    speed_mbps: int | Unknown
    counts: CounterGroup
    has_small_mtu: bool = False
    """Whether another node has a larger MTU on the network, be it for a part of the run: then the NIC drops its large
    frames."""
    discards: int = 0
    """Packets that the kernel of the node discarded when sending, on all NICs: Udp.SndbufErrors with Ip.OutDiscards."""
    driver: DriverCounters | None = None
    """What the driver counted; None where it was not read twice."""
    members_stayed: bool = False
    """Whether it is a bond, and the link of none of its members changed."""

    @property
    def signs(self) -> dict[DriverSign, dict[str, int]]:
        """The counters of the driver by what they mean."""
        return driver_signs(self.driver) if self.driver else {}

    @property
    def classes(self) -> TrafficClasses:
        """Its packets and pause frames by class."""
        return classes_of(self.driver or DriverCounters(self.name))

    @property
    def place(self) -> str:
        """The NIC for a sentence: `eth2 of rac2`."""
        return f"{self.name} of {self.node}"

    @property
    def link_changed(self) -> bool:
        """Whether its link went down or came up: without a link its queue drops what is sent, and a counter has
        no moment."""
        return bool(self.counts.value("carrier_changes"))

    @property
    def few_dropped(self) -> int:
        """Packets that it dropped, of a NIC without a fault; those of the layers above repeat those of the NIC."""
        return sum(self.counts.value(name) for name in ("rx_dropped", *_SEND_QUEUE)) if self.is_lowest else 0


@dataclass(frozen=True)
class FaultyNic:
    """One fault of one NIC."""

    nic: PrivateNic
    fault: NicFault
    counts: dict[str, int]
    """The counters that show it, by the names of the kernel and the driver, without those that did not grow."""
    number: int
    """Packets, frames or changes. Several counters may count the same packet: then the largest."""
    status: Status


@dataclass(frozen=True)
class LossEnds:
    """The nodes between which blocks were lost in the interval."""

    receivers: frozenset[str]
    senders: frozenset[str]


def loss_ends(cluster: Cluster) -> LossEnds:
    """Return the nodes whose instances lost blocks, and the nodes that sent those blocks."""
    if not isinstance(cluster.activity, Activity):
        return LossEnds(frozenset(), frozenset())
    losses = [loss for own in active(cluster.activity) if (loss := loss_of(cluster.activity, own)) and loss.lost]
    return LossEnds(
        frozenset(node_of(cluster, loss.instance) for loss in losses),
        frozenset(node_of(cluster, sender) for loss in losses for sender in loss.senders),
    )


def private_nics_counted(cluster: Cluster, changes: Sequence[CounterChange]) -> list[PrivateNic]:
    """Return the private NICs of these nodes with the layers above them, each once; without those not counted."""
    known = {change.node: change for change in changes}
    least_mtu = {(c.node, c.nic): c.least for c in changed_values(cluster) if c.what is ReadAgain.MTU}
    found: dict[tuple[str, str], PrivateNic] = {}
    for network in cluster.read_networks():
        largest = max((i.mtu for port in network.ports if (i := cluster.interface(port))), default=0)
        for port in network.ports:
            node, top, change = cluster.node(port.node), cluster.interface(port), known.get(port.node)
            if node is None or top is None or change is None:
                continue
            lowest = set(nics_of(cluster, port))
            for interface in layers_of(node, top):
                counts, key = change.machine.nic(interface.name), (port.node, interface.name)
                if counts is None:
                    continue
                below = [change.machine.nic(name) for name in interface.members]
                stayed = bool(below) and all(c and c.counts.get("carrier_changes") == 0 for c in below)
                shared = key in found and found[key].network != network.name
                found[key] = PrivateNic(
                    port.node, interface.name, "" if shared else network.name, change.seconds,
                    interface.name in lowest, interface.is_up, interface.speed_mbps, counts,
                    least_mtu.get((port.node, top.name), top.mtu) < largest, _discards(change),
                    change.machine.driver(interface.name), stayed and interface.kind in ("bond", "team"),
                )  # fmt: skip
    return list(found.values())


def _discards(change: CounterChange) -> int:
    """Return the packets that the node discarded when sending: a full queue is the usual reason (net/ipv4/udp.c)."""
    values = (change.counters.value("Udp", "SndbufErrors") or 0, change.counters.value("Ip", "OutDiscards") or 0)
    return max(0, *values) if min(values) > 0 else 0


HARMLESS = frozenset({NicFault.PAUSE, NicFault.CLASS_PAUSED, NicFault.OTHER_CLASS_PAUSED, NicFault.MARKED})
"""What a NIC that counted no error and no drop can show: a pause or a mark loses no packet by itself."""

# --- faults -----------------------------------------------------------------------------------------------------------

_CORRUPT = ("rx_crc_errors", "rx_frame_errors", "tx_carrier_errors")
_OVERRUN = ("rx_missed_errors", "rx_fifo_errors", "rx_over_errors")
_SEND_QUEUE = ("qdisc_drops", "tx_dropped")
_OTHER = ("rx_length_errors", "tx_fifo_errors", "tx_aborted_errors", "collisions")
_TOTALS = {"rx_errors": (*_CORRUPT[:2], *_OVERRUN, "rx_length_errors"), "tx_errors": (_CORRUPT[2], *_OTHER[1:3])}
"""Totals, with the counters of their parts. Some drivers count a total without its part."""
_STRAY_PACKETS_A_SECOND = 2
"""Linux counts packets of protocols that it does not speak as dropped: LLDP, spanning tree, VLANs of others. Ours."""
_LEAST_DROPPED = 10


def faults_of(nic: PrivateNic, limits: Thresholds, ends: LossEnds) -> Iterator[FaultyNic]:
    """Yield the faults of one NIC. Overruns, send queues and link changes are failures where blocks were lost.

    A NIC with a smaller MTU than other nodes drops their large frames: those drops are INFO.
    """
    harms, harms_if_received = (harm_status([nic.node], at) for at in (ends.receivers | ends.senders, ends.receivers))
    signs = nic.signs
    # An interface of Hyper-V is above its virtual function, and has receive buffers of its own.
    overrun = (_grew(nic, _OVERRUN) if nic.is_lowest else {}) | signs.get(DriverSign.NO_BUFFER, {})
    if overrun:
        yield FaultyNic(nic, NicFault.OVERRUN, overrun, largest(overrun), harms_if_received)
    if nic.is_lowest:
        corrupt, damaged = _grew(nic, _CORRUPT), signs.get(DriverSign.CORRUPT, {})
        if corrupt or damaged:
            # The driver counts the frames of the kernel's counters, too.
            number = max(sum(corrupt.values()), largest(damaged))
            yield FaultyNic(nic, NicFault.CORRUPT, corrupt | damaged, number, Status.FAIL)
        if full := signs.get(DriverSign.PORT_BUFFER, {}):
            yield FaultyNic(nic, NicFault.PORT_BUFFER, full, largest(full), harms_if_received)
        dropped = nic.counts.value("rx_dropped") - (counted_as_dropped(nic.driver) if nic.driver else 0)
        if dropped > 0 and _is_more_than_strays(nic, dropped, limits):
            # With a smaller MTU than other nodes this is an effect, which mtu-consistency and df-ping report.
            status = Status.INFO if nic.has_small_mtu else Status.WARN
            yield FaultyNic(nic, NicFault.DROPPED, {"rx_dropped": dropped}, dropped, status)
        if changes := _grew(nic, ("carrier_changes",)) | signs.get(DriverSign.LINK, {}):
            yield FaultyNic(nic, NicFault.LINK, changes, largest(changes), harms)
        if limited := signs.get(DriverSign.LIMITED):
            yield FaultyNic(nic, NicFault.LIMIT, limited, sum(limited.values()), harms)
        if paused := signs.get(DriverSign.PAUSED, {}) | signs.get(DriverSign.PAUSES, {}):
            fault = _pause_of(nic.classes)
            status = Status.WARN if harms is Status.FAIL and fault is not NicFault.OTHER_CLASS_PAUSED else Status.INFO
            yield FaultyNic(nic, fault, paused, sum(pauses(nic)), status)
        if marked := nic.classes.marked:
            yield FaultyNic(nic, NicFault.MARKED, {"rx_ecn_mark": marked}, marked, Status.INFO)
        yield from _other(nic, signs)
    elif nic.members_stayed and (changes := _grew(nic, ("carrier_changes",))):
        yield FaultyNic(nic, NicFault.BOND, changes, changes["carrier_changes"], harms)
    queue = _grew(nic, _SEND_QUEUE)
    sends_loss = nic.node in ends.senders
    # A NIC without a link drops everything that is sent: an effect of the link.
    if (
        queue
        and nic.is_up
        and (sends_loss or percent_of(max(queue.values()), nic, "tx") >= limits.device_drop_warn_percent)
    ):
        status = Status.INFO if nic.link_changed else harm_status([nic.node], ends.senders)
        fault = NicFault.UNLINKED if nic.link_changed else NicFault.SEND_QUEUE
        yield FaultyNic(nic, fault, queue, sum(queue.values()), status)


def _pause_of(classes: TrafficClasses) -> NicFault:
    if classes.is_elsewhere:
        return NicFault.OTHER_CLASS_PAUSED
    return NicFault.CLASS_PAUSED if classes.is_in_use else NicFault.PAUSE


def harm_status(nodes: Iterable[str], losing: Collection[str]) -> Status:
    """Return the status of what can lose packets at these nodes: a failure where one of them lost blocks."""
    return Status.FAIL if any(node in losing for node in nodes) else Status.WARN


def ring_status(node: str, losing: Collection[str]) -> Status:
    """Return the status of a ring that could be larger: a warning where the node lost blocks."""
    return Status.WARN if node in losing else Status.INFO


def _other(nic: PrivateNic, signs: Mapping[DriverSign, dict[str, int]]) -> Iterator[FaultyNic]:
    other = _grew(nic, _OTHER)
    for total, parts in _TOTALS.items():
        if not _grew(nic, parts):
            other |= _grew(nic, (total,))
    too_long = signs.get(DriverSign.TOO_LONG, {})
    lost = signs.get(DriverSign.DROPPED, {}) | signs.get(DriverSign.NOT_SENT, {})
    faults = signs.get(DriverSign.FAULT, {}) | signs.get(DriverSign.HUNG, {}) | lost
    if other or too_long or faults:
        is_effect = nic.has_small_mtu and set(other) <= {"rx_length_errors", "rx_errors"} and not faults
        status = Status.INFO if is_effect else Status.WARN
        # The driver counts the frames of the kernel's counters, too.
        number = max(sum(other.values()), largest(too_long), largest(faults))
        yield FaultyNic(nic, NicFault.OTHER, other | too_long | faults, number, status)


def pauses(nic: PrivateNic) -> tuple[int, int]:
    """Return the pause frames that a NIC received and sent. A driver may count them by priority and in total."""
    received, sent = (nic.signs.get(sign, {}) for sign in (DriverSign.PAUSED, DriverSign.PAUSES))
    return largest(received), largest(sent)


def discarding(nics: Sequence[PrivateNic], faults: Sequence[FaultyNic]) -> dict[str, int]:
    """Return the nodes that discarded packets when sending although no queue of a private NIC shows them.

    Without the program tc the drops of a peer's queues are not known; the kernel still counts the discarded packets.
    """
    seen = {
        f.nic.node for f in faults if f.fault in (NicFault.SEND_QUEUE, NicFault.UNLINKED, NicFault.LINK, NicFault.BOND)
    }
    blind = {n.node for n in nics if "qdisc_drops" not in n.counts.counts} - {n.node for n in nics if not n.is_up}
    return {n.node: n.discards for n in nics if n.discards and n.node in blind - seen}


def _grew(nic: PrivateNic, names: Sequence[str]) -> dict[str, int]:
    return {name: value for name in names if (value := nic.counts.value(name))}


def percent_of(number: int, nic: PrivateNic, way: str) -> float:
    """Return packets in percent of those that the NIC passed or dropped in a direction, `rx` or `tx`."""
    passed = nic.counts.value(f"{way}_packets")
    return 100 * number / (number + passed) if number else 0.0


def _is_more_than_strays(nic: PrivateNic, dropped: int, limits: Thresholds) -> bool:
    return exceeds_strays(dropped, nic.seconds) and percent_of(dropped, nic, "rx") >= limits.device_drop_warn_percent


def exceeds_strays(dropped: int, seconds: float) -> bool:
    """Return whether a NIC dropped more received packets than the ones of protocols that its node does not speak."""
    return dropped > max(_LEAST_DROPPED, _STRAY_PACKETS_A_SECOND * seconds)


# --- traffic ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LinkLoad:
    """The traffic of one NIC in its busier direction."""

    nic: PrivateNic
    received_mbit_s: float
    sent_mbit_s: float
    speed_mbps: int
    status: Status

    @property
    def receives(self) -> bool:
        """Whether the busier direction is what it receives; else what it sends."""
        return self.received_mbit_s > self.sent_mbit_s

    @property
    def mbit_s(self) -> float:
        """The traffic in the busier direction."""
        return max(self.received_mbit_s, self.sent_mbit_s)

    @property
    def percent(self) -> float:
        """The traffic in percent of the speed."""
        return 100 * self.mbit_s / self.speed_mbps

    @property
    def way(self) -> str:
        """The direction for a sentence."""
        return "receives" if self.receives else "sends"


def link_load(nic: PrivateNic, limits: Thresholds) -> LinkLoad | None:
    """Return the traffic of a NIC with its speed; None where the speed or the traffic is not known."""
    speed = nic.speed_mbps
    if isinstance(speed, Unknown) or speed <= 0 or nic.seconds <= 0 or "rx_bytes" not in nic.counts.counts:
        return None
    received, sent = (8 * nic.counts.value(f"{way}_bytes") / nic.seconds / 1e6 for way in ("rx", "tx"))
    percent = 100 * max(received, sent) / speed
    status = Status.FAIL if percent > limits.link_fail_percent else Status.PASS
    if status is Status.PASS and percent > limits.link_warn_percent:
        status = Status.WARN
    return LinkLoad(nic, received, sent, speed, status)
