"""The check `interfaces`: what oifcfg says against what the nodes have."""

import msgspec
import pytest

from checks.model.facts import Address, ConfiguredInterface, Haip, InterfaceConfiguration, ToolMessage, UnreadNode
from checks.model.finding import Finding, Status
from checks.plugins.interfaces import interfaces
from tests.fixtures.clusters import cluster, clusterware, interface, node, with_interface


def found(built) -> dict[str, Finding]:
    return {f.code: f for f in interfaces.run(built)}


def configured(*lines: tuple[str, str, str, str]):
    entries = tuple(ConfiguredInterface(n, s, scope, tuple(r.split(","))) for n, s, scope, r in lines)
    return msgspec.structs.replace(clusterware(), configuration=InterfaceConfiguration(entries))


def test_a_healthy_cluster_passes_once_for_each_network():
    findings = interfaces.run(cluster(4))
    assert [(f.code, f.status) for f in findings] == [("IC-IFACE-001", Status.PASS)] * 2
    assert findings[1].title == "eth2 is on 192.168.11.0/24 and up on rac1, rac2, rac3 and rac4."


def test_a_node_is_cut_off_from_one_of_two_networks_in_a_subnet_only():
    facts = configured(("eth1", "192.168.10.0", "global", "cluster_interconnect"),
                       ("eth2", "192.168.10.0", "global", "cluster_interconnect"))  # fmt: skip
    there = (Address("192.168.10.102", 24),)
    second = with_interface(node(2), "eth2", addresses=there, operational_state="down")
    finding = found(cluster([node(1), second], facts))["IC-IFACE-004"]
    assert finding.title == "eth2 of rac2 has no link: rac2 is cut off from eth2 192.168.10.0/24."


def test_a_subnet_that_no_node_has_is_named():
    facts = configured(("eth1", "192.168.10.0", "global", "cluster_interconnect"),
                       ("eth2", "192.168.77.0", "global", "cluster_interconnect"))  # fmt: skip
    finding = found(cluster(facts=facts))["IC-IFACE-002"]
    assert finding.status is Status.FAIL
    assert "192.168.77.0" in finding.title
    assert "rac2: eth2 192.168.11.0/24" in finding.seen


def test_a_node_without_a_port_is_named():
    lost = with_interface(node(2), "eth2", addresses=())
    finding = found(cluster([node(1), lost]))["IC-IFACE-003"]
    assert finding.title == "rac2 has no address on the private network 192.168.11.0/24."


def test_a_link_without_carrier_is_told_from_one_switched_off():
    pulled = with_interface(node(2), "eth1", operational_state="lowerlayerdown")
    off = with_interface(node(2), "eth1", operational_state="down", administratively_up=False)
    assert "has no link" in found(cluster([node(1), pulled]))["IC-IFACE-004"].title
    assert "is switched off" in found(cluster([node(1), off]))["IC-IFACE-004"].title


def test_another_name_on_one_node_fails_where_oifcfg_has_a_name():
    other = with_interface(node(2), "eth2", name="ens2f1")
    finding = found(cluster([node(1), other]))["IC-IFACE-005"]
    assert finding.status is Status.FAIL
    assert finding.title == "The private network 192.168.11.0/24 is on ens2f1 on rac2, while oifcfg names eth2."


def test_different_names_under_a_wildcard_only_warn():
    facts = configured(("*", "192.168.10.0", "global", "cluster_interconnect"))
    other = with_interface(node(2), "eth1", name="ens2f1")
    assert found(cluster([node(1), other], facts))["IC-IFACE-005"].status is Status.WARN


def test_two_private_networks_in_one_subnet_fail():
    facts = configured(("eth1", "192.168.10.0", "global", "cluster_interconnect"),
                       ("eth2", "192.168.10.0", "global", "cluster_interconnect"))  # fmt: skip
    nodes = [with_interface(node(n), "eth2", addresses=interface("x", f"192.168.10.10{n}").addresses) for n in (1, 2)]
    built = cluster(nodes, facts)
    assert [n.name for n in built.networks] == ["eth1 192.168.10.0/24", "eth2 192.168.10.0/24"]
    assert [p.interface for p in built.networks[1].ports] == ["eth2", "eth2"]
    assert "eth1 and eth2" in found(built)["IC-IFACE-006"].title


def test_public_and_node_specific_private_networks_are_told():
    facts = configured(("eth1", "192.168.10.0", "node-specific", "cluster_interconnect,public"))
    codes = found(cluster(facts=facts))
    assert codes["IC-IFACE-007"].status is Status.FAIL
    assert codes["IC-IFACE-008"].status is Status.WARN


def test_no_private_network_at_all_fails():
    assert "IC-IFACE-009" in found(cluster(facts=configured(("eth0", "10.20.0.0", "global", "public"))))


def test_a_peer_that_cannot_be_read_is_unknown_not_failed():
    finding = found(cluster([node(1), UnreadNode("rac2", "ssh was refused: no user equivalence.")]))["IC-IFACE-010"]
    assert finding.status is Status.UNKNOWN
    assert finding.title == "rac2 could not be read: ssh was refused."
    assert finding.seen == ("ssh was refused: no user equivalence.",)


def test_warnings_of_oifcfg_and_lines_it_never_printed_before_are_told():
    base = clusterware()
    odd = InterfaceConfiguration(
        base.configuration.interfaces, (ToolMessage("PRIF-30", "Network information in OCR ..."),), (), ("???",)
    )
    codes = found(cluster(facts=msgspec.structs.replace(base, configuration=odd)))
    assert codes["IC-IFACE-011"].status is Status.WARN
    assert codes["IC-IFACE-014"].status is Status.UNKNOWN
    assert codes["IC-IFACE-014"].seen == ("???",)


def test_haip_absent_is_information_and_haip_off_is_a_failure():
    absent = msgspec.structs.replace(clusterware(), haip=Haip(False))
    off = msgspec.structs.replace(clusterware(), haip=Haip(True, "ONLINE", "OFFLINE"))
    assert found(cluster(facts=absent))["IC-IFACE-013"].status is Status.INFO
    assert found(cluster(facts=off))["IC-IFACE-012"].status is Status.FAIL


@pytest.mark.parametrize("prefix", [16, 25])
def test_another_netmask_on_one_node_is_named(prefix):
    odd = with_interface(node(3), "eth2", addresses=(Address("192.168.11.3", prefix),))
    codes = found(cluster([node(1), node(2), odd]))
    assert codes["IC-IFACE-015"].title == (
        f"eth2 of rac3 has the netmask /{prefix} on 192.168.11.0/24; the others have /24."
    )
    assert "IC-IFACE-003" not in codes
