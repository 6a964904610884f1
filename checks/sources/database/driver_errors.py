"""Translate the driver's errors to messages of racwire: what happened, where, what to do.

An error of the driver has one of three prefixes: ORA- (the database or the listener), DPY- (python-oracledb) and DPI-
(its binding to Oracle's client libraries). Thin mode gives some of the listener's errors a text of its own, and names
the corresponding ORA- number.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator

from checks.model.facts import MissingRight
from checks.model.settings import DatabaseSettings
from checks.model.shell_command import shell, sql
from checks.model.wording import listed
from checks.sources.clusterware.grid_home import user_name
from checks.sources.database.client_libraries import find_libraries, local_instance, tns_directory
from checks.sources.database.errors import DatabaseError, ErrorKind
from checks.sources.database.grants import DEFAULT_USER, group_of
from checks.sources.database.local_instances import local_instances
from checks.sources.database.login_sentences import (
    CAUSES,
    DRIVER_ERRORS,
    EXTERNAL_ERRORS,
    LOCAL_ERRORS,
    LOGIN_ERRORS,
    Sentence,
)
from checks.sources.database.secret import Secret
from checks.sources.database.statements import SqlStatement

_ORA = re.compile(r"ORA-(\d{5})")
_CODE = re.compile(r"DP[IY]-\d{4}")
_QUOTED = re.compile(r'"([^"]+)"')
_RECURSIVE = 604
"""ORA-00604: SQL that another statement or a login started failed; the next errors in the message say why."""
_LONGEST = 300
"""Characters of the driver's own message that racwire repeats."""

_LOST = frozenset(
    (
        *(28, 31, 1012, 1034, 1041, 1089, 1092, 2396, 2399, 3113, 3114, 3122, 3135, 25408),
        *(12153, 12170, 12537, 12547, 12570, 12571, 12583, 12592, 12599, 12606, 12608, 12609),
    )
)
_PROFILE_LIMITS = {
    2392: "CPU_PER_SESSION",
    2393: "CPU_PER_CALL",
    2394: "LOGICAL_READS_PER_SESSION",
    2395: "LOGICAL_READS_PER_CALL",
}
"""The limit of a profile that each ORA- error is about."""
_LOST_CODES = frozenset({"DPY-1001", "DPY-4011", "DPI-1010", "DPI-1080"})


def full_code(error: Exception) -> str:
    """`ORA-00942`, `DPY-4011`, `DPI-1047`, or nothing."""
    return str(getattr(error.args[0], "full_code", "")) if error.args else ""


def as_database_error(
    error: Exception, settings: DatabaseSettings, statement: SqlStatement | None = None, password: Secret | None = None
) -> DatabaseError:
    """Return a driver's error as a DatabaseError: of the login, or of `statement`.

    A message of the driver that contains the password is replaced by the error's code.
    """
    message = str(error)
    code, number = full_code(error), _number(error)
    safe = code or type(error).__name__ if password is not None and password.is_in(message) else message
    if statement is None:
        return _of_login(code, number, message, safe, settings)
    return _of_statement(code, number, safe, settings, statement)


def login_warning(warning: object) -> str:
    """The driver's warning of a login that succeeded, in one line; empty where there is none."""
    return _brief(str(warning)) if warning else ""


def grants_for(statement: SqlStatement, user: str) -> tuple[str, ...]:
    """The exact GRANT commands that a user needs to run a statement."""
    return tuple(sql("GRANT SELECT ON {view} TO {user};", view=name, user=grantee(user)) for name in statement.grants)


def right_to_run(statement: SqlStatement, user: str) -> MissingRight:
    """The right that a user needs to run a statement."""
    grants = grants_for(statement, user)
    return _missing(f"SELECT on {listed(statement.grants)}", grants, user, group=group_of(statement))


def _missing(privilege: str, grants: tuple[str, ...], user: str, *, group: str = "") -> MissingRight:
    """The missing privilege; `group` is the group of objects in the script of `racwire grants`."""
    name = grantee(user)
    script = "racwire grants" if name == DEFAULT_USER else shell("racwire grants --user {user}", user=name)
    script += {"AWR": " --awr", "Statspack": " --statspack", "clients": " --ic-clients"}.get(group, "")
    return MissingRight(f"{privilege} for {name}", grants, "a DBA, AS SYSDBA", script)


def grantee(user: str) -> str:
    """The user name for a GRANT command: for `proxy[user]` the user; RACWIRE where the user is not known."""
    inner = re.fullmatch(r".*\[(.+)\]", user)
    name = inner[1] if inner else user
    return name if name.startswith('"') else name.upper() or "RACWIRE"


def _of_login(code: str, number: int | None, message: str, safe: str, settings: DatabaseSettings) -> DatabaseError:
    """The error of a login. `message` only chooses the sentence; `safe`, without the password, may be repeated."""
    codes = dict.fromkeys((code, *_CODE.findall(message)))  # the message of a DPY-6005 ends with its cause
    found = next((DRIVER_ERRORS[known] for known in codes if known in DRIVER_ERRORS), None)
    if settings.os_authentication:
        local = LOCAL_ERRORS if settings.sysdba else LOCAL_ERRORS | EXTERNAL_ERRORS
        found = found or next((local[n] for n in _numbers(number, message) if n in local), None)
    found = found or next((LOGIN_ERRORS[n] for n in _numbers(number, message) if n in LOGIN_ERRORS), None)
    if found is None:
        of_cause = (text for cause, text in CAUSES.items() if re.search(cause, message))
        text = next(of_cause, "The login of {who} at {where} failed: {reported}")
        found = Sentence(ErrorKind.CANNOT_CONNECT, text)
    right = None
    if found.kind is ErrorKind.MISSING_GRANT:
        user = settings.user
        right = _missing("CREATE SESSION", (sql("GRANT CREATE SESSION TO {user};", user=grantee(user)),), user)
    return DatabaseError(_filled(found.text, settings, safe), found.kind, code=number, right=right)


def _of_statement(
    code: str, number: int | None, message: str, settings: DatabaseSettings, statement: SqlStatement
) -> DatabaseError:
    name, kind = statement.name, ErrorKind.OTHER
    right: MissingRight | None = None
    if "ORA-00600" in message and number != 12801:
        # The driver gives the session up (DPY-4011), so the next statement logs in again; repeating this one is no use.
        text = (
            f"The statement {name} failed with an internal error of the database (ORA-00600): the alert log of the "
            f"instance has the details. {_brief(message)}"
        )
    elif code in _LOST_CODES or number in _LOST:
        kind = ErrorKind.LOST
        text = f"The connection to {place(settings)} was lost while the statement {name} ran: {_brief(message)}"
    elif code == "DPY-4024" or number == 1013:
        return timed_out(statement)
    elif number in (942, 1031):
        kind = ErrorKind.MISSING_GRANT
        right = right_to_run(statement, settings.user)
        user = settings.user or "This user"
        text = f"{user} may not read {' or '.join(statement.reads)} (ORA-{number:05d})."
    elif number == 904:
        text = f"The statement {name} reads a column that this version of the database lacks: {_brief(message)}"
    elif number in _PROFILE_LIMITS:
        text = (
            f"The statement {name} exceeded the limit {_PROFILE_LIMITS[number]} in the profile of "
            f"{settings.user or 'this user'} (ORA-{number:05d}): have a DBA raise the limit, or assign another profile."
        )
    elif number == 12850:
        text = (
            f"The statement {name} could not query all instances (ORA-12850): one instance has no free parallel query "
            "process, or does not answer."
        )
    elif number in (1109, 1219, 1507):
        text = (
            f"The database behind {place(settings)} is not open (ORA-{number:05d}), but the statement {name} needs an "
            "open database."
        )
    else:
        text = f"The statement {name} failed: {_brief(message)}"
    return DatabaseError(text, kind, code=number, statement=name, right=right)


def timed_out(statement: SqlStatement) -> DatabaseError:
    """The error of a statement that exceeded its time limit."""
    return DatabaseError(
        f"The statement {statement.name} exceeded its time limit, and racwire ended it: an instance may hang, or the "
        "limit is too short.",
        ErrorKind.TIMED_OUT,
        statement=statement.name,
    )


def place(settings: DatabaseSettings) -> str:
    """The target of the connection, at most 80 characters long."""
    where = settings.connect or "the local instance"
    return where if len(where) <= 80 else f"{where[:79]}…"


def _number(error: Exception) -> int | None:
    """The ORA- number: from the database, or the corresponding one that the driver names."""
    number = getattr(error.args[0], "code", 0) if error.args else 0
    if number:
        return int(number)
    found = _ORA.search(str(error))
    return int(found[1]) if found else None


def _numbers(number: int | None, message: str) -> Iterator[int]:
    """Yield the number of an error, after the numbers of its causes where it only says that other SQL failed."""
    if number == _RECURSIVE:
        yield from (n for n in map(int, _ORA.findall(message)) if n != _RECURSIVE)
    if number is not None:
        yield number


def _why_thin_is_refused(settings: DatabaseSettings) -> str:
    """The cause of a closed connection that client libraries solve; another one where they are in use."""
    if settings.thick or settings.os_authentication or not settings.user:
        return (
            "The server may refuse these client libraries (SQLNET.ALLOW_WEAK_CRYPTO_CLIENTS=FALSE needs those of July "
            "2021 or later): name newer ones with --oracle-home."
        )
    libraries = ""
    if find_libraries(settings) is None:
        libraries = " with --oracle-home HOME and LD_LIBRARY_PATH=HOME/lib"
    return (
        "The server may refuse thin mode (SQLNET.ALLOW_WEAK_CRYPTO_CLIENTS=FALSE, or required native encryption): try "
        f"--thick{libraries}."
    )


def _local(settings: DatabaseSettings) -> str:
    """The instance that OS authentication logs in to, as the operator or racwire named it."""
    try:
        instance = local_instance(settings)
    except DatabaseError:
        return "the local instance"
    return f"the instance {instance.sid} of the home {instance.home}"


def _running() -> str:
    """The instances that run on this node, with their homes: the values to choose from."""
    found = [f"{i.sid} ({i.home or 'home not known'})" for i in local_instances()]
    return f"Running here: {', '.join(found)}." if found else "racwire sees no running instance on this node."


def _filled(text: str, settings: DatabaseSettings, message: str) -> str:
    """Fill in a sentence. Its fields are computed only where the sentence has them."""
    values: dict[str, Callable[[], object]] = {
        "where": lambda: place(settings),
        "who": lambda: "/" if settings.os_authentication else settings.user or "the wallet's user",
        "reported": lambda: _brief(message),
        "tns": lambda: tns_directory(settings) or "no directory, since none is set",
        "wallet": lambda: settings.wallet or "(none set)",
        "loader": lambda: _brief(found[1] if (found := _QUOTED.search(message)) else message),
        "libraries": lambda: find_libraries(settings) or "$ORACLE_HOME/lib",
        "why_thin_is_refused": lambda: _why_thin_is_refused(settings),
        "other_libraries": lambda: (
            "name newer client libraries with --oracle-home" if settings.thick else "use --thick"
        ),
        "connect_s": lambda: settings.connect_timeout_s,
        "how_to_be_sysdba": lambda: (
            "run racwire as a member of the OSDBA group (dba)"
            if settings.os_authentication
            else "log in without --sysdba, as a user with fewer privileges"
        ),
        "check_listener": lambda: (
            "check host and port, `lsnrctl status`, `srvctl status scan_listener` and `srvctl status listener`"
        ),
        "local": lambda: _local(settings),
        "running": _running,
        "os_user": lambda: user_name(os.geteuid()),
        "wait_or_sysdba": lambda: "wait until the maintenance ends, or use --os-auth --sysdba on the node",
    }
    filled = text.format(**{name: value() for name, value in values.items() if f"{{{name}" in text})
    return f"T{filled[1:]}" if filled.startswith("the ") else filled


def _brief(message: str) -> str:
    """The driver's message in one line, without help links and connection numbers."""
    lines = [line.strip() for line in message.splitlines() if line.strip() and not line.startswith("Help: ")]
    text = re.sub(r" ?\(CONNECTION_ID=[^)]*\)", "", " ".join(lines))
    text = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    return text if text.endswith((".", "…")) else f"{text}."
