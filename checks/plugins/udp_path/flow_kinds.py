"""The kinds of findings of udp-path: meaning, consequence and source of each code."""

from __future__ import annotations

from checks.model.check import FailKind, InfoKind, Kind, PassKind, SkippedKind, WarnKind

_HASH = "IEEE 802.1AX, 6.2.4: each conversation stays on one link of an aggregation"

PASSES = PassKind("IC-FLOW-001", "Full-size UDP datagrams from several source ports arrive on all paths")
SHORT_MEMBER = FailKind(
    "IC-FLOW-002",
    "Some source ports of a path lose every full-size UDP datagram, others none",
    "A link aggregation sends each source port over one of its links, and one link carries no packets of this size. "
    "Pings have no ports and took another link. Instances whose flows take the bad link lose their blocks.",
    (_HASH, "MOS 563566.1, causes 5, 11 and 12"),
)
DEAD_MEMBER = FailKind(
    "IC-FLOW-003",
    "Some source ports of a path lose every UDP datagram, others none",
    "A link aggregation sends each source port over one of its links, and one link passes no packets. Pings have no "
    "ports and took another link.",
    (_HASH, "MOS 563566.1, cause 11"),
)
LOSSY_MEMBER = Kind(
    "IC-FLOW-015",
    "Some source ports of a path lose a share of their UDP datagrams, and others far fewer",
    "A link aggregation sends each source port over one of its links, and one link loses packets: a bad transceiver, "
    "cable or port. A limit of the rate and a full buffer treat source ports alike. Pings have no ports, and may take "
    "another link.",
    (_HASH, "MOS 563566.1, causes 1 and 11"),
)
SMALL_LOST = FailKind(
    "IC-FLOW-016",
    "Small UDP datagrams vanish where full-size ones pass",
    "A filter drops UDP by its length. Messages of the instances (LMON, LMD) are as small: instances wait for one "
    "another, or evict one another, while blocks still arrive.",
    ("MOS 563566.1, cause 8",),
)
SMALL_IN_PART = Kind(
    "IC-FLOW-017",
    "Small UDP datagrams are lost in part where full-size ones pass",
    "A limit on packets a second, or a link that loses packets, can be the reason. Messages of instances are as small.",
    ("MOS 563566.1, causes 8, 20 and 21",),
)
NONE = FailKind(
    "IC-FLOW-004",
    "No UDP datagram arrives at a node, although pings pass",
    "Something on the path or on the node drops UDP and lets ICMP pass, and blocks travel by UDP.",
    ("MOS 563566.1, cause 8",),
)
IN_PART = WarnKind(
    "IC-FLOW-005",
    "UDP datagrams are lost in part, although pings pass",
    "Reasons are a limit on the rate of UDP in a switch or on a node, a link that loses packets, or a node that is "
    "short of CPU. Which datagrams are lost does not depend on the source port alone.",
    ("MOS 563566.1, causes 8, 20 and 21",),
)
UNDECIDED = InfoKind(
    "IC-FLOW-006",
    "Whether UDP datagrams arrive is not decided",
    "A kernel limits its 'port unreachable' answers, and a filter can drop them: a missing answer is no lost datagram.",
)
NOT_SENT = SkippedKind("IC-FLOW-007", "No UDP datagram was sent on a path")
LARGE_LOST = FailKind(
    "IC-FLOW-008",
    "Full-size UDP datagrams vanish from every source port, although full-size pings pass",
    "A filter drops UDP packets by their size, or a limit on the rate of UDP leaves no room for them. Each block of "
    "8 KB is such a packet.",
    ("MOS 563566.1, causes 8, 12 and 21",),
)
REFUSED = Kind(
    "IC-FLOW-009",
    "A packet filter refuses UDP datagrams between private addresses",
    "The filter itself answers. Clusterware needs a private network without packet filters, and blocks travel by UDP "
    "on any port.",
    ("MOS 563566.1, cause 8",),
)
ICMP_ONLY = WarnKind(
    "IC-FLOW-010",
    "Full-size UDP datagrams pass where pings do not",
    "The switches and nodes on the path carry packets of this size, and drop or limit pings. Blocks travel by UDP.",
)
SOME_PINGS = WarnKind(
    "IC-FLOW-011",
    "Full-size UDP datagrams pass where a part of the pings is lost",
    "A switch or a node limits the rate of pings, or a node is too busy to answer many at once. Blocks travel by UDP.",
)
OTHER_HOST = Kind(
    "IC-FLOW-012",
    "UDP datagrams to a private address are answered, and its node did not receive them",
    "Another host, or the sender itself, has the address too, or a packet filter answers in the place of the node.",
    ("RFC 5227", "MOS 563566.1, cause 8"),
)
NO_ROUTE = FailKind(
    "IC-FLOW-014",
    "The routes of a node refuse packets for a private address of a peer",
    "The kernel looks for a route before it sends: a route or rule of type blackhole, unreachable or prohibit, or the "
    "absence of a route, ends the packet there. A ping that is bound to the NIC does not need the route.",
    ("ip-route(8)", "ip-rule(8)"),
)
BOTH_SILENT = FailKind(
    "IC-FLOW-013",
    "Neither UDP datagrams nor pings get an answer, although the nodes are up",
    "Packets between the two nodes are lost or dropped, not pings alone: blocks and heartbeats do not pass either.",
    ("MOS 563566.1, causes 1 and 8",),
)
