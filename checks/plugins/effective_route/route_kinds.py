"""The kinds of findings about routes in use."""

from __future__ import annotations

from checks.model.check import FailKind, InfoKind, Kind, PassKind, SkippedKind, UnknownKind, WarnKind

_MANUAL = "ip-route(8)"

WHOLE = PassKind(
    "IC-EROUTE-001", "The kernels send packets between private addresses over their own NICs, with the whole MTU"
)
LEARNED = Kind(
    "IC-EROUTE-002",
    "A kernel has learned a smaller path MTU for a private address",
    "A router reported that a packet was too large, or another host sent such a report. Until the entry expires the "
    "kernel cuts larger packets for this address into fragments, or refuses those that must not be cut.",
    ("RFC 1191", _MANUAL),
)
OTHER_NIC = FailKind(
    "IC-EROUTE-003",
    "A kernel sends the packets for a private address through another NIC, by a rule or another table",
    "A policy rule selects another table than the main one for these addresses, or the default route takes them: "
    "packets leave through another NIC, and rp_filter of the peer can drop them.",
    ("ip-rule(8)", "MOS 1286796.1"),
)
SMALLER = WarnKind(
    "IC-EROUTE-004",
    "A kernel uses a route with a smaller MTU for a private address, by a rule or another table",
    "The kernel cuts larger packets for this address into fragments, although the NIC could send them whole.",
    (_MANUAL,),
)
SOURCE = WarnKind(
    "IC-EROUTE-005",
    "A kernel sends from an address of another network to a private address",
    "Programs that do not choose their own address, such as ssh and rsync, send from this one: answers take another "
    "way, and rp_filter can drop them. Instances choose their own address.",
    (f"{_MANUAL}, src",),
)
REFUSED = FailKind(
    "IC-EROUTE-006",
    "A kernel refuses packets from a private address to a peer",
    "A rule, another table, or a route of the type unreachable, prohibit or blackhole comes before the route of the "
    "private network.",
    (_MANUAL,),
)
SEGMENT = InfoKind(
    "IC-EROUTE-007",
    "A route limits TCP segments below the MTU of the private NIC",
    "advmss of the route makes the peers send smaller TCP segments. Blocks travel by UDP and are not affected.",
    (f"{_MANUAL}, advmss",),
)
NOT_KNOWN = UnknownKind("IC-EROUTE-008", "The routes in use between private addresses are not known")
GATEWAY = Kind(
    "IC-EROUTE-009",
    "A kernel sends the packets for a private address to a gateway",
    "The peers are on the same network and need no gateway: the kernel asks for the MAC address of the gateway, not "
    "for that of the peer. Where the gateway does not exist, the packets do not leave the node; where it forwards, a "
    "router carries them. Scripts of clouds for a second NIC make such a rule, for a table that has a "
    "default route and lacks the route of the private network.",
    ("ip-rule(8)", "Grid Infrastructure Installation Guide, private networks"),
)
HAIP_ELSEWHERE = FailKind(
    "IC-EROUTE-010",
    "A kernel sends the packets between HAIP addresses through another NIC",
    "Packets from the HAIP address of one NIC leave through another: they reach another network, rp_filter of the peer "
    "can drop them, and instances lose messages while pings between the private networks' own addresses pass.",
    ("MOS 1210883.1", _MANUAL),
)
LEFT_OUT = SkippedKind("IC-EROUTE-011", "Routes in use between private addresses that are not judged here")

KINDS = (
    WHOLE, LEARNED, OTHER_NIC, SMALLER, SOURCE, REFUSED, SEGMENT, NOT_KNOWN, GATEWAY, HAIP_ELSEWHERE, LEFT_OUT,
)  # fmt: skip
