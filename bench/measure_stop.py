"""Hold the end of a measurement against its promise: no packet after a sign of harm, and nothing left of a dead one."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench.instruments import (
    NEAR,
    SOURCE,
    NoInstrument,
    demand,
    entered,
    far_ends,
    in_switch,
    near,
    processes,
    running,
)
from bench.pace import Pace
from bench.practice import practice_cluster
from bench.rows import Row, not_measured

STOP_MS, GONE_MS = 250.0, 1000.0
_START_S, _END_S = 60.0, 30.0
_SENDS_S = 2.0
"""Without a packet for so long before the sign, a measurement shows nothing of what the sign ends."""
_LONG = ("sizes", "--lab", "--sizes", "8k", "--no-trains", "--rounds", "60", "--far-end", "perl", "--go", "practice")


def measure(pace: Pace) -> Iterator[Row]:
    """Yield the row of the last packet, and one for each way of dying."""
    with practice_cluster(2, database=False, rate="1g") as lab:
        try:
            demand("tcpdump")
            yield from _after_a_sign(lab, pace)
        except NoInstrument as reason:
            yield not_measured("measure, stopped by a sign: its last packet", str(reason))
        for way, end in WAYS.items():
            yield _gone(lab, way, end, pace)


def _after_a_sign(lab: Any, pace: Pace) -> Iterator[Row]:
    late, lines = [], []
    for kind in ("sizes", "rate", "mix"):
        own = []
        for _ in range(pace.finds):
            with tempfile.TemporaryDirectory(prefix="racwire-bench-") as directory:
                file = Path(directory) / "sent.pcap"
                seen = f"src host {SOURCE} and (udp or tcp)"
                command = ("tcpdump", "-i", "eth1", "-s", "64", "-B", "16384", "-w", str(file), seen)
                with running(lab, NEAR, command, "listening on") as seeing:
                    found = near(lab, "stops", kind=kind)
                    seeing.send_signal(signal.SIGINT)
                    seeing.wait(10)
                if not found["read_at"]:
                    raise NoInstrument(f"{kind} ended before the sign: {found['stopped']}")
                after_s = last_packet(file.read_bytes()) - found["read_at"]
                if after_s < -_SENDS_S:
                    raise NoInstrument(f"{kind} sent nothing in the {_SENDS_S:.0f} s before the sign")
                own.append(after_s * 1000)
        late += own
        lines.append(f"{kind}: {', '.join(f'{one:.0f}' for one in own)} ms after it read the sign")
    yield Row("measure, stopped by a sign: its last packet after it read it", "ms", max(late), STOP_MS, notes=(*lines,))


def last_packet(pcap: bytes) -> float:
    """Return when the last packet of a capture left, in seconds since 1970; 0 without one."""
    place, last = 24, 0.0
    while place + 16 <= len(pcap):
        seconds, part, kept, _ = struct.unpack_from("<IIII", pcap, place)
        last, place = seconds + part / 1e6, place + 16 + kept
    return last


@contextlib.contextmanager
def _measuring(lab: Any) -> Iterator[tuple[int, int]]:
    """Start a measurement on a terminal of its own. Yield the terminal and racwire's process."""
    master, slave = pty.openpty()
    command = [sys.executable, "-P", "-m", "racwire", "measure", *(word for word in _LONG if word != "--lab")]
    process = subprocess.Popen(
        **entered(lab, NEAR, command), stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )  # fmt: skip
    os.close(slave)
    try:
        until = time.monotonic() + _START_S
        while not (senders := processes(lab, NEAR, b"near_end.sender")) or not far_ends(lab):
            if time.monotonic() > until or process.poll() is not None:
                raise NoInstrument("a measurement did not start")
            time.sleep(0.05)
        time.sleep(0.5)
        yield master, _parent(senders[0])
    finally:
        process.kill()
        process.wait()
        with contextlib.suppress(OSError):
            os.close(master)


def _gone(lab: Any, way: str, end: Callable[[Any, int, int], None], pace: Pace) -> Row:
    took = []
    for _ in range(pace.finds):
        with _measuring(lab) as (terminal, racwire):
            far = far_ends(lab)
            began = time.monotonic()
            end(lab, terminal, racwire)
            while any(Path(f"/proc/{one}").exists() for one in far) and time.monotonic() < began + _END_S:
                time.sleep(0.002)
            took.append((time.monotonic() - began) * 1000)
            if way == "it hangs":
                os.kill(racwire, signal.SIGCONT)
            if way == "node cut off":
                _cables(lab, "up")
        until = time.monotonic() + _END_S
        while processes(lab, NEAR, b"near_end.sender") and time.monotonic() < until:
            time.sleep(0.02)
    note = f"{len(took)} times: {', '.join(f'{one:.0f}' for one in took)} ms"
    return Row(f"measure, {way}: the far end is gone", "ms", max(took), GONE_MS, notes=(note,))


def _kill(lab: Any, terminal: int, racwire: int) -> None:
    os.kill(racwire, signal.SIGKILL)


def _hang(lab: Any, terminal: int, racwire: int) -> None:
    os.kill(racwire, signal.SIGSTOP)


def _kill_the_sender(lab: Any, terminal: int, racwire: int) -> None:
    for one in processes(lab, NEAR, b"near_end.sender"):
        os.kill(one, signal.SIGKILL)


def _kill_the_far_end(lab: Any, terminal: int, racwire: int) -> None:
    for one in far_ends(lab):
        os.kill(one, signal.SIGKILL)


def _kill_ssh(lab: Any, terminal: int, racwire: int) -> None:
    for one in processes(lab, NEAR, b"ssh"):
        with contextlib.suppress(OSError):
            if _parent(one) == racwire:
                os.kill(one, signal.SIGKILL)


def _close_the_terminal(lab: Any, terminal: int, racwire: int) -> None:
    os.close(terminal)


def _cut_off(lab: Any, terminal: int, racwire: int) -> None:
    _cables(lab, "down")


def _cables(lab: Any, state: str) -> None:
    in_switch(lab, "sh", "-c", "; ".join(f"ip link set {NEAR}-eth{number} {state}" for number in range(3)))


WAYS: dict[str, Callable[[Any, int, int], None]] = {
    "kill -9 of racwire": _kill,
    "it hangs": _hang,
    "kill -9 of its sender": _kill_the_sender,
    "kill -9 of the far end": _kill_the_far_end,
    "its ssh killed": _kill_ssh,
    "terminal gone": _close_the_terminal,
    "node cut off": _cut_off,
}


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/status").read_text().partition("PPid:")[2].split()[0])
