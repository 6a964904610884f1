"""The queries to the tools of a Grid home. None of them changes anything."""

from __future__ import annotations

from checks.sources.entries import GridCommand, Read, RegistryEntry, RunsOn

OLR_FILES = ("/etc/oracle/olr.loc", "/var/opt/oracle/olr.loc")
ORATAB_FILES = ("/etc/oratab", "/var/opt/oracle/oratab")
INVENTORY_POINTERS = ("/etc/oraInst.loc", "/var/opt/oracle/oraInst.loc")
GRID_HOME = RegistryEntry(
    name="grid home",
    groups=("clusterware", "managed"),
    where=RunsOn.HERE,
    purpose="where a Grid home is named, and which of the homes so named is the right one",
    reads=(
        Read(
            "grid home",
            "Grid home",
            "; ".join(
                (
                    "the environment",
                    "the processes named ocssd.bin (/proc)",
                    *(" or ".join(files) for files in (OLR_FILES, ORATAB_FILES, INVENTORY_POINTERS)),
                    "the inventory.xml that the last one names",
                    "the homes so named: is there an executable bin/oifcfg, and whose is it",
                )
            ),
        ),
    ),
)

HAIP_RESOURCE = "ora.cluster_interconnect.haip"
_SRVCTL_S = 30.0
"""Seconds for srvctl and ocrconfig beside it: srvctl starts Java, and takes seconds on a busy node."""


def _query(topic: str, command: str, purpose: str, *, group: str = "clusterware", limit_s: float = 10.0) -> GridCommand:
    tool, *arguments = command.split()
    return GridCommand(
        name=command,
        groups=(group,),
        where=RunsOn.HERE,
        purpose=purpose,
        reads=(Read(topic, topic, command),),
        tool=tool,
        arguments=tuple(arguments),
        limit_s=limit_s,
    )


MEMBERS = _query("olsnodes", "olsnodes -n -i -s -t", "the nodes of the cluster")
LOCAL_NODE = _query("olsnodes -l", "olsnodes -l", "what the cluster calls this node")
CLUSTER_NAME = _query("olsnodes -c", "olsnodes -c", "the cluster's name")
CONFIGURATION = _query("oifcfg getif", "oifcfg getif", "the networks that Clusterware is told to use")
LISTED = _query("oifcfg iflist", "oifcfg iflist -p -n", "the networks that Clusterware sees on this node")
_VERSION = "crsctl query crs activeversion"
VERSION = _query(_VERSION, f"{_VERSION} -f", "the release of Clusterware")
VERSION_BEFORE_12 = _query(_VERSION, _VERSION, "the release, where crsctl is too old to have -f")
SERVICES = _query("crsctl check crs", "crsctl check crs", "which parts of the stack run")
HAIP = _query("crsctl stat res haip", f"crsctl stat res {HAIP_RESOURCE} -init", "whether HAIP is used")
MISSCOUNT = _query("crsctl get css misscount", "crsctl get css misscount", "after how long a silent node is evicted")

LIST_DATABASES = _query(
    "srvctl config database",
    "srvctl config database",
    "which databases are managed",
    group="managed",
    limit_s=_SRVCTL_S,
)
DATABASE_STATUS = _query(
    "srvctl status database NAME",
    "srvctl status database -d NAME",
    "where each database runs",
    group="managed",
    limit_s=_SRVCTL_S,
)
MANUAL_BACKUPS = _query(
    "ocrconfig -showbackup",
    "ocrconfig -showbackup manual",
    "when the registry was last saved by hand",
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
    MANUAL_BACKUPS,
)
