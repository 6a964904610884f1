"""The check `mtu-consistency`: every node and layer of a private network agrees, or the odd one is named."""

import msgspec

from checks.model.facts import Route, UnreadNode
from checks.model.finding import Status
from checks.plugins.mtu_consistency import mtu_consistency
from tests.fixtures.clusters import cluster, interface, node, with_interface


def found(built):
    return {f.code: f for f in mtu_consistency.run(built)}


def test_a_healthy_cluster_passes():
    assert [f.status for f in mtu_consistency.run(cluster(8))] == [Status.PASS] * 2


def test_the_odd_one_out_is_named_with_what_the_others_have():
    small = with_interface(node(3), "eth2", mtu=1500)
    finding = found(cluster([node(1), node(2), small, node(4)]))["IC-MTU-002"]
    assert finding.title == "eth2 of rac3 has MTU 1500 on 192.168.11.0/24; rac1, rac2 and rac4 have 9000."
    assert finding.nodes == ("rac3",)
    assert any(remedy.is_change for remedy in finding.next)


def test_two_odd_ones_are_told_in_the_plural():
    small = [with_interface(node(n), "eth2", mtu=1500) for n in (3, 4)]
    finding = found(cluster([node(1), node(2), *small, node(5)]))["IC-MTU-002"]
    assert finding.title.startswith("eth2 of rac3 and eth2 of rac4 have MTU 1500 on 192.168.11.0/24; ")


def test_between_two_nodes_the_other_private_network_tells_which_is_odd():
    finding = found(cluster([node(1), with_interface(node(2), "eth2", mtu=1500)]))["IC-MTU-002"]
    assert finding.title == "eth2 of rac2 has MTU 1500 on 192.168.11.0/24; rac1 has 9000."


def test_where_nothing_tells_which_is_odd_both_are_named():
    finding = found(cluster([node(1), node(2, mtu=1500)]))["IC-MTU-003"]
    assert "1500 on rac2 and 9000 on rac1" in finding.title


def test_a_bond_member_that_differs_is_found_below_the_bond():
    bonded = with_interface(node(2), "eth2", kind="bond", members=("p0", "p1"))
    members = (interface("p0", "", master="eth2"), interface("p1", "", 1500, master="eth2"))
    bonded = msgspec.structs.replace(bonded, interfaces=bonded.interfaces + members)
    finding = found(cluster([node(1), bonded]))["IC-MTU-004"]
    assert finding.title == "p1, a member of eth2 on rac2, has MTU 1500; eth2 on 192.168.11.0/24 has 9000."


def test_a_vlan_may_be_smaller_than_its_parent_but_not_larger():
    def on_parent(mtu):
        vlan = with_interface(node(2), "eth2", kind="vlan", parent="bond1")
        return msgspec.structs.replace(vlan, interfaces=(*vlan.interfaces, interface("bond1", "", mtu, kind="bond")))

    assert "IC-MTU-004" not in found(cluster([node(1), on_parent(9216)]))
    assert "the parent of eth2" in found(cluster([node(1), on_parent(1500)]))["IC-MTU-004"].title


def test_a_route_with_a_smaller_mtu_is_found():
    routed = msgspec.structs.replace(node(2), routes=(Route("192.168.11.0/24", "eth2", mtu=1500, mtu_locked=True),))
    finding = found(cluster([node(1), routed]))["IC-MTU-005"]
    assert finding.seen == ("rac2: 192.168.11.0/24 dev eth2 mtu lock 1500",)


def test_a_node_that_could_not_be_read_is_unknown_and_the_others_still_judged():
    small = with_interface(node(3), "eth1", mtu=1500)
    codes = found(cluster([node(1), node(2), small, UnreadNode("rac4", "its shell did not answer")]))
    assert codes["IC-MTU-002"].nodes == ("rac3",)
    assert codes["IC-MTU-006"].status is Status.UNKNOWN


def test_private_networks_of_different_mtu_warn_because_haip_moves():
    nodes = [with_interface(node(n), "eth2", mtu=1500) for n in (1, 2)]
    finding = found(cluster(nodes))["IC-MTU-007"]
    assert finding.status is Status.WARN
    assert finding.title == (
        "The private networks do not have the same MTU: 9000 on 192.168.10.0/24 and 1500 on 192.168.11.0/24."
    )
    assert {(e.node, e.topic) for e in finding.evidence} == {("rac1", "interfaces"), ("rac2", "interfaces")}
