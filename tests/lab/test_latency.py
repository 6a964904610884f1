"""Latency measured for real: on a healthy practice cluster, with faults in the network, and ended at any moment."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

import racwire_lab
from checks.traffic.samples import LatencySample
from racwire_lab import Lab, LabError
from tests.lab.lab_support import lab_directory, needs_namespaces, needs_nft

pytestmark = [pytest.mark.lab, needs_namespaces]

# Run inside rac1, as racwire itself is; three intervals, then cancelled.
MEASURE = """
import asyncio, os, sys
import msgspec
from checks.model.facts import Cluster, Port, PrivateNetwork
from checks.model.settings import ProbeSettings
from checks.traffic.latency import latency_paths, run_latency
from checks.traffic.samples import LatencySample

def network(number):
    subnet = f"192.168.{9 + number}"
    ports = tuple(Port(f"rac{n}", f"eth{number}", f"{subnet}.{n}") for n in (1, 2))
    return PrivateNetwork(f"{subnet}.0/24", f"eth{number}", f"{subnet}.0/24", "oifcfg", ports, int(sys.argv[1]))

def sockets():
    links = (f"/proc/self/fd/{n}" for n in os.listdir("/proc/self/fd"))
    return sum(os.path.islink(link) and os.readlink(link).startswith("socket:") for link in links)

async def main():
    paths = latency_paths(Cluster(local_node="rac1", taken_at="", networks=(network(1), network(2))))
    events, enough = [], asyncio.Event()
    def emit(event):
        if isinstance(event, LatencySample):
            events.append(event)
        if len(events) == 12:
            enough.set()
    before = sockets()
    running = asyncio.create_task(run_latency(paths, 50, lambda: 0.25, emit, probe=ProbeSettings(timeout_ms=200)))
    await enough.wait()
    assert sockets() == before + 2
    running.cancel()
    await asyncio.wait([running])
    assert running.cancelled()
    assert sockets() == before
    sys.stdout.buffer.write(msgspec.json.encode(events))

asyncio.run(main())
"""


def measure(cluster: Lab, mtu: int = 9000) -> dict[tuple[int, int], tuple[int, int]]:
    """How many pings rac1 sent and how many came back, by private network and payload."""
    done = subprocess.run(
        cluster.enter("rac1", [sys.executable, "-c", MEASURE, str(mtu)]),
        env={**os.environ, **cluster.environment("rac1")},
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    counts: dict[tuple[int, int], tuple[int, int]] = {}
    for sample in msgspec.json.decode(done.stdout, type=list[LatencySample]):
        assert sample.to_node == "rac2"
        assert (sample.p50_us is None) == (sample.received == 0)
        key = (1 if sample.network == "192.168.10.0/24" else 2, sample.payload)
        sent, received = counts.get(key, (0, 0))
        counts[key] = (sent + sample.sent, received + sample.received)
    return counts


@pytest.fixture(scope="module")
def jumbo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with lab_directory(tmp_path_factory.mktemp("lab") / "cluster"):
        try:
            yield racwire_lab.up(nodes=2, database=False)
        except LabError as error:
            pytest.skip(f"no practice cluster here: {error}")


@pytest.mark.beyond_sample
def test_a_healthy_network_loses_nothing(jumbo: Lab) -> None:
    counts = measure(jumbo)
    assert set(counts) == {(1, 56), (1, 8328), (2, 56), (2, 8328)}
    assert all(sent == received > 0 for sent, received in counts.values())


@pytest.mark.beyond_sample
def test_a_switch_without_jumbo_frames_loses_block_size_packets(jumbo: Lab) -> None:
    counts = measure(jumbo.break_("switch-mtu"))
    jumbo.mend()
    assert counts[2, 8328][0] > 0 == counts[2, 8328][1]
    assert counts[2, 56][0] == counts[2, 56][1]
    assert counts[1, 8328][0] == counts[1, 8328][1]


@needs_nft
def test_a_switch_that_loses_fragments_loses_blocks_and_no_small_packets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with lab_directory(tmp_path / "cluster"):
        try:
            cluster = racwire_lab.up(nodes=2, mtu=1500, database=False, fragment_time_s=2)
        except LabError as error:
            pytest.skip(f"no practice cluster here: {error}")
        whole = measure(cluster, mtu=1500)
        counts = measure(cluster.break_("drop-fragments"), mtu=1500)
    assert all(sent == received > 0 for sent, received in whole.values())
    assert counts[2, 8328][1] < counts[2, 8328][0]
    assert counts[2, 56][0] == counts[2, 56][1]
    assert counts[1, 8328][0] == counts[1, 8328][1]
