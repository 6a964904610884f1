"""The backend of the practice database: runs each statement on DuckDB, on tables made fresh for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import duckdb

from racwire_lab.database.backend import Caller, Cancellation, OracleError, Result
from racwire_lab.database.live import HistorySource, InstanceState, LiveSource
from racwire_lab.oracle_sql import catalog, live_views
from racwire_lab.oracle_sql.access import Access
from racwire_lab.oracle_sql.dictionary import View, find_view, views
from racwire_lab.oracle_sql.errors import oracle_error
from racwire_lab.oracle_sql.expressions import parameter
from racwire_lab.oracle_sql.identity import DatabaseIdentity
from racwire_lab.oracle_sql.macros import MACROS
from racwire_lab.oracle_sql.results import Running, column, converter, translated_errors
from racwire_lab.oracle_sql.scope import Columns
from racwire_lab.oracle_sql.session_commands import SNAPSHOTS, is_query, run_command
from racwire_lab.oracle_sql.tables import create, insert
from racwire_lab.oracle_sql.translate import Translation, kind_of, parameter_value, translate

_TRANSLATIONS_KEPT = 200
_HISTORY_WAITS_S = 1.0
"""For an instance that may hang, when the history is read."""
_HUNG_FOR_S = 10.0
"""So long it is not waited for again."""
_OF_THE_INSTANCE = frozenset({"SYS_CONTEXT:INSTANCE_NAME", "SYS_CONTEXT:SERVER_HOST"})


@dataclass
class SqlEngine:
    """One instance's SQL. Raises OracleError, and nothing else, for what it is sent."""

    source: LiveSource
    identity: DatabaseIdentity
    instance: int
    access: Access
    history: HistorySource | None = None
    memory_limit: str = "1GB"
    """Of DuckDB, as it writes it; more goes to temporary files."""
    _translations: dict[Any, Translation] = field(default_factory=dict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _history_lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _history_is_there: bool = False
    _hung_until: float = 0.0

    def __post_init__(self) -> None:
        self._duck = duckdb.connect(config={"threads": 1, "memory_limit": self.memory_limit})
        for macro in MACROS:
            self._duck.execute(f"CREATE MACRO {macro}")

    def execute(self, caller: Caller, sql: str, binds: Mapping[str, Any], cancellation: Cancellation) -> Result | None:
        """Run one statement: see `Backend`."""
        if not is_query(sql):
            run_command(caller, sql)
            return None
        given = {name.upper(): value for name, value in binds.items()}
        translation = self._translate(caller, sql, given)
        if unknown := given.keys() - translation.binds:
            raise oracle_error(1036, *sorted(unknown))
        states = self._states(translation, cancellation)
        reads_history = any(view.is_history for view in translation.reads)
        snapshots = self._snapshots(caller, cancellation) if reads_history else ()
        cursor = self._duck.cursor()
        running = Running(cursor, cancellation)
        try:
            with translated_errors(translation.sql):
                self._load(cursor, translation.reads, states, caller)
                if reads_history:
                    self._load_history(cursor, snapshots, translation.reads)
            values = {f"B_{name}": parameter_value(given[name]) for name in translation.binds}
            values |= {parameter(asked): self._session_value(caller, asked, states) for asked in translation.asks}
            rows = running.rows(translation.sql, values, [converter(kind) for _, kind in translation.columns])
        except BaseException:
            running.end()
            raise
        return Result(tuple(column(name, kind) for name, kind in translation.columns), rows)

    def closed(self, caller: Caller) -> None:
        """The session is over: nothing is kept with it."""

    def close(self) -> None:
        """Give the memory back."""
        self._duck.close()

    def _translate(self, caller: Caller, sql: str, binds: Mapping[str, Any]) -> Translation:
        kinds = tuple(sorted((name, repr(kind_of(value))) for name, value in binds.items()))
        key = (caller.user.upper(), caller.is_sysdba, sql, kinds)
        with self._lock:
            known = self._translations.get(key)
        if known is not None:
            return known

        def find(schema: str, name: str, offset: int) -> tuple[View, Columns]:
            view = find_view(name, schema)
            if view is None or not self._is_there(view) or not self.access.may_read(caller, view):
                raise oracle_error(942, offset=offset)
            return view, list(view.of(self.identity.release).items())

        translation = translate(sql, binds, find)
        with self._lock:
            while len(self._translations) >= _TRANSLATIONS_KEPT:
                self._translations.pop(next(iter(self._translations)))
            self._translations[key] = translation
        return translation

    def _is_there(self, view: View) -> bool:
        if view.owner == "PERFSTAT" and not self.identity.has_statspack:
            return False
        return self.identity.release in view.versions

    def _states(self, translation: Translation, cancellation: Cancellation) -> tuple[InstanceState, ...]:
        """The instances' states, as far as the statement needs them."""
        reads = translation.reads
        if any(view.name.startswith("GV$") for view in reads):
            return self.source.states("everywhere", cancellation)
        if any(view.is_live for view in reads) or any(asked in _OF_THE_INSTANCE for asked in translation.asks):
            return self.source.states("here", cancellation)
        return ()

    def _snapshots(self, caller: Caller, cancellation: Cancellation) -> tuple[InstanceState, ...]:
        """The states that history ends with: in a read-only transaction the same for all its statements."""
        if not caller.is_read_only:
            return self._states_for_history(cancellation)
        if SNAPSHOTS not in caller.extra:
            caller.extra[SNAPSHOTS] = self._states_for_history(cancellation)
        kept: tuple[InstanceState, ...] = caller.extra[SNAPSHOTS]
        return kept

    def _states_for_history(self, cancellation: Cancellation) -> tuple[InstanceState, ...]:
        """Of all instances; AWR does not wait for one that hangs, so then of this one alone."""
        if time.monotonic() < self._hung_until:
            return self.source.states("here", cancellation)
        patience = Cancellation()
        cancellation.on_cancel(patience.cancel)
        timer = threading.Timer(_HISTORY_WAITS_S, patience.cancel)
        timer.start()
        try:
            return self.source.states("everywhere", patience)
        except OracleError:
            if cancellation.cancelled or not patience.cancelled:
                raise
            self._hung_until = time.monotonic() + _HUNG_FOR_S
            return self.source.states("here", cancellation)
        finally:
            timer.cancel()

    def _load(
        self,
        cursor: duckdb.DuckDBPyConnection,
        reads: Sequence[View],
        states: tuple[InstanceState, ...],
        caller: Caller,
    ) -> None:
        """Put the rows of what the statement reads into tables: its own ones, but for history."""
        here = tuple(state for state in states if state.instance == self.instance)
        for view in reads:
            if view.is_history:
                continue
            if view.is_live:
                rows = live_views.rows(view, states if view.name.startswith("GV$") else here, self.identity)
            else:
                rows = catalog.rows(view, caller, self._visible(caller))
            columns = view.of(self.identity.release)
            create(cursor, view, columns, temporary=True)
            insert(cursor, view, columns, rows)

    def _visible(self, caller: Caller) -> list[View]:
        return [view for view in views().values() if self._is_there(view) and self.access.may_read(caller, view)]

    def _load_history(
        self, cursor: duckdb.DuckDBPyConnection, snapshots: tuple[InstanceState, ...], reads: Sequence[View]
    ) -> None:
        """Add the living instances' snapshots, for this statement alone: its transaction ends with the cursor."""
        with self._history_lock:
            if not self._history_is_there:
                self._fill_history()
                self._history_is_there = True
        cursor.execute("BEGIN")
        if self.history is not None:
            self.history.add_living(cursor, snapshots, {view.name.lower() for view in reads if view.is_history})

    def _fill_history(self) -> None:
        cursor = self._duck.cursor()
        cursor.execute("BEGIN")
        try:
            for view in views().values():
                if view.is_history and self._is_there(view):
                    create(cursor, view, view.of(self.identity.release), temporary=False)
            if self.history is not None:
                self.history.fill(cursor)
            cursor.execute("COMMIT")
        except BaseException:
            cursor.execute("ROLLBACK")
            raise
        finally:
            cursor.close()

    def _session_value(self, caller: Caller, asked: str, states: Sequence[InstanceState]) -> Any:
        me = next((state for state in states if state.instance == self.instance), None)
        if asked == "NOW":
            return datetime.now()
        if asked == "USER":
            return "SYS" if caller.is_sysdba else caller.user.upper()
        attribute = asked.partition(":")[2]
        return catalog.userenv(attribute, caller, self.identity, self.instance, me)
