"""The search for the path MTU: exact on any path, and never wrong when packets are also lost at random."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.sources.probes.path_mtu import LADDER, Batch, Found, NotFound, Outcome, search_path_mtu

IN_FLIGHT = 131_072
Passes = Callable[[int], bool]


@dataclass
class Network:
    """A path that answers by a rule, and records the requests."""

    passes: Passes
    batches: list[Batch] = field(default_factory=list)
    waits: int = 0
    """The number of batches with a lost packet: each costs a timeout."""

    def search(self, known: int, fails: int, hint: int | None = None, packets: int = 400) -> Found | NotFound:
        machine = search_path_mtu(
            passes=known, fails=fails, max_bytes_in_flight=IN_FLIGHT, max_packets=packets, hint=hint
        )
        try:
            batch = next(machine)
            while True:
                batch = machine.send(self.send(batch))
        except StopIteration as end:
            found: Found | NotFound = end.value
            return found

    def send(self, batch: Batch) -> Sequence[Outcome]:
        self.batches.append(batch)
        outcomes = [Outcome(t.packet, t.copies, sum(self.passes(t.packet) for _ in range(t.copies))) for t in batch]
        self.waits += any(o.answered < o.sent for o in outcomes)
        return outcomes

    @property
    def packets(self) -> int:
        return sum(t.copies for batch in self.batches for t in batch)


def up_to(mtu: int) -> Passes:
    return lambda packet: packet <= mtu


def lossy(mtu: int, loss: float, rnd: random.Random) -> Passes:
    return lambda packet: packet <= mtu and rnd.random() >= loss


def test_a_switch_that_drops_jumbo_frames_costs_two_timeouts() -> None:
    network = Network(up_to(1500))
    found = network.search(84, 9000)
    assert found == Found(1500, Outcome(1500, 6, 6), Outcome(1501, 6, 0))
    assert network.waits == 2
    assert network.packets == 48


def test_a_correct_hint_costs_six_packets() -> None:
    network = Network(up_to(1500))
    assert isinstance(network.search(84, 9000, hint=1500), Found)
    assert network.packets == 6


@pytest.mark.parametrize("hint", [84, 1400, 4352, 8999, 9000, 20000, 1])
def test_a_wrong_hint_is_harmless(hint: int) -> None:
    found = Network(up_to(1500)).search(84, 9000, hint=hint)
    assert isinstance(found, Found)
    assert found.mtu == 1500


def test_the_sizes_leave_no_gap_that_two_rounds_cannot_close() -> None:
    rungs = [r for r in LADDER if r <= 9216]
    assert max(b - a for a, b in itertools.pairwise(rungs)) <= 33 * 33


@given(st.integers(68, 9216))
def test_any_mtu_is_found_exactly(mtu: int) -> None:
    network = Network(up_to(mtu))
    found = network.search(68, 9217)
    assert isinstance(found, Found)
    assert found.mtu == mtu
    assert network.packets <= 2 * len(LADDER) + 2 * 32 + 12
    assert network.waits <= 7, "at 50 ms each, and with 100 ms for the full-size series, within half a second"


@given(st.integers(68, 9216), st.integers(84, 9216))
def test_no_batch_exceeds_the_bytes_in_flight(mtu: int, hint: int) -> None:
    network = Network(up_to(mtu))
    network.search(68, 9217, hint=hint)
    assert all(sum(t.packet * t.copies for t in batch) <= IN_FLIGHT for batch in network.batches)


def test_with_five_percent_loss_the_result_is_exact_or_unknown() -> None:
    rnd = random.Random(20_240_501)
    known = 0
    for _ in range(3000):
        mtu = rnd.randint(84, 9215)
        found = Network(lossy(mtu, 0.05, rnd)).search(84, 9216)
        if isinstance(found, Found):
            assert found.mtu == mtu
            known += 1
    assert known >= 2990


def test_loss_that_grows_with_size_is_not_a_path_mtu() -> None:
    """A bad cable flips a bit now and then: almost no small packet is lost, and almost every large one."""
    rnd = random.Random(7)
    sharp = 0
    for _ in range(300):
        network = Network(lambda packet: rnd.random() < 0.9997**packet)
        sharp += isinstance(network.search(84, 9000), Found)
    assert sharp <= 3


def test_a_late_answer_to_a_full_size_ping_is_not_a_path_mtu() -> None:
    found = Network(up_to(9000)).search(84, 9000)
    assert isinstance(found, NotFound)
    assert found.no_sharp_limit


def test_answers_that_stop_altogether_are_not_a_path_mtu() -> None:
    found = Network(lambda _: False).search(84, 9000)
    assert isinstance(found, NotFound)
    assert found.no_sharp_limit


@given(st.integers(68, 9216), st.integers(0, 120))
def test_the_packet_limit_is_never_exceeded(mtu: int, packets: int) -> None:
    network = Network(up_to(mtu))
    found = network.search(68, 9217, packets=packets)
    assert network.packets <= packets
    assert isinstance(found, NotFound) or found.mtu == mtu
