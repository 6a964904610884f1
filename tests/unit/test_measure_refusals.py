"""Refusals of a measurement, the signs of harm that stop it, and the silence of a path."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from msgspec.structs import replace

from checks.measure.harm_signs import EVERY_S, HarmSigns, QuietPath
from checks.measure.load_refusals import failing_paths, load_refusals, standing_refusals
from checks.measure.preparing import name_of
from checks.model.facts import NodeSetup, Unknown, UnreadNode
from checks.model.finding import Finding, Status
from checks.rules.load_harm import most_silence_s
from checks.traffic.samples import CpuTime, Gap, InstanceSample, InterfaceCounts, NodeSample
from checks.traffic.source_id import DATABASE, SourceId
from tests.fixtures import clusters
from tests.unit.measurement_support import PATH


def node(seconds: float = 1.0, name: str = "rac2", **counters: int) -> NodeSample:
    dotted = {key.replace("_", ".", 1): count for key, count in counters.items()}
    return NodeSample(name, 0.0, seconds, counters=dotted)


# --- refusals and signs -----------------------------------------------------------------------------------------------


def finding(network: str, *nodes: str, status: Status = Status.FAIL) -> Finding:
    return Finding(code="IC-PATH-003", check="df-ping", status=status, title="Lost.", network=network, nodes=nodes)


def test_a_failing_path_is_refused_and_another_is_not() -> None:
    assert list(failing_paths([finding("192.168.10.0/24", "rac1", "rac2")], [PATH]))
    assert list(failing_paths([finding("", "rac2")], [PATH]))
    assert not list(failing_paths([finding("192.168.11.0/24", "rac1", "rac2")], [PATH]))
    assert not list(failing_paths([finding("192.168.10.0/24", "rac3")], [PATH]))
    assert not list(failing_paths([finding("192.168.10.0/24", "rac1", status=Status.WARN)], [PATH]))


def test_a_loaded_cluster_is_refused_and_a_reason_can_override_it() -> None:
    assert not list(load_refusals({"eth1 of rac1": 0.04}, {"rac1": 0.5}, [], 60))
    for use, cpu, losses in (
        ({"eth1 of rac1": 0.06}, {"rac1": 0.5}, []),
        ({"eth1 of rac1": 0.0}, {"rac1": 0.61}, []),
        ({"eth1 of rac1": 0.0}, {"rac1": 0.5}, ["rac1 Ip.ReasmFails"]),
    ):
        (refusal,) = load_refusals(use, cpu, losses, 60)
        assert refusal.is_load


SIGNS = [
    node(Ip_ReasmFails=1),
    node(Udp_RcvbufErrors=1),
    node(Udp_MemErrors=1),
    node(Softnet_Dropped=1),
    NodeSample("rac1", 0, 0.2, interfaces={"eth1": InterfaceCounts(rx_dropped=11)}),
    NodeSample("rac1", 0, 0.2, interfaces={"eth1": InterfaceCounts(tx_dropped=1)}),
    NodeSample("rac1", 0, 0.2, cpu=CpuTime(2, 2.0, 0.2, 0.0)),
    InstanceSample("prac2", 2, "rac2", 0, 1.0, {"gc blocks lost": 1}),
    Gap(SourceId.node("rac2"), 0, "The connection to rac2 was lost."),
]


@pytest.mark.parametrize("event", SIGNS, ids=lambda event: type(event).__name__)
def test_the_first_sign_stops_the_measurement(event: object) -> None:
    signs = HarmSigns({("rac1", "eth1")}, 80)
    signs.baseline(node(seconds=3.0))
    assert not signs.see(node(Ip_ReasmFails=0, Ip_ReasmOKs=50))
    first = signs.see(event)
    assert first.endswith(".")
    assert signs.see(node(Udp_RcvbufErrors=1000)) == first


def test_a_database_that_can_no_longer_be_watched_is_a_sign_where_it_was_watched() -> None:
    gap = Gap(DATABASE, 0, "ORA-03113.")
    assert not HarmSigns({("rac1", "eth1")}, 80).see(gap)
    signs = HarmSigns({("rac1", "eth1")}, 80)
    signs.baseline(InstanceSample("prac1", 1, "rac1", 0, 1.0, {"gc blocks lost": 0}))
    assert "can no longer be watched for lost blocks: ORA-03113." in signs.see(gap)


def test_drops_of_another_interface_are_no_sign() -> None:
    signs = HarmSigns({("rac1", "eth1")}, 80)
    assert not signs.see(NodeSample("rac1", 0, 0.2, interfaces={"eth0": InterfaceCounts(rx_dropped=5)}))


def test_a_counter_that_grew_before_must_grow_three_times_as_fast() -> None:
    signs = HarmSigns(set(), 80)
    signs.baseline(node(seconds=3.0, Ip_ReasmFails=3))
    assert signs.losses_before() == ["rac2 Ip.ReasmFails"]
    for second in range(20):
        assert not signs.see(NodeSample("rac2", float(second), 1.0, counters={"Ip.ReasmFails": 3}))
    assert signs.see(NodeSample("rac2", 20.0, 1.0, counters={"Ip.ReasmFails": 4}))


def test_a_counter_that_grew_once_a_second_before_may_grow_once_in_a_short_sample() -> None:
    signs = HarmSigns(set(), 80)
    signs.baseline(node(seconds=3.0, Ip_ReasmFails=3))
    for tick in range(100):
        grown = int(tick % 5 == 0)
        assert not signs.see(NodeSample("rac2", tick / 5, 0.2, counters={"Ip.ReasmFails": grown}))


def test_frames_of_a_switch_that_linux_counts_as_dropped_are_no_sign_and_no_refusal() -> None:
    """A BPDU every two seconds, and an LLDP frame every thirty."""
    signs = HarmSigns({("rac1", "eth1")}, 80)

    def sample(tick: int, dropped: int) -> NodeSample:
        return NodeSample("rac1", tick / 5, 0.2, interfaces={"eth1": InterfaceCounts(rx_dropped=dropped)})

    strays = [int(tick % 10 == 0) + int(tick % 150 == 7) for tick in range(600)]
    for tick in range(15):
        signs.baseline(sample(tick, strays[tick]))
    assert not signs.losses_before()
    for tick in range(15, 600):
        assert not signs.see(sample(tick, strays[tick]))
    assert signs.see(sample(600, 40)).startswith("rac1: 40 dropped packets of eth1")


@pytest.mark.parametrize(
    ("setups", "why"),
    [
        ({}, ""),
        ({"rac2": {"instances": ("+ASM2", "prod2")}}, "+ASM2 and 1 more run on rac2"),
        ({"rac2": {"daemons": ("ohasd.bin",)}}, "ohasd.bin runs on rac2"),
        ({"rac1": {"daemons": Unknown("hidepid=2")}}, "what runs on rac1 is not known (hidepid=2)"),
        ({"rac2": None}, "what runs on rac2 is not known"),
    ],
)
def test_more_than_a_tenth_of_a_link_needs_a_stack_that_is_known_to_be_down_on_all_nodes(
    setups: dict[str, dict[str, Any] | None], why: str
) -> None:
    found = tuple(
        UnreadNode(name, "no route to host")
        if (changed := setups.get(name, {})) is None
        else NodeSetup(name, **{"daemons": (), "instances": (), **changed})
        for name in ("rac1", "rac2")
    )
    down = replace(clusters.cluster(2), setups=found)
    refused = {one.code: one.sentence for one in standing_refusals(down, is_lab=False, link_share=0.5)}
    assert why in refused.get("ME-LOAD-004", "") if why else not refused
    assert not list(standing_refusals(down, is_lab=False, link_share=0.1))
    assert not list(standing_refusals(down, is_lab=True, link_share=0.5))


def test_what_runs_on_the_nodes_must_be_known_where_it_decides() -> None:
    unread = replace(clusters.cluster(2), setups=Unknown("It took over 30 s."))
    (refused,) = standing_refusals(unread, is_lab=False, link_share=0.5)
    assert "all nodes: It took over 30 s. Choose" in refused.sentence


def test_the_settings_name_a_cluster_whose_clusterware_is_down() -> None:
    up = clusters.cluster(2)
    assert name_of(up, "prod") != "prod"
    assert name_of(replace(up, clusterware=Unknown("It is down.")), "prod") == "prod"


# --- silence ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("misscount", "most_s"), [(30, 3.0), (60, 6.0), (3, 0.6), (Unknown("no crsctl"), 3.0)])
def test_a_tenth_of_misscount_is_too_long(misscount: int | Unknown, most_s: float) -> None:
    found = clusters.cluster(2, replace(clusters.clusterware(2), misscount_s=misscount))
    assert most_silence_s(found) == pytest.approx(most_s)


def looks(answers: Callable[[float], bool], times: Iterable[float]) -> list[float | None]:
    silence, seen = QuietPath(3.0), []
    for at in times:
        if answers(at):
            silence.answered(at)
        seen.append(silence.too_long_s(at))
    return seen


def test_a_path_that_falls_silent_is_a_sign_and_one_that_never_answered_is_none() -> None:
    every = [number * EVERY_S for number in range(50)]
    seen = looks(lambda at: at < 2.0, every)
    first = next(at for at, found in zip(every, seen, strict=True) if found is not None)
    assert 4.8 <= first <= 5.2
    assert looks(lambda _: True, every) == [None] * 50
    assert looks(lambda _: False, every) == [None] * 50


def test_what_passed_while_racwire_did_not_run_is_no_silence() -> None:
    before = [number * EVERY_S for number in range(10)]
    assert set(looks(lambda at: at < 2.0, [*before, 60.0, 60.2, 60.4])) == {None}
