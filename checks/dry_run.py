"""What checks would read, ask and send, said without doing it: `racwire plan`."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Mapping

from checks.change.planned import PLANNED, planned_evidence
from checks.model.check import Check
from checks.model.facts import GridHome, Port, PrivateNetwork
from checks.model.packet_sizes import SMALL_PAYLOAD
from checks.model.settings import Settings
from checks.run.engine import needed_groups
from checks.run.gathering import GATHERERS, counters_interval_s
from checks.sources.clusterware.clusterware_reader import planned_commands
from checks.sources.clusterware.grid_home import LOOKED_IN, find_grid_home
from checks.sources.clusterware.managed import planned_managed
from checks.sources.database.statement_dry_run import plan_database
from checks.sources.nodes.counter_change import planned_counter_reads
from checks.sources.nodes.local import planned_reads
from checks.sources.nodes.remote import COMMANDS
from checks.sources.nodes.setup_program import planned_setup_reads
from checks.sources.nodes.ssh import ssh_command
from checks.sources.probes.count_arrivals import COUNT_PROGRAM
from checks.sources.probes.ends import link_program, neighbour_program
from checks.sources.probes.path import Path
from checks.sources.probes.ping_command import PROBE_PROGRAM, RUN, PingTool
from checks.sources.probes.pinger import Request
from checks.sources.probes.probe_dry_run import describe_budget

SHOWN_MTU = 9000
"""The MTU for which sizes are shown: that of a network is known only when its nodes have been read."""


def plan(checks: Iterable[Check], settings: Settings, environ: Mapping[str, str] = os.environ) -> Iterator[str]:
    """Every file, command, query and packet, line by line. Raises ValueError where ssh cannot be called as set."""
    chosen = tuple(checks)
    groups = needed_groups(chosen, (*GATHERERS, PLANNED))
    yield f"For {', '.join(c.id for c in chosen)}: nothing is asked or sent to say this, but where the Grid home is."
    if "clusterware" in groups:
        yield from _clusterware(settings, environ)
    if "nodes" in groups:
        yield from _nodes(settings, environ)
    if "setups" in groups:
        yield from _setups()
    if "managed" in groups:
        yield from _managed(settings, environ)
    if "changing" in groups:
        yield from ("", "For a change, where its step asks for it:", *(f"  {line}" for line in planned_evidence()))
    if "counters" in groups:
        yield from ("", f"The kernels' counters, twice, {counters_interval_s(settings):g} s apart:")
        yield from (f"  on {where}: {what}" for where, what in planned_counter_reads())
    if "paths" in groups:
        yield from _paths(settings)
    if "database" in groups:
        yield from plan_database(settings, groups)


def _clusterware(settings: Settings, environ: Mapping[str, str]) -> Iterator[str]:
    yield from ("", "To find the Grid home, on this node:", f"  {LOOKED_IN}")
    yield from ("", "Clusterware tools, on this node, each once, reading only:")
    home = find_grid_home(settings.cluster.grid_home, environ)
    if not isinstance(home, GridHome):
        yield f"  ({home.reason})"
    for topic, command in planned_commands(home.path if isinstance(home, GridHome) else "$GRID_HOME"):
        yield f"  {topic:<33}{shlex.join(command)}"


def _nodes(settings: Settings, environ: Mapping[str, str]) -> Iterator[str]:
    yield from ("", "Files and netlink queries, on this node:")
    for topic, action in planned_reads():
        yield f"  {topic:<14}{action}"
    peer = settings.cluster.peers[0] if settings.cluster.peers else "PEER"
    yield from ("", "On each peer, through one connection held for the run:")
    yield f"  {shlex.join(ssh_command(peer, settings.ssh, environ))}"
    yield from ("", "and in that one shell, once:")
    for topic, command in COMMANDS.items():
        yield f"  {topic:<14}{command}"


def _setups() -> Iterator[str]:
    yield from (
        "",
        "Of each node's setup, once, in a shell of its own on this node and in that one shell on each peer;",
    )
    yield "of files that can hold secrets only lines of a list are read:"
    for what, how in planned_setup_reads():
        yield f"  {what:<20}{how}"


def _managed(settings: Settings, environ: Mapping[str, str]) -> Iterator[str]:
    home = find_grid_home(settings.cluster.grid_home, environ)
    yield from ("", "Of what Clusterware manages, on this node, once for each database:")
    for topic, command in planned_managed(home.path if isinstance(home, GridHome) else "$GRID_HOME"):
        yield f"  {topic:<33}{shlex.join(command)}"


def _paths(settings: Settings) -> Iterator[str]:
    yield from ("", "Packets, for each ordered pair of nodes on each private network, never on a public one")
    yield f"(sizes shown for MTU {SHOWN_MTU}; from this node by ICMP socket where it may, else and from peers by ping):"
    for line in describe_budget(settings.probe, SHOWN_MTU):
        yield f"  {line}"
    near, far = Port("FROM", "eth1", "192.168.10.1"), Port("TO", "eth1", "192.168.10.2")
    way = Path(PrivateNetwork("NETWORK", "eth1", "192.168.10.0/24", "oifcfg", (near, far)), near, far, SHOWN_MTU)
    tool = PingTool(release=20211215, can_probe=True, can_time_out=True)
    ping = tool.command(way, Request(SMALL_PAYLOAD, RUN), settings.probe.timeout_ms / 1000)
    yield from (
        "",
        "and with them, in the shells that are open anyway (between 192.168.10.1 and .2 on eth1, say):",
    )
    yield from ("  once on a node whose own ping is used, to see what that can do:", *_indented(PROBE_PROGRAM))
    yield from (f"  each of its pings, {RUN} packets at most:", *_indented(shlex.join(ping)))
    yield from ("  where nothing is answered, on both ends:", *_indented(link_program(near)))
    yield from _indented(neighbour_program(way))
    yield from ("  behind a black hole, on the target before and after:", *_indented(COUNT_PROGRAM))


def _indented(program: str) -> Iterator[str]:
    yield from (f"    {line}" for line in program.strip().splitlines())
