"""The setup of a node outside Clusterware: real outputs, and what no parser may fail on."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.facts import FirewalldZone, NodeMemory, PrivateUse, RightsOfOradism, Unknown
from checks.rules.host_limits import counts_fragments_by_cpu, reserve_wanted_kb
from checks.sources.host_sections import HOST_COMMANDS
from checks.sources.nic_drivers import NO_NIC, queried
from checks.sources.nodes.sections import OutputSection
from checks.sources.nodes.setup_bonds import parse_bonds, parse_drivers, parse_drivers_in_use, parse_slots
from checks.sources.nodes.setup_host import parse_host
from checks.sources.nodes.setup_text import parse_setup

OLD_BOND = """\
Ethernet Channel Bonding Driver: v3.2.4 (January 28, 2008)

Bonding Mode: IEEE 802.3ad Dynamic link aggregation
Transmit Hash Policy: layer2 (0)
MII Status: up
MII Polling Interval (ms): 500
Up Delay (ms): 0
Down Delay (ms): 0

802.3ad info
LACP rate: slow
Active Aggregator Info:
        Aggregator ID: 3
        Number of ports: 1
        Actor Key: 17
        Partner Key: 1
        Partner Mac Address: 00:00:00:00:00:00

Slave Interface: eth1
MII Status: up
Link Failure Count: 0
Permanent HW addr: 00:16:35:5e:42:fc
Aggregator ID: 3

Slave Interface: eth2
MII Status: up
Link Failure Count: 0
Permanent HW addr: 00:16:35:5e:02:7e
Aggregator ID: 2
"""
NEW_BOND = """\
Ethernet Channel Bonding Driver: v5.15.0-200.el8uek.x86_64

Bonding Mode: fault-tolerance (active-backup)
Primary Slave: None
Currently Active Slave: ens1f0
MII Status: up
MII Polling Interval (ms): 100

Slave Interface: ens1f0
MII Status: up
Speed: 25000 Mbps
Duplex: full
Link Failure Count: 1
Slave queue ID: 0

Slave Interface: ens1f1
MII Status: down
Speed: Unknown
Duplex: Unknown
Link Failure Count: 2
Slave queue ID: 0
"""
ETHTOOL = """\
/usr/sbin/ethtool
nic eth1
driver: vmxnet3
version: 1.7.0.0-k-NAPI
firmware-version: N/A
bus-info: 0000:0b:00.0
Ring parameters for eth1:
Pre-set maximums:
RX:\t\t4096
RX Mini:\t2048
RX Jumbo:\t4096
TX:\t\t4096
Current hardware settings:
RX:\t\t256
RX Mini:\t128
RX Jumbo:\t128
TX:\t\t512
Cannot get device pause settings: Operation not supported
nic eth2
driver: ixgbe
version: 5.15.0-200.el8uek.x86_64
firmware-version: 0x800003e7
Ring parameters for eth2:
Pre-set maximums:
RX:             4096
RX Mini:        n/a
RX Jumbo:       n/a
TX:             4096
Current hardware settings:
RX:             512
RX Mini:        n/a
RX Jumbo:       n/a
TX:             512
RX Buf Len:     n/a
Pause parameters for eth2:
Autonegotiate:\ton
RX:\t\toff
TX:\t\ton
RX negotiated: off
TX negotiated: on
"""


def prefixed(name: str, text: str) -> str:
    return "\n".join(f"{name}:{line}" for line in text.split("\n") if line)


def test_a_bond_of_an_old_driver_has_its_aggregators():
    (bond,) = parse_bonds(prefixed("bond1", OLD_BOND))
    assert (bond.name, bond.is_lacp, bond.polling_ms) == ("bond1", True, 500)
    assert bond.partner_mac == "00:00:00:00:00:00"
    assert (bond.hash_policy, bond.has_one_active) == ("layer2", False)
    assert [(m.name, m.mii_status, m.aggregator_id, m.speed_mbps) for m in bond.members] == [
        ("eth1", "up", 3, None),
        ("eth2", "up", 2, None),
    ]


def test_a_member_that_is_down_has_no_speed():
    bonds = parse_bonds("\n".join((prefixed("bond1", NEW_BOND), prefixed("bond0.100", OLD_BOND))))
    assert [bond.name for bond in bonds] == ["bond0.100", "bond1"]
    assert bonds[1].active_member == "ens1f0"
    assert (bonds[1].hash_policy, bonds[1].has_one_active) == ("", True)
    assert [(m.mii_status, m.speed_mbps, m.duplex, m.link_failures) for m in bonds[1].members] == [
        ("up", 25_000, "full", 1),
        ("down", None, "", 2),
    ]


def test_the_targets_of_arp_monitoring():
    text = """Bonding Mode: fault-tolerance (active-backup)
MII Polling Interval (ms): 0
ARP Polling Interval (ms): 1000
ARP IP target/s (n.n.n.n form): 192.168.11.254, 192.168.11.1
NS IPv6 target/s (xx::xx form): 2022::1,2022::2"""
    sysfs = "bond1/bonding/arp_validate:active 1\nbond9/bonding/arp_validate:"
    (bond,) = parse_bonds(f"{prefixed('bond1', text)}\n{sysfs}")
    assert bond.arp_targets == ("192.168.11.254", "192.168.11.1", "2022::1", "2022::2")
    assert (bond.is_watched_by_arp, bond.arp_validate) == (True, "active")


def test_a_bond_without_an_aggregation():
    text = """Bonding Mode: IEEE 802.3ad Dynamic link aggregation
Min links: 2
bond bond1 has no active aggregator

Slave Interface: eth1
MII Status: up
Aggregator ID: N/A
Actor Churn State: churned
Partner Churn State: monitoring"""
    (bond,) = parse_bonds(prefixed("bond1", text))
    assert (bond.has_active_aggregator, bond.min_links) == (False, 2)
    (member,) = bond.members
    assert member.is_in_no_aggregator
    assert (member.actor_churn, member.partner_churn, member.is_churned) == ("churned", "monitoring", True)


def test_the_answers_of_ethtool():
    vmxnet3, ixgbe = parse_drivers(ETHTOOL)
    assert (vmxnet3.driver, vmxnet3.firmware) == ("vmxnet3", "")
    assert (vmxnet3.rx_ring, vmxnet3.rx_ring_most, vmxnet3.rx_jumbo_ring) == (256, 4096, 128)
    assert (vmxnet3.pause_rx, vmxnet3.pause_tx) == (None, None)
    assert (ixgbe.rx_ring, ixgbe.rx_ring_most, ixgbe.rx_jumbo_ring_most) == (512, 4096, None)
    assert (ixgbe.pause_negotiated, ixgbe.pause_rx, ixgbe.pause_tx) == (True, False, True)
    assert parse_drivers("no ethtool") == Unknown("ethtool is not installed there")
    text = "/sys/class/net/eth1/device/uevent:DRIVER=vmxnet3\n/sys/class/net/p.1/device/uevent:DRIVER=hv_netvsc\n"
    assert parse_drivers_in_use(text) == {"eth1": "vmxnet3", "p.1": "hv_netvsc"}
    slots = (
        text + "/sys/class/net/eth1/device/uevent:PCI_SLOT_NAME=0000:0B:00.0\n/sys/class/net/eth2/device/uevent:PCI_"
    )
    assert (parse_slots(slots), parse_slots(text)) == ({"eth1": "0000:0b:00.0"}, {})


def host(**texts: str):
    parts = {
        name: OutputSection(texts.get(name.replace(" ", "_"), "")) for name in (*HOST_COMMANDS, "units", "processes")
    }
    parts["platform"] = OutputSection(texts.get("platform", ""))
    return parse_setup("rac2", {**parts, "boot": OutputSection("machine x86_64")}).host


def test_memory_of_a_node_with_two_numa_nodes():
    text = (
        "/proc/meminfo:MemTotal:       527988256 kB\n/proc/meminfo:MemAvailable:   98000000 kB\n"
        "/proc/meminfo:HugePages_Total:    1000\n/proc/meminfo:Hugepagesize:       2048 kB\n"
        "/proc/sys/vm/min_free_kbytes:524288\n"
        "/sys/devices/system/node/online:0-1\n/sys/devices/system/cpu/online:0-47,96-143\nflags : fpu hypervisor\n"
    )
    assert host(memory=text).memory == NodeMemory(527_988_256, 524_288, 2, 96, 98_000_000, 2_048_000)
    assert reserve_wanted_kb(NodeMemory(527_988_256, 524_288, 2, 96)) == 4_223_906
    assert host(memory=text).is_virtual is True
    assert isinstance(host(memory="").memory, Unknown)
    assert host(memory="").is_virtual is None


def test_oradism_runs_as_root_only_with_owner_and_setuid_bit():
    text = "root 4750 /u01/db/bin/oradism\noracle 750 /u01/b/bin/oradism\nroot 755 /u01/c/bin/oradism\nstat: failed"
    rights = host(oradism=text).oradism
    assert rights[0] == RightsOfOradism("/u01/db/bin/oradism", "root", "4750")
    assert [home.can_raise for home in rights] == [True, False, False]


UNITS = "active\ninactive\ninactive\ninactive\n{}\ninactive\ninactive\ninactive\ninactive\n"


def test_zones_of_firewalld():
    zones = "zone trusted\nzone   interfaces: eth1 eth2\nzone public (default)\nzone   interfaces: eth0\n"
    filters = host(units=UNITS.format("active") + zones + "there /run/NetworkManager").filters
    assert filters.active == ("firewalld",)
    assert filters.default_zone == "public"
    assert FirewalldZone("eth2", "trusted") in filters.zones
    refused = host(units=UNITS.format("active") + "zone Authorization failed.\n").filters
    assert isinstance(refused.zones, Unknown)
    assert refused.zones.right is not None
    assert host(units=UNITS.format("inactive")).filters.active == ()
    assert isinstance(host(units="there /run/NetworkManager").filters, Unknown)


def test_connections_of_storage_are_counted_and_mounts_have_their_server():
    line = "   4: 020BA8C0:03E9 010BA8C0:0801 01 00000000:00000000 02:00000 00000000     0        0 4242 2"
    text = "\n".join((line, line, "   5: 020BA8C0:1F90 010BA8C0:C351 01 x", "garbage"))
    mounts = (
        "nas:/backup /backup nfs4 rw,vers=4.1,addr=192.168.11.9,clientaddr=192.168.11.2 0 0\nproc /proc proc rw 0 0"
    )
    assert host(connections_in_use=text, mounts=mounts).others == (
        PrivateUse("NFS", "192.168.11.2", "192.168.11.1", 2),
        PrivateUse("NFS", "192.168.11.2", "192.168.11.9", 0, mount="/backup"),
    )


def test_an_answer_that_ended_early_is_unknown():
    found = parse_host({}, (), frozenset(), lambda digits: None)
    assert all(isinstance(value, Unknown) for value in (found.memory, found.bonds, found.drivers, found.filters))


@pytest.mark.parametrize(
    ("kernel", "is_imprecise"),
    [
        ("2.6.32-431.el6.x86_64", False),
        ("2.6.32-504.el6.x86_64", True),
        ("3.8.13-68.3.4.el6uek.x86_64", True),
        ("3.10.0-1160.el7.x86_64", True),
        ("4.1.12-124.el7uek.x86_64", True),
        ("4.14.35-1902.el7uek.x86_64", False),
        ("5.15.0-200.el8uek.x86_64", False),
        ("", False),
    ],
)
def test_kernels_that_count_fragments_for_each_cpu(kernel, is_imprecise):
    assert counts_fragments_by_cpu(kernel) is is_imprecise


def test_only_names_of_interfaces_become_arguments():
    names = ("eth1", "bond1.200", "enccw0.0.f400", "-S", "a b", "..", "x/y", "a" * 16)
    assert queried(names) == ("eth1", "bond1.200", "enccw0.0.f400")
    assert len(queried([f"eth{n}" for n in range(20)])) == 8
    assert NO_NIC == "-"


@given(st.dictionaries(st.sampled_from((*HOST_COMMANDS, "units", "processes", "platform")), st.text()))
def test_no_text_is_an_error(texts):
    parse_setup(
        "rac2", {name: OutputSection() for name in HOST_COMMANDS} | {n: OutputSection(t) for n, t in texts.items()}
    )


_LINES = [line for text in (OLD_BOND, NEW_BOND, ETHTOOL) for line in text.split("\n")]


@given(st.lists(st.sampled_from(_LINES)), st.text())
def test_lines_in_any_order_are_no_error(lines, odd):
    text = "\n".join([*lines, odd])
    parse_bonds(prefixed("bond1", text))
    parse_drivers(text)
