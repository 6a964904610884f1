"""The backend of the practice database: it runs each statement in DuckDB, on tables made for that statement."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

import duckdb

from racwire_lab.database.backend import Caller, Cancellation, OracleError, Result
from racwire_lab.database.live import HistorySource, InstanceState, LiveSource, Slaves
from racwire_lab.oracle_sql import catalog, live_views
from racwire_lab.oracle_sql.dictionary import View, find_view, views
from racwire_lab.oracle_sql.errors import not_supported, oracle_error
from racwire_lab.oracle_sql.identity import Access, DatabaseIdentity
from racwire_lab.oracle_sql.kinds import ColumnKind, Family, kind_of
from racwire_lab.oracle_sql.results import Running, converter, translated_errors
from racwire_lab.oracle_sql.translate import MACROS, Translation, translate

_MAX_TRANSLATIONS = 500
_translations: dict[Any, Translation] = {}
"""The latest translations of all engines of this process, since a translation takes 10 ms."""
_translations_lock = threading.Lock()
_HISTORY_WAITS_S = 1.0
"""Seconds to wait for an instance that may hang, when the history is read."""
_HUNG_FOR_S = 10.0
"""Seconds during which a hung instance is not waited for again."""
_OF_THE_INSTANCE = frozenset({"USERENV_INSTANCE_NAME", "USERENV_SERVER_HOST"})
_COMMENT = re.compile(r"\s+|--[^\n]*(?:\n|$)|/\*.*?\*/", re.DOTALL)
_WRITES = frozenset(
    (
        *("INSERT", "UPDATE", "DELETE", "MERGE", "CREATE", "DROP", "TRUNCATE", "GRANT", "REVOKE", "RENAME", "COMMENT"),
        *("LOCK", "AUDIT", "NOAUDIT", "ANALYZE", "PURGE", "FLASHBACK"),
    )
)
_BLOCK = re.compile(r"(BEGIN|DECLARE)\b.*\bEND\s*;?\s*", re.IGNORECASE | re.DOTALL)
_HARMLESS_CALL = re.compile(
    r"(?:SYS\.)?(?:DBMS_APPLICATION_INFO\.(?:SET_MODULE|SET_ACTION|SET_CLIENT_INFO)|DBMS_SESSION\.SET_IDENTIFIER)\s*\("
    r"[^;]*\)\s*;|NULL\s*;",
    re.IGNORECASE,
)

_SNAPSHOTS = "snapshots"
"""The key in `Caller.extra` of the running instances' states that end the history in a read-only transaction."""


@dataclass
class SqlEngine:
    """The SQL of one instance. It raises OracleError, and no other exception, for any statement."""

    source: LiveSource
    identity: DatabaseIdentity
    instance: int
    access: Access
    history: HistorySource | None = None
    slaves: Slaves | None = None
    """The parallel query slaves of GV$ statements; None where these cost nothing."""
    memory_limit: str = "1GB"
    """Memory limit of DuckDB, in DuckDB's notation; larger data goes to temporary files."""
    _history_lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _history_is_there: bool = False
    _hung_until: float = 0.0

    def __post_init__(self) -> None:
        self._duck = duckdb.connect(config={"threads": 1, "memory_limit": self.memory_limit})
        for macro in MACROS:
            self._duck.execute(f"CREATE MACRO {macro}")

    def execute(self, caller: Caller, sql: str, binds: Mapping[str, Any], cancellation: Cancellation) -> Result | None:
        """Run one statement: see `Backend`. Raises OracleError."""
        if not _is_query(sql):
            points = self.identity.restore_points
            if not (caller.is_sysdba and points and points.run(" ".join(_COMMENT.sub(" ", sql).rstrip("; ").split()))):
                _run_command(caller, sql)
            return None
        bind_values = {name.upper(): value for name, value in binds.items()}
        translation = self._translate(caller, sql, bind_values)
        if unknown := bind_values.keys() - translation.binds:
            raise oracle_error(1036, *sorted(unknown))
        states = self._states(translation, cancellation)
        reads = tuple(translation.reads.values())
        reads_history = any(view.is_history for view in reads)
        snapshots = self._snapshots(caller, cancellation) if reads_history else ()
        cursor = self._duck.cursor()
        running = Running(cursor, cancellation)
        try:
            with translated_errors(translation.sql):
                self._load(cursor, reads, states, caller)
                if reads_history:
                    self._load_history(cursor, snapshots, reads)
            values = {f"B_{name}": _bound(bind_values[name]) for name in translation.binds}
            now = datetime.now()
            values |= {
                f"S_{name}": self._session_value(caller, name, states, now) for name in translation.session_values
            }
            rows = running.rows(translation.sql, values, [converter(kind) for _, kind in translation.columns])
            if self.slaves is not None and any(map(_is_global, reads)):
                all_rows = list(rows)
                names = [name for name, _ in translation.columns]
                others = [state.instance for state in states if state.instance != self.instance]
                self.slaves.carry(_bytes_by_instance(names, all_rows, others), cancellation)
                rows = iter(all_rows)
        except BaseException:
            running.end()
            raise
        return Result(tuple(kind.column(name) for name, kind in translation.columns), rows)

    def closed(self, caller: Caller) -> None:
        """Do nothing: the engine stores nothing for a session."""

    def close(self) -> None:
        """Close DuckDB and release its memory."""
        self._duck.close()

    def _translate(self, caller: Caller, sql: str, binds: Mapping[str, Any]) -> Translation:
        kinds = tuple(sorted((name, repr(kind_of(value))) for name, value in binds.items()))
        key = (self.identity.release, self.identity.has_statspack, sql, kinds)
        with _translations_lock:
            known = _translations.get(key)
        if known is not None and all(self.access.may_read(caller, view) for view in known.reads.values()):
            return known

        def find(schema: str, name: str, offset: int) -> tuple[View, Mapping[str, ColumnKind]]:
            view = find_view(name, schema)
            if view is None or not self._is_there(view) or not self.access.may_read(caller, view):
                raise oracle_error(942, offset=offset)
            return view, view.of(self.identity.release)

        translation = translate(sql, binds, find)
        with _translations_lock:
            while len(_translations) >= _MAX_TRANSLATIONS:
                _translations.pop(next(iter(_translations)))
            _translations[key] = translation
        return translation

    def _is_there(self, view: View) -> bool:
        if view.owner == "PERFSTAT" and not self.identity.has_statspack:
            return False
        return self.identity.release in view.versions

    def _states(self, translation: Translation, cancellation: Cancellation) -> tuple[InstanceState, ...]:
        """The instances' states that the statement needs."""
        reads = translation.reads.values()
        if global_views := sum(map(_is_global, reads)):
            if self.slaves is not None:
                self.slaves.occupy(global_views, cancellation)
            return self.source.states("everywhere", cancellation)
        if any(view.is_live for view in reads) or any(name in _OF_THE_INSTANCE for name in translation.session_values):
            return self.source.states("here", cancellation)
        return ()

    def _snapshots(self, caller: Caller, cancellation: Cancellation) -> tuple[InstanceState, ...]:
        """The states that end the history: in a read-only transaction the same for all its statements."""
        if not caller.is_read_only:
            return self._states_for_history(cancellation)
        if _SNAPSHOTS not in caller.extra:
            caller.extra[_SNAPSHOTS] = self._states_for_history(cancellation)
        states: tuple[InstanceState, ...] = caller.extra[_SNAPSHOTS]
        return states

    def _states_for_history(self, cancellation: Cancellation) -> tuple[InstanceState, ...]:
        """The states of all instances; AWR does not wait for one that hangs: then the state of this instance only."""
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
        """Put the rows of the views that the statement reads into its tables, except those of history."""
        here = tuple(state for state in states if state.instance == self.instance)
        for view in reads:
            if view.is_history:
                continue
            if view.is_live:
                rows = live_views.rows(view, states if _is_global(view) else here, self.identity)
            else:
                rows = catalog.rows(view, caller, self._visible(caller))
            columns = view.of(self.identity.release)
            _create(cursor, view, columns, temporary=True)
            _insert(cursor, view, columns, rows)

    def _visible(self, caller: Caller) -> list[View]:
        return [view for view in views().values() if self._is_there(view) and self.access.may_read(caller, view)]

    def _load_history(
        self, cursor: duckdb.DuckDBPyConnection, snapshots: tuple[InstanceState, ...], reads: Sequence[View]
    ) -> None:
        """Add the running instances' snapshots, for this statement only: its transaction ends with the cursor."""
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
                    _create(cursor, view, view.of(self.identity.release), temporary=False)
            if self.history is not None:
                self.history.fill(cursor)
            cursor.execute("COMMIT")
        except BaseException:
            cursor.execute("ROLLBACK")
            raise
        finally:
            cursor.close()

    def _session_value(self, caller: Caller, name: str, states: Iterable[InstanceState], now: datetime) -> Any:
        me = next((state for state in states if state.instance == self.instance), None)
        if name in ("SYSDATE", "SYSTIMESTAMP"):
            return now.replace(microsecond=0) if name == "SYSDATE" else now
        attribute = "SESSION_USER" if name == "USER" else name.removeprefix("USERENV_")
        return catalog.userenv(attribute, caller, self.identity, self.instance, me)


def _create(
    connection: duckdb.DuckDBPyConnection, view: View, columns: Mapping[str, ColumnKind], *, temporary: bool
) -> None:
    """Create an empty table, named as the view in lower case."""
    listed = ", ".join(f'"{name}" {kind.duck}' for name, kind in columns.items())
    kind_of_table = "TEMP TABLE" if temporary else "TABLE"
    connection.execute(f'CREATE {kind_of_table} "{view.name.lower()}" ({listed})')


def _insert(
    connection: duckdb.DuckDBPyConnection,
    view: View,
    columns: Mapping[str, ColumnKind],
    rows: Sequence[Mapping[str, Any]],
) -> None:
    """Insert rows; a missing column and empty text are NULL."""
    if not rows:
        return
    values = []
    for name, kind in columns.items():
        column_values = [row.get(name) for row in rows]
        values.append([value or None for value in column_values] if kind.family is Family.TEXT else column_values)
    lists = ", ".join(f"unnest(CAST(${number} AS {kind.duck}[]))" for number, kind in enumerate(columns.values(), 1))
    connection.execute(f'INSERT INTO "{view.name.lower()}" SELECT {lists}', values)


def _is_global(view: View) -> bool:
    """Whether the view has the rows of all instances."""
    return view.name.startswith("GV$")


def _bytes_by_instance(names: Sequence[str], rows: Sequence[Sequence[Any]], instances: Sequence[int]) -> dict[int, int]:
    """The bytes of the rows that each of these instances returns, by the column INST_ID of the result."""
    sizes = dict.fromkeys(instances, 0)
    place = names.index("INST_ID") if "INST_ID" in names else None
    for row in rows:
        size = sum(len(value.encode()) + 1 if isinstance(value, str) else 8 for value in row if value is not None)
        for instance in instances if place is None else [row[place]]:
            if instance in sizes:
                sizes[instance] += size
    return sizes


def _bound(value: Any) -> Any:
    """A bind's value in a form that DuckDB accepts."""
    if isinstance(value, float):
        return Decimal(repr(value))
    return None if value == "" else value


def _first_word(sql: str) -> str:
    """The statement's first word in upper case, after comments and parentheses."""
    position = 0
    while (matched := _COMMENT.match(sql, position)) or sql[position : position + 1] == "(":
        position = matched.end() if matched else position + 1
    word = re.match(r"[A-Za-z]+", sql[position:])
    return word[0].upper() if word else ""


def _is_query(sql: str) -> bool:
    """Whether the statement is a SELECT."""
    return _first_word(sql) in ("SELECT", "WITH")


def _run_command(caller: Caller, sql: str) -> None:
    """Run a statement that is not a query. Raises OracleError for statements that this database does not support."""
    word = _first_word(sql)
    text = " ".join(_COMMENT.sub(" ", sql).upper().rstrip(";").split())
    if word in ("COMMIT", "ROLLBACK"):
        caller.is_read_only = False
    elif word == "SET" and text.startswith("SET TRANSACTION"):
        caller.is_read_only = text.startswith("SET TRANSACTION READ ONLY")
        caller.extra.pop(_SNAPSHOTS, None)
    elif word == "ALTER" and text.startswith("ALTER SESSION SET "):
        return
    elif word in ("BEGIN", "DECLARE"):
        _block(sql)
    elif word in _WRITES or word == "ALTER":
        raise oracle_error(1456 if caller.is_read_only and word != "ALTER" else 1031)
    else:
        raise oracle_error(900)


def _block(sql: str) -> None:
    bare = _COMMENT.sub(" ", sql).strip()
    if not _BLOCK.fullmatch(bare):
        raise oracle_error(900)
    body = re.sub(r"^BEGIN\b|\bEND\s*;?$", "", bare, flags=re.IGNORECASE).strip()
    if _HARMLESS_CALL.sub("", body).strip():
        raise not_supported("PL/SQL other than DBMS_APPLICATION_INFO")
