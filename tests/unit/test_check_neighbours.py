"""The check neighbours: entries against the peers' own NICs, addresses and MAC addresses of two nodes."""

import msgspec
import pytest

from checks.model.facts import Address, Neighbour
from checks.model.finding import Status
from checks.plugins.neighbours import neighbours
from tests.fixtures.clusters import cluster, node, with_interface


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


@pytest.mark.parametrize(
    ("state", "status"), [("reachable", Status.FAIL), ("permanent", Status.FAIL), ("stale", Status.WARN)]
)
def test_a_stranger_behind_an_address_is_a_failure_where_the_entry_is_in_use(state, status):
    codes = found(with_macs(1, entry(2, 2, "02:ff:ff:ff:ff:ff", state)), with_macs(2))
    finding = codes["IC-NEIGH-003"]
    assert (
        finding.title == "rac1 sends packets for 192.168.11.2 of rac2 to 02:ff:ff:ff:ff:ff, a NIC that is not rac2's."
    )
    assert (finding.status, finding.nodes) == (status, ("rac1", "rac2"))
    assert "IC-NEIGH-001" not in codes


def test_crossed_cables_show_another_nic_of_the_same_peer():
    codes = found(with_macs(1, entry(2, 2, mac(2, 1))), with_macs(2))
    assert codes["IC-NEIGH-002"].status is Status.WARN
    assert "another NIC of rac2" in codes["IC-NEIGH-002"].title


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
    assert {code: f.status for code, f in codes.items()} == {"IC-NEIGH-001": Status.PASS}


def test_other_addresses_and_own_addresses_are_ignored():
    other = Neighbour("10.20.0.1", "eth0", "02:ff:ff:ff:ff:ff", "reachable")
    assert set(found(with_macs(1, other, entry(1, 1, "02:ff:ff:ff:ff:ff")), with_macs(2))) == {"IC-NEIGH-001"}


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
    assert set(found(first, second)) - {"IC-NEIGH-001"} == codes
