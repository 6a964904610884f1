"""Access lists and policies of a switch, drops of its engine, port-channels between switches, as signs at places."""

from __future__ import annotations

from checks.investigate.outputs.pastes import understand
from checks.investigate.pasted_signs import PastePlaces, signs
from checks.investigate.port_places import LeadingPort, NodePlace, PortFoundBy
from checks.model.pasted import Pasted
from checks.model.signs import Sign, SignAt
from checks.model.traffic import Traffic

NETWORK = "192.168.11.0/24"
# The form is that of tests/cisco_nxos/show_access-lists of ntc-templates.
LISTS = """sw# show access-lists
IP access list rac2-out
        statistics per-entry
        10 deny {rule} [match={matches}]
        20 permit ip any any [match=9000]
IP access list copp-system-p-acl-icmp
        10 permit icmp any any echo
sw# show access-lists summary
IPV4 ACL rac2-out
        Total ACEs Configured: 2
        Configured on interfaces:
                {where}
        Active on interfaces:
                {where}
"""
AT_PORT, AT_VLAN = "Ethernet1/2 - egress (Port ACL)", "Vlan 11 - (VLAN ACL)"
CHANNEL = """sw# show port-channel summary
Flags:  D - Down        P - Up in port-channel (members)
--------------------------------------------------------------------------------
Group Port-       Type     Protocol  Member Ports
      Channel
--------------------------------------------------------------------------------
10    Po10(SU)    Eth      LACP      Eth1/47(P)   Eth1/48({flag})
sw# show interface counters errors

--------------------------------------------------------------------------------
Port          Align-Err    FCS-Err   Xmit-Err    Rcv-Err  UnderSize OutDiscards
--------------------------------------------------------------------------------
Eth1/47                0         37          0         37          0           0
Eth1/48                0        {crc}          0        {crc}          0           0
"""


def at(*nodes: str) -> PastePlaces:
    ports = {
        (NETWORK, node): (LeadingPort(device="sw", port=f"Ethernet1/{node[-1]}", by=PortFoundBy.MAC_TABLE),)
        for node in nodes
    }
    places = tuple(
        NodePlace(
            network=NETWORK,
            node=node,
            nics=("eth2",),
            macs=frozenset(),
            addresses=frozenset({f"192.168.11.{node[-1]}", "169.254.200.9"}),
            mtu=9000,
        )
        for node in nodes
    )
    return PastePlaces(nodes=places, ports=ports, network=NETWORK)


def lists(rule: str, matches: int, where: str = AT_PORT) -> Pasted:
    found = understand(LISTS.format(rule=rule, matches=matches, where=where))
    assert not found.not_understood
    return found


def filters(rule: str, where: str = AT_PORT, grew: int = 5) -> tuple[set[SignAt], set[SignAt]]:
    seen, absent = signs(lists(rule, 100, where), lists(rule, 100 + grew, where), at("rac1", "rac2"))
    return set(seen), set(absent)


def acl(node: str, **packets: object) -> SignAt:
    if node and packets:
        packets["receivers"] = (node,)  # it leaves by the port
    return SignAt(sign=Sign.PORT_ACL, network=NETWORK, node=node, packets=Traffic(**packets))  # type: ignore[arg-type]


def test_a_line_whose_matches_grow_filters_at_the_port_of_its_list_and_at_no_other() -> None:
    seen, absent = filters("udp any any")
    assert seen == {acl("rac2", protocols=("udp",))}
    assert {one.node for one in absent} == {"rac1", ""}


def test_a_line_that_matches_nothing_of_ours_is_no_sign() -> None:
    seen, absent = filters("udp any any", grew=0)
    assert not seen
    assert acl("rac2") in absent


def test_a_line_names_the_addresses_that_it_drops() -> None:
    assert filters("ip any 192.168.11.2/32")[0] == {acl("rac2", addresses=("private",))}
    assert filters("ip any 169.254.0.0/16")[0] == {acl("rac2", addresses=("haip",))}
    assert filters("ip any any fragments")[0] == {acl("rac2", forms=("fragment",))}
    assert filters("icmp any any packet-length gt 1500")[0] == {acl("rac2", protocols=("icmp",), sizes=(1501, 65535))}


def test_a_list_of_the_vlan_is_of_the_network() -> None:
    assert filters("ip any 169.254.0.0/16", AT_VLAN)[0] == {acl("", addresses=("haip",))}


def test_lists_without_their_places_show_nothing() -> None:
    before, after = (
        understand(
            LISTS.format(rule="udp any any", matches=n, where=AT_PORT).partition("sw# show access-lists summary")[0]
        )
        for n in (1, 9)
    )
    assert signs(before, after, at("rac2")) == (frozenset(), frozenset())


def test_a_port_channel_that_leads_to_no_node_links_switches() -> None:
    before, after, suspended = (
        understand(CHANNEL.format(flag=flag, crc=crc)) for flag, crc in (("P", 100), ("P", 140), ("s", 100))
    )
    assert SignAt(sign=Sign.MEMBER_CRC, network=NETWORK) in signs(before, after, at("rac2"))[0]
    assert SignAt(sign=Sign.MEMBER_CRC, network=NETWORK) in signs(before, before, at("rac2"))[1]
    assert SignAt(sign=Sign.MEMBER_DOWN, network=NETWORK) in signs(before, suspended, at("rac2"))[0]


def test_what_the_forwarding_engine_drops_is_of_no_port() -> None:
    text = (
        "sw# show hardware internal errors\nInstance:0\n"
        "ID    Name                                          Value              Ports\n"
        "--    ----                                          -----              -----\n"
        "14    Fabric drop packets                           {:016}   -\n"
        "15    Of a port                                     0000000000000009   1/3 -\n"
    )
    before, after = understand(text.format(24)), understand(text.format(31))
    assert after.inside == {"Fabric drop packets": 31}
    assert signs(before, after, at("rac2"))[0] == {SignAt(sign=Sign.FABRIC, network=NETWORK)}


def policies(policer: str) -> Pasted:
    return understand(
        "sw# show policy-map interface Ethernet1/2\n\nGlobal statistics status :   enabled\n\nEthernet1/2\n\n"
        f"{policer}"
        "  Service-policy (queuing) output:   default-out-policy\n    SNMP Policy Index:  301990050\n\n"
        "    Class-map (queuing):   c-out-q-default (match-any)\n      bandwidth remaining percent 100\n"
        "      queue dropped pkts : 0\n      queue depth in bytes : 0\n"
    )


def test_policies_without_a_policer_do_not_police() -> None:
    policer = (
        "  Service-policy (qos) output:   limit\n\n    Class-map (qos):   large (match-any)\n"
        "      police cir 400 kbps bc 55000 bytes\n        conformed 99 bytes, 0 bps action: transmit\n"
        "        violated {} bytes, 0 bps action: drop\n\n"
    )
    polices = SignAt(sign=Sign.PORT_POLICED, network=NETWORK, node="rac2")
    assert polices in signs(policies(""), policies(""), at("rac2"))[1]
    assert polices in signs(policies(policer.format(5)), policies(policer.format(5)), at("rac2"))[1]
    assert polices in signs(policies(policer.format(5)), policies(policer.format(90)), at("rac2"))[0]
