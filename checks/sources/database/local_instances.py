"""Find the database instances of this node: running ones (ora_pmon_*), and those that oratab lists."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from checks.sources.grid_commands import ORATAB_FILES
from checks.sources.nodes.container_processes import is_contained

_PMON = re.compile(r"ora_pmon_([A-Za-z0-9_$#-]+)")
_NO_DATABASE = re.compile(r"[+-]|_?mgmtdb", re.IGNORECASE)
"""Not listed: +ASM, +APX, +IOS, and -MGMTDB, the repository of the Grid Infrastructure."""
_ORATAB_LIMIT = 1_000_000


@dataclass(frozen=True)
class LocalInstance:
    """A database instance of this node."""

    sid: str
    home: str = ""
    """ORACLE_HOME; empty where this user may not see it."""
    owner: str = ""
    """The user that the instance runs as; empty where the instance does not run."""


def running_instances() -> Iterator[LocalInstance]:
    """Yield the instances that run on this node, from their pmon processes; without those in containers and of ASM."""
    for process in psutil.process_iter():
        try:
            arguments = process.cmdline()
            matched = _PMON.fullmatch(arguments[0].strip()) if len(arguments) >= 1 else None
            if matched is None or is_contained(process.pid):
                continue
            owner = process.username()
        except (psutil.Error, OSError):
            continue
        try:
            home = str(Path(process.exe()).parent.parent)
        except (psutil.Error, OSError):
            home = ""
        yield LocalInstance(matched[1], home, owner)


def parse_oratab(text: str) -> Iterator[LocalInstance]:
    """Yield the instances of the lines `name:home:Y|N`. In RAC a line has the name of the database or instance."""
    for raw in text.splitlines():
        name, _, rest = raw.partition("#")[0].strip().partition(":")
        home = rest.partition(":")[0].strip()
        if name.strip() and home.startswith("/") and not _NO_DATABASE.match(name.strip()):
            yield LocalInstance(name.strip(), home)


def listed_instances(root: Path = Path("/")) -> Iterator[LocalInstance]:
    """Yield the instances that the node's oratab files list; a file that cannot be read lists none."""
    for file in ORATAB_FILES:
        try:
            with (root / file.lstrip("/")).open("rb") as stream:
                text = stream.read(_ORATAB_LIMIT).decode("utf-8", errors="replace")
        except OSError:
            continue
        yield from parse_oratab(text)


def local_instances(
    root: Path = Path("/"), running: Callable[[], Iterator[LocalInstance]] = running_instances
) -> tuple[LocalInstance, ...]:
    """The running instances, sorted by SID. A home comes from oratab where the process does not show it."""
    listed = {instance.sid: instance.home for instance in listed_instances(root)}
    found = {}
    for instance in running():
        if not _NO_DATABASE.match(instance.sid):
            home = instance.home or home_of(instance.sid, listed)
            found[instance.sid] = LocalInstance(instance.sid, home, instance.owner)
    return tuple(sorted(found.values(), key=lambda instance: instance.sid))


def is_no_database(sid: str) -> bool:
    """Whether an instance is one of ASM, of its file systems or of the management repository, and of no database."""
    return _NO_DATABASE.match(sid) is not None


def home_of(sid: str, listed: dict[str, str]) -> str:
    """The home that oratab lists for an instance, or for its database: the instance name without its number."""
    return listed.get(sid) or listed.get(re.sub(r"_?\d+$", "", sid)) or ""


def other_user_can_replace(home: str) -> bool:
    """Whether racwire runs as root and another user can replace the libraries of this home.

    Root loads such libraries only where the operator names the home.
    """
    if os.geteuid() != 0:
        return False
    try:
        return Path(home).stat().st_uid != 0
    except OSError:
        return True
