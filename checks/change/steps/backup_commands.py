"""What is saved before a change: the registries, and on each node what its network and GPnP profile are."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence

from checks.change.change_plan import Commands, PlannedDatabase
from checks.change.steps.stack_commands import root

BACKUP_FILES = ("network.tar.gz", "ip-address.txt", "ip-route.txt")
"""What each node's backup directory holds in any case; the GPnP profile is there too, where the node has one."""
USUAL_PLACES = (
    "/etc/NetworkManager/system-connections",
    "/etc/sysconfig/network-scripts",
    "/etc/sysconfig/network",
    "/etc/systemd/network",
    "/etc/netplan",
    "/etc/network",
)
"""Where the files of the keepers lie, for a node of which nothing more exact is known."""


def backup_directory(plan_id: str) -> str:
    """Where a node's backup is: on the node itself, out of the way of what clears /tmp."""
    return f"/var/tmp/racwire-{plan_id}"  # noqa: S108 - made by root with mkdir, readable so that the gate can look


def save_registry(node: str, home: str) -> Commands:
    """The cluster's registry (OCR), once."""
    return Commands(root(node), (shlex.join((f"{home}/bin/ocrconfig", "-manualbackup")),), node)


def save_node(node: str, home: str, plan_id: str, places: Sequence[str]) -> Commands:
    """The node's own registry (OLR), its network files, addresses, routes, and GPnP profile."""
    directory = backup_directory(plan_id)
    kept = [place.lstrip("/") for place in places or USUAL_PLACES]
    archive = shlex.join(("tar", "-C", "/", "--ignore-failed-read", "-czf", f"{directory}/network.tar.gz", *kept))
    # /var/tmp is everybody's: nothing is written into a directory that somebody else made there in advance.
    ours = f"test -O {directory} &&"
    profile = shlex.quote(f"{home}/gpnp/{node}/profiles/peer/profile.xml")
    return Commands(
        root(node),
        (
            shlex.join((f"{home}/bin/ocrconfig", "-local", "-manualbackup")),
            f"test -O {directory} || mkdir -m 755 {directory}",
            f"{ours} (umask 077; {archive})",
            f"{ours} ip -details address > {directory}/ip-address.txt",
            f"{ours} ip route show table all > {directory}/ip-route.txt",
            f"if [ -e {profile} ]; then {ours} cp -p {profile} {directory}/; fi",
        ),
        node,
        f"To restore a node's files by hand: tar -C / -xzf {directory}/network.tar.gz",
    )


def name_of(plan_id: str) -> str:
    """The restore point's name, one for each change: `racwire_before_2026_11_20_a`, an identifier of Oracle's."""
    return f"racwire_before_{re.sub('[^0-9A-Za-z]', '_', plan_id)}"


def create(databases: Iterable[PlannedDatabase], plan_id: str) -> tuple[Commands, ...]:
    """A guaranteed restore point of each database (Database Backup and Recovery User's Guide, Flashback Database)."""
    return tuple(
        Commands(
            f"As SYSDBA of {database.name}, in SQL*Plus, if you like:",
            (f"CREATE RESTORE POINT {name_of(plan_id)} GUARANTEE FLASHBACK DATABASE;",),
            note="It protects the data, and does nothing for the network. It needs ARCHIVELOG mode and room in the "
            "recovery area: when that is full, the database stops. Drop it afterwards; the last step says how.",
        )
        for database in databases
    )


def drop(databases: Iterable[PlannedDatabase], plan_id: str) -> tuple[Commands, ...]:
    """Its end, when nobody will go back to it."""
    return tuple(
        Commands(
            f"As SYSDBA of {database.name}, in SQL*Plus, if you made a restore point at the step backups:",
            (f"DROP RESTORE POINT {name_of(plan_id)};",),
            note="Until it is dropped it keeps flashback logs, and the recovery area fills up.",
        )
        for database in databases
    )
