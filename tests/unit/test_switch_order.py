"""The place of the steps outside the nodes: before the stop of Clusterware, or after it."""

from collections.abc import Mapping
from typing import Any

import pytest

from checks.change.plan.change_plan import Plan
from checks.model.facts import Bond, Cluster, HostSetup, LldpNeighbour
from checks.model.own_command import written
from checks.model.settings import Settings
from tests.fixtures.change_plans import infiniband, plan_for, stacked, to_change, with_setup

LACP, BACKUP, ALB = (
    "IEEE 802.3ad Dynamic link aggregation",
    "fault-tolerance (active-backup)",
    "adaptive load balancing",
)
N9K = "Cisco NX-OS N9K-C93180YC-EX"
NODES = ("rac1", "rac2")


def bonded(switches: Mapping[str, str] | None = None, mode: str = LACP, description: str = N9K) -> Cluster:
    """Return two nodes with bond0 of p0 and p1; `switches` has the switch that LLDP shows, by member."""
    built = to_change([stacked(1), stacked(2)])
    ports = tuple(
        LldpNeighbour(m, s, description, f"Ethernet1/{n}") for n, (m, s) in enumerate((switches or {}).items())
    )
    for node in NODES:
        built = with_setup(built, node, host=HostSetup(bonds=(Bond("bond0", mode),)), lldp=ports)
    return built


def is_after_stop(plan: Plan, step: str = "switch") -> bool:
    return plan.position(step) > plan.position("stack-down")


ONE, TWO, HALF = {"p0": "sw1", "p1": "sw1"}, {"p0": "sw1", "p1": "sw2"}, {"p0": "sw1"}


@pytest.mark.parametrize(
    ("built", "more", "after_stop", "why"),
    [
        (to_change(), {}, False, "change one switch of a pair after the other"),
        (bonded(), {}, True, "It is not known whether bond0 of rac1 and bond0 of rac2 end in a pair of switches"),
        (bonded(HALF), {}, True, "It is not known whether"),
        (bonded(TWO), {}, True, "By LLDP bond0 of rac1 and bond0 of rac2 end in two switches; as a vPC they compare"),
        (bonded(TWO), {"pair": "no"}, True, "The facts outweigh the statement --switch-pair no."),
        (bonded(ONE), {}, False, "By LLDP, each bond ends in one switch or stack."),
        (bonded(TWO, BACKUP), {}, False, "change one switch of a pair after the other"),
        (bonded(TWO, ALB), {}, False, "change one switch of a pair after the other"),
        (bonded(TWO, description="Arista"), {}, True, "It is not known whether"),
        (bonded(HALF), {"pair": "no"}, False, "As stated, no bond ends in a pair of switches that compares MTUs."),
        (to_change(), {"pair": "yes"}, True, "As stated, bonds end in a pair of switches that compares MTUs."),
        (to_change(), {"switches": ("catalyst-3750",)}, True, "The change needs a reload of a switch"),
        (bonded(), {"switches": ("catalyst-3750",), "pair": "no"}, True, "The change needs a reload of a switch"),
    ],
    ids=[
        "no bond", "a bond, no LLDP", "one member with LLDP", "two Nexus", "two Nexus, stated no", "one switch",
        "active-backup", "balance-alb", "two Arista", "stated no", "stated yes", "reload", "reload, stated no",
    ],
)  # fmt: skip
def test_switches_are_changed_after_the_stop_where_a_pair_can_suspend_ports(
    built: Cluster, more: dict[str, Any], after_stop: bool, why: str
):
    plan = plan_for(built, switches=more.pop("switches", ()), stated=more)
    assert is_after_stop(plan) is after_stop
    assert why in written(plan.step("switch").what)
    assert ("Clusterware is already down at this step" in written(plan.step("switch").what)) is after_stop
    assert (
        any("The switches are changed while Clusterware is down." in remark for remark in map(written, plan.remarks))
        is after_stop
    )


def test_a_kind_whose_pair_compares_nothing_is_changed_first():
    plan = plan_for(bonded(), switches=("catalyst-9000",))
    assert not is_after_stop(plan)
    assert "A pair or stack of Cisco Catalyst" in written(plan.step("switch").what)


def test_a_switch_of_a_kind_that_is_not_known_leaves_the_pair_unknown():
    built = with_setup(
        bonded(TWO), "rac2", lldp=(LldpNeighbour("p0", "sw1", "Foo OS"), LldpNeighbour("p1", "sw2", N9K))
    )
    plan = plan_for(built, settings=Settings())
    assert "It is not known whether" in written(plan.step("switch").what)


def test_an_unknown_pair_is_said_and_asked_and_a_stated_pair_is_recorded():
    asks = "`racwire change new --switch-pair no` puts the switches before the outage."
    assert any(remark.endswith(asks) for remark in map(written, plan_for(bonded()).remarks))
    assert not any(asks in remark for remark in map(written, plan_for(bonded(TWO)).remarks))
    assert plan_for(bonded(), stated={"pair": "no"}).switch_pair == "no"
    pair, *_ = plan_for(bonded()).step("switch").commands
    assert pair.heading.startswith("On both switches of a pair (vPC), before the change (Cisco Nexus 9000")
    assert "show vpc consistency-parameters interface port-channel NUMBER" in pair.lines
    assert pair.optional


def test_a_kind_that_carries_less_than_the_target_is_a_remark():
    plan = plan_for(to_change(), 9216, switches=("juniper",))
    (remark,) = (remark for remark in map(written, plan.remarks) if remark.startswith("Juniper EX/QFX: "))
    assert "it carries packets of 9202 bytes. This is less than the 9216 bytes of the plan" in remark
    assert not any(
        "less than" in remark for remark in map(written, plan_for(to_change(), 9000, switches=("juniper",)).remarks)
    )


def test_a_guest_does_not_see_the_uplinks_of_its_host_so_the_pair_is_not_known():
    built = to_change()
    for node in NODES:
        built = with_setup(built, node, host=HostSetup(is_virtual=True, product="Nutanix AHV"))
    plan = plan_for(built)
    assert is_after_stop(plan)
    assert "the uplinks of the host of rac1" in written(plan.step("switch").what)
    assert not is_after_stop(plan_for(built, stated={"pair": "no"}))


@pytest.mark.parametrize(
    ("description", "lines"),
    [
        ("Cisco IOS Software, Catalyst 4500 L3 Switch Software (cat4500e-UNIVERSALK9-M)", []),
        ("Cisco IOS Software, s72033_rp Software", ["system jumbomtu 9216"]),
    ],
)
@pytest.mark.parametrize(
    ("switches", "mode", "ports"),
    [
        (ONE, LACP, ["interface port-channel NUMBER"]),
        (ONE, "fault-tolerance (active-backup)", ["interface Ethernet1/0", "interface Ethernet1/1"]),
        ({}, LACP, ["interface port-channel NUMBER", "interface PORT"]),  # eth2 has no bond
    ],
    ids=["members", "active-backup", "no LLDP"],
)
def test_a_catalyst_takes_the_mtu_on_the_port_channel_of_member_ports_and_else_on_the_port(
    switches: Mapping[str, str], mode: str, ports: list[str], description: str, lines: list[str]
):
    kind = "catalyst-6500" if lines else "catalyst-4500"
    plan = plan_for(bonded(switches, mode, description), switches=(kind,))
    (block,) = (one for one in plan.step("switch").commands if "Catalyst" in one.heading)
    assert [line for line in block.lines if line.startswith("interface")] == ports
    assert [line for line in block.lines if "jumbomtu" in line] == lines
    assert ("for each NUMBER" in written(block.note)) is ("port-channel" in ports[0])


def test_lowering_the_mtu_changes_no_switch_and_no_hypervisor():
    built = to_change([stacked(1, 9000), stacked(2, 9000)])
    for node in NODES:
        built = with_setup(built, node, host=HostSetup(is_virtual=True, product="Nutanix AHV"))
    plan = plan_for(built, 1500)
    assert not {"switch", "hypervisor"} & {step.id for step in plan.steps}
    assert not any("changed while Clusterware is down" in remark for remark in map(written, plan.remarks))


def test_the_fabric_of_infiniband_keeps_its_own_step():
    plan = plan_for(to_change([infiniband(1), infiniband(2)]), 4092)
    assert "partition carries IPoIB packets" in written(plan.step("switch").what)
    assert not is_after_stop(plan)
