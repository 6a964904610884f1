"""Translate the driver's errors to messages of racwire: what happened, where, what to do.

An error of the driver has one of three prefixes: ORA- (the database or the listener), DPY- (python-oracledb) and DPI-
(its binding to Oracle's client libraries). Thin mode gives some of the listener's errors a text of its own, and names
the corresponding ORA- number.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from checks.model.settings import DatabaseSettings
from checks.sources.database.client_libraries import find_libraries, tns_directory
from checks.sources.database.errors import DatabaseError, ErrorKind
from checks.sources.database.secret import Secret
from checks.sources.database.statements import Statement

_ORA = re.compile(r"ORA-(\d{5})")
_CODE = re.compile(r"DP[IY]-\d{4}")
_CONNECT, _LOGIN, _OTHER = ErrorKind.CANNOT_CONNECT, ErrorKind.LOGIN, ErrorKind.OTHER
_LONGEST = 300
"""Characters of the driver's own message that racwire repeats."""

_LOST = frozenset(
    {28, 1012, 1041, 1089, 1092, 2396, 3113, 3114, 3122, 3135, 12153, 12537, 12547, 12570, 12571, 12583, 25408}
)
_LOST_CODES = frozenset({"DPY-1001", "DPY-4011", "DPI-1010", "DPI-1080"})


class _Sentence(NamedTuple):
    kind: ErrorKind
    text: str


_NO_SERVER_PROCESS = (
    "The listener at {{where}} has no free server process ({}): a limit of the instance is reached. Check PROCESSES "
    "and SESSIONS."
)

_WHEN_LOGGING_IN: dict[int, _Sentence] = {
    1017: _Sentence(
        _LOGIN,
        "{where} refused the login of {who}: the user or the password is wrong (ORA-01017). Check --user, and the "
        "password from the prompt, $RACWIRE_DB_PASSWORD or --password-file.",
    ),
    1005: _Sentence(
        _LOGIN,
        "The login of {who} at {where} needs a password: enter it at the prompt, or use $RACWIRE_DB_PASSWORD or "
        "--password-file.",
    ),
    1031: _Sentence(_LOGIN, "{where} refused {who} as SYSDBA (ORA-01031): {how_to_be_sysdba}."),
    1035: _Sentence(
        _LOGIN,
        "{where} is in restricted session and refused the login of {who} (ORA-01035): wait until the maintenance "
        "ends, or log in as a user with RESTRICTED SESSION.",
    ),
    1045: _Sentence(
        ErrorKind.MISSING_GRANT, "{where} refused the login of {who}: the user lacks CREATE SESSION (ORA-01045)."
    ),
    28000: _Sentence(
        _LOGIN,
        "The account {who} at {where} is locked (ORA-28000): ask a DBA to unlock it (ALTER USER {who} ACCOUNT UNLOCK).",
    ),
    28001: _Sentence(
        _LOGIN,
        "The password of {who} at {where} has expired (ORA-28001): change it with sqlplus. racwire changes no "
        "password.",
    ),
    28009: _Sentence(
        _LOGIN,
        "{where} accepts SYS only as SYSDBA (ORA-28009): add --sysdba, or log in as a user with fewer privileges.",
    ),
    28040: _Sentence(
        _LOGIN,
        "{where} and this driver have no authentication protocol in common (ORA-28040): check "
        "SQLNET.ALLOWED_LOGON_VERSION_SERVER in the server's sqlnet.ora, or use --thick with client libraries of the "
        "database's own version.",
    ),
    1033: _Sentence(_CONNECT, "{where} is starting up or shutting down (ORA-01033): wait for the end, then try again."),
    1034: _Sentence(
        _CONNECT, "The instance behind {where} is not running (ORA-01034): check it with `srvctl status database`."
    ),
    1089: _Sentence(_CONNECT, "{where} is shutting down (ORA-01089): connect to a service of another instance."),
    1090: _Sentence(_CONNECT, "{where} is shutting down (ORA-01090): connect to a service of another instance."),
    20: _Sentence(
        _CONNECT, "{where} has reached its limit of processes (ORA-00020): end some processes, or raise PROCESSES."
    ),
    18: _Sentence(
        _CONNECT, "{where} has reached its limit of sessions (ORA-00018): end some sessions, or raise SESSIONS."
    ),
    2391: _Sentence(
        _LOGIN,
        "{where} refused the login of {who}: the user has as many sessions as the profile allows (ORA-02391). End "
        "some sessions.",
    ),
    12154: _Sentence(
        _CONNECT,
        "The TNS alias {where} was not found (ORA-12154; searched: {tns}): name the directory of tnsnames.ora with "
        "--tns-admin, or use EZConnect (host:1521/service).",
    ),
    12170: _Sentence(_CONNECT, "{where} did not answer within {connect_s:g} s (ORA-12170): {check_listener}."),
    12505: _Sentence(
        _CONNECT,
        "The listener at {where} knows no instance of that name (ORA-12505): `lsnrctl services` lists the known "
        "instances.",
    ),
    12514: _Sentence(
        _CONNECT,
        "The listener at {where} does not know the service (ORA-12514): `lsnrctl services` lists the known services. "
        "Services of a database that is down are missing there.",
    ),
    12516: _Sentence(_CONNECT, _NO_SERVER_PROCESS.format("ORA-12516")),
    12520: _Sentence(_CONNECT, _NO_SERVER_PROCESS.format("ORA-12520")),
    12526: _Sentence(_CONNECT, "All instances behind {where} are in restricted session (ORA-12526): {wait_or_sysdba}."),
    12527: _Sentence(_CONNECT, "All instances behind {where} are in restricted session (ORA-12527): {wait_or_sysdba}."),
    12528: _Sentence(
        _CONNECT, "No instance behind {where} is open yet, and none accepts logins (ORA-12528): {wait_or_sysdba}."
    ),
    12541: _Sentence(_CONNECT, "No listener answers at {where} (ORA-12541): {check_listener}."),
    12543: _Sentence(
        _CONNECT, "This node cannot reach {where} (ORA-12543): it has no route to the host. Check host and routes."
    ),
    12545: _Sentence(
        _CONNECT, "This node cannot resolve the host of {where} (ORA-12545): check the name, DNS and /etc/hosts."
    ),
    12560: _Sentence(
        _CONNECT, "racwire could not reach the local instance (ORA-12560): check ORACLE_HOME and ORACLE_SID."
    ),
}

_OTHER_CERTIFICATE = (
    "{where} showed the certificate of another server: check the host and the wallet. The driver reported: {reported}"
)

_BY_CODE: dict[str, _Sentence] = {
    "DPY-4000": _WHEN_LOGGING_IN[12154],
    "DPY-4001": _WHEN_LOGGING_IN[1005],
    "DPY-4017": _Sentence(_CONNECT, "{where} is not a valid connect descriptor; the driver reported: {reported}"),
    "DPY-4018": _Sentence(
        _CONNECT,
        "{where} is not a valid connect string: write it as host:1521/service. For a TNS alias, check its entry in "
        "tnsnames.ora (searched: {tns}).",
    ),
    "DPY-4026": _Sentence(
        _CONNECT,
        "{where} looks like a TNS alias, but tnsnames.ora does not exist (searched: {tns}): name its directory with "
        "--tns-admin, or use EZConnect (host:1521/service).",
    ),
    "DPY-4027": _Sentence(
        _CONNECT,
        "{where} looks like a TNS alias, but no directory of tnsnames.ora is set: name it with --tns-admin or "
        "$TNS_ADMIN, or use EZConnect (host:1521/service).",
    ),
    "DPY-6001": _WHEN_LOGGING_IN[12514],
    "DPY-6003": _WHEN_LOGGING_IN[12505],
    "DPY-2018": _Sentence(
        _CONNECT,
        "The wallet {wallet} has no ewallet.pem, the only form that thin mode reads: create one with orapki, or use "
        "--thick.",
    ),
    "DPY-6002": _Sentence(_CONNECT, _OTHER_CERTIFICATE),
    "DPY-6006": _Sentence(_CONNECT, _OTHER_CERTIFICATE),
    "DPI-1047": _Sentence(
        _CONNECT,
        "racwire could not load Oracle's client libraries: start racwire with LD_LIBRARY_PATH={libraries}, and check "
        "that the libraries are 64 bit and readable by this user.",
    ),
    "DPI-1072": _Sentence(
        _CONNECT, "Oracle's client libraries are too old for this driver: name newer libraries with --oracle-home."
    ),
}

_CAUSES: tuple[tuple[str, _Sentence], ...] = (
    ("Connection refused", _Sentence(_CONNECT, "No listener answers at {where} (refused): {check_listener}.")),
    ("timed out", _Sentence(_CONNECT, "{where} did not answer within {connect_s:g} s: {check_listener}.")),
    (
        "No route to host",
        _Sentence(
            _CONNECT,
            "This node cannot reach {where}: it has no route to the host, or a firewall refused the connection. Check "
            "routes and firewall.",
        ),
    ),
    (
        "unreachable",
        _Sentence(_CONNECT, "This node cannot reach {where}: it has no route to the host. Check host and routes."),
    ),
    (
        "Name or service not known|nodename nor|Temporary failure in name|No address associated|getaddrinfo",
        _Sentence(_CONNECT, "This node cannot resolve the host of {where}: check the name, DNS and /etc/hosts."),
    ),
    (
        "CERTIFICATE_VERIFY_FAILED",
        _Sentence(
            _CONNECT,
            "The certificate of {where} is not trusted: name the wallet that holds its root certificate with --wallet.",
        ),
    ),
    (
        "bad decrypt|BAD_DECRYPT|password",
        _Sentence(
            _CONNECT,
            "racwire could not open the wallet {wallet}, and accepts no wallet password: use --thick with an "
            "auto-login wallet (cwallet.sso), or an ewallet.pem without password.",
        ),
    ),
    (
        "SSL|TLS|ssl",
        _Sentence(_CONNECT, "The TLS connection to {where} failed: check protocol, port and wallet."),
    ),
    (
        "DPY-4011|reset by peer|Broken pipe",
        _Sentence(
            _CONNECT,
            "{where} closed the connection during the login: it is no Oracle listener, or the instance refused the "
            "connection. Check the listener's log and sqlnet.ora (TCP.VALIDNODE_CHECKING).",
        ),
    ),
    (
        "codec can't decode",
        _Sentence(_CONNECT, "The server at {where} is no Oracle listener: check host and port."),
    ),
)
"""Pattern in the operating system's message of a DPY-6005, and the sentence for it; the first match counts."""


def full_code(error: Exception) -> str:
    """`ORA-00942`, `DPY-4011`, `DPI-1047`, or nothing."""
    return str(getattr(error.args[0], "full_code", "")) if error.args else ""


def as_database_error(
    error: Exception, settings: DatabaseSettings, statement: Statement | None = None, password: Secret | None = None
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


def grants_for(statement: Statement, user: str) -> tuple[str, ...]:
    """The exact GRANT commands that a user needs to run a statement."""
    return tuple(f"GRANT SELECT ON {name} TO {grantee(user)};" for name in statement.grants)


def grantee(user: str) -> str:
    """The user name for a GRANT command: for `proxy[user]` the user; RACWIRE where the user is not known."""
    inner = re.fullmatch(r".*\[(.+)\]", user)
    name = inner[1] if inner else user
    return name if name.startswith('"') else name.upper() or "RACWIRE"


def _of_login(code: str, number: int | None, message: str, safe: str, settings: DatabaseSettings) -> DatabaseError:
    """The error of a login. `message` only chooses the sentence; `safe`, without the password, may be repeated."""
    codes = dict.fromkeys((code, *_CODE.findall(message)))  # the message of a DPY-6005 ends with its cause
    found = next((_BY_CODE[known] for known in codes if known in _BY_CODE), None)
    found = found or (_WHEN_LOGGING_IN.get(number) if number else None)
    found = found or next((sentence for cause, sentence in _CAUSES if re.search(cause, message)), None)
    found = found or _Sentence(_CONNECT, "The login of {who} at {where} failed: {reported}")
    grants = (f"GRANT CREATE SESSION TO {grantee(settings.user)};",) if found.kind is ErrorKind.MISSING_GRANT else ()
    text = _filled(found.text, settings, safe)
    return DatabaseError(_with_grants(text, grants), found.kind, code=number, grants=grants)


def _of_statement(
    code: str, number: int | None, message: str, settings: DatabaseSettings, statement: Statement
) -> DatabaseError:
    name = statement.name
    grants: tuple[str, ...] = ()
    if code in _LOST_CODES or number in _LOST:
        kind = ErrorKind.LOST
        text = f"The connection to {place(settings)} was lost while the statement {name} ran: {_brief(message)}"
    elif code == "DPY-4024" or number == 1013:
        return timed_out(statement)
    elif number in (942, 1031):
        kind = ErrorKind.MISSING_GRANT
        grants = grants_for(statement, settings.user)
        user = settings.user or "This user"
        text = f"{user} may not read {' or '.join(statement.reads)} (ORA-{number:05d})."
    elif number == 904:
        kind = _OTHER
        text = f"The statement {name} reads a column that this version of the database lacks: {_brief(message)}"
    elif number == 12850:
        kind = _OTHER
        text = (
            f"The statement {name} could not query all instances (ORA-12850): one instance has no free parallel query "
            "process, or does not answer."
        )
    elif number in (1109, 1219, 1507):
        kind = _OTHER
        text = (
            f"The database behind {place(settings)} is not open (ORA-{number:05d}), but the statement {name} needs an "
            "open database."
        )
    else:
        kind = _OTHER
        text = f"The statement {name} failed: {_brief(message)}"
    return DatabaseError(_with_grants(text, grants), kind, code=number, statement=name, grants=grants)


def timed_out(statement: Statement) -> DatabaseError:
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


def _with_grants(text: str, grants: tuple[str, ...]) -> str:
    return f"{text} Have a DBA run: {' '.join(grants)}" if grants else text


def _number(error: Exception) -> int | None:
    """The ORA- number: from the database, or the corresponding one that the driver names."""
    number = getattr(error.args[0], "code", 0) if error.args else 0
    if number:
        return int(number)
    found = _ORA.search(str(error))
    return int(found[1]) if found else None


def _filled(text: str, settings: DatabaseSettings, message: str) -> str:
    """Fill in a sentence. Its fields are computed only where the sentence has them."""
    values: dict[str, Callable[[], object]] = {
        "where": lambda: place(settings),
        "who": lambda: "/" if settings.os_authentication else settings.user or "the wallet's user",
        "reported": lambda: _brief(message),
        "tns": lambda: tns_directory(settings) or "no directory, since none is set",
        "wallet": lambda: settings.wallet or "(none set)",
        "libraries": lambda: find_libraries(settings) or "$ORACLE_HOME/lib",
        "connect_s": lambda: settings.connect_timeout_s,
        "how_to_be_sysdba": lambda: (
            "run racwire as a member of the OSDBA group (dba)"
            if settings.os_authentication
            else "log in without --sysdba, as a user with fewer privileges"
        ),
        "check_listener": lambda: "check host and port, and `lsnrctl status` (`srvctl status scan_listener`)",
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
