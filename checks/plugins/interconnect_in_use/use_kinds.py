"""The kinds of findings of interconnect-in-use: meaning and source of each code, and shared remedies."""

from __future__ import annotations

from collections.abc import Sequence

from checks.model.check import FailKind, Kind, PassKind, UnknownKind, WarnKind
from checks.model.finding import NextStep
from checks.model.shell_command import sql

_REFERENCE = "Database Reference, CLUSTER_INTERCONNECTS"
_HAIP = "MOS 1210883.1"

AS_CONFIGURED = PassKind("IC-USE-001", "The instances use the private networks that are configured")
PUBLIC = FailKind(
    "IC-USE-002",
    "An instance exchanges blocks over a public network",
    "Blocks share the network with the clients: they are slow, are lost when it is busy, and can be intercepted.",
    ("MOS 563566.1, cause 6", _REFERENCE),
)
ELSEWHERE = FailKind(
    "IC-USE-003",
    "An instance uses an address that is on none of the private networks",
    "No other check examines this network: its MTU, its paths, or whether it is dedicated. Blocks may leave by an "
    "unintended interface.",
    (_REFERENCE,),
)
BY_PARAMETER = Kind(
    "IC-USE-004",
    "The parameter cluster_interconnects is set",
    "The parameter overrides the configuration of Clusterware. HAIP is bypassed, so there is no failover: the instance "
    "fails when the first of the named interfaces fails.",
    (_REFERENCE, _HAIP),
)
HAIP_BY_SOME = WarnKind(
    "IC-USE-005",
    "Some instances use HAIP addresses and others do not",
    "An instance without HAIP does not move to another network when its network fails. An address of 169.254.0.0/16 "
    "cannot be reached from an address outside that range.",
    (_HAIP,),
)
FEWER = WarnKind(
    "IC-USE-006",
    "An instance uses fewer private networks than are configured",
    "A private network failed, was added after Clusterware started, or is not configured for the instance. The other "
    "networks carry all traffic.",
    (_HAIP,),
)
APART = FailKind(
    "IC-USE-007",
    "Two instances have no private network in common",
    "Their blocks take an unintended path, through a router or over the public network, or do not arrive.",
    ("MOS 563566.1, causes 6 and 7",),
)
NOT_KNOWN = UnknownKind("IC-USE-008", "The interconnect that an instance uses is not known")


def inspect() -> NextStep:
    """Return the first remedy: compare the configuration with the alert log."""
    return NextStep(
        "Display the configured networks, and those that the instance reported at its start.",
        ("oifcfg getif", "grep -A3 'Cluster communication is configured' alert_*.log"),
        "the Grid owner",
    )


def unset(instances: Sequence[str], on_infiniband: bool = False) -> NextStep:
    """Return the remedy for a parameter cluster_interconnects that must not be set.

    The value is an address of one node, so it is set for each instance. An instance on HAIP and one on the old address
    cannot reach each other (ORA-29702), so no rolling restart is possible.
    """
    caution = (
        "On Exadata and other engineered systems, keep the parameter as the vendor set it. " if on_infiniband else ""
    )
    return NextStep(
        f"{caution}Reset the parameter for each instance, also in ASM where it is set there. In a maintenance window "
        "stop all instances of the database, and of ASM where ASM changed, then start them: instances with the old and "
        "the new setting cannot reach each other.",
        tuple(
            sql("ALTER SYSTEM RESET cluster_interconnects SCOPE=SPFILE SID='{sid}';", sid=name) for name in instances
        ),
        "a DBA",
        is_change=True,
    )


def reconfigure() -> NextStep:
    """Return the remedy for wrong networks in the configuration of Clusterware."""
    return NextStep(
        "If oifcfg lacks the right private network, plan to add it, or to move from the wrong one. The instances use "
        "it after a restart of Clusterware on all nodes, in a maintenance window.",
        (
            "racwire change new add-network --interface NIC",
            "racwire change new move-network --from WRONG_NIC --interface NIC",
        ),
        is_change=True,
    )
