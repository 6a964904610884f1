"""Frames by size: what the NICs of the practice cluster count, against the lengths that a node captures itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import datetime

import pytest

from checks.model.finding import Status
from checks.model.report import Report
from checks.rules.frame_sizes import FrameSizes, frame_sizes
from checks.rules.frame_users import BlockFrames, node_frames
from tests.lab.lab_support import PATIENCE_S, needs_nft
from tests.lab.practice_command import Practice

pytestmark = [pytest.mark.lab, needs_nft, pytest.mark.beyond_sample]

# Captures all frames of NICs until its input ends: time, direction and length with the frame check sequence.
CAPTURE = """
import json, select, socket, sys, time
links = {}
for name in sys.argv[1:]:
    link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    link.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
    link.bind((name, 0))
    links[link] = name
seen = {name: [] for name in links.values()}
print("ready", flush=True)
while True:
    ready = select.select([*links, sys.stdin], [], [])[0]
    for link in links.keys() & set(ready):
        length, address = link.recvfrom_into(bytearray(1), 1, socket.MSG_TRUNC)
        seen[links[link]].append((time.time(), "tx" if address[2] == 4 else "rx", max(length + 4, 64)))
    if ready == [sys.stdin]:
        break
dropped = sum(int.from_bytes(link.getsockopt(263, 6, 8)[4:], sys.byteorder) for link in links)
json.dump({"seen": seen, "dropped": dropped}, sys.stdout)
"""
WORDS = ("packet-sizes", "--interval", "30")


@pytest.fixture(scope="module")
def practice(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Practice]:
    cluster = Practice(tmp_path_factory.mktemp("lab") / "lab", database=True)
    yield cluster
    cluster.down()


def captured_check(practice: Practice, node: str, *nics: str) -> tuple[Report, list[tuple[float, str, int]]]:
    """Run the check, and return what the node captured at these NICs between the two readings of its driver."""
    cluster = practice.cluster
    with subprocess.Popen(
        cluster.enter(node, [sys.executable, "-I", "-c", CAPTURE, *nics]),
        env={**os.environ, **cluster.environment(node)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as capture:
        assert capture.stdout is not None
        assert capture.stdout.readline() == "ready\n"
        report = practice.check(*WORDS)
        out, _ = capture.communicate(timeout=PATIENCE_S)
    captured = json.loads(out)
    assert captured["dropped"] == 0
    begin, end = (
        datetime.fromisoformat(entry.started_at).timestamp() + entry.duration_ms / 2000
        for entry in report.journal
        if entry.node == node and entry.topic == "driver counters"
    )
    every = [frame for nic in nics for frame in captured["seen"][nic]]
    return report, [(at, way, length) for at, way, length in every if begin <= at <= end]


def assert_same_shares(found: FrameSizes, captured: list[tuple[float, str, int]]) -> None:
    """Each class has the captured share of frames, within one percentage point."""
    lengths = [length for _, way, length in captured if way == found.way]
    shares = Counter(
        next(size.label for size in found.classes if size.high is None or length <= size.high) for length in lengths
    )
    assert len(lengths) > 1_000
    assert found.frames == pytest.approx(len(lengths), rel=0.02)
    for size in found.classes:
        assert abs(found.percent(size) - 100 * shares[size.label] / len(lengths)) < 1, (found.way, size)


def sizes_of(report: Report, node: str, nic: str) -> dict[str, FrameSizes]:
    known = frame_sizes(report.cluster).known
    return {found.way: found for found in known if (found.nic.node, found.nic.name) == (node, nic)}


def test_the_shares_are_those_of_the_captured_lengths(practice: Practice) -> None:
    practice.until_blocks_flow()
    report, captured = captured_check(practice, "rac1", "eth1")
    for found in sizes_of(report, "rac1", "eth1").values():
        assert_same_shares(found, captured)
    assert {(f.code, f.status) for f in report.findings} == {("IC-SIZE-001", Status.PASS)}


def test_the_share_of_blocks_is_that_of_the_captured_frames_of_their_size(practice: Practice) -> None:
    practice.until_blocks_flow()
    report, captured = captured_check(practice, "rac1", "eth1", "eth2")
    found = [one for one in node_frames(report.cluster, frame_sizes(report.cluster)) if one.node == "rac1"]
    assert {one.way for one in found} == {"rx", "tx"}
    for one in found:
        assert isinstance(one.blocks, BlockFrames)
        lengths = [length for _, way, length in captured if way == one.way]
        large = [length for length in lengths if length > 8192]
        assert abs(100 * one.blocks.frames / one.frames - 100 * len(large) / len(lengths)) < 1
        assert one.blocks.percent_of_bytes is not None
        assert abs(one.blocks.percent_of_bytes - 100 * sum(large) / sum(lengths)) < 1
        assert one.blocks.messages is not None
        assert 0 < one.blocks.messages <= one.frames - one.blocks.frames


def test_blocks_in_fragments_are_a_large_mtu_that_is_not_used(practice: Practice) -> None:
    for fault in (
        *(f"haip-route-mtu --node {node} --network 1" for node in (1, 2)),
        "standard-frame-sizes --node 2 --network 1",
        "no-frame-sizes --node 2 --network 2",
    ):
        practice.lab("break", *fault.split())
    report, captured = captured_check(practice, "rac2", "eth1")
    ways = sizes_of(report, "rac2", "eth1")
    assert set(ways) == {"rx", "tx"}, "from the standard groups"
    for found in ways.values():
        assert_same_shares(found, captured)
    by_code = {f.code: f for f in report.findings}
    assert set(by_code) == {"IC-SIZE-001", "IC-SIZE-002", "IC-SIZE-005"}
    unused, silent = by_code["IC-SIZE-002"], by_code["IC-SIZE-005"]
    assert (unused.status, unused.network, unused.nodes) == (Status.WARN, "192.168.10.0/24", ("rac1", "rac2"))
    assert unused.data["rac2 eth1 rx_1024_1522_bytes_frames"] == ways["rx"].full
    assert (silent.status, silent.nodes) == (Status.UNKNOWN, ("rac2",))
    assert "eth2 of rac2" in silent.title
