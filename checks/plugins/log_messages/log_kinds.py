"""The kinds of findings of the check log-lines."""

from checks.model.check import FailKind, InfoKind, Kind, PassKind, SkippedKind, UnknownKind, WarnKind
from checks.rules.log_events import LogEvent

_ERROR_MESSAGES = "Oracle Database Error Messages"
_MISSCOUNT = "MOS 294430.1 (misscount)"
_BUFFERS = "MOS 2041723.1"

QUIET = PassKind("IC-LOG-001", "The alert logs report no trouble of the interconnect in the last day")
HEARTBEAT_NOW = WarnKind(
    "IC-LOG-002",
    "Clusterware misses the network heartbeat of a node, in the last minutes",
    "CSS removes a node from the cluster when its network heartbeat is missing for misscount seconds.",
    (_ERROR_MESSAGES, _MISSCOUNT),
)
HEARTBEAT_PAST = WarnKind(
    "IC-LOG-003",
    "Clusterware missed the network heartbeat of a node earlier in the last day",
    "CSS removes a node from the cluster when its network heartbeat is missing for misscount seconds. The lines are "
    "about that time and prove no loss at present.",
    (_ERROR_MESSAGES, _MISSCOUNT),
)
EVICTED = WarnKind(
    "IC-LOG-004",
    "A node was evicted from the cluster in the last day",
    "The instances of the node ended with it. A node that comes back while the cause is still there is evicted again.",
    (_ERROR_MESSAGES, "MOS 1050693.1"),
)
STILL_OUT = FailKind(
    "IC-LOG-005",
    "A node was evicted from the cluster and has not come back",
    "The instances of the node are down, and its clients use the other nodes.",
    (_ERROR_MESSAGES, "MOS 1050693.1"),
)
INSTANCE_EVICTED = WarnKind(
    "IC-LOG-006",
    "An instance was evicted by the other instances in the last day",
    "The instances could not exchange messages, so one of them had to end; Clusterware restarts it.",
    ("MOS 219361.1 (ORA-29740)",),
)
SEND_TIMEOUT = WarnKind(
    "IC-LOG-007",
    "An instance got no answer to its messages in the last day",
    "A process of the instance sent messages that the receiver did not acknowledge in time: the interconnect lost "
    "them, or the receiver hung or had no CPU. An eviction can follow.",
    ("MOS 563566.1", "MOS 1374110.1 (instance evictions)"),
)
GIPC = Kind(
    "IC-LOG-008",
    "Clusterware's own messages between nodes, or its HAIP, failed in the last day",
    "GIPC carries the heartbeat over the private networks. An interface without an address or a path that loses large "
    "packets stops it.",
    (_ERROR_MESSAGES,),
)
FOREIGN_ROUTE = Kind(
    "IC-LOG-009",
    "Clusterware removed a route in the range of HAIP in the last day",
    "A program, usually zeroconf or a management controller, had added a route of 169.254.0.0/16. While such a route "
    "exists, packets for HAIP addresses can leave over the wrong network.",
    (f"{_ERROR_MESSAGES}, CRS-5018", "MOS 1629814.1"),
)
NO_BUFFERS = WarnKind(
    "IC-LOG-010",
    "The kernel had no buffer space for messages of an instance in the last day",
    "The process that sent ended with ORA-00603, and instances can hang. MOS 2041723.1 puts it down to "
    "memory too fragmented for packets as large as the MTU of the loopback interface.",
    (_BUFFERS,),
)
SEND_FAILED = WarnKind(
    "IC-LOG-011",
    "The kernel refused a message of an instance in the last day",
    "The status is the error number of Linux: 1 is a packet filter, 101 a missing route, 113 no neighbour.",
    (f"{_ERROR_MESSAGES}, ORA-27300",),
)
HUNG = WarnKind(
    "IC-LOG-012",
    "A process of the global cache hung in the last day",
    "LMHB reports LMS, LMD or LMON without progress: usually the CPU or the memory is short on that node, and not "
    "the network.",
    (f"{_ERROR_MESSAGES}, ORA-29770",),
)
RECONFIGURED = InfoKind(
    "IC-LOG-013",
    "The instances reconfigured in the last day",
    "The global cache is frozen during a reconfiguration. Each start and stop of an instance causes one.",
)
IPC_DIFFERS = WarnKind(
    "IC-LOG-014",
    "Instances of a database use different transports for the interconnect",
    "Instances linked for UDP and for RDS cannot exchange blocks.",
    ("MOS 563566.1, cause 10",),
)
IPC_SAME = PassKind("IC-LOG-015", "The instances of a database use the same transport for the interconnect")
NOT_READ = UnknownKind("IC-LOG-016", "Alert logs could not be read", "The past of the interconnect is not known there.")
NOT_FOUND = SkippedKind("IC-LOG-017", "No alert log was found, or none was read")

OF_EVENT = {
    LogEvent.INSTANCE_EVICTED: INSTANCE_EVICTED,
    LogEvent.SEND_TIMEOUT: SEND_TIMEOUT,
    LogEvent.GIPC: GIPC,
    LogEvent.FOREIGN_ROUTE: FOREIGN_ROUTE,
    LogEvent.NO_BUFFERS: NO_BUFFERS,
    LogEvent.SEND_FAILED: SEND_FAILED,
    LogEvent.HUNG: HUNG,
    LogEvent.RECONFIGURED: RECONFIGURED,
}
KINDS = (
    QUIET, HEARTBEAT_NOW, HEARTBEAT_PAST, EVICTED, STILL_OUT, INSTANCE_EVICTED, SEND_TIMEOUT, GIPC, FOREIGN_ROUTE,
    NO_BUFFERS, SEND_FAILED, HUNG, RECONFIGURED, IPC_DIFFERS, IPC_SAME, NOT_READ, NOT_FOUND,
)  # fmt: skip
