"""The output of `ip`, from Oracle Linux 6 to current releases."""

from hypothesis import given
from hypothesis import strategies as st

from checks.model.facts import Address, Interface, Neighbour, NicAddresses, Route, Unknown
from checks.sources.nodes.assembly import address_lines
from checks.sources.nodes.ip_text import parse_addresses, parse_interfaces, parse_neighbours, parse_routes

BONDED = """\
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN group default qlen 1000
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00 promiscuity 0 minmtu 0 maxmtu 0 numtxqueues 1
    inet 127.0.0.1/8 scope host lo
       valid_lft forever preferred_lft forever
2: eth1: <BROADCAST,MULTICAST,SLAVE,UP,LOWER_UP> mtu 9000 qdisc mq master bond1 state UP group default qlen 1000
    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff promiscuity 0 minmtu 68 maxmtu 9710
    bond_slave state ACTIVE mii_status UP link_failure_count 0 perm_hwaddr 02:00:00:00:00:01 queue_id 0
    altname enp1s0f0
3: eth2: <NO-CARRIER,BROADCAST,MULTICAST,SLAVE,UP> mtu 9000 qdisc mq master bond1 state DOWN group default qlen 1000
    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff permaddr 02:00:00:00:00:02 promiscuity 0 minmtu 68 maxmtu 9710
    bond_slave state BACKUP mii_status DOWN link_failure_count 1 perm_hwaddr 02:00:00:00:00:02 queue_id 0
4: bond1: <BROADCAST,MULTICAST,MASTER,UP,LOWER_UP> mtu 9000 qdisc noqueue state UP group default qlen 1000
    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff promiscuity 0 minmtu 68 maxmtu 65535
    bond mode active-backup active_slave eth1 miimon 100 updelay 0 downdelay 0 use_carrier 1
    inet6 fe80::ff:fe00:1/64 scope link
       valid_lft forever preferred_lft forever
5: bond1.200@bond1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 9000 qdisc noqueue state UP group default qlen 1000
    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff promiscuity 0 minmtu 0 maxmtu 65535
    vlan protocol 802.1Q id 200 <REORDER_HDR> numtxqueues 1 numrxqueues 1
    alias to the grid's switch
    inet 192.168.10.1/24 brd 192.168.10.255 scope global noprefixroute bond1.200
       valid_lft forever preferred_lft forever
    inet 169.254.3.4/17 brd 169.254.127.255 scope global bond1.200:1
       valid_lft forever preferred_lft forever
    inet 192.168.10.9/24 brd 192.168.10.255 scope global secondary bond1.200
       valid_lft forever preferred_lft forever
6: ib0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 65520 qdisc mq state UP group default qlen 256
    link/infiniband 80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:00:00:01 brd 00:ff:ff promiscuity 0
    ipoib pkey  0xffff mode  connected umcast  0000
7: enccw0.0.f400: <BROADCAST,MULTICAST> mtu 1492 qdisc noop state DOWN group default qlen 1000
    link/ether 02:00:00:00:00:07 brd ff:ff:ff:ff:ff:ff promiscuity 0
8: eth0@if5: <BROADCAST,MULTICAST,UP,LOWER_UP,M-DOWN> mtu 1500 qdisc noqueue state LOWERLAYERDOWN group default
    link/ether 02:00:00:00:00:08 brd ff:ff:ff:ff:ff:ff link-netnsid 0 promiscuity 0 minmtu 68 maxmtu 65535
    veth numtxqueues 1 numrxqueues 1
    inet 10.0.0.1 peer 10.0.0.2/32 scope global eth0
       valid_lft forever preferred_lft forever
9: v1@v2: <BROADCAST,MULTICAST> mtu 1500 qdisc noop state DOWN group default qlen 1000
    link/ether 02:00:00:00:00:09 brd ff:ff:ff:ff:ff:ff promiscuity 0 minmtu 68 maxmtu 65535
    veth numtxqueues 1 numrxqueues 1
10: sit0@NONE: <NOARP> mtu 1480 qdisc noop state DOWN group default qlen 1000
    link/sit 0.0.0.0 brd 0.0.0.0 promiscuity 0
    sit ip6ip remote any local any ttl 64
"""

INTERFACES = {interface.name: interface for interface in parse_interfaces(BONDED)}


def test_every_interface_has_its_own_name() -> None:
    assert list(INTERFACES) == [
        "lo",
        "eth1",
        "eth2",
        "bond1",
        "bond1.200",
        "ib0",
        "enccw0.0.f400",
        "eth0",
        "v1",
        "sit0",
    ]


def test_kinds_of_interfaces() -> None:
    assert {name: interface.kind for name, interface in INTERFACES.items()} == {
        "lo": "loopback",
        "eth1": "ethernet",
        "eth2": "ethernet",
        "bond1": "bond",
        "bond1.200": "vlan",
        "ib0": "infiniband",
        "enccw0.0.f400": "ethernet",
        "eth0": "veth",
        "v1": "veth",
        "sit0": "sit",
    }


def test_a_bond_knows_its_members_and_a_vlan_its_parent() -> None:
    assert INTERFACES["bond1"].members == ("eth1", "eth2")
    assert INTERFACES["eth2"].master == "bond1"
    assert INTERFACES["bond1.200"].parent == "bond1"
    assert [name for name, interface in INTERFACES.items() if interface.parent] == ["bond1.200"]


def test_a_vlan_has_its_tag_in_the_words_of_every_release() -> None:
    assert {name: i.vlan for name, i in INTERFACES.items() if i.vlan is not None} == {"bond1.200": 200}
    old = (
        "9: eth1.7@eth1: <UP> mtu 1500 qdisc noqueue state UP\n    link/ether 02:00:00:00:00:01 brd ff\n    vlan id {}"
    )
    assert [parse_interfaces(old.format(tag))[0].vlan for tag in ("7 <REORDER_HDR>", "x", "")] == [7, None, None]


def test_states() -> None:
    eth2, eth0, off = INTERFACES["eth2"], INTERFACES["eth0"], INTERFACES["enccw0.0.f400"]
    assert (eth2.administratively_up, eth2.operational_state, eth2.is_up) == (True, "down", False)
    assert eth0.operational_state == "lowerlayerdown"
    assert not off.administratively_up


def test_addresses_with_labels_of_their_own() -> None:
    assert INTERFACES["bond1.200"].addresses == (
        Address("192.168.10.1", 24),
        Address("169.254.3.4", 17, "bond1.200:1"),
        Address("192.168.10.9", 24),
    )
    assert INTERFACES["eth0"].addresses == (Address("10.0.0.1", 32),)
    assert INTERFACES["bond1"].addresses == (Address("fe80::ff:fe00:1", 64),)


def test_addresses_a_line_each() -> None:
    lines = (
        "3: eth1    inet 192.168.10.2/24 brd 192.168.10.255 scope global eth1\\       valid_lft forever",
        "3: eth1    inet 169.254.84.190/17 brd 169.254.127.255 scope global eth1:1\\       valid_lft forever",
        "7: bond1.200@bond1    inet6 fd00:10::1/64 scope global \\       valid_lft forever preferred_lft forever",
        "8: odd",
        "9: eth9    link/ether 02:00:00:00:00:09",
    )
    assert parse_addresses(lines) == (
        NicAddresses("eth1", (Address("192.168.10.2", 24), Address("169.254.84.190", 17, "eth1:1"))),
        NicAddresses("bond1.200", (Address("fd00:10::1", 64),)),
    )


def test_addresses_of_this_node_are_printed_as_those_of_peers_are_read() -> None:
    nics = (interface_with("eth1", Address("192.168.10.2", 24), Address("169.254.84.190", 17, "eth1:1")),)
    assert parse_addresses(address_lines(nics)) == (NicAddresses("eth1", nics[0].addresses),)


def interface_with(name: str, *addresses: Address) -> Interface:
    return Interface(name, 9000, "ethernet", administratively_up=True, operational_state="up", addresses=addresses)


def test_limits_of_the_mtu_are_unknown_if_they_are_not_printed() -> None:
    assert (INTERFACES["eth1"].min_mtu, INTERFACES["eth1"].max_mtu) == (68, 9710)
    assert INTERFACES["lo"].max_mtu == Unknown("The driver of lo reports no largest MTU.")
    not_printed = INTERFACES["enccw0.0.f400"].max_mtu
    assert isinstance(not_printed, Unknown)
    assert "too old" in not_printed.reason


def test_routes() -> None:
    text = """\
default via 10.0.0.254 dev eth0 proto static metric 100
10.1.1.5 via 10.0.0.9 dev eth0
192.168.10.0/24 dev bond1.200 proto kernel scope link src 192.168.10.1 metric 400
192.168.11.0/24 via 192.168.10.9 dev bond1.200 src 192.168.10.1 mtu lock 1500
192.168.12.0/24 via inet6 fe80::1 dev bond1.200 mtu 1400 linkdown
10.9.0.0/16 proto static mtu 1400
\tnexthop via 10.0.0.1 dev eth0 weight 1
\tnexthop via 10.0.0.2 dev eth1 weight 1 linkdown
unreachable 10.7.0.0/16
blackhole default metric 20
unicast 10.8.0.0/16 dev eth0 proto boot scope global
fe80::/64 dev eth0 proto kernel metric 256 pref medium
Error: ipv6: FIB table does not exist.
Dump terminated
"""
    assert parse_routes(text) == (
        Route("default", "eth0", "10.0.0.254", metric=100),
        Route("10.1.1.5/32", "eth0", "10.0.0.9"),
        Route("192.168.10.0/24", "bond1.200", source="192.168.10.1", metric=400),
        Route("192.168.11.0/24", "bond1.200", "192.168.10.9", 1500, True, "192.168.10.1"),
        Route("192.168.12.0/24", "bond1.200", "fe80::1", 1400),
        Route("10.9.0.0/16", "eth0", "10.0.0.1", 1400),
        Route("10.9.0.0/16", "eth1", "10.0.0.2", 1400),
        Route("10.8.0.0/16", "eth0"),
        Route("fe80::/64", "eth0", metric=256),
    )


def test_neighbours() -> None:
    text = """\
192.168.10.2 dev eth1 lladdr 02:00:00:00:00:02 REACHABLE
192.168.10.3 dev eth1  FAILED
fe80::1 dev eth0 lladdr 02:00:00:00:00:03 router STALE proto static
192.168.10.4 dev eth1 lladdr 02:00:00:00:00:04 used 12/7/3 probes 1 DELAY
10.0.0.7 dev eth0 proxy
sh: 1: ip: not found
"""
    assert parse_neighbours(text) == (
        Neighbour("192.168.10.2", "eth1", "02:00:00:00:00:02", "reachable"),
        Neighbour("192.168.10.3", "eth1", "", "failed"),
        Neighbour("fe80::1", "eth0", "02:00:00:00:00:03", "stale"),
        Neighbour("192.168.10.4", "eth1", "02:00:00:00:00:04", "delay", 7),
    )


WORDS = st.sampled_from([*BONDED.replace("\n", " \n ").split(" "), "nexthop", "via", "default", "²", "9" * 5000, "\t"])


@given(st.lists(WORDS, max_size=60).map(" ".join) | st.text())
def test_no_text_raises_in_the_parsers(text: str) -> None:
    for interface in parse_interfaces(text):
        assert isinstance(interface, Interface)
        assert all(address.network for address in interface.addresses)
    parse_routes(text)
    parse_neighbours(text)
    parse_addresses(text.splitlines())
