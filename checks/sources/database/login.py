"""Log in to the database: one blocking call, in a connection's own thread, that returns a read-only session.

Thin mode (pure Python) is the default. racwire uses thick mode (Oracle's own client libraries) where the operator
requests it, where thin mode cannot log in (OS authentication, credentials in a wallet), and where a database refuses
thin mode for a reason that thick mode solves. A process has one mode: the driver fixes it with the first connection.
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from checks.model.settings import DatabaseSettings
from checks.sources.database.client_libraries import (
    find_libraries,
    libraries_advice,
    local_instance,
    tns_directory,
)
from checks.sources.database.driver_errors import as_database_error, full_code, login_warning
from checks.sources.database.errors import DatabaseError, ErrorKind
from checks.sources.database.secret import Secret
from checks.sources.database.statements import SqlStatement

if TYPE_CHECKING:
    import oracledb

_ONLY_THICK = {
    "DPY-3001": "the database requires a feature of thick mode, such as native network encryption",
    "DPY-3010": "the database is older than 12.1",
    "DPY-3015": "the database has the user's password in the 10G form or another form that thin mode cannot use",
    "DPY-3016": "this Python has no usable package cryptography",
}
"""Errors of a database that refuses thin mode and accepts thick mode, and the reason for each."""
_WITHOUT_LIBRARIES = {"DPY-3015": "Or have a DBA set the user's password again: the database then stores newer forms."}
"""What solves the error without thick mode."""

_NOT_OPEN = (1109, 1219, 1507)
"""ORA- errors of a database that is not open or not mounted: it has no transactions and cannot be written to."""

_KEEPALIVE_MIN = 1
"""Minutes without traffic after which the kernel checks whether the other side still answers."""

MODULE = "racwire"
READ_ONLY = "SET TRANSACTION READ ONLY"


@dataclass(frozen=True)
class DatabaseSession:
    """The driver's session in the database."""

    raw: oracledb.Connection
    driver: str
    """The driver and its mode: `python-oracledb 26.1.0, thin`."""
    warning: str = ""
    """The warning that came with a login that succeeded: `ORA-28002: the password will expire within 3 days`."""


class Login:
    """How to log in. Any thread may call `session`, and call it again after a connection was lost."""

    def __init__(self, settings: DatabaseSettings, password: Secret | None, client: str) -> None:
        self.settings = settings
        self._password = password
        self._client = client
        """The user and host of the operating system, which the database's views show as CLIENT_IDENTIFIER."""

    @property
    def where(self) -> str:
        """The target of the connection, without the user."""
        return self.settings.connect or "the local instance"

    @property
    def who(self) -> str:
        """The user that logs in: `RACWIRE`, `SYS as sysdba`, `/ as sysdba`."""
        name = "/" if self.settings.os_authentication else self.settings.user or "the wallet's user"
        return f"{name} as sysdba" if self.settings.sysdba else name

    def session(self) -> DatabaseSession:
        """Log in and return a read-only session. Blocks. Raises DatabaseError where the login fails."""
        import oracledb

        try:
            mode = _mode(oracledb, self.settings)
            raw, why = self._connect(oracledb, mode)
            try:
                self._make_read_only(oracledb, raw)
            except BaseException:
                raw.close()
                raise
            return DatabaseSession(raw, _driver_name(oracledb, raw, why), login_warning(raw.warning))
        except DatabaseError:
            raise
        except Exception as error:  # any error of the driver or below it becomes a DatabaseError
            problem = self.translated(error)
        # Raised outside of the handler: the driver's exception and its frames, which hold the password, stay behind.
        raise problem

    def translated(self, error: Exception, statement: SqlStatement | None = None) -> DatabaseError:
        """Return the driver's error as a DatabaseError without the password."""
        return as_database_error(error, self.settings, statement, self._password)

    def _connect(self, oracledb: Any, mode: str) -> tuple[oracledb.Connection, str]:
        """Return the driver's connection, and why it is in thick mode; an empty reason in thin mode."""
        try:
            return oracledb.connect(**self._arguments(oracledb)), mode
        except oracledb.Error as error:
            # The driver may put a code of its own before the cause: DPY-6005, it could not connect.
            found = next((code for code in _ONLY_THICK if code in str(error)), "")
            if not found or not oracledb.is_thin_mode():
                raise
        reason = _ONLY_THICK[found]
        _start_thick(oracledb, self.settings, reason, _WITHOUT_LIBRARIES.get(found, ""))
        return oracledb.connect(**self._arguments(oracledb)), reason

    def _arguments(self, oracledb: Any) -> dict[str, Any]:
        settings = self.settings
        arguments: dict[str, Any] = {"mode": oracledb.AUTH_MODE_SYSDBA} if settings.sysdba else {}
        if settings.os_authentication:
            return arguments  # no target and no user: the libraries use ORACLE_HOME and ORACLE_SID
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
        raw.client_identifier = self._client
        try:
            with raw.cursor() as cursor:
                cursor.execute(READ_ONLY)
        except oracledb.DatabaseError as error:
            if getattr(error.args[0], "code", None) not in _NOT_OPEN:
                raise


_mode_decided = threading.Lock()


def _mode(oracledb: Any, settings: DatabaseSettings) -> str:
    """Enter thick mode where it is needed, and return the reason. Fix thin mode where no libraries are available."""
    with _mode_decided:
        why = why_thick(settings)
        if why:
            _start_thick(oracledb, settings, why)
        elif find_libraries(settings) is None and oracledb.is_thin_mode():
            # Fixed before the login: until the mode is fixed, the driver makes each login wait for the one before.
            oracledb.enable_thin_mode()
        return why


def why_thick(settings: DatabaseSettings) -> str:
    """Why racwire uses thick mode from the start; empty where it tries thin mode first."""
    if settings.thick:
        return "thick mode is set"
    if settings.os_authentication:
        return "OS authentication"
    return "" if settings.user else "credentials of the wallet or the operating system"


def _start_thick(oracledb: Any, settings: DatabaseSettings, why: str, otherwise: str = "") -> None:
    if not oracledb.is_thin_mode():
        return
    directory = find_libraries(settings)
    if directory is None:
        raise DatabaseError(
            f"The login at {settings.connect or 'the local instance'} needs Oracle's client libraries ({why}), but "
            f"racwire found none: {' '.join(filter(None, (libraries_advice(settings), otherwise)))}",
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
            f"The login at {settings.connect or 'the local instance'} needs Oracle's client libraries ({why}), but "
            "this run already connected without them: start racwire again with --thick.",
            ErrorKind.CANNOT_CONNECT,
        ) from None


def _driver_name(oracledb: Any, raw: oracledb.Connection, why: str) -> str:
    if raw.thin:
        return f"python-oracledb {oracledb.__version__}, thin"
    libraries = ".".join(str(part) for part in oracledb.clientversion()[:2])
    return f"python-oracledb {oracledb.__version__}, thick with Oracle client {libraries} ({why})"


def fetch(raw: oracledb.Connection, sql: str, binds: dict[str, Any], action: str, timeout_s: float) -> Any:
    """Run one query and return (column names in lower case, all rows). Blocks. Raises the driver's errors."""
    raw.call_timeout = max(1, round(timeout_s * 1000))
    raw.action = action[:64]
    with raw.cursor() as cursor:
        # Few round trips for thousands of rows. The driver keeps an array of that length for each column of each
        # statement: 4,000 took 6 MB. Oracle's libraries reserve memory for the full width of each column.
        cursor.arraysize = 1000 if raw.thin else 500
        cursor.prefetchrows = cursor.arraysize + 1
        cursor.execute(sql, binds)
        columns = tuple(str(column[0]).lower() for column in cursor.description or ())
        return columns, cursor.fetchall()


def cancel_and_close(raw: oracledb.Connection, is_over: threading.Event) -> None:
    """Cancel the running statement of a session, and close the session after the statement ended.

    `is_over` is set when no statement runs. Blocks for as long as the cancellation or the close hangs.
    """
    # The driver crashes if a cancel or close meets a session that the driver is ending itself at the same moment.
    try:
        if not is_over.is_set() and raw.is_healthy():
            raw.cancel()
    finally:
        is_over.wait()
        raw.close()
