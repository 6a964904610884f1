"""The kinds of finding that gc-receive-time makes: what each code means, why it matters, and where the rule is from."""

from __future__ import annotations

from checks.model.check import Kind

_EM = "Enterprise Manager metric help, global cache block request time: warning 1 cs, critical 2 cs"

FAST = Kind("IC-TIME-001", "Blocks arrive in good time")
SLOW = Kind(
    "IC-TIME-002",
    "Blocks take long to arrive",
    "Every session that needs a block of another instance waits that long for it; reading it from disk may be no "
    "slower.",
    (_EM, "Statspack sprepins.sql, RAC statistics"),
)
TAIL = Kind(
    "IC-TIME-003",
    "Some blocks take very long to arrive while the average is good",
    "An average hides them: packets that are lost and sent again, an instance that now and then gets no CPU, a switch "
    "that queues.",
    ("V$EVENT_HISTOGRAM_MICRO",),
)
DOUBTFUL = Kind(
    "IC-TIME-004",
    "The times of the statistics cannot be right",
    "The statistics count in hundredths of a second. An average that the waits of the same time contradict is of "
    "another unit, or of a count that fell.",
)
NOT_KNOWN = Kind(
    "IC-TIME-005",
    "How long blocks take to arrive at an instance is not known",
    "Its sessions may wait long for blocks, unseen; what the other instances say is judged without it.",
)
EVENTS = Kind(
    "IC-TIME-006",
    "The sessions of an instance wait mostly for something other than plain transfers",
    "The names of the waits tell whether the network, the CPUs of the sender or the load itself costs the time.",
    ("Database Reference, wait events of the class Cluster", "MOS 563566.1, cause 19"),
)
LITTLE = Kind("IC-TIME-007", "Too few blocks arrived to judge how long they take")
