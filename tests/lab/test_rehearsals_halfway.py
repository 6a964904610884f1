"""Errors between the outage and the first started node (omissions, wrong values, changes by another operator), and the
gate that finds each.

Rehearsed on a practice cluster whose Clusterware is down, always from the same step of a change.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.lab.lab_support import needs_namespaces
from tests.lab.rehearsal import Rehearsal, waiting

pytestmark = [pytest.mark.lab, needs_namespaces]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rehearsal]:
    """A change at the step that sets the MTU: all earlier steps are done and verified; the load was not recorded."""
    made = Rehearsal(tmp_path_factory.mktemp("rehearsal"), keeper="ifcfg")
    try:
        made.begin(9000)
        made.prove(made.step())
        made.verify()
        result = made.change("override", "--by", "Ann Lee", "--reason", "A rehearsal without load.")
        assert result.code == 0, result.err
        made.walk("set-mtu")
        yield made
    finally:
        made.end()


@pytest.fixture
def rehearsal(cluster: Rehearsal) -> Iterator[Rehearsal]:
    journal = next(cluster.changes.glob("*.change"))
    before = journal.read_bytes()
    yield cluster
    journal.write_bytes(before)
    cluster.outside(["racwire lab mend", "racwire lab switch all mtu 9216"])
    for node in cluster.nodes:
        files = "/etc/sysconfig/network-scripts/ifcfg-eth?"
        cluster.inside(node, [f"sed -i /^MTU=/d {files}", "ip link set eth1 mtu 1500", "ip link set eth2 mtu 1500"])
        grid = cluster.lab.environment(node)["GRID_HOME"]
        cluster.inside(node, [f"{grid}/bin/crsctl disable crs"])


@pytest.mark.beyond_sample
def test_an_mtu_in_no_file_is_found_at_once_and_after_an_override_at_the_boot(rehearsal):
    step = rehearsal.step()
    rehearsal.operate(step, nodes=("rac1",))
    rehearsal.inside("rac2", ["ip link set eth1 mtu 9000", "ip link set eth2 mtu 9000"])
    verified = rehearsal.verify()
    assert verified["code"] == 2
    assert {(r["check"], r["node"]) for r in verified["results"] if r["status"] == "FAIL"} == {("kept-mtu", "rac2")}

    rehearsal.change("override", "--by", "Ann Lee", "--reason", "The boot will show whether it is kept.")
    assert rehearsal.current == "survives-boot"
    rehearsal.inside("rac2", ["reboot"])
    verified = rehearsal.verify()
    assert not verified["passed"]
    sentences = " ".join(surprise["sentence"] for surprise in verified["surprises"])
    assert "rac2 was booted" in sentences
    assert "1500" in sentences
    assert rehearsal.mtu("rac2") == 1500
    report = " ".join(rehearsal.change("report").out.split())
    assert "The boot will show whether it is kept." in report.partition("## Overrides")[2].partition("##")[0]


@pytest.mark.beyond_sample
def test_a_forgotten_node_is_named(rehearsal):
    rehearsal.operate(rehearsal.step(), nodes=("rac1",))
    verified = rehearsal.verify()
    assert verified["code"] == 2
    assert {r["node"] for r in verified["results"] if r["status"] == "FAIL"} == {"rac2"}
    assert rehearsal.current == "set-mtu"


def test_a_forgotten_switch_port_is_found_before_clusterware_starts(rehearsal):
    rehearsal.outside(["racwire lab switch rac2-eth1 mtu 1500"])
    rehearsal.walk("prove-paths")
    verified = rehearsal.verify()
    assert verified["code"] == 2
    assert any("Jumbo frames vanish on 192.168.10.0/24 between rac1 and rac2" in waited for waited in waiting(verified))
    assert rehearsal.current == "prove-paths"
    rehearsal.outside(["racwire lab switch rac2-eth1 mtu 9216"])
    assert rehearsal.verify()["passed"]


@pytest.mark.beyond_sample
def test_a_port_that_drops_one_direction_is_found_too(rehearsal):
    rehearsal.walk("prove-paths")
    rehearsal.outside(["racwire lab break switch-mtu-one-way"])
    verified = rehearsal.verify()
    assert verified["code"] == 2
    assert any("from rac1 to rac2; they arrive in the other direction" in waited for waited in waiting(verified))


@pytest.mark.beyond_sample
def test_a_reverted_mtu_is_found_by_the_next_verification_and_reopens_its_step(rehearsal):
    rehearsal.operate(rehearsal.step())
    rehearsal.prove(rehearsal.step())
    rehearsal.inside("rac2", ["ip link set eth1 mtu 1500"])
    rehearsal.inside("rac1", [f"{rehearsal.lab.environment('rac1')['GRID_HOME']}/bin/crsctl enable crs"])
    verified = rehearsal.verify()
    assert not verified["passed"]
    sentences = " ".join(surprise["sentence"] for surprise in verified["surprises"])
    assert "eth1" in sentences
    assert "rac2" in sentences
    assert {again["step"] for again in verified["reopened"]} == {"stack-down", "set-mtu"}
    assert rehearsal.current == "stack-down"


@pytest.mark.beyond_sample
def test_a_rollback_from_the_middle_proves_the_initial_state(rehearsal):
    rehearsal.operate(rehearsal.step(), nodes=("rac1",))
    shown = rehearsal.change("rollback")
    assert shown.code == 0
    assert "nothing was written" in shown.err
    result = rehearsal.change("rollback", "--by", "Ann Lee", "--reason", "The window is nearly over.")
    assert result.code == 0, result.err
    rehearsal.walk(look_first=True)
    report = rehearsal.change("report").out
    assert "Rolled back by Ann Lee" in report
    for node in rehearsal.nodes:
        assert [rehearsal.mtu(node, nic) for nic in ("eth1", "eth2")] == [1500, 1500]
