"""The check `mtu-consistency`: all nodes and layers of a private network have one MTU, or the odd one is named."""

from checks.model.finding import Status
from checks.plugins.mtu_consistency import mtu_consistency
from tests.fixtures.clusters import cluster, node, with_interface


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
