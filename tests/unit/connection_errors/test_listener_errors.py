"""Errors of the listener, and of addresses where none answers."""

import socket

import pytest

from checks.model.journal import Journal
from checks.model.settings import DatabaseSettings
from checks.sources.database.connections import Connections
from checks.sources.database.errors import ErrorKind
from checks.sources.database.secret import Secret
from racwire_lab.oracle_net.scan import ScanListener
from racwire_lab.oracle_net.server import hosted
from tests.fixtures.oracle import PASSWORD, USER, Witness, serve, settings
from tests.unit.connection_errors.connecting import error_of, listening

# The driver leaves some sockets of failed logins to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


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
