"""What a healthy node reports of its setup outside Clusterware, of its kernel, and of its NICs, CPUs and memory."""

from __future__ import annotations

from checks.model.facts import (
    AlertLog,
    Bond,
    BondMember,
    CounterGroup,
    HostSetup,
    JoinedGroup,
    LogKind,
    Node,
    NodeLogs,
    NodeMemory,
    PacketFilters,
    ScheduledProcess,
    SystemCounters,
)
from checks.model.facts.host_setup import NicDriver

SYSCTLS = {
    "net.core.rmem_default": "4194304",
    "net.core.rmem_max": "16777216",
    "net.core.wmem_default": "4194304",
    "net.core.wmem_max": "16777216",
    "net.core.netdev_max_backlog": "1000",
    "net.ipv4.conf.all.arp_filter": "0",
    "net.ipv4.conf.all.arp_ignore": "0",
    "net.ipv4.conf.eth1.arp_filter": "0",
    "net.ipv4.conf.eth1.arp_ignore": "0",
    "net.ipv4.conf.eth2.arp_filter": "0",
    "net.ipv4.conf.eth2.arp_ignore": "0",
    "net.ipv4.ip_forward": "0",
    "net.ipv4.ipfrag_high_thresh": "67108864",
    "net.ipv4.ipfrag_low_thresh": "50331648",
}
"""Oracle's minimums are met."""
_PRIVATE = ("eth1", "eth2")
_SECONDS, _CPUS = 30, 4


def host(node: Node, instance: str) -> HostSetup:
    """Return the setup of a physical machine with NICs of 10 Gbit/s, and an instance where the case has a database."""
    nics = [i for i in node.interfaces if i.name in _PRIVATE or i.master in _PRIVATE]
    bonds = [i for i in node.interfaces if i.kind == "bond"]
    processes = ("LMS0", "LMS1", "LMD0", "LGWR", "VKTM")
    return HostSetup(
        memory=NodeMemory(total_kb=264_000_000, min_free_kb=1_048_576, numa_nodes=1, cpus=_CPUS),
        bonds=tuple(
            Bond(
                bond.name,
                "fault-tolerance (active-backup)",
                "up",
                bond.members[0] if bond.members else "",
                100,
                members=tuple(BondMember(name, "up", 10_000, "full", 0) for name in bond.members),
            )
            for bond in bonds
        ),
        drivers=tuple(
            NicDriver(
                i.name, "ixgbe", "5.1.0-k", "0x800003e7", 4096, 4096, pause_negotiated=True, pause_rx=True,
                pause_tx=True, udp_hash="sd",
            )
            for i in nics
            if i.kind == "ethernet"
        ),
        drivers_in_use={i.name: "ixgbe" for i in nics if i.kind == "ethernet"},
        processes=tuple(ScheduledProcess(name, instance, 2, 1, 1, 1) for name in processes) if instance else (),
        filters=PacketFilters(active=(), zones=()),
        others=(),
        is_virtual=False,
        product="Dell Inc. PowerEdge R750",
        is_avahi_active=False,
        groups_joined=tuple(JoinedGroup(i.name, g) for i in node.interfaces for g in ("224.0.0.251", "230.0.1.0")),
    )  # fmt: skip


def logs(node: Node, instance: str) -> NodeLogs:
    """Return alert logs without a line of the list."""
    crs = AlertLog(LogKind.CLUSTERWARE, f"/u01/app/grid/diag/crs/{node.name}/crs/trace/alert.log", node.name)
    home = "/u01/app/oracle/diag/rdbms/prod"
    own = AlertLog(LogKind.DATABASE, f"{home}/{instance}/trace/alert_{instance}.log", instance, database="PROD")
    return NodeLogs(
        logs=(crs, own) if instance else (crs,),
        looked_in=("/u01/app/grid", "/u01/app/oracle"),
        read_at="2026-11-20T14:00:00+00:00",
    )


def system(node: Node) -> SystemCounters:
    """Return the growth of the counters within 30 seconds on a node with a moderate load."""
    traffic = {"rx_packets": 40_000, "tx_packets": 40_000, "rx_bytes": 300_000_000, "tx_bytes": 300_000_000}
    quiet = dict.fromkeys(("rx_errors", "tx_errors", "rx_dropped", "tx_dropped", "carrier_changes", "qdisc_drops"), 0)
    ticks = {"user": 600, "nice": 0, "system": 150, "idle": 2200, "iowait": 30, "irq": 0, "softirq": 20, "steal": 0}
    network = {"processed": 20_000, "dropped": 0, "squeezed": 0}
    every = {name: value * _CPUS for name, value in {**ticks, **network}.items()}
    up = [i for i in node.interfaces if i.name in _PRIVATE or i.master in _PRIVATE or i.parent]
    return SystemCounters(
        nics=tuple(CounterGroup(i.name, {**traffic, **quiet}) for i in up),
        cpus=(CounterGroup("cpu", every), *(CounterGroup(f"cpu{n}", {**ticks, **network}) for n in range(_CPUS))),
        stalls=tuple(CounterGroup(name, {"some": 30_000, "full": 0}) for name in ("cpu", "memory", "io")),
        memory=CounterGroup(
            "memory",
            dict.fromkeys(("pswpin", "pswpout", "allocstall", "oom_kill", "compact_stall", "compact_fail"), 0),
        ),
    )
