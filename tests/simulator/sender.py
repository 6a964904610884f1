"""racwire's own sender of datagrams on a simulated node: its plan, pace and limits are real, its sockets are not."""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from unittest.mock import patch

from checks.model.facts import Cluster
from checks.sources.probes import udp_sender
from tests.fixtures.clusters import SUBNETS
from tests.simulator.packets import number
from tests.simulator.world import World, packet_size

_ROUND_TRIP_S = 0.0002
_ROW_S, _ROW = 0.3, 3
"""Datagrams of a node on one network within this time are in a row, from the fourth on: one of each path is not."""
_LEAST_PORT, _PORTS = 32_768, 28_000


class _Flow:
    """A socket from one source port to the closed port of a peer."""

    def __init__(self, world: World, ends: tuple[int, str, str, str], port: int, number: int, clock: _Clock) -> None:
        self._world, self._ends, self._port, self._number, self._clock = world, ends, port, number, clock
        self._whole = True
        self.due = 0.0

    def fileno(self) -> int:
        return self._number

    def getsockname(self) -> tuple[str, int]:
        return "", self._port

    def setsockopt(self, level: int, option: int, value: int) -> None:
        self._whole = value == udp_sender.PROBE

    def send(self, data: bytes) -> None:
        network, here, there, _ = self._ends
        size = packet_size(len(data))
        in_a_row = self._clock.is_in_a_row(network)
        answered = self._world.datagram(network, here, there, size, self._port, whole=self._whole, in_a_row=in_a_row)
        if answered is None:
            raise OSError(errno.EMSGSIZE, "Message too long")
        if answered:
            self.due = self._clock.now + _ROUND_TRIP_S
            self._clock.pending[self._number] = self

    def answer(self) -> tuple[str, str]:
        if self._number not in self._clock.pending or self.due > self._clock.now:
            return "", ""
        del self._clock.pending[self._number]
        return "refused", self._ends[3]

    def close(self) -> None:
        """Nothing is open."""


class _Clock:
    """The time of one sender; waiting moves it."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pending: dict[int, _Flow] = {}
        """The sockets to which an answer is under way."""
        self._sent: dict[int, list[float]] = {}

    def is_in_a_row(self, network: int) -> bool:
        """Note that a datagram is sent, and return whether it follows several others on the same network."""
        recent = [at for at in self._sent.get(network, ()) if self.now - at < _ROW_S]
        self._sent[network] = [*recent, self.now]
        return len(recent) >= _ROW

    def poll(self, most_ms: float) -> list[tuple[int, int]]:
        until = self.now + max(0.0, most_ms) / 1000
        first = min((flow.due for flow in self.pending.values()), default=until)
        self.now = max(self.now, min(until, first))
        return [(place, 0) for place, flow in self.pending.items() if flow.due <= self.now]

    def register(self, place: int, mask: int) -> None:
        """Every flow is polled."""


def run(world: World, node: str, cluster: Cluster, words: Sequence[str]) -> str:
    """Return what the sender of a node prints for the words of its command line."""
    clock = _Clock()
    places = {
        a.ip: (n.name, i.name)
        for n in cluster.read_nodes()
        for i in n.interfaces
        if i.name in SUBNETS
        for a in i.addresses
    }
    lines: list[str] = []
    ports: list[int] = []

    def open_flow(family: int, source: str, source_port: int, target: str, port: int) -> _Flow:
        network = int(places[source][1].removeprefix("eth"))
        chosen = source_port or _LEAST_PORT + number(world.seed, node, target, len(ports)) % _PORTS
        ports.append(chosen)
        return _Flow(world, (network, node, places[target][0], target), chosen, len(ports), clock)

    def outcome(flow: _Flow) -> tuple[str, str]:
        return flow.answer()

    poll: Callable[[], _Clock] = lambda: clock  # noqa: E731
    selecting = SimpleNamespace(poll=poll, POLLIN=1, POLLERR=8)
    turn = SimpleNamespace(waited=0.0, welcome=lambda: None)
    own = [word for word in words[1:] if not word.startswith("=")]
    with patch.multiple(udp_sender, clock=lambda: clock.now, open_flow=open_flow, outcome=outcome, select=selecting):
        patience_s = int(words[0].split(":")[0]) / 1000
        udp_sender.send(list(enumerate(own)), patience_s, turn, lines.append, lambda: False)  # type: ignore[no-untyped-call]
    return "\n".join(lines)
