"""Why no database was queried, and the commands that would query the databases of this node."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass

from checks.model.facts import NotAsked, Unknown
from checks.model.journal import Journal
from checks.model.settings import ClusterSettings
from checks.model.shell_command import shell
from checks.model.wording import listed
from checks.sources.clusterware.grid_home import find_grid_home, user_name
from checks.sources.clusterware.grid_tools import GridTools
from checks.sources.clusterware.listeners import ClientAddress, ListenerStatus, read_listeners, read_scan
from checks.sources.clusterware.managed import (
    DatabaseConfiguration,
    KnownDatabases,
    read_known_databases,
    read_rac_databases,
)
from checks.sources.database.local_instances import LocalInstance, listed_instances, local_instances
from checks.sources.database.service_choice import ServiceChoice, choose_service, served_services, services_of

_NONE_HERE = "No database connection is set, and racwire found no instance on this node (ora_pmon_* processes, oratab)."
_SCAN = "SCAN:1521"


def _at(address: str, service: str) -> str:
    return shell("racwire check --connect {target} --user RACWIRE", target=f"{address}/{service}")


_ANYWHERE = _at(_SCAN, "SERVICE")
_PATIENCE_S = 10.0
"""Seconds for each query of srvctl and lsnrctl: a proposal is not worth a long wait on a node in trouble."""
_LIST_SERVICES = (
    "lsnrctl status   # as the owner of the Grid home: the services that the listener of this node serves",
    "srvctl config service -d DB_UNIQUE_NAME   # the services of a database in Clusterware",
)
_UNKNOWN_SERVICE = frozenset({12504, 12505, 12514, 12521})
"""ORA- errors of a listener that does not serve what the connect string names."""
_DESCRIBED = re.compile(r"SERVICE_NAME\s*=\s*([^()\s]+)", re.IGNORECASE)
_EZCONNECT = re.compile(r"[^?]*?[^/]/([^/:?]+)(?::\w*)?(?:/\w*)?(?:\?.*)?")


@dataclass(frozen=True)
class ProposalFacts:
    """What is known of the databases of this node, and of the way to them."""

    databases: KnownDatabases
    scan: ClientAddress | Unknown
    listeners: tuple[ListenerStatus, ...] | Unknown
    elsewhere: tuple[DatabaseConfiguration, ...] = ()
    """The RAC databases of the cluster, where this node runs no instance of one."""

    @property
    def address(self) -> str:
        """The host and port for a connect string: the SCAN, else an endpoint of this node's listener."""
        if isinstance(self.scan, ClientAddress):
            return str(self.scan)
        known = () if isinstance(self.listeners, Unknown) else self.listeners
        return next((str(listener.endpoints[0]) for listener in known if listener.endpoints), _SCAN)


async def propose_connection(cluster: ClusterSettings, journal: Journal, local_host: str) -> NotAsked:
    """Find the instances of this node, their databases, the SCAN and the served services; return the proposal."""
    running, in_oratab = await asyncio.to_thread(lambda: (local_instances(), tuple(listed_instances())))
    home = await asyncio.to_thread(find_grid_home, cluster.grid_home, os.environ)
    if isinstance(home, Unknown):
        return proposal(running, in_oratab, ProposalFacts(KnownDatabases({}, home.reason), home, home))
    # lsnrctl meanwhile; the queries of srvctl after each other, since each starts a Java program.
    tools = GridTools(home, journal, local_host, timeout_s=_PATIENCE_S)
    listeners = asyncio.create_task(read_listeners(tools))
    sids = [instance.sid for instance in running]
    databases, elsewhere = KnownDatabases({}), tuple[DatabaseConfiguration, ...]()
    if sids:
        databases = await read_known_databases(tools, sids)
    if all(sid in databases.by_sid and databases.by_sid[sid].is_single for sid in sids):
        of_cluster = await read_rac_databases(tools)
        elsewhere = () if isinstance(of_cluster, Unknown) else of_cluster
    scan = await read_scan(tools)
    return proposal(running, in_oratab, ProposalFacts(databases, scan, await listeners, elsewhere))


def proposal(running: Iterable[LocalInstance], in_oratab: Iterable[LocalInstance], facts: ProposalFacts) -> NotAsked:
    """Why no database was queried, with commands for the instances that run on this node or that oratab lists."""
    found = tuple(running)
    if found:
        return _of_running(found, facts)
    if facts.elsewhere:
        return _of_cluster(facts)
    homes = tuple(in_oratab)
    if homes:
        names = listed(list(dict.fromkeys(instance.sid for instance in homes)))
        return NotAsked(
            f"No database connection is set; oratab lists {names}, but no instance of that list runs here.",
            (*_LIST_SERVICES[1:], _ANYWHERE),
        )
    return NotAsked(_NONE_HERE, (_ANYWHERE,))


def _of_running(found: tuple[LocalInstance, ...], facts: ProposalFacts) -> NotAsked:
    names = listed([instance.sid for instance in found])
    reasons = [f"No database connection is set; {names} {'runs' if len(found) == 1 else 'run'} here."]
    databases = facts.databases.by_sid
    single = [i.sid for i in found if i.sid in databases and databases[i.sid].is_single]
    useful = tuple(instance for instance in found if instance.sid not in single)
    if single:
        no_interconnect = "has one instance and uses" if len(single) == 1 else "have one instance each and use"
        reasons.append(f"{listed(single)} {no_interconnect} no interconnect.")
    unknown = [instance.sid for instance in useful if instance.sid not in databases]
    if unknown:
        reasons.append(f"racwire does not know the default service of {listed(unknown)}: {facts.databases.reason}")
    choices = {instance.sid: _choice(instance.sid, facts) for instance in useful}
    reasons += [choice.note for choice in choices.values() if choice.note]
    for instance in useful:
        if instance.sid in databases and databases[instance.sid].is_standby:
            reasons.append(
                f"srvctl lists the database of {instance.sid} as {databases[instance.sid].role}: a standby that is "
                "mounted and not open accepts only SYSDBA."
            )
    if useful:
        return NotAsked(" ".join(reasons), _commands(useful, facts, choices))
    if facts.elsewhere:
        reasons.append(f"Clusterware manages {listed(d.unique_name for d in facts.elsewhere)}.")
    return NotAsked(" ".join(reasons), _of_cluster(facts).commands if facts.elsewhere else (_ANYWHERE,))


def _of_cluster(facts: ProposalFacts) -> NotAsked:
    """The proposal for a node without an instance: the databases that run on other nodes."""
    choices = {d.unique_name: _choice(d.unique_name, facts, d) for d in facts.elsewhere}
    reason = f"No database connection is set, and no instance runs here; Clusterware manages {listed(choices)}."
    return NotAsked(reason, _commands((), facts, choices))


def _choice(sid: str, facts: ProposalFacts, database: DatabaseConfiguration | None = None) -> ServiceChoice:
    known = None if isinstance(facts.listeners, Unknown) else facts.listeners
    database = database or facts.databases.by_sid.get(sid)
    if database and known is not None and not services_of(sid, database, known) and facts.elsewhere:
        known = None  # the listeners of a node without an instance need not serve the database
    return choose_service(sid, database, known)


def _commands(
    found: tuple[LocalInstance, ...], facts: ProposalFacts, choices: dict[str, ServiceChoice]
) -> tuple[str, ...]:
    """Commands for a least-privilege user by EZConnect, then for each instance as the owner of its home."""
    services = dict.fromkeys(service for choice in choices.values() for service in choice.services)
    is_short = any(not choice.services for choice in choices.values())
    return (
        "racwire grants   # the script for a user that can only read; in a container database --user C##RACWIRE",
        *(_at(facts.address, service) for service in services),
        *((*_LIST_SERVICES, _at(facts.address, "SERVICE")) if is_short else ()),
        *(_as_owner(instance, facts.databases.by_sid.get(instance.sid)) for instance in found),
    )


def _as_owner(instance: LocalInstance, database: DatabaseConfiguration | None) -> str:
    home = instance.home or (database.home if database else "") or "ORACLE_HOME_OF_THE_INSTANCE"
    variables = shell("ORACLE_HOME={home} ORACLE_SID={sid} LD_LIBRARY_PATH={home}/lib", home=home, sid=instance.sid)
    is_other = instance.owner and instance.owner != user_name(os.geteuid())
    become = shell("sudo -u {owner} env ", owner=instance.owner) if is_other else ""
    return become + variables + " racwire check --os-auth --sysdba"


# --- a listener that does not serve the service -----------------------------------------------------------------------


async def name_served_services(
    failure: Unknown, code: int | None, connect: str, cluster: ClusterSettings, journal: Journal, local_host: str
) -> Unknown:
    """Return the failure of a login; after ORA-12514 and its kin with the services that this node's listeners serve."""
    if code not in _UNKNOWN_SERVICE:
        return failure
    home = await asyncio.to_thread(find_grid_home, cluster.grid_home, os.environ)
    if isinstance(home, Unknown):
        return failure
    listeners = await read_listeners(GridTools(home, journal, local_host, timeout_s=_PATIENCE_S))
    served = "" if isinstance(listeners, Unknown) else served_services(listeners, _service_in(connect))
    return Unknown(f"{failure.reason} {served}", failure.right) if served else failure


def _service_in(connect: str) -> str:
    """The service that a connect string names, from EZConnect or a descriptor; empty for an alias."""
    found = _DESCRIBED.search(connect) or _EZCONNECT.fullmatch(connect)
    return found[1] if found else ""
