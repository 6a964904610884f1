"""What the kernel's reasons for dropped packets mean (Linux, include/net/dropreason-core.h): a table, and its rules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from checks.model.facts import DroppedPackets, KernelDrops
from checks.model.finding import Status
from checks.model.signs import Sign


class DropKind(Enum):
    """Why a kernel dropped a packet, as far as it matters to an interconnect."""

    FILTER = "a rule of a packet filter"
    POLICED = "a policer or classifier (tc)"
    QUEUE = "a full send queue"
    SOCKET = "a full receive buffer"
    BACKLOG = "the full backlog of a CPU"
    MEMORY = "want of memory"
    REASSEMBLY = "fragments that were missing or too late"
    CHECKSUM = "a wrong checksum"
    RETURN_PATH = "rp_filter: answers would leave through another NIC"
    ROUTE = "an address or a route that this node does not have"
    NEIGHBOUR = "no MAC address for the next hop"
    SIZE = "a packet larger than the MTU"
    MALFORMED = "a damaged header"
    USUAL = "no fault"
    """What every node drops: packets for closed ports, for others, of protocols that it does not speak."""
    UNSPECIFIED = "not specified"
    """The kernel has no reason for it: drivers free what they sent like this, too."""


_KINDS: Mapping[DropKind, str] = {
    DropKind.FILTER: "NETFILTER_DROP|BPF_CGROUP_EGRESS|XDP|SECURITY_HOOK|SOCKET_FILTER",
    DropKind.POLICED: "TC_(INGRESS|EGRESS|COOKIE_ERROR|CHAIN_NOTFOUND|RECLASSIFY_LOOP)",
    DropKind.QUEUE: "QDISC_\\w+|CAKE_\\w+|FQ_\\w+|FULL_RING|DUALPI2_\\w+|DEV_READY|NO_TX_TARGET",
    DropKind.SOCKET: "SOCKET_RCVBUFF?|SOCKET_BACKLOG|PROTO_MEM",
    DropKind.BACKLOG: "CPU_BACKLOG",
    DropKind.MEMORY: "NOMEM|PFMEMALLOC|SKB_UCOPY_FAULT",
    DropKind.REASSEMBLY: "FRAG_REASM_TIMEOUT|FRAG_TOO_FAR|DUP_FRAG",
    DropKind.CHECKSUM: "(UDP|IP|SKB|ICMP)_CSUM",
    DropKind.RETURN_PATH: "IP_RPFILTER",
    DropKind.ROUTE: "IP_(OUTNOROUTES|INNOROUTES|INADDRERRORS|LOCAL_SOURCE|INVALID_SOURCE|LOCALNET|INVALID_DEST)",
    DropKind.NEIGHBOUR: "NEIGH_\\w+",
    DropKind.SIZE: "PKT_TOO_BIG",
    DropKind.MALFORMED: "IP_INHDR|PKT_TOO_SMALL|HDR_TRUNC|DEV_HDR|SKB_GSO_SEG",
    DropKind.UNSPECIFIED: "NOT_SPECIFIED|NOT_DROPPED_YET|",
}
"""All other reasons are USUAL: those of TCP, of closed sockets and ports, of tunnels, CAN and unix sockets."""
_PATTERNS = {kind: re.compile(pattern) for kind, pattern in _KINDS.items()}
_HARMLESS = (DropKind.USUAL, DropKind.UNSPECIFIED)
_SIGNS: Mapping[DropKind, tuple[Sign, ...]] = {
    DropKind.FILTER: (Sign.NODE_DROPS, Sign.NODE_RULE),
    DropKind.POLICED: (Sign.NODE_DROPS, Sign.NODE_QDISC),
    DropKind.QUEUE: (Sign.NODE_DROPS, Sign.NODE_QDISC),
}


def kind_of(code: str) -> DropKind:
    """Return what a reason of the kernel means."""
    return next((kind for kind, pattern in _PATTERNS.items() if pattern.fullmatch(code)), DropKind.USUAL)


def signs_of(kind: DropKind) -> tuple[Sign, ...]:
    """Return the signs that drops of this kind are; none where they are no fault."""
    return () if kind in _HARMLESS else _SIGNS.get(kind, (Sign.NODE_DROPS,))


@dataclass(frozen=True, slots=True)
class HarmfulDrops:
    """Packets that one node's kernel dropped for reasons of one kind, at one NIC or at one that is not known."""

    node: str
    nic: str
    is_sent: bool
    kind: DropKind
    drops: tuple[DroppedPackets, ...]
    seconds: float
    followed: int
    """The packets of racwire's own at the same NIC meanwhile."""

    @property
    def number(self) -> int:
        """How many packets."""
        return sum(drop.number for drop in self.drops)

    @property
    def status(self) -> Status:
        """A failure where most packets that racwire followed were dropped, a warning where some were; information where
        it is not known through which NIC they came."""
        if not self.nic:
            return Status.INFO
        return Status.FAIL if 2 * self.number > self.followed else Status.WARN


def harmful_drops(nodes: Sequence[KernelDrops]) -> Iterator[HarmfulDrops]:
    """Yield the drops that can be packets of the interconnect, most at a known NIC first."""
    for node in nodes:
        groups: dict[tuple[str, bool, DropKind], list[DroppedPackets]] = {}
        for drop in node.drops:
            kind = kind_of(drop.code)
            if kind not in _HARMLESS:
                groups.setdefault((drop.nic, drop.is_sent, kind), []).append(drop)
        ordered = sorted(groups, key=lambda g: (not g[0], -sum(d.number for d in groups[g]), g[0], g[2].value))
        for nic, is_sent, kind in ordered:
            followed = node.followed_at(nic, is_sent=is_sent)
            yield HarmfulDrops(node.name, nic, is_sent, kind, tuple(groups[nic, is_sent, kind]), node.seconds, followed)
