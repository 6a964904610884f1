"""A generated history behind the practice database's SQL, queried in this process without a network."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, cast

from checks.model.facts import Database, History, Instance, NotAsked, Parameter, Unknown
from checks.model.settings import DatabaseSettings
from checks.sources.database.connection import Rows
from checks.sources.database.connections import Connections
from checks.sources.database.errors import DatabaseError, ErrorKind
from checks.sources.database.history import find_history, read_history
from checks.sources.database.statements import SqlStatement
from racwire_lab.database.backend import Caller, Cancellation, OracleError
from racwire_lab.database.live import InstanceState
from racwire_lab.history.history_plan import HistoryPlan
from racwire_lab.history.source import GeneratedHistory
from racwire_lab.oracle_sql.engine import SqlEngine
from racwire_lab.oracle_sql.identity import Access, DatabaseIdentity

FIRST_END = datetime(2026, 3, 1, 0, 0, 7)


class Living:
    """The running instances: none by default."""

    def __init__(self, *states: InstanceState) -> None:
        self.all = states

    def states(self, scope: Literal["here", "everywhere"], cancellation: Cancellation) -> tuple[InstanceState, ...]:
        return self.all


class Practice:
    """A replacement for a run's connections that records the statements."""

    def __init__(
        self, plan: HistoryPlan, *, statspack: bool = True, access: Access | None = None, living: Living | None = None
    ) -> None:
        self.plan = plan
        self.settings = DatabaseSettings()
        self.asked: list[str] = []
        self.read: set[str] = set()
        self.rows_told = 0
        self.engine = SqlEngine(
            living or Living(),
            identity=DatabaseIdentity(plan.db_name, plan.db_name.lower(), plan.dbid, has_statspack=statspack),
            instance=plan.numbers[0],
            access=access or Access.all("RACWIRE"),
            history=GeneratedHistory(plan),
        )

    async def get(self, purpose: str = "main") -> Practice:
        assert purpose == "history"
        self.caller = Caller("RACWIRE", 1, 1, is_read_only=True)
        return self

    async def rows(
        self, statement: SqlStatement, binds: Mapping[str, Any] | None = None, *, timeout_s: float | None = None
    ) -> Rows:
        assert timeout_s == self.settings.history_timeout_s
        self.asked.append(statement.name)
        self.read.update(statement.reads)
        try:
            result = self.engine.execute(self.caller, statement.text, binds or {}, Cancellation())
        except OracleError as error:
            kind = ErrorKind.MISSING_GRANT if error.code == 942 else ErrorKind.OTHER
            raise DatabaseError(str(error), kind, code=error.code, statement=statement.name) from None
        assert result is not None
        rows = [tuple(row) for row in result.rows]
        self.rows_told += len(rows)
        return Rows(tuple(column.name.lower() for column in result.columns), rows)

    def history(self, *, awr: bool = True, days: float = 3660, database: Database | None = None) -> Any:
        """Return the result of `read_history`."""
        self.settings = DatabaseSettings(connect="lab", diagnostics_pack=awr, history_days=days)
        history = read_history(cast(Connections, self), database or a_database(self.plan), lambda *_: None)
        return asyncio.run(history)

    def found(self, *, awr: bool = True) -> Any:
        """Return the result of `find_history`."""
        self.settings = DatabaseSettings(connect="lab", diagnostics_pack=awr)
        return asyncio.run(find_history(cast(Connections, self), a_database(self.plan), lambda *_: None))

    def close(self) -> None:
        self.engine.close()


def a_database(plan: HistoryPlan, pack: str | None = "DIAGNOSTIC+TUNING", **changes: Any) -> Database:
    """Return the database as discovery would find it."""
    values: dict[str, Any] = {
        "name": plan.db_name,
        "dbid": plan.dbid,
        "version": "19.22.0.0.0",
        "role": "PRIMARY",
        "open_mode": "READ WRITE",
        "reached": "lab",
        "user": "RACWIRE",
        "driver": "none",
        "connected_instance": plan.numbers[0],
        "block_size_bytes": 8192,
        "instances": tuple(
            Instance(number, name, host, "19.22.0.0.0", "2026-01-01T00:00:00") for number, name, host in plan.instances
        ),
        "parameters": tuple(
            Parameter(number, "control_management_pack_access", pack) for number in plan.numbers if pack is not None
        ),
    }
    return Database(**(values | changes))


__all__ = ["FIRST_END", "History", "Living", "NotAsked", "Practice", "Unknown", "a_database"]
