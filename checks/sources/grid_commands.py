"""The queries to the tools of a Grid home, all read-only."""

from __future__ import annotations

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


def _query(topic: str, command: str, purpose: str, *, group: str = "clusterware", limit_s: float = 10.0) -> GridCommand:
    tool, *arguments = command.split()
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


MEMBERS = _query("olsnodes", "olsnodes -n -i -s -t", "the nodes of the cluster")
LOCAL_NODE = _query("olsnodes -l", "olsnodes -l", "the cluster's name for this node")
CLUSTER_NAME = _query("olsnodes -c", "olsnodes -c", "the cluster's name")
CONFIGURATION = _query("oifcfg getif", "oifcfg getif", "the networks that Clusterware is configured to use")
LISTED = _query("oifcfg iflist", "oifcfg iflist -p -n", "the networks that Clusterware sees on this node")
_VERSION = "crsctl query crs activeversion"
VERSION = _query(_VERSION, f"{_VERSION} -f", "the release of Clusterware")
VERSION_BEFORE_12 = _query(_VERSION, _VERSION, "the release of Clusterware, from a crsctl that is too old for -f")
SERVICES = _query("crsctl check crs", "crsctl check crs", "the running parts of the stack", limit_s=_STARTING_S)
HAIP = _query("crsctl stat res haip", f"crsctl stat res {HAIP_RESOURCE} -init", "whether HAIP is used")
MISSCOUNT = _query(
    "crsctl get css misscount", "crsctl get css misscount", "the time after which Clusterware evicts a silent node"
)

LIST_DATABASES = _query(
    "srvctl config database",
    "srvctl config database",
    "the databases that Clusterware manages",
    group="managed",
    limit_s=_SRVCTL_S,
)
DATABASE_STATUS = _query(
    "srvctl status database NAME",
    "srvctl status database -d NAME -v",
    "the nodes on which each database and its services run",
    group="managed",
    limit_s=_SRVCTL_S,
)
DATABASE_CONFIGURATION = _query(
    "srvctl config database NAME",
    "srvctl config database -d NAME",
    "the unique name, the domain and the instances of a database, for a connect string that works",
    group="database",
)
SCAN = _query(
    "srvctl config scan",
    "srvctl config scan",
    "the SCAN, for a connect string that works",
    group="database",
)
SCAN_LISTENER = _query(
    "srvctl config scan_listener",
    "srvctl config scan_listener",
    "the port of the SCAN, for a connect string that works",
    group="database",
)
LISTENER_STATUS = _query(
    "lsnrctl status NAME",
    "lsnrctl status NAME",
    "the services that each running listener of this node serves: without a connection, and after ORA-12514",
    group="database",
)
MANUAL_BACKUPS = _query(
    "ocrconfig -showbackup",
    "ocrconfig -showbackup manual",
    "the time of the last manual backup of the registry (OCR)",
    group="managed",
    limit_s=_SRVCTL_S,
)
VOTING_FILES = _query(
    "crsctl query css votedisk",
    "crsctl query css votedisk",
    "the voting files, for the list of backups of a change",
    group="managed",
)
ASM_LISTENERS = _query(
    "srvctl config listener -asmlistener",
    "srvctl config listener -asmlistener",
    "the listeners of Flex ASM with their subnets, for a change of the private networks",
    group="managed",
    limit_s=_SRVCTL_S,
)

GRID_COMMANDS = (
    MEMBERS,
    LOCAL_NODE,
    CLUSTER_NAME,
    CONFIGURATION,
    LISTED,
    VERSION,
    VERSION_BEFORE_12,
    SERVICES,
    HAIP,
    MISSCOUNT,
    LIST_DATABASES,
    DATABASE_STATUS,
    DATABASE_CONFIGURATION,
    SCAN,
    SCAN_LISTENER,
    LISTENER_STATUS,
    MANUAL_BACKUPS,
    VOTING_FILES,
    ASM_LISTENERS,
)
