"""Read the rights of the user who runs racwire: groups, and the OSDBA group of each instance of this node."""

from __future__ import annotations

import grp
import os
import re
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from checks.sources.clusterware.grid_home import user_name
from checks.sources.database.local_instances import LocalInstance, local_instances
from checks.sources.entries import Read, RegistryEntry, RunsOn

CONFIG_FILE = "rdbms/lib/config.c"
"""Below a database home: the groups that were chosen at its installation (Database Installation Guide for Linux)."""

ACCOUNT = RegistryEntry(
    name="account",
    groups=("readiness",),
    where=RunsOn.HERE,
    purpose="the rights of the user who runs racwire",
    reads=(
        Read("", "user", "id"),
        Read("", "OSDBA groups", f"SS_DBA_GRP in $ORACLE_HOME/{CONFIG_FILE} of each instance that runs on this node"),
    ),
)

_DBA_GROUP = re.compile(rb'^[ \t]*#[ \t]*define[ \t]+SS_DBA_GRP[ \t]+"([^"\n]{0,64})"', re.MULTILINE)
_FILE_LIMIT_BYTES = 100_000


@dataclass(frozen=True)
class OsdbaGroup:
    """The group whose members log in to an instance `/ as sysdba`."""

    sid: str
    group: str = ""
    """Empty where it is not known."""
    reason: str = ""
    """Why the group is not known, as a clause without capital."""


@dataclass(frozen=True)
class Account:
    """The user who runs racwire."""

    user: str
    is_root: bool
    groups: tuple[str, ...]
    """The primary group first, the others sorted."""
    osdba: tuple[OsdbaGroup, ...] = ()
    """For each instance that runs on this node."""


def read_account(instances: Iterable[LocalInstance] | None = None) -> Account:
    """Return the user of this process. Blocks where the name service hangs. Raises nothing."""
    primary, others = os.getegid(), os.getgroups()
    names = sorted({_group_name(gid) for gid in others if gid != primary})
    found = local_instances() if instances is None else instances
    return Account(
        user_name(os.geteuid()),
        os.geteuid() == 0,
        (_group_name(primary), *names),
        tuple(osdba_group(instance) for instance in found),
    )


def osdba_group(instance: LocalInstance) -> OsdbaGroup:
    """Return the OSDBA group of an instance, from its home."""
    if not instance.home.startswith("/"):
        return OsdbaGroup(instance.sid, reason=f"the home of {instance.sid} is not known")
    file = Path(instance.home, CONFIG_FILE)
    try:
        if not stat.S_ISREG(file.stat().st_mode):
            return OsdbaGroup(instance.sid, reason=f"{file} is not a regular file")
        with file.open("rb") as stream:
            found = _DBA_GROUP.search(stream.read(_FILE_LIMIT_BYTES))
    except (OSError, ValueError) as error:
        return OsdbaGroup(instance.sid, reason=f"{file}: {getattr(error, 'strerror', None) or error}")
    if found is None or not found[1].strip():
        return OsdbaGroup(instance.sid, reason=f"{file} names no OSDBA group")
    return OsdbaGroup(instance.sid, found[1].decode("utf-8", errors="replace").strip())


def _group_name(gid: int) -> str:
    try:
        return grp.getgrgid(gid).gr_name
    except (KeyError, OSError):
        return str(gid)
