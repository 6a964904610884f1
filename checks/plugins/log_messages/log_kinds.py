"""The kinds of findings of the check log-lines."""

from checks.model.check import FailKind, InfoKind, Kind, PassKind, SkippedKind, UnknownKind, WarnKind
from checks.rules.log_events.log_message import LogEvent

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
    "An instance that does not answer the others has to end: the interconnect lost the messages, or the instance hung "
    "or had no CPU. Clusterware restarts it.",
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
    "The status is the error number of Linux: 1 is a packet filter, 99 an address that is not on the node, 101 a "
    "missing route, 113 no neighbour.",
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

INSTANCE_ENDED_NETWORK = WarnKind(
    "IC-LOG-018",
    "An instance ended by an error, and the logs show the interconnect in the same minutes",
    "Its sessions lost their connections. The error says which process ended; what the instance or CSS could not send "
    "or receive in the same minutes is the first thing to examine.",
    (_ERROR_MESSAGES, "MOS 1374110.1 (instance evictions)"),
)
INSTANCE_ENDED = WarnKind(
    "IC-LOG-019",
    "An instance ended by an error in the last day; why is not in its log",
    "Its sessions lost their connections. The error says which process ended, and not why: the interconnect is one of "
    "the reasons to examine, as are CPU, memory, storage and defects.",
    (_ERROR_MESSAGES,),
)
INSTANCE_DOWN = FailKind(
    "IC-LOG-020",
    "An instance ended by an error and does not run",
    "Its clients use the other instances. Clusterware has not started it again.",
    (_ERROR_MESSAGES,),
)
INTERFACE_LOST = WarnKind(
    "IC-LOG-021",
    "An address or a NIC of the interconnect was lost on a node in the last day",
    "An instance or Clusterware found its address or its NIC gone: a link without carrier, a HAIP that moved, or a "
    "program that changed the address.",
    (f"{_ERROR_MESSAGES}, ORA-27303", "MOS 1374110.1 (instance evictions)"),
)
TOO_LONG = WarnKind(
    "IC-LOG-022",
    "The kernel refused a message of an instance because of its length in the last day",
    "Status 90 is EMSGSIZE: the message was longer than the socket or the MTU of the way allows. The MTU of an "
    "interface, or the path MTU that the kernel remembers, was lower than the instance expected.",
    (f"{_ERROR_MESSAGES}, ORA-27300", "udp(7), EMSGSIZE"),
)
NO_NETWORK_HEARTBEAT = WarnKind(
    "IC-LOG-023",
    "CSS saw the disk heartbeat of a node without its network heartbeat",
    "The other node ran and wrote to the voting files, and its messages did not come: the network between them, "
    "or its multicast, failed. A node that joins the cluster so waits, and its CSS ends.",
    ("MOS 1050693.1", "MOS 1054902.1"),
)
DISK_HEARTBEAT = Kind(
    "IC-LOG-024",
    "CSS had trouble with a voting file in the last day: no matter of the network",
    "CSS reads and writes the voting files through the storage, within disktimeout. A node without most of them "
    "leaves the cluster, as after a missing network heartbeat.",
    (_ERROR_MESSAGES, _MISSCOUNT),
)
CSS_ENDED = WarnKind(
    "IC-LOG-025",
    "CSS of a node ended with a fatal error in the last day",
    "The stack of the node and its instances ended with it; Clusterware starts them again.",
    (_ERROR_MESSAGES,),
)
NOT_UNDERSTOOD = InfoKind(
    "IC-LOG-026",
    "racwire read lines that it does not understand",
    "CSS or the IPC of an instance wrote them. racwire does not know what they mean.",
)

OF_EVENT = {
    LogEvent.NO_NETWORK_HEARTBEAT: NO_NETWORK_HEARTBEAT,
    LogEvent.CSS_ENDED: CSS_ENDED,
    LogEvent.NO_CONNECTION: SEND_TIMEOUT,
    LogEvent.INTERFACE_LOST: INTERFACE_LOST,
    LogEvent.TOO_LONG: TOO_LONG,
    LogEvent.DISK_HEARTBEAT: DISK_HEARTBEAT,
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
    INSTANCE_ENDED_NETWORK, INSTANCE_ENDED, INSTANCE_DOWN, INTERFACE_LOST, TOO_LONG, NO_NETWORK_HEARTBEAT,
    DISK_HEARTBEAT, CSS_ENDED, NOT_UNDERSTOOD,
)  # fmt: skip
