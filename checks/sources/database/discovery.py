"""Where no connection is set: which databases run here, and the commands that would connect. It only proposes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from checks.model.facts import NotAsked
from checks.sources.database.local_instances import LocalInstance, listed_instances, local_instances

_NONE_HERE = "No database connection is set, and no instance was found on this node (ora_pmon_* processes, oratab)."
_ANYWHERE = "racwire check --connect SCAN:1521/SERVICE --user RACWIRE"


def proposal(running: Iterable[LocalInstance] | None = None, listed: Iterable[LocalInstance] | None = None) -> NotAsked:
    """Why no database was asked, with the instances that run on this node, else those that its oratab lists."""
    found = tuple(local_instances() if running is None else running)
    if found:
        names = _joined([instance.sid for instance in found])
        runs = "runs" if len(found) == 1 else "run"
        return NotAsked(f"No database connection is set; {names} {runs} here.", _commands(found))
    homes = tuple(listed_instances() if listed is None else listed)
    if homes:
        names = _joined(list(dict.fromkeys(instance.sid for instance in homes)))
        return NotAsked(
            f"No database connection is set; oratab lists {names}, and none of its instances runs here.", (_ANYWHERE,)
        )
    return NotAsked(_NONE_HERE, (_ANYWHERE,))


def _commands(found: tuple[LocalInstance, ...]) -> tuple[str, ...]:
    """The least-privilege user by EZConnect first; then each instance as the owner of its home."""
    database = re.sub(r"_?\d+$", "", found[0].sid)
    return (
        "racwire grants   # the script for a user that can only read",
        f"racwire check --connect SCAN:1521/{database} --user RACWIRE",
        *(_as_owner(instance) for instance in found),
    )


def _as_owner(instance: LocalInstance) -> str:
    home = instance.home or "ORACLE_HOME_OF_THE_INSTANCE"
    variables = f"ORACLE_HOME={home} ORACLE_SID={instance.sid} LD_LIBRARY_PATH={home}/lib"
    command = "racwire check --os-auth --sysdba"
    if not instance.owner or instance.owner == _me():
        return f"{variables} {command}"
    return f"sudo -u {instance.owner} env {variables} {command}"


def _me() -> str:
    import pwd

    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


def _joined(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
