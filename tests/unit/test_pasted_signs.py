"""From pastes to signs at places: which port leads to which node, what is seen there, and what was examined."""

import pytest
from msgspec.structs import replace

from checks.investigate.outputs.pastes import understand
from checks.investigate.pasted_signs import PastePlaces, arrived, signs
from checks.investigate.port_places import NodePlace, PortFoundBy, node_places, port_of_node
from checks.model.facts import AddressProbe, AddressProbes, LldpNeighbour
from checks.model.pasted import Pasted
from checks.model.signs import Sign, SignAt
from checks.model.traffic import Traffic
from tests.fixtures.clusters import cluster, node, with_interface
from tests.unit.test_pasted_outputs import SAMPLES

FIRST = "192.168.10.0/24"


def places(**changes: object) -> list[NodePlace]:
    """rac1 to rac3 on the first private network."""
    return [
        NodePlace(
            **{
                "network": FIRST,
                "node": f"rac{n}",
                "nics": ("eth1",),
                "macs": frozenset({f"52:54:00:10:0{n}:01"}),
                "addresses": frozenset({f"192.168.10.{n}", f"169.254.10.{n}"}),
                "mtu": 9000,
                **changes,
            }  # type: ignore[arg-type]
        )
        for n in (1, 2, 3)
    ]


def at(sign: Sign, node: str = "rac2", **packets: object) -> SignAt:
    return SignAt(sign=sign, network=FIRST, node=node, packets=Traffic(**packets))  # type: ignore[arg-type]


def read(
    before: str, after: str, nodes: list[NodePlace] | None = None, **more: object
) -> tuple[set[SignAt], set[SignAt]]:
    """The signs of two pastes on the switch of the first network; Ethernet1/11 and 1/12 lead to rac1 and rac2."""
    nodes = nodes or places()
    later = understand(after)
    said = {(FIRST, "rac1"): "Eth1/11", (FIRST, "rac2"): "Eth1/12"}
    ports = {(p.network, p.node): port_of_node(later, p, nodes, said) for p in nodes}
    found = PastePlaces(nodes=tuple(nodes), ports=ports, network=FIRST, **more)  # type: ignore[arg-type]
    seen, absent = signs(understand(before) if before else None, later, found)
    return set(seen), set(absent)


# --- which port leads to which node -----------------------------------------------------------------------------------


def test_the_mac_table_shows_the_port_with_the_members_of_its_port_channel() -> None:
    pasted = understand(SAMPLES["nxos-mac"] + SAMPLES["nxos-port-channel"])
    nodes = places()
    assert [(p.port, p.by, p.vlan) for p in port_of_node(pasted, nodes[0], nodes)] == [
        ("Port-channel11", PortFoundBy.MAC_TABLE, "811"),
        ("Ethernet1/11", PortFoundBy.MAC_TABLE, "811"),
        ("Ethernet1/13", PortFoundBy.MAC_TABLE, "811"),
    ]
    assert [p.port for p in port_of_node(pasted, nodes[1], nodes)] == ["Ethernet1/12", "Port-channel12"]
    assert port_of_node(pasted, nodes[2], nodes) == ()


def test_a_port_with_several_nodes_is_a_trunk_and_leads_to_none_of_them() -> None:
    pasted = understand(SAMPLES["nxos-mac"].replace("Eth1/12", "Po11"))
    nodes = places()
    assert [port_of_node(pasted, one, nodes) for one in nodes] == [(), (), ()]


def test_lldp_then_a_description_and_a_person_before_all() -> None:
    pasted = understand(SAMPLES["nxos-interface"])
    announced = LldpNeighbour("eth1", switch="sw-priv-a.example", port="Ethernet1/11")
    one = replace(places()[1], neighbours=(announced,))
    assert [(p.port, p.by) for p in port_of_node(pasted, one)] == [("Ethernet1/11", PortFoundBy.LLDP)]
    elsewhere = replace(one, neighbours=(replace(announced, switch="sw-priv-b"),))
    assert [(p.port, p.by) for p in port_of_node(pasted, elsewhere)] == [("Ethernet1/12", PortFoundBy.DESCRIPTION)]
    named = port_of_node(pasted, one, said={(FIRST, "rac2"): "eth1/12"})
    assert [(p.device, p.port.casefold(), p.by) for p in named] == [("sw-priv-a", "eth1/12", PortFoundBy.PERSON)]


@pytest.mark.parametrize(
    ("description", "is_named"),
    [("rac2 eth1 private", True), ("to rac2-eth1", True), ("rac22 eth1", False), ("rac2", False), ("uplink", False)],
)
def test_a_description_names_node_and_nic_where_there_are_two_networks(description: str, is_named: bool) -> None:
    pasted = understand(SAMPLES["nxos-interface"].replace("rac2 eth1 private", description))
    one = places()[1]
    second = replace(one, network="192.168.11.0/24", nics=("eth2",))
    assert bool(port_of_node(pasted, one, [one, second])) is is_named


def test_places_come_from_facts() -> None:
    nodes = [with_interface(node(n), "eth1", mac_address=f"52:54:00:10:0{n}:01") for n in (1, 2)]
    facts = replace(
        cluster(nodes),
        owners=AddressProbes(
            "rac1",
            (AddressProbe(FIRST, "rac2", "192.168.10.2", "eth1", 2, ("52:54:00:10:02:01", "52:54:00:FF:00:01")),),
        ),
    )
    found = {(p.network, p.node): p for p in node_places(facts)}
    assert found[FIRST, "rac2"].macs == {"52:54:00:10:02:01"}
    assert found[FIRST, "rac2"].strange_macs == {"52:54:00:ff:00:01"}
    assert found[FIRST, "rac1"].nics == ("eth1",)
    assert found[FIRST, "rac1"].mtu == 9000


# --- signs ------------------------------------------------------------------------------------------------------------

NEXUS = SAMPLES["nxos-interface"]


def test_a_counter_is_a_sign_where_it_grew_and_absent_where_it_did_not() -> None:
    seen, absent = read(NEXUS, NEXUS.replace("4407 CRC", "4431 CRC"))
    assert at(Sign.PORT_CRC) in seen
    assert at(Sign.PORT_CRC, "rac1") in absent
    assert at(Sign.PORT_DISCARDS, receivers=("rac2",)) in absent


def test_a_total_alone_shows_nothing() -> None:
    seen, absent = read("", NEXUS)
    assert not {one.sign for one in seen | absent} & {Sign.PORT_CRC, Sign.PORT_DISCARDS, Sign.PAUSED}
    assert at(Sign.PORT_MTU) in seen  # a state is one as it is read
    assert at(Sign.PORT_DOWN) in absent


def test_counters_that_were_cleared_show_nothing() -> None:
    seen, absent = read(NEXUS, NEXUS.replace("4407 CRC", "3 CRC"))
    assert not [one for one in seen | absent if one.sign is Sign.PORT_CRC and one.node == "rac2"]


def test_frames_that_another_switch_had_marked_are_not_damaged_at_this_port() -> None:
    text = SAMPLES["nxos-counters-errors"]
    seen, absent = read(
        text, text.replace("4407", "4417").replace("Eth1/12               3", "Eth1/12              13")
    )
    assert not [one for one in seen | absent if one.sign is Sign.PORT_CRC and one.node == "rac2"]


def test_discards_out_of_a_port_are_packets_to_the_node() -> None:
    seen, _ = read(NEXUS, NEXUS.replace("1837 output discard", "1900 output discard"))
    assert seen - {at(Sign.PORT_MTU)} == {at(Sign.PORT_DISCARDS, "rac1", receivers=("rac1",))}
    queues = SAMPLES["nxos-queuing"]
    seen, absent = read(queues, queues.replace("   612", "   700").replace("           5\n", "           9\n"))
    assert seen == {
        at(Sign.PORT_DISCARDS, "rac1", senders=("rac1",)),
        SignAt(sign=Sign.FABRIC, network=FIRST),
    }
    assert at(Sign.PAUSED, "rac1") in absent


def test_the_mtu_of_a_port_as_its_platform_counts() -> None:
    seen, absent = read("", NEXUS)
    assert (at(Sign.PORT_MTU) in seen, at(Sign.PORT_MTU, "rac1") in absent) == (True, True)
    junos = SAMPLES["junos-extensive"]
    said = {(FIRST, "rac2"): "xe-0/0/4"}
    for mtu, is_small in (("9014", False), ("9000", True)):
        pasted = understand(junos.replace("MTU: 9014", f"MTU: {mtu}"))
        one = places()[1]
        found = PastePlaces(nodes=(one,), ports={(FIRST, "rac2"): port_of_node(pasted, one, said=said)}, network=FIRST)
        seen, absent = signs(None, pasted, found)  # type: ignore[assignment]
        assert at(Sign.PORT_MTU) in (seen if is_small else absent)


def test_a_nexus_5000_has_the_mtu_in_its_classes() -> None:
    text = SAMPLES["nxos-interface-5500"].replace("Ethernet1/3", "Ethernet1/12")
    seen, absent = read("", text)
    assert not [one for one in seen | absent if one.sign is Sign.PORT_MTU]
    assert SignAt(sign=Sign.SWITCH_MTU, network=FIRST) in seen
    seen, absent = read("", text.replace("HW MTU: 1600 (1500 configured)", "HW MTU: 9216 (9216 configured)"))
    assert SignAt(sign=Sign.SWITCH_MTU, network=FIRST) in absent


def test_a_port_that_is_down_and_one_that_is_off_for_errors() -> None:
    text = SAMPLES["nxos-status"]
    seen, absent = read("", text)
    assert (at(Sign.PORT_BLOCKED) in seen, at(Sign.PORT_DOWN, "rac1") in absent) == (True, True)
    seen, _ = read("", text.replace("linkFlapE", "notconnec"))
    assert at(Sign.PORT_DOWN) in seen


def test_spanning_tree_and_members() -> None:
    seen, absent = read("", SAMPLES["nxos-tree"] + SAMPLES["nxos-port-channel"])
    assert at(Sign.PORT_BLOCKED) in seen
    assert at(Sign.MEMBER_DOWN) in seen  # Eth1/12 is down in Po12
    assert at(Sign.MEMBER_DOWN, "rac1") in seen or at(Sign.MEMBER_DOWN, "rac1") in absent
    seen, absent = read("", SAMPLES["nxos-tree"].replace("BKN*2  ", "FWD 2  "))
    assert at(Sign.PORT_BLOCKED) in absent


def test_a_second_host_in_the_mac_table() -> None:
    strange = frozenset({"52:54:00:ff:00:01"})
    nodes = [replace(one, strange_macs=strange if one.node == "rac2" else frozenset()) for one in places()]
    text = SAMPLES["nxos-mac"]
    assert at(Sign.SECOND_MAC) in read("", text, nodes)[0]
    assert at(Sign.SECOND_MAC) in read("", text.replace("5254.00ff.0001", "5254.00ee.0001"), nodes)[1]
    assert not [one for one in read("", text)[0] | read("", text)[1] if one.sign is Sign.SECOND_MAC]


def test_the_link_between_two_switches() -> None:
    trunk = SignAt(sign=Sign.TRUNK_DOWN, network=FIRST)
    assert trunk in read("", SAMPLES["nxos-vpc"])[1]
    assert trunk in read("", SAMPLES["nxos-vpc"].replace("1     Po1    up  ", "1     Po1    down"))[0]
    member = SignAt(sign=Sign.MEMBER_DOWN, network=FIRST)
    assert member in read("", SAMPLES["nxos-vpc"] + SAMPLES["nxos-port-channel"])[0]
    healthy = SAMPLES["nxos-port-channel"].replace("Eth1/51(D)", "Eth1/51(P)")
    assert member in read("", SAMPLES["nxos-vpc"] + healthy)[1]


def test_nothing_of_a_switch_without_its_network() -> None:
    pasted = understand(SAMPLES["nxos-vpc"])
    assert signs(None, pasted, PastePlaces(nodes=tuple(places()))) == (frozenset(), frozenset())


def test_policers() -> None:
    text = SAMPLES["iosxe-policy-map"]
    one = places()[1]
    said = {(FIRST, "rac2"): "Te1/0/7"}
    later = understand(text.replace("exceeded 555000 bytes", "exceeded 564000 bytes"))
    found = PastePlaces(nodes=(one,), ports={(FIRST, "rac2"): port_of_node(later, one, said=said)}, network=FIRST)
    assert at(Sign.PORT_POLICED) in signs(understand(text), later, found)[0]
    assert at(Sign.PORT_POLICED) in signs(understand(text), understand(text), found)[1]


def test_the_rules_of_a_node() -> None:
    text = SAMPLES["node-nft"]
    nodes = places()
    seen, absent = read(text, text.replace("packets 4410 bytes 6614000", "packets 4420 bytes 6629000"), nodes)
    assert seen == {at(Sign.NODE_RULE, protocols=("udp",), receivers=("rac2",), sizes=(1501, 65_535))}
    seen, absent = read(text, text, nodes)
    assert (seen, at(Sign.NODE_RULE) in absent) == (set(), True)
    # What any traffic of the node can have moved, on any of its networks, shows nothing; nor does it show absence.
    seen, absent = read(text, text.replace("counter packets 3 bytes 200", "counter packets 9 bytes 800"), nodes)
    assert (seen, absent) == (set(), set())
    # Without counters, or pasted once, a rule shows nothing.
    assert read("", text, nodes) == (set(), set())


def test_a_rule_of_fragments_and_one_of_haip() -> None:
    text = SAMPLES["node-iptables"]
    seen, _ = read(text, text.replace("[3:4500] -A INPUT -f", "[30:45000] -A INPUT -f"))
    assert seen == {at(Sign.NODE_RULE, "rac1", forms=("fragment",), receivers=("rac1",))}
    nft = SAMPLES["node-nft"].replace('iifname "eth2" ip saddr', 'iifname "eth1" ip saddr')
    seen, _ = read(nft, nft.replace("packets 0 bytes 0 drop", "packets 8 bytes 800 drop"))
    assert seen == {at(Sign.NODE_RULE, addresses=("haip",), receivers=("rac2",))}


def test_nics_of_a_node() -> None:
    one = replace(places()[0], nics=("ens2f0",))
    found = PastePlaces(nodes=(one,))
    text = SAMPLES["node-ethtool-statistics"]
    grown = text.replace("rx_crc_errors_phy: 6", "rx_crc_errors_phy: 9").replace(
        "rx_prio3_pause: 12", "rx_prio3_pause: 99"
    )
    seen, absent = signs(understand(text), understand(grown), found)
    assert seen == {at(Sign.NIC_CRC, "rac1"), at(Sign.PAUSED, "rac1")}
    seen, absent = signs(understand(text), understand(text), found)
    assert {at(Sign.NIC_CRC, "rac1"), at(Sign.PAUSED, "rac1")} <= absent
    optics = understand(SAMPLES["node-ethtool-module"])
    assert signs(None, optics, found) == ({at(Sign.OPTICS, "rac1")}, frozenset())
    bright = understand(SAMPLES["node-ethtool-module"].replace("-26.78 dBm", "-2.78 dBm"))
    assert signs(None, bright, found) == (frozenset(), {at(Sign.OPTICS, "rac1")})


def test_queues_of_a_node() -> None:
    text = SAMPLES["node-links"]
    seen, _ = read(text, text.replace("dropped 61,", "dropped 70,"))
    assert at(Sign.NODE_QDISC, "rac1", senders=("rac1",)) in seen
    seen, _ = read(text, text.replace("(dropped 440, overlimits 440", "(dropped 480, overlimits 480"))
    assert {one.sign for one in seen if one.node == "rac1"} == {Sign.NODE_QDISC}
    assert at(Sign.NODE_QDISC, "rac1", senders=("rac1",)) in read(text, text)[1]


def test_how_many_of_our_packets_arrived() -> None:
    def count(text: str) -> int | None:
        ours = {"sources": ["192.168.10.1"], "destinations": ["192.168.10.2"]}
        return arrived(understand(text), **ours, is_ours=lambda frame: frame.protocol == "udp")  # type: ignore[arg-type]

    text = SAMPLES["node-tcpdump"]
    assert count(text) == 4
    assert count(text.replace("0 packets dropped by kernel", "2 packets dropped by kernel")) is None
    assert count(text.partition("8 packets captured")[0]) is None
    nothing = (
        text.partition("14:02")[0] + "0 packets captured\n0 packets received by filter\n0 packets dropped by kernel\n"
    )
    assert count(nothing) == 0


def test_an_empty_paste_shows_nothing() -> None:
    assert signs(Pasted(), Pasted(), PastePlaces(nodes=tuple(places()), network=FIRST)) == (frozenset(), frozenset())


# --- what is of the switch --------------------------------------------------------------------------------------------

FILTERS = SAMPLES["nxos-filters"]


def of(sign: Sign, found: set[SignAt]) -> set[SignAt]:
    return {one for one in found if one.sign is sign}


def test_a_line_of_an_access_list_drops_where_it_is_applied() -> None:
    seen, absent = read(FILTERS, FILTERS.replace("[match=412]", "[match=431]"))
    assert of(Sign.PORT_ACL, seen) == {at(Sign.PORT_ACL, "rac2", receivers=("rac2",), protocols=("udp",))}
    assert {SignAt(sign=Sign.PORT_ACL, network=FIRST), at(Sign.PORT_ACL, "rac1")} <= absent
    of_vlan = FILTERS.replace("any 169.254.0.0/16 [match=0]", "any 169.254.0.0/16 [match=9]")
    assert of(Sign.PORT_ACL, read(FILTERS, of_vlan)[0]) == {
        SignAt(sign=Sign.PORT_ACL, network=FIRST, packets=Traffic(addresses=("haip",)))
    }


def test_a_line_that_dropped_at_a_place_that_is_not_known_shows_nothing() -> None:
    text = FILTERS.partition("sw-priv-a# show access-lists summary")[0]
    seen, absent = read(text, text.replace("[match=412]", "[match=431]"))
    assert not [one for one in seen | absent if one.sign is Sign.PORT_ACL]
    assert at(Sign.PORT_ACL) in read(text, text)[1]


def test_the_settings_of_ports_and_trunks() -> None:
    seen, absent = read("", FILTERS)
    assert SignAt(sign=Sign.TRUNK_MTU, network=FIRST) in seen  # Ethernet1/49
    assert SignAt(sign=Sign.TRUNK_DOWN, network=FIRST) in absent
    down = FILTERS.replace("trunking      --", "not-connected --")
    assert SignAt(sign=Sign.TRUNK_DOWN, network=FIRST) in read("", down)[0]
    # A trunk for all VLANs can be any port that nothing uses.
    unused = read("", down.replace("1,811\n", "1-4094\n"))
    assert not [one for one in unused[0] | unused[1] if one.sign is Sign.TRUNK_DOWN]


def test_a_port_in_another_vlan_than_two_others() -> None:
    text = SAMPLES["nxos-status"] + "Eth1/13       rac3 eth1 private  connected 811       full    25G     --\n"
    text = text.replace("Eth1/13       --                 xcvrAbsen 1         auto    auto    --\n", "")
    nodes = places()
    for vlan, is_other in (("811", False), ("812", True)):
        pasted = understand(text.replace("linkFlapE 811", f"connected {vlan}"))
        said = {(FIRST, f"rac{n}"): f"Eth1/1{n}" for n in (1, 2, 3)}
        ports = {(p.network, p.node): port_of_node(pasted, p, nodes, said) for p in nodes}
        seen, absent = signs(None, pasted, PastePlaces(nodes=tuple(nodes), ports=ports, network=FIRST))
        assert at(Sign.PORT_VLAN) in (seen if is_other else absent)
        assert at(Sign.PORT_VLAN, "rac1") not in seen


def test_the_only_port_channel_of_a_switch_leads_to_another() -> None:
    text = SAMPLES["nxos-port-channel"]
    one = "\n".join(line for line in text.split("\n") if not line.startswith(("11 ", "12 ", "14 ")))
    counters = SAMPLES["nxos-counters-errors"].replace("Eth1/12", "Eth1/50")
    grown = counters.replace("4407", "4410").replace("4419", "4422")
    seen, _ = read(one + counters, one + grown)
    trunk = {SignAt(sign=sign, network=FIRST) for sign in (Sign.MEMBER_DOWN, Sign.MEMBER_CRC)}
    assert trunk <= seen
    assert not trunk & set().union(*read(text + counters, text + grown))


def test_a_policer_of_a_vlan_and_drops_of_a_forwarding_engine() -> None:
    policer = SAMPLES["nxos-policy-map"].replace("Ethernet1/11", "Vlan 811")
    seen, _ = read(policer, policer.replace("violated 902311", "violated 910000"))
    assert seen == {SignAt(sign=Sign.PORT_POLICED, network=FIRST)}
    seen, _ = read(FILTERS, FILTERS.replace("0000000000000007", "0000000000000031"))
    assert SignAt(sign=Sign.FABRIC, network=FIRST) in seen
    assert SignAt(sign=Sign.FABRIC, network=FIRST) in read(FILTERS, FILTERS)[1]


def test_neighbour_entries_and_receive_buffers_of_a_node() -> None:
    text = SAMPLES["node-neighbours"]
    failing = text.replace("lladdr 52:54:00:10:02:01 ref 1 used 4/4/4 probes 1 REACHABLE", "used 4/4/4 probes 3 FAILED")
    assert read(text, failing)[0] == {at(Sign.NEIGHBOURS_FAIL, "rac1")}
    assert read(text, text)[1] == {at(Sign.NEIGHBOURS_FAIL, "rac1")}
    one = replace(places()[0], nics=("ens2f0",))
    counters = SAMPLES["node-ethtool-statistics"]
    grown = understand(counters.replace("rx_out_of_buffer: 17", "rx_out_of_buffer: 90"))
    assert at(Sign.NIC_MISSED, "rac1") in signs(understand(counters), grown, PastePlaces(nodes=(one,)))[0]
