"""The kinds of findings of gc-blocks-lost: meaning, consequence and source of each code."""

from __future__ import annotations

from checks.model.check import FailKind, InfoKind, Kind, PassKind, UnknownKind, WarnKind

MOS_LOST = "MOS 563566.1"
MOS_FALSE = "MOS 2096299.1, bug 20922010"

NONE_LOST = PassKind("IC-LOST-001", "No block is lost on the interconnect")
LOST = Kind(
    "IC-LOST-002",
    "An instance loses blocks that other instances send to it",
    "The session that needs a lost block waits until a timeout, then requests the block again. Any loss is a fault of "
    "the network or of a node's packet processing.",
    (MOS_LOST,),
)
LITTLE = InfoKind(
    "IC-LOST-003",
    "Too few blocks crossed the interconnect for a verdict",
    "A fault that loses one block in a thousand does not show among a few dozen blocks.",
)
NOT_KNOWN = UnknownKind(
    "IC-LOST-004",
    "The number of blocks that an instance lost is not known",
    "The instance may lose blocks unnoticed. The verdict covers the other instances only.",
)
ONE_CONTAINER = UnknownKind(
    "IC-LOST-005",
    "Only the blocks of one pluggable database are visible",
    "Inside a pluggable database the statistics exclude the work of the instance for the other containers.",
)
FALSE_COUNT = Kind(
    "IC-LOST-006",
    "12.1.0.2 counts lost blocks, and no other sign shows a loss",
    "Oracle 12.1.0.2 without the patch counts blocks as lost that were not lost. The bug is fixed in 12.1.0.2.161018 "
    "and 12.2.0.1. The version that the instance reports does not show which patches are installed.",
    (MOS_FALSE,),
)
CLAIM_LOST = WarnKind(
    "IC-LOST-007",
    "An instance loses block claims",
    "A lost claim delays the requested block, as a lost block does.",
    (MOS_LOST,),
)
CORRUPT = FailKind(
    "IC-LOST-008",
    "Blocks arrive corrupt",
    "The checksum of the blocks is wrong on arrival: a device on the path, or a NIC that computes checksums, corrupts "
    "the data. The blocks are sent again.",
    ("MOS 563566.1, cause 4",),
)
LOST_BEFORE = Kind(
    "IC-LOST-009",
    "An instance lost blocks earlier and loses none now",
    "The cause may return with the load that triggers it. The time when the loss started often points to the cause.",
    (MOS_LOST,),
)

KINDS = (NONE_LOST, LOST, LITTLE, NOT_KNOWN, ONE_CONTAINER, FALSE_COUNT, CLAIM_LOST, CORRUPT, LOST_BEFORE)
