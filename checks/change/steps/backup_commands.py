"""Commands that save the registries, and on each node its network files, addresses, routes and GPnP profile."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from checks.change.plan.change_plan import PlannedDatabase
from checks.change.plan.command_block import Commands, Who, as_sysdba
from checks.model.shell_command import shell, sql

BACKUP_FILES = ("network.tar.gz", "ip-address.txt", "ip-route.txt")
"""The files that each node's backup directory always holds; it also holds the GPnP profile if the node has one."""
CREATE_POINT = "CREATE RESTORE POINT {name} GUARANTEE FLASHBACK DATABASE;"
DROP_POINT = "DROP RESTORE POINT {name};"
PROFILE = "profile.xml"
"""The copy of the GPnP profile, which a change of the networks needs (MOS 283684.1)."""
USUAL_PLACES = (
    "/etc/NetworkManager/system-connections",
    "/etc/sysconfig/network-scripts",
    "/etc/sysconfig/network",
    "/etc/systemd/network",
    "/etc/netplan",
    "/etc/network",
)
"""The usual directories of the network services' files, for a node whose own directories are not known."""


def backup_directory(plan_id: str) -> str:
    """The directory of a node's backup, on the node itself: /tmp would be cleared at a boot."""
    return f"/var/tmp/racwire-{plan_id}"  # noqa: S108 - made by root with mkdir, readable so that the gate can check


def may_list_archives(made_by: str) -> bool:
    """Whether racwire lists the archives: they are for root only, since they can hold keys and passwords. Else a person
    attests them. `made_by` is the login and node of the plan."""
    return made_by.startswith("root@")


def asm_metadata_file(plan_id: str) -> str:
    """The file of the ASM metadata, next to the backup directory, which root owns."""
    return f"{backup_directory(plan_id)}-asm-metadata.txt"


def save_asm_metadata(node: str, plan_id: str, owner: str) -> Commands:
    """Return the commands that list the voting files and save the metadata of the ASM disk groups.

    Clusterware saves the voting data with the OCR (Clusterware Administration and Deployment Guide, "Backing up voting
    files"). Source of md_backup: Automatic Storage Management Administrator's Guide, ASMCMD.
    """
    return Commands(
        Who.GRID_OWNER,
        ("crsctl query css votedisk", shell("asmcmd md_backup {file}", file=asm_metadata_file(plan_id))),
        node,
        "Both need the environment of ASM (oraenv: +ASM1 or the like). The file has the disk groups, templates and "
        "directories of ASM, and no data.",
        owner,
        purpose="where the cluster uses ASM",
        optional=True,
    )


def save_registry(node: str, home: str) -> Commands:
    """Return the command that saves the cluster's registry (OCR), once for the cluster."""
    return Commands(Who.ROOT, (shell("{home}/bin/ocrconfig -manualbackup", home=home),), node)


def save_node(node: str, home: str, plan_id: str, places: Sequence[str]) -> Commands:
    """Return the commands that save a node's registry (OLR), network files, addresses, routes and GPnP profile."""
    directory = backup_directory(plan_id)
    kept = tuple(place.lstrip("/") for place in places or USUAL_PLACES)
    profile = f"{home}/gpnp/{node}/profiles/peer/profile.xml"
    return Commands(
        Who.ROOT,
        (
            shell("{home}/bin/ocrconfig -local -manualbackup", home=home),
            *(shell(script, directory=directory, kept=kept, profile=profile) for script in _SAVE_NODE),
        ),
        node,
        shell("To restore a node's files by hand: tar -C / -xzf {directory}/network.tar.gz", directory=directory),
    )


# Every user may write to /var/tmp: nothing is written into a directory that another user created in advance.
_SAVE_NODE = (
    "test -O {directory} || mkdir -m 755 {directory}",
    "test -O {directory} && (umask 077; tar -C / --ignore-failed-read -czf {directory}/network.tar.gz {kept}; "
    "tar --force-local -tzf {directory}/network.tar.gz)",
    "test -O {directory} && ip -details address > {directory}/ip-address.txt",
    "test -O {directory} && ip route show table all > {directory}/ip-route.txt",
    "if [ -e {profile} ]; then test -O {directory} && cp -p {profile} {directory}/; fi",
)


def name_of(plan_id: str) -> str:
    """The name of the restore point of one change: `racwire_before_2026_11_20_a`, a valid Oracle identifier."""
    return f"racwire_before_{re.sub('[^0-9A-Za-z]', '_', plan_id)}"


def create(databases: Iterable[PlannedDatabase], plan_id: str) -> tuple[Commands, ...]:
    """Return the commands that create a guaranteed restore point in each database.

    Source: Database Backup and Recovery User's Guide, Flashback Database.
    """
    note = (
        "The restore point protects the data, not the network. It needs ARCHIVELOG mode and space in the recovery "
        "area: the database stops when the recovery area is full. Drop the restore point afterwards: the last step has "
        "the command."
    )
    line = sql(CREATE_POINT, name=name_of(plan_id))
    return tuple(as_sysdba(database.name, (line,), note=note) for database in databases)


def drop(databases: Iterable[PlannedDatabase], plan_id: str) -> tuple[Commands, ...]:
    """Return the commands that drop the restore points when no rollback to them is needed any more."""
    when = "if you created a restore point in the step backups"
    note = "The restore point keeps flashback logs until it is dropped, and the recovery area fills up."
    line = sql(DROP_POINT, name=name_of(plan_id))
    return tuple(as_sysdba(database.name, (line,), when, note) for database in databases)
