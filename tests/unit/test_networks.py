"""The ports of the nodes on the configured networks."""

import msgspec

from checks.model.facts import Address, ConfiguredInterface, InterfaceConfiguration, MissingRight, Unknown
from checks.model.networks import private_networks, subnets_found
from tests.fixtures.clusters import clusterware, interface, node, with_interface


def configured(*pairs):
    entries = tuple(ConfiguredInterface(name, subnet, "global", ("cluster_interconnect",)) for name, subnet in pairs)
    return msgspec.structs.replace(clusterware(), configuration=InterfaceConfiguration(entries))


def test_the_subnet_decides_which_interface_a_wildcard_matches():
    renamed = with_interface(node(2), "eth1", name="ens192")
    (network,) = private_networks(configured(("*", "192.168.10.0")), (), [node(1), renamed])
    assert [(p.node, p.interface) for p in network.ports] == [("rac1", "eth1"), ("rac2", "ens192")]
    assert network.subnet == "192.168.10.0/24"


def test_haip_addresses_are_not_ports():
    haip = with_interface(node(1), "eth1", addresses=(Address("169.254.10.1", 17, "eth1:1"),))
    (network,) = private_networks(configured(("eth1", "169.254.0.0")), (), [haip])
    assert network.ports == ()


def test_an_ipv6_network():
    six = with_interface(node(1), "eth1", addresses=(Address("fd00:10::1", 64),))
    (network,) = private_networks(configured(("eth1", "fd00:10::")), (), [six])
    assert (network.subnet, network.ports[0].ip) == ("fd00:10::/64", "fd00:10::1")


def test_a_subnet_with_a_narrow_mask_is_found_by_its_own_address():
    narrow = with_interface(node(1), "eth1", addresses=(Address("172.16.0.130", 25),))
    (network,) = private_networks(configured(("eth1", "172.16.0.128")), (), [narrow])
    assert network.subnet == "172.16.0.128/25"


def test_the_settings_name_networks_without_clusterware():
    (network,) = private_networks(Unknown("no home"), ("192.168.11.0/24",), [node(1), node(2)])
    assert (network.named_by, [p.interface for p in network.ports]) == ("settings", ["eth2", "eth2"])


def test_without_clusterware_and_settings_the_networks_are_unknown_for_the_same_reason_and_right():
    refused = Unknown("No Grid home.", MissingRight("run the tools of the Grid home as grid or root"))
    assert private_networks(refused, (), [node(1)]) == refused


def test_an_interface_that_holds_a_vip_is_named_once():
    two = (Address("192.168.10.1", 24), Address("192.168.10.77", 24, "eth1:1"))
    found = subnets_found([with_interface(node(1), "eth1", addresses=two), node(2)])
    assert found.count("192.168.10.0/24 (eth1, MTU 9000)") == 1


def test_a_node_without_one_of_two_networks_in_a_subnet_is_not_assigned_by_the_other():
    facts = configured(("eth1", "192.168.10.0"), ("eth2", "192.168.10.0"))
    both = [with_interface(node(n), "eth2", addresses=(Address(f"192.168.10.10{n}", 24),)) for n in (1, 2)]
    networks = private_networks(facts, (), [*both, with_interface(node(3), "eth2", addresses=())])
    assert [[p.node for p in n.ports] for n in networks] == [["rac1", "rac2", "rac3"], ["rac1", "rac2"]]


def test_a_node_with_another_netmask_stays_among_the_ports():
    odd = with_interface(node(1), "eth1", addresses=(Address("192.168.10.1", 16),))
    (network,) = private_networks(configured(("eth1", "192.168.10.0")), (), [odd, node(2), node(3)])
    assert [p.node for p in network.ports] == ["rac1", "rac2", "rac3"]


def test_the_same_line_twice_is_one_network():
    assert len(private_networks(configured(("eth1", "192.168.10.0"), ("eth1", "192.168.10.0")), (), [node(1)])) == 1


def test_four_interfaces_in_one_subnet_keep_their_names():
    names = [f"bondib{n}" for n in range(4)]
    exadata = msgspec.structs.replace(
        node(1), interfaces=tuple(interface(n, f"192.168.10.{i}") for i, n in enumerate(names, 1))
    )
    networks = private_networks(configured(*((n, "192.168.10.0") for n in names)), (), [exadata])
    assert [n.ports[0].interface for n in networks] == names
