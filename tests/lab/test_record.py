"""`racwire record` and `watch` on a practice cluster: every node and instance is in the file."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from checks.model.cluster_event import EventKind
from checks.model.exit_codes import ExitCode
from checks.model.facts import Database, Unknown
from checks.situation.events.watching import events_in
from checks.traffic.recording import Recording
from checks.traffic.samples import Gap, InstanceSample, LatencySample, NodeSample
from tests.lab.lab_support import PATIENCE_S, needs_namespaces, until
from tests.lab.practice_command import Practice, record, until_it_holds
from tui.cli.tape import WRITE_EVERY_S

pytestmark = [pytest.mark.lab, needs_namespaces]

SILENCES = (EventKind.NODE_SILENT, EventKind.INSTANCE_SILENT, EventKind.DATABASE_SILENT, EventKind.INSTANCE_DOWN)


@pytest.fixture(scope="module")
def practice(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Practice]:
    pytest.importorskip("duckdb", reason="RECORDING INSTANCES WAS NOT TESTED: the extra `lab` is not installed")
    practice = Practice(tmp_path_factory.mktemp("record") / "lab", database=True)
    yield practice
    practice.down()


def test_both_nodes_and_both_instances_are_in_the_file(practice: Practice, tmp_path: Path) -> None:
    path = tmp_path / "a.rec"
    running = record(practice, path, "--label", "mtu9000", "--probe")
    until_it_holds(path, "node rac1", "node rac2", "instance prac1", "instance prac2", "latency ")
    running.send_signal(signal.SIGINT)
    printed, stderr = running.communicate(timeout=PATIENCE_S)
    assert (running.returncode, printed) == (ExitCode.PASS, ""), stderr
    assert "sampling rac1 and rac2." in stderr
    assert "pings a second" in stderr, stderr
    recording = Recording.open(path)
    events = list(recording.events())
    assert {e.node for e in events if isinstance(e, NodeSample)} == {"rac1", "rac2"}
    assert {e.instance for e in events if isinstance(e, InstanceSample)} == {"prac1", "prac2"}
    assert any(e.received for e in events if isinstance(e, LatencySample))
    assert isinstance(recording.header.cluster.database, Database)
    assert not isinstance(recording.header.cluster.networks, Unknown)
    for node in ("rac1", "rac2"):
        links = recording.links(node, time.time())
        assert links is not None
        assert {link.mtu for link in links.links if link.network} == {9000}
    assert os.listdir(tmp_path) == ["a.rec"]


@pytest.mark.beyond_sample
def test_a_peer_that_hangs_is_a_gap_and_delays_no_other_source(practice: Practice, tmp_path: Path) -> None:
    path = tmp_path / "hung.rec"
    practice.lab("break", "slow-ssh", "--node", "rac2")
    try:
        running = record(practice, path)
        until_it_holds(path, "node rac1", "instance prac1", "instance prac2")
        until(lambda: "rac2 has not answered yet" in gaps_of(path, "node rac2"))
        with closing(Recording.open(path)) as recording:
            pending = recording.header.cluster.unread_nodes()
            assert [node.name for node in pending] == ["rac2"]
            assert not isinstance(recording.header.cluster.networks, Unknown)
    finally:
        practice.lab("mend", "slow-ssh")
    until_it_holds(path, "node rac2")
    running.send_signal(signal.SIGINT)
    _, stderr = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == ExitCode.PASS, stderr


def gaps_of(path: Path, source: str) -> str:
    """Return the reasons of the gaps of a source in a recording."""
    with closing(Recording.open(path)) as recording:
        return " ".join(e.reason for e in recording.events() if isinstance(e, Gap) and str(e.source) == source)


@pytest.mark.beyond_sample
def test_a_killed_recording_has_every_sample_that_readers_saw_at_each_write(practice: Practice, tmp_path: Path) -> None:
    path = tmp_path / "killed.rec"
    running = record(practice, path)
    until_it_holds(path, "node rac2")
    before = last_sample(path)
    seen = until(lambda: (last := last_sample(path)) > before and last)
    running.send_signal(signal.SIGKILL)
    running.communicate(timeout=PATIENCE_S)
    assert before < seen <= last_sample(path)
    assert WRITE_EVERY_S <= 1
    recording = Recording.open(path)
    assert {"node rac1", "node rac2"} <= set(map(str, recording.sources()))


@pytest.mark.beyond_sample
def test_a_second_recording_takes_the_samples_of_the_first_and_goes_on_after_a_kill(
    practice: Practice, tmp_path: Path
) -> None:
    sources = ("node rac1", "node rac2", "instance prac1", "instance prac2")
    first = record(practice, tmp_path / "first.rec")
    until_it_holds(tmp_path / "first.rec", *sources)
    path = tmp_path / "second.rec"
    second = record(practice, path)
    until_it_holds(path, *sources, samples=2)
    first.send_signal(signal.SIGKILL)
    first.communicate(timeout=PATIENCE_S)
    until(lambda: "took the samples until now" in gaps_of(path, "node rac2"))
    with closing(Recording.open(path)) as recording:
        before = {str(source): count for source, (count, *_) in recording.tallies().items()}
    for source in sources:
        until_it_holds(path, source, samples=before[source] + 2)
    second.send_signal(signal.SIGINT)
    _, stderr = second.communicate(timeout=PATIENCE_S)
    assert "the samples come from process" in stderr, stderr
    assert "takes no more samples: this racwire takes them." in stderr
    with closing(Recording.open(path)) as recording:
        changed = list(events_in(recording.events(), recording.header.cluster))
    assert not [event for event in changed if event.kind in SILENCES]


def last_sample(path: Path) -> float:
    """When the newest sample ended that can be read in the file."""
    with closing(Recording.open(path)) as recording:
        span = recording.span()
        assert span is not None
        return span[1]


@pytest.mark.beyond_sample
def test_json_lines_have_the_same_samples_in_a_pipe_that_is_closed_early(practice: Practice) -> None:
    line = f"{sys.executable} -P -m racwire watch --lab --for 20s | head -4; echo ${{PIPESTATUS[0]}}"
    ran = subprocess.run(
        ["bash", "-c", line], env=practice.environment, capture_output=True, text=True, timeout=60, check=False
    )
    *lines, code = ran.stdout.splitlines()
    assert (code, "Traceback" in ran.stderr) == ("0", False)
    assert json.loads(lines[0])["fact"] == "Header"
    assert len(lines) == 4
