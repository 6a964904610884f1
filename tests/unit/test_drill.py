"""A drill without a network: what it is about, what refuses it, what it tells people, and what its result says."""

from __future__ import annotations

import msgspec
import pytest

from checks.measure.drill.course import Call, Course
from checks.measure.drill.drill import Drill
from checks.measure.drill.drill_subject import DrillSubject, demand_known, left_without, link_subject
from checks.measure.harm_signs import HarmSigns
from checks.measure.load_limits import limits_of
from checks.measure.load_refusals import only_paths
from checks.measure.measure_error import MeasureError
from checks.measure.paths_to_measure import instance_paths, paths_to_measure
from checks.model.facts import Address, Cluster, Unknown
from checks.model.measurement import MeasuredPath
from checks.report.measurement_headline import silence_text
from checks.traffic.samples import CpuTime, Gap, InstanceSample, NodeSample
from checks.traffic.source_id import SourceId
from tests.fixtures.clusters import cluster, interface, node, with_interface
from tests.unit.measurement_support import drill as measured_drill
from tui.cli.measure.measure_command import exit_code_of
from tui.text.line import plain
from tui.text.measurement_lines import measurement_lines

S = 1_000_000_000
PATHS = (
    MeasuredPath("192.168.10.0/24", "rac1", "192.168.10.1", "rac2", "192.168.10.2", "eth1", 9000),
    MeasuredPath("192.168.11.0/24", "rac1", "192.168.11.1", "rac2", "192.168.11.2", "eth2", 9000),
)
ETH2 = DrillSubject((("rac2", "eth2"),))


# --- what it is about -------------------------------------------------------------------------------------------------


def test_links_are_named_by_interface_and_node() -> None:
    assert link_subject([]).name == "any private link"
    subject = link_subject(["eth2", "of", "rac2", "eth1", "of", "rac3"])
    assert subject.links == (("rac2", "eth2"), ("rac3", "eth1"))
    assert subject.to_do == "Pull eth2 of rac2 and eth1 of rac3 now"


@pytest.mark.parametrize("words", [["eth2"], ["eth2", "of"], ["eth2", "on", "rac2"], ["eth2", "of", "rac2", "eth1"]])
def test_another_text_is_no_link(words: list[str]) -> None:
    with pytest.raises(MeasureError, match="Name a link as INTERFACE of NODE"):
        link_subject(words)


@pytest.mark.parametrize(
    ("subject", "sentence"),
    [
        (DrillSubject((("rac9", "eth2"),)), "There is no node rac9; there are rac1 and rac2."),
        (DrillSubject((("rac2", "eth0"),)), "eth0 of rac2 carries no private network"),
        (DrillSubject((("rac2", "eth7"),)), "private are eth1 and eth2."),
        (DrillSubject(node="rac9", transition="halt"), "There is no node rac9"),
        (DrillSubject(node="rac1", transition="halt"), "racwire runs on rac1 itself"),
    ],
)
def test_what_is_no_private_link_and_no_other_node_is_refused(subject: DrillSubject, sentence: str) -> None:
    with pytest.raises(MeasureError) as raised:
        demand_known(subject, cluster())
    assert sentence in str(raised.value)


def bonded(members: tuple[str, ...] = ("eth2", "eth3")) -> Cluster:
    """Two nodes, each with one private network, on a bond."""
    nodes = []
    for number in (1, 2):
        base = node(number)
        others = tuple(i for i in base.interfaces if i.name == "eth0")
        bond = interface("bond0", f"192.168.10.{number}", kind="bond", members=members)
        lower = tuple(interface(name, "", master="bond0") for name in members)
        nodes.append(msgspec.structs.replace(base, interfaces=(*others, bond, *lower), routes=()))
    return cluster(nodes)


def test_a_link_without_which_a_node_has_no_private_path_is_refused() -> None:
    assert list(left_without(ETH2, cluster())) == []
    both = DrillSubject((("rac2", "eth1"), ("rac2", "eth2")))
    assert list(left_without(both, cluster())) == [("rac2", "eth1 and eth2")]
    broken = cluster([node(1), with_interface(node(2), "eth1", operational_state="down")])
    assert list(left_without(ETH2, broken)) == [("rac2", "eth2")]
    assert list(left_without(DrillSubject(), broken)) == [("rac2", "eth2")]
    assert list(left_without(DrillSubject(node="rac2", transition="halt"), broken)) == []
    (refusal,) = only_paths(left_without(ETH2, broken))
    assert refusal.code == "ME-LOAD-011"
    assert refusal.sentence.startswith("Without eth2, rac2 has no private path left")
    assert not refusal.is_load


def test_a_member_of_a_bond_may_go_but_not_the_last_one_nor_the_bond() -> None:
    assert list(left_without(ETH2, bonded())) == []
    assert list(left_without(DrillSubject(), bonded())) == []
    assert list(left_without(ETH2, bonded(("eth2",)))) == [("rac2", "eth2")]
    assert list(left_without(DrillSubject((("rac2", "bond0"),)), bonded())) == [("rac2", "bond0")]


def with_haips(*, zeroconf: bool = False) -> Cluster:
    nodes = []
    for number in (1, 2):
        found = node(number)
        for nic, base in (("eth1", 0), ("eth2", 128)):
            haip = Address(f"169.254.{base}.{number}", 17, f"{nic}:1")
            own = found.interface(nic)
            assert own is not None
            found = with_interface(found, nic, addresses=(*own.addresses, haip))
        if zeroconf and number == 1:
            own = found.interface("eth0")
            assert own is not None
            found = with_interface(found, "eth0", addresses=(*own.addresses, Address("169.254.0.9", 16)))
        nodes.append(found)
    return cluster(nodes)


def test_the_haips_are_probed_where_there_are_any_and_never_over_a_public_interface() -> None:
    facts = with_haips()
    found = instance_paths(facts, paths_to_measure(facts))
    assert [(path.network, path.source, path.target, path.is_haip) for path in found] == [
        ("169.254.0.0/17", "169.254.0.1", "169.254.0.2", True),
        ("169.254.128.0/17", "169.254.128.1", "169.254.128.2", True),
    ]
    plain_facts = cluster()
    private = paths_to_measure(plain_facts)
    assert instance_paths(plain_facts, private) == private
    facts = with_haips(zeroconf=True)
    with pytest.raises(MeasureError, match=r"eth0 of rac1, which is not private, has 169\.254\.0\.9 in the same range"):
        instance_paths(facts, paths_to_measure(facts))


def test_the_plan_has_its_limits() -> None:
    with pytest.raises(MeasureError, match="every 10 ms or every 1 ms"):
        Drill(ETH2, interval_s=0.1)
    planned = Drill(ETH2).plan(PATHS, limits_of(whole_s=900))
    assert (planned.peak_packets_per_s, planned.packets) == (200, 2 * 200 * 900)
    assert planned.stops.startswith("It stops as soon as what was silent answers again")
    with pytest.raises(MeasureError, match="2 paths every 1 ms are 2,000 packets/s, over the limit of 1,000"):
        Drill(ETH2, interval_s=0.001).plan(PATHS, limits_of(packets_per_s=1000, whole_s=900))
    with pytest.raises(MeasureError, match="choose a shorter --for"):
        Drill(ETH2, seconds=899).plan(PATHS, limits_of(whole_s=900))


# --- the course -------------------------------------------------------------------------------------------------------


def course(subject: DrillSubject = ETH2, seconds: float | None = None, misscount: float | Unknown = 30.0) -> Course:
    return Course(subject, PATHS, misscount, seconds, 0)


def told(one: Course, at_s: float, *silent_s: float, over: tuple[int, float] | None = None) -> list[Call]:
    ended = [] if over is None else [[over[0], 0, int(over[1] * S)]]
    return list(one.news(int(at_s * S), [int(s * S) for s in silent_s], ended))


def test_it_says_what_to_do_and_calls_for_the_plug_at_half_of_misscount_once() -> None:
    one = course()
    assert [call.text for call in told(one, 0.1, 0, 0)] == ["Pull eth2 of rac2 now."]
    assert [call.text for call in told(one, 1, 0, 0.5)] == ["rac1 -> rac2 on 192.168.11.0/24 (ping) is silent."]
    assert told(one, 10, 0, 14.9) == []
    (call,) = told(one, 11, 0, 15.0)
    assert call.is_loud
    assert call.text == ("PLUG IT IN NOW: no answer of rac2 on 192.168.11.0/24 for 15 s, half of misscount (30 s).")
    assert told(one, 12, 0, 16.0) == []
    (ended,) = told(one, 13, 0, 0, over=(1, 16.5))
    assert ended.text.endswith("answers again after 16.500 s.")
    told(one, 20, 0, 0.5)
    assert told(one, 35, 0, 15.5)[0].is_loud


def test_a_path_that_is_silent_already_is_named_first() -> None:
    first, second, *_ = told(course(), 0.1, 0, 0.1)
    assert (first.is_loud, first.text) == (
        True,
        "Silent already at the start of the drill: rac1 -> rac2 on 192.168.11.0/24 (ping).",
    )
    assert second.text == "Pull eth2 of rac2 now."


def test_without_a_known_misscount_it_calls_by_the_usual_one() -> None:
    one = course(misscount=Unknown("crsctl did not answer."))
    told(one, 0, 0, 0)
    assert "half of the usual misscount (30 s)" in told(one, 20, 0, 15.2)[-1].text


def test_it_is_never_over_while_a_path_is_silent() -> None:
    one = course(seconds=5)
    told(one, 1, 0, 0)
    assert not one.is_over(4 * S)
    told(one, 6, 0, 2.0)
    assert not one.is_over(60 * S)
    told(one, 61, 0, 0, over=(1, 55.0))
    assert one.is_over(61 * S)


def test_without_a_time_it_is_over_when_all_has_answered_for_five_seconds() -> None:
    one = course()
    told(one, 1, 0, 0)
    assert not one.is_over(800 * S)  # nothing has happened
    told(one, 2, 0, 0, over=(0, 0.04))
    assert not one.is_over(800 * S)  # a late answer is no event
    told(one, 10, 0, 1.0)
    told(one, 11, 0, 0, over=(1, 1.5))
    assert not one.is_over(15 * S)
    assert one.is_over(16 * S)
    told(one, 17, 0, 0.2)
    assert not one.is_over(30 * S)


def test_a_blink_that_no_probe_tells_is_an_event_too() -> None:
    one = course()
    told(one, 1, 0, 0)
    one.happened(2 * S)
    assert not one.is_over(6 * S)
    assert one.is_over(7 * S)


def test_a_sign_of_harm_ends_it_only_once_the_paths_answer() -> None:
    one = course(seconds=100)
    told(one, 1, 0, 3.0)
    (call,) = one.harm("rac1: its CPUs were 99% busy, over the limit of 80%.")
    assert call.is_loud
    assert "Plug eth2 of rac2 in." in call.text
    assert not one.is_over(5 * S)
    told(one, 6, 0, 0, over=(1, 5.0))
    assert one.is_over(6 * S)


def test_a_drill_of_a_node_ends_after_the_reconfiguration_although_the_node_is_silent() -> None:
    one = course(DrillSubject(node="rac2", transition="halt"))
    assert told(one, 0, 0, 0)[0].text == "Halt rac2 now."
    calls = told(one, 20, 20.0, 20.0)
    assert not any(call.is_loud for call in calls)  # there is nothing to plug in
    assert not one.is_over(40 * S)
    assert [call.text for call in one.reconfigured(30 * S)] == ["CSS has reconfigured the cluster."]
    assert list(one.reconfigured(31 * S)) == []
    assert not one.is_over(39 * S)
    assert one.is_over(40 * S)
    again = course(DrillSubject(node="rac2", transition="reboot"))
    list(again.reconfigured(30 * S))
    told(again, 50, 20.0, 20.0)
    assert not again.is_over(50 * S)
    told(again, 60, 0, 0, over=(0, 30.0))
    assert again.is_over(65 * S)


def test_losses_and_lost_nodes_are_no_signs_of_harm_in_a_drill() -> None:
    signs = HarmSigns([("rac1", "eth1")], 80, is_drill=True)
    lost = InstanceSample("prac1", 1, "rac1", 1.0, 1.0, statistics={"gc blocks lost": 4})
    busy = NodeSample("rac1", 1.0, 6.0, cpu=CpuTime(2, 12.0, 0.0, 0.0))
    assert signs.see(lost) == ""
    assert signs.blocks_lost == 4
    assert signs.see(NodeSample("rac2", 1.0, 1.0, counters={"Ip.ReasmFails": 9})) == ""
    assert signs.see(Gap(SourceId.node("rac2"), 1.0, "rac2 did not answer.")) == ""
    assert signs.see(busy) == ""
    assert "its CPUs were 100% busy" in signs.see(busy)


# --- the result -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "code", "words"),
    [
        (1.02, 0, "3 % of misscount (30 s), fine"),
        (4.0, 1, "where fine is under 10 %"),
        (16.0, 2, "a failure: over 50 %"),
    ],
)
def test_the_judgement_comes_first_and_decides_the_exit_code(seconds: float, code: int, words: str) -> None:
    measurement = measured_drill(seconds)
    text = plain(measurement_lines(measurement, 80))
    assert exit_code_of(measurement) == code
    assert all(len(line) <= 80 for line in text.splitlines())
    second = " ".join(text.splitlines()[1:4])
    assert f"for {silence_text(seconds)}:" in second
    assert words in second
    assert "ARP asks again only after 1 s." in second


def test_a_drill_without_a_silence_could_not_tell_and_an_interrupted_one_says_so() -> None:
    none = measured_drill(0.0)
    assert exit_code_of(none) == 3
    assert "No path was silent" in plain(measurement_lines(none, 80))
    stopped = measured_drill(0.0, stopped="The operator stopped it.")
    assert exit_code_of(stopped) == 130
    ended = measured_drill(1.02, stopped="The operator stopped it.")
    assert exit_code_of(ended) == 0
