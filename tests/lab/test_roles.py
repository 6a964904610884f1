"""racwire on the hardened practice cluster, as the Grid owner, as the database owner and as an ordinary user."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from checks.model.finding import Finding, Status
from checks.model.report import Report
from checks.report.folding import grouped_by_reason
from checks.report.json_report import from_json
from checks.traffic.recording import Recording
from racwire_lab import PROFILES
from racwire_lab.cluster import roles, ssh_configuration
from tests.lab.lab_support import needs_namespaces
from tests.lab.practice_command import Practice

_UID_MAP = Path("/proc/self/uid_map").read_text()
pytestmark = [
    pytest.mark.lab,
    needs_namespaces,
    pytest.mark.skipif(
        os.geteuid() != 0
        or ssh_configuration.find_sshd() is None
        or bool(roles.why_unavailable(PROFILES["hardened"], rootless=False, uid_map=_UID_MAP)),
        reason="RACWIRE WAS NOT TESTED AS AN ORDINARY USER: the practice users need root with all user ids, and sshd",
    ),
]


@pytest.fixture(scope="module")
def practice(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Practice]:
    practice = Practice(tmp_path_factory.mktemp("roles") / "lab", database=True, like="hardened")
    try:
        yield practice
    finally:
        practice.down()


def report_as(practice: Practice, user: str) -> Report:
    ran = practice.racwire("check", "--lab", "--as", user, "--format", "json", "-q")
    assert ran.stdout, ran.stderr
    assert "Traceback" not in ran.stderr
    return from_json(ran.stdout.encode())


def problems(report: Report) -> list[Finding]:
    return [finding for finding in report.findings if finding.status not in (Status.PASS, Status.INFO, Status.SKIPPED)]


@pytest.mark.beyond_sample
@pytest.mark.parametrize("user", ["grid", "oracle"])
def test_the_owners_read_the_whole_cluster(practice: Practice, user: str) -> None:
    report = report_as(practice, user)
    assert problems(report) == []
    assert {finding.check for finding in report.findings} >= {"boot-mtu", "df-ping", "gc-blocks-lost", "clusterware"}


def test_an_ordinary_user_learns_once_what_it_may_not_read(practice: Practice) -> None:
    report = report_as(practice, "dba1")
    found = problems(report)
    assert {finding.status for finding in found} == {Status.UNKNOWN}
    reasons = list(grouped_by_reason(found))
    clusterware, peer = (one for one in reasons if one.finding.check != "log-lines")
    (logs,) = (one for one in reasons if one.finding.check == "log-lines")
    assert "this user may not list" in logs.title
    assert "`oifcfg getif` could not open the cluster registry as dba1" in " ".join(clusterware.finding.seen)
    assert ("sudo -u grid racwire check",) in {step.commands for step in clusterware.next}
    assert peer.finding.seen[0].startswith("User equivalence to rac2 is missing for user dba1")


@pytest.mark.beyond_sample
@pytest.mark.skipif(shutil.which("sudo") is None, reason="SUDO WAS NOT TESTED: it is not installed")
def test_the_lines_of_sudoers_give_an_ordinary_user_the_clusterware_of_this_node(practice: Practice) -> None:
    lines = practice.racwire("plan", "--lab", "--as", "dba1", "--sudoers")
    assert lines.returncode == 0, lines.stderr
    without = practice.racwire("check", "--lab", "--as", "dba1", "--sudo", "clusterware", "-q", "--full")
    assert "sudo does not let dba1 run `oifcfg getif` as grid" in without.stdout
    file = practice.cluster.directory / "nodes" / "rac1" / "etc" / "sudoers.d" / "racwire"
    file.write_text(lines.stdout)
    file.chmod(0o440)
    try:
        allowed = practice.racwire(
            "check", "--lab", "--as", "dba1", "--sudo", "clusterware", "interfaces", "-q", "--full"
        )
        assert "UNKNOWN IC-GRID" not in allowed.stdout
        assert "IC-GRID-001" in allowed.stdout
        assert "eth1 is on 192.168.10.0/24 and up on rac1." in allowed.stdout
        assert (
            "UNKNOWN IC-GRID-003"
            in practice.racwire("check", "--lab", "--as", "dba1", "clusterware", "-q", "--full").stdout
        )
        beyond = (
            "sudo",
            "-n",
            "-u",
            "grid",
            str(practice.cluster.directory / "nodes/rac1/grid/bin/crsctl"),
            "check",
            "cluster",
        )
        assert practice.racwire("lab", "shell", "rac1", "--as", "dba1", *beyond).returncode == 1
    finally:
        file.unlink()


@pytest.mark.beyond_sample
@pytest.mark.parametrize(("user", "sources"), [("grid", {"node rac1", "node rac2"}), ("dba1", {"node rac1"})])
def test_the_traffic_is_recorded_as_a_user(practice: Practice, user: str, sources: set[str]) -> None:
    home = practice.cluster.directory / "users" / user
    ran = practice.racwire("record", "--lab", "--as", user, "--for", "2s", f"{home}/traffic.rec")
    assert (ran.returncode, "Traceback" in ran.stderr) == (0, False), ran.stderr
    with closing(Recording.open(home / "traffic.rec")) as recording:
        assert {str(name) for name, (count, *_) in recording.tallies().items() if count} >= sources


@pytest.mark.beyond_sample
def test_a_report_belongs_to_the_user(practice: Practice) -> None:
    page = practice.cluster.directory / "users" / "dba1" / "page.html"
    ran = practice.racwire("report", "--lab", "--as", "dba1", "--record", "0s", "-q", "-o", str(page), "df-ping")
    assert "Traceback" not in ran.stderr
    assert (page.stat().st_uid, page.stat().st_mode & 0o777) == (PROFILES["hardened"].accounts[2].uid, 0o600)


def test_as_needs_a_user_of_the_nodes(practice: Practice) -> None:
    ran = practice.racwire("check", "--lab", "--as", "ann")
    assert (ran.returncode, "root, grid, oracle, dba1, not ann" in ran.stderr) == (64, True)
    ran = practice.racwire("check", "--as", "grid")
    assert (ran.returncode, "together with --lab" in ran.stderr) == (64, True)
    ran = practice.racwire("lab", "shell", "rac1", "--as", "oracle", "id", "-un")
    assert (ran.returncode, ran.stdout) == (0, "oracle\n")
