"""Aliases, wallets and certificates that cannot be used."""

import ssl
import threading
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from checks.model.journal import Journal
from checks.model.settings import DatabaseSettings
from checks.sources.database.client_libraries import tns_directory
from checks.sources.database.connections import Connections
from checks.sources.database.secret import Secret
from tests.fixtures.oracle import PASSWORD, USER, settings
from tests.unit.connection_errors.connecting import error_of, listening

# The driver leaves some sockets of failed logins to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


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
