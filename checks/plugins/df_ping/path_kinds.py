"""The kinds of finding that df-ping makes: what each code means, why it matters, and where the rule comes from."""

from __future__ import annotations

from checks.model.check import Kind

BLOCKS = (
    "An 8 KB block is one packet at MTU 9000. One that vanishes is a lost block; small packets, heartbeats among "
    "them, still pass, so that the cluster looks alive while Cache Fusion stands still."
)

PASS = Kind("IC-PATH-001", "Full-size packets pass between all nodes, both ways")
LOCAL = Kind(
    "IC-PATH-002",
    "A node cannot send what its private network is meant to carry",
    "Its own kernel refuses packets of the network's MTU: it sends blocks in fragments, and drops what the others "
    "send to it in full size.",
    ("MOS 563566.1, causes 5 and 12",),
)
BLACK_HOLE = Kind(
    "IC-PATH-003",
    "Jumbo frames vanish between nodes without an error: a black hole",
    BLOCKS,
    ("MOS 563566.1, causes 5 and 12", "MOS 341788.1", "PRVG-12885"),
)
TOO_BIG = Kind(
    "IC-PATH-004",
    "A router on the way carries less than the private network is meant to",
    "Packets above the router's MTU are refused or cut up there, and an interconnect ought to have no router.",
    ("MOS 563566.1, causes 5 and 7",),
)
LOSS = Kind(
    "IC-PATH-005",
    "Packets of any size get lost on a private network",
    "Every lost packet loses the block it carried; at MTU 1500 one of six fragments is enough.",
    ("MOS 563566.1, causes 1, 15 and 20",),
)
UNREACHABLE = Kind(
    "IC-PATH-006",
    "A node cannot be reached over a private network",
    "Over this network the node exchanges neither blocks nor heartbeats; where it is the only one, the node is "
    "evicted after misscount seconds.",
    ("MOS 563566.1, cause 1",),
)
FILTERED = Kind(
    "IC-PATH-007",
    "Pings are filtered, so the path could not be measured",
    "The node is alive on this network and does not answer pings. Whether full-size packets pass is not known; the "
    "Clusterware needs the private network free of packet filters.",
    ("MOS 563566.1, cause 8",),
)
NOT_PROBED = Kind(
    "IC-PATH-008", "A path could not be probed", "What its packets meet is not known, neither good nor bad."
)
ROUTED = Kind(
    "IC-PATH-009",
    "There is a router between nodes on a private network",
    "The interconnect must be one layer 2 network. A router adds delay, may filter, and can have an MTU of its own.",
    ("MOS 563566.1, cause 7",),
)
RECEIVER = Kind(
    "IC-PATH-010",
    "A node throws away full-size packets because its own interface has a smaller MTU",
    BLOCKS,
    ("MOS 563566.1, causes 5 and 12",),
)
ALONE = Kind("IC-PATH-011", "There is no path to probe")
LOST_ONCE = Kind(
    "IC-PATH-012",
    "Packets got lost once, and not again when nothing else was sent",
    "While every node pings every other, a crowded machine may drop a packet of that crowd. If this comes back, it is "
    "a loss of the network.",
)
