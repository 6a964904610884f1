"""The registry's entries for the kernel: files and netlink on this node, and programs that read the same on peers."""

from __future__ import annotations

from dataclasses import replace

from checks.sources.entries import ADDRESS, INTERFACE, KernelFileList, Program, Read, RegistryEntry, RunsOn
from checks.sources.sh_text import MARK, program

PROC_SYS = "/proc/sys"
BOOT_ID = f"{PROC_SYS}/kernel/random/boot_id"

NODE_SYSCTLS = (
    "net.core.rmem_default",
    "net.core.rmem_max",
    "net.core.wmem_default",
    "net.core.wmem_max",
    "net.core.netdev_max_backlog",
    "net.core.netdev_budget",
    "net.core.netdev_budget_usecs",
    "net.ipv4.icmp_echo_ignore_all",
    "net.ipv4.ip_forward",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.ipfrag_high_thresh",
    "net.ipv4.ipfrag_low_thresh",
    "net.ipv4.ipfrag_max_dist",
    "net.ipv4.ipfrag_time",
    "net.ipv4.ping_group_range",
    "net.ipv4.udp_mem",
    "net.ipv4.udp_rmem_min",
    "net.ipv6.ip6frag_high_thresh",
)
"""The sysctls with one value for the node or for its network namespace."""

INTERFACE_SYSCTLS = ("arp_filter", "arp_ignore", "rp_filter")
"""The sysctls below net.ipv4.conf.<interface> and net.ipv4.conf.all."""

KERNEL_RELEASE_PATH = "kernel/osrelease"

COUNTER_FILES = ("/proc/net/snmp", "/proc/net/netstat")
SOCKETS_FILE = "/proc/net/unix"
"""Lists the abstract sockets that racwires of all users hold as locks, each name after an @."""
LOCK_NAMES = "@racwire-[a-z]*"
_LOCKS = f"grep -o '{LOCK_NAMES}' {SOCKETS_FILE}"
SPEED_FILES = ("speed", "duplex", "carrier_changes")
"""Files of each interface in /sys/class/net; the kernel refuses the first two where it has no link or speed."""
SYS_CLASS_NET = "/sys/class/net"

# --- this node --------------------------------------------------------------------------------------------------------

_INVENTORY = (
    Read(
        "interfaces",
        "interfaces",
        f"netlink RTM_GETLINK, RTM_GETADDR; {SYS_CLASS_NET}/*/{{{','.join(SPEED_FILES)}}}",
    ),
    Read("routes", "routes", "netlink RTM_GETROUTE"),
    Read("neighbours", "neighbours", "netlink RTM_GETNEIGH"),
)
THIS_NODE = RegistryEntry(
    name="this node",
    groups=("nodes",),
    where=RunsOn.HERE,
    purpose="interfaces, addresses, routes, counters and settings of the kernel",
    reads=(
        *_INVENTORY,
        Read("counters", "counters", ", ".join(COUNTER_FILES)),
        Read("racwires", "locks of racwire", SOCKETS_FILE),
        Read(
            "sysctls",
            "sysctls",
            f"{len(NODE_SYSCTLS)} files below {PROC_SYS}/net; "
            f"{PROC_SYS}/net/ipv4/conf/*/{{{','.join(INTERFACE_SYSCTLS)}}}",
        ),
    ),
)
"""Reads netlink, /proc and /sys: starts no process and needs no privilege."""

_CHANGE_FILES = ("/proc/net/snmp", "/proc/net/netstat", "/proc/net/softnet_stat", "/proc/net/sockstat")
CONNECTION_TABLE = "/proc/sys/net/netfilter/nf_conntrack_"
CONNECTION_COUNTERS = "/proc/net/stat/nf_conntrack"
SYSTEM_FILES = (
    "/proc/stat", "/proc/vmstat", "/proc/pressure/cpu", "/proc/pressure/memory", "/proc/pressure/io",
    f"{CONNECTION_TABLE}count", f"{CONNECTION_TABLE}max", CONNECTION_COUNTERS,
)  # fmt: skip
"""Files of which a few lines are read twice. Kernels before 4.20 have no /proc/pressure, and some hide it. Those of
nf_conntrack exist only where the module is loaded; reading them loads nothing."""
SYSTEM_LINES = (
    r"^(cpu|pswpin |pswpout |allocstall|oom_kill |compact_stall |compact_fail |some |full |entries |[0-9]+$|"
    r"[0-9a-f]{8} )"
)
NIC_FILES = ("address", "carrier_changes", "mtu", "operstate", "statistics")
"""Of each private NIC, its bond members and parents: files, and last the directory of its counters, all of them
numbers."""
MOST_LINES = 500
"""Of the addresses, and of the routes, that are read again: more are not compared with those of the first reading."""
COUNTERS_OF_THIS_NODE = KernelFileList(
    name="counters of this node",
    groups=("counters",),
    where=RunsOn.HERE,
    purpose="the kernel's counters at the start and the end of an interval, with those of the private NICs",
    files=_CHANGE_FILES,
    reads=(
        Read(
            "counters over time",
            "this node",
            f"{', '.join((*_CHANGE_FILES, *SYSTEM_FILES, SOCKETS_FILE))}; "
            f"{SYS_CLASS_NET}/PRIVATE_NIC/{{{','.join(NIC_FILES)}/*}}; netlink RTM_GETQDISC, RTM_GETADDR, RTM_GETROUTE",
        ),
    ),
)

_SAMPLE_FILES = ("/proc/net/dev", "/proc/net/snmp", "/proc/net/softnet_stat", "/proc/stat", "/proc/loadavg")
SAMPLE_OF_THIS_NODE = KernelFileList(
    name="sample of this node",
    groups=("samples",),
    where=RunsOn.HERE,
    purpose="the counters of one sample",
    files=_SAMPLE_FILES,
    reads=(Read("", "files", ", ".join(_SAMPLE_FILES)),),
)
OTHER_SAMPLERS = RegistryEntry(
    name="other samplers",
    groups=("samples",),
    where=RunsOn.HERE,
    purpose="how many racwires of this node sample the instances: together they send no more than one",
    reads=(Read("", "samplers", f"{SOCKETS_FILE}, the names that start with @racwire-sample"),),
    every_s=5.0,
)
INTERFACES_OF_THIS_NODE = RegistryEntry(
    name="interfaces of this node",
    groups=("samples",),
    where=RunsOn.HERE,
    purpose="interfaces, when the kernel reports a change of one (netlink RTMGRP_LINK)",
    reads=tuple(Read("", read.what, read.how) for read in _INVENTORY),
    every_s=60.0,
)

# --- peers ------------------------------------------------------------------------------------------------------------

SSH = RegistryEntry(
    name="ssh",
    groups=("nodes", "setups", "counters", "paths", "flows", "haip_paths", "effective_routes", "changing", "samples"),
    where=RunsOn.PEERS,
    purpose="one connection for the whole run, through which all programs run, at nice 10 there",
    reads=(Read("ssh", "connection", "ssh NODE sh", "a login without a password (user equivalence) on each peer"),),
)

_PEER = {
    "interfaces": "ip -d addr show",
    "speeds": f"cd {SYS_CLASS_NET} && grep -H . -- {' '.join(f'*/{name}' for name in SPEED_FILES)}",
    "routes": "ip -4 route show",
    "routes6": "ip -6 route show",
    "neighbours": "ip -s neigh show",
    "counters": f"cat {' '.join(COUNTER_FILES)}",
    "racwires": _LOCKS,
    # cat and grep read a file whole; the `read` of some shells goes byte by byte, and gets one digit from /proc/sys.
    "sysctls": (
        f"cd {PROC_SYS} && grep -H . -- {KERNEL_RELEASE_PATH} "
        + " ".join(key.replace(".", "/") for key in NODE_SYSCTLS)
        + "".join(f" net/ipv4/conf/*/{name}" for name in INTERFACE_SYSCTLS)
    ),
}
"""The command of each section. It prints what exists and leaves out the rest."""
_PEER_TOPICS = {"speeds": "interfaces", "routes6": "routes"}
"""The topics of the sections whose topic is not their name."""

PEER_WITH_ERRORS = ("interfaces", "routes", "routes6", "neighbours", "counters")
"""Sections whose error messages are evidence. Those of grep are not: many nodes lack some of the files."""

PEER = Program(
    name="peer",
    groups=("nodes", "samples"),
    where=RunsOn.PEERS,
    purpose="interfaces, addresses, routes, counters and settings of the kernel",
    text=program(_PEER, PEER_WITH_ERRORS),
    reads=tuple(Read(_PEER_TOPICS.get(section, section), section, command) for section, command in _PEER.items()),
    sections={
        "interfaces": ("interfaces", "speeds"),
        "routes": ("routes", "routes6"),
        **{topic: (topic,) for topic in ("neighbours", "counters", "racwires", "sysctls")},
    },
    every_s=60.0,
)
"""Reads a peer and changes nothing there, with about ten short-lived processes. During live samples it runs when an
interface changed, and every `every_s` seconds."""

# tc loads nothing into the kernel: it dumps the queue disciplines over netlink. Many nodes lack tc.
_COUNTERS = f"""\
cat {" ".join(_CHANGE_FILES)}
echo '{MARK} system'
grep -HE '{SYSTEM_LINES}' {" ".join(SYSTEM_FILES)} 2>/dev/null
echo '{MARK} nics'
cd {SYS_CLASS_NET}
for nic in "$@"; do grep -H . -- {" ".join(f'"$nic/{name}"' for name in NIC_FILES[:-1])} "$nic/{NIC_FILES[-1]}/"* \
2>/dev/null; done
cd /
echo '{MARK} racwires'
{_LOCKS} 2>/dev/null
echo '{MARK} queues'
tc -s qdisc show 2>/dev/null | grep -A 1 -E ' root( |$)'
echo '{MARK} addresses'
ip -o addr show 2>/dev/null | head -n {MOST_LINES}
echo '{MARK} routes'
ip -4 route show 2>/dev/null | head -n {MOST_LINES}
true"""
COUNTERS = Program(
    name="counters",
    groups=("counters",),
    where=RunsOn.PEERS,
    purpose="the kernel's counters at the start and the end of an interval, with those of the private NICs",
    text=_COUNTERS,
    reads=(Read("counters over time", "each peer", _COUNTERS.replace('"$@"', INTERFACE.name)),),
    arguments=(replace(INTERFACE, is_many=True),),
    example=("eth1",),
)

_SAMPLE = (
    f"cat /proc/net/dev /proc/net/softnet_stat /proc/loadavg /proc/uptime {BOOT_ID} 2>/dev/null\n"
    f"echo '{MARK} kernel'\n"
    "grep -hE '^(Ip|Udp):|^cpu' /proc/stat /proc/net/snmp 2>/dev/null"
)
_LINKS = (
    f"\necho '{MARK} links'\ncd {SYS_CLASS_NET} && grep -H . -- */mtu */operstate */carrier_changes 2>/dev/null; cd /"
)
LINKS_MOST, LINKS_WITHIN_S = 3, 15.0
"""Most readings of a peer's interfaces for a change within so many seconds: one that flaps must not load the peer."""
SAMPLE = Program(
    name="sample",
    groups=("samples",),
    where=RunsOn.PEERS,
    purpose="the counters of one sample, with the boot id, and MTU, state and changes of the link of each interface; "
    "three short processes print only the "
    "lines in use, and no driver is queried",
    text=_SAMPLE + _LINKS,
    reads=(Read("", "counters", _SAMPLE), Read("", "links", _LINKS.strip())),
    limit_s=5.0,
)
"""A healthy peer takes milliseconds."""

# --- the ends of a path -----------------------------------------------------------------------------------------------

_PING_TOOL = """\
ping -V 2>&1 | head -n 1
ping -n -c 1 -W 1 127.0.0.1 2>&1 | sed 's/^/plain: /'
ping -n -c 1 -W 1 -M do 127.0.0.1 2>&1 | sed 's/^/dont-fragment: /'
ping -n -c 1 -W 1 -M probe 127.0.0.1 2>&1 | sed 's/^/probe: /'
timeout -s INT 1 true 2>/dev/null && echo "timeout: yes"
true
"""
PING_TOOL = Program(
    name="ping tool",
    groups=("paths",),
    where=RunsOn.SENDERS,
    purpose="the options that the node's ping supports, once, with pings of loopback only",
    text=_PING_TOOL,
    reads=(Read("", "ping", _PING_TOOL),),
    limit_s=10.0,
)
"""Tries the options of ping, because its version does not show them."""

LINK = Program(
    name="link",
    groups=("paths",),
    where=RunsOn.ENDS,
    purpose="the RFC 2863 state of the interface, where no ping is answered",
    text=f'cat "{SYS_CLASS_NET}/$1/operstate"',
    reads=(Read("", "link", f"cat {SYS_CLASS_NET}/INTERFACE/operstate"),),
    arguments=(INTERFACE,),
    example=("eth1",),
    limit_s=5.0,
)
NEIGHBOUR = Program(
    name="neighbour",
    groups=("paths", "haip_paths"),
    where=RunsOn.SENDER,
    purpose="the neighbour entry of the peer's address with its ages, where a ping of these nodes is not answered, or "
    "between their HAIP addresses",
    text='ip -s neigh show to "$1" dev "$2"',
    reads=(Read("", "neighbour", "ip -s neigh show to ADDRESS dev INTERFACE"),),
    arguments=(ADDRESS, INTERFACE),
    example=("192.168.10.2", "eth1"),
    limit_s=5.0,
)
_ARRIVALS = "cat /proc/net/snmp; cat /proc/net/snmp6 2>/dev/null; true"
ARRIVALS = Program(
    name="arrivals",
    groups=("paths",),
    where=RunsOn.TARGETS,
    purpose="the echo requests that the kernel counted, before and after pings into a black hole",
    text=_ARRIVALS,
    reads=(Read("", "echo requests", _ARRIVALS),),
    limit_s=5.0,
)

ROUTE_MARK, UNBOUND_MARK, RULES_MARK = "route to ", "without a source", "rules"
_ROUTES_IN_USE = f"""\
own="$1"; for peer in "$@"; do if [ "$peer" != "$own" ]; then printf '{ROUTE_MARK}%s\\n' "$peer"; \
ip route get "$peer" from "$own" 2>&1; \
printf '{UNBOUND_MARK}\\n'; ip route get "$peer" 2>&1; fi; done
printf '{RULES_MARK}\\n'; case "$own" in *:*) ip -6 rule show 2>&1;; *) ip rule show 2>&1;; esac
true"""
ROUTES_IN_USE = Program(
    name="routes in use",
    groups=("effective_routes", "paths"),
    where=RunsOn.NODES,
    purpose="the routes that the kernel chooses between the private addresses, with learned path MTUs, and its rules",
    text=_ROUTES_IN_USE,
    reads=(
        Read("routes in use", "routes in use", "ip route get ADDRESS from SOURCE; ip route get ADDRESS; ip rule show"),
    ),
    arguments=(replace(ADDRESS, name="SOURCE"), replace(ADDRESS, is_many=True)),
    example=("192.168.10.1", "192.168.10.2"),
    limit_s=15.0,
)
"""The first argument is the source. `ip route get` sends nothing."""

CLOSED_PORTS = (8737, 7697, 6947, 5869, 4793, 3967, 2857, 1951)
"""Candidates for the closed port of datagrams: below 9000, where ip_local_port_range starts on Oracle's nodes."""
_UDP_ENDS = f"""\
command -v python3 || command -v /usr/libexec/platform-python || command -v python2 || command -v python
sed 's/^/range: /' /proc/sys/net/ipv4/ip_local_port_range 2>/dev/null
sed 's/^/reserved: /' /proc/sys/net/ipv4/ip_local_reserved_ports 2>/dev/null
grep -E '[[:space:]]({"|".join(map(str, CLOSED_PORTS))})/udp' /etc/services 2>/dev/null | sed 's/^/service: /'
head -n 1 /proc/net/udp 2>/dev/null | sed 's/^/table: /'
cd /proc/net
sed -n 's/^ *[0-9]*: [0-9A-F]*:\\([0-9A-F]*\\) .*/socket: \\1/p' udp udp6 udplite udplite6 2>/dev/null
cd /
grep -h '^Udp:' /proc/net/snmp 2>/dev/null
grep -h '^Udp6NoPorts' /proc/net/snmp6 2>/dev/null
grep -h '^FRAG' /proc/net/sockstat /proc/net/sockstat6 2>/dev/null
sed 's/^/most: /' /proc/sys/net/ipv4/ipfrag_high_thresh 2>/dev/null
sed 's/^/most6: /' /proc/sys/net/ipv6/ip6frag_high_thresh 2>/dev/null
true
"""
UDP_ENDS = Program(
    name="udp ends",
    groups=("flows",),
    where=RunsOn.NODES,
    purpose="the node's Python, a closed UDP port, Udp.NoPorts and the memory for reassembly, just before and after "
    "datagrams are sent",
    text=_UDP_ENDS,
    reads=tuple(Read("udp ends", "UDP ports", line) for line in _UDP_ENDS.strip().splitlines()),
    limit_s=10.0,
)

_UDP_ARRIVALS = f"""\
grep -h '^Udp:' /proc/net/snmp 2>/dev/null
grep -h '^Udp6NoPorts' /proc/net/snmp6 2>/dev/null
grep -h '^FRAG' /proc/net/sockstat /proc/net/sockstat6 2>/dev/null
{_LOCKS} 2>/dev/null
true
"""
UDP_ARRIVALS = Program(
    name="udp arrivals",
    groups=("investigation",),
    where=RunsOn.ENDS,
    purpose="Udp.NoPorts, the memory in use for reassembly and the locks of racwires, before and after each row of "
    "datagrams, and at least every 0.2 s while datagrams in fragments are sent",
    text=_UDP_ARRIVALS,
    reads=tuple(Read("", "UDP arrivals", line) for line in _UDP_ARRIVALS.strip().splitlines()),
    limit_s=5.0,
)
