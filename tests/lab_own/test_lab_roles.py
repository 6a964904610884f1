"""The hardened practice cluster: its users, what each may do and read, and its sshd."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from racwire_lab import PROFILES, Lab, LabUsageError, up
from racwire_lab.cluster import roles, ssh_configuration
from racwire_lab.cluster.profiles import profile_named
from racwire_lab.status import status_document, status_lines
from tests.lab.lab_support import lab_directory, needs_namespaces, run

HARDENED = PROFILES["hardened"]
WHOLE_MACHINE = "0 0 4294967295\n"
needs_users = pytest.mark.skipif(
    os.geteuid() != 0
    or ssh_configuration.find_sshd() is None
    or bool(roles.why_unavailable(HARDENED, rootless=False, uid_map=Path("/proc/self/uid_map").read_text())),
    reason="THE USERS OF PRACTICE NODES WERE NOT TESTED: they need root with all user ids, and sshd",
)


@pytest.mark.parametrize("name", PROFILES)
def test_the_accounts_of_a_profile_fit_together(name: str) -> None:
    found = profile_named(name)
    assert len({user.uid for user in found.accounts}) == len(found.accounts)
    assert len(set(found.groups.values())) == len(found.groups)
    assert all({user.group, *user.groups} <= found.groups.keys() for user in found.accounts)


def test_an_unknown_profile_is_refused() -> None:
    with pytest.raises(LabUsageError, match="plain, hardened"):
        profile_named("soft")


@pytest.mark.parametrize(
    ("rootless", "uid_map", "reason"),
    [
        (False, WHOLE_MACHINE, ""),
        (True, WHOLE_MACHINE, "run racwire as root"),
        (False, "0 1000 1\n", "no user id 54331"),
        (False, "0 1000 1\n1 100000 54330\n", "no user id 54331"),
        (False, "0 1000 1\n1 100000 65535\n", ""),
    ],
)
def test_users_need_user_ids(rootless: bool, uid_map: str, reason: str) -> None:
    found = roles.why_unavailable(HARDENED, rootless=rootless, uid_map=uid_map)
    assert reason in found
    assert bool(reason) == bool(found)
    assert not roles.why_unavailable(PROFILES["plain"], rootless=True, uid_map="0 1000 1\n")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with lab_directory(tmp_path_factory.mktemp("roles") / "lab"):
        yield up(2, database=False, like="hardened")


@needs_namespaces
@needs_users
def test_the_status_names_the_users(cluster: Lab) -> None:
    assert "Like       hardened: users root, grid, oracle, dba1" in status_lines(cluster)
    document = json.loads(json.dumps(status_document(cluster)))
    assert (document["like"], document["users"]) == ("hardened", ["root", "grid", "oracle", "dba1"])


@needs_namespaces
@needs_users
class TestUsers:
    def shell(self, cluster: Lab, user: str, script: str) -> str:
        done = run(cluster, "rac1", "sh", "-c", f"({script}) 2>&1", user=user)
        return done.stdout.strip()

    def test_they_have_ids_groups_and_homes(self, cluster: Lab) -> None:
        assert self.shell(cluster, "grid", "id -un; id -gn; id -u; cd; test -w . && echo $USER") == (
            "grid\noinstall\n54331\ngrid"
        )
        assert "54322(dba)" not in self.shell(cluster, "grid", "id")
        assert "54322(dba)" in self.shell(cluster, "oracle", "id")
        assert self.shell(cluster, "dba1", "id -Gn") == "dba1"
        with pytest.raises(LabUsageError, match="root, grid, oracle, dba1, not ann"):
            cluster.enter("rac1", ["true"], "ann")

    def test_the_daemons_belong_to_root_and_grid(self, cluster: Lab) -> None:
        script = "for p in /proc/[0-9]*; do read -r n <$p/comm; echo $n $(stat -c %U $p); done"
        owners = dict(line.split() for line in self.shell(cluster, "root", script).splitlines() if line.count(" ") == 1)
        assert [owners[name] for name in ("ohasd.bin", "crsd.bin", "octssd.bin", "cssdagent")] == ["root"] * 4
        assert [owners[name] for name in ("ocssd.bin", "evmd.bin", "oraagent.bin", "gipcd.bin")] == ["grid"] * 4
        own = "readlink /proc/$(pgrep -o ocssd.bin)/exe" if shutil.which("pgrep") else "echo ocssd.bin"
        assert self.shell(cluster, "grid", own).endswith("ocssd.bin")

    def test_some_files_are_for_some_users_only(self, cluster: Lab) -> None:
        autostart = "cat /etc/oracle/scls_scr/rac1/root/ohasdstr"
        keyfile = "cat /etc/NetworkManager/system-connections/eth1.nmconnection"
        assert self.shell(cluster, "grid", autostart) == "enable"
        assert "Permission denied" in self.shell(cluster, "dba1", autostart)
        assert "Permission denied" in self.shell(cluster, "grid", keyfile)
        assert "mtu=9000" in self.shell(cluster, "root", keyfile)
        for user in ("grid", "dba1"):
            assert "Permission denied" in self.shell(cluster, user, "cat /etc/shadow")
            assert self.shell(cluster, user, "nmcli -g 802-3-ethernet.mtu connection show eth1") == "9000"
            assert "Insufficient privileges" in self.shell(cluster, user, "nmcli con modify eth1 mtu 1500")

    def test_clusterware_answers_by_the_group(self, cluster: Lab) -> None:
        home = cluster.environment("rac1")["GRID_HOME"]
        for user in ("grid", "oracle"):
            assert "cluster_interconnect" in self.shell(cluster, user, f"{home}/bin/oifcfg getif")
        assert "PRIF-10" in self.shell(cluster, "dba1", f"{home}/bin/oifcfg getif")
        assert "CRS-4537" in self.shell(cluster, "dba1", f"{home}/bin/crsctl check crs")
        assert "CRS-4563" in self.shell(cluster, "grid", f"{home}/bin/crsctl stop crs")

    def test_sshd_is_strict(self, cluster: Lab) -> None:
        greeting = HARDENED.greeting
        for user in ("grid", "oracle"):
            said = self.shell(cluster, user, "ssh -o BatchMode=yes rac2 'uname -n; id -un'")
            assert "Authorised use only" in said
            assert greeting in said
            # The profile is written for a terminal.
            assert "not a tty" in said
            # Warnings of the profile are on stderr, and can arrive between the lines of stdout.
            assert {"rac2", user} <= set(said.splitlines())
        assert "Permission denied (publickey)" in self.shell(cluster, "dba1", "ssh -o BatchMode=yes rac2 true")
        key = f"ssh -F {cluster.directory}/ssh_config rac2 true"
        assert "Permission denied (publickey)" in self.shell(cluster, "root", key)
