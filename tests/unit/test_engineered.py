"""Engineered systems (Exadata and similar): their interfaces, and findings that are right elsewhere but not there."""

import msgspec
import pytest

from checks.model.facts import Address, Cluster, ConfiguredInterface, Haip, InterfaceConfiguration, Verdict
from checks.model.finding import Status
from checks.plugins.df_ping import df_ping
from checks.plugins.interfaces import interfaces
from checks.plugins.mtu_consistency import mtu_consistency
from checks.rules.engineered import is_engineered
from tests.fixtures.clusters import cluster, clusterware, interface, node, paths, with_interface


def exadata(public: str = "bondeth0", private: tuple[str, str] = ("re0", "re1"), mtu: int = 2300) -> Cluster:
    """Two nodes of Exadata: two private interfaces in one /22, and no HAIP."""
    nodes = [
        msgspec.structs.replace(
            node(n),
            interfaces=(
                interface(public, f"10.20.0.{n}", 1500),
                *(
                    interface(nic, "", mtu, addresses=(Address(f"192.168.10.{2 * n - 1 + place}", 22),))
                    for place, nic in enumerate(private)
                ),
            ),
        )
        for n in (1, 2)
    ]
    entries = (
        ConfiguredInterface(public, "10.20.0.0", "global", ("public",)),
        *(ConfiguredInterface(nic, "192.168.8.0", "global", ("cluster_interconnect", "asm")) for nic in private),
    )
    facts = msgspec.structs.replace(
        clusterware(), configuration=InterfaceConfiguration(entries), haip=Haip(True, "OFFLINE", "OFFLINE")
    )
    return cluster(nodes, facts)


@pytest.mark.parametrize("name", ["re0", "stre1", "clre0", "bondib0", "stib0", "clib1"])
def test_some_names_occur_on_engineered_systems_only(name):
    assert is_engineered(cluster(2), name)


@pytest.mark.parametrize("name", ["eth1", "bond0", "ib0", "enp1s0", "core0", "lib0"])
def test_other_names_do_not_make_an_engineered_system(name):
    assert not is_engineered(cluster(2), name)


def test_a_plain_infiniband_card_is_engineered_next_to_an_interface_of_such_a_system():
    assert is_engineered(exadata("bondeth0", ("ib0", "ib1")), "ib0")
    assert not is_engineered(exadata("eth0", ("ib0", "ib1")), "ib0")


def test_a_second_interface_in_the_subnet_of_exadata_is_no_fault():
    one_line = exadata(private=("re0", "re1"))
    assert isinstance(one_line.networks, tuple)
    built = msgspec.structs.replace(one_line, networks=one_line.networks[:1])
    assert "IC-IFACE-032" not in {f.code for f in interfaces.run(built)}


def test_the_shared_subnet_of_exadata_is_no_fault_and_has_no_step():
    found = {f.code: f for f in interfaces.run(exadata())}
    finding = found["IC-IFACE-006"]
    assert (finding.status, finding.next) == (Status.INFO, ())
    assert finding.title == (
        "The private networks on re0 and re1 share one subnet, 192.168.8.0/22, as on engineered systems."
    )
    assert found["IC-IFACE-013"].status is Status.INFO
    plain = {f.code: f for f in interfaces.run(exadata("eth0", ("eth1", "eth2")))}["IC-IFACE-006"]
    assert (plain.status, bool(plain.next)) == (Status.FAIL, True)


def test_an_interface_without_link_has_no_haip_that_moves_where_haip_is_not_in_use():
    broken = exadata()
    nodes = [n if n.name == "rac1" else with_interface(n, "re1", operational_state="down") for n in broken.read_nodes()]
    down = {f.code: f for f in interfaces.run(msgspec.structs.replace(broken, nodes=tuple(nodes)))}["IC-IFACE-004"]
    assert "HAIP is not in use" in down.why
    assert "moves to another" not in down.why


def test_mtu_2300_is_right_and_another_mtu_is_corrected_by_the_vendor():
    built = exadata()
    assert {f.status for f in mtu_consistency.run(built)} == {Status.PASS}
    nodes = [n if n.name == "rac1" else with_interface(n, "re1", mtu=1500) for n in built.read_nodes()]
    found = mtu_consistency.run(msgspec.structs.replace(built, nodes=tuple(nodes)))
    odd = next(f for f in found if f.status is Status.FAIL)
    (change,) = [step for step in odd.next if step.is_change]
    assert "by the vendor's procedure" in change.text
    assert change.commands == ()


def test_findings_about_paths_do_not_speak_for_rds():
    built = exadata()
    healthy = paths(built.networks)
    lost = tuple(msgspec.structs.replace(p, verdict=Verdict.BLACK_HOLE, path_mtu=1500) for p in healthy)
    for probed, status in ((healthy, Status.PASS), (lost, Status.FAIL)):
        found = list(df_ping.run(msgspec.structs.replace(built, paths=probed)))
        assert {f.status for f in found} == {status}
        assert all(any("do not test RDS" in line for line in f.seen) for f in found)
        assert all(any("in the same subnet" in line for line in f.seen) for f in found)
        assert not any(step.commands for f in found for step in f.next if step.is_change)
