"""Datagrams in fragments that may be incomplete: what may be under way, what is lost, and what the sender refuses."""

from __future__ import annotations

import os
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Self

import pytest

from checks.measure.load_limits import FEW_LOST, FragmentRoom, incomplete_bytes, loses_too_much
from checks.measure.load_refusals import failing_paths
from checks.measure.near_end import incomplete, paced_streams
from checks.measure.near_end.control import Budget, Orders
from checks.measure.near_end.incomplete import SILENT_S, Incomplete, Unanswered, memory_in_use
from checks.measure.near_end.stopped import StoppedError
from checks.measure.preparing import rooms_of
from checks.model.finding import Finding, Status
from tests.fixtures.clusters import cluster, node
from tests.fixtures.databases import with_sysctls
from tests.unit.measurement_support import PATH

BLOCK = incomplete_bytes(8192, 1500)
ROOM = FragmentRoom(17 * BLOCK, 30.0)


def test_an_incomplete_block_holds_12_kb_and_17_fill_a_twentieth_of_the_usual_memory() -> None:
    assert BLOCK == 6 * 2048
    assert int(4_194_304 * 0.05) // BLOCK == 17
    assert incomplete_bytes(8192, 9000) == 0
    assert incomplete_bytes(65_507, 9000) == 8 * 16_384


def test_the_room_of_a_node_is_a_part_of_its_memory_and_the_smallest_default_where_it_is_not_known() -> None:
    facts = cluster([with_sysctls(node(1), net_ipv4_ipfrag_high_thresh=8_388_608, net_ipv4_ipfrag_time=15), node(2)])
    rooms = rooms_of(facts)
    assert rooms["rac1"] == FragmentRoom(419_430, 15)
    assert rooms["rac1"].stop_bytes == pytest.approx(8_388_608 / 4, abs=10)
    assert rooms["rac2"] == FragmentRoom(13_107, 30.0)


# --- what has no answer -----------------------------------------------------------------------------------------------


def filled(most: int, *nodes: str) -> tuple[Incomplete, Unanswered]:
    kept = Incomplete({"rac1": ROOM, "rac2": ROOM, "rac3": ROOM}, 0)
    return kept, Unanswered(kept, dict.fromkeys(nodes, BLOCK), most)


def send_all(stream: Unanswered, now: float, first: int = 0) -> int:
    sent = 0
    while stream.has_room(1, now):
        stream.went((0, first + sent), now)
        sent += 1
    return sent


def test_no_more_are_under_way_than_fill_the_room() -> None:
    _, stream = filled(512, "rac2")
    assert send_all(stream, 0.0) == 17
    stream.answered((0, 3))
    assert send_all(stream, 0.0, 100) == 1


def test_what_one_order_left_without_an_answer_takes_room_of_the_next_to_the_same_node() -> None:
    kept, first = filled(3, "rac2")
    assert send_all(first, 0.0) == 3
    assert send_all(Unanswered(kept, {"rac2": BLOCK}, 100), 0.0) == 14
    assert send_all(Unanswered(kept, {"rac3": BLOCK}, 100), 0.0) == 17


def test_a_few_without_an_answer_end_it_and_what_was_lost_before_counts_until_its_time_is_over() -> None:
    kept, stream = filled(512, "rac2")
    for number in range(FEW_LOST):
        stream.went((0, number), 0.0)
    assert stream.has_room(1, SILENT_S + 0.01)
    assert stream.lost == FEW_LOST
    other = Unanswered(kept, {"rac2": BLOCK}, 512)
    other.went((0, 0), 1.0)
    with pytest.raises(StoppedError, match="4 datagrams in fragments") as stopped:
        other.has_room(1, 1.0 + SILENT_S + 0.01)
    assert stopped.value.is_harm
    assert Unanswered(kept, {"rac2": BLOCK}, 512).has_room(1, 30.9)


def test_a_datagram_that_was_overtaken_is_lost_at_once_and_a_late_answer_completes_it() -> None:
    _, stream = filled(512, "rac2")
    stream.went((0, 1), 0.0)
    stream.went((0, 2), 0.05)
    stream.answered((0, 2))
    assert stream.has_room(1, 0.09)
    assert not stream.lost
    assert stream.has_room(1, 0.11)
    assert stream.lost == 1
    stream.answered((0, 1))
    assert stream.lost == 0


def test_a_stall_of_both_ends_is_no_loss() -> None:
    _, stream = filled(512, "rac2")
    sent = send_all(stream, 0.0)
    for number in range(sent):
        stream.answered((0, number))  # taken before the clock is read
    assert stream.has_room(1, 10.0)
    assert not stream.lost


def test_whole_packets_hold_no_memory_and_end_it_only_where_many_are_lost() -> None:
    _, stream = filled(100)
    for step in range(10):
        for number in range(100):
            stream.went((0, step, number), step * 1.1)
            if number:  # one of a hundred is lost
                stream.answered((0, step, number))
        assert stream.has_room(1, step * 1.1 + SILENT_S + 0.01)
    assert stream.lost == 10
    for number in range(40):
        stream.went((0, 99, number), 12.0)
    with pytest.raises(StoppedError, match="50 of 1,040 datagrams had no answer"):
        stream.has_room(1, 12.0 + SILENT_S + 0.01)


def test_a_loss_that_begins_late_in_a_long_step_ends_it_as_soon() -> None:
    _, stream = filled(2000)
    for second in range(20):
        for number in range(1000):
            stream.went((0, second, number), float(second))
            stream.answered((0, second, number))
        assert stream.has_room(1, float(second))
    for number in range(40):
        stream.went((0, 99, number), 20.0)
    with pytest.raises(StoppedError, match="40 of 20,040 datagrams"):
        stream.has_room(1, 20.0 + SILENT_S + 0.01)


@pytest.mark.parametrize(("lost", "sent", "is_too_much"), [(10, 10, False), (11, 11, True), (20, 2000, False)])
def test_a_random_loss_of_one_percent_can_be_measured(lost: int, sent: int, is_too_much: bool) -> None:
    assert loses_too_much(lost, sent) is is_too_much


def test_the_sender_looks_at_its_own_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    assert memory_in_use() >= 0
    monkeypatch.setattr(incomplete, "memory_in_use", lambda: 1_048_577)
    kept = Incomplete({"rac1": ROOM}, 1_048_576)
    kept.demand_few({}, 0, 1.0)
    with pytest.raises(StoppedError, match="1,048,577 bytes") as stopped:
        kept.demand_few({"rac1": BLOCK}, 0, 1.0)
    assert stopped.value.is_harm


# --- streams over loopback --------------------------------------------------------------------------------------------

HEADER = struct.Struct("!BxH4s16sI")


class Peer:
    """A far end in a thread, which answers the datagrams that it should."""

    def __init__(self, answers: Callable[[int], bool]) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        self.socket.bind(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.received = 0
        self._answers = answers
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while True:
            data, who = self.socket.recvfrom(70_000)
            if data == b"end":
                return
            kind, count, sequence, token, size = HEADER.unpack_from(data)
            self.received += 1
            if not self._answers(int.from_bytes(sequence, "big")):
                continue
            if kind == 1:
                self.socket.sendto(data[:28], who)
            else:
                for number in range(count):
                    self.socket.sendto(HEADER.pack(4, number, sequence, token, size).ljust(size, b"\0"), who)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
            one.sendto(b"end", ("127.0.0.1", self.port))
        self._thread.join()
        self.socket.close()


@contextmanager
def peers_that(answers: Callable[[int], bool], number: int) -> Iterator[list[Peer]]:
    with ExitStack() as stack:
        yield [stack.enter_context(Peer(answers)) for _ in range(number)]


@pytest.fixture
def budget() -> Iterator[Budget]:
    read, write = os.pipe()
    beating = threading.Event()

    def beat() -> None:
        while not beating.wait(0.1):
            os.write(write, b"\n")

    heart = threading.Thread(target=beat)
    heart.start()
    yield Budget(Orders(read), 2_000, 1e9, 1 << 30, 1.0, Incomplete({"rac1": ROOM, "rac2": ROOM}, 0))
    beating.set()
    heart.join()
    os.close(read)
    os.close(write)


def order(peers: list[Peer], node: str, bits_per_s: float = 1e9) -> dict[str, Any]:
    far = [{"source": "127.0.0.1", "target": "127.0.0.1", "port": one.port, "token": "ab" * 16} for one in peers]
    return {
        **far[0], "far_ends": far, "payload": 8192, "wire_bytes": 8428, "packets": 6, "holds": {node: BLOCK},
        "bits_per_s": bits_per_s, "most_bps": 1e9, "seconds": 0.3,
    }  # fmt: skip


Streams = Callable[[dict[str, Any], Budget], dict[str, Any]]


def _udp_from(order: dict[str, Any], budget: Budget) -> dict[str, Any]:
    """Receive, and close the sockets after it."""
    receiver = paced_streams.PacedReceiver()
    try:
        return receiver.udp_from(order, budget)
    finally:
        receiver.rest({}, budget)


BOTH = pytest.mark.parametrize(("stream", "node", "peers"), [(paced_streams.udp_to, "rac2", 1), (_udp_from, "rac1", 3)])


@BOTH
def test_a_stream_that_nothing_answers_ends_within_its_room(
    stream: Streams, node: str, peers: int, budget: Budget
) -> None:
    with peers_that(lambda _: False, peers) as far:
        found = stream(order(far, node), budget)
    assert found["is_harm"]
    assert "no answer" in found["stopped"]
    assert 0 < sum(one.received for one in far) <= 17


@BOTH
def test_a_loss_that_begins_while_it_sends_ends_it_after_a_few(
    stream: Streams, node: str, peers: int, budget: Budget
) -> None:
    with peers_that(lambda sequence: sequence % 9 > 0 or sequence < 20, peers) as far:
        found = stream({**order(far, node), "seconds": 5.0}, budget)
    assert found["is_harm"]
    assert "datagrams in fragments" in found["stopped"]
    assert sum(one.received for one in far) < 300


@BOTH
def test_a_healthy_stream_has_all_its_answers_and_no_more_packets_than_the_limit(
    stream: Streams, node: str, peers: int, budget: Budget
) -> None:
    started = time.monotonic()
    with peers_that(lambda _: True, peers) as far:
        found = stream(order(far, node), budget)
    assert not found["stopped"]
    datagrams = sum(one.received for one in far)
    assert 0 < datagrams * 6 <= 2_000 * max(1.0, time.monotonic() - started)
    assert found["received"] == (datagrams if stream is _udp_from else 0)


# --- what refuses before ----------------------------------------------------------------------------------------------


def finding(check: str, code: str, status: Status) -> Finding:
    return Finding(code=code, check=check, status=status, title="Lost.", network="192.168.10.0/24", nodes=("rac2",))


@pytest.mark.parametrize("check", ["udp-path", "fragments", "reassembly", "udp-receive-buffers", "packet-filter"])
def test_what_a_check_warns_of_on_the_path_refuses(check: str) -> None:
    (refusal,) = failing_paths([finding(check, "IC-X-001", Status.WARN)], [PATH])
    assert refusal.code == "ME-LOAD-005"
    assert not list(failing_paths([finding(check, "IC-X-001", Status.UNKNOWN)], [PATH]))


def test_what_a_measurement_looks_for_itself_does_not_refuse_it() -> None:
    dead = finding("udp-path", "IC-FLOW-003", Status.FAIL)
    assert list(failing_paths([dead], [PATH]))
    assert not list(failing_paths([dead], [PATH], ("IC-FLOW-003",)))
