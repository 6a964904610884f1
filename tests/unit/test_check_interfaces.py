"""The check `interfaces`: the entries of oifcfg, compared with the interfaces of the nodes."""

import msgspec

from checks.model.facts import ConfiguredInterface, InterfaceConfiguration, ToolMessage
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
