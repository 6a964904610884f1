"""Causes in Oracle's own software and configuration, and causes of other platforms."""

from __future__ import annotations

from checks.diagnosis.cause import Cause, look
from checks.diagnosis.touches import touch
from checks.model.facts import Cluster, Database, release
from checks.model.hypothesis import How
from checks.model.wording import listed
from checks.rules.log_events.episodes import transports


def _is_another_release(cluster: Cluster) -> str:
    database = cluster.database
    if not isinstance(database, Database) or release(database.version)[:4] == (12, 1, 0, 2):
        return ""
    return f"The database has the release {database.version}, and the bug is in 12.1.0.2."


def _one_transport(cluster: Cluster) -> str:
    """The sentence that excludes cause 10, from what all instances of the database logged at their start."""
    chosen = transports(cluster.read_setups())
    known = {transport for transport, _ in chosen.values()}
    nodes = {setup.name for setup in cluster.setups} if isinstance(cluster.setups, tuple) else set()
    if nodes - {node for _, node in chosen.values()}:
        return ""
    if len(chosen) < 2 or len(known) != 1 or "UDP" not in (transport := known.pop()):
        return ""
    return f"{listed(instance for _, instance in chosen)} logged the same transport at their start: {transport}."


ORACLE = (
    Cause(
        code="CAUSE-10",
        name="Proprietary transport, or instances linked with different transports",
        proved_by=("IC-LOG-014",),
        ruled_out=_one_transport,
        look=look(
            "Compare the line about the interconnect's IPC version in the alert logs of all instances.",
            "grep -h 'cluster interconnect IPC version' alert_*.log",
            where="the owner of the database's home, on each node",
        ),
    ),
    Cause(code="CAUSE-23", name="STREAMS queue of Solaris too short", other_platform="Solaris"),
    Cause(code="CAUSE-24", name="AIX: VIPA with dead gateway detection", other_platform="AIX"),
    Cause(
        code="CAUSE-25",
        name="Solaris with Veritas: LLT misconfigured",
        other_platform="Solaris with Veritas",
    ),
    Cause(
        code="CAUSE-26",
        name="12.1.0.2 counts lost blocks that were not lost (bug 20922010)",
        hinted_by=("IC-LOST-006",),
        excluded_by=("IC-LOST-001",),
        covers="since no instance counts a lost block",
        ruled_out=_is_another_release,
        look=look(
            "List the patches of the home.",
            "$ORACLE_HOME/OPatch/opatch lspatches",
            where="the owner of the database's home",
        ),
    ),
    Cause(
        code="CAUSE-33",
        name="Clusterware or an instance reports the interconnect in its alert log",
        is_symptom=True,
        is_late=True,
        hinted_by=(
            "IC-LOG-003",
            "IC-LOG-004",
            "IC-LOG-006",
            "IC-LOG-007",
            "IC-LOG-008",
            "IC-LOG-011",
            "IC-LOG-013",
            "IC-LOG-018",
            "IC-LOG-021",
            "IC-LOG-022",
            "IC-LOG-023",
        ),
        cleared_by=("log-lines",),
        covers="in the logs that were read, for the last 24 h",
        look=look(
            "Read the last day of the alert logs: CRS-1612, CRS-5018; IPC Send timeout, ORA-29740, ORA-27300.",
            "tail -n 500 $ORACLE_BASE/diag/rdbms/*/*/trace/alert_*.log",
            "tail -n 500 $ORACLE_BASE/diag/crs/*/crs/trace/alert.log",
            where="the Grid owner, and the owner of the database's home",
        ),
    ),
    Cause(
        code="CAUSE-36",
        name="Instances use other networks than those configured",
        touches=(),
        further_sources=("MOS 1210883.1",),
        proved_by=("IC-USE-002", "IC-USE-003", "IC-USE-005", "IC-USE-007"),
        supported_by=("IC-USE-004", "IC-USE-006"),
        cleared_by=("interconnect-in-use",),
        covers="as the instances report it",
        look=look(
            "Compare the configured networks with those that the instances report.",
            "racwire check interconnect-in-use",
            where="",
        ),
    ),
    Cause(
        code="CAUSE-37",
        name="A private network is missing, down or wrong on a node",
        hides_settings=True,
        touches=(touch(How.STOPS), touch(How.AT_TIMES, addresses=("haip",), protocols=("icmp",))),  # until HAIP moves
        # The kernel has no route to a network of which it has no address, or another netmask.
        moves=(
            "IC-PATH-008",
            "IC-USE-006",
            "IC-IFACE-012",
            "IC-NEIGH-007",
            "IC-ROUTE-006",
            "IC-FLOW-014",
            "IC-HAIP-005",
            "IC-BOOT-009",
        ),
        further_sources=("MOS 1210883.1",),
        proved_by=("IC-IFACE-002", "IC-IFACE-003", "IC-IFACE-004", "IC-IFACE-005", "IC-IFACE-006", "IC-IFACE-015"),
        supported_by=("IC-IFACE-032",),
        hinted_by=("IC-IFACE-045", "IC-LOG-021"),
        cleared_by=("interfaces",),
        covers="on the nodes that were read",
        look=look("Compare the networks of oifcfg with the interfaces.", "racwire check interfaces", where=""),
    ),
    Cause(
        code="CAUSE-60",
        name="CSS evicted a node, and the node has not come back",
        is_symptom=True,
        is_late=True,
        further_sources=("MOS 1050693.1",),
        proved_by=("IC-LOG-005",),
        hinted_by=("IC-LOG-004",),
        cleared_by=("log-lines",),
        covers="by the logs that were read, for the last 24 h",
        look=look(
            "Read the Clusterware alert logs of all nodes at the time of the eviction, and the state of the stack.",
            "olsnodes -s -t",
            "grep -n -E 'CRS-16(0[789]|1[012]|32|56)' ALERT_LOG",
            where="the Grid owner on each node",
        ),
    ),
    Cause(
        code="CAUSE-61",
        name="The network heartbeat between nodes was interrupted",
        is_symptom=True,
        is_late=True,
        further_sources=("MOS 294430.1",),
        supported_by=("IC-LOG-002",),
        hinted_by=("IC-LOG-003", "IC-LOG-004", "IC-LOG-023"),
        cleared_by=("log-lines",),
        covers="by the logs that were read, for the last 24 h",
        look=look(
            "Search the Clusterware alert logs for missing heartbeats.",
            "grep -n -E 'CRS-161[012]' ALERT_LOG",
            where="the Grid owner on each node",
        ),
    ),
    Cause(
        code="CAUSE-62",
        name="A node is down",
        touches=(touch(How.STOPS, ends=("clusterware", "instance"), every_network=True),),
        moves=("IC-GRID-006",),
        blinds=True,
        further_sources=("Clusterware Administration Guide, olsnodes -s",),
        proved_by=("IC-IFACE-033",),
        cleared_by=("interfaces",),
        covers="since each node was read",
        look=look("List the nodes with their state.", "olsnodes -n -s", where="the Grid owner"),
    ),
    Cause(
        code="CAUSE-63",
        name="An instance hangs, or does not answer",
        touches=(touch(How.STOPS, ends=("instance",), every_network=True),),
        blinds=True,
        proved_by=("IC-PING-008",),
        hinted_by=("IC-LOG-018", "IC-LOG-019", "IC-LOG-020"),
        look=look(
            "Look for what an instance waits for: a hang manager report, ORA-32701, ORA-29770 in its alert log.",
            where="the owner of the database's home",
        ),
    ),
)
