"""The check `interfaces`: the entries of oifcfg, compared with the interfaces of the nodes."""

import msgspec
import pytest

from checks.model.facts import Address, ConfiguredInterface, InterfaceConfiguration, ToolMessage, UnreadNode
from checks.model.finding import Finding, Status
from checks.plugins.interfaces import interfaces
from tests.fixtures.clusters import cluster, clusterware, interface, node, with_interface


def found(built) -> dict[str, Finding]:
    return {f.code: f for f in interfaces.run(built)}


def configured(*lines: tuple[str, str, str, str]):
    entries = tuple(ConfiguredInterface(n, s, scope, tuple(r.split(","))) for n, s, scope, r in lines)
    return msgspec.structs.replace(clusterware(), configuration=InterfaceConfiguration(entries))


def test_two_private_networks_in_one_subnet_fail():
    facts = configured(("eth1", "192.168.10.0", "global", "cluster_interconnect"),
                       ("eth2", "192.168.10.0", "global", "cluster_interconnect"))  # fmt: skip
    nodes = [with_interface(node(n), "eth2", addresses=interface("x", f"192.168.10.10{n}").addresses) for n in (1, 2)]
    built = cluster(nodes, facts)
    assert [n.name for n in built.networks] == ["eth1 192.168.10.0/24", "eth2 192.168.10.0/24"]
    assert [p.interface for p in built.networks[1].ports] == ["eth2", "eth2"]
    assert "eth1 and eth2" in found(built)["IC-IFACE-006"].title


@pytest.mark.parametrize(
    ("status", "is_silent", "code"),
    [
        ("Inactive", True, "IC-IFACE-033"),
        ("Inactive", False, "IC-IFACE-010"),  # sshd refuses: the node is up
        ("Active", True, "IC-IFACE-010"),  # a firewall, or the public network
    ],
)
def test_a_node_that_is_down_is_told_from_one_that_could_not_be_read(status, is_silent, code):
    base = clusterware(3)
    gone = msgspec.structs.replace(base.members[2], status=status)
    facts = msgspec.structs.replace(base, members=(*base.members[:2], gone))
    unread = UnreadNode("rac3", "This node cannot reach rac3: rac3 is down.", is_silent=is_silent)
    codes = found(cluster([node(1), node(2), unread], facts))
    assert {"IC-IFACE-010", "IC-IFACE-033"} & set(codes) == {code}
    assert codes[code].nodes == ("rac3",)
    if code == "IC-IFACE-033":
        assert codes[code].status is Status.FAIL
        assert codes[code].title.startswith("rac3 is down: Clusterware shows it inactive")
        assert not codes[code].lacks


def test_warnings_of_oifcfg_and_unknown_lines_are_reported():
    base = clusterware()
    odd = InterfaceConfiguration(
        base.configuration.interfaces, (ToolMessage("PRIF-30", "Network information in OCR ..."),), (), ("???",)
    )
    codes = found(cluster(facts=msgspec.structs.replace(base, configuration=odd)))
    assert codes["IC-IFACE-011"].status is Status.WARN
    assert codes["IC-IFACE-014"].status is Status.UNKNOWN
    assert codes["IC-IFACE-014"].seen == ("???",)


def test_a_line_that_is_stored_again_keeps_its_roles():
    facts = configured(
        ("eth0", "10.20.0.0", "global", "public"), ("eth1", "192.168.10.0", "global", "asm,cluster_interconnect"),
        ("eth3", "192.168.77.0", "global", "asm,cluster_interconnect"),
    )  # fmt: skip
    warned = msgspec.structs.replace(facts.configuration, messages=(ToolMessage("PRIF-30", "Network ..."),))
    codes = found(cluster(facts=msgspec.structs.replace(facts, configuration=warned)))
    stored = [command for step in codes["IC-IFACE-011"].next for command in step.commands if "setif" in command]
    assert stored == [
        "oifcfg setif -global eth1/192.168.10.0:cluster_interconnect,asm",
        "oifcfg setif -global eth3/192.168.77.0:cluster_interconnect,asm",
    ]
    right = codes["IC-IFACE-002"].next[-1]
    assert right.commands == ("oifcfg setif -global eth3/RIGHT_SUBNET:cluster_interconnect,asm",)
    assert "Delete the old line after that" in right.text


def beside(name: str, *addresses: Address, **more: object):
    """Two nodes, the first with another interface that has these addresses."""
    first = node(1)
    other = interface(name, "", addresses=addresses, **more)
    return cluster([msgspec.structs.replace(first, interfaces=(*first.interfaces, other)), node(2)])


def test_another_interface_in_a_private_subnet_is_a_warning():
    addresses = (Address("192.168.10.77", 24), Address("192.168.10.78", 25))
    finding = found(beside("m0", *addresses, kind="macvlan"))["IC-IFACE-032"]
    assert (finding.status, finding.nodes, finding.network) == (Status.WARN, ("rac1",), "192.168.10.0/24")
    assert finding.title == (
        "m0 of rac1 has 192.168.10.77/24 and 192.168.10.78/25, in the subnet of eth1 on the private network "
        "192.168.10.0/24."
    )
    assert finding.extent is not None
    assert finding.extent.value == 2
    assert [step.is_change for step in finding.next] == [False, True]


def test_it_is_one_without_a_link_too_and_on_a_vlan_of_the_same_nic():
    down = beside("eth3", Address("192.168.11.77", 24), operational_state="down")
    assert found(down)["IC-IFACE-032"].subject == "rac1 eth3 next to eth2"
    assert "IC-IFACE-032" in found(beside("eth2.7", Address("192.168.11.77", 24), kind="vlan", parent="eth2"))


@pytest.mark.parametrize(
    ("name", "address", "more"),
    [
        ("eth3", Address("192.168.77.1", 24), {}),
        ("eth3", Address("192.168.10.77", 32), {}),  # no route to the subnet
        ("eth3", Address("169.254.9.77", 19), {}),
        ("eth3", Address("192.168.10.2", 24), {}),  # neighbours has the address of another node
        ("eth3", Address("192.168.10.77", 24), {"administratively_up": False}),
        ("eth3", Address("192.168.10.77", 24), {"master": "bond1"}),
        ("lo", Address("192.168.10.77", 24), {"kind": "loopback"}),
        ("dummy0", Address("192.168.10.77", 24), {"kind": "dummy"}),
        ("eth3", Address("fe80::1", 64), {}),
    ],
)
def test_other_addresses_are_none(name, address, more):
    assert "IC-IFACE-032" not in found(beside(name, address, **more))


def test_further_addresses_of_the_private_interface_are_none():
    own = (Address("192.168.10.1", 24), Address("192.168.10.201", 24, "eth1:vip"), Address("169.254.3.1", 18, "eth1:1"))
    assert "IC-IFACE-032" not in found(cluster([with_interface(node(1), "eth1", addresses=own), node(2)]))


def test_named_networks_that_contain_several_subnets_are_judged_by_the_subnet_of_the_interface():
    built = cluster()
    wide = tuple(msgspec.structs.replace(n, subnet="192.168.0.0/16", named_by="settings") for n in built.networks)
    assert "IC-IFACE-032" not in found(msgspec.structs.replace(built, networks=wide))
