"""The registry's entries for a drill: what changes on a node within seconds when a link or a node is lost."""

from __future__ import annotations

from checks.sources.alert_logs import LOGS_BASES_HOW, LOGS_COMMAND, LOGS_HOW, LOGS_LIMIT_S, LOGS_RIGHT, TRACES_HOW
from checks.sources.entries import Program, Read, RegistryEntry, RunsOn
from checks.sources.kernel_files import SYS_CLASS_NET
from checks.sources.sh_text import program

NEIGHBOUR_SETTINGS = "/proc/sys/net/ipv4/neigh"
EVERY_S = 0.2
"""Seconds from one look at a node to the next."""

_STATE = {
    # The carrier of a NIC that is set down cannot be read; how often it changed can.
    "links": f"cd {SYS_CLASS_NET} && grep -H . -- */carrier */carrier_changes */bonding/active_slave",
    "addresses": "ip -o -4 addr show",
    "neighbours": "ip -4 neigh show",
}
_TIMERS = {
    "clock": "date +%s.%N",
    "arp": f"cd {NEIGHBOUR_SETTINGS} && grep -H . -- */retrans_time_ms",
    "bonds": f"cd {SYS_CLASS_NET} && grep -H . -- */bonding/miimon */bonding/updelay */bonding/downdelay",
}
DRILL_STATE = Program(
    name="state in a drill",
    groups=("measurement",),
    where=RunsOn.NODES,
    purpose="links, the active slaves of bonds, addresses and neighbours, while a drill runs",
    text=program(_STATE),
    reads=tuple(Read("", section, command) for section, command in _STATE.items()),
    every_s=EVERY_S,
    limit_s=3.0,
)
DRILL_TIMERS = Program(
    name="timers in a drill",
    groups=("measurement",),
    where=RunsOn.NODES,
    purpose="the timers that decide how long a silence lasts, and the clock of the node, once",
    text=program(_TIMERS),
    reads=tuple(Read("", section, command) for section, command in _TIMERS.items()),
    limit_s=5.0,
)
DRILL_LOGS = Program(
    name="alert logs after a drill",
    groups=("measurement",),
    where=RunsOn.NODES,
    purpose="what CSS and the instances wrote into their alert logs meanwhile, once, at the end",
    text=program({"alert logs": LOGS_COMMAND}),
    reads=(
        Read("", "alert logs", LOGS_HOW, LOGS_RIGHT),
        Read("", "traces of Clusterware", TRACES_HOW, LOGS_RIGHT),
        Read("", "ORACLE_BASE", f"grep of ORACLE_BASE in {LOGS_BASES_HOW}"),
    ),
    limit_s=LOGS_LIMIT_S + 2.0,
)
DRILL_PROBES = RegistryEntry(
    name="drill probes",
    groups=("measurement",),
    where=RunsOn.HERE,
    purpose="how long each private path is silent when a link or a node is lost; only with --go CLUSTER",
    reads=(
        Read(
            "",
            "packets",
            "a probe every 10 ms or every 1 ms on each private path from this node: pings, and UDP to the HAIPs",
            "root, or a group in net.ipv4.ping_group_range",
        ),
    ),
)
