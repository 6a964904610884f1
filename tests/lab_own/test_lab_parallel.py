"""The slaves of GV$ statements: their number, and their rows on networks that lose messages, without packets."""

from __future__ import annotations

import json
import socket
from collections import deque
from collections.abc import Callable, Iterator

import pytest

from racwire_lab.cluster.desired import desired
from racwire_lab.cluster.topology import Shape
from racwire_lab.programs.cache_fusion.counters import Counters
from racwire_lab.programs.cache_fusion.messages import decode
from racwire_lab.programs.cache_fusion.parallel import ParallelQueries, StatementSocket
from racwire_lab.programs.cache_fusion.settings import InstanceSettings

WAIT_S = 0.3


class Network:
    """A network of one instance whose datagrams go to a queue, unless it loses them."""

    number = 1

    def __init__(self, ip: str, sent: deque[tuple[str, bytes]]) -> None:
        self.packed_ip = socket.inet_aton(ip)
        self.loses = 0
        self._sent = sent

    def send(self, datagram: bytes, ip: str) -> bool:
        if self.loses:
            self.loses -= 1
        else:
            self._sent.append((ip, datagram))
        return True


class Instances:
    """So many instances on one network, with a clock that the test sets."""

    def __init__(self, count: int) -> None:
        self.now = 100.0
        self.clients: list[socket.socket] = []
        self.wire: deque[tuple[str, bytes]] = deque()
        self.ips = {number: f"10.0.0.{number}" for number in range(1, count + 1)}
        self.counters = {number: Counters() for number in self.ips}
        self.networks = {number: Network(ip, self.wire) for number, ip in self.ips.items()}
        self.queries = {
            number: ParallelQueries(self._settings(number), self.counters[number], 1000 * number) for number in self.ips
        }

    def _settings(self, number: int) -> InstanceSettings:
        peers = {peer: {1: ip} for peer, ip in self.ips.items() if peer != number}
        return InstanceSettings(number, f"prac{number}", f"rac{number}", "19.22.0.0.0", True, (), peers)

    def start(self, slaves: int, rows: dict[int, int]) -> socket.socket:
        """Start a step of a statement on the first instance. Return the client's end of its connection."""
        ours, theirs = socket.socketpair()
        self.clients.append(ours)
        request = json.dumps({"slaves": slaves, "rows": rows}).encode() + b"\n"
        self.queries[1].start(theirs, request, {1: self.networks[1]}, self.now)  # type: ignore[dict-item]
        self.deliver()
        return ours

    def deliver(self) -> None:
        """Deliver all datagrams, and let every instance act."""
        while True:
            while self.wire:
                ip, datagram = self.wire.popleft()
                number = next(n for n, own in self.ips.items() if own == ip)
                message = decode(datagram)
                assert message is not None
                self.queries[number].received(self.networks[number], message)  # type: ignore[arg-type]
            for number, queries in self.queries.items():
                queries.act({1: self.networks[number]}, self.now)  # type: ignore[dict-item]
            if not self.wire:
                return

    def later(self, seconds: float = WAIT_S) -> None:
        self.now += seconds
        self.deliver()

    def slaves(self) -> list[int]:
        return [counters.px_slaves for counters in self.counters.values()]


def is_over(client: socket.socket) -> bool:
    client.setblocking(False)
    try:
        return client.recv(1) == b""
    except BlockingIOError:
        return False


@pytest.fixture
def cluster_of() -> Iterator[Callable[[int], Instances]]:
    """Return the function that makes so many instances. The connections of their clients are closed at the end."""
    made: list[Instances] = []

    def make(count: int) -> Instances:
        made.append(Instances(count))
        return made[-1]

    yield make
    for instances in made:
        instances.queries[1].end()
        for client in instances.clients:
            client.close()


New = Callable[[int], Instances]


@pytest.mark.parametrize("count", [1, 2, 16])
def test_a_statement_occupies_a_slave_on_each_instance_and_its_rows_are_counted(cluster_of: New, count: int) -> None:
    instances = cluster_of(count)
    assert is_over(instances.start(1, {}))
    assert instances.slaves() == [1] * count
    rows = {number: 900 * number for number in instances.ips if number != 1}
    assert is_over(instances.start(0, rows))
    assert instances.slaves() == [1] * count, "the rows occupied slaves again"
    first = instances.counters[1]
    assert (first.px_statements, first.px_bytes_received) == (1, sum(rows.values()))
    assert sum(counters.px_bytes_sent for counters in instances.counters.values()) == sum(rows.values())


def test_no_message_has_more_rows_than_a_packet_holds(cluster_of: New) -> None:
    instances = cluster_of(2)
    before = instances.counters[2].px_messages_sent
    assert is_over(instances.start(0, {2: 5000}))
    assert instances.counters[2].px_messages_sent - before == 4


def test_lost_messages_are_requested_again_and_the_statement_takes_longer(cluster_of: New) -> None:
    instances = cluster_of(3)
    instances.networks[3].loses = 1
    client = instances.start(0, {2: 100, 3: 3000})
    assert not is_over(client)
    instances.later()
    assert is_over(client)
    assert instances.counters[1].px_bytes_received == 3100, "rows were counted twice"


def test_a_slave_is_counted_once_although_its_answer_was_lost(cluster_of: New) -> None:
    instances = cluster_of(2)
    instances.networks[2].loses = 1
    client = instances.start(2, {})
    instances.later()
    assert is_over(client)
    assert instances.slaves() == [2, 2]


def test_a_statement_whose_rows_never_arrive_gives_up_and_the_next_one_does_not_wait(cluster_of: New) -> None:
    instances = cluster_of(2)
    instances.networks[2].loses = 1000
    client = instances.start(1, {})
    for _ in range(4):
        instances.later()
        assert not is_over(client)
    instances.later(1.0)
    assert is_over(client)
    assert is_over(instances.start(1, {}))
    instances.networks[2].loses = 0
    instances.later(20.0)
    assert is_over(instances.start(0, {2: 10}))
    assert instances.counters[1].px_bytes_received == 10


def test_the_end_of_an_instance_ends_its_statements(cluster_of: New) -> None:
    instances = cluster_of(2)
    instances.networks[2].loses = 1000
    client = instances.start(1, {})
    instances.queries[1].end()
    assert is_over(client)


@pytest.fixture
def statements(tmp_path: object) -> Iterator[StatementSocket]:
    served = StatementSocket(f"{tmp_path}/s")
    yield served
    served.listener.close()


def test_a_client_that_sends_nothing_or_half_a_request_delays_no_other(
    statements: StatementSocket, tmp_path: object
) -> None:
    clients = [socket.socket(socket.AF_UNIX) for _ in range(3)]
    for client in clients:
        client.connect(f"{tmp_path}/s")
    clients[1].sendall(b'{"slaves": 1')
    clients[2].sendall(b'{"slaves": 1, "rows": {}}\n')
    ((connection, request),) = statements.requests()
    assert request == b'{"slaves": 1, "rows": {}}\n'
    assert is_over(clients[1])
    assert not is_over(clients[0])
    for one in (connection, *clients):
        one.close()
    assert statements.requests() == [], "a client that left was kept"


def test_each_node_of_a_cluster_gets_the_pace_of_its_pings() -> None:
    targets = desired(Shape(2, 9000, ping_every_s=3.0), frozenset()).instances
    assert {instance.ping_every_s for instance in targets.values()} == {3.0}
