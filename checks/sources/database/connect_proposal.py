"""Why no database was queried, and the commands that would query the databases of this node."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable

from checks.model.facts import NotAsked
from checks.model.journal import Journal
from checks.model.settings import ClusterSettings
from checks.sources.clusterware.grid_home import find_grid_home
from checks.sources.clusterware.managed import DefaultServices, read_default_services
from checks.sources.database.local_instances import LocalInstance, listed_instances, local_instances

_NONE_HERE = "No database connection is set, and racwire found no instance on this node (ora_pmon_* processes, oratab)."
_ANYWHERE = "racwire check --connect SCAN:1521/SERVICE --user RACWIRE"
_PATIENCE_S = 10.0
"""Seconds for each query of srvctl: a proposal is not worth a long wait on a node in trouble."""
_LIST_SERVICES = (
    "lsnrctl services   # as the owner of the Grid home: the services that the listener of this node knows",
    "srvctl config service -d DB_UNIQUE_NAME   # the services of a database in Clusterware",
)


async def propose_connection(cluster: ClusterSettings, journal: Journal, local_host: str) -> NotAsked:
    """Find the instances of this node and, through srvctl, their default services; return the proposal for them."""
    running, listed = await asyncio.to_thread(lambda: (local_instances(), tuple(listed_instances())))
    if not running:
        return proposal((), listed, DefaultServices({}))
    home = await asyncio.to_thread(find_grid_home, cluster.grid_home, os.environ)
    sids = [instance.sid for instance in running]
    services = await read_default_services(home, sids, journal, local_host, timeout_s=_PATIENCE_S)
    return proposal(running, listed, services)


def proposal(running: Iterable[LocalInstance], listed: Iterable[LocalInstance], services: DefaultServices) -> NotAsked:
    """Why no database was queried, with commands for the instances that run on this node or that oratab lists."""
    found = tuple(running)
    if found:
        names = _joined([instance.sid for instance in found])
        reason = f"No database connection is set; {names} {'runs' if len(found) == 1 else 'run'} here."
        unknown = [instance.sid for instance in found if instance.sid not in services.by_sid]
        if unknown:
            reason += f" racwire does not know the service of {_joined(unknown)}: {services.reason}"
        return NotAsked(reason, _commands(found, services, has_unknown=bool(unknown)))
    homes = tuple(listed)
    if homes:
        names = _joined(list(dict.fromkeys(instance.sid for instance in homes)))
        return NotAsked(
            f"No database connection is set; oratab lists {names}, but no instance of that list runs here.",
            (*_LIST_SERVICES[1:], _ANYWHERE),
        )
    return NotAsked(_NONE_HERE, (_ANYWHERE,))


def _commands(found: tuple[LocalInstance, ...], services: DefaultServices, *, has_unknown: bool) -> tuple[str, ...]:
    """Commands for a least-privilege user by EZConnect, then for each instance as the owner of its home."""
    known = dict.fromkeys(services.by_sid[instance.sid] for instance in found if instance.sid in services.by_sid)
    return (
        "racwire grants   # the script for a user that can only read; in a container database --user C##RACWIRE",
        *(f"racwire check --connect SCAN:1521/{service} --user RACWIRE" for service in known),
        *((*_LIST_SERVICES, _ANYWHERE) if has_unknown else ()),
        *(_as_owner(instance) for instance in found),
    )


def _as_owner(instance: LocalInstance) -> str:
    home = instance.home or "ORACLE_HOME_OF_THE_INSTANCE"
    variables = f"ORACLE_HOME={home} ORACLE_SID={instance.sid} LD_LIBRARY_PATH={home}/lib"
    command = "racwire check --os-auth --sysdba"
    if not instance.owner or instance.owner == _current_user():
        return f"{variables} {command}"
    return f"sudo -u {instance.owner} env {variables} {command}"


def _current_user() -> str:
    import pwd

    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


def _joined(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
