"""The kinds of finding that interconnect-in-use makes: what each code means, and where the rule comes from."""

from __future__ import annotations

from checks.model.check import Kind
from checks.model.finding import Remedy

_REFERENCE = "Database Reference, CLUSTER_INTERCONNECTS"
_HAIP = "MOS 1210883.1"

AS_MEANT = Kind("IC-USE-001", "The instances use the private networks that are configured")
PUBLIC = Kind(
    "IC-USE-002",
    "An instance exchanges blocks over a public network",
    "Blocks share the network with the clients: they are slow, get lost when it is busy, and can be listened to.",
    ("MOS 563566.1, cause 6", _REFERENCE),
)
ELSEWHERE = Kind(
    "IC-USE-003",
    "An instance uses an address that is on none of the private networks",
    "What this network carries and whether it is dedicated, no other check looks at; blocks may leave by an interface "
    "that nobody meant.",
    (_REFERENCE,),
)
BY_PARAMETER = Kind(
    "IC-USE-004",
    "The parameter cluster_interconnects is set",
    "It overrides what Clusterware configures: HAIP is bypassed, so that there is no failover, and the instance goes "
    "down with the first of the named interfaces that fails.",
    (_REFERENCE, _HAIP),
)
HAIP_BY_SOME = Kind(
    "IC-USE-005",
    "Some instances use HAIP addresses and others do not",
    "Those without it do not move to another network when theirs fails; and an address of 169.254.0.0/16 cannot be "
    "reached from one outside it.",
    (_HAIP,),
)
FEWER = Kind(
    "IC-USE-006",
    "An instance uses fewer private networks than are configured",
    "A private network failed, was added after Clusterware started, or is not configured for the instance: the rest "
    "carries everything.",
    (_HAIP,),
)
APART = Kind(
    "IC-USE-007",
    "Two instances have no private network in common",
    "Their blocks take a way that nobody meant, through a router or over the public network, or do not arrive.",
    ("MOS 563566.1, causes 6 and 7",),
)
NOT_KNOWN = Kind("IC-USE-008", "Which interconnect an instance uses is not known")


def look() -> Remedy:
    """What comes first."""
    return Remedy(
        "See what is configured, and what the instance said when it started.",
        ("oifcfg getif", "grep -A3 'Cluster communication is configured' alert_*.log"),
        "the Grid owner",
    )


def unset() -> Remedy:
    """Where the parameter cluster_interconnects is set."""
    return Remedy(
        "Take the parameter away and restart the instances one after the other, in a window.",
        ("ALTER SYSTEM RESET cluster_interconnects SCOPE=SPFILE SID='*'",),
        "a DBA",
        is_change=True,
    )


def reconfigure() -> Remedy:
    """Where Clusterware has the wrong networks."""
    return Remedy(
        "Have oifcfg name the right networks; the instances take it up when Clusterware is restarted on all nodes, in "
        "a window.",
        where="the Grid owner",
        is_change=True,
    )
