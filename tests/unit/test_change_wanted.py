"""A node is compared with what the plan wants of it now, whichever step is open: obeying a DANGER ends it."""

import msgspec
import pytest

from checks.change.plan.change_plan import ChangeKind
from checks.change.progress.change_events import ObservedState, RolledBack, Surprise, Surprised, Verified
from checks.change.progress.state import Change
from tests.fixtures.clusters import interface
from tests.unit.change_gate_support import commands, gate_results
from tests.unit.change_support import (
    AGREED,
    NODES,
    STEPS,
    after,
    change,
    cluster,
    down,
    layer,
    nic,
    plan,
    setup,
    until,
    verification_events,
)
from tests.unit.change_verifying_support import not_held, reopened, sentences_of, surprised, verified
from tests.unit.change_wanted_support import UP, alone, dangers, looked


def current(of: Change) -> str:
    return of.current.id if of.current else ""


@pytest.mark.parametrize("step", ["first-node", "other-nodes", "sign-off"])
def test_the_danger_of_a_lost_mtu_ends_when_it_is_set_back_although_its_step_is_open_again(step):
    one_up = down(9000, rac1=setup("rac1", mtu=9000, autostart=False))
    healthy = one_up if step == "first-node" else UP
    lost = msgspec.structs.replace(healthy, nodes=cluster(9000, rac2=1500).nodes)
    of = looked(until(step, healthy), lost)
    assert current(of) == "set-mtu"
    assert "Set the MTU back to 9000 at once." in dangers(of)[0]
    assert commands("running-mtu", lost, "rac2", of)[0] == "ip link set dev eth1 mtu 9000"
    events = verification_events(of, healthy)
    assert verified(events).passed
    assert [danger for _, _, danger in surprised(events)] == [False]
    assert "from MTU 1500 to 9000" in sentences_of(events)
    assert sentences_of(events).endswith("the MTU is right again.")
    assert dangers(after(of, *events)) == []
    assert current(after(of, *events)) == "prove-paths"


def test_a_reopened_stop_of_clusterware_does_not_ask_for_the_old_mtu():
    early = down(9000, rac2=setup("rac2", mtu=9000, autostart=False))
    of = looked(until("prove-paths", down(9000)), early)
    assert current(of) == "stack-down"
    assert gate_results("mtu-untouched", early, of) == dict.fromkeys(NODES, "PASS 9000")
    lost = down(9000, rac3=1500)
    assert gate_results("mtu-untouched", lost, of)["rac3"] == "FAIL 1500"
    assert surprised(verification_events(of, alone(lost))) == [(Surprise.MTU_LOST, "rac3", False)]
    assert verified(verification_events(of, alone(down(9000)))).passed


def test_while_mtus_are_set_every_danger_asks_to_stop_clusterware():
    of = until("set-mtu", down())
    mixed = down(1500, rac2=9000, rac3=setup("rac3", autostart=False))
    events = verification_events(of, alone(mixed))
    assert [(what, node) for what, node, danger in surprised(events) if danger] == [
        (Surprise.LIVE_CHANGE, "rac2"),
        (Surprise.STACK_STARTED, "rac3"),
    ]
    assert "Set the MTU" not in sentences_of(events)
    assert {command.split("/")[-1] for command in commands("running-mtu", mixed, "rac1", of)} == {"crsctl stop crs -f"}
    of = after(of, *events)
    assert reopened(events) == ["stack-down"]
    assert gate_results("mtu-untouched", mixed, of) == {
        "rac1": "FAIL DANGER: 1500",
        "rac2": "PASS 9000",
        "rac3": "FAIL DANGER: 1500",
    }
    stopped = looked(of, down(1500, rac2=9000))
    assert current(stopped) == "set-mtu"
    assert dangers(stopped) == []


def test_a_boot_with_another_mtu_is_dangerous_before_the_mtu_is_set_too():
    of = until("baseline", cluster())
    events = verification_events(of, alone(cluster(1500, rac2=9000, rac2_setup=setup("rac2", boot="second"))))
    assert surprised(events) == [(Surprise.REBOOTED, "rac2", True)]
    assert "until the step set-mtu, the plan is MTU 1500, while Clusterware runs" in sentences_of(events)
    of = after(of, *events)
    assert len(dangers(of)) == 1
    assert dangers(looked(of, cluster(1500, rac2_setup=setup("rac2", boot="second")))) == []


def test_the_danger_of_a_boot_ends_when_the_node_has_the_planned_mtu():
    rebooted = setup("rac2", mtu=9000, boot="second")
    of = looked(until("sign-off", UP), cluster(9000, boot_mtu=9000, rac2=1500, rac2_setup=rebooted))
    assert current(of) == "set-mtu"
    assert len(dangers(of)) == 1
    assert dangers(looked(of, cluster(9000, boot_mtu=9000, rac2_setup=rebooted))) == []


BACK = plan(
    kind=ChangeKind.ROLLBACK,
    layers=tuple(layer(node, mtu_before=9000, mtu_after=1500) for node in NODES),
    steps=(*STEPS[2:4], STEPS[-1]),
)


@pytest.mark.parametrize(("at", "other"), [(1500, 9000), (9000, 1500)])
def test_on_the_way_back_nodes_with_different_mtus_are_dangerous_whatever_they_had(at, other):
    of = after(until("survives-boot", cluster(at)), RolledBack(BACK, "A. Lee", "a good reason"))
    of = looked(of, cluster(at))
    mixed = looked(of, cluster(at, rac2=other))
    assert "Stop Clusterware on rac1, rac2 and rac3 at once." in dangers(mixed)[0]
    assert dangers(looked(mixed, cluster(at))) == []
    assert dangers(looked(mixed, down(at, rac2=other))) == []


def test_equal_mtus_are_no_danger_and_the_remedy_stops_clusterware_first():
    """On the way back every node may still have the new MTU while somebody has started Clusterware again."""
    of = after(until("survives-boot", down(9000)), RolledBack(BACK, "A. Lee", "a good reason"))
    of = looked(of, down(9000))
    assert current(of) == "set-mtu"
    started = cluster(9000, boot_mtu=9000)
    assert gate_results("running-mtu", started, of) == dict.fromkeys(NODES, "FAIL 9000")
    first, *_ = commands("running-mtu", started, "rac2", of)
    assert first.endswith("crsctl stop crs")


def test_after_the_first_node_may_start_only_the_others_must_stay_down():
    one_up = down(9000, rac1=setup("rac1", mtu=9000, autostart=False))
    of = looked(until("first-node", one_up), msgspec.structs.replace(one_up, nodes=cluster(9000, rac3=1500).nodes))
    assert current(of) == "set-mtu"
    assert verified(verification_events(of, alone(one_up))).passed
    two_up = down(9000, rac1=setup("rac1", mtu=9000, autostart=False), rac2=setup("rac2", mtu=9000, autostart=False))
    events = verification_events(of, alone(two_up))
    assert (Surprise.STACK_STARTED, "rac2", False) in surprised(events)
    assert not_held(events) == [("stack-down", "rac2")]


def test_an_early_mtu_of_one_interface_of_several_is_named():
    layers = (*(layer(node) for node in NODES), layer("rac3", "eth2"))
    of = until("stack-down", opened=plan(layers=layers))
    both = msgspec.structs.replace(
        nic("rac3", 9000), interfaces=(*nic("rac3", 9000).interfaces, interface("eth2", "", 1500))
    )
    assert gate_results("mtu-untouched", down(1500, rac3=both), of)["rac3"] == "INFO eth1 9000"


def test_equal_ports_are_no_danger_although_the_plan_wants_another_mtu():
    """Setting one node back would make the difference that the DANGER is about."""
    low = alone(cluster(1500, boot_mtu=9000))
    events = verification_events(until("sign-off", UP), low)
    assert surprised(events) == [(Surprise.OTHER, node, False) for node in NODES]
    assert "the plan is MTU 9000, and no port of the private networks differs from the others now" in sentences_of(
        events
    )
    assert not verified(events).passed
    one = looked(until("sign-off", UP), cluster(9000, boot_mtu=9000, rac2=1500))
    assert len(dangers(one)) == 1
    assert dangers(looked(one, low)) == []


def test_a_boot_into_another_mtu_while_clusterware_runs_names_its_cure_where_ports_differ():
    again = setup("rac2", mtu=1500, boot="second")
    (danger,) = dangers(looked(until("sign-off", UP), cluster(9000, boot_mtu=9000, rac2=1500, rac2_setup=again)))
    assert danger.startswith("rac2 was booted")
    assert danger.endswith("Set the MTU back to 9000 at once.")
    before = until("sign-off", alone(cluster(1500, boot_mtu=1500)))
    assert dangers(looked(before, cluster(1500, boot_mtu=1500, rac2_setup=again))) == []


def test_what_was_reported_and_has_not_changed_since_is_no_news():
    up = down(9000, rac1=setup("rac1", mtu=9000, autostart=False))
    early = setup("rac2", mtu=9000, autostart=False)
    of = looked(
        until("first-node", down(9000)), msgspec.structs.replace(up, setups=(up.setups[0], early, up.setups[2]))
    )
    assert [alarm.what for alarm in (line.event for line in of.surprises)] == [Surprise.STACK_STARTED]
    lost = setup("rac3", runs=False, mtu=1500)
    of = looked(of, msgspec.structs.replace(up, setups=(up.setups[0], early, lost)))
    assert current(of) == "set-mtu"
    events = verification_events(
        of, msgspec.structs.replace(up, setups=(up.setups[0], early, lost), changing=UP.changing)
    )
    assert surprised(events) == []
    assert reopened(events) == ["stack-down"]


def test_a_danger_before_the_stop_ends_when_only_what_is_below_the_private_interface_is_larger():
    layers = tuple(one for n in NODES for one in (layer(n, "eth0", role="parent"), layer(n, level=1)))
    of = change(AGREED, opened=plan(layers=layers))
    alarm = Surprised(Surprise.LIVE_CHANGE, "rac2", "eth0 and eth1 of rac2 were changed.", dangerous=True)
    for seen, stands in (({"eth0": 9000, "eth1": 9000}, 1), ({"eth0": 9000, "eth1": 1500}, 0), ({"eth0": 1400}, 1)):
        mtus = {n: {"eth0": 1500, "eth1": 1500} for n in NODES} | {"rac2": seen}
        look = ObservedState(mtus=mtus, running=dict.fromkeys(NODES, True))
        assert len(dangers(after(of, alarm, Verified("baseline", False, (), look)))) == stands
