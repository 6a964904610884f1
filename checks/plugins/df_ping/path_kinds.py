"""The kinds of findings of df-ping: meaning, consequence and source of each code."""

from __future__ import annotations

from checks.model.check import FailKind, InfoKind, Kind, PassKind, SkippedKind, UnknownKind, WarnKind

BLOCKS = (
    "An 8 KB block is one packet at MTU 9000, so each packet that vanishes is a lost block. Small packets, heartbeats "
    "included, still pass: the cluster looks alive while Cache Fusion makes no progress."
)

PASS = PassKind("IC-PATH-001", "Full-size packets pass between all nodes, both ways")
LOCAL = FailKind(
    "IC-PATH-002",
    "A node cannot send full-size packets on a private network",
    "The kernel of the node refuses packets of the network's MTU. The node sends blocks in fragments, and drops the "
    "full-size packets of the other nodes.",
    ("MOS 563566.1, causes 5 and 12",),
)
BLACK_HOLE = FailKind(
    "IC-PATH-003",
    "Full-size packets vanish between nodes without an error: a black hole",
    BLOCKS,
    ("MOS 563566.1, causes 5 and 12", "MOS 341788.1", "PRVG-12885"),
)
TUNNELLED = FailKind(
    "IC-PATH-033",
    "A path is short of the NICs' MTU by the headers of a tunnel below them",
    "Smaller packets pass, heartbeats included, so the cluster looks alive. A block that is cut into fragments, or "
    "that fills a packet, has packets of full size, and each is lost.",
    ("RFC 7348", "RFC 7637", "RFC 8926", "MOS 563566.1, causes 5 and 12"),
)
TOO_BIG = FailKind(
    "IC-PATH-004",
    "A router on the path has a smaller MTU than the private network",
    "The router refuses or fragments packets above its MTU, and an interconnect must have no router.",
    ("MOS 563566.1, causes 5 and 7",),
)
LOSS = Kind(
    "IC-PATH-005",
    "Packets of any size are lost on a private network",
    "A block is lost with the packet that carried it; at MTU 1500 one lost fragment of six is enough.",
    ("MOS 563566.1, causes 1, 15 and 20",),
)
UNREACHABLE = FailKind(
    "IC-PATH-006",
    "A node cannot be reached over a private network",
    "Over this network the node exchanges neither blocks nor heartbeats. If the cluster has no other private network, "
    "the node is evicted after misscount seconds.",
    ("MOS 563566.1, cause 1",),
)
FILTERED = UnknownKind(
    "IC-PATH-007",
    "Pings get no answer although the nodes are up, so the path could not be measured",
    "The node is alive on this network and does not answer pings, so racwire cannot find out whether full-size "
    "packets pass. Clusterware needs a private network without packet filters.",
    ("MOS 563566.1, cause 8",),
)
IGNORED = WarnKind(
    "IC-PATH-032",
    "The kernel of a node is set to answer no pings",
    "Pings of racwire and of cluvfy do not test the way to this node. UDP is not affected.",
    ("Linux kernel documentation, ip-sysctl, icmp_echo_ignore_all",),
)
NOT_PROBED = UnknownKind(
    "IC-PATH-008", "A path could not be probed", "racwire cannot find out whether packets pass on this path."
)
ROUTED = FailKind(
    "IC-PATH-009",
    "There is a router between nodes on a private network",
    "The interconnect must be one layer 2 network. A router adds delay, may filter, and can have an MTU of its own.",
    ("MOS 563566.1, cause 7",),
)
RECEIVER = FailKind(
    "IC-PATH-010",
    "A node drops full-size packets because its own interface has a smaller MTU",
    BLOCKS,
    ("MOS 563566.1, causes 5 and 12",),
)
ALONE = SkippedKind("IC-PATH-011", "There is no path to probe")
LOST_ONCE = InfoKind(
    "IC-PATH-012",
    "Packets were lost once, and not again when each path was probed alone",
    "While every node pings every other node, a busy machine may drop a packet. If the finding comes back, the network "
    "loses packets.",
)
SPLIT = FailKind(
    "IC-PATH-031",
    "A private network is divided: no packet passes between two groups of nodes",
    "Each group is a switch, or ports of one VLAN, and the link between them is cut. Between the groups this "
    "network carries neither blocks nor heartbeats; if the cluster has no other private network, one group is evicted "
    "after misscount seconds.",
    ("MOS 563566.1, cause 1",),
)

KINDS = (
    PASS,
    LOCAL,
    BLACK_HOLE,
    TUNNELLED,
    TOO_BIG,
    LOSS,
    UNREACHABLE,
    FILTERED,
    IGNORED,
    NOT_PROBED,
    ROUTED,
    RECEIVER,
    ALONE,
    LOST_ONCE,
    SPLIT,
)
