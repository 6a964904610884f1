"""The checks udp-path and fragments: what the answers of source ports show, on facts."""

from __future__ import annotations

import msgspec
import pytest

from checks.model.facts import FlowArrivals, FlowPort, FlowProbe, Flows, PingSeries, Unknown, Verdict
from checks.model.finding import Status
from checks.plugins.block_fragments import fragments
from checks.plugins.udp_path import udp_path
from checks.rules.flow_verdicts import missed_member_percent
from tests.fixtures.clusters import cluster, path, with_paths

FINE = FlowPort(40000, 8972, sent=1, answered=1)
SHORT = FlowPort(40001, 8972, sent=3, small_sent=1, small_answered=1)
DEAD = FlowPort(40002, 8972, sent=3, small_sent=1)
LATE = FlowPort(40003, 8972, sent=3, answered=2, late=True, small_sent=1, small_answered=1)
MIXED = FlowPort(40004, 8972, sent=2, answered=1)
CUT = FlowPort(40005, 8328, whole=False, sent=1, answered=1)
NOT_CUT_LOST = FlowPort(
    40006, 8328, whole=False, sent=3, small_sent=1, small_answered=1, full_sent=1, full_answered=1
)  # fmt: skip


def probe(*ports: FlowPort, to: str = "rac2", **more: object) -> FlowProbe:
    source = "rac1" if to == "rac2" else "rac2"
    return FlowProbe(
        "192.168.11.0/24", source, to, f"192.168.11.{source[-1]}", f"192.168.11.{to[-1]}", 9000, 6947, ports, **more
    )


def flows(*probes: FlowProbe, counted: int | None = None) -> Flows:
    arrivals = []
    for node in dict.fromkeys(p.to_node for p in probes):
        sent = sum(p.datagrams for p in probes if p.to_node == node)
        answered = sum(
            port.answered + port.small_answered + port.full_answered
            for p in probes if p.to_node == node for port in p.ports
        )  # fmt: skip
        arrivals.append(FlowArrivals(node, sent, answered if counted is None else counted))
    return Flows(probes, tuple(arrivals))


def found(facts: Flows | Unknown, *paths):
    judged = msgspec.structs.replace(with_paths(cluster(), *paths), flows=facts)
    return {f.code: f for f in (*udp_path.run(judged), *fragments.run(judged))}


def eth2():
    return next(n for n in cluster().networks if n.interface == "eth2")


def test_a_healthy_path_passes_and_says_what_the_sample_could_have_missed():
    finding = found(flows(probe(*[FINE] * 12), probe(*[FINE] * 12, to="rac1")))["IC-FLOW-001"]
    assert (finding.status, finding.data["datagrams"]) == (Status.PASS, 24)
    assert any("0.024 %" in line and "3.2 %" in line for line in finding.seen)


def test_some_ports_that_lose_all_of_full_size_are_a_link_of_an_aggregation():
    finding = found(flows(probe(*[FINE] * 5, *[SHORT] * 6)))["IC-FLOW-002"]
    assert finding.status is Status.FAIL
    assert finding.title == (
        "UDP packets of 9,000 bytes vanish from 6 of 11 source ports on 192.168.11.0/24 from rac1 to rac2; other "
        "source ports lose none, and small datagrams pass from all."
    )


def test_some_ports_that_lose_all_sizes_are_a_dead_link():
    assert found(flows(probe(*[FINE] * 5, *[DEAD] * 4)))["IC-FLOW-003"].status is Status.FAIL


@pytest.mark.parametrize(("lost", "is_member"), [(0, True), (1, True), (5, False), (10, False)])
def test_few_datagrams_that_vanish_by_chance_are_no_link_where_pings_are_lost_in_part(lost, is_member):
    facts = flows(probe(*[FINE] * 5, SHORT))
    series = (PingSeries(56, 20, 20), PingSeries(8972, 20, 20 - lost), PingSeries(8973, 1, 0, refused_locally=1))
    pinged = path(eth2(), "rac1", "rac2", Verdict.LOSS if lost else Verdict.PASSES, series=series)
    assert ("IC-FLOW-002" in found(facts, pinged)) is is_member


@pytest.mark.parametrize("spoiler", [LATE, MIXED])
def test_a_port_that_loses_in_part_speaks_against_an_aggregation(spoiler):
    codes = found(flows(probe(*[FINE] * 5, SHORT, spoiler)))
    assert "IC-FLOW-002" not in codes
    assert codes["IC-FLOW-005"].status is Status.WARN


def test_a_missing_answer_is_no_loss_where_the_target_counted_every_datagram():
    facts = flows(probe(*[FINE] * 9, LATE))
    counted_all = Flows(facts.probes, (FlowArrivals("rac2", 13, 13),))
    assert set(found(counted_all)) == {"IC-FLOW-001", "IC-FRAG-003"}


def test_a_missing_answer_is_not_decided_where_the_target_counts_nothing():
    facts = Flows((probe(*[FINE] * 9, LATE),))
    assert found(facts)["IC-FLOW-006"].status is Status.INFO


def test_the_loss_of_another_network_to_the_same_node_is_not_counted_here():
    other = msgspec.structs.replace(probe(*[DEAD] * 6), network="192.168.10.0/24")
    codes = found(flows(other, probe(*[FINE] * 5, LATE), counted=9))
    assert "IC-FLOW-005" not in codes
    assert codes["IC-FLOW-001"].network == "192.168.11.0/24"


def test_datagrams_lost_in_part_belong_to_the_loss_of_pings_that_a_direction_shows():
    lossy = flows(probe(*[FINE] * 3, *[LATE] * 3))
    here, back = path(eth2(), "rac1", "rac2"), path(eth2(), "rac2", "rac1")
    once = msgspec.structs.replace(here, reason="1 of 20 lost at once, and none alone")
    loss = msgspec.structs.replace(back, verdict=Verdict.LOSS)
    assert found(lossy, here, back)["IC-FLOW-005"].title.endswith("rac1 to rac2, while pings pass.")
    assert found(lossy, once, back)["IC-FLOW-005"].title.endswith("while pings were lost once and then pass.")
    for pings in ((here, loss), (once, loss)):
        codes = found(lossy, *pings)
        assert "IC-FLOW-005" not in codes
        assert "as pings are" in codes["IC-FLOW-007"].title


@pytest.mark.parametrize("verdict", [Verdict.UNKNOWN, Verdict.FILTERED])
def test_nothing_is_said_of_pings_that_show_nothing(verdict):
    pings = [path(eth2(), "rac1", "rac2", verdict=verdict)]
    if verdict is not Verdict.FILTERED:
        assert "pings" not in found(flows(probe(*[DEAD] * 6)), *pings)["IC-FLOW-004"].title
    assert "pings" not in found(flows(probe(*[SHORT] * 6)), *pings)["IC-FLOW-008"].title


def test_no_datagram_at_all_while_pings_pass_is_a_filter_of_udp():
    finding = found(flows(probe(*[DEAD] * 6)))["IC-FLOW-004"]
    assert finding.title == "No UDP datagram arrives on 192.168.11.0/24 from rac1 to rac2, while pings pass."
    assert finding.status is Status.FAIL  # blocks travel by UDP, whether or not the database was queried


def test_datagrams_that_arrive_and_are_not_answered_are_not_decided():
    facts = flows(probe(*[DEAD] * 6), counted=24)
    assert found(facts)["IC-FLOW-006"].status is Status.INFO


def test_a_prohibition_names_the_filter():
    refused = FlowPort(40000, 8972, prohibited_by="192.168.11.2")
    finding = found(flows(probe(*[refused] * 6)))["IC-FLOW-009"]
    assert finding.title == (
        "A packet filter refuses UDP datagrams on 192.168.11.0/24 from rac1 to rac2: 192.168.11.2 answers."
    )


def test_a_filter_of_the_sender_is_named():
    barred = FlowPort(0, 8972, sent=0, error="EPERM")
    finding = found(flows(probe(*[barred] * 6)))["IC-FLOW-009"]
    assert (
        finding.title == "A packet filter of rac1 refuses to send UDP datagrams on 192.168.11.0/24 from rac1 to rac2."
    )


@pytest.mark.parametrize("error", ["EINVAL", "EHOSTUNREACH", "EACCES", "ENETUNREACH"])
def test_routes_that_refuse_packets_are_no_filter(error):
    refused = FlowPort(0, 8972, sent=0, error=error)
    codes = found(flows(probe(*[refused] * 6)))
    assert (codes["IC-FLOW-014"].status, codes["IC-FLOW-014"].nodes) == (Status.FAIL, ("rac1",))
    assert codes["IC-FLOW-014"].next[0].commands[0] == "ip route get 192.168.11.2 from 192.168.11.1"
    assert "IC-FLOW-009" not in codes


def test_an_address_that_does_not_answer_arp_is_no_route():
    unreachable = FlowPort(40000, 8972, error="EHOSTUNREACH")
    assert "IC-FLOW-014" not in found(flows(probe(*[unreachable] * 6)))


def test_answers_that_the_kernel_did_not_count_come_from_another_host():
    finding = found(flows(probe(*[FINE] * 12), counted=0))["IC-FLOW-012"]
    assert "not by the kernel of the target" in finding.title


def test_which_of_several_paths_another_host_answers_is_not_known_from_a_count_of_all():
    here, there = probe(*[FINE] * 12), probe(*[FINE] * 12, to="rac1")
    elsewhere = msgspec.structs.replace(here, network="192.168.10.0/24")
    arrivals = (FlowArrivals("rac2", 24, 12), FlowArrivals("rac1", 12, 12))
    codes = found(Flows((here, elsewhere, there), arrivals))
    finding = codes["IC-FLOW-012"]
    assert finding.title.startswith("The kernel of rac2 did not count 12 of 24 UDP datagrams to it")
    assert (finding.network, finding.nodes) == ("", ("rac2",))
    assert codes["IC-FLOW-001"].data["paths"] == 1, "no path to rac2 is called good"
    codes = found(Flows((here, elsewhere), (FlowArrivals("rac2", 24, 0),)))
    assert "answered on 192.168.1" in codes["IC-FLOW-012"].title


def test_every_port_that_loses_full_size_is_no_link_of_an_aggregation():
    codes = found(flows(probe(*[SHORT] * 6)))
    assert codes["IC-FLOW-008"].status is Status.FAIL
    assert "IC-FLOW-002" not in codes


@pytest.mark.parametrize(
    "ports",
    [[SHORT] * 6, [*[FINE] * 5, *[SHORT] * 4], [*[FINE] * 5, *[DEAD] * 4], [*[FINE] * 9, *[NOT_CUT_LOST] * 3]],
    ids=["each", "some", "all sizes", "fragments"],
)
@pytest.mark.parametrize("others", [0, 25])
def test_datagrams_that_the_target_counted_were_not_lost_although_another_sender_took_the_answers(ports, others):
    lacking = probe(*ports)
    facts = flows(lacking, counted=lacking.datagrams + others)
    assert {f.status for f in found(facts).values()} <= {Status.PASS, Status.INFO}
    undecided = "IC-FRAG-004" if NOT_CUT_LOST in ports else "IC-FLOW-006"
    assert (undecided in found(facts)) is (others > 0)


def test_a_few_datagrams_of_other_programs_hide_no_link_that_loses():
    lacking = probe(*[FINE] * 5, *[SHORT] * 4)
    assert "IC-FLOW-002" in found(flows(lacking, counted=lacking.datagrams - 12 + 5))


def both_ways(verdict, small=(20, 20), full=(20, 0)):
    series = (PingSeries(56, *small), PingSeries(8972, *full))
    return [path(eth2(), *pair, verdict, series=series) for pair in (("rac1", "rac2"), ("rac2", "rac1"))]


@pytest.mark.parametrize("verdict", [Verdict.BLACK_HOLE, Verdict.FILTERED])
def test_udp_that_passes_both_ways_where_pings_do_not_is_about_pings(verdict):
    codes = found(flows(probe(*[FINE] * 6), probe(*[FINE] * 6, to="rac1")), *both_ways(verdict))
    assert codes["IC-FLOW-010"].status is Status.WARN
    assert "IC-FLOW-001" not in codes


def test_udp_that_passes_one_way_proves_nothing_about_pings():
    codes = found(flows(probe(*[SHORT] * 3), probe(*[FINE] * 3, to="rac1")), *both_ways(Verdict.BLACK_HOLE))
    assert "IC-FLOW-010" not in codes


@pytest.mark.parametrize(("answered", "contradicts"), [(19, False), (5, True)])
def test_few_datagrams_prove_nothing_about_a_small_loss(answered, contradicts):
    lossy = both_ways(Verdict.LOSS, (20, answered), (20, answered))
    codes = found(flows(probe(*[FINE] * 6), probe(*[FINE] * 6, to="rac1")), *lossy)
    assert ("IC-FLOW-011" in codes) is contradicts


def test_a_queue_that_drops_large_pings_of_a_burst_is_no_limit_of_pings():
    lossy = both_ways(Verdict.LOSS, (20, 20), (20, 5))
    codes = found(flows(probe(*[FINE] * 6), probe(*[FINE] * 6, to="rac1")), *lossy)
    assert "IC-FLOW-011" not in codes


def test_datagrams_that_vanish_as_pings_do_are_left_to_df_ping():
    codes = found(flows(probe(*[SHORT] * 3)), path(eth2(), "rac1", "rac2", Verdict.BLACK_HOLE))
    assert {code: f.status for code, f in codes.items()} == {
        "IC-FLOW-007": Status.SKIPPED, "IC-FRAG-003": Status.PASS,
    }  # fmt: skip


def test_a_path_without_datagrams_is_skipped_with_the_reason():
    finding = found(Flows((probe(reason="rac1 has no Python in /usr/bin, so it cannot send datagrams"),)))[
        "IC-FLOW-007"
    ]
    assert finding.status is Status.SKIPPED
    assert any("no Python" in line for line in finding.seen)


def test_a_file_of_an_older_version_has_no_datagrams():
    codes = {f.code: f.status for f in udp_path.run(cluster())}
    assert codes == {"IC-FLOW-007": Status.SKIPPED}
    assert next(iter(fragments.run(cluster()))).status is Status.SKIPPED


def test_datagrams_that_could_not_be_sent_are_unknown():
    assert found(Unknown("the run took over 200 s"))["IC-FLOW-007"].status is Status.UNKNOWN


def test_fragments_that_vanish_while_whole_packets_pass_are_dropped():
    finding = found(flows(probe(*[FINE] * 9, *[NOT_CUT_LOST] * 3)))["IC-FRAG-002"]
    assert (finding.status, finding.nodes) == (Status.FAIL, ("rac2",))


def test_fragments_that_arrive_pass():
    assert found(flows(probe(*[FINE] * 9, *[CUT] * 3)))["IC-FRAG-001"].status is Status.PASS


def test_fragments_without_an_answer_and_without_a_reason_are_not_decided():
    silent = FlowPort(40000, 8328, whole=False, sent=3, small_sent=1, full_sent=1)
    assert found(flows(probe(*[FINE] * 3, *[silent] * 3)))["IC-FRAG-004"].status is Status.INFO


def test_the_chance_to_miss_a_link_falls_with_the_source_ports():
    assert missed_member_percent(12, 2) == pytest.approx(0.0244, abs=1e-4)
    assert missed_member_percent(12, 4) == pytest.approx(3.17, abs=1e-2)
