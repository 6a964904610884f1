"""The queries to the tools of a Grid home, all read-only."""

from __future__ import annotations

from functools import partial

from checks.sources.entries import GridCommand, Read, RegistryEntry, RunsOn

OLR_FILES = ("/etc/oracle/olr.loc", "/var/opt/oracle/olr.loc")
ORATAB_FILES = ("/etc/oratab", "/var/opt/oracle/oratab")
INVENTORY_POINTERS = ("/etc/oraInst.loc", "/var/opt/oracle/oraInst.loc")
GRID_HOME = RegistryEntry(
    name="grid home",
    groups=("clusterware", "managed"),
    where=RunsOn.HERE,
    purpose="find the Grid home of this node",
    reads=(
        Read(
            "grid home",
            "Grid home",
            "; ".join(
                (
                    "the environment",
                    "the processes named ocssd.bin (/proc)",
                    *(" or ".join(files) for files in (OLR_FILES, ORATAB_FILES, INVENTORY_POINTERS)),
                    "the inventory.xml that oraInst.loc names",
                    "owner and mode of bin/oifcfg in each home found there",
                )
            ),
        ),
    ),
)

GRID_RIGHT = "the Grid owner or root; some tools also answer members of the Grid home's group"
"""The right to run the tools of a Grid home."""
HAIP_RESOURCE = "ora.cluster_interconnect.haip"
_SRVCTL_S = 30.0
"""Seconds for srvctl and ocrconfig: srvctl starts Java, and takes seconds on a busy node."""

_STARTING_S = 15.0
"""Seconds for `crsctl check crs`, which answers late while the stack starts."""


def _query(
    command: str, purpose: str, *, topic: str = "", group: str = "clusterware", limit_s: float = 10.0
) -> GridCommand:
    """A query whose topic in the journal is its command, unless it has a shorter one."""
    tool, *arguments = command.split()
    topic = topic or command
    return GridCommand(
        name=command,
        groups=(group,),
        where=RunsOn.HERE,
        purpose=purpose,
        reads=(Read(topic, topic, command, GRID_RIGHT),),
        tool=tool,
        arguments=tuple(arguments),
        limit_s=limit_s,
    )


MEMBERS = _query("olsnodes -n -i -s -t", "the nodes of the cluster", topic="olsnodes")
LOCAL_NODE = _query("olsnodes -l", "the cluster's name for this node")
CLUSTER_NAME = _query("olsnodes -c", "the cluster's name")
CONFIGURATION = _query("oifcfg getif", "the networks that Clusterware is configured to use")
LISTED = _query("oifcfg iflist -p -n", "the networks that Clusterware sees on this node", topic="oifcfg iflist")
_VERSION = "crsctl query crs activeversion"
VERSION = _query(f"{_VERSION} -f", "the release of Clusterware", topic=_VERSION)
VERSION_BEFORE_12 = _query(_VERSION, "the release of Clusterware, from a crsctl that is too old for -f")
SERVICES = _query("crsctl check crs", "the running parts of the stack", limit_s=_STARTING_S)
HAIP = _query(f"crsctl stat res {HAIP_RESOURCE} -init", "whether HAIP is used", topic="crsctl stat res haip")
MISSCOUNT = _query("crsctl get css misscount", "the time after which Clusterware evicts a silent node")

_managed = partial(_query, group="managed", limit_s=_SRVCTL_S)
LIST_DATABASES = _managed("srvctl config database", "the databases that Clusterware manages")
DATABASE_STATUS = _managed(
    "srvctl status database -d NAME -v",
    "the nodes on which each database and its services run",
    topic="srvctl status database NAME",
)
MANUAL_BACKUPS = _managed(
    "ocrconfig -showbackup manual",
    "the time of the last manual backup of the registry (OCR)",
    topic="ocrconfig -showbackup",
)
VOTING_FILES = _query(
    "crsctl query css votedisk", "the voting files, for the list of backups of a change", group="managed"
)
ASM_LISTENERS = _managed(
    "srvctl config listener -asmlistener",
    "the listeners of Flex ASM with their subnets, for a change of the private networks",
)

_for_a_login = partial(_query, group="database")
DATABASE_CONFIGURATION = _for_a_login(
    "srvctl config database -d NAME",
    "the unique name, the domain and the instances of a database, for a connect string that works",
    topic="srvctl config database NAME",
)
SCAN = _for_a_login("srvctl config scan", "the SCAN, for a connect string that works")
SCAN_LISTENER = _for_a_login("srvctl config scan_listener", "the port of the SCAN, for a connect string that works")
LISTENER_STATUS = _for_a_login(
    "lsnrctl status NAME",
    "the services that each running listener of this node serves: without a connection, and after ORA-12514",
)
