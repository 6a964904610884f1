"""The databases behind the services of a listener: the practice database, its pluggable database, and a second one."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import msgspec

from racwire_lab.cluster.databases import USER
from racwire_lab.cluster.instances import DesiredInstance
from racwire_lab.cluster.networks import private_of
from racwire_lab.cluster.profiles import profile_named
from racwire_lab.cluster.topology import DATABASE, PLUGGABLE, SECOND_DATABASE, index_of
from racwire_lab.database.backend import Backend, Caller, Cancellation, OracleError, Result
from racwire_lab.database.live import Daemons, InstanceState, LiveSource
from racwire_lab.oracle_sql.identity import DatabaseIdentity
from racwire_lab.oracle_sql.restore_points import RestorePoints

_DBID = 1973061500
_SECOND_DBID = 1842270933
_PLUGGABLE_CONTAINER = 3

Served = Literal["whole", "pluggable", "second"]


def served_by(service: str) -> Served:
    """Return the database that a service belongs to."""
    name = service.partition(".")[0].casefold()
    return "pluggable" if name == PLUGGABLE else "second" if name == SECOND_DATABASE else "whole"


def identity_of(instance: DesiredInstance, served: Served, recovery_area: Path) -> DatabaseIdentity:
    """Return the names, the role and the container of a database. The second one has no recovery area."""
    domain = instance.parameters["db_domain"]
    if served == "second":
        return DatabaseIdentity(
            SECOND_DATABASE.upper(), SECOND_DATABASE, _SECOND_DBID, instance.version, is_multitenant=False,
            domain=domain,
        )  # fmt: skip
    whole = DatabaseIdentity(
        DATABASE.upper(), instance.parameters["db_unique_name"], _DBID, instance.version, instance.role,
        instance.open_mode, domain=domain, restore_points=RestorePoints(recovery_area),
    )  # fmt: skip
    if served == "pluggable":
        return replace(whole, container=PLUGGABLE.upper(), container_id=_PLUGGABLE_CONTAINER, restore_points=None)
    return whole


@dataclass(frozen=True)
class AloneSource:
    """The LiveSource of a single-instance database: the state of this node's instance, without what RAC adds."""

    source: LiveSource

    def states(self, scope: Literal["here", "everywhere"], cancellation: Cancellation) -> tuple[InstanceState, ...]:
        """Return the state of the only instance."""
        return tuple(_alone(state) for state in self.source.states("here", cancellation))


def _alone(state: InstanceState) -> InstanceState:
    parameters = state.parameters | {
        "cluster_database": "FALSE",
        "cluster_interconnects": "",
        "db_unique_name": SECOND_DATABASE,
    }
    return msgspec.structs.replace(
        state, instance=1, name=SECOND_DATABASE, peers=[], transfers={}, pings={}, interconnects=[], devices=[],
        parameters=parameters, statistics=dict.fromkeys(state.statistics, 0), messages={}, events={},
    )  # fmt: skip


@dataclass(frozen=True)
class ReachableSource:
    """The LiveSource of an instance whose GV$ queries have rows only of the instances with parallel query processes.

    The Reference, "GV$ Views": instances whose PARALLEL_MAX_SERVERS is 0 have no process that could answer; a query
    from such an instance has its own rows only.
    """

    source: LiveSource
    number: int

    def states(self, scope: Literal["here", "everywhere"], cancellation: Cancellation) -> tuple[InstanceState, ...]:
        """Return the state of this instance, or of all that can answer."""
        found = self.source.states(scope, cancellation)
        here = [state for state in found if state.instance == self.number]
        if scope == "here" or any(_has_no_server(state) for state in here):
            return tuple(here)
        return tuple(state for state in found if state.instance == self.number or not _has_no_server(state))


def _has_no_server(state: InstanceState) -> bool:
    return state.parameters.get("parallel_max_servers") == "0"


class InstanceBackend:
    """A Backend that loads duckdb and sqlglot at the first statement, so that a cluster starts quickly."""

    def __init__(self, source: Daemons, nodes: tuple[str, ...], history_ends: datetime, recovery_area: Path) -> None:
        self._source = source
        self._nodes = nodes
        self._history_ends = history_ends
        self._recovery_area = recovery_area
        self._lock = threading.Lock()
        self._instance: DesiredInstance | None = None
        self._backends: dict[Served, Backend] = {}

    def follow(self, instance: DesiredInstance) -> None:
        """Adopt the desired state of the instance."""
        with self._lock:
            before, self._instance = self._instance, instance
            if before and (before.version, _granted_by(before)) != (instance.version, _granted_by(instance)):
                self._backends = {}  # a backend that still runs a statement ends after it

    def execute(self, caller: Caller, sql: str, binds: Mapping[str, Any], cancellation: Cancellation) -> Result | None:
        """Run one statement. Raises OracleError, with 1034 when the instance is not open."""
        with self._lock:
            if self._instance is None:
                raise OracleError(1034, "ORACLE not available")
            served = served_by(caller.extra.get("service", ""))
            if served not in self._backends:
                self._backends[served] = _engine(
                    self._source, self._instance, served, self._nodes, self._history_ends, self._recovery_area
                )
            backend = self._backends[served]
        return backend.execute(caller, sql, binds, cancellation)

    def closed(self, caller: Caller) -> None:
        """Release the session's data."""
        with self._lock:
            backend = self._backends.get(served_by(caller.extra.get("service", "")))
        if backend is not None:
            backend.closed(caller)


def granted_objects() -> frozenset[str]:
    """Return the objects that the practice user can read: the grants of the practice database."""
    lines = files(__package__).joinpath("grants.txt").read_text(encoding="ascii").splitlines()
    return frozenset(line for line in lines if not line.startswith("#"))


def _granted_by(instance: DesiredInstance) -> frozenset[str]:
    if not instance.has_grants:
        return frozenset()
    return granted_objects() - (frozenset() if instance.has_ic_clients else {"SYS.RACWIRE_IC_CLIENTS"})


def _engine(
    source: Daemons,
    instance: DesiredInstance,
    served: Served,
    nodes: tuple[str, ...],
    history_ends: datetime,
    recovery_area: Path,
) -> Backend:
    # Import here and not above: these modules load duckdb and sqlglot.
    from racwire_lab.history.history_plan import HistoryDevice, healthy_week
    from racwire_lab.history.source import GeneratedHistory
    from racwire_lab.oracle_sql.engine import SqlEngine
    from racwire_lab.oracle_sql.identity import Access

    identity = identity_of(instance, served, recovery_area)
    named = tuple((index_of(node), f"{DATABASE}{index_of(node)}", node) for node in nodes)
    networks = private_of(profile_named(instance.like).networks)
    plan = replace(
        healthy_week(history_ends, named),
        dbid=identity.dbid,
        db_name=identity.name,
        mtu=instance.usual_mtu,
        devices=tuple(HistoryDevice(n.nic, n.address(1), n.step, n.netmask) for n in networks),
    )
    is_second = served == "second"
    return SqlEngine(
        source=AloneSource(source) if is_second else ReachableSource(source, instance.number),
        identity=identity,
        instance=1 if is_second else instance.number,
        access=Access({USER: _granted_by(instance)}),
        history=None if is_second else GeneratedHistory(plan),
        slaves=None if is_second else source,
    )
