"""Causes on layer 2: addresses and MAC addresses of two owners, crossed cables, links between switches."""

from __future__ import annotations

from checks.diagnosis.cause import At, Cause, CauseForm, Way, look
from checks.diagnosis.fitting_places import arp_unsettled
from checks.diagnosis.touches import SHARE_ALL, touch
from checks.model.hypothesis import How
from checks.model.signs import Sign

_NEIGHBOURS = ("ip neigh show", "ip link show ETH")
_ENTRIES = "for the entries that the nodes have, and among the nodes that were read"

LAYER2 = (
    Cause(
        code="CAUSE-39",
        name="Duplicate address: two hosts answer for a private address",
        touches=(touch(How.AT_TIMES, Way.TO, addresses=("private", "haip")),),
        kinds=(
            CauseForm(
                name="behind another port",
                at=(At.NODE,),
                patterns=(touch(How.STOPS, Way.TO, addresses=("private",)),),
                signs=(Sign.SECOND_MAC,),
            ),
        ),
        further_sources=("RFC 5227",),
        proved_by=("IC-NEIGH-003", "IC-NEIGH-004", "IC-NEIGH-016", "IC-OWNER-002", "IC-HAIP-004"),
        supported_by=("IC-FLOW-012", "IC-NEIGH-014"),
        # What comes from an address of its own, a kernel drops; which of two owners answers is not known.
        moves=("IC-FILTER-002", "IC-PATH-008", "IC-BOOT-009"),
        hinted_by=("IC-PATH-006", "IC-PATH-007"),
        excluded_by=("IC-NEIGH-001", "IC-OWNER-001"),
        covers="as far as ARP answered in this run",
        look=(
            *look(
                "Look for a second owner of each private address; racwire does so as root. Two MAC addresses in the "
                "answers are two hosts.",
                "arping -c 3 -I ETH PRIVATE_ADDRESS",
                where="root on each node",
            ),
            *look("Compare the MAC addresses that the nodes have for the address.", "ip neigh show"),
        ),
    ),
    Cause(
        code="CAUSE-80",
        name="Two NICs of a private network have the same MAC address",
        touches=(touch(How.AT_TIMES, Way.TO),),
        further_sources=("IEEE 802.1Q, learning of addresses",),
        proved_by=("IC-NEIGH-005",),
        excluded_by=("IC-NEIGH-001",),
        covers="among the nodes that were read",
        look=look("Compare the MAC addresses of the private NICs.", "ip link show ETH", "ethtool -P ETH"),
    ),
    Cause(
        code="CAUSE-81",
        name="A neighbour entry that was set by hand has a wrong MAC address",
        touches=(touch(How.STOPS, Way.FROM, addresses=("private",)),),
        further_sources=("ip-neighbour(8), nud permanent",),
        proved_by=("IC-NEIGH-006",),
        hinted_by=("IC-PATH-007",),
        excluded_by=("IC-NEIGH-001",),
        covers=_ENTRIES,
        look=look("Search the neighbour table for permanent entries.", "ip neigh show nud permanent"),
    ),
    Cause(
        code="CAUSE-82",
        name="Cables or VLANs of two private networks are crossed",
        mixes_networks=True,
        touches=(touch(How.FLOWS),),
        # A ping that is bound to a NIC gets no answer, and a datagram leaves by the NIC of its route.
        moves=("IC-RPF-002", "IC-FLOW-010"),
        further_sources=("Linux kernel documentation, ip-sysctl, arp_ignore",),
        proved_by=("IC-NEIGH-002", "IC-OWNER-006"),
        supported_by=("IC-NEIGH-015", "IC-OWNER-007"),
        hinted_by=("IC-PATH-006", "IC-PATH-007"),
        excluded_by=("IC-NEIGH-001",),
        covers=_ENTRIES,
        look=look("Compare the MAC address that each node has for a peer with the peer's own.", *_NEIGHBOURS),
    ),
    Cause(
        code="CAUSE-64",
        name="A private NIC does not answer ARP: NOARP, arp_ignore or arp_filter",
        # Peers reach the node as long as they have an entry.
        touches=(touch(How.AT_TIMES),),
        patterns=(SHARE_ALL,),
        at=(At.NODE, At.PATH, At.NETWORK),
        fits=arp_unsettled,
        kinds=(CauseForm(may_show=(Sign.NEIGHBOURS_FAIL,)),),
        further_sources=("Linux kernel documentation, ip-sysctl, arp_ignore and arp_filter", "netdevice(7), IFF_NOARP"),
        proved_by=("IC-NEIGH-009", "IC-NEIGH-010"),
        supported_by=("IC-NEIGH-013",),
        excluded_by=("IC-NEIGH-008",),
        covers="by the flags and the kernel settings of the NICs that were read",
        look=look(
            "Search the flags of the private NICs for NOARP, and read arp_ignore and arp_filter.",
            "ip link show ETH",
            "sysctl -a --pattern 'arp_(ignore|filter)'",
        ),
    ),
    Cause(
        code="CAUSE-65",
        name="Two private networks are one broadcast domain",
        moves=("IC-RPF-002", "IC-NEIGH-002"),
        further_sources=(
            "Grid Infrastructure Installation Guide, private IP interface requirements",
            "Linux kernel documentation, ip-sysctl, arp_ignore",
        ),
        proved_by=("IC-OWNER-005",),
        supported_by=("IC-NEIGH-015", "IC-OWNER-007"),
        excluded_by=("IC-OWNER-004",),
        covers="as far as ARP answered in this run",
        look=look(
            "From the NIC of one private network, ask for a peer's address on the other one: an answer with the MAC "
            "address of the peer's other NIC joins them.",
            "arping -D -c 3 -I ETH PRIVATE_ADDRESS",
            where="root on each node",
        ),
    ),
    Cause(
        code="CAUSE-83",
        name="The addresses of two private interfaces of a node are exchanged",
        touches=(touch(How.STOPS, addresses=("private",)),),
        moves=("IC-IFACE-003", "IC-IFACE-005", "IC-NEIGH-002", "IC-NEIGH-003", "IC-USE-006", "IC-BOOT-009"),
        proved_by=("IC-IFACE-031",),
        cleared_by=("interfaces",),
        covers="on the nodes that were read",
        look=look("Compare the networks of oifcfg with the interfaces.", "racwire check interfaces", where=""),
    ),
    Cause(
        code="CAUSE-84",
        name="The link between two switches of a private network carries no packets",
        patterns=(touch(How.STOPS),),
        at=(At.SIDES,),
        kinds=(CauseForm(signs=(Sign.TRUNK_DOWN,)),),
        supported_by=("IC-PATH-031",),
        excluded_by=("IC-PATH-001",),
        covers="for the flows of these pings",
        look=look(
            "Ask for the state, the VLANs and the spanning tree of the links between the switches.",
            where="the network team",
        ),
    ),
    Cause(
        code="CAUSE-85",
        name="A switch port, or the switch behind it, does not forward: wrong VLAN, blocked, or off for errors",
        patterns=(touch(How.STOPS),),
        at=(At.NODE, At.PATH, At.NETWORK),
        kinds=(
            CauseForm(name="down", at=(At.NODE,), signs=(Sign.PORT_DOWN,), may_show=(Sign.WITH_PORT,)),
            CauseForm(name="blocked", at=(At.NODE,), signs=(Sign.PORT_BLOCKED,), may_show=(Sign.WITH_PORT,)),
            CauseForm(name="VLAN", at=(At.NODE,), signs=(Sign.PORT_VLAN,), may_show=(Sign.WITH_PORT,)),
            CauseForm(
                name="one way",
                at=(At.NODE,),
                patterns=(touch(How.STOPS, Way.TO), touch(How.STOPS, Way.FROM)),
                may_show=(Sign.PORT_BLOCKED, Sign.WITH_PORT),
            ),
            CauseForm(name="on the way", at=(At.PATH, At.NETWORK)),
        ),
        moves=("IC-TOPO-006",),
        supported_by=("IC-PATH-006", "IC-FLOW-013"),
        hinted_by=("IC-TOPO-006",),  # a switch can translate tags
        excluded_by=("IC-PATH-001",),
        covers="for the flows of these pings",
        look=look(
            "Ask for the VLAN, the spanning tree state and the MAC addresses learned at the ports of the nodes.",
            where="the network team",
        ),
    ),
)
