"""The dry run, `racwire plan`: every file, command, query and packet of checks and live samples.

All lines come from the registry (`checks/sources/registry.py`) and the settings. The dry run queries and sends nothing;
it reads only the files that name the Grid home.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping

from checks.model.check import Check
from checks.model.facts import GridHome, Unknown
from checks.model.packet_sizes import BLOCK_HEADER_BYTES, SMALL_PAYLOAD, USUAL_BLOCK_BYTES, ping_bytes
from checks.model.settings import ClusterSettings, DatabaseSettings, Settings, TrafficSettings
from checks.rules.sampling_pace import PX_PER_S, pace_text
from checks.run.dry_run_packets import plan_other_packets, plan_pings
from checks.run.engine import needed_groups
from checks.run.gathering import CHANGING, GATHERERS, counters_interval_s
from checks.sources.clusterware.grid_home import find_grid_home
from checks.sources.database.login import MODULE, READ_ONLY, Login, why_thick
from checks.sources.database.statements import SqlStatement
from checks.sources.drill_state import DRILL_LOGS, DRILL_PROBES, DRILL_STATE, DRILL_TIMERS
from checks.sources.entries import GridCommand, Program, RegistryEntry, RunsOn
from checks.sources.grid_commands import (
    DATABASE_CONFIGURATION,
    GRID_HOME,
    LIST_DATABASES,
    LISTENER_STATUS,
    SCAN,
    SCAN_LISTENER,
)
from checks.sources.kernel_files import (
    COUNTERS,
    COUNTERS_OF_THIS_NODE,
    INTERFACES_OF_THIS_NODE,
    LINKS_MOST,
    LINKS_WITHIN_S,
    OTHER_SAMPLERS,
    PEER,
    ROUTES_IN_USE,
    SAMPLE,
    SAMPLE_OF_THIS_NODE,
    THIS_NODE,
)
from checks.sources.nic_drivers import DRIVER_COUNTERS, LEAST_APART_S, MOST_NICS
from checks.sources.node_setup import SETUP
from checks.sources.nodes.ssh import configuration_command, ssh_command
from checks.sources.nodes.user_rights import ACCOUNT
from checks.sources.private_connections import PRIVATE_TCP
from checks.sources.registry import FAR_ENDS, GLOBAL_AGAIN_S, SamplePace, SqlQuery, queries, sources
from checks.sources.storage_connections import STORAGE

_SMALL_MTU = 1500
_BLOCK_PAYLOAD = USUAL_BLOCK_BYTES + BLOCK_HEADER_BYTES
_COLUMN = 33


def plan_checks(checks: Iterable[Check], settings: Settings, environ: Mapping[str, str] = os.environ) -> Iterator[str]:
    """Yield every file, command, query and packet of checks, line by line. Raises ValueError where the ssh settings
    cannot be used."""
    selected = tuple(checks)
    groups = needed_groups(selected, (*GATHERERS, CHANGING))
    yield f"Plan for {', '.join(c.id for c in selected)}."
    yield "This plan queries and sends nothing; it reads only the files that name the Grid home."
    if "clusterware" in groups:
        yield from ("", "To find the Grid home, on this node:", f"  {GRID_HOME.reads[0].how}")
        yield from ("", "Clusterware tools, on this node, each once, read-only:")
        yield from _grid_commands("clusterware", settings.cluster, environ)
    if "nodes" in groups:
        yield from _nodes(settings, environ)
    if "setups" in groups:
        yield from (
            "",
            "Setup of each node, once, in a separate shell on this node and in the same shell on each peer;",
            "from files that can contain secrets, only lines of a fixed list are read:",
            *_reads(SETUP, 20),
        )
    if "managed" in groups:
        yield from ("", "Resources that Clusterware manages, on this node, once for each database:")
        yield from _grid_commands("managed", settings.cluster, environ)
    if "changing" in groups:
        yield from ("", "For a change, at the steps that need it:", *_changing())
    if "counters" in groups:
        yield from ("", f"The kernels' counters, twice, {counters_interval_s(settings):g} s apart:")
        yield f"  {COUNTERS_OF_THIS_NODE.where}: {COUNTERS_OF_THIS_NODE.reads[0].how}"
        yield f"  {COUNTERS.where} (example: its one private NIC is eth1):"
        yield from (f"    {line}" for line in COUNTERS.action_on(*COUNTERS.example).splitlines())
        is_long = counters_interval_s(settings) >= LEAST_APART_S
        when = "" if is_long else f", with an interval of {LEAST_APART_S} s or more, which is not set"
        yield f"  {DRIVER_COUNTERS.where}, for {MOST_NICS} NICs at most{when}:"
        yield f"    {DRIVER_COUNTERS.action_on(*DRIVER_COUNTERS.example)}"
        yield from (f"  {STORAGE.where}:", *(f"    {read.how}" for read in STORAGE.reads))
        yield from (f"    {line}" for line in PRIVATE_TCP.action_on(*PRIVATE_TCP.example).splitlines())
    if "effective_routes" in groups:
        yield from ("", f"{ROUTES_IN_USE.where.capitalize()}, for each pair of private addresses, after the pings:")
        yield f"  {ROUTES_IN_USE.reads[0].how}"
    if "paths" in groups:
        yield from plan_pings(settings.probe)
    yield from plan_other_packets(settings, groups)
    if not {"database", "activity", "history"}.isdisjoint(groups):
        yield from _database(settings, groups, environ)


def plan_samples(settings: Settings, environ: Mapping[str, str] = os.environ) -> Iterator[str]:
    """Yield every file, program, statement and packet of live samples, line by line. Raises ValueError where the ssh
    settings cannot be used."""
    every = f"every {settings.traffic.interval_s:g} s"
    yield from (
        "",
        "Live samples, for the Traffic and Database screens, `racwire watch` and `racwire record`.",
        "First, once, the nodes, private networks and instances: the reads listed above for Clusterware, this node,",
        "each peer and the identity of the database. Then, until the samples are stopped; or, where another racwire of",
        "this user on this node samples the same, only what that one sends through an abstract unix socket:",
        "",
        "  on this node:",
        *_timed(every, SAMPLE_OF_THIS_NODE.reads[0].how),
        *_timed(f"every {OTHER_SAMPLERS.every_s:g} s", OTHER_SAMPLERS.reads[0].how),
        *_timed(
            "when the kernel reports a changed interface (netlink RTMGRP_LINK), and every "
            f"{INTERFACES_OF_THIS_NODE.every_s:g} s",
            "\n".join(read.how for read in INTERFACES_OF_THIS_NODE.reads),
        ),
        "",
        "  on each peer, through one open connection, one program at a time:",
        *(f"    {line}" for line in _ssh_lines(settings, environ)),
        *_timed(f"{every}, with a limit of {SAMPLE.limit_s:g} s", SAMPLE.text),
        *_timed(
            f"when a sample shows a changed interface, at most {LINKS_MOST} times in {LINKS_WITHIN_S:g} s, and every "
            f"{PEER.every_s:g} s",
            "the reads listed above for each peer",
        ),
    )
    yield from _sampled_instances(settings)
    yield from _latency_pings(settings)


def plan_rights(checks: Iterable[Check], *, samples: bool) -> Iterator[str]:
    """Yield each right beyond those of any user, with what needs it, line by line."""
    groups = {*needed_groups(tuple(checks), (*GATHERERS, CHANGING)), *(("samples",) if samples else ())}
    needed = [entry for entry in sources() if not groups.isdisjoint(entry.groups)]
    by_right: dict[str, dict[str, None]] = {}
    for entry in needed:
        for read in entry.reads:
            if read.right:
                where = "" if entry.where is RunsOn.HERE else f", {entry.where}"
                by_right.setdefault(read.right, {})[f"{read.how}{where}"] = None
    yield from ("", "Rights. Any user may do all of the above, except:")
    for right, uses in by_right.items():
        yield f"  {right}:"
        yield from (f"    {use}" for use in uses)
    if any(isinstance(entry, SqlQuery) for entry in needed):
        yield from ("  SELECT on the views of the statements:", "    `racwire grants` prints the GRANT commands")
    yield from (
        "`racwire doctor` shows which of these rights this user lacks here. `racwire plan --sudoers` prints lines of",
        "sudoers for the tools that refuse this user; racwire runs sudo only with --sudo.",
    )


def plan_doctor() -> Iterator[str]:
    """Yield the reads of `racwire doctor`, line by line."""
    yield from (
        "",
        "racwire doctor: the reads listed above, without pings, without an interval between the two readings of",
        f"counters and of instances, and of the history only its range. In addition, {ACCOUNT.where}:",
        *_reads(ACCOUNT, 16),
    )


def plan_measurement() -> Iterator[str]:
    """Yield what `racwire measure` and `racwire drill` read in addition to checks and samples, line by line."""
    yield from (
        "",
        f"racwire measure, racwire drill: {FAR_ENDS.where}, before their plan:",
        *(f"  {line}" for line in FAR_ENDS.action_on(*FAR_ENDS.example).splitlines()),
        *_reads(FAR_ENDS, 22),
        "",
        "racwire measure storage DIR: on this node, before its plan:",
        "  directory             realpath, stat, statvfs and a listing of DIR; /proc/self/mountinfo; /sys/dev/block",
        "and with --go:",
        "  file                  one file in DIR without a name (O_TMPFILE; else .racwire-TOKEN, unlinked as soon as",
        "                        it is open), written and read with O_DIRECT or fsync by a process of racwire here",
    )


def plan_drill() -> Iterator[str]:
    """Yield what `racwire drill` reads and sends in addition, line by line."""
    yield from (
        "",
        f"racwire drill: {DRILL_PROBES.where}, only with --go CLUSTER:",
        *_reads(DRILL_PROBES, 20),
        f"{DRILL_TIMERS.where}, once:",
        *_reads(DRILL_TIMERS, 20),
        f"{DRILL_STATE.where}, every {DRILL_STATE.every_s:g} s while it runs:",
        *_reads(DRILL_STATE, 20),
        f"{DRILL_LOGS.where}, at the end; in a drill of a node, on this one also every few seconds:",
        *_reads(DRILL_LOGS, 20),
    )


# --- nodes and Clusterware --------------------------------------------------------------------------------------------


def _grid_commands(group: str, cluster: ClusterSettings, environ: Mapping[str, str]) -> Iterator[str]:
    home = find_grid_home(cluster.grid_home, environ)
    if not isinstance(home, GridHome):
        yield f"  ({home.reason})"
    yield from _command_lines((entry for entry in sources(group) if isinstance(entry, GridCommand)), home)


def _command_lines(commands: Iterable[GridCommand], home: GridHome | Unknown) -> Iterator[str]:
    path = home.path if isinstance(home, GridHome) else "$GRID_HOME"
    yield from (f"  {command.topic:<{_COLUMN}}{shlex.join(command.argv(path))}" for command in commands)


def _nodes(settings: Settings, environ: Mapping[str, str]) -> Iterator[str]:
    yield from ("", "Files and netlink queries, on this node:", *_reads(THIS_NODE, 14))
    yield from ("", "On each peer, through one connection for the whole run:")
    yield from (f"  {line}" for line in _ssh_lines(settings, environ))
    yield from ("", "and in that shell, once:", *_reads(PEER, 14))


def _ssh_lines(settings: Settings, environ: Mapping[str, str]) -> Iterator[str]:
    peer = settings.cluster.peers[0] if settings.cluster.peers else "PEER"
    if not environ.get("RACWIRE_RSH"):
        yield f"{shlex.join(configuration_command(peer, settings.ssh, environ))}  (here: reads the configuration only)"
    yield shlex.join(ssh_command(peer, settings.ssh, environ))


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


def _latency_pings(settings: Settings) -> Iterator[str]:
    rate, most = settings.traffic.probes_per_second, settings.probe.max_packets_per_second
    pings = f"{rate} {'ping' if rate == 1 else 'pings'} a second"
    yield from (
        "",
        "  Packets: none without --probe (record, watch). With it, by ICMP socket, from this node to every other node",
        "  on each private network, never on a public one, whether or not answers arrive:",
        f"    {pings} of {SMALL_PAYLOAD:,} and as many of {_BLOCK_PAYLOAD:,} bytes on each path: the larger size is a",
        "    block of 8 KB with its header (or of the database's block size), cut into fragments where the MTU",
        f"    is smaller; {_megabits(settings.traffic):.2g} Mb/s on each path, and as much in answers;",
        f"    at most {most:,} pings a second on all paths together.",
        "  Before racwire sends any ping, it prints the paths with rate, sizes and targets.",
    )


def _megabits(settings: TrafficSettings) -> float:
    """Return the megabits per second of the pings of both sizes on a path, each way, with the headers at MTU 1500."""
    both = ping_bytes(SMALL_PAYLOAD, _SMALL_MTU) + ping_bytes(_BLOCK_PAYLOAD, _SMALL_MTU)
    return both * 8 * settings.probes_per_second / 1e6


# --- the database -----------------------------------------------------------------------------------------------------


def _database(settings: Settings, groups: Collection[str], environ: Mapping[str, str]) -> Iterator[str]:
    """Yield the connection, and every statement with its purpose."""
    database = settings.database
    if not database.is_set:
        yield from (
            "",
            "No database is configured, so none is queried; `racwire plan --connect SCAN:1521/SERVICE --user NAME` "
            "lists the statements.",
        )
        yield from _proposed(settings.cluster, environ)
        return
    login = Login(database, None, "")
    mode = "thick" if why_thick(database) else "thin"
    yield from (
        "",
        "The database:",
        f"  connect {login.who} to {login.where} (python-oracledb, {mode}; module {MODULE}, action the statement's "
        "name),",
        f"  with limits of {database.connect_timeout_s:g} s for the listener, {database.login_timeout_s:g} s "
        f"for the login, {database.call_timeout_s:g} s for one statement;",
        f"  {READ_ONLY}",
        f"  where the listener does not know the service: {LISTENER_STATUS.command} for each running listener here",
    )
    if "database" in groups:
        yield from ("", "  once, where the release has these columns:", *_statements(_of_group("database")))
    if "changing" in groups:
        yield from (
            "",
            "  for a change, when it is planned and after the restart:",
            *_statements(_of_group("changing")),
        )
    if "activity" in groups:
        yield from (
            "",
            f"  twice, {settings.sampling.interval_s:g} s apart (for all instances; where an instance hangs, the V$ "
            "views of the connected instance instead):",
            *_statements(_of_group("activity")),
        )
    if "history" in groups:
        yield from _history(database)


def _proposed(cluster: ClusterSettings, environ: Mapping[str, str]) -> Iterator[str]:
    """Yield the commands that find a connect string to propose."""
    yield "To propose a connect string for the instances of this node (ora_pmon_* processes), read-only:"
    yield f"  {GRID_HOME.reads[0].what:<{_COLUMN}}{GRID_HOME.reads[0].how}"
    yield from _command_lines(
        (LIST_DATABASES, DATABASE_CONFIGURATION, SCAN, SCAN_LISTENER, LISTENER_STATUS),
        find_grid_home(cluster.grid_home, environ),
    )


def _history(database: DatabaseSettings) -> Iterator[str]:
    days = f"the last {database.history_days:g} days"
    awr = [query for query in _of_group("history") if query.statement.name.startswith("awr_")]
    statspack = [query for query in _of_group("history") if query not in awr]
    if database.diagnostics_pack:
        yield from ("", f"  once, over {days} of AWR, since your settings state that you have the Diagnostics Pack:")
        yield from _statements(awr)
    else:
        yield from ("", "  no AWR: AWR needs the Diagnostics Pack, and --awr to state that you have it;")
    where = "where AWR may not be read" if database.diagnostics_pack else "where Statspack is installed"
    yield from ("", f"  once, over {days} of Statspack, {where}:", *_statements(statspack))


_PX_BUDGET = (
    f"  These statements occupy at most {PX_PER_S:g} PX slaves a second on all instances together,\n"
    "  those of all racwires of this node included."
)


def _sampled_instances(settings: Settings) -> Iterator[str]:
    if not settings.database.is_set:
        yield from ("", "  no statements on instances: no database is configured.")
        return
    yield from (
        "",
        "  statements on the instances, through one open connection with the login of the checks (where an instance",
        "  hangs: the V$ views of the connected instance instead of GV$, and through a second connection the GV$",
        f"  statements of the samples at most every {GLOBAL_AGAIN_S:g} s, until all answer; limit of a statement: "
        f"{settings.traffic.database_timeout_s:g} s).",
        "  A GV$ statement occupies a parallel query (PX) slave on each instance, whose rows cross the interconnect.",
        *([] if settings.traffic.instances_interval_s else [_PX_BUDGET]),
    )
    paces = {
        SamplePace.CONNECTED: SamplePace.CONNECTED.value,
        SamplePace.SAMPLE: pace_text(settings.traffic),
        SamplePace.MESSAGES: f"twice in a row, every {settings.traffic.pairs_interval_s:g} s or less often",
        SamplePace.PAIRS: f"every {settings.traffic.pairs_interval_s:g} s or less often",
        SamplePace.INVENTORY: f"{SamplePace.INVENTORY.value}, those of these that the release has",
    }
    for pace, when in paces.items():
        yield f"  {when}:"
        yield from _statements(query for query in queries() if query.sampled is pace)


def _of_group(group: str) -> list[SqlQuery]:
    return [query for query in queries() if query.groups[0] == group]


def _statements(selected: Iterable[SqlQuery]) -> Iterator[str]:
    for query in selected:
        yield from _statement(query.statement)


def _statement(statement: SqlStatement) -> Iterator[str]:
    """Yield a statement with its purpose, grants, licence and text."""
    yield f"    {statement.topic}: {statement.purpose}"
    yield f"      SELECT on {', '.join(statement.grants)}; licence: {statement.licence}; Oracle {statement.versions}"
    yield from (f"        {line}" for line in statement.text.splitlines())
