"""The far end of a measurement, in each language and interpreter of this machine: answers, limits, and its end."""

from __future__ import annotations

import fcntl
import os
import secrets
import select
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from checks.measure.far_end.programs import (
    FarLimits,
    Interpreter,
    command_line,
    interpreter_at,
    message_of,
    sha256_of,
    text_of,
)
from checks.measure.near_end.incomplete import memory_in_use

HEADER = struct.Struct("!BxH4s16sI")
_PYENV = Path.home() / ".pyenv/versions"
FOUND = [
    *([interpreter_at(perl)] if (perl := shutil.which("perl")) else []),
    *(
        Interpreter("python", str(path))
        for version in ("2.7", "3.6", "3.9", "3.12")
        for path in sorted(_PYENV.glob(f"{version}.*/bin/python"))[:1]
    ),
    *([Interpreter("python", python)] if (python := shutil.which("python3")) else []),
]
_PATIENCE_S = 30.0


class Far:
    """A far end on loopback, as `FarEnd` starts it: sh, then the loader, then the text."""

    def __init__(self, interpreter: Interpreter, limits: FarLimits) -> None:
        self.token = secrets.token_hex(16)
        line = command_line(interpreter, "127.0.0.1", "127.0.0.1", limits)
        self.process = subprocess.Popen(["sh"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self.write(line.encode() + b"\n")
        assert self.line() == "racwire text"
        self.write(message_of(interpreter.language, self.token))
        ready = self.line().split()
        assert ready[:2] == ["racwire", "ready"], ready
        self.udp_port, self.tcp_port = map(int, ready[2:])
        self.alive()

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)

    def alive(self) -> None:
        self.write(b".")

    def line(self) -> str:
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], _PATIENCE_S)
        assert ready, "the far end printed nothing"
        return self.process.stdout.readline().decode().rstrip("\n")

    def counts(self) -> list[int]:
        self.write(b"s")
        words = self.line().split()
        assert words[:2] == ["racwire", "state"], words
        return list(map(int, words[2:]))

    def ending(self) -> str:
        """Wait for the last line, and return its reason."""
        words = self.line().split()
        self.process.wait(_PATIENCE_S)
        return words[1]

    def datagram(self, kind: int, size: int, *, count: int = 1, answer: int = 0, token: str | None = None) -> bytes:
        head = HEADER.pack(kind, count, b"seq1", bytes.fromhex(token or self.token), answer)
        return head + b"x" * (size - len(head))


Start = Callable[[FarLimits], Far]


@pytest.fixture(params=FOUND, ids=lambda one: one.path)
def interpreter(request: pytest.FixtureRequest) -> Interpreter:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def start(interpreter: Interpreter) -> Iterator[Start]:
    """Starts far ends, one test at a time: a far end holds a lock in the network namespace of all test workers."""
    started: list[Far] = []

    def begin(limits: FarLimits) -> Far:
        started.append(Far(interpreter, limits))
        return started[-1]

    with open(Path(tempfile.gettempdir()) / f"racwire-far-end-{os.getuid()}.lock", "w", encoding="ascii") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        yield begin
        for one in started:
            one.process.kill()
            one.process.wait()
            for stream in (one.process.stdin, one.process.stdout):
                assert stream is not None
                stream.close()


@pytest.fixture
def far(start: Start) -> Far:
    return start(FarLimits(60, 10_000_000, 20))


@pytest.fixture
def near() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("127.0.0.1", 0))
        one.settimeout(_PATIENCE_S)
        yield one


def test_a_datagram_is_returned_whole(far: Far, near: socket.socket) -> None:
    for size in (28, 64, 8192, 65_507):
        near.sendto(far.datagram(0, size), ("127.0.0.1", far.udp_port))
        assert near.recv(70_000) == far.datagram(0, size)
        far.alive()
    assert far.counts()[:4] == [4, 73_791, 4, 73_791]


def test_a_datagram_is_acknowledged_by_its_header(far: Far, near: socket.socket) -> None:
    near.sendto(far.datagram(1, 8972), ("127.0.0.1", far.udp_port))
    assert near.recv(70_000) == far.datagram(1, 28)


def test_a_request_brings_its_datagrams_and_never_more_than_64(far: Far, near: socket.socket) -> None:
    near.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    near.sendto(far.datagram(3, 28, count=200, answer=100), ("127.0.0.1", far.udp_port))
    answers = [near.recv(70_000) for _ in range(64)]
    assert {len(one) for one in answers} == {100}
    assert [HEADER.unpack_from(one)[1] for one in answers] == list(range(64))
    assert far.counts()[2] == 64


def test_a_datagram_without_the_token_has_no_answer_and_is_counted(far: Far, near: socket.socket) -> None:
    near.sendto(far.datagram(0, 64, token="00" * 16), ("127.0.0.1", far.udp_port))
    near.sendto(b"short", ("127.0.0.1", far.udp_port))
    near.sendto(far.datagram(1, 64), ("127.0.0.1", far.udp_port))
    assert near.recv(70_000) == far.datagram(1, 28)  # the first answer is that of the third datagram
    assert far.counts()[5] == 2


def test_the_token_is_not_among_the_arguments_which_all_users_can_read(far: Far) -> None:
    words = Path(f"/proc/{far.process.pid}/cmdline").read_bytes()
    assert b"racwire text" in words
    assert far.token.encode() not in words


def test_flows_in_both_directions_are_complete(far: Far) -> None:
    with socket.create_connection(("127.0.0.1", far.tcp_port), _PATIENCE_S) as flow:
        flow.sendall(bytes.fromhex(far.token) + struct.pack("!B7xQ", 0, 300_000) + b"z" * 300_000)
        assert flow.recv(8, socket.MSG_WAITALL) == struct.pack("!B7x", 0)
        far.alive()
        flow.sendall(struct.pack("!B7xQ", 1, 1_000_000))
        left = 1_000_000
        while left:
            left -= len(flow.recv(min(left, 65_536)))
            far.alive()
    assert far.counts()[1] == 300_000
    assert far.counts()[3] == 1_000_000


def test_a_connection_without_the_token_is_closed(far: Far) -> None:
    with socket.create_connection(("127.0.0.1", far.tcp_port), _PATIENCE_S) as flow:
        flow.sendall(b"0" * 16)
        assert flow.recv(1) == b""


def test_it_ends_with_its_stdin_and_says_so(far: Far) -> None:
    assert far.process.stdin is not None
    far.process.stdin.close()
    assert far.ending() == "done-eof"


def test_it_ends_without_heartbeats(far: Far) -> None:
    assert far.ending() == "done-heartbeat"


def test_it_ends_at_its_limit_of_bytes(start: Start, near: socket.socket) -> None:
    far = start(FarLimits(60, 100_000, 20))
    for _ in range(10):
        near.sendto(far.datagram(2, 30_000), ("127.0.0.1", far.udp_port))
    assert far.ending() == "done-bytes"


def test_it_ends_where_its_node_has_no_room_for_fragments_and_still_says_its_counts(start: Start) -> None:
    far = start(FarLimits(60, 100_000, 20, most_fragment_bytes=-1))
    words = far.line().split()
    assert words[1] == "done-memory"
    assert len(words) == 13
    used = int(words[10])
    assert used == memory_in_use()


def test_what_waits_in_the_socket_of_a_far_end_that_stood_still_is_counted_and_a_request_there_brings_nothing(
    far: Far, near: socket.socket
) -> None:
    far.process.send_signal(signal.SIGSTOP)
    for _ in range(3):
        near.sendto(far.datagram(1, 8192), ("127.0.0.1", far.udp_port))
    near.sendto(far.datagram(3, 28, count=5, answer=100), ("127.0.0.1", far.udp_port))
    far.write(b"s")
    far.process.send_signal(signal.SIGCONT)
    counts = far.counts()
    assert counts[:4] == [4, 3 * 8192 + 28, 3, 3 * 28]


def test_what_its_full_socket_drops_is_counted_and_not_what_others_drop(far: Far, near: socket.socket) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        other.bind(("127.0.0.2", far.udp_port))
        for _ in range(20):
            near.sendto(b"x" * 8192, ("127.0.0.2", far.udp_port))
        assert far.counts()[6] == 0
    room = far.counts()[9]
    assert room > 0
    far.process.send_signal(signal.SIGSTOP)
    number = room // 8192 + 10
    for _ in range(number):
        near.sendto(far.datagram(1, 8192), ("127.0.0.1", far.udp_port))
    far.process.send_signal(signal.SIGCONT)
    counts = far.counts()
    assert counts[6] > 0
    assert counts[0] + counts[6] == number


def test_it_ends_at_its_limit_of_time(start: Start) -> None:
    far = start(FarLimits(0.5, 100_000, 20))
    until = time.monotonic() + _PATIENCE_S
    while not select.select([far.process.stdout], [], [], 0.1)[0]:
        far.alive()
        assert time.monotonic() < until
    assert far.ending() == "done-seconds"


def test_a_second_far_end_on_the_same_node_is_refused(far: Far, interpreter: Interpreter) -> None:
    line = command_line(interpreter, "127.0.0.1", "127.0.0.1", FarLimits(60, 100_000, 20))
    text = message_of(interpreter.language, "00" * 16).decode()
    # bash reads no byte beyond the line that it runs.
    ran = subprocess.run(["bash"], input=f"{line}\n{text}".encode(), capture_output=True, timeout=60, check=False)
    assert b"another measure runs" in ran.stderr
    assert ran.returncode != 0


@pytest.mark.parametrize("language", ["perl", "python"])
def test_the_text_uses_no_module_of_the_peer_that_it_need_not(language: str) -> None:
    text = text_of(language)
    assert len(sha256_of(language)) == 64
    assert text.isascii()
    if language == "perl":
        assert not [line for line in text.splitlines() if line.strip().startswith(("use ", "require "))]


def test_every_word_of_the_command_line_is_quoted() -> None:
    line = command_line(Interpreter("perl", "/opt/a b/perl"), "1.2.3.4", "$(id)", FarLimits(1, 2, 3))
    assert "'/opt/a b/perl'" in line
    assert "'$(id)'" in line
    assert os.linesep not in line.partition("eval")[2]
