"""The figures of measurements from what both ends counted: rates and losses, hashes, mixes; no packet is sent."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.measure.far_end.far_process import FarCounts
from checks.measure.flow_figures import ALONE, BESIDE, TOGETHER, by_fullness, figures_of, summaries_of
from checks.measure.flow_plan import LARGE
from checks.measure.hashes import judge_ports
from checks.measure.load_limits import limits_of
from checks.measure.mix import Mix
from checks.measure.rate import Rate, step_of, why_no_more
from checks.model.facts import Unknown
from checks.model.measurement import FlowRound, HashPort, RateStep
from checks.rules.flow_verdicts import FlowVerdict
from tests.unit.measurement_support import path

NOTHING = FarCounts(0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
KNOWN: dict[str, Any] = {"paths": (0,), "cap_bps": 1e8, "round": 0, "at": 0.0, "share": 0.1}


def near(**counts: Any) -> dict[str, Any]:
    fields = dict.fromkeys(
        ("sent_bytes", "received_bytes", "sent", "received", "refused", "dropped", "kernel_refused", "buffer_bytes"), 0
    )
    return {**fields, "seconds": 1.0, "lateness_p99_us": None, "cpu_s": 0.1, **counts}


# --- rate -------------------------------------------------------------------------------------------------------------


@given(
    sent=st.integers(1, 50_000), lost=st.integers(0, 500), dropped=st.integers(0, 500), refusals=st.integers(0, 3000)
)
def test_each_datagram_to_the_peer_is_received_dropped_by_its_socket_refused_by_its_kernel_or_lost(
    sent: int, lost: int, dropped: int, refusals: int
) -> None:
    received = max(0, sent - lost - dropped)
    there = NOTHING._replace(
        packets_in=received,
        bytes_in=received * 8192,
        dropped=min(dropped, sent),
        refusals=min(dropped, sent) + refusals,
    )
    step = step_of("udp", False, near(sent=sent, sent_bytes=sent * 8192, refused=7), NOTHING, there, KNOWN)
    assert (step.received, step.received_bytes) == (received, received * 8192)
    assert step.received + step.dropped + step.kernel_refused + step.lost == max(sent, received + step.dropped)
    assert step.kernel_refused == min(refusals, max(0, sent - received - step.dropped))
    assert step.refused == 7


def test_datagrams_from_the_peer_are_lost_where_they_left_and_did_not_come() -> None:
    there = NOTHING._replace(packets_out=100, bytes_out=819_200, refused=5)
    here = near(received=90, received_bytes=737_280, dropped=4, kernel_refused=6)
    step = step_of("udp", True, here, NOTHING, there, KNOWN)
    assert (step.sent, step.received, step.refused, step.dropped, step.kernel_refused, step.lost) == (
        100,
        90,
        5,
        4,
        2,
        4,
    )


def test_a_tcp_stream_loses_nothing() -> None:
    there = NOTHING._replace(packets_in=3, bytes_in=1000)
    step = step_of("tcp", False, near(sent_bytes=1200), NOTHING, there, KNOWN)
    assert (step.received_bytes, step.sent, step.lost) == (1000, 0, 0)
    assert step.received_bps == 8000


def test_steps_above_the_cap_of_a_fast_link_shrink_alike() -> None:
    fast = path(9000)
    assert fast.speed_mbps == 10_000
    load = Rate((0.02, 0.1)).plan([fast], limits_of(packets_per_s=20_000))
    assert load.peak_bps == 1e9
    assert load.wire_bytes == pytest.approx(4 * (1e9 + 0.2e9) / 8)
    assert not load.notes


@pytest.mark.parametrize(("mtu", "largest_bps"), [(1500, 2000 * (1500 + 38) * 8), (9000, 2000 * (9000 + 38) * 8)])
def test_no_step_has_more_packets_than_the_limit_and_the_plan_says_what_binds(mtu: int, largest_bps: float) -> None:
    load = Rate((0.02, 0.1)).plan([path(mtu)], limits_of())
    assert load.peak_packets_per_s == pytest.approx(2000)
    assert load.peak_bps == pytest.approx(largest_bps, rel=0.05)
    assert [note for note in load.notes if "limit of 2,000 packets/s binds" in note and "--packets" in note]
    (slow,) = Rate((0.05,)).plan([path(mtu)], limits_of(packets_per_s=20_000)).notes[:1] or ("",)
    assert ("binds" in slow) is (mtu == 1500)


def test_a_step_that_lost_more_than_a_few_is_the_last() -> None:
    def step(missing: int) -> RateStep:
        there = NOTHING._replace(packets_in=2000 - missing, bytes_in=0)
        return step_of("udp", False, near(sent=2000, sent_bytes=2000 * 8192), NOTHING, there, KNOWN)

    assert not why_no_more(step(3), [path()])
    assert "rac2 did not receive 4 of 2,000 datagrams" in why_no_more(step(4), [path()])
    tcp = step_of("tcp", False, near(), NOTHING, NOTHING, KNOWN)
    assert not why_no_more(tcp, [path()])


# --- hashes -----------------------------------------------------------------------------------------------------------


def ports(dead: int, *, is_back: bool = False, sent: int = 3) -> list[HashPort]:
    return [
        HashPort(0, 40_000 + number, sent, 0, is_back, 2, 2)
        if number < dead
        else HashPort(0, 40_000 + number, sent, sent, is_back)
        for number in range(64)
    ]


@pytest.mark.parametrize(("dead", "members"), [(31, 2), (17, 4)])
def test_a_share_of_dead_ports_is_one_member_of_a_lag(dead: int, members: int) -> None:
    arrived = NOTHING._replace(packets_in=(64 - dead) * 3 + dead * 2)
    found = judge_ports(path(9000), ports(dead), NOTHING, arrived)
    assert (found.verdict, found.dead, found.members) == (FlowVerdict.SHORT_MEMBER, dead, members)
    assert found.least_members is not None
    assert found.most_members is not None
    assert found.least_members <= members <= found.most_members


def test_a_late_answer_of_a_busy_peer_is_no_dead_member() -> None:
    mixed = [HashPort(0, 40_000, 3, 2), *ports(0)[1:]]
    found = judge_ports(path(9000), mixed, NOTHING, NOTHING._replace(packets_in=64 * 3))
    assert (found.verdict, found.members) == (FlowVerdict.PASSES, None)


def test_datagrams_that_left_the_peer_and_did_not_come_count_in_the_direction_towards_here() -> None:
    left = NOTHING._replace(packets_out=32 * 3 + 32 * 5)
    found = judge_ports(path(9000), ports(32, is_back=True), NOTHING, left)
    assert (found.verdict, found.members, found.sent) == (FlowVerdict.SHORT_MEMBER, 2, 256)


# --- mix --------------------------------------------------------------------------------------------------------------


def flows(
    company: str, number: int, *times: float, name: str = "small", concurrency: int = 1, **more: Any
) -> FlowRound:
    return FlowRound(
        path=0, flow_class=name, size=65_536, company=company, concurrency=concurrency, round=number, at=float(number),
        seconds=2.0, broken=0, **figures_of(times), **more,
    )  # fmt: skip


def test_the_slowdown_is_that_against_as_many_flows_alone() -> None:
    rounds = [flows(ALONE, n, 1.0, name=name) for n in range(6) for name in ("small", LARGE)]
    rounds += [flows(ALONE, n, 50.0, name="small", concurrency=4) for n in range(6)]
    rounds += [flows(TOGETHER, n, 3.0, name=name, concurrency=2) for n in range(6) for name in ("small", LARGE)]
    together = [one for one in summaries_of(rounds) if one.company == TOGETHER]
    assert [one.slowdown for one in together] == [3.0, 3.0]
    assert all(one.slowdown_p is not None and one.slowdown_p < 0.01 for one in together)
    assert together[0].delivered_bps == 6 * 65_536 * 8 / 12.0


def test_percentiles_of_few_flows_are_not_known() -> None:
    (few,) = summaries_of([flows(ALONE, 0, *map(float, range(1, 20)))])
    assert isinstance(few.p95_ms, Unknown)
    (some,) = summaries_of([flows(ALONE, 0, *map(float, range(1, 101)))])
    assert (some.p50_ms, some.p95_ms, some.p99_ms) == (50.0, 95.0, 99.0)


def test_seconds_beside_the_load_are_sorted_by_how_full_the_link_was() -> None:
    rounds = [flows(BESIDE, n, float(n + 1), link_share=n / 10) for n in (4, 0, 3, 1, 2, 5)]
    rounds.append(flows(BESIDE, 9, 9.0))  # not known
    thirds = by_fullness(rounds)
    assert {name: [one.round for one in part] for name, part in thirds.items()} == {
        "quiet": [0, 1], "middle": [2, 3], "busy": [4, 5],
    }  # fmt: skip
    assert [one.slowdown for one in summaries_of(rounds)] == [None, 3.5 / 1.5, 5.5 / 1.5]


class FlowBench:
    """The testbed of a mix: keeps its orders, and completes one flow on each lane."""

    def __init__(self, peers: int, **limits: Any) -> None:
        self.paths = tuple(path(1500, number + 2) for number in range(peers))
        self.limits = limits_of(**limits)
        self.lateness_us: list[float] = []
        self.orders: list[dict[str, Any]] = []

    def progress(self, *words: Any) -> None: ...

    def demand_running(self) -> None: ...

    async def far_counts(self, number: int) -> None: ...

    def address(self, number: int) -> dict[str, Any]:
        return {"target": self.paths[number].target}

    async def order(self, order: dict[str, Any], seconds: float) -> dict[str, Any]:
        self.orders.append(order)
        lanes = [{"name": one["name"], "flows": [(0.0, 2.0)], "broken": 0, "held": {}} for one in order["lanes"]]
        return {"lanes": lanes, "lateness_us": [], "at": 1.0, "seconds": 2.0, "stopped": ""}


@pytest.mark.parametrize(
    ("peers", "flows_at_once", "large", "others"),
    [(1, 1, [1], {0}), (2, 4, [4], {1}), (3, 4, [2, 2], {2}), (4, 3, [2, 1], {2, 3}), (4, 1, [1], {2, 3})],
)
async def test_large_flows_towards_this_node_come_from_half_of_the_peers(
    peers: int, flows_at_once: int, large: list[int], others: set[int]
) -> None:
    bench: Any = FlowBench(peers, packets_per_s=20_000)
    mix = Mix(concurrencies=(flows_at_once,), rounds=1, is_towards_here=True)
    await mix.run(bench)
    together = max(bench.orders, key=lambda order: len(order["lanes"]))["lanes"]
    assert len(together) == 5 * flows_at_once
    targets = [one.target for one in bench.paths]
    of_large = [targets.index(one["target"]) for one in together if one["name"].startswith(LARGE)]
    assert [of_large.count(number) for number in range(len(large))] == large
    assert {targets.index(one["target"]) for one in together if not one["name"].startswith(LARGE)} == others
    # All connections together have their part of the limits, and no more.
    cap = bench.limits.bits_per_s(10_000)
    assert sum(one["burst"] * 8 / one["gap_s"] for one in together) <= 0.9 * cap
    found = mix.result().rounds
    assert {one.concurrency for one in found if one.company == TOGETHER} == {5 * flows_at_once}
    assert sum(one.completed for one in found if one.company == TOGETHER) == 5 * flows_at_once
