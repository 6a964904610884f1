"""What checks and live samples would read, ask and send, said without doing it: `racwire plan`.

Everything comes from the registry (`checks/sources/registry.py`) and the settings. Nothing is asked or sent here, but
the files that name the Grid home are read.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping

from checks.model.check import Check
from checks.model.facts import GridHome, Port, PrivateNetwork
from checks.model.packet_sizes import BLOCK_HEADER_BYTES, SMALL_PAYLOAD, USUAL_BLOCK_BYTES, packet_of, ping_bytes
from checks.model.settings import ProbeSettings, Settings, TrafficSettings
from checks.run.engine import needed_groups
from checks.run.gathering import CHANGING, GATHERERS, counters_interval_s
from checks.sources.clusterware.grid_home import find_grid_home
from checks.sources.database.login import MODULE, READ_ONLY, Login, why_thick
from checks.sources.database.statements import Statement
from checks.sources.entries import GridCommand, Program, RegistryEntry, RunsOn
from checks.sources.grid_commands import GRID_HOME
from checks.sources.kernel_files import (
    COUNTERS,
    COUNTERS_OF_THIS_NODE,
    INTERFACES_OF_THIS_NODE,
    PEER,
    SAMPLE,
    SAMPLE_AND_LINKS,
    SAMPLE_OF_THIS_NODE,
    THIS_NODE,
)
from checks.sources.node_setup import SETUP
from checks.sources.nodes.ssh import ssh_command
from checks.sources.probes.path import Path
from checks.sources.probes.path_budget import plan_path
from checks.sources.probes.path_mtu import CONFIRMATION_COPIES, HINT_COPIES, LADDER, SIZES_PER_ROUND
from checks.sources.probes.ping_command import RUN, PingTool
from checks.sources.probes.pinger import Request
from checks.sources.registry import GLOBAL_AGAIN_S, INVENTORY_S, SamplePace, SqlQuery, queries, sources

SHOWN_MTU = 9000
"""The MTU for which sizes are shown: that of a network is known only when its nodes have been read."""
_SMALL_MTU = 1500
_BLOCK_PAYLOAD = USUAL_BLOCK_BYTES + BLOCK_HEADER_BYTES
_COLUMN = 33


def plan_checks(checks: Iterable[Check], settings: Settings, environ: Mapping[str, str] = os.environ) -> Iterator[str]:
    """Every file, command, query and packet of checks, line by line. Raises ValueError where ssh cannot be called as
    set."""
    chosen = tuple(checks)
    groups = needed_groups(chosen, (*GATHERERS, CHANGING))
    yield f"For {', '.join(c.id for c in chosen)}: nothing is asked or sent to say this, but where the Grid home is."
    if "clusterware" in groups:
        yield from ("", "To find the Grid home, on this node:", f"  {GRID_HOME.reads[0].how}")
        yield from ("", "Clusterware tools, on this node, each once, reading only:")
        yield from _grid_commands("clusterware", settings, environ)
    if "nodes" in groups:
        yield from _nodes(settings, environ)
    if "setups" in groups:
        yield from (
            "",
            "Of each node's setup, once, in a shell of its own on this node and in that one shell on each peer;",
            "of files that can hold secrets only lines of a list are read:",
            *_reads(SETUP, 20),
        )
    if "managed" in groups:
        yield from ("", "Of what Clusterware manages, on this node, once for each database:")
        yield from _grid_commands("managed", settings, environ)
    if "changing" in groups:
        yield from ("", "For a change, where its step asks for it:", *_changing())
    if "counters" in groups:
        yield from ("", f"The kernels' counters, twice, {counters_interval_s(settings):g} s apart:")
        yield from (f"  {s.where}: {s.reads[0].how}" for s in (COUNTERS_OF_THIS_NODE, COUNTERS))
    if "paths" in groups:
        yield from _paths(settings)
    if not {"database", "activity", "history"}.isdisjoint(groups):
        yield from _database(settings, groups)


def plan_samples(settings: Settings, environ: Mapping[str, str] = os.environ) -> Iterator[str]:
    """Every file, program, statement and packet of live samples, line by line. Raises ValueError where ssh cannot be
    called as set."""
    every = f"every {settings.traffic.interval_s:g} s"
    yield from (
        "",
        "Live samples, for the Traffic and Database screens, `racwire watch` and `racwire record`.",
        "First, once, who the nodes, private networks and instances are: what is told above of Clusterware, of this",
        "node, of each peer, and of which database it is. Then, until they are ended:",
        "",
        "  on this node:",
        *_timed(every, SAMPLE_OF_THIS_NODE.reads[0].how),
        *_timed(
            "when the kernel tells that an interface changed (netlink RTMGRP_LINK), and every "
            f"{INTERFACES_OF_THIS_NODE.every_s:g} s",
            "\n".join(read.how for read in INTERFACES_OF_THIS_NODE.reads),
        ),
        "",
        "  on each peer, through one connection held all the while, one program at a time:",
        f"    {_ssh_line(settings, environ)}",
        *_timed(f"{every}, given up after {SAMPLE.limit_s:g} s", SAMPLE.text),
        *_timed(f"every {SAMPLE_AND_LINKS.every_s:g} s with it", SAMPLE_AND_LINKS.reads[0].how),
        *_timed(
            f"when that shows that an interface changed, and every {PEER.every_s:g} s",
            "what is told above of each peer",
        ),
    )
    yield from _sampled_instances(settings)
    yield from _latency_pings(settings)


# --- nodes and Clusterware --------------------------------------------------------------------------------------------


def _grid_commands(group: str, settings: Settings, environ: Mapping[str, str]) -> Iterator[str]:
    home = find_grid_home(settings.cluster.grid_home, environ)
    if not isinstance(home, GridHome):
        yield f"  ({home.reason})"
    path = home.path if isinstance(home, GridHome) else "$GRID_HOME"
    for command in sources(group):
        if isinstance(command, GridCommand):
            yield f"  {command.topic:<{_COLUMN}}{shlex.join(command.argv(path))}"


def _nodes(settings: Settings, environ: Mapping[str, str]) -> Iterator[str]:
    yield from ("", "Files and netlink queries, on this node:", *_reads(THIS_NODE, 14))
    yield from ("", "On each peer, through one connection held for the run:", f"  {_ssh_line(settings, environ)}")
    yield from ("", "and in that one shell, once:", *_reads(PEER, 14))


def _ssh_line(settings: Settings, environ: Mapping[str, str]) -> str:
    peer = settings.cluster.peers[0] if settings.cluster.peers else "PEER"
    return shlex.join(ssh_command(peer, settings.ssh, environ))


def _changing() -> Iterator[str]:
    for source in sources("changing"):
        if isinstance(source, Program):
            yield f"  {source.where}, {source.purpose}:"
            yield from (f"    {line}" for line in source.action_on(*source.example).splitlines())
        elif source.where is RunsOn.HERE:
            yield f"  {source.where}, {source.purpose}: {source.reads[0].how}"


def _reads(source: RegistryEntry, column: int) -> Iterator[str]:
    yield from (f"  {read.what:<{column}}{read.how}" for read in source.reads)


def _timed(when: str, what: str) -> Iterator[str]:
    yield f"    {when}:"
    yield from (f"      {line}" for line in what.strip().splitlines())


# --- packets ----------------------------------------------------------------------------------------------------------


def _paths(settings: Settings) -> Iterator[str]:
    yield from ("", "Packets, for each ordered pair of nodes on each private network, never on a public one")
    yield f"(sizes shown for MTU {SHOWN_MTU}; from this node by ICMP socket where it may, else and from peers by ping):"
    for line in describe_budget(settings.probe, SHOWN_MTU):
        yield f"  {line}"
    yield from (
        "",
        "and with them, in the shells that are open anyway (between 192.168.10.1 and .2 on eth1, say):",
    )
    for program in sources("paths"):
        if isinstance(program, Program):
            yield f"  {program.where}, {program.purpose}:"
            yield from (f"    {line}" for line in program.action_on(*program.example).strip().splitlines())
    near, far = Port("FROM", "eth1", "192.168.10.1"), Port("TO", "eth1", "192.168.10.2")
    way = Path(PrivateNetwork("NETWORK", "eth1", "192.168.10.0/24", "oifcfg", (near, far)), near, far, SHOWN_MTU)
    tool = PingTool(release=20211215, can_probe=True, can_time_out=True)
    ping = tool.command(way, Request(SMALL_PAYLOAD, RUN), settings.probe.timeout_ms / 1000)
    yield from (
        f"  each ping of {RunsOn.SENDERS.removeprefix('on ')}, {RUN} packets at most:",
        f"    {shlex.join(ping)}",
    )


def describe_budget(settings: ProbeSettings, mtu: int, version: int = 4) -> list[str]:
    """What one path costs, a line each: sizes, counts, bytes, limits."""
    plan = plan_path(settings, mtu, version)
    rungs = sum(2 for rung in LADDER if rung < mtu)
    return [
        _line(plan.small, version, "small packets"),
        _line(plan.full, version, "full-size packets, Don't Fragment set"),
        _line(plan.over, version, "one byte more, which the sender's own kernel must refuse: not sent"),
        "only where some packets, or all, get no answer: the same once more, alone and patiently",
        f"only where full-size packets do not pass: the search for the path MTU, {rungs} packets of the usual MTUs, "
        f"then at most {SIZES_PER_ROUND} in each of two rounds, then {2 * CONFIRMATION_COPIES} at the boundary; "
        f"{2 * HINT_COPIES} where another path of the network told the answer",
        f"only behind a black hole: {plan.counted.count} or {2 * plan.counted.count} full-size packets "
        "that the target counts, to see which way loses them",
        f"at most {settings.max_packets_per_path} packets in all, {settings.max_bytes_in_flight} bytes unanswered "
        f"at one time, {settings.max_packets_per_second} packets a second from a node on all its paths; "
        f"a packet counts as lost after at most {settings.timeout_ms} ms",
    ]


def _line(request: Request, version: int, what: str) -> str:
    packet = packet_of(request.payload, version)
    return f"{request.count} x {packet} bytes = {request.count * packet} bytes: {what} (payload {request.payload})"


def _latency_pings(settings: Settings) -> Iterator[str]:
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
    both = ping_bytes(SMALL_PAYLOAD, _SMALL_MTU) + ping_bytes(_BLOCK_PAYLOAD, _SMALL_MTU)
    return both * 8 * settings.probes_per_second / 1e6


# --- the database -----------------------------------------------------------------------------------------------------


def _database(settings: Settings, groups: Collection[str]) -> Iterator[str]:
    """The connection and every statement with what it is for."""
    database = settings.database
    if not database.is_set:
        yield from (
            "",
            "No database is set, so none is asked; `racwire plan --connect SCAN:1521/SERVICE --user NAME` shows the "
            "statements.",
        )
        return
    login = Login(database, None, "")
    mode = "thick" if why_thick(database) else "thin"
    yield from (
        "",
        "The database:",
        f"  connect {login.who} to {login.where} (python-oracledb, {mode}; module {MODULE}, action the statement's "
        "name),",
        f"  giving up after {database.connect_timeout_s:g} s without a listener, {database.login_timeout_s:g} s "
        f"without a session, {database.call_timeout_s:g} s in one statement;",
        f"  {READ_ONLY}",
    )
    if "database" in groups:
        yield from ("", "  once, where the release has these columns:", *_statements(_of_group("database")))
    if "activity" in groups:
        yield from (
            "",
            f"  twice, {settings.sampling.interval_s:g} s apart (for all instances; where one hangs, the V$ views of "
            "the connected one in their place):",
            *_statements(_of_group("activity")),
        )
    if "history" in groups:
        yield from _history(settings)


def _history(settings: Settings) -> Iterator[str]:
    days = f"the last {settings.database.history_days:g} days"
    awr = [query for query in _of_group("history") if query.statement.name.startswith("awr_")]
    statspack = [query for query in _of_group("history") if query not in awr]
    if settings.database.diagnostics_pack:
        yield from ("", f"  once, over {days} of AWR, since you say that you have the Diagnostics Pack:")
        yield from _statements(awr)
    else:
        yield from ("", "  nothing of AWR: that needs the Diagnostics Pack, and --awr to say that you have it;")
    where = "where AWR may not be read" if settings.database.diagnostics_pack else "where Statspack is installed"
    yield from ("", f"  once, over {days} of Statspack, {where}:", *_statements(statspack))


def _sampled_instances(settings: Settings) -> Iterator[str]:
    if not settings.database.is_set:
        yield from ("", "  of the instances nothing: no database is set.")
        return
    yield from (
        "",
        "  of the instances, through one connection held all the while, made as that of the checks (where one hangs,",
        "  the V$ views of the connected one in place of GV$, and through a second connection the statements of the",
        f"  samples on GV$, every {GLOBAL_AGAIN_S:g} s or less often, until all answer; no statement may take longer "
        f"than {settings.traffic.database_timeout_s:g} s):",
    )
    paces = {
        SamplePace.CONNECTED: SamplePace.CONNECTED.value,
        SamplePace.SAMPLE: f"every {settings.traffic.interval_s:g} s",
        SamplePace.PAIRS: f"every {settings.traffic.pairs_interval_s:g} s",
        SamplePace.INVENTORY: f"every {INVENTORY_S:g} s, and when an instance is seen that is not known, what the "
        "release has of",
    }
    for pace, when in paces.items():
        yield f"  {when}:"
        yield from _statements(query for query in queries() if query.sampled is pace)


def _of_group(group: str) -> list[SqlQuery]:
    return [query for query in queries() if query.groups[0] == group]


def _statements(shown: Iterable[SqlQuery]) -> Iterator[str]:
    for query in shown:
        yield from _statement(query.statement)


def _statement(statement: Statement) -> Iterator[str]:
    """A statement with what it is for, needs and is."""
    yield f"    {statement.topic}: {statement.purpose}"
    yield f"      SELECT on {', '.join(statement.grants)}; licence: {statement.licence}; Oracle {statement.versions}"
    yield from (f"        {line}" for line in statement.text.splitlines())
