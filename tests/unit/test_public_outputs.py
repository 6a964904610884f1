"""Parsers on outputs that people published of their own machines; host names, MAC and IP addresses are replaced."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.model.facts import DriverCounters, LldpNeighbour, Unknown
from checks.rules.driver_counts import DriverSign, driver_signs
from checks.rules.size_classes import size_classes
from checks.sources.nodes.driver_counters import parse_driver_counters
from checks.sources.nodes.route_get import Query, parse_routes_in_use
from checks.sources.nodes.sections import OutputSection
from checks.sources.nodes.setup_bonds import parse_bonds
from checks.sources.nodes.setup_text import parse_lldp, parse_networkd_lldp, parse_setup
from checks.sources.nodes.socket_text import parse_sockets

SAMPLES = Path(__file__).parents[1] / "samples"


def sample(name: str) -> str:
    return (SAMPLES / f"{name}.txt").read_text(encoding="utf-8")


# --- /proc/net/bonding ------------------------------------------------------------------------------------------------


def bond(name: str):
    text = "\n".join(f"bond0:{line}" for line in sample(f"bonding/{name}").split("\n"))
    (found,) = parse_bonds(text)
    return found


def test_a_bond_with_lacp_and_the_details_of_actor_and_partner() -> None:
    # netdev mailing list, https://lore.kernel.org/netdev/f0b24f711285856425a0d155243045f2@jh-inst.cas.cz/, Linux 4.19
    found = bond("lacp-3.7.1")
    assert (found.is_lacp, found.hash_policy, found.polling_ms) == (True, "layer3+4", 100)
    assert found.partner_mac == "bb:bb:bb:bb:bb:6a"
    assert [(m.name, m.mii_status, m.speed_mbps, m.duplex, m.aggregator_id) for m in found.members] == [
        ("eno1", "up", 1000, "full", 7),
        ("eno2", "up", 1000, "full", 7),
    ]


def test_an_active_member_and_one_without_a_known_speed() -> None:
    # netdev mailing list, https://lore.kernel.org/netdev/
    # 30bdcc940d2bdafb7b8f5609207a4bf642fcf9a5.camel@interlinx.bc.ca/, Linux 5.1
    found = bond("active-backup-3.7.1")
    assert (found.has_one_active, found.active_member) == (True, "enp0s31f6")
    assert [(m.name, m.speed_mbps, m.duplex, m.link_failures) for m in found.members] == [
        ("enp0s31f6", 1000, "full", 0),
        ("wlp2s0", None, "", 1),
    ]


def test_bonds_of_drivers_from_2008_show_no_speed_and_no_aggregator() -> None:
    # The check for bonds in OpenSVC, a comment with the output of RHEL 5: https://github.com/opensvc/opensvc
    old = bond("active-backup-3.4.0")
    assert (old.has_one_active, old.active_member, old.polling_ms) == (True, "eth0", 100)
    # A public page about bonds of CentOS 6; without link monitoring each member is reported as up.
    unwatched = bond("round-robin-3.5.0")
    assert (unwatched.has_one_active, unwatched.active_member, unwatched.polling_ms) == (False, "", 0)
    for found in (old, unwatched):
        assert all(
            (m.mii_status, m.speed_mbps, m.duplex, m.aggregator_id) == ("up", None, "", None) for m in found.members
        )


# --- lldpctl -f keyvalue ----------------------------------------------------------------------------------------------


def test_a_virtual_bridge_and_two_switches_of_cisco() -> None:
    # Test data of Cisco for OpenStack (2024, Apache licence): lldpctl on a node with a Linux bridge and two Nexus 9000
    found = parse_lldp(OutputSection(sample("lldp/nexus-and-linux-bridge")))
    assert not isinstance(found, Unknown)
    bridge, first, second = found
    assert (bridge.interface, bridge.switch, bridge.port, bridge.port_mac) == (
        "enp1s0", "host2", "vnet5", "fe:54:00:08:ce:7f",
    )  # fmt: skip
    assert bridge.management_ips == ("192.0.2.35", "fe80::a688:73ff:fe5b:c3a")
    assert isinstance(bridge.max_frame_bytes, Unknown)
    assert first == LldpNeighbour(
        "enp7s0",
        "leaf-26",
        first.description,
        "Ethernet1/5",
        9216,
        "02:6a:00:73:41:54",
        management_ips=("192.0.2.26",),
        untagged_vlan=1,
    )
    assert "NX-OS) Software 10.4(3)" in first.description
    # The port has a tagged VLAN before the untagged one.
    assert (second.interface, second.port, second.untagged_vlan, second.max_frame_bytes) == (
        "enp8s0", "Ethernet1/34", 1, 9216,
    )  # fmt: skip


# --- networkctl lldp --------------------------------------------------------------------------------------------------

OF_249 = """\
LINK             CHASSIS ID        SYSTEM NAME      CAPS        PORT ID           PORT DESCRIPTION
enp2s0f0         02:a6:f7:05:19:21 ds9              ..bwr...... 02:a6:f7:05:19:20 br-lan
ve-test          25e82ecbdab14b64\u2026 a                .......a... host0             n/a

Capability Flags:
b - Bridge; w - WLAN Access Point; r - Router; a - Station

2 neighbors listed.
"""
OF_253 = """\
LINK CHASSIS-ID        SYSTEM-NAME                                       CAPS        PORT-ID PORT-DESCRIPTION
eth0 02:dd:00:00:00:80 dus-04x-3n2x-rack-f1x-4-5x00a.example.net         ..b.r...... 516     xe-0/0/4

Capability Flags:
b - Bridge; r - Router
"""
OF_THE_MANUAL = """\
LINK             CHASSIS ID        SYSTEM NAME      CAPS        PORT ID           PORT DESCRIPTION
enp0s25          02:e0:4c:00:00:00 GS1900           ..b........ 2                 Port #2
"""


def test_neighbours_of_systemd_networkd() -> None:
    # https://github.com/systemd/systemd/pull/20333
    first, second = parse_networkd_lldp(OF_249)
    assert first == LldpNeighbour(
        "enp2s0f0", "ds9", port="br-lan", chassis="02:a6:f7:05:19:21", port_mac="02:a6:f7:05:19:20"
    )
    assert (second.interface, second.switch, second.chassis, second.port) == ("ve-test", "a", "", "host0")
    # https://github.com/systemd/systemd/issues/28354
    (third,) = parse_networkd_lldp(OF_253)
    assert third == LldpNeighbour(
        "eth0", "dus-04x-3n2x-rack-f1x-4-5x00a.example.net", port="516", chassis="02:dd:00:00:00:80"
    )
    # networkctl(1)
    (fourth,) = parse_networkd_lldp(OF_THE_MANUAL)
    assert (fourth.switch, fourth.port, fourth.chassis) == ("GS1900", "2", "02:e0:4c:00:00:00")


def test_lldpd_comes_before_networkd_and_an_empty_table_changes_nothing() -> None:
    networkd, none = OutputSection(OF_253), OutputSection("\n0 neighbors listed.\n")
    lldpd, absent = OutputSection(sample("lldp/nexus-and-linux-bridge")), OutputSection("sh: lldpctl: not found", 127)

    def neighbours(**parts: OutputSection):
        found = parse_setup("rac1", {name.replace("_", " "): section for name, section in parts.items()}).lldp
        return found if isinstance(found, Unknown) else [n.interface for n in found]

    assert neighbours(lldp=lldpd, networkd_lldp=networkd) == ["enp1s0", "enp7s0", "enp8s0"]
    assert neighbours(lldp=absent, networkd_lldp=networkd) == ["eth0"]
    assert neighbours(lldp=OutputSection(""), networkd_lldp=networkd) == ["eth0"]
    assert neighbours(lldp=absent, networkd_lldp=none) == parse_lldp(absent)
    assert neighbours(lldp=absent) == parse_lldp(absent)


# --- ethtool -S -------------------------------------------------------------------------------------------------------


def counters(driver: str, name: str = "") -> DriverCounters:
    found = parse_driver_counters(f"nic eth1\nDRIVER={driver}\n{sample(f'ethtool/{name or driver}')}")
    assert not isinstance(found, Unknown)
    return found["eth1"]


# The tests of ethq have outputs of its users; those of queues and priorities are left out:
# https://github.com/isc-projects/ethq, tests/
@pytest.mark.parametrize(
    ("driver", "name", "way", "total", "off"),
    [
        # A driver reads its counters one after the other while frames arrive; mlx5 counts at the port.
        ("mlx5_core", "mlx5_core", "rx", ("rx_packets_phy",), 0),
        ("i40e", "i40e", "rx", ("port.rx_unicast", "port.rx_multicast", "port.rx_broadcast"), 2),
        ("i40e", "i40e", "tx", ("port.tx_unicast", "port.tx_multicast", "port.tx_broadcast"), 300),
        ("ice", "ice", "tx", ("tx_unicast.nic", "tx_multicast.nic", "tx_broadcast.nic"), 0),
        ("ice", "ice", "rx", ("rx_unicast.nic", "rx_multicast.nic", "rx_broadcast.nic"), 0),
    ],
)
def test_the_size_classes_of_a_nic_are_all_its_frames(driver, name, way, total, off) -> None:
    nic = counters(driver, name)
    frames = sum(size.frames for size in size_classes(nic.counts)[way])
    assert abs(frames - sum(nic.counts[key] for key in total)) <= off
    assert frames > 10_000_000


@pytest.mark.parametrize(
    ("driver", "name", "way", "expected"),
    [
        ("mlx5_core", "mlx5_core", "rx", {"1519-2047": 8_207_970, "4096-8191": 17_187_382, "8192-10239": 141_701_654}),
        ("i40e", "i40e-v2.3.2k", "tx", {"512-1023": 13_477_730_236, "1024-1522": 0, "from 1523": 0}),
        ("ice", "ice", "tx", {"1024-1522": 48_786_130, "from 1523": 0}),
        ("bnxt_en", "bnxt_en", "rx", {"1519-2047": 210_382_908_588, "9217-16383": 0}),
        ("tg3", "tg3", "rx", {"to 64": 0, "8192-9022": 0}),
        ("bnx2x", "bnx2x", "tx", {"65-127": 682_645_668, "1523-9022": 0}),
    ],
)
def test_the_frames_of_each_size(driver, name, way, expected) -> None:
    found = {size.label: size.frames for size in size_classes(counters(driver, name).counts)[way]}
    assert {label: found[label] for label in expected} == expected


def test_the_corrupt_frames_of_each_driver_are_found_among_its_counters() -> None:
    for driver in ("mlx5_core", "i40e", "ice", "bnxt_en", "tg3", "bnx2x"):
        signs = driver_signs(counters(driver))
        assert DriverSign.CORRUPT in signs, driver
        assert not any(signs[DriverSign.CORRUPT].values()), driver


# --- ip route get -----------------------------------------------------------------------------------------------------

ROUTED = Query("192.0.2.0/24", "192.0.2.113", (("rac2", "192.0.2.87"),))


def route(answer: str):
    (found,) = parse_routes_in_use(f"route to 192.0.2.87\n{answer}\nwithout a source\n{answer}\n", ROUTED)
    return found


def test_a_path_mtu_that_a_kernel_has_learned_and_the_same_route_before() -> None:
    # https://jasonmurray.org/posts/2020/linuxmtucache/
    head = "192.0.2.87 via 192.0.2.114 dev p1p1 src 192.0.2.113"
    before, learned = route(f"{head}\n    cache"), route(f"{head}\n    cache  expires 579sec mtu 1500")
    assert (before.interface, before.gateway, before.mtu, before.expires_s) == ("p1p1", "192.0.2.114", None, None)
    assert (learned.mtu, learned.expires_s, learned.unbound_source) == (1500, 579, "192.0.2.113")


def test_the_metrics_that_kernels_before_3_6_print_for_each_route() -> None:
    # A page about cached path MTUs, with a kernel of the 2.6 series: https://serverdevworker.com/3291872ff
    found = route("192.0.2.87 via 192.0.2.6 dev eth1 src 192.0.2.4\n    cache mtu 1500 advmss 1460 hoplimit 64")
    assert (found.mtu, found.advmss, found.expires_s) == (1500, 1460, None)


# --- ss -tin ----------------------------------------------------------------------------------------------------------


def test_a_connection_with_small_segments_over_an_interface_with_jumbo_frames() -> None:
    # https://devops-insider.mygraphql.com/zh-cn/latest/kernel/network/kernel-tcp/tcp-mss/tcp-mss.html; the port is
    # replaced by that of NFS. The server's offer is the limit: mss 1448, while path and own offer are those of 9000.
    (found,) = parse_sockets(sample("ss-mss-below-its-offer"))
    assert (found.local, found.remote) == (("192.0.2.11", 876), ("192.0.2.200", 2049))
    assert found.values == {
        "mss": 1448, "pmtu": 9000, "advmss": 8948, "segs_out": 319, "bytes_received": 18364, "retrans": 25813,
        "bytes_sent": 3639, "bytes_acked": 3640, "segs_in": 163,
    }  # fmt: skip


def test_columns_for_protocol_program_and_timer_and_connections_in_other_states() -> None:
    # https://unix.stackexchange.com/questions/542712; the ports are replaced by that of NFS.
    (found,) = parse_sockets(sample("ss-with-netid-timer-and-scope"))
    assert found.remote == ("192.0.2.1", 2049)
    assert (found.values["mss"], found.values["pmtu"], found.values["retrans"]) == (1388, 1500, 10)
