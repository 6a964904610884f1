"""Observations of what nodes count, and of what the database and Clusterware suffer: packets, places, states."""

from datetime import datetime

import msgspec
import pytest

from checks.model.condition import ConditionKind
from checks.model.facts import (
    Cluster,
    InstancePing,
    InterconnectInUse,
    Parameter,
    Unknown,
)
from checks.model.finding import Finding
from checks.model.networks import private_networks
from checks.model.observation import Fate, Observation
from checks.model.traffic import Traffic
from checks.plugins.clusterware import clusterware as clusterware_check
from checks.plugins.gc_blocks_lost import gc_blocks_lost
from checks.plugins.gc_receive_time import gc_receive_time
from checks.plugins.instance_ping import instance_ping
from checks.plugins.log_messages import log_lines_check
from tests.cases.log_case import LogLineOf, logs_of
from tests.fixtures.clusters import cluster, node, with_interface
from tests.fixtures.databases import (
    activity,
    asked,
    database,
    losing,
    own_activity,
    pings,
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
