"""Ten runs of `racwire measure rate` against the switch's own count: whose each missing datagram is.

The switch of the practice cluster counts the datagrams of 8 KB that it takes in, and those that it drops. An end that
stands still loses what its full socket drops; none of it may be the network's. `-s` prints the table.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import msgspec
import pytest

from bench.instruments import far_ends, in_switch, processes
from checks.model.measured_rate import MeasuredRate
from checks.model.measurement import Measurement
from tests.lab.lab_support import needs_namespaces, needs_nft
from tests.lab.lab_support import run as on
from tests.lab.practice_command import Practice

pytestmark = [pytest.mark.lab, pytest.mark.beyond_sample, needs_namespaces, needs_nft]
NEAR, FAR = "rac1-eth1", "rac2-eth1"
_IP_BYTES = 8192 + 8 + 20
_RUNS_S, _STANDS_S = 0.4, 0.3


@dataclass(frozen=True)
class Run:
    name: str
    percent: int = 0
    """What the switch loses."""
    loses_from: str = NEAR
    stops: str = ""
    """The end that stands still again and again: `far` or `near`; or `busy`: all CPUs are."""
    far_end: str = "perl"
    firewall_percent: int = 0
    """What the firewall of the peer drops of the datagrams that reach it."""


RUNS = (
    Run("clean"),
    Run("clean, far end in Python", far_end="python"),
    Run("1 % lost to the peer", 1),
    Run("1 % lost to the peer, far end in Python", 1, far_end="python"),
    Run("1 % lost from the peer", 1, FAR),
    Run("firewall of the peer drops 1 %", firewall_percent=1),
    Run("far end stands still", stops="far"),
    Run("far end in Python stands still", stops="far", far_end="python"),
    Run("near end stands still", stops="near"),
    Run("all CPUs busy", stops="busy"),
    Run("1 % lost to a far end that stands still", 1, stops="far"),
)
HEADS = ("\nrun", "way", "sent", "delivered", "refused", "dropped", "kernel", "unsent", "unknown", "NETWORK", "SWITCH")
WIDTHS = "{:42} {:4} {:>6} {:>9} {:>7} {:>7} {:>6} {:>6} {:>7} {:>7} {:>6}"


@pytest.fixture(scope="module")
def practice(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Practice]:
    one = Practice(tmp_path_factory.mktemp("losses") / "lab", 2, 9000, rate="1g")
    print(WIDTHS.format(*HEADS))
    yield one
    one.down()


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_the_network_has_what_the_switch_lost_and_nothing_of_the_ends(practice: Practice, run: Run) -> None:
    with switch_that_counts(practice, run) as dropped, firewall(practice, run), standing_still(practice, run):
        ran = practice.racwire(
            *("measure", "rate", "--lab", "--on", "192.168.10.0/24", "--share", "80", "--steps", "80", "--step", "2s"),
            *("--packets", "20000", "--far-end", run.far_end, "--format", "json", "--go", "practice"),
            *("--although-loaded", "the switch loses packets"),
        )
        counts = dropped()
    assert ran.stdout, ran.stderr
    result = msgspec.json.decode(ran.stdout.encode(), type=Measurement).result
    assert isinstance(result, MeasuredRate)
    steps = [one for one in result.steps if one.protocol == "udp"]
    assert steps, ran.stdout
    for one in steps:
        count = counts[FAR if one.is_towards_here else NEAR]
        fates = (one.received, one.dropped, one.kernel_refused, one.unsent, one.unknown, one.lost)
        way = "here" if one.is_towards_here else "to"
        print(WIDTHS.format(run.name, way, one.sent, one.received, one.refused, *fates[1:], count))
        assert sum(fates) == one.sent > 0
        assert one.lost <= count <= one.lost + one.kernel_refused + one.unsent + one.unknown


@contextlib.contextmanager
def switch_that_counts(practice: Practice, run: Run) -> Iterator[Callable[[], dict[str, int]]]:
    """Let the switch lose datagrams of 8 KB. Yields what returns how many it dropped so far, by the port of arrival."""
    lab, udp = practice.cluster, f"ip protocol udp ip length {_IP_BYTES}"
    in_switch(lab, "nft", "add table bridge losses")
    in_switch(lab, "nft", "add chain bridge losses entering { type filter hook prerouting priority -1; }")
    for port in (NEAR, FAR):
        lost = f"numgen random mod 100 < {run.percent}" if port == run.loses_from and run.percent else "ip length 1"
        in_switch(lab, "nft", f'add rule bridge losses entering iifname "{port}" {udp} {lost} counter drop')
    before = _queue_drops(practice)

    def dropped() -> dict[str, int]:
        listed = json.loads(in_switch(lab, "nft", "-j", "list", "table", "bridge", "losses"))["nftables"]
        rules = [
            part["counter"]["packets"]
            for entry in listed
            for part in entry.get("rule", {}).get("expr", ())
            if "counter" in part
        ]
        queues = {port: count - before[port] for port, count in _queue_drops(practice).items()}
        # What goes to a node waits in the queue of that node's port.
        return {NEAR: rules[0] + queues[FAR], FAR: rules[1] + queues[NEAR]}

    try:
        yield dropped
    finally:
        in_switch(lab, "nft", "delete table bridge losses")


@contextlib.contextmanager
def firewall(practice: Practice, run: Run) -> Iterator[None]:
    """Let the kernel of the peer drop a share of the datagrams of 8 KB that it received."""
    if not run.firewall_percent:
        yield
        return
    lost = f"udp length {8192 + 8} numgen random mod 100 < {run.firewall_percent} drop"
    rules = f"table ip firewall {{ chain arriving {{ type filter hook input priority 0; {lost}; }}; }}"
    assert on(practice.cluster, "rac2", "nft", rules).returncode == 0
    try:
        yield
    finally:
        assert on(practice.cluster, "rac2", "nft", "delete table ip firewall").returncode == 0


def _queue_drops(practice: Practice) -> dict[str, int]:
    found = {}
    for port in (NEAR, FAR):
        queues = json.loads(in_switch(practice.cluster, "tc", "-s", "-j", "qdisc", "show", "dev", port))
        found[port] = sum(one["drops"] for one in queues if one.get("root"))
    return found


@contextlib.contextmanager
def standing_still(practice: Practice, run: Run) -> Iterator[None]:
    """Stop an end for a part of each second, or keep all CPUs busy for other programs."""
    done = threading.Event()

    def ends() -> list[int]:
        if run.stops == "far":
            return far_ends(practice.cluster)
        return processes(practice.cluster, "rac1", b"near_end.sender") if run.stops == "near" else []

    def hold() -> None:
        while not done.wait(_RUNS_S):
            for one in ends():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(one, signal.SIGSTOP)
                    done.wait(_STANDS_S)
                    os.kill(one, signal.SIGCONT)

    holding = threading.Thread(target=hold)
    holding.start()
    loops = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in range(4 * (os.cpu_count() or 1) if run.stops == "busy" else 0)
    ]
    try:
        yield
    finally:
        done.set()
        holding.join()
        for loop in loops:
            loop.kill()
            loop.wait()
