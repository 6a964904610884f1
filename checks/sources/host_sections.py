"""Commands of the program SETUP that read a node's setup outside Clusterware. All of them are bounded and only read.

They list no rules of packet filters, since that can load kernel modules, and query NIC drivers once, only for the
private NICs, with a limit of time for each query.
"""

from __future__ import annotations

from checks.sources.entries import Read
from checks.sources.nic_drivers import HASH_MARK, MOST_NICS, NIC_LIMIT_S, NIC_MARK, NO_ETHTOOL
from checks.sources.sh_text import TIMED_OUT

FILTER_UNITS = ("firewalld", "nftables", "iptables", "ufw")
"""The services that can filter packets, in the order of the query to systemctl, after UNITS."""
AVAHI = "avahi-daemon"
ALL_UNITS = (*FILTER_UNITS, AVAHI)
ZONE_LINE = "zone "
"""The beginning of the lines of firewall-cmd in the section `units`."""

SERVICES = {
    2049: "NFS",
    3260: "iSCSI",
    4420: "NVMe over TCP",
    445: "SMB",
    873: "rsync",
    1556: "NetBackup",
    8400: "Commvault",
    1500: "Spectrum Protect",
    5201: "iperf3",
}
"""The TCP ports of storage, backup and copies, whose traffic is large (IANA; vendors' manuals).

No port from 9000 on: Oracle's own processes take theirs from that range."""
_MOST_CONNECTIONS, _MOST_MOUNTS, _MOST_BOND_LINES, _MOST_GROUP_LINES = 400, 100, 3000, 1000
_PORTS = "|".join(f"{port:04X}" for port in SERVICES)

_MOST_PROCESSES = 400
MOST_THREADS = 64
"""The most threads that are read of a process; LMS has a handful."""
_PROCESSES = "lms[0-9a-z]|lm[1-9][0-9a-z]|lmd[0-9a-z]|lgwr|vktm"
"""LMS serves blocks (LMS0 to LMSz, then LMnn: 19c has `LMS*|LM1*|...|LM9*` in _high_priority_processes), LMD and LGWR
take part in every transfer of a changed block, and VKTM is real-time everywhere."""

HOST_COMMANDS = {
    "memory": (
        "grep -H -E '^((MemTotal|MemAvailable|HugePages_Total|Hugepagesize):|[0-9,-]+$)' /proc/meminfo "
        "/proc/sys/vm/min_free_kbytes /sys/devices/system/node/online /sys/devices/system/cpu/online; "
        "grep -m 1 '^flags' /proc/cpuinfo"
    ),
    "bonds": (
        f"cd /proc/net/bonding && grep -H -m {_MOST_BOND_LINES} . -- * && cd /sys/class/net && "
        "grep -H . -- */bonding/arp_validate"
    ),
    # A driver that does not answer the first query in time would not answer the others.
    "drivers": (
        "grep -H -E '^(DRIVER|PCI_SLOT_NAME)=' /sys/class/net/*/device/uevent; if command -v ethtool; then "
        f'for nic in "$@"; do if [ -e "/sys/class/net/$nic" ]; then printf \'{NIC_MARK}%s\\n\' "$nic"; '
        f'timeout {NIC_LIMIT_S} ethtool -i "$nic"; code=$?; if [ "$code" -eq {TIMED_OUT} ]; then break; fi; '
        f'timeout {NIC_LIMIT_S} ethtool -g "$nic"; timeout {NIC_LIMIT_S} ethtool -a "$nic"; '
        f"timeout {NIC_LIMIT_S} ethtool -n \"$nic\" rx-flow-hash udp4; printf '{HASH_MARK}: %s\\n' $?; fi; done; "
        f"else printf '{NO_ETHTOOL}\\n'; fi"
    ),
    # By argv[0], because the name of the process (comm) of a process with threads is ora_scmn_SID from 18c on. A line
    # that does not begin with the number of a process is the rest of a name that holds a line break. The names of the
    # threads are left out: the kernel cuts them, and the first letters of a SID cannot be redacted.
    "scheduling": (
        f"cd /proc && grep -a -z -n -m 1 -H -E '^(ora|asm|mdb)_({_PROCESSES})_[+-]?[[:alnum:]_$#]+[[:blank:]]*$' "
        f"[0-9]*/cmdline | tr '\\0' '\\n' | head -n {_MOST_PROCESSES} | while IFS=/ read -r pid rest; do "
        'case "$pid" in \'\'|*[!0-9]*) continue ;; esac; printf \'%s/%s\\n\' "$pid" "$rest"; '
        f"grep -h -E '^[0-9]+ [(].*[)] ' \"$pid\"/task/[0-9]*/stat | head -n {MOST_THREADS}; done | "
        "sed 's/ (.*) / /'"
    ),
    "oradism": (
        "grep -h -m 8 -E '^[^#:]+:/[^:]+' /etc/oratab | cut -d : -f 2 | sort -u | "
        "while read -r home; do stat -L -c '%U %a %n' \"$home/bin/oradism\"; done"
    ),
    "connections in use": (
        f"grep -h -m {_MOST_CONNECTIONS} -E ': [0-9A-F]+:({_PORTS}) [0-9A-F]+:[0-9A-F]+ 01 |"
        f": [0-9A-F]+:[0-9A-F]+ [0-9A-F]+:({_PORTS}) 01 ' /proc/net/tcp /proc/net/tcp6"
    ),
    # The kernel prints an IPv4 group as a number in the byte order of the machine, below the line of its interface.
    "multicast groups": (
        f"grep -h -m {_MOST_GROUP_LINES} -E '^Idx|^[0-9]+[[:space:]]|FB0000E0|E00000FB|000100E6|E6000100' "
        f"/proc/net/igmp; grep -h -m {_MOST_GROUP_LINES} -i ' ff0200000000000000000000000000fb ' /proc/net/igmp6"
    ),
    "mounts": f"grep -m {_MOST_MOUNTS} -E '^[^ ]+ [^ ]+ (nfs4?|cifs|smb3) ' /proc/mounts",
}
"""The command of each section. It prints what exists and leaves out the rest."""

HOST_SECTIONS = {"host": tuple(HOST_COMMANDS)}
"""The sections by their topic in the journal."""

HOST_READS = (
    Read("host", "memory, CPU", "/proc/meminfo /proc/sys/vm/min_free_kbytes /sys/devices/system/node/online"),
    Read("host", "", "grep -m 1 '^flags' /proc/cpuinfo"),
    Read("host", "bonds", "/proc/net/bonding/* /sys/class/net/*/bonding/arp_validate"),
    Read(
        "host",
        "NIC drivers",
        "/sys/class/net/*/device/uevent; ethtool -i NIC; ethtool -g NIC; ethtool -a NIC; "
        f"ethtool -n NIC rx-flow-hash udp4; private NICs, {MOST_NICS} at most",
    ),
    Read(
        "host",
        "scheduling",
        f"LMS, LMD, LGWR and VKTM by name in /proc/*/cmdline, {_MOST_PROCESSES} at most; their threads in "
        "/proc/PID/task/*/stat; stat bin/oradism of the homes in /etc/oratab",
    ),
    Read("host", "multicast", "the groups 224.0.0.251, 230.0.1.0 and ff02::fb in /proc/net/igmp and igmp6"),
    Read("host", "storage traffic", "connections of NFS, iSCSI and backup in /proc/net/tcp and tcp6; /proc/mounts"),
)
"""What the sections read, for the dry run."""
