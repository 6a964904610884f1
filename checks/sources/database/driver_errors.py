"""The driver's errors as ours: one sentence each, with the next step.

The driver speaks with three voices: ORA- (the database or the listener), DPY- (python-oracledb) and DPI- (its binding
to Oracle's client libraries). Thin mode words some of the listener's errors anew and says which ORA- number they are
like.
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
"""Characters of the driver's own words that are passed on."""

_LOST = frozenset(
    {28, 1012, 1041, 1089, 1092, 2396, 3113, 3114, 3122, 3135, 12153, 12537, 12547, 12570, 12571, 12583, 25408}
)
_LOST_CODES = frozenset({"DPY-1001", "DPY-4011", "DPI-1010", "DPI-1080"})


class _Sentence(NamedTuple):
    kind: ErrorKind
    text: str


_WHEN_LOGGING_IN: dict[int, _Sentence] = {
    1017: _Sentence(_LOGIN, "{where} refused {who}: the user or the password is wrong (ORA-01017)."),
    1005: _Sentence(_LOGIN, "No password was given for {who}: {how_to_give_one}."),
    1031: _Sentence(_LOGIN, "{who} may not log in as SYSDBA at {where} (ORA-01031): {how_to_be_sysdba}."),
    1035: _Sentence(
        _LOGIN,
        "{where} is in restricted session and does not let {who} in (ORA-01035): wait for the end of the work on it, "
        "or log in as a user with RESTRICTED SESSION.",
    ),
    1045: _Sentence(ErrorKind.MISSING_GRANT, "{who} may not log in at {where}: it lacks CREATE SESSION (ORA-01045)."),
    28000: _Sentence(
        _LOGIN,
        "The account {who} at {where} is locked (ORA-28000): have a DBA unlock it (ALTER USER {who} ACCOUNT UNLOCK).",
    ),
    28001: _Sentence(
        _LOGIN,
        "The password of {who} at {where} has expired (ORA-28001): change it with sqlplus; racwire changes nothing.",
    ),
    28009: _Sentence(_LOGIN, "SYS can only log in as SYSDBA (ORA-28009): add --sysdba, or use a lesser user."),
    28040: _Sentence(
        _LOGIN,
        "{where} does not accept the way this driver logs in (ORA-28040): look at SQLNET.ALLOWED_LOGON_VERSION_SERVER "
        "in the server's sqlnet.ora, or use --thick with libraries of the database's own version.",
    ),
    1033: _Sentence(_CONNECT, "{where} is starting up or shutting down (ORA-01033): try again when that is done."),
    1034: _Sentence(
        _CONNECT, "The instance behind {where} is not running (ORA-01034): `srvctl status database` tells."
    ),
    1089: _Sentence(_CONNECT, "{where} is shutting down (ORA-01089): try another instance's service."),
    1090: _Sentence(_CONNECT, "{where} is shutting down (ORA-01090): try another instance's service."),
    20: _Sentence(_CONNECT, "{where} has as many processes as it may (ORA-00020): end some or raise PROCESSES."),
    18: _Sentence(_CONNECT, "{where} has as many sessions as it may (ORA-00018): end some or raise SESSIONS."),
    2391: _Sentence(_LOGIN, "{who} has as many sessions at {where} as its profile allows (ORA-02391): end some."),
    12154: _Sentence(
        _CONNECT,
        "The alias {where} was not found (ORA-12154); looked in {tns}: name the right directory with --tns-admin, or "
        "use EZConnect (host:1521/service).",
    ),
    12170: _Sentence(_CONNECT, "{where} did not answer within {connect_s:g} s (ORA-12170): {look_at_listener}."),
    12505: _Sentence(
        _CONNECT, "The listener at {where} knows no instance of that name (ORA-12505): `lsnrctl services` lists them."
    ),
    12514: _Sentence(
        _CONNECT,
        "The listener at {where} knows no such service (ORA-12514): `lsnrctl services` lists those it knows; a "
        "database that is down is not among them.",
    ),
    12516: _Sentence(_CONNECT, "The listener at {where} has no free server process (ORA-12516): the limit is reached."),
    12520: _Sentence(_CONNECT, "The listener at {where} has no free server process (ORA-12520): the limit is reached."),
    12526: _Sentence(_CONNECT, "All instances behind {where} are in restricted session (ORA-12526): {wait_or_sysdba}."),
    12527: _Sentence(_CONNECT, "All instances behind {where} are in restricted session (ORA-12527): {wait_or_sysdba}."),
    12528: _Sentence(
        _CONNECT, "All instances behind {where} are not open yet and take nobody (ORA-12528): {wait_or_sysdba}."
    ),
    12541: _Sentence(_CONNECT, "No listener answers at {where} (ORA-12541): {look_at_listener}."),
    12543: _Sentence(_CONNECT, "{where} cannot be reached (ORA-12543): no route leads there."),
    12545: _Sentence(
        _CONNECT, "The host of {where} is not known here (ORA-12545): look at its name, DNS and /etc/hosts."
    ),
    12560: _Sentence(
        _CONNECT, "The local instance could not be reached (ORA-12560): look at ORACLE_HOME and ORACLE_SID."
    ),
}

_BY_CODE: dict[str, _Sentence] = {
    "DPY-4000": _WHEN_LOGGING_IN[12154],
    "DPY-4001": _WHEN_LOGGING_IN[1005],
    "DPY-4017": _Sentence(_CONNECT, "{where} is no connect descriptor that can be understood: {said}"),
    "DPY-4018": _Sentence(
        _CONNECT,
        "{where} cannot be understood as a place: write it as host:1521/service; for a TNS alias, look at its entry in "
        "tnsnames.ora (looked in {tns}).",
    ),
    "DPY-4026": _Sentence(
        _CONNECT,
        "{where} was taken for a TNS alias, but there is no tnsnames.ora in {tns}: name its directory with "
        "--tns-admin, or use EZConnect (host:1521/service).",
    ),
    "DPY-4027": _Sentence(
        _CONNECT,
        "{where} was taken for a TNS alias, and no directory of tnsnames.ora is known: name it with --tns-admin or "
        "$TNS_ADMIN, or use EZConnect (host:1521/service).",
    ),
    "DPY-6001": _WHEN_LOGGING_IN[12514],
    "DPY-6003": _WHEN_LOGGING_IN[12505],
    "DPY-2018": _Sentence(
        _CONNECT,
        "The wallet {wallet} has no ewallet.pem: thin mode reads only that; make one with orapki, or use --thick.",
    ),
    "DPY-6002": _Sentence(_CONNECT, "The certificate of {where} is another server's: {said}"),
    "DPY-6006": _Sentence(_CONNECT, "The certificate of {where} is another server's: {said}"),
    "DPI-1047": _Sentence(
        _CONNECT,
        "Oracle's client libraries could not be loaded: start racwire with LD_LIBRARY_PATH={libraries}, and take "
        "care that they are 64 bit and readable by this user.",
    ),
    "DPI-1072": _Sentence(
        _CONNECT, "Oracle's client libraries are too old for this driver: name newer ones with --oracle-home."
    ),
}

_CAUSES: tuple[tuple[str, _Sentence], ...] = (
    ("Connection refused", _Sentence(_CONNECT, "No listener answers at {where} (refused): {look_at_listener}.")),
    ("timed out", _Sentence(_CONNECT, "{where} did not answer within {connect_s:g} s: {look_at_listener}.")),
    (
        "No route to host",
        _Sentence(_CONNECT, "{where} cannot be reached: no route leads there, or a firewall refuses."),
    ),
    ("unreachable", _Sentence(_CONNECT, "{where} cannot be reached: no route leads there.")),
    (
        "Name or service not known|nodename nor|Temporary failure in name|No address associated|getaddrinfo",
        _Sentence(_CONNECT, "The host of {where} is not known here: look at its name, DNS and /etc/hosts."),
    ),
    (
        "CERTIFICATE_VERIFY_FAILED",
        _Sentence(_CONNECT, "The certificate of {where} is not trusted: name the wallet with its root with --wallet."),
    ),
    (
        "bad decrypt|BAD_DECRYPT|password",
        _Sentence(
            _CONNECT,
            "The wallet {wallet} could not be opened: racwire takes no wallet password; use --thick with an auto-login "
            "wallet (cwallet.sso), or an ewallet.pem without password.",
        ),
    ),
    (
        "SSL|TLS|ssl",
        _Sentence(_CONNECT, "No TLS connection came about with {where}: look at protocol, port and wallet."),
    ),
    (
        "DPY-4011|reset by peer|Broken pipe",
        _Sentence(
            _CONNECT,
            "{where} closed the connection during the login: that is no Oracle listener, or the instance turned it "
            "away; look at the listener's log and sqlnet.ora (TCP.VALIDNODE_CHECKING).",
        ),
    ),
    (
        "codec can't decode",
        _Sentence(_CONNECT, "What answers at {where} is no Oracle listener: look at host and port."),
    ),
)
"""What the operating system says in a DPY-6005, the first that fits."""


def full_code(error: Exception) -> str:
    """`ORA-00942`, `DPY-4011`, `DPI-1047`, or nothing."""
    return str(getattr(error.args[0], "full_code", "")) if error.args else ""


def as_database_error(
    error: Exception, settings: DatabaseSettings, statement: Statement | None = None, password: Secret | None = None
) -> DatabaseError:
    """A driver's error in our words: of the login, or of a statement. Words of the driver that hold the password are
    not passed on."""
    said = str(error)
    code, number = full_code(error), _number(error)
    shown = code or type(error).__name__ if password is not None and password.is_in(said) else said
    if statement is None:
        return _of_login(code, number, said, shown, settings)
    return _of_statement(code, number, shown, settings, statement)


def grants_for(statement: Statement, user: str) -> tuple[str, ...]:
    """The exact commands that let a user run a statement."""
    return tuple(f"GRANT SELECT ON {name} TO {grantee(user)};" for name in statement.grants)


def grantee(user: str) -> str:
    """A user as GRANT names it: of `proxy[user]` the user; RACWIRE where nothing is known."""
    inner = re.fullmatch(r".*\[(.+)\]", user)
    name = inner[1] if inner else user
    return name if name.startswith('"') else name.upper() or "RACWIRE"


def _of_login(code: str, number: int | None, said: str, shown: str, settings: DatabaseSettings) -> DatabaseError:
    codes = dict.fromkeys((code, *_CODE.findall(said)))  # a DPY-6005 has its cause behind it
    found = next((_BY_CODE[known] for known in codes if known in _BY_CODE), None)
    found = found or (_WHEN_LOGGING_IN.get(number) if number else None)
    found = found or next((sentence for cause, sentence in _CAUSES if re.search(cause, said)), None)
    found = found or _Sentence(_CONNECT, "{who} could not log in at {where}: {said}")
    grants = (f"GRANT CREATE SESSION TO {grantee(settings.user)};",) if found.kind is ErrorKind.MISSING_GRANT else ()
    text = _filled(found.text, settings, shown)
    return DatabaseError(_with_grants(text, grants), found.kind, code=number, grants=grants)


def _of_statement(
    code: str, number: int | None, said: str, settings: DatabaseSettings, statement: Statement
) -> DatabaseError:
    name = statement.name
    grants: tuple[str, ...] = ()
    if code in _LOST_CODES or number in _LOST:
        kind = ErrorKind.LOST
        text = f"The connection to {place(settings)} was lost while the statement {name} ran: {_brief(said)}"
    elif code == "DPY-4024" or number == 1013:
        return timed_out(statement)
    elif number in (942, 1031):
        kind = ErrorKind.MISSING_GRANT
        grants = grants_for(statement, settings.user)
        user = settings.user or "This user"
        text = f"{user} may not read {' or '.join(statement.reads)} (ORA-{number:05d})."
    elif number == 904:
        kind = _OTHER
        text = f"A column that the statement {name} reads is not there in this version of the database: {_brief(said)}"
    elif number == 12850:
        kind = _OTHER
        text = (
            f"The instances could not all be asked by the statement {name} (ORA-12850): one of them has no free "
            "parallel query process, or does not answer."
        )
    elif number in (1109, 1219, 1507):
        kind = _OTHER
        text = f"The database behind {place(settings)} is not open (ORA-{number:05d}), as the statement {name} needs."
    else:
        kind = _OTHER
        text = f"The statement {name} failed: {_brief(said)}"
    return DatabaseError(_with_grants(text, grants), kind, code=number, statement=name, grants=grants)


def timed_out(statement: Statement) -> DatabaseError:
    """A statement took longer than it may."""
    return DatabaseError(
        f"The statement {statement.name} took too long and was given up: an instance may hang, or the limit is too "
        "short.",
        ErrorKind.TIMED_OUT,
        statement=statement.name,
    )


def place(settings: DatabaseSettings) -> str:
    """What is connected to, short enough for a sentence."""
    where = settings.connect or "the local instance"
    return where if len(where) <= 80 else f"{where[:79]}…"


def _with_grants(text: str, grants: tuple[str, ...]) -> str:
    return f"{text} Have a DBA run: {' '.join(grants)}" if grants else text


def _number(error: Exception) -> int | None:
    """The ORA- number: the database's own, or the one that the driver likens its error to."""
    number = getattr(error.args[0], "code", 0) if error.args else 0
    if number:
        return int(number)
    found = _ORA.search(str(error))
    return int(found[1]) if found else None


def _filled(text: str, settings: DatabaseSettings, said: str) -> str:
    words: dict[str, Callable[[], object]] = {
        "where": lambda: place(settings),
        "who": lambda: "/" if settings.os_authentication else settings.user or "The wallet's user",
        "said": lambda: _brief(said),
        "tns": lambda: tns_directory(settings) or "no directory, since none is set",
        "wallet": lambda: settings.wallet or "(none set)",
        "libraries": lambda: find_libraries(settings) or "$ORACLE_HOME/lib",
        "connect_s": lambda: settings.connect_timeout_s,
        "how_to_give_one": lambda: "at the prompt, in $RACWIRE_DB_PASSWORD, or with --password-file",
        "how_to_be_sysdba": lambda: (
            "run racwire as a user of the OSDBA group (dba)" if settings.os_authentication else "use a lesser user"
        ),
        "look_at_listener": lambda: "look at host and port, and at `lsnrctl status` (`srvctl status scan_listener`)",
        "wait_or_sysdba": lambda: "wait for the end of the work on them, or use --os-auth --sysdba on the node",
    }
    return text.format(**{name: word() for name, word in words.items() if f"{{{name}" in text})


def _brief(said: str) -> str:
    """The driver's words in one line, without its links and numbers of connections."""
    lines = [line.strip() for line in said.splitlines() if line.strip() and not line.startswith("Help: ")]
    text = re.sub(r" ?\(CONNECTION_ID=[^)]*\)", "", " ".join(lines))
    text = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    return text if text.endswith((".", "…")) else f"{text}."
