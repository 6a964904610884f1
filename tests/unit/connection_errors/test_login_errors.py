"""Logins that the database refuses, and the password, which is in no error."""

import os
import pickle
import traceback

import pytest

from checks.model.journal import Journal
from checks.model.settings import DatabaseSettings
from checks.sources.database.client_libraries import find_libraries
from checks.sources.database.connections import Connections
from checks.sources.database.driver_errors import as_database_error, grantee
from checks.sources.database.errors import DatabaseError, ErrorKind
from checks.sources.database.secret import Secret
from racwire_lab.database.backend import OracleError
from racwire_lab.oracle_net.releases import RELEASES
from tests.fixtures.oracle import PASSWORD, USER, Witness, serve, settings, texts
from tests.unit.connection_errors.connecting import error_of

# The driver leaves some sockets of failed logins to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


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
