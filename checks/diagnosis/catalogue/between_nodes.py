"""Causes between the nodes: MTU, routers, filters, other users of the network."""

from __future__ import annotations

from checks.diagnosis.cause import At, Cause, CauseForm, Way, look
from checks.diagnosis.fitting_places import on_switch
from checks.diagnosis.touches import FULL, MESSAGES, filtered, is_of_some_nodes, smaller_mtu, touch
from checks.model.hypothesis import How
from checks.model.signs import Sign

_MTU_PROVED = (
    "IC-MTU-002", "IC-MTU-003", "IC-MTU-004", "IC-MTU-005", "IC-PATH-002", "IC-PATH-010", "IC-EROUTE-004",
)  # fmt: skip
_FLOW = "for the flows of these pings; another member of a link aggregation can differ"

BETWEEN_NODES = (
    Cause(
        code="CAUSE-05",
        name="Mismatched MTU on the path",
        effects_of=smaller_mtu,
        moves=("IC-SIZE-002", "IC-DEV-002", "IC-DEV-003", "IC-EROUTE-002"),
        proved_by=_MTU_PROVED,
        supported_by=("IC-RUN-001", "IC-EROUTE-002"),
        is_shown=is_of_some_nodes,
        # Frames of MTU 1500 can also be those of another program.
        hinted_by=("IC-PATH-004", "IC-SIZE-002"),
        excluded_by=("IC-MTU-001", "IC-PATH-001"),
        covers=_FLOW,
        look=look("Test full-size packets between all nodes.", "racwire check mtu-consistency df-ping", where=""),
    ),
    Cause(
        code="CAUSE-06",
        name="The interconnect shares its LAN with other traffic",
        proved_by=("IC-IFACE-007", "IC-SHARE-002"),
        supported_by=("IC-USE-002", "IC-TOPO-002"),
        hinted_by=("IC-ROUTE-002", "IC-SHARE-003", "IC-SIZE-002"),
        look=(
            *look(
                "List other users of the private addresses with their programs: iSCSI, backup, monitoring.",
                "ss -tunap | grep PRIVATE_ADDRESS",
                where="root on each node",
            ),
            *look("List NFS file systems on the private addresses.", "findmnt -t nfs,nfs4"),
        ),
    ),
    Cause(
        code="CAUSE-07",
        name="A router between the nodes: no adjacency on layer 2",
        touches=(touch(How.STOPS, addresses=("haip", "multicast")),),
        moves=("IC-EROUTE-002", "IC-SIZE-002", "IC-NEIGH-003"),
        proved_by=("IC-PATH-009", "IC-PATH-004"),
        hinted_by=("IC-ROUTE-004", "IC-EROUTE-002"),
        excluded_by=("IC-PATH-001",),
        covers="by the TTL of the answers",
        look=look(
            "Count the hops to each private address.", "traceroute -n PRIVATE_ADDRESS", where="any user on each node"
        ),
    ),
    Cause(
        code="CAUSE-08",
        name="A packet filter drops packets of the interconnect",
        effects_of=filtered,
        is_of_each_node=True,
        patterns=(
            touch(How.STOPS, Way.TO, protocols=("udp",)),
            touch(How.STOPS, Way.TO, protocols=("udp",), sizes=FULL),
            touch(How.STOPS, protocols=("udp",)),
            *(touch(How.STOPS, way, protocols=("udp",), sizes=MESSAGES) for way in Way),
        ),
        at=(At.NODE, At.PATH),
        kinds=(
            CauseForm(name="node", signs=(Sign.NODE_RULE,), may_show=(Sign.NODE_DROPS,), is_above_nic=True),
            CauseForm(name="switch port", signs=(Sign.PORT_ACL,), may_show=(Sign.WITH_PORT,)),
            CauseForm(
                name="switch port, by address",
                at=(At.NODE,),
                patterns=tuple(touch(How.STOPS, way, addresses=("private",)) for way in Way),
                signs=(Sign.PORT_ACL,),
                may_show=(Sign.WITH_PORT,),
            ),
        ),
        proved_by=("IC-FLOW-009",),
        supported_by=(
            *("IC-FILTER-002", "IC-FILTER-004", "IC-PATH-005"),
            *("IC-FLOW-004", "IC-FLOW-008", "IC-FLOW-013", "IC-FLOW-016"),
        ),
        hinted_by=("IC-FILTER-005", "IC-FILTER-006", "IC-FLOW-012", "IC-PATH-007"),
        look=(
            *look("Find out which filters are active.", "systemctl is-active firewalld nftables iptables"),
            *look(
                "Read the rules on each node; private NICs belong in a zone that accepts everything. Pings that pass "
                "prove nothing about UDP.",
                "grep -q '^nf_tables ' /proc/modules && nft list ruleset",
                where="root on each node",
            ),
        ),
    ),
    Cause(
        code="CAUSE-50",
        name="The route for HAIP has a smaller MTU than its NIC",
        touches=(),
        moves=("IC-HAIP-002", "IC-SIZE-002"),
        further_sources=("MOS 1210883.1", "ip-route(8), mtu"),
        proved_by=("IC-ROUTE-003",),
        cleared_by=("private-routes",),
        covers="in the main table of the nodes that were read",
        look=look("Display the routes in the range of HAIP.", "ip route show table all root 169.254.0.0/16"),
    ),
    Cause(
        code="CAUSE-51",
        name="The route to a private network is missing, refuses packets, or leads elsewhere",
        touches=(touch(How.FLOWS),),
        # Another network, or a gateway that forwards, has routers.
        moves=("IC-RPF-002", "IC-NEIGH-002", "IC-PATH-004", "IC-PATH-009"),
        further_sources=("MOS 1210883.1", "ip-route(8)"),
        proved_by=(
            "IC-ROUTE-005",
            "IC-ROUTE-006",
            "IC-ROUTE-007",
            "IC-EROUTE-009",
            "IC-EROUTE-010",
            "IC-EROUTE-003",
            "IC-EROUTE-006",
            "IC-FLOW-014",
        ),
        hinted_by=("IC-IFACE-034",),
        cleared_by=("private-routes", "effective-route"),
        covers="for packets without a mark, a port or a user of a rule, on the nodes that were read",
        look=look(
            "Display the route in use for each private address of a peer.", "ip route get PEER_ADDRESS from OWN_ADDRESS"
        ),
    ),
    Cause(
        code="CAUSE-12",
        name="Jumbo frames misconfigured on a switch",
        patterns=tuple(touch(How.STOPS, way, sizes=FULL) for way in Way),
        at=(At.NODE, At.PATH, At.SIDES, At.NETWORK),
        fits=on_switch,
        kinds=(
            CauseForm(name="port", at=(At.NODE,), signs=(Sign.PORT_MTU,), may_show=(Sign.WITH_PORT,)),
            CauseForm(name="on the way", at=(At.PATH,)),
            CauseForm(name="trunk", at=(At.SIDES,), signs=(Sign.TRUNK_MTU,)),
            CauseForm(name="switch", at=(At.NETWORK,), signs=(Sign.SWITCH_MTU,)),
        ),
        supported_by=("IC-PATH-003", "IC-PATH-033", "IC-PING-005"),
        excluded_by=("IC-PATH-001",),
        covers=_FLOW,
        look=look("Test full-size packets between all nodes.", "racwire check df-ping", where=""),
    ),
    Cause(
        code="CAUSE-32",
        name="A foreign address, route or network in the range of HAIP",
        touches=(touch(How.FLOWS, addresses=("haip",), every_network=True),),
        moves=("IC-USE-006", "IC-IFACE-012"),
        further_sources=("MOS 1629814.1",),
        proved_by=("IC-IFACE-016", "IC-IFACE-040"),
        hinted_by=("IC-HAIP-004", "IC-IFACE-017", "IC-LOG-009"),
        cleared_by=("interfaces",),
        covers="on the nodes that were read",
        look=look("Search the addresses and routes of 169.254.0.0/16.", "ip route show table all | grep 169.254"),
    ),
    Cause(
        code="CAUSE-38",
        name="Multicast does not pass at the start of Clusterware",
        touches=(touch(How.STOPS, addresses=("multicast",)),),
        further_sources=("MOS 1212703.1", "Grid Infrastructure Installation Guides since 12.2"),
        supported_by=("IC-MCAST-002", "IC-MCAST-004"),
        hinted_by=("IC-MCAST-003",),
        excluded_by=("IC-MCAST-001",),
        covers="for the last start of each node",
        look=look(
            "For nodes that do not join: compare the groups that the private NICs joined, and run the test of MOS "
            "1212703.1.",
            "ip maddr show dev ETH",
            "mcasttest.pl",
        ),
    ),
)
