"""Errors of the client libraries, and of OS authentication at the local instance."""

import msgspec
import pytest

from checks.model.settings import DatabaseSettings
from checks.sources.database import client_libraries, driver_errors
from checks.sources.database.client_libraries import find_libraries, local_instance
from checks.sources.database.driver_errors import as_database_error
from checks.sources.database.errors import DatabaseError, ErrorKind
from checks.sources.database.local_instances import LocalInstance
from racwire_lab.oracle_net.releases import RELEASES
from tests.fixtures.oracle import Witness, serve, settings
from tests.unit.connection_errors.connecting import error_of

# The driver leaves some sockets of failed logins to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


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
