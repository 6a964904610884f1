"""The small parts of probing: packets, limits, safety, directions, ends, the plan, and the socket's checksum."""

from __future__ import annotations

import asyncio
import time

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from icmplib import ICMPv4Socket

from checks.model.facts import Interface, Leg, Node, Port, PrivateNetwork, Route
from checks.model.packet_sizes import packet_of, payload_for
from checks.model.settings import ProbeSettings
from checks.run.dry_run_packets import describe_budget
from checks.sources.nodes.proc import snmp_total
from checks.sources.probes.icmp_socket import ones_complement_checksum
from checks.sources.probes.limits import PacketPace, Window
from checks.sources.probes.lost_leg import combine, leg_of_all
from checks.sources.probes.path import Path
from checks.sources.probes.path_budget import plan_path
from checks.sources.probes.paths import known_mtus, link_is_up, neighbour_mac, neighbour_sign
from checks.sources.probes.safety import UnsafePathError, assert_private, two_owners
from checks.sources.probes.verdict import NeighbourSign

HERE, THERE = Port("rac1", "eth2", "192.168.11.1"), Port("rac2", "eth2", "192.168.11.2")
NETWORK = PrivateNetwork("192.168.11.0/24", "eth2", "192.168.11.0/24", "oifcfg", (HERE, THERE), 9000)
PATH = Path(NETWORK, HERE, THERE, 9000)


@pytest.mark.parametrize(("mtu", "version", "payload"), [(9000, 4, 8972), (1500, 4, 1472), (9000, 6, 8952)])
def test_the_payload_is_the_mtu_minus_the_headers(mtu: int, version: int, payload: int) -> None:
    assert payload_for(mtu, version) == payload
    assert packet_of(payload, version) == mtu


def test_a_path_is_probed_with_three_sizes() -> None:
    assert PATH.full_payload == 8972


class Slow(ICMPv4Socket):
    """icmplib's own checksum, without a socket."""

    def __init__(self) -> None:
        self._sock = None


@given(st.binary(min_size=8, max_size=200))
def test_the_fast_checksum_equals_that_of_icmplib(data: bytes) -> None:
    assert ones_complement_checksum(data) == Slow()._checksum(data)


async def test_the_pacing_keeps_the_mean_rate() -> None:
    pace = PacketPace(1000)
    began = time.perf_counter()
    await asyncio.gather(*(pace.take(10) for _ in range(12)))
    assert time.perf_counter() - began >= 0.08


def test_the_window_permits_one_packet_larger_than_itself() -> None:
    window = Window(20_000)
    assert window.admits(65_535)
    window.add(15_000)
    assert window.admits(5_000)
    assert not window.admits(5_001)
    window.remove(15_000)
    assert window.bytes_in_flight == 0


def test_a_path_between_two_ports_is_safe() -> None:
    assert_private(PATH, ["10.20.0.0/24", "10.20.0.0"])


STRANGER = Port("rac9", "eth2", "192.168.11.9")
OUTSIDE = Port("rac3", "eth2", "10.20.0.3")
BROADCAST = Port("rac3", "eth2", "192.168.11.255")


@pytest.mark.parametrize(
    ("path", "public", "message"),
    [
        (Path(NETWORK, HERE, STRANGER, 9000), [], "no port"),
        (Path(NETWORK, STRANGER, THERE, 9000), [], "no port"),
        (PATH, ["192.168.11.0/24"], "public"),
        (PATH, ["192.168.0.0/16"], "public"),
        (PATH, ["192.168.11.0"], "public"),
        (Path(NETWORK, HERE, HERE, 9000), [], "no path"),
    ],
)
def test_any_other_path_is_refused(path: Path, public: list[str], message: str) -> None:
    with pytest.raises(UnsafePathError, match=message):
        assert_private(path, public)


@pytest.mark.parametrize("port", [OUTSIDE, BROADCAST, Port("rac3", "eth2", "fd00::3")])
def test_a_port_with_an_address_that_does_not_belong_there_is_refused(port: Port) -> None:
    network = PrivateNetwork("n", "eth2", "192.168.11.0/24", "oifcfg", (HERE, port), 9000)
    with pytest.raises(UnsafePathError):
        assert_private(Path(network, HERE, port, 9000))


SNMP = """\
Ip: Forwarding DefaultTTL
Ip: 2 64
Icmp: InMsgs InErrors InEchos InEchoReps
Icmp: 100 0 42 58
IcmpMsg: InType0 InType8
IcmpMsg: 58 42
Icmp6InMsgs                     \t9
Icmp6InEchos                    \t7
"""


def test_echo_requests_of_both_ip_versions_are_counted() -> None:
    assert snmp_total(SNMP, "Icmp", "InEchos") == 49
    assert snmp_total(SNMP.partition("Icmp6")[0], "Icmp", "InEchos") == 42
    assert snmp_total("", "Icmp", "InEchos") is None


@given(st.text())
def test_counters_are_parsed_without_raising(text: str) -> None:
    snmp_total(text, "Icmp", "InEchos")
    snmp_total(SNMP + text, "Icmp", "InEchos")


@pytest.mark.parametrize(
    ("arrived", "sent", "leg"),
    [
        (0, 10, Leg.REQUEST),
        (1, 10, Leg.REQUEST),  # a stranger's
        (10, 10, Leg.REPLY),
        (13, 10, Leg.REPLY),
        (10, 20, Leg.UNKNOWN),  # one of two senders: ask them one by one
        (10, 70, Leg.UNKNOWN),
        (60, 70, Leg.UNKNOWN),
    ],
)
def test_the_counters_of_the_target_show_which_direction_was_lost(arrived: int, sent: int, leg: Leg) -> None:
    assert leg_of_all(arrived, sent) is leg


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        (Leg.REQUEST, Leg.REQUEST, (Leg.BOTH, Leg.BOTH)),
        (Leg.REQUEST, Leg.REPLY, (Leg.REQUEST, Leg.REPLY)),
        (Leg.REQUEST, Leg.UNKNOWN, (Leg.REQUEST, Leg.UNKNOWN)),
    ],
)
def test_opposite_paths_explain_each_other(one: Leg, other: Leg, both: tuple[Leg, Leg]) -> None:
    combined = combine({("rac1", "rac2"): one, ("rac2", "rac1"): other})
    assert (combined["rac1", "rac2"], combined["rac2", "rac1"]) == both


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("192.168.11.2 lladdr 02:00 ref 1 used 0/0/0 probes 1 REACHABLE", NeighbourSign.CONFIRMED),
        ("192.168.11.2 lladdr 02:00 used 0/0/0probes 4 REACHABLE", NeighbourSign.CONFIRMED),
        ("192.168.11.2 lladdr 02:00 used 0/20/0 probes 1 REACHABLE", NeighbourSign.UNKNOWN),
        ("192.168.11.2 lladdr 02:00 used 0/0/0 probes 1 STALE", NeighbourSign.UNKNOWN),
        ("192.168.11.2  used 1/2/3 probes 6 FAILED", NeighbourSign.SILENT),
        ("192.168.11.2 INCOMPLETE", NeighbourSign.SILENT),
        ("", NeighbourSign.UNKNOWN),
    ],
)
def test_only_an_answer_during_this_run_shows_that_the_neighbour_is_up(text: str, sign: NeighbourSign) -> None:
    assert neighbour_sign(text, run_s=1.0) is sign


@given(st.text())
def test_neighbour_entries_are_parsed_without_raising(text: str) -> None:
    neighbour_sign(text, 1.0)
    neighbour_mac(text)


@pytest.mark.parametrize(
    ("text", "mac"),
    [
        ("192.168.11.2 dev eth2 lladdr 02:72:61:63:02:02 ref 1 used 0/0/0 probes 1 REACHABLE", "02:72:61:63:02:02"),
        ("192.168.11.2 lladdr 02:DE:AD:00:00:01 used 1/1/1 probes 0 PERMANENT", "02:de:ad:00:00:01"),
        ("192.168.11.2 lladdr 80:00:02:08:fe:80:00:00:00:00:00:00:24:8a:07:03:00:9e:1b:2c STALE",
         "80:00:02:08:fe:80:00:00:00:00:00:00:24:8a:07:03:00:9e:1b:2c"),
        ("192.168.11.2 used 2/8/1 probes 3 FAILED", ""),
        ("192.168.11.2 lladdr 02:72:61:63:02:02 probes 3 FAILED", ""),
        ("lladdr 02:72", ""),
        ("", ""),
    ],
)  # fmt: skip
def test_the_mac_address_of_an_entry(text: str, mac: str) -> None:
    assert neighbour_mac(text) == mac


def test_an_address_of_two_nodes_is_no_path_and_costs_the_others_nothing() -> None:
    twin = Port("rac3", "eth2", THERE.ip)
    network = msgspec.structs.replace(NETWORK, ports=(HERE, THERE, twin))
    text = "rac2 and rac3 have the address 192.168.11.2: which of them answers is not known"
    assert two_owners(Path(network, HERE, THERE, 9000)) == text
    assert two_owners(Path(network, THERE, twin, 9000)) == text
    assert two_owners(PATH) == ""


@pytest.mark.parametrize(
    ("state", "up"), [("up\n", True), ("unknown", True), ("down\n", False), ("lowerlayerdown", False), ("", None)]
)
def test_link_states(state: str, up: bool | None) -> None:
    assert link_is_up(state) is up


def test_mtus_come_from_the_facts_of_the_nodes() -> None:
    def node(name: str, mtu: int, *routes: Route) -> Node:
        return Node(name, "ssh", interfaces=(Interface("eth2", mtu, "ethernet", True, "up"),), routes=routes)

    ends = known_mtus(PATH, node("rac1", 9000, Route("192.168.11.0/24", "eth2", mtu=4000)), node("rac2", 1500))
    assert (ends.source_mtu, ends.peer_mtu, ends.route_mtu) == (9000, 1500, 4000)
    assert known_mtus(PATH, None, None).source_mtu is None


def test_the_dry_run_lists_the_packets() -> None:
    lines = describe_budget(ProbeSettings(), 9000)
    assert lines[0].startswith("20 x 84 bytes = 1680 bytes")
    assert lines[1].startswith("20 x 9000 bytes = 180000 bytes")
    assert any("400 packets" in line for line in lines)


def test_few_packets_in_the_settings_are_enough_for_a_verdict() -> None:
    plan = plan_path(ProbeSettings(packets=3), 9000)
    assert (plan.small.count, plan.full.count) == (3, 10)


def test_many_packets_never_exceed_the_limit_of_a_path() -> None:
    plan = plan_path(ProbeSettings(packets=200, max_packets_per_path=50), 9000)
    assert plan.small.count + plan.full.count + plan.over.count <= 50
