"""The sender of this node without a network: single messages, pings that number themselves, runs, source ports."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from checks.measure.near_end import messages as near_messages
from checks.measure.near_end import source_ports as ports
from checks.measure.near_end.control import Budget, Orders
from checks.measure.near_end.exchanges import at_a_rate, one_at_a_time
from checks.measure.near_end.messages import Pings
from checks.sources.probes.icmp_socket import Echo
from tests.unit.measurement_support import Clock, QuietOrders


class Echoes:
    """Messages whose answers come after a fixed time; the sender itself starts each one late."""

    def __init__(self, clock: Clock, answer_s: float, late_s: float = 0.0) -> None:
        self._clock, self._answer_s, self._late_s = clock, answer_s, late_s
        self._under_way: list[tuple[int, int]] = []

    def send(self, sequence: int) -> int:
        self._clock.tick(self._late_s)
        self._under_way.append((sequence, self._clock.now_ns + int(self._answer_s * 1e9)))
        return self._clock.now_ns

    def answer(self) -> tuple[int, int] | None:
        sequence, comes_ns = self._under_way.pop(0)
        self._clock.now_ns = max(self._clock.now_ns, comes_ns)
        return sequence, self._clock.now_ns

    def waiting(self) -> Iterator[tuple[int, int]]:
        while self._under_way and self._under_way[0][1] <= self._clock.now_ns:
            yield self._under_way.pop(0)

    def fileno(self) -> int:
        return 0

    def close(self) -> None: ...


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


@pytest.fixture
def budget(clock: Clock) -> Budget:
    return Budget(QuietOrders(clock), 20_000, 1e9, 1 << 40, 1.0)


def test_a_round_trip_is_the_time_from_sending_to_the_answer(clock: Clock, budget: Budget) -> None:
    found = one_at_a_time(Echoes(clock, 100e-6), budget, 1, 100, {}, 0.5)
    assert found.sent == len(found.times_us) > 4000
    assert set(map(round, found.times_us)) == {100}
    assert found.lost == 0


def test_at_a_rate_the_delays_of_this_node_are_counted_apart(
    clock: Clock, budget: Budget, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("select.select", lambda *words: (clock.tick(max(words[3], 1e-5)), ([], [], []))[1])
    found = at_a_rate(Echoes(clock, 100e-6, late_s=3e-3), budget, 1, 100, {}, 50.0, 1.0, 1)
    assert found.sent == 50
    assert found.lost == found.withheld == 0
    assert all(99 <= time_us <= 101 for time_us in found.times_us)
    assert all(late_us >= 3000 for late_us in found.lateness_us)


class PingSocket:
    """A socket whose peer answers at once."""

    def __init__(self, *words: Any, **options: Any) -> None:
        self.identifier = 7
        self._echoes: list[Echo] = []

    def send(self, sequence: int, payload: bytes) -> int:
        assert 0 <= sequence < 1 << 16
        self._echoes.append(Echo(7, sequence, payload, 64, 5))
        return 1

    def answers(self) -> list[Echo]:
        echoes, self._echoes = self._echoes, []
        return echoes


@pytest.mark.parametrize("train", [1, 8, 7])
def test_the_numbers_of_pings_do_not_end_in_a_long_round(train: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(near_messages, "EchoSocket", PingSocket)
    pings = Pings("a", "b", "eth1", 56, train)
    for sequence in (1, 8191, 8192, 65_535, 65_536, 300_000):
        pings.send(sequence)
        assert [one for one, _ in pings.waiting()] == [sequence]


class OddSocket:
    """A UDP socket that refuses to send, where it should."""

    def __init__(self, refuses: bool) -> None:
        self._near, self._far = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._refuses = refuses

    def send(self, data: bytes) -> int:
        if self._refuses:
            raise OSError(105, "No buffer space available")
        self._far.send(data)  # an answer: the header, at once
        return len(data)

    def recv(self, size: int, flags: int) -> bytes:
        return self._near.recv(size, flags)

    def fileno(self) -> int:
        return self._near.fileno()

    def close(self) -> None:
        self._near.close()
        self._far.close()


def test_a_datagram_that_the_kernel_refused_was_not_sent() -> None:
    orders = Orders(0)
    orders.look = lambda: None  # type: ignore[method-assign]
    orders.wait = lambda seconds: None  # type: ignore[method-assign]
    sockets: list[Any] = [OddSocket(refuses) for refuses in (False, True, False)]
    data = near_messages.HEADER.pack(1, 1, (4).to_bytes(4, "big"), b"t" * 16, 28)
    try:
        went, came = ports._round(
            sockets, data, len(data), 4, {"wire_bytes": 100}, Budget(orders, 2e4, 1e9, 1 << 30, 1.0)
        )
    finally:
        for one in sockets:
            one.close()
    assert went == came == {0, 2}
