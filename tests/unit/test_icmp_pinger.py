"""racwire's ICMP socket, on the loopback of a network namespace that each test makes."""

from __future__ import annotations

import asyncio
import ctypes
import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path as FilePath
from typing import TypeVar

import pytest

from checks.model.facts import PingSeries, Port, PrivateNetwork
from checks.model.settings import ProbeSettings
from checks.sources.nodes.container_processes import is_contained
from checks.sources.probes.icmp_pinger import IcmpPinger
from checks.sources.probes.limits import BudgetSpentError, PacketPace, PathLimits
from checks.sources.probes.path import Path
from checks.sources.probes.pinger import CannotPingError, Request

T = TypeVar("T")
CLONE_NEWNET = 0x40000000
HERE, HERE_6 = "192.168.77.1", "fd00:77::1"
SET_UP = f"""
ip link set lo up mtu 1500
ip address add {HERE}/32 dev lo
[ ! -e /proc/sys/net/ipv6 ] || {{
    echo 0 >/proc/sys/net/ipv6/conf/lo/disable_ipv6
    ip address add {HERE_6}/128 dev lo nodad
}}
"""


def in_a_namespace(work: Callable[[], Coroutine[object, object, T]], and_then: str = "") -> T:
    """Run the work in a thread with a network namespace of its own. Return its result."""
    outcome: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), "unshare")
            subprocess.run(["sh", "-ec", SET_UP + and_then], check=True)
            outcome.append(asyncio.run(work()))
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return outcome[0]


pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("ip") is None,
    reason="THE ICMP SOCKET WAS NOT TESTED ON LOOPBACK: only root can make a network namespace",
)


def ping(to: str, *requests: Request, here: str = HERE, timeout_s: float = 5.0, and_then: str = "") -> list[PingSeries]:
    """Run the series of pings in a namespace of their own, after that shell line."""
    limits = PathLimits(ProbeSettings(max_packets_per_path=50))

    async def work() -> list[PingSeries]:
        path = Path(PrivateNetwork("n", "", "", ""), Port("a", "lo", here), Port("b", "lo", to), 1500)
        with IcmpPinger(path, limits, PacketPace(100_000), straggler_s=0.05) as pinger:
            return await pinger.ping(requests, timeout_s=timeout_s)

    return in_a_namespace(work, and_then)


def counts(series: Sequence[PingSeries]) -> list[tuple[int, int, int, int]]:
    return [(s.payload, s.sent, s.received, s.refused_locally) for s in series]


def test_pings_of_all_fitting_sizes_are_answered_with_ttl_and_time():
    series = ping(HERE, Request(56, 12), Request(1472, 12))
    assert counts(series) == [(56, 12, 12, 0), (1472, 12, 12, 0)]
    for one in series:
        assert one.ttl == 64
        assert one.rtt_ms_min is not None
        assert one.rtt_ms_median is not None
        assert 0 < one.rtt_ms_min <= one.rtt_ms_median


def test_a_packet_refused_by_the_kernel_is_reported_with_the_mtu_and_not_retried():
    (refused,) = ping(HERE, Request(1473, 20))
    assert (refused.received, refused.refused_locally, refused.local_mtu) == (0, 2, 1500)
    assert refused.sent == 2


def test_an_unanswered_ping_times_out():
    ignored = "echo 1 >/proc/sys/net/ipv4/icmp_echo_ignore_all"
    (series,) = ping(HERE, Request(56, 3), timeout_s=0.05, and_then=ignored)
    assert (series.sent, series.received, series.errors) == (3, 0, ())


@pytest.mark.skipif(not FilePath("/proc/sys/net/ipv6").exists(), reason="this kernel has no IPv6")
def test_ipv6_is_pinged_in_the_same_way():
    series = ping(HERE_6, Request(56, 3), Request(1453, 3), here=HERE_6)
    assert counts(series) == [(56, 3, 3, 0), (1453, 2, 0, 2)]
    assert (series[0].ttl, series[1].local_mtu) == (64, 1500)


def test_more_packets_than_the_limit_of_a_path_are_not_sent():
    with pytest.raises(BudgetSpentError, match="51 more packets would exceed the limit of 50"):
        ping(HERE, Request(56, 51))


def test_an_address_of_another_node_cannot_be_the_source():
    with pytest.raises(CannotPingError):
        ping(HERE, Request(56, 1), here="192.168.99.99")


def test_a_process_of_this_node_is_distinguished_from_one_in_a_container():
    assert not is_contained(os.getpid())
    assert not is_contained(2**22 + 1)
    with subprocess.Popen(["unshare", "--pid", "--fork", "sleep", "60"]) as outer:
        try:
            children = FilePath(f"/proc/{outer.pid}/task/{outer.pid}/children")
            while not (found := children.read_text().split()):
                assert outer.poll() is None
            assert is_contained(int(found[0]))
        finally:
            for pid in found:
                os.kill(int(pid), 9)
