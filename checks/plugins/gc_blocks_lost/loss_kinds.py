"""The kinds of finding that gc-blocks-lost makes: what each code means, why it matters, and where the rule is from."""

from __future__ import annotations

from checks.model.check import Kind

MOS_LOST = "MOS 563566.1"
MOS_FALSE = "MOS 2096299.1, bug 20922010"

NONE_LOST = Kind("IC-LOST-001", "No block is lost on the interconnect")
LOST = Kind(
    "IC-LOST-002",
    "An instance loses blocks that others send to it",
    "The session that needs a lost block waits in vain, then asks for it again. Any loss is a fault of the network or "
    "of a node's packet processing.",
    (MOS_LOST,),
)
LITTLE = Kind(
    "IC-LOST-003",
    "Too few blocks went over the interconnect to tell whether any are lost",
    "A fault that hits one block in a thousand does not show among a few dozen.",
)
NOT_KNOWN = Kind(
    "IC-LOST-004",
    "How many blocks an instance lost is not known",
    "It may lose blocks unseen; what the other instances say is judged without it.",
)
ONE_CONTAINER = Kind(
    "IC-LOST-005",
    "Only one pluggable database's blocks are seen",
    "Inside a pluggable database the statistics leave out what the instance did for the others.",
)
FALSE_COUNT = Kind(
    "IC-LOST-006",
    "12.1.0.2 counts lost blocks, and nothing else shows a loss",
    "Oracle 12.1.0.2 without the patch counts blocks as lost that were not. It is mended in 12.1.0.2.161018 and "
    "12.2.0.1; which patches are in, the version that the instance tells does not say.",
    (MOS_FALSE,),
)
CLAIM_LOST = Kind(
    "IC-LOST-007",
    "An instance loses claims of blocks",
    "A claim that is lost delays the block it asks for, as a lost block does.",
    (MOS_LOST,),
)
CORRUPT = Kind(
    "IC-LOST-008",
    "Blocks arrive corrupt",
    "Their checksum is wrong on arrival: something on the way, or a NIC that computes checksums, changes what it "
    "carries. They are sent again.",
    ("MOS 563566.1, cause 4",),
)
LOST_BEFORE = Kind(
    "IC-LOST-009",
    "An instance lost blocks in the past and loses none now",
    "The cause may return with the load that brings it out; when it began often names it.",
    (MOS_LOST,),
)
