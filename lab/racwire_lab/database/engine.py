"""The SQL of one instance: made when it is first asked for, and made anew when the instance becomes another one."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from importlib.resources import files
from typing import Any

from racwire_lab.cluster.databases import USER
from racwire_lab.cluster.instances import Instance
from racwire_lab.cluster.topology import DATABASE, index_of
from racwire_lab.database.backend import Backend, Caller, Cancellation, OracleError, Result
from racwire_lab.database.live import LiveSource

_DBID = 1973061500


class Engine:
    """A Backend. Nothing heavy is loaded before the first statement, so that a cluster comes up quickly."""

    def __init__(self, source: LiveSource, nodes: tuple[str, ...], history_ends: datetime) -> None:
        self._source = source
        self._nodes = nodes
        self._history_ends = history_ends
        self._lock = threading.Lock()
        self._instance: Instance | None = None
        self._backend: Backend | None = None

    def follow(self, instance: Instance) -> None:
        """How the instance is now."""
        with self._lock:
            before, self._instance = self._instance, instance
            if before and (before.version, before.has_grants) != (instance.version, instance.has_grants):
                self._backend = None  # one that still runs a statement goes when that is done

    def execute(self, caller: Caller, sql: str, binds: Mapping[str, Any], cancellation: Cancellation) -> Result | None:
        """Run one statement. Raises OracleError."""
        with self._lock:
            if self._instance is None:
                raise OracleError(1034, "ORACLE not available")
            if self._backend is None:
                self._backend = _engine(self._source, self._instance, self._nodes, self._history_ends)
            backend = self._backend
        return backend.execute(caller, sql, binds, cancellation)

    def closed(self, caller: Caller) -> None:
        """The session is over."""
        with self._lock:
            backend = self._backend
        if backend is not None:
            backend.closed(caller)


def granted_objects() -> frozenset[str]:
    """The objects that the practice user can read, as the DBA of the practice database granted them."""
    lines = files(__package__).joinpath("grants.txt").read_text(encoding="ascii").splitlines()
    return frozenset(line for line in lines if not line.startswith("#"))


def _engine(source: LiveSource, instance: Instance, nodes: tuple[str, ...], history_ends: datetime) -> Backend:
    # Here and not above: these load duckdb and sqlglot.
    from racwire_lab.history.plan import healthy_week
    from racwire_lab.history.source import GeneratedHistory
    from racwire_lab.oracle_sql.engine import SqlEngine
    from racwire_lab.oracle_sql.identity import Access, DatabaseIdentity

    named = tuple((index_of(node), f"{DATABASE}{index_of(node)}", node) for node in nodes)
    plan = replace(healthy_week(history_ends, named), dbid=_DBID, db_name=DATABASE.upper(), mtu=instance.usual_mtu)
    return SqlEngine(
        source=source,
        identity=DatabaseIdentity(DATABASE.upper(), DATABASE, _DBID, instance.version),
        instance=instance.number,
        access=Access({USER: granted_objects() if instance.has_grants else frozenset()}),
        history=GeneratedHistory(plan),
    )
