"""What a measurement may send, what refuses it, and what stops it: limits, plan, consent, refusals, signs of harm."""

from __future__ import annotations

import json
import os
import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from msgspec.structs import replace

from checks.measure.harm_signs import EVERY_S, HarmSigns, QuietPath, most_silence_s
from checks.measure.load_limits import HARD, limits_of
from checks.measure.load_plan import NO_DATABASE, LoadPlan, agree
from checks.measure.load_refusals import failing_paths, load_refusals, standing_refusals
from checks.measure.measure_error import MeasureError
from checks.measure.near_end.control import Budget, Orders, StoppedError
from checks.measure.preparing import name_of
from checks.measure.sizes import Sizes, percentile
from checks.model.facts import NodeSetup, Unknown, UnreadNode
from checks.model.finding import Finding, Status
from checks.model.measurement import MeasuredPath
from checks.model.settings import ClusterSettings, Settings
from checks.traffic.samples import CpuTime, Gap, InstanceSample, InterfaceCounts, NodeSample
from tests.fixtures import clusters

PATH = MeasuredPath("192.168.10.0/24", "rac1", "192.168.10.1", "rac2", "192.168.10.2", "eth1", 1500, 10_000)


def node(seconds: float = 1.0, name: str = "rac2", **counters: int) -> NodeSample:
    dotted = {key.replace("_", ".", 1): count for key, count in counters.items()}
    return NodeSample(name, 0.0, seconds, counters=dotted)


# --- limits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        {"packets_per_s": 0},
        {"packets_per_s": 20_001},
        {"link_share": 0.81},
        {"in_flight": 9},
        {"whole_s": 901},
        {"most_bytes": 51 << 30},
    ],
)
def test_no_option_exceeds_a_hard_limit(wrong: dict[str, float]) -> None:
    with pytest.raises(MeasureError, match="must be more than 0 and at most"):
        limits_of(**wrong)  # type: ignore[arg-type]


def test_the_usual_limits_are_a_tenth_of_the_link_and_at_most_1_gbit() -> None:
    limits = limits_of()
    assert limits.bits_per_s(1000) == 100e6
    assert limits.bits_per_s(100_000) == 1e9
    assert limits.bits_per_s(None) == 100e6
    assert limits_of(link_share=0.5).bits_per_s(100_000) == 50e9
    assert HARD.packets_per_s == 20_000


class Clock:
    """Time that passes only where the code under test sleeps, and by `tick`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr(time, "monotonic", lambda: self.now)
        monkeypatch.setattr(time, "process_time", lambda: 0.0)
        monkeypatch.setattr(time, "sleep", self.tick)

    def tick(self, seconds: float) -> None:
        self.now += seconds


class QuietOrders(Orders):
    """A parent that says nothing; time passes where the sender waits."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(0)
        self._clock = clock

    def _read(self, patience_s: float) -> None:
        self._clock.tick(patience_s)


@pytest.mark.parametrize(
    ("packets", "wire", "most"), [(1, 100, 2000), (6, 8700, 333), (45, 68_000, 44), (1, 9000, 1389)]
)
@pytest.mark.parametrize(("take", "part"), [(Budget.take, 0.98), (Budget.take_of_a_run, 0.88)])
def test_no_second_has_more_than_the_limits_and_one_message(
    packets: int,
    wire: int,
    most: int,
    take: Callable[[Budget, int, int], None],
    part: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock(monkeypatch)
    budget = Budget(QuietOrders(clock), 2000, 100e6, 1 << 40, 0.5)
    sent = []
    while clock.now < 1005:
        take(budget, packets, wire)
        sent.append(clock.now)
        clock.tick(1e-6)
    for place, start in enumerate(sent):
        assert bisect_left(sent, start + 1) - place <= most + 1
    assert len(sent) >= 5 * part * most


def test_single_messages_go_back_to_back_in_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    budget = Budget(QuietOrders(clock), 2000, 100e6, 1 << 40, 0.5)
    pauses = []
    for _ in range(2000):
        before = clock.now
        budget.take_of_a_run(1, 100)
        pauses.append(clock.now - before)
        clock.tick(50e-6)  # an answer takes as long
    assert sum(pause > 0 for pause in pauses) < 20


def test_the_bytes_of_a_run_are_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    budget = Budget(QuietOrders(Clock(monkeypatch)), 2000, 1e9, 250, 0.5)
    budget.take(1, 100)
    budget.take(1, 100)
    with pytest.raises(StoppedError, match="bytes"):
        budget.take(1, 100)


# --- the parent -------------------------------------------------------------------------------------------------------


def test_orders_arrive_and_a_stop_ends_the_one_that_runs() -> None:
    read, write = os.pipe()
    try:
        orders = Orders(read)
        os.write(write, b"\n" + json.dumps({"order": "idle"}).encode() + b"\n")
        assert orders.next() == {"order": "idle"}
        os.write(write, b"stop\n")
        with pytest.raises(StoppedError, match="stopped"):
            orders.wait(60)
        os.write(write, b'{"order": "again"}\n')
        assert orders.next() == {"order": "again"}
    finally:
        os.close(read)
        os.close(write)


def test_a_stop_between_two_orders_does_not_end_the_sender() -> None:
    read, write = os.pipe()
    try:
        orders = Orders(read)
        os.write(write, b'stop\n\n{"order": "next"}\n')
        assert orders.next() == {"order": "next"}
    finally:
        os.close(read)
        os.close(write)


def test_the_end_of_the_parent_ends_the_sender() -> None:
    read, write = os.pipe()
    orders = Orders(read)
    closing = threading.Thread(target=os.close, args=(write,))
    closing.start()
    with pytest.raises(StoppedError, match="ended"):
        orders.wait(60)
    closing.join()
    assert orders.next() is None
    os.close(read)


def test_a_parent_that_hangs_ends_the_sender() -> None:
    read, write = os.pipe()
    try:
        with pytest.raises(StoppedError, match="did not run"):
            Orders(read).wait(60)
    finally:
        os.close(read)
        os.close(write)


# --- plan and consent -------------------------------------------------------------------------------------------------


def plan(cluster: str = "prac", blocks: float | Unknown = NO_DATABASE) -> LoadPlan:
    limits = limits_of()
    return LoadPlan(cluster, "sizes", (PATH,), Sizes(seed=1).plan((PATH,), limits), limits, blocks)


def test_only_the_name_of_the_cluster_is_a_consent() -> None:
    assert agree(plan(), "prac").typed == "prac"
    for typed in ("PRAC", "", "prac2", "prac "):
        with pytest.raises(MeasureError, match="called prac"):
            agree(plan(), typed)
    with pytest.raises(MeasureError, match="not known"):
        agree(plan(""), "")


def test_the_plan_compares_with_the_blocks_of_the_instances() -> None:
    text = " ".join(plan(blocks=2018.0).lines())
    assert "2,000 packets/s" in text
    assert "% of the slowest link" in text
    assert "the instances now exchange 2,018 blocks/s" in text
    assert "not known" in " ".join(plan().lines())


@pytest.mark.parametrize(
    "wrong",
    [
        {"sizes": (0,)},
        {"sizes": (70_000,)},
        {"sizes": ()},
        {"sizes": (64, 64)},
        {"rounds": 0},
        {"rounds": 101},
        {"round_s": 0.1},
        {"round_s": 31},
    ],
)
def test_wrong_sizes_have_a_sentence(wrong: dict[str, object]) -> None:
    with pytest.raises(MeasureError):
        Sizes(**wrong)  # type: ignore[arg-type]


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
    node(Softnet_Dropped=1),
    NodeSample("rac1", 0, 0.2, interfaces={"eth1": InterfaceCounts(rx_dropped=11)}),
    NodeSample("rac1", 0, 0.2, interfaces={"eth1": InterfaceCounts(tx_dropped=1)}),
    NodeSample("rac1", 0, 0.2, cpu=CpuTime(2, 2.0, 0.2, 0.0)),
    InstanceSample("prac2", 2, "rac2", 0, 1.0, {"gc blocks lost": 1}),
    Gap("node rac2", 0, "The connection to rac2 was lost."),
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
    gap = Gap("database", 0, "ORA-03113.")
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
    settings = Settings(cluster=ClusterSettings(name="prod"))
    up = clusters.cluster(2)
    assert name_of(up, settings) != "prod"
    assert name_of(replace(up, clusterware=Unknown("It is down.")), settings) == "prod"


# --- figures ----------------------------------------------------------------------------------------------------------


def test_percentiles_are_values_that_occurred() -> None:
    values = [float(n) for n in range(1, 101)]
    assert [percentile(values, share) for share in (0.5, 0.99, 1.0)] == [50.0, 99.0, 100.0]
    assert percentile([7.0], 0.99) == 7.0
    assert percentile([], 0.5) is None


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
