"""What taking samples reads, asks and sends, said without doing it: the end of `racwire plan`."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping

from checks.model.facts import Port, PrivateNetwork
from checks.model.packet_sizes import SMALL_PAYLOAD
from checks.model.settings import Settings, TrafficSettings
from checks.sources.database.statement_dry_run import shown
from checks.sources.database.statements import statements
from checks.sources.nodes.ssh import ssh_command
from checks.sources.probes.path import Path
from checks.traffic import instances, peer, this_node
from checks.traffic.all_instances import AGAIN_S
from checks.traffic.latency import BLOCK_HEADER_BYTES, USUAL_BLOCK_BYTES, LatencyPath

_SMALL_MTU = 1500
_BLOCK_PAYLOAD = USUAL_BLOCK_BYTES + BLOCK_HEADER_BYTES


def plan_samples(settings: Settings, environ: Mapping[str, str] = os.environ) -> Iterator[str]:
    """Every file, program, statement and packet of live samples, line by line. Raises ValueError where ssh cannot be
    called as set."""
    interval_s = settings.traffic.interval_s
    yield from (
        "",
        "Live samples, for the Traffic and Database screens, `racwire watch` and `racwire record`.",
        "First, once, who the nodes, private networks and instances are: what is told above of Clusterware, of this",
        "node, of each peer, and of which database it is. Then, until they are ended:",
        "",
        "  on this node:",
    )
    yield from _timed(this_node.planned_reads(interval_s))
    first = settings.cluster.peers[0] if settings.cluster.peers else "PEER"
    yield from (
        "",
        "  on each peer, through one connection held all the while, one program at a time:",
        f"    {shlex.join(ssh_command(first, settings.ssh, environ))}",
    )
    yield from _timed(peer.planned_programs(interval_s))
    yield from _instances(settings)
    yield from _pings(settings)


def _timed(planned: tuple[tuple[str, str], ...]) -> Iterator[str]:
    for when, what in planned:
        yield f"    {when}:"
        yield from (f"      {line}" for line in what.strip().splitlines())


def _instances(settings: Settings) -> Iterator[str]:
    if not settings.database.is_set:
        yield from ("", "  of the instances nothing: no database is set.")
        return
    yield from (
        "",
        "  of the instances, through one connection held all the while, made as that of the checks (where one hangs,",
        "  the V$ views of the connected one in place of GV$, and through a second connection the statements of the",
        f"  samples on GV$, every {AGAIN_S:g} s or less often, until all answer; no statement may take longer than "
        f"{settings.traffic.database_timeout_s:g} s):",
    )
    known = statements()
    for when, names in instances.planned_statements(settings.traffic):
        yield f"  {when}:"
        for name in names:
            yield from shown(known[name])


def _pings(settings: Settings) -> Iterator[str]:
    rate, most = settings.traffic.probes_per_second, settings.probe.max_packets_per_second
    pings = f"{rate} {'ping' if rate == 1 else 'pings'} a second"
    yield from (
        "",
        "  Packets: none, but with --probe (record, watch). Then by ICMP socket, from this node to every other one on",
        "  each private network, never on a public one, whether or not answers come:",
        f"    {pings} of {SMALL_PAYLOAD:,} and as many of {_BLOCK_PAYLOAD:,} bytes on each path: the larger one is a",
        "    block of 8 KB with its header (or of the size that the database says), cut into fragments where the MTU",
        f"    is smaller; {_megabits(settings.traffic):.2g} Mb/s on each path, and as much in answers;",
        f"    {most:,} pings a second at most on all paths together.",
        "  Once the paths are known, and before anything is sent, they are told with rate, sizes and targets.",
    )


def _megabits(settings: TrafficSettings) -> float:
    """What the pings of both sizes take of a path's link, each way, with the most headers that an MTU in use brings."""
    near, far = Port("FROM", "eth1", "192.168.10.1"), Port("TO", "eth1", "192.168.10.2")
    network = PrivateNetwork("NETWORK", "eth1", "192.168.10.0/24", "oifcfg", (near, far))
    return LatencyPath(Path(network, near, far, _SMALL_MTU)).bytes_of_both * 8 * settings.probes_per_second / 1e6
