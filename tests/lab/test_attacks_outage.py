"""Attacks on a change by what is done on nodes and switches: forgotten, undone, too early, and what racwire says of it.

One walk over a cluster of three nodes. Each test walks on to its step, and repairs what it did.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.lab.lab_support import needs_namespaces
from tests.lab.rehearsal import Rehearsal, waiting

pytestmark = [pytest.mark.lab, needs_namespaces, pytest.mark.beyond_sample]


@pytest.fixture(scope="module")
def rehearsal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rehearsal]:
    made = Rehearsal(tmp_path_factory.mktemp("rehearsal"), nodes=3, keeper="ifcfg", record_s=5)
    try:
        made.begin(9000)
        made.walk("switch")
        yield made
    finally:
        made.end()


def dangers(verified: dict[str, Any]) -> list[str]:
    """Return the sentences that are a DANGER."""
    said = [event["sentence"] for event in verified["surprises"] if event.get("dangerous")]
    return said + [r["sentence"] for r in verified["results"] if r.get("sentence", "").startswith("DANGER")]


def failed(verified: dict[str, Any]) -> set[tuple[str, str]]:
    return {(r["check"], r.get("node", "")) for r in verified["results"] if r["status"] == "FAIL"}


def crsctl(rehearsal: Rehearsal, node: str, *words: str) -> None:
    rehearsal.inside(node, [f"{rehearsal.lab.environment(node)['GRID_HOME']}/bin/crsctl {' '.join(words)} crs"])


def set_by_plan(rehearsal: Rehearsal, but: str = "", nodes: tuple[str, ...] | None = None) -> None:
    """Run the commands of the step set-mtu, whichever step is current."""
    steps = rehearsal.change("next", "--all", "--format", "json").document["steps"]
    rehearsal.operate(next(step for step in steps if step["id"] == "set-mtu"), nodes, but)


def test_a_switch_that_was_raised_by_a_lie_is_found_before_anything_starts(rehearsal):
    """The lie is believed until packets are sent: the plan goes on, and the paths are not proved."""
    if rehearsal.current == "switch":
        rehearsal.attest(rehearsal.step())
    rehearsal.walk("stack-down")
    assert rehearsal.current == "stack-down"
    assert "switch" in rehearsal.change("status").out


def test_a_node_that_was_left_up_with_its_autostart_is_named(rehearsal):
    rehearsal.walk("stack-down")
    rehearsal.operate(rehearsal.step(), nodes=("rac1", "rac2"))
    verified = rehearsal.verify()
    assert failed(verified) == {("stack-down", "rac3"), ("autostart-off", "rac3")}
    said = " ".join(waiting(verified))
    assert "run on rac3" in said
    assert "Clusterware would start when rac3 boots: its autostart is enabled." in said
    assert rehearsal.current == "stack-down"
    rehearsal.operate(rehearsal.step(), nodes=("rac3",))
    rehearsal.prove(rehearsal.step())


def test_an_mtu_at_run_time_only_does_not_pass(rehearsal):
    rehearsal.walk("set-mtu")
    for node in rehearsal.nodes:
        rehearsal.inside(node, ["ip link set eth1 mtu 9000", "ip link set eth2 mtu 9000"])
    verified = rehearsal.verify()
    assert failed(verified) == {("kept-mtu", node) for node in rehearsal.nodes}
    assert "eth1 and eth2 of rac2 will come up at MTU 1500 after the next boot" in " ".join(waiting(verified))


def test_an_mtu_in_files_only_does_not_pass(rehearsal):
    rehearsal.walk("set-mtu")
    set_by_plan(rehearsal, but="ip link set")
    for node in rehearsal.nodes:
        rehearsal.inside(node, ["ip link set eth1 mtu 1500", "ip link set eth2 mtu 1500"])
    verified = rehearsal.verify()
    assert failed(verified) == {("running-mtu", node) for node in rehearsal.nodes}
    assert "their files set 9000, which is not active yet" in " ".join(waiting(verified))


def test_clusterware_on_mixed_mtus_is_a_danger_until_it_is_stopped(rehearsal):
    rehearsal.walk("set-mtu")
    rehearsal.inside("rac1", ["ip link set eth1 mtu 9000", "ip link set eth2 mtu 9000"])
    crsctl(rehearsal, "rac2", "start")
    said = dangers(rehearsal.verify())
    assert any("Clusterware was started on rac2 while the nodes have different MTUs" in one for one in said), said
    assert any("Stop Clusterware" in one for one in said), said
    assert "DANGER" in rehearsal.change("status").out
    crsctl(rehearsal, "rac2", "stop")
    assert dangers(rehearsal.verify()) == []


def test_without_a_boot_the_next_step_is_not_reached(rehearsal):
    rehearsal.walk("survives-boot")
    verified = rehearsal.verify()
    assert failed(verified) == {("rebooted", node) for node in rehearsal.nodes}
    assert "was booted since the MTU was set" in " ".join(waiting(verified))
    assert rehearsal.current == "survives-boot"


def test_a_node_that_came_back_at_1500_is_reported_and_its_step_is_open_again(rehearsal):
    rehearsal.walk("survives-boot")
    rehearsal.inside("rac3", ["sed -i /^MTU=/d /etc/sysconfig/network-scripts/ifcfg-eth?", "reboot"])
    verified = rehearsal.verify()
    said = " ".join(event["sentence"] for event in verified["surprises"])
    assert "rac3 was booted" in said
    assert "came back with eth1 and eth2 at MTU 1500: the boot configuration does not set the planned MTU" in said
    assert "set-mtu" in {again["step"] for again in verified["reopened"]}
    assert rehearsal.current == "set-mtu"


def test_the_paths_show_the_lie_about_the_switch(rehearsal):
    rehearsal.walk("prove-paths")
    assert rehearsal.current == "prove-paths"
    verified = rehearsal.verify()
    assert verified["code"] == 2
    assert any("Jumbo frames vanish" in waited for waited in waiting(verified)), waiting(verified)
    rehearsal.outside(["racwire lab switch all mtu 9216"])
    assert rehearsal.verify()["passed"]


def test_a_second_node_that_starts_early_is_reported(rehearsal):
    rehearsal.walk("first-node")
    rehearsal.operate(rehearsal.step())
    crsctl(rehearsal, "rac2", "start")
    verified = rehearsal.verify()
    assert ("stack-down", "rac2") in failed(verified)
    said = " ".join(event["sentence"] for event in verified["surprises"])
    assert "Clusterware was started on rac2 too early: this step requires it to be down." in said
    assert rehearsal.current == "first-node"
    crsctl(rehearsal, "rac2", "stop")
    assert rehearsal.verify()["passed"]


def test_the_baseline_copied_as_the_later_recording_is_refused(rehearsal):
    rehearsal.walk("compare")
    (baseline,) = rehearsal.changes.glob("*-before.rec")
    after = baseline.with_name(baseline.name.replace("-before.rec", "-after.rec"))
    after.write_bytes(baseline.read_bytes())
    verified = rehearsal.verify()
    assert not verified["passed"]
    assert ("after-recording", "") in failed(verified), verified["results"]
    assert rehearsal.current == "compare"
    after.unlink()


def test_after_all_attacks_the_change_is_signed_off(rehearsal):
    rehearsal.walk()
    report = rehearsal.report()
    assert report.outcome == "signed off"
    assert {override.said.step for override in report.overrides} <= {"compare"}
    assert [rehearsal.mtu(node, nic) for node in rehearsal.nodes for nic in ("eth1", "eth2")] == [9000] * 6
