"""The server's side of Oracle Net (TNS and TTC), as far as clients need it that read.

    users = {"RACWIRE": Verifier.of(password)}
    with serving(backend, users=users, services=["RACDB"], profile=profile_of("19.22.0.0.0")) as server:
        oracledb.connect(user="racwire", password=password, dsn=server.dsn)

In an event loop: `await OracleServer(backend, users=users).start(host, port)`, and `await server.close()`.
"""

from racwire_lab.oracle_net.listener_faults import Faults
from racwire_lab.oracle_net.releases import RELEASES, ServerRelease, release_of
from racwire_lab.oracle_net.scan import ScanListener
from racwire_lab.oracle_net.server import OracleServer, hosted, serving
from racwire_lab.oracle_net.verifier import Verifier

__all__ = [
    "RELEASES",
    "Faults",
    "OracleServer",
    "ScanListener",
    "ServerRelease",
    "Verifier",
    "hosted",
    "release_of",
    "serving",
]
