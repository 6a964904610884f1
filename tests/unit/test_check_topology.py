"""The check topology: foreign hosts, slow private networks, one NIC, card or switch, chains of switches, VLANs."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.facts import Cluster, LldpNeighbour, MissingRight, Neighbour, Route, Unknown, UnreadNode
from checks.model.finding import Status
from checks.plugins.topology import topology
from tests.fixtures.clusters import cluster, interface, node, with_interface
from tests.unit.host_support import healthy_host, with_hosts

STRANGER = "02:ff:ff:00:00:07"
SWITCHES = {"eth1": "aa:00:00:00:00:01", "eth2": "aa:00:00:00:00:02"}


def mac(number: int, nic: str) -> str:
    return f"02:00:00:00:0{nic[-1]}:0{number}"


def a_node(number: int, *entries: Neighbour):
    built = node(number)
    for nic in SWITCHES:
        built = with_interface(built, nic, mac_address=mac(number, nic))
    peer = 3 - number
    own = Neighbour(f"192.168.10.{peer}", "eth1", mac(peer, "eth1"), "reachable")
    return msgspec.structs.replace(built, neighbours=(own, *entries))


def a_stranger(ip: str = "192.168.10.77", address: str = STRANGER, state: str = "reachable") -> Neighbour:
    return Neighbour(ip, "eth1", address, state)


def with_setups(built: Cluster, **changes: object) -> Cluster:
    assert isinstance(built.setups, tuple)
    return msgspec.structs.replace(
        built, setups=tuple(msgspec.structs.replace(setup, **changes) for setup in built.setups)
    )


def with_lldp(built: Cluster, by_node: dict[str, list[LldpNeighbour]]) -> Cluster:
    assert isinstance(built.setups, tuple)
    setups = [msgspec.structs.replace(s, lldp=tuple(by_node.get(s.name, ()))) for s in built.setups]
    return msgspec.structs.replace(built, setups=tuple(setups))


def switch(nic: str, chassis: str, **more: object) -> LldpNeighbour:
    return LldpNeighbour(nic, f"sw-{chassis[-2:]}", port="Ethernet1/1", chassis=chassis, **more)  # type: ignore[arg-type]


def statuses(built: Cluster) -> dict[str, Status]:
    return {finding.code: finding.status for finding in topology.run(built)}


def the(built: Cluster, code: str):
    (finding,) = [finding for finding in topology.run(built) if finding.code == code]
    return finding


def two(*entries: Neighbour) -> Cluster:
    return cluster([a_node(1, *entries), a_node(2)])


def test_a_cluster_without_other_hosts_passes_and_names_what_was_there_to_judge():
    finding = the(two(), "IC-TOPO-001")
    assert finding.status is Status.PASS
    assert "neighbours of rac1 and rac2" in finding.seen
    assert any("private NICs 20,000 Mbit/s, public NICs 10,000" in line for line in finding.seen)
    assert set(statuses(two())) == {"IC-TOPO-001"}


def test_a_host_that_is_no_node_is_named_with_address_and_mac():
    finding = the(two(a_stranger()), "IC-TOPO-002")
    assert (finding.status, finding.nodes, finding.network) == (Status.WARN, ("rac1",), "192.168.10.0/24")
    assert finding.title == (
        f"A host that is no node of the cluster is on the private network 192.168.10.0/24: 192.168.10.77 ({STRANGER})."
    )
    assert "IC-TOPO-001" not in statuses(two(a_stranger()))


def test_two_addresses_of_one_host_are_one_host():
    finding = the(two(a_stranger(), a_stranger("192.168.10.78", STRANGER.upper())), "IC-TOPO-002")
    assert finding.data["hosts"] == 1


@pytest.mark.parametrize("state", ["failed", "incomplete", ""])
def test_an_address_for_which_no_host_answered_is_no_host(state):
    assert set(statuses(two(a_stranger(state=state)))) == {"IC-TOPO-001"}


@pytest.mark.parametrize(
    "entry",
    [
        a_stranger("169.254.17.4", mac(2, "eth1")),  # a HAIP that has moved
        a_stranger("192.168.10.90", mac(2, "eth2")),
        a_stranger("192.168.10.2", STRANGER),  # the check neighbours judges the address of a node
        a_stranger(address=""),
        a_stranger(address="00:00:00:00:00:00"),
        Neighbour("10.20.0.99", "eth0", STRANGER, "reachable"),
    ],
)
def test_addresses_and_nics_of_nodes_and_the_public_network_are_left_out(entry):
    assert set(statuses(two(entry))) == {"IC-TOPO-001"}


@pytest.mark.parametrize(
    ("entry", "who"),
    [
        (a_stranger(state="stale"), "not seen in the last seconds"),
        (a_stranger(address="00:00:5e:00:01:0a"), "VRRP"),
        (a_stranger(address="00:00:0C:07:AC:01"), "HSRP"),
    ],
)
def test_neighbours_that_explain_themselves_are_information(entry, who):
    finding = the(two(entry), "IC-TOPO-003")
    assert finding.status is Status.INFO
    assert who in finding.seen[0]
    assert "IC-TOPO-001" in statuses(two(entry))


def test_the_switch_that_announces_an_address_is_no_foreign_host():
    announced = switch("eth1", SWITCHES["eth1"], management_ips=("192.168.10.77",))
    built = with_lldp(two(a_stranger()), {"rac1": [announced]})
    assert "management address of the switch sw-01" in the(built, "IC-TOPO-003").seen[0]
    by_mac = with_lldp(two(a_stranger()), {"rac1": [switch("eth1", STRANGER)]})
    assert the(by_mac, "IC-TOPO-003").status is Status.INFO


def test_a_gateway_and_a_node_that_could_not_be_read_are_no_claim():
    routed = msgspec.structs.replace(
        a_node(1, a_stranger()), routes=(*node(1).routes, Route("10.9.0.0/16", "eth1", "192.168.10.77"))
    )
    assert "gateway" in the(cluster([routed, a_node(2)]), "IC-TOPO-003").seen[0]
    unread = cluster([a_node(1, a_stranger()), a_node(2), UnreadNode("rac3", "no login")])
    assert "rac3 could not be read" in the(unread, "IC-TOPO-003").seen[0]
    assert "that no node that was read has: " in the(unread, "IC-TOPO-003").title
    by_default = msgspec.structs.replace(routed, routes=(*node(1).routes, Route("default", "eth1", "192.168.10.254")))
    assert set(statuses(cluster([by_default, a_node(2)]))) == {"IC-TOPO-001"}


def test_neighbours_that_could_not_be_read_are_unknown_and_the_others_are_judged():
    denied = msgspec.structs.replace(
        a_node(2), neighbours=(), neighbours_unread=Unknown("The neighbours of rac2: no ip")
    )
    finding = the(cluster([a_node(1), denied]), "IC-TOPO-010")
    assert (finding.status, finding.nodes) == (Status.UNKNOWN, ("rac2",))
    assert "no ip" in finding.seen[0]


def test_private_networks_that_are_slower_than_the_public_one_are_a_warning():
    nodes = [with_interface(a_node(n), "eth0", speed_mbps=25_000) for n in (1, 2)]
    finding = the(cluster(nodes), "IC-TOPO-004")
    assert finding.title == (
        "The private networks of rac1 and rac2 have 20,000 Mbit/s together, and the public network has 25,000."
    )
    assert finding.seen[0] == "rac1: eth1 10,000, eth2 10,000, eth0 25,000 Mbit/s"


@pytest.mark.parametrize("speed", [Unknown("no link"), -1])
def test_speeds_that_are_not_known_are_not_compared(speed):
    nodes = [with_interface(a_node(n), "eth0", speed_mbps=speed) for n in (1, 2)]
    assert set(statuses(cluster(nodes))) == {"IC-TOPO-001"}
    assert not any("public" in line for line in the(cluster(nodes), "IC-TOPO-001").seen)


def test_two_ports_of_one_card_are_one_point_of_failure_on_a_physical_machine():
    slots = {"eth1": "0000:3b:00.0", "eth2": "0000:3b:00.1"}
    host = msgspec.structs.replace(healthy_host(), slots=slots)
    finding = the(with_hosts(two(), host, host), "IC-TOPO-005")
    assert finding.status is Status.INFO
    assert finding.title == "The interconnect of rac1 and rac2 depends on eth1 and eth2, which are ports of one card."
    apart = msgspec.structs.replace(host, slots={"eth1": "0000:3b:00.0", "eth2": "0000:5e:00.0"})
    virtual = msgspec.structs.replace(host, is_virtual=True)
    half = msgspec.structs.replace(host, slots={"eth1": "0000:3b:00.0"})
    for other in (apart, virtual, half):
        assert "IC-TOPO-005" not in statuses(with_hosts(two(), other, other))


def test_tags_that_differ_are_a_warning_and_equal_ones_are_not():
    def tagged(number: int, tag: int | None):
        built = with_interface(a_node(number), "eth1", kind="vlan", parent="p1", vlan=tag)
        return msgspec.structs.replace(built, interfaces=(*built.interfaces, interface("p1", "")))

    finding = the(cluster([tagged(1, 100), tagged(2, 200)]), "IC-TOPO-006")
    assert finding.title == "rac2 is in VLAN 200 on 192.168.10.0/24, and rac1 in VLAN 100."
    for other in (100, None):
        assert "IC-TOPO-006" not in statuses(cluster([tagged(1, 100), tagged(2, other)]))


def test_the_switch_port_gives_the_vlan_of_untagged_frames():
    def with_vlans(first: int, second: int) -> Cluster:
        ports = {f"rac{n}": [switch("eth1", SWITCHES["eth1"], untagged_vlan=v)] for n, v in ((1, first), (2, second))}
        return with_lldp(two(), ports)

    assert the(with_vlans(10, 20), "IC-TOPO-006").network == "192.168.10.0/24"
    assert "IC-TOPO-006" not in statuses(with_vlans(10, 10))


def everywhere(*chassis: str) -> dict[str, list[LldpNeighbour]]:
    return {f"rac{n}": [switch(f"eth{i}", c) for i, c in enumerate(chassis, 1)] for n in (1, 2)}


def test_one_switch_for_all_private_nics_is_information_and_two_are_not():
    finding = the(with_lldp(two(), everywhere(SWITCHES["eth1"], SWITCHES["eth1"])), "IC-TOPO-008")
    assert finding.status is Status.INFO
    assert finding.title == "eth1 and eth2 of rac1 and rac2 are plugged into one switch, sw-01."
    assert set(statuses(with_lldp(two(), everywhere(*SWITCHES.values())))) == {"IC-TOPO-001"}
    seen_in_part = everywhere(SWITCHES["eth1"])
    assert "IC-TOPO-008" not in statuses(with_lldp(two(), seen_in_part))


@pytest.mark.parametrize("as_port", [True, False])
def test_a_node_at_the_other_end_of_a_cable_is_a_direct_cable(as_port):
    def end(peer: int) -> LldpNeighbour:
        address = mac(peer, "eth1")
        chassis = "mac-less" if as_port else address
        return LldpNeighbour("eth1", f"rac{peer}", port="eth1", chassis=chassis, port_mac=address if as_port else "")

    finding = the(with_lldp(two(), {"rac1": [end(2)], "rac2": [end(1)]}), "IC-TOPO-007")
    assert finding.status is Status.WARN
    assert "eth1 of rac1 ends at rac2" in finding.title
    # Two announcements on one NIC come through a switch.
    several = with_lldp(two(), {"rac1": [end(2), switch("eth1", SWITCHES["eth1"])]})
    assert "IC-TOPO-007" not in statuses(several)


def test_three_switches_are_claimed_where_lldp_shows_three_and_not_for_two():
    def chain(*at_first: str) -> Cluster:
        return with_lldp(
            two(), {"rac1": [switch("eth1", c) for c in at_first], "rac2": [switch("eth1", "aa:00:00:00:00:09")]}
        )

    finding = the(chain(*SWITCHES.values()), "IC-TOPO-009")
    assert finding.title == "At least three switches are between rac1 and rac2 on 192.168.10.0/24."
    assert "IC-TOPO-009" not in statuses(chain(SWITCHES["eth1"]))
    assert "IC-TOPO-009" not in statuses(chain("aa:00:00:00:00:09", SWITCHES["eth1"]))


def test_switches_are_unknown_where_lldpd_refuses_and_unclaimed_where_there_is_none():
    refused = Unknown("only root may query lldpd", MissingRight("query lldpd"))
    finding = the(with_setups(two(), lldp=refused), "IC-TOPO-010")
    assert (finding.status, finding.nodes) == (Status.UNKNOWN, ("rac1", "rac2"))
    absent = the(with_setups(two(), lldp=Unknown("not installed"), lacks_lldpd=True), "IC-TOPO-010")
    assert absent.status is Status.SKIPPED
    assert "switches and cables there are not judged" in absent.title


def test_a_cluster_without_ports_is_skipped():
    built = cluster([msgspec.structs.replace(node(1), interfaces=())])
    assert Status.SKIPPED in statuses(built).values()


@given(st.text(), st.text(), st.text(), st.text())
def test_no_entry_and_no_announcement_breaks_the_check(ip, address, state, chassis):
    built = two(Neighbour(ip, "eth1", address, state), a_stranger(ip, address))
    odd = LldpNeighbour("eth1", chassis, port=ip, chassis=address, management_ips=(ip,))
    assert list(topology.run(with_lldp(built, {"rac1": [odd, odd], "rac2": [odd]})))
