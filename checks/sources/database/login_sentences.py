"""The sentences for errors of a login: by the number of the ORA- error, by the driver's code, by the text of the cause.

A sentence names the place and the next step. `driver_errors` fills its fields: {where}, {who}, {reported} ... In the
tables by number, {code} is the number as Oracle prints it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from checks.sources.database.errors import ErrorKind

_CONNECT, _LOGIN = ErrorKind.CANNOT_CONNECT, ErrorKind.LOGIN


class Sentence(NamedTuple):
    """The kind of an error, and the sentence for it."""

    kind: ErrorKind
    text: str


def _by_number(kind: ErrorKind, texts: Mapping[tuple[int, ...], str]) -> dict[int, Sentence]:
    coded = (
        (number, text.replace("{code}", f"ORA-{number:05d}")) for numbers, text in texts.items() for number in numbers
    )
    return {number: Sentence(kind, text) for number, text in coded}


_NO_SERVER_PROCESS = (
    "The listener at {where} has no free server process ({code}): the instance has reached its limit of processes or "
    "sessions"
)
_CHECK_LIMITS = "Check V$RESOURCE_LIMIT and the parameters PROCESSES and SESSIONS."
_REFUSED = (
    "No listener answers at {where}, or at the node address that a SCAN listener there redirects to ({code}): "
    "{check_listener}."
)
_SILENT = (
    "{where}, or the node address that a SCAN listener there redirects to, did not answer within {connect_s:g} s "
    "({code}): {check_listener}, and firewalls."
)
_UNRESOLVED = (
    "This node cannot resolve the host of {where}, or of the node address that a SCAN listener there redirects to "
    "({code}): check the names, DNS and /etc/hosts; `lsnrctl status` and the parameter local_listener show the node "
    "addresses."
)
_TLS = "The TLS connection to {where} failed ({code}): check that the port belongs to a TCPS listener, and "

LOGIN_ERRORS = {
    **_by_number(
        _LOGIN,
        {
            (
                1017,
            ): "{where} refused the login of {who}: the user or the password is wrong ({code}). Check --user, and "
            "the password from the prompt, $RACWIRE_DB_PASSWORD or --password-file. CDB$ROOT knows only common users "
            "(C##...).",
            (1005,): "The login of {who} at {where} needs a password: enter it at the prompt, or use "
            "$RACWIRE_DB_PASSWORD or --password-file.",
            (1031,): "{where} refused {who} as SYSDBA ({code}): {how_to_be_sysdba}.",
            (1035,): "{where} is in restricted session and refused the login of {who} ({code}): wait until the "
            "maintenance ends, or log in as a user with RESTRICTED SESSION.",
            (28000,): "The account {who} at {where} is locked ({code}): ask a DBA to unlock it (ALTER USER {who} "
            "ACCOUNT UNLOCK).",
            (28001,): "The password of {who} at {where} has expired ({code}): change it with sqlplus. racwire changes "
            "no password.",
            (65162,): "The password of the common user {who} at {where} has expired ({code}): change it in CDB$ROOT "
            "with sqlplus. racwire changes no password.",
            (28009,): "{where} accepts SYS only as SYSDBA ({code}): add --sysdba, or log in as a user with fewer "
            "privileges.",
            (28040,): "{where} and this driver have no authentication protocol in common ({code}): check "
            "SQLNET.ALLOWED_LOGON_VERSION_SERVER in the server's sqlnet.ora, or use --thick with client libraries of "
            "the database's own version.",
            (2391,): "{where} refused the login of {who}: the user has as many sessions as the profile allows "
            "({code}). End some sessions.",
        },
    ),
    **_by_number(
        ErrorKind.MISSING_GRANT,
        {(1045,): "{where} refused the login of {who}: the user lacks CREATE SESSION ({code})."},
    ),
    **_by_number(
        _CONNECT,
        {
            (1033,): "{where} is not open for users ({code}): a mounted standby, a closed pluggable database, or an "
            "instance that starts or stops. A standby and a closed pluggable database accept only SYSDBA: connect to "
            "the primary or to CDB$ROOT, or use --os-auth --sysdba on the node. Wait for an instance that starts or "
            "stops.",
            (1034,): "The instance behind {where} is not running ({code}): check it with `srvctl status database`.",
            (1089, 1090): "{where} is shutting down ({code}): connect to a service of another instance.",
            (1109, 1219): "The database behind {where} is not open ({code}): open it, connect to CDB$ROOT, or use "
            "--os-auth --sysdba on the node.",
            (257,): "The archiver of {where} is stuck ({code}): until a DBA frees space for archived redo logs, the "
            "database accepts only SYSDBA.",
            (10458,): "The standby behind {where} cannot open before its recovery ({code}): connect to the primary, or "
            "use --os-auth --sysdba on the node.",
            (16000,): "{where} is open for reads only, and a trigger of the login tried to write ({code}): connect to "
            "the primary, or have a DBA exempt {who} from the logon trigger.",
            (604,): "{where} refused the login of {who}, because a logon trigger or the database's own SQL failed "
            "({code}). The database reported: {reported}",
            (20,): "{where} has reached its limit of processes ({code}): end some processes, or raise PROCESSES.",
            (18,): "{where} has reached its limit of sessions ({code}): end some sessions, or raise SESSIONS.",
            (28, 600, 602, 603, 1092, 27146): "{where} ended the session during the login: check the alert log of the "
            "instance. The driver reported: {reported}",
            # --- Oracle Net
            (12154,): "The TNS alias {where} was not found ({code}; searched: {tns}): name the directory of "
            "tnsnames.ora with --tns-admin, or use EZConnect (host:1521/service).",
            (12170, 12535): _SILENT,
            (12504,): "The connect string {where} names no service ({code}): write it as host:1521/service; `lsnrctl "
            "status` lists the services.",
            (12521,): "The listener at {where} does not know the instance that the connect string names ({code}): "
            "leave out INSTANCE_NAME, or take a name from `lsnrctl status`.",
            (12529, 12564): "The listener at {where} refuses this host ({code}): have a DBA check "
            "TCP.VALIDNODE_CHECKING and TCP.INVITED_NODES in its sqlnet.ora.",
            (12505,): "The listener at {where} knows no instance of that name ({code}): `lsnrctl status` lists the "
            "known instances. A service name (host:1521/service) works on every node.",
            (12514,): "The listener at {where} does not know the service ({code}): `lsnrctl status` lists the known "
            "services. The default service is DB_UNIQUE_NAME, with .DB_DOMAIN where a domain is set (`srvctl config "
            "database -d NAME`). Services of a database that is down are missing there.",
            (12516, 12519): f"{_NO_SERVER_PROCESS}. {_CHECK_LIMITS}",
            (12520,): f"{_NO_SERVER_PROCESS}, or has no server of the kind that the connect string names "
            f"(SERVER=DEDICATED, SHARED). {_CHECK_LIMITS}",
            (12518,): "The listener at {where} could not start a server process ({code}): check the free memory, the "
            "limits of processes and the listener's log on that node.",
            (12526, 12527): "All instances behind {where} are in restricted session ({code}): {wait_or_sysdba}.",
            (12528,): "No instance behind {where} is open yet, and none accepts logins ({code}): {wait_or_sysdba}.",
            (12541,): _REFUSED,
            (12543,): "This node cannot reach {where} ({code}): it has no route to the host. Check host and routes.",
            (12545,): _UNRESOLVED,
            # --- encryption
            (12650, 12660): "{where} and this client have no encryption or integrity algorithm in common ({code}): "
            "{other_libraries}, or have a DBA compare SQLNET.ENCRYPTION_* and SQLNET.CRYPTO_CHECKSUM_* in the "
            "sqlnet.ora of server and client.",
            (12268, 12269): "{where} refuses weak encryption ({code}, SQLNET.ALLOW_WEAK_CRYPTO): use --thick with "
            "client libraries of July 2021 (19.12) or later.",
            (28759,): "racwire could not open the wallet {wallet} for {where} ({code}): name with --wallet a directory "
            "that this user can read.",
            (28860,): f"{_TLS}that server and client allow a common TLS version.",
            (28864, 28865): f"{_TLS}whether the server requires a client certificate (--wallet).",
            (29024,): "The certificate of {where} is not trusted ({code}): name the wallet that holds its root "
            "certificate with --wallet.",
        },
    ),
}

LOCAL_ERRORS = {
    **_by_number(
        _LOGIN,
        {
            (1017, 1031): "{local} refused {os_user} as SYSDBA ({code}): only members of its OSDBA group (mostly dba) "
            "log in without a password. Run racwire as the owner of the database's home, or as a database user that "
            "can only read: --connect, --user and `racwire grants`.",
        },
    ),
    **_by_number(
        _CONNECT,
        {
            (1034, 12162, 27101): "{local} does not answer ({code}): it is down, or ORACLE_SID or ORACLE_HOME is not "
            "spelled as at its start; a slash at the end counts. {running}",
            (12537, 12546, 12547, 12557, 12560): "racwire could not start a server process for {local} ({code}): "
            "ORACLE_HOME must be the home of that instance, and this user must be allowed to run its bin/oracle. Run "
            "racwire as the owner of the home. {running}",
        },
    ),
}
"""The errors of OS authentication (--os-auth), which need sentences of their own."""
EXTERNAL_ERRORS = _by_number(
    _LOGIN,
    {
        (1017, 1004): "{local} has no database user for {os_user} ({code}): add --sysdba, or log in with --connect and "
        "--user.",
    },
)
"""The errors of OS authentication without --sysdba."""

_OTHER_CERTIFICATE = (
    "{where} showed the certificate of another server: check the host and the wallet. The driver reported: {reported}"
)

DRIVER_ERRORS = {
    "DPY-4000": LOGIN_ERRORS[12154],
    "DPY-4001": LOGIN_ERRORS[1005],
    "DPY-6001": LOGIN_ERRORS[12514],
    "DPY-6003": LOGIN_ERRORS[12505],
} | {
    code: Sentence(_CONNECT, text)
    for code, text in {
        "DPY-4017": "{where} is not a valid connect descriptor; the driver reported: {reported}",
        "DPY-4018": "{where} is not a valid connect string: write it as host:1521/service. For a TNS alias, check its "
        "entry in tnsnames.ora (searched: {tns}).",
        "DPY-4026": "{where} looks like a TNS alias, but tnsnames.ora does not exist (searched: {tns}): name its "
        "directory with --tns-admin, or use EZConnect (host:1521/service).",
        "DPY-4027": "{where} looks like a TNS alias, but no directory of tnsnames.ora is set: name it with --tns-admin "
        "or $TNS_ADMIN, or use EZConnect (host:1521/service).",
        "DPY-2018": "The wallet {wallet} has no ewallet.pem, the only form that thin mode reads: create one with "
        "orapki, or use --thick.",
        "DPY-6002": _OTHER_CERTIFICATE,
        "DPY-6006": _OTHER_CERTIFICATE,
        "DPI-1047": "racwire could not load Oracle's client libraries: start racwire with LD_LIBRARY_PATH={libraries}, "
        "or name other libraries with --oracle-home, and check that the libraries are 64 bit and readable by this "
        "user. The loader reported: {loader}",
        "DPI-1072": "Oracle's client libraries are too old for this driver: name newer libraries with --oracle-home.",
    }.items()
}

CAUSES = {
    "Connection refused": _REFUSED.replace("{code}", "refused"),
    "timed out": _SILENT.replace("{code}", "timed out"),
    "No route to host": "This node cannot reach {where}: it has no route to the host, or a firewall refused the "
    "connection. Check routes and firewall.",
    "unreachable": "This node cannot reach {where}: it has no route to the host. Check host and routes.",
    "Name or service not known|nodename nor|Temporary failure in name|No address associated|getaddrinfo": (
        _UNRESOLVED.replace(" ({code})", "")
    ),
    "certificate has expired": "The certificate of {where} has expired: have a DBA renew it. Check this node's clock, "
    "too.",
    "Hostname mismatch|IP address mismatch": _OTHER_CERTIFICATE,
    "CERTIFICATE_VERIFY_FAILED": "The certificate of {where} is not trusted: name the wallet that holds its root "
    "certificate with --wallet.",
    "CERTIFICATE_REQUIRED|ALERT_HANDSHAKE_FAILURE|ALERT_BAD_CERTIFICATE": "{where} refused the TLS handshake, most "
    "often since it requires a client certificate: name the wallet that holds it with --wallet.",
    "UNEXPECTED_EOF_WHILE_READING|WRONG_VERSION_NUMBER|EOF occurred in violation": "The port of {where} did not answer "
    "as a TCPS listener: check the port (often 2484), or leave out tcps://.",
    "NO_CERTIFICATE_OR_CRL_FOUND|NO_START_LINE|PEM lib": "The ewallet.pem in {wallet} has no certificate that thin "
    "mode can read: create it again with orapki, or use --thick.",
    "bad decrypt|BAD_DECRYPT|password": "racwire could not open the wallet {wallet}, and accepts no wallet password: "
    "use --thick with an auto-login wallet (cwallet.sso), or an ewallet.pem without password.",
    "SSL|TLS|ssl": "The TLS connection to {where} failed: check protocol, port and wallet.",
    "DPY-4011|reset by peer|Broken pipe": "{where} closed the connection during the login. {why_thin_is_refused} Other "
    "causes: the port expects TLS (tcps://), a firewall or TCP.VALIDNODE_CHECKING refuses this host, or the port has "
    "no Oracle listener. The listener's log has the reason.",
    "codec can't decode": "The server at {where} is no Oracle listener: check host and port.",
}
"""Pattern in the operating system's message of a DPY-6005, and the sentence for it; the first match counts."""
