"""Signs of the cause of lost blocks in the private NICs and the send queues of the nodes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from checks.model.facts import Cluster, CounterChanges
from checks.model.finding import NextStep, Status
from checks.model.shell_command import for_each
from checks.model.wording import counted, span
from checks.plugins.gc_blocks_lost.loss_signs import PACKETS_LOST, LossSign, LossSigns
from checks.plugins.shared.counter_text import TOPIC
from checks.plugins.shared.grouping import named, time_of
from checks.rules.nic_counts import FaultyNic, NicFault, discarding, faults_of, loss_ends, private_nics_counted

_AT_RECEIVER = {
    NicFault.CORRUPT: ("arrived corrupt", "arrived damaged and was discarded by the NIC", 1),
    NicFault.OVERRUN: ("without a receive buffer", "found no buffer in the NIC", 16),
    NicFault.PORT_BUFFER: ("dropped in the port's buffer", "was dropped in the buffer of the NIC's port", 15),
    NicFault.DROPPED: ("dropped after receipt", "was dropped by the kernel after the NIC had received it", 15),
}
"""What is counted, what became of a packet, and the cause in MOS 563566.1."""


def with_nic_signs(cluster: Cluster, signs: LossSigns, receivers: Collection[str], nodes: Collection[str]) -> LossSigns:
    """Return the signs with those of the NICs of the receivers, and of the send queues of the senders among the nodes.

    A send queue that drops explains lost pings, so its sign comes first, and the network is not blamed for them.
    """
    changes = cluster.counters
    if not isinstance(changes, CounterChanges):
        return signs
    nics, ends = private_nics_counted(cluster, changes.nodes), loss_ends(cluster)
    faults = [fault for nic in nics for fault in faults_of(nic, cluster.thresholds, ends)]
    queues = {f.nic.node: f.number for f in faults if f.fault is NicFault.SEND_QUEUE} | discarding(nics, faults)
    queues = {node: number for node, number in queues.items() if node in ends.senders.intersection(nodes)}
    links = [
        f for f in faults if f.fault in (NicFault.LINK, NicFault.BOND) and f.nic.node in {*receivers, *ends.senders}
    ]
    own = [*_queue_sign(queues, changes.seconds), *_link_sign(links), *_receiver_signs(faults, receivers)]
    if not own:
        return signs
    old = [replace(s, in_network=False) if queues and s.cause == PACKETS_LOST else s for s in signs.signs]
    seen_at = dict.fromkeys(
        [*queues, *(f.nic.node for f in links), *(f.nic.node for f in faults if f.nic.node in receivers)]
    )
    evidence = (*((node, TOPIC) for node in seen_at), *signs.evidence)
    return replace(signs, signs=(*own, *old), clean=(), evidence=tuple(dict.fromkeys(evidence)))


def _queue_sign(queues: dict[str, int], seconds: float) -> Iterator[LossSign]:
    if not queues:
        return
    nodes, number = named(queues, "node"), sum(queues.values())
    yield LossSign(
        "send queue",
        f"{nodes}: {counted(number, 'packet')} dropped in its own send queue in {span(seconds)}",
        f"{nodes} dropped packets before they left the node: its send queue is too short or limits the rate "
        "(MOS 563566.1, cause 17).",
        NextStep(
            "Start with the send queue; the check nic-counters reports the NIC.",
            ("tc -s qdisc show",),
            f"any user on {nodes}",
        ),
        in_network=False,
    )


def _link_sign(links: Sequence[FaultyNic]) -> Iterator[LossSign]:
    if not links:
        return
    places, seconds = named((f.nic.place for f in links), "private NIC"), max(f.nic.seconds for f in links)
    where = f"root on {named((f.nic.node for f in links), 'node')}"
    yield LossSign(
        "link changes",
        f"{places}: {counted(sum(f.number for f in links), 'link change')} in {span(seconds)}",
        f"The link of {places} went down or came up: what is sent meanwhile is lost (MOS 563566.1, causes 1 and 22).",
        NextStep("Start with the link; the check nic-counters reports the NIC.", ("dmesg -T",), where),
        in_network=True,
    )


def _receiver_signs(faults: Sequence[FaultyNic], receivers: Collection[str]) -> Iterator[LossSign]:
    for fault, (what, fate, number) in _AT_RECEIVER.items():
        found = [f for f in faults if f.fault is fault and f.nic.node in receivers and f.status is not Status.INFO]
        if found:
            places = named((f.nic.place for f in found), "private NIC")
            packets = counted(sum(f.number for f in found), "frame" if fault is NicFault.CORRUPT else "packet")
            yield LossSign(
                fault.name,
                f"{places}: {packets} {what} in {time_of(f.nic for f in found)}",
                f"At {places} a packet {fate} (MOS 563566.1, cause {number}).",
                NextStep(
                    "Check whether the counters of the NIC still grow; the check nic-counters has the details.",
                    for_each("ip -s -s link show {nic}", "ethtool -S {nic}", nic=(f.nic.name for f in found)),
                    f"any user on {named((f.nic.node for f in found), 'node')}",
                ),
                in_network=fault is NicFault.CORRUPT,
            )
