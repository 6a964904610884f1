"""racwire on practice clusters like real environments: every UNKNOWN has its true reason, and no finding is false."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from checks.model.finding import Status
from checks.report.folding import grouped_by_reason
from tests.lab.lab_support import needs_namespaces
from tests.lab.practice_command import Practice
from tests.lab.test_roles import problems, report_as
from tests.lab_own.test_lab_roles import needs_users

pytestmark = [pytest.mark.lab, needs_namespaces, needs_users]
Start = Callable[..., Practice]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    started: list[Practice] = []

    def begin(like: str, **options: str) -> Practice:
        # None stands for the values of the profile.
        started.append(Practice(tmp_path / "lab", mtu=None, like=like, **options))  # type: ignore[arg-type]
        return started[0]

    yield begin
    for practice in started:
        practice.down()


@pytest.mark.beyond_sample
def test_on_a_minimal_node_each_user_learns_what_could_not_be_read(start: Start) -> None:
    practice = start("minimal")
    grid = {finding.check: finding for finding in problems(report_as(practice, "grid"))}
    assert {check: finding.status for check, finding in grid.items()} == {
        "boot-mtu": Status.UNKNOWN, "oracle-processes": Status.UNKNOWN, "topology": Status.UNKNOWN,
    }  # fmt: skip
    assert "this user may not read /etc/sysconfig/network-scripts; root may" in grid["boot-mtu"].seen
    assert "hidepid" in " ".join(grid["oracle-processes"].seen)
    assert "`lldpctl`" in " ".join(grid["topology"].seen)
    found = problems(report_as(practice, "dba1"))
    assert {finding.status for finding in found} == {Status.UNKNOWN}
    clusterware = next(one for one in grouped_by_reason(found) if one.finding.check == "clusterware")
    assert "dba1 may not read /etc/oracle/olr.loc and /etc/oratab" in clusterware.title
    assert "hidepid" in clusterware.title


@pytest.mark.beyond_sample
@pytest.mark.parametrize(
    ("lldp", "reason"),
    [
        ("none", "is not installed there"),
        ("closed", "only root and the group of lldpd's socket may query"),
        ("open", ""),
    ],
)
def test_the_doctor_reports_why_the_switch_ports_are_not_known(start: Start, lldp: str, reason: str) -> None:
    doctor = start("old-ol7", lldp=lldp).racwire("doctor", "--lab", "--as", "grid", "-v")
    text = " ".join(doctor.stdout.split())
    assert doctor.returncode == 0, text
    assert ("LLDP" in text, reason in text) == (bool(reason), True)


@pytest.mark.beyond_sample
def test_old_programs_and_old_clusterware_are_read_like_new_ones(start: Start) -> None:
    practice = start("old-ol7")
    report = report_as(practice, "grid")
    assert problems(report) == []
    assert any("Clusterware 12.1.0.2.0 is up" in finding.title for finding in report.findings)
    practice.lab("break", "switch-mtu-one-way")
    (lost,) = problems(report_as(practice, "grid"))
    assert (lost.code, lost.status) == ("IC-PATH-003", Status.FAIL)
    assert "from rac1 to rac2; they arrive in the other direction" in lost.title


@pytest.mark.beyond_sample
def test_exadata_is_right_as_its_vendor_configures_it(start: Start) -> None:
    practice = start("exadata-like")
    report = report_as(practice, "grid")
    assert problems(report) == []
    by_code = {finding.code: finding for finding in report.findings}
    assert by_code["IC-IFACE-006"].status is by_code["IC-IFACE-013"].status is Status.INFO
    assert {"MTU 2300 on re0", "MTU 2300 on re1"} <= {
        part for f in report.findings for part in ("MTU 2300 on re0", "MTU 2300 on re1") if part in f.title
    }
    change = practice.racwire("change", "new", "--lab", "--as", "grid", "--to", "1500")
    assert change.returncode == 2
    assert "CH-START-007" in change.stdout
    assert "Give each private network a subnet" not in change.stdout
