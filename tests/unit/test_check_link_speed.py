"""The check link-speed: half duplex, a slower NIC, NICs without a speed."""

import msgspec
import pytest

from checks.model.facts import Unknown
from checks.model.finding import Status
from checks.plugins.link_speed import link_speed
from tests.fixtures.clusters import cluster, interface, node, with_interface


def found(*nodes):
    return {finding.code: finding for finding in link_speed.run(cluster(nodes))}


def test_the_same_speed_at_full_duplex_passes_for_each_network():
    findings = link_speed.run(cluster([node(1), node(2)]))
    assert [f.status for f in findings] == [Status.PASS] * 2
    assert findings[0].title == "eth1 of rac1 and rac2 run at 10,000 Mbit/s at full duplex on 192.168.10.0/24."


def test_half_duplex_and_a_slower_nic_are_failures_with_the_place():
    bad = with_interface(node(2), "eth1", speed_mbps=1000, duplex="half")
    codes = found(node(1), bad)
    assert codes["IC-SPEED-002"].title == "eth1 of rac2 runs at half duplex on 192.168.10.0/24."
    slower = codes["IC-SPEED-003"]
    assert slower.title == "eth1 of rac2 runs at 1,000 Mbit/s on 192.168.10.0/24, and eth1 of rac1 at 10,000 Mbit/s."
    assert (slower.status, slower.nodes, slower.data["speed_mbps"]) == (Status.FAIL, ("rac2",), 1000)
    assert codes["IC-SPEED-001"].network == "192.168.11.0/24"


def test_networks_of_different_speeds_are_no_fault():
    nodes = [with_interface(node(n), "eth2", speed_mbps=25_000) for n in (1, 2)]
    assert {f.status for f in link_speed.run(cluster(nodes))} == {Status.PASS}


@pytest.mark.parametrize("speed", [Unknown("The driver of eth1 reports no speed."), -1, 0])
def test_a_driver_without_a_speed_is_information_and_no_pass(speed):
    nodes = [with_interface(node(n), "eth1", speed_mbps=speed, duplex=Unknown("none")) for n in (1, 2)]
    codes = found(*nodes)
    assert codes["IC-SPEED-004"].status is Status.INFO
    assert codes["IC-SPEED-001"].network == "192.168.11.0/24"


def test_one_node_without_a_speed_hides_no_slower_node():
    nodes = [
        with_interface(node(1), "eth1", speed_mbps=Unknown("none")),
        with_interface(node(2), "eth1", speed_mbps=1000),
        node(3),
    ]
    codes = found(*nodes)
    assert {"IC-SPEED-003", "IC-SPEED-004"} <= set(codes)


def test_a_nic_that_is_down_is_left_to_the_check_interfaces():
    down = with_interface(node(2), "eth1", speed_mbps=Unknown("no link"), operational_state="down")
    assert set(found(node(1), down)) == {"IC-SPEED-001"}


def test_the_members_of_a_bond_are_judged():
    def bonded(number, *speeds):
        base = node(number)
        members = tuple(
            msgspec.structs.replace(interface(f"p{n}", "", 9000), speed_mbps=speed, addresses=())
            for n, speed in enumerate(speeds)
        )
        bond = with_interface(base, "eth1", kind="bond", members=("p0", "p1"), speed_mbps=sum(speeds))
        return msgspec.structs.replace(bond, interfaces=(*bond.interfaces, *members))

    codes = found(bonded(1, 10_000, 10_000), bonded(2, 10_000, 1000))
    assert codes["IC-SPEED-003"].title.startswith("p1 of rac2 runs at 1,000 Mbit/s")


def test_without_a_nic_nothing_is_judged():
    bare = [msgspec.structs.replace(node(n), interfaces=()) for n in (1, 2)]
    assert [f.status for f in link_speed.run(cluster(bare))] == [Status.SKIPPED]
