"""Causes in the kernel of a node: buffers, reassembly, filters of its own, CPU and memory."""

from __future__ import annotations

from checks.diagnosis.cause import Cause, Way, look, mos
from checks.diagnosis.seen import Seen
from checks.diagnosis.touches import touch
from checks.model.facts import Cluster, Unknown
from checks.model.finding import Finding, Status
from checks.model.hypothesis import How
from checks.rules.node_counts import table_state

_HAS_THE_RESERVE = ("IC-LOOP-001", "IC-LOOP-002")
_INTERVAL = "in the interval of this run"


def _has_room(cluster: Cluster) -> str:
    """Return why no table of connections is full: each node was read, and none dropped packets for want of room."""
    if isinstance(cluster.counters, Unknown) or cluster.unread_nodes() or cluster.counters.unread:
        return ""
    tables = [change.machine.connections for change in cluster.counters.nodes]
    known = [table for table in tables if not isinstance(table, Unknown)]
    if not tables or len(known) < len(tables) or any(table and table_state(table) for table in known):
        return ""
    return "The nodes track no connections, or had room for them in the interval of this run."


def _lacks_the_reserve(seen: Seen, finding: Finding) -> bool:
    """Return whether some node of a finding was not seen with the reserve that its loopback interface needs: buffers
    can be short for other reasons, and a line of a log is older than what was read."""
    suited = [f for code in _HAS_THE_RESERVE for f in seen.of_code.get(code, ()) if f.status is Status.PASS]
    return not set(finding.nodes) <= {node for f in suited for one in f.observed for node in one.nodes}


KERNEL = (
    Cause(
        code="CAUSE-02",
        name="UDP receive buffers too small",
        touches=(touch(How.SHARE, Way.TO, protocols=("udp",), ends=("clusterware", "instance"), every_network=True),),
        is_bound=True,
        proved_by=("IC-UDP-002",),
        hinted_by=("IC-KERNEL-002",),
        excluded_by=("IC-UDP-001",),
        covers=_INTERVAL,
        look=look("Watch whether RcvbufErrors grows.", "nstat -az UdpRcvbufErrors"),
    ),
    Cause(
        code="CAUSE-03",
        name="Fragments are not reassembled",
        touches=(touch(How.SHARE, Way.TO, forms=("fragment",), every_network=True),),
        is_symptom=True,
        is_bound=True,
        proved_by=("IC-REASM-003", "IC-REASM-005"),
        # Fragments that never arrived were lost elsewhere: the place of that loss comes first.
        supported_by=("IC-REASM-002",),
        hinted_by=("IC-KERNEL-003", "IC-STORE-007"),
        excluded_by=("IC-REASM-001",),
        covers=_INTERVAL,
        look=look("Watch whether reassembly failures grow.", "nstat -az IpReasmFails IpReasmTimeout"),
    ),
    Cause(
        code="CAUSE-04",
        name="UDP checksum errors",
        touches=(touch(How.SHARE, Way.TO, protocols=("udp",), every_network=True),),
        is_bound=True,
        proved_by=("IC-UDP-003",),
        excluded_by=("IC-UDP-001",),
        covers=_INTERVAL,
        look=look("Watch whether checksum errors grow.", "nstat -az UdpInCsumErrors"),
    ),
    Cause(
        code="CAUSE-15",
        name="Packets dropped by the kernel or the NIC, rp_filter included",
        touches=(touch(How.FLOWS, Way.TO),),
        is_symptom=True,
        proved_by=("IC-RPF-002", "IC-NIC-004", "IC-NIC-020"),
        hinted_by=("IC-DEV-004", "IC-RPF-004", "IC-EROUTE-005"),
        look=look(
            "Watch the drops of each private NIC, and those of rp_filter.",
            "ip -s -s link show ETH",
            "nstat -az TcpExtIPReversePathFilter",
        ),
    ),
    Cause(
        code="CAUSE-17",
        name="Transmit or receive queues too short",
        touches=(touch(How.SHARE), touch(How.DELAYS)),
        proved_by=("IC-UDP-004", "IC-NIC-005"),
        hinted_by=("IC-NIC-011",),
        excluded_by=("IC-UDP-001", "IC-NIC-001"),
        covers=_INTERVAL,
        look=look(
            "Read the drops of the send queue, and the length of the receive queue.",
            "tc -s qdisc show dev ETH",
            "sysctl net.core.netdev_max_backlog",
        ),
    ),
    Cause(
        code="CAUSE-77",
        name="The kernel's table of connections is full (conntrack)",
        touches=(touch(How.SHARE, protocols=("icmp", "udp", "tcp"), every_network=True),),
        moves=("IC-FILTER-002",),
        further_sources=("Linux kernel documentation, nf_conntrack-sysctl",),
        proved_by=("IC-FILTER-007",),
        hinted_by=("IC-FILTER-008",),
        ruled_out=_has_room,
        look=(
            *look(
                "Compare the connections with their maximum.",
                "sysctl net.netfilter.nf_conntrack_count net.netfilter.nf_conntrack_max",
            ),
            *look(
                "Search the kernel's log for a full table.", "dmesg -T | grep nf_conntrack", where="root on each node"
            ),
        ),
    ),
    Cause(
        code="CAUSE-19",
        name="CPU shortage, or LMS processes without priority",
        touches=(touch(How.DELAYS, ends=("instance",), every_network=True),),
        moves=("IC-UDP-004", "IC-CPU-004"),
        supported_by=("IC-PROC-002", "IC-UDP-004"),
        hinted_by=("IC-PROC-004", "IC-TIME-006", "IC-CPU-004", "IC-LOG-012"),
        look=look(
            "Check the CPUs, and the scheduling class of the threads of LMS and LGWR.",
            "mpstat -P ALL 1 5",
            "ps -eLo pid,tid,cls,rtprio,pcpu,args | grep -E '_(lms|lgwr|vktm)'",
        ),
    ),
    Cause(
        code="CAUSE-31",
        name="MTU of the loopback interface with too little free memory",
        further_sources=("MOS 2041723.1",),
        is_shown=_lacks_the_reserve,
        supported_by=("IC-LOG-010",),
        hinted_by=("IC-LOOP-003",),
        cleared_by=("loopback-memory",),
        covers="since each node has the memory reserve that Oracle recommends for the MTU of lo",
        look=look(
            "Search the alert logs for ORA-27300 status 105 and ORA-27301.",
            "ip link show lo",
            "sysctl vm.min_free_kbytes",
        ),
    ),
    Cause(
        code="CAUSE-35",
        name="Memory shortage: swapping, failed allocations",
        touches=(
            touch(How.SHARE, Way.TO, protocols=("udp",), every_network=True),
            touch(How.DELAYS, every_network=True),
        ),
        moves=("IC-UDP-004", "IC-CPU-004"),
        proved_by=("IC-MEM-002", "IC-MEM-003"),
        excluded_by=("IC-MEM-001",),
        covers=_INTERVAL,
        look=look("Watch swapping and failed allocations.", "vmstat 1 5", "grep -E 'pswp|allocstall' /proc/vmstat"),
    ),
    Cause(
        code="CAUSE-41",
        name="The hypervisor withholds CPU time (steal)",
        touches=(
            touch(How.SHARE, Way.TO, protocols=("udp",), every_network=True),
            touch(How.DELAYS, every_network=True),
        ),
        moves=("IC-UDP-004", "IC-CPU-004"),
        further_sources=(mos(19),),
        proved_by=("IC-CPU-002",),
        excluded_by=("IC-CPU-001",),
        covers=_INTERVAL,
        look=look("Watch the column st.", "vmstat 1 10", where="any user on each node"),
    ),
    Cause(
        code="CAUSE-42",
        name="One CPU processes the packets of a NIC and is at its limit",
        touches=(
            touch(How.SHARE, Way.TO, protocols=("udp",), every_network=True),
            touch(How.DELAYS, every_network=True),
        ),
        moves=("IC-UDP-004", "IC-NIC-003", "IC-CPU-004"),
        further_sources=(mos(16), mos(19)),
        proved_by=("IC-CPU-003",),
        excluded_by=("IC-CPU-001",),
        covers=_INTERVAL,
        look=look(
            "Check the soft interrupts of each CPU, and which CPUs serve the private NICs.",
            "mpstat -P ALL 1 5",
            "grep ETH /proc/interrupts",
        ),
    ),
)
