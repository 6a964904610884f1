"""The packets of checks in the dry run: pings, UDP datagrams, ARP probes, with their sizes and numbers."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator

from checks.model.facts import Port, PrivateNetwork
from checks.model.fragment_memory import FRAGMENT_SHARE
from checks.model.packet_sizes import SMALL_PAYLOAD, packet_of
from checks.model.settings import ProbeSettings, Settings
from checks.rules.port_shares import MOST_PATHS
from checks.run.gathering import counters_interval_s
from checks.sources.entries import Program, RunsOn
from checks.sources.kernel_files import CLOSED_PORTS, UDP_ENDS
from checks.sources.probes import haip_pings, port_turns, small_datagrams, udp_plan, udp_sender
from checks.sources.probes.limits import GentlePace
from checks.sources.probes.path import Path
from checks.sources.probes.path_budget import plan_path
from checks.sources.probes.path_mtu import CONFIRMATION_COPIES, HINT_COPIES, LADDER, SIZES_PER_ROUND
from checks.sources.probes.ping_command import RUN, PingTool
from checks.sources.probes.pinger import Request
from checks.sources.registry import ARP_PROBES, HAIP_PINGS, UDP_DATAGRAMS, sources

EXAMPLE_MTU = 9000
"""The MTU of the displayed sizes: the MTU of a network is known only after its nodes have been read."""


def plan_pings(probe: ProbeSettings) -> Iterator[str]:
    """Yield the pings of each path, and the programs that run with them."""
    yield from ("", "Packets, for each ordered pair of nodes on each private network, never on a public one")
    yield f"(sizes for MTU {EXAMPLE_MTU}; this node uses an ICMP socket where allowed, else ping; peers use ping):"
    for line in describe_budget(probe, EXAMPLE_MTU):
        yield f"  {line}"
    yield from (
        "",
        "and with the packets, in the shells that are already open (example: 192.168.10.1 and .2 on eth1):",
    )
    for program in sources("paths"):
        if isinstance(program, Program):
            yield f"  {program.where}, {program.purpose}:"
            yield from (f"    {line}" for line in program.action_on(*program.example).strip().splitlines())
    near, far = Port("FROM", "eth1", "192.168.10.1"), Port("TO", "eth1", "192.168.10.2")
    way = Path(PrivateNetwork("NETWORK", "eth1", "192.168.10.0/24", "oifcfg", (near, far)), near, far, EXAMPLE_MTU)
    tool = PingTool(release=20211215, can_probe=True, can_time_out=True)
    ping = tool.command(way, Request(SMALL_PAYLOAD, RUN), probe.timeout_ms / 1000)
    yield from (
        f"  each ping of {RunsOn.SENDERS.removeprefix('on ')}, at most {RUN} packets:",
        f"    {shlex.join(ping)}",
    )


def describe_budget(settings: ProbeSettings, mtu: int) -> list[str]:
    """Return the cost of one path of IPv4, line by line: sizes, counts, bytes, limits."""
    plan = plan_path(settings, mtu)
    rungs = sum(2 for rung in LADDER if rung < mtu)
    return [
        _line(plan.small, "small packets"),
        _line(plan.full, "full-size packets, Don't Fragment set"),
        _line(plan.over, "one byte more, which the sender's own kernel must refuse: not sent"),
        "only where some or all packets get no answer: the same again, on this path only and with more time",
        f"only where full-size packets do not pass: the search for the path MTU, {rungs} packets of the usual MTUs, "
        f"then at most {SIZES_PER_ROUND} in each of two rounds, then {2 * CONFIRMATION_COPIES} at the boundary; "
        f"{2 * HINT_COPIES} where another path of the network has shown the result",
        f"only behind a black hole: {plan.counted.count} or {2 * plan.counted.count} full-size packets "
        "that the target counts, to find the direction of the loss",
        f"at most {settings.max_packets_per_path} packets in all, {settings.max_bytes_in_flight} unanswered bytes "
        f"at one time, {settings.max_packets_per_second} packets a second from a node on all its paths; "
        f"a packet counts as lost after at most {settings.timeout_ms} ms",
        f"to a node to which one was lost at most {GentlePace.BYTES_PER_S:,} bytes a second from all nodes together, "
        f"or {GentlePace.BYTES_PER_S_OF_A_PATH:,} for each path to it",
        "one racwire of a node pings at a time (the abstract socket @racwire-pings)",
    ]


def _line(request: Request, what: str) -> str:
    packet = packet_of(request.payload, 4)
    return f"{request.count} x {packet} bytes = {request.count * packet} bytes: {what} (payload {request.payload})"


def plan_other_packets(settings: Settings, groups: Collection[str]) -> Iterator[str]:
    """Yield the UDP datagrams, the ARP probes and the pings of HAIP addresses, where the groups need them."""
    if "flows" in groups:
        ports = udp_plan.ports_within(counters_interval_s(settings), settings.probe.source_ports)
        block, message = packet_of(udp_plan.BLOCK_PAYLOAD, 4), packet_of(small_datagrams.MESSAGE_PAYLOAD, 4)
        yield from (
            "",
            f"{UDP_DATAGRAMS.reads[0].how},",
            "for each ordered pair of nodes on each private network, at the same time as the pings:",
            f"  {ports} x {EXAMPLE_MTU} bytes, Don't Fragment set, from {ports} source ports (never more than "
            f"{settings.probe.source_ports}), one in {udp_sender.SLOW_MS / 1000:g} s, the last "
            f"{udp_plan.AT_ONCE} at once if none was lost",
            f"  where the MTU is smaller than a block, {udp_plan.FRAGMENTED} of them have {block} bytes and may be cut "
            "into fragments, as blocks are",
            f"  as many of those may get no answer as fill {FRAGMENT_SHARE:.0%} of the receiver's memory for",
            "    reassembly, from all nodes together; the others are not sent",
            "  one racwire of a node sends at a time (the abstract socket @racwire-probe): one that waits uses its",
            f"    results; where a process keeps the lock, it sends after {udp_plan.WAIT_MS // 1000} s",
            "  to a port below ip_local_port_range that no socket and no service has: one of "
            f"{', '.join(map(str, CLOSED_PORTS))}",
            "  only where some get no answer: from the same source ports a small one and two to three large ones, a "
            "second apart,",
            f"    for at most {udp_plan.DOUBTS} source ports, and one from {udp_plan.CONTROLS} others",
            f"  after the pings; for {udp_plan.DOUBTS_OF_ALL} source ports where none is answered, for none where no "
            "ping passes",
            f"  then, on each path where all of these arrived: {small_datagrams.SMALL_PORTS} x {message} bytes, one in "
            f"{small_datagrams.SMALL_APART_MS} ms, and the target's count;",
            f"    where it counts fewer, {small_datagrams.SMALL_ROW} on each path to it, one path after the other, for "
            f"at most {small_datagrams.MOST_ROWS} paths",
            "  only where a path then shows a part of them lost, one path after the other, for at most "
            f"{MOST_PATHS} paths:",
            f"    {port_turns.ROW} from each of {port_turns.PORTS} source ports, at most {port_turns.TURNS} times, one "
            f"in {port_turns.LEAST_APART_MS} ms or more, and the target's count after each port",
            "  this node sends in its own process; a peer runs, through the open connection:",
            "    python3 -E -s -S -c TEXT 1000:30000:60000 FROM,TO,PORT,AT:SLOT:SOURCEPORT:BYTES:DF/...,"
            "NODE:MOST:COUNTED",
            "  where TEXT is checks/sources/probes/udp_sender.py",
            f"  and {UDP_ENDS.where}, {UDP_ENDS.purpose}:",
            *(f"    {read.how}" for read in UDP_ENDS.reads),
        )
    if "owners" in groups:
        yield from (
            "",
            f"{ARP_PROBES.reads[0].how}, from this node (RFC 5227: sender address 0.0.0.0, no announcement)",
        )
    if "haip_paths" in groups:
        yield from (
            "",
            f"{HAIP_PINGS.reads[0].how}, for each ordered pair: {haip_pings.SMALL} small and {haip_pings.FULL} of full "
            f"size; {haip_pings.SMALL_AGAIN} and {haip_pings.FULL_AGAIN} more",
            "  where one gets no answer; no address but those that GV$CLUSTER_INTERCONNECTS lists and a NIC has",
        )
