"""Faults that look alike from the nodes: the switch counts each at its port; hands at the cables tell them apart."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from racwire_lab import FAULTS, Lab, LabUsageError, find, up
from racwire_lab.cluster.desired import desired
from racwire_lab.cluster.faults import place
from racwire_lab.cluster.hands import Cabling, Hand, checked_hand
from racwire_lab.cluster.networks import PRIVATE
from racwire_lab.cluster.topology import PortId, Shape
from racwire_lab.status import status_lines
from racwire_lab.switch.commands import COMMANDS, answer
from tests.lab.lab_support import lab_directory, needs_namespaces, needs_nft, run, until
from tui.cli import lab as lab_command

SHAPE = Shape(3, 9000, database="")
TO_RAC1, TO_RAC2, TO_RAC3 = (PRIVATE[1].address(number) for number in (1, 2, 3))
HAIP_OF_RAC2 = (PRIVATE[1].haip(2) or "").partition("/")[0]
LARGE = 8000
NODES = st.sampled_from(SHAPE.nodes)


def rules_at(fault: str, *hands: Hand) -> set[str]:
    active = place(FAULTS[fault], SHAPE, None, None)
    return {rule.name for rule in desired(SHAPE, [active], hands=hands).switch_rules}


SWAP, MOVE = Hand("swap-cable", 2, ("rac2", "rac3")), Hand("move-port", 2, ("rac2",))


@pytest.mark.parametrize(
    ("fault", "swapped", "moved"),
    [
        ("cable-bad", "rac3", "rac2"),
        ("port-bad", "rac2", ""),
        ("nic-bad", "rac2", "rac2"),
        ("loss-in", "rac3", "rac2"),
        ("buffer-full", "rac2", ""),
    ],
)
def test_hands_tell_a_bad_cable_from_a_bad_port_and_a_bad_nic(fault: str, swapped: str, moved: str) -> None:
    for hands, at in (
        ((), "rac2"),
        ((SWAP,), swapped),
        ((MOVE,), moved),
        ((SWAP, SWAP), "rac2"),
        ((MOVE, MOVE), "rac2"),
    ):
        names = {name.removeprefix(f"{fault}-").partition("-")[0] for name in rules_at(fault, *hands)}
        assert names == ({at} if at else set()), (fault, hands)


@given(st.lists(st.tuples(NODES, NODES).filter(lambda pair: pair[0] != pair[1]), max_size=5))
def test_each_nic_has_one_cable_however_often_they_are_exchanged(pairs: list[tuple[str, str]]) -> None:
    cabling = Cabling(tuple(Hand("swap-cable", 2, pair) for pair in pairs))
    ports = [PortId(node, 2) for node in SHAPE.nodes]
    assert sorted(cabling.cable_of(port) for port in ports) == ports
    assert all(cabling.cable_of(PortId(node, 1)) == PortId(node, 1) for node in SHAPE.nodes)


def test_an_aggregation_without_its_bad_link_loses_nothing_and_without_the_other_one_all_takes_it() -> None:
    active = [place(FAULTS["lag-share"], SHAPE, None, None, 12.5)]
    both = desired(SHAPE, active).switch_rules
    assert all(rule.match.endswith("numgen random mod 10000 < 1250") for rule in both)
    assert desired(SHAPE, active, hands=(Hand("member-down", 2, member=2),)).switch_rules == ()
    (alone,) = desired(SHAPE, active, hands=(Hand("member-down", 2, member=1),)).switch_rules
    assert "jhash" not in alone.match
    assert "jhash" in both[0].match


@pytest.mark.parametrize(
    ("act", "words"),
    [("swap-cable", ["rac2"]), ("swap-cable", ["rac2", "rac2"]), ("move-port", ["rac9"]), ("member-down", ["3"]),
     ("cut", ["rac1"])],
)  # fmt: skip
def test_what_no_hand_can_do_is_one_sentence(act: str, words: list[str]) -> None:
    with pytest.raises(LabUsageError, match=r"^[A-Za-z][^\n]*\.$"):
        checked_hand(act, words, SHAPE, 2, (), 0.0)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with lab_directory(tmp_path_factory.mktemp("lab") / "dir"):
        yield up(3, database=False)


@pytest.fixture
def cluster(running: Lab) -> Iterator[Lab]:
    yield running
    found = running.mend()
    while found.hands:
        found = found.hand_back()


def shown(command: str, *, second: bool = False) -> str:
    now = find()
    assert now
    return answer(now.read_switch(second=second), command.split())


def errors() -> dict[str, tuple[int, int]]:
    """CRC errors and output discards of each port."""
    first = shown("interface counters errors").partition("Single-Col")[0]
    rows = re.findall(r"^((?:Eth|Po)\S+)((?: +\d+){6})$", first, re.MULTILINE)
    return {name: (int(values.split()[1]), int(values.split()[5])) for name, values in rows}


def lost(cluster: Lab, sender: str, address: str, size: int = 56, count: int = 60) -> int:
    """Pings of so many that get no answer."""
    done = run(cluster, sender, "ping", "-q", "-i", "0.002", "-c", str(count), "-W", "0.2", "-s", str(size), address)
    found = re.search(r"(\d+) received", done.stdout)
    assert found, done.stdout + done.stderr
    return count - int(found[1])


def crc_of_nic(cluster: Lab, node: str) -> int:
    return int(run(cluster, node, "cat", "/sys/class/net/eth2/statistics/rx_crc_errors").stdout)


@needs_namespaces
@needs_nft
def test_totals_are_those_of_years_and_show_nothing(cluster: Lab) -> None:
    counters = errors()
    assert any(crc for crc, _ in counters.values())
    assert any(discards for _, discards in counters.values())
    assert lost(cluster, "rac1", TO_RAC2) == 0
    assert errors() == counters


@needs_namespaces
@needs_nft
def test_a_bad_cable_counts_at_both_ends_and_goes_with_the_cable(cluster: Lab) -> None:
    before = errors()
    cluster.break_("cable-bad")
    assert lost(cluster, "rac1", TO_RAC2) > 10
    assert lost(cluster, "rac1", TO_RAC3) == 0
    after = errors()
    assert after["Eth1/2"][0] > before["Eth1/2"][0]
    assert {name: one for name, one in after.items() if name != "Eth1/2"} == {
        name: one for name, one in before.items() if name != "Eth1/2"
    }
    until(lambda: crc_of_nic(cluster, "rac2") > 5, "the NIC counts no damaged frame")
    assert "-16.80 dBm" in run(cluster, "rac2", "ethtool", "-m", "eth2").stdout
    assert "-2.30 dBm" in run(cluster, "rac1", "ethtool", "-m", "eth2").stdout
    changed = run(cluster, "rac3", "cat", "/sys/class/net/eth2/carrier_changes").stdout
    cluster.hand("swap-cable", ["rac2", "rac3"])
    assert run(cluster, "rac3", "cat", "/sys/class/net/eth2/carrier_changes").stdout != changed
    assert lost(cluster, "rac1", TO_RAC2) == 0
    assert lost(cluster, "rac1", TO_RAC3) > 10


@pytest.mark.beyond_sample
@needs_namespaces
@needs_nft
def test_a_bad_port_ends_at_another_port_whose_name_the_switch_shows(cluster: Lab) -> None:
    moved = cluster.break_("port-bad").hand("move-port", ["rac2"])
    assert status_lines(moved)[-1] == "Hands      move-port rac2 --network eth2"
    assert lost(cluster, "rac1", TO_RAC2) == 0
    assert "Ethernet1/2 is down (Link not connected)" in shown("interface Ethernet1/2")
    assert "0272.6163.0202   dynamic" in next(
        line for line in shown("mac address-table").splitlines() if line.endswith("Eth1/22")
    )


@pytest.mark.beyond_sample
@needs_namespaces
@needs_nft
@pytest.mark.parametrize(
    ("fault", "command", "counted"),
    [
        ("buffer-full", "interface Ethernet1/2", r"(\d+) output discard"),
        ("port-policer", "policy-map interface Ethernet1/2", r"violated (\d+) bytes"),
    ],
)
def test_large_packets_to_the_node_are_dropped_and_counted(
    cluster: Lab, fault: str, command: str, counted: str
) -> None:
    cluster.break_(fault)
    before = int(re.findall(counted, shown(command))[0])
    assert lost(cluster, "rac1", TO_RAC2) == 0
    assert lost(cluster, "rac1", TO_RAC2, LARGE) > 5
    assert int(re.findall(counted, shown(command))[0]) > before


@pytest.mark.beyond_sample
@needs_namespaces
@needs_nft
@pytest.mark.parametrize(
    ("fault", "rule"),
    [("icmp-filtered-port", "10 deny icmp any any"), ("private-filtered", f"10 deny ip any {TO_RAC2}/32")],
)
def test_an_access_list_of_the_port_counts_what_it_drops(cluster: Lab, fault: str, rule: str) -> None:
    cluster.break_(fault)
    assert lost(cluster, "rac1", TO_RAC2, count=5) == 5
    assert (lost(cluster, "rac1", HAIP_OF_RAC2, count=5) == 0) == (fault == "private-filtered")
    assert f"{rule} [match={5 if fault == 'private-filtered' else 10}]" in shown("access-lists")
    assert "Ethernet1/2 - egress" in shown("access-lists summary")


@pytest.mark.beyond_sample
@needs_namespaces
@needs_nft
def test_udp_is_dropped_at_the_port_and_pings_pass(cluster: Lab) -> None:
    cluster.break_("udp-filtered-port")
    send = f"for i in 1 2 3; do echo x >/dev/udp/{TO_RAC2}/9; done"
    run(cluster, "rac1", "bash", "-c", send)
    assert lost(cluster, "rac1", TO_RAC2, count=5) == 0
    assert "10 deny udp any any [match=3]" in shown("access-lists")


@pytest.mark.beyond_sample
@needs_namespaces
@needs_nft
def test_a_second_host_takes_the_packets_to_the_address_and_is_behind_the_trunk(cluster: Lab) -> None:
    cluster.break_("duplicate-elsewhere")
    until(lambda: lost(cluster, "rac1", TO_RAC2, count=3) == 3, "the node keeps its address")
    assert lost(cluster, "rac1", HAIP_OF_RAC2, count=5) == 0
    lines = shown("mac address-table").splitlines()
    for mac, port in (("0272.6163.0202", "Eth1/2"), ("0272.6165.0202", "Eth1/48")):
        assert any(mac in line and line.endswith(port) for line in lines)
    assert "0272.6165.0202" in shown("mac address-table", second=True)
    cluster.mend()
    assert lost(cluster, "rac1", TO_RAC2, count=5) == 0
    with pytest.raises(LabUsageError, match="has one switch"):
        shown("mac address-table", second=True)


@pytest.mark.beyond_sample
@needs_namespaces
@needs_nft
def test_a_bad_link_of_an_aggregation_counts_what_it_damages(cluster: Lab) -> None:
    cluster.break_("lag-share", share=60)
    before = errors()
    assert sum(lost(cluster, s, a) for s, a in (("rac1", TO_RAC2), ("rac1", TO_RAC3), ("rac2", TO_RAC3))) > 0
    after = errors()
    assert after["Eth1/48"][0] > before["Eth1/48"][0]
    assert after["Eth1/47"] == before["Eth1/47"]
    assert "Eth1/47(P)   Eth1/48(P)" in shown("port-channel summary")
    cluster.hand("member-down", ["2"])
    assert "Eth1/47(P)   Eth1/48(D)" in shown("port-channel summary")
    assert sum(lost(cluster, s, a) for s, a in (("rac1", TO_RAC2), ("rac1", TO_RAC3), ("rac2", TO_RAC3))) == 0


@pytest.mark.beyond_sample
@needs_namespaces
@needs_nft
def test_every_command_answers_and_what_is_none_is_one_sentence(
    cluster: Lab, capfd: pytest.CaptureFixture[str]
) -> None:
    for command in COMMANDS:
        assert shown(command).strip(), command
    assert shown("int e1/2 count err") == shown("interface Ethernet1/2 counters errors")
    assert shown("interface Eth1/2 | include MTU") == "  MTU 9216 bytes, BW 10000000 Kbit , DLY 10 usec\n"
    parser = argparse.ArgumentParser()
    lab_command.add_options(parser)
    for words in (("show", "bgp"), ("show", "interface", "Ethernet1/9"), ("show", "int", "|", "include", "(")):
        assert lab_command.run(parser.parse_args(("switch", *words))) == 64
        assert re.fullmatch(r"racwire: [^\n]+\.\n", capfd.readouterr().err)
    with pytest.raises(LabUsageError, match="drops no share"):
        cluster.break_("link-down", share=3)
    for share in (0, 0.001, 101, float("nan")):
        with pytest.raises(LabUsageError, match="A share is"):
            cluster.break_("loss-in", share=share)
    cluster.break_("loss-in", share=2)
    with pytest.raises(LabUsageError, match=r"loss-in \(rac2 eth2, 2 %\) is already there"):
        cluster.break_("loss-in", share=3)
