"""Do the private NICs count errors, drops or link changes?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple

from checks.model.check import InfoKind, Kind, PassKind, UnknownKind, check
from checks.model.condition import ConditionKind
from checks.model.facts import Cluster, CounterChange, CounterChanges, Unknown
from checks.model.finding import Finding, Status
from checks.model.shell_command import Placeholder
from checks.model.wording import counted, listed, span
from checks.plugins.nic_counters.changed_nics import KINDS, changed_findings
from checks.plugins.nic_counters.next_steps import places, queue_steps, steps
from checks.plugins.shared.counter_text import TOPIC, not_counted_finding, share, unknown_nodes_findings
from checks.plugins.shared.grouping import alike, briefly, named, some, time_of, topics_of
from checks.rules.driver_counts import is_known, meaning_of
from checks.rules.nic_counts import (
    HARMLESS,
    FaultyNic,
    NicFault,
    PrivateNic,
    discarding,
    faults_of,
    harm_status,
    loss_ends,
    pauses,
    percent_of,
    private_nics_counted,
)
from checks.rules.observed.counted_packets import nic_faults_counted, send_discards
from checks.rules.observed.states import read_at

_STATISTICS = "Linux, Documentation/networking/statistics.rst"
QUIET = PassKind("IC-NIC-001", "The private NICs counted no error and no drop in the interval")
CORRUPT = Kind(
    "IC-NIC-002",
    "A private NIC received corrupt frames, or lost the carrier while sending",
    "The NIC discards a corrupt frame, and the block in it is lost. A cable, a transceiver, a switch port or the NIC "
    "itself damages frames; so does a duplex mismatch.",
    ("MOS 563566.1, cause 1", _STATISTICS),
)
OVERRUN = Kind(
    "IC-NIC-003",
    "A private NIC had no buffer for packets that arrived",
    "The packets reached the NIC, and it dropped them because the node fetched earlier ones too slowly: the receive "
    "rings are too small, or one CPU serves too many packets.",
    ("MOS 563566.1, cause 16", _STATISTICS),
)
PORT_BUFFER = Kind(
    "IC-NIC-020",
    "A private NIC dropped packets in the buffer of its port",
    "The packets reached the port of the NIC and were dropped before any receive ring: the NIC passes packets to the "
    "node more slowly than the link brings them. The PCIe slot is too narrow, the node is slow to take data, or bursts "
    "are larger than the buffer.",
    ("MOS 563566.1, cause 15", "Linux kernel documentation, mlx5 counters, rx_discards_phy", _STATISTICS),
)
DROPPED = Kind(
    "IC-NIC-004",
    "The kernel dropped packets that a private NIC had received",
    "The driver or the kernel dropped the packets before any protocol received them: for want of memory, because of a "
    "VLAN or protocol that the node does not speak, or in a full ring of a virtual NIC.",
    ("MOS 563566.1, cause 15", _STATISTICS),
)
SEND_QUEUE = Kind(
    "IC-NIC-005",
    "A node drops packets in its own send queue",
    "The packets never left the node: its queue for the private NIC is too short or limits the rate (a queue "
    "discipline such as tbf or htb), or the driver refused them. The network between the nodes did not lose them.",
    ("MOS 563566.1, cause 17", "Linux, man tc(8)"),
)
LINK = Kind(
    "IC-NIC-006",
    "The link of a private NIC went down or came up in the interval",
    "Without a link no packet passes, and the switch may block the port for seconds after it comes back. A loose "
    "cable, a failing transceiver or a switch port that restarts is the usual reason.",
    ("MOS 563566.1, causes 1, 11 and 22",),
)
OTHER = Kind(
    "IC-NIC-007",
    "A private NIC counted other errors",
    "Each such frame is lost. Length errors are frames longer than the NIC accepts: then a peer has a larger MTU. "
    "Collisions occur at half duplex.",
    ("MOS 563566.1, causes 1, 5 and 13", _STATISTICS),
)
PAUSED = Kind(
    "IC-NIC-009",
    "Pause frames hold up the traffic of a private NIC",
    "A NIC that receives pause frames stops sending for a moment, and one that sends them cannot keep up. Meanwhile "
    "packets queue, and are lost where a queue is full.",
    ("MOS 563566.1, cause 14", "IEEE 802.3, annex 31B"),
)
LIMITED = Kind(
    "IC-NIC-010",
    "The cloud queued or dropped packets of a private NIC above a limit of its virtual machine",
    "A cloud limits the bandwidth, the packets a second and the tracked connections of a virtual machine. Above a "
    "limit it queues packets, then drops them, and no counter of the kernel shows that.",
    ("Amazon EC2 User Guide, network performance metrics of the ENA driver",),
)
UNLINKED = Kind(
    "IC-NIC-011",
    "A node dropped packets when sending, and the link of the NIC went down or came up meanwhile",
    "Packets that a node sends while the link is down are dropped at its NIC. Whether the queue is too short as well "
    "shows when the link is stable.",
    ("MOS 563566.1, causes 1 and 22",),
)
BOND = Kind(
    "IC-NIC-012",
    "The bond of a private NIC went down or came up although the links of its members stayed up",
    "While the bond is down, no packet passes on the private network. The bonding driver takes members for down whose "
    "links are up where the targets of its ARP monitoring are silent, or the switch stops LACP.",
    ("MOS 563566.1, causes 11 and 22", "Linux, Documentation/networking/bonding.rst"),
)
CLASS_PAUSED = Kind(
    "IC-NIC-013",
    "Pause frames stop the class in which the packets of a private NIC travel",
    "A switch serves each class by a queue of its own, and priority flow control stops one class. Packets of the "
    "interconnect wait meanwhile, and are lost where a queue is full.",
    ("MOS 563566.1, cause 14", "IEEE 802.1Qbb"),
)
OTHER_CLASS_PAUSED = InfoKind(
    "IC-NIC-014",
    "Pause frames stop a class in which no packet of a private NIC travels",
    "They stop other traffic of the port, such as storage over RDMA, and not the interconnect. Nor does priority flow "
    "control protect the interconnect from full queues: its packets travel in another class.",
    ("IEEE 802.1Qbb",),
)
MARKED = InfoKind(
    "IC-NIC-015",
    "A switch marks packets to a private NIC as congested",
    "The queue of a switch is filling. From there the switch marks packets that can be marked, and drops others: the "
    "UDP of the interconnect cannot be marked.",
    ("RFC 3168, section 5", "Linux kernel documentation, mlx5 counters, rx_ecn_mark"),
)
NOT_KNOWN = UnknownKind("IC-NIC-008", "The counters of private NICs are not known")


class _OfFault(NamedTuple):
    """How a fault is reported."""

    kind: Kind
    brief: Callable[[int], str]
    """The number of packets or events, for a list."""
    expected: str = "0"


_FAULTS = {
    NicFault.CORRUPT: _OfFault(CORRUPT, lambda n: f"{n:,} corrupt"),
    NicFault.OVERRUN: _OfFault(OVERRUN, lambda n: f"{n:,} without a buffer"),
    NicFault.PORT_BUFFER: _OfFault(PORT_BUFFER, lambda n: f"{n:,} dropped in its port"),
    NicFault.DROPPED: _OfFault(
        DROPPED, lambda n: f"{n:,} dropped", "A few packets of protocols that the node does not speak"
    ),
    NicFault.SEND_QUEUE: _OfFault(SEND_QUEUE, lambda n: f"{n:,} not sent"),
    NicFault.UNLINKED: _OfFault(UNLINKED, lambda n: f"{n:,} not sent, link changed", "No change of the link"),
    NicFault.LINK: _OfFault(LINK, lambda n: counted(n, "link change"), "No change of the link"),
    NicFault.BOND: _OfFault(
        BOND, lambda n: counted(n, "bond change"), "No change of the bond while its members have links"
    ),
    NicFault.LIMIT: _OfFault(LIMITED, lambda n: f"{n:,} above a limit"),
    NicFault.PAUSE: _OfFault(PAUSED, lambda n: counted(n, "pause frame"), "No pause frames while blocks are lost"),
    NicFault.CLASS_PAUSED: _OfFault(
        CLASS_PAUSED, lambda n: counted(n, "pause frame"), "No pause frames for its class while blocks are lost"
    ),
    NicFault.OTHER_CLASS_PAUSED: _OfFault(OTHER_CLASS_PAUSED, lambda n: counted(n, "pause frame"), "Any number"),
    NicFault.MARKED: _OfFault(MARKED, lambda n: f"{n:,} marked as congested"),
    NicFault.OTHER: _OfFault(OTHER, lambda n: counted(n, "error")),
}


@check(
    "nic-counters",
    question="Do the private NICs count errors, drops or link changes?",
    needs=("networks", "counters"),
    uses=("nodes", "activity"),
    shows=(ConditionKind.NIC_DROPS, ConditionKind.NIC_ERRORS),
    about=(ConditionKind.LINK,),
    kinds=(QUIET, *(of_fault.kind for of_fault in _FAULTS.values()), NOT_KNOWN, *KINDS),
)
def nic_counters(cluster: Cluster) -> Iterator[Finding]:
    """Compares the counters of each private NIC, bond member and send queue between two readings.

    CRC, frame and carrier errors are failures. Missed packets, overruns of the FIFO, drops in the send queue and link
    changes are failures where the same run lost blocks at the node, else warnings. Packets that a NIC dropped when
    sending while its link changed are the link's, and for information. Linux also counts packets that no
    protocol wants as dropped, so drops count from device_drop_warn_percent of the packets and from 2 a second on.

    Where the interval is 30 s or more, the counters of known drivers (`ethtool -S`) are compared, too: mlx5_core,
    mlx4_en, ixgbe, igb, e1000e, i40e, iavf, ice, bnxt_en, bnx2x, tg3, be2net, enic, qede, sfc, cxgb4, ibmvnic, ibmveth,
    qeth, vmxnet3, virtio_net, hv_netvsc, mana, gve, ena. IC-NIC-001 names other drivers, whose counters tell nothing.
    MTU, link, MAC address, addresses and IPv4 routes of each private interface are read with the second counters
    again: where they differ from what the run read first, that is a warning; of a HAIP that moved, for information.
    Pause frames are for information, and a warning where the same run lost blocks at the node or from it. Where the
    driver counts packets and pause frames by class (mlx5_core, mlx4_en, bnxt_en), those for classes in which none of
    the NIC's packets travel are for information alone; so are packets that a switch marked as congested (ECN).
    """
    if isinstance(cluster.counters, Unknown):
        return
    changes = [c for c in cluster.counters.nodes if not isinstance(c.machine.nics, Unknown)]
    nics, ends = private_nics_counted(cluster, changes), loss_ends(cluster)
    faults = [fault for nic in nics for fault in faults_of(nic, cluster.thresholds, ends)]
    for same in alike(faults, _kind):
        yield _finding(same)
    unseen = discarding(nics, faults)
    if unseen:
        yield _discarding(cluster, unseen, max(n.seconds for n in nics), ends.senders)
    ill = {(f.nic.node, f.nic.name) for f in faults if f.fault not in HARMLESS}
    quiet = [n for n in nics if (n.node, n.name) not in ill and n.node not in unseen]
    if quiet and not unseen and all(f.fault in HARMLESS for f in faults):
        few = sum(n.few_dropped for n in quiet)
        drops = f"dropped {counted(few, 'packet')}, as few as is usual," if few else "no drop"
        blind = sorted({n.driver.driver for n in quiet if n.driver and not is_known(n.driver.driver)} - {""})
        unlike = f", counters of {listed(blind)} not understood" if blind else ""
        beside = (
            f" racwire does not understand the counters of the {'driver' if len(blind) == 1 else 'drivers'} "
            f"{listed(blind)}, and compared those of the kernel."
        )
        yield QUIET.finding(
            f"{named((n.place for n in quiet), 'private NIC')} counted no error and {drops} in {time_of(quiet)}."
            f"{beside if blind else ''}",
            subject=f"{counted(len(quiet), 'NIC')} quiet{unlike}",
            seen=some([_traffic(nic) for nic in quiet]),
            evidence=topics_of((n.node for n in quiet), TOPIC),
            observed=read_at(QUIET.code, [(n.node, n.network) for n in quiet]),
        )
    yield from changed_findings(cluster)
    yield from _not_known(cluster, cluster.counters, {n.node for n in nics})


def _kind(found: FaultyNic) -> tuple[object, ...]:
    """Equal for faults of one finding."""
    return found.nic.network, found.fault, found.status


def _not_known(cluster: Cluster, changes: CounterChanges, judged: set[str]) -> Iterator[Finding]:
    left = [change for change in changes.nodes if change.node not in judged]
    if left:
        reasons = {change.node: _reason(change) for change in left}
        yield not_counted_finding(NOT_KNOWN, "Whether the private NICs of {} count errors", reasons, "node")
    yield from unknown_nodes_findings(cluster, NOT_KNOWN, "Whether the private NICs of {} count errors", "nic-counters")


def _reason(change: CounterChange) -> Unknown:
    if isinstance(change.machine.nics, Unknown):
        return change.machine.nics
    return Unknown("The node has no private NIC whose counters were read.")


# --- texts ------------------------------------------------------------------------------------------------------------


def _finding(same: Sequence[FaultyNic]) -> Finding:
    of_fault, status = _FAULTS[same[0].fault], same[0].status
    nodes = list(dict.fromkeys(f.nic.node for f in same))
    number, seconds = sum(f.number for f in same), max(f.nic.seconds for f in same)
    network = same[0].nic.network
    at = f"{places(same)}{f' on {network}' if network else ''}"
    return of_fault.kind.finding(
        _title(same, at, number, span(seconds)),
        status=status,
        subject=f"{briefly((f.nic.place for f in same), 'NIC')}: {of_fault.brief(number)}",
        data={"nics": len(same), "number": number, "seconds": seconds},
        seen=some([_line(f) for f in sorted(same, key=lambda f: (-f.number, f.nic.node, f.nic.name))]),
        expected=(of_fault.expected,),
        next=steps(same, nodes),
        evidence=topics_of(nodes, TOPIC),
        network=network,
        nodes=nodes,
        extent=(number / seconds, "a second on average") if seconds > 0 else None,
        observed=nic_faults_counted(same),
    )


def _title(same: Sequence[FaultyNic], at: str, number: int, time: str) -> str:
    match same[0].fault:
        case NicFault.CORRUPT:
            carrier = sum(f.counts.get("tx_carrier_errors", 0) for f in same)
            corrupt = f"received {counted(number - carrier, 'corrupt frame')}" if number > carrier else ""
            lost = f"lost the carrier {_times(carrier)} while sending" if carrier else ""
            return f"{at} {' and '.join(filter(None, (corrupt, lost)))} in {time}."
        case NicFault.OVERRUN:
            return f"{at} had no buffer for {counted(number, 'packet')} that arrived in {time}, and dropped them."
        case NicFault.PORT_BUFFER:
            return f"{at} dropped {counted(number, 'packet')} in the buffer of its port in {time}, before any ring."
        case NicFault.DROPPED:
            mtu = "; another node has a larger MTU" if same[0].status is Status.INFO else ""
            return f"The kernel dropped {counted(number, 'packet')} that {at} had received in {time}{mtu}."
        case NicFault.SEND_QUEUE:
            nodes = named((f.nic.node for f in same), "node")
            where = named((f.nic.name for f in same), "NIC")
            network = f" to {same[0].nic.network}" if same[0].nic.network else ""
            return (
                f"{nodes} dropped {counted(number, 'packet')} in the send queue of {where}{network} in {time}: they "
                "never left the node."
            )
        case NicFault.UNLINKED:
            packets = counted(number, "packet")
            return f"{at} dropped {packets} when sending in {time}, in which its link went down or came up."
        case NicFault.LINK:
            return f"The link of {at} went down or came up {_times(number)} in {time}."
        case NicFault.BOND:
            return f"{at} went down or came up {_times(number)} in {time}, though the links of its members stayed up."
        case NicFault.LIMIT:
            packets = counted(number, "packet")
            return f"The cloud queued or dropped {packets} of {at} in {time} above a limit of the virtual machine."
        case NicFault.CLASS_PAUSED | NicFault.OTHER_CLASS_PAUSED:
            paused, used = (_classes(c for f in same for c in of(f.nic.classes)) for of in (_PAUSED, _USED))
            frames = counted(number, "pause frame")
            return f"{at} received and sent {frames} for {paused} in {time}; its packets travel in {used}."
        case NicFault.MARKED:
            return f"{at} received {counted(number, 'packet')} in {time} that a switch on the way marked as congested."
        case NicFault.PAUSE:
            ways = zip(("received", "sent"), map(sum, zip(*(pauses(f.nic) for f in same), strict=True)), strict=True)
            frames = listed(f"{way} {counted(frames, 'pause frame')}" for way, frames in ways if frames)
            return f"{at} {frames} in {time}."
        case NicFault.OTHER:
            kinds = listed(dict.fromkeys(_name(f.nic, name) for f in same for name in f.counts))
            return f"{at} counted {counted(number, 'error')} in {time}: {kinds}."


_PAUSED, _USED = attrgetter("paused"), attrgetter("used")


def _classes(numbers: Iterable[int]) -> str:
    found = sorted({*numbers})
    return f"class {found[0]}" if len(found) == 1 else f"the classes {listed(map(str, found))}"


_NAMES = {
    "rx_errors": "receive errors",
    "tx_errors": "send errors",
    "rx_length_errors": "frames of a wrong length",
    "tx_fifo_errors": "send FIFO errors",
    "tx_aborted_errors": "aborted sends",
    "collisions": "collisions",
}


def _name(nic: PrivateNic, counter: str) -> str:
    meaning = meaning_of(nic.driver.driver, counter) if nic.driver else None
    return _NAMES.get(counter) or (meaning.value if meaning else counter)


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"


def _line(found: FaultyNic) -> str:
    nic = found.nic
    counts = ", ".join(f"{name} +{value:,}" for name, value in found.counts.items())
    way = "tx" if found.fault in (NicFault.SEND_QUEUE, NicFault.UNLINKED) else "rx"
    if found.fault in (NicFault.LINK, NicFault.BOND, NicFault.LIMIT, *HARMLESS):
        return f"{nic.node}: {nic.name} {counts}"
    passed = counted(nic.counts.value(f"{way}_packets"), "packet")
    part = share(percent_of(found.number, nic, way))
    return f"{nic.node}: {nic.name} {counts}; {passed} {'sent' if way == 'tx' else 'received'} ({part})"


def _traffic(nic: PrivateNic) -> str:
    received, sent = nic.counts.value("rx_packets"), nic.counts.value("tx_packets")
    driver = nic.driver.driver if nic.driver else ""
    compared = f"; counters of {driver} {'compared' if is_known(driver) else 'not understood'}" if driver else ""
    return f"{nic.node}: {nic.name} {received:,} packets received, {sent:,} sent, {nic.few_dropped:,} dropped{compared}"


def _discarding(cluster: Cluster, discards: Mapping[str, int], seconds: float, senders: frozenset[str]) -> Finding:
    nodes, number = list(discards), sum(discards.values())
    networks = cluster.read_networks()
    network = networks[0].name if len(networks) == 1 else ""
    return SEND_QUEUE.finding(
        f"The kernel of {named(nodes, 'node')} discarded {counted(number, 'packet')} when sending in {span(seconds)}: "
        "they never left the node.",
        status=harm_status(nodes, senders),
        subject=f"{briefly(nodes, 'node')}: {number:,} not sent",
        data={"number": number, "seconds": seconds},
        seen=some(
            [f"{node}: Udp SndbufErrors and Ip OutDiscards grew, by up to {n:,}" for node, n in discards.items()]
        ),
        expected=("0",),
        next=queue_steps((Placeholder.ETH,), named(nodes, "node")),
        evidence=topics_of(nodes, TOPIC),
        network=network,
        nodes=nodes,
        extent=(number / seconds, "a second on average") if seconds > 0 else None,
        observed=[send_discards(node, n, network) for node, n in discards.items()],
    )
