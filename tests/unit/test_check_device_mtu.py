"""The check `device-mtu`: the NICs of all nodes by SQL alone."""

from checks.model.facts import Unknown
from checks.model.finding import Status
from checks.plugins.device_mtu import device_mtu
from tests.fixtures.clusters import cluster, node
from tests.fixtures.databases import asked, device, history


def found(*changed, base=2, instances=2, **more):
    new = {(d.instance, d.name): d for d in changed}
    devices = tuple(new.get((n, nic), device(n, nic)) for n in range(1, instances + 1) for nic in ("eth1", "eth2"))
    past = history(instances, **{"devices": devices, **more})
    return {f.code: f for f in device_mtu.run(asked(base, history=past))}


def test_one_mtu_and_no_faults_pass():
    (finding,) = found().values()
    assert (finding.status, finding.title) == (
        Status.PASS,
        "AWR shows MTU 9000 on 4 NICs of 2 instances, without faults.",
    )


def test_the_node_that_differs_is_named_on_its_network():
    base = cluster([node(1), node(2), node(3)])
    codes = found(device(3, "eth2", 1500), base=base, instances=3)
    finding = codes["IC-DEV-002"]
    assert finding.status is Status.FAIL
    assert finding.title == (
        "AWR shows different MTUs on the NICs of 192.168.11.0/24: 1500 on eth2 of rac3 and 9000 on eth2 of rac1 and "
        "rac2."
    )
    assert (finding.network, finding.nodes) == ("192.168.11.0/24", ("rac3",))


def test_the_check_needs_neither_nodes_nor_networks():
    base = cluster([])
    codes = found(device(2, "eth2", 1500), base=base)
    assert "different MTUs on the NICs of eth2" in codes["IC-DEV-002"].title


def test_a_change_on_one_node_warns_and_the_same_change_on_all_nodes_informs():
    assert found(device(2, "eth1", earlier_mtus=(1500,)))["IC-DEV-003"].status is Status.WARN
    changed = [device(n, "eth1", earlier_mtus=(1500,)) for n in (1, 2)]
    finding = found(*changed)["IC-DEV-003"]
    assert finding.status is Status.INFO
    assert finding.title == "The MTU of eth1 of rac1 and rac2 changed in the range of AWR: 1500, then 9000."


def test_errors_warn_and_a_few_drops_do_not():
    finding = found(device(2, "eth1", receive_frame_errors=3, receive_overruns=1))["IC-DEV-004"]
    assert finding.status is Status.WARN
    assert finding.title == "eth1 of rac2 counted 1 receive overrun and 3 frame errors in the range of AWR."
    assert found(device(2, "eth1", receive_dropped=100))["IC-DEV-004"].status is Status.INFO
    assert found(device(2, "eth1", receive_dropped=50_000))["IC-DEV-004"].status is Status.WARN


def test_the_mtu_of_the_history_is_compared_with_the_present_one():
    finding = found(device(1, "eth1", 1500), device(2, "eth1", 1500))["IC-DEV-005"]
    assert finding.title == "eth1 of rac1 and rac2 have MTU 9000 now; AWR had 1500 at 2026-11-20 14:00."


def test_nics_with_faults_share_one_finding():
    finding = found(device(1, "eth1", receive_errors=2), device(2, "eth1", receive_frame_errors=3))["IC-DEV-004"]
    assert finding.title == "eth1 of rac1 and rac2 counted errors or drops in the range of AWR."
    assert "eth1 of rac2: 3 frame errors" in finding.seen


def test_statspack_has_no_nics_and_awr_may_be_unreadable():
    assert (
        found(source="Statspack", devices=Unknown("Statspack does not keep them."))["IC-DEV-007"].status
        is Status.SKIPPED
    )
    assert found(devices=Unknown("no grant"))["IC-DEV-006"].status is Status.UNKNOWN


def test_an_instance_without_a_nic_is_reported():
    codes = {f.code: f for f in device_mtu.run(asked(2, history=history(2, devices=(device(1, "eth1"),))))}
    assert codes["IC-DEV-006"].title == "AWR has no NIC of prod2 in this range."
