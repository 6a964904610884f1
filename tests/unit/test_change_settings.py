"""Changes of kernel settings: their plans, obstacles, gates and rollbacks, on facts."""

from __future__ import annotations

import msgspec
import pytest

from checks.change.board.change_report import report_of as change_report
from checks.change.gates import GATES
from checks.change.gates.gate import GateContext
from checks.change.kinds.larger_buffers import ReceiveBuffersRequest
from checks.change.plan.change_plan import Accepted, ChangeKind, Plan
from checks.change.plan.obstacles import PlanError
from checks.change.plan.way_back import make_way_back
from checks.change.progress import decisions
from checks.change.progress.change_events import Reopened, Surprised, Verified
from checks.change.progress.change_text import headline
from checks.change.progress.state import Change, ChangeError
from checks.change.session.verifying import conclude
from checks.model.facts import Changing, Cluster, SysctlFiles, SysctlLine, TunedProfile, Unknown
from checks.model.finding import Finding, Status
from checks.model.own_command import written
from tests.fixtures.change_plans import every_interface, with_setup
from tests.fixtures.reports import report_of
from tests.fixtures.setting_plans import (
    BUFFERS,
    DEFAULT,
    FILTERS,
    LARGER,
    MAX,
    OWN,
    USUAL,
    buffers,
    files,
    filters,
    planned,
    reached,
    set_to,
)

TEXT = {key: str(size) for key, size in LARGER.items()}
KEPT = SysctlFiles(at_boot=(*files(BUFFERS).at_boot, *files(TEXT, OWN).at_boot), files=(USUAL, OWN))
DONE = set_to({**BUFFERS, **TEXT}, KEPT)


def commands(plan: Plan, step: str, node: str) -> list[str]:
    return [line for block in plan.step(step).commands if block.node == node for line in block.lines]


def gates(plan: Plan, step: str) -> dict[str, tuple[str, ...]]:
    return {gate.check: gate.nodes for gate in plan.step(step).gates}


def found(gate: str, change: Change, now: Cluster) -> dict[str, tuple[Status, str]]:
    assert change.current
    declared = next(one for one in GATES if one.id == gate)
    findings: tuple[Finding, ...] = declared.made_for(GateContext(change, change.current)).run(now)
    return {(f.nodes or ("",))[0]: (f.status, f.title) for f in findings}


# --- plans ------------------------------------------------------------------------------------------------------------


def test_a_plan_of_larger_buffers_sets_one_node_first_and_restarts_one_after_the_other():
    plan = buffers()
    assert [step.id for step in plan.steps] == [
        *("agree", "backups", "set-first", "set-others", "restart-rac1", "restart-rac2", "sign-off"),
    ]
    assert (plan.kind, plan.mtu_before, plan.mtu_after) == (ChangeKind.RECEIVE_BUFFERS, 1500, 1500)
    assert headline(plan) == f"receive buffers: {MAX} 16777216, {DEFAULT} 4194304"
    assert commands(plan, "set-first", "rac1") == [
        f"sysctl -w {MAX}=16777216",
        f"sysctl -w {DEFAULT}=4194304",
        f"printf '%s\\n' '# Change 2026-11-20-a of racwire' '{MAX} = 16777216' '{DEFAULT} = 4194304' > {OWN}",
    ]
    assert commands(plan, "set-first", "rac2") == []
    assert gates(plan, "set-first")["running-settings"] == ("rac1",)
    assert gates(plan, "set-others")["kept-settings"] == ("rac2",)
    assert gates(plan, "restart-rac2")["instances-up"] == ()
    stop, start = commands(plan, "restart-rac1", "rac1")
    assert "Instance (prod2) is running" in stop
    assert "srvctl stop instance -d prod -i prod1 -o immediate -f; else" in stop
    assert start.endswith("srvctl start instance -d prod -i prod1")
    assert all(len(step.title) <= 16 and step.minutes for step in plan.steps[1:])
    assert not any("outage, from the stop" in remark for remark in map(written, plan.remarks))


def test_a_restart_can_be_left_to_a_later_maintenance():
    plan = buffers(later=True)
    step = plan.step("restart-later")
    assert "only after the restart of prod1 and prod2" in step.attest
    assert not step.commands
    assert [one.id for one in plan.steps if one.id.startswith("restart")] == ["restart-later"]
    assert "udp-receive-buffers" not in gates(plan, "sign-off")


def test_a_plan_of_rp_filter_is_loose_on_the_private_interfaces_only():
    plan = filters()
    assert {(value.node, value.key, value.after) for value in plan.values} == {
        (node, f"net.ipv4.conf.{nic}.rp_filter", "2") for node in ("rac1", "rac2") for nic in ("eth1", "eth2")
    }
    assert headline(plan) == "rp_filter 2 on the private interfaces"
    assert "rp-filter" in gates(plan, "sign-off")


def test_only_nodes_that_differ_are_changed():
    plan = buffers(set_to(rac2={**BUFFERS, **TEXT}, rac2_files=KEPT))
    assert {value.node for value in plan.values} == {"rac1"}
    assert "set-others" not in [step.id for step in plan.steps]
    assert [step.id for step in plan.steps if step.id.startswith("restart")] == ["restart-rac1"]


def test_a_value_that_runs_but_is_in_no_file_is_planned_too():
    plan = buffers(set_to({**BUFFERS, **TEXT}))
    assert {(value.before, value.after) for value in plan.values if value.key == MAX} == {("16777216", "16777216")}


def test_another_value_in_sysctl_conf_is_changed_there_and_back():
    built = set_to(kept=files(BUFFERS, last=(SysctlLine(MAX, "262144", "/etc/sysctl.conf"),)))
    plan = buffers(built)
    line = commands(plan, "set-first", "rac1")[-1]
    assert line.startswith("sed -i --follow-symlinks -E ")
    assert f"{MAX} = 16777216" in line
    back = make_way_back(reached(plan, "set-others", built), made_by="root@rac1", made_at="")
    assert f"{MAX} = 262144" in commands(back, "set-back", "rac1")[-1]
    assert any("/etc/sysctl.conf of rac1 and rac2 sets other values" in remark for remark in map(written, plan.remarks))


def test_without_sizes_the_minimum_is_the_target_and_nothing_is_lowered():
    low = {**BUFFERS, MAX: "212992", "net.core.wmem_max": "212992", DEFAULT: "8388608"}
    plan = planned(ReceiveBuffersRequest(), set_to(low))
    assert {(value.key, value.after) for value in plan.values} == {(MAX, "4194304"), ("net.core.wmem_max", "1048576")}


@pytest.mark.parametrize(
    ("sizes", "why"),
    [
        ({"net.core.somaxconn": 4096}, "knows no net.core.somaxconn"),
        ({MAX: 4096}, "the smallest is Oracle's minimum"),
        ({MAX: 2**31}, "not 2147483648"),
        ({MAX: 4_194_304, DEFAULT: 8_388_608}, "cannot be larger than"),
        ({DEFAULT: 262_144}, "racwire plans no smaller buffers"),
    ],
)
def test_sizes_that_no_node_should_have_are_refused(sizes, why):
    with pytest.raises(ChangeError, match=why):
        planned(ReceiveBuffersRequest(sizes), set_to({**BUFFERS, DEFAULT: "4194304"}))


# --- obstacles --------------------------------------------------------------------------------------------------------


def obstacles(built: Cluster) -> dict[str, bool]:
    with pytest.raises(PlanError) as error:
        buffers(built)
    return {one.code: one.acceptable for one in error.value.obstacles}


def test_obstacles_of_settings():
    assert obstacles(DONE) == {"CH-START-014": False}
    assert obstacles(set_to({MAX: "4194304"})) == {"CH-START-070": False}
    assert obstacles(set_to(rac2_files=Unknown("ssh was refused."))) == {"CH-START-071": False}
    assert obstacles(set_to(rac2_files=files(BUFFERS, unread=("/etc/sysctl.d/60-x.conf",)))) == {"CH-START-071": True}
    assert obstacles(set_to(kept=files(BUFFERS, tuned=tuned(reapplies=False)))) == {"CH-START-072": True}
    assert buffers(set_to(kept=files(BUFFERS, tuned=tuned(reapplies=True))))


def tuned(*, reapplies: bool) -> TunedProfile:
    line = SysctlLine(MAX, "262144", "/etc/tuned/oracle/tuned.conf")
    return TunedProfile(name="oracle", sets=(line,), reapplies=reapplies)


def test_a_strict_filter_is_the_reason_for_the_change_and_no_obstacle():
    plan = filters()
    assert not plan.accepted
    with pytest.raises(PlanError) as error:
        filters(set_to(dict.fromkeys(FILTERS, "2"), SysctlFiles(at_boot=())))
    assert [one.code for one in error.value.obstacles] == ["CH-START-014"]


# --- gates ------------------------------------------------------------------------------------------------------------


def test_the_gates_see_values_that_run_and_are_kept():
    change = reached(buffers(), "set-others", set_to())
    assert {s for gate in ("running-settings", "kept-settings") for s, _ in found(gate, change, DONE).values()} == {
        Status.PASS
    }
    assert {s for gate in ("running-settings", "kept-settings") for s, _ in found(gate, change, set_to()).values()} == {
        Status.FAIL
    }


@pytest.mark.parametrize(
    ("kept", "status", "sentence"),
    [
        (files({}), Status.FAIL, "No file of rac2 sets net.core.rmem_max and net.core.rmem_default"),
        (files(BUFFERS), Status.FAIL, f"net.core.rmem_max is set to 4194304 by {USUAL}."),
        (
            msgspec.structs.replace(KEPT, at_boot=(*KEPT.at_boot, SysctlLine(MAX, "1", "/etc/sysctl.d/zzz.conf"))),
            Status.FAIL,
            f"set to 1 by /etc/sysctl.d/zzz.conf, which sorts after {OWN}",
        ),
        (
            msgspec.structs.replace(KEPT, last=(SysctlLine(MAX, "1", "/etc/sysctl.conf"),)),
            Status.FAIL,
            "/etc/sysctl.conf of rac2 sets net.core.rmem_max to 1",
        ),
        (msgspec.structs.replace(KEPT, unread=("/etc/sysctl.d/x.conf",)), Status.UNKNOWN, "may not read"),
        (Unknown("ssh was refused."), Status.UNKNOWN, "ssh was refused"),
        (msgspec.structs.replace(KEPT, tuned=tuned(reapplies=False)), Status.FAIL, "the tuned profile oracle sets"),
        (msgspec.structs.replace(KEPT, tuned=tuned(reapplies=True)), Status.PASS, OWN),
        (msgspec.structs.replace(KEPT, tuned=Unknown("closed")), Status.PASS, "profile replaces them is not known"),
    ],
)  # fmt: skip
def test_what_a_node_sets_at_its_next_boot(kept, status, sentence):
    change = reached(buffers(), "sign-off", set_to())
    seen = found("kept-settings", change, set_to({**BUFFERS, **TEXT}, KEPT, rac2_files=kept))
    assert seen["rac1"][0] is Status.PASS
    assert seen["rac2"][0] is status
    assert sentence in seen["rac2"][1]


def test_a_tuned_profile_that_was_accepted_is_only_reported():
    built = set_to(kept=files(BUFFERS, tuned=tuned(reapplies=False)))
    plan = buffers(built, accepted=(Accepted("CH-START-072", "", "The profile is replaced on Monday."),))
    kept = msgspec.structs.replace(KEPT, tuned=tuned(reapplies=False))
    seen = found("kept-settings", reached(plan, "sign-off", built), set_to({**BUFFERS, **TEXT}, kept))
    assert {status for status, _ in seen.values()} == {Status.INFO}


def test_the_larger_of_all_and_its_own_is_the_rp_filter_of_an_interface():
    change = reached(filters(), "set-others", set_to(FILTERS, SysctlFiles(at_boot=())))
    by_all = {**FILTERS, "net.ipv4.conf.all.rp_filter": "2"}
    assert {s for s, _ in found("running-settings", change, set_to(by_all)).values()} == {Status.PASS}
    zero = {**FILTERS, "net.ipv4.conf.eth1.rp_filter": "0", "net.ipv4.conf.eth2.rp_filter": "2"}
    assert "eth1.rp_filter is 0, not 2" in found("running-settings", change, set_to(zero))["rac1"][1]


def test_sockets_must_be_larger_than_any_was_at_the_opening():
    change = reached(buffers(), "restart-rac1", set_to())
    seen = found("socket-buffers", change, set_to(rac1_buffer=8_388_608))
    assert {node: status for node, (status, _) in seen.items()} == {"rac1": Status.PASS, "rac2": Status.FAIL}
    unread = msgspec.structs.replace(DONE, changing=Changing(udp_sockets={"rac1": Unknown("rac1 has no ss.")}))
    seen = found("socket-buffers", change, unread)
    assert seen["rac1"] == (Status.INFO, "The receive buffers of rac1 are not compared: rac1 has no ss.")


def test_without_readable_sockets_a_restart_is_attested():
    blind = msgspec.structs.replace(
        set_to(), changing=Changing(sysctl_files={node: files(BUFFERS) for node in ("rac1", "rac2")})
    )
    assert buffers(blind).step("restart-rac1").attest == "prod1 on rac1 was restarted after the values were set."
    assert buffers().step("restart-rac1").attest == ""


# --- the course of a change -------------------------------------------------------------------------------------------


def verified(change: Change, now: Cluster) -> tuple[object, ...]:
    assert change.current
    context = GateContext(change, change.current)
    own = [f for gate in GATES if gate.id.endswith("-settings") for f in gate.made_for(context).run(now)]
    watching = next(gate for gate in GATES if gate.id == "mtu-untouched").made_for(context)
    return conclude(
        change, change.current, msgspec.structs.replace(report_of(now), findings=(*own, *watching.run(now)))
    )


def test_a_value_that_is_lost_later_reopens_its_step():
    change = reached(buffers(), "restart-rac1", DONE)
    lost = set_to({**BUFFERS, **TEXT}, KEPT, rac1=BUFFERS)
    events = verified(change, lost)
    assert [event.step for event in events if isinstance(event, Reopened)] == ["set-first"]
    assert not any(isinstance(event, Reopened) for event in verified(change, DONE))


def test_an_mtu_that_changes_meanwhile_is_a_danger_whose_cure_is_to_set_it_back():
    change = reached(buffers(), "set-others", set_to())
    first, *others = set_to().nodes
    moved = msgspec.structs.replace(
        set_to(), nodes=(every_interface(first, lambda nic: msgspec.structs.replace(nic, mtu=9000)), *others)
    )
    events = verified(change, moved)
    (danger,) = (event for event in events if isinstance(event, Surprised) and event.dangerous)
    assert "Set the MTU back to 1500 at once" in danger.sentence
    (result,) = (event for event in events if isinstance(event, Verified))
    assert any(r.check == "mtu-untouched" and r.status is Status.FAIL for r in result.results)


def test_a_change_can_be_abandoned_only_before_a_node_is_set():
    assert decisions.abandon(reached(buffers(), "set-first", set_to()), "A. Lee", "not wanted any more")
    with pytest.raises(ChangeError, match="Roll back"):
        decisions.abandon(reached(buffers(), "set-others", set_to()), "A. Lee", "not wanted any more")


@pytest.mark.parametrize("plan", [buffers(), buffers(later=True), filters()], ids=["rolling", "later", "filter"])
def test_from_every_step_there_is_a_way_back(plan):
    built = set_to(FILTERS, SysctlFiles(at_boot=())) if plan.kind is ChangeKind.RP_FILTER else set_to()
    for step in plan.steps:
        back = make_way_back(reached(plan, step.id, built), made_by="root@rac1", made_at="")
        is_untouched = plan.position(step.id) < plan.position("set-first")
        assert [one.id for one in back.steps] == ["untouched" if is_untouched else "set-back", "sign-off"]
        assert {(v.before, v.after) for v in back.values} == {(v.after, v.before) for v in plan.values}
        assert headline(back).startswith("back from ")
        if not is_untouched:
            lines = commands(back, "set-back", "rac2")
            assert f"rm -f {OWN}" in lines
            assert lines[0] == f"sysctl -w {plan.values[0].key}={plan.values[0].before}"


def test_after_a_rollback_the_files_must_be_as_before():
    plan = buffers()
    forward = reached(plan, "restart-rac1", set_to())
    back = make_way_back(forward, made_by="root@rac1", made_at="")
    change = reached(back, "set-back", set_to())
    assert change.is_way_back
    assert {s for s, _ in found("kept-settings", change, set_to()).values()} == {Status.PASS}
    seen = found("kept-settings", change, DONE)
    assert {s for s, _ in seen.values()} == {Status.FAIL}
    assert "at boot it is set to 16777216; before the change it was set to 4194304" in seen["rac1"][1]


def test_the_report_has_the_settings_before_and_after():
    change = reached(buffers(), "set-others", set_to())
    (first, *_) = change_report(change).values
    assert (first.node, first.key, first.before, first.after) == ("rac1", MAX, "4194304", "4194304")


def test_a_node_whose_clusterware_is_down_does_not_hide_its_settings():
    down = with_setup(DONE, "rac2", daemons=(), instances=(), services=())
    assert found("running-settings", reached(buffers(), "sign-off", set_to()), down)["rac2"][0] is Status.PASS
