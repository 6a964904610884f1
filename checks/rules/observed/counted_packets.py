"""What the kernels and the NICs of the nodes count, as observations: at which place, and which packets are counted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from checks.model.condition import ConditionKind
from checks.model.observation import Fate, Observation
from checks.model.traffic import End, Traffic
from checks.rules.nic_counts import FaultyNic, NicFault, pauses
from checks.rules.node_counts import NodeCounts
from checks.rules.observed.states import state

_SOCKETS: tuple[End, ...] = ("clusterware", "instance")
"""The ends whose datagrams wait in a receive buffer; the kernel answers pings itself."""


def overflows(counts: Sequence[NodeCounts]) -> tuple[Observation, ...]:
    """Return the datagrams that found no room in a receive buffer, or in the memory for UDP."""
    return tuple(
        _counted(what, c.node, number, _to_sockets(c.node))
        for c in counts
        for what, number in (("Udp.RcvbufErrors", c.overflowed), ("Udp.MemErrors", c.no_memory))
        if number
    )


def bad_checksums(counts: Sequence[NodeCounts]) -> tuple[Observation, ...]:
    """Return the datagrams that arrived with a wrong checksum."""
    return tuple(_counted("Udp.InCsumErrors", c.node, c.bad_checksums, _udp_to(c.node)) for c in counts)


def other_errors(counts: Sequence[NodeCounts]) -> tuple[Observation, ...]:
    """Return the datagrams that a kernel dropped for a reason that it does not count apart."""
    return tuple(_counted("Udp.InErrors", c.node, c.other_errors, _udp_to(c.node)) for c in counts)


def backlog_drops(counts: Sequence[NodeCounts]) -> tuple[Observation, ...]:
    """Return the packets that were dropped from the backlog of a CPU."""
    return tuple(_counted("softnet dropped", c.node, c.backlog_dropped, _to(c.node)) for c in counts)


def filtered_by_path(counts: Sequence[NodeCounts]) -> tuple[Observation, ...]:
    """Return the packets that rp_filter dropped."""
    return tuple(_counted("TcpExt.IPReversePathFilter", c.node, c.reverse_path, _to(c.node)) for c in counts)


def vanished(counts: Sequence[NodeCounts]) -> tuple[Observation, ...]:
    """Return the packets that arrived at a node and vanished there."""
    return tuple(_counted("vanished", c.node, c.vanished, _to(c.node)) for c in counts)


def failed_reassemblies(counts: Sequence[NodeCounts], *, are_lost: bool) -> tuple[Observation, ...]:
    """Return the packets that could not be reassembled: those that timed out, and those that failed at once.

    `are_lost` says whether fragments of those that timed out were lost on the way to the node. Where its memory was
    full, the kernel dropped them after their arrival.
    """
    return tuple(_failed(counts, are_lost))


def _failed(counts: Sequence[NodeCounts], are_lost: bool) -> Iterator[Observation]:
    for c in counts:
        fragments = Traffic(receivers=(c.node,), forms=("fragment",))
        at_once = c.failed - c.timed_out
        if at_once:
            yield _counted("Ip.ReasmFails", c.node, at_once, fragments)
        if c.timed_out and are_lost:
            yield Observation(fate=Fate.LOST, what="fragments", legs=(fragments,), number=c.timed_out, nodes=(c.node,))
        elif c.timed_out:
            yield _counted("Ip.ReasmTimeout", c.node, c.timed_out, fragments)


# --- NICs -------------------------------------------------------------------------------------------------------------

CONDITIONS = {
    NicFault.DROPPED: ConditionKind.NIC_DROPS,
    NicFault.SEND_QUEUE: ConditionKind.NIC_DROPS,
    NicFault.OVERRUN: ConditionKind.NIC_DROPS,
    NicFault.PORT_BUFFER: ConditionKind.NIC_DROPS,
    NicFault.CORRUPT: ConditionKind.NIC_ERRORS,
    NicFault.OTHER: ConditionKind.NIC_ERRORS,
}
"""The conditions that a fault of a NIC shows to be bad, where samples count it too."""


def nic_faults_counted(faults: Sequence[FaultyNic]) -> tuple[Observation, ...]:
    """Return what private NICs counted, one observation a NIC, by its largest counter."""
    return tuple(
        state(fault.fault.name, fault.nic.node, fault.nic.network, fault.nic.name, fault.number)
        if fault.fault in (NicFault.MARKED, NicFault.OTHER_CLASS_PAUSED)
        else _of_nic(fault)
        for fault in faults
        if fault.number
    )


def send_discards(node: str, number: int, network: str) -> Observation:
    """Return the packets that the kernel of a node discarded when sending."""
    return Observation(
        fate=Fate.COUNTED, what="Ip.OutDiscards", legs=(_from(node, network),), number=number, nodes=(node,),
        network=network,
    )  # fmt: skip


def _of_nic(fault: FaultyNic) -> Observation:
    nic = fault.nic
    return Observation(
        fate=Fate.COUNTED,
        what=max(fault.counts, key=lambda name: (fault.counts[name], name)),
        legs=_directions(fault),
        number=fault.number,
        nodes=(nic.node,),
        network=nic.network,
        nic=nic.name,
        condition=CONDITIONS.get(fault.fault),
    )


def _directions(fault: FaultyNic) -> tuple[Traffic, ...]:
    """Return the packets that the NIC received, those that it sent, or both, by what it counted."""
    node, network = fault.nic.node, fault.nic.network
    there, back = _to(node, network), _from(node, network)
    match fault.fault:
        case NicFault.OVERRUN | NicFault.PORT_BUFFER | NicFault.DROPPED:
            return (there,)
        case NicFault.SEND_QUEUE | NicFault.UNLINKED:
            return (back,)
        case (
            NicFault.PAUSE | NicFault.CLASS_PAUSED
        ):  # a NIC that receives pause frames stops sending; one that sends them stops its port
            received, sent = pauses(fault.nic)
            return (*((back,) if received else ()), *((there,) if sent else ()))
        case NicFault.LINK | NicFault.BOND | NicFault.LIMIT:
            return (there, back)
        case _:
            ways = {found[1] if (found := _WAY.search(name)) else "" for name in fault.counts}
            return (there,) if ways == {"rx"} else (back,) if ways == {"tx"} else (there, back)


_WAY = re.compile("(?:^|_)([rt]x)_")
"""The direction in the name of a counter: `rx_length_errors`, `hc_tx_err_mtu_violation`."""


def _counted(what: str, node: str, number: int, packets: Traffic) -> Observation:
    return Observation(fate=Fate.COUNTED, what=what, legs=(packets,), number=number, nodes=(node,))


def _to(node: str, network: str = "") -> Traffic:
    return Traffic(networks=(network,) if network else None, receivers=(node,))


def _from(node: str, network: str = "") -> Traffic:
    return Traffic(networks=(network,) if network else None, senders=(node,))


def _udp_to(node: str) -> Traffic:
    return Traffic(receivers=(node,), protocols=("udp",))


def _to_sockets(node: str) -> Traffic:
    return Traffic(receivers=(node,), protocols=("udp",), ends=_SOCKETS)
