"""The faults that public reports of private networks describe: each is in the real network, and leaves no trace."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from racwire_lab import Lab, up
from racwire_lab.cluster.networks import PRIVATE
from tests.lab.lab_support import assert_healthy, lab_directory, needs_namespaces, ping, run, settings, until

pytestmark = [needs_namespaces, pytest.mark.beyond_sample]

ONE, TWO = PRIVATE
TO_RAC1, TO_RAC2 = TWO.address(1), TWO.address(2)
MAC = "02:72:61:63:{:02x}:{:02x}"
"""The MAC address of a practice NIC, by network and node."""
ASK = """
import socket, struct, sys, time
nic, target = sys.argv[1:]
with socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x806)) as opened:
    opened.bind((nic, 0x806))
    mac = opened.getsockname()[4]
    head = struct.pack("!HHBBH", 1, 0x800, 6, 4, 1)
    opened.sendto(head + mac + bytes(4) + bytes(6) + socket.inet_aton(target), (nic, 0x806, 0, 0, b"\\xff" * 6))
    opened.settimeout(0.05)
    end = time.monotonic() + 0.3
    while time.monotonic() < end:
        try:
            packet = opened.recv(100)
        except TimeoutError:
            continue
        if packet[6:8] == b"\\0\\2" and socket.inet_ntoa(packet[14:18]) == target:
            print(packet[8:14].hex(":"))
"""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with lab_directory(tmp_path_factory.mktemp("lab") / "dir"):
        yield up(database=False)


@pytest.fixture
def cluster(running: Lab) -> Iterator[Lab]:
    before = {node: state(running, node) for node in running.nodes}
    yield running
    running.mend()
    assert {node: state(running, node) for node in running.nodes} == before
    assert_healthy(running)


def state(cluster: Lab, node: str) -> str:
    words = "ip rule; cat /proc/sys/net/ipv4/conf/*/arp_ignore; cat /etc/NetworkManager/system-connections/*"
    return settings(cluster, node) + run(cluster, node, "sh", "-c", words).stdout


def answers(cluster: Lab, node: str, nic: str, address: str) -> set[str]:
    """Return the MAC addresses that answer an ARP request for an address."""
    done = run(cluster, node, sys.executable, "-I", "-S", "-c", ASK, nic, address)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def from_address(cluster: Lab, node: str, source: str, target: str) -> bool:
    """Whether a ping from one of the node's addresses is answered."""
    once = f"ping -q -c 1 -W 0.4 -I {source} {target} >/dev/null"
    return run(cluster, node, "sh", "-c", f"{once} || {once}").returncode == 0


def haip(number: int, network: int = 2) -> str:
    return (PRIVATE[network - 1].haip(number) or "").partition("/")[0]


def test_a_nic_without_arp_neither_asks_nor_answers(cluster: Lab) -> None:
    cluster.break_("arp-off")
    assert "NOARP" in run(cluster, "rac2", "ip", "link", "show", "eth2").stdout
    assert answers(cluster, "rac1", "eth2", TO_RAC2) == set()
    assert ping(cluster, "rac1", TO_RAC2) != ""
    assert ping(cluster, "rac2", TO_RAC1) != ""
    assert ping(cluster, "rac2", ONE.address(1)) == ""


def test_arp_ignore_lets_a_node_ask_and_not_answer(cluster: Lab) -> None:
    cluster.break_("arp-ignore")
    assert answers(cluster, "rac1", "eth2", TO_RAC2) == answers(cluster, "rac1", "eth2", haip(2)) == set()
    assert ping(cluster, "rac2", TO_RAC1) == ""


def test_a_rule_with_a_gateway_stops_the_private_address_and_no_haip(cluster: Lab) -> None:
    cluster.break_("policy-gateway")
    assert not from_address(cluster, "rac2", TO_RAC2, TO_RAC1)
    assert "192.168.11.254" in run(cluster, "rac2", "ip", "neigh", "show", "dev", "eth2").stdout
    assert from_address(cluster, "rac2", haip(2), haip(1))
    cluster.mend()
    cluster.break_("policy-right")
    assert "from 192.168.11.2 lookup" in run(cluster, "rac2", "ip", "rule").stdout
    assert from_address(cluster, "rac2", TO_RAC2, TO_RAC1)


def test_haip_leaves_by_the_other_nic_with_its_mtu_or_without(cluster: Lab) -> None:
    cluster.break_("haip-route-mtu")
    cluster.break_("haip-wrong-route")
    words = run(cluster, "rac2", "ip", "route", "get", haip(1)).stdout
    assert f"dev eth1 src {haip(2, 1)}" in words
    assert "mtu 1400" in words
    cluster.mend("haip-route-mtu")
    assert "mtu" not in run(cluster, "rac2", "ip", "route", "get", haip(1)).stdout
    # An address that comes back brings the kernel's own route, which is removed with the fault.
    cluster.break_("duplicate-address")
    cluster.mend("haip-wrong-route")
    assert f"dev eth2 src {haip(2)}" in run(cluster, "rac2", "ip", "route", "get", haip(1)).stdout


def test_a_bridge_has_the_address_of_the_node_before(cluster: Lab) -> None:
    cluster.break_("local-bridge")
    assert "local 192.168.11.1" in run(cluster, "rac2", "ip", "route", "get", TO_RAC1).stdout
    assert answers(cluster, "rac1", "eth2", TO_RAC1) == {MAC.format(2, 2)}
    assert ping(cluster, "rac1", TO_RAC2) != ""


def test_joined_networks_answer_with_both_nics(cluster: Lab) -> None:
    cluster.break_("joined-networks")
    assert answers(cluster, "rac1", "eth2", TO_RAC2) == {MAC.format(1, 2), MAC.format(2, 2)}
    cluster.mend()
    assert answers(cluster, "rac1", "eth2", TO_RAC2) == {MAC.format(2, 2)}


def test_strangers_have_haips_and_go_one_by_one(cluster: Lab) -> None:
    cluster.break_("haip-stranger", "rac1")
    cluster.break_("haip-stranger", "rac2")
    found = answers(cluster, "rac1", "eth2", haip(2)) - {MAC.format(2, 2)}
    assert len(found) == 1
    assert answers(cluster, "rac2", "eth2", haip(1)) == {*found, MAC.format(2, 1)}
    assert answers(cluster, "rac1", "eth2", TO_RAC2) == {MAC.format(2, 2)}


def test_a_nic_has_an_address_of_the_other_network_and_keeps_it(cluster: Lab) -> None:
    cluster.break_("other-network-address")
    cluster.break_("duplicate-address")
    addresses = run(cluster, "rac2", "ip", "-o", "-4", "address", "show", "eth2").stdout
    assert "192.168.10.82/24" in addresses
    assert "192.168.11.1/24" in addresses


def test_a_port_flaps_and_an_mtu_changes_until_they_are_mended(cluster: Lab) -> None:
    changes = "cat /sys/class/net/eth1/carrier_changes"
    before = int(run(cluster, "rac2", "sh", "-c", changes).stdout)
    cluster.break_("port-flaps", "rac2", "1")
    cluster.break_("mtu-changes")
    assert "mtu 9000" in run(cluster, "rac2", "ip", "link", "show", "eth2").stdout
    until(lambda: "mtu 1500" in run(cluster, "rac2", "ip", "link", "show", "eth2").stdout, "the MTU stays")
    until(lambda: int(run(cluster, "rac2", "sh", "-c", changes).stdout) > before, "the port stays up")


def test_a_port_without_a_cable_does_not_flap(cluster: Lab) -> None:
    cluster.break_("port-flaps")
    broken = cluster.break_("link-down")
    assert not list(broken.directory.glob("flaps-*"))
    assert "NO-CARRIER" in run(cluster, "rac2", "ip", "link", "show", "eth2").stdout


def test_a_reboot_ends_no_fault(running: Lab) -> None:
    running.break_("policy-gateway")
    running.break_("local-bridge", network="1")
    running.break_("arp-off", network="1")
    running.reboot("rac2")
    assert "192.168.11.254" in run(running, "rac2", "ip", "route", "show", "table", "101").stdout
    assert "192.168.10.1/24" in run(running, "rac2", "ip", "-o", "address", "show", "br-5f1").stdout
    assert "NOARP" in run(running, "rac2", "ip", "link", "show", "eth1").stdout
    running.mend()
    left = run(running, "rac2", "sh", "-c", "ip rule; ip link; ip route show table 101").stdout
    assert not any(word in left for word in ("lookup 101", "br-5f", "NOARP", ".254"))


def test_the_next_boot_has_no_nic_and_another_address(running: Lab) -> None:
    before = state(running, "rac2")
    running.break_("no-autoconnect", "rac2", "1")
    running.break_("boot-address")
    assert settings(running, "rac2") in before
    running.reboot("rac2")
    now = run(running, "rac2", "ip", "-o", "-4", "address").stdout
    assert "192.168.11.62/24" in now
    assert "192.168.10.2/24" not in now
    running.mend()
    running.reboot("rac2")
    assert "192.168.10.2/24" in run(running, "rac2", "ip", "-o", "-4", "address", "show", "eth1").stdout
    assert "192.168.11.2/24" in run(running, "rac2", "ip", "-o", "-4", "address", "show", "eth2").stdout
