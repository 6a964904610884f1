"""A node behind a hypervisor's bridge, and the faults that no node shows: what passes, what vanishes, who counts it."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from collections.abc import Iterator

import pytest

from racwire_lab import Lab, LabUsageError, find, up
from racwire_lab.cluster.desired import desired
from racwire_lab.cluster.losses import LossReader
from racwire_lab.cluster.networks import PRIVATE
from tests.lab.lab_support import assert_healthy, lab_directory, needs_namespaces, needs_nft, ping, run, settings
from tui.cli import lab

pytestmark = [needs_namespaces, needs_nft]
beyond_sample = pytest.mark.beyond_sample

TO_RAC1, TO_RAC2, TO_RAC3 = (PRIVATE[1].address(number) for number in (1, 2, 3))
HAIP_OF_RAC1, HAIP_OF_RAC2 = (f"{PRIVATE[1].haip(number)}".partition("/")[0] for number in (1, 2))
KNOWN_MAC = "02:72:61:63:02:02"
FLOWS, OF_EACH = 40, 25
SEND = """
import socket, sys, time
address, (size, flows, each) = sys.argv[1], map(int, sys.argv[2:])
for port in range(20000, 20000 + flows):
    flow = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    flow.bind(("", port))
    for _ in range(each):
        flow.sendto(bytes(size), (address, 30000))
        time.sleep(0.0002)
"""
RECEIVE = """
import collections, select, socket, sys
receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.bind(("", 30000))
print(flush=True)
seen = collections.Counter()
while (ready := select.select([receiver, sys.stdin], [], [])[0]) != [sys.stdin]:
    seen[receiver.recvfrom(65535)[1][1]] += 1
print(*seen.values())
"""
"""It counts by source port until its input ends and nothing waits any more."""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with lab_directory(tmp_path_factory.mktemp("lab") / "dir"):
        cluster = up(nodes=3, mtu=1500, database=False, fragment_time_s=2, hypervisor=["2"])
        before = {node: settings(cluster, node) for node in cluster.nodes}
        yield cluster
        assert {node: settings(cluster, node) for node in cluster.nodes} == before
        assert_healthy(cluster)


@pytest.fixture
def cluster(running: Lab) -> Iterator[Lab]:
    yield running
    running.mend()


def dropped() -> dict[tuple[str, str], int]:
    """What each rule has dropped, by place and name."""
    found = find()
    assert found
    state = found.state
    target = desired(state.shape, state.faults)
    reader = LossReader(found.directory, state.init, state.nodes, state.hypervisors, state.rootless, target)
    return {(rule.place, rule.name): rule.packets for rule in reader.read(0, 1).rules}


def arrived(way: tuple[str, str], address: str, size: int, flows: int = 1, each: int = 3) -> list[int]:
    """Send datagrams over UDP from one node to another; return how many of each flow arrived, of those that did."""
    cluster = find()
    assert cluster
    sender, receiver = way
    # The first datagrams may wait for ARP, whose queue is short.
    run(cluster, sender, "ping", "-q", "-c1", "-W0.2", address)
    command = cluster.enter(receiver, ["python3", "-c", RECEIVE])
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as receiving:
        assert receiving.stdout
        receiving.stdout.readline()
        run(cluster, sender, "python3", "-c", SEND, address, *map(str, (size, flows, each)))
        counts, _ = receiving.communicate()
    return [int(number) for number in counts.split()]


def mac(cluster: Lab) -> str:
    return run(cluster, "rac2", "cat", "/sys/class/net/eth2/address").stdout.strip()


@pytest.mark.beyond_sample
def test_a_hypervisor_keeps_the_carrier_when_the_cable_is_pulled(cluster: Lab) -> None:
    cluster.break_("link-down", "rac2").break_("link-down", "rac1")
    links = {node: run(cluster, node, "ip", "link", "show", "eth2").stdout for node in ("rac1", "rac2")}
    assert "NO-CARRIER" in links["rac1"]
    assert "NO-CARRIER" not in links["rac2"]
    assert "100% packet loss" in ping(cluster, "rac2", TO_RAC3)


@pytest.mark.beyond_sample
def test_spoof_check_drops_what_the_node_sends(cluster: Lab) -> None:
    assert ping(cluster, "rac1", TO_RAC2) == ""
    cluster.break_("spoof-check")
    assert mac(cluster) not in ("", KNOWN_MAC)
    assert KNOWN_MAC in run(cluster, "rac1", "ip", "neigh", "show", TO_RAC2).stdout
    assert "100% packet loss" in ping(cluster, "rac2", TO_RAC1)
    assert dropped()["hypervisor of rac2", "spoof-check-rac2-eth2"] > 0
    # What is sent to the new address arrives.
    run(cluster, "rac1", "ip", "neigh", "replace", TO_RAC2, "lladdr", mac(cluster), "dev", "eth2", "nud", "permanent")
    assert arrived(("rac1", "rac2"), TO_RAC2, 100) == [3]
    run(cluster, "rac1", "ip", "neigh", "del", TO_RAC2, "dev", "eth2")
    cluster.mend()
    assert mac(cluster) == KNOWN_MAC


@beyond_sample
def test_a_security_list_passes_the_first_fragment_to_the_node_only(cluster: Lab) -> None:
    cluster.break_("security-list-fragments")
    assert arrived(("rac1", "rac2"), TO_RAC2, 1400) == [3]
    assert arrived(("rac1", "rac2"), TO_RAC2, 8192) == []
    assert arrived(("rac2", "rac1"), TO_RAC1, 8192) == [3]
    # 3 datagrams in 6 fragments each.
    assert dropped() == {("hypervisor of rac2", "security-list-fragments-rac2-eth2"): 3 * 5}


@pytest.mark.parametrize(
    ("fault", "passes_icmp"), [("one-protocol", True), pytest.param("one-protocol-udp", False, marks=beyond_sample)]
)
def test_ip_of_one_protocol_passes_in_both_directions(cluster: Lab, fault: str, passes_icmp: bool) -> None:
    cluster.break_(fault)
    for way, address in ((("rac1", "rac2"), TO_RAC2), (("rac2", "rac1"), TO_RAC1)):
        assert (ping(cluster, way[0], address, 1472) == "") == passes_icmp
        assert (arrived(way, address, 8192) == []) == passes_icmp
    assert dropped()["hypervisor of rac2", f"{fault}-rac2-eth2"] > 0


@pytest.mark.beyond_sample
def test_a_share_of_the_flows_loses_a_share_of_its_packets(cluster: Lab) -> None:
    cluster.break_("flow-share-loss")
    for way, address in ((("rac1", "rac2"), TO_RAC2), (("rac2", "rac1"), TO_RAC1)):
        before = dropped()["switch", "flow-share-loss-rac2-eth2"]
        flows = arrived(way, address, 100, FLOWS, OF_EACH)
        lossy = [number for number in flows if number < OF_EACH]
        assert len(flows) == FLOWS
        assert 4 <= len(lossy) <= 18  # a quarter, with three standard deviations to either side
        assert min(lossy) > OF_EACH // 3
        lost = FLOWS * OF_EACH - sum(flows)
        # Also pings, which go by addresses.
        assert lost <= dropped()["switch", "flow-share-loss-rac2-eth2"] - before <= lost + 1
    assert arrived(("rac1", "rac3"), TO_RAC3, 100, FLOWS, 1) == [1] * FLOWS


@pytest.mark.parametrize("node", [pytest.param(None, marks=beyond_sample), "rac3"])
def test_haips_are_filtered_and_private_addresses_pass(cluster: Lab, node: str | None) -> None:
    cluster.break_("haip-filtered", node)
    for sender, private, haip in (("rac1", TO_RAC2, HAIP_OF_RAC2), ("rac2", TO_RAC1, HAIP_OF_RAC1)):
        assert ping(cluster, sender, private) == ""
        assert (ping(cluster, sender, haip) == "") == (node is not None)
        assert "lladdr" in run(cluster, sender, "ip", "neigh", "show", haip).stdout
    assert "100% packet loss" in ping(cluster, "rac3", HAIP_OF_RAC1)
    assert ping(cluster, "rac3", TO_RAC1) == ""
    rule = f"haip-filtered-{node}-eth2" if node else "haip-filtered-eth2"
    assert dropped()["switch", rule] > 0


def test_a_tunnel_silently_drops_what_is_larger(cluster: Lab) -> None:
    cluster.break_("tunnel-mtu")
    assert ping(cluster, "rac1", TO_RAC2, 1450 - 28) == ""
    result = ping(cluster, "rac1", TO_RAC2, 1451 - 28)
    assert "100% packet loss" in result
    assert not re.search("error|Frag|long|buffer", result)
    cluster.mend()
    cluster.break_("tunnel-mtu", "rac2")
    assert ping(cluster, "rac1", TO_RAC2, 1472) != ""
    assert ping(cluster, "rac1", TO_RAC3, 1472) == ""


@beyond_sample
def test_two_filters_of_one_hypervisor_are_mended_one_by_one(cluster: Lab) -> None:
    cluster.break_("one-protocol").break_("spoof-check", network="1").break_("flow-share-loss")
    cluster.mend("spoof-check")
    assert ping(cluster, "rac1", PRIVATE[0].address(2)) == ""
    assert dropped().keys() == {
        ("hypervisor of rac2", "one-protocol-rac2-eth2"),
        ("switch", "flow-share-loss-rac2-eth2"),
    }


def racwire(*words: str) -> int:
    parser = argparse.ArgumentParser()
    lab.add_options(parser)
    return lab.run(parser.parse_args(words))


def test_the_status_names_the_nodes_behind_a_hypervisor(cluster: Lab, capfd: pytest.CaptureFixture[str]) -> None:
    assert racwire("status") == 0
    assert "Hypervisor before rac2\n" in capfd.readouterr().out
    racwire("status", "--format", "json")
    assert json.loads(capfd.readouterr().out)["hypervisor"] == ["rac2"]
    racwire("faults")
    assert "Needs the nft command and a node behind a hypervisor" in capfd.readouterr().out
    assert racwire("break", "one-protocol", "--node", "1") == 64
    assert re.fullmatch(r"racwire: [^\n]*\.\n", capfd.readouterr().err)


@pytest.mark.parametrize(
    ("words", "wanted"),
    [([], []), (["--hypervisor"], ["all"]), (["--hypervisor", "3", "--hypervisor", "rac1"], ["3", "rac1"])],
)
def test_the_option_is_given_for_all_nodes_or_some(words: list[str], wanted: list[str]) -> None:
    parser = argparse.ArgumentParser()
    lab.add_options(parser)
    assert parser.parse_args(["up", *words]).hypervisor == wanted


def test_no_such_node_is_behind_a_hypervisor(cluster: Lab) -> None:
    with pytest.raises(LabUsageError, match="There is no node 'rac9'"):
        up(hypervisor=["rac9"])
