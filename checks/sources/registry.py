"""The registry of everything that racwire reads, runs and sends: files, commands, programs, SQL statements, packets.

The guard before every program, the topics of the journal and the dry run (`racwire plan`) follow from it. To add an
entry, declare it in the module of its kind (`kernel_files.py`, `nic_drivers.py`, `node_setup.py`, `grid_commands.py`;
a statement is a file in `database/queries`), and let the reader take its text and topic from the entry.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from checks.sources import (
    change_files,
    drill_state,
    grid_commands,
    kernel_files,
    nic_drivers,
    node_setup,
    private_connections,
    settings_files,
    storage_connections,
)
from checks.sources.database.statements import SqlStatement, statements
from checks.sources.entries import FILES, Program, Read, RegistryEntry, RunsOn
from checks.sources.kernel_trace import trace_entry
from checks.sources.node_setup import OLR_PATHS
from checks.sources.nodes import user_rights

PING_RIGHT = "the program ping (setuid or cap_net_raw), or a group in net.ipv4.ping_group_range"
"""The right to send pings."""
PATH_PINGS = RegistryEntry(
    name="path pings",
    groups=("paths",),
    where=RunsOn.NODES,
    purpose="packets between each ordered pair of nodes on each private network, never on a public one",
    reads=(
        Read(
            "path NETWORK FROM TO",
            "packets",
            "DF pings of three sizes, and follow-up pings that depend on the answers",
            PING_RIGHT,
        ),
    ),
)
UDP_DATAGRAMS = RegistryEntry(
    name="udp datagrams",
    groups=("flows",),
    where=RunsOn.NODES,
    purpose="datagrams between each ordered pair of nodes on each private network, never on a public one",
    reads=(
        Read(
            "udp datagrams",
            "packets",
            "UDP datagrams from several source ports to a closed port, each answered by 'port unreachable'",
        ),
    ),
)
STEP_PACKETS = RegistryEntry(
    name="packets of steps",
    groups=("investigation",),
    where=RunsOn.NODES,
    purpose="packets of `racwire investigate` and `racwire check --deep` between two nodes at a time, on a private "
    "network or between HAIP addresses in use, never on a public one",
    reads=(
        Read("", "packets", "UDP datagrams of one size to a closed port, which the receiver counts"),
        Read("", "pings", "DF pings of one size", PING_RIGHT),
    ),
)
HAIP_PINGS = RegistryEntry(
    name="haip pings",
    groups=("haip_paths",),
    where=RunsOn.NODES,
    purpose="pings between the HAIP addresses that the instances use and their private NICs have; before the "
    "instances of a change start, those that the private NICs have",
    reads=(Read("haip ADDRESS ADDRESS", "packets", "DF pings of two sizes between HAIP addresses in use", PING_RIGHT),),
)
ARP_PROBES = RegistryEntry(
    name="arp probes",
    groups=("owners",),
    where=RunsOn.HERE,
    purpose="who answers for each private and HAIP address, and whether two private networks are one (RFC 5227: sender "
    "address 0.0.0.0, no announcement)",
    reads=(
        Read(
            "arp probes",
            "packets",
            "two ARP probes for each private and HAIP address, and from each private NIC for the addresses of the "
            "other private networks",
            "root, or CAP_NET_RAW",
        ),
    ),
)
LATENCY_PINGS = RegistryEntry(
    name="latency pings",
    groups=("samples",),
    where=RunsOn.HERE,
    purpose="the round-trip time of a small ping and of a block, only with --probe",
    reads=(
        Read(
            "",
            "packets",
            "pings of two sizes to every other node on each private network, never on a public one",
            "root, or a group in net.ipv4.ping_group_range",
        ),
    ),
)

# --- the database -----------------------------------------------------------------------------------------------------

DATABASE_LOGIN = RegistryEntry(
    name="database login",
    groups=("database", "activity", "history", "samples"),
    where=RunsOn.DATABASE,
    purpose="a read-only session",
    reads=(Read("sql connect", "connection", "connect USER to DATABASE"),),
)


INVENTORY_S = 60.0
"""Seconds from one attempt to read a missing name, or a refused view, to the next."""


class SamplePace(StrEnum):
    """How often live samples send a statement."""

    CONNECTED = "once it is connected"
    SAMPLE = "with each sample"
    MESSAGES = "with two samples in a row, at the slower pace of pairs"
    PAIRS = "at the slower pace of pairs (traffic.pairs_interval_s)"
    INVENTORY = "when an unknown instance appears, or one comes back"


GLOBAL_AGAIN_S = 15.0
"""Seconds after which racwire first queries all instances again while one does not answer; then less often."""

_IDENTITY = (
    "connected",
    "database",
    "database_11g",
    "active_instances",
    "instances",
    "instances_before_18c",
    "interconnects",
    "parameters",
    "dnfs_servers",
    "asm_clients",
)
"""The statements that identify the database. Statements that are neither these nor history are read twice."""
_OF_A_CHANGE = ("pluggables", "recovery_area", "restore_points")
"""The statements that only a change or an experiment sends."""
_SAMPLED = {
    "connected": SamplePace.CONNECTED,
    "sysstat": SamplePace.SAMPLE,
    "dlm_misc": SamplePace.MESSAGES,
    "ic_clients": SamplePace.MESSAGES,
    "cache_transfer": SamplePace.PAIRS,
    "instance_ping": SamplePace.PAIRS,
    "instances": SamplePace.INVENTORY,
    "instances_before_18c": SamplePace.INVENTORY,
}

FAR_ENDS = Program(
    name="far ends",
    groups=("measurement",),
    where=RunsOn.PEERS,
    purpose="whether Perl or Python could answer a measurement there, and whether one runs; starts neither",
    text=(
        f"home=$(grep -h -s '^crs_home=' {OLR_PATHS} | head -n 1 | cut -d = -f 2-); "
        'if [ -n "$home" ] && [ -x "$home/perl/bin/perl" ]; then printf \'run %s\\n\' "$home/perl/bin/perl"; fi; '
        'for path in "$@"; do if [ -x "$path" ]; then printf \'run %s\\n\' "$path"; fi; done; '
        "if grep -q -F '@racwire-measure' /proc/net/unix; then printf 'measures\\n'; fi"
    ),
    arguments=(FILES,),
    example=("/usr/bin/perl", "/usr/bin/python3"),
    reads=(
        Read("", "interpreters", "test -x FILE"),
        Read("", "the Grid home's Perl", f"grep -h '^crs_home=' {OLR_PATHS}; test -x $home/perl/bin/perl"),
        Read("", "other measurements", "grep -q -F '@racwire-measure' /proc/net/unix"),
    ),
)


@dataclass(frozen=True, kw_only=True)
class SqlQuery(RegistryEntry):
    """A statement that racwire sends to the database."""

    statement: SqlStatement
    sampled: SamplePace | None = None
    """How often live samples send it; None where they do not send it."""


@cache
def queries() -> tuple[SqlQuery, ...]:
    """An entry for each statement of `database/queries`."""
    return tuple(_query(statement) for statement in statements().values())


def _query(statement: SqlStatement) -> SqlQuery:
    name = statement.name
    group = "activity"
    if name in _IDENTITY:
        group = "database"
    elif name in _OF_A_CHANGE:
        group = "changing"
    elif name.startswith(("awr_", "statspack_")):
        group = "history"
    sampled = _SAMPLED.get(name)
    return SqlQuery(
        name=statement.topic,
        groups=(group, "samples") if sampled else (group,),
        where=RunsOn.DATABASE,
        purpose=statement.purpose,
        reads=(Read(statement.topic, statement.topic, statement.text),),
        statement=statement,
        sampled=sampled,
    )


# --- all of it --------------------------------------------------------------------------------------------------------

_MODULES = (
    grid_commands,
    kernel_files,
    nic_drivers,
    storage_connections,
    private_connections,
    node_setup,
    change_files,
    settings_files,
    user_rights,
    drill_state,
    trace_entry,
)
"""The modules whose entries are all in the registry, with those of this one; in the order of the dry run."""
DECLARED = {
    name: value
    for names in (*map(vars, _MODULES), globals())
    for name, value in tuple(names.items())
    if isinstance(value, RegistryEntry)
}
"""The entries without the statements, by the names of their constants."""

PROGRAMS = {source.text: source for source in DECLARED.values() if isinstance(source, Program)}
"""The programs that an open shell may run, by their text."""


def sources(group: str = "") -> tuple[RegistryEntry, ...]:
    """All entries of the registry, or the entries that a group of facts needs."""
    return tuple(source for source in (*DECLARED.values(), *queries()) if not group or group in source.groups)
