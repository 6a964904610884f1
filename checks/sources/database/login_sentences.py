"""The sentences for errors of a login: by the number of the ORA- error, by the driver's code, by the text of the cause.

A sentence names the place and the next step. `driver_errors` fills its fields: {where}, {who}, {reported} ...
"""

from __future__ import annotations

from typing import NamedTuple

from checks.sources.database.errors import ErrorKind

_CONNECT, _LOGIN = ErrorKind.CANNOT_CONNECT, ErrorKind.LOGIN


class Sentence(NamedTuple):
    """The kind of an error, and the sentence for it."""

    kind: ErrorKind
    text: str


_NO_SERVER_PROCESS = (
    "The listener at {{where}} has no free server process ({}): the instance has reached its limit of processes or "
    "sessions{}. Check V$RESOURCE_LIMIT and the parameters PROCESSES and SESSIONS."
)
_RESTRICTED = "All instances behind {{where}} are in restricted session ({}): {{wait_or_sysdba}}."
_SHUTS_DOWN = "{{where}} is shutting down ({}): connect to a service of another instance."
_ENDED = (
    "{where} ended the session during the login: check the alert log of the instance. The driver reported: {reported}"
)
_CRYPTO = (
    "{{where}} and this client have no encryption or integrity algorithm in common ({}): {{other_libraries}}, or have "
    "a DBA compare SQLNET.ENCRYPTION_* and SQLNET.CRYPTO_CHECKSUM_* in the sqlnet.ora of server and client."
)
_WEAK_CRYPTO = (
    "{{where}} refuses weak encryption ({}, SQLNET.ALLOW_WEAK_CRYPTO): use --thick with client libraries of July 2021 "
    "(19.12) or later."
)
_REFUSED = (
    "No listener answers at {{where}}, or at the node address that a SCAN listener there redirects to {}: "
    "{{check_listener}}."
)
_SILENT = (
    "{{where}}, or the node address that a SCAN listener there redirects to, did not answer within {{connect_s:g}} s "
    "{}: {{check_listener}}, and firewalls."
)
_UNRESOLVED = (
    "This node cannot resolve the host of {{where}}, or of the node address that a SCAN listener there redirects to{}: "
    "check the names, DNS and /etc/hosts; `lsnrctl status` and the parameter local_listener show the node addresses."
)
_FILTERED = (
    "The listener at {{where}} refuses this host ({}): have a DBA check TCP.VALIDNODE_CHECKING and TCP.INVITED_NODES "
    "in its sqlnet.ora."
)
_NO_LOCAL_PROCESS = (
    "racwire could not start a server process for {{local}} ({}): ORACLE_HOME must be the home of that instance, and "
    "this user must be allowed to run its bin/oracle. Run racwire as the owner of the home. {{running}}"
)
_NO_OSDBA = (
    "{{local}} refused {{os_user}} as SYSDBA ({}): only members of its OSDBA group (mostly dba) log in without a "
    "password. Run racwire as the owner of the database's home, or as a database user that can only read: --connect, "
    "--user and `racwire grants`."
)
_NO_EXTERNAL_USER = (
    "{{local}} has no database user for {{os_user}} ({}): add --sysdba, or log in with --connect and --user."
)
_TLS = "The TLS connection to {{where}} failed ({}): check that the port belongs to a TCPS listener, and {}."

LOGIN_ERRORS: dict[int, Sentence] = {
    1017: Sentence(
        _LOGIN,
        "{where} refused the login of {who}: the user or the password is wrong (ORA-01017). Check --user, and the "
        "password from the prompt, $RACWIRE_DB_PASSWORD or --password-file. CDB$ROOT knows only common users (C##...).",
    ),
    1005: Sentence(
        _LOGIN,
        "The login of {who} at {where} needs a password: enter it at the prompt, or use $RACWIRE_DB_PASSWORD or "
        "--password-file.",
    ),
    1031: Sentence(_LOGIN, "{where} refused {who} as SYSDBA (ORA-01031): {how_to_be_sysdba}."),
    1035: Sentence(
        _LOGIN,
        "{where} is in restricted session and refused the login of {who} (ORA-01035): wait until the maintenance "
        "ends, or log in as a user with RESTRICTED SESSION.",
    ),
    1045: Sentence(
        ErrorKind.MISSING_GRANT, "{where} refused the login of {who}: the user lacks CREATE SESSION (ORA-01045)."
    ),
    28000: Sentence(
        _LOGIN,
        "The account {who} at {where} is locked (ORA-28000): ask a DBA to unlock it (ALTER USER {who} ACCOUNT UNLOCK).",
    ),
    28001: Sentence(
        _LOGIN,
        "The password of {who} at {where} has expired (ORA-28001): change it with sqlplus. racwire changes no "
        "password.",
    ),
    65162: Sentence(
        _LOGIN,
        "The password of the common user {who} at {where} has expired (ORA-65162): change it in CDB$ROOT with sqlplus. "
        "racwire changes no password.",
    ),
    28009: Sentence(
        _LOGIN,
        "{where} accepts SYS only as SYSDBA (ORA-28009): add --sysdba, or log in as a user with fewer privileges.",
    ),
    28040: Sentence(
        _LOGIN,
        "{where} and this driver have no authentication protocol in common (ORA-28040): check "
        "SQLNET.ALLOWED_LOGON_VERSION_SERVER in the server's sqlnet.ora, or use --thick with client libraries of the "
        "database's own version.",
    ),
    1033: Sentence(
        _CONNECT,
        "{where} is not open for users (ORA-01033): a mounted standby, a closed pluggable database, or an instance "
        "that starts or stops. A standby and a closed pluggable database accept only SYSDBA: connect to the primary "
        "or to CDB$ROOT, or use --os-auth --sysdba on the node. Wait for an instance that starts or stops.",
    ),
    1034: Sentence(
        _CONNECT, "The instance behind {where} is not running (ORA-01034): check it with `srvctl status database`."
    ),
    1089: Sentence(_CONNECT, _SHUTS_DOWN.format("ORA-01089")),
    1090: Sentence(_CONNECT, _SHUTS_DOWN.format("ORA-01090")),
    1109: Sentence(
        _CONNECT,
        "The database behind {where} is not open (ORA-01109): open it, connect to CDB$ROOT, or use --os-auth --sysdba "
        "on the node.",
    ),
    1219: Sentence(
        _CONNECT,
        "The database behind {where} is not open (ORA-01219): open it, connect to CDB$ROOT, or use --os-auth --sysdba "
        "on the node.",
    ),
    257: Sentence(
        _CONNECT,
        "The archiver of {where} is stuck (ORA-00257): until a DBA frees space for archived redo logs, the database "
        "accepts only SYSDBA.",
    ),
    10458: Sentence(
        _CONNECT,
        "The standby behind {where} cannot open before its recovery (ORA-10458): connect to the primary, or use "
        "--os-auth --sysdba on the node.",
    ),
    16000: Sentence(
        _CONNECT,
        "{where} is open for reads only, and a trigger of the login tried to write (ORA-16000): connect to the "
        "primary, or have a DBA exempt {who} from the logon trigger.",
    ),
    604: Sentence(
        _CONNECT,
        "{where} refused the login of {who}, because a logon trigger or the database's own SQL failed (ORA-00604). "
        "The database reported: {reported}",
    ),
    20: Sentence(
        _CONNECT, "{where} has reached its limit of processes (ORA-00020): end some processes, or raise PROCESSES."
    ),
    18: Sentence(
        _CONNECT, "{where} has reached its limit of sessions (ORA-00018): end some sessions, or raise SESSIONS."
    ),
    2391: Sentence(
        _LOGIN,
        "{where} refused the login of {who}: the user has as many sessions as the profile allows (ORA-02391). End "
        "some sessions.",
    ),
    **dict.fromkeys((28, 600, 602, 603, 1092, 27146), Sentence(_CONNECT, _ENDED)),
    # --- Oracle Net
    12154: Sentence(
        _CONNECT,
        "The TNS alias {where} was not found (ORA-12154; searched: {tns}): name the directory of tnsnames.ora with "
        "--tns-admin, or use EZConnect (host:1521/service).",
    ),
    12170: Sentence(_CONNECT, _SILENT.format("(ORA-12170)")),
    12535: Sentence(_CONNECT, _SILENT.format("(ORA-12535)")),
    12504: Sentence(
        _CONNECT,
        "The connect string {where} names no service (ORA-12504): write it as host:1521/service; `lsnrctl status` "
        "lists the services.",
    ),
    12521: Sentence(
        _CONNECT,
        "The listener at {where} does not know the instance that the connect string names (ORA-12521): leave out "
        "INSTANCE_NAME, or take a name from `lsnrctl status`.",
    ),
    12529: Sentence(_CONNECT, _FILTERED.format("ORA-12529")),
    12564: Sentence(_CONNECT, _FILTERED.format("ORA-12564")),
    12505: Sentence(
        _CONNECT,
        "The listener at {where} knows no instance of that name (ORA-12505): `lsnrctl status` lists the known "
        "instances. A service name (host:1521/service) works on every node.",
    ),
    12514: Sentence(
        _CONNECT,
        "The listener at {where} does not know the service (ORA-12514): `lsnrctl status` lists the known services. "
        "The default service is DB_UNIQUE_NAME, with .DB_DOMAIN where a domain is set (`srvctl config database -d "
        "NAME`). Services of a database that is down are missing there.",
    ),
    12516: Sentence(_CONNECT, _NO_SERVER_PROCESS.format("ORA-12516", "")),
    12518: Sentence(
        _CONNECT,
        "The listener at {where} could not start a server process (ORA-12518): check the free memory, the limits of "
        "processes and the listener's log on that node.",
    ),
    12519: Sentence(_CONNECT, _NO_SERVER_PROCESS.format("ORA-12519", "")),
    12520: Sentence(
        _CONNECT,
        _NO_SERVER_PROCESS.format(
            "ORA-12520", ", or has no server of the kind that the connect string names (SERVER=DEDICATED, SHARED)"
        ),
    ),
    12526: Sentence(_CONNECT, _RESTRICTED.format("ORA-12526")),
    12527: Sentence(_CONNECT, _RESTRICTED.format("ORA-12527")),
    12528: Sentence(
        _CONNECT, "No instance behind {where} is open yet, and none accepts logins (ORA-12528): {wait_or_sysdba}."
    ),
    12541: Sentence(_CONNECT, _REFUSED.format("(ORA-12541)")),
    12543: Sentence(
        _CONNECT, "This node cannot reach {where} (ORA-12543): it has no route to the host. Check host and routes."
    ),
    12545: Sentence(_CONNECT, _UNRESOLVED.format(" (ORA-12545)")),
    # --- encryption
    12650: Sentence(_CONNECT, _CRYPTO.format("ORA-12650")),
    12660: Sentence(_CONNECT, _CRYPTO.format("ORA-12660")),
    12268: Sentence(_CONNECT, _WEAK_CRYPTO.format("ORA-12268")),
    12269: Sentence(_CONNECT, _WEAK_CRYPTO.format("ORA-12269")),
    28759: Sentence(
        _CONNECT,
        "racwire could not open the wallet {wallet} for {where} (ORA-28759): name with --wallet a directory that this "
        "user can read.",
    ),
    28860: Sentence(_CONNECT, _TLS.format("ORA-28860", "that server and client allow a common TLS version")),
    28864: Sentence(_CONNECT, _TLS.format("ORA-28864", "whether the server requires a client certificate (--wallet)")),
    28865: Sentence(_CONNECT, _TLS.format("ORA-28865", "whether the server requires a client certificate (--wallet)")),
    29024: Sentence(
        _CONNECT,
        "The certificate of {where} is not trusted (ORA-29024): name the wallet that holds its root certificate with "
        "--wallet.",
    ),
}

LOCAL_ERRORS: dict[int, Sentence] = {
    **{number: Sentence(_LOGIN, _NO_OSDBA.format(f"ORA-{number:05d}")) for number in (1017, 1031)},
    **{
        number: Sentence(
            _CONNECT,
            f"{{local}} does not answer (ORA-{number:05d}): it is down, or ORACLE_SID or ORACLE_HOME is not spelled as "
            "at its start; a slash at the end counts. {running}",
        )
        for number in (1034, 12162, 27101)
    },
    **{
        number: Sentence(_CONNECT, _NO_LOCAL_PROCESS.format(f"ORA-{number}"))
        for number in (12537, 12546, 12547, 12557, 12560)
    },
}
"""The errors of OS authentication (--os-auth), which need sentences of their own."""
EXTERNAL_ERRORS: dict[int, Sentence] = {
    number: Sentence(_LOGIN, _NO_EXTERNAL_USER.format(f"ORA-{number:05d}")) for number in (1017, 1004)
}
"""The errors of OS authentication without --sysdba."""

_OTHER_CERTIFICATE = (
    "{where} showed the certificate of another server: check the host and the wallet. The driver reported: {reported}"
)

DRIVER_ERRORS: dict[str, Sentence] = {
    "DPY-4000": LOGIN_ERRORS[12154],
    "DPY-4001": LOGIN_ERRORS[1005],
    "DPY-4017": Sentence(_CONNECT, "{where} is not a valid connect descriptor; the driver reported: {reported}"),
    "DPY-4018": Sentence(
        _CONNECT,
        "{where} is not a valid connect string: write it as host:1521/service. For a TNS alias, check its entry in "
        "tnsnames.ora (searched: {tns}).",
    ),
    "DPY-4026": Sentence(
        _CONNECT,
        "{where} looks like a TNS alias, but tnsnames.ora does not exist (searched: {tns}): name its directory with "
        "--tns-admin, or use EZConnect (host:1521/service).",
    ),
    "DPY-4027": Sentence(
        _CONNECT,
        "{where} looks like a TNS alias, but no directory of tnsnames.ora is set: name it with --tns-admin or "
        "$TNS_ADMIN, or use EZConnect (host:1521/service).",
    ),
    "DPY-6001": LOGIN_ERRORS[12514],
    "DPY-6003": LOGIN_ERRORS[12505],
    "DPY-2018": Sentence(
        _CONNECT,
        "The wallet {wallet} has no ewallet.pem, the only form that thin mode reads: create one with orapki, or use "
        "--thick.",
    ),
    "DPY-6002": Sentence(_CONNECT, _OTHER_CERTIFICATE),
    "DPY-6006": Sentence(_CONNECT, _OTHER_CERTIFICATE),
    "DPI-1047": Sentence(
        _CONNECT,
        "racwire could not load Oracle's client libraries: start racwire with LD_LIBRARY_PATH={libraries}, or name "
        "other libraries with --oracle-home, and check that the libraries are 64 bit and readable by this user. The "
        "loader reported: {loader}",
    ),
    "DPI-1072": Sentence(
        _CONNECT, "Oracle's client libraries are too old for this driver: name newer libraries with --oracle-home."
    ),
}

CAUSES: tuple[tuple[str, Sentence], ...] = (
    ("Connection refused", Sentence(_CONNECT, _REFUSED.format("(refused)"))),
    ("timed out", Sentence(_CONNECT, _SILENT.format("(timed out)"))),
    (
        "No route to host",
        Sentence(
            _CONNECT,
            "This node cannot reach {where}: it has no route to the host, or a firewall refused the connection. Check "
            "routes and firewall.",
        ),
    ),
    (
        "unreachable",
        Sentence(_CONNECT, "This node cannot reach {where}: it has no route to the host. Check host and routes."),
    ),
    (
        "Name or service not known|nodename nor|Temporary failure in name|No address associated|getaddrinfo",
        Sentence(_CONNECT, _UNRESOLVED.format("")),
    ),
    (
        "certificate has expired",
        Sentence(
            _CONNECT, "The certificate of {where} has expired: have a DBA renew it. Check this node's clock, too."
        ),
    ),
    ("Hostname mismatch|IP address mismatch", Sentence(_CONNECT, _OTHER_CERTIFICATE)),
    (
        "CERTIFICATE_VERIFY_FAILED",
        Sentence(
            _CONNECT,
            "The certificate of {where} is not trusted: name the wallet that holds its root certificate with --wallet.",
        ),
    ),
    (
        "CERTIFICATE_REQUIRED|ALERT_HANDSHAKE_FAILURE|ALERT_BAD_CERTIFICATE",
        Sentence(
            _CONNECT,
            "{where} refused the TLS handshake, most often since it requires a client certificate: name the wallet "
            "that holds it with --wallet.",
        ),
    ),
    (
        "UNEXPECTED_EOF_WHILE_READING|WRONG_VERSION_NUMBER|EOF occurred in violation",
        Sentence(
            _CONNECT,
            "The port of {where} did not answer as a TCPS listener: check the port (often 2484), or leave out tcps://.",
        ),
    ),
    (
        "NO_CERTIFICATE_OR_CRL_FOUND|NO_START_LINE|PEM lib",
        Sentence(
            _CONNECT,
            "The ewallet.pem in {wallet} has no certificate that thin mode can read: create it again with orapki, or "
            "use --thick.",
        ),
    ),
    (
        "bad decrypt|BAD_DECRYPT|password",
        Sentence(
            _CONNECT,
            "racwire could not open the wallet {wallet}, and accepts no wallet password: use --thick with an "
            "auto-login wallet (cwallet.sso), or an ewallet.pem without password.",
        ),
    ),
    (
        "SSL|TLS|ssl",
        Sentence(_CONNECT, "The TLS connection to {where} failed: check protocol, port and wallet."),
    ),
    (
        "DPY-4011|reset by peer|Broken pipe",
        Sentence(
            _CONNECT,
            "{where} closed the connection during the login. {why_thin_is_refused} Other causes: the port expects TLS "
            "(tcps://), a firewall or TCP.VALIDNODE_CHECKING refuses this host, or the port has no Oracle listener. "
            "The listener's log has the reason.",
        ),
    ),
    (
        "codec can't decode",
        Sentence(_CONNECT, "The server at {where} is no Oracle listener: check host and port."),
    ),
)
"""Pattern in the operating system's message of a DPY-6005, and the sentence for it; the first match counts."""
