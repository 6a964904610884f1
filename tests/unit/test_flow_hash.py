"""The hash of UDP of private NICs: what ethtool prints, when the ports may be in it, and what is advised."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from checks.model.facts import Cluster, HostSetup, NicDriver, Unknown
from checks.model.finding import Finding
from checks.plugins.cpu_pressure import cpu_pressure
from checks.plugins.driver_settings import driver_settings
from checks.plugins.reassembly import reassembly
from checks.rules.flow_hash import PortsInHash, carrying_nics, ports_in_hash
from checks.sources.nodes.setup_bonds import parse_drivers
from tests.fixtures.clusters import cluster, interface, node, with_interface
from tests.fixtures.databases import asked, change, counters, system
from tests.unit.host_support import healthy_host, with_hosts

HEAD = "UDP over IPV4 flows use these fields for computing Hash flow key:\n"
ADDRESSES = "IP SA\nIP DA\n"
PORTS = "L4 bytes 0 & 1 [TCP/UDP src port]\nL4 bytes 2 & 3 [TCP/UDP dst port]\n"


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        (f"{HEAD}{ADDRESSES}\nudp4 hash: 0", "sd"),
        (f"{HEAD}{ADDRESSES}{PORTS}\nudp4 hash: 0", "sdfn"),
        (f"{HEAD}\nudp4 hash: 0", ""),
        ("udp4 hash: 1", None),
        ("Cannot get RX network flow hashing options: Operation not supported\nudp4 hash: 1", None),
        ("udp4 hash: 124", Unknown("the driver did not answer within 1 s")),
        ("", Unknown("not read")),
    ],
)
def test_the_fields_that_are_hashed(printed: str, expected: str | Unknown | None) -> None:
    drivers = parse_drivers(f"nic eth1\ndriver: ixgbe\n{printed}\nnic eth2\ndriver: veth\nudp4 hash: 1\n")
    assert not isinstance(drivers, Unknown)
    assert [(d.interface, d.driver, d.udp_hash) for d in drivers] == [
        ("eth1", "ixgbe", expected),
        ("eth2", "veth", None),
    ]


# --- the rule ---------------------------------------------------------------------------------------------------------


def built(
    udp_hash: str | Unknown | None, fragments: int = 0, driver: str = "ixgbe", mtu: int = 9000, **counted: int
) -> Cluster:
    """Two nodes with this hash; `fragments` arrived at rac2, whose cpu2 is full of soft interrupts."""
    nics = tuple(NicDriver(name, driver, udp_hash=udp_hash) for name in ("eth1", "eth2"))
    host = replace(healthy_host(), drivers=nics, drivers_in_use=dict.fromkeys(("eth1", "eth2"), driver))
    facts = with_hosts(cluster([node(n, mtu) for n in (1, 2)]), host, host)
    busy = system({"cpu2": {"user": 0, "system": 100, "idle": 50, "softirq": 2_850}})
    changed = change("rac2", Ip_ReasmReqds=fragments, Ip_ReasmOKs=fragments // 6, **counted)
    return asked(facts, counters=counters(2, replace(changed, machine=busy)))


@pytest.mark.parametrize(
    ("udp_hash", "fragments", "driver", "mtu", "expected"),
    [
        ("sd", 0, "ixgbe", 9000, PortsInHash.FIT),
        ("sd", 6000, "ixgbe", 9000, PortsInHash.UNFIT),
        ("sd", 1, "mlx5_core", 9000, PortsInHash.UNFIT),
        ("sd", 0, "ixgbe", 1500, PortsInHash.UNFIT),
        ("sdfn", 0, "mlx5_core", 9000, PortsInHash.PRESENT),
        ("sdfn", 6000, "mlx5_core", 1500, PortsInHash.APART),
        ("sd", 0, "hv_netvsc", 9000, PortsInHash.BY_SENDER),
        ("sdfn", 6000, "hv_netvsc", 1500, PortsInHash.BY_SENDER),
        (None, 0, "ena", 9000, PortsInHash.NOT_OFFERED),
        (Unknown("not read"), 0, "ixgbe", 9000, PortsInHash.NOT_KNOWN),
    ],
)
def test_the_ports_fit_where_no_fragment_arrived(udp_hash, fragments, driver, mtu, expected) -> None:
    facts = built(udp_hash, fragments, driver, mtu)
    nics = carrying_nics(facts, ["rac2"])
    assert [(nic.node, nic.name) for nic in nics] == [("rac2", "eth1"), ("rac2", "eth2")]
    assert {ports_in_hash(facts, nic) for nic in nics} == {expected}
    (found,) = [f for f in cpu_pressure.run(facts) if f.code == "IC-CPU-003"]
    added = [c for step in found.next for c in step.commands if c.startswith("ethtool -N")]
    fit = ["ethtool -N eth1 rx-flow-hash udp4 sdfn", "ethtool -N eth2 rx-flow-hash udp4 sdfn"]
    assert added == (fit if expected is PortsInHash.FIT else [])


def test_without_counters_the_ports_are_not_advised() -> None:
    facts = replace(built("sd"), counters=Unknown("this run read no counters"))
    assert {ports_in_hash(facts, nic) for nic in carrying_nics(facts, ["rac1", "rac2"])} == {PortsInHash.NOT_KNOWN}


# --- fragments that fail ----------------------------------------------------------------------------------------------

LOST = {"Ip_ReasmFails": 40, "Ip_ReasmTimeout": 40}
OTHER = {"Ip_ReasmFails": 40, "Ip_ReasmTimeout": 0}


def failing(facts: Cluster) -> Finding:
    (found,) = [f for f in reassembly.run(facts) if f.code != "IC-REASM-001"]
    return found


def changes(found: Finding) -> list[tuple[str, tuple[str, ...]]]:
    return [(step.where, step.commands) for step in found.next if any("ethtool -N" in c for c in step.commands)]


@pytest.mark.parametrize(
    ("driver", "udp_hash", "how", "expected"),
    [
        ("hv_netvsc", "sdfn", LOST, "rac1"),
        ("hv_netvsc", "sdfn", OTHER, "rac1"),
        ("hv_netvsc", "sd", LOST, ""),
        ("mlx5_core", "sdfn", OTHER, "rac2"),
        ("mlx5_core", "sdfn", LOST, ""),
        ("mlx5_core", "sd", OTHER, ""),
        ("ena", None, OTHER, ""),
    ],
)
def test_the_ports_are_taken_out_where_they_can_be_why_fragments_fail(driver, udp_hash, how, expected) -> None:
    found = failing(built(udp_hash, 6000, driver, 1500, **how))
    commands = tuple(f"ethtool -N eth{n} rx-flow-hash udp4 sd" for n in (1, 2))
    assert changes(found) == ([(f"root on {expected}", commands)] if expected else [])
    named = [line for line in found.seen if "hashes UDP with the ports" in line]
    assert [line.split(":")[0] for line in named] == ([expected] * 2 if expected else [])


@pytest.mark.parametrize(("is_up", "carrying"), [(True, "enP1s2"), (False, "eth2")])
def test_on_azure_the_nic_that_carries_the_packets_is_named(is_up: bool, carrying: str) -> None:
    """A virtual function that is up carries them, and hv_netvsc where it is not."""
    nodes = []
    for number in (1, 2):
        upper = with_interface(node(number, 1500), "eth2", members=("enP1s2",))
        below = interface("enP1s2", "", 1500, master="eth2", operational_state="up" if is_up else "down")
        nodes.append(replace(upper, interfaces=(*upper.interfaces, below)))
    used = {"eth1": "hv_netvsc", "eth2": "hv_netvsc", "enP1s2": "mlx5_core"}
    hashes = {"eth1": "sd", "eth2": "sdfn", "enP1s2": "sdfn"}
    host = replace(
        healthy_host(),
        drivers=tuple(NicDriver(name, used[name], udp_hash=hashes[name]) for name in used),
        drivers_in_use=used,
    )
    facts = with_hosts(cluster(nodes), host, host)
    found = failing(asked(facts, counters=counters(2, change("rac2", **LOST))))
    assert changes(found) == [("root on rac1", (f"ethtool -N {carrying} rx-flow-hash udp4 sd",))]


def test_where_both_nodes_fail_both_are_senders() -> None:
    facts = built("sdfn", 6000, "hv_netvsc", 1500)
    facts = replace(facts, counters=counters(2, change("rac1", **LOST), change("rac2", **LOST)))
    ((where, _),) = changes(failing(facts))
    assert where == "root on rac1 and rac2"


def test_no_finding_comes_of_the_hash_alone() -> None:
    facts = built("sdfn", 6000, "hv_netvsc", 1500)
    assert [f.code for f in reassembly.run(facts)] == ["IC-REASM-001"]
    texts = [line for f in driver_settings.run(built(None)) for line in f.seen if "eth1" in line]
    assert texts
    assert all("hash of UDP not offered by this NIC" in line for line in texts)
    assert HostSetup().drivers == Unknown("not read")
