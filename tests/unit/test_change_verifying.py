"""The events of a verification: results of the gates, changes of the cluster, and steps to do again."""

import msgspec

from checks.change.plan.change_plan import Gate
from checks.change.session.verifying import results_of
from checks.model.finding import Finding, NextStep, Status
from tests.unit.change_support import (
    NODES,
    STEPS,
    cluster,
    down,
    plan,
    setup,
    until,
    verification_events,
)
from tests.unit.change_verifying_support import not_held, reopened, verified

# --- the gate ---------------------------------------------------------------------------------------------------------


def test_a_step_passes_when_every_node_does_and_the_observed_state_is_recorded():
    (event,) = verification_events(until("set-mtu", down()), down(9000))
    assert event == verified((event,))
    assert event.passed
    assert [(r.node, r.check, r.text) for r in event.results] == [
        *((node, "running-mtu", "9000") for node in NODES),
        *((node, "kept-mtu", "9000 at boot") for node in NODES),
    ]
    assert event.look.mtus["rac2"] == {"eth1": 9000}
    assert event.look.running == dict.fromkeys(NODES, False)


def test_a_forgotten_node_is_named_and_the_others_pass():
    forgotten = down(9000, rac3=1500, rac3_setup=setup("rac3", runs=False, mtu=1500))
    events = verification_events(until("set-mtu", down()), forgotten)
    assert not verified(events).passed
    assert not_held(events) == [("running-mtu", "rac3"), ("kept-mtu", "rac3")]
    assert reopened(events) == []


def test_a_gate_concerns_only_its_own_nodes():
    of = until("first-node", down(9000))
    one_up = down(9000, rac1=setup("rac1", mtu=9000, autostart=False))
    assert verified(verification_events(of, one_up)).passed
    assert not_held(verification_events(of, down(9000))) == [("stack-up", "rac1")]
    two_up = msgspec.structs.replace(one_up, setups=(*cluster(9000, boot_mtu=9000).setups[:2], one_up.setups[2]))
    assert ("stack-down", "rac2") in not_held(verification_events(of, two_up))


def test_earlier_gates_are_reported_only_if_they_no_longer_hold():
    assert {r.check for r in verified(verification_events(until("survives-boot", down(9000)), down(9000))).results} == {
        "rebooted"
    }


def test_a_gate_unknown_to_this_version_does_not_pass():
    step = msgspec.structs.replace(STEPS[1], gates=(Gate("from-the-future"),))
    of = until("baseline", opened=plan(steps=(STEPS[0], step, STEPS[-1])))
    event = verified(verification_events(of, cluster()))
    assert not event.passed
    assert event.results[0].status is Status.UNKNOWN
    assert "newer" in event.results[0].next[0].text


def test_a_built_in_check_reports_the_paths_together_and_single_nodes():
    both = Finding(code="IC-PATH-003", check="df-ping", status=Status.FAIL, title="Gone.", nodes=("rac1", "rac2"))
    one = Finding(
        code="IC-MTU-002",
        check="df-ping",
        status=Status.FAIL,
        title="Odd.",
        subject="rac2 eth1 1500",
        nodes=("rac2",),
        next=(NextStep("Look.", ("ip link",), "any user on rac2"), NextStep("Ask.")),
    )
    first, second = results_of(Gate("df-ping"), (both, one))
    assert (first.node, second.node, second.text) == ("", "rac2", "eth1 1500")
    assert second.next == one.next
