"""Logging in: one blocking call, made in a connection's own thread, that gives a session fit for reading only.

Thin mode (pure Python) is the default. Thick mode (Oracle's own client libraries) is used where it was asked for, where
thin mode has no way in (OS authentication, credentials in a wallet), and where a database turns thin mode away for a
reason that only thick mode mends. A process has one mode: the driver fixes it with the first connection.
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from checks.model.settings import DatabaseSettings
from checks.sources.database.client_libraries import (
    find_libraries,
    how_to_have_libraries,
    local_instance,
    tns_directory,
)
from checks.sources.database.driver_errors import as_database_error, full_code
from checks.sources.database.errors import DatabaseError, ErrorKind
from checks.sources.database.secret import Secret
from checks.sources.database.statements import Statement

if TYPE_CHECKING:
    import oracledb

_ONLY_THICK = {
    "DPY-3001": "it asks for what only thick mode has, such as native network encryption",
    "DPY-3010": "it is older than 12.1",
    "DPY-3015": "the user's password is kept in the 10G form",
}
"""What a database turns thin mode away with, and thick mode mends."""

_NOT_OPEN = (1109, 1219, 1507)
"""A database that is not open or not mounted knows no transaction, and cannot be written either."""

_KEEPALIVE_MIN = 1
"""Minutes without a word after which the kernel asks whether the other side is still there."""

MODULE = "racwire"
READ_ONLY = "SET TRANSACTION READ ONLY"


@dataclass(frozen=True)
class DatabaseSession:
    """A session in the database, as the driver holds it."""

    raw: oracledb.Connection
    driver: str
    """The driver and its mode: `python-oracledb 26.1.0, thin`."""


class Login:
    """How to log in. `session` may be called from any thread, again after a connection was lost."""

    def __init__(self, settings: DatabaseSettings, password: Secret | None, whence: str) -> None:
        self.settings = settings
        self._password = password
        self._whence = whence
        """The operating system's user and host, as the database's own views show who asks."""

    @property
    def where(self) -> str:
        """What is connected to, without a user."""
        return self.settings.connect or "the local instance"

    @property
    def who(self) -> str:
        """As whom: `RACWIRE`, `SYS as sysdba`, `/ as sysdba`."""
        name = "/" if self.settings.os_authentication else self.settings.user or "the wallet's user"
        return f"{name} as sysdba" if self.settings.sysdba else name

    def session(self) -> DatabaseSession:
        """Log in. Blocks. Raises DatabaseError."""
        import oracledb

        try:
            mode = _mode(oracledb, self.settings)
            raw, why = self._connect(oracledb, mode)
            try:
                self._make_read_only(oracledb, raw)
            except BaseException:
                raw.close()
                raise
            return DatabaseSession(raw, _driver_name(oracledb, raw, why))
        except DatabaseError:
            raise
        except Exception as error:  # of the driver or below it; whatever it is, it goes no further than here
            problem = self.explained(error)
        # Raised out here, so that neither the driver's exception nor its frames, which hold the password, go along.
        raise problem

    def explained(self, error: Exception, statement: Statement | None = None) -> DatabaseError:
        """The driver's error as ours, with nothing of the password in it."""
        return as_database_error(error, self.settings, statement, self._password)

    def _connect(self, oracledb: Any, mode: str) -> tuple[oracledb.Connection, str]:
        """The driver's connection, and why it is in thick mode where that was not asked for."""
        try:
            return oracledb.connect(**self._arguments(oracledb)), mode
        except oracledb.Error as error:
            # The driver may put a code of its own before the cause: that it could not connect.
            reason = next((why for code, why in _ONLY_THICK.items() if code in str(error)), "")
            if not reason or not oracledb.is_thin_mode():
                raise
        _start_thick(oracledb, self.settings, reason)
        return oracledb.connect(**self._arguments(oracledb)), reason

    def _arguments(self, oracledb: Any) -> dict[str, Any]:
        settings = self.settings
        arguments: dict[str, Any] = {"mode": oracledb.AUTH_MODE_SYSDBA} if settings.sysdba else {}
        if settings.os_authentication:
            return arguments  # without a place and a user: the libraries go by ORACLE_HOME and ORACLE_SID
        arguments |= {
            "dsn": settings.connect,
            "tcp_connect_timeout": settings.connect_timeout_s,
            "expire_time": _KEEPALIVE_MIN,
            "program": MODULE,
            "config_dir": tns_directory(settings) or None,
            "wallet_location": settings.wallet or None,
            "user": settings.user or None,
            "password": self._password.reveal() if self._password and settings.user else None,
        }
        return {name: value for name, value in arguments.items() if value is not None}

    def _make_read_only(self, oracledb: Any, raw: oracledb.Connection) -> None:
        raw.call_timeout = max(1, round(self.settings.call_timeout_s * 1000))
        raw.module = MODULE
        raw.action = "login"
        raw.clientinfo = f"{MODULE} reads views only"
        raw.client_identifier = self._whence
        try:
            with raw.cursor() as cursor:
                cursor.execute(READ_ONLY)
        except oracledb.DatabaseError as error:
            if getattr(error.args[0], "code", None) not in _NOT_OPEN:
                raise


_mode_decided = threading.Lock()


def _mode(oracledb: Any, settings: DatabaseSettings) -> str:
    """Go into thick mode where it is wanted; why, in words. Into thin mode for good where nothing else is at hand."""
    with _mode_decided:
        why = why_thick(settings)
        if why:
            _start_thick(oracledb, settings, why)
        elif find_libraries(settings) is None and oracledb.is_thin_mode():
            # Said at once: until the mode is fixed the driver lets one login wait for the end of another.
            oracledb.enable_thin_mode()
        return why


def why_thick(settings: DatabaseSettings) -> str:
    """Why thick mode is used from the start; empty where thin mode is tried first."""
    if settings.thick:
        return "as set"
    if settings.os_authentication:
        return "OS authentication"
    return "" if settings.user else "credentials of the wallet or the operating system"


def _start_thick(oracledb: Any, settings: DatabaseSettings, why: str) -> None:
    if not oracledb.is_thin_mode():
        return
    directory = find_libraries(settings)
    if directory is None:
        raise DatabaseError(
            f"{settings.connect or 'The local instance'} needs Oracle's client libraries ({why}), and none were found: "
            f"{how_to_have_libraries(settings)}",
            ErrorKind.CANNOT_CONNECT,
        )
    if settings.os_authentication:
        instance = local_instance(settings)
        os.environ["ORACLE_HOME"], os.environ["ORACLE_SID"] = instance.home, instance.sid
    try:
        oracledb.init_oracle_client(lib_dir=str(directory) or None, config_dir=tns_directory(settings) or None)
    except oracledb.Error as error:
        if full_code(error) != "DPY-2019":
            raise
        raise DatabaseError(
            f"{settings.connect or 'The local instance'} needs Oracle's client libraries ({why}), and this run has "
            "connected without them before: start racwire again with --thick.",
            ErrorKind.CANNOT_CONNECT,
        ) from None


def _driver_name(oracledb: Any, raw: oracledb.Connection, why: str) -> str:
    if raw.thin:
        return f"python-oracledb {oracledb.__version__}, thin"
    libraries = ".".join(str(part) for part in oracledb.clientversion()[:2])
    return f"python-oracledb {oracledb.__version__}, thick with Oracle client {libraries} ({why})"


def fetch(raw: oracledb.Connection, sql: str, binds: dict[str, Any], action: str, timeout_s: float) -> Any:
    """Run one query and fetch it whole: names of columns, and rows. Blocks. Raises the driver's errors."""
    raw.call_timeout = max(1, round(timeout_s * 1000))
    raw.action = action[:64]
    with raw.cursor() as cursor:
        # A few round trips for thousands of rows; Oracle's libraries set aside room for every column's full width.
        cursor.arraysize = 4000 if raw.thin else 500
        cursor.prefetchrows = cursor.arraysize + 1
        cursor.execute(sql, binds)
        columns = tuple(str(column[0]).lower() for column in cursor.description or ())
        return columns, cursor.fetchall()


def break_off(raw: oracledb.Connection, is_over: threading.Event) -> None:
    """Break off what a session does, and close it once that is over. Blocks for as long as either hangs."""
    # The driver crashes when it is to break off, or to close, what it gives up by itself at the same moment.
    try:
        if not is_over.is_set() and raw.is_healthy():
            raw.cancel()
    finally:
        is_over.wait()
        raw.close()
