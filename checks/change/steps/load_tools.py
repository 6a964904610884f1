"""The load tools of an experiment: how each is started, and what makes its load stress the interconnect. Data only.

Sources: Swingbench, charbench -h; HammerDB documentation, Command Line Interface; Database SQL Language Reference,
ALTER SEQUENCE and ALTER INDEX; experiments by R. Kundersma.
"""

from __future__ import annotations

from dataclasses import dataclass

SEQUENCES = (
    "SELECT 'ALTER SEQUENCE {schema}.' || sequence_name || ' CACHE 3;'",
    "  FROM dba_sequences WHERE sequence_owner = '{schema}';",
)
"""Prints a statement for each sequence: instances that cache few values exchange the block of the sequence."""
INDEXES = (
    "SELECT 'ALTER INDEX {schema}.' || index_name || ' REBUILD NOREVERSE;'",
    "  FROM dba_indexes WHERE owner = '{schema}' AND index_type LIKE '%/REV';",
)
"""Prints a statement for each REVERSE index: neighbouring keys then share a block, which the instances exchange."""
TABLES = (
    "SELECT 'SELECT /*+ FULL(t) */ COUNT(*) FROM {schema}.' || table_name || ' t;'",
    "  FROM dba_tables WHERE owner = '{schema}' AND num_rows > 100000;",
)
"""Prints a full scan of each large table, by the statistics of the optimizer."""


@dataclass(frozen=True)
class LoadTool:
    """A load tool."""

    name: str
    """For a sentence: `Swingbench`."""
    place: str
    """Where its commands are typed."""
    start: tuple[str, ...]
    """The lines that run the load, with `{users}`, `{minutes}`, `{hours}`, `{think}`, `{run}`."""
    note: str
    schema: str
    """The usual owner of its tables."""
    result: str = ""
    """The file with its result, for `racwire compare --also`; empty where racwire reads none."""


SWINGBENCH = LoadTool(
    name="Swingbench",
    place="On the load generator, in the directory bin of Swingbench",
    start=(
        "./charbench -c ../configs/SOE_Server_Side_V2.xml -cs //SCAN/SERVICE -u soe -uc {users} -min {think} "
        "-max {think} -rt {hours} -r {run}.xml -a",
    ),
    note="Replace SCAN/SERVICE by a service that all instances offer; charbench takes the password of the "
    "configuration file. -uc: users; -min and -max: the think time in ms; -rt: hh:mm. MaximumTransactionRate in the "
    "result is per minute, AverageTransactionsPerSecond per second.",
    schema="SOE",
    result="{run}.xml",
)
HAMMERDB = LoadTool(
    name="HammerDB",
    place="On the load generator, in hammerdbcli",
    start=(
        "dbset db ora",
        "diset connection instance SCAN/SERVICE",
        "diset connection rac 1",
        "diset tpcc ora_driver timed",
        "diset tpcc ora_rampup 2",
        "diset tpcc ora_duration {minutes}",
        "diset tpcc ora_keyandthink false",
        "loadscript",
        "vuset vu {users}",
        "vuset logtotemp 1",
        "vucreate",
        "vurun",
    ),
    note="Without rac 1, HammerDB counts the transactions of one instance only. With ora_keyandthink true, the users "
    "wait as TPC-C has it: then state that as the think time. Keep the log as {run}.log.",
    schema="TPCC",
    result="{run}.log",
)
OWN = LoadTool(
    name="your own load",
    place="Where your load is started",
    start=("# start the load: {users} users, think time {think}, for {minutes} minutes ({run})",),
    note="Start the same load for each run: the same program, the same input, the same order, on all instances.",
    schema="OWNER",
)

LOADS = {"swingbench": SWINGBENCH, "hammerdb": HAMMERDB, "own": OWN}
"""The load tools, by their names on the command line."""
