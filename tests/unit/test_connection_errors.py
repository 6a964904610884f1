"""The errors of a failed connection: one sentence with the next step for each cause, never with a password."""

import gc
import os
import pickle
import socket
import ssl
import threading
import traceback
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from checks.model.journal import Journal
from checks.model.settings import DatabaseSettings
from checks.sources.database import client_libraries, driver_errors
from checks.sources.database.client_libraries import find_libraries, local_instance, tns_directory
from checks.sources.database.connections import Connections
from checks.sources.database.driver_errors import as_database_error, grantee
from checks.sources.database.errors import DatabaseError, ErrorKind
from checks.sources.database.local_instances import LocalInstance
from checks.sources.database.secret import Secret
from racwire_lab.database.backend import OracleError
from racwire_lab.oracle_net.releases import RELEASES
from racwire_lab.oracle_net.scan import ScanListener
from racwire_lab.oracle_net.server import hosted
from tests.fixtures.oracle import PASSWORD, USER, Witness, serve, settings, texts

# The driver leaves some sockets of failed logins to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture(autouse=True)
def sockets_of_the_driver():
    gc.freeze()  # what is older is nothing to look through
    yield
    gc.collect()
    gc.unfreeze()


@pytest.fixture(autouse=True)
def no_oracle_here(monkeypatch):
    for name in ("ORACLE_HOME", "ORACLE_SID", "TNS_ADMIN", "LD_LIBRARY_PATH"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server():
    with serve(Witness()) as running:
        yield running


async def error_of(database: DatabaseSettings, password: str | None = PASSWORD) -> DatabaseError:
    connections = Connections(database, Secret(password) if password else None, Journal(), lambda: "rac1")
    try:
        with pytest.raises(DatabaseError) as refusal:
            await connections.get()
        return refusal.value
    finally:
        await connections.close()


@contextmanager
def listening(backlog=5):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        if backlog is not None:
            listener.listen(backlog)
        yield listener, f"127.0.0.1:{listener.getsockname()[1]}/prod"


# --- the login is refused ---------------------------------------------------------------------------------------------


async def test_a_wrong_password(server):
    error = await error_of(settings(server), "wrong")
    assert (error.kind, error.code) == (ErrorKind.LOGIN, 1017)
    assert str(error) == (
        f"{server.dsn} refused the login of {USER}: the user or the password is wrong (ORA-01017). Check --user, "
        "and the password from the prompt, $RACWIRE_DB_PASSWORD or --password-file. CDB$ROOT knows only common users "
        "(C##...)."
    )


async def test_no_password(server):
    assert str(await error_of(settings(server), None)) == (
        f"The login of {USER} at {server.dsn} needs a password: enter it at the prompt, or use $RACWIRE_DB_PASSWORD or "
        "--password-file."
    )


@pytest.mark.parametrize(
    ("code", "kind", "words"),
    [
        (28000, ErrorKind.LOGIN, "is locked (ORA-28000): ask a DBA to unlock it (ALTER USER RACWIRE ACCOUNT UNLOCK)."),
        (28001, ErrorKind.LOGIN, "has expired (ORA-28001): change it with sqlplus"),
        (1035, ErrorKind.LOGIN, "is in restricted session"),
        (1045, ErrorKind.MISSING_GRANT, "GRANT CREATE SESSION TO RACWIRE;"),
        (1033, ErrorKind.CANNOT_CONNECT, "is not open for users (ORA-01033): a mounted standby"),
        (1033, ErrorKind.CANNOT_CONNECT, "A standby and a closed pluggable database accept only SYSDBA"),
        (1034, ErrorKind.CANNOT_CONNECT, "is not running (ORA-01034)"),
        (1219, ErrorKind.CANNOT_CONNECT, "is not open (ORA-01219)"),
        (257, ErrorKind.CANNOT_CONNECT, "The archiver of "),
        (65162, ErrorKind.LOGIN, "of the common user RACWIRE"),
        (1090, ErrorKind.CANNOT_CONNECT, "is shutting down (ORA-01090)"),
        (1089, ErrorKind.CANNOT_CONNECT, "is shutting down"),
        (20, ErrorKind.CANNOT_CONNECT, "has reached its limit of processes"),
        (2391, ErrorKind.LOGIN, "as many sessions"),
        (28040, ErrorKind.LOGIN, "SQLNET.ALLOWED_LOGON_VERSION_SERVER"),
        (18, ErrorKind.CANNOT_CONNECT, "has reached its limit of sessions (ORA-00018)"),
        (1109, ErrorKind.CANNOT_CONNECT, "is not open (ORA-01109): open it, connect to CDB$ROOT"),
        (10458, ErrorKind.CANNOT_CONNECT, "The standby behind "),
        (16000, ErrorKind.CANNOT_CONNECT, "is open for reads only"),
        (600, ErrorKind.CANNOT_CONNECT, "ended the session during the login: check the alert log"),
        (12537, ErrorKind.CANNOT_CONNECT, "closed the connection during the login. The server may refuse thin mode"),
        (4031, ErrorKind.CANNOT_CONNECT, "The login of RACWIRE at "),
    ],
)
async def test_each_error_of_a_login_has_its_message(code, kind, words, server):
    server.faults.login_error = OracleError(code, "as the database words it")
    error = await error_of(settings(server))
    assert (error.kind, error.code) == (kind, code)
    assert words in str(error)
    assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("cause", "words"),
    [
        ("ORA-16000: database or pluggable database open for read-only access", "is open for reads only"),
        ("ORA-20001: not from this host", "ORA-20001: not from this host"),
    ],
)
async def test_the_cause_of_a_failed_logon_trigger_counts(cause, words, server):
    server.faults.login_error = OracleError(604, f"error occurred at recursive SQL level 1\n{cause}\nORA-06512: at 3")
    error = await error_of(settings(server))
    assert error.code == 604
    assert words in str(error)


@pytest.mark.parametrize(
    ("fault", "value", "words"),
    [
        ("requires_encryption", True, "(the database requires a feature of thick mode, such as native network"),
        ("verifier_type", 0x939, "(the database has the user's password in the 10G form"),
        ("verifier_type", 0x939, "--oracle-home. Or have a DBA set the user's password again"),
    ],
)
async def test_a_server_that_refuses_thin_mode_leads_to_thick_mode(fault, value, words, server):
    if find_libraries(DatabaseSettings()) is not None:
        pytest.skip("Oracle's client libraries are installed here")
    setattr(server.faults, fault, value)
    error = await error_of(settings(server))
    assert words in str(error)
    assert "set ORACLE_HOME and LD_LIBRARY_PATH=$ORACLE_HOME/lib" in str(error)


async def test_a_server_that_closes_the_connection_may_refuse_thin_mode(server, tmp_path):
    server.faults.closes_at_login = True
    text = str(await error_of(settings(server)))
    assert text.startswith(
        f"{server.dsn} closed the connection during the login. The server may refuse thin mode "
        "(SQLNET.ALLOW_WEAK_CRYPTO_CLIENTS=FALSE, or required native encryption): try --thick"
    )
    assert "Other causes: the port expects TLS (tcps://)" in text
    (tmp_path / "libclntsh.so").touch()
    assert "try --thick. Other" in str(await error_of(settings(server, oracle_home=str(tmp_path))))


def test_with_client_libraries_in_use_thick_mode_is_not_proposed_again():
    closed = RuntimeError("DPY-4011: the database or network closed the connection")
    text = str(as_database_error(closed, DatabaseSettings(connect="h/s", user="u", thick=True)))
    assert "--thick" not in text
    assert "name newer ones with --oracle-home" in text


@pytest.mark.parametrize("release", ["12.1", "19c", "23ai"])
async def test_a_password_that_expires_soon_is_a_warning_of_a_login_that_succeeds(release):
    with serve(Witness(), profile=RELEASES[release]) as server:
        server.faults.login_warning = OracleError(28002, "the password will expire within 3 days")
        journal = Journal()
        connections = Connections(settings(server), Secret(PASSWORD), journal, lambda: "rac1")
        connection = await connections.get()
        assert connection.login_warning == "ORA-28002: the password will expire within 3 days."
        assert connection.login_warning in journal.entries[0].text
        await connections.close()


async def test_a_user_without_sysdba_gets_a_message_about_the_privilege(server):
    error = await error_of(settings(server, sysdba=True))
    assert "as SYSDBA" in str(error)


# --- the listener -----------------------------------------------------------------------------------------------------


async def test_a_service_unknown_to_the_listener(server):
    error = await error_of(settings(server, connect=server.dsn.replace("ORCL", "PROD")))
    assert error.kind is ErrorKind.CANNOT_CONNECT
    assert "does not know the service (ORA-12514): `lsnrctl status` lists the known services" in str(error)
    assert "The default service is DB_UNIQUE_NAME, with .DB_DOMAIN where a domain is set" in str(error)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (12505, "knows no instance of that name"),
        (12516, "no free server process"),
        (12518, "could not start a server process"),
        (12519, "no free server process"),
        (12520, "SERVER=DEDICATED"),
        (12660, "no encryption or integrity algorithm in common (ORA-12660): use --thick"),
        (12269, "refuses weak encryption"),
        (12526, "in restricted session"),
        (12527, "in restricted session (ORA-12527)"),
        (12528, "is open yet, and none accepts logins"),
        (12504, "names no service"),
        (12521, "leave out INSTANCE_NAME"),
        (12529, "TCP.VALIDNODE_CHECKING"),
        (12564, "TCP.VALIDNODE_CHECKING"),
        (12650, "no encryption or integrity algorithm in common (ORA-12650)"),
        (12535, "did not answer within"),
        (12541, "No listener answers at"),
        (12545, "This node cannot resolve the host"),
    ],
)
async def test_each_error_of_the_listener_has_its_message(code, words, server):
    server.faults.refuse = code
    error = await error_of(settings(server))
    assert words in str(error)
    assert f"ORA-{code}" in str(error)


async def test_no_listener_at_the_address():
    with listening(backlog=None) as (_, where):
        error = await error_of(DatabaseSettings(connect=where, user=USER))
    assert str(error) == (
        f"No listener answers at {where}, or at the node address that a SCAN listener there redirects to (refused): "
        "check host and port, `lsnrctl status`, `srvctl status scan_listener` and `srvctl status listener`."
    )


async def test_a_listener_without_a_free_handler():
    with listening(backlog=0) as (listener, where), socket.socket() as first, socket.socket() as second:
        for filler in (first, second):  # no room is left in its queue: what comes now is not even refused
            filler.setblocking(False)
            filler.connect_ex(listener.getsockname())
        error = await error_of(DatabaseSettings(connect=where, user=USER, connect_timeout_s=0.2))
    assert str(error).startswith(
        f"{where}, or the node address that a SCAN listener there redirects to, did not answer within 0.2 s (timed out)"
    )


async def test_a_server_that_is_not_a_listener():
    import asyncio

    async def hang_up(_, writer):
        writer.close()

    server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    async with server:
        where = f"127.0.0.1:{server.sockets[0].getsockname()[1]}/prod"
        error = await error_of(DatabaseSettings(connect=where, user=USER))
    assert str(error).startswith(f"{where} closed the connection during the login")


async def test_a_host_name_that_cannot_be_resolved():
    error = await error_of(DatabaseSettings(connect="no-such-host.invalid:1521/prod", user=USER))
    assert str(error).startswith("This node cannot resolve the host of no-such-host.invalid:1521/prod, or of the node")


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (("no-such-node.invalid", 1521), "or of the node address that a SCAN listener there redirects to: check"),
        (("127.0.0.1", 1), "or at the node address that a SCAN listener there redirects to (refused): check"),
    ],
)
async def test_a_redirect_that_leads_nowhere_is_no_fault_of_the_address_alone(target, words):
    with hosted(ScanListener(lambda service: [target])) as scan:
        error = await error_of(DatabaseSettings(connect=f"127.0.0.1:{scan.port}/prod", user=USER))
    assert error.kind is ErrorKind.CANNOT_CONNECT
    assert words in str(error)


async def test_a_redirect_to_another_address_is_followed():
    with serve(Witness(), host="127.0.0.2") as node:
        targets = [(node.host, node.port)]
        with hosted(ScanListener(lambda service: targets if service.casefold() == "orcl" else [])) as scan:
            scan_settings = settings(node, connect=f"127.0.0.1:{scan.port}/orcl")
            connections = Connections(scan_settings, Secret(PASSWORD), Journal(), lambda: "rac1")
            assert (await connections.get()).driver.endswith("thin")
            await connections.close()
            refused = await error_of(settings(node, connect=f"127.0.0.1:{scan.port}/other"))
            assert refused.code == 12514
            node.faults.refuse = 12516
            assert (await error_of(scan_settings)).code == 12516


async def test_sys_without_sysdba_is_told_to_add_it(server):
    error = await error_of(settings(server, user="SYS"))
    assert error.code == 28009
    assert str(error) == (
        f"{server.dsn} accepts SYS only as SYSDBA (ORA-28009): add --sysdba, or log in as a user with fewer privileges."
    )


# --- names and files --------------------------------------------------------------------------------------------------


async def test_an_alias_without_a_directory_to_search():
    error = await error_of(DatabaseSettings(connect="PROD", user=USER))
    assert "PROD looks like a TNS alias, but no directory of tnsnames.ora is set" in str(error)


async def test_an_alias_and_a_directory_without_tnsnames(tmp_path):
    error = await error_of(DatabaseSettings(connect="PROD", user=USER, tns_admin=str(tmp_path)))
    assert f"tnsnames.ora does not exist (searched: {tmp_path}): name its directory with --tns-admin" in str(error)


async def test_an_alias_missing_from_tnsnames(tmp_path, monkeypatch):
    (tmp_path / "tnsnames.ora").write_text("OTHER = (DESCRIPTION = (ADDRESS = (PROTOCOL = TCP)(HOST = h)(PORT = 1)))\n")
    monkeypatch.setenv("TNS_ADMIN", str(tmp_path))
    error = await error_of(DatabaseSettings(connect="PROD", user=USER))
    assert f"The TNS alias PROD was not found (ORA-12154; searched: {tmp_path})" in str(error)


async def test_an_alias_found_in_tnsnames(server, tmp_path):
    (tmp_path / "tnsnames.ora").write_text(
        f"PROD = (DESCRIPTION = (ADDRESS = (PROTOCOL = TCP)(HOST = {server.host})(PORT = {server.port}))"
        "(CONNECT_DATA = (SERVICE_NAME = ORCL)))\n"
    )
    database = settings(server, connect="PROD", tns_admin=str(tmp_path))
    connections = Connections(database, Secret(PASSWORD), Journal(), lambda: "rac1")
    assert (await connections.get()).driver.endswith("thin")
    await connections.close()


def test_tnsnames_is_searched_in_the_setting_then_tns_admin_then_the_home():
    environ = {"TNS_ADMIN": "/t", "ORACLE_HOME": "/h"}
    assert tns_directory(DatabaseSettings(tns_admin="/s"), environ) == "/s"
    assert tns_directory(DatabaseSettings(), environ) == "/t"
    assert tns_directory(DatabaseSettings(oracle_home="/o"), {}) == "/o/network/admin"
    assert tns_directory(DatabaseSettings(), {}) == ""


async def test_a_wallet_that_does_not_exist(server, tmp_path):
    error = await error_of(settings(server, connect=f"tcps://{server.dsn}", wallet=str(tmp_path)))
    assert f"The wallet {tmp_path} has no ewallet.pem, the only form that thin mode reads" in str(error)


@contextmanager
def tls_listener(tmp_path, days=1, host="db.example"):
    """Listen with TLS and a certificate of this host that is valid for some days; yield the connect string."""
    now = datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, host)])
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), 1)
        .not_valid_before(now - timedelta(days=9))
        .not_valid_after(now + timedelta(days=days))
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    text = certificate.public_bytes(pem)
    (tmp_path / "ewallet.pem").write_bytes(text)
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (tmp_path / "server.pem").write_bytes(text + private)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "server.pem")

    def answer():
        with suppress(OSError):
            client, _ = listener.accept()
            with suppress(OSError):
                client = context.wrap_socket(client, server_side=True)
            client.close()

    with listening() as (listener, where):
        thread = threading.Thread(target=answer)
        thread.start()
        yield where
        thread.join(5)


async def test_tls_at_a_listener_without_tls_hangs_and_names_the_port(server):
    error = await error_of(settings(server, connect=f"tcps://{server.dsn}", login_timeout_s=0.3))
    assert "did not end within 0.3 s" in str(error)
    assert "the port does not use TLS" in str(error)


async def test_a_certificate_that_no_wallet_knows(tmp_path):
    with tls_listener(tmp_path) as where:
        error = await error_of(DatabaseSettings(connect=f"tcps://{where}", user=USER))
    assert "is not trusted: name the wallet that holds its root certificate with --wallet" in str(error)


async def test_the_certificate_of_another_host(tmp_path):
    with tls_listener(tmp_path) as where:
        error = await error_of(DatabaseSettings(connect=f"tcps://{where}", user=USER, wallet=str(tmp_path)))
    assert "showed the certificate of another server" in str(error)


async def test_a_certificate_that_has_expired(tmp_path):
    with tls_listener(tmp_path, days=-1) as where:
        error = await error_of(DatabaseSettings(connect=f"tcps://{where}", user=USER, wallet=str(tmp_path)))
    assert "has expired: have a DBA renew it" in str(error)


async def test_a_port_that_expects_tls_and_gets_none(tmp_path):
    with tls_listener(tmp_path) as where:
        error = await error_of(DatabaseSettings(connect=where, user=USER))
    assert "the port expects TLS (tcps://)" in str(error)


async def test_tls_at_a_port_that_hangs_up():
    import asyncio

    async def hang_up(_, writer):
        writer.close()

    server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    async with server:
        where = f"127.0.0.1:{server.sockets[0].getsockname()[1]}/prod"
        error = await error_of(DatabaseSettings(connect=f"tcps://{where}", user=USER))
    assert str(error).startswith(f"The port of tcps://{where} did not answer as a TCPS listener") or (
        "closed the connection" in str(error)
    )


async def test_a_wallet_without_a_certificate(server, tmp_path):
    (tmp_path / "ewallet.pem").write_text("rubbish")
    error = await error_of(settings(server, connect=f"tcps://{server.dsn}", wallet=str(tmp_path)))
    assert f"The ewallet.pem in {tmp_path} has no certificate that thin mode can read" in str(error)


# --- thick mode -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "why"),
    [({"thick": True}, "thick mode is set"), ({"user": ""}, "credentials of the wallet or the operating system")],
)
async def test_a_feature_that_needs_missing_libraries_names_the_setting(more, why, server):
    if find_libraries(DatabaseSettings()) is not None:
        pytest.skip("Oracle's client libraries are installed here")
    assert str(await error_of(settings(server, **more))) == (
        f"The login at {server.dsn} needs Oracle's client libraries ({why}), but racwire found none: set ORACLE_HOME "
        "and LD_LIBRARY_PATH=$ORACLE_HOME/lib, or name a database home or an Instant Client with --oracle-home."
    )


async def test_a_database_too_old_for_thin_mode_asks_for_the_client_libraries():
    if find_libraries(DatabaseSettings()) is not None:
        pytest.skip("Oracle's client libraries are installed here")
    with serve(Witness(), profile=RELEASES["11.2"]) as server:
        error = await error_of(settings(server))
    assert "needs Oracle's client libraries (the database is older than 12.1), but racwire found none" in str(error)


def test_libraries_are_found_in_a_home_and_in_an_instant_client(tmp_path):
    (tmp_path / "home" / "lib").mkdir(parents=True)
    (tmp_path / "home" / "lib" / "libclntsh.so.19.1").touch()
    (tmp_path / "client").mkdir()
    (tmp_path / "client" / "libclntsh.so").touch()
    home, client = str(tmp_path / "home"), str(tmp_path / "client")
    assert find_libraries(DatabaseSettings(oracle_home=home), {}) == f"{home}/lib"
    assert find_libraries(DatabaseSettings(oracle_home=client), {"ORACLE_HOME": home}) == client
    assert find_libraries(DatabaseSettings(), {"ORACLE_HOME": home}) == f"{home}/lib"


async def test_libraries_that_cannot_be_loaded_are_reported_with_the_remedy(tmp_path):
    """In a process of its own: a process has one driver mode."""
    import asyncio
    import sys

    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libclntsh.so").write_text("not a library")
    program = (
        "import asyncio, sys\n"
        "from checks.sources.database.connections import Connections\n"
        "from checks.model.journal import Journal\n"
        "from checks.model.settings import DatabaseSettings\n"
        "async def main():\n"
        f"    settings = DatabaseSettings(connect='h/s', user='u', thick=True, oracle_home={str(tmp_path)!r})\n"
        "    try: await Connections(settings, None, Journal(), lambda: 'n').get()\n"
        "    except Exception as error: print(error)\n"
        "asyncio.run(main())\n"
    )
    ran = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE)
    out, _ = await ran.communicate()
    assert (
        f"could not load Oracle's client libraries: start racwire with LD_LIBRARY_PATH={tmp_path}/lib" in out.decode()
    )


def test_a_missing_library_of_the_client_is_named():
    message = (
        'DPI-1047: Cannot locate a 64-bit Oracle Client library: "libaio.so.1: cannot open shared object file: No such '
        'file or directory". See https://... for help'
    )
    text = str(as_database_error(RuntimeError(message), DatabaseSettings(connect="h/s", user="u", thick=True)))
    assert "start racwire with LD_LIBRARY_PATH=$ORACLE_HOME/lib" in text
    assert text.endswith("The loader reported: libaio.so.1: cannot open shared object file: No such file or directory.")


async def test_thick_mode_without_a_client_names_what_to_set(monkeypatch, tmp_path):
    """The driver's own DPI-1047: the loader finds a file of the library's name that is no library."""
    import asyncio
    import sys

    (tmp_path / "libclntsh.so").write_text("not a library")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    program = (
        "import asyncio\n"
        "from checks.sources.database.connections import Connections\n"
        "from checks.model.journal import Journal\n"
        "from checks.model.settings import DatabaseSettings\n"
        "async def main():\n"
        "    settings = DatabaseSettings(connect='h/s', user='u', thick=True)\n"
        "    try: await Connections(settings, None, Journal(), lambda: 'n').get()\n"
        "    except Exception as error: print(error)\n"
        "asyncio.run(main())\n"
    )
    ran = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE)
    said = (await ran.communicate())[0].decode()
    assert "start racwire with LD_LIBRARY_PATH=$ORACLE_HOME/lib, or name other libraries with --oracle-home" in said
    assert "The loader reported: " in said
    assert "libclntsh.so: " in said


# --- OS authentication ------------------------------------------------------------------------------------------------

LOCAL = DatabaseSettings(os_authentication=True, sysdba=True, oracle_sid="prod1", oracle_home="/u01/db")


@pytest.fixture
def prod1_runs(monkeypatch):
    running = (LocalInstance("prod1", "/u01/db", "oracle"), LocalInstance("test1", "", "oracle"))
    for module in (driver_errors, client_libraries):
        monkeypatch.setattr(module, "local_instances", lambda: running)


@pytest.mark.parametrize(
    ("message", "kind", "words"),
    [
        # Before 12.2 and from 12.2 on, for a user outside OSDBA.
        ("ORA-01031: insufficient privileges", ErrorKind.LOGIN, "(ORA-01031): only members of its OSDBA group"),
        (
            "ORA-01017: invalid username/password; logon denied",
            ErrorKind.LOGIN,
            "(ORA-01017): only members of its OSDBA",
        ),
        ("ORA-12547: TNS:lost contact", ErrorKind.CANNOT_CONNECT, "this user must be allowed to run its bin/oracle"),
        ("ORA-12546: TNS:permission denied", ErrorKind.CANNOT_CONNECT, "must be the home of that instance"),
        ("ORA-12557: TNS:protocol adapter not loadable", ErrorKind.CANNOT_CONNECT, "Running here: prod1 (/u01/db)"),
        (
            "ORA-01034: ORACLE not available\nORA-27101: shared memory realm does not exist",
            ErrorKind.CANNOT_CONNECT,
            "does not answer (ORA-01034): it is down, or ORACLE_SID or ORACLE_HOME is not spelled as at its start",
        ),
        ("ORA-27101: shared memory realm does not exist", ErrorKind.CANNOT_CONNECT, "(ORA-27101): it is down"),
    ],
)
def test_each_error_of_os_authentication_names_the_instance_and_the_remedy(message, kind, words, prod1_runs):
    error = as_database_error(RuntimeError(message), LOCAL)
    assert error.kind is kind
    assert words in str(error)
    assert "he instance prod1 of the home /u01/db" in str(error)
    assert "--password" not in str(error)


def test_os_authentication_without_sysdba_is_told_to_add_it(prod1_runs):
    error = as_database_error(RuntimeError("ORA-01017: logon denied"), msgspec.structs.replace(LOCAL, sysdba=False))
    assert "has no database user for" in str(error)
    assert "add --sysdba" in str(error)


def test_the_instance_of_asm_is_no_database(prod1_runs):
    for sid in ("+ASM1", "-MGMTDB", "+APX1"):
        with pytest.raises(DatabaseError, match="not of a database") as refusal:
            local_instance(DatabaseSettings(), {"ORACLE_SID": sid, "ORACLE_HOME": "/u01/grid"})
        assert "(running: prod1 (/u01/db), test1 (home not known))" in str(refusal.value)


def test_the_configured_local_instance_is_used():
    named = local_instance(DatabaseSettings(oracle_sid="prod1", oracle_home="/u01/db"), {"ORACLE_SID": "x"})
    assert (named.sid, named.home) == ("prod1", "/u01/db")
    environ = {"ORACLE_SID": "prod2", "ORACLE_HOME": "/u02/db"}
    assert (local_instance(DatabaseSettings(), environ).sid, local_instance(DatabaseSettings(), environ).home) == (
        "prod2",
        "/u02/db",
    )


# --- the password -----------------------------------------------------------------------------------------------------


async def test_no_error_contains_the_password(server):
    secret = "pa55-" + os.urandom(8).hex()
    journal = Journal()
    connections = Connections(settings(server), Secret(secret), journal, lambda: "rac1")
    with pytest.raises(DatabaseError) as refusal:
        await connections.get()
    await connections.close()
    error = refusal.value.with_traceback(refusal.value.__traceback__.tb_next)  # without this test's own frame
    shown = "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())
    assert "self = <checks.sources.database.connections.Connections" in shown  # locals are in it
    assert secret not in shown
    assert secret not in repr(vars(connections)) + texts(journal)
    with pytest.raises(TypeError):
        pickle.dumps(connections._login._password)


def test_messages_of_the_driver_that_contain_the_password_are_dropped():
    error = as_database_error(RuntimeError("cannot log in with tiger!"), DatabaseSettings(), None, Secret("tiger"))
    assert "tiger" not in str(error)
    assert "RuntimeError" in str(error)


@pytest.mark.parametrize(
    ("user", "named"),
    [("racwire", "RACWIRE"), ('"Mixed"', '"Mixed"'), ("proxy[c##mon]", "C##MON"), ("", "RACWIRE")],
)
def test_a_grant_names_the_connected_user(user, named):
    assert grantee(user) == named
