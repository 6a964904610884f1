"""A DBA whose ssh connections are shared (ControlMaster auto): racwire's own ssh neither lends nor ends one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from racwire_lab import Lab, up
from racwire_lab.cluster import ssh_configuration
from tests.lab.lab_support import PATIENCE_S, lab_directory, needs_namespaces, run, until

pytestmark = [
    pytest.mark.lab,
    needs_namespaces,
    pytest.mark.beyond_sample,
    pytest.mark.skipif(ssh_configuration.find_sshd() is None, reason="SHARED SSH WAS NOT TESTED: it needs sshd"),
]


@pytest.fixture
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with lab_directory(tmp_path_factory.mktemp("shared") / "lab"):
        running = up(2, database=False)
        if running.remote_shell != "ssh":
            pytest.skip("no sshd can be started here")
        yield running


def _started(cluster: Lab, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        cluster.enter("rac1", list(words)), env=cluster.environment("rac1"), text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def test_a_session_of_a_dba_outlives_a_check(cluster: Lab, tmp_path: Path) -> None:
    config = cluster.directory / "ssh_config"
    config.write_text(f"ControlMaster auto\nControlPath {tmp_path}/%h\n{config.read_text()}")
    ssh = ("ssh", "-F", str(config))
    logins = ssh_configuration.node_home(cluster.directory, "rac2") / "sshd.log"
    before = logins.read_text().count("Accepted publickey")
    with _started(cluster, sys.executable, "-P", "-m", "racwire", "check", "--interval", "6", "cpu-pressure") as check:
        until(lambda: logins.read_text().count("Accepted publickey") > before, "racwire does not log in")
        assert run(cluster, "rac1", *ssh, "-O", "check", "rac2").returncode, "racwire's ssh is a master"
        with _started(cluster, *ssh, "rac2", "cat") as dba:
            try:
                assert dba.stdin is not None
                assert dba.stdout is not None
                until(lambda: not run(cluster, "rac1", *ssh, "-O", "check", "rac2").returncode, "the DBA is no master")
                assert check.poll() is None
                printed, _ = check.communicate(timeout=PATIENCE_S)
                assert "rac2" in printed
                dba.stdin.write("still here\n")
                dba.stdin.flush()
                assert dba.stdout.readline() == "still here\n"
            finally:
                with suppress(ProcessLookupError):
                    dba.kill()
