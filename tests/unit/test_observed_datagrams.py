"""What findings about UDP datagrams and blocks in fragments observed, as data."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.facts import Cluster, FlowArrivals, FlowPort, FlowProbe, Flows
from checks.model.observation import Fate, Observation
from checks.plugins.block_fragments import fragments
from checks.plugins.udp_path import udp_path
from tests.fixtures.clusters import cluster, node, with_interface
from tests.unit.observed_support import contradictions, told, way

NET = "192.168.11.0/24"
ROUTER = "192.168.11.254"


def ports(first: int, number: int, **counts: int) -> list[FlowPort]:
    return [FlowPort(first + i, 8972, **counts) for i in range(number)]  # type: ignore[arg-type]


FINE = ports(40000, 3, sent=1, answered=1)
SHORT = ports(40010, 2, sent=3, small_sent=1, small_answered=1)
DEAD = ports(40020, 2, sent=3, small_sent=1)
LATE = [FlowPort(40030, 8972, sent=3, answered=2, late=True, small_sent=1, small_answered=1)]


def flow(*sent: FlowPort, to: str = "rac2", mtu: int = 9000) -> FlowProbe:
    source = "rac1" if to == "rac2" else "rac2"
    return FlowProbe(NET, source, to, f"192.168.11.{source[-1]}", f"192.168.11.{to[-1]}", mtu, 6947, sent)


def answered(probe: FlowProbe) -> int:
    return sum(p.answered + p.small_answered + p.full_answered for p in probe.ports)


def seen_of(probe: FlowProbe, counted: int | None = None, facts: Cluster | None = None):
    arrivals = FlowArrivals(probe.to_node, probe.datagrams, answered(probe) if counted is None else counted)
    judged = msgspec.structs.replace(facts or cluster(), flows=Flows((probe,), (arrivals,)))
    return {f.code: f.observed for f in (*udp_path.run(judged), *fragments.run(judged))}


THERE, THERE_SMALL = ["rac1>rac2 whole 9000"], ["rac1>rac2 whole 84"]
PORTS_OF_FINE, PORTS_OF_SHORT, PORTS_OF_DEAD = (40000, 40001, 40002), (40010, 40011), (40020, 40021)


def with_ports(observed: Sequence[Observation]):
    return [(*one, seen.legs[0].ports) for one, seen in zip(told(observed), observed, strict=True)]


def test_answered_datagrams_passed_on_the_way_there():
    (seen,) = seen_of(flow(*FINE))["IC-FLOW-001"]
    assert with_ports([seen]) == [("passed", 3, 3, THERE, PORTS_OF_FINE)]
    assert seen.what == "datagram"
    (leg,) = seen.legs
    assert (leg.addresses, leg.protocols, leg.ends) == (("private",), ("udp",), ("kernel",))


def test_datagrams_that_were_counted_and_not_answered_passed():
    probe = flow(*FINE, *LATE)
    assert with_ports(seen_of(probe, counted=probe.datagrams)["IC-FLOW-001"]) == [
        ("passed", 6, 6, THERE, (*PORTS_OF_FINE, 40030)),
        ("passed", 1, 1, THERE_SMALL, (40030,)),
    ]


def test_a_link_of_an_aggregation_loses_the_large_datagrams_of_its_ports():
    assert with_ports(seen_of(flow(*FINE, *SHORT))["IC-FLOW-002"]) == [
        ("lost", 6, 6, THERE, PORTS_OF_SHORT),
        ("passed", 3, 3, THERE, PORTS_OF_FINE),
        ("passed", 2, 2, THERE_SMALL, PORTS_OF_SHORT),
    ]


def test_a_dead_link_of_an_aggregation_loses_all_datagrams_of_its_ports():
    assert with_ports(seen_of(flow(*FINE, *DEAD))["IC-FLOW-003"]) == [
        ("lost", 6, 6, THERE, PORTS_OF_DEAD),
        ("lost", 2, 2, THERE_SMALL, PORTS_OF_DEAD),
        ("passed", 3, 3, THERE, PORTS_OF_FINE),
    ]


def test_large_datagrams_that_vanish_from_each_port():
    assert with_ports(seen_of(flow(*SHORT))["IC-FLOW-008"]) == [
        ("lost", 6, 6, THERE, PORTS_OF_SHORT),
        ("passed", 2, 2, THERE_SMALL, PORTS_OF_SHORT),
    ]


def test_datagrams_of_which_none_arrives():
    assert with_ports(seen_of(flow(*DEAD))["IC-FLOW-004"]) == [
        ("lost", 6, 6, THERE, PORTS_OF_DEAD),
        ("lost", 2, 2, THERE_SMALL, PORTS_OF_DEAD),
    ]


def test_of_datagrams_lost_in_part_those_count_that_the_target_did_not_count():
    mixed = FlowPort(40030, 8972, sent=6, answered=2, small_sent=2, small_answered=2)
    probe = flow(*FINE, mixed)
    # 4 have no answer, and 9 of 11 were counted: two answers are missing, and two datagrams.
    assert told(seen_of(probe, counted=9)["IC-FLOW-005"]) == [("lost", 2, 9, THERE)]


def test_the_size_of_datagrams_lost_in_part_is_one_of_those_without_an_answer():
    mixed = FlowPort(40030, 8972, sent=6, answered=2, small_sent=3, small_answered=2)
    assert told(seen_of(flow(*FINE, mixed))["IC-FLOW-005"]) == [("lost", 5, 12, [*THERE, *THERE_SMALL])]


def test_large_datagrams_that_vanish_beside_a_path_that_loses_in_part_are_of_the_same_loss():
    mixed = FlowPort(40030, 8972, sent=6, answered=2, small_sent=1, small_answered=1)
    probes = (flow(*SHORT), flow(*FINE, mixed, to="rac1"))
    arrivals = tuple(FlowArrivals(p.to_node, p.datagrams, answered(p)) for p in probes)
    found = {f.code: f for f in udp_path.run(msgspec.structs.replace(cluster(), flows=Flows(probes, arrivals)))}
    assert sorted(told(found["IC-FLOW-005"].observed)) == [
        ("lost", 4, 9, ["rac2>rac1 whole 9000"]),
        ("lost", 6, 8, [*THERE, *THERE_SMALL]),
    ]


def test_datagrams_that_the_own_filter_or_a_route_refuses():
    barred = [FlowPort(40000 + i, 8972, sent=0, error="EPERM") for i in range(3)]
    (seen,) = seen_of(flow(*barred))["IC-FLOW-009"]
    assert (told([seen]), seen.nodes) == ([("refused", 3, 3, THERE)], ("rac1",))
    unrouted = [FlowPort(40000 + i, 8972, sent=0, error="EINVAL") for i in range(3)]
    (seen,) = seen_of(flow(*unrouted))["IC-FLOW-014"]
    assert (told([seen]), seen.nodes) == ([("refused", 3, 3, THERE)], ("rac1",))


@pytest.mark.parametrize(("by", "nodes"), [("192.168.11.2", ("rac2",)), (ROUTER, ())])
def test_datagrams_that_a_host_answers_as_prohibited(by, nodes):
    probe = flow(*[FlowPort(40000 + i, 8972, prohibited_by=by) for i in range(3)])
    (seen,) = seen_of(probe)["IC-FLOW-009"]
    assert (told([seen]), seen.nodes, seen.value) == ([("refused", 3, 3, THERE)], nodes, by)


def test_datagrams_that_another_host_answered_did_not_reach_the_target():
    assert with_ports(seen_of(flow(*FINE), counted=0)["IC-FLOW-012"]) == [("lost", 3, 3, THERE, PORTS_OF_FINE)]


def test_paths_that_are_not_decided_show_nothing():
    probe = flow(*FINE, *LATE)
    judged = msgspec.structs.replace(cluster(), flows=Flows((probe,)))
    assert [f.observed for f in udp_path.run(judged) if f.code == "IC-FLOW-006"] == [()]
    silent = msgspec.structs.replace(cluster(), flows=Flows((flow(),)))
    assert [f.observed for f in udp_path.run(silent) if f.code == "IC-FLOW-007"] == [()]


# --- blocks in fragments ----------------------------------------------------------------------------------------------

AT_1500 = cluster([node(1, 1500), node(2, 1500)])
IN_PIECES = ["rac1>rac2 fragment 1500", "rac1>rac2 fragment 956"]


def cut_port(number: int, **counts: int) -> FlowPort:
    return FlowPort(number, 8328, whole=False, **counts)  # type: ignore[arg-type]


FULL_1500 = [FlowPort(40000 + i, 1472, sent=1, answered=1) for i in range(3)]


def test_blocks_in_fragments_that_arrive():
    seen = seen_of(flow(*FULL_1500, cut_port(40005, answered=1), cut_port(40006, answered=1), mtu=1500), facts=AT_1500)
    (blocks,) = seen["IC-FRAG-001"]
    assert (blocks.what, with_ports([blocks])) == ("fragments", [("passed", 2, 2, IN_PIECES, (40005, 40006))])


def test_blocks_in_fragments_that_vanish_beside_packets_that_pass():
    lost = [cut_port(40005 + i, sent=3, small_sent=1, small_answered=1, full_sent=1, full_answered=1) for i in (0, 1)]
    seen = seen_of(flow(*FULL_1500, *lost, mtu=1500), facts=AT_1500)["IC-FRAG-002"]
    assert with_ports(seen) == [
        ("lost", 6, 6, IN_PIECES, (40005, 40006)),
        ("passed", 2, 2, ["rac1>rac2 whole 1500"], (40005, 40006)),
        ("passed", 2, 2, THERE_SMALL, (40005, 40006)),
    ]


def test_blocks_that_another_host_answered_passed_nowhere():
    seen = seen_of(flow(*FULL_1500, cut_port(40005, answered=1), mtu=1500), counted=0, facts=AT_1500)
    assert seen["IC-FRAG-001"] == ()
    assert ("lost", 1, 1, IN_PIECES) in told(seen["IC-FLOW-012"])


def test_a_block_from_a_node_with_a_larger_mtu_than_its_network_is_one_packet():
    facts = cluster([with_interface(node(1, 1500), "eth2", mtu=9000), node(2, 1500), node(3, 1500)])
    (block,) = seen_of(flow(*FULL_1500, cut_port(40005, answered=1), mtu=1500), facts=facts)["IC-FRAG-001"]
    assert (block.what, way(block)) == ("datagram", ["rac1>rac2 whole 8356"])


def test_without_the_mtu_of_the_sender_blocks_are_cut_by_that_of_the_network():
    facts = msgspec.structs.replace(AT_1500, nodes=())
    (block,) = seen_of(flow(*FULL_1500, cut_port(40005, answered=1), mtu=1500), facts=facts)["IC-FRAG-001"]
    assert way(block) == IN_PIECES


@st.composite
def flow_ports(draw: st.DrawFn, source_port: int) -> FlowPort:
    is_whole = draw(st.booleans())
    sent = draw(st.integers(0, 4))
    small, full = draw(st.integers(0, 2)), 0 if is_whole else draw(st.integers(0, 2))
    return FlowPort(
        source_port, 1472 if is_whole else 8328, is_whole, sent,
        draw(st.integers(0, sent)), small_sent=small, small_answered=draw(st.integers(0, small)),
        full_sent=full, full_answered=draw(st.integers(0, full)),
        prohibited_by=draw(st.sampled_from(["", "", "", ROUTER])),
        error=draw(st.sampled_from(["", "", "", "EPERM", "EINVAL"])) if not sent else "",
    )  # fmt: skip


@given(st.data(), st.integers(1, 6))
def test_no_datagram_is_said_to_pass_and_to_be_lost(data, number):
    probe = flow(*(data.draw(flow_ports(40000 + i)) for i in range(number)), mtu=1500)
    counted = data.draw(st.integers(0, probe.datagrams + 2))
    found = seen_of(probe, counted=counted, facts=AT_1500)
    observed = [one for of in found.values() for one in of if one.fate is not Fate.STATE]
    assert contradictions(observed) == []
    assert all(0 < one.number <= (one.of or 0) and one.legs for one in observed)
