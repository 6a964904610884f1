"""Observations of what nodes count, and of what the database and Clusterware suffer: packets, places, states."""

from datetime import datetime

import msgspec
import pytest

from checks.model.condition import ConditionKind
from checks.model.facts import (
    Cluster,
    InstancePing,
    InterconnectInUse,
    NotAsked,
    Parameter,
    Route,
    Unknown,
)
from checks.model.finding import FAULTS, Finding, Status
from checks.model.networks import private_networks
from checks.model.observation import Fate, Observation
from checks.model.traffic import Traffic
from checks.plugins.clusterware import clusterware as clusterware_check
from checks.plugins.gc_blocks_lost import gc_blocks_lost
from checks.plugins.gc_receive_time import gc_receive_time
from checks.plugins.instance_ping import instance_ping
from checks.plugins.log_messages import log_lines_check
from checks.plugins.mtu_consistency import mtu_consistency
from checks.plugins.nic_counters import nic_counters
from checks.plugins.packet_filter import packet_filter
from checks.plugins.private_routes import private_routes
from checks.plugins.reassembly import reassembly
from checks.plugins.rp_filter import rp_filter
from checks.plugins.udp_receive_buffers import udp_receive_buffers
from checks.run.check_discovery import discover
from tests.cases.loading import DIRECTORY, Case, fact_cases, load
from tests.cases.log_case import LogLineOf, logs_of
from tests.fixtures.clusters import cluster, node, with_interface
from tests.fixtures.databases import (
    activity,
    asked,
    change,
    counters,
    database,
    losing,
    own_activity,
    pings,
    system,
    transfers,
)

FIRST, SECOND = "192.168.10.0/24", "192.168.11.0/24"
BOTH = (FIRST, SECOND)


def found(check, facts: Cluster, code: str) -> Finding:
    (one,) = [finding for finding in check.run(facts) if finding.code == code]
    return one


def with_fate(finding: Finding, fate: Fate) -> list[Observation]:
    return [one for one in finding.observed if one.fate is fate]


def block_of(sender: str, receiver: str, networks=BOTH, **more: object) -> Traffic:
    fields: dict[str, object] = {
        "addresses": ("haip",), "protocols": ("udp",), "forms": ("whole",), "sizes": (8356, 8356),
    }  # fmt: skip
    return Traffic(
        networks=networks, senders=(sender,), receivers=(receiver,), ends=("instance",), **{**fields, **more}
    )  # type: ignore[arg-type]


# --- blocks -----------------------------------------------------------------------------------------------------------


def test_a_lost_block_at_mtu_9000_is_one_packet_on_either_network() -> None:
    finding = found(gc_blocks_lost, asked(3, activity=losing(2, 37, {1: 37}, 3)), "IC-LOST-002")
    (lost,) = with_fate(finding, Fate.LOST)
    assert (lost.what, lost.number, lost.of) == ("block", 37, 37 + 6200)
    assert lost.legs == (block_of("rac1", "rac2"),)


def test_at_mtu_1500_a_block_is_fragments() -> None:
    facts = asked(cluster([node(1, 1500), node(2, 1500)]), activity=losing(2, 37, {1: 37}))
    (lost,) = with_fate(found(gc_blocks_lost, facts, "IC-LOST-002"), Fate.LOST)
    full, last = lost.legs
    assert full == block_of("rac1", "rac2", forms=("fragment",), sizes=(1500, 1500))
    assert last.forms == ("fragment",)
    # 8,336 bytes of UDP: five fragments of 1,480 and one of 936, each with a header of 20.
    assert last.sizes == (956, 956)


def test_the_sender_cuts_a_block_for_each_network_by_its_own_mtu() -> None:
    slow = with_interface(node(1), "eth2", mtu=1500)
    facts = asked(cluster([slow, node(2)]), activity=losing(2, 5, {1: 5}))
    (lost,) = with_fate(found(gc_blocks_lost, facts, "IC-LOST-002"), Fate.LOST)
    assert {(leg.networks, leg.forms) for leg in lost.legs} == {
        ((FIRST,), ("whole",)),
        ((SECOND,), ("fragment",)),
    }
    back = asked(cluster([slow, node(2)]), activity=losing(1, 5, {2: 5}))
    (lost,) = with_fate(found(gc_blocks_lost, back, "IC-LOST-002"), Fate.LOST)
    assert lost.legs == (block_of("rac2", "rac1"),)


def test_blocks_that_passed_beside_cuts_that_differ_are_in_one_box_around_them() -> None:
    slow = with_interface(node(1), "eth2", mtu=1500)
    finding = found(gc_blocks_lost, asked(cluster([slow, node(2)])), "IC-LOST-001")
    box = next(o for o in with_fate(finding, Fate.PASSED) if o.legs[0].senders == ("rac1",))
    (leg,) = box.legs
    assert (leg.networks, leg.forms, leg.sizes) == (BOTH, ("fragment", "whole"), (956, 8356))


def test_blocks_that_arrived_passed_where_their_number_is_known() -> None:
    healthy = found(gc_blocks_lost, asked(3), "IC-LOST-001")
    passed = with_fate(healthy, Fate.PASSED)
    assert len(passed) == 6
    assert {(o.number, o.of) for o in passed} == {(6200, 6200)}
    (read,) = with_fate(healthy, Fate.STATE)
    assert read.nodes == ("rac1", "rac2", "rac3")
    losing_one = found(gc_blocks_lost, asked(3, activity=losing(2, 37, {1: 37}, 3)), "IC-LOST-002")
    pairs = {(o.legs[0].senders, o.legs[0].receivers) for o in with_fate(losing_one, Fate.PASSED)}
    assert len(pairs) == 5
    assert (("rac1",), ("rac2",)) not in pairs
    unread = asked(3, activity=activity(3, transfers=Unknown("no grant")))
    assert with_fate(found(gc_blocks_lost, unread, "IC-LOST-001"), Fate.PASSED) == []


def test_a_loss_of_an_unknown_sender_is_of_any_other_node_and_nothing_passed_to_its_receiver() -> None:
    facts = asked(3, activity=losing(2, 37, {1: 30}, 3))
    finding = found(gc_blocks_lost, facts, "IC-LOST-002")
    unknown, known = with_fate(finding, Fate.LOST)
    assert (unknown.number, known.number) == (7, 30)
    assert unknown.legs == (msgspec.structs.replace(block_of("rac1", "rac2"), senders=("rac1", "rac3")),)
    assert not [o for o in with_fate(finding, Fate.PASSED) if o.legs[0].receivers == ("rac2",)]
    assert len(with_fate(finding, Fate.PASSED)) == 4


def test_without_haip_blocks_travel_between_private_addresses() -> None:
    used = tuple(
        InterconnectInUse(n, nic, f"192.168.{10 + i}.{n}", False, "cluster_interconnects parameter")
        for n in (1, 2)
        for i, nic in enumerate(("eth1", "eth2"))
        if not (n == 2 and nic == "eth2")
    )
    facts = asked(2, activity=losing(2, 5, {1: 5}), database=database(2, interconnects=used))
    (lost,) = with_fate(found(gc_blocks_lost, facts, "IC-LOST-002"), Fate.LOST)
    # The networks that both use: prod2 is on the first one alone.
    assert lost.legs == (block_of("rac1", "rac2", (FIRST,), addresses=("private",)),)


def test_blocks_over_the_public_network_are_on_no_private_one() -> None:
    used = tuple(InterconnectInUse(n, "eth0", f"10.20.0.{n}", True, "") for n in (1, 2))
    facts = asked(2, activity=losing(2, 5, {1: 5}), database=database(2, interconnects=used))
    (lost,) = with_fate(found(gc_blocks_lost, facts, "IC-LOST-002"), Fate.LOST)
    (leg,) = lost.legs
    assert leg.addresses == ("public",)
    assert not set(leg.networks or BOTH) & set(BOTH)


def test_where_no_interconnect_is_known_blocks_may_use_each_private_network() -> None:
    facts = asked(2, activity=losing(2, 5, {1: 5}), database=database(2, interconnects=Unknown("no grant")))
    (lost,) = with_fate(found(gc_blocks_lost, facts, "IC-LOST-002"), Fate.LOST)
    assert lost.legs == (block_of("rac1", "rac2", addresses=None),)


def engineered() -> Cluster:
    """Two nodes of an engineered system, whose blocks travel by RDMA over re0 and re1."""
    nodes = []
    for number in (1, 2):
        built = node(number)
        for old, new in (("eth1", "re0"), ("eth2", "re1")):
            built = with_interface(built, old, name=new)
        nodes.append(built)
    base = cluster(2)
    networks = private_networks(base.clusterware, (FIRST, SECOND), nodes)
    used = tuple(
        InterconnectInUse(n, nic, f"192.168.{10 + i}.{n}", False, "cluster_interconnects parameter")
        for n in (1, 2)
        for i, nic in enumerate(("re0", "re1"))
    )
    own = tuple(Parameter(n, "cluster_interconnects", f"192.168.10.{n}:192.168.11.{n}") for n in (1, 2))
    facts = database(2, interconnects=used, parameters=own)
    return asked(msgspec.structs.replace(base, nodes=tuple(nodes), networks=networks), database=facts)


def test_over_rdma_no_block_says_anything_of_udp() -> None:
    passing = found(gc_blocks_lost, engineered(), "IC-LOST-001")
    assert with_fate(passing, Fate.PASSED) == []
    assert with_fate(passing, Fate.STATE)[0].nodes == ("rac1", "rac2")
    facts = msgspec.structs.replace(engineered(), activity=losing(2, 5, {1: 5}))
    finding = found(gc_blocks_lost, facts, "IC-LOST-002")
    (lost,) = with_fate(finding, Fate.LOST)
    assert {(leg.protocols, leg.forms, leg.sizes) for leg in lost.legs} == {(None, None, (0, 65_535))}
    assert with_fate(finding, Fate.PASSED) == []


def test_a_count_that_is_probably_false_is_no_loss() -> None:
    facts = asked(2, activity=losing(2, 5, {}), database=database(2, "12.1.0.2.0"))
    finding = found(gc_blocks_lost, facts, "IC-LOST-006")
    assert [(o.what, o.number, o.nodes) for o in with_fate(finding, Fate.COUNTED)] == [("gc blocks lost", 5, ("rac2",))]
    assert with_fate(finding, Fate.LOST) == []


@pytest.mark.parametrize(
    ("check", "code", "statistics"),
    [
        (gc_blocks_lost, "IC-LOST-007", {"gc claim blocks lost": 4}),
        (gc_blocks_lost, "IC-LOST-008", {"gc blocks corrupt": 4}),
        (gc_receive_time, "IC-TIME-002", {"gc cr block receive time": 80_000}),
    ],
)
def test_late_blocks_are_those_that_their_receiver_waits_for(check, code, statistics) -> None:
    facts = asked(2, activity=activity(2, own_activity(2, statistics)))
    (late,) = found(check, facts, code).observed
    assert (late.fate, late.what) == (Fate.DELAYED, "block")
    assert late.number > 0
    (leg,) = late.legs
    assert (leg.senders, leg.receivers, leg.networks, leg.protocols) == (None, ("rac2",), BOTH, ("udp",))


# --- messages ---------------------------------------------------------------------------------------------------------


def test_large_messages_are_lost_while_small_ones_pass() -> None:
    own = tuple(
        InstancePing(p.instance, p.target, p.count_500b, p.time_500b_us, 0, 0)
        if (p.instance, p.target) == (1, 2)
        else p
        for p in pings(2)
    )
    (lost, passed) = found(instance_ping, asked(2, activity=activity(2, pings=own)), "IC-PING-005").observed
    there, back = lost.legs
    assert (lost.fate, lost.number, lost.of, there.sizes) == (Fate.LOST, passed.number, passed.number, (8220, 8220))
    # How large the answer is, the database does not say.
    assert (back.senders, back.receivers, back.sizes) == (("rac2",), ("rac1",), (0, 65_535))
    assert (passed.fate, {leg.sizes for leg in passed.legs}) == (Fate.PASSED, {(528, 528)})


def test_slow_messages_of_8_kb_are_late_and_quick_small_ones_passed() -> None:
    own = tuple(msgspec.structs.replace(p, time_8k_us=p.count_8k * 900) for p in pings(2))
    finding = found(instance_ping, asked(2, activity=activity(2, pings=own)), "IC-PING-003")
    assert {(o.fate, o.legs[0].sizes) for o in finding.observed} == {
        (Fate.DELAYED, (8220, 8220)),
        (Fate.PASSED, (528, 528)),
    }
    both = tuple(
        msgspec.structs.replace(p, time_500b_us=p.count_500b * 90_000, time_8k_us=p.count_8k * 95_000) for p in own
    )
    finding = found(instance_ping, asked(2, activity=activity(2, pings=both)), "IC-PING-002")
    assert {o.fate for o in finding.observed} == {Fate.DELAYED}


def test_instances_that_are_silent_lose_every_message_both_ways() -> None:
    silent = tuple(InstancePing(p.instance, p.target, 0, 0, 0, 0) for p in pings(2))
    none = tuple(msgspec.structs.replace(t, cr_blocks=0, current_blocks=0) for t in transfers(2))
    finding = found(instance_ping, asked(2, activity=activity(2, pings=silent, transfers=none)), "IC-PING-007")
    assert {(o.fate, o.what, o.is_total) for o in finding.observed} == {(Fate.LOST, "message", True)}
    assert {o.legs[0].senders for o in finding.observed} == {("rac1",), ("rac2",)}


# --- Clusterware and logs ---------------------------------------------------------------------------------------------


def with_log(*lines: LogLineOf) -> Cluster:
    base = asked(3)
    assert isinstance(base.setups, tuple)
    setups = tuple(msgspec.structs.replace(setup, logs=logs_of(setup.name, lines)) for setup in base.setups)
    return msgspec.structs.replace(base, setups=setups)


def missing(minutes_ago: float) -> LogLineOf:
    text = "CRS-1612: Network communication with node rac2 (2) has been missing for 50% of the timeout interval."
    return LogLineOf(node="rac1", minutes_ago=minutes_ago, text=text)


def test_lines_of_the_past_have_their_times_and_recent_ones_have_none() -> None:
    past = found(log_lines_check, with_log(missing(600), missing(540)), "IC-LOG-003")
    (lost,) = past.observed
    (leg,) = lost.legs
    read_at = datetime.fromisoformat("2026-11-20T14:02:31+01:00").timestamp()
    assert leg.times == (read_at - 600 * 60, read_at - 540 * 60)
    assert (lost.fate, lost.what, lost.number) == (Fate.LOST, "heartbeat", 2)
    assert (leg.senders, leg.receivers, leg.networks, leg.ends) == (("rac2",), ("rac1",), BOTH, ("clusterware",))
    recent = found(log_lines_check, with_log(missing(7), missing(2)), "IC-LOG-002")
    assert recent.data["is_recent"] is True
    assert recent.observed[0].legs[0].times is None


def test_messages_of_an_instance_that_timed_out_are_between_its_node_and_that_of_the_receiver() -> None:
    facts = with_log(
        LogLineOf(node="rac1", instance="prod1", minutes_ago=300, text="IPC Send timeout detected. Sender: ospid 4711"),
        LogLineOf(node="rac1", instance="prod1", minutes_ago=300, text="Receiver: inst 3 binc 1 ospid 12"),
    )
    (lost,) = found(log_lines_check, facts, "IC-LOG-007").observed
    assert (lost.fate, lost.what) == (Fate.LOST, "message")
    assert [(leg.senders, leg.receivers, leg.ends) for leg in lost.legs] == [
        (("rac1",), ("rac3",), ("instance",)),
        (("rac3",), ("rac1",), ("instance",)),
    ]
    assert all(leg.times for leg in lost.legs)


def test_a_message_that_the_kernel_refused_is_not_lost_on_the_way() -> None:
    text = "ORA-27300: OS system dependent operation:sendmsg failed with status: 1"
    facts = with_log(LogLineOf(node="rac1", instance="prod1", minutes_ago=300, text=text))
    (refused,) = found(log_lines_check, facts, "IC-LOG-011").observed
    assert (refused.fate, refused.nodes, refused.legs[0].senders) == (Fate.REFUSED, ("rac1",), ("rac1",))


def test_a_node_that_is_not_active_loses_its_heartbeats_both_ways() -> None:
    base = asked(3)
    members = tuple(
        msgspec.structs.replace(m, status="Inactive") if m.name == "rac3" else m for m in base.clusterware.members
    )
    facts = msgspec.structs.replace(base, clusterware=msgspec.structs.replace(base.clusterware, members=members))
    lost, stack = found(clusterware_check, facts, "IC-GRID-006").observed
    assert (lost.fate, lost.what, lost.is_total) == (Fate.LOST, "heartbeat", True)
    assert (stack.condition, stack.nodes) == (ConditionKind.STACK, ("rac3",))
    assert [(leg.senders, leg.receivers) for leg in lost.legs] == [
        (("rac3",), ("rac1", "rac2")),
        (("rac1", "rac2"), ("rac3",)),
    ]


# --- counters ---------------------------------------------------------------------------------------------------------

SOCKETS = ("clusterware", "instance")


@pytest.mark.parametrize(
    ("check", "code", "counted", "what", "leg"),
    [
        (
            udp_receive_buffers,
            "IC-UDP-002",
            {"Udp_RcvbufErrors": 9, "Udp_InErrors": 9},
            "Udp.RcvbufErrors",
            Traffic(receivers=("rac2",), protocols=("udp",), ends=SOCKETS),
        ),
        (
            udp_receive_buffers,
            "IC-UDP-003",
            {"Udp_InCsumErrors": 9, "Udp_InErrors": 9},
            "Udp.InCsumErrors",
            Traffic(receivers=("rac2",), protocols=("udp",)),
        ),
        (udp_receive_buffers, "IC-UDP-004", {"Softnet_Dropped": 9}, "softnet dropped", Traffic(receivers=("rac2",))),
        (
            udp_receive_buffers,
            "IC-UDP-005",
            {"Udp_InErrors": 9},
            "Udp.InErrors",
            Traffic(receivers=("rac2",), protocols=("udp",)),
        ),
        (
            reassembly,
            "IC-REASM-005",
            {"Ip_ReasmFails": 9, "Ip_ReasmReqds": 900},
            "Ip.ReasmFails",
            Traffic(receivers=("rac2",), forms=("fragment",)),
        ),
        (
            rp_filter,
            "IC-RPF-002",
            {"TcpExt_IPReversePathFilter": 9},
            "TcpExt.IPReversePathFilter",
            Traffic(receivers=("rac2",)),
        ),
    ],
)
def test_a_counter_is_at_its_node_and_names_the_packets_that_it_counts(check, code, counted, what, leg) -> None:
    facts = asked(3, counters=counters(3, change("rac2", **counted)))
    (one,) = with_fate(found(check, facts, code), Fate.COUNTED)
    assert (one.what, one.number, one.nodes, one.legs) == (what, 9, ("rac2",), (leg,))


def test_timeouts_are_lost_fragments_and_other_failures_are_counted() -> None:
    facts = asked(3, counters=counters(3, change("rac2", Ip_ReasmFails=9, Ip_ReasmTimeout=7, Ip_ReasmReqds=900)))
    finding = found(reassembly, facts, "IC-REASM-002")
    (lost,) = with_fate(finding, Fate.LOST)
    assert (lost.what, lost.number, lost.of) == ("fragments", 7, None)
    assert lost.legs == (Traffic(receivers=("rac2",), forms=("fragment",)),)
    assert [(o.what, o.number) for o in with_fate(finding, Fate.COUNTED)] == [("Ip.ReasmFails", 2)]


def test_packets_that_vanished_arrived_at_the_node() -> None:
    facts = asked(3, counters=counters(3, change("rac2", Ip_InReceives=90_000, Ip_InDelivers=80_000)))
    (one,) = found(packet_filter, facts, "IC-FILTER-002").observed
    assert (one.fate, one.what, one.nodes, one.legs[0].receivers) == (Fate.COUNTED, "vanished", ("rac2",), ("rac2",))
    (fine,) = found(packet_filter, facts, "IC-FILTER-001").observed
    assert fine.nodes == ("rac1", "rac3")


@pytest.mark.parametrize(
    ("code", "counted", "senders", "receivers"),
    [
        ("IC-NIC-002", {"rx_crc_errors": 40}, [None], [("rac2",)]),
        ("IC-NIC-002", {"tx_carrier_errors": 40}, [("rac2",)], [None]),
        ("IC-NIC-003", {"rx_missed_errors": 40}, [None], [("rac2",)]),
        ("IC-NIC-005", {"qdisc_drops": 900}, [("rac2",)], [None]),
        ("IC-NIC-006", {"carrier_changes": 2}, [None, ("rac2",)], [("rac2",), None]),
    ],
)
def test_a_counter_of_a_nic_is_of_what_it_received_or_sent(code, counted, senders, receivers) -> None:
    machine = system({"eth2": counted})
    changed = msgspec.structs.replace(change("rac2"), machine=machine)
    finding = found(nic_counters, asked(3, counters=counters(3, changed)), code)
    (one,) = finding.observed
    assert (one.fate, one.what, one.nodes, one.network, one.nic) == (
        Fate.COUNTED, next(iter(counted)), ("rac2",), SECOND, "eth2",
    )  # fmt: skip
    assert [leg.senders for leg in one.legs] == senders
    assert [leg.receivers for leg in one.legs] == receivers
    assert {leg.networks for leg in one.legs} == {(SECOND,)}


def test_nics_that_are_quiet_cover_the_networks_and_nodes_that_were_counted() -> None:
    (gone,) = [c for c in counters(3).nodes if c.node == "rac3"]
    nics = tuple(nic for nic in gone.machine.nics if nic.name != "eth2")
    left = msgspec.structs.replace(gone, machine=msgspec.structs.replace(gone.machine, nics=nics))
    finding = found(nic_counters, asked(3, counters=counters(3, left)), "IC-NIC-001")
    assert {o.network: o.nodes for o in finding.observed} == {
        FIRST: ("rac1", "rac2", "rac3"),
        SECOND: ("rac1", "rac2"),
    }


# --- states -----------------------------------------------------------------------------------------------------------


def places(finding: Finding) -> list[tuple[tuple[str, ...], str, str, object]]:
    return [(o.nodes, o.network, o.nic, o.value) for o in finding.observed]


def test_each_node_with_another_mtu_is_a_state_of_its_own() -> None:
    odd = [with_interface(node(n), "eth2", mtu=1500) for n in (1, 2)]
    facts = cluster([*odd, *(node(n) for n in (3, 4, 5))])
    finding = found(mtu_consistency, facts, "IC-MTU-002")
    assert places(finding) == [(("rac1",), SECOND, "eth2", 1500), (("rac2",), SECOND, "eth2", 1500)]
    assert {o.what for o in finding.observed} == {"mtu"}
    fine = found(mtu_consistency, facts, "IC-MTU-001")
    assert places(fine) == [(("rac1", "rac2", "rac3", "rac4", "rac5"), FIRST, "", 9000)]


def test_a_route_astray_names_the_peer_and_the_packets_to_it() -> None:
    built = node(1)
    stray = msgspec.structs.replace(built, routes=(*built.routes, Route("192.168.11.2/32", "eth1")))
    finding = found(private_routes, cluster([stray, node(2), node(3)]), "IC-ROUTE-005")
    (one,) = finding.observed
    assert places(finding) == [(("rac1",), SECOND, "eth1", "rac2")]
    assert one.legs == (Traffic(networks=(SECOND,), senders=("rac1",), receivers=("rac2",), addresses=("private",)),)


@pytest.mark.parametrize(
    ("case", "code", "what", "has_peer"),
    [
        ("route-in-use-with-a-learned-mtu", "IC-EROUTE-002", "mtu", False),
        ("route-in-use-over-another-nic", "IC-EROUTE-003", "IC-EROUTE-003", True),
        ("layer2-wrong-neighbour", "IC-NEIGH-006", "IC-NEIGH-006", True),
        ("layer2-crossed-cables", "IC-NEIGH-002", "IC-NEIGH-002", True),
    ],
)
def test_a_state_about_packets_to_one_peer_says_which(case, code, what, has_peer) -> None:
    states = [one for f in findings_of(load(DIRECTORY / f"{case}.toml")) if f.code == code for one in f.observed]
    assert states
    for one in states:
        (leg,) = one.legs
        assert (one.fate, one.what, one.nodes, (one.network,)) == (Fate.STATE, what, leg.senders, leg.networks)
        assert leg.addresses in (("private",), ("haip",))
        (peer,) = leg.receivers or ()
        assert one.nic
        assert one.value == peer if has_peer else isinstance(one.value, int)


# --- all findings -----------------------------------------------------------------------------------------------------


OF_PROBES = ("df-ping", "haip-path", "udp-path", "fragments")
"""What racwire sends by itself: test_observed_probes has their observations."""


def findings_of(case: Case) -> list[Finding]:
    """Return the findings of every check whose facts are known, as the engine would ask them."""
    facts = case.make.cluster()
    known = {group for group in facts.gathered_groups() if not isinstance(getattr(facts, group), Unknown | NotAsked)}
    return [f for check in discover().checks if known.issuperset(check.needs) for f in check.run(facts)]


@pytest.fixture(scope="module")
def of_the_case_book() -> list[tuple[str, Finding]]:
    return [(case.name, f) for case in fact_cases() for f in findings_of(case) if f.check not in OF_PROBES]


def test_no_finding_of_the_case_book_that_judges_is_without_an_observation(of_the_case_book) -> None:
    judging = (*FAULTS, Status.PASS)
    bare = {(name, f.code) for name, f in of_the_case_book if f.status in judging and not f.observed}
    assert len(of_the_case_book) > 5000
    assert bare == set()


OF_THE_CLUSTER = {
    "IC-MTU-007": "it compares networks as a whole",
    "IC-OWNER-005": "it is about two networks as a whole",
    "IC-IFACE-007": "it is a line of oifcfg, which is the same for all nodes",
    "IC-IFACE-008": "it is a line of oifcfg, which is the same for all nodes",
}


def test_every_state_of_the_case_book_has_a_place(of_the_case_book) -> None:
    states = [
        (name, f.code, one)
        for name, f in of_the_case_book
        for one in f.observed
        if f.status in (*FAULTS, Status.PASS) and one.fate is Fate.STATE
    ]
    assert {code for _, code, one in states if not one.nodes} == set(OF_THE_CLUSTER)


def test_what_passed_and_what_was_lost_is_a_set_of_packets(of_the_case_book) -> None:
    for name, finding in of_the_case_book:
        for one in finding.observed:
            if one.fate in (Fate.PASSED, Fate.LOST, Fate.DELAYED, Fate.COUNTED) and finding.code != "IC-LOST-006":
                assert one.legs, (name, finding.code)
                assert all(one.legs), (name, finding.code)
            if one.of is not None:
                assert 0 < one.number <= one.of, (name, finding.code)
            for leg in one.legs:
                fields = (leg.networks, leg.senders, leg.receivers)
                assert all(value is None or list(value) == sorted(set(value)) for value in fields), (name, finding.code)
