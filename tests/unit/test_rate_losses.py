"""Whose the missing datagrams of a step are, from what both ends and their kernels counted."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.measure.far_end.far_process import FarCounts
from checks.measure.rate_losses import NodeDrops, all_of, drops_between, step_of
from checks.model.facts import KernelCounters, Unknown
from checks.sources.nodes.counter_difference import KernelReading
from checks.sources.nodes.system_difference import SystemReading

NOTHING = FarCounts(*[0] * len(FarCounts._fields))
KNOWN: dict[str, Any] = {"paths": (0,), "cap_bps": 1e8, "round": 0, "at": 0.0, "share": 0.1}
QUIET = NodeDrops(0, 0)


def near(**counts: Any) -> dict[str, Any]:
    fields = dict.fromkeys(("sent_bytes", "received_bytes", "sent", "received", "refused", "dropped"), 0)
    return {**fields, "seconds": 1.0, "lateness_p99_us": None, "cpu_s": 0.1, **counts}


few = st.integers(0, 500)


@given(
    sent=st.integers(1, 50_000),
    received=st.integers(0, 51_000),
    own=few,
    kernel=st.none() | few,
    queue=st.none() | few,
    refused=few,
    discarded=few,
    is_back=st.booleans(),
    is_arriving=st.booleans(),
)
def test_each_datagram_has_one_fate_and_what_is_not_known_is_not_the_networks(
    sent: int,
    received: int,
    own: int,
    kernel: int | None,
    queue: int | None,
    refused: int,
    discarded: int,
    is_back: bool,
    is_arriving: bool,
) -> None:
    if is_back:
        here, there = near(received=received, dropped=own), NOTHING._replace(packets_out=sent, refused=refused)
    else:
        here, there = near(sent=sent, refused=refused), NOTHING._replace(packets_in=received, dropped=own)
    receiver, sender = NodeDrops(kernel, 0, discarded), NodeDrops(0, queue)
    step = step_of("udp", is_back, here, there, KNOWN, receiver, sender, is_arriving=is_arriving)
    fates = (step.received, step.dropped, step.kernel_refused, step.unsent, step.unknown, step.lost)
    assert min(fates) >= 0
    assert sum(fates) == step.sent == sent
    assert step.refused == refused
    missing = max(0, sent - received)
    assert step.dropped == min(missing, own)
    if kernel is None or queue is None or is_arriving:
        assert step.lost == 0
    else:
        ends = min(missing, own) + max(0, kernel - min(missing, own)) + max(0, queue - refused)
        assert step.lost == max(0, missing - ends - discarded)
        assert step.unknown == step.discarded == min(discarded, max(0, missing - ends))


def test_the_ends_have_what_they_counted_and_the_network_the_rest() -> None:
    there = NOTHING._replace(packets_out=100, bytes_out=819_200, refused=5)
    here = near(received=90, received_bytes=737_280, dropped=4)
    step = step_of("udp", True, here, there, KNOWN, NodeDrops(6, 0), NodeDrops(0, 6))
    assert (step.sent, step.received, step.refused) == (100, 90, 5)
    # Four of the six that the kernel counted are the socket's; five of the six that the queue dropped were refused.
    assert (step.dropped, step.kernel_refused, step.unsent, step.lost, step.unknown) == (4, 2, 1, 3, 0)


def test_where_an_end_is_not_read_the_step_says_which() -> None:
    there = NOTHING._replace(packets_in=90)
    step = step_of("udp", False, near(sent=100), there, KNOWN, NodeDrops(), QUIET)
    assert (step.unknown, step.lost, step.is_receiver_unread, step.is_sender_unread) == (10, 0, True, False)
    whole = step_of("udp", False, near(sent=90), there, KNOWN, NodeDrops(), NodeDrops())
    assert (whole.unknown, whole.is_receiver_unread, whole.is_sender_unread) == (0, False, False)


def test_a_tcp_stream_loses_nothing() -> None:
    there = NOTHING._replace(packets_in=3, bytes_in=1000)
    step = step_of("tcp", False, near(sent_bytes=1200), there, KNOWN, NodeDrops(), NodeDrops())
    assert (step.received_bytes, step.sent, step.lost, step.unknown) == (1000, 0, 0, 0)
    assert step.received_bps == 8000


def reading(nics: dict[str, dict[str, int]], softnet: int = 0, **counters: int) -> KernelReading:
    groups: dict[str, dict[str, int]] = {"Ip": {}, "Udp": {}}
    names = ("InReceives", "InDelivers", "ForwDatagrams", "ReasmReqds", "ReasmOKs", "ReasmFails", "ReasmTimeout")
    for name, value in (dict.fromkeys((*names, "InErrors"), 0) | counters).items():
        groups["Udp" if name == "InErrors" else "Ip"][name] = value
    return KernelReading(KernelCounters(groups), ((1, softnet, 0),), machine=SystemReading(nics))


def test_the_drops_of_a_node_are_those_of_its_kernel_and_of_the_layers_of_its_interface() -> None:
    before = reading({"bond0.7": {"rx_dropped": 1}, "bond0": {"rx_missed_errors": 2, "qdisc_drops": 5}})
    after = reading(
        {"bond0.7": {"rx_dropped": 2, "tx_errors": 1}, "bond0": {"rx_missed_errors": 22, "qdisc_drops": 9}},
        3,
        ReasmFails=10,
        ReasmTimeout=6,
        InErrors=100,
    )
    assert drops_between(before, after) == NodeDrops(4 + 100 + 3 + 1 + 20, 4, 0)


@pytest.mark.parametrize(
    ("before", "after", "drops"),
    [
        (Unknown("no answer"), reading({}), NodeDrops()),
        (reading({"eth1": {"qdisc_drops": 0}}), Unknown("no answer"), NodeDrops()),
        (reading({}), reading({}), NodeDrops(None, None, 0)),
        # Without tc on a peer, its queues are not known.
        (reading({"eth1": {"rx_dropped": 0}}), reading({"eth1": {"rx_dropped": 2}}), NodeDrops(2, None, 0)),
    ],
)
def test_what_was_not_read_is_not_zero(
    before: KernelReading | Unknown, after: KernelReading | Unknown, drops: NodeDrops
) -> None:
    assert drops_between(before, after) == drops


def test_packets_that_no_protocol_was_given_are_discarded_by_the_node_and_fragments_are_not_counted_singly() -> None:
    nics = {"eth1": {"qdisc_drops": 0}}
    # Of 130 packets 5 were forwarded and 60 were fragments, which made 10 datagrams: 75 less 68 were discarded.
    grown = {"InReceives": 130, "ForwDatagrams": 5, "ReasmReqds": 60, "ReasmOKs": 10, "InDelivers": 68}
    assert drops_between(reading(nics), reading(nics, **grown)) == NodeDrops(0, 0, 7)
    there = NOTHING._replace(packets_in=90)
    step = step_of("udp", False, near(sent=100), there, KNOWN, NodeDrops(0, 0, 7), QUIET)
    assert (step.discarded, step.unknown, step.lost) == (7, 7, 3)


def test_several_senders_are_known_where_each_is() -> None:
    assert all_of([NodeDrops(1, 2, 3), NodeDrops(3, 4, 5)]) == NodeDrops(4, 6, 8)
    assert all_of([NodeDrops(1, 2), NodeDrops(3, None)]) == NodeDrops(4, None)
