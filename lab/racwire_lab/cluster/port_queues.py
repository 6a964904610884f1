"""The rates of the private switch ports, their buffers, and which packets leave first.

With `lab up --rate` each switch port, except those of management networks, sends to its node at that rate, with a
buffer of some packets, and the node's NIC sends at that rate too. Without it the kernel's links are as fast as the
machine.

A port has two classes. With `lab switch --prioritise` the first packets of each flow go to the class that leaves first,
as with dynamic packet prioritisation of Cisco's Nexus 9000. Some faults are other queues at one end of the link.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from racwire_lab.cluster.fault_kind import ActiveFault, Fault
from racwire_lab.cluster.networks import Network, Role
from racwire_lab.cluster.nics import Nic
from racwire_lab.cluster.processes import LabJob, Process, into
from racwire_lab.cluster.topology import PortId, Shape
from racwire_lab.lab_errors import LabUsageError

SLOWEST_MBPS, FASTEST_MBPS = 10, 100_000
NOT_PRIORITISED = "off"
_MOST_PRIORITISED = 1000
_UNITS = {"m": 1, "g": 1000}
_BUFFER_PACKETS, _SMALL_BUFFER_PACKETS = 200, 5
_NIC_PACKETS = 1000
"""The kernel's own length of the queue of a NIC."""
_LEAST_BURST_BYTES = 20_000
"""Two of the largest frames."""
_BURST_S = 0.001
"""Seconds at full rate that a shaper can catch up: the kernel's timers are late by less."""
_GAP = "8ms"
"""After a pause of this length, in which the kernel's clock ticks twice, a flow counts as a new one."""
_FIRST, _REST = "1:10", "1:20"
_FAULTY = "tbf rate 8mbit burst 20kb limit 30kb"

QUEUE_FAULTS = (
    Fault(
        "sender-queue",
        "One node limits the rate at which it sends on one private NIC, with a short queue.",
        "Gives the NIC a queue discipline of 8 Mbit/s with room for three jumbo frames: the node drops what it cannot "
        "send in time, before it reaches the network. Packets to the node arrive.",
        "nic",
    ),
    Fault(
        "slow-port",
        "The switch port of one private NIC sends slowly.",
        "Gives the switch's end of the link a queue discipline of 8 Mbit/s with room for three jumbo frames; on a "
        "cluster with --rate, a tenth of that rate with the usual buffer. The switch drops packets to the node under "
        "load. Packets from the node arrive.",
        "nic",
    ),
    Fault(
        "small-switch-buffer",
        "The switch port of one private NIC has a small buffer.",
        f"Gives the port room for {_SMALL_BUFFER_PACKETS} packets instead of {_BUFFER_PACKETS}: at the same rate it "
        "drops packets of short bursts, such as the blocks that two nodes send at once.",
        "nic",
        needs_rate=True,
    ),
)


def checked_rate(text: str) -> int:
    """Return a rate such as 100m or 10g in Mbit/s. Raises LabUsageError when no switch port can have it."""
    found = re.fullmatch(r"([1-9][0-9]{0,5})([mg])", text, re.ASCII)
    mbps = int(found[1]) * _UNITS[found[2]] if found else 0
    if not SLOWEST_MBPS <= mbps <= FASTEST_MBPS:
        raise LabUsageError(
            f"The rate of a practice switch port is 10m to 100g, such as 100m, 1g or 10g, not '{text}': choose with "
            "--rate."
        )
    return mbps


def rate_text(mbps: int) -> str:
    """Return a rate in Mbit/s as `checked_rate` reads it."""
    return f"{mbps // 1000}g" if mbps % 1000 == 0 else f"{mbps}m"


def checked_priority(text: str, shape: Shape) -> int:
    """Return the number of packets of a flow that leave first; 0 for none.

    Raises LabUsageError when it is out of range, or the ports of this cluster have no queues.
    """
    if not shape.rate_mbps:
        raise LabUsageError(
            "A switch prioritises packets that wait, but the ports of this cluster have no rate: run `racwire lab "
            "down` and then `racwire lab up --rate 1g`."
        )
    number = 0 if text == NOT_PRIORITISED else int(text) if re.fullmatch("[1-9][0-9]{0,3}", text, re.ASCII) else -1
    if not 0 <= number <= _MOST_PRIORITISED:
        raise LabUsageError(
            f"The practice switch prioritises the first 1 to {_MOST_PRIORITISED} packets of a flow, or "
            f"{NOT_PRIORITISED}, not '{text}': choose with --prioritise."
        )
    return number


def is_shaped(network: Network) -> bool:
    """Whether the ports of a network have a rate in a cluster with `--rate`."""
    return network.role is not Role.OTHER


@dataclass(frozen=True, order=True)
class PortQueue:
    """The queue at one end of the cable of a NIC."""

    port: PortId
    device: str
    is_in_node: bool
    rate_mbps: int
    """0 for the faulty queue of 8 Mbit/s."""
    packets: int

    def lines(self) -> list[str]:
        """Return the `tc` commands that make the queue."""
        burst = max(_LEAST_BURST_BYTES, int(self.rate_mbps * 1e6 / 8 * _BURST_S))
        device, rate = self.device, f"rate {self.rate_mbps}mbit burst {burst} cburst {burst} quantum 10000"
        if not self.rate_mbps:
            return [f"qdisc add dev {device} root {_FAULTY}"]
        if self.is_in_node:
            # The senders wait for room in their sockets before this queue is full.
            return [
                f"qdisc add dev {device} root tbf rate {self.rate_mbps}mbit burst {burst} limit {self.packets * 9216}"
            ]
        return [
            f"qdisc add dev {device} root handle 1: htb default {_REST.partition(':')[2]}",
            f"class add dev {device} parent 1: classid 1:1 htb {rate}",
            *(
                line
                for place, name in enumerate((_FIRST, _REST))
                for line in (
                    f"class add dev {device} parent 1:1 classid {name} htb {rate} prio {place}",
                    f"qdisc add dev {device} parent {name} pfifo limit {self.packets}",
                )
            ),
        ]


def port_queues(shape: Shape, nics: Mapping[PortId, Nic], broken: Collection[ActiveFault]) -> frozenset[PortQueue]:
    """Return the queues at both ends of each cable."""
    return frozenset(queue for port, nic in nics.items() for queue in _queues(shape, port, nic, broken))


def _queues(shape: Shape, port: PortId, nic: Nic, broken: Collection[ActiveFault]) -> Iterator[PortQueue]:
    rate = shape.rate_mbps if is_shaped(shape.networks[port.network]) else 0
    if ActiveFault("sender-queue", *port) in broken:
        yield PortQueue(port, nic.name, True, 0, 0)
    elif rate:
        yield PortQueue(port, nic.name, True, rate, _NIC_PACKETS)
    is_slow = ActiveFault("slow-port", *port) in broken
    packets = _SMALL_BUFFER_PACKETS if ActiveFault("small-switch-buffer", *port) in broken else _BUFFER_PACKETS
    if rate:
        yield PortQueue(port, port.name, False, rate // 10 if is_slow else rate, packets)
    elif is_slow:
        yield PortQueue(port, port.name, False, 0, 0)


def priority_ruleset(networks: Sequence[Network], ports: Iterable[PortId], packets: int) -> str:
    """Return the nft input that lets the first packets of each flow leave the private ports first; 0 for none.

    A flow is TCP or UDP between two addresses and ports. Only the first fragment of a datagram has ports, so fragments
    count by their addresses. A pause ends a flow.
    """
    lines = ["add table bridge first_packets", "delete table bridge first_packets"]
    names = ", ".join(f'"{port.name}"' for port in ports if networks[port.network].private)
    if packets:
        # As many tokens as packets, and none to come: the limit lets pass so many, until the flow is forgotten.
        first = f"limit rate 1/day burst {packets} packets }} meta priority set {_FIRST}"
        whole, cut = "ip saddr . th sport . ip daddr . th dport . ip protocol", "ip saddr . ip daddr . ip protocol"
        options = f"size 65535; flags dynamic,timeout; timeout {_GAP};"
        leaving = f"add rule bridge first_packets leaving oifname {{ {names} }} ip protocol {{ tcp, udp }}"
        lines += [
            "add table bridge first_packets",
            f"add set bridge first_packets flows {{ typeof {whole}; {options} }}",
            f"add set bridge first_packets fragments {{ typeof {cut}; {options} }}",
            "add chain bridge first_packets leaving { type filter hook postrouting priority 0; }",
            f"{leaving} ip frag-off & 0x3fff != 0 update @fragments {{ {cut} {first}",
            f"{leaving} ip frag-off & 0x3fff == 0 update @flows {{ {whole} {first}",
        ]
    return "".join(f"{line}\n" for line in lines)


@dataclass(frozen=True)
class QueueChange:
    """The change of the queues from one state to another, in two parts: a NIC may be renamed between them."""

    init: Process
    nodes: Mapping[str, Process]
    before: frozenset[PortQueue]
    after: frozenset[PortQueue]
    rootless: bool

    def removed(self) -> list[LabJob]:
        """Return the jobs that remove what the new state does not have."""
        return self._jobs((q, [f"qdisc del dev {q.device} root"]) for q in sorted(self.before - self.after))

    def added(self) -> list[LabJob]:
        """Return the jobs that make what the old state did not have."""
        return self._jobs((queue, queue.lines()) for queue in sorted(self.after - self.before))

    def _jobs(self, steps: Iterable[tuple[PortQueue, list[str]]]) -> list[LabJob]:
        lines: dict[str, list[str]] = {}
        for queue, commands in steps:
            lines.setdefault(queue.port.node if queue.is_in_node else "", []).extend(commands)
        return [
            LabJob(
                [*into(self.nodes[node] if node else self.init, "net", rootless=self.rootless), "tc", "-batch", "-"],
                "".join(f"{line}\n" for line in commands),
                f"set the queues of {node or 'the switch'}",
            )
            for node, commands in lines.items()
        ]
