"""Causes in cables, NICs, bonds and switches."""

from __future__ import annotations

from checks.diagnosis.cause import At, Cause, CauseForm, Way, look, mos
from checks.diagnosis.fitting_places import without_counts
from checks.diagnosis.touches import FULL, SHARE_ALL, SHARE_FULL, SHARE_IN, of_bond, touch
from checks.model.facts import Cluster, HostSetup, Unknown
from checks.model.hypothesis import How
from checks.model.networks import layers_of
from checks.model.signs import Sign

_COUNTERS = ("ip -s -s link show ETH", "ethtool -S ETH")
_NETWORK_TEAM = "the network team"
_AT_A_PORT = (
    *(touch(How.SHARE, way) for way in (Way.BOTH, Way.TO, Way.FROM)),
    *(touch(How.SHARE, way, sizes=FULL) for way in (Way.BOTH, Way.TO, Way.FROM)),
)
"""What is bad at a port loses in both directions, or in one: a strand of a fibre, the queue to a node."""
_DAMAGE = (Sign.PORT_CRC, Sign.NIC_CRC)
_OPTICS = (Sign.OPTICS,)


def _has_no_bond(cluster: Cluster) -> str:
    """Return why no bond can be the cause: the layers of each private port are known, and none is a bond or a team."""
    ports = [] if isinstance(cluster.networks, Unknown) else [p for n in cluster.networks for p in n.ports]
    if not ports or cluster.unread_nodes():
        return ""
    for port in ports:
        node, top = cluster.node(port.node), cluster.interface(port)
        if node is None or top is None:
            return ""
        layers = layers_of(node, top)
        if any(interface.kind in ("bond", "team") or interface.members for interface in layers):
            return ""
    return "No private network of the nodes is on a bond."


def _is_physical(cluster: Cluster) -> str:
    setups = cluster.read_setups()
    known = [setup.host for setup in setups if isinstance(setup.host, HostSetup)]
    if len(known) < max(1, len(cluster.read_nodes())) or any(host.is_virtual is not False for host in known):
        return ""
    return "The CPUs of all nodes that were read report no hypervisor."


CABLING = (
    Cause(
        code="CAUSE-01",
        name="Faulty cable, transceiver, NIC or switch port",
        touches=(SHARE_IN,),
        patterns=(SHARE_ALL, SHARE_FULL),
        at=(At.NODE, At.PATH, At.NETWORK),
        kinds=(
            # Whichever it is, it damages frames: they are counted where they arrive.
            CauseForm(
                name="cable", at=(At.NODE,), patterns=_AT_A_PORT, signs=(*_DAMAGE, Sign.WITH_CABLE), may_show=_OPTICS
            ),
            CauseForm(name="port", at=(At.NODE,), patterns=_AT_A_PORT, signs=(*_DAMAGE, Sign.WITH_PORT)),
            CauseForm(name="NIC", at=(At.NODE,), patterns=_AT_A_PORT, signs=_DAMAGE, may_show=(Sign.WITH_NIC,)),
            CauseForm(name="on the way", at=(At.PATH, At.NETWORK), signs=(Sign.MEMBER_CRC,)),
        ),
        proved_by=("IC-NIC-002",),
        supported_by=("IC-SPEED-003", "IC-PATH-005", "IC-NIC-007"),
        hinted_by=("IC-DEV-004",),
        look=look(
            "Read the error counters of each private NIC and bond member twice; CRC and frame errors grow. Frames that "
            "are damaged on the way to the switch are counted at the switch port.",
            *_COUNTERS,
        ),
    ),
    Cause(
        code="CAUSE-09",
        name="Old or different NIC drivers and firmware",
        hinted_by=("IC-DRIVER-002", "IC-DRIVER-003"),
        excluded_by=("IC-DRIVER-001",),
        covers="as far as driver, version and firmware are equal on all nodes; all may be old",
        look=look("Compare driver, version and firmware of the private NICs between the nodes.", "ethtool -i ETH"),
    ),
    Cause(
        code="CAUSE-11",
        name="Bond misconfigured, or its members flap",
        touches=(touch(How.FLOWS),),
        effects_of=of_bond,
        moves=("IC-BALANCE-002", "IC-PATH-008", "IC-USE-006", "IC-IFACE-012", "IC-NEIGH-007"),
        proved_by=("IC-BOND-003", "IC-BOND-012", "IC-BOND-013", "IC-BOND-017", "IC-IFACE-045"),
        supported_by=("IC-BOND-004", "IC-BOND-005", "IC-BOND-014"),
        hinted_by=(
            "IC-BOND-002",
            "IC-BOND-006",
            "IC-BOND-007",
            "IC-BOND-015",
            "IC-BOND-016",
            "IC-NIC-012",
            "IC-BALANCE-002",
        ),
        excluded_by=("IC-BOND-001",),
        covers="as the bonding driver reports it now",
        ruled_out=_has_no_bond,
        look=look(
            "Compare mode, MII status, failure counts and aggregator IDs of the members; each link of the switch's "
            "aggregation must carry full-size packets.",
            "cat /proc/net/bonding/*",
        ),
    ),
    Cause(
        code="CAUSE-13",
        name="Speed or duplex mismatch",
        touches=(touch(How.SHARE), touch(How.DELAYS)),
        proved_by=("IC-SPEED-002", "IC-SPEED-003"),
        excluded_by=("IC-SPEED-001",),
        covers="as the drivers report speed and duplex",
        look=look("Display what each private NIC negotiated.", "ethtool ETH"),
    ),
    Cause(
        code="CAUSE-14",
        name="Flow control differs, or pause frames stop a port",
        touches=(touch(How.SHARE), touch(How.DELAYS)),
        supported_by=("IC-NIC-009", "IC-NIC-013"),
        hinted_by=("IC-DRIVER-005",),
        look=look(
            "Compare the pause settings, and whether the pause counters grow.", "ethtool -a ETH", "ethtool -S ETH"
        ),
    ),
    Cause(
        code="CAUSE-16",
        name="Receive rings of a NIC too small, or wrong interrupt settings",
        touches=(SHARE_IN,),
        patterns=(SHARE_IN,),
        at=(At.NODE,),
        fits=without_counts,
        kinds=(CauseForm(may_show=(Sign.NIC_MISSED,)),),
        proved_by=("IC-NIC-003",),
        supported_by=("IC-DRIVER-004",),
        hinted_by=("IC-DEV-004", "IC-DRIVER-004"),
        look=look(
            "Compare the rings with their maximum. With `--interval 30` or more, racwire compares the counters of the "
            "drivers that it knows; of another driver, read them twice, 30 s apart.",
            "ethtool -g ETH",
            "ethtool -c ETH",
            "ethtool -S ETH",
        ),
    ),
    Cause(
        code="CAUSE-18",
        name="A private network is saturated",
        touches=(touch(How.SHARE), touch(How.DELAYS)),
        proved_by=("IC-LOAD-002",),
        hinted_by=("IC-TOPO-004",),
        excluded_by=("IC-LOAD-001",),
        covers="averaged over the interval, on the nodes' own links; bursts and links between switches do not show",
        look=look(
            "Compare the traffic of each private NIC with its speed while blocks are lost.", "racwire watch", where=""
        ),
    ),
    Cause(
        code="CAUSE-20",
        name="Switch drops packets from full buffers",
        patterns=(SHARE_ALL, SHARE_FULL),
        at=(At.NODE, At.PATH, At.NETWORK),
        kinds=(
            CauseForm(
                name="port",
                at=(At.NODE,),
                patterns=_AT_A_PORT,
                signs=(Sign.PORT_DISCARDS,),
                may_show=(Sign.WITH_PORT,),
            ),
            CauseForm(name="switch", at=(At.NETWORK,), signs=(Sign.FABRIC,)),
            CauseForm(name="on the way", at=(At.PATH,), signs=(Sign.FABRIC,)),
        ),
        supported_by=("IC-PATH-005",),
        hinted_by=("IC-TOPO-009",),
        look=look(
            "Read the drop counters of the switch ports of all nodes, egress queues included.", where=_NETWORK_TEAM
        ),
    ),
    Cause(
        code="CAUSE-21",
        name="Quality of service of a shared switch limits the interconnect",
        patterns=(SHARE_ALL, SHARE_FULL),
        at=(At.NODE, At.PATH, At.NETWORK),
        kinds=(
            CauseForm(
                name="port",
                at=(At.NODE,),
                patterns=_AT_A_PORT,
                signs=(Sign.PORT_POLICED,),
                may_show=(Sign.WITH_PORT,),
            ),
            CauseForm(name="network", at=(At.NETWORK,), signs=(Sign.PORT_POLICED,)),
            CauseForm(name="on the way", at=(At.PATH,), may_show=(Sign.PORT_POLICED,)),
        ),
        supported_by=("IC-PATH-005",),
        look=look("Read the QoS policy and its drop counters on the ports of the nodes.", where=_NETWORK_TEAM),
    ),
    Cause(
        code="CAUSE-22",
        name="Spanning tree blocks a port for seconds",
        look=look(
            "Ask for the topology changes at that time, and whether the ports of the nodes are edge ports.",
            where=_NETWORK_TEAM,
        ),
    ),
    Cause(
        code="CAUSE-40",
        name="The link of a private NIC goes down and comes back",
        touches=(touch(How.AT_TIMES),),
        moves=("IC-NIC-005", "IC-NIC-007", "IC-NIC-011", "IC-IFACE-004", "IC-HAIP-005"),
        further_sources=(mos(1), mos(22)),
        proved_by=("IC-NIC-006", "IC-NIC-012", "IC-RUN-002"),
        # The other end of a direct cable goes down with its node.
        hinted_by=("IC-TOPO-007",),
        excluded_by=("IC-NIC-001",),
        covers="in the interval of this run",
        look=(
            *look(
                "Search the kernel's log for links that went down.",
                "dmesg -T | grep -iE 'link (is )?(up|down)'",
                where="root on each node",
            ),
            *look("Compare carrier_changes now and later.", "cat /sys/class/net/ETH/carrier_changes"),
        ),
    ),
    Cause(
        code="CAUSE-34",
        name="Virtual NIC, hypervisor or cloud stops or drops packets",
        touches=(touch(How.SHARE), touch(How.DELAYS)),
        proved_by=("IC-NIC-010",),
        supported_by=("IC-VIRT-002",),
        ruled_out=_is_physical,
        look=look(
            "On a virtual machine, check the driver of the NIC, steal time, ballooning, and migrations at the time.",
            "ethtool -i ETH",
            "vmstat 1 5",
        ),
    ),
)
