"""Whose the datagrams of a step are that did not arrive: the sender's, the receiver's, the network's, or not known.

What a program or its own socket counted is exact. What a kernel and its NICs counted is of all senders and receivers of
the node, and of fragments singly: up to so many were of the step. What is left is the network's.

Packets that IP took in and handed to no protocol can be of the step, or what a firewall keeps from the public network:
of up to so many it is not known whose they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields
from typing import Any

from checks.measure.far_end.far_process import FarCounts
from checks.model.facts import KernelCounters, Unknown
from checks.model.measured_rate import RateStep
from checks.sources.nodes.counter_difference import SOFTNET, KernelReading, difference

_NOT_RECEIVED = ("rx_dropped", "rx_missed_errors", "rx_fifo_errors")
_NOT_SENT = ("qdisc_drops", "tx_dropped", "tx_errors")
_TAKEN_IN, _HANDED_ON = ("InReceives", "ReasmOKs"), ("ReasmReqds", "InDelivers", "ForwDatagrams")


@dataclass(frozen=True, slots=True)
class NodeDrops:
    """What the kernel and the NICs of a node dropped during a step. None where it could not be read."""

    received: int | None = None
    """Fragments without room for reassembly or out of order, datagrams without room in a socket or in memory, packets
    that the node had no room for before its network stack, and those that its NICs dropped."""
    sent: int | None = None
    """Packets that the queues of its NICs and the NICs dropped. Queues inside a queue are among those of the outer one
    (`qdisc_tree_reduce_backlog`, `mq_dump` of Linux)."""
    discarded: int | None = None
    """Packets that IP received, whole or put together, and neither delivered nor forwarded: a rule of the host firewall
    dropped them, a filter of the reverse path, or a route."""


def drops_between(before: KernelReading | Unknown, after: KernelReading | Unknown) -> NodeDrops:
    """Return the drops of a node between two readings, which have the NICs of the step and the layers below them."""
    if isinstance(before, Unknown) or isinstance(after, Unknown):
        return NodeDrops()
    growth = difference(before, after)
    if isinstance(growth, Unknown):
        return NodeDrops()
    counted = [
        growth.counters.value(*name)
        for name in (("Ip", "ReasmFails"), ("Ip", "ReasmTimeout"), ("Udp", "InErrors"), (SOFTNET, "Dropped"))
    ]
    nics = () if isinstance(growth.machine.nics, Unknown) else growth.machine.nics
    # A VLAN has no queue of its own: one of the layers has.
    has_queue = any("qdisc_drops" in nic.counts for nic in nics)
    fails, timeouts, errors, before_stack = counted
    return NodeDrops(
        None
        if not nics or fails is None or timeouts is None or errors is None or before_stack is None
        else max(0, fails - timeouts) + errors + before_stack + _sum(nics, _NOT_RECEIVED),
        _sum(nics, _NOT_SENT) if has_queue else None,
        _discarded(growth.counters),
    )


def _discarded(counters: KernelCounters) -> int | None:
    grown = [counters.value("Ip", name) for name in (*_TAKEN_IN, *_HANDED_ON)]
    taken_in, handed_on = grown[: len(_TAKEN_IN)], grown[len(_TAKEN_IN) :]
    if None in grown:
        return None
    return max(0, sum(one or 0 for one in taken_in) - sum(one or 0 for one in handed_on))


def all_of(drops: Iterable[NodeDrops]) -> NodeDrops:
    """Return the drops of several nodes together, None where one of them could not be read."""
    each = list(drops)
    counts = ([getattr(one, field.name) for one in each] for field in fields(NodeDrops))
    return NodeDrops(*(None if None in of_nodes else sum(of_nodes) for of_nodes in counts))


def _sum(nics: Iterable[Any], names: Collection[str]) -> int:
    return sum(nic.counts.get(name, 0) for nic in nics for name in names)


def step_of(
    protocol: str,
    is_towards_here: bool,
    found: dict[str, Any],
    there: FarCounts,
    known: dict[str, Any],
    receiver: NodeDrops,
    senders: NodeDrops,
    *,
    is_arriving: bool = False,
) -> RateStep:
    """Return a step from what both ends counted. `found`: the fields of `near_end.paced_streams.Stream`.

    `there`: what the far ends counted during the step. `is_arriving`: datagrams still arrived when they were counted
    last, so that what is left may have been under way. `receiver` and `senders` matter where a datagram is missing.
    """
    is_udp = protocol == "udp"
    if is_towards_here:
        sent, received, refused, dropped = there.packets_out, found["received"], there.refused, found["dropped"]
        sent_bytes, received_bytes = there.bytes_out, found["received_bytes"]
    else:
        sent, received, refused, dropped = found["sent"], there.packets_in, found["refused"], there.dropped
        sent_bytes, received_bytes = found["sent_bytes"], there.bytes_in
    # Of a datagram that a network doubled, one counts.
    received = min(sent, received)
    left = sent - received if is_udp else 0
    dropped = min(left, dropped)
    left -= dropped
    # What a full socket dropped is among what its kernel did not take; what a queue refused is among its drops.
    kernel_refused = min(left, max(0, (receiver.received or 0) - dropped))
    left -= kernel_refused
    unsent = min(left, max(0, (senders.sent or 0) - refused))
    left -= unsent
    discarded = min(left, receiver.discarded or 0)
    left -= discarded
    is_known = receiver.received is not None and senders.sent is not None and not is_arriving
    return RateStep(
        **known,
        protocol=protocol,
        is_towards_here=is_towards_here,
        seconds=found["seconds"],
        sent_bytes=sent_bytes,
        received_bytes=received_bytes,
        sent=sent if is_udp else 0,
        received=received if is_udp else 0,
        refused=refused if is_udp else 0,
        dropped=dropped,
        kernel_refused=kernel_refused,
        unsent=unsent,
        unknown=discarded if is_known else discarded + left,
        discarded=discarded,
        lost=left if is_known else 0,
        is_receiver_unread=bool(left) and receiver.received is None,
        is_sender_unread=bool(left) and senders.sent is None,
        lateness_p99_us=found["lateness_p99_us"],
        cpu_here_s=found["cpu_s"],
        cpu_there_s=there.cpu_ns / 1e9,
    )
