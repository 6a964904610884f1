"""The logon to the practice database's server with python-oracledb in thin mode, and the data of a session."""

from __future__ import annotations

import asyncio
import logging
import threading

import oracledb
import pytest

from racwire_lab.database.backend import OracleError
from racwire_lab.oracle_net.releases import RELEASES
from racwire_lab.oracle_net.server import OracleServer
from racwire_lab.oracle_net.verifier import Verifier
from tests.lab_own.oracle_net_support import PASSWORD, SmallDatabase, code, connect, serve
from tests.lab_own.oracle_net_support import connection as connection
from tests.lab_own.oracle_net_support import database as database
from tests.lab_own.oracle_net_support import server as server


@pytest.mark.parametrize("release", [name for name in RELEASES if name != "11.2"])
def test_the_client_gets_the_name_and_version_of_the_server(release: str) -> None:
    profile = RELEASES[release]
    names = {"services": ["RACDB"], "instance_name": "RACDB2", "db_unique_name": "racdb_a"}
    with serve(profile=profile, **names) as server, connect(server) as connection:
        assert connection.thin
        assert connection.version == profile.version
        assert (connection.service_name, connection.instance_name) == ("RACDB", "RACDB2")
        assert connection.db_name == "racdb_a"


def test_thin_mode_refuses_11_2_like_the_real_database() -> None:
    with serve(profile=RELEASES["11.2"]) as server, pytest.raises(oracledb.Error, match="DPY-3010"):
        connect(server)


@pytest.mark.parametrize("kind", ["12c", "11g"])
def test_either_verifier_authenticates_a_user(kind: str) -> None:
    users = {"RACWIRE": Verifier.of("geheim", kind, vgen_count=16)}  # type: ignore[arg-type]
    with serve() as server:
        server.users = users
        connect(server, user="racwire", password="geheim").close()
        with pytest.raises(oracledb.Error) as wrong:
            connect(server, user="racwire", password="Geheim")
        assert code(wrong.value) == "ORA-01017"


def test_an_unknown_user_and_a_wrong_password_get_the_same_error(server: OracleServer) -> None:
    events = []
    for user, password in (("scott", "wrong"), ("nobody", PASSWORD)):
        with pytest.raises(oracledb.Error) as error:
            connect(server, user=user, password=password)
        events.append(str(error.value))
    assert events[0] == events[1]
    assert "ORA-01017" in events[0]


def test_sysdba_requires_the_privilege(server: OracleServer) -> None:
    with connect(server, user="sys", mode=oracledb.AUTH_MODE_SYSDBA) as connection:
        assert connection.cursor().execute("select * from session").fetchone()[:2] == ("SYS", "True")
    with pytest.raises(oracledb.Error) as error:
        connect(server, mode=oracledb.AUTH_MODE_SYSDBA)
    assert code(error.value) == "ORA-01031"
    with pytest.raises(oracledb.Error) as error:
        connect(server, user="sys")
    assert code(error.value) == "ORA-28009"


def test_users_can_be_looked_up_and_refused(database: SmallDatabase) -> None:
    def users(name: str) -> Verifier | None:
        raise OracleError(28000, f"the account is locked: {name}")

    with serve(database) as server:
        server.users = users
        with pytest.raises(oracledb.Error, match="ORA-28000: the account is locked: SCOTT"):
            connect(server)


def test_a_session_has_the_properties_that_its_client_sent(connection: oracledb.Connection) -> None:
    connection.module, connection.action, connection.clientinfo = "racwire", "check gc", "é"
    row = connection.cursor().execute("select * from session").fetchone()
    assert row == ("SCOTT", "False", "racwire", "check gc", "é")


def test_the_backend_is_notified_of_the_end_of_a_session(server: OracleServer, database: SmallDatabase) -> None:
    with connect(server):
        (caller,) = server.callers
    assert database.left.get(timeout=10) is caller
    assert database.left.empty()


async def test_a_server_runs_in_the_event_loop_of_its_client(database: SmallDatabase) -> None:
    server = OracleServer(database, users={"A": Verifier.of("b", vgen_count=16)})
    await server.start()
    pool = oracledb.create_pool_async(user="a", password="b", dsn=server.dsn, min=2, max=4)

    async def ask() -> int:
        async with pool.acquire() as connection:
            return len(await connection.fetchall("select * from numbered where n < :rows", [500]))

    assert await asyncio.gather(*(ask() for _ in range(12))) == [500] * 12
    await pool.close()
    await server.close()


def test_a_connection_pool_works(server: OracleServer) -> None:
    pool = oracledb.create_pool(user="scott", password=PASSWORD, dsn=server.dsn, min=1, max=3)
    held = [pool.acquire() for _ in range(3)]
    assert [c.cursor().execute("select * from numbered").fetchone()[0] for c in held] == [0, 0, 0]
    for one in held:
        one.close()
    pool.close()


def test_no_password_is_logged_or_stored(
    server: OracleServer, database: SmallDatabase, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with connect(server) as connection:
        connection.cursor().execute("select * from numbered")
        stored = repr([server.callers, vars(server), database.statements, threading.enumerate()])
    assert PASSWORD not in caplog.text + stored
