"""The live feed on the practice cluster: its counts equal those of the system's own tools.

A failure is reported as a gap, disturbs no other source, and the feed resumes.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil
import pytest

import racwire_lab
from tests.lab.lab_support import PATIENCE_S, lab_directory, needs_namespaces, run

pytestmark = [pytest.mark.lab, needs_namespaces]

ROOT = Path(__file__).parents[2]
NICS = ("eth0", "eth1", "eth2")
IP_TOOL = {
    "bytes": "bytes", "packets": "packets", "errors": "errors", "dropped": "dropped",
    "multicast": "multicast", "collisions": "collisions",
}  # fmt: skip
NSTAT = {
    **{f"Ip{name}": f"Ip.{name}" for name in ("InReceives", "InDelivers", "OutRequests", "InDiscards", "OutDiscards")},
    **{f"Ip{name}": f"Ip.{name}" for name in ("ReasmTimeout", "ReasmReqds", "ReasmOKs", "ReasmFails")},
    **{f"Ip{name}": f"Ip.{name}" for name in ("FragOKs", "FragFails", "FragCreates")},
    **{f"Udp{name}": f"Udp.{name}" for name in ("InDatagrams", "NoPorts", "InErrors", "OutDatagrams")},
    **{f"Udp{name}": f"Udp.{name}" for name in ("RcvbufErrors", "SndbufErrors", "InCsumErrors")},
}

Event = dict[str, Any]


class Running:
    """A feed that runs on rac1."""

    def __init__(self, cluster: racwire_lab.Lab, *words: str, **traffic: float) -> None:
        argv = [sys.executable, "-m", "tests.lab.feed_in_node", json.dumps(traffic), *words]
        environment = {**os.environ, **cluster.environment("rac1"), "PYTHONPATH": str(ROOT)}
        self._process = subprocess.Popen(
            cluster.enter("rac1", argv), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        self._messages: list[Event] = []
        self._news = threading.Condition()
        self._listening = threading.Thread(target=self._listen, daemon=True)
        self._listening.start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with self._news:
                self._messages.append(json.loads(line))
                self._news.notify_all()

    @property
    def count(self) -> int:
        """Return the number of received events, as a position to search from."""
        return len(self._messages)

    def after(self, place: int, kind: str, **fields: object) -> list[Event]:
        """Return the events of a kind, with these fields, after that position."""
        events = [message["event"] for message in self._messages[place:] if message["kind"] == kind]
        return [event for event in events if all(event.get(name) == value for name, value in fields.items())]

    def wait(self, kind: str, since: int = 0, within_s: float = PATIENCE_S, **fields: object) -> Event:
        """Wait for the first such event after that position, and return it."""
        with self._news:
            found = self._news.wait_for(lambda: self.after(since, kind, **fields), within_s)
        assert found, [message for message in self._messages if message["kind"] in ("gap", "cluster")]
        return found[0]

    def children(self, name: str) -> list[int]:
        """Return the child processes with that name."""
        below = psutil.Process(self._process.pid).children(recursive=True)
        found = [child.pid for child in below if child.name() == name]
        assert found
        return found

    def close(self) -> Event:
        """Close the feed. Return its report of the end."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        assert self._process.wait(PATIENCE_S) == 0
        with self._news:
            assert self._news.wait_for(lambda: self._messages and self._messages[-1]["kind"] == "closed", PATIENCE_S)
        return self._messages[-1]

    def end(self) -> None:
        """End the process, whatever its state."""
        self._process.kill()
        self._process.wait()
        self._listening.join(5)
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()


@contextmanager
def running(cluster: racwire_lab.Lab, *words: str, **traffic: float) -> Iterator[Running]:
    feed = Running(cluster, *words, **traffic)
    try:
        yield feed
    finally:
        feed.end()


def assert_left_in_order(closed: Event) -> None:
    assert (closed["tasks"], closed["threads"], closed["children"]) == ([], [], [])


# --- to the packet ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[racwire_lab.Lab]:
    """A cluster without a database: only the tests send packets."""
    with lab_directory(tmp_path_factory.mktemp("quiet") / "lab"):
        yield racwire_lab.up(nodes=2, mtu=1500, database=False)


TRIES = 60
"""Maximum of attempts to read the counters before and after a sample without traffic in between."""


def tools(cluster: racwire_lab.Lab, node: str) -> dict[str, int]:
    """Return the current counts of `ip -s -s link`, `nstat` and /proc/net/dev on a node."""
    # All in one go: to enter a node takes longer than to count, and a sample comes every second.
    output = run(cluster, node, "sh", "-c", "ip -s -s -j link; echo =; nstat -asz -j; echo =; cat /proc/net/dev").stdout
    link_json, kernel, proc = output.split("=\n")
    links = json.loads(link_json)
    counted = {
        f"{link['ifname']} {way}_{ours}": link["stats64"][way][theirs]
        for link in links
        if link["ifname"] in NICS
        for way in ("rx", "tx")
        for theirs, ours in IP_TOOL.items()
        if theirs in link["stats64"][way]
    }
    nstat = json.loads(kernel)["kernel"]
    counted |= {ours: nstat[theirs] for theirs, ours in NSTAT.items()}
    for name, _, figures in (line.partition(":") for line in proc.splitlines()):
        if name.strip() in NICS:
            counted[f"{name.strip()} rx_fifo"] = int(figures.split()[4])
    return counted


def sampled(samples: list[Event]) -> Callable[[str], int]:
    """Return the sums of the samples' counts, by the same names."""

    def total(name: str) -> int:
        nic, _, column = name.partition(" ")
        if column:
            return sum(sample["interfaces"][nic].get(column, 0) for sample in samples)
        return sum(sample["counters"][name] for sample in samples)

    return total


def quiet_tick(cluster: racwire_lab.Lab, feed: Running, node: str) -> tuple[int, dict[str, int]]:
    """Return a position after a sample of a node, where all tools count the same before and after: the sample must
    agree."""
    for _ in range(TRIES):
        place, before = feed.count, tools(cluster, node)
        feed.wait("node", place, node=node)
        place, after = feed.count, tools(cluster, node)
        if before == after and len(feed.after(place, "node", node=node)) == 0:
            return place, before
    raise AssertionError("the practice network was never quiet")


def traffic(cluster: racwire_lab.Lab) -> None:
    """Send fragments both ways on one private network, and datagrams to closed ports on the other."""
    run(cluster, "rac1", "ping", "-c", "12", "-i", "0.1", "-s", "8192", "192.168.10.2")
    throw = "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n" + (
        "for n in range(50): s.sendto(b'x' * (n + 9000 * (n % 2)), ('192.168.11.1', 9))"
    )
    run(cluster, "rac2", sys.executable, "-c", throw)


@pytest.fixture(scope="module")
def alone(quiet: racwire_lab.Lab) -> Iterator[Running]:
    """A feed of rac1 only, without connections to other nodes."""
    with running(quiet, "alone") as feed:
        yield feed
        assert_left_in_order(feed.close())


def test_the_counters_of_this_node_match_nstat_ip_and_proc_exactly(quiet: racwire_lab.Lab, alone: Running) -> None:
    begin, before = quiet_tick(quiet, alone, "rac1")
    traffic(quiet)
    end, after = quiet_tick(quiet, alone, "rac1")
    samples = [message["event"] for message in alone._messages[begin:end] if message["kind"] == "node"]
    counted = sampled(samples)
    grown = {name: value - before[name] for name, value in after.items()}
    assert {name: counted(name) for name in grown} == grown
    # Twelve pings of 8192 bytes in six fragments each way; 25 datagrams in seven, and 25 in one packet.
    assert grown["Ip.FragCreates"] >= 72
    assert grown["Ip.ReasmOKs"] >= 12 + 25
    assert grown["Udp.NoPorts"] == 50
    assert grown["eth1 rx_packets"] >= 72
    assert len(samples) >= 2


def test_an_mtu_change_is_reported_at_once(quiet: racwire_lab.Lab, alone: Running) -> None:
    """The kernel reports it at once, without a timeout."""
    alone.wait("links", node="rac1")
    place = alone.count
    try:
        assert run(quiet, "rac1", "ip", "link", "set", "eth2", "mtu", "1400").returncode == 0
        change = alone.wait("links", place, node="rac1")
        assert {link["name"]: link["mtu"] for link in change["links"]}["eth2"] == 1400
    finally:
        run(quiet, "rac1", "ip", "link", "set", "eth2", "mtu", "1500")


def test_the_counters_of_a_peer_match_its_tools_exactly(quiet: racwire_lab.Lab) -> None:
    """All counts except those of the public network, which racwire uses itself."""
    with running(quiet) as feed:
        feed.wait("node", node="rac2")
        begin, before = private_tick(quiet, feed)
        traffic(quiet)
        end, after = private_tick(quiet, feed)
        samples = [message["event"] for message in feed._messages[begin:end] if message["kind"] == "node"]
        counted = sampled([sample for sample in samples if sample["node"] == "rac2"])
        grown = {name: value - before[name] for name, value in after.items()}
        assert {name: counted(name) for name in grown} == grown
        assert grown["Ip.ReasmOKs"] == 12
        assert grown["eth2 tx_packets"] >= 25 + 7 * 25
        assert all(sample["cpu"]["total_s"] > 0 and sample["load"] >= 0 for sample in samples)
        assert_left_in_order(feed.close())


def private_tick(cluster: racwire_lab.Lab, feed: Running) -> tuple[int, dict[str, int]]:
    """As `quiet_tick`, for rac2's counts of the private networks and of fragments; ssh sends no fragments."""

    def private() -> dict[str, int]:
        return {n: v for n, v in tools(cluster, "rac2").items() if n[:4] in ("eth1", "eth2", "Ip.R", "Ip.F", "Udp.")}

    for _ in range(TRIES):
        place, before = feed.count, private()
        feed.wait("node", place, node="rac2")
        place, after = feed.count, private()
        if before == after and not feed.after(place, "node", node="rac2"):
            return place, before
    raise AssertionError("the private networks were never quiet")


# --- failures ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[racwire_lab.Lab]:
    if any(find_spec(name) is None for name in ("duckdb", "sqlglot", "cryptography")):
        pytest.skip("THE FEED OF THE INSTANCES WAS NOT TESTED: the extra `lab` is not installed")
    with lab_directory(tmp_path_factory.mktemp("feed") / "lab"):
        yield racwire_lab.up(nodes=2, mtu=1500, fragment_time_s=2)


def test_an_unreachable_peer_and_a_restarted_instance_are_reported_and_sampled_again(
    cluster: racwire_lab.Lab,
) -> None:
    """Both at once; the other sources continue, and no count ever falls."""
    with running(cluster, "probe") as feed:
        feed.wait("node", node="rac2")
        feed.wait("instance", instance="prac2")
        cluster.break_("no-ssh")
        try:
            for shell in feed.children("ssh"):
                os.kill(shell, signal.SIGKILL)
            place = feed.count
            lost = feed.wait("gap", place, source="node rac2")
            assert lost["reason"].startswith("The connection to rac2 was lost")
            assert lost["reason"].endswith("racwire connects again by itself.")
            refused = feed.wait("gap", place + 1, source="node rac2")
            while refused["reason"] == lost["reason"]:
                refused = feed.after(place, "gap", source="node rac2")[-1]
            assert "User equivalence to rac2 is missing" in refused["reason"]
            cluster.break_("instance-restart")
            restarted = feed.count
            gap = feed.wait("gap", restarted, source="instance prac2")
            assert gap["reason"].startswith(("prac2 ", "It has another STARTUP_TIME"))
            feed.wait("instance", feed.count, instance="prac2")
            assert not feed.after(restarted, "gap", source="instance prac1")
        finally:
            cluster.mend()
        place = feed.count
        back = feed.wait("node", place, node="rac2")
        assert back["seconds"] < 5
        here = feed.after(0, "node", node="rac1")
        assert all(0.4 < sample["seconds"] < 1.9 for sample in here), "the others were held up"
        assert {ping["to_node"] for ping in feed.after(place, "latency") if ping["received"]} == {"rac2"}
        counts = [value for sample in feed.after(0, "instance") for value in sample["statistics"].values()]
        assert min(counts) >= 0
        assert_left_in_order(feed.close())


@pytest.mark.beyond_sample
def test_an_instance_that_hangs_is_a_gap_and_stopping_waits_for_nothing(
    cluster: racwire_lab.Lab,
) -> None:
    with running(cluster, "here", database_timeout_s=1) as feed:
        feed.wait("instance", instance="prac2")
        cluster.break_("hung-instance")
        try:
            place = feed.count
            gap = feed.wait("gap", place, source="instance prac2")
            assert gap["reason"].startswith("prac2 could not be queried: GV$")
            assert "did not answer in time: an instance hangs" in gap["reason"]
            feed.wait("instance", feed.count, instance="prac1")
            feed.wait("node", feed.count, node="rac2")
            assert_left_in_order(feed.close())
        finally:
            cluster.mend()


@pytest.mark.beyond_sample
def test_stopping_while_a_peer_and_the_database_hang_waits_for_neither(cluster: racwire_lab.Lab) -> None:
    with running(cluster, "here", database_timeout_s=60) as feed:
        feed.wait("instance", instance="prac2")
        feed.wait("node", node="rac2")
        shells = feed.children("ssh")
        cluster.break_("hung-instance")
        try:
            for shell in shells:
                os.kill(shell, signal.SIGSTOP)
            feed.wait("node", feed.count, node="rac1")
            # That tick queried each peer. Pending answers arrived by the next one; then only this node has samples.
            feed.wait("node", feed.count, node="rac1")
            place = feed.count
            feed.wait("node", place, node="rac1")
            assert not feed.after(place, "instance")
            assert not feed.after(place, "node", node="rac2")
            assert_left_in_order(feed.close())
        finally:
            cluster.mend()
            for shell in shells:
                with suppress(ProcessLookupError):
                    os.kill(shell, signal.SIGCONT)
