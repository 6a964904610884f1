"""Logins that fail in the first days on a cluster, with a real sshd: each has one message, and nothing hangs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from racwire_lab import PROFILES, Lab, LabError, LabUsageError, up
from racwire_lab.cluster import roles, ssh_configuration
from racwire_lab.cluster.login_faults import LOGIN_FAULTS
from tests.lab.lab_support import lab_directory, needs_namespaces, run

_UID_MAP = Path("/proc/self/uid_map").read_text()
pytestmark = [
    pytest.mark.lab,
    needs_namespaces,
    pytest.mark.skipif(
        os.geteuid() != 0
        or ssh_configuration.find_sshd() is None
        or bool(
            roles.why_unavailable(PROFILES["hardened"], rootless=False, uid_map=Path("/proc/self/uid_map").read_text())
        ),
        reason="LOGINS THAT FAIL WERE NOT TESTED: the practice users need root with all user ids, and sshd",
    ),
]

OPEN = """
import asyncio, sys
from checks.model.settings import SshSettings
from checks.sources.kernel_files import COUNTERS
from checks.sources.nodes.shell import Shell, ShellError

async def main():
    try:
        shell = await Shell.open_ssh("rac2", SshSettings(connect_timeout_s=float(sys.argv[1]), login_timeout_s=60))
    except ShellError as error:
        print(error)
    else:
        print("opened", (await shell.run(COUNTERS, "eth1")).exit_status)
        await shell.close()

asyncio.run(main())
"""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with lab_directory(tmp_path_factory.mktemp("logins") / "lab"):
        yield up(2, database=False, like="hardened")


@pytest.fixture
def cluster(running: Lab) -> Iterator[Lab]:
    yield running
    running.mend()
    assert login(running) == "opened 0"


def login(cluster: Lab, user: str = "grid", limit_s: float = 5) -> str:
    """Open racwire's shell on rac2 as that user, and return its message."""
    done = run(cluster, "rac1", sys.executable, "-P", "-c", OPEN, str(limit_s), user=user)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


SAMPLE = ("password-expired",)
MESSAGES = {
    "no-ssh": "User equivalence to rac2 is missing for user grid: ",
    "ssh-down": "rac2 refused the ssh connection: ",
    "ssh-hung": "sshd on rac2 did not answer within 1 s, although the connection was accepted: ",
    "ssh-crowded": "rac2 closed the ssh connection before the login: ",
    "ssh-no-session": "rac2 accepted the login of this user but refused a session ",
    "ssh-weak-crypto": "ssh here and sshd on rac2 have no host key type in common (rac2 offers ssh-rsa): ",
    "ssh-slow-dns": "opened 0",
    "host-key-changed": "The host key of rac2 has changed: rac2 has SHA256:",
    "host-key-unknown": "The host key of rac2 is not in known_hosts: ",
    "password-expired": "The password of this user on rac2 has expired: ",
    "account-expired": "The account of this user on rac2 has expired: ",
    "nologin": "rac2 accepts no login but that of root at present: ",
    "other-system": "rac2 runs AIX, which racwire does not support: ",
    "profile-fails": "The login of this user on rac2 ended with status 3 before racwire's shell started: ",
    "profile-waits": "The shell on rac2 did not start within 2 s after rac2 accepted this user: ",
    "profile-execs": "The shell on rac2 did not start within 2 s after rac2 accepted this user: ",
    "slow-ssh": "The shell on rac2 did not start within 2 s after rac2 accepted this user: ",
}


def test_every_fault_of_logins_has_a_test() -> None:
    assert set(MESSAGES) == {fault.name for fault in LOGIN_FAULTS}


@pytest.mark.parametrize(
    "fault", [f if f in SAMPLE else pytest.param(f, marks=pytest.mark.beyond_sample) for f in MESSAGES]
)
def test_a_failed_login_has_one_message(cluster: Lab, fault: str) -> None:
    cluster.break_(fault)
    assert login(cluster, limit_s=2).startswith(MESSAGES[fault])


@pytest.mark.beyond_sample
@pytest.mark.parametrize("fault", ["profile-fails", "profile-waits", "profile-execs"])
def test_a_profile_of_csh_is_reported_alike(cluster: Lab, fault: str) -> None:
    cluster.break_(fault)
    message = login(cluster, "oracle", limit_s=2)
    assert message.startswith(MESSAGES[fault])
    if fault == "profile-waits":
        assert 'rac2 printed "Which database [PROD]?"' in message


@pytest.mark.beyond_sample
def test_the_remedy_for_a_changed_host_key_works(cluster: Lab) -> None:
    broken = cluster.break_("host-key-changed")
    command = login(cluster).split("only if both agree, run `")[1].partition("`")[0]
    assert run(broken, "rac1", *command.split(), user="grid").returncode == 0
    run(broken, "rac1", "ssh", "-o", "StrictHostKeyChecking=accept-new", "rac2", "true", user="grid")
    assert login(cluster) == "opened 0"


@pytest.mark.beyond_sample
def test_faults_of_logins_combine_and_are_fixed_in_any_order(cluster: Lab) -> None:
    for fault in ("ssh-hung", "host-key-changed", "ssh-down", "nologin"):
        cluster.break_(fault)
    assert login(cluster).startswith(MESSAGES["ssh-down"])
    cluster.mend("ssh-down")
    cluster.mend("ssh-hung")
    assert login(cluster).startswith(MESSAGES["host-key-changed"])
    cluster.mend("host-key-changed")
    assert login(cluster).startswith(MESSAGES["nologin"])


def test_users_are_needed_where_a_fault_concerns_them(tmp_path_factory: pytest.TempPathFactory) -> None:
    with lab_directory(tmp_path_factory.mktemp("plain") / "lab"):
        plain = up(2, database=False)
        with pytest.raises(LabUsageError, match=r"needs sshd and a cluster with users .*hardened"):
            plain.break_("nologin")
        if plain.remote_shell != "ssh":
            with pytest.raises(LabError, match="needs sshd"):
                plain.break_("ssh-down")
