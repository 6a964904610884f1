"""The check neighbours: entries against the peers' own NICs, addresses and MAC addresses of two nodes."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.facts import Address, AddressProbe, AddressProbes, Neighbour, Verdict
from checks.model.finding import Status
from checks.plugins.neighbours import neighbours
from tests.fixtures.clusters import cluster, interface, node, path, with_interface, with_paths


def mac(number: int, nic: int) -> str:
    return f"02:00:00:00:{nic:02x}:{number:02x}"


def with_macs(number: int, *entries: Neighbour):
    built = node(number)
    for nic in (1, 2):
        built = with_interface(built, f"eth{nic}", mac_address=mac(number, nic))
    return msgspec.structs.replace(built, neighbours=entries)


def entry(peer: int, nic: int, address: str = "", state: str = "reachable") -> Neighbour:
    return Neighbour(f"192.168.{9 + nic}.{peer}", f"eth{nic}", address or mac(peer, nic), state)


def found(*nodes):
    return {finding.code: finding for finding in neighbours.run(cluster(nodes))}


def test_entries_with_the_peers_own_address_pass():
    codes = found(with_macs(1, entry(2, 1), entry(2, 2)), with_macs(2, entry(1, 1)))
    assert {code: f.status for code, f in codes.items()} == {"IC-NEIGH-001": Status.PASS}
    title = "rac1 and rac2 have the MAC address of the peer's own NIC in all 3 neighbour entries."
    assert codes["IC-NEIGH-001"].title == title


STRANGE = "02:ff:ff:ff:ff:ff"


def with_answer(*macs: str, state: str = "reachable"):
    """rac1 has an entry of a strange MAC address for eth2 of rac2, and these answer its ARP probes; none is sent
    without one."""
    built = cluster([with_macs(1, entry(2, 2, STRANGE, state)), with_macs(2)])
    probe = AddressProbe("192.168.11.0/24", "rac2", "192.168.11.2", "eth2", 2, macs)
    built = msgspec.structs.replace(built, owners=AddressProbes("rac1", (probe,))) if macs else built
    return {finding.code: finding for finding in neighbours.run(built)}


@pytest.mark.parametrize(
    ("macs", "state", "code", "status"),
    [
        ((STRANGE,), "reachable", "IC-NEIGH-003", Status.FAIL),
        ((), "reachable", "IC-NEIGH-014", Status.FAIL),
        ((), "stale", "IC-NEIGH-012", Status.INFO),
        ((mac(2, 2),), "reachable", "IC-NEIGH-012", Status.INFO),
    ],
)
def test_an_entry_of_a_strange_mac_address_is_proof_where_it_answers_now(macs, state, code, status):
    codes = with_answer(*macs, state=state)
    assert [c for c in codes if c != "IC-NEIGH-008"] == [code]
    finding = codes[code]
    assert (finding.status, finding.network) == (status, "192.168.11.0/24")
    if status is Status.FAIL:
        assert finding.title == f"rac1 sends packets for 192.168.11.2 of rac2 to {STRANGE}, a NIC that is not rac2's."


def test_a_wrong_entry_that_somebody_set_is_called_that_at_the_node_that_has_it():
    finding = found(with_macs(1, entry(2, 2, "02:ff:ff:ff:ff:ff", "permanent")), with_macs(2))["IC-NEIGH-006"]
    assert (finding.status, finding.nodes) == (Status.FAIL, ("rac1",))
    assert "set by hand" in finding.title


def test_crossed_cables_show_another_nic_of_the_same_peer():
    codes = found(with_macs(1, entry(2, 2, mac(2, 1))), with_macs(2))
    assert codes["IC-NEIGH-002"].title == (
        "The cables or VLANs of two private NICs of rac1 and rac2 are crossed: eth1 of rac2 answers rac1 for "
        "192.168.11.2, the address of eth2."
    )
    assert codes["IC-NEIGH-002"].status is Status.FAIL


def test_the_node_that_all_others_see_on_the_wrong_nic_is_the_one_with_crossed_cables():
    first = with_macs(1, entry(2, 1, mac(2, 2)), entry(3, 1))
    third = with_macs(3, entry(2, 1, mac(2, 2), "stale"), entry(1, 1))
    finding = found(first, with_macs(2, entry(1, 1, mac(1, 2))), third)["IC-NEIGH-002"]
    assert finding.nodes == ("rac2",)
    assert finding.title.startswith("The cables or VLANs of eth1 and eth2 of rac2 are crossed: ")


def test_the_members_of_a_bond_answer_with_their_own_addresses():
    members = ("ens1", "ens2")
    bond = with_interface(with_macs(2), "eth2", kind="bond", members=members)
    ens1 = interface("ens1", "", master="eth2")
    ens1 = msgspec.structs.replace(ens1, mac_address="02:00:00:00:99:01")
    bond = msgspec.structs.replace(bond, interfaces=(*bond.interfaces, ens1))
    codes = found(with_macs(1, entry(2, 2, "02:00:00:00:99:01")), bond)
    assert set(codes) == {"IC-NEIGH-001"}


def test_the_entry_after_the_pings_replaces_the_one_before_them():
    built = cluster([with_macs(1, entry(2, 2)), with_macs(2)])
    network = built.networks[1]
    probe = path(network, "rac1", "rac2", Verdict.FILTERED, neighbour_mac="02:FF:ff:ff:ff:ff")
    codes = {f.code: f for f in neighbours.run(with_paths(built, probe))}
    assert set(codes) == {"IC-NEIGH-014"}


@given(st.text(), st.text(), st.text())
def test_no_entry_breaks_the_check(ip, address, state):
    odd = Neighbour(ip, "eth1", address, state)
    same = Neighbour("192.168.10.2", "eth1", address, state)
    assert found(with_macs(1, odd, same), with_macs(2))


def test_an_address_of_two_nodes_is_a_failure():
    twin = with_interface(with_macs(2), "eth2", addresses=node(1).interface("eth2").addresses)
    finding = found(with_macs(1), twin)["IC-NEIGH-004"]
    assert finding.title == "rac1 and rac2 have the same private address 192.168.11.1."


def test_a_mac_address_of_two_nodes_is_a_failure():
    cloned = with_interface(with_macs(2), "eth2", mac_address=mac(1, 2).upper())
    assert found(with_macs(1), cloned)["IC-NEIGH-005"].status is Status.FAIL


@pytest.mark.parametrize("state", ["failed", "incomplete"])
def test_entries_without_an_answer_are_not_compared(state):
    codes = found(with_macs(1, entry(2, 1, "02:ff:ff:ff:ff:ff", state)), with_macs(2))
    assert {code: f.status for code, f in codes.items()} == {"IC-NEIGH-007": Status.PASS}


def test_other_addresses_and_own_addresses_are_ignored():
    other = Neighbour("10.20.0.1", "eth0", "02:ff:ff:ff:ff:ff", "reachable")
    assert set(found(with_macs(1, other, entry(1, 1, "02:ff:ff:ff:ff:ff")), with_macs(2))) == {"IC-NEIGH-007"}


@pytest.mark.parametrize(("keeps_one", "codes"), [(False, set()), (True, {"IC-NEIGH-002"})])
def test_an_entry_for_a_haip_counts_on_a_nic_that_has_an_address_of_its_range(keeps_one, codes):
    """After a HAIP moved from eth2 to eth1, eth2 keeps its entries for a while."""
    first, second = with_macs(1), with_macs(2)
    own = second.interface("eth1").addresses
    second = with_interface(second, "eth1", addresses=(*own, Address("169.254.212.190", 17, "eth1:2")))
    first = msgspec.structs.replace(first, neighbours=(Neighbour("169.254.212.190", "eth2", mac(2, 2), "reachable"),))
    if keeps_one:
        own = first.interface("eth2").addresses
        first = with_interface(first, "eth2", addresses=(*own, Address("169.254.175.99", 17, "eth2:1")))
    else:
        own = [a for a in first.interface("eth2").addresses if not a.ip.startswith("169.254.")]
        first = with_interface(first, "eth2", addresses=tuple(own))
    assert set(found(first, second)) - {"IC-NEIGH-001", "IC-NEIGH-007"} == codes


def test_a_macvlan_on_the_nic_of_a_peer_is_no_other_cable():
    above = msgspec.structs.replace(interface("m0", ""), kind="macvlan", parent="eth2", mac_address=STRANGE)
    peer = with_macs(2)
    peer = msgspec.structs.replace(peer, interfaces=(*peer.interfaces, above))
    assert set(found(with_macs(1, entry(2, 2, STRANGE)), peer)) == {"IC-NEIGH-001"}
