"""What a measurement may send, what refuses it, and what stops it: limits, plan, consent, refusals, signs of harm."""

from __future__ import annotations

import json
import os
import threading
from bisect import bisect_left
from collections.abc import Callable, Iterator

import pytest

from checks.measure.load_limits import HARD, limits_of
from checks.measure.load_plan import NO_DATABASE, LoadPlan, agree
from checks.measure.measure_error import MeasureError
from checks.measure.near_end.control import Budget, Orders
from checks.measure.near_end.stopped import StoppedError
from checks.measure.sizes import Sizes
from checks.model.facts import Unknown
from checks.model.percentiles import percentile
from tests.unit.measurement_support import PATH, Clock, QuietOrders

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


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    """The ends to read from and to write to."""
    ends = os.pipe()
    yield ends
    for one in ends:
        os.close(one)


def test_orders_arrive_and_a_stop_ends_the_one_that_runs(pipe: tuple[int, int]) -> None:
    read, write = pipe
    orders = Orders(read)
    os.write(write, b"\n" + json.dumps({"order": "idle"}).encode() + b"\n")
    assert orders.next() == {"order": "idle"}
    os.write(write, b"stop\n")
    with pytest.raises(StoppedError, match="stopped"):
        orders.wait(60)
    os.write(write, b'{"order": "again"}\n')
    assert orders.next() == {"order": "again"}


def test_a_stop_between_two_orders_does_not_end_the_sender(pipe: tuple[int, int]) -> None:
    read, write = pipe
    os.write(write, b'stop\n\n{"order": "next"}\n')
    assert Orders(read).next() == {"order": "next"}


def test_a_parent_that_hangs_ends_the_sender(pipe: tuple[int, int]) -> None:
    with pytest.raises(StoppedError, match="did not run"):
        Orders(pipe[0]).wait(60)


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


# --- figures ----------------------------------------------------------------------------------------------------------


def test_percentiles_are_values_that_occurred() -> None:
    values = [float(n) for n in range(1, 101)]
    assert [percentile(values, share) for share in (0.5, 0.99, 1.0)] == [50.0, 99.0, 100.0]
    assert percentile([7.0], 0.5) == 7.0
    assert percentile([], 0.5) is None


@pytest.mark.parametrize(("share", "least"), [(0.1, 100), (0.5, 1), (0.95, 100), (0.99, 100), (0.999, 1000), (1.0, 1)])
def test_a_percentile_needs_enough_values(share: float, least: int) -> None:
    assert percentile(range(least), share) is not None
    assert percentile(range(least - 1), share) is None
