"""The columns and rows of the V$ views about storage: the servers of Direct NFS, and the ASM instance in use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from racwire_lab.cluster.topology import NFS_PORT
from racwire_lab.database.live import InstanceState

STORAGE_VIEWS = {
    "V$DNFS_SERVERS": "ID N, SVRNAME V255, DIRNAME V1024, MNTPORT N, NFSPORT N, NFSVERSION V8 12.1-, WTMAX N, RTMAX N",
    "V$ASM_CLIENT": """GROUP_NUMBER N, INSTANCE_NAME V64, DB_NAME V8, CLUSTER_NAME V31 12.2-, STATUS V12,
        SOFTWARE_VERSION V60, COMPATIBLE_VERSION V60""",
}
"""The columns of each view."""
_DISK_GROUPS = (1, 2)


def dnfs_servers(state: InstanceState) -> Iterator[dict[str, Any]]:
    """The storage server that the instance uses by Direct NFS."""
    if state.nfs_server:
        yield {
            "ID": 1,
            "SVRNAME": state.nfs_server,
            "DIRNAME": "/vol/backup",
            "MNTPORT": 0,
            "NFSPORT": NFS_PORT,
            "NFSVERSION": "NFSv3.0",
            "WTMAX": 32768,
            "RTMAX": 32768,
        }


def asm_clients(state: InstanceState, database: str) -> Iterator[dict[str, Any]]:
    """The ASM instance that the instance of a database uses, for each disk group."""
    for group in _DISK_GROUPS if state.asm else ():
        yield {
            "GROUP_NUMBER": group,
            "INSTANCE_NAME": f"+ASM{state.asm}",
            "DB_NAME": database,
            "STATUS": "CONNECTED",
            "SOFTWARE_VERSION": state.version,
            "COMPATIBLE_VERSION": state.version,
        }
