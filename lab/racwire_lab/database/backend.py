"""The interface between Oracle Net and the SQL: requests of a session, and their results."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol


class OracleType(Enum):
    """The types of columns that the server can describe. The value is the type's number in the protocol."""

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
    """Size in bytes, for text and RAW."""
    precision: int = 0
    scale: int = -127
    """Decimal places; -127 with precision 0 is a plain NUMBER."""


@dataclass(frozen=True)
class Result:
    """The result of a query. Values are str, int, Decimal, float, datetime, timedelta, bytes or None."""

    columns: tuple[Column, ...]
    rows: Iterable[Sequence[Any]]


class OracleError(Exception):
    """An Oracle error: `OracleError(942, "table or view does not exist")`."""

    def __init__(self, code: int, text: str, offset: int = 0) -> None:
        super().__init__(f"ORA-{code:05d}: {text}")
        self.code = code
        self.offset = offset
        """Position of the error in the statement, in characters."""


class Cancellation:
    """The state of a call: whether the client has cancelled it.

    Code that runs can wait for that, or register a callback.
    """

    def __init__(self) -> None:
        self._event = threading.Event()
        self._callbacks: list[Callable[[], object]] = []
        self._lock = threading.Lock()

    def cancel(self) -> None:
        """Cancel the call."""
        with self._lock:
            self._event.set()
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    @property
    def cancelled(self) -> bool:
        """Whether the call has been cancelled."""
        return self._event.is_set()

    def wait(self, timeout_s: float) -> bool:
        """Wait until the call is cancelled or the timeout ends. Return whether it has been cancelled."""
        return self._event.wait(timeout_s)

    def on_cancel(self, callback: Callable[[], object]) -> None:
        """Register a callback for the cancellation; run it at once when the call has been cancelled already."""
        with self._lock:
            if not self._event.is_set():
                self._callbacks.append(callback)
                return
        callback()


@dataclass
class Caller:
    """The session that runs a statement."""

    user: str
    session_id: int
    serial: int
    is_sysdba: bool = False
    module: str = ""
    action: str = ""
    client_info: str = ""
    program: str = ""
    is_read_only: bool = False
    """Whether the session is inside SET TRANSACTION READ ONLY."""
    extra: dict[str, Any] = field(default_factory=dict)
    """Data of the backend for this session."""


class Backend(Protocol):
    """The interface that runs statements.

    The server calls it in worker threads: one call at a time for each session, many sessions at once.
    """

    def execute(self, caller: Caller, sql: str, binds: Mapping[str, Any], cancellation: Cancellation) -> Result | None:
        """Run one statement; binds are by upper-case name. Return None when it has no rows. Raises OracleError."""
        ...

    def closed(self, caller: Caller) -> None:
        """Release the session's data after its end, however it ended."""
        ...
