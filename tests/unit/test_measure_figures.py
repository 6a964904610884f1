"""The figures of measurements from what both ends counted: rates and losses, hashes, mixes; no packet is sent."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from checks.measure.far_end.far_process import FarCounts
from checks.measure.flow_figures import ALONE, BESIDE, TOGETHER, by_fullness, figures_of, summaries_of
from checks.measure.flow_plan import LARGE
from checks.measure.hashes import judge_ports
from checks.measure.load_limits import limits_of
from checks.measure.mix import Mix
from checks.measure.rate import Rate, why_no_more
from checks.model.facts import Unknown
from checks.model.measured_rate import MeasuredRate, RateLimit, RateStep
from checks.model.measurement import FlowRound, HashPort, Measurement
from checks.rules.flow_verdicts import FlowVerdict, members_of
from tests.unit.measurement_support import path, rate

NOTHING = FarCounts(*[0] * len(FarCounts._fields))


def test_steps_above_the_cap_of_a_fast_link_shrink_alike() -> None:
    fast = path(9000)
    assert fast.speed_mbps == 10_000
    load = Rate((0.02, 0.1)).plan([fast], limits_of(packets_per_s=20_000))
    assert load.peak_bps == 1e9
    assert load.wire_bytes == pytest.approx(4 * (1e9 + 0.2e9) / 8)
    assert not load.notes


@pytest.mark.parametrize(
    ("mtu", "packets_per_s", "steps", "limits", "say"),
    [
        (1500, 2000, (0.1,), (RateLimit.PACKETS, RateLimit.PACKETS), "the limit of 2,000 packets/s is reached first"),
        (9000, 2000, (0.1,), (RateLimit.PACKETS, RateLimit.PACKETS), "that of bits is 1.00 Gb/s. More: --packets."),
        (9000, 20_000, (0.1,), (RateLimit.BITS, RateLimit.BITS), "20,000 packets/s are 1.45 Gb/s. More: --share."),
        (1500, 20_000, (0.05,), (RateLimit.PACKETS, RateLimit.PACKETS), "246.1 Mb/s, 2.5 % of the link"),
        (9000, 20_000, (0.05,), (RateLimit.STEP, RateLimit.STEP), "500.0 Mb/s, 5 % of the link, below both limits"),
    ],
)
def test_the_plan_names_the_limit_that_is_reached_first(
    mtu: int, packets_per_s: float, steps: tuple[float, ...], limits: tuple[RateLimit, RateLimit], say: str
) -> None:
    load = Rate(steps).plan([path(mtu)], limits_of(packets_per_s=packets_per_s))
    assert tuple(one.limit for one in load.bindings) == limits
    assert load.peak_packets_per_s <= packets_per_s * 1.001
    for one in load.bindings:
        # The first of two limits is the smaller one.
        at_most = {RateLimit.PACKETS: one.packets_cap, RateLimit.BITS: one.bits_cap}.get(one.limit, steps[-1] * 1e10)
        assert one.bits_per_s == pytest.approx(min(one.packets_cap, one.bits_cap, steps[-1] * 1e10))
        assert one.bits_per_s == pytest.approx(at_most)
    assert any(say in one.text() for one in load.bindings), [one.text() for one in load.bindings]


def test_next_to_a_public_network_the_least_limit_of_all_paths_is_that_of_each() -> None:
    both = [path(9000), replace(path(1500), is_public=True, network="10.1.0.0/24")]
    (tcp, udp) = Rate((0.1,), is_public=True).plan(both, limits_of(packets_per_s=20_000)).bindings
    assert (tcp.limit, udp.limit) == (RateLimit.PUBLIC, RateLimit.PUBLIC)
    assert tcp.bits_per_s == udp.bits_per_s == 100e6
    assert "the limit of 100.0 Mb/s on a public network is reached first" in tcp.text()
    (tcp, _) = Rate((0.1,), is_public=True).plan(both, limits_of()).bindings
    assert tcp.limit is RateLimit.PACKETS  # of the public path, whose packets are the smaller ones
    assert tcp.bits_per_s == pytest.approx(2000 * 1538 * 8)


def test_a_step_that_lost_more_than_a_few_is_the_last() -> None:
    def step(missing: int, protocol: str = "udp") -> RateStep:
        (one, *_) = (one for one in steps_of(rate()) if one.protocol == protocol)
        return replace(one, sent=2000, received=2000 - missing)

    assert not why_no_more(step(3), [path()])
    assert "rac2 did not receive 4 of 2,000 datagrams" in why_no_more(step(4), [path()])
    assert not why_no_more(step(4, "tcp"), [path()])


def steps_of(found: Measurement) -> tuple[RateStep, ...]:
    assert isinstance(found.result, MeasuredRate)
    return found.result.steps


# --- hashes -----------------------------------------------------------------------------------------------------------


def ports(dead: int, *, is_back: bool = False, sent: int = 3) -> list[HashPort]:
    return [
        HashPort(0, 40_000 + number, sent, 0, is_back, 2, 2)
        if number < dead
        else HashPort(0, 40_000 + number, sent, sent, is_back)
        for number in range(64)
    ]


@given(st.integers(1, 256).flatmap(lambda of: st.tuples(st.integers(1, of), st.just(of))))
def test_the_number_of_links_lies_in_its_interval_or_is_not_known(ports: tuple[int, int]) -> None:
    members, least, most = members_of(*ports)
    assert members is None or least is None or most is None or 2 <= least <= members <= most


@pytest.mark.parametrize(("dead", "of"), [(107, 256), (200, 256)])
def test_a_share_that_no_number_of_equal_links_has_names_none(dead: int, of: int) -> None:
    assert members_of(dead, of) == (None, None, None)


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
