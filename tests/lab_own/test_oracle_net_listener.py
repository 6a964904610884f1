"""Listeners of the practice database: refused, redirected, hanging and dropped clients, and invalid data."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import oracledb
import psutil
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from racwire_lab.database.backend import OracleError
from racwire_lab.oracle_net.releases import RELEASES
from racwire_lab.oracle_net.scan import ScanListener
from racwire_lab.oracle_net.server import OracleServer, hosted
from tests.lab_own.oracle_net_support import PASSWORD, SmallDatabase, code, connect, serve

DROPPED = r"DPY-4011|DPY-1001"


@pytest.fixture
def database() -> SmallDatabase:
    return SmallDatabase()


@pytest.fixture
def server(database: SmallDatabase) -> Iterator[OracleServer]:
    with serve(database, services=["racdb.example.com", "racdb_ro"]) as running:
        yield running


def refusal(server: OracleServer | ScanListener, request: str = "(SERVICE_NAME=racdb_ro)") -> str:
    """The driver's text when it is refused."""
    address = f"(ADDRESS=(PROTOCOL=TCP)(HOST=127.0.0.1)(PORT={server.port}))"
    with pytest.raises(oracledb.Error) as error:
        oracledb.connect(
            user="scott", password=PASSWORD, dsn=f"(DESCRIPTION={address}(CONNECT_DATA={request}))"
        )  # fmt: skip
    return f"{error.value} {error.value.__cause__}"


def test_services_are_matched_as_a_whole_and_in_any_case(server: OracleServer) -> None:
    for service in ("RACDB.EXAMPLE.COM", "racdb_ro"):
        connect(server, dsn=f"127.0.0.1:{server.port}/{service}").close()
    assert "DPY-6001" in refusal(server, "(SERVICE_NAME=racdb)")


def test_a_sid_is_the_name_of_the_instance(server: OracleServer) -> None:
    server.instance_name = "RACDB1"
    assert "DPY-6003" in refusal(server, "(SID=other)")
    oracledb.connect(user="scott", password=PASSWORD, host="127.0.0.1", port=server.port, sid="racdb1").close()


@pytest.mark.parametrize("number", [12514, 12528, 12541, 12516])
def test_a_listener_can_refuse_with_any_code(server: OracleServer, number: int) -> None:
    server.faults.refuse = number
    assert {12514: "DPY-6001"}.get(number, str(number)) in refusal(server)
    server.faults.refuse = None
    connect(server).close()


# The driver leaves the socket of a listener that sent it on to the garbage collector.
@pytest.mark.filterwarnings("ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning")
def test_a_scan_listener_sends_clients_on_in_turn(database: SmallDatabase) -> None:
    targets: list[tuple[str, int]] = []
    scan_listener = ScanListener(lambda service: targets if service == "orcl" else [])
    with (
        serve(database, instance_name="one") as one,
        serve(database, instance_name="two") as two,
        hosted(scan_listener) as scan,
    ):
        dsn = f"127.0.0.1:{scan.port}/orcl"
        assert "DPY-6001" in refusal(scan, "(SERVICE_NAME=orcl)")
        targets += [("127.0.0.1", one.port), ("127.0.0.1", two.port)]
        names = []
        for _ in range(4):
            with connect(one, dsn=dsn) as connection:
                assert connection.cursor().execute("select * from numbered").fetchone() == (0, "row 0")
                names.append(connection.instance_name)
        assert names == ["one", "two", "one", "two"]
        assert "DPY-6001" in refusal(scan, "(SERVICE_NAME=other)")
        assert "DPY-6003" in refusal(scan, "(SID=orcl)")
        scan.faults.refuse = 12541
        assert "12541" in refusal(scan, "(SERVICE_NAME=orcl)")


@pytest.mark.parametrize("fault", ["hang_at_connect", "hang_at_login"])
async def test_a_hanging_listener_answers_no_client_until_it_is_fixed(server: OracleServer, fault: str) -> None:
    def attempt() -> asyncio.Future[oracledb.AsyncConnection]:
        return asyncio.ensure_future(oracledb.connect_async(user="scott", password=PASSWORD, dsn=server.dsn))

    setattr(server.faults, fault, True)
    hanging = attempt()
    done, _ = await asyncio.wait([hanging], timeout=0.2)
    assert not done
    setattr(server.faults, fault, False)
    await (await attempt()).close()
    hanging.cancel()
    with contextlib.suppress(asyncio.CancelledError, oracledb.Error):
        await hanging


def test_a_login_can_be_made_to_fail(server: OracleServer) -> None:
    server.faults.login_error = OracleError(1033, "ORACLE initialization or shutdown in progress")
    with pytest.raises(oracledb.Error) as error:
        connect(server)
    assert code(error.value) == "ORA-01033"


@pytest.mark.parametrize(
    ("fault", "value", "number"),
    [
        ("requires_encryption", True, "DPY-3001"),
        ("closes_at_login", True, "DPY-4011"),
        ("verifier_type", 0x939, "DPY-3015"),
    ],
)
def test_a_server_can_refuse_thin_mode(server: OracleServer, fault: str, value: object, number: str) -> None:
    usual = getattr(server.faults, fault)
    setattr(server.faults, fault, value)
    assert number in refusal(server)
    setattr(server.faults, fault, usual)
    connect(server).close()


@pytest.mark.parametrize("release", ["12.1", "19c", "23ai"])
def test_a_login_can_come_with_a_warning(release: str, server: OracleServer) -> None:
    server.profile = RELEASES[release]
    server.faults.login_warning = OracleError(28002, "the password will expire within 3 days")
    with connect(server) as connection:
        assert str(connection.warning).startswith("ORA-28002: the password will expire within 3 days")
        assert connection.cursor().execute("select * from numbered").fetchone() == (0, "row 0")
    server.faults.login_warning = None
    with connect(server) as connection:
        assert connection.warning is None


def test_a_listener_that_is_down_refuses_connections_and_its_sessions_continue(server: OracleServer) -> None:
    with connect(server) as connection:
        for _ in range(2):
            server.stop_listening()
            with pytest.raises(oracledb.Error, match="DPY-6005"):
                connect(server)
            assert connection.cursor().execute("select * from numbered").fetchone() == (0, "row 0")
            server.listen()
            server.listen()
            connect(server).close()


def test_all_sessions_can_be_dropped(server: OracleServer, database: SmallDatabase) -> None:
    with ThreadPoolExecutor(1) as other:
        idle, busy = connect(server), connect(server)
        statement = other.submit(busy.cursor().execute, "begin sleep; end;")
        database.asleep.get(timeout=10)
        server.drop_sessions()
        with pytest.raises(oracledb.Error, match=DROPPED):
            statement.result(10)
        with pytest.raises(oracledb.Error, match=DROPPED):
            idle.cursor().execute("select * from numbered")
    assert {database.left.get(timeout=10).session_id for _ in range(2)} == {1, 2}
    connect(server).close()


def test_sessions_can_be_dropped_after_some_responses(server: OracleServer) -> None:
    with connect(server) as connection:
        server.faults.drop_after = 2
        for _ in range(2):
            connection.ping()
        with pytest.raises(oracledb.Error, match=DROPPED):
            connection.ping()
    assert server.faults.drop_after == 0
    server.faults.drop_after = None
    connect(server).close()


def test_a_client_that_vanishes_cancels_its_query(server: OracleServer, database: SmallDatabase) -> None:
    with ThreadPoolExecutor(1) as other:
        connection = connect(server)
        statement = other.submit(connection.cursor().execute, "begin sleep; end;")
        caller = database.asleep.get(timeout=10)
        for found in psutil.Process().net_connections():
            if found.raddr and found.raddr.port == server.port:
                with socket.socket(fileno=os.dup(found.fd)) as cut:
                    cut.shutdown(socket.SHUT_RDWR)
        with pytest.raises(oracledb.Error):
            statement.result(10)
    assert database.left.get(timeout=10) is caller


def test_closing_the_server_ends_running_statements(database: SmallDatabase) -> None:
    with ThreadPoolExecutor(1) as other:
        with serve(database) as server:
            connection = connect(server)
            statement = other.submit(connection.cursor().execute, "begin sleep; end;")
            database.asleep.get(timeout=10)
        with pytest.raises(oracledb.Error, match=DROPPED):
            statement.result(10)
    assert database.left.get(timeout=10).user == "SCOTT"


def connect_request(descriptor: bytes = b"(DESCRIPTION=(CONNECT_DATA=(SERVICE_NAME=ORCL)))") -> bytes:
    """A connect request as a client of 19c or 23ai sends it."""
    head = b"\x01\x3f\x01\x2c" + bytes(2) + b"\x20\x00\xff\xff\x4f\x98" + bytes(2) + b"\x00\x01"
    head += len(descriptor).to_bytes(2, "big") + (74).to_bytes(2, "big")
    body = head.ljust(66, b"\0") + descriptor
    return (len(body) + 8).to_bytes(2, "big") + b"\0\0\x01\0\0\0" + body


def data_packet(data: bytes) -> bytes:
    """A data packet of an accepted connection."""
    return (len(data) + 10).to_bytes(4, "big") + b"\x06\0\0\0\0\0" + data


def answer(server: OracleServer, sent: bytes) -> bytes:
    """Return the server's answer to this data until it closes the connection."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as raw:
        received = b""
        with contextlib.suppress(ConnectionError):
            raw.sendall(sent)
            raw.shutdown(socket.SHUT_WR)
            while part := raw.recv(65536):
                received += part
    return received


@pytest.fixture(scope="module")
def steady() -> Iterator[OracleServer]:
    with serve(profile=RELEASES["23ai"]) as running:
        yield running


@given(st.binary(max_size=300))
@example(b"GET / HTTP/1.0\r\n\r\n")
@example(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(100))
@example(connect_request()[:50])
@example(connect_request(b"()" * 5000))
@example(b"")
def test_a_client_that_sends_garbage_is_disconnected(steady: OracleServer, sent: bytes) -> None:
    assert len(answer(steady, sent)) < 1000
    assert steady.callers == ()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.one_of(st.binary(max_size=60), st.binary(max_size=60).map(data_packet)), max_size=4))
@example([data_packet(bytes([34, 1, 1, 0, 1, 6, 0]))])
@example([b"\x00\x00\x00\x0b\x0c\0\0\0\x01\x00\x03"])
@example([b"\xff\xff\xff\xff\x06\0\0\0"])
@example([b"\x00\x00\x00\x08\x06\0\0\0"])
@example([data_packet(bytes([3, 118, 1, 1, 4, 0xFF, 0xFF, 0xFF, 0xFF]))])
def test_garbage_after_a_valid_start_ends_only_that_session(steady: OracleServer, packets: list[bytes]) -> None:
    assert answer(steady, connect_request() + b"".join(packets))[4] == 2
    assert steady.callers == ()


def test_after_garbage_the_server_still_serves(steady: OracleServer) -> None:
    with connect(steady) as connection:
        answer(steady, connect_request() + data_packet(b"\xff" * 100))
        assert len(connection.cursor().execute("select * from numbered where n < :rows", [9]).fetchall()) == 9


def test_a_dropped_client_is_logged_in_one_short_line(server: OracleServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    answer(server, b"GET /secret HTTP/1.0\r\n\r\n")
    (line,) = [record.getMessage() for record in caplog.records if record.name.startswith("racwire_lab")]
    assert line.startswith("127.0.0.1:")
    assert line.endswith("was dropped: data of another protocol than Oracle Net")


def test_a_client_that_does_not_log_on_in_time_is_disconnected(database: SmallDatabase) -> None:
    with serve(database, logon_timeout_s=0.05) as server:
        for sent in (b"", connect_request()):
            with socket.create_connection(("127.0.0.1", server.port), timeout=10) as raw:
                raw.sendall(sent)
                while raw.recv(65536):
                    pass
