"""The check `mtu-consistency`: all nodes and layers of a private network have one MTU, or the odd one is named."""

import msgspec
import pytest

from checks.model.finding import Status
from checks.plugins.mtu_consistency import mtu_consistency
from checks.rules.link_states import layer_mtu_status
from tests.fixtures.clusters import cluster, interface, node, with_interface


def found(built):
    return {f.code: f for f in mtu_consistency.run(built)}


def test_a_healthy_cluster_passes():
    assert [f.status for f in mtu_consistency.run(cluster(8))] == [Status.PASS] * 2


def test_private_networks_of_different_mtu_warn_because_haip_moves():
    nodes = [with_interface(node(n), "eth2", mtu=1500) for n in (1, 2)]
    finding = found(cluster(nodes))["IC-MTU-007"]
    assert finding.status is Status.WARN
    assert finding.title == (
        "The private networks do not have the same MTU: 9000 on 192.168.10.0/24 and 1500 on 192.168.11.0/24."
    )
    assert {(e.node, e.topic) for e in finding.evidence} == {("rac1", "interfaces"), ("rac2", "interfaces")}


@pytest.mark.parametrize(
    ("mtu", "code", "text"),
    [
        (1500, "IC-MTU-004", "p0, a member of eth1 on rac1, has MTU 1500; eth1 on 192.168.10.0/24 has 9000."),
        (9216, "IC-MTU-001", "Every layer of 2 nodes carries MTU 9000 on 192.168.10.0/24."),
    ],
)
def test_only_a_member_of_a_bond_that_is_too_small_is_a_fault(mtu, code, text):
    bond = with_interface(node(1), "eth1", kind="bond", members=("p0",))
    bonded = msgspec.structs.replace(bond, interfaces=(*bond.interfaces, interface("p0", "", mtu, master="eth1")))
    built = cluster([bonded, node(2)])
    (finding,) = [f for f in mtu_consistency.run(built) if f.network == "192.168.10.0/24"]
    assert (finding.code, finding.title) == (code, text)
    assert (layer_mtu_status(mtu, [9000]) is Status.FAIL) is (finding.status is Status.FAIL)
