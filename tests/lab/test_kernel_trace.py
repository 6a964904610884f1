"""Why a real kernel drops packets, and that nothing is left of the trace, whatever becomes of racwire.

Each test has namespaces of its own. The event is of the whole kernel: it shows drops of other programs as well.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from checks.model.facts import KernelDrops, UnreadNode
from checks.sources.kernel_trace.trace_entry import MOST_EVENTS_A_SECOND
from tests.lab.traced_kernel import FILTERED

PROGRAM = Path(__file__).with_name("traced_kernel.py")
_MOUNT = "mount -t tracefs tracefs /sys/kernel/tracing"
_WIRE = f"""\
{_MOUNT}
ip link set lo up
ip link add tt0 type veth peer name tt1
ip addr add 10.99.0.1/24 dev tt0
ip link set tt0 up
ip link set tt1 netns "$1"
nsenter -t "$1" -n sh -c 'ip addr add 10.99.0.2/24 dev tt1; ip link set tt1 up; nft add table ip t; \
nft add chain ip t c "{{type filter hook input priority 0;}}"; nft add rule ip t c udp dport {FILTERED} drop'
shift
exec "$@"
"""


def _can_trace() -> bool:
    program = f"{_MOUNT} && [ -e /sys/kernel/tracing/events/skb/kfree_skb/format ] && command -v nft"
    if os.geteuid() != 0:
        return False
    return subprocess.run(["unshare", "-m", "sh", "-c", program], capture_output=True).returncode == 0


pytestmark = [
    pytest.mark.lab,
    pytest.mark.skipif(not _can_trace(), reason="THE KERNEL WAS NOT TRACED: no root, no tracefs or no nft here"),
]


def left() -> list[str]:
    """Return the instances of racwire in the kernel, and its processes of a trace."""
    listed = subprocess.run(
        ["unshare", "-m", "sh", "-c", f"{_MOUNT}; ls /sys/kernel/tracing/instances"], capture_output=True, text=True
    )
    names = [name for name in listed.stdout.split() if name.startswith("racwire-")]
    return names + [str(pid) for pid in processes("racwire-drops", "racwire-watchdog")]


def processes(*names: str) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if {*names} & {word.decode(errors="replace") for word in words}:
            found.append(int(path.parent.name))
    return found


@pytest.fixture
def peer() -> Iterator[str]:
    """The process whose network namespace is the other end of the wire."""
    if left():
        pytest.skip("another trace runs on this machine")
    holder = subprocess.Popen(["unshare", "-n", "sleep", "60"])
    while os.readlink(f"/proc/{holder.pid}/ns/net") == os.readlink("/proc/self/ns/net"):
        time.sleep(0.01)
    yield str(holder.pid)
    holder.kill()
    holder.wait()


def start(peer: str, seconds: int, packets: int) -> subprocess.Popen[str]:
    words = ["unshare", "-m", "-n", "sh", "-c", _WIRE, "wire", peer, sys.executable, str(PROGRAM)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.Popen(
        [*words, str(seconds), str(packets)], stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True
    )


def facts(process: subprocess.Popen[str]) -> KernelDrops | UnreadNode:
    printed, _ = process.communicate(timeout=30)
    return msgspec.json.decode(printed.splitlines()[-1], type=KernelDrops | UnreadNode)


def wait_until_gone() -> float:
    """Return how many seconds it took."""
    began = time.monotonic()
    while left() and time.monotonic() - began < 30:
        time.sleep(0.1)
    return time.monotonic() - began


def test_the_kernel_says_why_it_drops_what_arrived_at_a_nic(peer: str):
    found = facts(start(peer, 1, 60))
    assert isinstance(found, KernelDrops)
    at_nic = {d.code: d.number for d in found.drops if d.nic == "tt1"}
    assert at_nic == {"NETFILTER_DROP": 20, "NO_SOCKET": 40}
    assert found.followed_at("tt1", is_sent=False) == 60
    assert wait_until_gone() < 2


@pytest.mark.beyond_sample
def test_more_events_than_the_limit_stop_it(peer: str):
    process = start(peer, 10, 0)
    assert process.stdout is not None
    assert process.stdout.readline() == "tracing\n"
    flood = (
        "import socket, time\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\nuntil = time.monotonic() + 3\n"
        "while time.monotonic() < until:\n s.sendto(b'x', ('127.0.0.1', 9))\n s = socket.socket(2, 2)"
    )
    run = ["unshare", "-n", "sh", "-c", 'ip link set lo up; exec "$0" -c "$1"', sys.executable, flood]
    subprocess.run(run, check=True)
    found = facts(process)
    assert isinstance(found, KernelDrops)
    assert found.is_stopped
    assert sum(d.number for d in found.drops) <= MOST_EVENTS_A_SECOND * (found.seconds + 1)
    assert wait_until_gone() < 2


@pytest.mark.parametrize(
    "killed",
    [
        pytest.param("racwire", marks=pytest.mark.beyond_sample),
        pytest.param("its program", marks=pytest.mark.beyond_sample),
        "racwire and its program",
    ],
)
def test_nothing_is_left_after_kill_9(peer: str, killed: str):
    process = start(peer, 2, 0)
    assert process.stdout is not None
    assert process.stdout.readline() == "tracing\n"
    assert len(left()) >= 2
    tracing = processes("racwire-drops")
    if killed != "its program":
        os.kill(process.pid, signal.SIGKILL)
    if killed != "racwire":
        for pid in tracing:
            os.kill(pid, signal.SIGKILL)
    assert wait_until_gone() < 8
    assert left() == []
    process.kill()
    process.communicate()
