"""The largest MTU that a cloud carries: by the cloud, on Azure by the driver of each NIC, the lowest of a network."""

from __future__ import annotations

import msgspec
import pytest

from checks.change.kinds.mtu_obstacles import mtu_obstacles
from checks.change.plan.change_plan import Accepted
from checks.change.plan.cloud_limits import cloud_limits
from checks.change.plan.obstacles import PlanError
from checks.model.facts import Cluster, HostSetup, Node
from checks.model.own_command import written
from tests.fixtures.change_plans import plan_for, to_change, with_setup
from tests.fixtures.clusters import interface, node, with_interface
from tests.fixtures.reports import report_of

AZURE = "Microsoft Azure"


def on_azure(*drivers: dict[str, str], nodes: list[Node] | None = None) -> Cluster:
    """Return machines of Azure, each with the drivers of its NICs."""
    built = to_change(nodes or len(drivers))
    for number, own in enumerate(drivers, 1):
        built = with_setup(built, f"rac{number}", platform=AZURE, host=HostSetup(drivers_in_use=own))
    return built


def with_function(number: int) -> Node:
    """Return a node whose private NICs have a virtual function below them, as hv_netvsc makes it."""
    read = node(number, 1500)
    for nic, below in (("eth1", "enP1s1"), ("eth2", "enP2s1")):
        read = with_interface(read, nic, members=(below,))
        lower = interface(below, "", 1500, master=nic)
        read = msgspec.structs.replace(read, interfaces=(*read.interfaces, lower))
    return read


@pytest.mark.parametrize(
    ("platform", "most"),
    [("Amazon EC2", 9001), ("Google Cloud", 8896), ("Oracle Cloud", 9000), (AZURE, 3900)],
)
def test_no_target_exceeds_the_limit_of_the_cloud_network_unless_it_is_accepted(platform: str, most: int) -> None:
    built = with_setup(to_change(), "rac1", platform=platform)
    (obstacle, _) = (o for o in mtu_obstacles(report_of(built), most + 1) if o.code == "CH-START-013")
    assert f"at most {most} bytes" in obstacle.sentence
    assert obstacle.acceptable
    assert any("prove-paths" in written(step.text) for step in obstacle.next)
    assert all(o.code != "CH-START-013" for o in mtu_obstacles(report_of(built), most))


@pytest.mark.parametrize(
    ("first", "second", "most", "nic"),
    [
        ("mlx5_core", "mlx5_core", 3900, "eth1 of rac1 and eth1 of rac2 (driver mlx5_core)"),
        ("mlx4_core", "mana", 3900, "eth1 of rac1 (driver mlx4_core)"),
        ("mana", "mana", 9000, "eth1 of rac1 and eth1 of rac2 (driver mana; Microsoft called this MTU a preview"),
        ("mana", "hv_netvsc", 1500, "eth1 of rac2 (driver hv_netvsc without Accelerated Networking"),
        ("mana", "", 3900, "eth1 of rac2 (the driver is not known"),
    ],
)
def test_on_azure_the_driver_decides_and_the_lowest_of_a_network_counts(
    first: str, second: str, most: int, nic: str
) -> None:
    built = on_azure(*({"eth1": driver, "eth2": "mana"} for driver in (first, second)))
    limit = cloud_limits(built)[0]
    assert limit.mtu == most
    assert nic in limit.sentence


def test_the_virtual_function_below_a_synthetic_nic_carries_its_packets() -> None:
    drivers = {"eth1": "hv_netvsc", "eth2": "hv_netvsc", "enP1s1": "mlx5_core", "enP2s1": "mana"}
    built = on_azure(drivers, drivers, nodes=[with_function(1), with_function(2)])
    assert [limit.mtu for limit in cloud_limits(built)] == [3900, 9000]


def test_a_network_outside_of_clouds_has_no_limit_of_a_cloud() -> None:
    assert cloud_limits(to_change()) == ()
    assert cloud_limits(with_setup(to_change(), "rac1", platform="Oracle Engineered System")) == ()


def test_a_plan_names_the_limit_of_each_network() -> None:
    built = on_azure({"eth1": "mana", "eth2": "mlx5_core"}, {"eth1": "mana", "eth2": "mlx5_core"})
    remarks = " ".join(map(written, plan_for(built, 3900).remarks))
    assert "at most 9000 bytes for eth1 of rac1 and eth1 of rac2" in remarks
    assert "at most 3900 bytes for eth2 of rac1 and eth2 of rac2" in remarks


def test_an_accepted_limit_is_in_the_plan_with_its_reason() -> None:
    built = on_azure({"eth1": "mlx5_core", "eth2": "mlx5_core"}, {"eth1": "mlx5_core", "eth2": "mlx5_core"})
    with pytest.raises(PlanError, match="at most 3900 bytes"):
        plan_for(built)
    plan = plan_for(built, accepted=(Accepted("CH-START-013", "", "the cloud's support confirmed 9000"),))
    assert {(one.code, one.reason) for one in plan.accepted} == {("CH-START-013", "the cloud's support confirmed 9000")}
    assert plan.step("set-mtu")
