"""The kinds of findings of gc-receive-time: meaning, consequence and source of each code."""

from __future__ import annotations

from checks.model.check import InfoKind, Kind, PassKind, UnknownKind, WarnKind

_EM = "Enterprise Manager metric help, global cache block request time: warning 1 cs, critical 2 cs"

FAST = PassKind("IC-TIME-001", "Blocks arrive fast enough")
SLOW = Kind(
    "IC-TIME-002",
    "Blocks take long to arrive",
    "Every session that needs a block of another instance waits that long for it. Reading the block from disk may be "
    "no slower.",
    (_EM, "Statspack sprepins.sql, RAC statistics"),
)
TAIL = WarnKind(
    "IC-TIME-003",
    "Some blocks take very long to arrive while the average is good",
    "An average hides slow blocks. Causes are packets that are lost and sent again, an instance that gets no CPU now "
    "and then, or a switch that queues packets.",
    ("V$EVENT_HISTOGRAM_MICRO",),
)
DOUBTFUL = UnknownKind(
    "IC-TIME-004",
    "The receive times in the statistics are implausible",
    "The statistics count in hundredths of a second. If the waits of the same time contradict an average, the average "
    "has another unit, or a counter decreased.",
)
NOT_KNOWN = UnknownKind(
    "IC-TIME-005",
    "The receive time of blocks at an instance is not known",
    "The sessions of the instance may wait long for blocks unnoticed. The verdict covers the other instances only.",
)
EVENTS = Kind(
    "IC-TIME-006",
    "The sessions of an instance spend much of their cluster wait time on other events than plain transfers",
    "The wait events show whether the network, the CPUs of the sender or the load itself costs the time.",
    ("Database Reference, wait events of the class Cluster", "MOS 563566.1, cause 19"),
)
LITTLE = InfoKind("IC-TIME-007", "Too few blocks arrived to judge the receive time")
