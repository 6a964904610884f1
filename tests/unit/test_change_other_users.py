"""Storage and copying on the changed interfaces: in the plan, and compared before the change and after it."""

import msgspec
import pytest

from checks.change.plan.change_plan import Plan, PlannedUse
from checks.model.facts import Cluster, HostSetup, NodeSetup, PrivateUse, Unknown
from tests.fixtures.change_plans import plan_for, stacked, to_change, with_setup
from tests.unit.change_gate_support import gate_results
from tests.unit.change_support import cluster, until
from tests.unit.change_support import plan as small_plan

NFS = PrivateUse("NFS", "192.168.10.1", "192.168.10.200", 2)
MOUNT = PrivateUse("NFS", "", "192.168.10.200", 0, mount="/backup")
ISCSI = PrivateUse("iSCSI", "10.20.0.1", "10.20.0.201", 4)


def using(built: Cluster, *uses: PrivateUse) -> Cluster:
    return with_setup(built, "rac1", host=HostSetup(others=uses))


def test_storage_on_a_changed_interface_is_in_the_plan_and_agreed_on():
    made: Plan = plan_for(using(to_change(), NFS, MOUNT))
    assert made.uses == (
        PlannedUse("rac1", "eth1", "NFS", "192.168.10.200"),
        PlannedUse("rac1", "eth1", "NFS", "192.168.10.200", "/backup"),
    )
    assert "The owners of NFS with 192.168.10.200 on eth1 agree" in made.step("agree").attest
    gates = {step.id for step in made.steps for gate in step.gates if gate.check == "other-users"}
    assert gates == {"stack-down", "interconnect"}


def test_storage_on_another_vlan_of_the_same_nic_is_found():
    made = plan_for(using(to_change([stacked(1), stacked(2)]), ISCSI))
    assert [(use.interface, use.service) for use in made.uses] == [("bond0.10", "iSCSI")]


def test_storage_on_the_public_nic_is_no_matter_of_the_change():
    assert plan_for(using(to_change(), ISCSI)).uses == ()


def at(step: str, *uses: PrivateUse, planned: tuple[PlannedUse, ...] = (), host: HostSetup | Unknown | None = None):
    opened = small_plan(uses=planned)
    steps = (*opened.steps[:-1], msgspec.structs.replace(opened.steps[-1], id="interconnect"), opened.steps[-1])
    now = cluster()
    setups = tuple(
        msgspec.structs.replace(s, host=(host or HostSetup(others=uses)) if s.name == "rac1" else HostSetup(others=()))
        for s in now.setups
        if isinstance(s, NodeSetup)
    )
    now = msgspec.structs.replace(now, setups=setups)
    return gate_results("other-users", now, until(step, opened=msgspec.structs.replace(opened, steps=steps)))["rac1"]


def used(address: str) -> PrivateUse:
    return PrivateUse("NFS", address, "10.9.9.9", 0, mount="/backup")


@pytest.fixture
def local() -> str:
    return cluster().read_nodes()[0].interface("eth1").addresses[0].ip


def test_a_user_that_nobody_agreed_on_prevents_the_change(local):
    planned = (PlannedUse("rac1", "eth1", "NFS", "10.9.9.9", "/backup"),)
    assert at("stack-down", used(local)) == "FAIL NFS uses eth1"
    assert at("stack-down", used(local), planned=planned) == "INFO NFS as planned"
    assert at("stack-down", planned=planned) == "PASS no other users"


def test_a_mount_that_is_not_back_is_missing(local):
    planned = (
        PlannedUse("rac1", "eth1", "NFS", "10.9.9.9", "/backup"),
        PlannedUse("rac1", "eth1", "rsync", "10.9.9.8"),
    )
    assert at("interconnect", planned=planned) == "FAIL NFS missing"
    assert at("interconnect", used(local), planned=planned) == "PASS NFS as planned"


def test_a_node_whose_mounts_are_not_known_is_told_and_prevents_nothing():
    assert at("stack-down", host=Unknown("not as this user")) == "INFO not known"
