"""The practice database's server with clients of other releases and with a client of another family.

They show that the server speaks the protocol, not only the dialect of racwire's driver. `.ci/clients` installs them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import oracledb
import pytest

from racwire_lab.oracle_net.releases import RELEASES
from racwire_lab.oracle_net.verifier import Verifier
from tests.lab_own.oracle_net_support import PASSWORD, serve

SCENARIO = Path(__file__).parent / "clients" / "scenario.py"
INSTALLED = Path(sys.prefix) / "clients"


def client(module: str, version: str) -> object:
    """A client as a parameter, skipped where it is not installed."""
    directory = INSTALLED / f"{module}-{version}"
    skip = pytest.mark.skipif(
        not directory.is_dir(),
        reason=f"THE PRACTICE DATABASE WAS NOT TESTED WITH {module} {version}: run `sh .ci/clients`",
    )
    return pytest.param(module, version, directory, id=f"{module}-{version}", marks=skip)


CLIENTS = [
    client("oracledb", "3.4.2"),
    client("oracledb", "4.0.2"),
    pytest.param("oracledb", oracledb.__version__, None, id="oracledb-own"),
    client("seerdb", "3.3.0"),
]


def run(module: str, directory: Path | None, port: int) -> dict[str, object]:
    """Return the output of a client, in a process of its own that finds this client first."""
    paths = [str(directory)] if directory else []
    ran = subprocess.run(
        [sys.executable, str(SCENARIO), module, str(port)],
        input=f"{PASSWORD}\n",
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.returncode == 0, ran.stderr
    seen: dict[str, object] = json.loads(ran.stdout)
    return seen


@pytest.mark.parametrize("release", ["12.1", "19c", "23ai"])
@pytest.mark.parametrize(("module", "version", "directory"), CLIENTS)
def test_a_client_logs_on_reads_rows_and_gets_errors(
    module: str, version: str, directory: Path | None, release: str
) -> None:
    with serve(profile=RELEASES[release]) as server:
        server.users = {"SCOTT": Verifier.of(PASSWORD, "12c")}
        assert run(module, directory, server.port) == {
            "version": version,
            "refused": "ORA-01017",
            "rows": [1234, [1233, "row 1233"]],
            "binds": ["42", "é" * 3000, "2026-01-02 03:04:05", "1 day, 0:00:02", "None"],
            "error": "ORA-00942",
            "user": "SCOTT",
        }
