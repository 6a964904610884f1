"""Causes that show in UDP datagrams and fragments, and not in pings: aggregations, policers, filters by protocol."""

from __future__ import annotations

from checks.diagnosis.cause import At, Cause, CauseForm, Way, look, mos
from checks.diagnosis.touches import FULL, MESSAGES, SHARE_ALL, SHARE_FULL, haip_alone, touch
from checks.model.hypothesis import How
from checks.model.signs import Sign
from checks.model.traffic import Traffic

_HASH = "IEEE 802.1AX, 6.2.4"
_PORTS = "for the source ports of this run, which need not take every link of an aggregation"
_NETWORK_TEAM = "the network team, on each switch"
_SHARES_OF_UDP = (
    touch(How.SHARE, Way.TO, protocols=("udp",)),
    touch(How.SHARE, Way.FROM, protocols=("udp",)),
    touch(How.SHARE, protocols=("udp",), sizes=FULL),
)
_PINGS_STOPPED = (
    touch(How.STOPS, Way.TO, protocols=("icmp",)),
    touch(How.STOPS, Way.TO, protocols=("icmp",), sizes=FULL),
)
_PINGS_SHARED = (touch(How.SHARE, Way.TO, protocols=("icmp",)), touch(How.SHARE, protocols=("icmp",)))

FLOWS = (
    Cause(
        code="CAUSE-70",
        name="A link of an aggregation carries no full-size packets",
        patterns=(touch(How.STOPS, sizes=FULL),),
        is_link_of_aggregation=True,
        kinds=(CauseForm(signs=(Sign.MEMBER_MTU,), may_show=(Sign.WITH_MEMBER,)),),
        further_sources=(mos(11), mos(12), _HASH),
        supported_by=("IC-FLOW-002",),
        hinted_by=("IC-FLOW-010",),  # the pings of a pair can take the bad link while the source ports miss it
        excluded_by=("IC-FLOW-001",),
        covers=_PORTS,
        look=look(
            "Send full-size UDP datagrams from many source ports, then compare the links of each aggregation.",
            "racwire check udp-path --source-ports 64",
            where="",
        ),
    ),
    Cause(
        code="CAUSE-71",
        name="A link of an aggregation loses packets",
        patterns=(touch(How.STOPS), SHARE_ALL, SHARE_FULL, *_SHARES_OF_UDP),
        at=(At.NODE, At.PATH, At.NETWORK),
        is_link_of_aggregation=True,
        kinds=(
            CauseForm(
                name="dead", patterns=(touch(How.STOPS),), signs=(Sign.MEMBER_DOWN,), may_show=(Sign.WITH_MEMBER,)
            ),
            CauseForm(
                name="lossy",
                patterns=(SHARE_ALL, SHARE_FULL, *_SHARES_OF_UDP),
                signs=(Sign.MEMBER_CRC,),
                may_show=(Sign.WITH_MEMBER,),
            ),
        ),
        further_sources=(mos(11), _HASH),
        supported_by=("IC-FLOW-003", "IC-FLOW-015"),
        hinted_by=("IC-FLOW-011",),  # as those of CAUSE-70
        excluded_by=("IC-FLOW-001",),
        covers=_PORTS,
        look=look(
            "Compare the counters of the links of each aggregation at both ends. The commands are those of Cisco "
            "NX-OS.",
            "show port-channel summary",
            "show interface PORT counters errors",
            where=_NETWORK_TEAM,
        ),
    ),
    Cause(
        code="CAUSE-72",
        name="Something on the path drops IP fragments",
        patterns=(
            touch(How.STOPS, Way.TO, forms=("fragment",)),
            touch(How.STOPS, Way.FROM, forms=("fragment",)),
            touch(How.STOPS, forms=("fragment",)),
        ),
        at=(At.NODE, At.PATH, At.NETWORK),
        kinds=(
            CauseForm(
                name="node", at=(At.NODE,), signs=(Sign.NODE_RULE,), may_show=(Sign.NODE_DROPS,), is_above_nic=True
            ),
            CauseForm(name="switch port", at=(At.NODE,), signs=(Sign.PORT_ACL,), may_show=(Sign.WITH_PORT,)),
            CauseForm(name="network", at=(At.NETWORK,), signs=(Sign.PORT_ACL,)),
            CauseForm(name="on the way", at=(At.PATH,), may_show=(Sign.PORT_ACL,)),
        ),
        further_sources=(mos(3), mos(8)),
        supported_by=("IC-FRAG-002",),
        excluded_by=("IC-FRAG-001",),
        covers="for the fragments of this run",
        look=look(
            "Send a ping in fragments; it needs an MTU below 8 KB.",
            "ping -c 3 -M dont -s 8192 PRIVATE_ADDRESS",
            where="any user on each node",
        ),
    ),
    Cause(
        code="CAUSE-73",
        name="The rate of UDP is limited (policed) on the path or on a node",
        patterns=(
            *_SHARES_OF_UDP,
            *(touch(How.SHARE, way, protocols=("udp",), sizes=MESSAGES) for way in (Way.TO, Way.BOTH)),
            # A limit as small as a full-size packet lets none of them pass.
            *(touch(How.STOPS, way, protocols=("udp",), sizes=FULL) for way in Way),
        ),
        at=(At.NODE, At.PATH, At.NETWORK),
        kinds=(
            CauseForm(
                name="node", at=(At.NODE,), signs=(Sign.NODE_QDISC,), may_show=(Sign.NODE_DROPS,), is_above_nic=True
            ),
            CauseForm(
                name="node's filter",
                at=(At.NODE,),
                signs=(Sign.NODE_RULE,),
                may_show=(Sign.NODE_DROPS,),
                is_above_nic=True,
            ),
            CauseForm(name="switch port", at=(At.NODE,), signs=(Sign.PORT_POLICED,), may_show=(Sign.WITH_PORT,)),
            CauseForm(name="network", at=(At.NETWORK,), signs=(Sign.PORT_POLICED,)),
            CauseForm(name="on the way", at=(At.PATH,), may_show=(Sign.PORT_POLICED,)),
        ),
        further_sources=(mos(21),),
        supported_by=("IC-FLOW-005", "IC-FLOW-008", "IC-FLOW-017"),
        look=look(
            "Read the policers and their drop counters. The command is that of Cisco NX-OS.",
            "show policy-map interface PORT",
            where=_NETWORK_TEAM,
        ),
    ),
    Cause(
        code="CAUSE-74",
        name="The addresses of HAIP do not reach each other",
        touches=(touch(How.FLOWS, addresses=("haip",)),),
        is_shown=haip_alone,
        is_symptom=True,
        further_sources=("MOS 1210883.1",),
        supported_by=("IC-HAIP-002",),
        cleared_by=("haip-path",),
        covers="for the HAIP addresses that the instances use",
        look=look("Ping between the HAIP addresses of the instances.", "racwire check haip-path", where=""),
    ),
    Cause(
        code="CAUSE-75",
        name="Pings alone are dropped or limited, and UDP of the same size passes",
        beside=Traffic(protocols=("udp",)),
        patterns=(*_PINGS_STOPPED, *_PINGS_SHARED),
        at=(At.NODE, At.PATH, At.NETWORK),
        kinds=(
            CauseForm(
                name="node", at=(At.NODE,), signs=(Sign.NODE_RULE,), may_show=(Sign.NODE_DROPS,), is_above_nic=True
            ),
            CauseForm(
                name="filter of a switch port",
                at=(At.NODE,),
                patterns=_PINGS_STOPPED,
                signs=(Sign.PORT_ACL,),
                may_show=(Sign.WITH_PORT,),
            ),
            CauseForm(
                name="policer of a switch port",
                at=(At.NODE,),
                patterns=_PINGS_SHARED,
                signs=(Sign.PORT_POLICED,),
                may_show=(Sign.WITH_PORT,),
            ),
            CauseForm(name="filter of the network", at=(At.NETWORK,), patterns=_PINGS_STOPPED, signs=(Sign.PORT_ACL,)),
            CauseForm(
                name="policer of the network", at=(At.NETWORK,), patterns=_PINGS_SHARED, signs=(Sign.PORT_POLICED,)
            ),
            CauseForm(name="on the way", at=(At.PATH,), may_show=(Sign.PORT_ACL, Sign.PORT_POLICED)),
        ),
        further_sources=("RFC 1812, 4.3.2.8",),
        supported_by=("IC-FLOW-010", "IC-FLOW-011"),
        look=look(
            "Ask for policers and filters of ICMP at the ports. Control-plane policing is not it: it limits what is "
            "sent to the switch itself. The commands are those of Cisco NX-OS.",
            "show policy-map interface PORT",
            "show access-lists",
            where=_NETWORK_TEAM,
        ),
    ),
    Cause(
        code="CAUSE-76",
        name="The kernel of a node is set to answer no pings",
        touches=(touch(How.STOPS, Way.TO, protocols=("icmp",), every_network=True),),
        moves=(),
        further_sources=("Linux kernel documentation, ip-sysctl, icmp_echo_ignore_all",),
        proved_by=("IC-PATH-032",),
        cleared_by=("df-ping",),
        covers="for the nodes that racwire pinged",
        look=look("Display the setting.", "sysctl net.ipv4.icmp_echo_ignore_all"),
    ),
)
