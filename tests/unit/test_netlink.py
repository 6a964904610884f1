"""Netlink messages, as pyroute2 decodes them, become facts. The messages for bonds and VLANs were written by hand."""

import socket
from typing import Any

from checks.model.facts import Address, Interface, Neighbour, Route, Unknown
from checks.sources.nodes.netlink import Dump, interfaces_of, neighbours_of, routes_of


def _link(index: int, name: str, **attributes: Any) -> dict[str, Any]:
    kind = attributes.pop("kind", None)
    attrs = [("IFLA_IFNAME", name), ("IFLA_MTU", 9000), ("IFLA_OPERSTATE", "UP"), *attributes.items()]
    if kind:
        data = {"attrs": [("IFLA_VLAN_ID", 200)]} if kind == "vlan" else {"attrs": []}
        attrs.append(("IFLA_LINKINFO", {"attrs": [("IFLA_INFO_KIND", kind), ("IFLA_INFO_DATA", data)]}))
    return {"index": index, "ifi_type": 1, "flags": 0x1, "attrs": attrs}


LINKS = (
    _link(2, "eth1", IFLA_MASTER=4, IFLA_MIN_MTU=68, IFLA_MAX_MTU=9710, IFLA_ADDRESS="02:00:00:00:00:01"),
    _link(3, "eth2", IFLA_MASTER=4, IFLA_MIN_MTU=0, IFLA_MAX_MTU=0),
    _link(4, "bond1", kind="bond"),
    _link(5, "bond1.200", kind="vlan", IFLA_LINK=4),
    _link(6, "v1", kind="veth", IFLA_LINK=7),
    _link(7, "v2", kind="veth", IFLA_LINK=6),
    _link(8, "mv0", kind="macvlan", IFLA_LINK=2, IFLA_LINK_NETNSID=0),
)


def _route(**message: Any) -> dict[str, Any]:
    attrs = message.pop("attrs")
    return {"dst_len": 24, "table": 254, "type": 1, "flags": 0, **message, "attrs": list(attrs.items())}


def _found() -> dict[str, Interface]:
    addresses = (
        {"family": socket.AF_INET6, "index": 4, "prefixlen": 64, "attrs": [("IFA_ADDRESS", "fd00::1")]},
        {
            "family": socket.AF_INET,
            "index": 4,
            "prefixlen": 32,
            "attrs": [("IFA_ADDRESS", "10.0.0.2"), ("IFA_LOCAL", "10.0.0.1"), ("IFA_LABEL", "bond1")],
        },
        {
            "family": socket.AF_INET,
            "index": 4,
            "prefixlen": 17,
            "attrs": [("IFA_LOCAL", "169.254.1.1"), ("IFA_LABEL", "bond1:1")],
        },
    )
    return {interface.name: interface for interface in interfaces_of(Dump(links=LINKS, addresses=addresses))}


def test_the_layers_above_and_below_an_interface_are_read() -> None:
    found = _found()
    assert found["bond1"].members == ("eth1", "eth2")
    assert found["eth1"].master == "bond1"
    assert {name: i.parent for name, i in found.items() if i.parent} == {"bond1.200": "bond1"}
    assert (found["eth1"].kind, found["bond1"].kind) == ("ethernet", "bond")
    assert {name: i.vlan for name, i in found.items() if i.vlan is not None} == {"bond1.200": 200}


def test_limits_of_the_mtu() -> None:
    found = _found()
    assert (found["eth1"].min_mtu, found["eth1"].max_mtu) == (68, 9710)
    assert found["eth2"].max_mtu == Unknown("The driver of eth2 reports no largest MTU.")
    assert isinstance(found["bond1"].max_mtu, Unknown)


def test_addresses() -> None:
    assert _found()["bond1"].addresses == (
        Address("10.0.0.1", 32),
        Address("169.254.1.1", 17, "bond1:1"),
        Address("fd00::1", 64),
    )


def test_only_unicast_routes_of_the_main_table() -> None:
    routes = (
        _route(attrs={"RTA_OIF": 4, "RTA_GATEWAY": "10.0.0.254", "RTA_PRIORITY": 100}, dst_len=0),
        _route(
            attrs={
                "RTA_DST": "10.1.0.0",
                "RTA_OIF": 4,
                "RTA_PREFSRC": "10.0.0.1",
                "RTA_METRICS": {"attrs": [("RTAX_LOCK", 4), ("RTAX_MTU", 1500)]},
            }
        ),
        _route(attrs={"RTA_DST": "10.2.0.0", "RTA_OIF": 4, "RTA_VIA": {"family": 10, "addr": "fe80::1"}}),
        _route(
            attrs={
                "RTA_DST": "10.3.0.0",
                "RTA_MULTIPATH": [
                    {"oif": 2, "attrs": [("RTA_GATEWAY", "10.0.0.8")]},
                    {"oif": 3, "attrs": [("RTA_GATEWAY", "10.0.0.9")]},
                ],
            }
        ),
        _route(attrs={"RTA_DST": "10.4.0.0", "RTA_OIF": 4}, flags=0x200),
        _route(attrs={"RTA_DST": "10.5.0.0", "RTA_OIF": 4}, type=7),
        _route(attrs={"RTA_DST": "10.6.0.0", "RTA_OIF": 4, "RTA_TABLE": 1000}, table=252),
    )
    assert routes_of(Dump(links=LINKS, routes=routes)) == (
        Route("default", "bond1", "10.0.0.254", metric=100),
        Route("10.1.0.0/24", "bond1", mtu=1500, mtu_locked=True, source="10.0.0.1"),
        Route("10.2.0.0/24", "bond1", "fe80::1"),
        Route("10.3.0.0/24", "eth1", "10.0.0.8"),
        Route("10.3.0.0/24", "eth2", "10.0.0.9"),
    )


def test_only_requested_neighbours_are_returned() -> None:
    def entry(ip: str, state: int, flags: int = 0, family: int = socket.AF_INET) -> dict[str, Any]:
        return {"family": family, "ifindex": 2, "state": state, "flags": flags, "attrs": [("NDA_DST", ip)]}

    entries = (entry("10.0.0.2", 0x20), entry("ff02::1", 0x40), entry("10.0.0.3", 0), entry("10.0.0.4", 0x80, flags=8))
    assert neighbours_of(Dump(links=LINKS, neighbours=entries)) == (Neighbour("10.0.0.2", "eth1", "", "failed"),)


def test_an_interrupted_dump_is_detected() -> None:
    whole, marked = {"header": {"flags": 0x2}}, {"header": {"flags": 0x12}}
    assert not Dump(links=(whole, whole)).was_interrupted
    assert Dump(links=(whole,), routes=(whole, marked)).was_interrupted
