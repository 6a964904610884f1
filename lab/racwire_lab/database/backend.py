"""The interface between the wire and the SQL: requests of a session, and their results."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol


class OracleType(Enum):
    """The types of columns that the server can describe; the value is the type's number on the wire."""

    VARCHAR2 = 1
    NUMBER = 2
    DATE = 12
    RAW = 23
    CHAR = 96
    BINARY_DOUBLE = 101
    CLOB = 112
    TIMESTAMP = 180
    TIMESTAMP_TZ = 181
    INTERVAL_DS = 183


@dataclass(frozen=True)
class Column:
    """A column of a result, as the client sees it."""

    name: str
    type: OracleType
    size: int = 4000
    """In bytes, for text and RAW."""
    precision: int = 0
    scale: int = -127
    """-127 together with precision 0 is a plain NUMBER."""


@dataclass(frozen=True)
class Result:
    """The result of a query. Values are str, int, Decimal, float, datetime, timedelta, bytes or None."""

    columns: tuple[Column, ...]
    rows: Iterable[Sequence[Any]]


class OracleError(Exception):
    """An error as the database tells it: `OracleError(942, "table or view does not exist")`."""

    def __init__(self, code: int, text: str, offset: int = 0) -> None:
        super().__init__(f"ORA-{code:05d}: {text}")
        self.code = code
        self.offset = offset
        """Position in the statement, in characters."""


class Cancellation:
    """Whether the client has broken off the call; code that runs can wait for that, or register a callback."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._callbacks: list[Callable[[], object]] = []
        self._lock = threading.Lock()

    def cancel(self) -> None:
        """Break the call off."""
        with self._lock:
            self._event.set()
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    @property
    def cancelled(self) -> bool:
        """Whether it has been broken off."""
        return self._event.is_set()

    def wait(self, timeout_s: float) -> bool:
        """Wait until it is broken off, or so long; tells whether it has been."""
        return self._event.wait(timeout_s)

    def on_cancel(self, callback: Callable[[], object]) -> None:
        """Call this when it is broken off; at once when it has been."""
        with self._lock:
            if not self._event.is_set():
                self._callbacks.append(callback)
                return
        callback()


@dataclass
class Caller:
    """The session that asks."""

    user: str
    session_id: int
    serial: int
    is_sysdba: bool = False
    module: str = ""
    action: str = ""
    client_info: str = ""
    program: str = ""
    is_read_only: bool = False
    """Inside SET TRANSACTION READ ONLY."""
    extra: dict[str, Any] = field(default_factory=dict)
    """Data of the backend for this session."""


class Backend(Protocol):
    """Runs statements. Called in a worker thread, one call at a time for each session, many sessions at once."""

    def execute(self, caller: Caller, sql: str, binds: Mapping[str, Any], cancellation: Cancellation) -> Result | None:
        """Run one statement; binds by upper-case name. None when it gives no rows. Raises OracleError."""
        ...

    def closed(self, caller: Caller) -> None:
        """The session is over, however it ended."""
        ...
