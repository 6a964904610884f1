"""The rollback plan: from any step of a change, for all steps that may have been done, to the state from before."""

import msgspec
import pytest

from checks.change.plan.change_plan import ChangeKind
from checks.change.plan.way_back import make_way_back
from checks.change.progress.change_events import Attested, GateResult, JournalLine, ObservedState, Opened, Verified
from checks.change.progress.state import fold
from checks.model.facts import NetworkService
from checks.model.finding import Status
from checks.model.own_command import written
from tests.fixtures.change_plans import plan_for, stacked, to_change, with_setup
from tests.fixtures.clusters import node

PLAN = plan_for(to_change(network_services=[NetworkService.NETWORK_MANAGER, NetworkService.NETWORKD]))


def standing_at(step, plan=PLAN, look=None):
    """Return the change with all steps before that one done."""
    events = []
    for done in plan.steps[: plan.position(step)]:
        if done.gates:
            seen = (GateResult(check=done.gates[0].check, status=Status.PASS, text="ok"),)
            events.append(Verified(done.id, True, seen, look or ObservedState()))
        if done.attest:
            events.append(Attested(done.id, "Ann"))
    lines = [Opened(plan), *events]
    return fold(
        JournalLine(number=n, at="2026-11-20T15:00:00+01:00", who="oracle@rac1", racwire="1", after="", event=event)
        for n, event in enumerate(lines, 1)
    )


def way_back(change):
    return make_way_back(change, made_by="oracle@rac1", made_at="2026-11-20T18:00:00+01:00")


def ids(plan):
    return [step.id for step in plan.steps]


def lines_of(plan, step, node):
    return [line for block in plan.step(step).commands if block.node == node for line in block.lines]


@pytest.mark.parametrize("step", ["agree", "baseline", "backups", "console-access", "switch"])
def test_before_anything_was_stopped_a_rollback_only_verifies_the_initial_state(step):
    plan = way_back(standing_at(step))
    assert ids(plan) == ["untouched", "sign-off"]
    assert [gate.check for gate in plan.steps[1].gates] == ["running-mtu", "kept-mtu", "stack-up"]
    assert [gate.check for gate in plan.steps[0].gates] == ["running-mtu", "kept-mtu", "stack-up", "autostart-on"]
    assert not plan.steps[0].commands


def test_a_rollback_of_a_half_stopped_cluster_stops_nothing_more():
    plan = way_back(standing_at("stack-down"))
    assert ids(plan) == ["untouched", "other-nodes", "databases", "interconnect", "sign-off"]
    commands = " ".join(line for step in plan.steps for block in step.commands for line in block.lines)
    assert "stop crs" not in commands
    assert "enable crs" in commands
    assert "srvctl start database -d prod" in commands
    # Before srvctl can reach Clusterware, a gate proves that it is up.
    assert not [line for block in plan.step("other-nodes").commands for line in block.lines if "srvctl" in line]
    assert [gate.check for gate in plan.step("other-nodes").gates] == ["stack-up"]


def test_an_observed_other_mtu_overrides_the_progress_of_the_steps():
    changed = ObservedState(mtus={"rac1": {"eth1": 9000, "eth2": 1500}})
    assert ids(way_back(standing_at("stack-down", look=changed)))[:2] == ["stack-down", "set-mtu"]


def test_once_an_mtu_may_have_been_set_the_rollback_stops_restores_and_starts():
    assert ids(way_back(standing_at("set-mtu"))) == [
        "stack-down",
        "set-mtu",
        "prove-paths",
        "first-node",
        "other-nodes",
        "databases",
        "interconnect",
        "sign-off",
    ]


@pytest.mark.parametrize("step", ["survives-boot", "prove-paths", "first-node", "other-nodes", "interconnect", "end"])
def test_once_the_files_were_changed_the_rollback_also_proves_a_boot(step):
    assert ids(way_back(standing_at(step)))[:3] == ["stack-down", "set-mtu", "survives-boot"]


def test_a_stack_stopped_before_its_step_is_started_again():
    seen = ObservedState(running={"rac1": True, "rac2": False})
    assert ids(way_back(standing_at("switch", look=seen))) == [
        "untouched",
        "other-nodes",
        "databases",
        "interconnect",
        "sign-off",
    ]


@pytest.mark.parametrize("step", [step.id for step in PLAN.steps])
@pytest.mark.parametrize("mtus", [{}, {"rac2": {"eth1": 9000}}])
@pytest.mark.parametrize("runs", [True, False])
def test_from_any_step_the_rollback_ends_with_the_recorded_state_proved_and_running(step, mtus, runs):
    back = way_back(standing_at(step, look=ObservedState(mtus=mtus, running={"rac2": runs})))
    assert {(one.node, one.interface, one.mtu_after, one.kept_before) for one in back.layers} == {
        (one.node, one.interface, one.mtu_before, one.kept_before) for one in PLAN.layers
    }
    gates = [gate.check for step in back.steps for gate in step.gates]
    proved = [gates.index(check) for check in ("running-mtu", "kept-mtu", "stack-up", "autostart-on")]
    assert proved == sorted(proved)


def test_autostart_that_was_off_before_the_change_stays_off():
    there = plan_for(with_setup(to_change(), "rac2", autostart=False))
    back = way_back(standing_at("interconnect", there))
    assert any("does not start at boot on rac2" in remark for remark in map(written, there.remarks))
    for plan in (there, back):
        assert [gate.nodes for gate in plan.step("databases").gates if gate.check == "autostart-on"] == [("rac1",)]
        assert not any("enable" in line for line in lines_of(plan, "databases", "rac2"))


def test_every_layer_and_every_file_get_their_earlier_values():
    plan = way_back(standing_at("prove-paths"))
    assert plan.kind is ChangeKind.ROLLBACK
    assert (plan.mtu_before, plan.mtu_after) == (9000, 1500)
    assert lines_of(plan, "set-mtu", "rac1") == [
        "ip link set dev eth1 mtu 1500",
        "ip link set dev eth2 mtu 1500",
        "nmcli connection modify eth1 802-3-ethernet.mtu 0",
        "nmcli connection modify eth2 802-3-ethernet.mtu 0",
    ]
    assert "rm -f /etc/systemd/network/10-eth1.network.d/zz-racwire-mtu.conf" in lines_of(plan, "set-mtu", "rac2")


def test_the_rollback_of_a_raise_lowers_from_the_top_down():
    plan = way_back(standing_at("prove-paths", plan_for(to_change([stacked(1), node(2, 1500)]))))
    set_ = [line.split()[4] for line in lines_of(plan, "set-mtu", "rac1") if line.startswith("ip link set")]
    assert set_[0] == "bond0.100"
    assert set_.index("bond0") < set_.index("p0")


def test_earlier_values_in_files_are_set_again():
    built = to_change([node(1), node(2)], mtus={"eth1": 9000, "eth2": 9000})
    plan = way_back(standing_at("prove-paths", plan_for(built, 1500)))
    assert "nmcli connection modify eth1 802-3-ethernet.mtu 9000" in lines_of(plan, "set-mtu", "rac1")
    assert plan.mtu_after == 9000


def test_the_rollback_is_for_the_same_cluster_and_has_no_rollback_itself():
    plan = way_back(standing_at("compare"))
    assert (plan.id, plan.cluster, plan.nodes, plan.databases) == (PLAN.id, PLAN.cluster, PLAN.nodes, PLAN.databases)
    assert not any(step.if_rolled_back for step in plan.steps)
    assert "switch" not in ids(plan)
    assert {one.interface: one.mtu_after for one in plan.layers} == {
        one.interface: one.mtu_before for one in PLAN.layers
    }
    assert msgspec.json.decode(msgspec.json.encode(plan), type=type(plan)) == plan


def stops(plan):
    lines = [(block.node, line) for block in plan.step("stack-down").commands for line in block.lines]
    return [(node, line.split("srvctl")[-1]) for node, line in lines if "stop crs" in line or "stop database" in line]


def test_a_rollback_of_a_stop_starts_the_nodes_that_were_seen_down():
    for running, started in (({"rac1": True, "rac2": False}, ["rac2"]), ({"rac1": True, "rac2": True}, [])):
        back = way_back(standing_at("stack-down", look=ObservedState(running=running)))
        step = back.step("other-nodes")
        assert [block.node for block in step.commands if any("start crs" in line for line in block.lines)] == started
        found = "rac2 down; if another" if started else "no node down; if another"
        assert f"the last verification found {found} was stopped since, the gate names the command" in written(
            step.what
        )


def test_a_rollback_prints_no_stop_command_for_a_node_that_is_down():
    all_down = way_back(standing_at("set-mtu", look=ObservedState(running={"rac1": False, "rac2": False})))
    assert stops(all_down) == []
    assert "found rac1 and rac2 down" in written(all_down.step("stack-down").what)
    one_down = way_back(standing_at("first-node", look=ObservedState(running={"rac1": False, "rac2": True})))
    assert [node for node, _ in stops(one_down)] == ["rac2", "rac2"]
    assert {node for node, _ in stops(way_back(standing_at("set-mtu")))} == {"rac1", "rac2"}
